"""`cryptodispatch reproduce`: every published figure beside the simulated one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from cryptodispatch import machine as machines


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cryptodispatch", "reproduce", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def cells(machine: str) -> list[dict[str, object]]:
    done = run(machine, "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["machine"] == machine
    for cell in result["cells"]:
        assert set(cell) == {
            "table",
            "row",
            "size",
            "unit",
            "published",
            "simulated",
            "error",
            "origin",
        }
        assert cell["origin"] in ("fitted", "predicted")
        if cell["unit"] != "bytes":
            error = cell["simulated"] / cell["published"] - 1
            assert cell["error"] == pytest.approx(error, abs=1e-9)
    return list(result["cells"])


def test_an7581_every_cell_within_15_percent() -> None:
    found = cells("an7581")
    assert Counter(cell["table"] for cell in found) == {
        "Thresholds": 9,
        "an7581: cbc(aes)-128, tcrypt (kernel)": 14,
        "an7581: cbc(aes)-128, OpenSSL 3.5.7 AF_ALG": 12,
    }
    for cell in found:
        limit = 0 if cell["table"] == "Thresholds" else 0.15
        assert abs(cell["error"]) <= limit, cell


def test_the_figures_are_those_of_the_publication() -> None:
    document = machines.published("an7581")
    found = cells("an7581")
    for name, value in document["thresholds"].items():
        (cell,) = [c for c in found if (c["table"], c["row"]) == ("Thresholds", name)]
        assert cell["published"] == cell["simulated"] == value
    for table in document["table"]:
        for row in ("hardware", "fallback"):
            published = [
                (cell["size"], cell["published"])
                for cell in found
                if cell["table"].endswith(table["api"]) and cell["row"] == row
            ]
            assert published == list(zip(table["sizes"], table[row], strict=True))


@pytest.mark.parametrize("machine", ["mt7621", "ipq806x-qce"])
def test_other_machines(machine: str) -> None:
    found = cells(machine)
    assert len(found) >= 4
    assert found == cells(machine)  # the same on every run
    fitted = [abs(cell["error"]) for cell in found if cell["origin"] == "fitted"]
    assert sorted(fitted)[len(fitted) // 2] < 0.15


def test_every_machine_for_people() -> None:
    for machine in machines.names():
        done = run(machine)
        assert done.returncode == 0, done.stderr
        assert "published" in done.stdout
        assert "fitted: " in done.stdout
        assert "assumed: " in done.stdout


def test_wrong_use() -> None:
    for arguments in (["an9999"], ["an7581", "extra"], ["--nonsense"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert "Error" in done.stderr
        assert "Traceback" not in done.stderr
