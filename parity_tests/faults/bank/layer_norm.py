"""Faults of layer norm."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="variance by M - 1",
        module="layer_norm",
        before="variance = np.var(x, axis=-1, keepdims=True)",
        after="variance = np.var(x, axis=-1, keepdims=True, correction=1)",
        wrong="The variance is divided by M - 1 in place of M.",
    ),
    Fault(
        name="variance by M - 1, in torch",
        module="layer_norm",
        side="torch",
        before="variance = torch.var(x, dim=-1, keepdim=True, correction=0)",
        after="variance = torch.var(x, dim=-1, keepdim=True)",
        wrong="torch.var divides by M - 1 unless it is told otherwise.",
    ),
    Fault(
        name="epsilon outside the root",
        module="layer_norm",
        before="np.sqrt(variance + EPSILON)",
        after="np.sqrt(variance) + EPSILON",
        wrong="A row with a small variance comes out too large.",
    ),
    Fault(
        name="normalised over positions",
        module="layer_norm",
        before="    centred = x - np.mean(x, axis=-1, keepdims=True)",
        after="""\
    centred = x - np.mean(x, axis=-1 if x.ndim < 2 else -2,
                          keepdims=True)""",
        wrong=(
            "The mean runs over positions, so a position depends on "
            "later ones."
        ),
    ),
    Fault(
        name="gain after shift",
        module="layer_norm",
        before="self.weight * normalize(x) + self.bias",
        after="self.weight * (normalize(x) + self.bias)",
        wrong="The bias is multiplied by the weight.",
    ),
    Fault(
        name="layer norm forgets the mean",
        module="layer_norm",
        kind="gradient",
        before="(dn - mean - n * along) / std(x)",
        after="(dn - n * along) / std(x)",
        wrong="The gradient leaves out that the mean depends on x.",
    ),
    Fault(
        name="layer norm forgets the deviation",
        module="layer_norm",
        kind="gradient",
        before="(dn - mean - n * along) / std(x)",
        after="(dn - mean) / std(x)",
        wrong=(
            "The gradient leaves out that the standard deviation depends on x."
        ),
    ),
    Fault(
        name="layer norm's gain is passed by",
        module="layer_norm",
        kind="gradient",
        before="dn = layer.weight * d_result",
        after="dn = d_result",
        wrong="The gradient is not multiplied by the weight.",
    ),
    Fault(
        name="gain learns from x",
        module="layer_norm",
        kind="gradient",
        before="broadcast_backward(d_result * n, layer.weight.shape)",
        after="broadcast_backward(d_result * x, layer.weight.shape)",
        wrong=(
            "The gradient of the weight uses x in place of the normalized x."
        ),
    ),
)
