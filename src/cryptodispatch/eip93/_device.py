"""A whole engine: chip, driver and fallback in one handle."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING

from cryptodispatch import _engine, machine as machines
from cryptodispatch._errors import DeviceError
from cryptodispatch._fallback import Fallback, Group
from cryptodispatch.eip93._emulator_facade import Emulator
from cryptodispatch.eip93._groups import GROUPS

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Device", "DriverCounters"]


@dataclass(frozen=True, slots=True)
class DriverCounters:
    """What the driver did since the device was opened.

    Attributes:
        requests: accepted.
        completed: ended, whatever the outcome.
        failed: of those, with an error.
        descriptors: submitted to the ring.
        doorbells: writes to PE_CD_COUNT.
        interrupts: waits that ended with the line asserted.
        backlogged: requests that had to wait for room in the ring.
        resets: recoveries from an engine that stopped answering or answered nonsense.
        maps: buffers made reachable for the engine.
        unmaps: buffers taken away again.
        software: requests that the chip cannot do and the driver did in software.
    """

    requests: int
    completed: int
    failed: int
    descriptors: int
    doorbells: int
    interrupts: int
    backlogged: int
    resets: int
    maps: int
    unmaps: int
    software: int


class Device:
    """An EIP-93 whose algorithms are registered until it is closed; made by ``emulated``.

    Attributes:
        emulator: the chip, register by register.
        fallback: sends each request to the faster side once enabled.
        machine: the profile of the simulated machine or of the paced engine; None: neither.
    """

    def __init__(
        self,
        emulator: Emulator,
        *,
        machine: machines.Machine | None = None,
        simulate_cpu: bool = False,
        ring_entries: int = 512,
        request_timeout: float = 1.0,
    ) -> None:
        """Bring the driver up on a chip; ``Device.emulated`` is the usual way."""
        if not 4 <= ring_entries <= 1024:
            raise ValueError(f"ring_entries: {ring_entries} was given, 4 to 1024 are allowed")
        if not 0 < request_timeout <= 3600:
            raise ValueError(
                f"request_timeout: {request_timeout} was given, above 0 to 3600 seconds are allowed"
            )
        self.emulator = emulator
        self.machine = machine
        cpu: _engine.Machine | None = None
        clock = _engine.bus_clock(emulator._bus_address, emulator) if simulate_cpu else None
        self._driver = _engine.Driver(
            emulator._bus_address,
            emulator,
            ring_entries,
            round(request_timeout * 1e9),
            0 if machine is None else machine.hash_segment,
        )
        try:
            if machine is not None and clock is not None:
                cpu = _engine.Machine(machine.name, clock, _cpu_rows(machine))
            self.clock = clock
            self.fallback = Fallback("eip93", _groups(machine), clock=clock, modelled=simulate_cpu)
            self.fallback._variants = True
        except BaseException:
            _release(None, self._driver, cpu, emulator)
            raise
        # Runs at close(), when the device is collected, or at exit, whichever comes first. It holds
        # the parts, so that they are given up in this order and never before the device.
        self._finalizer = weakref.finalize(
            self, _release, self.fallback._handle, self._driver, cpu, emulator
        )

    @classmethod
    def emulated(
        cls,
        machine: str | None = None,
        *,
        engine: str | None = None,
        variant: str | None = None,
        ring_entries: int = 512,
        request_timeout: float = 1.0,
    ) -> Device:
        """Open an emulated engine with our driver on it.

        Args:
            machine: name of a profile: a simulated machine, whose engine and CPU take modelled time
                on a virtual clock; deterministic, the same on every host.
            engine: name of a profile: only the engine is modelled, paced on this host's clock,
                beside this host's own CPU. Not together with `machine`.
            variant: ``"93i"``, ``"93ie"``, ``"93is"``, ``"93ies"`` or ``"93iw"``; else the
                profile's, else ``"93ies"``.
            ring_entries: descriptors in the rings, 4 to 1024; one stays free.
            request_timeout: bound of one request in the ring, seconds of the device's clock.

        With neither `machine` nor `engine` the engine is as fast as this host runs it.

        Raises:
            TypeError, ValueError: an argument is not of that form.
            DeviceError: an EIP-93 is open already, or it does not come up.
        """
        if machine is not None and engine is not None:
            raise ValueError("machine, engine: both were given, one of them is allowed")
        profile = None
        if machine is not None:
            profile = machines.load(machine)
        elif engine is not None:
            profile = machines.load(engine, argument="engine")
        pace = "virtual" if machine is not None else "paced" if engine is not None else "free"
        emulator = Emulator(
            variant=variant or (profile.variant if profile is not None else "93ies"),
            pace=pace,
            cost=None if profile is None else profile.engine,
        )
        try:
            return cls(
                emulator,
                machine=profile,
                simulate_cpu=machine is not None,
                ring_entries=ring_entries,
                request_timeout=request_timeout,
            )
        except BaseException:
            emulator.close()
            raise

    def __enter__(self) -> Self:
        """Return the device."""
        if self._closed:
            raise DeviceError("device: it is closed")
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the device."""
        self.close()

    def __repr__(self) -> str:
        """Show what it is an engine of."""
        name = "free-running" if self.machine is None else self.machine.name
        return f"<Device EIP-93 {name}{' closed' if self._closed else ''}>"

    @property
    def counters(self) -> DriverCounters:
        """The driver's counters, a snapshot.

        Raises:
            DeviceError: the device is closed.
        """
        if self._closed:
            raise DeviceError("device: it is closed")
        return DriverCounters(**self._driver.counters())

    def poll(self) -> int:
        """Process completions without waiting; returns how many requests ended."""
        return self._driver.poll()

    def close(self) -> None:
        """Unregister everything and give the engine up. Idempotent.

        Requests under way and later requests of ciphers that still live fail with ``DeviceError``.
        """
        if self._finalizer.alive:
            self.fallback.close()  # refused while it measures: everything stays as it was
            self._finalizer()

    @property
    def _closed(self) -> bool:
        return not self._finalizer.alive


def _release(
    fallback: _engine.FallbackHandle | None,
    driver: _engine.Driver,
    cpu: _engine.Machine | None,
    emulator: Emulator,
) -> None:
    """Give the parts of a device up, the users before the used."""
    try:
        if fallback is not None:
            fallback.close()
    finally:
        driver.close()
        if cpu is not None:
            cpu.close()
        emulator.close()


def _groups(machine: machines.Machine | None) -> tuple[Group, ...]:
    """Apply the machine's policy, if it has one, to the engine's table."""
    policy = {} if machine is None else machine.policy
    return tuple(
        replace(group, threshold=policy[group.name].threshold, cannot=policy[group.name].cannot)
        if group.name in policy
        else group
        for group in GROUPS
    )


def _cpu_rows(machine: machines.Machine) -> list[tuple[str, int, int, int]]:
    """Rows as the engine takes them: picoseconds per request, femtoseconds per byte."""
    return [
        (row.algorithm, row.key_size, round(row.request_ns * 1e3), round(row.byte_ns * 1e6))
        for row in machine.cpu
    ]
