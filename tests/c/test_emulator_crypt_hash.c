/* Encrypt-hash and hash-decrypt: eip93-hardware.md sections 6.5 and 9.6. Tags that 9.6 does not
 * give are from `openssl enc` and Python's hmac, each word turned round for the raw form. */
#include "emulator_support.h"

#define AAD "0000123400000001"
#define CIPHERTEXT "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2"
#define TAG "dbc7eb5e b875ed1d 0d606169 3cb4dfb8 9476583f"     /* canonical */
#define RAW_TAG "5eebc7db 1ded75b8 6961600d b8dfb43c 3f587694" /* as the chip writes it */

/* An SA with HMAC-SHA1 of key 00..13 prepared (9.6). */
static void put_sa_sha1(struct cd_eip93_emulator *chip, uint32_t cmd0, uint32_t cmd1,
                        const char *key) {
    put_sa(chip, SA, cmd0, cmd1, key);
    put_hex(chip, SA + 0x28, "d66e890f ca60dfa5 5b48e12a 9a0b4f52 a068b01d");
    put_hex(chip, SA + 0x48, "726dc6be d3aab56b 45c6247b 8d504ea7 765d00f2");
}

static void put_iv(struct cd_eip93_emulator *chip) {
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
}

static struct cd_eip93_emulator *chip_checking_tags(void) {
    struct cd_eip93_emulator *chip = chip_new_config((struct cd_eip93_emulator_config){
        .variant = CD_EIP93_93IES, .pace = CD_EIP93_FREE, .strap_basic_icv_check = true});
    chip_start(chip);
    return chip;
}

/* 9.6, encrypt */
static void test_encrypt_words(void) {
    static const uint32_t command[8] = {0x00000001, 0x10020000, 0x10021000, 0x10010000,
                                        0x10010100, 0x00000000, 0x00880000, 0x00400028};
    static const uint32_t result[8] = {0x00000002, 0x10020000, 0x10021000, 0x10010000,
                                       0x10010100, 0x00000000, 0x00880000, 0x00800034};
    struct cd_eip93_emulator *chip = chip_started();
    put_hex(chip, 0x10010000, "c1133012 0b110202 2b7e1516 28aed2a6 abf71588 09cf4f3c");
    put_hex(chip, 0x10010028, "d66e890f ca60dfa5 5b48e12a 9a0b4f52 a068b01d");
    put_hex(chip, 0x10010048, "726dc6be d3aab56b 45c6247b 8d504ea7 765d00f2");
    put_hex(chip, 0x10010074, "ffffffff");
    put_hex(chip, 0x10010100, "00010203 04050607 08090a0b 0c0d0e0f aaaaaaaa aaaaaaaa aaaaaaaa");
    put_hex(chip, 0x10020000,
            "00001234 00000001 6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac "
            "45af8e51");
    put_words(chip, CDR, command, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK(is_words(chip, RDR, result, 8));
    CHECK_HEX(chip, 0x10021000,
              "00001234 00000001 7649abac 8119b246 cee98e9b 12e9197d 5086cb9b 507219ee 95db113a "
              "917678b2 5eebc7db 1ded75b8 6961600d 00000000");
    CHECK_HEX(chip, 0x10010100, "5086cb9b 507219ee 95db113a 917678b2 aaaaaaaa aaaaaaaa aaaaaaaa");
    CHECK_HEX(chip, 0x10010000, "c1133012 0b110202 2b7e1516"); /* the SA is only read */
    cd_eip93_emulator_free(chip);
}

/* 9.6, decrypt */
static void test_decrypt_words(void) {
    static const uint32_t command[8] = {0x00000001, 0x10020000, 0x10021000, 0x10010000,
                                        0x10010100, 0x00000000, 0x00880000, 0x00400028};
    static const uint32_t result[8] = {0x00000002, 0x10020000, 0x10021000, 0x10010000,
                                       0x10010100, 0x00000000, 0x00880000, 0x00800028};
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_sha1(chip, 0x123013C9, 0x02021102, AES_KEY);
    put_iv(chip);
    put_hex(chip, 0x10020000, AAD CIPHERTEXT "dbc7eb5e b875ed1d 0d606169");
    put_words(chip, CDR, command, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK(is_words(chip, RDR, result, 8));
    CHECK_HEX(chip, 0x10021000,
              "00001234 00000001 6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57 1e03ac9c 9eb76fac "
              "45af8e51 00000000");
    CHECK_HEX(chip, 0x10010100, "5086cb9b 507219ee 95db113a 917678b2");
    cd_eip93_emulator_free(chip);
}

/* Q1: with the strap the tag behind the input counts, every bit of it, and nothing behind it */
static void test_tag_strap(void) {
    struct cd_eip93_emulator *chip = chip_checking_tags();
    for (uint32_t bit = 0; bit < 8 * 16; bit++) {
        uint8_t byte;
        put_sa_sha1(chip, 0x123013C9, 0x02021103,
                    AES_KEY); /* 12 bytes; the digest is copied, too */
        put_iv(chip);
        put_hex(chip, SOURCE, AAD CIPHERTEXT TAG);
        get_bytes(chip, &byte, SOURCE + 40 + bit / 8, 1);
        byte ^= (uint8_t)(1 << bit % 8);
        put_bytes(chip, SOURCE + 40 + bit / 8, &byte, 1);
        uint32_t destination = bit % 2 == 0 ? SOURCE : DEST; /* in place: over the tag */
        CHECK_EQ(run_command(chip, 1, SOURCE, destination, 40), bit < 8 * 12 ? 0x01 : 0);
        CHECK_HEX(chip, destination + 8, "6bc1bee2 2e409f96 e93d7e11 7393172a ae2d8a57");
        CHECK_HEX(chip, destination + 40, "5eebc7db 1ded75b8 6961600d");
        CHECK_EQ(result_length(chip), 52);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x20000, 0); /* no extended error */
    }
    put_sa_sha1(chip, 0x120013C9, 0x02020102, AES_KEY); /* without HMAC nothing is compared */
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 40), 0);
    cd_eip93_emulator_free(chip);
}

