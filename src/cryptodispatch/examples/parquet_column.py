"""Encrypt one column of a Parquet file cell by cell, and decrypt it again.

    python -m cryptodispatch.examples.parquet_column encrypt --column email --key-file key in out
    python -m cryptodispatch.examples.parquet_column decrypt --column email --key-file key in out

The column's cells lie one after the other in an Arrow buffer, with offsets, which is what
``Aead.encrypt_batch`` takes: no cell is copied on the way, and no Python code runs per row. One row
group at a time is in memory.

How it is done. Each cell becomes AES-256-CTR (RFC 3686) text and a 16-byte HMAC-SHA-256 tag. A
random salt per run and the caller's key give the keys of one column of one file (HKDF, RFC 5869),
so the row's number, counted from 0, can be the IV: it never repeats under a key. It is the AAD as
well, with the column's name. A seal over the number of rows and the positions of nulls is in the
field's metadata beside salt, algorithm and type, so that programs which keep that may write the
file anew.

What is refused: a cell that was changed, or moved to another row, column or file; rows of this
column cut, added or put in another order; nulls put in or filled; another type or name of the
column; another key. The file that is written appears only when all of the column was right.

What is not protected: lengths of cells, which of them are null, and the number of rows can be seen.
The other columns stay as they are and may be changed or put beside other rows. A whole file may be
replaced by an older one encrypted with the same key. Whoever has the key can write anything.
"""

from __future__ import annotations

import base64
import errno
import hmac
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

import click

import cryptodispatch as cd

try:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    _MISSING = f"{error.name} is not installed: pip install 'cryptodispatch[parquet]'"
    if __name__ == "__main__":
        sys.exit(f"Error: {_MISSING}")
    raise ImportError(_MISSING, name=error.name) from error

__all__ = ["ColumnError", "Summary", "command", "decrypt_column", "encrypt_column"]

ALGORITHM = "authenc(hmac(sha256),rfc3686(ctr(aes)))"
TAG_SIZE = 16  # bytes, as RFC 4868 cuts HMAC-SHA-256
KEY_VARIABLE = "CRYPTODISPATCH_COLUMN_KEY_HEX"
SMALLEST_KEY, LARGEST_KEY = 16, 1 << 20  # bytes

_LARGE = (pa.large_binary(), pa.large_string())
_TYPES = {str(kind): kind for kind in (pa.binary(), pa.string(), *_LARGE)}
_FORMAT = b"cryptodispatch parquet column 1"
# Keys in the metadata of the field.
_ALGORITHM, _TYPE = b"cryptodispatch:algorithm", b"cryptodispatch:type"
_SALT, _CHECK, _SEAL = b"cryptodispatch:salt", b"cryptodispatch:check", b"cryptodispatch:seal"
_ARROW = b"ARROW:schema"  # where a Parquet file has it: an IPC message in base64
# Bytes of cells in one batch: bounds what is needed beside the row group, and keeps the offsets of
# a decrypted batch within the 32 bits of binary and string.
_BATCH = 1 << 26

_Offsets: TypeAlias = "npt.NDArray[np.int32] | npt.NDArray[np.int64]"


class ColumnError(cd.CryptoDispatchError, ValueError):
    """The column or the key is not one that can be used."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What was done.

    Attributes:
        rows: of the file.
        nulls: rows without a cell, which stay as they are.
        size: bytes of all cells, not encrypted.
        driver: the implementation that encrypted or decrypted.
        seconds: from opening the file to the finished one.
        batch_seconds: what of it the batches took.
    """

    rows: int
    nulls: int
    size: int
    driver: str
    seconds: float
    batch_seconds: float


@dataclass(frozen=True, slots=True)
class _Keys:
    cipher: bytes  # AES-256 key and RFC 3686 nonce
    authentication: bytes
    seal: bytes
    check: bytes  # written into the file: tells another key, type or name from a changed cell


