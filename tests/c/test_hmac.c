/* crypto/hmac: HMAC over every hash implementation, against published vectors and in pieces. */
#include "crypto/hmac.h"
#include "test_hash_all.h"

static void tag_of(const struct cd_md_algorithm *algorithm, uint8_t *out_tag, const uint8_t *key,
                   size_t key_len, const uint8_t *data, size_t length) {
    struct cd_hmac_key prepared;
    cd_hmac_prepare(&prepared, algorithm, key, key_len);
    cd_hmac_digest(&prepared, out_tag, data, length);
}

/* A run of the same byte, or text. */
struct bytes {
    const char *text;
    uint8_t byte;
    size_t count;
};

static size_t unfold(uint8_t *out, struct bytes bytes) {
    if (bytes.text != NULL) {
        memcpy(out, bytes.text, strlen(bytes.text));
        return strlen(bytes.text);
    }
    memset(out, bytes.byte, bytes.count);
    return bytes.count;
}

/* `tags[i]` belongs to hash number `first + i`. */
struct vector {
    struct bytes key, data;
    const char *tags[2];
};

static void check_vectors(size_t first, const struct vector *vectors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t key[160], data[160], tag[CD_MD_DIGEST_MAX];
        size_t key_len = unfold(key, vectors[i].key), length = unfold(data, vectors[i].data);
        for (size_t hash = first; hash < first + 2; hash++) {
            for (size_t j = 0; vectors[i].tags[hash - first] && test_hashes[hash][j]; j++) {
                tag_of(test_hashes[hash][j], tag, key, key_len, data, length);
                check_digest(test_hashes[hash][j], tag, vectors[i].tags[hash - first]);
            }
        }
    }
}

#define KEY_25                                                                                     \
    "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15"         \
    "\x16\x17\x18\x19"
#define LARGE_KEY "Test Using Larger Than Block-Size Key"