/* 5.4: tags of all lengths, byte-exact behind the data */
static void test_tag_lengths(void) {
    struct cd_eip93_emulator *chip = chip_started();
    for (uint32_t code = 0; code <= 10; code++) {
        uint8_t expected[64];
        uint8_t actual[64];
        uint8_t tag[64] = {0};
        uint32_t tag_len = code == 0 ? 12 : code == 10 ? 10 : 4 * code;
        memset(expected, 0xEE, sizeof expected);
        put_bytes(chip, DEST, expected, sizeof expected);
        put_bytes(chip, DEST + 40, expected, sizeof expected);
        put_sa_sha1(chip, 0x120013C1 | code << 20, 0x0202110B, AES_KEY);
        put_iv(chip);
        put_hex(chip, SOURCE, AAD AES_TEXT);
        CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 40), code == 9 ? 0x28 : 0);
        if (code == 9) {
            continue;
        }
        CHECK_EQ(result_length(chip), 40 + tag_len);
        test_hex(tag, RAW_TAG);
        memcpy(expected, tag, tag_len);
        get_bytes(chip, actual, DEST + 40, sizeof actual);
        CHECK_BYTES(actual, expected, sizeof actual);
        CHECK_HEX(chip, DEST, AAD CIPHERTEXT);
    }
    cd_eip93_emulator_free(chip);
}

/* 6.1: CTR with 5 bytes and a header of 7 (BYTE_OFFSET): the tag follows unaligned */
static void test_unaligned(void) {
    struct cd_eip93_emulator *chip = chip_started();
    for (uint32_t shift = 0; shift < 4; shift++) {
        put_sa_sha1(chip, 0x125013C1, 0x0207320B, "ae6852f8121067cc4bf7a5765577f39e");
        put_hex(chip, STATE, "00000030000000000000000000000001");
        put_hex(chip, SOURCE + 1, "01020304050607 53696e676c");
        put_hex(chip, DEST + shift + 32, "eeee");
        CHECK_EQ(run_command(chip, 1, SOURCE + 1, DEST + shift, 12), 0);
        CHECK_HEX(chip, DEST + shift,
                  "01020304050607 e4095d4fb7 bac624a736d48ce7db9e90fdc49bf745e5e34190 eeee");
        CHECK_EQ(result_length(chip), 32);
        CHECK_HEX(chip, STATE, "00000030000000000000000000000002");
    }
    cd_eip93_emulator_free(chip);
}

