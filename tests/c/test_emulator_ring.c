/* Rings: wrap, counts, ownership, stall, overlaid rings, completion of errors, resets. */
#include "emulator_support.h"

#define GUARD 0xA5

static struct cd_eip93_emulator *chip_null_cipher(int32_t pace, uint32_t cdr, uint32_t rdr,
                                                  uint32_t entries) {
    struct cd_eip93_emulator *chip = chip_new(pace);
    chip_start_rings(chip, cdr, rdr, entries);
    put_sa(chip, SA, 0x0200FFC0, 0, ""); /* null cipher: copies */
    return chip;
}

static bool is_guard(struct cd_eip93_emulator *chip, uint32_t address) {
    uint8_t bytes[64];
    get_bytes(chip, bytes, address, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (bytes[i] != GUARD) {
            return false;
        }
    }
    return true;
}

/* R001: a ring of N wraps after exactly N, and nothing behind it is touched. The rings are the
 * ends of mapped windows, so that a read behind them would be a bus error, too. */
static void wrap_ring(uint32_t entries) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    uint8_t *memory = malloc(entries * 32);
    uint32_t cdr = 0;
    uint32_t rdr = 0x10000000u + 64;
    CHECK_EQ(cd_eip93_emulator_map(chip, memory, entries * 32, CD_DMA_BIDIRECTIONAL, &cdr), CD_OK);
    uint8_t guard[64];
    memset(guard, GUARD, sizeof guard);
    put_bytes(chip, rdr - 64, guard, 64);
    put_bytes(chip, rdr + entries * 32, guard, 64);
    chip_start_rings(chip, cdr, rdr, entries);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_hex(chip, SOURCE, AES_TEXT);
    for (uint32_t job = 0; job < 3 * entries + 1; job++) {
        uint32_t slot = job % entries;
        put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        put_command(chip, cdr, slot, SOURCE, DEST, job, 16);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
        CHECK_HEX(chip, DEST, "7649abac8119b246cee98e9b12e9197d");
        CHECK_EQ(get_word(chip, rdr + 32 * slot), 0x00000002);
        CHECK_EQ(get_word(chip, rdr + 32 * slot + 24), job);
        uint32_t next = (job + 1) % entries;
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x098), next << 16 | next);
        acknowledge(chip, 1);
    }
    CHECK(is_guard(chip, rdr - 64));
    CHECK(is_guard(chip, rdr + entries * 32));
    struct cd_eip93_emulator_counters counters;
    cd_eip93_emulator_counters(chip, &counters);
    CHECK_EQ(counters.packets, 3 * entries + 1);
    CHECK_EQ(counters.errors, 0);
    CHECK_EQ(counters.guest_errors, 0);
    cd_eip93_emulator_free(chip);
    free(memory);
}

static void test_r001_wrap_4(void) {
    wrap_ring(4);
}

static void test_r001_wrap_8(void) {
    wrap_ring(8);
}

static void test_r001_wrap_512(void) {
    wrap_ring(512);
}

/* 2.3: older maps space entries by RING_CONFIG[23:16] words */
static void test_stride(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 4);
    cd_eip93_emulator_write32(chip, 0x088, 0x00100003);
    put_hex(chip, SOURCE, "0102030405060708");
    for (uint32_t i = 0; i < 5; i++) {
        put_command(chip, CDR, i % 4 * 2, SOURCE, DEST, 100 + i, 8);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
        CHECK_EQ(get_word(chip, RDR + 64 * (i % 4) + 24), 100 + i);
        acknowledge(chip, 1);
    }
    cd_eip93_emulator_free(chip);
}

/* 3.2: with one base for both rings the result replaces its command */
static void test_overlaid(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, CDR, 8);
    struct cd_eip93_trace_entry entries[64];
    CHECK_EQ(cd_eip93_emulator_trace(chip, 64), CD_OK);
    put_hex(chip, SOURCE, "0102030405060708");
    for (uint32_t i = 0; i < 20; i++) {
        put_command(chip, CDR, i % 8, SOURCE, DEST + i, i, 8);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
        CHECK_EQ(get_word(chip, CDR + 32 * (i % 8)), 0x00000002);
        CHECK_EQ(get_word(chip, CDR + 32 * (i % 8) + 24), i);
        CHECK_EQ(get_word(chip, CDR + 32 * (i % 8) + 28), 0x00800008);
        acknowledge(chip, 1);
    }
    size_t count = cd_eip93_emulator_trace_take(chip, entries, 64);
    for (size_t i = 0; i < count; i++) {
        CHECK(entries[i].event != CD_EIP93_EVENT_UPDATE_COMMAND);
    }
    cd_eip93_emulator_free(chip);
}

