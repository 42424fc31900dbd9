"""Rings, packets and time of the emulated chip through the Python class, by literal words."""

import random
import struct

import pytest

from cryptodispatch.eip93 import Emulator

RAM = 0x10000000
CDR, RDR = RAM, RAM + 0x8000
SA, STATE = RAM + 0x10000, RAM + 0x10100
SOURCE, DESTINATION = RAM + 0x20000, RAM + 0x21000
KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
IV = bytes(range(16))
# SP 800-38A F.2.1
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHER = bytes.fromhex(
    "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
    "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"
)


class Bench:
    """A chip with rings, as a driver sees it."""

    def __init__(self, entries=512, **arguments):
        self.chip = Emulator(**arguments)
        self.entries = entries
        self.submitted = self.completed = 0
        for offset, value in (
            (0x080, CDR),
            (0x084, RDR),
            (0x088, entries - 1),
            (0x100, 0x00000705),
            (0x100, 0x00000700),
            (0x1E8, 0x17),
            (0x10C, 0x00800080),
            (0x204, 0x00078E03),
            (0x214, 0x00078E03),
            (0x08C, 0x940001E0),
            (0x210, 0x00000002),
        ):
            self.chip.write32(offset, value)

    def sa(self, cmd0, cmd1, key=b""):
        record = struct.pack("<2I32s", cmd0, cmd1, key) + bytes(88)
        self.chip.write_memory(SA, record)

    def submit(self, source, destination, length, user_id, *, control=1, ring=True):
        words = (control, source, destination, SA, STATE, 0, user_id, 0x00400000 | length)
        slot = self.submitted % self.entries
        self.chip.write_memory(CDR + 32 * slot, struct.pack("<8I", *words))
        self.submitted += 1
        if ring:
            self.chip.write32(0x090, 1)

    def result(self):
        slot = self.completed % self.entries
        self.completed += 1
        words = struct.unpack("<8I", self.chip.read_memory(RDR + 32 * slot, 32))
        self.chip.write32(0x094, 1)
        self.chip.write32(0x204, 2)
        return words


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.chip.close()


@pytest.mark.parametrize("pace", ["free", "paced", "virtual"])
def test_cbc_words(pace):
    """The worked example of eip93-hardware.md section 9.3, in each pace."""
    bench = Bench(pace=pace)
    with bench.chip as chip:
        bench.sa(0x1200F3C0, 0x02000100, KEY)
        chip.write_memory(STATE, IV + b"\xaa" * 4)
        chip.write_memory(SOURCE, PLAIN[:16])
        bench.submit(SOURCE, DESTINATION, 16, 0x01080000)
        assert chip.read32(0x094) == 0  # never inside the doorbell
        assert chip.irq_wait(5.0)
        assert chip.irq
        assert bench.result() == (2, SOURCE, DESTINATION, SA, STATE, 0, 0x01080000, 0x00800010)
        assert chip.read_memory(DESTINATION, 16) == CIPHER[:16]
        assert chip.read_memory(STATE, 20) == CIPHER[:16] + b"\xaa" * 4
        assert not chip.irq


def test_sha256_words(bench):
    """The worked example of eip93-hardware.md section 9.4: destination 0, digest in the state."""
    chip = bench.chip
    bench.sa(0x3A803FC3, 0x00000009)
    before = bytes.fromhex(
        "0000000000000000 67e6096a85ae67bb72f36e3c3af54fa57f520e518c68059babd9831f19cde05b"
    )
    chip.write_memory(STATE, IV + before)
    chip.write_memory(SOURCE, b"abc")
    bench.submit(SOURCE, 0, 3, 0x00480000, control=0x11)
    assert chip.irq_wait(5.0)
    assert bench.result() == (0x12, SOURCE, 0, SA, STATE, 0, 0x00480000, 0x00800020)
    assert chip.read_memory(STATE, 56) == IV + bytes.fromhex(
        "0300000000000000 bf1678baeacf018fde4041412322ae5da36103b09c7a179661ff10b4ad1500f2"
    )


