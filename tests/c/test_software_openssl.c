/* software/openssl/: libcrypto's implementations against those of this library. */
#include <pthread.h>

#include "cryptodispatch/cipher.h"
#include "cryptodispatch/hash.h"
#include "cryptodispatch/openssl.h"
#include "cryptodispatch/software.h"
#include "test_support.h"

static const struct cipher_case {
    const char *openssl, *portable;
    size_t block, iv, keys[3]; /* bytes; 0 ends the keys */
} ciphers[] = {
    {"ecb(aes-openssl)", "ecb(aes-lib)", 16, 0, {16, 24, 32}},
    {"cbc(aes-openssl)", "cbc(aes-lib)", 16, 16, {16, 24, 32}},
    {"ctr(aes-openssl)", "ctr(aes-lib)", 1, 16, {16, 24, 32}},
    {"rfc3686(ctr(aes-openssl))", "rfc3686(ctr(aes-lib))", 1, 8, {20, 28, 36}},
    {"ecb(des3_ede-openssl)", "ecb(des3_ede-lib)", 8, 0, {24, 0, 0}},
    {"cbc(des3_ede-openssl)", "cbc(des3_ede-lib)", 8, 8, {24, 0, 0}},
};

static const struct hash_case {
    const char *openssl, *portable;
    bool keyed;
} hashes[] = {
    {"md5-openssl", "md5-lib", false},
    {"sha1-openssl", "sha1-lib", false},
    {"sha224-openssl", "sha224-lib", false},
    {"sha256-openssl", "sha256-lib", false},
    {"hmac(md5-openssl)", "hmac(md5-lib)", true},
    {"hmac(sha1-openssl)", "hmac(sha1-lib)", true},
    {"hmac(sha224-openssl)", "hmac(sha224-lib)", true},
    {"hmac(sha256-openssl)", "hmac(sha256-lib)", true},
};

#define CIPHERS (sizeof ciphers / sizeof ciphers[0])
#define HASHES (sizeof hashes / sizeof hashes[0])
#define TEXT 300u

static struct cd_registry *registry;
static struct cd_openssl *openssl; /* NULL: not there */
static uint8_t text[TEXT], key[256], iv[16];

static void fill(uint8_t *out, size_t length, uint32_t seed) {
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        out[i] = (uint8_t)(seed >> 24);
    }
}

static struct cd_cipher *new_cipher(const char *driver, size_t key_len) {
    struct cd_cipher *cipher = NULL;

    CHECK_EQ(cd_cipher_new(&cipher, registry, driver, 0, 0), CD_OK);
    CHECK(cipher != NULL && cd_cipher_set_key(cipher, key, key_len) == CD_OK);
    return cipher;
}

static struct cd_hash *new_hash(const struct hash_case *which, bool portable, size_t key_len) {
    struct cd_hash *hash = NULL;

    CHECK_EQ(cd_hash_new(&hash, registry, portable ? which->portable : which->openssl, 0, 0),
             CD_OK);
    CHECK(!which->keyed || cd_hash_set_key(hash, key, key_len) == CD_OK);
    return hash;
}

static struct cd_cipher_request request_of(uint8_t *out, const uint8_t *in, size_t length) {
    struct cd_cipher_request request = {.source = in, .destination = out, .length = length};

    memcpy(request.iv, iv, sizeof request.iv);
    return request;
}

static bool count_all(const struct cd_implementation *implementation, void *context) {
    *(size_t *)context += strstr(implementation->driver, "openssl") != NULL;
    return true;
}

static size_t registered(struct cd_registry *where) {
    size_t count = 0;

    cd_registry_each(where, count_all, &count);
    return count;
}

/* ---- loading ---- */

