"""The pictures of the pages, drawn from the project's numbers.

Each is a function that draws on a figure; `svg` makes an SVG of it whose
ink is the page's own colour, so that it can be read on a dark page too.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from attention_twice.figures import text_stays_text
from attention_twice.words import N_, translations
from numpy_impl import (
    adam,
    attention,
    averaging,
    dropout,
    experiments,
    generator,
    layer_norm,
    lesson,
    masks,
    merge,
    positions,
    ring,
    sdpa,
    softmax,
    training,
)

# A grey of its own, which becomes the colour of the page's text.
INK = "#123456"
BLUE, ORANGE, GREEN = "#0369a1", "#c2410c", "#4d7c0f"
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.figsize": (5.5, 3),
    "figure.constrained_layout.use": True,
}
Draw = Callable[[Figure], None]


def svg(draw: Draw, tag: str) -> str:
    """Return what a function draws as an SVG for the page.

    Words that the catalogue has are translated; signs and names of functions
    stay as they are.
    """
    with text_stays_text(draw.__name__, STYLE):
        figure = Figure()
        draw(figure)
        file = io.StringIO()
        figure.savefig(
            file, format="svg", transparent=True, metadata={"Date": None}
        )
    text = file.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    text = re.sub(r"\s*\n\s*", " ", text)
    word = translations(tag).gettext
    return re.sub(r">([^<>]+)</", lambda m: f">{word(m[1])}</", text)


def heat(
    axes: Axes,
    matrix: NDArray[Any],
    title: str = "",
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    numbers: bool = True,
) -> None:
    """Draw a matrix as squares, darker for larger, 0 as a dot."""
    size = max(float(np.abs(matrix).max()), 1e-9)
    axes.pcolormesh(
        matrix, cmap="RdBu", vmin=-1.6 * size, vmax=1.6 * size, linewidth=0
    )
    axes.set(title=title, aspect="equal")
    axes.invert_yaxis()
    axes.tick_params(length=0, top=True, labeltop=True, labelbottom=False)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if not numbers:
        return
    for (i, j), number in np.ndenumerate(matrix):
        text = f"{number:.2f}" if number != 0 else "·"
        place: Any = {"ha": "center", "va": "center", "fontsize": 9}
        axes.text(j + 0.5, i + 0.5, text, color="black", **place)


def triangle(figure: Figure) -> None:
    """The weights of a running mean."""
    figure.set_size_inches(3.4, 3.2)
    weights = averaging.averaging_weights(5)
    heat(figure.subplots(), weights, "", lesson.TOKENS, lesson.TOKENS)


def softening(figure: Figure) -> None:
    """The weight of the larger of two scores."""
    axes = figure.subplots()
    apart = np.linspace(0, 6, 121)
    scores = np.stack([apart, 0 * apart], axis=-1)
    for times, colour, label in (
        (0.5, GREEN, N_("scores × 0.5")),
        (1, BLUE, N_("scores × 1")),
        (5, ORANGE, N_("scores × 5")),
    ):
        weight = softmax.softmax(times * scores)[:, 0]
        axes.plot(apart, weight, color=colour, label=label)
    axes.set(xlabel="s₁ − s₂", ylabel="P₁", ylim=(0.48, 1.02))
    axes.legend(frameon=False)


def kinds(figure: Figure) -> None:
    """Four masks."""
    figure.set_size_inches(7, 2.2)
    both = np.asarray([6, 4])
    shown = {
        N_("causal, upper left"): masks.causal_mask(4, 6),
        N_("causal, lower right"): masks.causal_mask(4, 6, "lower_right"),
        N_("window (1, 0)"): masks.window_mask(4, 6, 1, 0),
        N_("padding, 4 of 6"): masks.padding_mask(both, 6)[1, 0, :, :]
        & np.ones((4, 6), dtype=bool),
    }
    for axes, (title, mask) in zip(
        figure.subplots(1, 4), shown.items(), strict=True
    ):
        heat(axes, mask.astype(float), title, numbers=False)
        axes.title.set_fontsize(10)
        axes.set_xticks(np.arange(7), [], minor=False)
        axes.set_yticks(np.arange(5), [], minor=False)
        axes.grid(color="white", linewidth=1)


def dropped(figure: Figure) -> None:
    """Weights, before and after dropout."""
    figure.set_size_inches(6.6, 3.1)
    weights = looked_back().weights
    dropout_mask = (np.arange(25).reshape(5, 5) * 7) % 4 > 0
    left, right = figure.subplots(1, 2)
    names = lesson.TOKENS
    heat(left, weights, "p = 0", names, names)
    after = dropout.dropout(weights, 0.25, dropout_mask)
    heat(right, after, "p = 0.25", names, names)


def looked_back() -> lesson.LookBack:
    """Return section 3's numbers."""
    inputs = lesson.draw_inputs()
    return lesson.look_back(inputs.query, inputs.key)


