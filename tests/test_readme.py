"""The README's examples are tests."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

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


def test_commands_exist() -> None:
    from cryptodispatch.cli._main import main

    text = README.read_text("utf-8")
    context = main.make_context("cryptodispatch", ["--help"], resilient_parsing=True)
    named = set(re.findall(r"^\| `cryptodispatch (\w+)", text, re.MULTILINE))
    assert named == set(main.list_commands(context))
