"""`cryptodispatch crypt`: encrypt or decrypt a file or pipe, in constant memory."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from cryptodispatch import Cipher, CipherStream, CryptoDispatchError
from cryptodispatch.cli._device import device_options, open_device

__all__ = ["command"]

_PIECE = 1 << 20  # bytes read at a time: far above every threshold, small against any memory


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
    key = key_hex if key_hex is not None else key_file.read_bytes() if key_file is not None else b""
    with ExitStack() as stack:
        if machine is not None or engine is not None:
            stack.enter_context(open_device(machine, engine)).fallback.enable()
        try:
            cipher = stack.enter_context(Cipher(algorithm, key))
            decrypt = operation == "decrypt"
            stream = (cipher.decryptor if decrypt else cipher.encryptor)(iv_hex)
        except (CryptoDispatchError, TypeError, ValueError) as error:
            raise click.UsageError(str(error)) from error
        padded = padding == "pkcs7" and cipher.block_size > 1
        reader = sys.stdin.buffer if source is None else stack.enter_context(source.open("rb"))
        driver, name = cipher.driver, cipher.name
        try:
            with _writer(target) as writer:
                size = _copy(
                    reader, writer, stream, cipher.block_size, decrypt=decrypt, padded=padded
                )
        except (CryptoDispatchError, ValueError, OSError) as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        done = {"operation": operation, "algorithm": name, "driver": driver, "bytes": size}
        click.echo(json.dumps(done), err=True)


@contextmanager
def _writer(target: Path | None) -> Iterator[BinaryIO]:
    """Write to stdout, or to a file that takes the target's place only when all went well."""
    if target is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if target.exists() and not target.is_file():  # a pipe or device is written, not replaced
        with target.open("wb") as file:
            yield file
        return
    target = target.resolve()  # a link stays, what it names is replaced
    handle, name = tempfile.mkstemp(prefix=target.name, dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, _mode(target))
            yield file
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The permissions that the target has, or that a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _copy(
    reader: BinaryIO,
    writer: BinaryIO,
    stream: CipherStream,
    block: int,
    *,
    decrypt: bool,
    padded: bool,
) -> int:
    """Move everything through the stream; returns the bytes read."""
    total = 0
    held = b""  # the last block of plaintext, which may be padding
    while piece := reader.read(_PIECE):
        total += len(piece)
        text = stream.update(piece)
        if padded and decrypt:
            text = held + text
            held = text[-block:]
            text = text[: -len(held)] if held else text
        writer.write(text)
    if padded and decrypt:
        stream.finalize()
        writer.write(_unpad(held, block))
    else:
        if padded:
            count = block - total % block
            writer.write(stream.update(bytes([count]) * count))
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
