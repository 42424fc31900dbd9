/* software/: DES and triple DES, through the registry and the transform functions. */
#include "crypto/des.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/software.h"
#include "cryptodispatch/stream.h"
#include "test_guard.h"
#include "test_hash_all.h"

#define TEXT 304u /* bytes of the longest text */

static const struct kind {
    const char *algorithm, *driver;
    uint32_t iv_size;
    size_t key_len;
    const char *fold; /* see every_length_equals_libcrypto */
} kinds[] = {
    {"ecb(des)", "ecb(des-lib)", 0, 8,
     "351895eafcab9aa2420bdacfed1fdf6a9b508018f5808bd930ec8b84cdd5d093"},
    {"cbc(des)", "cbc(des-lib)", 8, 8,
     "ee541b0c3a2ff177ec673e90940c21a4fb41644ea0d64a373f72c1eae033d91a"},
    {"ecb(des3_ede)", "ecb(des3_ede-lib)", 0, 24,
     "9a9c27b07e404dcbeecb598e8c3a503f1c133d6d466eac821f20bda85511170a"},
    {"cbc(des3_ede)", "cbc(des3_ede-lib)", 8, 24,
     "7f670051e156012b6e24ca48030564c3e23f55d315e4b03e05e09d668c8aa8cc"},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static struct cd_registry *registry;

static struct cd_cipher *new_cipher(const char *name, const uint8_t *key, size_t key_len) {
    struct cd_cipher *cipher = NULL;

    if (cd_cipher_new(&cipher, registry, name, 0, CD_FLAG_MODELLED) != CD_OK) {
        printf("no cipher %s\n", name);
        exit(1);
    }
    CHECK_EQ(cd_cipher_set_key(cipher, key, key_len), CD_OK);
    return cipher;
}

static cd_status run(struct cd_cipher *cipher, bool decrypt, uint8_t *out, const uint8_t *in,
                     size_t length, uint8_t *iv) {
    struct cd_cipher_request request = {.source = in, .destination = out, .length = length};
    cd_status status;

    memcpy(request.iv, iv, 8);
    status = decrypt ? cd_cipher_decrypt(cipher, &request) : cd_cipher_encrypt(cipher, &request);
    memcpy(iv, request.iv, 8);
    return status;
}

/* ---- registration and keys ---- */

static void every_mode_is_listed_with_its_sizes(void) {
    for (size_t i = 0; i < KINDS; i++) {
        const struct cd_implementation *found;

        CHECK_EQ(cd_registry_find(&found, registry, kinds[i].algorithm, CD_TYPE_CIPHER, 0, 0),
                 CD_OK);
        CHECK(strcmp(found->driver, kinds[i].driver) == 0);
        CHECK_EQ(found->flags, 0);
        CHECK_EQ(found->priority, 100);
        CHECK_EQ(found->cpu, 0);
        CHECK_EQ(found->block_size, 8);
        CHECK_EQ(found->chunk_size, 8);
        CHECK_EQ(found->iv_size, kinds[i].iv_size);
        CHECK(found->key_sizes == CD_KEY_SIZE(kinds[i].key_len));
        cd_implementation_release(found);
    }
}

/* R027, R029: without a key, and after one of a wrong size, nothing runs; a good one mends it. */
static void only_the_key_size_is_taken(void) {
    for (size_t i = 0; i < KINDS; i++) {
        struct cd_cipher *cipher;
        uint8_t text[8] = {0}, iv[8] = {0};

        CHECK_EQ(cd_cipher_new(&cipher, registry, kinds[i].driver, 0, 0), CD_OK);
        CHECK_EQ(run(cipher, false, text, text, 8, iv), CD_E_NO_KEY);
        for (size_t length = 0; length < 70; length++) {
            bool good = length == kinds[i].key_len;

            CHECK_EQ(cd_cipher_set_key(cipher, test_bytes, length), good ? CD_OK : CD_E_KEY);
            CHECK_EQ(run(cipher, false, text, text, 8, iv), good ? CD_OK : CD_E_NO_KEY);
        }
        cd_cipher_free(cipher);
    }
}

/* SP 800-67, "Weak Keys": the four weak ones; and a semi-weak pair. */
static void weak_keys_are_taken(void) {
    static const char *const keys[][2] = {
        {"0101010101010101", "0101010101010101"}, {"FEFEFEFEFEFEFEFE", "FEFEFEFEFEFEFEFE"},
        {"E0E0E0E0F1F1F1F1", "E0E0E0E0F1F1F1F1"}, {"1F1F1F1F0E0E0E0E", "1F1F1F1F0E0E0E0E"},
        {"01FE01FE01FE01FE", "FE01FE01FE01FE01"},
    };
    uint8_t key[8], iv[8] = {0}, out[8];

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct cd_cipher *one, *other;

        test_hex(key, keys[i][0]);
        CHECK(cd_des_key_is_weak(key));
        one = new_cipher("ecb(des)", key, 8);
        test_hex(key, keys[i][1]);
        other = new_cipher("ecb(des)", key, 8);
        CHECK_EQ(run(one, false, out, test_bytes, 8, iv), CD_OK);
        CHECK(memcmp(out, test_bytes, 8) != 0);
        CHECK_EQ(run(other, false, out, out, 8, iv), CD_OK);
        CHECK_BYTES(out, test_bytes, 8);
        cd_cipher_free(one);
        cd_cipher_free(other);
    }
}

