"""The command line as a user meets it: real processes, real pipes, openssl as the other side."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "2b7e151628aed2a6abf7158809cf4f3c"
IV = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"


def run(*arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cryptodispatch", *arguments],
        input=data,
        capture_output=True,
        check=False,
        timeout=120,
    )


def output(*arguments: str, data: bytes = b"") -> bytes:
    done = run(*arguments, data=data)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def crypt(operation: str, data: bytes, *more: str, algorithm: str = "ctr(aes)") -> bytes:
    return output(
        "crypt",
        operation,
        "--algorithm",
        algorithm,
        "--key-hex",
        KEY,
        "--iv-hex",
        IV,
        *more,
        data=data,
    )


def openssl(operation: str, mode: str, data: bytes, *more: str) -> bytes:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no openssl command here")
    flag = "-d" if operation == "decrypt" else "-e"
    return subprocess.run(
        [program, "enc", flag, f"-aes-128-{mode}", "-K", KEY, "-iv", IV, *more],
        input=data,
        capture_output=True,
        check=True,
    ).stdout


class TestTune:
    def test_simulated_machine(self) -> None:
        first = json.loads(output("tune", "--machine", "an7581", "--json"))
        assert first == json.loads(output("tune", "--machine", "an7581", "--json"))
        assert first["machine"] == "an7581"
        assert set(first["clock"]) == {"name", "hz"}
        raw_aes = first["groups"]["raw_aes"]
        assert raw_aes["threshold"] == 512
        assert [row["size"] for row in raw_aes["measurements"]] == [16, 64, 128, 256, 512, 1024]
        for row in raw_aes["measurements"]:
            assert set(row) == {"size", "hardware", "software", "samples", "winner"}

    def test_this_host_tells_the_truth(self) -> None:
        result = json.loads(output("tune", "--json"))
        assert result["machine"] is None
        assert result["engine"] == "an7581"
        raw_aes = result["groups"]["raw_aes"]
        rows = raw_aes["measurements"]
        for row in rows:
            expected = "hardware" if row["hardware"] < row["software"] else "software"
            assert row["winner"] == expected
        won = [row["size"] for row in rows if row["winner"] == "hardware"]
        if not won:
            assert raw_aes["threshold"] == -1
            assert len(rows) == 11
            factors = [
                rows[0]["hardware"] / rows[0]["software"],
                rows[-1]["hardware"] / rows[-1]["software"],
            ]
            said = re.search(
                r"factor of ([\d.]+) at 16 bytes and ([\d.]+) at 16384", raw_aes["verdict"]
            )
            assert said is not None
            for factor, text in zip(factors, said.groups(), strict=True):
                assert float(text) == pytest.approx(
                    factor, rel=0.06, abs=0.51 if factor >= 10 else 0.06
                )

    def test_table_agrees_with_the_verdict(self) -> None:
        text = output("tune", "--machine", "an7581").decode()
        assert "raw_aes = 512: software up to 512 bytes" in text
        lines = [re.findall(r"[\w.]+", line) for line in text.splitlines()]
        rows = {line[0]: line[-1] for line in lines if line and line[0].isdigit()}
        assert rows == dict.fromkeys(["16", "64", "128", "256", "512"], "software") | {
            "1024": "hardware"
        }

    def test_wrong_use(self) -> None:
        for arguments in (
            ["--machine", "an9999"],
            ["--machine", "an7581", "--engine", "an7581"],
            ["extra"],
        ):
            done = run("tune", *arguments)
            assert done.returncode == 2
            assert b"Error" in done.stderr
            assert b"Traceback" not in done.stderr


class TestList:
    def test_plain(self) -> None:
        entries = json.loads(output("list", "--json"))["algorithms"]
        drivers = [entry["driver"] for entry in entries]
        assert "cbc(aes-lib)" in drivers
        assert not [driver for driver in drivers if "eip93" in driver]
        assert "cbc(aes-lib)" in output("list").decode()

    def test_with_device_and_fallback(self) -> None:
        entries = json.loads(output("list", "--json", "--device", "--fallback"))["algorithms"]
        by_driver = {entry["driver"]: entry for entry in entries}
        engines = [entry for entry in entries if re.search(r"^[^f].*-eip93", entry["driver"])]
        assert len(engines) >= 4
        for entry in engines:
            twin = entry["driver"].replace("-eip93", "-lib")
            assert by_driver[twin]["name"] == entry["name"]
            proxy = by_driver[f"fallback({entry['driver']})"]
            assert proxy["priority"] == entry["priority"] + 1


class TestCrypt:
    @pytest.mark.parametrize(
        "length", [0, 1, 15, 16, 17, 1000, (1 << 20) - 1, (1 << 20) + 5, 3_000_000]
    )
    def test_ctr_is_openssl(self, length: int) -> None:
        data = random.Random(length).randbytes(length)
        encrypted = crypt("encrypt", data)
        assert encrypted == openssl("encrypt", "ctr", data)
        assert crypt("decrypt", encrypted) == data

    @pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 1 << 20, (1 << 20) + 5])
    def test_cbc_padding_is_openssl(self, length: int) -> None:
        data = random.Random(length).randbytes(length)
        encrypted = crypt("encrypt", data, algorithm="cbc(aes)")
        assert encrypted == openssl("encrypt", "cbc", data)
        assert crypt("decrypt", encrypted, algorithm="cbc(aes)") == data

    def test_cbc_without_padding(self) -> None:
        data = bytes(range(64))
        encrypted = crypt("encrypt", data, "--padding", "none", algorithm="cbc(aes)")
        assert encrypted == openssl("encrypt", "cbc", data, "-nopad")
        done = run(
            "crypt",
            "encrypt",
            "--algorithm",
            "cbc(aes)",
            "--key-hex",
            KEY,
            "--iv-hex",
            IV,
            "--padding",
            "none",
            data=bytes(5),
        )
        assert done.returncode == 1
        assert b"5 bytes of a block of 16" in done.stderr

    def test_through_the_engine(self) -> None:
        data = random.Random(1).randbytes(100_001)
        for option in ("--machine", "--engine"):
            assert crypt("encrypt", data, option, "an7581") == openssl("encrypt", "ctr", data)

    @pytest.mark.slow
    def test_64_mib_file_in_constant_memory(self, tmp_path: Path) -> None:
        source, target, back = (tmp_path / name for name in ("source", "target", "back"))
        with source.open("wb") as file:
            for seed in range(64):
                file.write(random.Random(seed).randbytes(1 << 20))
        crypt("encrypt", b"", "--in", str(source), "--out", str(target))
        crypt("decrypt", b"", "--in", str(target), "--out", str(back))
        data = source.read_bytes()
        assert target.read_bytes() == openssl("encrypt", "ctr", data)
        assert back.read_bytes() == data

    def test_wrong_padding_leaves_no_file(self, tmp_path: Path) -> None:
        target = tmp_path / "out"
        target.write_bytes(b"old")
        done = run(
            "crypt",
            "decrypt",
            "--algorithm",
            "cbc(aes)",
            "--key-hex",
            KEY,
            "--iv-hex",
            IV,
            "--out",
            str(target),
            data=bytes(32),
        )
        assert done.returncode == 1
        assert b"padding" in done.stderr
        assert target.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [target]

    def test_key_file(self, tmp_path: Path) -> None:
        key = tmp_path / "key"
        key.write_bytes(bytes.fromhex(KEY))
        done = output(
            "crypt",
            "encrypt",
            "--algorithm",
            "ctr(aes)",
            "--key-file",
            str(key),
            "--iv-hex",
            IV,
            data=b"text",
        )
        assert done == openssl("encrypt", "ctr", b"text")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--algorithm", "ctr(eas)", "--key-hex", KEY, "--iv-hex", IV], "did you mean"),
            (["--algorithm", "ctr(aes)", "--key-hex", "00", "--iv-hex", IV], "16, 24 or 32"),
            (["--algorithm", "ctr(aes)", "--key-hex", "xy", "--iv-hex", IV], "hexadecimal"),
            (["--algorithm", "ctr(aes)", "--key-hex", KEY, "--iv-hex", "00"], "iv: 1 bytes"),
            (["--algorithm", "ctr(aes)", "--key-hex", KEY], "iv: None"),
            (["--algorithm", "ctr(aes)", "--iv-hex", IV], "--key-hex"),
            (
                ["--algorithm", "ctr(aes)", "--key-hex", KEY, "--key-file", "/dev/null"],
                "--key-file",
            ),
            (
                ["--algorithm", "ctr(aes)", "--key-hex", KEY, "--iv-hex", IV, "--in", "missing"],
                "missing",
            ),
        ],
    )
    def test_wrong_use(self, arguments: list[str], said: str) -> None:
        done = run("crypt", "encrypt", *arguments)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr.decode()
        assert "Traceback" not in done.stderr.decode()
        assert done.stdout == b""

    def test_options_show_what_was_done(self) -> None:
        done = run(
            "crypt",
            "encrypt",
            "--algorithm",
            "ctr(aes)",
            "--key-hex",
            KEY,
            "--iv-hex",
            IV,
            "--json",
            data=bytes(5),
        )
        assert json.loads(done.stderr)["bytes"] == 5


class TestSelftest:
    def test_all_pass(self) -> None:
        result = json.loads(output("selftest", "--json"))
        assert result["failed"] == 0
        assert result["passed"] == sum(row["vectors"] for row in result["implementations"])
        drivers = {
            (row["driver"], row["side"]) for row in result["implementations"] if row["vectors"]
        }
        for expected in ("cbc(aes-lib)", "rfc3686(ctr(aes-eip93))"):
            assert (expected, "") in drivers
        for side in ("hardware", "software"):
            assert ("fallback(cbc(aes-eip93))", side) in drivers
        assert re.search(r"\d+ passed, 0 failed", output("selftest").decode())

    def test_one_flipped_bit_fails_exactly_that_vector(self, tmp_path: Path) -> None:
        from importlib import resources

        text = (resources.files("cryptodispatch.known_answers") / "aes.toml").read_text()
        hexes = [
            match.span(1) for match in re.finditer(r'^ciphertext = "(\w+)"', text, re.MULTILINE)
        ]
        sources = re.findall(r'^source = "(.*)"', text, re.MULTILINE)
        for index in (0, len(hexes) // 2, len(hexes) - 1):
            start, _ = hexes[index]
            flipped = text[:start] + f"{int(text[start], 16) ^ 1:x}" + text[start + 1 :]
            path = tmp_path / "flipped.toml"
            path.write_text(flipped)
            done = run("selftest", "--json", "--vectors", str(path))
            assert done.returncode == 1
            result = json.loads(done.stdout)
            failed = {
                item["source"] for row in result["implementations"] for item in row["failures"]
            }
            assert failed == {sources[index]}

    def test_files_that_are_no_vectors(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.toml"
        for text in ("", "cipher = 1", "[[cipher]]\nalgorithm = 'x'", "not toml", "cipher = []"):
            path.write_text(text)
            done = run("selftest", "--vectors", str(path))
            assert done.returncode in (1, 2)
            assert b"Traceback" not in done.stderr


def test_help_and_version() -> None:
    text = output("--help").decode()
    for name in ("tune", "list", "crypt", "selftest"):
        assert name in text
        assert output(name, "--help")
    assert re.search(r"\d+\.\d+", output("--version").decode())
    assert run("nonsense").returncode == 2