static void what_is_no_libcrypto_is_refused_with_a_reason(void) {
    static const struct {
        const char *path, *reason;
    } cases[] = {
        {"libcrypto.so.nothing", "cannot be loaded"},
        {"", "has no function"}, /* the program itself */
        {"libm.so.6", "has no function"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cd_openssl *none = NULL;
        struct cd_error error = {""};
        size_t before = registered(registry);

        CHECK_EQ(cd_openssl_new(&none, registry, cases[i].path, &error), CD_E_UNAVAILABLE);
        CHECK_EQ(cd_openssl_new(&none, registry, cases[i].path, NULL), CD_E_UNAVAILABLE);
        CHECK(none == NULL && strstr(error.message, "libcrypto") != NULL);
        CHECK(strstr(error.message, cases[i].reason) != NULL || i == 1);
        CHECK_EQ(registered(registry), before);
    }
    cd_openssl_free(NULL);
}

static void version_and_path_are_told(void) {
    CHECK(strncmp(cd_openssl_version(openssl), "OpenSSL 3.", 10) == 0 ||
          strncmp(cd_openssl_version(openssl), "OpenSSL 4.", 10) == 0);
    CHECK(strstr(cd_openssl_path(openssl), "libcrypto") != NULL);
    CHECK(strstr(cd_openssl_path(openssl), "site-packages") == NULL);
}

static void everything_is_registered_and_nothing_is_the_default(void) {
    CHECK_EQ(registered(registry), CIPHERS + HASHES);
    for (size_t i = 0; i < CIPHERS; i++) {
        const struct cd_implementation *ours, *theirs;

        CHECK_EQ(cd_registry_find(&theirs, registry, ciphers[i].openssl, CD_TYPE_CIPHER, 0, 0),
                 CD_OK);
        CHECK_EQ(cd_registry_find(&ours, registry, ciphers[i].portable, CD_TYPE_CIPHER, 0, 0),
                 CD_OK);
        CHECK(strcmp(ours->algorithm, theirs->algorithm) == 0);
        CHECK_EQ(theirs->block_size, ours->block_size);
        CHECK_EQ(theirs->iv_size, ours->iv_size);
        CHECK_EQ(theirs->chunk_size, ours->chunk_size);
        CHECK(theirs->key_sizes == ours->key_sizes && theirs->flags == 0);
        CHECK_EQ(theirs->priority, i < 4 ? 200 : 80);
        cd_implementation_release(theirs);
    }
    for (size_t i = 0; i < HASHES; i++) {
        const struct cd_implementation *ours, *theirs;

        CHECK_EQ(cd_registry_find(&theirs, registry, hashes[i].openssl, CD_TYPE_HASH, 0, 0), CD_OK);
        CHECK_EQ(cd_registry_find(&ours, registry, hashes[i].portable, CD_TYPE_HASH, 0, 0), CD_OK);
        CHECK(strcmp(ours->algorithm, theirs->algorithm) == 0);
        CHECK(theirs->key_sizes == ours->key_sizes);
        CHECK_EQ(theirs->digest_size, ours->digest_size);
        CHECK(theirs->priority < ours->priority);
        cd_implementation_release(theirs);
    }
}

/* A name that is taken: nothing of the rest stays. */
static void failed_registration_leaves_nothing(void) {
    const struct cd_implementation *found;
    struct cd_implementation squatter;
    struct cd_registry *other;
    struct cd_openssl *none = NULL;
    struct cd_error error = {""};

    CHECK_EQ(cd_registry_find(&found, registry, "hmac(sha256-openssl)", CD_TYPE_HASH, 0, 0), CD_OK);
    squatter = *found;
    cd_implementation_release(found);
    CHECK_EQ(cd_registry_new(&other), CD_OK);
    CHECK_EQ(cd_registry_add(other, &squatter, NULL), CD_OK);
    CHECK_EQ(cd_openssl_new(&none, other, NULL, &error), CD_E_EXISTS);
    CHECK(strstr(error.message, squatter.driver) != NULL && none == NULL);
    CHECK_EQ(registered(other), 1);
    cd_registry_free(other);
}

/* The registry and the object may go first. */
static void transforms_outlive_the_object(void) {
    struct cd_registry *other;
    struct cd_openssl *second;
    struct cd_cipher *cipher;
    uint8_t out[16], expected[16];
    struct cd_cipher_request request;

    CHECK_EQ(cd_registry_new(&other), CD_OK);
    CHECK_EQ(cd_openssl_new(&second, other, NULL, NULL), CD_OK);
    CHECK_EQ(cd_cipher_new(&cipher, other, "cbc(aes)", 0, 0), CD_OK);
    cd_openssl_free(second);
    CHECK_EQ(registered(other), 0);
    cd_registry_free(other);
    /* FIPS 197 appendix C.1, as the first block of CBC with an IV of zeros. */
    test_hex(expected, "69c4e0d86a7b0430d8cdb78070b4c55a");
    test_hex(out, "000102030405060708090a0b0c0d0e0f");
    CHECK_EQ(cd_cipher_set_key(cipher, out, 16), CD_OK);
    test_hex(out, "00112233445566778899aabbccddeeff");
    request = (struct cd_cipher_request){.source = out, .destination = out, .length = 16};
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_OK);
    CHECK_BYTES(out, expected, 16);
    cd_cipher_free(cipher);
}

