"""The command line as a user meets it: real processes, real pipes, openssl as the other side."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from importlib import resources
from pathlib import Path

import pytest
from providers import AEADS, DES, HASHES, driver_of

from cryptodispatch import known_answers

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

    def test_all_groups_of_a_simulated_machine(self) -> None:
        groups = json.loads(output("tune", "--machine", "an7581", "--json"))["groups"]
        assert {name: group["threshold"] for name, group in groups.items()} == {
            "raw_aes": 512,
            "raw_des": 256,
            "raw_3des": 64,
            "hash_md5": -1,
            "hash_sha1": -1,
            "hash_sha2": -1,
            "authenc_aes": 512,
            "authenc_des": 128,
            "authenc_3des": 64,
        }

    def test_table_agrees_with_the_verdict(self) -> None:
        text = output("tune", "--machine", "an7581").decode()
        assert "raw_aes = 512: software up to 512 bytes" in text
        table = text[text.index("raw_aes") : text.index("raw_des")]
        lines = [re.findall(r"[\w.]+", line) for line in table.splitlines()]
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
        assert len(engines) == 32
        for entry in engines:
            twin = by_driver[entry["driver"].replace("-eip93", "-lib")]
            for field in ("name", "type", "block_size", "iv_size", "digest_size", "max_tag_size"):
                assert twin[field] == entry[field]
            assert twin["priority"] < entry["priority"]
            proxy = by_driver[f"fallback({entry['driver']})"]
            assert proxy["name"] == entry["name"]
            assert proxy["priority"] == entry["priority"] + 1
            assert set(proxy["key_sizes"]) <= set(entry["key_sizes"])
        assert len([entry for entry in entries if entry["proxy"]]) == 32

    def test_with_device_alone(self) -> None:
        entries = json.loads(output("list", "--json", "--device"))["algorithms"]
        assert len([entry for entry in entries if "eip93" in entry["driver"]]) == 32
        assert not [entry for entry in entries if entry["proxy"]]


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

    def test_out_keeps_links_and_permissions(self, tmp_path):
        target, link = tmp_path / "file", tmp_path / "link"
        target.write_bytes(b"old")
        target.chmod(0o640)
        link.symlink_to(target)
        crypt("encrypt", b"text", "--out", str(link))
        assert link.is_symlink()
        assert target.read_bytes() == openssl("encrypt", "ctr", b"text")
        assert target.stat().st_mode & 0o777 == 0o640

    def test_out_to_a_pipe(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
        crypt("encrypt", b"text", "--out", str(pipe))
        assert reader.communicate(timeout=30)[0] == openssl("encrypt", "ctr", b"text")
        assert pipe.is_fifo()

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
            (["--algorithm", "ctr(aes)", "--key-hex", KEY, "--iv-hex", "00"], "1 byte was given"),
            (["--algorithm", "ctr(aes)", "--key-hex", KEY], "--iv-hex: 16 bytes are"),
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
        rows = {(row["driver"], row["side"]): row for row in result["implementations"]}
        assert len(rows) == len(result["implementations"])
        assert not [row for row in rows.values() if not row["vectors"] and not row["skipped"]]
        # R123: what is run on an implementation is what the files have for its algorithm.
        counts = Counter(vector.algorithm for vector in known_answers.load())
        assert sum(counts.values()) == result["vectors"]
        for row in rows.values():
            assert row["vectors"] == (0 if row["skipped"] else counts[row["algorithm"]])
        for name in (*DES, *HASHES, *AEADS, "ecb(aes)", "rfc3686(ctr(aes))"):
            assert rows[driver_of("eip93", name), ""]["vectors"] == counts[name] > 0
            for side in ("hardware", "software"):
                assert rows[driver_of("proxy-hardware", name), side]["vectors"] == counts[name]
        assert len([key for key in rows if key[1] == "hardware"]) == 32

    def test_text_has_the_number_of_every_implementation(self) -> None:
        text = output("selftest").decode()
        assert re.search(r"\d+ passed, 0 failed", text)
        counts = Counter(vector.algorithm for vector in known_answers.load())
        for driver, name in (("sha1-eip93", "sha1"), ("cbc(des3_ede-lib)", "cbc(des3_ede)")):
            assert re.search(rf"{re.escape(driver)} +\W +\W +{counts[name]} \W ok", text), text

    @pytest.mark.parametrize(
        ("file", "field"),
        [
            ("aes", "ciphertext"),
            ("des", "ciphertext"),
            ("des", "key"),
            ("hashes", "digest"),
            ("hmac", "key"),
            ("authenc", "tag"),
            ("authenc", "auth_key"),
            ("authenc", "iv"),
        ],
    )
    def test_one_flipped_bit_fails_exactly_that_vector(
        self, tmp_path: Path, file: str, field: str
    ) -> None:
        text = (resources.files("cryptodispatch.known_answers") / f"{file}.toml").read_text()
        found = re.finditer(rf'^{field} = "(\w+)"', text, re.MULTILINE)
        spans = [match.span(1) for match in found]
        for start, end in (spans[0], spans[len(spans) // 2], spans[-1]):
            position = random.Random(start).randrange(start, end)
            changed = f"{int(text[position], 16) ^ 1:x}"
            path = tmp_path / "flipped.toml"
            path.write_text(text[:position] + changed + text[position + 1 :])
            before = text[:position].rindex("source = ")
            source = re.match(r'source = "(.*)"', text[before:])
            assert source is not None
            done = run("selftest", "--json", "--vectors", str(path))
            assert done.returncode == 1
            result = json.loads(done.stdout)
            failed = [row for row in result["implementations"] if row["failures"]]
            assert {item["source"] for row in failed for item in row["failures"]} == {source[1]}
            # On every implementation of the algorithm, engine and both sides of the proxy included.
            (algorithm,) = {row["algorithm"] for row in failed}
            ran = [row for row in result["implementations"] if row["algorithm"] == algorithm]
            assert [row for row in ran if row["vectors"]] == failed
            assert len(failed) >= 4
            assert result["failed"] == len(failed)

    def test_a_vector_that_nothing_runs_fails(self, tmp_path: Path) -> None:
        path = tmp_path / "unknown.toml"
        path.write_text(
            '[[hash]]\nalgorithm = "sha255"\nsource = "nowhere"\nkey = ""\nmessage = ""\n'
            'digest = "00"\n'
        )
        done = run("selftest", "--vectors", str(path))
        assert done.returncode == 1
        assert b"nowhere" in done.stderr
        assert b"0 passed, 1 failed" in done.stdout

    def test_files_that_are_no_vectors(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.toml"
        for text in ("", "cipher = 1", "[[cipher]]\nalgorithm = 'x'", "not toml", "cipher = []"):
            path.write_text(text)
            done = run("selftest", "--vectors", str(path))
            assert done.returncode == 1
            assert b"Traceback" not in done.stderr
            assert str(path).encode() in done.stderr


def test_help_and_version() -> None:
    text = output("--help").decode()
    for name in ("tune", "list", "crypt", "selftest", "predict", "reproduce"):
        assert name in text
        assert output(name, "--help")
    assert re.search(r"\d+\.\d+", output("--version").decode())
    assert run("nonsense").returncode == 2
