"""positions: sinusoidal, rotary in both pairings, ALiBi."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np

from ..judges import bounds
from ..judges.definition import PRECISION
from ..suite.register import Trial, check

ROTARY = ("positions.rotary_half", "positions.rotary_interleaved")
DTYPES = ("float32", "float64")


def angle(position: int, pair: int, width: int) -> Any:
    """Return position / 10000^(2 pair / width), in high precision."""
    with gmpy2.context(precision=PRECISION):
        return position / gmpy2.mpfr(10000) ** (gmpy2.mpfr(2 * pair) / width)


@check("positions", "definition", ((6, 8), (3, 2), (100, 10), (5, 64)))
def sinusoidal_is_the_papers(trial: Trial) -> None:
    """Even entries are sines, odd ones cosines, of the pair's angle."""
    T, M = trial.case
    expected = [
        [
            float((gmpy2.cos if j % 2 else gmpy2.sin)(angle(t, j // 2, M)))
            for j in range(M)
        ]
        for t in range(T)
    ]
    got = trial.call("positions.sinusoidal", T, M)
    error = bounds.gamma(8 * T, np.float64)
    trial.within("sinusoidal", got, np.asarray(expected), error)


def draw(*shape: int, dtype: str = "float64") -> Any:
    """Draw numbers of a shape."""
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


def spelled_out(path: str, x: Any, offset: int) -> Any:
    """Rotate each pair by its angle, in a loop."""
    T, D = x.shape[-2:]
    turned = x.astype(np.float64).copy()
    half = path == ROTARY[0]
    for t, i in np.ndindex(T, D // 2):
        one, other = (i, i + D // 2) if half else (2 * i, 2 * i + 1)
        by = angle(t + offset, i, D)
        cosine, sine = float(gmpy2.cos(by)), float(gmpy2.sin(by))
        a, b = x[..., t, one], x[..., t, other]
        turned[..., t, one] = a * cosine - b * sine
        turned[..., t, other] = a * sine + b * cosine
    return turned


@check(
    "positions",
    "definition",
    [
        *((p, o, d, 8) for p in ROTARY for o in (0, 3, 1000) for d in DTYPES),
        *((p, 3, "float64", 64) for p in ROTARY),
    ],
)
def each_pair_is_turned_by_its_angle(trial: Trial) -> None:
    """Compare with the rotation of each pair, with offset."""
    path, offset, dtype, width = trial.case
    x = draw(2, 3, 5, width, dtype=dtype)
    got = trial.call(path, x, offset)
    assert got.dtype == dtype, f"the result is {got.dtype}"
    size = np.abs(x).max()
    # The angle itself, as large as the position, is rounded in float64.
    error = bounds.gamma(4, dtype) + bounds.gamma(8 + offset, np.float64)
    trial.within("turned", got, spelled_out(path, x, offset), 2 * error * size)
    back = gradient(trial, path, x, x, offset)
    assert back.dtype == dtype, f"the gradient is {back.dtype}"
    trial.within(
        "there and back",
        gradient(trial, path, got, x, offset),
        x,
        6 * error * size,
    )


@check("positions", "law", ROTARY)
def the_first_position_is_not_turned(trial: Trial) -> None:
    """At position 0 every angle is 0; at the next it is not."""
    x = draw(3, 6)
    got = trial.call(trial.case, x)
    trial.within("position 0", got[0], x[0])
    assert np.all(got[1:] != x[1:]), "nothing is turned"


@check("positions", "law", ROTARY)
def norms_are_kept(trial: Trial) -> None:
    """A rotation changes no length."""
    x = draw(2, 7, 8)
    got = trial.call(trial.case, x)
    one, other = (np.square(a).sum(axis=-1) for a in (got, x))
    trial.within("squares", one, other, bounds.gamma(32, np.float64) * other)


@check("positions", "law", ROTARY)
def scores_depend_on_the_difference_of_positions_alone(trial: Trial) -> None:
    """Query and key shifted by the same number have the same score."""
    query, key = draw(4, 8), draw(6, 8)
    scores = []
    for offset in (0, 1, 12, 345):
        q = trial.call(trial.case, query, offset + 6)
        k = trial.call(trial.case, key, offset)
        scores.append(q @ k.mT)
    lengths = (np.linalg.norm(a, axis=-1) for a in (query, key))
    size = np.multiply.outer(*lengths)
    error = bounds.gamma(16 + 2 * 360, np.float64) * size
    for later in scores[1:]:
        trial.within("scores", later, scores[0], error)
    apart = trial.call(trial.case, query, 7) @ trial.call(trial.case, key).mT
    assert np.abs(apart - scores[0]).max() > 0.01, "positions do not matter"


@check("positions", "law", ROTARY)
def an_offset_is_where_the_sequence_starts(trial: Trial) -> None:
    """The last rows of a sequence are the same alone with an offset."""
    x = draw(2, 9, 8)
    whole = trial.call(trial.case, x)
    rest = trial.call(trial.case, x[:, 4:], 4)
    trial.within("the rest", rest, whole[:, 4:])
    assert np.all(whole[:, 4:] != 0), "there is nothing left"
    assert np.any(whole[:, 4:] != x[:, 4:]), "nothing is turned"


@check("positions", "law")
def the_two_pairings_differ_by_an_order_of_the_width(trial: Trial) -> None:
    """Interleaving the halves turns one pairing into the other."""
    x = draw(2, 5, 8)
    order = np.arange(8).reshape(2, 4).T.reshape(-1)
    halves = trial.call(ROTARY[0], x)
    neighbours = trial.call(ROTARY[1], x[..., order])
    trial.within("turned", neighbours, halves[..., order])
    assert np.all(halves != 0), "there is nothing left"
    assert np.any(halves != x), "nothing is turned"


@check("positions", "each other", [(p, o) for p in ROTARY for o in (0, 5, 12)])
def both_versions_turn_alike(trial: Trial) -> None:
    """Compare the result and its gradient with the other version's."""
    path, offset = trial.case
    x, d = draw(2, 5, 8), draw(2, 5, 8) * 2 - 1
    error = bounds.gamma(16, np.float64) * 4 * np.abs(x).max()
    got = trial.call(path, x, offset)
    trial.within("turned", got, trial.other.call(path, x, offset), error)
    back = gradient(trial, path, d, x, offset)
    # The transpose of a rotation rotates the gradient back.
    inverse = spelled_out(path, d, 0) * 0
    eye = np.eye(8)
    for t in range(5):
        turn = spelled_out(path, eye[:, None, :], offset + t)[:, 0, :]
        inverse[:, t] = d[:, t] @ turn.T
    size = np.abs(d).max() / np.abs(x).max()
    trial.within("gradient", back, inverse, error * max(size, 1))


def gradient(trial: Trial, path: str, d: Any, x: Any, offset: int) -> Any:
    """Return the gradient of x."""
    version = trial.version
    if version.by_hand:
        return version.call(f"{path}_backward", d, offset)
    leaf = version.array(x).requires_grad_()
    version.function(path)(leaf, offset).backward(version.array(d))
    return version.numpy(leaf.grad)


@check(
    "positions", "closed form", ((8, 3, 3), (4, 2, 5), (1, 1, 4), (16, 2, 3))
)
def alibi_falls_with_distance(trial: Trial) -> None:
    """Slopes 2^(-8h/H), the last query at the last key: exact."""
    H, L, S = trial.case
    bias = trial.call("positions.alibi", H, L, S)
    expected = [
        [
            [-(2.0 ** (-8 * (h + 1) / H)) * (i + S - L - j) for j in range(S)]
            for i in range(L)
        ]
        for h in range(H)
    ]
    assert bias.dtype == np.float64, bias.dtype
    # A power that is no whole number is rounded.
    error = 0.0 if 8 % H == 0 else 2 * np.spacing(np.abs(expected))
    trial.within("bias", bias, expected, error)
