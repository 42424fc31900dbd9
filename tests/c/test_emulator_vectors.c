/* Worked examples of eip93-hardware.md section 9, word by word. */
#include "emulator_support.h"

static struct cd_eip93_emulator *chip_ready(int32_t pace) {
    struct cd_eip93_emulator *chip = chip_new(pace);
    chip_start(chip);
    return chip;
}

/* 9.3 */
static void test_cbc_encrypt_words(void) {
    static const uint32_t command[8] = {0x00000001, 0x10020000, 0x10021000, 0x10010000,
                                        0x10010100, 0x00000000, 0x01080000, 0x00400010};
    static const uint32_t result[8] = {0x00000002, 0x10020000, 0x10021000, 0x10010000,
                                       0x10010100, 0x00000000, 0x01080000, 0x00800010};
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_hex(chip, 0x10010000, "c0f30012 00010002 2b7e1516 28aed2a6 abf71588 09cf4f3c");
    put_hex(chip, 0x10010074, "ffffffff 00000000 00000000");
    put_hex(chip, 0x10010100, "00010203 04050607 08090a0b 0c0d0e0f aaaaaaaa");
    put_hex(chip, 0x10020000, "6bc1bee2 2e409f96 e93d7e11 7393172a");
    put_words(chip, CDR, command, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0); /* never inside the doorbell */
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK(is_words(chip, RDR, result, 8));
    CHECK_HEX(chip, 0x10021000, "7649abac 8119b246 cee98e9b 12e9197d 00000000");
    CHECK_HEX(chip, 0x10010100, "7649abac 8119b246 cee98e9b 12e9197d aaaaaaaa");
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x098), 0x00010001);
    CHECK_EQ(get_word(chip, CDR), 0x00000002); /* EN_CDR_UPDATE */
    CHECK_EQ(get_word(chip, CDR + 28), 0x00800010);
    cd_eip93_emulator_free(chip);
}

/* 9.7: two descriptors, split by the driver at the wrap */
static void test_ctr_split(void) {
    static const uint32_t commands[16] = {
        0x00000001, 0x10020000, 0x10021000, 0x10010000, 0x10010100, 0, 0x01000000, 0x00400020,
        0x00000001, 0x10020020, 0x10021020, 0x10010000, 0x10010140, 0, 0x01080000, 0x00400020};
    static const uint32_t results[16] = {
        0x00000002, 0x10020000, 0x10021000, 0x10010000, 0x10010100, 0, 0x01000000, 0x00800020,
        0x00000002, 0x10020020, 0x10021020, 0x10010000, 0x10010140, 0, 0x01080000, 0x00800020};
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x1200F3C0, 0x02000200, AES_KEY);
    put_hex(chip, 0x10010100, "f0f1f2f3f4f5f6f7f8f9fafbfffffffe");
    put_hex(chip, 0x10010140, "f0f1f2f3f4f5f6f7f8f9fafc00000000");
    put_hex(chip, 0x10020000, AES_TEXT);
    put_words(chip, CDR, commands, 16);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 2);
    CHECK(is_words(chip, RDR, results, 16));
    CHECK_HEX(chip, 0x10021000,
              "449c7373 0354b3ab ae245550 a264346f 92ccead4 7edb976f e61d00ac 4ace0c93"
              "f08ccaf6 af3053e7 3609ee9a 96be6f84 f08374ea 7a74b0b7 cd948488 0d060c61");
    CHECK_HEX(chip, 0x10010100, "f0f1f2f3 f4f5f6f7 f8f9fafb 00000000");
    CHECK_HEX(chip, 0x10010140, "f0f1f2f3 f4f5f6f7 f8f9fafc 00000002");
    cd_eip93_emulator_free(chip);
}

