"""The emulated EIP-93: its registers, its memory, its interrupt line, its sense of time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, SupportsIndex

from cryptodispatch._arguments import choice, integer
from cryptodispatch._emulator import ffi, lib
from cryptodispatch._errors import DeviceError

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from cryptodispatch._emulator import _CData

__all__ = ["Emulator", "EmulatorCounters", "Event"]

_VARIANTS = {
    "93i": lib.CD_EIP93_93I,
    "93ie": lib.CD_EIP93_93IE,
    "93is": lib.CD_EIP93_93IS,
    "93ies": lib.CD_EIP93_93IES,
    "93iw": lib.CD_EIP93_93IW,
}
_PACES = {
    "free": lib.CD_EIP93_FREE,
    "paced": lib.CD_EIP93_PACED,
    "virtual": lib.CD_EIP93_VIRTUAL,
}
_DIRECTIONS = {
    "to_device": lib.CD_DMA_TO_DEVICE,
    "from_device": lib.CD_DMA_FROM_DEVICE,
    "bidirectional": lib.CD_DMA_BIDIRECTIONAL,
}
_FAULTS = {
    "dma_read": lib.CD_EIP93_FAULT_DMA_READ,
    "dma_write": lib.CD_EIP93_FAULT_DMA_WRITE,
    "late": lib.CD_EIP93_FAULT_LATE,
    "lost": lib.CD_EIP93_FAULT_LOST,
    "hang": lib.CD_EIP93_FAULT_HANG,
    "no_interrupt": lib.CD_EIP93_FAULT_NO_INTERRUPT,
    "wrong_id": lib.CD_EIP93_FAULT_WRONG_ID,
    "status": lib.CD_EIP93_FAULT_STATUS,
    "half_owned": lib.CD_EIP93_FAULT_HALF_OWNED,
    "map": lib.CD_EIP93_FAULT_MAP,
}
_UINT32 = 0xFFFFFFFF
_UINT64 = 0xFFFFFFFFFFFFFFFF
_MEMORY_MIN, _MEMORY_MAX, _MEMORY_STEP = 0x10000, 0x10000000, 4096
_MAP_MAX = 0xFFFFF
_TRACE_MAX = 65536
_HOST_PS_MAX = 1 << 40
_CLOCK_HZ = (1000, 4_000_000_000)
_COST_FIELDS = tuple(name for name, _ in ffi.typeof("struct cd_eip93_cost").fields)
_COUNTERS = tuple(name for name, _ in ffi.typeof("struct cd_eip93_emulator_counters").fields)


@dataclass(frozen=True, slots=True)
class Event:
    """Something the chip went through.

    Attributes:
        ticks: engine clocks since the emulator was made.
        name: as ``"fetch"``, ``"read_sa"`` or ``"write_result"``.
        value: what the event is about: an index, an address, a number of bytes, a status.
    """

    ticks: int
    name: str
    value: int


@dataclass(frozen=True, slots=True)
class EmulatorCounters:
    """What the chip did since it was made.

    Attributes:
        packets: result descriptors written (or tried).
        errors: of those, with a status other than 0.
        doorbells: writes to PE_CD_COUNT.
        interrupts: times the line went from low to high.
        guest_errors: accesses and addresses that a driver should not use.
        unimplemented: uses of parts of the chip that the model does not do.
        bytes_read: packet data by DMA.
        bytes_written: packet data by DMA.
    """

    packets: int
    errors: int
    doorbells: int
    interrupts: int
    guest_errors: int
    unimplemented: int
    bytes_read: int
    bytes_written: int


class Emulator:
    """One EIP-93 chip; a context manager. Any method may be called from any thread.

    Args:
        variant: ``"93i"``, ``"93ie"``, ``"93is"``, ``"93ies"`` or ``"93iw"``: what OPTION_1 offers.
        pace: ``"free"`` runs as fast as it can, ``"paced"`` never completes sooner than the
            modelled time on this host's clock, ``"virtual"`` passes it on a virtual clock.
        memory: bytes of chip-side RAM at bus address 0x10000000: 65536 to 2**28, in steps of 4096.
        cost: fields of ``struct cd_eip93_cost`` that replace the default model's (engine clocks,
            and picoseconds of the host).
        basic_icv_check: compare the tag of basic hash-decrypt.
        stop_on_length_error: after a length or processing error, stop until the engine is reset.
        zero_length_count: a zero-length hash adds the digest size to the byte count.

    Raises:
        TypeError, ValueError: an argument is not of that form.
        MemoryError: there is not enough memory.
    """

    def __init__(
        self,
        *,
        variant: str = "93ies",
        pace: str = "free",
        memory: int = 1 << 20,
        cost: Mapping[str, int | tuple[int, int, int]] | None = None,
        basic_icv_check: bool = False,
        stop_on_length_error: bool = False,
        zero_length_count: bool = False,
    ) -> None:
        """Power the chip up."""
        self._chip: _CData = None
        self._keep: _CData = None
        self._bus: _CData = None
        self._mapped: dict[int, _CData] = {}
        memory = integer("memory", memory, _MEMORY_MIN, _MEMORY_MAX)
        if memory % _MEMORY_STEP:
            raise ValueError(f"memory: {memory} was given, multiples of {_MEMORY_STEP} are allowed")
        config = {
            "variant": choice("variant", variant, _VARIANTS),
            "pace": choice("pace", pace, _PACES),
            "memory_len": memory,
            "cost": _cost(cost),
            "strap_basic_icv_check": bool(basic_icv_check),
            "strap_stop_on_length_error": bool(stop_on_length_error),
            "strap_zero_length_count": bool(zero_length_count),
        }
        out = ffi.new("struct cd_eip93_emulator **")
        status = lib.cd_eip93_emulator_new(
            out, ffi.new("struct cd_eip93_emulator_config *", config)
        )
        if status == lib.CD_E_NO_MEMORY:
            raise MemoryError(f"memory: {memory} bytes cannot be had")
        _check(status, "the emulator cannot be made")
        self._chip = ffi.gc(out[0], lib.cd_eip93_emulator_free, size=memory)

    def __enter__(self) -> Self:
        """Return the emulator."""
        if self.closed:
            raise DeviceError("emulator: it is closed")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Stop the thread, unmap every buffer and give the chip up. Closing twice does nothing.

        A driver that was given the bus keeps the chip's memory alive, not its use.
        """
        chip, self._chip = self._chip, None
        if chip is None:
            return
        lib.cd_eip93_emulator_stop_thread(chip)
        for address in list(self._mapped):
            self._unmap(chip, address)
        if self._bus is not None:
            self._keep = chip

    @property
    def closed(self) -> bool:
        """True after ``close``."""
        return self._chip is None

    def reset(self) -> None:
        """Reset the hardware: registers as at power-on, work dropped; memory and mappings stay."""
        lib.cd_eip93_emulator_reset(self._open())

    # Registers

    def read32(self, offset: SupportsIndex) -> int:
        """Read a register.

        Args:
            offset: bytes; not a multiple of 4 or above 0xFFC is an error of the guest: 0, and
                INTERFACE_ERR latches.
        """
        return lib.cd_eip93_emulator_read32(self._open(), integer("offset", offset, 0, _UINT32))

    def write32(self, offset: SupportsIndex, value: SupportsIndex) -> None:
        """Write a register; `offset` as in ``read32``, `value` of 32 bits."""
        lib.cd_eip93_emulator_write32(
            self._open(),
            integer("offset", offset, 0, _UINT32),
            integer("value", value, 0, _UINT32),
        )

    def read(self, offset: SupportsIndex, size: SupportsIndex) -> int:
        """Read as a bus master that makes accesses of 1, 2, 4 or 8 bytes; all but 4 are errors."""
        return lib.cd_eip93_emulator_read(
            self._open(), integer("offset", offset, 0, _UINT32), _access_size(size)
        )

    def write(self, offset: SupportsIndex, value: SupportsIndex, size: SupportsIndex) -> None:
        """Write as a bus master that makes accesses of 1, 2, 4 or 8 bytes; all but 4 are errors."""
        lib.cd_eip93_emulator_write(
            self._open(),
            integer("offset", offset, 0, _UINT32),
            integer("value", value, 0, _UINT64),
            _access_size(size),
        )

    # Memory

    def read_memory(self, address: SupportsIndex, length: SupportsIndex) -> bytes:
        """Read chip-side RAM or a mapped buffer.

        Raises:
            ValueError: there are not `length` bytes at the bus address.
        """
        address = integer("address", address, 0, _UINT32)
        length = integer("length", length, 0, _MEMORY_MAX)
        out = bytearray(length)
        status = lib.cd_eip93_emulator_read_memory(
            self._open(), ffi.from_buffer("uint8_t[]", out), address, length
        )
        _check_bus(status, address, length)
        return bytes(out)

    def write_memory(self, address: SupportsIndex, data: Buffer) -> None:
        """Write chip-side RAM or a mapped buffer that the device may write.

        Raises:
            ValueError: there is not room for `data` at the bus address.
        """
        address = integer("address", address, 0, _UINT32)
        with _view("data", data, writable=False) as view:
            status = lib.cd_eip93_emulator_write_memory(self._open(), address, view, len(view))
            _check_bus(status, address, len(view))

    def map(self, buffer: Buffer, direction: str) -> int:
        """Let the engine reach a buffer; its bus address.

        The buffer is held until ``unmap`` or ``close``: a bytearray cannot be resized meanwhile.

        Args:
            buffer: contiguous, 1 to 2**20 - 1 bytes; writable unless only the engine reads.
            direction: ``"to_device"``, ``"from_device"`` or ``"bidirectional"``; it is enforced.

        Raises:
            DeviceError: all windows are in use.
        """
        code = choice("direction", direction, _DIRECTIONS)
        chip = self._open()
        view = _view("buffer", buffer, writable=code != lib.CD_DMA_TO_DEVICE)
        if not 1 <= len(view) <= _MAP_MAX:
            raise ValueError(
                f"buffer: {len(view)} bytes were given, 1 to {_MAP_MAX} bytes are allowed"
            )
        out = ffi.new("uint32_t *")
        _check(lib.cd_eip93_emulator_map(chip, view, len(view), code, out), "no window is left")
        address: int = out[0]
        self._mapped[address] = view
        return address

    def unmap(self, address: SupportsIndex) -> None:
        """Take a mapped buffer away from the engine and let it go.

        Raises:
            ValueError: ``map`` did not return that address, or it is unmapped already.
        """
        address = integer("address", address, 0, _UINT32)
        chip = self._open()
        if address not in self._mapped:
            raise ValueError(f"address: {address:#x} was given, one that map returned is needed")
        self._unmap(chip, address)

    def _unmap(self, chip: _CData, address: int) -> None:
        view = self._mapped.pop(address, None)
        if view is not None:
            lib.cd_eip93_emulator_unmap(chip, address)
            ffi.release(view)

    # Time and interrupts

    def step(self, ticks: SupportsIndex) -> int:
        """Let `ticks` engine clocks pass; how many packets ended. Paced: do what is due."""
        return lib.cd_eip93_emulator_step(self._open(), integer("ticks", ticks, 0, _UINT64))

    @property
    def ticks(self) -> int:
        """Engine clocks since the emulator was made."""
        return lib.cd_eip93_emulator_ticks(self._open())

    @property
    def irq(self) -> bool:
        """True while the interrupt output is asserted."""
        return lib.cd_eip93_emulator_irq(self._open())

    def irq_wait(self, timeout_s: float) -> bool:
        """Wait for the interrupt line, and let the device run meanwhile.

        Args:
            timeout_s: seconds of the chip's clock (the virtual one's if virtual); 0 polls.

        Returns:
            True if the line is asserted, False after the timeout.
        """
        if not isinstance(timeout_s, int | float):
            raise TypeError(
                f"timeout_s: {type(timeout_s).__name__} was given, a number of seconds is needed"
            )
        if math.isnan(timeout_s) or not 0 <= timeout_s <= 1e9:
            raise ValueError(f"timeout_s: {timeout_s} was given, 0 to 1e9 seconds are allowed")
        status = lib.cd_eip93_emulator_irq_wait(self._open(), round(timeout_s * 1e9))
        return status == lib.CD_OK

    def start_thread(self, *, max_delay_us: SupportsIndex = 0, seed: SupportsIndex = 0) -> None:
        """Run the device in a thread of its own.

        Args:
            max_delay_us: before each packet, sleep up to that many microseconds.
            seed: of the pseudo-random delays.

        Raises:
            ValueError: the pace is virtual.
            DeviceError: it runs already.
        """
        status = lib.cd_eip93_emulator_start_thread(
            self._open(),
            integer("max_delay_us", max_delay_us, 0, _UINT32),
            integer("seed", seed, 0, _UINT64),
        )
        if status == lib.CD_E_INVALID:
            raise ValueError("pace: virtual was given, free or paced are allowed with a thread")
        if status == lib.CD_E_EXISTS:
            raise DeviceError("the thread runs already")
        _check(status, "the thread cannot be started")

    def stop_thread(self) -> None:
        """Stop the thread of ``start_thread``, if it runs."""
        lib.cd_eip93_emulator_stop_thread(self._open())

    # Trace, counters, faults

    def trace(self, entries: SupportsIndex) -> None:
        """Keep the last `entries` events, 0 to 65536; 0 stops tracing."""
        status = lib.cd_eip93_emulator_trace(
            self._open(), integer("entries", entries, 0, _TRACE_MAX)
        )
        _check(status, "no memory for the trace")

    def take_trace(self) -> list[Event]:
        """Return the kept events, oldest first, and forget them."""
        chip = self._open()
        entries = ffi.new("struct cd_eip93_trace_entry[]", _TRACE_MAX)
        count = lib.cd_eip93_emulator_trace_take(chip, entries, _TRACE_MAX)
        return [
            Event(entry.ticks, _event_name(entry.event), entry.value) for entry in entries[0:count]
        ]

    @property
    def counters(self) -> EmulatorCounters:
        """What was counted since the emulator was made."""
        counters = ffi.new("struct cd_eip93_emulator_counters *")
        lib.cd_eip93_emulator_counters(self._open(), counters)
        return EmulatorCounters(*(getattr(counters, name) for name in _COUNTERS))

    def inject(
        self,
        fault: str,
        *,
        skip: SupportsIndex = 0,
        count: SupportsIndex = 1,
        value: SupportsIndex = 0,
    ) -> None:
        """Let a fault strike; replaces an earlier injection of the same fault.

        Args:
            fault: ``"dma_read"``, ``"dma_write"``, ``"late"``, ``"lost"``, ``"hang"``,
                ``"no_interrupt"``, ``"wrong_id"``, ``"status"``, ``"half_owned"`` or ``"map"``.
            skip: packets (mappings for ``"map"``) that go well before.
            count: packets that are struck; 0 removes the injection.
            value: the status byte of ``"status"``; the bits of the id that ``"wrong_id"`` turns
                over, 0: all.
        """
        status = lib.cd_eip93_emulator_inject(
            self._open(),
            choice("fault", fault, _FAULTS),
            integer("skip", skip, 0, _UINT32),
            integer("count", count, 0, _UINT32),
            integer("value", value, 0, _UINT32),
        )
        _check(status, "the fault cannot be injected")

    @property
    def _bus_address(self) -> int:
        """Address of a ``struct cd_eip93_bus`` that lives as long as this object."""
        chip = self._open()
        if self._bus is None:
            bus = ffi.new("struct cd_eip93_bus *")
            lib.cd_eip93_emulator_bus(chip, bus)
            self._bus = bus
        return int(ffi.cast("uintptr_t", self._bus))

    def _open(self) -> _CData:
        chip = self._chip
        if chip is None:
            raise DeviceError("the emulator is closed")
        return chip