def way_back(figure: Figure) -> None:
    """P, dP and dS of section 3, for one upstream gradient."""
    figure.set_size_inches(7.4, 2.7)
    inputs = lesson.draw_inputs()
    weights = looked_back().weights
    d_output = generator.Generator(1).randn(5, 4)
    d_weights, _ = attention.weighted_sum_backward(
        d_output, weights, inputs.past
    )
    d_scores = softmax.softmax_backward(d_weights, weights)
    found = {"P": weights, "dP": d_weights, "dS": d_scores}
    for axes, (title, matrix) in zip(
        figure.subplots(1, 3), found.items(), strict=True
    ):
        heat(axes, matrix, title)


def all_steps(figure: Figure) -> None:
    """Scores, masked scores and weights of section 3."""
    figure.set_size_inches(7.4, 2.7)
    found = looked_back()
    seen = np.where(np.isfinite(found.masked_scores), found.scores, 0)
    shown = {
        N_("scores"): found.scores,
        N_("masked"): seen,
        N_("weights"): found.weights,
    }
    for axes, (title, matrix) in zip(
        figure.subplots(1, 3), shown.items(), strict=True
    ):
        heat(axes, matrix, title)


def one_head(figure: Figure) -> None:
    """The weights of section 5's head."""
    figure.set_size_inches(3.4, 3.2)
    inputs = lesson.draw_inputs()
    weights = lesson.one_head(
        inputs.x, inputs.w_q, inputs.w_k, inputs.w_v, masks.causal_mask(5, 5)
    ).weights
    heat(figure.subplots(), weights, "", lesson.TOKENS, lesson.TOKENS)


def table_sizes(figure: Figure) -> None:
    """The bytes of a score matrix, and of the values."""
    axes = figure.subplots()
    T = 2.0 ** np.arange(8, 18)
    axes.loglog(T, 4 * T * T, color=ORANGE, base=2, label=N_("scores, 4 T²"))
    axes.loglog(
        T, 4 * T * 64, color=BLUE, base=2, label=N_("values, 4 · 64 T")
    )
    ticks = {2.0**20: "1 MiB", 2.0**30: "1 GiB", 2.0**36: "64 GiB"}
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_xticks([2.0**8, 2.0**12, 2.0**16], ["256", "4096", "65536"])
    axes.set(xlabel="T", ylabel=N_("bytes"))
    axes.legend(frameon=False)


def cut(figure: Figure) -> None:
    """Which head a number belongs to: cut rightly, and wrongly."""
    figure.set_size_inches(6, 2.6)
    T, H, D = 4, 2, 3
    place = np.arange(T * H * D).reshape(T, H * D)
    shown = {
        "split_heads": place % (H * D) // D,
        N_("reshape alone"): place // (T * D),
    }
    for axes, (title, owner) in zip(
        figure.subplots(1, 2), shown.items(), strict=True
    ):
        axes.pcolormesh(
            owner, cmap="RdBu", vmin=-0.6, vmax=1.6, edgecolor="white"
        )
        axes.set(title=title, aspect="equal", xlabel="H · D", ylabel="T")
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.set_yticks([])


