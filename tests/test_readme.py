"""The README's examples are tests."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cryptodispatch as cd

README = Path(__file__).parent.parent / "README.md"


def test_examples() -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "README", "README.md", 0)
    assert len(test.examples) > 20
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF | doctest.ELLIPSIS)
    output: list[str] = []
    runner.run(test, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


def test_c_program(tmp_path: Path) -> None:
    """The program and the command that builds it, as they are printed."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    section = README.read_text("utf-8").partition("\n## From C\n")[2]
    [program] = re.findall(r"```c\n(.*?)```", section, re.DOTALL)
    [command] = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    (tmp_path / "program.c").write_text(program)
    python = tmp_path / "bin" / "python"  # the one that runs this test
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    variables = os.environ | {"PATH": f"{python.parent}:{os.environ['PATH']}"}
    for line in (command.replace("cc ", "cc -Wall -Wextra -Werror "), "./a.out"):
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path, env=variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    key = bytes([1, 2, 3]).ljust(16, b"\0")
    text = cd.Cipher("ctr(aes)", key).encrypt(b"any length", bytes(16))
    assert done.stdout == f"{text.hex()} success\n"


def test_commands_exist() -> None:
    from cryptodispatch.cli._main import main

    text = README.read_text("utf-8")
    context = main.make_context("cryptodispatch", ["--help"], resilient_parsing=True)
    named = set(re.findall(r"^\| `cryptodispatch (\w+)", text, re.MULTILINE))
    assert named == set(main.list_commands(context))
