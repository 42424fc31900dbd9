"""Dynamic software fallback: measure a pair per group, dispatch every request by its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cryptodispatch import _engine
from cryptodispatch._arguments import choice, integer
from cryptodispatch._errors import UnknownAlgorithmError, shown, unknown_algorithm

__all__ = ["Fallback", "FallbackGroup", "Group", "Measurement", "Progress"]

_TYPES = {"cipher": 1, "hash": 2, "aead": 3}
_THRESHOLD_MAX = 2**31 - 1
_SWITCH_ON = (b"1", b"y", b"yes", b"on", b"t", b"true")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One size measured on both sides.

    Attributes:
        size: bytes.
        hardware: ticks of the fallback's clock, the sum of the samples.
        software: the same for software.
        samples: requests measured on each side, 8 or 24.
        winner: ``"hardware"`` or ``"software"`` (which also wins a tie).
    """

    size: int
    hardware: int
    software: int
    samples: int
    winner: str


@dataclass(frozen=True, slots=True)
class Progress:
    """What `enable` tells while it measures.

    Attributes:
        group: name of the group being measured.
        index: of the group, from 0.
        count: number of groups.
        measurement: the size just measured; None when the group's benchmark failed.
        failure: why it failed; None otherwise.
    """

    group: str
    index: int
    count: int
    measurement: Measurement | None
    failure: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Hardware implementations whose cost scales alike, measured by one representative pair.

    Any implementation can be the "hardware". The software beside it is the available one of the
    algorithm with the highest priority that is none of the group's and waits for no engine.

    Attributes:
        name: unique on its fallback, not empty, not ``"enabled"``.
        algorithm: the representative's algorithm name; gives the software side.
        driver: the representative's hardware driver name.
        key: key of the measurement, not secret; not needed if `threshold` is given.
        members: driver names of the hardware implementations, at least one. One that is not
            registered is left out, as of a variant of an engine that lacks it.
        type: ``"cipher"``, ``"hash"`` or ``"aead"``.
        auth_key: authentication key of the measurement; aead only.
        tag_size: bytes of the tag; aead only, and then not 0 if it is measured.
        threshold: a fixed threshold instead of a measured one: requests of at most this many bytes
            go to software; 0: none, -1: all.
        key_thresholds: thresholds by key size in bytes, fixed, instead of the group's.
        cannot: key sizes in bytes that the hardware cannot do: all their requests go to software.
    """

    name: str
    algorithm: str
    driver: str
    key: bytes = b""
    members: tuple[str, ...]
    type: str = "cipher"
    auth_key: bytes = b""
    tag_size: int = 0
    threshold: int | None = None
    key_thresholds: Mapping[int, int] = field(default_factory=dict)
    cannot: tuple[int, ...] = ()

    def _rules(self) -> tuple[tuple[int, int, bool], ...]:
        """Rules by key size, checked: (key size, threshold, cannot)."""
        if not isinstance(self.key_thresholds, Mapping):
            raise self._wrong_type("key_thresholds", self.key_thresholds, "a mapping of int to int")
        _check_sequence(f"group {self.name!r}: cannot", self.cannot, "int")
        rules = []
        for size, threshold in self.key_thresholds.items():
            number = self._integer("key_thresholds", size, 1, 63)
            value = self._integer(f"key_thresholds[{size}]", threshold, -1, _THRESHOLD_MAX)
            rules.append((number, value, False))
        rules += [(self._integer("cannot", size, 1, 63), 0, True) for size in self.cannot]
        return tuple(rules)

    def _integer(self, label: str, value: int, low: int, high: int) -> int:
        return integer(f"group {self.name!r}: {label}", value, low, high)

    def _wrong_type(self, label: str, value: object, needed: str) -> TypeError:
        what = type(value).__name__
        return TypeError(f"group {self.name!r}: {label}: {what} was given, {needed} is needed")

    def _row(self) -> _engine._GroupRow:
        """Encode for the engine, which checks the values."""
        names = {"name": self.name, "algorithm": self.algorithm, "driver": self.driver}
        _check_sequence(f"group {self.name!r}: members", self.members, "str")
        members = tuple(self.members)
        names.update({f"members[{index}]": member for index, member in enumerate(members)})
        for label, value in names.items():
            if not isinstance(value, str):
                raise self._wrong_type(label, value, "str")
            if "\0" in value:
                raise ValueError(f"group {self.name!r}: {label}: a NUL character is not allowed")
        fixed = self.threshold
        if fixed is not None:
            fixed = self._integer("threshold", fixed, -1, _THRESHOLD_MAX)
        return (
            self.name.encode(),
            choice(f"group {self.name!r}: type", self.type, _TYPES),
            self.algorithm.encode(),
            self.driver.encode(),
            self._bytes("key", self.key),
            self._bytes("auth_key", self.auth_key),
            self._integer("tag_size", self.tag_size, 0, 64),
            tuple(member.encode() for member in members),
            fixed,
            self._rules(),
        )

    def _bytes(self, label: str, value: bytes) -> bytes:
        try:
            return bytes(memoryview(value))  # bytes(16) would make zeros of a number
        except TypeError:
            raise self._wrong_type(label, value, "a bytes-like object") from None

    def _check_key_sizes(self, entries: Sequence[dict[str, Any]]) -> None:
        """Refuse rules for keys that no implementation of the group's algorithms takes."""
        names = {entry["name"] for entry in entries if entry["driver"] in self.members}
        names.add(self.algorithm)
        of_type = [entry for entry in entries if entry["type"] == self.type]
        related = [entry for entry in of_type if entry["name"] in names]
        sizes = {size for entry in related for size in entry["key_sizes"]}
        for label, rules in (("key_thresholds", self.key_thresholds), ("cannot", self.cannot)):
            wrong = [size for size in rules if related and size not in sizes]
            if wrong:
                allowed = ", ".join(map(str, sorted(sizes))) or "no key sizes"
                raise ValueError(
                    f"group {self.name!r}: {label}: {wrong[0]} was given, {allowed} are allowed"
                )

    def _check_names(self, entries: Sequence[dict[str, Any]]) -> None:
        """Refuse names that nothing has: of a measured group its failed benchmark says so."""
        of_type = {entry["driver"]: entry for entry in entries if entry["type"] == self.type}
        algorithms = {entry["name"] for entry in of_type.values()}
        if self.algorithm not in algorithms:
            for entry in entries:
                if entry["name"] == self.algorithm:
                    raise ValueError(
                        f"group {self.name!r}: type: {self.type!r} was given, {entry['type']!r} is "
                        f"needed for {self.algorithm!r}"
                    )
            raise self._unknown("algorithm", self.algorithm, algorithms)
        if self.driver not in of_type:
            raise self._unknown("driver", self.driver, of_type)
        if not of_type.keys() & set(self.members):
            raise self._unknown("members[0]", self.members[0], of_type)
        found = of_type[self.driver]
        if found["name"] != self.algorithm:
            raise ValueError(
                f"group {self.name!r}: driver: {self.driver!r} was given, which implements "
                f"{found['name']!r}, an implementation of {self.algorithm!r} is needed"
            )
        if not found["available"]:
            raise UnknownAlgorithmError(
                f"group {self.name!r}: driver: {shown(self.driver)} cannot run here: "
                f"{found['reason']}"
            )

    def _unknown(self, label: str, name: str, known: Iterable[str]) -> UnknownAlgorithmError:
        return unknown_algorithm(name, known, f"group {self.name!r}: {label}")


