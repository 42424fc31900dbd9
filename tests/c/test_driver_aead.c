/*
 * Aeads and DES of the driver on the emulated engine: the same bytes as software at every length
 * of text, AAD and tag, in place and not; and nothing given out when anything is wrong.
 */
#include "driver_rig.h"

#define HASHES 4
#define CIPHERS 4
#define TEXT_MAX 1024

static const struct {
    const char *name;
    size_t digest_size;
} hashes[HASHES] = {{"md5", 16}, {"sha1", 20}, {"sha224", 28}, {"sha256", 32}};

static const struct {
    const char *format; /* of the name, with the backend in it */
    size_t step, key_len, iv_size;
} ciphers[CIPHERS] = {
    {"cbc(aes-%s)", 16, 32, 16},
    {"rfc3686(ctr(aes-%s))", 1, 20, 8},
    {"cbc(des-%s)", 8, 8, 8},
    {"cbc(des3_ede-%s)", 8, 24, 8},
};

struct pair {
    struct cd_aead *engine, *software;
};

static struct cd_aead *aead_new(const struct rig *rig, size_t hash, size_t cipher,
                                const char *backend, size_t auth_key_len) {
    struct cd_aead *aead = NULL;
    char inner[CD_NAME_MAX], name[CD_NAME_MAX * 2];
    uint8_t key[36], auth_key[100];
    /* The formats are those of the table above. */
    const char *rest = strstr(ciphers[cipher].format, "%s");
    snprintf(inner, sizeof(inner), "%.*s%s%s", (int)(rest - ciphers[cipher].format),
             ciphers[cipher].format, backend, rest + 2);
    snprintf(name, sizeof(name), "authenc(hmac(%s-%s),%s)", hashes[hash].name, backend, inner);
    fill(key, sizeof(key), 11);
    fill(auth_key, sizeof(auth_key), 12);
    CHECK_EQ(cd_aead_new(&aead, rig->registry, name, 0, 0), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, key, ciphers[cipher].key_len, auth_key, auth_key_len), CD_OK);
    return aead;
}

static struct pair pair_new(const struct rig *rig, size_t hash, size_t cipher,
                            size_t auth_key_len) {
    return (struct pair){
        .engine = aead_new(rig, hash, cipher, "eip93", auth_key_len),
        .software = aead_new(rig, hash, cipher, "lib", auth_key_len),
    };
}

static void pair_tag_size(struct pair pair, uint32_t tag_size) {
    CHECK_EQ(cd_aead_set_tag_size(pair.engine, tag_size), CD_OK);
    CHECK_EQ(cd_aead_set_tag_size(pair.software, tag_size), CD_OK);
}

static void pair_free(struct pair pair) {
    cd_aead_free(pair.engine);
    cd_aead_free(pair.software);
}

/* One message with its own buffers; `shift` moves them off their alignment. */
static void compare(struct pair pair, size_t length, size_t aad_len, bool in_place, size_t shift) {
    uint8_t *memory = malloc(4 * length + aad_len + 5 * 64);
    uint8_t *plain = memory + shift;
    uint8_t *aad = plain + length + 16;
    uint8_t *expected = aad + aad_len + 1;
    uint8_t *text = expected + length + 2;
    uint8_t *out = in_place ? text : text + length + 3;
    uint8_t tags[2][CD_TAG_MAX + 1];
    uint32_t tag_size = cd_aead_tag_size(pair.engine);
    struct cd_aead_request left = {.source = plain,
                                   .destination = expected,
                                   .length = length,
                                   .aad = aad_len > 0 ? aad : NULL,
                                   .aad_len = aad_len,
                                   .tag = tags[0]};
    fill(plain, length, length + 1);
    fill(aad, aad_len, aad_len + 2);
    fill(left.iv, 16, length + aad_len);
    memset(tags, 0x5A, sizeof(tags));
    memcpy(text, plain, length);
    struct cd_aead_request right = left;
    right.source = text;
    right.destination = out;
    right.tag = tags[1];
    CHECK_EQ(cd_aead_encrypt_wait(pair.software, &left), CD_OK);
    out[length] = 0x5A;
    CHECK_EQ(cd_aead_encrypt_wait(pair.engine, &right), CD_OK);
    CHECK_BYTES(out, expected, length);
    CHECK_BYTES(tags[1], tags[0], sizeof(tags[0])); /* no byte behind the tag is touched */
    CHECK_BYTES(right.iv, left.iv, 16);
    /* And back, from what software made. */
    memcpy(text, expected, length);
    CHECK_EQ(cd_aead_decrypt_wait(pair.engine, &right), CD_OK);
    CHECK_BYTES(out, plain, length);
    CHECK_EQ(out[length], 0x5A);
    /* R045: and one flipped bit of the tag. */
    memcpy(text, expected, length);
    memset(out, 0x77, in_place ? 0 : length);
    tags[1][tag_size - 1] ^= 0x10;
    CHECK_EQ(cd_aead_decrypt_wait(pair.engine, &right), CD_E_AUTHENTICATION);
    for (size_t i = 0; i < length; i++) {
        if (out[i] != (in_place ? expected[i] : 0x77)) {
            CHECK_EQ(out[i], in_place ? expected[i] : 0x77);
            break;
        }
    }
    free(memory);
}

