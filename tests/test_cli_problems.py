"""The command line where the world outside is closed, full, missing, read-only or narrow."""

from __future__ import annotations

import itertools
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from cryptodispatch.cli import _crypt

KEY, IV = bytes(16).hex(), bytes(16).hex()
CTR = ("crypt", "encrypt", "--algorithm", "ctr(aes)", "--key-hex", KEY, "--iv-hex", IV)
CBC_DECRYPT = ("crypt", "decrypt", "--algorithm", "cbc(aes)", "--key-hex", KEY, "--iv-hex", IV)
PROGRAM = (sys.executable, "-m", "cryptodispatch")
BUFFERED = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
FULL = "standard output: No space left on device"
CLOSED = "standard output: Bad file descriptor"


def shell(redirections: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command with redirections as a shell has them."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh", *PROGRAM, *arguments],
        input="text",
        env=BUFFERED,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


# Standard streams


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("list", "--json"),
        ("doctor",),
        ("selftest",),
        ("tune", "--machine", "an7581"),
        ("--help",),
        CTR,
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
@pytest.mark.parametrize(("redirection", "said"), [(">/dev/full", FULL), (">&-", CLOSED)])
def test_output_that_cannot_be_written(
    arguments: tuple[str, ...], redirection: str, said: str
) -> None:
    done = shell(redirection, *arguments)
    assert (done.returncode, done.stderr) == (1, f"Error: {said}\n")


def test_input_that_is_closed() -> None:
    done = shell("<&-", *CTR)
    assert (done.returncode, done.stderr) == (1, "Error: standard input: Bad file descriptor\n")


def test_streams_that_are_not_needed_may_be_closed(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("text")
    done = shell("<&- >&- 2>&-", *CTR, "--in", str(source), "--out", str(target))
    assert done.returncode == 0
    assert len(target.read_bytes()) == 4
    assert len(shell("2>&-", "list").stdout) > 1000
    assert shell("2>/dev/full", "list", "--nonsense").returncode in (1, 2)


def test_a_failure_is_told_once() -> None:
    done = shell(">/dev/full", "selftest", "--vectors", "/dev/null")
    assert done.returncode == 1
    assert done.stderr.count("Error") == 1
    assert "/dev/null: no rows" in done.stderr


def test_what_a_command_left_in_the_buffer_is_written_or_missed() -> None:
    program = """
import sys, click
from cryptodispatch.cli._problems import Commands
main = Commands(commands=[click.Command("write", callback=lambda: sys.stdout.write("text"))])
main()
"""
    command = ["/bin/sh", "-c", 'exec "$@" >/dev/full', "sh", sys.executable, "-c", program]
    done = subprocess.run(
        [*command, "write"], env=BUFFERED, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, f"Error: {FULL}\n")


# Files


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    for target, said in (
        (tmp_path / "none" / "x", "No such file or directory"),
        (Path("/dev/full"), "No space left on device"),
        (Path("/dev/null/x"), "Not a directory"),
    ):
        done = shell("", *CTR, "--out", str(target))
        assert (done.returncode, done.stderr) == (1, f"Error: {target}: {said}\n")


def test_a_read_only_target_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    target.chmod(0o444)
    if os.geteuid() == 0:  # who may write everything
        monkeypatch.setattr(_crypt.os, "access", lambda *_arguments, **_more: False)
    refused = pytest.raises(click.ClickException, match=rf"{target}: Permission denied")
    with refused, _crypt._writer(target) as write:
        write(b"text")
    assert target.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [target]


def test_key_files_are_read_with_a_bound() -> None:
    done = shell("", *CTR[:4], "--iv-hex", IV, "--key-file", "/dev/zero")
    assert done.returncode == 2
    assert "--key-file: /dev/zero has more than 1048576 bytes" in done.stderr


# What is said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([*CTR[:6]], "--iv-hex: 16 bytes are needed for ctr(aes)"),
        ([*CTR[:6], "--iv-hex", "00"], "--iv-hex: 1 byte"),
        ([*CTR[:4], "--key-hex", "00", "--iv-hex", IV], "--key-hex: 1 byte"),
        (["crypt", "encrypt", "--algorithm", "zzz", "--key-hex", KEY], "`cryptodispatch list`"),
        (["crypt", "encrypt", "--algorithm", "ctr(aess)", "--key-hex", KEY], "did you mean"),
        (["speed", "--algorithm", "cbc(aess)"], "--algorithm: 'cbc(aess)' is not registered; did"),
        (["speed", "--algorithm", "zzz"], "`cryptodispatch list`"),
        (["speed", "--algorithm", "cbc(aes)", "--sizes", "17"], "cbc(aes) takes multiples of 16"),
        (["tune", "--software", "--machine", "an7581"], "--machine, --software: one of them"),
        (["tune", "--software", "--engine", "an7581"], "--engine, --software: one of them"),
    ],
)
def test_wrong_use_names_the_option(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "cryptodispatch.algorithms()" not in done.stderr
    assert done.stdout == ""


def test_key_file_is_named_if_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"short")
    done = run(*CTR[:4], "--iv-hex", IV, "--key-file", str(tmp_path / "key"))
    assert "--key-file: 5 bytes were given" in done.stderr