/* 6.5: no payload; the digest alone, without header or payload in the output */
static void test_header_only(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_sha1(chip, 0x125013C1, 0x0202110B, AES_KEY);
    put_iv(chip);
    put_hex(chip, SOURCE, AAD);
    CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 8), 0);
    CHECK_HEX(chip, DEST, AAD "cdfe1f38ba33273acb23f96df0fe02b1841cc4e7 00");
    CHECK_HEX(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    put_word(chip, SA + 4, 0x02021109); /* header not copied, in place */
    CHECK_EQ(run_command(chip, 1, SOURCE, SOURCE, 8), 0);
    CHECK_HEX(chip, SOURCE, "cdfe1f38ba33273acb23f96df0fe02b1841cc4e7 00");
    CHECK_EQ(result_length(chip), 20);
    cd_eip93_emulator_free(chip);
}

/* Q16: an IV from the input is the last of the header; it is hashed and copied */
static void test_iv_in_header(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_sha1(chip, 0x115013C1, 0x0206110B, AES_KEY);
    put_hex(chip, SOURCE, AAD "000102030405060708090a0b0c0d0e0f" AES_TEXT);
    CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 56), 0);
    CHECK_HEX(chip, DEST,
              AAD "000102030405060708090a0b0c0d0e0f" CIPHERTEXT
                  "1ba470def67ce5d6b90b643c270c3ec3a4773854");
    put_word(chip, SA, 0x115013C9);
    put_word(chip, SA + 4, 0x02061102);
    CHECK_EQ(run_command(chip, 1, DEST, SOURCE, 56), 0);
    CHECK_HEX(chip, SOURCE, AAD "000102030405060708090a0b0c0d0e0f" AES_TEXT);
    put_word(chip, SA + 4, 0x02031102); /* the header is too short for it */
    CHECK_EQ(run_command(chip, 1, DEST, SOURCE, 56), 0x68);
    cd_eip93_emulator_free(chip);
}

/* 6.5: 3DES and the other hashes, with a pad that is hashed, checked and taken off. The key of
 * 32 bytes 40..5f is hashed by the chip itself as an ordinary first block. */
static void pad_round_trip(uint32_t hash, const char *initial, const char *raw_tag,
                           const char *tag) {
    struct cd_eip93_emulator *chip = chip_checking_tags();
    uint8_t block[64];
    uint32_t tag_len = (uint32_t)test_hex(block, tag);
    for (uint32_t pad = 0; pad < 2; pad++) { /* I_DIGEST, O_DIGEST */
        uint8_t words[32];
        for (uint8_t i = 0; i < 64; i++) {
            block[i] = (uint8_t)((i < 32 ? 0x40 + i : 0) ^ (pad == 0 ? 0x36 : 0x5C));
        }
        put_bytes(chip, SOURCE, block, 64);
        put_sa(chip, SA + 0x200, 0x28000FC3 | hash << 12, 0, "");
        put_hex(chip, STATE + 0x10, initial);
        chip_start(chip);
        put_command(chip, CDR, 0, SOURCE, 0, 1, 64);
        put_word(chip, CDR + 12, SA + 0x200);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
        get_bytes(chip, words, STATE + 0x18, 32);
        put_bytes(chip, SA + (pad == 0 ? 0x28 : 0x48), words, 32);
    }
    put_word(chip, SA, 0x12000141 | hash << 12 | tag_len / 4 << 20); /* PKCS#7 */
    put_word(chip, SA + 4, 0x0002110B);
    put_hex(chip, SA + 8, "0123456789abcdef23456789abcdef01456789abcdef0123");
    put_hex(chip, STATE, "1234567890abcdef ffffffffffffffff");
    put_hex(chip, SOURCE, AAD);
    put_bytes(chip, SOURCE + 8, "Now is the ti", 13);
    CHECK_EQ(run_command(chip, 1, SOURCE, SOURCE, 21), 0);
    CHECK_EQ(get_word(chip, RDR), 0x03000002);
    CHECK_EQ(result_length(chip), 24 + tag_len);
    CHECK_HEX(chip, SOURCE, AAD "f3c0ff026c02308903ef40566e6d8c3b");
    CHECK_HEX(chip, SOURCE + 24, raw_tag);
    CHECK_HEX(chip, STATE, "03ef40566e6d8c3b ffffffffffffffff");
    put_hex(chip, SOURCE + 24, tag); /* as a driver turns it round */
    put_word(chip, SA, 0x12000149 | hash << 12 | tag_len / 4 << 20);
    put_word(chip, SA + 4, 0x00021102);
    put_hex(chip, STATE, "1234567890abcdef");
    CHECK_EQ(run_command(chip, 1, SOURCE, SOURCE, 24), 0);
    CHECK_EQ(get_word(chip, RDR), 0x03000002);
    CHECK_EQ(result_length(chip), 21);
    CHECK_HEX(chip, SOURCE, AAD "4e6f77206973207468652074 69 030303");
    cd_eip93_emulator_free(chip);
}