static void parity_is_ignored(void) {
    uint8_t key[24], out[64], same[64], iv[8] = {0};

    for (size_t i = 0; i < KINDS; i++) {
        struct cd_cipher *one = new_cipher(kinds[i].driver, test_bytes, kinds[i].key_len), *other;

        for (size_t j = 0; j < sizeof key; j++) {
            key[j] = test_bytes[j] ^ 1;
        }
        other = new_cipher(kinds[i].driver, key, kinds[i].key_len);
        memset(iv, 0, sizeof iv);
        CHECK_EQ(run(one, false, out, test_bytes, 64, iv), CD_OK);
        memset(iv, 0, sizeof iv);
        CHECK_EQ(run(other, false, same, test_bytes, 64, iv), CD_OK);
        CHECK_BYTES(out, same, 64);
        cd_cipher_free(one);
        cd_cipher_free(other);
    }
}

/* ---- known answers ---- */

static void check_vector(const char *name, const char *key_hex, const char *iv_hex,
                         const char *text_hex, const char *cipher_hex) {
    uint8_t key[24], iv[8] = {0}, text[24], cipher[24], out[24];
    size_t key_len = test_hex(key, key_hex), length = test_hex(text, text_hex);
    struct cd_cipher *transform = new_cipher(name, key, key_len);

    CHECK_EQ(test_hex(cipher, cipher_hex), length);
    test_hex(iv, iv_hex);
    CHECK_EQ(run(transform, false, out, text, length, iv), CD_OK);
    CHECK_BYTES(out, cipher, length);
    test_hex(iv, iv_hex);
    CHECK_EQ(run(transform, true, out, cipher, length, iv), CD_OK);
    CHECK_BYTES(out, text, length);
    cd_cipher_free(transform);
}

/* FIPS 81 appendices B and C; SP 800-67 (2004) appendix B.1. */
static void modes_of_fips_81_and_example_of_sp800_67(void) {
    const char *text = "4e6f77206973207468652074696d6520666f7220616c6c20";

    check_vector("ecb(des)", "0123456789abcdef", "", text,
                 "3fa40e8a984d48156a271787ab8883f9893d51ec4b563b53");
    check_vector("cbc(des)", "0123456789abcdef", "1234567890abcdef", text,
                 "e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6");
    check_vector("ecb(des3_ede)", "0123456789abcdef23456789abcdef01456789abcdef0123", "",
                 "5468652071756663 6b2062726f776e20 666f78206a756d70",
                 "a826fd8ce53b855f cce21c8112256fe6 68d5c05dd9b6b900");
}

/* R087: K1 K2 K1, and the degenerate orders, which are single DES and are taken. */
static void r087_two_key_orders(void) {
    const char *zeros = "0000000000000000";

    check_vector("ecb(des3_ede)", "0123456789abcdeffedcba98765432100123456789abcdef", "", zeros,
                 "08d7b4fb629d0885");
    check_vector("ecb(des3_ede)", "0123456789abcdef0123456789abcdeffedcba9876543210", "", zeros,
                 "a68cdca90c9021f9");
    check_vector("ecb(des3_ede)", "0123456789abcdeffedcba9876543210fedcba9876543210", "", zeros,
                 "d5d44ff720683d0d");
}