def test_nothing_with_padding() -> None:
    done = run(*CBC_DECRYPT)
    assert done.returncode == 1
    assert "0 bytes were given: with padding there is a block of 16" in done.stderr
    assert run(*CBC_DECRYPT, "--padding", "none").returncode == 0


def test_files_that_cannot_be_read_are_status_1_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("null = 1")
    for arguments in (("predict", str(path)), ("selftest", "--vectors", str(path))):
        done = run(*arguments)
        assert (done.returncode, str(path) in done.stderr) == (1, True)
        assert not re.search(r"\w+Error: ", done.stderr)


def test_speed_says_what_empty_cells_are() -> None:
    arguments = ("speed", "--algorithm", "cbc(aes)", "--samples", "1", "--sizes")
    note = "n/a: the size is no multiple of the algorithm's block"
    assert note in run(*arguments, "17,32").stdout
    assert note not in run(*arguments, "16,32").stdout


def test_why_a_choice_was_not_kept(tmp_path: Path) -> None:
    (tmp_path / "cryptodispatch").write_text("a file where the folder should be")
    arguments = ("tune", "--software")
    done = run(*arguments, XDG_CACHE_HOME=str(tmp_path), CRYPTODISPATCH_CACHE="")
    (line,) = [text for text in done.stdout.splitlines() if text.startswith("Not kept")]
    assert re.fullmatch(
        rf"Not kept: {tmp_path}/cryptodispatch/software-\w+\.json: (File exists|Not a directory)",
        line,
    )
    done = run(*arguments, CRYPTODISPATCH_CACHE="off")
    assert "Not kept: CRYPTODISPATCH_CACHE=off\n" in done.stdout


# Widths


def on_terminal(columns: int, *arguments: str) -> list[str]:
    """Lines of a command on a terminal that wide, without colours."""
    here, there = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "CRYPTODISPATCH_CACHE": "off"},
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
    ) as process:
        os.close(there)
        pieces = []
        while True:
            try:
                piece = os.read(here, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(here)
    assert process.returncode == 0
    text = re.sub(r"\x1b\[[\d;]*m", "", b"".join(pieces).decode())
    return text.replace("\r", "").splitlines()


@pytest.mark.parametrize("command", ["list", "doctor"])
def test_names_are_whole_on_a_narrow_terminal(command: str) -> None:
    lines = on_terminal(80, command)
    names = {"authenc(hmac(sha256),rfc3686(ctr(aes)))", "authenc(hmac(sha1),cbc(des3_ede))"}
    assert names <= {line.strip() for line in lines}
    assert max(map(len, lines)) < 200
    if command == "list":
        assert max(map(len, lines)) <= 80
        index = lines.index("ctr(aes)")
        assert re.fullmatch(r"  ctr\(aes-[\w-]+\)( \*)?", lines[index + 1])
        block = list(itertools.takewhile(lambda line: line[:1] == " ", lines[index + 1 :]))
        assert sum(line.endswith(") *") for line in block) == 1  # the one that is bound
        assert "type: cipher, priority: " in lines[index + 2]


@pytest.mark.parametrize("columns", [80, 300])
def test_no_line_ends_in_blanks(columns: int) -> None:
    for arguments in (("list",), ("tune", "--machine", "an7581"), ("doctor",)):
        assert not [line for line in on_terminal(columns, *arguments) if line != line.rstrip()]
        assert not [line for line in run(*arguments).stdout.splitlines() if line != line.rstrip()]


def test_a_table_where_there_is_room() -> None:
    assert any(line.startswith("┃ algorithm") for line in on_terminal(200, "list"))
    off_terminal = run("list", "--device", "--fallback").stdout
    for name in ("fallback(authenc(hmac(sha256-eip93),rfc3686(ctr(aes-eip93))))", "ctr(aes-lib)"):
        assert name in off_terminal