def _derive(key: bytes, salt: bytes, column: bytes, kind: str) -> _Keys:
    """HKDF with HMAC-SHA-256 (RFC 5869 section 2): extract, then expand to 132 bytes."""
    if len(key) < SMALLEST_KEY:
        raise ColumnError(f"key: {len(key)} bytes were given, {SMALLEST_KEY} or more are needed")
    info = b"\n".join([_FORMAT, ALGORITHM.encode(), kind.encode(), column])
    with cd.Hash("hmac(sha256)", salt) as extract:
        pseudorandom = extract.digest(key)
    okm = block = b""
    with cd.Hash("hmac(sha256)", pseudorandom) as expand:
        for number in range(1, 6):
            block = expand.digest(block + info + bytes([number]))
            okm += block
    return _Keys(okm[:36], okm[36:68], okm[68:100], okm[100:132])


class _Column:
    """The cells of one column of one file, in the order of its rows."""

    def __init__(self, name: str, keys: _Keys) -> None:
        self._name = name
        self._aead = cd.Aead(
            ALGORITHM, keys.cipher, auth_key=keys.authentication, tag_size=TAG_SIZE
        )
        self._seal = cd.Hash("hmac(sha256)", keys.seal).new()
        self.driver = self._aead.driver
        self.rows = self.nulls = self.size = 0
        self.seconds = 0.0

    def seal(self) -> bytes:
        """HMAC of a byte per row so far: 0 for a null, else 1."""
        return self._seal.digest()

    def encrypt(self, array: pa.Array) -> pa.Array:
        """Encrypt the next rows."""
        rows, valid = self._take(array)
        values, offsets = _cells(array, valid)
        sealed = offsets + TAG_SIZE * np.arange(len(offsets))
        out = pa.allocate_buffer(int(sealed[-1]))
        self._run(self._aead.encrypt_batch, values, offsets, out, rows)
        self.size += int(offsets[-1])
        return _array(pa.large_binary(), valid, sealed, out)

    def decrypt(self, array: pa.Array, kind: pa.DataType) -> pa.Array:
        """Decrypt the next rows; AuthenticationError names the first one that is wrong."""
        rows, valid = self._take(array)
        values, offsets = _cells(array, valid)
        short = np.flatnonzero(np.diff(offsets) < TAG_SIZE)
        if short.size:
            raise self._refusal(int(rows[short[0]]), short.size)
        plain = offsets - TAG_SIZE * np.arange(len(offsets))
        out = pa.allocate_buffer(int(plain[-1]))
        try:
            self._run(self._aead.decrypt_batch, values, offsets, out, rows)
        except cd.BatchError as error:
            first = min(error.errors)
            if not isinstance(error.errors[first], cd.AuthenticationError):
                raise
            raise self._refusal(int(rows[first]), len(error.errors)) from None
        self.size += int(plain[-1])
        return _array(kind, valid, plain, out)

    def _take(self, array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Numbers of the rows that are no nulls, and which of the array's rows these are."""
        valid: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
        rows = np.flatnonzero(valid) + self.rows
        self._seal.update(valid.tobytes())
        self.rows += len(array)
        self.nulls += len(array) - rows.size
        return rows, valid

    def _run(
        self,
        batch: Callable[..., int],
        values: pa.Buffer,
        offsets: _Offsets,
        out: pa.Buffer,
        rows: npt.NDArray[np.int64],
    ) -> None:
        """Call the batch: IV of a row is its number, AAD the number and the column's name."""
        name = np.frombuffer(self._name.encode(), np.uint8)
        ivs = rows.astype(">u8").view(np.uint8).reshape(-1, 8)
        aads = np.empty((rows.size, 8 + name.size), np.uint8)
        aads[:, :8] = ivs
        aads[:, 8:] = name
        aad_offsets = np.arange(rows.size + 1, dtype=np.int64) * aads.shape[1]
        start = time.perf_counter()
        batch(values, offsets, ivs, out, aads, aad_offsets)
        self.seconds += time.perf_counter() - start

    def _refusal(self, row: int, count: int) -> cd.AuthenticationError:
        more = f" (and {count - 1} more)" if count > 1 else ""
        return cd.AuthenticationError(
            f"column {self._name!r}, row {row}{more}: the cell was changed, or belongs elsewhere"
        )


def _cells(array: pa.Array, valid: npt.NDArray[np.bool_]) -> tuple[pa.Buffer, _Offsets]:
    """Where the cells lie: a view of Arrow's buffer, and the offsets of those that are no nulls."""
    _, offsets, values = array.buffers()
    width = np.int64 if array.type in _LARGE else np.int32
    bounds = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1]
    if array.null_count:
        if np.diff(bounds)[~valid].any():  # Arrow lets bytes lie under a null: leave them out
            rest = array.drop_null()
            return _cells(rest, np.ones(len(rest), np.bool_))
        bounds = np.append(bounds[:-1][valid], bounds[-1:])
    first, last = int(bounds[0]), int(bounds[-1])
    return (values or pa.py_buffer(b"")).slice(first, last - first), bounds - bounds[0]


