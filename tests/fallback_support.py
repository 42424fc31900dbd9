"""What the tests of the fallback share: the published thresholds, and a small group."""

from __future__ import annotations

import cryptodispatch as cd

# What the AN7581 was published with.
AN7581 = {
    "raw_aes": 512,
    "raw_des": 256,
    "raw_3des": 64,
    "hash_md5": -1,
    "hash_sha1": -1,
    "hash_sha2": -1,
    "authenc_aes": 512,
    "authenc_des": 128,
    "authenc_3des": 64,
}


def group(**changes: object) -> cd.Group:
    row: dict[str, object] = {
        "name": "pair",
        "algorithm": "cbc(aes)",
        "driver": "cbc(aes-eip93)",
        "key": bytes(16),
        "members": ("cbc(aes-eip93)",),
    }
    row.update(changes)
    return cd.Group(**row)  # type: ignore[arg-type]
