"""language_model: logits, loss, every gradient, and a hundred steps."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from ..judges import bounds, scalar_model
from ..suite.register import Trial, check
from ..suite.versions import NUMPY, Version

V, T, M, H, HIDDEN = 5, 4, 6, 2, 3
# The longest chain of sums through two blocks, with the functions on the
# way: what float32 may lose of a result of float64's.
ROUNDINGS = 2 * (5 * M + 2 * T + HIDDEN + V + 16 * bounds.FUNCTION_ULPS)


class Model(NamedTuple):
    """One way of putting a model together, and what it is shown."""

    name: str
    blocks: int = 1
    tied: bool = False
    length: int = T
    dtype: str = "float64"
    repeated: bool = False
    ignored: bool = False
    batch: tuple[int, ...] = (2,)

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def draw(self) -> dict[str, Any]:
        """Draw every parameter by its name."""
        rng = np.random.default_rng([self.blocks, self.tied])
        sizes: dict[str, tuple[int, ...]] = {
            "token_embedding": (V, M),
            "position_embedding": (T, M),
        }
        if not self.tied:
            sizes["lm_head"] = (M, V)
        for i in range(self.blocks):
            own: dict[str, tuple[int, ...]] = {
                "norm_1.weight": (M,),
                "norm_1.bias": (M,),
                "attention.w_q": (M, M),
                "attention.w_k": (M, M),
                "attention.w_v": (M, M),
                "attention.w_o": (M, M),
                "norm_2.weight": (M,),
                "norm_2.bias": (M,),
                "feed_forward.w_1": (M, HIDDEN),
                "feed_forward.b_1": (HIDDEN,),
                "feed_forward.w_2": (HIDDEN, M),
                "feed_forward.b_2": (M,),
            }
            sizes |= {f"blocks.{i}.{n}": size for n, size in own.items()}
        sizes |= {"norm.weight": (M,), "norm.bias": (M,)}
        drawn = {n: rng.standard_normal(size) for n, size in sizes.items()}
        return {n: a.astype(self.dtype) for n, a in drawn.items()}

    def shown(self) -> tuple[Any, Any]:
        """Draw two sequences and what comes next in them."""
        rng = np.random.default_rng(23)
        shape = (2, math.prod(self.batch), self.length)
        ids, targets = rng.integers(0, V, shape)
        if self.repeated:
            ids[:, 1:] = ids[:, :1]
        if self.ignored:
            targets[:, :-1] = -1
        own = (*self.batch, self.length)
        return ids.reshape(own), targets.reshape(own)


MODELS = [
    Model("two blocks", blocks=2, length=3),
    Model("one block"),
    Model("no block", blocks=0),
    Model("tied", tied=True),
    Model("shorter than its positions", length=2),
    Model("one character over and over", repeated=True, length=3),
    Model("no block, one character", blocks=0, repeated=True, tied=True),
    Model("asked for the last alone", ignored=True, length=3),
    Model("asked for the last alone, tied", ignored=True, blocks=0, tied=True),
    Model("one sequence", length=3, batch=(), tied=True),
    Model("two axes of sequences", length=2, batch=(2, 3)),
]


def make(version: Version, model: Model) -> Any:
    """Put a model of a version together, part by part."""
    arrays = {n: version.array(a) for n, a in model.draw().items()}
    room = version.room("language_model")
    norm = version.function("layer_norm.LayerNorm")
    heads = version.function("multi_head.MultiHeadAttention")
    blocks = []
    for i in range(model.blocks):
        own = {
            n.removeprefix(f"blocks.{i}."): a
            for n, a in arrays.items()
            if n.startswith(f"blocks.{i}.")
        }

        def part(name: str, parts: dict[str, Any] = own) -> list[Any]:
            return [a for n, a in parts.items() if n.startswith(name)]

        blocks.append(
            room.Block(
                norm(*part("norm_1")),
                heads(H, H, *part("attention")),
                norm(*part("norm_2")),
                room.FeedForward(*part("feed_forward")),
            )
        )
    last = norm(arrays["norm.weight"], arrays["norm.bias"])
    output = arrays.get("lm_head")
    named = (arrays["token_embedding"], arrays["position_embedding"])
    return room.LanguageModel(*named, blocks, last, output)


@cache
def by_definition(model: Model) -> tuple[Any, float, dict[str, Any]]:
    """Return logits, loss and gradients in scalars."""
    ids, targets = (a.reshape(-1, model.length) for a in model.shown())
    logits, loss, gradients = scalar_model.loss_and_gradients(
        model.draw(), ids, targets, H=H
    )
    logits = np.reshape(logits, (*model.batch, model.length, V))
    return logits, loss, gradients


def computed(version: Version, model: Model) -> dict[str, Any]:
    """Return logits, loss and every gradient as a version has them."""
    own = make(version, model)
    ids, targets = map(version.array, model.shown())
    path = "language_model.loss_and_gradients"
    loss, gradients = version.function(path)(own, ids, targets)
    assert not getattr(loss, "requires_grad", False), "the loss keeps a graph"
    logits = version.numpy(own(ids))
    found = {n: version.numpy(g) for n, g in gradients.items()}
    return {"logits": logits, "loss": version.numpy(loss), **found}


def error_of(expected: Any) -> Any:
    """Bound a float64 result by what float32 would be allowed."""
    size = np.abs(expected).max(initial=0.0)
    return bounds.gamma(ROUNDINGS, "float32") * size + 1e-12


@check("language_model", "definition", MODELS)
def logits_loss_and_gradients_are_the_definitions(trial: Trial) -> None:
    """Compare with scalars in loops, in high precision."""
    logits, loss, gradients = by_definition(trial.case)
    expected = {"logits": logits, "loss": np.asarray(loss), **gradients}
    found = computed(trial.version, trial.case)
    assert list(found)[2:] == list(gradients), list(found)
    for name, got in found.items():
        must = expected[name]
        trial.within(name, got, must, error_of(must))
        assert np.any(must != 0) or "blocks" in name, f"{name} is 0"


@check("language_model", "each other", MODELS)
def both_versions_agree(trial: Trial) -> None:
    """Logits, loss and every gradient, to 1e-10."""
    found = computed(trial.version, trial.case)
    others = computed(trial.other, trial.case)
    assert list(found) == list(others), list(found)
    for name, got in found.items():
        size = max(1.0, float(np.abs(others[name]).max()))
        trial.within(name, got, others[name], 1e-10 * size)


@check("language_model", "each other", MODELS[:4])
def float32_stays_float32(trial: Trial) -> None:
    """Logits, loss and gradients are of float32, near those of float64."""
    model = trial.case._replace(dtype="float32")
    found = computed(trial.version, model)
    wide = computed(trial.other, trial.case)
    for name, got in found.items():
        assert got.dtype == np.float32, f"{name} is {got.dtype}"
        # Parameters are rounded, and then every step is.
        error = 16 * error_of(wide[name])
        trial.within(name, got, wide[name], error)


class Run(NamedTuple):
    """A hundred steps of training."""

    task: str
    tied: bool = False
    decay: float = 0.0

    def __str__(self) -> str:
        """Return the task and what is special about it."""
        more = ", tied" if self.tied else ""
        return f"{self.task}{more}, decay {self.decay:g}"


RUNS = [Run("poem", tied=True, decay=0.1), Run("pairs")]
STEPS = 100


@cache
def curve(version: Version, run: Run) -> list[float]:
    """Return the losses of a run in float64, from NumPy's first weights.

    Drawn by each for itself they differ in the last bit of float32, and a
    hundred steps make more of it.
    """
    room = version.room("training")
    text = room.encode(room.POEM, room.vocabulary(room.POEM))
    model, first = (
        own.poem_model(17, 19) if run.task == "poem" else own.recall_model()
        for own in (room, NUMPY.room("training"))
    )
    names = NUMPY.function("language_model.parameters")(first)
    wide = {n: np.float64(a) for n, a in names.items()}
    if run.tied:
        del wide["lm_head"]
        model.lm_head = None
    path = "language_model.set_parameters"
    own = {n: version.array(np.asarray(a)) for n, a in wide.items()}
    version.function(path)(model, own)
    optimizer = version.function("adam.AdamW")(
        model, room.LEARNING_RATE, decay=run.decay
    )
    losses = []
    for step in range(STEPS):
        if run.task == "poem":
            batch = room.text_batch(text, 16, 4, step)
        else:
            batch = room.recall_batch(16, step)
        losses.append(room.train_step(model, optimizer, batch))
    return losses


@check("language_model", "each other", RUNS)
def a_hundred_steps_have_the_same_losses(trial: Trial) -> None:
    """In float64, from the same weights on the same batches, to 1e-10."""
    found, others = (
        curve(trial.version, trial.case),
        curve(trial.other, trial.case),
    )
    expected = np.asarray(others)
    trial.within("losses", np.asarray(found), expected, 1e-10 * expected)
    assert found[-1] < found[0], "nothing is learned"


@check("language_model", "SDPA", (True, False))
def a_block_is_torchs_encoder_layer(trial: Trial) -> None:
    """With the same weights: its output, and the gradients of all."""
    width, hidden, heads = 8, 12, 2
    own = nn.TransformerEncoderLayer(
        width,
        heads,
        hidden,
        dropout=0.0,
        norm_first=True,
        batch_first=True,
        dtype=torch.float64,
    )
    rng = np.random.default_rng(29)
    with torch.no_grad():
        for p in own.parameters():
            p.copy_(torch.tensor(rng.standard_normal(p.shape) / 2))
    x, d = rng.standard_normal((2, 3, T, width))
    hidden_keys = torch.ones(T, T, dtype=torch.bool).triu(1)
    tensor = torch.tensor(x, requires_grad=True)
    result = own(tensor, src_mask=hidden_keys)
    torch.autograd.backward(result, torch.tensor(d))
    block = torchs_block(trial.version, own, heads)
    native = trial.version.array(x)
    got = trial.version.numpy(block(native))
    witness = result.detach().numpy()
    trial.within("output", got, witness, error_of(witness))
    if not trial.case:
        return
    found = block_gradients(trial.version, block, native, d)
    expected = torchs_gradients(own) | {"x": tensor.grad}
    assert sorted(found) == sorted(expected), sorted(found)
    for name, gradient in expected.items():
        assert gradient is not None
        array = gradient.numpy()
        # A key's bias cancels out of every row, and so does its gradient.
        like = "attention.w_k" if name == "attention.b_k" else name
        size = expected[like]
        assert size is not None
        error = error_of(size.numpy())
        trial.within(f"gradient of {name}", found[name], array, error)


def torchs_parts(own: Any, of: Any) -> dict[str, Any]:
    """Return what `of` makes of torch's parameters, by the names here."""
    in_w, in_b = (
        of(own.self_attn.in_proj_weight),
        of(own.self_attn.in_proj_bias),
    )
    w_q, w_k, w_v = (p.T for p in in_w.chunk(3))
    b_q, b_k, b_v = in_b.chunk(3)
    out = own.self_attn.out_proj
    return {
        "norm_1.weight": of(own.norm1.weight),
        "norm_1.bias": of(own.norm1.bias),
        "attention.w_q": w_q,
        "attention.w_k": w_k,
        "attention.w_v": w_v,
        "attention.w_o": of(out.weight).T,
        "attention.b_q": b_q,
        "attention.b_k": b_k,
        "attention.b_v": b_v,
        "attention.b_o": of(out.bias),
        "norm_2.weight": of(own.norm2.weight),
        "norm_2.bias": of(own.norm2.bias),
        "feed_forward.w_1": of(own.linear1.weight).T,
        "feed_forward.b_1": of(own.linear1.bias),
        "feed_forward.w_2": of(own.linear2.weight).T,
        "feed_forward.b_2": of(own.linear2.bias),
    }


