"""Loading and checking of machine profiles."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["CpuCost", "Machine", "Policy", "load", "names", "published"]

_ENGINE_TICKS = (
    "descriptor_read_ticks",
    "descriptor_update_ticks",
    "result_write_ticks",
    "sa_read_ticks",
    "state_ticks",
    "des_block_ticks",
    "des3_block_ticks",
    "md5_block_ticks",
    "sha1_block_ticks",
    "sha2_block_ticks",
    "prng_block_ticks",
    "dma_bytes_per_tick",
)
_AUTHENC_CIPHERS = ("cbc(aes)", "rfc3686(ctr(aes))", "cbc(des)", "cbc(des3_ede)")
_HOST_TIMES = ("doorbell", "descriptor", "interrupt")


@dataclass(frozen=True, slots=True)
class CpuCost:
    """What one software request costs on the machine's CPU: request_ns + byte_ns * length.

    Attributes:
        algorithm: algorithm name.
        key_size: bytes; 0: any other size.
        request_ns: nanoseconds per request.
        byte_ns: nanoseconds per byte.
        origin: ``"fitted"`` to a table, or ``"assumed"``.
    """

    algorithm: str
    key_size: int
    request_ns: float
    byte_ns: float
    origin: str


@dataclass(frozen=True, slots=True)
class Policy:
    """A fixed policy of a group: requests of at most `threshold` bytes go to software.

    Attributes:
        threshold: bytes; 0 all to the hardware, -1 all to software.
        cannot: key sizes in bytes that the hardware cannot do.
    """

    threshold: int
    cannot: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine: engine variant and cost, CPU cost, and where the numbers come from.

    Attributes:
        name: of the profile.
        title: the device in words.
        variant: of the engine, as ``"93ies"``.
        engine: cost in engine clocks and host picoseconds, as ``Emulator(cost=...)`` takes it.
        cpu: cost of software on the machine's CPU.
        tick_hz: the tick that the published tables count in, per second.
        hash_segment: bytes per hash descriptor that the machine's driver submits.
        af_alg_ns: nanoseconds that a request through AF_ALG costs on top; 0 where not known.
        policy: per group a fixed policy instead of measuring; empty: everything is measured.
        published: names of the published tables that belong to the machine.
        fitted: which numbers are fitted, and to what.
        assumed: which numbers are assumed, and why.
    """

    name: str
    title: str
    variant: str
    engine: Mapping[str, int | tuple[int, int, int]]
    cpu: tuple[CpuCost, ...]
    tick_hz: int
    hash_segment: int
    af_alg_ns: float
    policy: Mapping[str, Policy]
    published: tuple[str, ...]
    fitted: tuple[str, ...]
    assumed: tuple[str, ...]


def names() -> list[str]:
    """List the profiles that come with the package."""
    files = resources.files("cryptodispatch.machine").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def load(name: str, *, argument: str = "machine") -> Machine:
    """Load a profile; `argument` is what an error calls the name.

    Raises:
        TypeError: name is not a str.
        ValueError: there is no such profile.
    """
    if not isinstance(name, str):
        raise TypeError(f"{argument}: {type(name).__name__} was given, str is needed")
    if name not in names():
        raise ValueError(f"{argument}: {name!r} was given, {', '.join(names())} are allowed")
    text = (resources.files("cryptodispatch.machine") / f"{name}.toml").read_text("utf-8")
    return _machine(name, tomllib.loads(text))


def published(name: str) -> dict[str, Any]:
    """Load a published table that comes with the package, by name."""
    text = (resources.files("cryptodispatch.machine") / "published" / f"{name}.toml").read_text(
        "utf-8"
    )
    return tomllib.loads(text)


def _cpu(rows: list[CpuCost]) -> tuple[CpuCost, ...]:
    """Add the authenc rows: one costs what its cipher and its hmac cost."""
    ciphers = [row for row in rows if row.algorithm in _AUTHENC_CIPHERS]
    hmacs = [row for row in rows if row.algorithm.startswith("hmac(")]
    return (
        *rows,
        *(
            CpuCost(
                algorithm=f"authenc({mac.algorithm},{cipher.algorithm})",
                key_size=cipher.key_size,
                request_ns=cipher.request_ns + mac.request_ns,
                byte_ns=cipher.byte_ns + mac.byte_ns,
                origin="assumed",
            )
            for mac in hmacs
            for cipher in ciphers
        ),
    )


def _machine(name: str, table: Mapping[str, Any]) -> Machine:
    engine = table["engine"]
    cost: dict[str, int | tuple[int, int, int]] = {"clock_hz": engine["clock_hz"]}
    first, second, third = engine["aes_block_ticks"]
    cost["aes_block_ticks"] = (first, second, third)
    cost.update({field: engine[field] for field in _ENGINE_TICKS})
    cost.update(
        {f"{field}_ps": round(table["host"][f"{field}_ns"] * 1000) for field in _HOST_TIMES}
    )
    return Machine(
        name=name,
        title=table["title"],
        variant=engine["variant"],
        engine=cost,
        cpu=_cpu([CpuCost(**row) for row in table["cpu"]]),
        tick_hz=table["tick_hz"],
        hash_segment=table["driver"]["hash_segment"],
        af_alg_ns=table.get("interface", {}).get("af_alg_ns", 0.0),
        policy={
            group: Policy(row["threshold"], tuple(row.get("cannot", ())))
            for group, row in table.get("policy", {}).items()
        },
        published=tuple(table["published"]),
        fitted=tuple(table["origin"]["fitted"]),
        assumed=tuple(table["origin"]["assumed"]),
    )
