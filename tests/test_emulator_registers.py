"""The emulated chip's registers through the Python class, by literal offsets."""

import re
import threading
import time
from pathlib import Path

import pytest

from cryptodispatch import _emulator
from cryptodispatch._errors import DeviceError
from cryptodispatch.eip93 import Emulator, EmulatorCounters, Event

ROOT = Path(__file__).resolve().parents[1]

OPTION_1 = {
    "93i": 0x00022005,
    "93ie": 0x000EE005,
    "93is": 0x00032007,
    "93ies": 0x000FE007,
    "93iw": 0x30822005,
}
RESET_VALUES = {
    0x000: 0x00000002,
    0x01C: 0x00800000,
    0x080: 0,
    0x088: 0,
    0x090: 0,
    0x094: 0,
    0x098: 0,
    0x100: 0,
    0x104: 0x0000001F,
    0x10C: 0,
    0x110: 0,
    0x1CC: 0x00E400E4,
    0x1D0: 0x00E400E4,
    0x1E8: 0x0000001F,
    0x1F8: 0,
    0x1FC: 0x0210A25D,
    0x200: 0x00000001,
    0x204: 0,
    0x208: 0,
}


@pytest.fixture
def chip():
    with Emulator() as emulator:
        yield emulator


@pytest.mark.parametrize("variant", OPTION_1)
def test_variant(variant):
    with Emulator(variant=variant) as chip:
        assert chip.read32(0x1F4) == OPTION_1[variant]


def test_reset_values(chip):
    assert {offset: chip.read32(offset) for offset in RESET_VALUES} == RESET_VALUES
    for offset in RESET_VALUES:
        chip.write32(offset, 0xFFFFFFFF)
    chip.reset()
    assert {offset: chip.read32(offset) for offset in RESET_VALUES} == RESET_VALUES


def test_inbuf_count_is_not_config(chip):
    """R013: the register typo of the public report."""
    chip.write32(0x100, 0x00000700)
    chip.write32(0x110, 0x40)
    assert chip.read32(0x100) == 0x00000700
    assert chip.read32(0x110) == 0


@pytest.mark.parametrize("size", [1, 2, 8])
def test_other_sizes_are_guest_errors(chip, size):
    """R013: 1, 2 and 8 byte accesses give the documented value."""
    assert chip.read(0x1FC, size) == 0
    chip.write(0x080, 0xFFFFFFFF, size)
    assert chip.read32(0x080) == 0
    assert chip.read32(0x200) == 0x00040001
    assert chip.counters.guest_errors == 2
    assert chip.read(0x1FC, 4) == 0x0210A25D


@pytest.mark.parametrize("offset", [0x081, 0x082, 0x1000, 0xFFFFFFFF])
def test_other_places_are_guest_errors(chip, offset):
    assert chip.read32(offset) == 0
    chip.write32(offset, 1)
    assert chip.read32(0x200) == 0x00040001


def test_unlisted_offsets_read_zero(chip):
    chip.write32(0x020, 1)
    assert chip.read32(0x020) == 0
    assert chip.read32(0x200) == 1
    assert chip.counters.guest_errors == 2


def test_what_is_not_modelled_is_counted(chip):
    chip.trace(8)
    chip.write32(0x090, 1)  # a doorbell outside autonomous ring mode
    assert chip.counters.unimplemented == 1
    assert chip.take_trace() == [Event(ticks=0, name="unimplemented", value=0x090)]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"variant": "94"}, ValueError, "variant: '94' was given, 93i, 93ie"),
        ({"variant": 93}, TypeError, "variant: int was given, str"),
        ({"pace": "slow"}, ValueError, "pace: 'slow' was given, free, paced, virtual"),
        ({"memory": 1}, ValueError, "memory: 1 was given, 65536 to 268435456"),
        ({"memory": 65537}, ValueError, "memory: 65537 was given, multiples of 4096"),
        ({"memory": 1e6}, TypeError, "memory: float was given, int"),
        ({"cost": {"speed": 1}}, ValueError, "cost: 'speed' was given, clock_hz"),
        ({"cost": {"clock_hz": 0}}, ValueError, r"cost\['clock_hz'\]: 0 was given, 1000 to 4"),
        ({"cost": {"sa_read_ticks": -1}}, ValueError, r"cost\['sa_read_ticks'\]: -1 was given"),
        ({"cost": {"sa_read_ticks": (1, 2, 3)}}, TypeError, "tuple was given, int is needed"),
        ({"cost": {"aes_block_ticks": 61}}, TypeError, "int was given, three int"),
        ({"cost": {"aes_block_ticks": (1, 2)}}, ValueError, "2 numbers were given, three"),
        ({"cost": {"doorbell_ps": 1 << 41}}, ValueError, "0 to 1099511627776 are allowed"),
        ({"cost": {"dma_bytes_per_tick": 0}}, ValueError, "0 was given, 1 to 4294967295"),
    ],
)
def test_wrong_construction(arguments, error, text):
    with pytest.raises(error, match=text):
        Emulator(**arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "error", "text"),
    [
        ("read32", (-1,), ValueError, "offset: -1 was given, 0 to 4294967295"),
        ("read32", ("0",), TypeError, "offset: str was given, int"),
        ("write32", (0, 1 << 32), ValueError, "value: 4294967296 was given"),
        ("read", (0, 3), ValueError, "size: 3 was given, 1, 2, 4 or 8"),
        ("step", (-1,), ValueError, "ticks: -1 was given"),
        ("irq_wait", ("1",), TypeError, "timeout_s: str was given"),
        ("irq_wait", (-0.5,), ValueError, "timeout_s: -0.5 was given, 0 to 1e9"),
        ("irq_wait", (float("nan"),), ValueError, "timeout_s: nan was given"),
        ("map", (b"abc", "in"), ValueError, "direction: 'in' was given, to_device"),
        ("map", ("abc", "to_device"), TypeError, "buffer: str was given, a contiguous buffer"),
        ("map", (b"abc", "from_device"), TypeError, "buffer: bytes was given, .* writable"),
        ("map", (b"", "to_device"), ValueError, "buffer: 0 bytes were given, 1 to 1048575"),
        ("map", (bytes(1 << 20), "to_device"), ValueError, "buffer: 1048576 bytes were given"),
        ("unmap", (0x80000000,), ValueError, "address: 0x80000000 was given, one that map"),
        ("read_memory", (0, 1), ValueError, "address: 0x0 was given, and not all of 1 bytes"),
        ("read_memory", (0x100FFFFF, 2), ValueError, "address: 0x100fffff"),
        ("write_memory", (0x100FFFFF, b"12"), ValueError, "address: 0x100fffff"),
        ("trace", (65537,), ValueError, "entries: 65537 was given, 0 to 65536"),
        ("inject", ("fire",), ValueError, "fault: 'fire' was given, dma_read"),
    ],
)
def test_wrong_arguments(chip, name, arguments, error, text):
    with pytest.raises(error, match=text):
        getattr(chip, name)(*arguments)


