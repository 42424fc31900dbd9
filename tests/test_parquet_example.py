"""The example that encrypts a column of a Parquet file: what it keeps, and what it refuses."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

import cryptodispatch as cd

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
np = pytest.importorskip("numpy")

from cryptodispatch.examples import parquet_column  # noqa: E402 - needs pyarrow
from cryptodispatch.examples.parquet_column import (  # noqa: E402
    ColumnError,
    decrypt_column,
    encrypt_column,
)

KEY = bytes(range(32))
KINDS = [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()]
GROUP = 100  # rows of a row group


def texts(count: int) -> list[str | None]:
    source = random.Random(count)
    sizes = [0, 0, 1, 15, 16, 17, 63, 64, 100, 1000]
    return [
        None if source.random() < 0.2 else source.randbytes(source.choice(sizes)).hex()
        for _ in range(count)
    ]


def table_of(column: object) -> pa.Table:
    """The column between two others, with metadata at the field and at the table."""
    count = len(column)
    field = pa.field("secret", column.type, metadata={"unit": "none", "PARQUET:field_id": "7"})
    others = [pa.field("id", pa.int64()), pa.field("list", pa.list_(pa.string()))]
    schema = pa.schema([others[0], field, others[1]], metadata={"made": "by a test"})
    return pa.table(
        [pa.array(range(count), pa.int64()), column, pa.array([["x"]] * count, others[1].type)],
        schema=schema,
    )


def write(path: Path, column: object, **options: object) -> Path:
    pq.write_table(table_of(column), path, row_group_size=GROUP, **options)
    return path


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """An encrypted file of 250 rows in three row groups, nulls among them."""
    source = write(tmp_path / "plain.parquet", pa.array(texts(250), pa.string()))
    encrypt_column(source, tmp_path / "sealed.parquet", "secret", KEY)
    return tmp_path / "sealed.parquet"


def change(path: Path, edit: Callable[[list], object], name: str = "secret") -> None:
    """Let `edit` change the list of cells, everything else of the file stays."""
    table = pq.read_table(path)
    cells = table.column(name).to_pylist()
    edit(cells)
    table = table.slice(0, len(cells)).set_column(
        table.schema.get_field_index(name),
        table.schema.field(name),
        pa.array(cells, table.schema.field(name).type),
    )
    pq.write_table(table, path, row_group_size=GROUP)


def rows_with_text(path: Path) -> list[int]:
    cells = pq.read_table(path).column("secret").to_pylist()
    return [row for row, cell in enumerate(cells) if cell is not None and len(cell) > 16]


def refused(path: Path, match: str) -> None:
    """Decryption fails, and leaves neither the file asked for nor another."""
    before = sorted(path.parent.iterdir())
    with pytest.raises(cd.AuthenticationError, match=match):
        decrypt_column(path, path.with_name("back.parquet"), "secret", KEY)
    assert sorted(path.parent.iterdir()) == before


# What comes back


@pytest.mark.parametrize("count", [0, 1, 99, 100, 250])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_round_trip(tmp_path, kind, count):
    source = write(tmp_path / "plain.parquet", pa.array(texts(count), kind), compression="zstd")
    plain, middle, back = (pq.ParquetFile(source), tmp_path / "e.parquet", tmp_path / "d.parquet")
    done = encrypt_column(source, middle, "secret", KEY)
    undone = decrypt_column(middle, back, "secret", KEY)
    restored = pq.ParquetFile(back)
    assert restored.read().equals(plain.read(), check_metadata=True)
    assert restored.schema_arrow.equals(plain.schema_arrow, check_metadata=True)
    assert restored.metadata.metadata.keys() == plain.metadata.metadata.keys()
    sizes = [
        [f.metadata.row_group(n).num_rows for n in range(f.num_row_groups)]
        for f in (plain, pq.ParquetFile(middle), restored)
    ]
    assert sizes == [sizes[0]] * 3
    if count:
        assert restored.metadata.row_group(0).column(0).compression == "ZSTD"
    cells = plain.read().column("secret").to_pylist()
    for summary in (done, undone):
        assert (summary.rows, summary.nulls) == (count, cells.count(None))
        assert summary.size == sum(len(cell) for cell in cells if cell is not None)
        assert 0 <= summary.batch_seconds <= summary.seconds


def test_ciphertext_is_not_the_text(sealed):
    plain = pq.read_table(sealed.with_name("plain.parquet"))
    table = pq.read_table(sealed)
    assert table.schema.field("secret").type == pa.large_binary()
    assert table.drop_columns(["secret"]).equals(plain.drop_columns(["secret"]))
    for text, cell in zip(
        plain.column("secret").to_pylist(), table.column("secret").to_pylist(), strict=True
    ):
        assert (cell is None) == (text is None)
        assert text is None or len(cell) == len(text) + 16
    data = sealed.read_bytes()
    long = [text for text in plain.column("secret").to_pylist() if text and len(text) > 30]
    assert long
    assert not [text for text in long if text[:30].encode() in data]
    chunk = pq.ParquetFile(sealed).metadata.row_group(0).column(1)
    assert not chunk.is_stats_set
    assert not chunk.has_dictionary_page


def test_no_two_files_share_their_ciphertext(sealed):
    other = sealed.with_name("other.parquet")
    encrypt_column(sealed.with_name("plain.parquet"), other, "secret", KEY)
    first, second = (pq.read_table(path).column("secret").to_pylist() for path in (sealed, other))
    assert not {cell for cell in first if cell} & {cell for cell in second if cell}


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_cells_wherever_arrow_keeps_them(kind):
    """Slices, nulls over bytes, nothing but nulls: no copy of the cells is expected to be neat."""
    values = [None, b"one", b"", b"three", None, b"five", None]
    whole = pa.array(values, pa.binary()).cast(kind)
    width = np.int64 if kind in (pa.large_binary(), pa.large_string()) else np.int32
    bits = pa.py_buffer(np.packbits([0, 1, 1, 0], bitorder="little"))
    bounds = pa.py_buffer(np.array([0, 2, 4, 4, 7], width))
    hidden = pa.Array.from_buffers(kind, 4, [bits, bounds, pa.py_buffer(b"..no...")])
    keys = parquet_column._derive(KEY, b"salt", b"c", str(kind))
    writer, reader = (parquet_column._Column("c", keys) for _ in range(2))
    arrays = [
        whole,
        whole.slice(1),
        whole.slice(3, 3),
        whole.slice(2, 1),
        hidden,
        hidden.slice(1, 2),
        pa.nulls(9, kind),
    ]
    for array in arrays:
        cells = writer.encrypt(array)
        cells.validate(full=True)
        back = reader.decrypt(pa.concat_arrays([pa.nulls(3, cells.type), cells]).slice(3), kind)
        back.validate(full=True)
        assert back.equals(array)
    assert writer.seal() == reader.seal()
    assert writer.rows == sum(map(len, arrays))


def test_large_arrays_are_halved(tmp_path, monkeypatch):
    """A row group of more than one batch, and one cell larger than a batch."""
    monkeypatch.setattr(parquet_column, "_BATCH", 4096)
    values = [*texts(300), "x" * 20_000, *texts(200)]
    source = write(tmp_path / "plain.parquet", pa.array(values, pa.string()))
    parts = list(parquet_column._batches(pa.array(values)))
    assert len(parts) > 4
    assert all(part.nbytes <= 4096 or len(part) == 1 for part in parts)
    assert pa.concat_arrays(parts).to_pylist() == values
    encrypt_column(source, tmp_path / "e.parquet", "secret", KEY)
    monkeypatch.undo()  # batches of another size
    decrypt_column(tmp_path / "e.parquet", tmp_path / "d.parquet", "secret", KEY)
    assert pq.read_table(tmp_path / "d.parquet").equals(pq.read_table(source))


def test_metadata_of_the_file_alone_is_kept(tmp_path):
    """Whether it is in the Arrow schema too or not."""
    path = tmp_path / "file.parquet"
    table = table_of(pa.array(["a"]))
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"written": "at the end"})
    for run_one in (encrypt_column, decrypt_column):
        run_one(path, path, "secret", KEY)
        metadata = dict(pq.ParquetFile(path).metadata.metadata)
        assert metadata.pop(b"ARROW:schema")
        assert metadata == {b"made": b"by a test", b"written": b"at the end"}


def test_two_columns_one_after_the_other(tmp_path):
    table = pa.table({"a.b": pa.array(texts(150), pa.string()), "c": pa.array(["c"] * 150)})
    path = tmp_path / "file.parquet"
    pq.write_table(table, path)
    for column in ("a.b", "c"):
        encrypt_column(path, path, column, KEY)  # in place
    assert list(pq.read_schema(path).types) == [pa.large_binary()] * 2
    for column in ("a.b", "c"):
        decrypt_column(path, path, column, KEY)
    assert pq.read_table(path).equals(table, check_metadata=True)
    assert not [k for k in pq.ParquetFile(path).metadata.metadata if b"cryptodispatch" in k]


# What others compute


def test_cells_are_what_others_compute(sealed):
    """HKDF, AES-CTR and HMAC of other libraries; the layout written out here."""
    field = pq.read_schema(sealed).field("secret")
    said = {key.decode().rpartition(":")[2]: value for key, value in field.metadata.items()}
    assert said["unit"] == b"none"
    algorithm = b"authenc(hmac(sha256),rfc3686(ctr(aes)))"
    assert (said["algorithm"], said["type"]) == (algorithm, b"string")
    okm = HKDF(
        algorithm=hashes.SHA256(),
        length=132,
        salt=bytes.fromhex(said["salt"].decode()),
        info=b"cryptodispatch parquet column 1\n" + algorithm + b"\nstring\nsecret",
    ).derive(KEY)
    assert said["check"].decode() == okm[100:].hex()
    plain = pq.read_table(sealed.with_name("plain.parquet")).column("secret").to_pylist()
    for row, cell in enumerate(pq.read_table(sealed).column("secret").to_pylist()):
        if cell is None:
            continue
        number = row.to_bytes(8, "big")
        counter = okm[32:36] + number + (1).to_bytes(4, "big")  # RFC 3686 section 4
        text = Cipher(algorithms.AES(okm[:32]), modes.CTR(counter)).encryptor().update(cell[:-16])
        assert text.decode() == plain[row]
        tag = hmac.digest(okm[36:68], number + b"secret" + cell[:-16], "sha256")
        assert cell[-16:] == tag[:16]
    seal = hmac.digest(okm[68:100], bytes(text is not None for text in plain), hashlib.sha256)
    assert said["seal"].decode() == seal.hex()


# What is refused


def test_nothing_changed(sealed):
    """`change` alone is no reason: the file may be written again, in other row groups."""
    change(sealed, lambda cells: None)
    pq.write_table(pq.read_table(sealed), sealed, row_group_size=7)
    decrypt_column(sealed, sealed, "secret", KEY)
    plain = pq.read_table(sealed.with_name("plain.parquet"))
    assert pq.read_table(sealed).equals(plain, check_metadata=True)


@pytest.mark.parametrize("where", [0, -1, -16, -17], ids=["first", "tag", "tag-first", "last"])
@pytest.mark.parametrize("which", [0, 40, -1])
def test_one_bit(sealed, which, where):
    row = rows_with_text(sealed)[which]

    def flip(cells: list) -> None:
        cell = bytearray(cells[row])
        cell[where] ^= 0x10
        cells[row] = bytes(cell)

    change(sealed, flip)
    refused(sealed, rf"column 'secret', row {row}: the cell was changed")


def test_swapped_cells(sealed):
    rows = rows_with_text(sealed)
    first, second = rows[7], rows[90]  # of two row groups

    def swap(cells: list) -> None:
        cells[first], cells[second] = cells[second], cells[first]

    change(sealed, swap)
    refused(sealed, rf"row {first}: ")


@pytest.mark.parametrize("size", [0, 1, 15])
def test_a_cell_too_short_for_a_tag(sealed, size):
    row = rows_with_text(sealed)[3]

    def cut(cells: list) -> None:
        cells[row] = cells[row][:size]

    change(sealed, cut)
    refused(sealed, rf"row {row}: the cell was changed")


def test_cell_of_another_file_with_the_same_key(sealed):
    other = sealed.with_name("other.parquet")
    encrypt_column(sealed.with_name("plain.parquet"), other, "secret", KEY)
    row = rows_with_text(sealed)[11]
    cell = pq.read_table(other).column("secret")[row].as_py()
    change(sealed, lambda cells: cells.__setitem__(row, cell))
    refused(sealed, rf"row {row}: ")


@pytest.mark.parametrize("left", [249, 200, 0])
def test_rows_cut_at_the_end(sealed, left):
    change(sealed, lambda cells: cells.__delitem__(slice(left, None)))
    refused(sealed, f"rows were cut or added, or nulls were changed, among the {left} rows")


def test_row_cut_in_the_middle(sealed):
    row = rows_with_text(sealed)[5]
    change(sealed, lambda cells: cells.__delitem__(row))
    refused(sealed, "the cell was changed, or belongs elsewhere")


def test_cell_made_null(sealed):
    row = rows_with_text(sealed)[5]
    change(sealed, lambda cells: cells.__setitem__(row, None))
    refused(sealed, "nulls were changed")


def test_null_filled(sealed):
    cells = pq.read_table(sealed).column("secret").to_pylist()
    row = cells.index(None)
    change(sealed, lambda cells: cells.__setitem__(row, bytes(40)))
    refused(sealed, rf"row {row}: ")


def test_row_groups_in_another_order(sealed):
    change(sealed, lambda cells: cells.__setitem__(slice(0, 200), cells[100:200] + cells[:100]))
    refused(sealed, "the cell was changed, or belongs elsewhere")


@pytest.mark.parametrize(
    "changed",
    [
        {"type": "binary"},
        {"type": "int32"},
        {"type": b"\xff"},
        {"algorithm": "authenc(hmac(md5),cbc(des))"},
        {"salt": "00" * 32},
        {"salt": "no digits"},
        {"salt": b"\xff"},
        {"check": "00" * 32},
        {"check": b"\xff"},
        {"seal": "00" * 32},
        {"seal": ""},
        {"seal": b"\xff"},
    ],
    ids=str,
)
def test_changed_metadata(sealed, changed):
    table = pq.read_table(sealed)
    field = table.schema.field("secret")
    metadata = field.metadata | {f"cryptodispatch:{k}".encode(): v for k, v in changed.items()}
    index = table.schema.get_field_index("secret")
    pq.write_table(
        table.set_column(index, field.with_metadata(metadata), table.column("secret")), sealed
    )
    said = "rows were cut or" if "seal" in changed else "another key, or its name, type or metadata"
    refused(sealed, said)


def test_renamed_column(sealed):
    table = pq.read_table(sealed)
    pq.write_table(table.rename_columns(["id", "other", "list"]), sealed)
    with pytest.raises(cd.AuthenticationError, match=r"column 'other': .*another key, or its name"):
        decrypt_column(sealed, sealed, "other", KEY)


@pytest.mark.parametrize("key", [bytes(32), KEY[:31], KEY + b"\0"])
def test_another_key(sealed, key):
    target = sealed.with_name("back.parquet")
    target.write_bytes(b"what was there")
    with pytest.raises(cd.AuthenticationError, match="another key"):
        decrypt_column(sealed, target, "secret", key)
    assert target.read_bytes() == b"what was there"


@pytest.mark.parametrize("name", ["plain.parquet", "sealed.parquet"])
def test_broken_file(sealed, name):
    """Nothing is left when reading fails half-way, whoever of us finds it."""
    path = sealed.with_name(name)
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(1)
    data = bytearray(path.read_bytes())
    data[chunk.data_page_offset : chunk.data_page_offset + 40] = b"\xff" * 40
    path.write_bytes(data)
    before = sorted(path.parent.iterdir())
    with pytest.raises((OSError, pa.ArrowException)):
        (encrypt_column if name.startswith("plain") else decrypt_column)(
            path, path.with_name("new.parquet"), "secret", KEY
        )
    assert sorted(path.parent.iterdir()) == before


def test_column_of_no_use(sealed):
    plain = sealed.with_name("plain.parquet")
    target = sealed.with_name("new.parquet")
    for run, path, column, said in [
        (encrypt_column, plain, "id", "column 'id': type int64 was given, binary, string, large_"),
        (encrypt_column, plain, "list", r"column 'list': type list<.*> was given"),
        (encrypt_column, plain, "none", "there is none of the name; the file has 'id', 'secret'"),
        (encrypt_column, sealed, "secret", "column 'secret': it is encrypted already"),
        (decrypt_column, plain, "secret", "column 'secret': it is not encrypted"),
    ]:
        with pytest.raises(ColumnError, match=said):
            run(path, target, column, KEY)
        assert not target.exists()
    with pytest.raises(ColumnError, match="key: 15 bytes were given, 16 or more are needed"):
        encrypt_column(plain, target, "secret", bytes(15))
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["same", "same"])
    pq.write_table(twice, plain)
    with pytest.raises(ColumnError, match="more than one has the name"):
        encrypt_column(plain, target, "same", KEY)
    assert not target.exists()


# The command


def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cryptodispatch.examples.parquet_column", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=os.environ | variables,
    )


def test_command(tmp_path):
    source = write(tmp_path / "plain.parquet", pa.array(texts(250), pa.string()))
    middle, back, key = (tmp_path / name for name in ("e.parquet", "d.parquet", "key"))
    key.write_bytes(KEY)
    back.touch(mode=0o600)
    done = run("encrypt", "--column", "secret", "--key-file", key, "--json", source, middle)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["operation"], said["column"], said["rows"]) == ("encrypt", "secret", 250)
    arguments = ("decrypt", "--column", "secret", middle, back)
    done = run(*arguments, CRYPTODISPATCH_COLUMN_KEY_HEX=KEY.hex())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("decrypt secret: 250 rows, ")
    assert pq.read_table(back).equals(pq.read_table(source), check_metadata=True)
    assert back.stat().st_mode & 0o777 == 0o600
    assert middle.stat().st_mode == source.stat().st_mode
    back.unlink()
    done = run(*arguments, "--key-hex", bytes(32).hex(), CRYPTODISPATCH_COLUMN_KEY_HEX=KEY.hex())
    assert done.returncode == 1
    assert done.stderr.startswith("Error: column 'secret': it was encrypted with another key")
    assert sorted(tmp_path.iterdir()) == sorted([source, middle, key])


def test_command_exit_status(tmp_path):
    source = write(tmp_path / "plain.parquet", pa.array(["a"]))
    (tmp_path / "text").write_text("no Parquet file")
    target, key = tmp_path / "new.parquet", ("--key-hex", KEY.hex())
    column = ("--column", "secret")
    for status, said, arguments in [
        (2, "there is none of the name", ("encrypt", "--column", "x", *key, source, target)),
        (2, "CRYPTODISPATCH_COLUMN_KEY_HEX: one of", ("encrypt", *column, source, target)),
        (2, "only one", ("encrypt", *column, *key, "--key-file", source, source, target)),
        (2, "even number", ("encrypt", *column, "--key-hex", "0", source, target)),
        (2, "16 or more", ("encrypt", *column, "--key-hex", "00", source, target)),
        (2, "it is not encrypted", ("decrypt", *column, *key, source, target)),
        (2, "does not exist", ("encrypt", *column, *key, tmp_path / "none", target)),
        (1, "Parquet", ("encrypt", *column, *key, tmp_path / "text", target)),
        (1, "No such file", ("encrypt", *column, *key, source, tmp_path / "none" / "new")),
        (2, "no file that can be", ("encrypt", *column, *key, source, "/dev/null")),
    ]:
        done = run(*arguments)
        assert (done.returncode, said in done.stderr) == (status, True), (arguments, done.stderr)
        assert "Traceback" not in done.stderr
        assert not target.exists()


def test_without_pyarrow(tmp_path):
    """The command and the import say which extra is missing."""
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('none', name='pyarrow')\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run("--help", PYTHONPATH=paths)
    said = "pyarrow is not installed: pip install 'cryptodispatch[parquet]'"
    assert (done.returncode, done.stderr) == (1, f"Error: {said}\n")
    program = "from cryptodispatch.examples import parquet_column"
    done = subprocess.run(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        check=False,
        env=os.environ | {"PYTHONPATH": paths},
    )
    assert done.stderr.decode().endswith(f"ImportError: {said}\n")