#define FOR_EVERY_PAIR(name) for (size_t name = 0; name < HASHES * CIPHERS; name++)

static void all_lengths(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    FOR_EVERY_PAIR(n) {
        size_t cipher = n % CIPHERS;
        struct pair pair = pair_new(&rig, n / CIPHERS, cipher, 20);
        size_t stride = ciphers[cipher].step == 1 && n / CIPHERS != 1 ? 3 : ciphers[cipher].step;
        for (size_t length = 0; length <= TEXT_MAX; length += stride) {
            compare(pair, length, 8, length % 3 == 0, length % 16);
        }
        pair_free(pair);
    }
    CHECK_EQ(rig_counters(&rig).software, 0);
    CHECK_EQ(rig_counters(&rig).resets, 0);
    rig_end(&rig);
}

/* AAD of every length, those that the engine cannot take in software; keys above a block (R079). */
static void all_aad(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    FOR_EVERY_PAIR(n) {
        struct pair pair = pair_new(&rig, n / CIPHERS, n % CIPHERS, 100);
        for (size_t aad_len = 0; aad_len <= 64; aad_len++) {
            compare(pair, 48, aad_len, aad_len % 2 == 0, aad_len % 5);
            compare(pair, 0, aad_len, false, 0);
        }
        compare(pair, 48, 255, true, 0);
        compare(pair, 48, 1020, false, 0);
        uint64_t before = rig_counters(&rig).software;
        compare(pair, 48, 257, false, 0);
        compare(pair, 48, 1021, false, 0);
        compare(pair, 48, 1024, true, 0);
        compare(pair, 48, 5000, true, 0);
        CHECK_EQ(rig_counters(&rig).software - before, 4 * 3);
        pair_free(pair);
    }
    rig_end(&rig);
}

/* R021: AAD lengths in turn on one object, all on the engine. */
static void aad_changes(void) {
    static const size_t lengths[] = {8, 16, 12, 8, 0};
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    FOR_EVERY_PAIR(n) {
        struct pair pair = pair_new(&rig, n / CIPHERS, n % CIPHERS, 20);
        for (size_t i = 0; i < 5; i++) {
            compare(pair, 64, lengths[i], false, 0);
        }
        pair_free(pair);
    }
    CHECK_EQ(rig_counters(&rig).software, 0);
    rig_end(&rig);
}

/* Every size, changing on one object; decryptions with less than 4 bytes are software's. */
static void all_tags(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    FOR_EVERY_PAIR(n) {
        struct pair pair = pair_new(&rig, n / CIPHERS, n % CIPHERS, 20);
        for (uint32_t i = 0; i < hashes[n / CIPHERS].digest_size; i++) {
            pair_tag_size(pair, i + 1);
            compare(pair, 64, 12, i % 2 == 0, 0);
        }
        CHECK_EQ(cd_aead_set_tag_size(pair.engine, 0), CD_E_RANGE);
        CHECK_EQ(cd_aead_set_tag_size(pair.engine, (uint32_t)hashes[n / CIPHERS].digest_size + 1),
                 CD_E_RANGE);
        pair_free(pair);
    }
    CHECK_EQ(rig_counters(&rig).software, HASHES * CIPHERS * 3 * 2);
    rig_end(&rig);
}

/* At and above the size of a bounce area. */
static void long_texts(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    for (size_t cipher = 0; cipher < CIPHERS; cipher++) {
        struct pair pair = pair_new(&rig, cipher, cipher, 20);
        compare(pair, 65536, 1020, cipher % 2 == 0, 0);
        CHECK_EQ(rig_counters(&rig).software, 3 * cipher);
        compare(pair, 65536 + ciphers[cipher].step, 8, cipher % 2 == 0, 0);
        pair_free(pair);
    }
    CHECK_EQ(rig_counters(&rig).software, 3 * CIPHERS);
    rig_end(&rig);
}