def test_mapped_buffers_are_held(chip):
    """R101: a buffer cannot go away while the engine may reach it."""
    buffer = bytearray(b"abcd")
    address = chip.map(buffer, "bidirectional")
    assert chip.read_memory(address, 4) == b"abcd"
    chip.write_memory(address + 1, b"xy")
    assert buffer == b"axyd"
    with pytest.raises(BufferError):
        buffer.append(0)
    chip.unmap(address)
    buffer.append(0)
    with pytest.raises(ValueError, match="address"):
        chip.unmap(address)


def test_to_device_buffers_stay_as_they_are(chip):
    data = b"constant"
    address = chip.map(data, "to_device")
    with pytest.raises(ValueError, match="address"):
        chip.write_memory(address, b"X")
    assert data == b"constant"


def test_windows_run_out(chip):
    addresses = [chip.map(b"x", "to_device") for _ in range(4096 + 1228)]
    assert len(set(addresses)) == 4096 + 1228
    with pytest.raises(DeviceError, match="no window is left"):
        chip.map(b"x", "to_device")


def test_close():
    chip = Emulator()
    buffer = bytearray(4)
    chip.map(buffer, "bidirectional")
    chip.start_thread()
    assert not chip.closed
    chip.close()
    chip.close()
    assert chip.closed
    buffer.append(1)
    for use in (
        lambda: chip.read32(0),
        lambda: chip.step(1),
        lambda: chip.irq,
        lambda: chip.counters,
        lambda: chip._bus_address,
        lambda: chip.map(b"x", "to_device"),
        chip.__enter__,
        chip.reset,
    ):
        with pytest.raises(DeviceError, match="closed"):
            use()


def test_bus_address_is_stable(chip):
    assert chip._bus_address == chip._bus_address != 0


def test_close_while_another_thread_waits():
    chip = Emulator()
    done = threading.Event()

    def wait():
        chip.irq_wait(0.2)
        done.set()

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    chip.close()
    thread.join()
    assert done.is_set()


def test_waits_are_bounded(chip):
    before = time.monotonic()
    assert chip.irq_wait(0.02) is False
    assert 0.02 <= time.monotonic() - before < 5
    with Emulator(pace="virtual") as virtual:
        assert virtual.irq_wait(1000.0) is False  # at once: only its own clock moves
        assert virtual.ticks == 250_000_000_000


def test_virtual_has_no_thread():
    with Emulator(pace="virtual") as chip, pytest.raises(ValueError, match="pace: virtual"):
        chip.start_thread()


def test_thread_starts_once(chip):
    chip.start_thread(max_delay_us=1, seed=2)
    with pytest.raises(DeviceError, match="runs already"):
        chip.start_thread()
    chip.stop_thread()
    chip.start_thread()


def test_counters_start_at_zero(chip):
    assert chip.counters == EmulatorCounters(0, 0, 0, 0, 0, 0, 0, 0)


def test_constants_are_those_of_the_headers():
    """The hand-kept cdef against the C headers' text."""
    text = "".join(
        (ROOT / "csrc" / "include" / "cryptodispatch" / name).read_text()
        for name in ("eip93_emulator.h", "eip93_bus.h", "status.h")
    )
    numbers = {
        name: int(value, 0)
        for name, value in re.findall(r"\b(CD_\w+)(?: =)? (-?(?:0x)?[0-9A-Fa-f]+)u?\b", text)
    }
    names = re.findall(
        r"#define (CD_\w+) \.\.\.", (ROOT / "pyext" / "emulator_cdef.txt").read_text()
    )
    assert len(names) >= 30
    for name in names:
        assert getattr(_emulator.lib, name) == numbers[name], name