def clocks(figure: Figure) -> None:
    """The sines and cosines of 48 positions, and ALiBi of two heads."""
    figure.set_size_inches(6.6, 3)
    left, right = figure.subplots(1, 2, width_ratios=[1, 1.2])
    left.imshow(
        positions.sinusoidal(48, 32),
        cmap="RdBu",
        vmin=-1.6,
        vmax=1.6,
        interpolation="none",
    )
    left.set(title=N_("sinusoidal"), xlabel="M", ylabel="T")
    bias = positions.alibi(8, 12, 12)[:, -1, :]
    for number, colour, label in (
        (0, ORANGE, N_("head 0")),
        (2, BLUE, N_("head 2")),
        (7, GREEN, N_("head 7")),
    ):
        right.plot(np.arange(-11, 1), bias[number], color=colour, label=label)
    right.set(title="ALiBi", xlabel="j − i", ylabel=N_("bias"))
    right.legend(frameon=False)


def corners(figure: Figure) -> None:
    """What new queries see: three steps of decoding."""
    figure.set_size_inches(6.6, 2.3)
    for axes, (past, new) in zip(
        figure.subplots(1, 3), ((0, 3), (3, 1), (4, 2)), strict=True
    ):
        seen = masks.causal_mask(new, past + new, "lower_right")
        whole = np.zeros((3, 6))
        whole[:new, : past + new] = np.where(seen, 1, 0.15)
        heat(axes, whole, f"{past} + {new}", numbers=False)
        axes.set_xticks(np.arange(7), [], minor=False)
        axes.set_yticks(np.arange(4), [], minor=False)
        axes.grid(color="white", linewidth=1)


def two_parts(figure: Figure) -> None:
    """Weights of two parts, and of the whole."""
    figure.set_size_inches(6.6, 2.4)
    scores = np.asarray([1.0, 3.0, 2.0, 0.5, 4.0, 2.5])
    value = np.eye(6)
    found = [
        merge.normalize(merge.partial_sums(scores[None, keys], value[keys, :]))
        for keys in (slice(0, 3), slice(3, 6))
    ]
    whole = merge.merge(*found)
    for axes, part in zip(
        figure.subplots(1, 3, sharey=True), (*found, whole), strict=True
    ):
        colours = [BLUE] * 3 + [ORANGE] * 3
        axes.bar(np.arange(6), part.output[0, :], color=colours)
        lse = part.log_sum_exp.item()
        axes.set(title=f"lse {lse:.2f}", xlabel=N_("key"))


def sight(figure: Figure) -> None:
    """Which causal tiles are computed, and which with a mask."""
    figure.set_size_inches(3.6, 3.2)
    seen = masks.causal_mask(12, 12)
    tiled = np.asarray(
        [
            [seen[i : i + 3, j : j + 3].mean() for j in range(0, 12, 3)]
            for i in range(0, 12, 3)
        ]
    )
    axes = figure.subplots()
    computed = np.kron(tiled > 0, np.ones((3, 3)))
    heat(axes, computed * (0.4 + 0.6 * seen), numbers=False)
    for (i, j), share in np.ndenumerate(tiled):
        said = {0.0: N_("skipped"), 1.0: N_("whole")}.get(
            float(share), N_("mask")
        )
        axes.text(3 * j + 1.5, 3 * i + 1.5, said, ha="center", va="center")
    axes.set_xticks(np.arange(0, 13, 3), [])
    axes.set_yticks(np.arange(0, 13, 3), [])
    axes.grid(color=INK, linewidth=1)


def rounds(figure: Figure) -> None:
    """Whose keys a rank holds at each step, and what it sees of them."""
    axes = figure.subplots()
    size = 4
    rows = range(size)
    held = list(range(size))
    names = N_("keys 0"), N_("keys 1"), N_("keys 2"), N_("keys 3")
    palette = [BLUE, ORANGE, GREEN, "#7e22ce"]
    for step in range(size):
        for rank in rows:
            source = held[rank]
            seen = source <= rank
            axes.add_patch(
                Rectangle(
                    (step + 0.05, rank + 0.05),
                    0.9,
                    0.9,
                    facecolor=palette[source],
                    alpha=0.85 if seen else 0.2,
                )
            )
            text = N_("triangle") if source == rank else N_("all")
            if not seen:
                text = N_("nothing")
            axes.text(
                step + 0.5,
                rank + 0.5,
                f"{names[source]}\n{text}",
                ha="center",
                va="center",
                color="white" if seen else INK,
                fontsize=9,
            )
        held = ring.passed_on(held)
    axes.set(
        xlim=(0, size), ylim=(size, 0), xlabel=N_("step"), ylabel=N_("rank")
    )
    middle = np.arange(size) + 0.5
    axes.set_xticks(middle, list(map(str, rows)))
    axes.set_yticks(middle, list(map(str, rows)))
    axes.tick_params(length=0)