/* 2.4: without EN_CDR_UPDATE the command stays as it was */
static void test_no_command_update(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 8);
    cd_eip93_emulator_write32(chip, 0x100, 0x00000300);
    put_command(chip, CDR, 0, SOURCE, DEST, 7, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(get_word(chip, CDR), 0x00000001);
    CHECK_EQ(get_word(chip, CDR + 28), 0x00400008);
    CHECK_EQ(get_word(chip, RDR), 0x00000002);
    cd_eip93_emulator_free(chip);
}

/* 4.3: ownership 01 in both words, or error 0x18 and nothing done */
static void test_ownership(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 512);
    uint32_t entry = 0;
    for (uint32_t first = 0; first < 4; first++) {
        for (uint32_t last = 0; last < 4; last++) {
            put_hex(chip, DEST, "eeeeeeee");
            put_command(chip, CDR, entry, SOURCE, DEST, 50 + entry, 4);
            put_word(chip, CDR + 32 * entry, first);
            put_word(chip, CDR + 32 * entry + 28, last << 22 | 4);
            ring(chip, 1);
            CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
            bool good = first == 1 && last == 1;
            CHECK_EQ(get_word(chip, RDR + 32 * entry), good ? 0x00000002 : 0x00180002);
            CHECK_EQ(get_word(chip, RDR + 32 * entry + 28), good ? 0x00800004 : 0x00800000);
            CHECK_EQ(get_word(chip, RDR + 32 * entry + 24), 50 + entry);
            CHECK_EQ(get_word(chip, DEST), good ? 0 : 0xeeeeeeee);
            entry++;
        }
    }
    cd_eip93_emulator_free(chip);
}

/* R011: 10,000 jobs, every 7th invalid; results stay with their jobs and the indices agree */
static void test_r011_every_seventh_invalid(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 64);
    put_sa(chip, SA + 0x200, 0x0200F7C0, 0, ""); /* reserved cipher */
    uint32_t done = 0;
    for (uint32_t job = 0; job < 10000; job++) {
        uint32_t slot = job % 64;
        put_command(chip, CDR, slot, SOURCE, DEST, 0xABC00000 + job, 8);
        if (job % 7 == 6) {
            put_word(chip, CDR + 32 * slot + 12, SA + 0x200);
        }
        ring(chip, 1);
        if (job % 5 == 4 || job == 9999) {
            while (cd_eip93_emulator_step(chip, 100000) != 0) {
            }
            uint32_t count = cd_eip93_emulator_read32(chip, 0x094);
            for (uint32_t i = 0; i < count; i++, done++) {
                uint32_t entry = RDR + 32 * (done % 64);
                CHECK_EQ(get_word(chip, entry + 24), 0xABC00000 + done);
                CHECK_EQ(get_word(chip, entry), done % 7 == 6 ? 0x00380002 : 0x00000002);
                acknowledge(chip, 1);
            }
        }
    }
    CHECK_EQ(done, 10000);
    uint32_t pointers = cd_eip93_emulator_read32(chip, 0x098);
    CHECK_EQ(pointers >> 16, pointers & 0x3FF);
    cd_eip93_emulator_free(chip);
}