def _access_size(size: SupportsIndex) -> int:
    number = integer("size", size, 1, 8)
    if number not in {1, 2, 4, 8}:
        raise ValueError(f"size: {number} was given, 1, 2, 4 or 8 are allowed")
    return number


def _view(name: str, buffer: Buffer, *, writable: bool) -> _CData:
    """Take the buffer's pointer and hold its view."""
    try:
        if writable:
            return ffi.from_buffer("uint8_t[]", buffer, require_writable=True)
        return ffi.from_buffer("uint8_t[]", buffer)
    except (TypeError, BufferError) as error:
        needed = "a contiguous writable buffer" if writable else "a contiguous buffer"
        raise TypeError(f"{name}: {type(buffer).__name__} was given, {needed} is needed") from error


def _cost(cost: Mapping[str, int | tuple[int, int, int]] | None) -> dict[str, object]:
    """Return the default cost model with `cost` over it, checked."""
    default = ffi.new("struct cd_eip93_cost *")
    lib.cd_eip93_cost_default(default)
    fields = {name: getattr(default, name) for name in _COST_FIELDS}
    # A nested array is a view into `default`, which does not outlive this function.
    fields["aes_block_ticks"] = list(fields["aes_block_ticks"])
    for name, value in (cost or {}).items():
        if name not in fields:
            raise ValueError(f"cost: {name!r} was given, {', '.join(fields)} are allowed")
        fields[name] = _cost_value(name, value)
    return fields


