/* Basic hash: odd counts, lengths, copies, addresses and variants (eip93-hardware.md 6.4). */
#include "emulator_hashes.h"

/* R003: a running count of 56476 and a segment of 17 bytes; a count of all ones. The data start a
 * block whatever the count says. Expected: SHA-256 compression of a hand-made block in Python. */
static void test_r003_running_count(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa(chip, SA, 0x3A803FC3, 0x9, "");
    put_hex(chip, SOURCE, "000102030405060708090a0b0c0d0e0f10");
    put_hex(chip, STATE + 0x10, hash_rows[3].initial);
    put_word(chip, STATE + 0x10, 56476);
    CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 17), 0);
    CHECK_HEX(chip, STATE + 0x10,
              "addc0000 00000000 9d954d0e912e516a5b6855839efb6aeeb2dce1429ecab36bc5df23546ae269bb");
    put_hex(chip, STATE + 0x10, hash_rows[3].initial);
    put_hex(chip, STATE + 0x10, "ffffffffffffffff");
    CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 17), 0);
    CHECK_HEX(chip, STATE + 0x10,
              "10000000 00000000 cfe49fac295190ae46deeab4f09aafd6acde005480f0fce4c0589723f25e7c1d");
    cd_eip93_emulator_free(chip);
}

/* R003 and sections 5.3, 6.1: every segment length with "final", any count; source, destination and
 * what the hash has of a state record mapped to the byte, so that another access would be a bus
 * error or an overrun. */
static void test_r003_segments(void) {
    struct cd_eip93_emulator *chip = chip_started();
    for (uint32_t i = 0; i < HASHES * 63; i++) {
        const struct cd_md_algorithm *algorithm = hash_rows[i % HASHES].algorithm;
        uint32_t length = i / HASHES + 1;
        size_t words_len = 4 * (size_t)algorithm->state_words;
        uint8_t *source = malloc(length);
        uint8_t *destination = malloc(algorithm->digest_size);
        uint8_t *record = malloc(8 + words_len);
        memset(source, (int)length, length);
        memset(record, 0, 8 + words_len);
        memcpy(record, "\x9c\xdc", 2); /* 56476 */
        uint32_t addresses[3] = {
            map_buffer(chip, source, length, CD_DMA_TO_DEVICE),
            map_buffer(chip, destination, algorithm->digest_size, CD_DMA_FROM_DEVICE),
            map_buffer(chip, record, 8 + words_len, CD_DMA_BIDIRECTIONAL)};
        put_sa(chip, SA, hash_rows[i % HASHES].cmd0, i / 8 % 2 == 0 ? 0x9 : 0x1009, "");
        chip_start(chip);
        put_command(chip, CDR, 0, addresses[0], addresses[1], i, length);
        put_word(chip, CDR, 0x11);
        put_word(chip, CDR + 16, addresses[2] - 0x10);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
        CHECK_EQ(get_word(chip, RDR), 0x12);
        CHECK_BYTES(destination, record + 8, algorithm->digest_size);
        CHECK_EQ(record[0] | record[1] << 8, 56476 + length);
        for (size_t j = 0; j < 3; j++) {
            CHECK_EQ(cd_eip93_emulator_unmap(chip, addresses[j]), CD_OK);
        }
        free(source);
        free(destination);
        free(record);
    }
    cd_eip93_emulator_free(chip);
}

/* 6.4: without an end only whole blocks count, and anything else is 0x78. The digest is of the 64
 * bytes 'a'; the compression was computed in Python. */
static void test_intermediate_length(void) {
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t message[130];
    memset(message, 'a', sizeof message);
    put_bytes(chip, SOURCE, message, sizeof message);
    put_sa(chip, SA, 0x3E803FC3, 0x9, ""); /* from constants */
    CHECK_EQ(run_command(chip, 0x1, SOURCE, DEST, 64), 0);
    CHECK_EQ(result_length(chip), 0); /* no digest in the output before the end */
    CHECK_HEX(chip, STATE + 0x10,
              "40000000 00000000 1cb85bdf26061ee894a845fb310fd44f16685eb2c199d4d6294990ab665e6300");
    for (uint32_t length = 65; length < 128; length += 31) {
        put_hex(chip, STATE + 0x10, "ffffffffffffffffffffffffffffffff");
        CHECK_EQ(run_command(chip, 0x1, SOURCE, DEST, length), 0x78);
        CHECK_HEX(chip, STATE + 0x10, "40000000 00000000 1cb85bdf26061ee894a845fb310fd44f");
    }
    CHECK_EQ(run_command(chip, 0x1, SOURCE, DEST, 63), 0x78);
    CHECK_HEX(chip, STATE + 0x10, "00000000 00000000 67e6096a 85ae67bb");
    put_word(chip, SA + 4, 0xD); /* COPY_PAYLOAD: the whole blocks */
    CHECK_EQ(run_command(chip, 0x1, SOURCE, DEST, 130), 0x78);
    CHECK_EQ(result_length(chip), 128);
    cd_eip93_emulator_free(chip);
}