/* 9.7: one descriptor over the wrap shows that the counter has 32 bits */
static void test_ctr_wrap(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x1200F3C0, 0x02000200, AES_KEY);
    put_hex(chip, STATE, "f0f1f2f3f4f5f6f7f8f9fafbfffffffe");
    put_hex(chip, SOURCE, AES_TEXT);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 64);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST,
              "449c7373 0354b3ab ae245550 a264346f 92ccead4 7edb976f e61d00ac 4ace0c93"
              "79ec8d15 fac41e35 fb000a1a 00b45488 b5deb260 e496c129 9945fd0d 8e799829");
    CHECK_HEX(chip, STATE, "f0f1f2f3 f4f5f6f7 f8f9fafb 00000002");
    cd_eip93_emulator_free(chip);
}

/* 9.7: RFC 3686 vector 1, whole and cut to 5 bytes */
static void test_ctr_rfc3686(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x1200F3C0, 0x02000200, "ae6852f8121067cc4bf7a5765577f39e");
    put_hex(chip, STATE, "00000030 00000000 00000000 00000001");
    put_bytes(chip, SOURCE, "Single block msg", 16);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST, "e4095d4fb7a7b3792d6175a3261311b8");
    put_hex(chip, STATE, "00000030 00000000 00000000 00000001");
    put_hex(chip, DEST, "eeeeeeeeeeeeeeee");
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 5);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST, "e4095d4fb7 eeeeee");
    CHECK_HEX(chip, STATE, "00000030 00000000 00000000 00000002");
    CHECK_EQ(get_word(chip, RDR + 32 + 28), 0x00800005);
    cd_eip93_emulator_free(chip);
}

/* 9.8: AES-ECB with state address 0 although IV_SOURCE is 2; both directions */
static void test_ecb(void) {
    static const struct {
        const char *key;
        uint32_t cmd1;
        const char *text;
    } rows[] = {
        {"000102030405060708090a0b0c0d0e0f", 0x02000000, "69c4e0d86a7b0430d8cdb78070b4c55a"},
        {"000102030405060708090a0b0c0d0e0f1011121314151617", 0x03000000,
         "dda97ca4864cdfe06eaf70a0ec0d7191"},
        {"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", 0x04000000,
         "8ea2b7ca516745bfeafc49904b496089"},
    };
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    for (uint32_t i = 0; i < 3; i++) {
        put_sa(chip, SA, 0x0200F3C0, rows[i].cmd1, rows[i].key);
        put_hex(chip, SOURCE, "00112233445566778899aabbccddeeff");
        put_command(chip, CDR, 2 * i, SOURCE, DEST, i, 16);
        put_word(chip, CDR + 64 * i + 16, 0);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
        CHECK_HEX(chip, DEST, rows[i].text);
        acknowledge(chip, 1);
        put_word(chip, SA, 0x0200F3C8);
        put_command(chip, CDR, 2 * i + 1, DEST, DEST, i, 16); /* in place */
        put_word(chip, CDR + 64 * i + 32 + 16, 0);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
        CHECK_HEX(chip, DEST, "00112233445566778899aabbccddeeff");
        CHECK_EQ(get_word(chip, RDR + 64 * i + 32), 0x00000002);
        acknowledge(chip, 1);
    }
    cd_eip93_emulator_free(chip);
}

/* 9.8: DES and 3DES, both directions, the second in place; 8 bytes of IV and no more. Parity bits
 * do not count. */
