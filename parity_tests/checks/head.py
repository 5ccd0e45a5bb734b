"""head: projections, output and the gradients of the three matrices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check
from ..suite.versions import Version

B, T, M, D, E = 2, 5, 8, 4, 3
DTYPES = ("float32", "float64")


def draw(dtype: str) -> tuple[Any, list[Any], Any, Any]:
    """Draw x, the matrices, a causal mask and the upstream gradient."""
    rng = np.random.default_rng(25843)
    x = rng.standard_normal((B, T, M)).astype(dtype)
    matrices = [
        rng.standard_normal((M, width)).astype(dtype) for width in (D, D, E)
    ]
    mask = np.arange(T) <= np.arange(T)[:, None]
    d_output = rng.standard_normal((B, T, E)).astype(dtype)
    return x, matrices, mask, d_output


def make(version: Version, matrices: list[Any]) -> Any:
    """Make a head of a version out of its three matrices."""
    return version.function("head.AttentionHead")(
        *map(version.array, matrices)
    )


@check("head", "definition", DTYPES)
def projections_and_output(trial: Trial) -> None:
    """Compare q, k, v and the output, with the errors carried through."""
    dtype = trial.case
    x, matrices, mask, _ = draw(dtype)
    projected = [
        bounds.matmul(bounds.exact(x), bounds.exact(w), dtype)
        for w in matrices
    ]
    query = bounds.times(projected[0], 1 / math.sqrt(D), dtype)
    scores = bounds.matmul(query, bounds.transposed(projected[1]), dtype)
    weights = bounds.softmax(bounds.masked(scores, mask), dtype)
    output = bounds.matmul(weights, projected[2], dtype)
    head = make(trial.version, matrices)
    native = trial.version.array(x)
    got = trial.version.numpy(head.project(native))
    for name, array, must in zip("qkv", got, projected, strict=True):
        trial.within(name, array, must.value, must.error)
    seen = trial.version.array(mask)
    result = trial.version.numpy(head(native, seen))
    trial.within("output", result, output.value, output.error)


@check("head", "law")
def the_last_position_sees_all_with_and_without_mask(trial: Trial) -> None:
    """Without the mask the last row stays, to the bit, others change."""
    x, matrices, mask, _ = draw("float64")
    head, native = make(trial.version, matrices), trial.version.array(x)
    opened = trial.version.numpy(head(native))
    masked = trial.version.numpy(head(native, trial.version.array(mask)))
    trial.within("last row", masked[:, -1], opened[:, -1])
    assert np.all(masked[:, :-1] != opened[:, :-1]), "the mask does nothing"


@check("head", "closed form")
def without_a_query_each_position_takes_the_mean(trial: Trial) -> None:
    """W_q = 0 and W_v = 1: the running mean of whole numbers."""
    x = np.asarray([[4.0], [8.0], [0.0], [4.0]])
    one, mask = np.ones((1, 1)), np.arange(4) <= np.arange(4)[:, None]
    mask[2] = [True, True, False, False]
    head = make(trial.version, [0 * one, one, one])
    arrays = (trial.version.array(a) for a in (x, mask))
    output = trial.version.numpy(head(*arrays))
    trial.within("output", output, [[4], [6], [6], [4]])


class Drawn(NamedTuple):
    """The inputs of a head whose gradients are computed."""

    dtype: str
    batch: tuple[int, ...]
    masked: bool

    def __str__(self) -> str:
        """Return the dtype, the batch, and whether there is a mask."""
        mask = "masked" if self.masked else "no mask"
        return f"{self.dtype}, batch {self.batch}, {mask}"

    def draw(self) -> tuple[Any, list[Any], Any, Any]:
        """Draw x, the matrices, a mask or None, and the upstream gradient."""
        rng = np.random.default_rng(25844)
        _, matrices, mask, _ = draw(self.dtype)
        x, d = (
            rng.standard_normal((*self.batch, T, width)).astype(self.dtype)
            for width in (M, E)
        )
        return x, matrices, mask if self.masked else None, d


DRAWN = [
    Drawn(dtype, batch, masked)
    for dtype in DTYPES
    for batch in ((), (B,), (3, B))
    for masked in (True, False)
]


def gradients(version: Version, drawn: Drawn) -> dict[str, Any]:
    """Return the gradients of x and of the matrices."""
    x, matrices, mask, d_output = drawn.draw()
    native, seen, d = (version.array(a) for a in (x, mask, d_output))
    head = make(version, matrices)
    if version.by_hand:
        backward = version.function("head.attention_head_backward")
        result: dict[str, Any] = version.numpy(backward(d, head, native, seen))
        return result
    native.requires_grad_()
    head(native, seen).backward(d)
    named = {"x": native, **dict(head.named_parameters())}
    return {name: version.numpy(t.grad) for name, t in named.items()}


@check(
    "head",
    "definition",
    [drawn for drawn in DRAWN if drawn.dtype == "float64"],
)
def gradients_of_input_and_matrices(trial: Trial) -> None:
    """Compare float64 with the chain rule, within float32's bounds.

    The bounds use query, key and value in float64, which is exact enough
    beside the errors of float32.
    """
    x, matrices, mask, d_output = trial.case.draw()
    q, k, v = (x @ w for w in matrices)
    scores = q @ k.mT / math.sqrt(D)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    # dS_ij = P_ij Σ_k (δ_jk - P_ik) dP_ik, with the Jacobian written out.
    jacobian = np.eye(T) - weights[..., None, :]
    jacobian = weights[..., :, None] * jacobian
    d_weights = d_output @ v.mT
    d_scores = np.einsum("...tjk,...tk->...tj", jacobian, d_weights)
    scale = 1 / math.sqrt(D)
    d_q = scale * np.einsum("...ij,...jd->...id", d_scores, k)
    d_k = scale * np.einsum("...ij,...id->...jd", d_scores, q)
    d_v = np.einsum("...ij,...ie->...je", weights, d_output)
    parts = (d_q, d_k, d_v)

    def flat(array: Any) -> Any:
        return array.reshape(-1, array.shape[-1])

    expected = {
        "x": sum(d @ w.T for d, w in zip(parts, matrices, strict=True)),
        "w_q": np.einsum("tm,td->md", flat(x), flat(d_q)),
        "w_k": np.einsum("tm,td->md", flat(x), flat(d_k)),
        "w_v": np.einsum("tm,te->me", flat(x), flat(d_v)),
    }
    results = gradients(trial.version, trial.case)
    assert results.keys() == expected.keys(), list(results)
    for name, got in results.items():
        size = np.abs(expected[name]).max()
        error = bounds.gamma(ROUNDINGS, "float32") * size
        trial.within(f"gradient of {name}", got, expected[name], error)


# The longest chain of sums: over M, D, T, T, T and six batches.
ROUNDINGS = M + D + 3 * T + 3 * B * T + 4 * bounds.FUNCTION_ULPS


@check("head", "each other", DRAWN)
def gradients_agree(trial: Trial) -> None:
    """Compare with autograd, or autograd with what is derived by hand."""
    results = gradients(trial.version, trial.case)
    others = gradients(trial.other, trial.case)
    wide = gradients(trial.other, trial.case._replace(dtype="float64"))
    assert results.keys() == others.keys(), list(results)
    for name, got in results.items():
        assert got.dtype == trial.case.dtype, f"{name} is {got.dtype}"
        error = bounds.gamma(4 * ROUNDINGS, trial.case.dtype)
        error = error * np.abs(wide[name]).max()
        trial.within(f"gradient of {name}", got, others[name], error)


@check("head", "law", (False, True))
def masks_of_every_rank_count_the_same(trial: Trial) -> None:
    """A mask (T, T) is the mask (B, T, T) that has it for each sequence."""
    x, matrices, mask, _ = draw("float64")
    if trial.case:
        mask = mask & ~np.eye(T, dtype=bool)
    head, native = make(trial.version, matrices), trial.version.array(x)
    outputs = [
        trial.version.numpy(head(native, trial.version.array(seen.copy())))
        for seen in (mask, np.broadcast_to(mask, (B, T, T)))
    ]
    trial.within("output", *outputs)
    alone = trial.version.numpy(
        head(trial.version.array(x[1]), trial.version.array(mask))
    )
    error = bounds.gamma(32 * M, "float64") * np.abs(outputs[0]).max() * M
    trial.within("one sequence", alone, outputs[0][1], error)
    row = np.full((B, E), 0.0) if trial.case else x[:, 0] @ matrices[2]
    error = bounds.gamma(M + 1, "float64") * np.abs(x).sum() * 4
    trial.within("row 0", outputs[0][:, 0], row, error)
    assert outputs[0].any(), "the output is 0"


@check("head", "closed form", ((), (3,), (3, 2)))
def without_a_mask_nothing_is_hidden(trial: Trial) -> None:
    """W_q = 0, W_v = 1, no mask: every position takes the mean of all."""
    x = np.asarray([[4.0], [8.0], [0.0], [4.0]])
    x = np.broadcast_to(x, (*trial.case, 4, 1))
    one = np.ones((1, 1))
    head = make(trial.version, [0 * one, one, one])
    output = trial.version.numpy(head(trial.version.array(x)))
    trial.within("output", output, np.full((*trial.case, 4, 1), 4.0))
