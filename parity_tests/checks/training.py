"""training: inputs, targets, and the changes of a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..suite.register import Trial, check
from ..suite.versions import Version

SEEDS = (0, 1, 7, 100_003)
CHARACTERS = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"


@check("training", "closed form", ("床前明月光", "abca", ""))
def a_text_becomes_places_and_back(trial: Trial) -> None:
    """Each character's place in the vocabulary, and the text again."""
    characters = "月光明前床cba"
    ids = trial.call("training.encode", trial.case, characters)
    assert ids.dtype == np.int64, ids.dtype
    expected = [characters.index(c) for c in trial.case]
    trial.within("ids", ids, np.asarray(expected, dtype=np.int64))
    text = trial.call("training.decode", ids, characters)
    assert text == trial.case, text
    more = trial.call("training.encode", "床月", characters)
    trial.within("ids", more, [4, 0])
    trial.refuses(ValueError, "", "training.encode", "床無月", characters)


@check("training", "closed form", ("cab", "abcabc", "光明月前床月"))
def a_vocabulary_is_in_order(trial: Trial) -> None:
    """Each character once, in the order of their numbers."""
    expected = {"cab": "abc", "abcabc": "abc", "光明月前床月": "光前床明月"}
    got = trial.call("training.vocabulary", trial.case)
    assert got == expected[trial.case], got
    ids = trial.call("training.encode", got, got)
    trial.within("ids", ids, np.arange(len(got)))