static void test_des(void) {
    static const struct {
        uint32_t cmd0, cmd1;
        const char *key, *plain, *cipher, *iv_after;
    } rows[] = {
        {0x0200F0C0, 0, "0123456789abcdef", "4e6f772069732074", "3fa40e8a984d4815", NULL},
        {0x1200F0C0, 0x100, "0022446688aaccee", "4e6f77206973207468652074696d6520",
         "e5c7cdde872bf27c43e934008c389c0f", "43e934008c389c0f"},
        {0x0200F1C0, 0, "0123456789abcdef23456789abcdef01456789abcdef0123", "5468652071756663",
         "a826fd8ce53b855f", NULL},
        {0x1200F1C0, 0x100, "0123456789abcdef23456789abcdef01456789abcdef0123",
         "4e6f77206973207468652074696d6520", "f3c0ff026c023089656fbb169def7edb",
         "656fbb169def7edb"},
    };
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        bool inbound = i % 2 != 0;
        const char *iv_after = rows[i / 2].iv_after;
        put_sa(chip, SA, rows[i / 2].cmd0 | (inbound ? 8 : 0), rows[i / 2].cmd1, rows[i / 2].key);
        put_hex(chip, STATE, "1234567890abcdef eeeeeeeeeeeeeeee");
        uint32_t source = inbound ? DEST : SOURCE;
        uint32_t length =
            (uint32_t)put_hex(chip, source, inbound ? rows[i / 2].cipher : rows[i / 2].plain);
        CHECK_EQ(run_command(chip, 1, source, DEST, length), 0);
        CHECK_HEX(chip, DEST, inbound ? rows[i / 2].plain : rows[i / 2].cipher);
        CHECK_EQ(result_length(chip), length);
        CHECK_HEX(chip, STATE, iv_after != NULL ? iv_after : "1234567890abcdef");
        CHECK_HEX(chip, STATE + 8, "eeeeeeeeeeeeeeee");
    }
    put_sa(chip, SA, 0x1200F0C0, 0x100, "0123456789abcdef"); /* zeros up to 16; openssl */
    put_bytes(chip, SOURCE, "Now is the ti\xff\xff\xff", 16);
    put_hex(chip, STATE, "1234567890abcdef");
    CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 13), 0);
    CHECK_HEX(chip, DEST, "e5c7cdde872bf27c d88a8187c47306cb");
    CHECK_EQ(get_word(chip, RDR), 0x03000002);
    put_word(chip, SA, 0x1200F0C8);
    CHECK_EQ(run_command(chip, 1, DEST, DEST, 15), 0x78);
    CHECK_EQ(result_length(chip), 8);
    cd_eip93_emulator_free(chip);
}

/* A key schedule is never that of another cipher or direction, whatever went before. */
static void test_schedule(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_hex(chip, SOURCE, "4e6f772069732074 0000000000000000");
    for (int round = 0; round < 3; round++) {
        put_sa(chip, SA, 0x0200F1C0, 0, "0123456789abcdef0123456789abcdef0123456789abcdef");
        CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 8), 0);
        CHECK_HEX(chip, DEST, "3fa40e8a984d4815"); /* three times one key: DES */
        put_word(chip, SA, 0x0200F0C0);
        CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 8), 0);
        CHECK_HEX(chip, DEST, "3fa40e8a984d4815");
        put_sa(chip, SA, 0x0200F3C0, 0x03000000,
               "0123456789abcdef0123456789abcdef0123456789abcdef");
        CHECK_EQ(run_command(chip, 1, SOURCE, DEST, 16), 0);
        put_word(chip, SA, 0x0200F3C8);
        CHECK_EQ(run_command(chip, 1, DEST, DEST, 16), 0);
        CHECK_HEX(chip, DEST, "4e6f772069732074 0000000000000000");
    }
    cd_eip93_emulator_free(chip);
}

/* SP 800-38A F.2: CBC in both directions; chained through the state, and over overlaps */
static void test_cbc_chain_and_overlap(void) {
    static const char cipher[] =
        "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2 "
        "73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7";
    static const int32_t shifts[] = {0, 1, 5, 15, 16, 17, 32, 63, 64, -1, -7, -16, -33, -64};
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    uint32_t entry = 0;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        uint32_t destination = SOURCE + (uint32_t)shifts[i];
        put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
        put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        put_hex(chip, SOURCE, AES_TEXT);
        put_command(chip, CDR, entry++, SOURCE, destination, 1, 64);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
        CHECK_HEX(chip, destination, cipher);
        put_word(chip, SA, 0x1200F3C8);
        put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        put_hex(chip, SOURCE, cipher);
        put_command(chip, CDR, entry++, SOURCE, destination, 1, 64);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
        CHECK_HEX(chip, destination, AES_TEXT);
        CHECK_HEX(chip, STATE, "3ff1caa1681fac09120eca307586e1a7");
    }
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    put_hex(chip, SOURCE, AES_TEXT);
    put_command(chip, CDR, entry++, SOURCE, DEST, 1, 16);
    put_command(chip, CDR, entry++, SOURCE + 16, DEST + 16, 2, 48);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 2);
    CHECK_HEX(chip, DEST, cipher);
    cd_eip93_emulator_free(chip);
}