/*
 * Texts of 0 to 296 bytes, folded into one SHA-256. The expected values are libcrypto's, by way of
 * Python, for test_bytes as `data`; DES is its triple DES with the key three times:
 *   key = data[40:48] * 3 (DES) or data[40:64]
 *   for n in range(0, 304, 8): h.update(encrypt(key, iv=data[n:n + 8], data[100:100 + n]))
 */
static void every_length_equals_libcrypto(void) {
    for (size_t i = 0; i < KINDS; i++) {
        struct cd_cipher *cipher = new_cipher(kinds[i].driver, test_bytes + 40, kinds[i].key_len);
        struct cd_md_state fold;
        uint8_t digest[CD_MD_DIGEST_MAX];

        cd_md_init(&cd_sha256_portable, &fold);
        for (size_t length = 0; length < TEXT; length += 8) {
            uint8_t out[TEXT], back[TEXT], iv[8];

            memcpy(iv, test_bytes + length, 8);
            CHECK_EQ(run(cipher, false, out, test_bytes + 100, length, iv), CD_OK);
            cd_md_update(&cd_sha256_portable, &fold, out, length);
            memcpy(iv, test_bytes + length, 8);
            CHECK_EQ(run(cipher, true, back, out, length, iv), CD_OK);
            CHECK_BYTES(back, test_bytes + 100, length);
        }
        cd_md_final(&cd_sha256_portable, &fold, digest);
        check_digest(&cd_sha256_portable, digest, kinds[i].fold);
        cd_cipher_free(cipher);
    }
}

/* ---- requests ---- */

/* In place; in two requests, the second with the IV that the first left (R041). */
static void in_place_and_chained(void) {
    for (size_t i = 0; i < 2 * KINDS; i++) {
        const struct kind *kind = &kinds[i / 2];
        struct cd_cipher *cipher = new_cipher(kind->driver, test_bytes + 7, kind->key_len);
        bool decrypt = i % 2 != 0;
        uint8_t whole[TEXT], out[TEXT + 8], iv[8], last[8];

        memcpy(last, test_bytes, 8);
        CHECK_EQ(run(cipher, decrypt, whole, test_bytes + 64, TEXT, last), CD_OK);
        CHECK_BYTES(
            last, kind->iv_size == 0 ? test_bytes : (decrypt ? test_bytes + 64 : whole) + TEXT - 8,
            8);
        for (size_t cut = 0; cut <= TEXT; cut += 8) {
            memcpy(iv, test_bytes, 8);
            memcpy(out, test_bytes + 64, TEXT);
            memset(out + TEXT, 0xee, 8);
            CHECK_EQ(run(cipher, decrypt, out, out, cut, iv), CD_OK);
            CHECK_EQ(run(cipher, decrypt, out + cut, out + cut, TEXT - cut, iv), CD_OK);
            CHECK_BYTES(out, whole, TEXT);
            CHECK_BYTES(iv, last, 8);
            CHECK_EQ(out[TEXT], 0xee);
        }
        cd_cipher_free(cipher);
    }
}

static void every_alignment_between_guard_pages(void) {
    struct test_guard in, out;

    test_guard_init(&in);
    test_guard_init(&out);
    for (size_t i = 0; i < KINDS * 16; i++) {
        const struct kind *kind = &kinds[i / 16];
        struct cd_cipher *cipher = new_cipher(kind->driver, test_bytes + 7, kind->key_len);
        size_t shift = i % 8, length = 40;
        uint8_t expected[40], iv[8];
        uint8_t *from = i % 16 < 8 ? test_guard_begin(&in) + shift : test_guard_end(&in, length);
        uint8_t *to = i % 16 < 8 ? test_guard_end(&out, length) : test_guard_begin(&out) + shift;

        memcpy(iv, test_bytes, 8);
        CHECK_EQ(run(cipher, false, expected, test_bytes + 64, length, iv), CD_OK);
        memcpy(from, test_bytes + 64, length);
        memcpy(iv, test_bytes, 8);
        CHECK_EQ(run(cipher, false, to, from, length, iv), CD_OK);
        CHECK_BYTES(to, expected, length);
        cd_cipher_free(cipher);
    }
    test_guard_cleanup(&in);
    test_guard_cleanup(&out);
}