def _array(
    kind: pa.DataType, valid: npt.NDArray[np.bool_], offsets: _Offsets, out: pa.Buffer
) -> pa.Array:
    """Put cells and nulls together: row i starts where the cells before it end."""
    width = np.int64 if kind in _LARGE else np.int32
    before = np.concatenate([[0], np.cumsum(valid)])
    nulls = len(valid) - int(before[-1])
    bits = pa.py_buffer(np.packbits(valid, bitorder="little")) if nulls else None
    bounds = pa.py_buffer(offsets[before].astype(width))
    return pa.Array.from_buffers(kind, len(valid), [bits, bounds, out], nulls)


def _batches(array: pa.Array) -> Iterator[pa.Array]:
    """Halve an array until each part is small enough, without copying."""
    if len(array) > 1 and array.nbytes > _BATCH:
        half = len(array) // 2
        yield from _batches(array.slice(0, half))
        yield from _batches(array.slice(half))
    elif len(array):
        yield array


def encrypt_column(
    source: str | os.PathLike[str], target: str | os.PathLike[str], column: str, key: bytes
) -> Summary:
    """Write `source` to `target` with one column encrypted; it becomes large_binary.

    Args:
        source: the Parquet file.
        target: file that is made or replaced, when complete; may be `source`, which is lost then.
        column: name of a column of type binary, large_binary, string or large_string.
        key: 16 bytes or more that cannot be guessed; a password is none.

    Raises:
        ColumnError: the column or the key cannot be used.
        OSError: a file cannot be read or written.
        pyarrow.ArrowException: the file is no Parquet file.
    """
    start = time.perf_counter()
    with pq.ParquetFile(source) as file:
        index, field, metadata = _find(file, column)
        if str(field.type) not in _TYPES:
            raise ColumnError(
                f"column {column!r}: type {field.type} was given, {', '.join(_TYPES)} are allowed"
            )
        if _CHECK in metadata:
            raise ColumnError(f"column {column!r}: it is encrypted already")
        salt = secrets.token_bytes(32)
        keys = _derive(key, salt, column.encode(), str(field.type))
        metadata |= {_ALGORITHM: ALGORITHM.encode(), _TYPE: str(field.type).encode()}
        metadata |= {_SALT: salt.hex().encode(), _CHECK: keys.check.hex().encode()}
        cells = _Column(column, keys)
        field = field.with_type(pa.large_binary()).with_metadata(metadata)
        with _writer(file, target, index, field) as writer:
            _copy(file, writer, index, field, cells.encrypt)
            metadata |= {_SEAL: cells.seal().hex().encode()}
            _set_schema(writer, writer.schema.set(index, field.with_metadata(metadata)))
    return _summary(cells, start)