/* 6.3: IV from the input, from the previous packet (IV_SOURCE 0), and with bypass */
static void test_iv_sources(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x0100F3C0, 0x02040100, AES_KEY); /* offset 4 words, header not copied */
    put_hex(chip, SOURCE, "000102030405060708090a0b0c0d0e0f" AES_TEXT);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 32);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST, "7649abac8119b246cee98e9b12e9197d 00");
    CHECK_EQ(get_word(chip, RDR + 28), 0x00800010);
    put_word(chip, SA, 0x0000F3C0); /* goes on with the IV it has */
    put_command(chip, CDR, 1, SOURCE + 32, DEST, 1, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST, "5086cb9b507219ee95db113a917678b2");
    put_word(chip, SA, 0x0100F3C0);
    put_word(chip, SA + 4, 0x02102102); /* CBC, header of 16 bytes copied, offset in bytes */
    put_word(chip, SA + 4, 0x02102102 | 0x100);
    put_command(chip, CDR, 2, SOURCE - 8, DEST, 1, 40);
    put_word(chip, CDR + 64 + 28, 0x02400000 | 40); /* 2 words of bypass */
    put_hex(chip, SOURCE - 8, "f0f1f2f3f4f5f6f7");
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST,
              "f0f1f2f3f4f5f6f7 000102030405060708090a0b0c0d0e0f 7649abac8119b246cee98e9b12e9197d");
    CHECK_EQ(get_word(chip, RDR + 64 + 28), 0x02800028);
    put_sa(chip, SA, 0x0100F3C0, 0x02020200, "ae6852f8121067cc4bf7a5765577f39e");
    put_hex(chip, SA + 0x7C, "00000030");
    put_hex(chip, SOURCE, "0000000000000000 53696e676c6520626c6f636b206d7367");
    put_command(chip, CDR, 3, SOURCE, DEST, 1, 24);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_HEX(chip, DEST, "e4095d4fb7a7b3792d6175a3261311b8");
    cd_eip93_emulator_free(chip);
}

/* Q25: ICM counts in 16 bits; the blocks come from the ECB of the counters */
static void test_icm_wrap(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    uint8_t zeros[48] = {0};
    uint8_t blocks[48];
    put_sa(chip, SA, 0x0200F3C0, 0x02000000, AES_KEY);
    put_hex(chip, SOURCE,
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdffff f0f1f2f3f4f5f6f7f8f9fafbfcfd0000 "
            "f0f1f2f3f4f5f6f7f8f9fafbfcfd0001");
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 48);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    get_bytes(chip, blocks, DEST, 48);
    put_sa(chip, SA, 0x1200F3C0, 0x02000300, AES_KEY);
    put_hex(chip, STATE, "f0f1f2f3f4f5f6f7f8f9fafbfcfdffff");
    put_bytes(chip, SOURCE, zeros, 48);
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 47);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    uint8_t out[47];
    get_bytes(chip, out, DEST, 47);
    CHECK_BYTES(out, blocks, 47);
    CHECK_HEX(chip, STATE, "f0f1f2f3f4f5f6f7f8f9fafbfcfd0002");
    cd_eip93_emulator_free(chip);
}

/* 9.8: PRNG in test mode; generate and IV_SOURCE 3 go on from there */
static void test_prng(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x00001307, 0x02000000, "000102030405060708090a0b0c0d0e0f");
    put_hex(chip, SA + 0x28, "101112131415161718191a1b1c1d1e1f");
    put_command(chip, CDR, 0, 0, DEST, 1, 4080); /* length as both drivers give it */
    put_word(chip, CDR, 0x00000041);
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 32);
    put_word(chip, CDR + 32, 0x000000C1);
    put_hex(chip, SOURCE, "202122232425262728292a2b2c2d2e2f 303132333435363738393a3b3c3d3e3f");
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 2);
    CHECK_EQ(get_word(chip, RDR), 0x00000042);
    CHECK_EQ(get_word(chip, RDR + 28), 0x00800000);
    CHECK_EQ(get_word(chip, RDR + 32), 0x000000C2);
    CHECK_HEX(chip, DEST, "2c478a8d99f89adf02dc03609ffb4e28 3d5549798f65308a3096acba44e30665");
    put_command(chip, CDR, 2, 0, DEST, 1, 15);
    put_word(chip, CDR + 64, 0x00000081);
    put_command(chip, CDR, 3, 0, DEST, 1, 4096);
    put_word(chip, CDR + 96, 0x00000081);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 2);
    CHECK_EQ(result_status(chip, RDR, 2), 0x68);
    CHECK_EQ(result_status(chip, RDR, 3), 0x68);
    cd_eip93_emulator_free(chip);
}