def test_hmac_sha1_words(bench):
    """Section 9.5, as the Linux driver does it: the padded key first, O_DIGEST in a second SA."""
    chip = bench.chip
    chip.write_memory(
        STATE + 0x10,
        bytes.fromhex("0000000000000000 0123456789abcdeffedcba9876543210f0e1d2c3"),
    )
    bench.sa(0x3A501FC3, 0x0000000B)
    chip.write_memory(SOURCE, bytes.fromhex("7c535053") + b"\x36" * 60)
    bench.submit(SOURCE, 0, 64, 0x00400000)
    chip.step(100_000)
    assert bench.result() == (0x2, SOURCE, 0, SA, STATE, 0, 0x00400000, 0x00800000)
    assert chip.read_memory(STATE + 0x10, 28) == bytes.fromhex(
        "4000000000000000 a78e4d6203182b3fe4b95495f565c0288eb9fca9"
    )
    bench.sa(0x3A501FC3, 0x0000100B)
    chip.write_memory(SA + 0x48, bytes.fromhex("2a378820a11006f5058b2ff832fe4b8e354e0b28"))
    chip.write_memory(SOURCE, b"what do ya want for nothing?")
    bench.submit(SOURCE, 0, 28, 0x00480000, control=0x11)
    chip.step(100_000)
    assert bench.result() == (0x12, SOURCE, 0, SA, STATE, 0, 0x00480000, 0x00800014)
    assert chip.read_memory(STATE + 0x10, 28) == bytes.fromhex(
        "5c00000000000000 6adffcefa22febe5d51674d29cdf84f1797c9a25"
    )


def authenc_sa(bench, cmd0, cmd1):
    """The SA of section 9.6: HMAC-SHA1 with key 00..13, AES with KEY."""
    bench.sa(cmd0, cmd1, KEY)
    bench.chip.write_memory(SA + 0x28, bytes.fromhex("d66e890fca60dfa55b48e12a9a0b4f52a068b01d"))
    bench.chip.write_memory(SA + 0x48, bytes.fromhex("726dc6bed3aab56b45c6247b8d504ea7765d00f2"))
    bench.chip.write_memory(STATE, IV)


def test_authenc_words(bench):
    """Section 9.6, both directions; the tag is in raw words."""
    chip = bench.chip
    aad = bytes.fromhex("0000123400000001")
    authenc_sa(bench, 0x123013C1, 0x0202110B)
    chip.write_memory(SOURCE, aad + PLAIN[:32])
    bench.submit(SOURCE, DESTINATION, 40, 0x00880000)
    chip.step(100_000)
    words = (2, SOURCE, DESTINATION, SA, STATE, 0, 0x00880000)
    assert bench.result() == (*words, 0x00800034)
    raw_tag = bytes.fromhex("5eebc7db1ded75b86961600d")
    assert chip.read_memory(DESTINATION, 52) == aad + CIPHER[:32] + raw_tag
    assert chip.read_memory(STATE, 16) == CIPHER[16:32]
    authenc_sa(bench, 0x123013C9, 0x02021102)
    chip.write_memory(SOURCE, aad + CIPHER[:32] + bytes.fromhex("dbc7eb5eb875ed1d0d606169"))
    bench.submit(SOURCE, DESTINATION, 40, 0x00880000)
    chip.step(100_000)
    assert bench.result() == (*words, 0x00800028)
    assert chip.read_memory(DESTINATION, 40) == aad + PLAIN[:32]


def test_forged_tag_with_strap():
    """Q1: AUTH_ERR for a forged tag, with the strap alone."""
    for strap, status in ((False, 0), (True, 0x00010000)):
        bench = Bench(basic_icv_check=strap)
        with bench.chip as chip:
            authenc_sa(bench, 0x123013C9, 0x02021102)
            chip.write_memory(SOURCE, bytes(52))
            bench.submit(SOURCE, DESTINATION, 40, 1)
            chip.step(100_000)
            assert bench.result()[0] == status | 2


