"""`cryptodispatch speed` as a user meets it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

QUICK = ("--samples", "2")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cryptodispatch", "speed", *arguments],
        env={**os.environ, "CRYPTODISPATCH_CACHE": "off", **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )


def output(*arguments: str, **environment: str) -> str:
    done = run(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def document(*arguments: str, **environment: str) -> dict[str, object]:
    return json.loads(output("--json", *QUICK, *arguments, **environment))


def test_implementations_stand_side_by_side() -> None:
    found = document("--algorithm", "cbc(aes)", "--algorithm", "sha256", "--sizes", "16,100,4096")
    assert found["sizes"] == [16, 100, 4096]
    assert found["simulated"] is None
    assert found["host"]["label"] == "this host"
    clock = found["host"]["clock"]
    assert clock["name"] in ("rdtsc", "cntvct_el0", "clock_gettime")
    assert set(found["host"]["algorithms"]) == {"cbc(aes)", "sha256"}
    rows = {row["driver"]: row for row in found["host"]["algorithms"]["cbc(aes)"]}
    small, odd, large = rows["cbc(aes-lib)"]["cells"]
    assert odd is None  # no multiple of the block size
    assert (small["size"], large["size"], small["samples"]) == (16, 4096, 2)
    assert 0 < large["ticks_minimum"] <= large["ticks_median"]
    assert large["ticks_minimum"] > small["ticks_minimum"]
    assert large["ticks_per_byte"] == pytest.approx(large["ticks_minimum"] / 4096)
    seconds = large["ticks_minimum"] / clock["hz"]
    assert large["mb_per_s"] == pytest.approx(4096 / seconds / 1e6)
    hashes = {row["driver"]: row for row in found["host"]["algorithms"]["sha256"]}
    assert [cell["size"] for cell in hashes["sha256-lib"]["cells"]] == [16, 100, 4096]


def test_figures_are_plausible() -> None:
    """Table-driven AES takes 1 to 500 ns a byte anywhere; units mixed up would be far off."""
    found = document("--algorithm", "cbc(aes-lib)", "--sizes", "4096")
    [row] = found["host"]["algorithms"]["cbc(aes)"]
    assert 1 < row["cells"][0]["ticks_per_byte"] * 1e9 / found["host"]["clock"]["hz"] < 500


def test_what_cannot_run_is_a_row_with_the_reason() -> None:
    arguments = ("--algorithm", "cbc(aes)", "--sizes", "16", *QUICK)
    found = document(*arguments, CRYPTODISPATCH_CPU_DISABLE="all")
    rows = {row["driver"]: row for row in found["host"]["algorithms"]["cbc(aes)"]}
    assert rows["cbc(aes-lib)"]["not_applicable"] is None
    absent = [row for row in rows.values() if row["not_applicable"]]
    for row in absent:
        assert row["cells"] == []
    if "cbc(aes-ni)" in rows:
        assert "aesni" in rows["cbc(aes-ni)"]["not_applicable"]
        text = output(*arguments, CRYPTODISPATCH_CPU_DISABLE="all")
        assert re.search(r"cbc\(aes-ni\).*not applicable: needs CPU feature", text)


def test_a_simulated_machine_has_a_section_of_its_own() -> None:
    arguments = ("--algorithm", "cbc(aes)", "--machine", "an7581", "--sizes", "16,1024")
    found = document(*arguments)
    simulated = found["simulated"]
    assert simulated["label"] == "simulated machine an7581"
    drivers = {row["driver"] for row in simulated["algorithms"]["cbc(aes)"]}
    assert drivers == {"cbc(aes-eip93)", "cbc(aes-an7581)"}
    host = {row["driver"] for row in found["host"]["algorithms"]["cbc(aes)"]}
    assert not drivers & host
    assert simulated["algorithms"] == document(*arguments)["simulated"]["algorithms"]


def test_a_paced_engine_is_labelled() -> None:
    text = output("--algorithm", "cbc(aes)", "--engine", "an7581", "--sizes", "16", *QUICK)
    host, engine = text.split("emulated engine, paced as on an7581:")
    assert "cbc(aes-eip93)" in engine
    assert "cbc(aes-eip93)" not in host
    assert "cbc(aes-lib)" in host
    assert "cbc(aes-lib)" not in engine


def test_the_table_says_what_its_ticks_are() -> None:
    text = output("--algorithm", "cbc(aes)", "--sizes", "16,1024", *QUICK)
    assert re.search(r"ticks are those of \w+ at \d+ MHz, \d+ ticks per reading", text)
    assert "not core cycles" in text
    assert re.search(r"cbc\(aes-lib\)\W+ticks/byte\W+[\d.]+\W+[\d.]+", text)


def test_decryption() -> None:
    """CBC is a chain when it encrypts and independent blocks when it decrypts."""
    arguments = ("--algorithm", "cbc(aes)", "--algorithm", "sha1", "--sizes", "16384")
    decrypted = document("--decrypt", *arguments)
    assert decrypted["operation"] == "decrypt"
    assert set(decrypted["host"]["algorithms"]) == {"cbc(aes)"}
    encrypted = document(*arguments)
    ratio = {}
    for row in decrypted["host"]["algorithms"]["cbc(aes)"]:
        for other in encrypted["host"]["algorithms"]["cbc(aes)"]:
            if row["driver"] == other["driver"] and row["cells"]:
                ratio[row["driver"]] = (
                    other["cells"][0]["ticks_minimum"] / row["cells"][0]["ticks_minimum"]
                )
    if "cbc(aes-ni)" not in ratio:
        pytest.skip("no AES-NI here")
    assert ratio["cbc(aes-ni)"] > 2


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_plot(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"speed.{suffix}"
    output("--algorithm", "sha1", "--sizes", "16,1024", "--plot", str(path), *QUICK)
    content = path.read_bytes()
    if suffix == "png":
        assert content.startswith(b"\x89PNG\r\n")
    else:
        assert b"<svg" in content


def test_plot_without_matplotlib_says_which_extra(tmp_path: Path) -> None:
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')\n")
    path = tmp_path / "speed.png"
    done = run("--plot", str(path), *QUICK, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "pip install 'cryptodispatch[plot]'" in done.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--algorithm", "cbc(rot13)"], "cbc(rot13)"),
        (["--sizes", "16,x"], "'x' was given"),
        (["--sizes", "0"], "'0' was given"),
        (["--sizes", ""], "--sizes"),
        (["--plot", "speed.pdf"], ".png or .svg"),
        (["--plot", "/nope/speed.png"], "/nope/speed.png: there is no such folder"),
        (["--algorithm", "sha1", "--decrypt"], "only ciphers"),
        (["--machine", "an7581", "--engine", "an7581"], "one of them"),
        (["--samples", "0"], "--samples"),
    ],
)
def test_wrong_use(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