/* 6.2: every pad type, outbound and back, on the example of the table */
static void test_padding(void) {
    static const struct {
        uint32_t type; /* EXT_PAD, PAD_TYPE */
        uint32_t result_len, pad_status, pad_value;
        const char *padded;
    } rows[] = {
        {0x00000, 2, 14, 0xAA, "d0d1 0102030405060708090a0b0c 0c aa"},
        {0x00040, 2, 14, 0, "d0d1 0e0e0e0e0e0e0e0e0e0e0e0e0e0e"},
        {0x00080, 16, 0, 0, "d0d1 aaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
        {0x000C0, 16, 0, 0, "d0d1 0000000000000000000000000000"},
        {0x40040, 2, 14, 0, "d0d1 0d0d0d0d0d0d0d0d0d0d0d0d0d0d"},
        {0x40080, 2, 14, 0, "d0d1 aaaaaaaaaaaaaaaaaaaaaaaaaa 0d"},
    };
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    uint32_t entry = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put_sa(chip, SA, 0x0200F300 | rows[i].type, 0x02000000, AES_KEY);
        put_hex(chip, SOURCE, "d0d1");
        put_command(chip, CDR, entry, SOURCE, DEST, 1, 2);
        put_word(chip, CDR + 32 * entry, 0x0000AA01);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
        CHECK_EQ(get_word(chip, RDR + 32 * entry), 0x0E00AA02);
        CHECK_EQ(get_word(chip, RDR + 32 * entry + 28), 0x00800010);
        entry++;
        put_word(chip, SA, 0x0200F308 | rows[i].type);
        put_command(chip, CDR, entry, DEST, DEST + 64, 1, 16);
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
        CHECK_HEX(chip, DEST + 64, rows[i].padded);
        CHECK_EQ(get_word(chip, RDR + 32 * entry),
                 rows[i].pad_status << 24 | rows[i].pad_value << 8 | 2);
        CHECK_EQ(get_word(chip, RDR + 32 * entry + 28), 0x00800000 | rows[i].result_len);
        entry++;
    }
    cd_eip93_emulator_free(chip);
}

/* 6.2: alignment codes with the null cipher and SCPAD, whose pads are seen in the clear */
static void test_padding_alignment(void) {
    static const struct {
        uint32_t code, align;
    } rows[] = {{0x00, 8},  {0x01, 1},  {0x02, 4},   {0x04, 8},  {0x08, 16},
                {0x10, 32}, {0x20, 64}, {0x40, 128}, {0x80, 256}};
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    uint32_t entry = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t length = 1; length < 20; length += 3) {
            uint32_t align = rows[i].align;
            put_sa(chip, SA, 0x0202FF00, 0, ""); /* IPsec pad */
            put_command(chip, CDR, entry, SOURCE, DEST, 1, length);
            put_word(chip, CDR + 32 * entry, rows[i].code << 24 | 0x0401);
            ring(chip, 1);
            CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
            uint32_t total = get_word(chip, RDR + 32 * entry + 28) & 0xFFFFF;
            CHECK_EQ(total % align, 0);
            CHECK(total >= length + 2 && total < length + 2 + align);
            uint8_t end[2];
            get_bytes(chip, end, DEST + total - 2, 2);
            CHECK_EQ(end[0], (total - length - 2) & 0xFF);
            CHECK_EQ(end[1], 4);
            entry++;
        }
    }
    put_sa(chip, SA, 0x0202FFC0, 0, ""); /* zero pad adds nothing when aligned */
    put_command(chip, CDR, entry, SOURCE, DEST, 1, 24);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_EQ(get_word(chip, RDR + 32 * entry + 28), 0x00800018);
    cd_eip93_emulator_free(chip);
}