/* ---- ciphers ---- */

/* One request on both: bytes, next IV, block offset. In place if `out` is `in`. */
static void compare(struct cd_cipher *theirs, struct cd_cipher *ours, bool decrypt, size_t length,
                    uint64_t block_offset, bool in_place) {
    uint8_t out[TEXT + 16] = {0}, expected[TEXT + 16] = {0};
    struct cd_cipher_request a = request_of(out, in_place ? out : text, length);
    struct cd_cipher_request b = request_of(expected, text, length);

    memset(out, 0x5a, sizeof out);
    memset(expected, 0x5a, sizeof expected);
    if (in_place) {
        memcpy(out, text, length);
    }
    a.block_offset = b.block_offset = block_offset;
    CHECK_EQ(decrypt ? cd_cipher_decrypt(theirs, &a) : cd_cipher_encrypt(theirs, &a), CD_OK);
    CHECK_EQ(decrypt ? cd_cipher_decrypt(ours, &b) : cd_cipher_encrypt(ours, &b), CD_OK);
    CHECK_BYTES(out, expected, sizeof out);
    CHECK_BYTES(a.iv, b.iv, sizeof a.iv);
    CHECK(a.block_offset == b.block_offset);
}

static void every_length_equals_portable(void) {
    for (size_t i = 0; i < CIPHERS * 3; i++) {
        const struct cipher_case *which = &ciphers[i / 3];
        size_t key_len = which->keys[i % 3];

        if (key_len == 0) {
            continue;
        }
        struct cd_cipher *theirs = new_cipher(which->openssl, key_len);
        struct cd_cipher *ours = new_cipher(which->portable, key_len);

        for (size_t length = 0; length <= TEXT; length += which->block) {
            for (int how = 0; how < 4; how++) {
                compare(theirs, ours, how % 2 != 0, length, 0, how >= 2);
            }
        }
        cd_cipher_free(theirs);
        cd_cipher_free(ours);
    }
}

/* The counter carries over all 128 bits; the one of rfc3686 starts where a message goes on. */
static void counters_equal_portable(void) {
    uint8_t kept[16];
    struct cd_cipher *theirs = new_cipher("ctr(aes-openssl)", 16);
    struct cd_cipher *ours = new_cipher("ctr(aes-lib)", 16);

    memcpy(kept, iv, 16);
    for (size_t from = 0; from < 16; from++) {
        memset(iv + from, 0xff, 16 - from);
        iv[15] = 0xf5;
        compare(theirs, ours, false, TEXT, 0, false);
        memcpy(iv, kept, 16);
    }
    cd_cipher_free(theirs);
    cd_cipher_free(ours);
    theirs = new_cipher("rfc3686(ctr(aes-openssl))", 20);
    ours = new_cipher("rfc3686(ctr(aes-lib))", 20);
    for (uint64_t offset = 0xfffffff0; offset < 0xffffffff; offset++) {
        size_t room = (size_t)(0xffffffff - offset) * 16, length = room < TEXT ? room : TEXT;
        uint8_t out[TEXT];
        struct cd_cipher_request beyond = request_of(out, text, room + 1 < TEXT ? room + 1 : TEXT);

        compare(theirs, ours, false, length, offset, false);
        beyond.block_offset = offset;
        CHECK_EQ(cd_cipher_encrypt(theirs, &beyond), room < TEXT ? CD_E_LENGTH : CD_OK);
    }
    cd_cipher_free(theirs);
    cd_cipher_free(ours);
}

