/* Basic hash: worked examples of eip93-hardware.md section 9 and the lengths of 12.1. */
#include "emulator_hashes.h"

#define IPAD 0x36
#define OPAD 0x5C

/* The digest in the state record, in canonical order. */
static void get_digest(struct cd_eip93_emulator *chip, uint8_t *out,
                       const struct cd_md_algorithm *algorithm) {
    get_bytes(chip, out, STATE + 0x18, algorithm->digest_size);
    for (size_t i = 0; algorithm->big_endian && i < algorithm->digest_size; i += 4) {
        uint8_t first = out[i];
        uint8_t second = out[i + 1];
        out[i] = out[i + 3];
        out[i + 1] = out[i + 2];
        out[i + 2] = second;
        out[i + 3] = first;
    }
}

/* 9.4 */
static void test_sha256_words(void) {
    static const uint32_t command[8] = {0x00000011, 0x10020000, 0x00000000, 0x10010000,
                                        0x10010100, 0x00000000, 0x00480000, 0x00400003};
    static const uint32_t result[8] = {0x00000012, 0x10020000, 0x00000000, 0x10010000,
                                       0x10010100, 0x00000000, 0x00480000, 0x00800020};
    struct cd_eip93_emulator *chip = chip_started();
    put_hex(chip, 0x10010000, "c33f803a 09000000");
    put_hex(chip, 0x10010074, "ffffffff");
    put_hex(chip, 0x10010100, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
    put_hex(chip, 0x10010110,
            "00000000 00000000 67e6096a 85ae67bb 72f36e3c 3af54fa5 7f520e51 8c68059b abd9831f "
            "19cde05b bbbbbbbb");
    put_hex(chip, 0x10020000, "616263");
    put_words(chip, CDR, command, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK(is_words(chip, RDR, result, 8));
    CHECK_HEX(chip, 0x10010100, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"); /* although SAVE_IV is 1 */
    CHECK_HEX(chip, 0x10010110,
              "03000000 00000000 bf1678ba eacf018f de404141 2322ae5d a36103b0 9c7a1796 61ff10b4 "
              "ad1500f2 bbbbbbbb");
    struct cd_eip93_emulator_counters counters;
    cd_eip93_emulator_counters(chip, &counters);
    CHECK_EQ(counters.bytes_written, 0);
    CHECK_EQ(counters.guest_errors, 0);
    cd_eip93_emulator_free(chip);
}

/* 9.5, the form of the Linux driver: two descriptors, two SAs, one state */
static void test_hmac_two_descriptors(void) {
    static const uint32_t commands[16] = {
        0x00000001, 0x10020000, 0x00000000, 0x10010000, 0x10010100, 0, 0x00400000, 0x00400040,
        0x00000011, 0x10020100, 0x00000000, 0x10010080, 0x10010100, 0, 0x00480000, 0x0040001c};
    static const uint32_t results[16] = {
        0x00000002, 0x10020000, 0x00000000, 0x10010000, 0x10010100, 0, 0x00400000, 0x00800000,
        0x00000012, 0x10020100, 0x00000000, 0x10010080, 0x10010100, 0, 0x00480000, 0x00800014};
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t key[64];
    memset(key, IPAD, sizeof key);
    put_bytes(chip, 0x10020000, key, sizeof key);
    put_hex(chip, 0x10020000, "7c535053");
    put_bytes(chip, 0x10020100, "what do ya want for nothing?", 28);
    put_sa(chip, 0x10010000, 0x3A501FC3, 0x0000000B, "");
    put_sa(chip, 0x10010080, 0x3A501FC3, 0x0000100B, "");
    put_hex(chip, 0x10010080 + 0x48, "2a378820 a11006f5 058b2ff8 32fe4b8e 354e0b28");
    put_hex(chip, 0x10010110,
            "00000000 00000000 01234567 89abcdef fedcba98 76543210 f0e1d2c3 bbbbbbbb");
    put_words(chip, CDR, commands, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_HEX(chip, 0x10010110,
              "40000000 00000000 a78e4d62 03182b3f e4b95495 f565c028 8eb9fca9 bbbbbbbb");
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK(is_words(chip, RDR, results, 16));
    CHECK_HEX(chip, 0x10010110,
              "5c000000 00000000 6adffcef a22febe5 d51674d2 9cdf84f1 797c9a25 bbbbbbbb");
    cd_eip93_emulator_free(chip);
}

/* 9.5, one descriptor: I_DIGEST and O_DIGEST in the SA. HMAC alone ends the message as well. */
static void test_hmac_one_descriptor(void) {
    static const uint32_t command[8] = {0x00000011, 0x10020000, 0x10021000, 0x10010000,
                                        0x10010100, 0x00000000, 0x00480001, 0x0040001c};
    static const uint32_t result[8] = {0x00000012, 0x10020000, 0x10021000, 0x10010000,
                                       0x10010100, 0x00000000, 0x00480001, 0x00800014};
    struct cd_eip93_emulator *chip = chip_started();
    put_bytes(chip, 0x10020000, "what do ya want for nothing?", 28);
    put_sa(chip, 0x10010000, 0x20501FC3, 0x00001009, "");
    put_hex(chip, 0x10010028, "a78e4d62 03182b3f e4b95495 f565c028 8eb9fca9");
    put_hex(chip, 0x10010048, "2a378820 a11006f5 058b2ff8 32fe4b8e 354e0b28");
    put_words(chip, CDR, command, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK(is_words(chip, RDR, result, 8));
    CHECK_HEX(chip, 0x10021000, "6adffcef a22febe5 d51674d2 9cdf84f1 797c9a25 00000000");
    CHECK_HEX(chip, 0x10010110, "5c000000 00000000 6adffcef a22febe5 d51674d2 9cdf84f1 797c9a25");
    put_hex(chip, 0x10021000, "0000000000000000000000000000000000000000");
    CHECK_EQ(run_command(chip, 0x00000001, SOURCE, DEST, 28), 0);
    CHECK_HEX(chip, 0x10021000, "6adffcef a22febe5 d51674d2 9cdf84f1 797c9a25 00000000");
    cd_eip93_emulator_free(chip);
}

/* 9.8: "abc", with the state from the record (HASH_SOURCE 2) and with constants (3) */
static void test_short_answers(void) {
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < HASHES; i++) {
        const struct hash_row *row = &hash_rows[i];
        for (uint32_t source = 2; source <= 3; source++) {
            put_sa(chip, SA, (row->cmd0 & ~0x0C000000u) | source << 26, 0x9, "");
            put_hex(chip, STATE + 0x10, source == 2 ? row->initial : "eeeeeeeeeeeeeeee");
            put_bytes(chip, SOURCE, "abc", 3);
            CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 3), 0);
            CHECK_HEX(chip, DEST, row->abc);
            CHECK_HEX(chip, STATE + 0x18, row->abc);
            CHECK_HEX(chip, STATE + 0x10, "0300000000000000");
            CHECK_EQ(result_length(chip), row->algorithm->digest_size);
        }
    }
    /* all eight words of SHA-224, also after the end */
    put_sa(chip, SA, 0x3E802FC3, 0x9, "");
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 3), 0);
    CHECK_HEX(chip, DEST, "227d092322d80534 77a44286b355a2bd e4bcad2af7b3a0bd a79d6ce32d08dad2");
    CHECK_HEX(chip, STATE + 0x18,
              "227d092322d80534 77a44286b355a2bd e4bcad2af7b3a0bd a79d6ce32d08dad2");
    cd_eip93_emulator_free(chip);
}

