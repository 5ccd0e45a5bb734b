"""attention.py train and recall, as a user runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from attention_twice import checkpoint, cli, sides, words
from attention_twice.train import Training
from parity_tests.tests.program.running import (
    PROGRAM,
    printed,
    said_by_main,
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)


def train(capsys: Capture, *arguments: str) -> str:
    """Return what training prints, in English and plain."""
    if "--impl" not in arguments:
        arguments = (*arguments, "--impl", "numpy")
    return printed(capsys, "train", "--lang", "en", *arguments)


def held(path: str) -> dict[str, Any]:
    """Return what a checkpoint holds."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two checkpoints are equal to the bit."""
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) for name in one
    )


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_the_poem_is_learned_and_kept(impl: str, capsys: Capture) -> None:
    out = train(capsys, "--impl", impl)
    assert "after 床前明月 it says 光疑是地上霜舉頭望明月低頭思故鄉." in out
    assert "step     1   loss" in out
    assert "saved in poem.npz" in out
    assert "random            0.02   0.14   0.02   0.09   0.73" in out
    assert out.count("block 2, head") == 4
    assert [*Path().iterdir()] == [Path("poem.npz")]
    again = train(capsys, "--impl", impl)
    assert "Resumes from step 8, saved in poem.npz." in again
    # One version goes on from what the other has learned.
    other = {"numpy": "torch", "torch": "numpy"}[impl]
    more = train(capsys, "--impl", other, "--steps", "2")
    assert "After 10 steps it knows the text by heart" in more


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_run_repeats_to_the_bit(impl: str, capsys: Capture) -> None:
    Path("text.txt").write_text("不見古人，不見來者。" * 20, encoding="utf-8")
    named = ("--impl", impl, "--text", "text.txt", "--checkpoint")
    train(capsys, *named, "whole.npz", "--steps", "6")
    train(capsys, *named, "again.npz", "--steps", "6")
    train(capsys, *named, "parts.npz", "--steps", "2")
    out = train(capsys, *named, "parts.npz", "--steps", "4")
    assert "Resumes from step 2" in out
    train(capsys, *named, "seed.npz", "--steps", "6", "--seed", "1")
    whole = held("whole.npz")
    assert same(whole, held("again.npz"))
    assert same(whole, held("parts.npz"))
    assert not same(whole, held("seed.npz"))
    assert int(whole["count"]) == 6


def test_a_text_of_two_characters(capsys: Capture) -> None:
    Path("ab.txt").write_text("ab", encoding="utf-8")
    out = train(capsys, "--text", "ab.txt")
    assert "it knows the text by heart: after a it says b." in out
    assert Path("ab.txt.npz").exists()
    Path("aa.txt").write_text("\ufeffaaaa", encoding="utf-8")
    out = train(capsys, "--text", "aa.txt")
    assert "After 0 steps it knows the text by heart: after aaa" in out
    assert "it says a." in out


def test_what_would_move_a_terminal_is_shown_as_a_sign(
    capsys: Capture,
) -> None:
    text = "\x1b[31m月\x00\t光\u202e\n地\x85上\u2028\r\u3000霜"
    Path("text.txt").write_bytes(text.encode())
    named = ("--text", "text.txt", "--plot", "plots")
    out = train(capsys, *named, "--steps", "300")
    assert "after �[31 it says m月�⇥光�⏎地�上�⏎\u3000霜." in out
    for picture in Path("plots").iterdir():
        ElementTree.parse(picture)
    title = "What m attends to"
    root = ElementTree.parse("plots/train-looks.svg").getroot()
    words = "".join(root.itertext())
    assert title in words, words


def test_one_version_is_trained(capsys: Capture) -> None:
    said = {"numpy": "Computed by NumPy.", "torch": "Computed by PyTorch"}
    for command in ("train", "recall", "scale"):
        for impl, line in said.items():
            arguments = ("--lang", "en", "--impl", impl, "--steps", "1")
            Path("poem.npz").unlink(missing_ok=True)
            assert line in printed(capsys, command, *arguments)
        alone = printed(capsys, command, "--lang", "en", "--steps", "1")
        assert said["numpy"] in alone
        message = f"{command} trains one version: --impl numpy or torch"
        with pytest.raises(words.RefusalError, match=message):
            cli.run([command, "--impl", "both", "--lang", "en"])