/* 6.2: a wrong pad sets PAD_ERR alone and takes nothing off; COPY_PAD counts a good one */
static void test_padding_errors(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    put_sa(chip, SA, 0x0202FF48, 0, "");
    put_hex(chip, SOURCE, "d0d1d2d3d4 020303");
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00020002);
    CHECK_EQ(get_word(chip, RDR + 28), 0x00800008);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x20000, 0); /* not an extended error */
    put_hex(chip, SOURCE, "d0d1d2d3d4 030303");
    put_word(chip, SA + 4, 0x8);
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_EQ(get_word(chip, RDR + 32), 0x03000002);
    CHECK_EQ(get_word(chip, RDR + 32 + 28), 0x00800008);
    put_hex(chip, SOURCE, "00");
    put_command(chip, CDR, 2, SOURCE, DEST, 1, 1); /* claims a pad longer than the data */
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000000), 1);
    CHECK_EQ(get_word(chip, RDR + 64), 0x00020002);
    cd_eip93_emulator_free(chip);
}

/* The trace tells the stages in order (section 3.2). */
static void test_trace(void) {
    static const int32_t expected[] = {
        CD_EIP93_EVENT_DOORBELL,       CD_EIP93_EVENT_FETCH,        CD_EIP93_EVENT_CHECK,
        CD_EIP93_EVENT_READ_SA,        CD_EIP93_EVENT_READ_STATE,   CD_EIP93_EVENT_GATHER,
        CD_EIP93_EVENT_TRANSFORM,      CD_EIP93_EVENT_SCATTER,      CD_EIP93_EVENT_WRITE_STATE,
        CD_EIP93_EVENT_UPDATE_COMMAND, CD_EIP93_EVENT_WRITE_RESULT, CD_EIP93_EVENT_RAISE};
    struct cd_eip93_trace_entry entries[64];
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    CHECK_EQ(cd_eip93_emulator_trace(chip, 65537), CD_E_RANGE);
    CHECK_EQ(cd_eip93_emulator_trace(chip, 32), CD_OK);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 32);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    size_t count = cd_eip93_emulator_trace_take(chip, entries, 64);
    CHECK_EQ(count, sizeof expected / sizeof expected[0]);
    for (size_t i = 0; i < count && i < sizeof expected / sizeof expected[0]; i++) {
        CHECK_EQ(entries[i].event, expected[i]);
    }
    CHECK_EQ(entries[3].value, SA);
    CHECK_EQ(entries[5].value, 32);
    CHECK_EQ(entries[6].value, 0x1200F3C0);
    CHECK_EQ(cd_eip93_emulator_trace_take(chip, entries, 64), 0);
    CHECK_EQ(cd_eip93_emulator_trace(chip, 4), CD_OK); /* the last four are kept */
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 32);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(cd_eip93_emulator_trace_take(chip, entries, 64), 4);
    CHECK_EQ(entries[0].event, CD_EIP93_EVENT_WRITE_STATE);
    CHECK_EQ(entries[3].event, CD_EIP93_EVENT_RAISE);
    for (int32_t event = 1; event <= CD_EIP93_EVENT_LAST; event++) {
        CHECK(strcmp(cd_eip93_event_name(event), "?") != 0);
    }
    CHECK(strcmp(cd_eip93_event_name(0), "?") == 0);
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_cbc_encrypt_words);
    RUN(test_ctr_split);
    RUN(test_ctr_wrap);
    RUN(test_ctr_rfc3686);
    RUN(test_ecb);
    RUN(test_des);
    RUN(test_schedule);
    RUN(test_cbc_chain_and_overlap);
    RUN(test_iv_sources);
    RUN(test_icm_wrap);
    RUN(test_prng);
    RUN(test_padding);
    RUN(test_padding_alignment);
    RUN(test_padding_errors);
    RUN(test_trace);
    return test_end();
}
