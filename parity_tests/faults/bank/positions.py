"""Faults of positions: sinusoidal, RoPE, ALiBi."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="sines and cosines in two halves",
        module="positions",
        before="pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)",
        after="pairs = np.concat([np.sin(angles), np.cos(angles)], axis=-1)",
        wrong=(
            "All sines come before all cosines, where they should alternate."
        ),
    ),
    Fault(
        name="angles with the base of the first pair",
        module="positions",
        before="-2 * math.log(10000.0) / D * pair",
        after="-1 * math.log(10000.0) / D * pair",
        wrong=(
            "The exponent lacks its factor 2, so the frequencies are too high."
        ),
    ),
    Fault(
        name="rotary ignores its offset",
        module="positions",
        before="angles = rotary_angles(x.shape[-2], x.shape[-1], offset)",
        after="angles = rotary_angles(x.shape[-2], x.shape[-1])",
        wrong="Every chunk starts at position 0.",
    ),
    Fault(
        name="rotary off by one",
        module="positions",
        before="np.arange(T, dtype=np.float64) + offset",
        after="np.arange(T, dtype=np.float64) + offset + 1",
        wrong="Position 0 is rotated, where it should stay as it is.",
    ),
    Fault(
        name="rotary turns the wrong way for half of each pair",
        module="positions",
        before="""\
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    rotated = [first * cosine - second * sine, second * cosine + first * sine]
""",
        after="""\
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    rotated = [first * cosine - second * sine, second * cosine - first * sine]
""",
        wrong="The matrix is no rotation, so norms change.",
    ),
    Fault(
        name="neighbours paired as halves",
        module="positions",
        before="first, second = x[..., 0::2], x[..., 1::2]",
        after="""\
half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]""",
        wrong=(
            "Weights trained with one pairing of dimensions are used "
            "with the other."
        ),
    ),
    Fault(
        name="rotary angles in float32",
        module="positions",
        before="angles: Array = position[:, None] * inverse_frequencies",
        after=(
            "angles: Array = np.astype(position[:, None] * "
            "inverse_frequencies, np.float32)"
        ),
        wrong="In float32 the angle of a large position is inexact.",
    ),
    Fault(
        name="ALiBi at the wrong corner",
        module="positions",
        before="query = np.arange(L, dtype=np.float64)[:, None] + (S - L)",
        after="query = np.arange(L, dtype=np.float64)[:, None]",
        wrong="With a cache, distances are measured from the first key.",
    ),
    Fault(
        name="ALiBi rewards distance",
        module="positions",
        before="bias: Array = -slopes[:, None, None] * (query - key)",
        after="bias: Array = slopes[:, None, None] * (query - key)",
        wrong="Keys further away get a larger bias.",
    ),
    Fault(
        name="ALiBi's slopes from 1",
        module="positions",
        before="head = np.arange(H, dtype=np.float64) + 1",
        after="head = np.arange(H, dtype=np.float64)",
        wrong="The first slope is 1 in place of 2^(-8/H).",
    ),
    Fault(
        name="rotary turns on in place of back",
        module="positions",
        kind="gradient",
        before="return rotate_half(d_rotated, cosine, -sine)",
        after="return rotate_half(d_rotated, cosine, sine)",
        wrong=(
            "The gradient is rotated forwards, where the transpose "
            "rotates it back."
        ),
    ),
    Fault(
        name="rotary's gradient without its offset",
        module="positions",
        kind="gradient",
        before="""\
    cosine, sine = cos_sin(d_rotated, offset)
    return rotate_interleaved(d_rotated, cosine, -sine)""",
        after="""\
    cosine, sine = cos_sin(d_rotated, 0)
    return rotate_interleaved(d_rotated, cosine, -sine)""",
        wrong="The gradient is rotated back by the wrong angle.",
    ),
)