/* A new key replaces the old one, in contexts that were used too; a refused one leaves none. */
static void keys_are_replaced(void) {
    for (size_t i = 0; i < CIPHERS; i++) {
        size_t key_len = ciphers[i].keys[0];
        struct cd_cipher *theirs = new_cipher(ciphers[i].openssl, key_len);
        struct cd_cipher *ours = new_cipher(ciphers[i].portable, key_len);

        for (unsigned round = 0; round < 20; round++) {
            uint8_t other[64], out[16];
            struct cd_cipher_request refused = request_of(out, text, 16);

            fill(other, sizeof other, round + 77);
            CHECK_EQ(cd_cipher_set_key(theirs, other, key_len + 1), CD_E_KEY);
            CHECK_EQ(cd_cipher_encrypt(theirs, &refused), CD_E_NO_KEY);
            CHECK_EQ(cd_cipher_set_key(theirs, other, key_len), CD_OK);
            CHECK_EQ(cd_cipher_set_key(ours, other, key_len), CD_OK);
            compare(theirs, ours, round % 2 != 0, 48, 0, false);
        }
        cd_cipher_free(theirs);
        cd_cipher_free(ours);
    }
}

/* ---- hashes ---- */

static void digest_of(struct cd_hash *hash, uint8_t *out, size_t length) {
    struct cd_hash_request request = {.source = text, .length = length, .digest = out};

    CHECK_EQ(cd_hash_digest(hash, &request), CD_OK);
}

/* Whole, in pieces, with keys of none, some and many bytes (R079, R081). */
static void every_message_equals_portable(void) {
    static const size_t key_lengths[] = {0, 20, 64, 65, 200};

    for (size_t i = 0; i < HASHES * 5; i++) {
        const struct hash_case *which = &hashes[i / 5];

        if (!which->keyed && i % 5 > 0) {
            continue;
        }
        struct cd_hash *theirs = new_hash(which, false, key_lengths[i % 5]);
        struct cd_hash *ours = new_hash(which, true, key_lengths[i % 5]);
        size_t size = cd_hash_implementation(theirs)->digest_size;

        for (size_t length = 0; length <= TEXT; length++) {
            uint8_t out[33] = {0}, expected[33] = {0}, pieces[33] = {0};
            struct cd_hash_state state;

            digest_of(theirs, out, length);
            digest_of(ours, expected, length);
            CHECK_BYTES(out, expected, sizeof out);
            CHECK_EQ(cd_hash_begin(theirs, &state), CD_OK);
            CHECK_EQ(cd_hash_update(theirs, &state, text, length / 3), CD_OK);
            CHECK_EQ(cd_hash_update(theirs, &state, text + length / 3, length - length / 3), CD_OK);
            CHECK_EQ(cd_hash_finish(theirs, &state, pieces), CD_OK);
            CHECK_BYTES(pieces, expected, size);
        }
        cd_hash_free(theirs);
        cd_hash_free(ours);
    }
}