def bell(figure: Figure) -> None:
    """Ten thousand drawn numbers, and the density."""
    axes = figure.subplots()
    drawn = generator.Generator(0).randn(10_000)
    axes.hist(drawn, bins=50, density=True, color=BLUE, alpha=0.5)
    x = np.linspace(-4, 4, 161)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    axes.plot(x, density, color=ORANGE)
    axes.set(xlabel="x")


def one_scale(figure: Figure) -> None:
    """Rows of very different size, before and after."""
    figure.set_size_inches(6.6, 2.6)
    sizes = np.asarray([[0.2], [1.0], [4.0]])
    x = sizes * (generator.Generator(0).randn(3, 16) + 1)
    left, right = figure.subplots(1, 2)
    for axes, rows in ((left, x), (right, layer_norm.normalize(x))):
        for row, colour in zip(rows, (GREEN, BLUE, ORANGE), strict=True):
            axes.plot(row, ".-", color=colour)
        axes.set(xlabel="M")
    left.set(title="x")
    right.set(title="normalize(x)")


def learned(figure: Figure) -> None:
    """The loss of the poem, step by step."""
    axes = figure.subplots()
    axes.plot(experiments.poem_losses(20), ".-", color=BLUE)
    guess = np.log(len(training.vocabulary(training.POEM)))
    axes.axhline(guess, color=ORANGE, linestyle="--")
    axes.text(19, guess + 0.08, "ln V", ha="right")
    axes.set(xlabel=N_("step"), ylabel=N_("loss"), ylim=(0, None))
    axes.set_xticks([0, 5, 10, 15])


class Valley:
    """A point in a valley that is a hundred times steeper one way."""

    def __init__(self) -> None:
        self.w = np.asarray([-4.0, 0.5])

    def gradient(self) -> NDArray[Any]:
        """Return the slope where it stands."""
        slope: NDArray[Any] = np.asarray([1.0, 100.0]) * self.w
        return slope


def descent(figure: Figure) -> None:
    """The path down a narrow valley, of gradient descent and of Adam."""
    figure.set_size_inches(6.4, 2.6)
    axes = figure.subplots()
    x, y = np.meshgrid(np.linspace(-4.5, 1, 80), np.linspace(-0.7, 0.7, 60))
    height = (x * x + 100 * y * y) / 2
    axes.contour(x, y, height, levels=12, colors=INK, alpha=0.3, linewidths=1)
    plain = Valley()
    way = [plain.w]
    for _ in range(40):
        plain.w = plain.w - 0.018 * plain.gradient()
        way.append(plain.w)
    axes.plot(*np.stack(way, axis=-1), ".-", color=ORANGE, label="w − η g")
    point = Valley()
    optimizer = adam.AdamW(point, 0.15)
    way = [point.w]
    for _ in range(40):
        optimizer.step({"w": point.gradient()})
        way.append(point.w)
    axes.plot(*np.stack(way, axis=-1), ".-", color=BLUE, label="Adam")
    axes.plot(0, 0, "o", color=INK)
    axes.legend(frameon=False, loc="lower left")


def capped(figure: Figure) -> None:
    """Scores under a soft cap."""
    axes = figure.subplots()
    scores = np.linspace(-8, 8, 161)
    axes.plot(scores, scores, color=INK, linestyle=":", label=N_("no cap"))
    for cap, colour, label in (
        (2.0, ORANGE, N_("cap 2.0")),
        (5.0, BLUE, N_("cap 5.0")),
    ):
        axes.plot(
            scores,
            sdpa.cap_scores(scores, cap),
            color=colour,
            label=label,
        )
    axes.set(xlabel=N_("score"), ylabel=N_("capped score"))
    axes.legend(frameon=False)
