"""What the tests share: every implementation of a family of algorithms in turn.

A provider is one way of running a family: a software form, as ``lib`` or, for an authenc,
``ni+vaes`` (hash and cipher); the engine; or one side of its proxies. Software forms are read from
the registry, so that a new one is tested without being named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import cryptodispatch as cd
from cryptodispatch import eip93

DIGESTS = ("md5", "sha1", "sha224", "sha256")
HASHES = (*DIGESTS, *(f"hmac({name})" for name in DIGESTS))
DES = ("ecb(des)", "cbc(des)", "ecb(des3_ede)", "cbc(des3_ede)")
AEADS = tuple(
    f"authenc(hmac({name}),{cipher})"
    for cipher in ("cbc(aes)", "rfc3686(ctr(aes))", "cbc(des)", "cbc(des3_ede)")
    for name in DIGESTS
)
# Thresholds of all groups that send every request of a proxy to one side.
SIDES = {"proxy-hardware": 0, "proxy-software": -1}
ENGINE = ("eip93", *SIDES)


def _forms() -> dict[str, dict[str, cd.Algorithm]]:
    """Software by form, then by algorithm name, also what this CPU cannot run."""
    found: dict[str, dict[str, cd.Algorithm]] = {}
    for entry in cd.algorithms():
        form = "+".join(re.findall(r"-([\w-]+)", entry.driver))
        found.setdefault(form, {})[entry.name] = entry
    return found


FORMS = _forms()


def providers(family: tuple[str, ...]) -> list[str]:
    """Every provider of at least one of the family's algorithms."""
    return [form for form, entries in FORMS.items() if set(entries) & set(family)] + [*ENGINE]


def driver_of(provider: str, algorithm: str) -> str:
    """The driver name by which a provider serves an algorithm."""
    if provider not in ENGINE:
        return FORMS[provider][algorithm].driver
    engine = re.sub(r"\b(aes|des3_ede|des|md5|sha\d+)\b", r"\1-eip93", algorithm)
    return engine if provider == "eip93" else f"fallback({engine})"


def software_drivers(algorithm: str) -> list[str]:
    """Every software driver of an algorithm that this CPU can run."""
    entries = [entries[algorithm] for entries in FORMS.values() if algorithm in entries]
    return [entry.driver for entry in entries if entry.available]


@dataclass(frozen=True)
class Family:
    """One provider of the algorithms of a family.

    Attributes:
        provider: its name.
        device: the engine of the module.
        names: the algorithm names that it serves on this CPU.
    """

    provider: str
    device: eip93.Device
    names: tuple[str, ...]

    def driver(self, algorithm: str) -> str:
        """The driver name of one of them."""
        return driver_of(self.provider, algorithm)

    @property
    def on_engine(self) -> bool:
        """Requests go to the engine."""
        return self.provider in ("eip93", "proxy-hardware")


def families(provider: str, device: eip93.Device, family: tuple[str, ...]) -> Iterator[Family]:
    """Body of the fixtures: the provider set up, its names found, and all undone afterwards."""
    if provider in ENGINE:
        names = family
    else:
        entries = [FORMS[provider][name] for name in family if name in FORMS[provider]]
        names = tuple(entry.name for entry in entries if entry.available)
        if not names:
            pytest.skip(entries[0].reason)
    if provider in SIDES:
        device.fallback.enable()
        for group in device.fallback.values():
            group.threshold = SIDES[provider]
    yield Family(provider, device, names)
    device.fallback.disable()


def wrongly_unavailable() -> list[str]:
    """Software that is said to be unavailable although this CPU's flags have what it needs."""
    flags = re.search(r"^flags\s*: (.*)", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    have = set(flags[1].split()) if flags else set()
    names = {
        "ni": {"aes", "sha_ni", "ssse3", "sse4_1"},
        "vaes": {"vaes", "avx2", "aes"},
        "avx512": {"sha_ni", "ssse3", "sse4_1", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
    }
    return [
        entry.driver
        for form, entries in FORMS.items()
        for entry in entries.values()
        if not entry.available
        and all(names.get(part, set()) <= have for part in form.split("+"))
        and have
    ]