def test_mapped_buffers(bench):
    chip = bench.chip
    bench.sa(0x1200F3C0, 0x02000100, KEY)
    chip.write_memory(STATE, IV)
    out = bytearray(64)
    source = chip.map(PLAIN, "to_device")
    destination = chip.map(out, "from_device")
    bench.submit(source, destination, 64, 1)
    assert chip.irq_wait(5.0)
    assert bench.result()[0] == 2
    assert out == CIPHER
    bench.submit(destination, source, 64, 2)  # against both directions
    assert chip.irq_wait(5.0)
    assert bench.result()[0] == 0x00080002
    assert chip.read32(0x200) & 0x60000 == 0x60000


@pytest.mark.parametrize("entries", [4, 8, 512])
def test_ring_wraps_after_n(entries):
    """R001: 3 * N + 1 jobs; the index wraps after exactly N, and guards stay."""
    bench = Bench(entries)
    with bench.chip as chip:
        guard = b"\xa5" * 64
        chip.write_memory(CDR + 32 * entries, guard)
        chip.write_memory(RDR + 32 * entries, guard)
        chip.write_memory(RDR - 64, guard)
        bench.sa(0x0200F3C0, 0x02000000, KEY)
        chip.write_memory(SOURCE, PLAIN)
        for job in range(3 * entries + 1):
            bench.submit(SOURCE, DESTINATION, 16, job)
            assert chip.irq_wait(5.0)
            assert bench.result()[6] == job
            index = (job + 1) % entries
            assert chip.read32(0x098) == index << 16 | index
        assert chip.read_memory(CDR + 32 * entries, 64) == guard
        assert chip.read_memory(RDR + 32 * entries, 64) == guard
        assert chip.read_memory(RDR - 64, 64) == guard


def test_600_descriptors_with_random_consumer():
    """Section 12.1, item 7: across the wrap of 512 entries, results in order."""
    rng = random.Random(93)
    bench = Bench()
    with bench.chip as chip:
        bench.sa(0x0200FFC0, 0)
        while bench.completed < 600:
            room = min(600 - bench.submitted, 511 - (bench.submitted - bench.completed))
            for _ in range(rng.randint(0, room)):
                bench.submit(SOURCE, DESTINATION, 4, bench.submitted)
            chip.step(rng.randint(0, 50_000))
            for _ in range(rng.randint(0, chip.read32(0x094))):
                expected = bench.completed
                words = bench.result()
                assert words[0] == 2
                assert words[6] == expected
        assert chip.read32(0x098) == (600 - 512) << 16 | (600 - 512)


def test_scatter_equals_one_descriptor(bench):
    """Section 12.1, item 8: CBC over several segments, chained through the state record."""
    chip = bench.chip
    bench.sa(0x1200F3C0, 0x02000100, KEY)
    chip.write_memory(STATE, IV)
    chip.write_memory(SOURCE, PLAIN)
    for start, end in ((0, 16), (16, 48), (48, 64)):
        bench.submit(SOURCE + start, DESTINATION + start, end - start, start)
    chip.step(100_000)
    assert [bench.result()[0] for _ in range(3)] == [2, 2, 2]
    assert chip.read_memory(DESTINATION, 64) == CIPHER


@pytest.mark.parametrize(
    ("cmd0", "cmd1", "length", "status"),
    [
        (0x0200F7C0, 0, 16, 0x38),  # unknown cipher
        (0x0200F3C2, 0x02000000, 16, 0x28),  # unknown opcode
        (0x0200F3C0, 0, 16, 0x38),  # key length code 0
        (0x0200F3C0, 0x02000000, 0, 0x58),
        (0x0100F3C0, 0x02050100, 16, 0x68),
        (0x0200F3C8, 0x02000000, 15, 0x78),
        (0x3A404FC3, 0x00000009, 64, 0x38),  # unknown hash
        (0x3A803FC3, 0x00000009, 63, 0x78),  # not the last, and no whole block
        (0x124013C1, 0x02051109, 16, 0x68),  # header longer than the packet
    ],
)
def test_errors_complete(bench, cmd0, cmd1, length, status):
    """R007: result, count and interrupt, whatever is wrong."""
    bench.sa(cmd0, cmd1, KEY)
    bench.submit(SOURCE, DESTINATION, length, 7)
    assert bench.chip.irq_wait(1.0)
    assert bench.chip.read32(0x094) == 1
    words = bench.result()
    assert words[0] == status << 16 | 2
    assert words[6] == 7
    assert bench.chip.counters.errors == 1