def decrypt_column(
    source: str | os.PathLike[str], target: str | os.PathLike[str], column: str, key: bytes
) -> Summary:
    """Write `source` to `target` with a column decrypted that `encrypt_column` encrypted.

    Args:
        source: the Parquet file.
        target: file that is made or replaced, when all of the column was found right.
        column: name of the column.
        key: the one it was encrypted with.

    Raises:
        ColumnError: the column is not there or not encrypted, or the key is too short.
        AuthenticationError: another key, or something was changed; nothing is written.
        OSError: a file cannot be read or written.
        pyarrow.ArrowException: the file is no Parquet file.
    """
    start = time.perf_counter()
    with pq.ParquetFile(source) as file:
        index, field, metadata = _find(file, column)
        if _CHECK not in metadata:
            raise ColumnError(f"column {column!r}: it is not encrypted, or its metadata was lost")
        kind, keys = _unlock(field, column, key)
        rest = {k: v for k, v in metadata.items() if not k.startswith(b"cryptodispatch:")}
        restored = field.with_type(kind).remove_metadata()
        if rest:
            restored = restored.with_metadata(rest)
        cells = _Column(column, keys)
        with _writer(file, target, index, restored) as writer:
            _copy(file, writer, index, restored, lambda array: cells.decrypt(array, kind))
            if not hmac.compare_digest(metadata.get(_SEAL, b""), cells.seal().hex().encode()):
                raise cd.AuthenticationError(
                    f"column {column!r}: rows were cut or added, or nulls were changed, among the "
                    f"{cells.rows} rows"
                )
    return _summary(cells, start)


def _find(file: pq.ParquetFile, column: str) -> tuple[int, pa.Field, dict[bytes, bytes]]:
    """Position of the column, its field, and a copy of the field's metadata."""
    names = file.schema_arrow.names
    if names.count(column) != 1:
        many = "more than one has the name" if column in names else "there is none of the name"
        raise ColumnError(f"column {column!r}: {many}; the file has {', '.join(map(repr, names))}")
    index = names.index(column)
    field = file.schema_arrow.field(index)
    return index, field, dict(field.metadata or {})


def _unlock(field: pa.Field, column: str, key: bytes) -> tuple[pa.DataType, _Keys]:
    """The column's type before encryption, and its keys: the right ones."""
    metadata = field.metadata
    kind = metadata.get(_TYPE, b"").decode(errors="replace")
    try:
        salt = bytes.fromhex(metadata.get(_SALT, b"").decode())
    except ValueError:
        salt = b""
    algorithm = metadata.get(_ALGORITHM, b"")
    if kind in _TYPES and algorithm == ALGORITHM.encode() and field.type == pa.large_binary():
        keys = _derive(key, salt, column.encode(), kind)
        if hmac.compare_digest(keys.check.hex().encode(), metadata[_CHECK]):
            return _TYPES[kind], keys
    raise cd.AuthenticationError(
        f"column {column!r}: it was encrypted with another key, or its name, type or metadata was "
        "changed"
    )


@contextmanager
def _writer(
    file: pq.ParquetFile, target: str | os.PathLike[str], index: int, field: pa.Field
) -> Iterator[pq.ParquetWriter]:
    """Write a file like `file` but for one field, which takes `target`'s place when all went well.

    The other columns keep their compression. An encrypted one gets none, nor a dictionary or
    statistics: there is nothing to gain.
    """
    schema = file.schema_arrow.set(index, field)
    encrypted = _CHECK in (field.metadata or {})
    codecs = {}
    if file.num_row_groups:
        group = file.metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        codecs = {chunk.path_in_schema: chunk.compression for chunk in columns}
        codecs |= {field.name: "NONE" if encrypted else "SNAPPY"}
    others = [path for path in codecs if path != field.name]
    own = {_ARROW, *(schema.metadata or {})}
    kept = {k: v for k, v in (file.metadata.metadata or {}).items() if k not in own}
    with (
        _replacing(Path(target)) as path,
        pq.ParquetWriter(
            path,
            schema,
            compression={k: "NONE" if v == "UNCOMPRESSED" else v for k, v in codecs.items()},
            use_dictionary=others if encrypted else True,
            write_statistics=others if encrypted else True,
        ) as writer,
    ):
        writer.add_key_value_metadata(kept)
        yield writer