/* R045: every bit of AAD, IV, text and tag; the destination is not touched. The IV is checked only
 * by what it decrypts to, unless it is in the AAD: as in the kernel's authenc. */
static void every_flipped_bit(void) {
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    FOR_EVERY_PAIR(n) {
        struct pair pair = pair_new(&rig, n / CIPHERS, n % CIPHERS, 20);
        uint8_t message[16 + 32 + 12], out[32];
        struct cd_aead_request request = {.source = message + 16,
                                          .destination = message + 16,
                                          .length = 32,
                                          .aad = message,
                                          .aad_len = 16,
                                          .tag = message + 48};
        pair_tag_size(pair, 12);
        fill(message, sizeof(message), n);
        memcpy(request.iv, message, 16);
        CHECK_EQ(cd_aead_encrypt_wait(pair.software, &request), CD_OK);
        request.destination = out;
        for (size_t bit = 0; bit < 8 * sizeof(message); bit++) {
            memset(out, 0x77, 32);
            message[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK_EQ(cd_aead_decrypt_wait(pair.engine, &request), CD_E_AUTHENTICATION);
            CHECK(out[0] == 0x77 && memcmp(out, out + 1, 31) == 0);
            message[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        CHECK_EQ(cd_aead_decrypt_wait(pair.engine, &request), CD_OK);
        pair_free(pair);
    }
    CHECK_EQ(rig_counters(&rig).software, 0);
    rig_end(&rig);
}

/* R019: encryption and decryption in turn and at once on one object. */
struct async_job {
    struct cd_aead_request request;
    uint8_t text[64], tag[20];
};

static void directions_mix(void) {
    static struct async_job jobs[200];
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0); /* R061: ring of 8, 200 jobs */
    struct pair pair = pair_new(&rig, 1, 0, 20);
    uint8_t plain[200][64];
    for (size_t i = 0; i < 200; i++) {
        struct async_job *job = &jobs[i];
        fill(plain[i], 64, i);
        memcpy(job->text, plain[i], 64);
        job->request = (struct cd_aead_request){.source = job->text,
                                                .destination = job->text,
                                                .length = 16 + 16 * (i % 4),
                                                .aad = plain[i],
                                                .aad_len = 4 * (i % 7),
                                                .tag = job->tag};
        if (i % 2 == 1) {
            CHECK_EQ(cd_aead_encrypt_wait(pair.software, &job->request), CD_OK);
        }
        CHECK_EQ(i % 2 == 1 ? cd_aead_decrypt(pair.engine, &job->request)
                            : cd_aead_encrypt(pair.engine, &job->request),
                 CD_IN_PROGRESS);
    }
    for (size_t i = 0; i < 200; i++) {
        struct async_job *job = &jobs[i];
        CHECK_EQ(cd_aead_wait(pair.engine, &job->request, 1000000000u), CD_OK);
        CHECK_EQ(job->request.status, CD_OK);
        if (i % 2 == 0) {
            CHECK_EQ(cd_aead_decrypt_wait(pair.software, &job->request), CD_OK);
        }
        CHECK_BYTES(job->text, plain[i], 64);
    }
    pair_free(pair);
    rig_end(&rig);
}

/* Q1: an engine that compares tags by itself refuses no good one, and what it does not see the
 * driver does. */
static void engine_compares(void) {
    struct cd_eip93_emulator_config config = {
        .variant = CD_EIP93_93IES, .pace = CD_EIP93_FREE, .strap_basic_icv_check = true};
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
    cd_eip93_driver_free(rig.driver);
    cd_eip93_emulator_free(rig.emulator);
    CHECK_EQ(cd_eip93_emulator_new(&rig.emulator, &config), CD_OK);
    cd_eip93_emulator_bus(rig.emulator, &rig.bus);
    rig_attach(&rig, 8, 0);
    FOR_EVERY_PAIR(n) {
        struct pair pair = pair_new(&rig, n / CIPHERS, n % CIPHERS, 20);
        for (uint32_t tag_size = 1; tag_size <= hashes[n / CIPHERS].digest_size; tag_size++) {
            pair_tag_size(pair, tag_size);
            compare(pair, 48, tag_size, tag_size % 2 == 0, 0);
        }
        pair_free(pair);
    }
    rig_end(&rig);
}

/* DES and triple DES: all lengths, both directions, the next IV; above the length field (R009);
 * two-key and degenerate keys (R087). */
static void des_lengths(void) {
    static const char *const names[][2] = {{"ecb(des-eip93)", "ecb(des-lib)"},
                                           {"cbc(des-eip93)", "cbc(des-lib)"},
                                           {"ecb(des3_ede-eip93)", "ecb(des3_ede-lib)"},
                                           {"cbc(des3_ede-eip93)", "cbc(des3_ede-lib)"}};
    const size_t most = 0x200008;
    struct rig rig = rig_new(CD_EIP93_FREE, 0, 0);
    uint8_t *text = malloc(3 * most + 3), key[24];
    for (size_t n = 0; n < 8; n++) {
        fill(key, sizeof(key), n);
        memcpy(key + 16, n % 2 == 0 ? key : key + 16, 8);
        struct cd_cipher *engine = rig_cipher(&rig, names[n / 2][0], key, n < 4 ? 8 : 24);
        struct cd_cipher *software = rig_cipher(&rig, names[n / 2][1], key, n < 4 ? 8 : 24);
        for (size_t length = 0; length <= most; length += length == 1024 ? most - 1024 : 8) {
            bool decrypt = length / 8 % 2 == 1, in_place = length % 3 == 0;
            uint8_t *source = text + length % 3, *expected = source + length;
            uint8_t *out = in_place ? source : expected + length;
            struct cd_cipher_request left = {
                .source = source, .destination = expected, .length = length};
            fill(source, length, length);
            fill(left.iv, 8, length + n);
            struct cd_cipher_request right = left;
            right.destination = out;
            CHECK_EQ(decrypt ? cd_cipher_decrypt_wait(software, &left)
                             : cd_cipher_encrypt_wait(software, &left),
                     CD_OK);
            CHECK_EQ(decrypt ? cd_cipher_decrypt_wait(engine, &right)
                             : cd_cipher_encrypt_wait(engine, &right),
                     CD_OK);
            CHECK_BYTES(out, expected, length);
            CHECK_BYTES(right.iv, left.iv, 16);
        }
        cd_cipher_free(engine);
        cd_cipher_free(software);
    }
    free(text);
    rig_end(&rig);
}

/* Section 9.8, and R087. */
static void des_vectors(void) {
    static const struct {
        const char *name, *key, *iv, *text, *expected;
    } cases[] = {
        {"ecb(des-eip93)", "0123456789abcdef", "", "4e6f772069732074", "3fa40e8a984d4815"},
        {"cbc(des-eip93)", "0123456789abcdef", "1234567890abcdef",
         "4e6f77206973207468652074696d6520", "e5c7cdde872bf27c43e934008c389c0f"},
        {"ecb(des3_ede-eip93)", "0123456789abcdef23456789abcdef01456789abcdef0123", "",
         "5468652071756663", "a826fd8ce53b855f"},
        {"cbc(des3_ede-eip93)", "0123456789abcdef23456789abcdef01456789abcdef0123",
         "1234567890abcdef", "4e6f77206973207468652074696d6520",
         "f3c0ff026c023089656fbb169def7edb"},
        {"ecb(des3_ede-eip93)", "0123456789abcdeffedcba98765432100123456789abcdef", "",
         "0000000000000000", "08d7b4fb629d0885"},
    };
    struct rig rig = rig_new(CD_EIP93_FREE, 8, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t key[24], text[16], plain[16], expected[16], iv[16] = {0};
        size_t key_len = test_hex(key, cases[i].key);
        size_t length = test_hex(text, cases[i].text);
        test_hex(plain, cases[i].text);
        test_hex(expected, cases[i].expected);
        test_hex(iv, cases[i].iv);
        struct cd_cipher *cipher = rig_cipher(&rig, cases[i].name, key, key_len);
        struct cd_cipher_request request = {.source = text, .destination = text, .length = length};
        memcpy(request.iv, iv, 16);
        CHECK_EQ(cd_cipher_encrypt_wait(cipher, &request), CD_OK);
        CHECK_BYTES(text, expected, length);
        memcpy(request.iv, iv, 16);
        CHECK_EQ(cd_cipher_decrypt_wait(cipher, &request), CD_OK);
        CHECK_BYTES(text, plain, length);
        cd_cipher_free(cipher);
    }
    rig_end(&rig);
}

int main(void) {
    RUN(all_lengths);
    RUN(all_aad);
    RUN(aad_changes);
    RUN(all_tags);
    RUN(long_texts);
    RUN(every_flipped_bit);
    RUN(directions_mix);
    RUN(engine_compares);
    RUN(des_lengths);
    RUN(des_vectors);
    return test_end();
}