def test_each_seed_has_a_file_of_its_own(capsys: Capture) -> None:
    Path("poem").write_text("月光", encoding="utf-8")
    for more in ((), ("--seed", "1"), ("--text", "poem", "--seed", "2")):
        train(capsys, "--steps", "1", *more)
    names = ["poem", "poem-1.npz", "poem-2.npz", "poem.npz"]
    assert sorted(path.name for path in Path().iterdir()) == names


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "--text text.txt: characters found: 0, expected 2 or more"),
        ("月".encode(), "--text text.txt: characters found: 1, expected"),
        (b"ab\xff", "--text text.txt is not UTF-8: byte 3 cannot be"),
        (None, "--text cannot read text.txt: No such file"),
    ],
)
def test_a_text_that_cannot_be_read_is_named(
    content: bytes | None,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    if content is not None:
        Path("text.txt").write_bytes(content)
    said = said_by_main(
        monkeypatch, capsys, "train", "--text", "text.txt", "--lang", "en"
    )
    assert said.startswith(f"attention.py: {message}")
    assert not Path("text.txt.npz").exists()


def refused(*arguments: str) -> str:
    """Return what is said of a checkpoint that cannot be used."""
    with pytest.raises(words.RefusalError) as error:
        cli.run(["train", "--lang", "en", "--impl", "numpy", *arguments])
    return str(error.value)


class Bomb:
    """An object that would run code if a checkpoint were unpickled."""

    def __reduce__(self) -> Any:
        """Make the file that shows it."""
        return Path.touch, (Path("exploded"),)


def test_another_file_is_never_written_over(capsys: Capture) -> None:
    train(capsys, "--steps", "2")
    whole = Path("poem.npz").read_bytes()
    pickled = np.empty(1, dtype=object)
    pickled[0] = Bomb()
    np.savez("pickled.npz", belongs=pickled)
    Path("text.npz").write_text("床前明月光", encoding="utf-8")
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    Path("empty.npz").write_bytes(b"")
    np.savez("other.npz", belongs=np.asarray("something else"))
    np.save("array.npy", np.ones(3))
    with zipfile.ZipFile("zip.npz", "w") as file:
        file.writestr("a.txt", "b")
    kept = held("poem.npz")
    own = str(kept["belongs"])
    changes: dict[str, dict[str, Any]] = {
        "renamed.npz": {"belongs": own.replace("training", "draining")},
        "longer.npz": {"belongs": f"{own} and more"},
        "wide.npz": {
            "mean.token_embedding": np.float64(kept["mean.token_embedding"])
        },
        "negative.npz": {"count": np.asarray(-1)},
        "half.npz": {"count": np.asarray(1.5)},
        "nan.npz": {
            "weight.token_embedding": kept["weight.token_embedding"] * np.nan
        },
        "late.npz": {"count": np.asarray(2**63 - 1)},
        "root.npz": {
            "square.token_embedding": kept["square.token_embedding"] - 1
        },
        "more.npz": {"surplus": np.ones(3)},
    }
    for name, change in changes.items():
        np.savez(name, **{**kept, **change})
    del kept["mean.token_embedding"]
    np.savez("missing.npz", **kept)
    names = ("pickled.npz", "text.npz", "cut.npz", "empty.npz", "other.npz")
    for name in (*names, *changes, "array.npy", "zip.npz", "missing.npz"):
        before = Path(name).read_bytes()
        message = f"--checkpoint {name} is not a whole checkpoint"
        assert refused("--checkpoint", name).startswith(message), name
        assert Path(name).read_bytes() == before
    assert not Path("exploded").exists()
    belongs = "--checkpoint poem.npz belongs to another text or seed"
    named = ("--checkpoint", "poem.npz")
    assert refused("--seed", "1", *named).startswith(belongs)
    Path("other.txt").write_text("月光" * 40, encoding="utf-8")
    assert refused("--text", "other.txt", *named).startswith(belongs)
    assert Path("poem.npz").read_bytes() == whole
    assert refused("--checkpoint", "nowhere/x.npz").startswith(
        "--checkpoint cannot write nowhere/x.npz: No such file"
    )
    long = "x" * 300
    assert refused("--checkpoint", long) == (
        f"--checkpoint cannot read {long}: File name too long"
    )
    Path("folder.npz").mkdir()
    assert refused("--checkpoint", "folder.npz").startswith(
        "--checkpoint folder.npz is not a whole checkpoint"
    )


def test_no_broken_checkpoint_ends_in_a_traceback(capsys: Capture) -> None:
    train(capsys, "--steps", "1")
    whole = Path("poem.npz").read_bytes()
    rng = np.random.default_rng(0)
    with zipfile.ZipFile("poem.npz") as file:
        starts = [info.header_offset for info in file.infolist()]
        directory = file.start_dir
    places = [s + int(n) for s in starts[::2] for n in rng.integers(0, 80, 2)]
    places += [*map(int, rng.integers(directory, len(whole), 100))]
    side = sides.Side("numpy")
    for place in places:
        broken = bytearray(whole)
        broken[place] ^= int(rng.integers(1, 256))
        Path("poem.npz").write_bytes(broken)
        try:
            # A name or a time in a header may change and harm nothing.
            Training(side).resume()
        except words.RefusalError as error:
            assert "poem.npz" in str(error)  # noqa: PT017 - either will do
            assert Path("poem.npz").read_bytes() == broken


def test_a_write_that_fails_leaves_the_old_file(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(capsys, "--steps", "2")
    before = Path("poem.npz").read_bytes()

    def full(file: Any, **_: Any) -> None:
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    message = refused("--steps", "1")
    assert message == (
        "--checkpoint cannot write poem.npz: No space left on device"
    )
    assert Path("poem.npz").read_bytes() == before
    assert [*Path().iterdir()] == [Path("poem.npz")]


def test_no_file_but_its_own_is_touched(capsys: Capture) -> None:
    text = "床前明月光疑是地上霜"
    Path("a.part").write_text(text, encoding="utf-8")
    Path("precious.txt").write_text("precious", encoding="utf-8")
    Path("poem.npz.part").symlink_to("precious.txt")
    Path("plots").mkdir()
    Path("plots/train-looks.svg.part").symlink_to("../precious.txt")
    train(capsys, "--text", "a.part", "--checkpoint", "a", "--steps", "1")
    train(capsys, "--plot", "plots", "--steps", "1")
    assert Path("a.part").read_text(encoding="utf-8") == text
    assert Path("precious.txt").read_text(encoding="utf-8") == "precious"
    assert not Path("plots/train-looks.svg").is_symlink()
    Path("real").mkdir()
    Path("link.npz").symlink_to("real/kept.npz")
    train(capsys, "--checkpoint", "link.npz", "--steps", "1")
    assert Path("link.npz").is_symlink()
    assert [path.name for path in Path("real").iterdir()] == ["kept.npz"]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_no_longer_finite_is_not_saved(
    impl: str, capsys: Capture
) -> None:
    train(capsys, "--steps", "1")
    kept = held("poem.npz")
    huge = {
        name: np.full_like(array, 1e20)
        for name, array in kept.items()
        if name.startswith("weight.")
    }
    np.savez("poem.npz", **{**kept, **huge})
    command = ["train", "--lang", "en", "--impl", impl]
    with pytest.raises(words.RefusalError) as error:
        cli.run(command)
    assert "the model's numbers are no longer finite; poem.npz keeps" in str(
        error.value
    )
    saved = held("poem.npz")
    assert all(checkpoint.is_finite(array) for array in saved.values())


@pytest.mark.parametrize("length", [40, 64])
def test_a_text_is_known_when_every_character_is(
    length: int, capsys: Capture
) -> None:
    text = "".join(chr(0x4E00 + 7 * n) for n in range(length))
    Path("text.txt").write_text(text, encoding="utf-8")
    out = train(capsys, "--text", "text.txt")
    assert "knows the text by heart" in out
    training = Training(sides.Side("numpy"), Path("text.txt"))
    assert training.resume()
    module = training.module
    asked = set()
    for start in training.starts:
        ids = training.ids[start : start + training.T + 1]
        best = training.model(ids[:-1]).argmax(axis=-1)
        assert (
            module.decode(best, training.characters)
            == (text[start + 1 : start + training.T + 1])
        )
        asked |= set(range(start + 1, start + training.T + 1))
    assert asked == set(range(1, length))


def test_a_name_cannot_move_the_terminal(capsys: Capture) -> None:
    name = "\x1b[31mred\n.txt"
    Path(name).write_text("床前明月光", encoding="utf-8")
    out = train(capsys, "--text", name, "--steps", "1")
    assert "saved in �[31mred⏎.txt.npz" in out
    assert "\x1b" not in out


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("again", ["never", "at once", "at the end"])
def test_ctrl_c_keeps_what_was_learned(again: str) -> None:
    text = "".join(chr(0x4E00 + n * n % 500) for n in range(3000))
    Path("text.txt").write_text(text, encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "train", "--lang", "en"]
    command += ["--impl", "numpy", "--text", "text.txt", "--steps", "100000"]
    unbuffered = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, encoding="utf-8", env=unbuffered
    ) as program:
        assert program.stdout is not None
        rest = ""
        for line in program.stdout:
            rest += line
            if line.startswith("step     8"):
                rest = ""
                program.send_signal(signal.SIGINT)
                # A terminal may send it twice in the same moment.
                if again == "at once":
                    time.sleep(0.01)
                    program.send_signal(signal.SIGINT)
            elif line.startswith("block 2, head 4") and again == "at the end":
                while program.poll() is None:
                    program.send_signal(signal.SIGINT)
                    time.sleep(0.001)
        status = program.wait()
    assert status == 0, rest
    assert "Stopped; what was learned is saved." in rest
    assert "saved in text.txt.npz" in rest
    assert int(held("text.txt.npz")["count"]) >= 8


def test_pictures_of_what_it_looks_at(capsys: Capture) -> None:
    train(capsys, "--plot", "plots")
    names = ["train-block-1.svg", "train-block-2.svg", "train-looks.svg"]
    assert sorted(path.name for path in Path("plots").iterdir()) == names
    for name in names:
        root = ElementTree.parse(Path("plots", name)).getroot()
        text = "".join(root.itertext())
        assert all(token in text for token in "床前明月光"), name
    printed(
        capsys, "scale", "--steps", "2", "--impl", "numpy", "--plot", "plots"
    )
    root = ElementTree.parse("plots/scale.svg").getroot()
    assert root.tag.endswith("svg")


def test_pairs_are_looked_back_at(capsys: Capture) -> None:
    arguments = ("--lang", "en", "--impl", "numpy", "--steps", "200")
    out = printed(capsys, "recall", *arguments)
    rows = {
        line[:20].strip(): line[20:].split()
        for line in out.splitlines()
        if "%" in line and "guess" not in line
    }
    assert float(rows["attention"][2].rstrip("%")) >= 99, out
    assert float(rows["averaging (scale 0)"][2].rstrip("%")) < 35, out
    assert rows["averaging (scale 0)"][0] == "200"
    before, _, after = out.partition("→")
    asked, partner = before.split(":")[-1].split(), after.strip()[0]
    assert asked[asked.index(asked[-1]) + 1] == partner
    looks = next(line for line in out.splitlines() if "block 2" in line)
    weights = [float(w.replace("·", "0")) for w in looks.split()[2:]]
    assert len(weights) == 9
    assert weights[asked.index(asked[-1]) + 1] == max(weights), out
    assert "It finds the position" in " ".join(out.split())
    few = printed(capsys, "recall", *arguments[:-1], "2")
    assert "It has not learned to find" in " ".join(few.split())


@pytest.mark.parametrize("lang", words.TAGS)
def test_no_line_of_training_is_too_wide(lang: str, capsys: Capture) -> None:
    from rich.cells import cell_len

    for command in ("train", "recall", "scale"):
        arguments = ("--lang", lang, "--impl", "numpy", "--steps", "2")
        out = printed(capsys, command, *arguments)
        assert all(cell_len(line) <= 79 for line in out.splitlines()), out
