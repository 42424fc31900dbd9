"""`cryptodispatch crypt`: encrypt or decrypt a file or pipe, in constant memory."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from cryptodispatch import Cipher, CipherStream, CryptoDispatchError
from cryptodispatch.cli._device import device_options, open_device
from cryptodispatch.cli._problems import naming, usage_error

__all__ = ["command"]

_PIECE = 1 << 20  # bytes read at a time: far above every threshold, small against any memory
_LONGEST_KEY = 1 << 20  # bytes; the longest that any algorithm takes is far below


class _Hex(click.ParamType[bytes]):
    name = "hex"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            return bytes.fromhex(str(value))
        except ValueError:
            self.fail(f"{value!r} is not an even number of hexadecimal digits", param, ctx)


@click.command("crypt")
@click.argument("operation", type=click.Choice(["encrypt", "decrypt"]))
@click.option("--algorithm", required=True, help="Algorithm or driver name, as ctr(aes).")
@click.option(
    "--key-hex", type=_Hex(), help="Key in hexadecimal; visible to other users of the host."
)
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that holds the key as raw bytes.",
)
@click.option("--iv-hex", type=_Hex(), help="IV in hexadecimal; left out for ecb.")
@click.option(
    "--padding",
    type=click.Choice(["pkcs7", "none"]),
    default="pkcs7",
    show_default=True,
    help="For ecb and cbc, as openssl enc does (none: as its -nopad). Other modes need none.",
)
@click.option(
    "--in",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Else stdin.",
)
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Else stdout. Appears when it is complete.",
)
@device_options
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON on stderr.")
def command(
    operation: str,
    algorithm: str,
    key_hex: bytes | None,
    key_file: Path | None,
    iv_hex: bytes | None,
    padding: str,
    source: Path | None,
    target: Path | None,
    machine: str | None,
    engine: str | None,
    *,
    as_json: bool,
) -> None:
    """Encrypt or decrypt standard input or a file, without authentication.

    With --machine or --engine the text goes through that engine's fallback.
    """
    if target is not None and not target.name:
        raise click.UsageError("--out: the name of a file is needed")
    if (key_hex is None) == (key_file is None):
        raise click.UsageError("--key-hex, --key-file: exactly one of them is needed")
    key = key_hex if key_hex is not None else _read_key(key_file)
    options = {"algorithm": "--algorithm", "iv": "--iv-hex"}
    options["key"] = "--key-hex" if key_hex is not None else "--key-file"
    with ExitStack() as stack:
        if machine is not None or engine is not None:
            stack.enter_context(open_device(machine, engine)).fallback.enable()
        try:
            cipher = stack.enter_context(Cipher(algorithm, key))
            if iv_hex is None and cipher.iv_size:
                raise ValueError(f"iv: {cipher.iv_size} bytes are needed for {cipher.name}")  # noqa: TRY301
            decrypt = operation == "decrypt"
            stream = (cipher.decryptor if decrypt else cipher.encryptor)(iv_hex)
        except (CryptoDispatchError, TypeError, ValueError) as error:
            raise usage_error(error, options) from error
        padded = padding == "pkcs7" and cipher.block_size > 1
        driver, name = cipher.driver, cipher.name
        try:
            with _pieces(source) as pieces, _writer(target) as write:
                size = _copy(
                    pieces, write, stream, cipher.block_size, decrypt=decrypt, padded=padded
                )
        except (CryptoDispatchError, ValueError) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        done = {"operation": operation, "algorithm": name, "driver": driver, "bytes": size}
        click.echo(json.dumps(done), err=True)


def _read_key(path: Path | None) -> bytes:
    assert path is not None  # noqa: S101 - one of two options was given
    with naming(path), path.open("rb") as file:
        key = file.read(_LONGEST_KEY + 1)
    if len(key) > _LONGEST_KEY:
        raise click.UsageError(f"--key-file: {path} has more than {_LONGEST_KEY} bytes")
    return key


@contextmanager
def _pieces(source: Path | None) -> Iterator[Iterator[bytes]]:
    """Read a file, or stdin, piece by piece."""

    def pieces(name: object, reader: BinaryIO) -> Iterator[bytes]:
        while True:
            with naming(name):
                piece = reader.read(_PIECE)
            if not piece:
                return
            yield piece

    if source is None:
        yield pieces("standard input", sys.stdin.buffer)
        return
    with ExitStack() as stack:
        with naming(source):
            file = stack.enter_context(source.open("rb"))
        yield pieces(source, file)


@contextmanager
def _writer(target: Path | None) -> Iterator[Callable[[bytes], object]]:
    """Write to stdout, or to a file that takes the target's place only when all went well."""
    if target is None:
        with naming("standard output"):
            yield sys.stdout.buffer.write
            sys.stdout.buffer.flush()
        return
    with naming(target):
        if target.exists() and not target.is_file():  # a pipe or device is written, not replaced
            with target.open("wb") as file:
                yield file.write
            return
        target = target.resolve()  # a link stays, what it names is replaced
        mode = _mode(target)
        handle, name = tempfile.mkstemp(prefix=target.name, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(handle, mode)
                yield file.write
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _mode(target: Path) -> int:
    """The permissions that the target has, or that a new file gets.

    Raises:
        PermissionError: the target cannot be written: replacing it needs the folder alone.
    """
    if target.exists():
        if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _copy(
    pieces: Iterator[bytes],
    write: Callable[[bytes], object],
    stream: CipherStream,
    block: int,
    *,
    decrypt: bool,
    padded: bool,
) -> int:
    """Move everything through the stream; returns the bytes read."""
    total = 0
    held = b""  # the last block of plaintext, which may be padding
    for piece in pieces:
        total += len(piece)
        text = stream.update(piece)
        if padded and decrypt:
            text = held + text
            held = text[-block:]
            text = text[: -len(held)] if held else text
        write(text)
    if padded and decrypt:
        stream.finalize()
        if not total:
            raise ValueError(
                f"data: 0 bytes were given: with padding there is a block of {block} at least; an "
                "empty text without it has --padding none"
            )
        write(_unpad(held, block))
    else:
        if padded:
            count = block - total % block
            write(stream.update(bytes([count]) * count))
        stream.finalize()
    return total


def _unpad(held: bytes, block: int) -> bytes:
    """Take PKCS#7 padding (RFC 5652 section 6.3) off the last block."""
    count = held[-1] if held else 0
    if len(held) != block or not 1 <= count <= block or held[-count:] != bytes([count]) * count:
        raise ValueError(
            "data: the padding is wrong: another key, IV or algorithm, or --padding none"
        )
    return held[:-count]
