"""Dynamic software fallback: measure a pair per group, dispatch every request by its size."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from cryptodispatch import _engine

__all__ = ["Fallback", "FallbackGroup", "Group", "Measurement", "Progress"]

_TYPES = {"cipher": 1, "hash": 2, "aead": 3}
_THRESHOLD_MAX = 2**31 - 1


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

    Attributes:
        name: unique on its fallback, not empty, not ``"enabled"``.
        algorithm: the representative's algorithm name; gives the software side.
        driver: the representative's hardware driver name.
        key: key of the measurement; not secret.
        members: driver names of the hardware implementations, at least one.
        type: ``"cipher"``, ``"hash"`` or ``"aead"``.
        auth_key: authentication key of the measurement; aead only.
        tag_size: bytes of the tag; aead only, and then not 0.
        threshold: a fixed threshold instead of measuring: nothing is measured, no key is needed.
        key_thresholds: thresholds by key size in bytes, fixed, instead of the group's.
        cannot: key sizes in bytes that the hardware cannot do: all their requests go to software.
    """

    name: str
    algorithm: str
    driver: str
    key: bytes
    members: tuple[str, ...]
    type: str = "cipher"
    auth_key: bytes = b""
    tag_size: int = 0
    threshold: int | None = None
    key_thresholds: Mapping[int, int] = field(default_factory=dict)
    cannot: tuple[int, ...] = ()

    def _rules(self) -> tuple[tuple[int, int, bool], ...]:
        """Rules by key size, checked: (key size, threshold, cannot)."""
        rules = [(size, threshold, False) for size, threshold in self.key_thresholds.items()]
        rules += [(size, 0, True) for size in self.cannot]
        for size, threshold, _cannot in rules:
            self._check_number("key size", size, 1, 63)
            self._check_number(f"key_thresholds[{size}]", threshold, -1, _THRESHOLD_MAX)
        return tuple(rules)

    def _check_number(self, label: str, value: int, low: int, high: int) -> None:
        number = operator.index(value)
        if not low <= number <= high:
            raise ValueError(
                f"group {self.name!r}: {label}: {number} was given, {low} to {high} are allowed"
            )

    def _row(self) -> _engine._GroupRow:
        """Encode for the engine, which checks the values."""
        if self.type not in _TYPES:
            raise ValueError(
                f"group {self.name!r}: type: {self.type!r} was given, "
                f"{', '.join(_TYPES)} are allowed"
            )
        names = {"name": self.name, "algorithm": self.algorithm, "driver": self.driver}
        if isinstance(self.members, str):
            raise TypeError(
                f"group {self.name!r}: members: a str was given, a sequence of str is needed"
            )
        names.update({f"members[{index}]": member for index, member in enumerate(self.members)})
        for label, value in names.items():
            if not isinstance(value, str):
                raise TypeError(
                    f"group {self.name!r}: {label}: {type(value).__name__} was given, str is needed"
                )
            if "\0" in value:
                raise ValueError(f"group {self.name!r}: {label}: a NUL character is not allowed")
        self._check_number("tag_size", self.tag_size, 0, 64)
        if self.threshold is not None:
            self._check_number("threshold", self.threshold, -1, _THRESHOLD_MAX)
        return (
            self.name.encode(),
            _TYPES[self.type],
            self.algorithm.encode(),
            self.driver.encode(),
            bytes(self.key),
            bytes(self.auth_key),
            self.tag_size,
            tuple(member.encode() for member in self.members),
            self.threshold,
            self._rules(),
        )


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
        number = operator.index(value)
        in_range = -(2**63) <= number < 2**63
        if not in_range or not self._fallback._handle.set_threshold(self._index, number):
            raise ValueError(f"threshold: {number} was given, -1 to {_THRESHOLD_MAX} are allowed")

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
        for index, group in enumerate(groups):
            if not isinstance(group, Group):
                raise TypeError(
                    f"groups[{index}]: {type(group).__name__} was given, Group is needed"
                )
        self.name = name
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
        return f"<Fallback {self.name} {list(self._groups)}>"

    def enable(self, progress: Callable[[Progress], object] | None = None) -> dict[str, int]:
        """Measure all groups, publish the thresholds, and register the proxies if it was off.

        Args:
            progress: called after each measured size; returning False cancels, an exception cancels
                and is raised here.

        Returns:
            dict: the thresholds.

        Raises:
            CryptoDispatchError: a pair does not fit together, or it was cancelled; everything is
                then as it was before.
        """
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
        self._handle.write(attribute.encode(), text.encode() if isinstance(text, str) else text)

    def close(self) -> None:
        """Disable and give up; transforms made meanwhile keep working. Idempotent."""
        self._handle.close()

    def _check_attribute(self, attribute: str) -> None:
        if attribute != "enabled" and attribute not in self._groups:
            allowed = ", ".join(["enabled", *self._groups])
            raise ValueError(f"attribute: {attribute!r} was given, {allowed} are allowed")