def torchs_gradients(own: Any) -> dict[str, Any]:
    """Return the gradients of torch's layer, by the names here."""
    return torchs_parts(own, lambda p: p.grad)


def torchs_block(version: Version, own: Any, heads: int) -> Any:
    """Return a block with the weights of torch's layer."""
    parts = torchs_parts(own, lambda p: p.detach())
    arrays = {n: version.array(t.numpy().copy()) for n, t in parts.items()}

    def part(name: str) -> dict[str, Any]:
        return {
            n.removeprefix(f"{name}."): a
            for n, a in arrays.items()
            if n.startswith(name)
        }

    room = version.room("language_model")
    norm = version.function("layer_norm.LayerNorm")
    return room.Block(
        norm(**part("norm_1")),
        version.function("multi_head.MultiHeadAttention")(
            heads, heads, **part("attention")
        ),
        norm(**part("norm_2")),
        room.FeedForward(**part("feed_forward")),
    )


def block_gradients(
    version: Version, block: Any, x: Any, d: Any
) -> dict[str, Any]:
    """Return the gradients of x and of all of a block's parameters."""
    upstream = version.array(d)
    if version.by_hand:
        backward = version.function("language_model.block_backward")
        d_x, own = backward(upstream, block, x)
        return {"x": version.numpy(d_x)} | {
            n: version.numpy(g) for n, g in own.items()
        }
    x.requires_grad_()
    block(x).backward(upstream)
    leaves = {"x": x, **dict(block.named_parameters())}
    return {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}