/* 9.8: HMAC with key 0b x 20 as the Linux driver prepares it: the chip hashes the padded keys. */
static void test_hmac_short_answers(void) {
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t expected[32];
    uint8_t actual[32];
    for (size_t i = 0; i < HASHES; i++) {
        const struct hash_row *row = &hash_rows[i];
        uint8_t pads[2][64];
        memset(pads[0], OPAD, 64);
        memset(pads[1], IPAD, 64);
        memset(pads[0], 0x0B ^ OPAD, 20);
        memset(pads[1], 0x0B ^ IPAD, 20);
        put_sa(chip, SA, row->cmd0, 0xB, "");
        for (size_t pad = 0; pad < 2; pad++) {
            put_hex(chip, STATE + 0x10, row->initial);
            put_bytes(chip, SOURCE, pads[pad], 64);
            CHECK_EQ(run_command(chip, 0x1, SOURCE, 0, 64), 0);
            if (pad == 0) {
                uint8_t outer[32];
                get_bytes(chip, outer, STATE + 0x18, 32);
                put_bytes(chip, SA + 0x48, outer, 32);
            }
        }
        put_word(chip, SA + 4, 0x100B);
        put_bytes(chip, SOURCE, "Hi There", 8);
        CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 8), 0);
        CHECK_EQ(get_word(chip, STATE + 0x10), 72);
        size_t length = test_hex(expected, row->hi);
        get_digest(chip, actual, row->algorithm);
        CHECK_EQ(length, row->algorithm->digest_size);
        CHECK_BYTES(actual, expected, length);
    }
    cd_eip93_emulator_free(chip);
}

