"""What is registered: the Python face of /proc/crypto."""

from __future__ import annotations

from dataclasses import dataclass

from cryptodispatch import _engine

__all__ = ["Algorithm", "algorithms"]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One registered implementation.

    Attributes:
        name: algorithm name, as ``cbc(aes)``.
        driver: name of this implementation, as ``cbc(aes-ni)``; unique.
        type: ``"cipher"``, ``"hash"`` or ``"aead"``.
        priority: asked for by algorithm name, the available one with the highest is bound.
        block_size: texts are multiples of it, bytes.
        iv_size: bytes.
        chunk_size: pieces of a longer text are multiples of it, bytes.
        alignment: preferred alignment of buffers, bytes.
        digest_size: bytes; 0 except for hashes.
        max_tag_size: bytes; 0 except for aead.
        key_sizes: allowed key sizes in bytes; empty if it takes no key.
        asynchronous: requests may complete later (an engine).
        needs_fallback: leans on another implementation of the same algorithm.
        modelled: the CPU of a simulated machine; bound by driver name only.
        proxy: sends each request to one of two other implementations.
        available: this CPU can run it.
        reason: why it is not available; empty if it is.
    """

    name: str
    driver: str
    type: str
    priority: int
    block_size: int
    iv_size: int
    chunk_size: int
    alignment: int
    digest_size: int
    max_tag_size: int
    key_sizes: tuple[int, ...]
    asynchronous: bool
    needs_fallback: bool
    modelled: bool
    proxy: bool
    available: bool
    reason: str


def algorithms() -> list[Algorithm]:
    """List every registered implementation, in order of registration."""
    return [Algorithm(**entry) for entry in _engine.implementations()]