@check("language_model", "SDPA", (True, False))
def the_loss_is_torchs_cross_entropy(trial: Trial) -> None:
    """Without and with targets that are left out."""
    rng = np.random.default_rng(31)
    logits = 30 * rng.standard_normal((2, T, V))
    targets = rng.integers(-1 if trial.case else 0, V, (2, T))
    path = "language_model.cross_entropy"
    got = trial.call(path, logits, targets)
    tensor = torch.tensor(logits, requires_grad=True)
    own = F.cross_entropy(
        tensor.reshape(-1, V), torch.tensor(targets).ravel(), ignore_index=-1
    )
    own.backward()  # type: ignore[no-untyped-call]  # torch has no types here
    error = bounds.gamma(T * V, "float64") * np.abs(logits).max()
    trial.within("loss", got, own.detach().numpy(), error)
    _, found = loss_and_slope(trial.version, logits, targets)
    assert tensor.grad is not None
    trial.within("gradient", found, tensor.grad.numpy(), error)


@check("language_model", "closed form", ("float32", "float64"))
def equal_logits_cost_the_logarithm_of_the_vocabulary(trial: Trial) -> None:
    """Every character is as likely as any other: -log(1/V) = log V."""
    logits = np.full((2, 3, 8), 5.0, dtype=trial.case)
    targets = np.asarray([[0, 7, -1], [-1, 3, -1]])
    got = trial.call("language_model.cross_entropy", logits, targets)
    assert got.dtype == trial.case, got.dtype
    error = 8 * np.spacing(np.asarray(1, dtype=trial.case))
    trial.within("loss", got, np.asarray(math.log(8)), error)


