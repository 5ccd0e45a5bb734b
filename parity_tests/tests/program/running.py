"""The program in a process of its own, or in this one."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from attention_twice import cli

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