/* R007: what is wrong in an SA, and the status byte that tells. */
static const struct {
    uint32_t cmd0, cmd1, length, status;
    bool unimplemented;
} wrong[] = {
    {0x0200F7C0, 0x00000000, 16, 0x38, false}, /* reserved cipher 7 */
    {0x0200FEC0, 0x00000000, 16, 0x38, false}, /* reserved cipher 14 */
    {0x0200F3C0, 0x00000000, 16, 0x38, false}, /* AES key length 0 */
    {0x0200F3C0, 0x01000000, 16, 0x38, false}, /* 1 */
    {0x0200F3C0, 0x05000000, 16, 0x38, false}, /* 5 */
    {0x0200F3C0, 0x07000000, 16, 0x38, false}, /* 7 */
    {0x0200F3C2, 0x02000000, 16, 0x28, false}, /* reserved opcodes */
    {0x0200F3C4, 0x02000000, 16, 0x28, false},
    {0x0200F3C5, 0x02000000, 16, 0x28, false},
    {0x0200F3C6, 0x02000000, 16, 0x28, false},
    {0x0200F3C7, 0x02000000, 16, 0x28, false}, /* PRNG without PRNG_MODE */
    {0x0200F3CF, 0x02000000, 16, 0x28, false}, /* inbound PRNG */
    {0x0200F3F0, 0x02000000, 16, 0x28, false}, /* group 3 */
    {0x0200F3E0, 0x02000000, 16, 0x28, false}, /* group 2, opcode 0 */
    {0x0300F3C8, 0x02000100, 16, 0x28, false}, /* IV from the PRNG, inbound */
    {0x0200F3C0, 0x02000000, 0, 0x58, false},
    {0x0200F7C0, 0x00000000, 0, 0x58, false},  /* priority: length 0 before the algorithm */
    {0x0200F3C2, 0x02000000, 0, 0x28, false},  /* opcode before length 0 */
    {0x0100F3C0, 0x02050100, 16, 0x68, false}, /* offset beyond the end */
    {0x0100F3C0, 0x02030100, 16, 0x68, false}, /* offset shorter than the IV */
    {0x0200F2C0, 0x10000000, 16, 0x38, true},  /* ARC4 */
    {0x0200F3D0, 0x02000000, 16, 0x28, true},  /* ESP without HDR_PROC */
    {0x0200F3F1, 0x02000000, 16, 0x28, false}, /* group 3 */
    {0x0200F3E1, 0x02000000, 16, 0x28, true},  /* DTLS */
    {0x0200F3C0, 0x12000000, 16, 0x38, true},  /* AES_DEC_KEY */
    {0x0200F0C0, 0x00000200, 16, 0x38, false}, /* DES has no CTR */
    {0x0200F1C0, 0x00000300, 16, 0x38, false}, /* 3DES no ICM */
    {0x3A404FC3, 0x00000009, 64, 0x38, false}, /* reserved hashes */
    {0x3A40EFC3, 0x00000009, 64, 0x38, false},
    {0x124043C1, 0x02021109, 16, 0x38, false}, /* in encrypt-hash */
    {0x124043C9, 0x02021109, 16, 0x38, false}, /* in hash-decrypt */
    {0x124017C1, 0x02021109, 16, 0x38, false}, /* reserved cipher in encrypt-hash */
    {0x124013C1, 0x00021109, 16, 0x38, false}, /* AES key length 0 in encrypt-hash */
    {0x124012C1, 0x10021109, 16, 0x38, true},  /* ARC4 in encrypt-hash */
    {0x36803FC3, 0x00000009, 64, 0x28, false}, /* HASH_SOURCE 1 */
    {0x3A903FC3, 0x00000009, 64, 0x28, false}, /* DIGEST_LENGTH 9 */
    {0x3A803FC3, 0x00000809, 64, 0x28, true},  /* SSL_MAC */
    {0x3A804FC3, 0x00000009, 0, 0x58, false},  /* length 0 before a reserved hash */
    {0x124013C1, 0x02051109, 16, 0x68, false}, /* offset beyond the end */
};

/* R007: whatever is wrong in an SA, there is a result, a count and an interrupt */
static void test_r007_errors_complete(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_VIRTUAL, CDR, RDR, 512);
    struct cd_eip93_emulator_counters before;
    struct cd_eip93_emulator_counters after;
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cd_eip93_emulator_counters(chip, &before);
        cd_eip93_emulator_write32(chip, 0x204, 0x78E03);
        put_sa(chip, SA, wrong[i].cmd0, wrong[i].cmd1, AES_KEY);
        put_hex(chip, DEST, "eeeeeeee");
        put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        put_command(chip, CDR, i, SOURCE, DEST, i, wrong[i].length);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
        CHECK_EQ(get_word(chip, RDR + 32 * i), wrong[i].status << 16 | 2);
        CHECK_EQ(get_word(chip, RDR + 32 * i + 28), 0x00800000);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x60000, 0x20000); /* PROC_ERR */
        CHECK_HEX(chip, DEST, "eeeeeeee");
        CHECK_HEX(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        acknowledge(chip, 1);
        cd_eip93_emulator_counters(chip, &after);
        CHECK_EQ(after.errors, before.errors + 1);
        CHECK_EQ(after.unimplemented - before.unimplemented, wrong[i].unimplemented);
    }
    cd_eip93_emulator_free(chip);
}