@check("language_model", "closed form")
def what_is_not_asked_for_costs_nothing(trial: Trial) -> None:
    """A right answer beyond doubt costs 0, a target of -1 too."""
    logits = np.asarray([[[800.0, 0.0], [0.0, 800.0], [0.0, 0.0]]])
    path = "language_model.cross_entropy"
    got = trial.call(path, logits, np.asarray([[0, -1, -1]]))
    trial.within("sure", got, np.asarray(0.0))
    got = trial.call(path, logits, np.asarray([[0, -1, 1]]))
    error = 4 * np.spacing(1.0)
    trial.within("half sure", got, np.asarray(math.log(2) / 2), error)
    got = trial.call(path, logits, np.asarray([[1, -1, 1]]))
    must = np.asarray((800 + math.log(2)) / 2)
    trial.within("quite wrong", got, must, 8 * np.spacing(800.0))


@check("language_model", "closed form", (-1, -2, -100, 3, 6))
def what_is_no_character_asks_for_nothing(trial: Trial) -> None:
    """Neither loss nor gradient; and where nothing is asked, NaN."""
    logits = np.asarray([[0.0, 0.0, 9.0], [5.0, 7.0, 1.0]])
    targets = np.asarray([1, trial.case])
    got, back = loss_and_slope(trial.version, logits, targets)
    first, alone = loss_and_slope(trial.version, logits[:1], targets[:1])
    trial.within("loss", got, first)
    trial.within("gradient", back, np.concat([alone, np.zeros((1, 3))]))
    assert np.any(alone != 0), "the gradient is 0"
    with np.errstate(all="ignore"):
        got, back = loss_and_slope(trial.version, logits, 0 * targets - 1)
    trial.within("nothing asked", got, np.asarray(np.nan))
    trial.within("its gradient", np.where(np.isnan(back), 0, back), 0 * back)