def _check_sequence(label: str, value: object, items: str) -> None:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        what = type(value).__name__
        raise TypeError(f"{label}: {what} was given, a sequence of {items} is needed")


class FallbackGroup:
    """A group of a live fallback: its threshold can be read and written, its numbers read."""

    __slots__ = ("_fallback", "_index", "name")

    def __init__(self, name: str, fallback: Fallback, index: int) -> None:
        """Name one group of a fallback; made by ``Fallback``."""
        self.name = name
        self._fallback = fallback
        self._index = index

    def __repr__(self) -> str:
        """Show the name."""
        return f"<FallbackGroup {self.name} of {self._fallback.name}>"

    @property
    def threshold(self) -> int:
        """Requests of at most this many bytes go to software; 0 hardware only, -1 software only.

        In force while the fallback is enabled; a value written before is overwritten by enabling.
        """
        return self._fallback._handle.threshold(self._index)

    @threshold.setter
    def threshold(self, value: int) -> None:
        number = integer("threshold", value, -1, _THRESHOLD_MAX)
        self._fallback._handle.set_threshold(self._index, number)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What the last enabling measured, size by size up to the first hardware win."""
        return tuple(Measurement(*row) for row in self._fallback._handle.measurements(self._index))

    @property
    def fixed(self) -> int | None:
        """The fixed threshold the group was made with; None if it is measured."""
        return self._fallback._handle.fixed(self._index)

    @property
    def key_thresholds(self) -> dict[int, int]:
        """Fixed thresholds by key size in bytes, which go before the group's."""
        rules = self._fallback._handle.rules(self._index)
        return {size: threshold for size, threshold, cannot in rules if not cannot}

    @property
    def cannot(self) -> tuple[int, ...]:
        """Key sizes in bytes that the hardware cannot do and that go to software."""
        rules = self._fallback._handle.rules(self._index)
        return tuple(size for size, _threshold, cannot in rules if cannot)

    @property
    def failure(self) -> str:
        """Why the last benchmark failed; empty if it did not."""
        return self._fallback._handle.failure(self._index)

    @property
    def hardware(self) -> str:
        """Driver name of the hardware side as last measured; empty before."""
        return self._fallback._handle.sides(self._index)[0]

    @property
    def software(self) -> str:
        """Driver name of the software side as last measured; empty before."""
        return self._fallback._handle.sides(self._index)[1]

    @property
    def counters(self) -> dict[str, int]:
        """Requests by reason.

        To hardware: above_threshold, no_threshold; to software: within_threshold, always_software,
        unsupported.
        """
        return self._fallback._handle.counters(self._index)

    @property
    def hardware_requests(self) -> int:
        """Requests that went to the hardware."""
        counters = self.counters
        return counters["above_threshold"] + counters["no_threshold"]

    @property
    def software_requests(self) -> int:
        """Requests that went to software."""
        return sum(self.counters.values()) - self.hardware_requests


