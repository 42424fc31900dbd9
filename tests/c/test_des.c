/* crypto/des*: DES and triple DES against published vectors and a DES written down from FIPS 46-3.
 */
#include "crypto/des.h"
#include "test_guard.h"
#include "test_plain_des.h"
#include "test_support.h"

#define BLOCKS 33u
#define TEXT (8u * BLOCKS) /* bytes */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static void fill_random(uint8_t *out, size_t length) {
    for (size_t i = 0; i < length; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        out[i] = (uint8_t)(random_state >> 24);
    }
}

/* ---- both ciphers behind one face, a key of 8 bytes or of 24 ---- */

enum mode { ECB_ENCRYPT, ECB_DECRYPT, CBC_ENCRYPT, CBC_DECRYPT, MODES };

static void run_des(enum mode mode, const uint8_t *key, uint8_t *out, const uint8_t *in,
                    size_t blocks, uint8_t *iv) {
    const struct cd_des_functions *des = &cd_des_portable;
    struct cd_des_key prepared;
    des->prepare(&prepared, key);
    switch (mode) {
    case ECB_ENCRYPT:
        des->ecb_encrypt(&prepared, out, in, blocks);
        break;
    case ECB_DECRYPT:
        des->ecb_decrypt(&prepared, out, in, blocks);
        break;
    case CBC_ENCRYPT:
        des->cbc_encrypt(&prepared, out, in, blocks, iv);
        break;
    default:
        des->cbc_decrypt(&prepared, out, in, blocks, iv);
    }
}

static void run_des3(enum mode mode, const uint8_t *key, uint8_t *out, const uint8_t *in,
                     size_t blocks, uint8_t *iv) {
    const struct cd_des3_functions *des3 = &cd_des3_portable;
    struct cd_des3_key prepared;
    des3->prepare(&prepared, key);
    switch (mode) {
    case ECB_ENCRYPT:
        des3->ecb_encrypt(&prepared, out, in, blocks);
        break;
    case ECB_DECRYPT:
        des3->ecb_decrypt(&prepared, out, in, blocks);
        break;
    case CBC_ENCRYPT:
        des3->cbc_encrypt(&prepared, out, in, blocks, iv);
        break;
    default:
        des3->cbc_decrypt(&prepared, out, in, blocks, iv);
    }
}

static void run(bool triple, enum mode mode, const uint8_t *key, uint8_t *out, const uint8_t *in,
                size_t blocks, uint8_t *iv) {
    (triple ? run_des3 : run_des)(mode, key, out, in, blocks, iv);
}

/* The same from the standard, into another buffer. */
static void run_plain(bool triple, enum mode mode, const uint8_t *key, uint8_t *out,
                      const uint8_t *in, size_t blocks, uint8_t *iv) {
    bool decrypt = mode == ECB_DECRYPT || mode == CBC_DECRYPT;
    for (size_t i = 0; i < 8 * blocks; i += 8) {
        uint8_t block[8];
        for (size_t j = 0; j < 8; j++) {
            block[j] = mode == CBC_ENCRYPT ? in[i + j] ^ iv[j] : in[i + j];
        }
        (triple ? plain_des3 : plain_des)(out + i, block, key, decrypt);
        for (size_t j = 0; mode == CBC_DECRYPT && j < 8; j++) {
            out[i + j] ^= iv[j];
        }
        if (mode >= CBC_ENCRYPT) {
            memcpy(iv, mode == CBC_ENCRYPT ? out + i : in + i, 8);
        }
    }
}

/* ---- vectors from outside ---- */

static void check_vector(const char *key_hex, const char *text_hex, const char *cipher_hex) {
    uint8_t key[24], text[24], cipher[24], out[24], iv[8] = {0};
    bool triple = test_hex(key, key_hex) == 24;
    size_t blocks = test_hex(text, text_hex) / 8;
    test_hex(cipher, cipher_hex);
    run(triple, ECB_ENCRYPT, key, out, text, blocks, iv);
    CHECK_BYTES(out, cipher, 8 * blocks);
    run(triple, ECB_DECRYPT, key, out, cipher, blocks, iv);
    CHECK_BYTES(out, text, 8 * blocks);
}