@check("training", "closed form", SEEDS)
def targets_are_what_follows(trial: Trial) -> None:
    """Of 0, 1, 2, ... a stretch is n, n + 1, ..., with targets from n + 1."""
    text = np.arange(12) * 3
    batch = trial.call("training.text_batch", text, 5, 40, trial.case)
    ids, targets = batch["ids"], batch["targets"]
    assert ids.shape == targets.shape == (40, 5), (ids.shape, targets.shape)
    trial.within("targets", targets, ids + 3)
    trial.within("ids", ids, ids[:, :1] + 3 * np.arange(5))
    starts = set((ids[:, 0] // 3).tolist())
    # 40 draws miss one of the 7 places with probability 7 · (6/7)⁴⁰ = 0.015:
    # what they may not do is leave the text.
    assert starts <= set(range(7)), starts
    assert len(starts) > 3, starts


@check("training", "law", ("text", "pairs"))
def every_place_is_drawn_in_time(trial: Trial) -> None:
    """The first and the last stretch are drawn, and all pairs."""
    seen: set[int] = set()
    for seed in range(20):
        if trial.case == "text":
            text = np.arange(9)
            batch = trial.call("training.text_batch", text, 5, 20, seed)
            seen |= set(batch["ids"][:, 0].tolist())
        else:
            ids = trial.call("training.recall_batch", 20, seed)["ids"]
            place = ids[:, :-1:2] == ids[:, -1:]
            seen |= set(place.argmax(axis=-1).tolist())
    assert seen == {0, 1, 2, 3}, seen


@check("training", "closed form", SEEDS)
def the_answer_is_the_partner(trial: Trial) -> None:
    """Four pairs of stem and branch, one stem again: its branch."""
    batch = trial.call("training.recall_batch", 50, trial.case)
    ids, targets = batch["ids"], batch["targets"]
    assert ids.shape == targets.shape == (50, 9), ids.shape
    trial.within("not asked", targets[:, :-1], np.full((50, 8), -1))
    for row, answer in zip(ids.tolist(), targets[:, -1].tolist(), strict=True):
        first, second = row[:-1:2], row[1::2]
        assert len(set(first)) == len(set(second)) == 4, row
        assert all(0 <= c < 10 for c in first), row
        assert all(10 <= c < 22 for c in second), row
        assert dict(zip(first, second, strict=True))[row[-1]] == answer, row
    pairs = {tuple(row) for row in ids.tolist()}
    assert len(pairs) == 50, "two sequences are the same"


@check("training", "each other", SEEDS)
def both_versions_show_the_same(trial: Trial) -> None:
    """The same batches from the same seed, others from another."""
    text = np.arange(30)
    for path, arguments in (
        ("training.text_batch", (text, 7, 6)),
        ("training.recall_batch", (6,)),
    ):
        one = trial.call(path, *arguments, trial.case)
        other = trial.other.call(path, *arguments, trial.case)
        later = trial.call(path, *arguments, trial.case + 1)
        for name in ("ids", "targets"):
            trial.within(f"{path}, {name}", one[name], other[name])
        assert np.any(one["ids"] != later["ids"]), "two seeds are alike"


def counting(version: Version, V: int, T: int) -> Any:
    """Return a model that predicts the successor of each character."""

    class Counting:
        position_embedding = np.zeros((T, 1))

        def __call__(self, ids: Any) -> Any:
            places = version.numpy(ids)
            assert places.shape[-1] <= T, f"{places.shape} are shown"
            after = (places + 1) % V
            right = after[..., None] == np.arange(V)
            # The next but one is as unlikely as can be.
            wrong = (after[..., None] + 1) % V == np.arange(V)
            return version.array(np.float32(right - 9.0 * wrong))

    return Counting()


@check("training", "closed form", (1, 4))
def the_likeliest_character_follows(trial: Trial) -> None:
    """A model that counts continues counting from what it can see."""
    model = counting(trial.version, 5, trial.case)
    start = trial.version.array(np.asarray([1, 2]))
    path = "training.continue_text"
    got = trial.version.function(path)(model, start, 6)
    trial.within("ids", trial.version.numpy(got), [1, 2, 3, 4, 0, 1, 2, 3])
    same = trial.version.function(path)(model, start, 0)
    trial.within("no steps", trial.version.numpy(same), [1, 2])


ANSWERS = {
    0.75: [[1, -1, 3], [-1, 5, 7]],
    0.5: [[-1, -1, 3], [-1, -1, 0]],
    1.0: [[-1, 2, -1], [4, 5, 6]],
}


@check("training", "closed form", list(ANSWERS))
def only_what_is_asked_is_marked(trial: Trial) -> None:
    """Accuracy is the share of the targets, without positions of -1."""
    model = counting(trial.version, 9, 3)
    ids = np.asarray([[0, 1, 2], [3, 4, 5]])
    targets = np.asarray(ANSWERS[trial.case])
    batch = trial.version.function("training.Batch")(
        *map(trial.version.array, (ids, targets))
    )
    got = trial.version.function("training.accuracy")(model, batch)
    trial.within("accuracy", np.asarray(got), np.asarray(trial.case))


@check("training", "each other", (0, 3))
def a_real_model_goes_on(trial: Trial) -> None:
    """One sequence without a batch: both versions write the same."""
    start = np.asarray([trial.case, 5, 2])
    said = []
    for version in (trial.version, trial.other):
        model = version.function("training.poem_model")(17, 6)
        path = "training.continue_text"
        ids = version.function(path)(model, version.array(start), 9)
        said.append(version.numpy(ids))
    trial.within("ids", said[0], said[1])
    assert len(set(said[0].tolist())) > 3, said[0]


@check("training", "law", ("train_step", "tied_step"))
def a_step_tells_the_loss_before_it_and_lowers_it(trial: Trial) -> None:
    """Five small steps on one batch: each loss is below the one before."""
    module = trial.version.module("training")
    model = trial.version.function("training.recall_model")(3)
    if trial.case == "tied_step":
        trial.version.function("training.tie")(model)
    batch = module.recall_batch(16, 1)
    cost = trial.version.function("language_model.cross_entropy")
    loss = cost(model(batch.ids), batch.targets)
    before = float(trial.version.numpy(loss))
    optimizer = trial.version.function("adam.AdamW")(model, 1e-3)
    step = trial.version.function(f"training.{trial.case}")
    losses = [step(model, optimizer, batch) for _ in range(5)]
    error = 64 * np.spacing(np.float32(before))
    trial.within("loss", np.asarray(losses[0]), np.asarray(before), error)
    assert sorted(losses, reverse=True) == losses, losses
    assert losses[-1] < losses[0], losses
    assert optimizer.step_count == 5, optimizer.step_count


@check("training", "law")
def value_stays_what_key_is(trial: Trial) -> None:
    """W_v stays tied to W_k after steps; the other matrices do not."""
    model = trial.version.function("training.recall_model")(3)
    path = "language_model.parameters"
    key = trial.version.function(path)(model)["blocks.0.attention.w_k"]
    before = trial.version.numpy(key).copy()
    trial.version.function("training.tie")(model)
    now = trial.version.function(path)(model)
    for name in ("w_k", "w_v"):
        got = trial.version.numpy(now[f"blocks.0.attention.{name}"])
        trial.within(f"{name} when tied", got, before)
    batch = trial.version.module("training").recall_batch(8, 1)
    optimizer = trial.version.function("adam.AdamW")(model, 1e-2)
    for _ in range(3):
        trial.version.function("training.tied_step")(model, optimizer, batch)
    parameters = {
        n: trial.version.numpy(a)
        for n, a in trial.version.function(path)(model).items()
    }
    for i in range(2):
        name = f"blocks.{i}.attention"
        trial.within(
            name, parameters[f"{name}.w_v"], parameters[f"{name}.w_k"]
        )
        assert np.any(parameters[f"{name}.w_q"] != parameters[f"{name}.w_k"])
    moved = np.any(parameters["blocks.0.attention.w_k"] != before)
    assert moved, "the key matrix has not moved"


@check("training", "each other", ("train_step", "tied_step"))
def both_versions_have_the_same_losses(trial: Trial) -> None:
    """Ten steps in float64, tied and not, from weights each has drawn.

    Drawn in float32 they differ in the last bit, and each step amplifies
    it: by how much is not derived. The losses lie 1e-8 apart.
    """
    one, other = (
        ten_losses(version, trial.case)
        for version in (trial.version, trial.other)
    )
    expected = np.asarray(other)
    trial.within("losses", np.asarray(one), expected, 1e-5 * expected)


def ten_losses(version: Version, step: str) -> list[float]:
    """Return the losses of ten steps on pairs, in float64."""
    module = version.module("training")
    model = version.function("training.recall_model")(3)
    names = version.function("language_model.parameters")(model)
    wide = {
        n: version.array(np.float64(version.numpy(w)))
        for n, w in names.items()
    }
    version.function("language_model.set_parameters")(model, wide)
    if step == "tied_step":
        version.function("training.tie")(model)
    optimizer = version.function("adam.AdamW")(model, 1e-2)
    take = version.function(f"training.{step}")
    return [
        take(model, optimizer, module.recall_batch(16, n)) for n in range(10)
    ]


@check("training", "closed form")
def both_uses_of_a_matrix_give_back(trial: Trial) -> None:
    """W_k and W_v get the sum of their gradients, the others theirs."""
    names = ("blocks.0.attention.w_k", "blocks.0.attention.w_v", "norm.weight")
    arrays = [np.asarray([1.0, 2.0]), np.asarray([10.0, 30.0]), np.ones(2)]
    native = dict(zip(names, map(trial.version.array, arrays), strict=True))
    gradients = trial.version.function("training.tied")(native)
    expected = [[11, 32], [11, 32], [1, 1]]
    for name, must in zip(names, expected, strict=True):
        trial.within(name, trial.version.numpy(gradients[name]), must)
    for name, array in zip(names, arrays, strict=True):
        trial.within(f"{name} given", trial.version.numpy(native[name]), array)


@check("training", "law", ("poem_model", "recall_model"))
def a_model_fits_its_task(trial: Trial) -> None:
    """Its sizes, its scale, and another seed's other numbers."""
    make = trial.version.function(f"training.{trial.case}")
    sizes = (17, 19) if trial.case == "poem_model" else ()
    one, same, other = make(*sizes), make(*sizes, seed=0), make(*sizes, seed=1)
    plain = make(*sizes, scale=0.0)
    path = "language_model.parameters"
    arrays = [
        {
            n: trial.version.numpy(a)
            for n, a in trial.version.function(path)(model).items()
        }
        for model in (one, same, other, plain)
    ]
    V, T = sizes or (22, 9)
    assert arrays[0]["token_embedding"].shape == (V, 32), arrays[0][
        "token_embedding"
    ].shape
    assert arrays[0]["position_embedding"].shape == (T, 32)
    assert arrays[0]["lm_head"].shape == (32, V)
    assert arrays[0]["blocks.1.feed_forward.w_1"].shape == (32, 64)
    if sizes:
        # The number that the page and the command tell, of 17 and 19.
        numbers = sum(array.size for array in arrays[0].values())
        assert numbers == 18592, numbers
    trial.within(
        "token_embedding",
        arrays[1]["token_embedding"],
        arrays[0]["token_embedding"],
    )
    trial.within(
        "token_embedding",
        arrays[3]["token_embedding"],
        arrays[0]["token_embedding"],
    )
    assert np.all(
        arrays[2]["token_embedding"] != arrays[0]["token_embedding"]
    ), "seeds are alike"
    scales = [block.attention.scale for block in (*one.blocks, *plain.blocks)]
    assert scales == [None, None, 0.0, 0.0], scales
    heads = {block.attention.H for block in one.blocks}
    assert heads == ({4} if sizes else {1}), heads


@check("training", "closed form")
def the_poem_and_the_pairs_are_the_known_ones(trial: Trial) -> None:
    """Twenty characters, ten stems and twelve branches."""
    module = trial.version.module("training")
    assert len(module.POEM) == 20, module.POEM
    assert module.POEM[:5] == "".join(trial.version.module("lesson").TOKENS)
    assert module.STEMS + module.BRANCHES == CHARACTERS
    ids = trial.call("training.encode", CHARACTERS, CHARACTERS)
    trial.within("ids", ids, np.arange(22))
