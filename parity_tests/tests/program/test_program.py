"""attention.py as a user runs it: output, languages, plots, bad arguments."""

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

PROGRAM = Path(__file__).parents[3] / "attention.py"


def run(
    *arguments: str,
    code: str | None = None,
    stdin: str = "",
    variables: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the program, or Python code, in a process of its own."""
    start = [str(PROGRAM)] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        encoding="utf-8",
        input=stdin,
        cwd=PROGRAM.parent,
        env={**os.environ, **(variables or {})},
        check=False,
    )


# Starts the program, not as a module, from within Python code.
START = f"import runpy; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"

MAIN = "from attention_twice import cli; sys.exit(cli.main())"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what the program prints for some arguments."""
    cli.run([*arguments, "--plain"])
    return capsys.readouterr().out


def said_by_main(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: str,
) -> str:
    """Return the one line of a refusal."""
    monkeypatch.setattr(sys, "argv", ["attention.py", *arguments])
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert cli.main() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def blocking(*names: str) -> str:
    """Return Python code for which some packages are not installed."""
    return f"import sys; sys.modules.update(dict.fromkeys({names!r}))\n"


def failing(package: str, error: str) -> str:
    """Return Python code for which a package is installed but fails."""
    return textwrap.dedent(
        f"""
        import sys
        from importlib.machinery import ModuleSpec
        class Failing:
            def find_spec(name, path=None, target=None):
                if name == {package!r}:
                    return ModuleSpec(name, Failing)
            def create_module(spec):
                return None
            def exec_module(module):
                raise {error}
        sys.meta_path.insert(0, Failing)
        """
    )


def test_the_whole_lesson_in_its_own_process() -> None:
    done = run("--lang", "en")
    assert (done.returncode, done.stderr) == (0, "")
    for section in range(1, 6):
        assert f"\n{section}  " in done.stdout
    assert done.stdout.count("Largest difference between NumPy") == 5
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_without_torch_numpy_computes_alone() -> None:
    code = blocking("torch") + MAIN
    done = run("--lang", "en", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PyTorch is not installed here, so NumPy computes" in done.stdout
    assert "0.02   0.14   0.02   0.09   0.73" in done.stdout
    assert run("exercise", "2", code=code).returncode == 0
    refused = run("--impl", "torch", "--lang", "en", code=code)
    assert refused.returncode == 2
    assert refused.stderr.startswith("attention.py: --impl torch needs torch")


@pytest.mark.parametrize(
    "error",
    [
        "ImportError('DLL load failed\\nwhile importing')",
        "OSError('libcudart.so.12: cannot open shared object file')",
        "ModuleNotFoundError('No module named sympy', name='sympy')",
    ],
)
def test_a_torch_that_does_not_load_is_as_one_that_is_missing(
    error: str,
) -> None:
    code = failing("torch", error) + MAIN
    said = error.split("'")[1].partition("\\n")[0]
    done = run("--lang", "en", "--section", "5", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "PyTorch is installed here but does not load, so NumPy computes "
        f"alone: {said}\n"
    )
    assert "Computed by NumPy." in done.stdout
    assert "--impl both" not in done.stdout
    assert "pip install" not in done.stdout
    assert run("exercise", "2", code=code).returncode == 0
    done = run("--impl", "torch", "--lang", "en", code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "attention.py: --impl torch: torch is installed here but does not "
        f"load: {said}\n"
    )


@pytest.mark.parametrize("package", ["numpy", "rich"])
def test_a_missing_package_is_named_in_one_line(package: str) -> None:
    done = run(code=blocking(package) + START)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"attention.py: {package} is not installed for this Python; "
        "try .venv/bin/python attention.py\n"
    )
    imported = run(code=blocking(package) + "from attention_twice import cli")
    assert "ModuleNotFoundError" in imported.stderr


def test_ctrl_c_while_packages_load() -> None:
    code = textwrap.dedent(
        """
        import sys
        class Finder:
            def find_spec(name, path=None, target=None):
                if name == "rich.table":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Finder)
        """
    )
    done = run(code=code + START)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("lang", words.TAGS)
def test_without_torch_the_advice_is_to_install_it(lang: str) -> None:
    code = blocking("torch") + MAIN
    for arguments in (["--section", "5"], ["--impl", "numpy"]):
        done = run(*arguments, "--lang", lang, code=code)
        assert "pip install torch" in done.stdout
        assert "--impl both" not in done.stdout
    done = run("--impl", "numpy", "--section", "5", "--lang", lang)
    assert "pip install" not in done.stdout
    assert "--impl both" in done.stdout


def test_numpy_impl_loads_nothing_but_numpy() -> None:
    code = blocking("torch", "rich", "matplotlib", "parity_tests") + (
        "import numpy_impl\n"
        "i = numpy_impl.lesson.draw_inputs()\n"
        "print(numpy_impl.lesson.look_back(i.query, i.key).weights[1, 1])\n"
        "print([m for m in ('torch', 'rich', 'matplotlib', 'torch_impl')"
        " if sys.modules.get(m)])"
    )
    done = run(code=code)
    assert done.stderr == ""
    assert done.stdout.split("\n")[0].startswith("0.037")
    assert done.stdout.split("\n")[1] == "[]"


def test_torch_impl_does_without_numpy_impl() -> None:
    code = blocking("numpy_impl", "parity_tests") + (
        "import torch_impl; print(torch_impl.lesson.match_keys().weights[3])"
    )
    assert run(code=code).stdout.startswith("tensor(0.28")


def test_without_matplotlib_a_plot_is_refused(tmp_path: Path) -> None:
    code = blocking("matplotlib")
    code += MAIN
    folder = tmp_path / "plots"
    done = run("--plot", str(folder), "--lang", "en", code=code)
    assert done.returncode == 2
    assert "--plot needs matplotlib, which is not installed" in done.stderr
    assert not folder.exists()


def refused(name: str, reason: str) -> str:
    """Return the start of what argparse says of an argument."""
    return f"argument {name}: {reason}"


BAD = [
    (["--impl", "jax"], refused("--impl", "invalid choice: 'jax'")),
    (["--impl"], refused("--impl", "expected one argument")),
    (["--impl", "--plain"], refused("--impl", "expected one argument")),
    (["--lang", "de"], refused("--lang", "invalid choice: 'de'")),
    (["--lang"], refused("--lang", "expected one argument")),
    (["--section", "6"], refused("--section", "invalid choice: 6")),
    (["--section", "12"], refused("--section", "invalid choice: 12")),
    (["--section"], refused("--section", "expected at least one argument")),
    (["--plan"], "unrecognized arguments: --plan\n"),
    (["--plain=1"], refused("--plain", "ignored explicit argument '1'")),
    (["-x"], "unrecognized arguments: -x\n"),
    (["lessons"], refused("COMMAND", "invalid choice: 'lessons'")),
    (["exercise"], "the following arguments are required: NUMBER"),
    (["exercise", "4"], refused("NUMBER", "invalid choice: '4'")),
    (["exercise 1"], refused("COMMAND", "invalid choice: 'exercise 1'")),
    (["quiz", "1"], "unrecognized arguments: 1\n"),
    ([""], refused("COMMAND", "invalid choice: ''")),
    (["exercise", "1", "--query", "1"], "argument --query: expected 2"),
    (
        ["exercise", "1", "--query", "1", "nan"],
        "--query is 'nan', expected a finite number",
    ),
    (
        ["exercise", "1", "--query", "1e39", "1"],
        "--query is '1e39', expected a finite number from -1e37 to 1e37",
    ),
    (
        ["exercise", "1", "--query", "1", "-1e39"],
        "--query is '-1e39', expected a finite number",
    ),
    (
        ["exercise", "1", "--query", "1", "-inf"],
        "--query is '-inf', expected a finite number",
    ),
    (
        ["exercise", "2", "--query", "1", "0"],
        "unrecognized arguments: --query 1 0\n",
    ),
    (["quiz", "--plot", "x"], "unrecognized arguments: --plot x\n"),
    (["--plot", "x", "quiz"], "unrecognized arguments: --plot x\n"),
    (["--answers"], "unrecognized arguments: --answers\n"),
    (
        ["--section", "3", "exercise", "1"],
        "unrecognized arguments: --section 3\n",
    ),
    (["--plot", ""], "--plot needs a path\n"),
    (["--plot="], "--plot needs a path\n"),
    (["--plot"], refused("--plot", "expected one argument")),
    (
        ["exercise", "3", "--lengths", "0"],
        "--lengths is '0', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "1.5"],
        "--lengths is '1.5', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths"],
        refused("--lengths", "expected at least one argument"),
    ),
    (
        ["exercise", "3", "--lengths", "9" * 400],
        f"--lengths is '{'9' * 400}', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "9" * 5000],
        f"--lengths is '{'9' * 5000}', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "10", "90000000"],
        "--lengths 90000000: the table of scores takes 30899047852 MiB",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_arguments_in_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = said_by_main(monkeypatch, capsys, *arguments)
    assert said.startswith(f"attention.py: {message}")


BAD_CHINESE = [
    ("--impl", "--impl：後面要有一個值\n"),
    ("--impl=jax", "--impl：不能用 'jax'，可以用的有："),
    ("--answers", "看不懂 --answers\n"),
    ("--query=1", "看不懂 --query=1\n"),
]


@pytest.mark.parametrize(("argument", "message"), BAD_CHINESE)
def test_the_language_of_a_refusal(
    argument: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for lang in (["--lang=zh-Hant"], ["--lang", "en", "--lang", "zh-Hant"]):
        said = said_by_main(monkeypatch, capsys, argument, *lang)
        assert said.startswith(f"attention.py: {message}")


@pytest.mark.parametrize("arguments", [arguments for arguments, _ in BAD])
def test_no_refusal_in_chinese_has_english_words(
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chinese = ["--lang", "zh-Hant"]
    said = said_by_main(monkeypatch, capsys, *arguments, *chinese)
    assert not re.search("argument|invalid|expected|required|needs", said)


def test_bad_arguments_leave_no_traceback() -> None:
    # Chinese also where Python would open stderr as ASCII.
    ascii_streams = {"PYTHONIOENCODING": "ascii"}
    done = run("--impl", "jax", "--lang", "zh-Hant", variables=ascii_streams)
    assert done.returncode == 2
    expected = "attention.py: --impl：不能用 'jax'，可以用的有："
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run the program with what a shell can do to its streams."""
    line = f"'{sys.executable}' '{PROGRAM}' --lang en {command}"
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(os.name == "nt", reason="the shell is another there")
@pytest.mark.parametrize(
    ("command", "status", "prints"),
    [
        ("quiz <&-", 0, True),
        ("quiz >&-", 0, False),
        ("quiz 2>&-", 0, True),
        ("quiz <&- >&- 2>&-", 0, False),
        ("--impl jax 2>&-", 2, False),
    ],
)
def test_closed_streams(command: str, status: int, prints: bool) -> None:
    done = shell(command)
    assert (done.returncode, done.stderr) == (status, "")
    assert bool(done.stdout) == prints


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no full device"
)
@pytest.mark.parametrize("command", ["quiz", "--help"])
def test_an_output_that_is_full(command: str) -> None:
    done = shell(f"{command} >/dev/full")
    assert done.returncode == 1
    expected = "attention.py: [Errno 28] No space left on device\n"
    assert done.stderr == expected


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
    assert re.search("^T +分數表（MiB） +NumPy（ms） ", out, re.MULTILINE)


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
    tables = peak / exercises.table_bytes(T)
    assert 0.8 * exercises.PEAK_TABLES < tables <= exercises.PEAK_TABLES


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
    order = re.search("order: ([^.]*)", str(numpy_impl.__doc__))
    assert order is not None
    assert table == ["arrays", *order[1].replace("\n", " ").split(", ")]
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