def _set_schema(writer: pq.ParquetWriter, schema: pa.Schema) -> None:
    """Replace the Arrow schema that the file is going to have: the seal is known at the end."""
    writer.add_key_value_metadata({_ARROW: base64.b64encode(schema.serialize())})


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A new file beside `target`: takes its place and mode at the end, is removed on failure."""
    target = target.resolve()  # a link stays, what it names is replaced
    if target.exists() and not target.is_file():
        raise ColumnError(f"target: {target} is no file that can be replaced")
    if target.exists() and not os.access(target, os.W_OK):  # its folder is enough to replace it
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    path = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        path.touch(exist_ok=False)
        if target.exists():
            shutil.copymode(target, path)
        yield path
        path.replace(target)
    except BaseException as error:
        with suppress(OSError):
            path.unlink()
        if isinstance(error, OSError) and error.filename == str(path):
            raise OSError(error.errno, error.strerror, str(target)) from error
        raise


def _copy(
    file: pq.ParquetFile,
    writer: pq.ParquetWriter,
    index: int,
    field: pa.Field,
    convert: Callable[[pa.Array], pa.Array],
) -> None:
    """Move every row group, one of its columns converted."""
    for number in range(file.num_row_groups):
        table = file.read_row_group(number)
        parts = [convert(part) for chunk in table.column(index).chunks for part in _batches(chunk)]
        table = table.set_column(index, field, pa.chunked_array(parts, field.type))
        writer.write_table(table, row_group_size=max(table.num_rows, 1))


def _summary(cells: _Column, start: float) -> Summary:
    seconds = time.perf_counter() - start
    return Summary(cells.rows, cells.nulls, cells.size, cells.driver, seconds, cells.seconds)


def _key(key_hex: str | None, key_file: Path | None) -> bytes:
    """The key, from one of three places."""
    if key_hex is not None and key_file is not None:
        raise click.UsageError("--key-hex, --key-file: only one of them is allowed")
    if key_file is not None:
        with key_file.open("rb") as file:
            key = file.read(LARGEST_KEY + 1)
        if len(key) > LARGEST_KEY:
            raise click.UsageError(f"--key-file: {key_file} has more than {LARGEST_KEY} bytes")
        return key
    where = "--key-hex" if key_hex is not None else KEY_VARIABLE
    text = key_hex if key_hex is not None else os.environ.get(KEY_VARIABLE)
    if text is None:
        raise click.UsageError(f"--key-file, --key-hex, {KEY_VARIABLE}: one of them is needed")
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise click.UsageError(f"{where}: not an even number of hexadecimal digits") from None


@click.command("parquet_column", epilog=f"The key may be in {KEY_VARIABLE} as well.")
@click.argument("operation", type=click.Choice(["encrypt", "decrypt"]))
@click.argument("source", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--column", required=True, help="Name of the column.")
@click.option("--key-hex", help="Key in hexadecimal; visible to other users of the host.")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that holds the key as raw bytes.",
)
@click.option("--in-place", is_flag=True, help="Allow TARGET to be SOURCE, which is lost then.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def command(
    operation: str,
    source: Path,
    target: Path,
    column: str,
    key_hex: str | None,
    key_file: Path | None,
    *,
    in_place: bool,
    as_json: bool,
) -> None:
    """Encrypt or decrypt one column of the Parquet file SOURCE into TARGET, with authentication.

    TARGET appears when it is complete, and after decryption only if all of the column was right.
    """
    if not in_place and target.exists() and source.samefile(target):
        raise click.UsageError(f"TARGET: {target} is SOURCE; --in-place replaces it")
    run = encrypt_column if operation == "encrypt" else decrypt_column
    try:
        done = run(source, target, column, _key(key_hex, key_file))
    except ColumnError as error:
        raise click.UsageError(str(error)) from error
    except (cd.CryptoDispatchError, pa.ArrowException, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"operation": operation, "column": column} | asdict(done)))
    else:
        click.echo(
            f"{operation} {column}: {done.rows} rows, {done.nulls} of them null, {done.size} bytes "
            f"in {done.seconds:.2f} s, of which {done.batch_seconds:.3f} s by {done.driver}"
        )


if __name__ == "__main__":
    command(prog_name="python -m cryptodispatch.examples.parquet_column")