def loss_and_slope(version: Version, logits: Any, targets: Any) -> Any:
    """Return the loss and the gradient of the logits."""
    path = "language_model.cross_entropy"
    native, asked = version.array(logits), version.array(targets)
    if version.by_hand:
        found = version.function(path)(native, asked)
        with np.errstate(all="ignore"):
            back = version.function(f"{path}_backward")(native, asked)
    else:
        native.requires_grad_()
        found = version.function(path)(native, asked)
        found.backward()
        back = native.grad
    return version.numpy(found), version.numpy(back)


@check("language_model", "law", ("too small", "too large", "too many"))
def ids_that_are_no_characters_are_refused(trial: Trial) -> None:
    """An index of -1 is not the last character, nor V the first again."""
    model = make(trial.version, MODELS[1])
    bad = {
        "too small": ([[0, -1]], IndexError, "ids has -1 to 0, expected 0 to"),
        "too large": ([[0, V]], IndexError, "ids has 0 to 5, expected 0 to 4"),
        "too many": ([[0] * (T + 1)], ValueError, "ids has shape (1, 5), exp"),
    }
    ids, kind, text = bad[trial.case]
    found: Exception | None = None
    try:
        model(trial.version.array(np.asarray(ids)))
    except (IndexError, ValueError) as error:
        found = error
    assert type(found) is kind, f"{found!r}, expected {kind.__name__}"
    assert text in str(found), str(found)
    got = trial.version.numpy(model(trial.version.array(np.zeros(T, int))))
    assert np.any(got != 0), "the logits are 0"


@check("language_model", "closed form")
def a_character_is_one_among_all(trial: Trial) -> None:
    """True at its place; -1 is nobody."""
    found = trial.call(
        "language_model.one_hot", np.asarray([[2, -1], [0, 1]]), 3
    )
    expected = [
        [[False, False, True], [False, False, False]],
        [[True, False, False], [False, True, False]],
    ]
    trial.within("places", found, expected)


@check("language_model", "closed form", ("float32", "float64"))
def a_network_for_each_position(trial: Trial) -> None:
    """relu(x - 1) doubled, plus 3: whole numbers."""
    arrays = ([[1.0]], [-1.0], [[2.0]], [3.0])
    own = [
        trial.version.array(np.asarray(a, dtype=trial.case)) for a in arrays
    ]
    network = trial.version.function("language_model.FeedForward")(*own)
    x = np.asarray([[4.0], [1.0], [-7.0]], dtype=trial.case)
    got = trial.version.numpy(network(trial.version.array(x)))
    assert got.dtype == trial.case, got.dtype
    trial.within("result", got, [[9.0], [3.0], [3.0]])
    relu = trial.call("language_model.relu", x - 1)
    trial.within("relu", relu, [[3.0], [0.0], [0.0]])
    lost = trial.call("language_model.relu", np.asarray([np.nan, 1.0]))
    trial.within("relu of NaN", lost, [0.0, 1.0])