/* Any implementation goes on with a state of any other. */
static void states_move_between_implementations(void) {
    for (size_t i = 0; i < HASHES * 2; i++) {
        bool from_portable = i % 2 != 0;
        struct cd_hash *from = new_hash(&hashes[i / 2], from_portable, 33);
        struct cd_hash *to = new_hash(&hashes[i / 2], !from_portable, 33);

        for (size_t split = 0; split <= TEXT; split += 7) {
            uint8_t blob[CD_HASH_BLOB_SIZE], out[33] = {0}, expected[33] = {0};
            struct cd_hash_state state, moved;

            CHECK_EQ(cd_hash_begin(from, &state), CD_OK);
            CHECK_EQ(cd_hash_update(from, &state, text, split), CD_OK);
            cd_hash_export(from, &state, blob);
            CHECK_EQ(cd_hash_import(to, &moved, blob, sizeof blob), CD_OK);
            CHECK_EQ(cd_hash_update(to, &moved, text + split, TEXT - split), CD_OK);
            CHECK_EQ(cd_hash_finish(to, &moved, out), CD_OK);
            digest_of(from, expected, TEXT);
            CHECK_BYTES(out, expected, sizeof out);
        }
        cd_hash_free(from);
        cd_hash_free(to);
    }
}

/* ---- threads ---- */

#define THREADS 12u /* more than a transform keeps contexts for */

struct worker {
    struct cd_cipher *cipher;
    struct cd_hash *hash;
    const uint8_t *ciphertext, *tag;
    unsigned wrong;
};

static void *work(void *context) {
    struct worker *worker = context;
    uint8_t out[TEXT] = {0}, tag[32] = {0};

    for (unsigned i = 0; i < 300; i++) {
        struct cd_cipher_request there = request_of(out, text, TEXT);
        struct cd_cipher_request back = request_of(out, out, TEXT);
        struct cd_hash_request digest = {.source = text, .length = TEXT, .digest = tag};

        if (cd_cipher_encrypt(worker->cipher, &there) != CD_OK ||
            memcmp(out, worker->ciphertext, TEXT) != 0 ||
            cd_cipher_decrypt(worker->cipher, &back) != CD_OK || memcmp(out, text, TEXT) != 0 ||
            cd_hash_digest(worker->hash, &digest) != CD_OK ||
            memcmp(tag, worker->tag, sizeof tag) != 0) {
            worker->wrong++;
        }
    }
    return NULL;
}

static void threads_share_transforms(void) {
    struct cd_cipher *cipher = new_cipher("ctr(aes-openssl)", 16);
    struct cd_hash *hash = new_hash(&hashes[7], false, 20), *ours = new_hash(&hashes[7], true, 20);
    uint8_t ciphertext[TEXT], tag[32];
    struct cd_cipher_request request = request_of(ciphertext, text, TEXT);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];

    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_OK);
    digest_of(ours, tag, TEXT);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){cipher, hash, ciphertext, tag, 0};
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        CHECK_EQ(workers[i].wrong, 0);
    }
    cd_hash_free(ours);
    cd_hash_free(hash);
    cd_cipher_free(cipher);
}

int main(void) {
    struct cd_error error = {""};
    cd_status status;

    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, NULL) != CD_OK) {
        return 1;
    }
    fill(text, sizeof text, 1);
    fill(key, sizeof key, 2);
    fill(iv, sizeof iv, 3);
    RUN(what_is_no_libcrypto_is_refused_with_a_reason);
    status = cd_openssl_new(&openssl, registry, NULL, &error);
    if (status != CD_OK) {
        printf("%s: %s\n", status == CD_E_UNAVAILABLE ? "skipped" : "FAILED", error.message);
        cd_registry_free(registry);
        return status == CD_E_UNAVAILABLE ? test_end() : 1;
    }
    RUN(version_and_path_are_told);
    RUN(everything_is_registered_and_nothing_is_the_default);
    RUN(failed_registration_leaves_nothing);
    RUN(transforms_outlive_the_object);
    RUN(every_length_equals_portable);
    RUN(counters_equal_portable);
    RUN(keys_are_replaced);
    RUN(every_message_equals_portable);
    RUN(states_move_between_implementations);
    RUN(threads_share_transforms);
    cd_openssl_free(openssl);
    cd_registry_free(registry);
    return test_end();
}
