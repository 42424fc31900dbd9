"""What is measured: one operation, ours and the peers' ways of doing it.

Keys are kept outside, every call has a fresh IV where the mode has one. A case knows the oracle's
answer, which every way is held against after it was timed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

import peers
import peers_hash
from peers import Spec
from ways import Way, into, plain

import cryptodispatch as cd

KEY = bytes(range(16))
IV = bytes(range(16, 32))
LONG_KEY = bytes(range(32))
DES_KEY = bytes(range(24))
SIZES = (0, 1, 15, 16, 17, 64, 127, 511, 512, 1500, 1504, 4096, 65536)


def pattern(size: int) -> bytes:
    """The text of that many bytes."""
    return (bytes(range(256)) * (size // 256 + 1))[:size]


@dataclass(frozen=True)
class Case:
    """One operation.

    Attributes:
        name: as in the tables.
        operation: as in names of benchmarks.
        algorithm: our name of it.
        unit: what texts are multiples of, bytes.
        ours, ours_into: our call by driver name, with a new result and with a buffer.
        limit: the yardstick by its functions.
        documented, reuse: peers by name.
        oracle: turns an input into the expected result.
        make_input: turns a text into the input, where that is not the text.
        is_row: speed's table has it.
    """

    name: str
    operation: str
    algorithm: str
    unit: int
    ours: Callable[[str], Way]
    ours_into: Callable[[str], Way] | None
    limit: Callable[[object], Way]
    documented: dict[str, Way]
    reuse: dict[str, Way]
    oracle: Callable[[bytes], bytes]
    make_input: Callable[[bytes], bytes] = bytes
    is_row: bool = True

    def input(self, size: int) -> bytes:
        """What a call with a text of `size` bytes, rounded down to the unit, is given."""
        return self.make_input(pattern(size - size % self.unit))

    def forms(self) -> dict[str, cd.Algorithm]:
        """Our implementations by what distinguishes them ("lib", "ni", "ni+vaes")."""
        return {
            "+".join(re.findall(r"-([\w-]+)", entry.driver)): entry
            for entry in cd.algorithms()
            if entry.name == self.algorithm
        }

    def peers(self) -> dict[str, Way]:
        """All of them, by name."""
        return {
            **{f"documented: {name}": way for name, way in self.documented.items()},
            **{f"reuse: {name}": way for name, way in self.reuse.items()},
        }


def _cipher(name: str, spec: Spec, limit: str, *, is_row: bool = True) -> Case:
    algorithm = f"{spec.mode}({'des3_ede' if spec.des else 'aes'})"
    direction = "decrypt" if spec.decrypt else "encrypt"
    iv = (spec.iv,) if spec.iv else ()
    return Case(
        name,
        f"{algorithm}{len(spec.key) * 8}_{direction}",
        algorithm,
        spec.block,
        lambda driver: plain(getattr(cd.Cipher(driver, spec.key), direction), *iv),
        lambda driver: into(getattr(cd.Cipher(driver, spec.key), f"{direction}_into"), None, *iv),
        lambda yardstick: plain(getattr(yardstick, limit), *iv),
        peers.documented(spec),
        peers.reuse(spec),
        spec.oracle,
        is_row=is_row,
    )


def _title(name: str) -> str:
    return name.upper().replace("SHA", "SHA-")


def _hash(name: str, *, keyed: bool, is_row: bool = True) -> Case:
    key = KEY if keyed else None
    size = cd.Hash(name).digest_size
    documented = (
        peers_hash.hmac_documented(name, KEY) if keyed else peers_hash.hash_documented(name)
    )
    return Case(
        f"HMAC-{_title(name)}" if keyed else _title(name),
        f"hmac({name})" if keyed else name,
        f"hmac({name})" if keyed else name,
        1,
        lambda driver: plain(cd.Hash(driver, key).digest),
        lambda driver: into(cd.Hash(driver, key).digest_into, size),
        lambda yardstick: plain(getattr(yardstick, f"hmac_{name}" if keyed else name)),
        documented,
        peers_hash.hmac_reuse(name, KEY) if keyed else peers_hash.hash_reuse(name),
        documented["hmac" if keyed else "hashlib"](b"").function,
        is_row=is_row,
    )


def _authenc(name: str, *, decrypt: bool) -> Case:
    algorithm = f"authenc(hmac({name}),cbc(aes))"
    direction = "decrypt" if decrypt else "encrypt"
    spec = Spec("cbc", KEY, IV, decrypt)
    seal = functools.partial(peers_hash.seal, spec, name, KEY)
    unseal = functools.partial(peers_hash.unseal, spec, name, KEY)
    return Case(
        f"CBC + HMAC-{_title(name)}{' decrypt' if decrypt else ''}",
        f"{algorithm}_{direction}",
        algorithm,
        16,
        lambda driver: plain(getattr(cd.Aead(driver, KEY, auth_key=KEY), direction), IV),
        None,
        lambda yardstick: plain(getattr(yardstick, f"{'un' * decrypt}seal_{name}"), IV),
        peers_hash.authenc_documented(spec, name, KEY),
        peers_hash.authenc_reuse(spec, name, KEY),
        unseal if decrypt else seal,
        seal if decrypt else bytes,
        is_row=not decrypt,
    )


@functools.cache
def cases() -> tuple[Case, ...]:
    """Every case; those with `is_row` in the order of speed's table."""
    return (
        _cipher("AES-128-CBC encrypt", Spec("cbc", KEY, IV), "cbc_encrypt"),
        _cipher("AES-256-CBC encrypt", Spec("cbc", LONG_KEY, IV), "cbc256_encrypt"),
        _cipher("AES-128-CBC decrypt", Spec("cbc", KEY, IV, decrypt=True), "cbc_decrypt"),
        _cipher("AES-128-CTR", Spec("ctr", KEY, IV), "ctr"),
        _cipher("AES-128-ECB", Spec("ecb", KEY), "ecb_encrypt"),
        _cipher("AES-128-ECB decrypt", Spec("ecb", KEY, decrypt=True), "ecb_decrypt", is_row=False),
        _cipher("3DES-CBC", Spec("cbc", DES_KEY, IV[:8], des=True), "des3_encrypt"),
        _cipher(
            "3DES-CBC decrypt",
            Spec("cbc", DES_KEY, IV[:8], decrypt=True, des=True),
            "des3_decrypt",
            is_row=False,
        ),
        *(_hash(name, keyed=False) for name in ("sha256", "sha1", "md5")),
        *(_hash(name, keyed=True) for name in ("sha256", "sha1")),
        _hash("md5", keyed=True, is_row=False),
        *(_authenc(name, decrypt=False) for name in ("sha1", "sha256")),
        *(_authenc(name, decrypt=True) for name in ("sha1", "sha256")),
    )