@check("language_model", "law", MODELS[:4])
def no_position_sees_what_comes_later(trial: Trial) -> None:
    """Another last character leaves all logits but the last row's."""
    model = make(trial.version, trial.case)
    ids, _ = trial.case.shown()
    other = ids.copy()
    other[:, -1] = (other[:, -1] + 1) % V
    one, two = (
        trial.version.numpy(model(trial.version.array(i)))
        for i in (ids, other)
    )
    trial.within("first rows", two[:, :-1], one[:, :-1])
    assert np.all(one[:, -1] != two[:, -1]), "the last row is the same"


TWO_TIED = MODELS[0]._replace(name="two blocks, tied", tied=True)


@check("language_model", "law", (MODELS[0], TWO_TIED, MODELS[1]))
def weights_of_attention_are_those_of_each_block(trial: Trial) -> None:
    """Rows sum to one and see nothing later; blocks differ."""
    model = make(trial.version, trial.case)
    ids, _ = trial.case.shown()
    found = model.weights(trial.version.array(ids))
    maps = [trial.version.numpy(w) for w in found]
    assert len(maps) == trial.case.blocks, len(maps)
    for weights in maps:
        n = trial.case.length
        assert weights.shape == (2, H, n, n), weights.shape
        error = bounds.gamma(4 * T, "float64")
        trial.within("sums", weights.sum(axis=-1), np.ones((2, H, n)), error)
        later = np.triu(weights, k=1)
        trial.within("later", later, np.zeros_like(later))
    assert len(maps) < 2 or np.any(maps[0] != maps[1]), "blocks are alike"
    x = model.embed(trial.version.array(ids))
    for i, block in enumerate(model.blocks):
        steps = block.attention.steps(block.norm_1(x), is_causal=True)
        trial.within(f"block {i}", maps[i], trial.version.numpy(steps.weights))
        x = block(x)


@check("language_model", "law")
def parameters_go_out_and_in_by_name(trial: Trial) -> None:
    """What is set is what is found, in the order of the parts."""
    model = make(trial.version, MODELS[0])
    drawn = MODELS[0].draw()
    path = "language_model.parameters"
    found = trial.version.function(path)(model)
    assert list(found) == list(drawn), list(found)
    doubled = {n: trial.version.array(2 * a) for n, a in drawn.items()}
    trial.version.function("language_model.set_parameters")(model, doubled)
    for name, array in trial.version.function(path)(model).items():
        trial.within(name, trial.version.numpy(array), 2 * drawn[name])


@check("language_model", "law", MODELS[:4])
def new_parameters_are_learned_from(trial: Trial) -> None:
    """An optimiser of the old ones moves the new, and not what was given."""
    model = make(trial.version, trial.case)
    drawn = trial.case.draw()
    optimizer = trial.version.function("adam.AdamW")(model, 0.25)
    given = {n: trial.version.array(2 * a) for n, a in drawn.items()}
    trial.version.function("language_model.set_parameters")(model, given)
    ones = {n: np.ones_like(a) for n, a in drawn.items()}
    optimizer.step({n: trial.version.array(a) for n, a in ones.items()})
    path = "language_model.parameters"
    for name, array in trial.version.function(path)(model).items():
        # The first step of Adam has the length of the learning rate.
        must = 2 * drawn[name] - 0.25
        trial.within(name, trial.version.numpy(array), must, 1e-8)
        given_is = trial.version.numpy(given[name])
        trial.within(f"given {name}", given_is, 2 * drawn[name])


