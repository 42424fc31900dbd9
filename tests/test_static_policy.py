"""Fixed thresholds instead of measuring, by group and key size; what hardware cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from aead_support import oracle as aead_oracle
from aes_support import material, oracle
from providers import DES

import cryptodispatch as cd
from cryptodispatch import eip93


@pytest.fixture
def device() -> Iterator[eip93.Device]:
    with eip93.Device.emulated() as opened:
        yield opened


def fallback(**changes: object) -> cd.Fallback:
    row: dict[str, object] = {
        "name": "pair",
        "algorithm": "cbc(aes)",
        "driver": "cbc(aes-eip93)",
        "key": b"",
        "members": ("cbc(aes-eip93)", "ctr(aes-eip93)"),
        "threshold": 512,
    }
    return cd.Fallback("test", [cd.Group(**row | changes)])  # type: ignore[arg-type]


def why(group: cd.FallbackGroup, cipher: cd.Cipher, key: bytes, length: int) -> str:
    """Encrypt, check the result, and return the one reason that was counted."""
    _, iv, text = material("cbc", 16, length, 1)
    before = group.counters
    mode = cipher.name.split("(")[0]
    assert cipher.encrypt(text, iv) == oracle(mode, key, iv, text)
    after = group.counters
    (reason,) = [name for name in after if after[name] != before[name]]
    assert after[reason] == before[reason] + 1
    return reason


def test_a_fixed_threshold_is_not_measured(device: eip93.Device) -> None:
    pair = fallback()
    seen: list[cd.Progress] = []
    try:
        packets = device.emulator.counters.packets
        assert pair.enable(progress=seen.append) == {"pair": 512}
        assert (seen, pair["pair"].measurements, pair["pair"].failure) == ([], (), "")
        assert device.emulator.counters.packets == packets
        assert (pair["pair"].fixed, pair["pair"].threshold) == (512, 512)
        key = bytes(16)
        cipher = cd.Cipher("cbc(aes)", key)
        assert cipher.driver == "fallback(cbc(aes-eip93))"
        assert why(pair["pair"], cipher, key, 512) == "within_threshold"
        assert why(pair["pair"], cipher, key, 528) == "above_threshold"
    finally:
        pair.close()


@pytest.mark.parametrize(
    ("threshold", "small", "large"),
    [
        (0, "no_threshold", "no_threshold"),
        (-1, "always_software", "always_software"),
        (2**31 - 1, "within_threshold", "within_threshold"),
    ],
)
def test_values(device: eip93.Device, threshold: int, small: str, large: str) -> None:
    pair = fallback(threshold=threshold)
    try:
        assert pair.enable() == {"pair": threshold}
        assert pair["pair"].fixed == threshold
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        assert why(pair["pair"], cipher, bytes(16), 16) == small
        assert why(pair["pair"], cipher, bytes(16), 65536) == large
    finally:
        pair.close()


def test_written_values_hold_until_the_next_enable(device: eip93.Device) -> None:
    pair = fallback()
    try:
        pair.enable()
        pair["pair"].threshold = 64
        assert (pair["pair"].threshold, pair["pair"].fixed) == (64, 512)
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        assert why(pair["pair"], cipher, bytes(16), 80) == "above_threshold"
        assert pair.enable() == {"pair": 512}
        assert why(pair["pair"], cipher, bytes(16), 80) == "within_threshold"
    finally:
        pair.close()


def test_thresholds_by_key_size_go_before_the_groups(device: eip93.Device) -> None:
    pair = fallback(key_thresholds={16: 1024, 32: 256})
    try:
        pair.enable()
        assert pair["pair"].key_thresholds == {16: 1024, 32: 256}
        assert pair["pair"].cannot == ()
        for size, limit in ((16, 1024), (24, 512), (32, 256)):
            key = material("cbc", size, 0, 2)[0]
            cipher = cd.Cipher("cbc(aes)", key)
            assert why(pair["pair"], cipher, key, limit) == "within_threshold", size
            assert why(pair["pair"], cipher, key, limit + 16) == "above_threshold", size
    finally:
        pair.close()


def test_a_new_key_changes_the_rule(device: eip93.Device) -> None:
    pair = fallback(key_thresholds={32: 64}, cannot=(24,))
    try:
        pair.enable()
        cipher = cd.Cipher("cbc(aes)", bytes(16))
        for size, expected in (
            (16, "within_threshold"),
            (32, "above_threshold"),
            (24, "unsupported"),
            (16, "within_threshold"),
        ):
            key = material("cbc", size, 0, 3)[0]
            cipher.set_key(key)
            assert why(pair["pair"], cipher, key, 256) == expected, size
    finally:
        pair.close()


@pytest.mark.parametrize("threshold", [512, 0, -1])
def test_cannot_sends_a_key_size_to_software_whatever_the_threshold(
    device: eip93.Device, threshold: int
) -> None:
    pair = fallback(threshold=threshold, cannot=(24,))
    try:
        pair.enable()
        assert pair["pair"].cannot == (24,)
        assert pair["pair"].key_thresholds == {}
        key = material("cbc", 24, 0, 4)[0]
        for name in ("cbc(aes)", "ctr(aes)"):
            cipher = cd.Cipher(name, key)
            for length in (16, 528, 65536):
                assert why(pair["pair"], cipher, key, length) == "unsupported"
        pair["pair"].threshold = 0
        assert why(pair["pair"], cipher, key, 65536) == "unsupported"
    finally:
        pair.close()


def test_a_measured_group_can_have_rules_too(device: eip93.Device) -> None:
    pair = fallback(threshold=None, key=bytes(16), cannot=(24,), key_thresholds={32: -1})
    try:
        pair.enable()
        assert pair["pair"].fixed is None
        assert pair["pair"].measurements != ()
        for size, expected in ((24, "unsupported"), (32, "always_software")):
            key = material("cbc", size, 0, 5)[0]
            assert why(pair["pair"], cd.Cipher("cbc(aes)", key), key, 65536) == expected
    finally:
        pair.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"threshold": -2}, "'pair': threshold: -2 was given, -1 to"),
        ({"threshold": 2**31}, "'pair': threshold: 2147483648"),
        ({"key_thresholds": {16: -2}}, r"'pair': key_thresholds\[16\]: -2"),
        ({"key_thresholds": {0: 1}}, "'pair': key_thresholds: 0 was given, 1 to"),
        ({"cannot": (64,)}, "'pair': cannot: 64 was given, 1 to"),
        ({"cannot": (24, 24)}, "'pair'"),
        ({"cannot": (24,), "key_thresholds": {24: 5}}, "'pair'"),
    ],
)
def test_malformed(changes: dict[str, object], said: str) -> None:
    before = cd.algorithms()
    with pytest.raises(ValueError, match=said):
        fallback(**changes)
    assert cd.algorithms() == before


@pytest.mark.parametrize("wrong", ["512", 1.5, b"1"])
def test_wrong_types(wrong: object) -> None:
    for changes, said in (
        ({"threshold": wrong}, "threshold"),
        ({"key_thresholds": {16: wrong}}, r"key_thresholds\[16\]"),
        ({"key_thresholds": {wrong: 16}}, "key_thresholds"),
        ({"cannot": (wrong,)}, "cannot"),
        ({"tag_size": wrong}, "tag_size"),
    ):
        what = type(wrong).__name__
        with pytest.raises(TypeError, match=f"group 'pair': {said}: {what} was given, int"):
            fallback(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cannot": 24}, "cannot: int was given, a sequence of int"),
        ({"cannot": "24"}, "cannot: str was given, a sequence of int"),
        ({"key_thresholds": [1]}, "key_thresholds: list was given, a mapping"),
        ({"members": 5}, "members: int was given, a sequence of str"),
        ({"key": 16}, "key: int was given, a bytes-like"),  # not 16 zeros
        ({"auth_key": "k"}, "auth_key: str was given, a bytes-like"),
        ({"type": ["cipher"]}, "type: list was given, str"),
    ],
)
def test_wrong_containers(changes: dict[str, object], said: str) -> None:
    with pytest.raises(TypeError, match=f"group 'pair': {said}"):
        fallback(**changes)


LIB = {"driver": "cbc(aes-lib)", "members": ("cbc(aes-lib)",)}


@pytest.mark.parametrize("switch", ["enable", "write"])
@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"algorithm": "nope"}, LookupError, "algorithm: 'nope' is not registered"),
        ({"algorithm": "cbc(aess)"}, LookupError, r"algorithm: .*did you mean 'cbc\(aes\)'"),
        ({"driver": "cbc(aes-lab)"}, LookupError, r"driver: 'cbc\(aes-lab\)' is not registered"),
        ({"driver": "cbc(aes-eip93)"}, LookupError, "driver: .* an engine registers it"),
        ({"members": ("a", "b")}, LookupError, r"members\[0\]: 'a' is not registered"),
        ({"algorithm": "ecb(aes)"}, ValueError, r"driver: 'cbc\(aes-lib\)' .* implements 'cbc"),
        ({"type": "hash"}, ValueError, "type: 'hash' was given, 'cipher' is needed"),
        ({"cannot": (17,)}, ValueError, "cannot: 17 was given, 16, 24, 32 are allowed"),
        ({"key_thresholds": {33: 1}}, ValueError, "key_thresholds: 33 was given, 16, 24, 32"),
        ({"threshold": None, "key": bytes(16), "cannot": (17,)}, ValueError, "cannot: 17"),
    ],
)
def test_names_and_key_sizes_that_nothing_has(
    changes: dict[str, object], error: type[Exception], said: str, switch: str
) -> None:
    pair = fallback(**LIB | changes)
    before = cd.algorithms()
    pair.write("enabled", "off\n")  # which is what it is
    with pytest.raises(error, match=f"group 'pair': {said}"):
        pair.enable() if switch == "enable" else pair.write("enabled", "Yes\n")
    assert not pair.enabled
    assert cd.algorithms() == before
    pair.close()


def test_key_sizes_of_every_member_count(device: eip93.Device) -> None:
    members = ("cbc(aes-eip93)", "rfc3686(ctr(aes-eip93))", "xts(aes-eip93)")
    pair = fallback(members=members, cannot=(24, 28), key_thresholds={36: 64})
    assert pair.enable() == {"pair": 512}
    pair.close()


def test_an_engine_without_a_group_can_have_a_policy_for_it() -> None:
    with eip93.Device.emulated(variant="93i") as device:
        table = [replace(row, threshold=64) for row in eip93.GROUPS]
        own = cd.Fallback("own", table)
        with pytest.raises(cd.UnknownAlgorithmError, match="group 'hash_md5': driver"):
            own.enable()
        own._variants = True  # as of device.fallback
        assert set(own.enable().values()) == {64}
        own.close()
        assert device.fallback._variants


def test_a_pair_of_this_host_without_a_key() -> None:
    pair = cd.Fallback(
        "pair",
        [cd.Group(name="g", algorithm="cbc(aes)", threshold=512, **LIB)],  # type: ignore[arg-type]
    )
    assert repr(pair) == "<Fallback pair off {'g': 0}>"
    assert pair.enable() == {"g": 512}
    assert repr(pair) == "<Fallback pair on {'g': 512}>"
    proxy = "fallback(cbc(aes-lib))"
    priorities = {entry.driver: entry.priority for entry in cd.algorithms()}
    assert priorities[proxy] == priorities["cbc(aes-lib)"] + 1
    cd.set_priority(proxy, 1_000_000)
    cipher = cd.Cipher("cbc(aes)", bytes(16))
    assert cipher.driver == proxy
    assert why(pair["g"], cipher, bytes(16), 512) == "within_threshold"
    assert why(pair["g"], cipher, bytes(16), 528) == "above_threshold"
    assert cd.Cipher("cbc(aes-lib)").driver == "cbc(aes-lib)"
    pair.close()
    assert repr(pair) == "<Fallback pair closed>"
    assert cd.Cipher("cbc(aes)").driver != proxy


# fallback-semantics.md section 9: the static ancestor.
class TestQce:
    @pytest.fixture
    def qce(self) -> Iterator[eip93.Device]:
        with eip93.Device.emulated(machine="ipq806x-qce") as opened:
            opened.fallback.enable()
            yield opened

    def test_policy_is_visible(self, qce: eip93.Device) -> None:
        raw_aes = qce.fallback["raw_aes"]
        assert (raw_aes.fixed, raw_aes.threshold) == (512, 512)
        assert 24 in raw_aes.cannot
        for name in ("raw_des", "raw_3des"):
            assert (qce.fallback[name].fixed, qce.fallback[name].threshold) == (0, 0)
        assert qce.fallback["hash_md5"].fixed is None

    def test_aes_by_length(self, qce: eip93.Device) -> None:
        raw_aes = qce.fallback["raw_aes"]
        for size in (16, 32):
            key = material("cbc", size, 0, 6)[0]
            cipher = cd.Cipher("cbc(aes)", key)
            assert why(raw_aes, cipher, key, 512) == "within_threshold"
            assert why(raw_aes, cipher, key, 528) == "above_threshold"

    def test_aes_192_is_always_software(self, qce: eip93.Device) -> None:
        key = material("cbc", 24, 0, 7)[0]
        cipher = cd.Cipher("cbc(aes)", key)
        packets = qce.emulator.counters.packets
        for length in (16, 512, 528, 65536):
            assert why(qce.fallback["raw_aes"], cipher, key, length) == "unsupported"
        # Of rfc3686 and authenc too, whose keys have a nonce behind them.
        rfc = cd.Cipher("rfc3686(ctr(aes))", key + b"once")
        rfc.encrypt(bytes(4096), bytes(8))
        assert qce.fallback["raw_aes"].counters["unsupported"] == 5
        name = "authenc(hmac(sha1),cbc(aes))"
        aead = cd.Aead(name, key, auth_key=b"k")
        sealed = aead.encrypt(bytes(4096), bytes(16))
        assert sealed == aead_oracle(name, key, b"k", bytes(16), bytes(4096), b"", 20)
        assert qce.fallback["authenc_aes"].counters["unsupported"] == 1
        assert qce.emulator.counters.packets == packets

    def test_des_always_goes_to_the_engine(self, qce: eip93.Device) -> None:
        for name in DES:
            group = qce.fallback["raw_3des" if "des3" in name else "raw_des"]
            cipher = cd.Cipher(name, bytes(range(24 if "des3" in name else 8)))
            for length in (8, 512, 65536):
                packets, before = qce.emulator.counters.packets, group.counters["no_threshold"]
                cipher.encrypt(bytes(length), bytes(8) if "cbc" in name else None)
                assert qce.emulator.counters.packets == packets + 1
                assert group.counters["no_threshold"] == before + 1