class Fallback(Mapping[str, FallbackGroup]):
    """Sends each request of its groups' hardware to the faster side; off until enabled.

    While it is enabled every member of a group has a proxy ``fallback(<driver name>)``, which is
    what dispatches: with the member's algorithm name, and a priority one above the member's own. An
    algorithm name means the proxy if that is the highest (as beside an engine), or once
    ``set_priority`` has made it so; the member's driver name still means the member alone.

    Args:
        name: of the device or pair.
        groups: the group table.
        clock: what is read while measuring; None is the host's cycle counter.
        modelled: measure against the modelled CPU of a simulated machine.

    Raises:
        TypeError, ValueError: the table is malformed; the text names group and field.

    A mapping from group name to ``FallbackGroup``.
    """

    def __init__(
        self,
        name: str,
        groups: list[Group] | tuple[Group, ...],
        *,
        clock: _engine.Clock | None = None,
        modelled: bool = False,
    ) -> None:
        """Check the table; nothing is registered yet."""
        if not isinstance(name, str):
            raise TypeError(f"name: {type(name).__name__} was given, str is needed")
        if not isinstance(groups, (list, tuple)):
            raise TypeError(
                f"groups: {type(groups).__name__} was given, a list or tuple of Group is needed"
            )
        for index, group in enumerate(groups):
            if not isinstance(group, Group):
                raise TypeError(
                    f"groups[{index}]: {type(group).__name__} was given, Group is needed"
                )
        self.name = name
        self._table = tuple(groups)
        self._variants = False  # True: an engine's whole table, some variants of which lack groups
        self._handle = _engine.FallbackHandle(
            name.encode(), [group._row() for group in groups], clock, modelled
        )
        self._groups = {
            group.name: FallbackGroup(group.name, self, index) for index, group in enumerate(groups)
        }

    def __getitem__(self, name: str) -> FallbackGroup:
        """Return the group of that name."""
        return self._groups[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the groups."""
        return iter(self._groups)

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self._groups)

    def __repr__(self) -> str:
        """Show name and thresholds."""
        if self._handle.closed():
            return f"<Fallback {self.name} closed>"
        return f"<Fallback {self.name} {'on' if self.enabled else 'off'} {self.thresholds}>"

    def enable(self, progress: Callable[[Progress], object] | None = None) -> dict[str, int]:
        """Measure all groups, publish the thresholds, and register the proxies if it was off.

        Args:
            progress: called after each measured size; returning False cancels, an exception cancels
                and is raised here.

        Returns:
            dict: the thresholds. 0 with a ``failure`` if a group could not be measured.

        Raises:
            CryptoDispatchError: a pair does not fit together, or it was cancelled; everything is
                then as it was before.
            UnknownAlgorithmError: a group of fixed threshold names what is not registered.
            ValueError: a group has a rule for a key size that its algorithms do not have.
        """
        if progress is not None and not callable(progress):
            raise TypeError(
                f"progress: {type(progress).__name__} was given, a callable or None is needed"
            )
        self._check_registered()
        names = list(self._groups)

        def report(
            index: int, row: tuple[int, int, int, int, str] | None, failure: str | None
        ) -> object:
            if progress is None:
                return None
            measurement = None if row is None else Measurement(*row)
            return progress(Progress(names[index], index, len(names), measurement, failure))

        self._handle.enable(report)
        return self.thresholds

    def disable(self) -> None:
        """Send live proxies' requests to the hardware and unregister the proxies. Off: nothing."""
        self._handle.disable()

    @property
    def enabled(self) -> bool:
        """True while the proxies are registered; writing True measures, writing False disables."""
        return self._handle.enabled()

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"enabled: {type(value).__name__} was given, bool is needed")
        if value:
            self.enable()
        else:
            self.disable()

    @property
    def thresholds(self) -> dict[str, int]:
        """The stored threshold of every group, in bytes."""
        return {name: group.threshold for name, group in self._groups.items()}

    def read(self, attribute: str) -> str:
        r"""Read a control attribute, ``"enabled"`` or a group, as its file reads: ``"512\n"``."""
        self._check_attribute(attribute)
        return self._handle.read(attribute.encode())

    def write(self, attribute: str, text: str | bytes) -> None:
        """Write a control attribute as text.

        Args:
            attribute: ``"enabled"`` (a boolean: 1 0 y n yes no on off t f) or a group's name (an
                integer, base by prefix).
            text: with or without a newline at the end.

        Raises:
            ValueError: no such attribute, not of that form, or out of range; nothing changed.
        """
        self._check_attribute(attribute)
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"{attribute}: {type(text).__name__} was given, str is needed")
        data = text.encode() if isinstance(text, str) else text
        if attribute == "enabled" and data.strip().lower() in _SWITCH_ON:
            self._check_registered()
        self._handle.write(attribute.encode(), data)

    def close(self) -> None:
        """Disable and give up; transforms made meanwhile keep working. Idempotent."""
        self._handle.close()

    def _check_registered(self) -> None:
        """Check what the groups name against what there is, before it is turned on."""
        if self.enabled:
            return
        entries = _engine.implementations()
        for group in self._table:
            group._check_key_sizes(entries)
            if group.threshold is not None and not self._variants:
                group._check_names(entries)

    def _check_attribute(self, attribute: str) -> None:
        if attribute != "enabled" and attribute not in self._groups:
            allowed = ", ".join(["enabled", *self._groups])
            raise ValueError(f"attribute: {attribute!r} was given, {allowed} are allowed")