@check("language_model", "law", (None, 0.0, 1.0))
def a_new_model_is_drawn_to_scale(trial: Trial) -> None:
    """Deviation 1 for rows of characters, 1/√rows for a matrix."""
    randn = trial.version.function("generator.Generator")(5).randn
    path = "language_model.initial_model"
    model = trial.version.function(path)(
        randn, V=40, T=30, M=32, H=4, F=64, blocks=2, scale=trial.case
    )
    found = trial.version.function("language_model.parameters")(model)
    for name, array in found.items():
        numbers = trial.version.numpy(array)
        assert numbers.dtype == np.float32, f"{name} is {numbers.dtype}"
        if numbers.ndim == 1:
            must = np.full(numbers.shape, float(name.endswith("weight")))
            trial.within(name, numbers, must)
            continue
        rows = (
            1
            if name in ("token_embedding", "position_embedding")
            else numbers.shape[0]
        )
        deviation = 1 / math.sqrt(rows)
        error = 6 * deviation / math.sqrt(2 * numbers.size)
        trial.within(name, numbers.std(), deviation, error)
    scales = {block.attention.scale for block in model.blocks}
    assert scales == {trial.case}, scales


@check("language_model", "closed form")
def a_model_is_drawn_in_the_order_of_its_parts(trial: Trial) -> None:
    """The n-th array drawn is all n: who has which?"""
    drawn = iter(range(99))

    def randn(*shape: int) -> Any:
        """Return the number of the draw, everywhere."""
        return trial.version.array(np.full(shape, float(next(drawn))))

    path = "language_model.initial_model"
    model = trial.version.function(path)(randn, 7, 5, 4, 2, 16, 2)
    found = trial.version.function("language_model.parameters")(model)
    order = ["token_embedding", "position_embedding"]
    for i in range(2):
        names = ("attention.w_q", "attention.w_k", "attention.w_v")
        more = ("attention.w_o", "feed_forward.w_1", "feed_forward.w_2")
        order += [f"blocks.{i}.{name}" for name in (*names, *more)]
    for n, name in enumerate([*order, "lm_head"]):
        got = trial.version.numpy(found[name])
        root = 1 if n < 2 else math.sqrt(got.shape[0])
        trial.within(name, got, np.full(got.shape, n / root))


@check("language_model", "closed form", ("float32", "float64"))
def relu_gives_nothing_back_at_zero(trial: Trial) -> None:
    """Where relu's argument is exactly 0 its slope is 0, as in torch."""
    version = trial.version
    arrays = ([[1.0]], [-1.0], [[2.0]], [3.0])
    own = [version.array(np.asarray(a, dtype=trial.case)) for a in arrays]
    network = version.function("language_model.FeedForward")(*own)
    x = version.array(np.asarray([[4.0], [1.0], [-7.0]], dtype=trial.case))
    d = version.array(np.asarray([[1.0], [10.0], [100.0]], dtype=trial.case))
    if version.by_hand:
        path = "language_model.feed_forward_backward"
        found = version.function(path)(d, network, x)
        back = {n: version.numpy(g) for n, g in found._asdict().items()}
    else:
        x.requires_grad_()
        network(x).backward(d)
        leaves = {"x": x, **dict(network.named_parameters())}
        back = {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}
    trial.within("x", back["x"], [[2.0], [0.0], [0.0]])
    trial.within("w_1", back["w_1"], [[8.0]])
    trial.within("b_1", back["b_1"], [2.0])
    trial.within("w_2", back["w_2"], [[3.0]])
    trial.within("b_2", back["b_2"], [111.0])


@check("language_model", "each other")
def both_versions_draw_the_same_model(trial: Trial) -> None:
    """The same numbers in the same order, from one seed."""
    drawn = []
    for version in (trial.version, trial.other):
        randn = version.function("generator.Generator")(5).randn
        path = "language_model.initial_model"
        model = version.function(path)(randn, 7, 5, 8, 2, 12, 2)
        found = version.function("language_model.parameters")(model)
        drawn.append({n: version.numpy(a) for n, a in found.items()})
    assert list(drawn[0]) == list(drawn[1]), list(drawn[0])
    for name, array in drawn[0].items():
        error = bounds.normal_numbers(16)
        trial.within(name, array, drawn[1][name], error)