def _cost_value(name: str, value: int | tuple[int, int, int]) -> int | list[int]:
    label = f"cost[{name!r}]"
    if name == "aes_block_ticks":
        if not isinstance(value, Sequence):
            raise TypeError(f"{label}: {type(value).__name__} was given, three int are needed")
        if len(value) != 3:
            raise ValueError(f"{label}: {len(value)} numbers were given, three are needed")
        return [integer(label, number, 0, _UINT32) for number in value]
    if isinstance(value, Sequence):
        raise TypeError(f"{label}: {type(value).__name__} was given, int is needed")
    if name == "clock_hz":
        return integer(label, value, *_CLOCK_HZ)
    if name.endswith("_ps"):
        return integer(label, value, 0, _HOST_PS_MAX)
    return integer(label, value, 1 if name == "dma_bytes_per_tick" else 0, _UINT32)


def _check(status: int, message: str) -> None:
    if status != lib.CD_OK:
        raise DeviceError(f"{message} (status {status})")


def _check_bus(status: int, address: int, length: int) -> None:
    if status == lib.CD_E_BUS:
        raise ValueError(
            f"address: {address:#x} was given, and not all of {length} bytes there are memory: "
            f"RAM is at {lib.CD_EIP93_MEMORY_BASE:#x}, mapped buffers are where map says"
        )
    _check(status, "the memory cannot be reached")


def _event_name(event: int) -> str:
    name = ffi.string(lib.cd_eip93_event_name(event))
    return name.decode() if isinstance(name, bytes) else name