/* 6.1 and 5.4: COPY_PAYLOAD, bypass, all DIGEST_LENGTH codes; byte-exact and at any alignment */
static void test_copies(void) {
    static const char digest[] =
        "bf1678baeacf018f de4041412322ae5d a36103b09c7a1796 61ff10b4ad1500f2";
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t expected[64];
    uint8_t actual[64];
    for (uint32_t code = 0; code < 16; code++) {
        for (uint32_t shift = 0; shift < 4; shift++) {
            uint32_t destination = DEST + shift;
            put_sa(chip, SA, 0x0C003FC3 | code << 20, 0x5, "");
            put_hex(chip, SOURCE + 5, "f0f1f2f3 616263");
            memset(actual, 0xEE, sizeof actual);
            put_bytes(chip, destination, actual, sizeof actual);
            uint32_t status = run_command(chip, 0x11, SOURCE + 5, destination, 0x01000000 | 7);
            if (code == 9 || code > 10) {
                CHECK_EQ(status, 0x28); /* reserved */
                CHECK_EQ(result_length(chip), 0);
                continue;
            }
            uint32_t digest_len = code == 0 ? 12 : code == 10 ? 10 : 4 * code;
            CHECK_EQ(status, 0);
            CHECK_EQ(get_word(chip, RDR + 28), 0x01800000 | (7 + digest_len));
            memset(expected, 0xEE, sizeof expected);
            test_hex(expected, "f0f1f2f3 616263");
            uint8_t whole[32];
            test_hex(whole, digest);
            memcpy(expected + 7, whole, digest_len);
            get_bytes(chip, actual, destination, sizeof actual);
            CHECK_BYTES(actual, expected, sizeof actual);
        }
    }
    cd_eip93_emulator_free(chip);
}

/* 6.1: source and destination may overlap in any way */
static void test_overlap(void) {
    static const int32_t shifts[] = {0, 1, 3, 4, 31, 32, 63, 99, 100, -1, -4, -32, -99, -140};
    struct cd_eip93_emulator *chip = chip_started();
    uint8_t message[100];
    memset(message, 'a', sizeof message);
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        for (uint32_t copy = 0; copy < 2; copy++) {
            uint32_t destination = SOURCE + (uint32_t)shifts[i];
            uint8_t out[100];
            put_sa(chip, SA, 0x0C803FC3, copy == 0 ? 0x1 : 0x5, "");
            put_bytes(chip, SOURCE, message, sizeof message);
            CHECK_EQ(run_command(chip, 0x11, SOURCE, destination, 100), 0);
            if (copy != 0) {
                get_bytes(chip, out, destination, sizeof out);
                CHECK_BYTES(out, message, sizeof out);
                destination += 100;
            }
            /* SHA-256 of 100 times 'a' (Python hashlib), each word turned round */
            CHECK_HEX(chip, destination,
                      "78591628 d3a0e488 b8826ba3 32ab1633 f0b80e68 b9d38c0f 2481d604 0e5a286d");
        }
    }
    cd_eip93_emulator_free(chip);
}

/* What the SA can ask for beyond hashing: no hash, more words than there are, no bytes but bypass
 */
static void test_odd_requests(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_bytes(chip, SOURCE, "abcd", 4);
    put_hex(chip, STATE + 0x10, "eeeeeeeeeeeeeeee eeeeeeee");
    put_sa(chip, SA, 0x2840FFC3, 0x5, ""); /* null hash: copies */
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 4), 0);
    CHECK_HEX(chip, DEST, "61626364 00000000");
    CHECK_EQ(result_length(chip), 4);
    CHECK_HEX(chip, STATE + 0x10, "eeeeeeeeeeeeeeee eeeeeeee");
    put_sa(chip, SA, 0x0C800FC3, 0x1, ""); /* MD5 with eight words */
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 3), 0);
    CHECK_HEX(chip, DEST, "900150983cd24fb0d6963f7d28e17f72 00000000000000000000000000000000");
    put_sa(chip, SA, 0x0C803FC3, 0x1, ""); /* SHA-256 of nothing, behind a bypass */
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 0x01000004), 0);
    CHECK_HEX(chip, DEST,
              "61626364 42c4b0e3 141cfc98 c8f4fb9a 24b96f99 e441ae27 4c939b64 1b9995a4 55b85278");
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 0x02000004), 0x68);
    put_sa(chip, SA, 0x0C803F0B, 0x1, ""); /* inbound, a pad that is none: PAD_VALUE is 0 */
    CHECK_EQ(run_command(chip, 0x5511, SOURCE, DEST, 3), 0);
    CHECK_EQ(get_word(chip, RDR), 0x00000012);
    CHECK_EQ(result_length(chip), 32);
    put_sa(chip, SA, 0x0C803F03, 0x1, "");
    CHECK_EQ(run_command(chip, 0x5511, SOURCE, DEST, 3), 0);
    CHECK_EQ(get_word(chip, RDR), 0x00005512);
    cd_eip93_emulator_free(chip);
}

