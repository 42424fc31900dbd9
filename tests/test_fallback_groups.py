"""The group table: the engine's own, and tables that are refused (semantics, section 2)."""

from __future__ import annotations

import pytest
from fallback_support import AN7581, group

import cryptodispatch as cd
from cryptodispatch import eip93


def test_the_table_of_the_engine() -> None:
    assert [row.name for row in eip93.GROUPS] == list(AN7581)
    raw_aes = eip93.GROUPS[0]
    assert raw_aes.algorithm == "rfc3686(ctr(aes))"
    assert raw_aes.driver == "rfc3686(ctr(aes-eip93))"
    assert raw_aes.key.hex() == "2b7e151628aed2a6abf7158809cf4f3c" + "00000001"
    assert set(raw_aes.members) == {
        "ecb(aes-eip93)",
        "cbc(aes-eip93)",
        "ctr(aes-eip93)",
        "rfc3686(ctr(aes-eip93))",
    }


def test_every_driver_is_in_exactly_one_group(device: eip93.Device) -> None:
    members = [member for row in eip93.GROUPS for member in row.members]
    engine = [entry.driver for entry in cd.algorithms() if "eip93" in entry.driver]
    assert sorted(members) == sorted(engine)
    assert len(set(members)) == 32
    for row in eip93.GROUPS:
        assert row.driver in row.members


def test_keys_of_the_measurements() -> None:
    rows = {row.name: row for row in eip93.GROUPS}
    des = "0123456789abcdef"
    assert rows["raw_des"].key.hex() == rows["authenc_des"].key.hex() == des
    assert rows["raw_3des"].key == rows["authenc_3des"].key
    assert rows["raw_3des"].key.hex() == des + "23456789abcdef01" + "456789abcdef0123"
    assert rows["authenc_aes"].key == rows["raw_aes"].key
    for name, row in rows.items():
        if name.startswith("hash_"):
            assert (row.type, row.key) == ("hash", b"\x0b" * 16)
        elif name.startswith("authenc_"):
            assert (row.type, row.auth_key, row.tag_size) == ("aead", b"\x0b" * 16, 16)


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({"name": ""}, "name"),
        ({"name": "enabled"}, "'enabled'.*name"),
        ({"type": "skcipher"}, "'pair'.*type"),
        ({"algorithm": ""}, "'pair'.*algorithm"),
        ({"driver": ""}, "'pair'.*driver"),
        ({"key": b""}, "'pair'.*key"),
        ({"members": ()}, "'pair'.*member"),
        ({"members": ("",)}, "'pair'.*member"),
        ({"members": ("x", "x")}, "'pair'.*member"),
        ({"driver": "a\0b"}, "'pair'.*driver"),
        ({"type": "aead"}, "'pair'.*(tag_size|auth_key)"),
        ({"type": "aead", "auth_key": b"k", "tag_size": 0}, "'pair'.*tag_size"),
        ({"tag_size": -1}, "'pair'.*tag_size"),
    ],
)
def test_malformed_rows(changes: dict[str, object], pattern: str) -> None:
    before = cd.algorithms()
    with pytest.raises((ValueError, TypeError), match=pattern):
        cd.Fallback("test", [group(), group(name="ok", members=("y",)), group(**changes)][2:])
    assert cd.algorithms() == before


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match=r"groups\[0\]"):
        cd.Fallback("test", ["raw_aes"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"'pair'.*members"):
        cd.Fallback("test", [group(members="cbc(aes-eip93)")])
    with pytest.raises(TypeError, match=r"'pair'.*driver"):
        cd.Fallback("test", [group(driver=5)])


def test_names_are_unique() -> None:
    with pytest.raises(ValueError, match="pair"):
        cd.Fallback("test", [group(), group(members=("other",))])


def test_empty_table() -> None:
    with pytest.raises(ValueError, match="group"):
        cd.Fallback("test", [])
