"""attention.py as a user runs it: output, languages, plots, exercises."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tracemalloc
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

import numpy_impl
from attention_twice import cli, exercises, page, sections, sides, words
from parity_tests.tests.program.running import (
    PROGRAM,
    printed,
    run,
)


def test_a_file_in_the_place_of_the_plot_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("kept")
    arguments = ["--plot", str(tmp_path / "file"), "--lang", "en"]
    with pytest.raises(words.RefusalError, match="cannot write to"):
        cli.run(arguments)
    assert (tmp_path / "file").read_text() == "kept"


def test_a_folder_in_the_place_of_a_plot(tmp_path: Path) -> None:
    name = "section-1.svg"
    (tmp_path / name).mkdir()
    arguments = ["--plot", str(tmp_path), "--impl", "numpy", "--lang", "en"]
    path = re.escape(str(tmp_path / "section-1.svg"))
    expected = f"--plot cannot write to {path}: "
    with pytest.raises(words.RefusalError, match=expected):
        cli.run(arguments)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_plot_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    if os.access(tmp_path, os.W_OK):
        pytest.skip("who may write everywhere cannot be kept out")
    with pytest.raises(words.RefusalError, match="cannot write to"):
        cli.run(["--plot", str(tmp_path), "--impl", "numpy"])
    assert list(tmp_path.iterdir()) == []


def test_no_plot_folder_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--plot", str(tmp_path / "plots"), "--lang", "en"]
    for asked in (["--help"], ["lesson", "--help"]):
        with pytest.raises(SystemExit, match=r"^0$"):
            cli.run([*asked, *arguments])
    assert "  --plot DIR" in capsys.readouterr().out
    with pytest.raises(words.RefusalError, match="in section 4"):
        cli.run([*arguments, "--section", "4", "4"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("lang", words.TAGS)
def test_plots(
    lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "plots"
    drawn = []
    for _ in range(2):
        cli.run(["--impl", "numpy", "--lang", lang, "--plot", f"{folder}"])
        files = sorted(folder.iterdir())
        drawn.append({path.name: path.read_bytes() for path in files})
    assert drawn[0] == drawn[1]
    assert list(drawn[0]) == [f"section-{n}.svg" for n in (1, 2, 3, 5)]
    for data in drawn[0].values():
        texts = [
            "".join(node.itertext())
            for node in ElementTree.fromstring(data).iter()
            if node.tag.endswith("}text")
        ]
        assert set(numpy_impl.lesson.TOKENS) <= set(texts)
    assert "0.96" in (folder / "section-3.svg").read_text(encoding="utf-8")
    assert str(folder / "section-3.svg") in capsys.readouterr().out


@pytest.mark.parametrize("impl", ["numpy", "torch", "both"])
def test_exercise_2(impl: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["exercise", "2", "--impl", impl, "--lang", "en"])
    lines = capsys.readouterr().out.splitlines()
    masked, opened = (
        [line for line in lines if line.startswith(token)]
        for token in ("床", "光")
    )
    assert masked == [
        "床   1.00      ·      ·      ·      ·",
        "床   0.99   0.00   0.01   0.00   0.00",
    ]
    assert opened[0] == opened[1]


@pytest.mark.parametrize("lengths", [[8], [8, 8], [64, 16, 32]])
def test_exercise_3(
    lengths: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["exercise", "3", "--lang", "en", "--lengths"]
    cli.run([*arguments, *map(str, lengths)])
    out = capsys.readouterr().out
    found = [int(n) for n in re.findall(r"^(\d+) ", out, flags=re.MULTILINE)]
    assert found == lengths
    fitted = len(set(lengths)) > 1
    assert ("\nexponent" in out) == ("power of the exponent" in out) == fitted
    assert "not its fused\nfunction" in out
    assert "--lengths" in out


def test_exercise_3_of_numpy_alone_says_nothing_of_torch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ("--lang", "en", "--impl", "numpy", "--lengths", "8", "16")
    assert "PyTorch" not in printed(capsys, "exercise", "3", *arguments)


def test_exercise_3_in_chinese_and_before_it_its_lengths(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = printed(
        capsys, "--lengths", "8", "16", "exercise", "3", "--lang", "zh-Hant"
    )
    assert re.search("^T +分數矩陣（MiB） +NumPy（ms） ", out, re.MULTILINE)


def test_each_length_is_warmed_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    side = sides.Side("numpy")
    calls: list[float] = []
    # The first call takes a thousand seconds, each of the others three.
    monkeypatch.setattr(
        side.package.attention,
        "attention",
        lambda *_: calls.append(3.0 if calls else 1000.0),
    )
    monkeypatch.setattr("time.perf_counter", lambda: sum(calls))
    monkeypatch.setattr("statistics.median", max)
    assert exercises.median_time(side, 4) == 3
    assert len(calls) == 1 + exercises.RUNS


def test_the_fitted_exponent() -> None:
    lengths = [1000, 2000, 4000]
    times = [3e-9 * T**2.5 for T in lengths]
    assert exercises.exponent(lengths, times) == pytest.approx(2.5)


def test_the_peak_is_as_the_refusal_reckons_it() -> None:
    T = 1000
    side = sides.Side("numpy")
    exercises.median_time(side, T)
    tracemalloc.start()
    exercises.median_time(side, T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tables = peak / exercises.matrix_bytes(T)
    assert 0.8 * exercises.PEAK_MATRICES < tables <= exercises.PEAK_MATRICES


def cells(line: str) -> list[str]:
    """Return the numbers that end a line of a table."""
    return line.split()[-5:]


@pytest.mark.parametrize(
    ("query", "scores"),
    [
        ("-1e5 0", "-1.0e+04 0.00 -9.0e+04 -1.0e+05 -8.0e+04"),
        ("-.5 -1.e0", "-0.95 -1.00 -0.55 -0.50 -0.60"),
        ("-123456789 0", "-1.2e+07 0.00 -1.1e+08 -1.2e+08 -9.9e+07"),
        ("1e37 -1e37", "-8.0e+36 -1.0e+37 8.0e+36 1.0e+37 6.0e+36"),
    ],
)
def test_queries_in_any_notation(
    query: str, scores: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["exercise", "1", "--lang", "en", "--query", *query.split()]
    out = printed(capsys, *arguments)
    rows = {line[:5]: cells(line) for line in out.splitlines()}
    assert rows["score"] == scores.split()
    assert "nan" not in out
    assert "--query 0.5 0.5" in out


@pytest.mark.parametrize("lang", words.TAGS)
def test_the_output_is_the_weights_times_the_values(
    lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, "--section", "5", "--lang", lang)
    number = r"-?\d\.\d{3}"
    rows = re.findall(rf" {number}(?: +{number}){{3}}$", out, re.MULTILINE)
    assert len(rows) == 2
    assert rows[0] == rows[1]
    side = sides.Side("numpy")
    output = side.section(5)["output"][-1, :4]
    assert rows[0].split() == [f"{x:.3f}" for x in output]
    said = {
        "en": "The output of a position is the sum of\nall values",
        "zh-Hant": "每個位置的輸出，就是各個值乘上權重再相加。",
    }
    assert said[lang] in out


@pytest.mark.parametrize("lang", words.TAGS)
@pytest.mark.parametrize(
    ("arguments", "times"),
    [
        ([], 1),
        (["--section", "3"], 1),
        (["--section", "2"], 0),
        (["exercise", "1"], 0),
        (["exercise", "1", "--query", "1e9", "0"], 1),
        (["exercise", "2"], 1),
    ],
)
def test_dots_are_explained_where_they_are_first(
    arguments: list[str],
    times: int,
    lang: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = printed(capsys, *arguments, "--impl", "numpy", "--lang", lang)
    zero = words.translated(lang, "· is exactly 0.")
    assert out.count(f"\n{zero}\n") == times
    # A dot of a table stands alone; that of q·k does not.
    assert bool(re.search(" ·( |$)", out, re.MULTILINE)) == bool(times)


@pytest.mark.parametrize("columns", [20, 40, 60, 200])
def test_a_narrow_terminal_cuts_nothing(
    columns: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--impl", "numpy", "--lang", "en"]
    wide = printed(capsys, *arguments)
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = page.Page("en", plain=False)
    side = sides.Side("numpy")
    sections.run_lesson(shown, [side], [1, 2, 3, 4, 5])
    assert capsys.readouterr().out == wide


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminal there")
@pytest.mark.parametrize("lang", words.TAGS)
def test_a_narrow_terminal_breaks_lines_between_words(lang: str) -> None:
    import pty

    arguments = ["--impl", "numpy", "--section", "2", "--lang", lang]
    wide = run(*arguments).stdout
    ours, theirs = pty.openpty()
    subprocess.run(
        [sys.executable, str(PROGRAM), *arguments],
        stdout=theirs,
        env={**os.environ, "COLUMNS": "60", "TERM": "dumb"},
        check=True,
    )
    os.close(theirs)
    shown = ""
    with suppress(OSError), open(ours, encoding="utf-8") as terminal:
        for line in terminal:
            shown += line
            assert cell_len(line.rstrip()) <= 60, line
    assert max(map(cell_len, wide.splitlines())) > 60
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    if lang == "en":
        assert text.split() == wide.split()
    assert "".join(text.split()) == "".join(wide.split())


@pytest.mark.parametrize("name", ["README.md", "README.zh-Hant.md"])
def test_what_the_readmes_say(name: str) -> None:
    root = PROGRAM.parent
    text = (root / name).read_text(encoding="utf-8")
    assert "Python 3.11" in text
    assert not re.search(r"(?<!/)\bpython attention.py", text)
    table = re.findall(r"^\| `(\w+)\.py` \|", text, re.MULTILINE)
    package = root / "numpy_impl"
    order = [n for n in numpy_impl.__all__ if (package / f"{n}.py").exists()]
    assert table == order
    assert "--quiet" not in (root / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("lang", words.TAGS)
def test_quiz_shows_answers_only_when_asked(
    lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run(["quiz", "--lang", lang, "--impl", "numpy"])
    asked = capsys.readouterr().out
    cli.run(["quiz", "--lang", lang, "--impl", "numpy", "--answers"])
    answered = capsys.readouterr().out
    for number in ("29%", "0.31", "32.53", "0.92", "0.39"):
        assert number in answered
        assert number not in asked


@pytest.mark.parametrize("lang", words.TAGS)
@pytest.mark.parametrize(
    "arguments",
    [[], ["exercise", "1"], ["exercise", "2"], ["quiz", "--answers"]],
    ids=" ".join,
)
def test_no_line_is_wider_than_a_terminal(
    arguments: list[str], lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cli.run([*arguments, "--lang", lang])
    for line in capsys.readouterr().out.splitlines():
        assert cell_len(line) < 80, line


@pytest.mark.parametrize(
    ("variables", "lang"),
    [
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh-Hant"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_HK.UTF-8"}, "zh-Hant"),
        ({"LC_ALL": "C", "LANG": "zh_TW.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "de_DE", "LANG": "zh_TW"}, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(
    variables: dict[str, str], lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert words.locale_language() == lang


def test_a_reader_that_stops_early_is_no_error() -> None:
    code = textwrap.dedent(
        f"""
        import subprocess, sys
        program = [sys.executable, {str(PROGRAM)!r}, "--impl", "numpy"]
        pipe = subprocess.PIPE
        done = subprocess.Popen(program, stdout=pipe, stderr=pipe)
        done.stdout.close()
        print(done.wait(), done.stderr.read())
        """
    )
    assert run(code=code).stdout == "1 b''\n"


@pytest.mark.parametrize("lang", words.TAGS)
def test_help_names_every_command_and_option(
    lang: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    own = {
        "": " ".join(cli.COMMANDS),
        "lesson": "--section --plot",
        "exercise": "1 2 3",
        "exercise 1": "--query --plot",
        "exercise 2": "--plot",
        "exercise 3": "--lengths",
        "quiz": "--answers",
        "train": "--text --checkpoint --steps --seed --plot",
        "recall": "--steps --seed --plot",
        "scale": "--steps --seed --plot",
    }
    shared = "--impl --lang --plain --help"
    for command, names in own.items():
        with pytest.raises(SystemExit, match=r"^0$"):
            cli.run([*command.split(), "--help", "--lang", lang])
        text = capsys.readouterr().out
        assert all(cell_len(line) < 80 for line in text.splitlines()), text
        for name in f"{names} {shared}".split():
            assert re.search(rf"^  .*{name}\b", text, re.MULTILINE), name