static void test_pad_round_trip(void) {
    pad_round_trip(0, "0000000000000000 0123456789abcdeffedcba9876543210",
                   "392709601dcd8fc7c526485c8a7143e9", "392709601dcd8fc7c526485c8a7143e9");
    pad_round_trip(2,
                   "0000000000000000 d89e05c107d57c36 17dd703039590ef7 310bc0ff11155868 "
                   "a78ff964a44ffabe",
                   "c4ea75b5f33e8da67b8e20e45efd46510a8d426dc680f892637e8d4f",
                   "b575eac4a68d3ef3e4208e7b5146fd5e6d428d0a92f880c64f8d7e63");
    pad_round_trip(3,
                   "0000000000000000 67e6096a85ae67bb 72f36e3c3af54fa5 7f520e518c68059b "
                   "abd9831f19cde05b",
                   "1e5eaa65ae71b6ee39680a286ee1469b82fa0e99266a721559e5496e216d5f8b",
                   "65aa5e1eeeb671ae280a68399b46e16e990efa8215726a266e49e5598b5f6d21");
}

/* 6.1: any overlap of source and destination, both directions, header copied or not */
static void test_overlap(void) {
    static const int32_t shifts[] = {0, 1, 4, 7, 8, 16, 20, 39, 40, -1, -8, -12, -16, -39, -60};
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < 2 * sizeof shifts / sizeof shifts[0]; i++) {
        uint32_t destination = SOURCE + (uint32_t)shifts[i / 2];
        uint32_t copy = i % 2 == 0 ? 0x2 : 0;
        uint32_t data = destination + (copy != 0 ? 8 : 0);
        put_sa_sha1(chip, 0x125013C1, 0x02021109 | copy, AES_KEY);
        put_iv(chip);
        put_hex(chip, SOURCE, AAD AES_TEXT);
        CHECK_EQ(run_command(chip, 1, SOURCE, destination, 40), 0);
        CHECK_HEX(chip, destination, copy != 0 ? AAD : CIPHERTEXT);
        CHECK_HEX(chip, data, CIPHERTEXT RAW_TAG);
        put_sa_sha1(chip, 0x125013C9, 0x02021101 | copy, AES_KEY);
        put_iv(chip);
        put_hex(chip, SOURCE, AAD CIPHERTEXT);
        CHECK_EQ(run_command(chip, 1, SOURCE, destination, 40), 0);
        CHECK_HEX(chip, data,
                  "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 " RAW_TAG);
    }
    cd_eip93_emulator_free(chip);
}

/* SAVE_HASH stores the final digest and the count, so that a driver can compare the tag itself;
 * without an end the whole blocks count (0x78). */
static void test_saved_state(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_sha1(chip, 0x320013C9, 0x02021102, AES_KEY);
    put_iv(chip);
    put_hex(chip, STATE + 0x24, "bbbbbbbb bbbbbbbb bbbbbbbb");
    put_hex(chip, SOURCE, AAD CIPHERTEXT);
    CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 40), 0);
    CHECK_HEX(chip, STATE,
              "5086cb9b507219ee95db113a917678b2 68000000 00000000 " RAW_TAG "bbbbbbbb");
    put_word(chip, SA + 4, 0x02020102); /* no HMAC, no HASH_FINAL */
    CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 40), 0x78);
    CHECK_EQ(result_length(chip), 40);
    CHECK_HEX(chip, STATE + 0x10, "40000000 00000000 d66e890f ca60dfa5");
    cd_eip93_emulator_free(chip);
}

