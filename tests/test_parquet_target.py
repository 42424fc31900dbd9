"""The Parquet example does not write over what it was not asked to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("numpy")

from cryptodispatch.examples import parquet_column  # noqa: E402 - needs pyarrow

KEY = bytes(range(32))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"secret": ["a"]}), path)
    return path


def test_the_command_replaces_its_source_only_if_told(tmp_path: Path, source: Path) -> None:
    link = tmp_path / "link"
    link.hardlink_to(source)
    arguments = ["encrypt", "--column", "secret", "--key-hex", KEY.hex(), str(source)]
    before = source.read_bytes()
    for target in (source, link):
        done = CliRunner().invoke(parquet_column.command, [*arguments, str(target)])
        assert done.exit_code == 2
        assert f"TARGET: {target} is SOURCE; --in-place replaces it" in done.output
        assert source.read_bytes() == before
    done = CliRunner().invoke(parquet_column.command, [*arguments, str(source), "--in-place"])
    assert done.exit_code == 0, done.output
    assert source.read_bytes() != before
    assert link.read_bytes() == before


def test_a_read_only_target_is_kept(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "new"
    target.write_text("kept")
    target.chmod(0o444)
    if os.geteuid() == 0:  # who may write everything
        monkeypatch.setattr(os, "access", lambda *_arguments: False)
    with pytest.raises(PermissionError) as caught:
        parquet_column.encrypt_column(source, target, "secret", KEY)
    assert caught.value.filename == str(target)
    assert target.read_text() == "kept"
    assert sorted(tmp_path.iterdir()) == [target, source]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path, source: Path) -> None:
    for target in (tmp_path / "none" / "new", source / "new"):
        with pytest.raises(OSError, match=r"No such file|Not a directory") as caught:
            parquet_column.encrypt_column(source, target, "secret", KEY)
        assert caught.value.filename == str(target)
    arguments = ["encrypt", "--column", "secret", "--key-file", "/dev/zero", str(source), "new"]
    done = CliRunner().invoke(parquet_column.command, arguments)
    assert done.exit_code == 2
    assert "--key-file: /dev/zero has more than 1048576 bytes" in done.output