/* Cases 1, 3 and 5 have keys as long as the digest. */
static void md5_and_sha1_of_rfc_2202(void) {
    static const struct vector vectors[] = {
        {{.byte = 0x0b, .count = 16},
         {.text = "Hi There"},
         {"9294727a3638bb1c13f48ef8158bfc9d", NULL}},
        {{.byte = 0x0b, .count = 20},
         {.text = "Hi There"},
         {NULL, "b617318655057264e28bc0b6fb378c8ef146be00"}},
        {{.text = "Jefe"},
         {.text = "what do ya want for nothing?"},
         {"750c783e6ab0b503eaa86e310a5db738", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"}},
        {{.byte = 0xaa, .count = 16},
         {.byte = 0xdd, .count = 50},
         {"56be34521d144c88dbb8c733f0e8b3f6", NULL}},
        {{.byte = 0xaa, .count = 20},
         {.byte = 0xdd, .count = 50},
         {NULL, "125d7342b9ac11cd91a39af48aa17b4f63f175d3"}},
        {{.text = KEY_25},
         {.byte = 0xcd, .count = 50},
         {"697eaf0aca3a3aea3a75164746ffaa79", "4c9007f4026250c6bc8414f9bf50c86c2d7235da"}},
        {{.byte = 0x0c, .count = 16},
         {.text = "Test With Truncation"},
         {"56461ef2342edc00f9bab995690efd4c", NULL}},
        {{.byte = 0x0c, .count = 20},
         {.text = "Test With Truncation"},
         {NULL, "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"}},
        {{.byte = 0xaa, .count = 80},
         {.text = LARGE_KEY " - Hash Key First"},
         {"6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd", "aa4ae5e15272d00e95705637ce8a3b55ed402112"}},
        {{.byte = 0xaa, .count = 80},
         {.text = LARGE_KEY " and Larger Than One Block-Size Data"},
         {"6f630fad67cda0ee1fb1f562db3aa53e", "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"}},
    };
    check_vectors(MD5, vectors, sizeof vectors / sizeof vectors[0]);
}

/* All but case 5, which is about truncation. */
static void sha224_and_sha256_of_rfc_4231(void) {
    static const struct vector vectors[] = {
        {{.byte = 0x0b, .count = 20},
         {.text = "Hi There"},
         {"896fb1128abbdf196832107cd49df33f47b4b1169912ba4f53684b22",
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"}},
        {{.text = "Jefe"},
         {.text = "what do ya want for nothing?"},
         {"a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}},
        {{.byte = 0xaa, .count = 20},
         {.byte = 0xdd, .count = 50},
         {"7fb3cb3588c6c1f6ffa9694d7d6ad2649365b0c1f65d69d1ec8333ea",
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"}},
        {{.text = KEY_25},
         {.byte = 0xcd, .count = 50},
         {"6c11506874013cac6a2abc1bb382627cec6a90d86efc012de7afec5a",
          "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"}},
        {{.byte = 0xaa, .count = 131},
         {.text = LARGE_KEY " - Hash Key First"},
         {"95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"}},
        {{.byte = 0xaa, .count = 131},
         {.text = "This is a test using a larger than block-size key and a larger than block-size "
                  "data. The key needs to be hashed before being used by the HMAC algorithm."},
         {"3a854166ac5d9f023f54d517d0b39dbd946770db9c2b95c9f6f565d1",
          "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}},
    };
    check_vectors(SHA224, vectors, sizeof vectors / sizeof vectors[0]);
}

static void r079_key_longer_than_a_block(void) {
    static const char *const expected[HASHES] = {
        "bfecaf4efff90a3a668f3922fec3762d", "90d0dace1c1bdc957339307803160335bde6df2b",
        "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"};
    const char *text = LARGE_KEY " - Hash Key First";
    uint8_t key[131], tag[CD_MD_DIGEST_MAX];
    memset(key, 0xaa, sizeof key);
    FOR_EVERY_HASH(hash, algorithm) {
        tag_of(algorithm, tag, key, sizeof key, (const uint8_t *)text, strlen(text));
        check_digest(algorithm, tag, expected[hash]);
    }
}

static void r081_empty_key_and_empty_message(void) {
    static const char *const expected[HASHES] = {
        "74e6f7298a9c2d168935f58c001bad88", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d",
        "5ce14f72894662213e2748d2a6ba234b74263910cedde2f5a9271524",
        "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"};
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t tag[CD_MD_DIGEST_MAX];
        struct cd_hmac_key prepared;
        struct cd_hmac_state state;
        tag_of(algorithm, tag, NULL, 0, NULL, 0);
        check_digest(algorithm, tag, expected[hash]);
        cd_hmac_prepare(&prepared, algorithm, NULL, 0);
        cd_hmac_init(&prepared, &state);
        cd_hmac_final(&prepared, &state, tag);
        check_digest(algorithm, tag, expected[hash]);
    }
}

/*
 * Keys of 0 to 199 bytes, messages three times as long, folded into one digest. The expected values
 * are Python's, for test_bytes as `data`:
 *   h = hashlib.new(name)
 *   for n in range(200): h.update(hmac.new(data[:n], data[:3 * n], name).digest())
 */
static void all_key_lengths(void) {
    static const char *const expected[HASHES] = {
        "776c8cba21d1e580c61d38bad09a3d62", "ccfea2f6adb844563e64e374a75dacb54a2d7c94",
        "605cc09a85510d908f3be300febb67ee2be8f9713fcd05c347247f86",
        "2e704831302bc94f7cc7b0732f59f42bb0446acb841e38f8d864c0a40feb9a0d"};
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t tag[CD_MD_DIGEST_MAX];
        struct cd_md_state fold;
        cd_md_init(algorithm, &fold);
        for (size_t length = 0; length < 200; length++) {
            tag_of(algorithm, tag, test_bytes, length, test_bytes, 3 * length);
            cd_md_update(algorithm, &fold, tag, algorithm->digest_size);
        }
        cd_md_final(algorithm, &fold, tag);
        check_digest(algorithm, tag, expected[hash]);
    }
}

/* One key serves many messages; any split gives the one-shot tag; the state counts the padded key
 * and goes from one implementation to the other (R089). */
static void pieces_and_other_implementations(void) {
    static const struct cd_hmac_state wiped;
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t expected[CD_MD_DIGEST_MAX], tag[CD_MD_DIGEST_MAX];
        struct cd_hmac_key here, there;
        struct cd_hmac_state state;
        cd_hmac_prepare(&here, algorithm, test_bytes + 9, 20);
        cd_hmac_prepare(&there, test_hashes[hash][0], test_bytes + 9, 20);
        for (size_t length = 0; length <= 140; length++) {
            cd_hmac_digest(&there, expected, test_bytes, length);
            for (size_t cut = 0; cut <= length; cut++) {
                cd_hmac_init(&here, &state);
                cd_hmac_update(&here, &state, test_bytes, cut);
                CHECK_EQ(state.hash.count, 64 + cut);
                cd_hmac_update(&there, &state, test_bytes + cut, length - cut);
                cd_hmac_final(&here, &state, tag);
                CHECK_BYTES(tag, expected, algorithm->digest_size);
                CHECK_BYTES(&state, &wiped, sizeof state);
            }
        }
    }
}

/* As an engine does it: inner words from elsewhere, the outer hash from the key. */
static void finish_from_inner_words(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        static const uint32_t wiped[CD_MD_WORDS_MAX];
        uint8_t expected[CD_MD_DIGEST_MAX], tag[CD_MD_DIGEST_MAX];
        uint32_t words[CD_MD_WORDS_MAX];
        struct cd_hmac_key key;
        cd_hmac_prepare(&key, algorithm, test_bytes, 32);
        for (size_t length = 0; length < 150; length++) {
            cd_hmac_digest(&key, expected, test_bytes, length);
            memcpy(words, key.inner, sizeof words);
            cd_md_finish(algorithm, words, 64, test_bytes, length);
            cd_hmac_finish(&key, tag, words);
            CHECK_BYTES(tag, expected, algorithm->digest_size);
            CHECK_BYTES(words, wiped, sizeof words);
        }
    }
}

/* RFC 2104 section 4: the kept words are those after one block of key and pad. */
static void prepared_words_are_those_of_the_pads(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        uint8_t inner[64], outer[64];
        uint32_t words[CD_MD_WORDS_MAX] = {0};
        struct cd_hmac_key key;
        cd_hmac_prepare(&key, algorithm, test_bytes, 64);
        CHECK(key.algorithm == algorithm);
        for (size_t i = 0; i < 64; i++) {
            inner[i] = test_bytes[i] ^ 0x36;
            outer[i] = test_bytes[i] ^ 0x5c;
        }
        memcpy(words, algorithm->initial, 4 * (size_t)algorithm->state_words);
        algorithm->blocks(words, inner, 1);
        CHECK_BYTES(key.inner, words, sizeof words);
        memcpy(words, algorithm->initial, 4 * (size_t)algorithm->state_words);
        algorithm->blocks(words, outer, 1);
        CHECK_BYTES(key.outer, words, sizeof words);
    }
}

int main(void) {
    test_hashes_set_up();
    RUN(md5_and_sha1_of_rfc_2202);
    RUN(sha224_and_sha256_of_rfc_4231);
    RUN(r079_key_longer_than_a_block);
    RUN(r081_empty_key_and_empty_message);
    RUN(all_key_lengths);
    RUN(pieces_and_other_implementations);
    RUN(finish_from_inner_words);
    RUN(prepared_words_are_those_of_the_pads);
    return test_end();
}
