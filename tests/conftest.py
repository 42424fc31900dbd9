"""Fixtures: an engine, and every implementation of AES, DES, hashes and authenc in turn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from aes_support import PROVIDERS, Provider
from providers import AEADS, DES, HASHES, Family, families, providers

import cryptodispatch as cd
from cryptodispatch import eip93

# A developer's own measurements must not change what names stand for here; processes that tests
# start see it too.
os.environ["CRYPTODISPATCH_CACHE"] = "off"


@pytest.fixture(scope="module")
def device() -> Iterator[eip93.Device]:
    """A free-running engine for the tests of one module."""
    with eip93.Device.emulated() as opened:
        yield opened


@pytest.fixture(scope="module", params=list(PROVIDERS))
def provider(request: pytest.FixtureRequest, device: eip93.Device) -> Iterator[Provider]:
    """Every provider in turn; those this CPU cannot run are skipped with the reason."""
    chosen = PROVIDERS[request.param]
    if chosen.threshold is None:
        found = {entry.driver: entry for entry in cd.algorithms()}[chosen.driver("cbc")]
        if not found.available:
            pytest.skip(found.reason)
        yield chosen
        return
    device.fallback.enable()
    device.fallback["raw_aes"].threshold = chosen.threshold
    yield chosen
    device.fallback.disable()


@pytest.fixture
def make(provider: Provider) -> Callable[[str, bytes], cd.Cipher]:
    """Make a cipher of a mode with a key (for rfc3686: with the nonce at its end)."""

    def build(mode: str, key: bytes) -> cd.Cipher:
        return cd.Cipher(provider.driver(mode), key)

    return build


@pytest.fixture(scope="module", params=providers(HASHES))
def hashes(request: pytest.FixtureRequest, device: eip93.Device) -> Iterator[Family]:
    """Every provider of hashes and HMACs in turn."""
    yield from families(request.param, device, HASHES)


@pytest.fixture(scope="module", params=providers(DES))
def des(request: pytest.FixtureRequest, device: eip93.Device) -> Iterator[Family]:
    """Every provider of DES and 3DES in turn."""
    yield from families(request.param, device, DES)


@pytest.fixture(scope="module", params=providers(AEADS))
def aeads(request: pytest.FixtureRequest, device: eip93.Device) -> Iterator[Family]:
    """Every provider of authenc in turn."""
    yield from families(request.param, device, AEADS)
