"""`cryptodispatch doctor` as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import cryptodispatch as cd
from cryptodispatch import _engine
from cryptodispatch.cli._doctor import advice, crypto_engines

PROC_CRYPTO = """\
name         : cbc(aes)
driver       : cbc(aes-eip93)
module       : crypto_hw_eip93
priority     : 1500
refcnt       : 1
selftest     : passed
internal     : no
type         : skcipher
async        : yes

name         : cbc(aes)
driver       : cbc-aes-qce
module       : kernel
priority     : 300
type         : skcipher

name         : cbc(aes)
driver       : cbc-aes-aesni
module       : aesni_intel
priority     : 400
type         : skcipher

name         : sha256
driver       : sha256-generic
module       : kernel
priority     : 100
type         : shash
"""


def run(*arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "cryptodispatch", "doctor", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def facts() -> dict[str, dict[str, object]]:
    return json.loads(run("--json", CRYPTODISPATCH_CACHE="off"))


def test_it_tells_what_this_process_sees(facts: dict[str, dict[str, object]]) -> None:
    assert facts["cpu"]["used"] == _engine.cpu_features()
    assert facts["package"]["version"] == cd.__version__
    assert facts["package"]["include"] == cd.get_include()
    assert facts["python"]["version"] == sys.version.split()[0]
    assert facts["clock"]["name"] == cd.benchmark.clock_info().name
    for name, driver in facts["implementations"]["bound"].items():
        kind = {entry.driver: entry.type for entry in cd.algorithms()}.get(driver)
        if kind == "cipher":
            assert cd.Cipher(name).name == name
    unavailable = facts["implementations"]["unavailable"]
    registered = facts["implementations"]["registered"]
    assert facts["implementations"]["available"] == registered - len(unavailable)


@pytest.mark.parametrize("source", ["libcrypto", "pycryptodome"])
def test_a_source_is_found_or_it_says_why(facts: dict[str, dict[str, object]], source: str) -> None:
    found = facts[source]
    assert found["found"] == (found["reason"] is None)
    assert found["found"] == (found["implementations"] > 0)


def test_libcrypto_forbidden() -> None:
    found = json.loads(run("--json", CRYPTODISPATCH_LIBCRYPTO=""))
    assert not found["libcrypto"]["found"]
    assert found["libcrypto"]["version"] is None
    assert any("CRYPTODISPATCH_LIBCRYPTO" in text for text in found["advice"])


def test_af_alg_is_there_or_it_says_why(facts: dict[str, dict[str, object]]) -> None:
    kernel = facts["kernel"]
    assert kernel["af_alg"] == (kernel["af_alg_reason"] is None)


def test_narrowing_is_seen_and_undone_by_advice() -> None:
    if "aesni" not in _engine.cpu_features():
        pytest.skip("no AES-NI to take away")
    found = json.loads(run("--json", CRYPTODISPATCH_CPU_DISABLE="aesni"))
    assert found["cpu"]["narrowed"] == ["aesni"]
    assert found["cpu"]["narrowed_by"] == "CRYPTODISPATCH_CPU_DISABLE=aesni"
    assert "aesni" in found["cpu"]["features"]
    assert "aesni" not in found["cpu"]["used"]
    assert "aesni" in found["implementations"]["unavailable"]["cbc(aes-ni)"]
    assert found["advice"][0] == "unset CRYPTODISPATCH_CPU_DISABLE: it takes away aesni"


def test_names_that_are_no_features() -> None:
    found = json.loads(run("--json", CRYPTODISPATCH_CPU_DISABLE="bogus, AES-NI,Neon"))
    assert found["cpu"]["narrowing_unknown"] == ["bogus", "AES-NI"]
    (said,) = [text for text in found["advice"] if "no CPU feature is called bogus, AES-NI" in text]
    for name in _engine.cpu_feature_names():
        assert name in said
    if "neon" not in _engine.cpu_features():  # nothing was taken away, and nothing says it was
        assert (found["cpu"]["narrowed"], found["cpu"]["narrowed_by"]) == ([], None)
        assert not [text for text in found["advice"] if "unset" in text]
    found = json.loads(run("--json", CRYPTODISPATCH_CPU_DISABLE="ALL"))
    assert (found["cpu"]["used"], found["cpu"]["narrowing_unknown"]) == ([], [])


def test_names_of_features_in_any_case() -> None:
    for name in _engine.cpu_features():
        found = json.loads(run("--json", CRYPTODISPATCH_CPU_DISABLE=name.upper()))
        assert found["cpu"]["narrowed"] == [name]
        assert found["cpu"]["narrowing_unknown"] == []


def test_the_choice_kept_or_not(tmp_path: object) -> None:
    off = json.loads(run("--json", CRYPTODISPATCH_CACHE="off"))
    assert off["choice"] == {"file": None, "kept": False, "differing": 0}
    assert any("CRYPTODISPATCH_CACHE=off" in text for text in off["advice"])
    none = json.loads(run("--json", CRYPTODISPATCH_CACHE="", XDG_CACHE_HOME=str(tmp_path)))
    assert str(none["choice"]["file"]).startswith(str(tmp_path))
    assert not none["choice"]["kept"]
    assert any("tune --software" in text for text in none["advice"])


def test_text_for_people() -> None:
    text = run()
    for word in ("features", "libcrypto", "af alg", "kernel", "gil", "cbc(aes)", "sha256"):
        assert word in text


def test_kernel_engines() -> None:
    found = crypto_engines(PROC_CRYPTO)
    assert [(entry["driver"], entry["priority"], entry["module"]) for entry in found] == [
        ("cbc(aes-eip93)", 1500, "crypto_hw_eip93"),
        ("cbc-aes-qce", 300, "kernel"),
    ]
    assert crypto_engines("") == []
    assert crypto_engines("name : x\n\ndriver\n\n: :\n") == []


def test_advice_names_the_engine_and_the_missing_instructions(
    facts: dict[str, dict[str, object]],
) -> None:
    changed = {
        **facts,
        "cpu": {**facts["cpu"], "architecture": "x86_64", "features": [], "narrowed": []},
        "kernel": {**facts["kernel"], "engines": crypto_engines(PROC_CRYPTO)},
        "python": {**facts["python"], "free_threaded": True, "gil": True},
    }
    text = "\n".join(advice(changed))
    for word in ("no AES instructions", "crypto engine", "free-threaded"):
        assert word in text