def test_results_stay_with_their_jobs():
    """R011: every 7th job invalid."""
    bench = Bench(64)
    with bench.chip as chip:
        bench.sa(0x0200FFC0, 0)
        for job in range(1000):
            bench.submit(SOURCE, DESTINATION, 0 if job % 7 == 6 else 4, 0xABC00000 + job)
            assert chip.irq_wait(1.0)
            words = bench.result()
            assert words[6] == 0xABC00000 + job
            assert words[0] == (0x00580002 if job % 7 == 6 else 2)
        pointers = chip.read32(0x098)
        assert pointers >> 16 == pointers & 0x3FF


def test_virtual_time_is_the_cost_model():
    cost = {"doorbell_ps": 500_000, "descriptor_ps": 20_000, "interrupt_ps": 3_000_000}
    bench = Bench(pace="virtual", cost=cost)
    with bench.chip as chip:
        bench.sa(0x1200F3C0, 0x02000100, KEY)
        bench.submit(SOURCE, DESTINATION, 16, 0)
        assert chip.ticks == 130  # 520 ns of 4 ns each
        assert chip.irq_wait(1.0)
        assert chip.ticks == 130 + 251 + 750


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("dma_read", lambda words, _: words[0] == 0x00080002),
        ("dma_write", lambda words, _: words[0] == 0x00080002),
        ("wrong_id", lambda words, _: words[6] == 0x1234 ^ 2),
        ("status", lambda words, _: words[0] == 0x00020002),
        ("half_owned", lambda words, _: words[7] == 0x00400004),
        ("late", lambda _, ticks: ticks == 151_000),
    ],
)
def test_faults(fault, seen):
    bench = Bench(pace="virtual")
    with bench.chip as chip:
        chip.inject(fault, value=2)
        bench.sa(0x0200FFC0, 0)
        bench.submit(SOURCE, DESTINATION, 4, 0x1234)
        assert chip.irq_wait(10.0)
        assert seen(bench.result(), chip.ticks)


@pytest.mark.parametrize("fault", ["hang", "lost", "no_interrupt"])
def test_silent_faults_time_out(fault):
    bench = Bench(pace="virtual")
    with bench.chip as chip:
        chip.inject(fault)
        bench.sa(0x0200FFC0, 0)
        bench.submit(SOURCE, DESTINATION, 4, 1)
        assert not chip.irq_wait(10.0)
        assert chip.read32(0x094) == (1 if fault == "no_interrupt" else 0)


def test_mapping_fault(bench):
    bench.chip.inject("map", skip=1)
    bench.chip.map(b"x", "to_device")
    with pytest.raises(Exception, match="no window is left"):
        bench.chip.map(b"x", "to_device")
    bench.chip.map(b"x", "to_device")


def test_trace_names_the_stages(bench):
    bench.chip.trace(64)
    bench.sa(0x1200F3C0, 0x02000100, KEY)
    bench.submit(SOURCE, DESTINATION, 16, 1)
    bench.chip.step(251)
    assert [event.name for event in bench.chip.take_trace()] == [
        "doorbell",
        "fetch",
        "check",
        "read_sa",
        "read_state",
        "gather",
        "transform",
        "scatter",
        "write_state",
        "update_command",
        "write_result",
        "raise",
    ]
    assert bench.chip.take_trace() == []


def test_thread_completes_by_itself():
    bench = Bench(pace="free")
    with bench.chip as chip:
        chip.start_thread(max_delay_us=100, seed=5)
        bench.sa(0x1200F3C0, 0x02000100, KEY)
        for job in range(50):
            bench.submit(SOURCE, DESTINATION, 16, job)
            assert chip.irq_wait(5.0)
            assert bench.result()[6] == job


def test_one_chip_does_not_disturb_another():
    """R017."""
    first, second = Bench(), Bench()
    with first.chip, second.chip:
        first.chip.inject("hang")
        for bench in (first, second):
            bench.sa(0x0200FFC0, 0)
            bench.submit(SOURCE, DESTINATION, 4, 1)
        assert not first.chip.irq_wait(0.01)
        assert second.chip.irq_wait(1.0)