/* SP 800-17 appendix A, table 4 (SP 500-20): every entry of every S-box is used. */
static void substitution_tables_of_sp800_17(void) {
    static const char *const vectors[19][3] = {
        {"7CA110454A1A6E57", "01A1D6D039776742", "690F5B0D9A26939B"},
        {"0131D9619DC1376E", "5CD54CA83DEF57DA", "7A389D10354BD271"},
        {"07A1133E4A0B2686", "0248D43806F67172", "868EBB51CAB4599A"},
        {"3849674C2602319E", "51454B582DDF440A", "7178876E01F19B2A"},
        {"04B915BA43FEB5B6", "42FD443059577FA2", "AF37FB421F8C4095"},
        {"0113B970FD34F2CE", "059B5E0851CF143A", "86A560F10EC6D85B"},
        {"0170F175468FB5E6", "0756D8E0774761D2", "0CD3DA020021DC09"},
        {"43297FAD38E373FE", "762514B829BF486A", "EA676B2CB7DB2B7A"},
        {"07A7137045DA2A16", "3BDD119049372802", "DFD64A815CAF1A0F"},
        {"04689104C2FD3B2F", "26955F6835AF609A", "5C513C9C4886C088"},
        {"37D06BB516CB7546", "164D5E404F275232", "0A2AEEAE3FF4AB77"},
        {"1F08260D1AC2465E", "6B056E18759F5CCA", "EF1BF03E5DFA575A"},
        {"584023641ABA6176", "004BD6EF09176062", "88BF0DB6D70DEE56"},
        {"025816164629B007", "480D39006EE762F2", "A1F9915541020B56"},
        {"49793EBC79B3258F", "437540C8698F3CFA", "6FBF1CAFCFFD0556"},
        {"4FB05E1515AB73A7", "072D43A077075292", "2F22E49BAB7CA1AC"},
        {"49E95D6D4CA229BF", "02FE55778117F12A", "5A6B612CC26CCE4A"},
        {"018310DC409B26D6", "1D9D5C5018F728C2", "5F4C038ED12B2E41"},
        {"1C587F1C13924FEF", "305532286D6F295A", "63FAC0D034D9F793"},
    };
    for (size_t i = 0; i < 19; i++) {
        check_vector(vectors[i][0], vectors[i][1], vectors[i][2]);
    }
}