/* Hash `length` bytes as the Linux driver cuts them: 64 at a time, 1 to 64 for the last; the state
 * moves to another record half-way (export and import). */
static void hash_in_pieces(struct cd_eip93_emulator *chip, const struct hash_row *row,
                           uint32_t length) {
    uint32_t done = 0;
    put_sa(chip, SA, row->cmd0, 0x9, "");
    put_hex(chip, STATE + 0x10, row->initial);
    while (length - done > 64) {
        CHECK_EQ(run_command(chip, 0x1, SOURCE + done, 0, 64), 0);
        done += 64;
        CHECK_EQ(get_word(chip, STATE + 0x10), done);
        uint8_t record[56];
        get_bytes(chip, record, STATE, sizeof record);
        put_hex(chip, STATE + 0x10, "ffffffffffffffffffffffffffffffff");
        CHECK_EQ(run_command(chip, 0x1, SOURCE, 0, 64), 0); /* another's work in between */
        put_bytes(chip, STATE, record, sizeof record);
    }
    CHECK_EQ(run_command(chip, 0x11, SOURCE + done, 0, length - done), 0);
}

/* Section 12.1, item 9 */
static void test_lengths(void) {
    static const uint32_t lengths[] = {1, 55, 56, 63, 64, 65, 119, 120, 128, 1000};
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t message[1000];
    uint8_t expected[32];
    uint8_t actual[32];
    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)(i * 7);
    }
    put_bytes(chip, SOURCE, message, sizeof message);
    for (size_t hash = 0; hash < HASHES; hash++) {
        const struct cd_md_algorithm *algorithm = hash_rows[hash].algorithm;
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            cd_md_digest(algorithm, expected, message, lengths[i]);
            hash_in_pieces(chip, &hash_rows[hash], lengths[i]);
            get_digest(chip, actual, algorithm);
            CHECK_BYTES(actual, expected, algorithm->digest_size);
            CHECK_EQ(get_word(chip, STATE + 0x10), lengths[i]);
            put_sa(chip, SA, hash_rows[hash].cmd0 | 0x04000000, 0x9, ""); /* at once */
            CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, lengths[i]), 0);
            get_digest(chip, actual, algorithm);
            CHECK_BYTES(actual, expected, algorithm->digest_size);
        }
    }
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_sha256_words);
    RUN(test_hmac_two_descriptors);
    RUN(test_hmac_one_descriptor);
    RUN(test_short_answers);
    RUN(test_hmac_short_answers);
    RUN(test_lengths);
    return test_end();
}