/* Q4: with destination 0 nothing is written and nothing fails; other bad addresses are an error */
static void test_destination(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa(chip, SA, 0x0C803FC3, 0x1, "");
    CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 3), 0);
    CHECK_EQ(result_length(chip), 32);
    CHECK_EQ(run_command(chip, 0x11, SOURCE, 4, 3), 0x08);
    CHECK_EQ(run_command(chip, 0x11, 4, DEST, 3), 0x08);
    put_sa(chip, SA, 0x3A803FC3, 0x9, "");
    chip_start(chip);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 3);
    put_word(chip, CDR + 16, 0xFFFFFFF0); /* +10 is 0 */
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_EQ(result_status(chip, RDR, 0), 0x08);
    cd_eip93_emulator_free(chip);
}

/* Q5: a hash of no bytes is refused; with the strap it adds the digest size to BYTE_CNT alone */
static void test_zero_length_strap(void) {
    for (int strap = 0; strap < 2; strap++) {
        struct cd_eip93_emulator *chip = chip_new_config(
            (struct cd_eip93_emulator_config){.variant = CD_EIP93_93IES,
                                              .pace = CD_EIP93_FREE,
                                              .strap_zero_length_count = strap != 0});
        for (size_t i = 0; i < HASHES; i++) {
            put_sa(chip, SA, hash_rows[i].cmd0, 0x9, "");
            put_hex(chip, STATE + 0x10, hash_rows[i].initial);
            CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 0), 0x58);
            CHECK_EQ(result_length(chip), 0);
            CHECK_EQ(get_word(chip, STATE + 0x10),
                     strap != 0 ? hash_rows[i].algorithm->digest_size : 0);
            CHECK_HEX(chip, STATE + 0x14, hash_rows[i].initial + 8);
        }
        put_hex(chip, STATE + 0x10, "ffffffffffffffff eeeeeeee eeeeeeee"); /* HASH_SOURCE 3 */
        put_sa(chip, SA, 0x2C803FC3, 0x9, "");
        CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 0), 0x58);
        CHECK_HEX(chip, STATE + 0x10,
                  strap != 0 ? "2000000000000000 eeeeeeee eeeeeeee"
                             : "ffffffffffffffff eeeeeeee eeeeeeee");
        put_hex(chip, STATE + 0x10, "00000000");
        put_sa(chip, SA, 0x1A803FC3, 0x9, ""); /* no SAVE_HASH */
        CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 0), 0x58);
        put_sa(chip, SA, 0x3A803FC0, 0x9, ""); /* no hash operation */
        CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 0), 0x58);
        CHECK_EQ(get_word(chip, STATE + 0x10), 0);
        cd_eip93_emulator_free(chip);
    }
}

/* OPTION_1 decides: 93i has SHA-1, 93ie also SHA-224 and SHA-256, 93is MD5 and SHA-1, 93iw SHA-1 */
static void test_variants(void) {
    static const uint32_t statuses[5][HASHES] = {{0x38, 0, 0x38, 0x38},
                                                 {0x38, 0, 0, 0},
                                                 {0, 0, 0x38, 0x38},
                                                 {0, 0, 0, 0},
                                                 {0x38, 0, 0x38, 0x38}};
    for (int32_t variant = 0; variant < 5; variant++) {
        struct cd_eip93_emulator *chip = chip_new_config(
            (struct cd_eip93_emulator_config){.variant = variant, .pace = CD_EIP93_FREE});
        for (size_t i = 0; i < HASHES; i++) {
            put_sa(chip, SA, hash_rows[i].cmd0, 0x9, "");
            CHECK_EQ(run_command(chip, 0x11, SOURCE, 0, 3), statuses[variant][i]);
            put_sa(chip, SA, (hash_rows[i].cmd0 & ~0x3u) | 1, 0x9, ""); /* encrypt-hash */
            CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 3), statuses[variant][i]);
        }
        cd_eip93_emulator_free(chip);
    }
}

int main(void) {
    RUN(test_r003_running_count);
    RUN(test_r003_segments);
    RUN(test_intermediate_length);
    RUN(test_copies);
    RUN(test_overlap);
    RUN(test_odd_requests);
    RUN(test_destination);
    RUN(test_zero_length_strap);
    RUN(test_variants);
    return test_end();
}