/* 8.1: 0x78 processes the whole blocks; the variant decides which keys there are */
static void test_block_size_and_variant(void) {
    struct cd_eip93_emulator *chip = chip_new_config(
        (struct cd_eip93_emulator_config){.variant = CD_EIP93_93I, .pace = CD_EIP93_FREE});
    chip_start(chip);
    put_sa(chip, SA, 0x1200F3C8, 0x02000100, AES_KEY);
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    put_hex(chip, SOURCE, "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2");
    put_hex(chip, DEST + 16, "eeee");
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 31);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00780002);
    CHECK_EQ(get_word(chip, RDR + 28), 0x00800010);
    CHECK_HEX(chip, DEST, "6bc1bee22e409f96e93d7e117393172a eeee");
    CHECK_HEX(chip, STATE, "7649abac8119b246cee98e9b12e9197d");
    put_sa(chip, SA, 0x1200F3C0, 0x04000100, AES_KEY); /* no 256-bit keys in a 93i */
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(result_status(chip, RDR, 1), 0x38);
    cd_eip93_emulator_free(chip);
}

/* Q10, R017: a full result ring holds the engine back before the result, and loses nothing */
static void test_stall_on_full_results(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_VIRTUAL, CDR, RDR, 4);
    for (uint32_t i = 0; i < 4; i++) {
        put_command(chip, CDR, i, SOURCE, DEST, i, 4);
    }
    ring(chip, 4);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 4);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 4);
    put_command(chip, CDR, 0, SOURCE, DEST, 100, 4);
    put_command(chip, CDR, 1, SOURCE, DEST, 101, 4);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 2);
    CHECK_EQ(get_word(chip, RDR + 24), 0); /* not overwritten */
    acknowledge(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_EQ(get_word(chip, RDR + 24), 100);
    acknowledge(chip, 4);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    CHECK_EQ(get_word(chip, RDR + 32 + 24), 101);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    cd_eip93_emulator_free(chip);
}

/* 2.3: counts saturate, RING_STAT says which, RING_ERR latches */
static void test_count_limits(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 8);
    ring(chip, 8);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 8);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x09C), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x10000, 0);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 8);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x09C), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x10000, 0x10000);
    cd_eip93_emulator_write32(chip, 0x09C, 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x09C), 0);
    cd_eip93_emulator_write32(chip, 0x204, 0x10000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x10000, 0);
    cd_eip93_emulator_write32(chip, 0x094, 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x09C), 2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x10000, 0x10000);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 8); /* eight empty commands: eight errors */
    cd_eip93_emulator_write32(chip, 0x090, 0xF00);     /* bits 10:8 add nothing */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
    cd_eip93_emulator_free(chip);
}

/* Q2 and section 2.4: bits 1 and 2 both reset the rings; bases survive; the register reads back */
static void test_resets(void) {
    static const uint32_t bits[] = {0x2, 0x4};
    for (size_t i = 0; i < 2; i++) {
        struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_FREE, CDR, RDR, 8);
        for (uint32_t job = 0; job < 3; job++) {
            put_command(chip, CDR, job, SOURCE, DEST, job, 4);
        }
        ring(chip, 3);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 3);
        ring(chip, 2);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x098), 0x00030003);
        cd_eip93_emulator_write32(chip, 0x100, 0x700 | bits[i]);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x100), 0x700 | bits[i]);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x098), 0);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
        ring(chip, 1); /* ignored while held */
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x080), CDR);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x084), RDR);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x088), 7);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x08C), 0x940001E0);
        cd_eip93_emulator_write32(chip, 0x100, 0x700);
        put_command(chip, CDR, 0, SOURCE, DEST, 77, 4);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
        CHECK_EQ(get_word(chip, RDR + 24), 77);
        cd_eip93_emulator_free(chip);
    }
}

/* 2.4: RST_PE drops the packet in work without a result and without touching the counts */
static void test_engine_reset(void) {
    struct cd_eip93_emulator *chip = chip_null_cipher(CD_EIP93_VIRTUAL, CDR, RDR, 8);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 4096);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 10), 0); /* fetched, not done */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x018), 1);
    cd_eip93_emulator_write32(chip, 0x100, 0x701);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x000), 2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x01C), 0x00800000);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
    CHECK_EQ(get_word(chip, RDR), 0);
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_r001_wrap_4);
    RUN(test_r001_wrap_8);
    RUN(test_r001_wrap_512);
    RUN(test_stride);
    RUN(test_overlaid);
    RUN(test_no_command_update);
    RUN(test_ownership);
    RUN(test_r011_every_seventh_invalid);
    RUN(test_r007_errors_complete);
    RUN(test_block_size_and_variant);
    RUN(test_stall_on_full_results);
    RUN(test_count_limits);
    RUN(test_resets);
    RUN(test_engine_reset);
    return test_end();
}
