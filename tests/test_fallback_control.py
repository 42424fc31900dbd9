"""The control attributes of a fallback, as text and as properties (semantics, section 7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import cryptodispatch as cd
from cryptodispatch import eip93


@pytest.fixture
def device() -> Iterator[eip93.Device]:
    with eip93.Device.emulated("an7581") as opened:
        yield opened


@pytest.mark.parametrize("text", ["1", "y", "yes", "on", "t", "Y", "YES", "On", "T", "1\n", "true"])
def test_enabled_accepts_true(device: eip93.Device, text: str) -> None:
    assert device.fallback.read("enabled") == "0\n"
    device.fallback.write("enabled", text)
    assert device.fallback.enabled
    assert device.fallback.read("enabled") == "1\n"
    assert device.fallback.read("raw_aes") == "512\n"


@pytest.mark.parametrize(
    "text", ["0", "n", "no", "off", "f", "N", "NO", "Off", "F", "0\n", "false"]
)
def test_enabled_accepts_false(device: eip93.Device, text: str) -> None:
    device.fallback.enable()
    device.fallback.write("enabled", text)
    assert not device.fallback.enabled


@pytest.mark.parametrize("text", ["", "2", "maybe", "yess", "1 ", " 1", "on off", b"1\0"])
def test_enabled_refuses(device: eip93.Device, text: str | bytes) -> None:
    with pytest.raises(ValueError, match="enabled"):
        device.fallback.write("enabled", text)
    assert not device.fallback.enabled


# R051: the whole table of inputs.
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("512", 512),
        ("512\n", 512),
        ("0", 0),
        ("0x200", 512),
        ("-1", -1),
        ("010", 8),
        ("2147483647", 2**31 - 1),
    ],
)
def test_r051_accepted(device: eip93.Device, text: str, value: int) -> None:
    device.fallback.write("raw_aes", text)
    assert device.fallback["raw_aes"].threshold == value
    assert device.fallback.read("raw_aes") == f"{value}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "abc",
        "512 bytes",
        "1.5",
        "\n",
        "0x",
        "- 1",
        "--1",
        "5" * 1025,
        b"5\0",
        b"512\0\n",
        b"\xff",
        "-2",
        "99999999999999999999",
        "2147483648",
        "-2147483649",
        "-99999999999999999999",
    ],
)
def test_r051_refused(device: eip93.Device, text: str | bytes) -> None:
    device.fallback["raw_aes"].threshold = 77
    with pytest.raises(ValueError, match="raw_aes"):
        device.fallback.write("raw_aes", text)
    assert device.fallback["raw_aes"].threshold == 77


def test_unknown_attribute(device: eip93.Device) -> None:
    allowed = ", ".join(["enabled", *(row.name for row in eip93.GROUPS)])
    for call in (
        lambda: device.fallback.read("raw"),
        lambda: device.fallback.write("raw", "1"),
    ):
        with pytest.raises(ValueError, match=f"'raw' was given, {allowed} are allowed"):
            call()
    with pytest.raises(KeyError):
        device.fallback["raw"]
    with pytest.raises(TypeError):
        device.fallback.write("raw_aes", 5)  # type: ignore[arg-type]


def test_property_checks(device: eip93.Device) -> None:
    raw_aes = device.fallback["raw_aes"]
    for bad in (-2, 2**31, 2**70, -(2**70)):
        with pytest.raises(ValueError, match=f"threshold: {bad} was given"):
            raw_aes.threshold = bad
    for wrong in ("512", 1.5, None):
        with pytest.raises(TypeError):
            raw_aes.threshold = wrong  # type: ignore[assignment]
    with pytest.raises(TypeError, match="enabled: int"):
        device.fallback.enabled = 1  # type: ignore[assignment]
    device.fallback.enabled = True
    assert device.fallback.thresholds["raw_aes"] == 512
    device.fallback.enabled = False


def test_value_written_while_off_is_stored_not_in_force(device: eip93.Device) -> None:
    raw_aes = device.fallback["raw_aes"]
    device.fallback.enable()
    cipher = cd.Cipher("cbc(aes)", bytes(16))
    device.fallback.disable()
    raw_aes.threshold = -1
    assert device.fallback.read("raw_aes") == "-1\n"
    before = raw_aes.hardware_requests
    cipher.encrypt(bytes(16), bytes(16))
    assert raw_aes.hardware_requests == before + 1
    assert device.fallback.enable()["raw_aes"] == 512


def test_reads_do_not_wait_for_measuring(device: eip93.Device) -> None:
    seen: list[str] = []

    def look(progress: cd.Progress) -> None:
        seen.append(device.fallback.read("raw_aes") + device.fallback.read("enabled"))

    device.fallback.enable(progress=look)
    assert len(seen) > 9
    assert set(seen) == {"0\n0\n"}