/* Section 8.1: which error it is, and that nothing is written with it */
static void test_errors(void) {
    static const struct {
        uint32_t cmd0, cmd1, length, status, result_len;
    } rows[] = {
        {0x125013C1, 0x02021109, 7, 0x68, 0},          /* LENGTH below the offset */
        {0x125013C1, 0x02073109, 6, 0x68, 0},          /* in bytes */
        {0x125013C1, 0x02021109, 0x02000008, 0x68, 0}, /* bypass and header together */
        {0x125013C9, 0x02021102, 39, 0x78, 24},        /* whole blocks */
        {0x125043C1, 0x02021109, 40, 0x38, 0},         /* reserved hash */
        {0x1250E3C1, 0x02021109, 40, 0x38, 0},         /* reserved hash */
        {0x125017C1, 0x02021109, 40, 0x38, 0},         /* reserved cipher */
        {0x125013C1, 0x01021109, 40, 0x38, 0},         /* key length */
        {0x165013C1, 0x02021109, 40, 0x28, 0},         /* HASH_SOURCE 1 */
        {0x12B013C1, 0x02021109, 40, 0x28, 0},         /* DIGEST_LENGTH 11 */
        {0x12B047C1, 0x02021109, 40, 0x28, 0},         /* before a reserved cipher */
        {0x125043C1, 0x02FF1109, 40, 0x38, 0},         /* the algorithm before the length */
        {0x125013C1, 0x02021909, 40, 0x28, 0},         /* SSL_MAC */
        {0x135013C9, 0x02021109, 40, 0x28, 0},         /* IV from the PRNG, inbound */
        {0x125013C1, 0x02021109, 0, 0x58, 0},          /* nothing */
        {0x1250F3C1, 0x02021109, 40, 0x00, 32},        /* null hash: no digest */
        {0x12501FC1, 0x00021109, 39, 0x00, 31 + 20},   /* null cipher: any length */
    };
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_sa_sha1(chip, rows[i].cmd0, rows[i].cmd1, AES_KEY);
        put_iv(chip);
        put_hex(chip, DEST, "eeeeeeee");
        put_hex(chip, SOURCE, AAD CIPHERTEXT);
        uint32_t status = run_command(chip, 1, SOURCE, DEST, rows[i].length);
        CHECK_EQ(status, rows[i].status);
        CHECK_EQ(result_length(chip), rows[i].result_len);
        if (rows[i].result_len == 0) {
            CHECK_HEX(chip, DEST, "eeeeeeee");
            CHECK_HEX(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        }
    }
    cd_eip93_emulator_free(chip);
}

/* Section 6.1: source, destination and IV mapped to the byte, for every payload length */
static void test_exact_windows(void) {
    struct cd_eip93_emulator *chip = chip_checking_tags();
    for (uint32_t length = 1; length < 80; length++) {
        uint8_t *plain = malloc(8 + length);
        uint8_t *sealed = malloc(8 + length + 20);
        memset(plain, (int)length, 8 + length);
        put_sa_sha1(chip, 0x125013C1, 0x0202120B, AES_KEY);
        uint32_t source = map_buffer(chip, plain, 8 + length, CD_DMA_TO_DEVICE);
        uint32_t destination = map_buffer(chip, sealed, 8 + length + 20, CD_DMA_FROM_DEVICE);
        put_iv(chip);
        CHECK_EQ(run_command(chip, 1, source, destination, 8 + length), 0);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, destination), CD_OK);
        uint8_t *tag = sealed + 8 + length; /* canonical, for the comparison */
        for (size_t i = 0; i < 20; i += 4) {
            uint8_t word[4] = {tag[i + 3], tag[i + 2], tag[i + 1], tag[i]};
            memcpy(tag + i, word, 4);
        }
        uint8_t *opened = malloc(8 + length);
        put_sa_sha1(chip, 0x125013C9, 0x02021202, AES_KEY);
        source = map_buffer(chip, sealed, 8 + length + 20, CD_DMA_TO_DEVICE);
        destination = map_buffer(chip, opened, 8 + length, CD_DMA_FROM_DEVICE);
        put_iv(chip);
        CHECK_EQ(run_command(chip, 1, source, destination, 8 + length), 0);
        CHECK_BYTES(opened, plain, 8 + length);
        CHECK_EQ(run_command(chip, 1, source + 20, destination, 8 + length), 0x08); /* no tag */
        CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, destination), CD_OK);
        free(plain);
        free(sealed);
        free(opened);
    }
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_encrypt_words);
    RUN(test_decrypt_words);
    RUN(test_tag_strap);
    RUN(test_tag_lengths);
    RUN(test_unaligned);
    RUN(test_header_only);
    RUN(test_iv_in_header);
    RUN(test_pad_round_trip);
    RUN(test_overlap);
    RUN(test_saved_state);
    RUN(test_errors);
    RUN(test_exact_windows);
    return test_end();
}