/* R091: a text that is not whole blocks is refused before any output. */
static void partial_blocks_are_refused(void) {
    for (size_t i = 0; i < KINDS; i++) {
        struct cd_cipher *cipher = new_cipher(kinds[i].driver, test_bytes, kinds[i].key_len);

        for (size_t length = 0; length <= 40; length++) {
            cd_status expected = length % 8 == 0 ? CD_OK : CD_E_LENGTH;
            uint8_t out[40], iv[8] = {1};

            memset(out, 0xee, sizeof out);
            CHECK_EQ(run(cipher, false, out, test_bytes, length, iv), expected);
            CHECK(expected == CD_OK || (out[0] == 0xee && iv[0] == 1));
            CHECK_EQ(run(cipher, true, out, test_bytes, length, iv), expected);
        }
        cd_cipher_free(cipher);
    }
}

/* Pieces of 1 to 23 bytes make the text of the one request. */
static void streams_equal_one_request(void) {
    for (size_t i = 0; i < KINDS * 23; i++) {
        const struct kind *kind = &kinds[i / 23];
        struct cd_cipher *cipher = new_cipher(kind->driver, test_bytes + 9, kind->key_len);
        struct cd_cipher_stream stream;
        size_t piece = i % 23 + 1, written = 0;
        uint8_t whole[TEXT], out[TEXT], iv[8];

        memcpy(iv, test_bytes, 8);
        CHECK_EQ(run(cipher, false, whole, test_bytes + 64, TEXT, iv), CD_OK);
        cd_cipher_stream_init(&stream, cipher, false, test_bytes);
        for (size_t done = 0; done < TEXT; done += piece) {
            size_t length = TEXT - done < piece ? TEXT - done : piece;
            size_t size = cd_cipher_stream_output_size(&stream, length);

            CHECK_EQ(
                cd_cipher_stream_update(&stream, out + written, test_bytes + 64 + done, length),
                CD_OK);
            written += size;
        }
        CHECK_EQ(written, TEXT);
        CHECK_EQ(cd_cipher_stream_finalize(&stream), CD_OK);
        CHECK_BYTES(out, whole, TEXT);
        cd_cipher_free(cipher);
    }
}

/* R019, R085: sixteen transforms with keys of their own, used in turn in both directions. */
static void transforms_do_not_disturb_each_other(void) {
    for (size_t i = 0; i < KINDS; i++) {
        struct cd_cipher *ciphers[16];
        uint8_t first[16][32], back[32], again[32], iv[8];

        for (size_t j = 0; j < 16; j++) {
            ciphers[j] = new_cipher(kinds[i].driver, test_bytes + 31 * j, kinds[i].key_len);
            memcpy(iv, test_bytes + j, 8);
            CHECK_EQ(run(ciphers[j], false, first[j], test_bytes + j, 32, iv), CD_OK);
        }
        for (size_t j = 16; j-- > 0;) {
            CHECK(j == 0 || memcmp(first[j], first[j - 1], 32) != 0);
            memcpy(iv, test_bytes + j, 8);
            CHECK_EQ(run(ciphers[j], true, back, first[j], 32, iv), CD_OK);
            CHECK_BYTES(back, test_bytes + j, 32);
            memcpy(iv, test_bytes + j, 8);
            CHECK_EQ(run(ciphers[j], false, again, test_bytes + j, 32, iv), CD_OK);
            CHECK_BYTES(again, first[j], 32);
            cd_cipher_free(ciphers[j]);
        }
    }
}

int main(void) {
    test_hashes_set_up();
    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, NULL) != CD_OK) {
        return 1;
    }
    RUN(every_mode_is_listed_with_its_sizes);
    RUN(only_the_key_size_is_taken);
    RUN(weak_keys_are_taken);
    RUN(parity_is_ignored);
    RUN(modes_of_fips_81_and_example_of_sp800_67);
    RUN(r087_two_key_orders);
    RUN(every_length_equals_libcrypto);
    RUN(in_place_and_chained);
    RUN(every_alignment_between_guard_pages);
    RUN(partial_blocks_are_refused);
    RUN(streams_equal_one_request);
    RUN(transforms_do_not_disturb_each_other);
    cd_registry_free(registry);
    return test_end();
}
