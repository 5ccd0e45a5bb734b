"""Positional encodings: attention alone does not see the order of tokens.

Permuting the keys with their values changes nothing. Three ways to encode
positions: numbers added to x (sinusoidal), a rotation of query and key
(rotary position embedding, RoPE), a bias added to the scores (ALiBi).
"""

from __future__ import annotations

import math

import numpy as np

from .arrays import Array, cast


def sinusoidal(T: int, M: int) -> Array:
    """Return what is added to x at each position: (T, M), float64.

    PE(t, 2i) = sin(t / 10000^(2i/M)), PE(t, 2i+1) = cos of the same: each
    pair is like the hand of a clock, each clock slower than the one before
    (Vaswani et al. 2017, section 3.5). M is even.
    """
    angles = rotary_angles(T, M)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return np.reshape(pairs, (T, M))


def rotary_angles(T: int, D: int, offset: int = 0) -> Array:
    """Return the angle of each pair at each position: (T, D/2), float64.

    The angle of pair i at position t is (t + offset) / 10000^(2i/D).
    """
    position = np.arange(T, dtype=np.float64) + offset
    pair = np.arange(D // 2, dtype=np.float64)
    inverse_frequencies = np.exp(-2 * math.log(10000.0) / D * pair)
    angles: Array = position[:, None] * inverse_frequencies
    return angles


def rotary_half(x: Array, offset: int = 0) -> Array:
    """Return query or key, (..., T, D), rotated by its position (RoPE).

    Entry i of the first half and entry i of the second are a pair, and the
    pair at position t + offset is rotated by its angle. The dot product of
    two rotated vectors depends only on the difference of their positions
    (Su et al. 2021, arXiv:2104.09864; pairs as in GPT-NeoX and Llama). D is
    even.
    """
    cosine, sine = cos_sin(x, offset)
    return rotate_half(x, cosine, sine)


def rotary_interleaved(x: Array, offset: int = 0) -> Array:
    """Return query or key, (..., T, D), rotated by its position (RoPE).

    As `rotary_half`, but entries 2i and 2i+1 are a pair, as in the paper.
    """
    cosine, sine = cos_sin(x, offset)
    return rotate_interleaved(x, cosine, sine)


def cos_sin(x: Array, offset: int) -> tuple[Array, Array]:
    """Return cosine and sine of every pair's angle: each (T, D/2).

    Computed in float64 and then cast to x's dtype: the angle of a large
    position has few digits left in float32 once whole turns are subtracted.
    """
    angles = rotary_angles(x.shape[-2], x.shape[-1], offset)
    return cast(np.cos(angles), x), cast(np.sin(angles), x)


def rotate_half(x: Array, cosine: Array, sine: Array) -> Array:
    """Rotate pairs of entry i of both halves of x."""
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    rotated = [first * cosine - second * sine, second * cosine + first * sine]
    return np.concat(rotated, axis=-1)


def rotate_interleaved(x: Array, cosine: Array, sine: Array) -> Array:
    """Rotate pairs of neighbouring entries of x."""
    first, second = x[..., 0::2], x[..., 1::2]
    rotated = [first * cosine - second * sine, second * cosine + first * sine]
    return np.reshape(np.stack(rotated, axis=-1), x.shape)


def alibi(H: int, L: int, S: int) -> Array:
    """Return what is added to the scores: (H, L, S), float64.

    -slope · (i - j) for query i and key j, the last query at the last key:
    the further back, the lower. The slopes of H heads are 2^(-8h/H) for
    h = 1..H (Press et al. 2021, arXiv:2108.12409). H is a power of two.
    """
    head = np.arange(H, dtype=np.float64) + 1
    slopes = 2.0 ** (-8 / H * head)
    query = np.arange(L, dtype=np.float64)[:, None] + (S - L)
    key = np.arange(S, dtype=np.float64)[None, :]
    bias: Array = -slopes[:, None, None] * (query - key)
    return bias


def rotary_half_backward(d_rotated: Array, offset: int = 0) -> Array:
    """Return the gradient of x: rotated back by the same angles.

    The inverse of a rotation is its transpose, dx = Rᵀ dy: the same rotation
    with the sign of the sine changed.
    """
    cosine, sine = cos_sin(d_rotated, offset)
    return rotate_half(d_rotated, cosine, -sine)


def rotary_interleaved_backward(d_rotated: Array, offset: int = 0) -> Array:
    """Return the gradient of x: rotated back by the same angles."""
    cosine, sine = cos_sin(d_rotated, offset)
    return rotate_interleaved(d_rotated, cosine, -sine)