/* FIPS 81 appendices B and C: "Now is the time for all ". */
static void modes_of_fips_81(void) {
    uint8_t key[8], iv[8], text[24], cipher[24], out[24];
    check_vector("0123456789abcdef", "4e6f77206973207468652074696d6520666f7220616c6c20",
                 "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53");
    test_hex(key, "0123456789abcdef");
    test_hex(text, "4e6f77206973207468652074696d6520666f7220616c6c20");
    test_hex(cipher, "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    test_hex(iv, "1234567890abcdef");
    run_des(CBC_ENCRYPT, key, out, text, 3, iv);
    CHECK_BYTES(out, cipher, 24);
    test_hex(iv, "1234567890abcdef");
    run_des(CBC_DECRYPT, key, out, cipher, 3, iv);
    CHECK_BYTES(out, text, 24);
}

/* SP 800-67 (2004 and revision 1) appendix B.1: "The qufck brown fox jump". */
static void example_of_sp800_67(void) {
    check_vector("0123456789abcdef23456789abcdef01456789abcdef0123",
                 "5468652071756663 6b2062726f776e20 666f78206a756d70",
                 "a826fd8ce53b855f cce21c8112256fe6 68d5c05dd9b6b900");
}

static void r087_two_key_orders(void) {
    const char *zeros = "0000000000000000";
    check_vector("0123456789abcdeffedcba98765432100123456789abcdef", zeros, "08d7b4fb629d0885");
    check_vector("0123456789abcdef0123456789abcdeffedcba9876543210", zeros, "a68cdca90c9021f9");
    check_vector("fedcba9876543210", zeros, "a68cdca90c9021f9");
    check_vector("0123456789abcdeffedcba9876543210fedcba9876543210", zeros, "d5d44ff720683d0d");
    check_vector("0123456789abcdef", zeros, "d5d44ff720683d0d");
}

/* ---- against the standard written down ---- */

static void every_mode_equals_the_standard(void) {
    for (unsigned repeat = 0; repeat < 60; repeat++) {
        uint8_t key[24], text[TEXT], expected[TEXT], out[TEXT], iv[8], plain_iv[8];
        bool triple = repeat % 2 != 0;
        fill_random(key, sizeof key);
        fill_random(text, sizeof text);
        for (int mode = 0; mode < MODES; mode++) {
            fill_random(iv, 8);
            memcpy(plain_iv, iv, 8);
            run_plain(triple, (enum mode)mode, key, expected, text, BLOCKS, plain_iv);
            run(triple, (enum mode)mode, key, out, text, BLOCKS, iv);
            CHECK_BYTES(out, expected, TEXT);
            CHECK_BYTES(iv, plain_iv, 8); /* untouched by ECB, the last cipher block after CBC */
        }
    }
}

static void every_key_bit_but_parity_counts(void) {
    uint8_t key[8], text[8], before[8], out[8], expected[8], iv[8] = {0};
    fill_random(key, 8);
    fill_random(text, 8);
    run_des(ECB_ENCRYPT, key, before, text, 1, iv);
    for (unsigned bit = 0; bit < 64; bit++) {
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
        run_des(ECB_ENCRYPT, key, out, text, 1, iv);
        plain_des(expected, text, key, false);
        CHECK_BYTES(out, expected, 8);
        CHECK_EQ(memcmp(out, before, 8) == 0, bit % 8 == 0);
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* All counts, in place, in two calls at every place, and nothing touched behind the end. */
static void counts_in_place_and_splits(void) {
    uint8_t key[24], text[TEXT], whole[TEXT], out[TEXT + 8], iv[8], start[8];
    fill_random(key, sizeof key);
    fill_random(text, sizeof text);
    fill_random(start, 8);
    for (int kind = 0; kind < 2 * MODES; kind++) {
        bool triple = kind >= MODES;
        enum mode mode = (enum mode)(kind % MODES);
        memcpy(iv, start, 8);
        run_plain(triple, mode, key, whole, text, BLOCKS, iv);
        for (size_t blocks = 0; blocks <= BLOCKS; blocks++) {
            memset(out, 0xee, sizeof out);
            memcpy(out, text, 8 * blocks);
            memcpy(iv, start, 8);
            run(triple, mode, key, out, out, blocks, iv);
            CHECK_BYTES(out, whole, 8 * blocks);
            CHECK_EQ(out[8 * blocks], 0xee);
            run(triple, mode, key, out + 8 * blocks, text + 8 * blocks, BLOCKS - blocks, iv);
            CHECK_BYTES(out, whole, TEXT);
        }
    }
}

static void every_alignment_between_guard_pages(void) {
    struct test_guard in, out;
    uint8_t key[24], expected[TEXT], iv[8], start[8];
    test_guard_init(&in);
    test_guard_init(&out);
    fill_random(key, sizeof key);
    fill_random(start, 8);
    for (size_t shift = 0; shift < 8; shift++) {
        size_t blocks = 1 + shift;
        for (int kind = 0; kind < 4 * MODES; kind++) {
            bool at_begin = kind % 2 != 0, triple = kind % 4 >= 2;
            enum mode mode = (enum mode)(kind / 4);
            uint8_t *from = at_begin ? test_guard_begin(&in) : test_guard_end(&in, 8 * blocks);
            uint8_t *to = at_begin ? test_guard_begin(&out) + shift
                                   : test_guard_end(&out, 8 * blocks + shift);
            fill_random(from, 8 * blocks);
            memcpy(iv, start, 8);
            run_plain(triple, mode, key, expected, from, blocks, iv);
            memcpy(iv, start, 8);
            run(triple, mode, key, to, from, blocks, iv);
            CHECK_BYTES(to, expected, 8 * blocks);
        }
    }
    test_guard_cleanup(&in);
    test_guard_cleanup(&out);
}

/* ---- facts about keys ---- */

/* SP 800-67, "Weak Keys"; the semi-weak ones in pairs. */
static const char *const weak_keys[16] = {
    "0101010101010101", "FEFEFEFEFEFEFEFE", "E0E0E0E0F1F1F1F1", "1F1F1F1F0E0E0E0E",
    "011F011F010E010E", "1F011F010E010E01", "01E001E001F101F1", "E001E001F101F101",
    "01FE01FE01FE01FE", "FE01FE01FE01FE01", "1FE01FE00EF10EF1", "E01FE01FF10EF10E",
    "1FFE1FFE0EFE0EFE", "FE1FFE1FFE0EFE0E", "E0FEE0FEF1FEF1FE", "FEE0FEE0FEF1FEF1",
};

static void weak_keys_are_the_sixteen(void) {
    uint8_t key[8], partner[8], text[8] = "weakness", out[8], iv[8] = {0};
    for (size_t i = 0; i < 16; i++) {
        test_hex(key, weak_keys[i]);
        test_hex(partner, weak_keys[i < 4 ? i : i ^ 1]);
        run_des(ECB_ENCRYPT, key, out, text, 1, iv);
        run_des(ECB_ENCRYPT, partner, out, out, 1, iv);
        CHECK_BYTES(out, text, 8);
        CHECK(cd_des_key_is_weak(key));
        CHECK(cd_des_key_has_odd_parity(key));
        for (unsigned bit = 0; bit < 64; bit++) {
            key[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK_EQ(cd_des_key_is_weak(key), bit % 8 == 0);
            CHECK(!cd_des_key_has_odd_parity(key));
            key[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    for (unsigned i = 0; i < 10000; i++) {
        fill_random(key, 8);
        CHECK(!cd_des_key_is_weak(key));
    }
}

static void parity_is_odd_in_every_byte(void) {
    for (unsigned value = 0; value < 256; value++) {
        uint8_t key[8], before[8];
        unsigned ones = 0;
        fill_random(before, 8);
        before[value % 8] = (uint8_t)value;
        memcpy(key, before, 8);
        cd_des_key_set_odd_parity(key);
        CHECK(cd_des_key_has_odd_parity(key));
        for (unsigned bit = 0; bit < 8; bit++) {
            ones += (unsigned)key[value % 8] >> bit & 1u;
        }
        CHECK_EQ(ones % 2, 1);
        for (unsigned i = 0; i < 8; i++) {
            CHECK_EQ(key[i] | 1, before[i] | 1);
        }
    }
}

static void repeated_keys_are_seen(void) {
    uint8_t key[24], text[8], single[8], out[8], iv[8] = {0};
    fill_random(key, sizeof key);
    fill_random(text, 8);
    CHECK(!cd_des3_key_is_single(key) && !cd_des3_key_repeats(key));
    memcpy(key + 16, key, 8);
    key[20] ^= 1; /* parity does not make a difference */
    CHECK(!cd_des3_key_is_single(key) && cd_des3_key_repeats(key));
    key[20] ^= 0x81;
    CHECK(!cd_des3_key_is_single(key) && !cd_des3_key_repeats(key));
    memcpy(key + 8, key, 8);
    CHECK(cd_des3_key_is_single(key) && cd_des3_key_repeats(key));
    run_des(ECB_ENCRYPT, key + 16, single, text, 1, iv);
    run_des3(ECB_ENCRYPT, key, out, text, 1, iv);
    CHECK_BYTES(out, single, 8);
    fill_random(key, 8);
    memcpy(key + 16, key + 8, 8);
    CHECK(cd_des3_key_is_single(key) && cd_des3_key_repeats(key));
}

int main(void) {
    RUN(substitution_tables_of_sp800_17);
    RUN(modes_of_fips_81);
    RUN(example_of_sp800_67);
    RUN(r087_two_key_orders);
    RUN(every_mode_equals_the_standard);
    RUN(every_key_bit_but_parity_counts);
    RUN(counts_in_place_and_splits);
    RUN(every_alignment_between_guard_pages);
    RUN(weak_keys_are_the_sixteen);
    RUN(parity_is_odd_in_every_byte);
    RUN(repeated_keys_are_seen);
    return test_end();
}
