/* software/: hashes and HMACs, through the registry and the transform functions. */
#include <pthread.h>

#include "crypto/hmac.h"
#include "cryptodispatch/hash.h"
#include "cryptodispatch/software.h"
#include "test_guard.h"
#include "test_hash_all.h"

static struct cd_registry *registry;

static const char *const hash_names[HASHES] = {"md5", "sha1", "sha224", "sha256"};

/* Names of `algorithm` as an implementation: sha1-ni, hmac(sha1-ni). */
static void driver_name(char out[CD_NAME_MAX], const struct cd_md_algorithm *algorithm, bool hmac) {
    snprintf(out, CD_NAME_MAX, hmac ? "hmac(%s-%s)" : "%s-%s", algorithm->algorithm,
             algorithm->name);
}

static struct cd_hash *new_hash(const struct cd_md_algorithm *algorithm, bool hmac,
                                const uint8_t *key, size_t key_len) {
    struct cd_hash *hash = NULL;
    char name[CD_NAME_MAX];

    driver_name(name, algorithm, hmac);
    if (cd_hash_new(&hash, registry, name, 0, CD_FLAG_MODELLED) != CD_OK) {
        printf("no hash %s\n", name);
        exit(1);
    }
    if (hmac) {
        CHECK_EQ(cd_hash_set_key(hash, key, key_len), CD_OK);
    }
    return hash;
}

/* The digest or tag in one request. */
static void digest_of(struct cd_hash *hash, uint8_t *out, const uint8_t *data, size_t length) {
    struct cd_hash_request request = {.source = data, .length = length, .digest = out};

    CHECK_EQ(cd_hash_digest(hash, &request), CD_OK);
    CHECK_EQ(request.status, CD_OK);
}

static void update(struct cd_hash *hash, struct cd_hash_state *state, const uint8_t *data,
                   size_t length) {
    CHECK_EQ(cd_hash_update(hash, state, data, length), CD_OK);
}

/* ---- registration and keys ---- */

static int32_t priority_of(const struct cd_md_algorithm *algorithm) {
    return algorithm->cpu == 0 ? 100 : (algorithm->cpu & CD_CPU_AVX512) == 0 ? 300 : 400;
}

static void check_listing(const struct cd_md_algorithm *algorithm, bool hmac) {
    const struct cd_implementation *found = NULL;
    char name[CD_NAME_MAX], driver[CD_NAME_MAX];

    snprintf(name, sizeof name, hmac ? "hmac(%s)" : "%s", algorithm->algorithm);
    driver_name(driver, algorithm, hmac);
    CHECK_EQ(cd_registry_find(&found, registry, driver, CD_TYPE_HASH, 0, 0), CD_OK);
    CHECK(strcmp(found->algorithm, name) == 0);
    CHECK_EQ(found->flags, 0);
    CHECK_EQ(found->priority, priority_of(algorithm));
    CHECK_EQ(found->cpu, algorithm->cpu);
    CHECK_EQ(found->block_size, 64);
    CHECK_EQ(found->digest_size, algorithm->digest_size);
    CHECK(found->key_sizes == (hmac ? CD_KEY_ANY : 0));
    CHECK_EQ(found->iv_size, 0);
    cd_implementation_release(found);
}

static void every_hash_is_listed_and_the_best_one_bound(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        for (int hmac = 0; hmac < 2; hmac++) {
            const struct cd_implementation *best = NULL;
            char name[CD_NAME_MAX];

            check_listing(algorithm, hmac != 0);
            snprintf(name, sizeof name, hmac ? "hmac(%s)" : "%s", hash_names[hash]);
            CHECK_EQ(cd_registry_find(&best, registry, name, CD_TYPE_HASH, 0, 0), CD_OK);
            CHECK(best->priority >= priority_of(algorithm));
            CHECK(strstr(best->driver, best->priority == 400   ? "-avx512"
                                       : best->priority == 300 ? "-ni"
                                                               : "-lib") != NULL);
        }
    }
}

/* R027: an hmac without a key gives no digest, in one piece or several; nor after a bad key. */
static void r027_no_hmac_without_a_key(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_hash *hmac = NULL;
        struct cd_hash_state state = {.count = 0};
        char name[CD_NAME_MAX];
        uint8_t tag[CD_MD_DIGEST_MAX] = {0xee};
        struct cd_hash_request request = {.source = test_bytes, .length = 9, .digest = tag};

        driver_name(name, algorithm, true);
        CHECK_EQ(cd_hash_new(&hmac, registry, name, 0, 0), CD_OK);
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(cd_hash_digest(hmac, &request), CD_E_NO_KEY);
            CHECK_EQ(cd_hash_begin(hmac, &state), CD_E_NO_KEY);
            CHECK_EQ(cd_hash_update(hmac, &state, test_bytes, 9), CD_E_NO_KEY);
            CHECK_EQ(cd_hash_finish(hmac, &state, tag), CD_E_NO_KEY);
            CHECK_EQ(tag[0], 0xee);
            CHECK_EQ(cd_hash_set_key(hmac, test_bytes, 20), CD_OK);
            CHECK_EQ(cd_hash_set_key(hmac, test_bytes, ((size_t)1 << 20) + 1), CD_E_KEY);
        }
        CHECK_EQ(cd_hash_set_key(hmac, test_bytes, 20), CD_OK);
        CHECK_EQ(cd_hash_digest(hmac, &request), CD_OK);
        cd_hash_free(hmac);
        hmac = new_hash(algorithm, false, NULL, 0);
        CHECK_EQ(cd_hash_set_key(hmac, test_bytes, 20), CD_E_KEY); /* takes none, and goes on */
        CHECK_EQ(cd_hash_digest(hmac, &request), CD_OK);
        cd_hash_free(hmac);
    }
}

/* ---- known answers ---- */

static void check_known(bool hmac, const uint8_t *key, size_t key_len, const uint8_t *data,
                        size_t length, const char *const expected[HASHES]) {
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_hash *transform = new_hash(algorithm, hmac, key, key_len);
        uint8_t digest[CD_MD_DIGEST_MAX];

        digest_of(transform, digest, data, length);
        check_digest(algorithm, digest, expected[hash]);
        cd_hash_free(transform);
    }
}

/* "abc": RFC 1321 A.5; FIPS 180-4 examples with intermediate values; RFC 3874 section 3.1. */
static void abc_of_rfc_1321_and_fips_180(void) {
    static const char *const expected[HASHES] = {
        "900150983cd24fb0d6963f7d28e17f72", "a9993e364706816aba3e25717850c26c9cd0d89d",
        "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"};

    check_known(false, NULL, 0, (const uint8_t *)"abc", 3, expected);
}

/* RFC 2202 and RFC 4231, test case 2. */
static void jefe_of_rfc_2202_and_rfc_4231(void) {
    static const char *const expected[HASHES] = {
        "750c783e6ab0b503eaa86e310a5db738", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        "a30e01098bc6dbbf45690f3a7e9e6d0f8bbea2a39e6148008fd05e44",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"};
    const char *data = "what do ya want for nothing?";

    check_known(true, (const uint8_t *)"Jefe", 4, (const uint8_t *)data, strlen(data), expected);
}

static void r079_key_longer_than_a_block(void) {
    static const char *const expected[HASHES] = {
        "bfecaf4efff90a3a668f3922fec3762d", "90d0dace1c1bdc957339307803160335bde6df2b",
        "95e9a0db962095adaebe9b2d6f0dbce2d499f112f2d2b7273fa6870e",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"};
    const char *data = "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t key[131];

    memset(key, 0xaa, sizeof key);
    check_known(true, key, sizeof key, (const uint8_t *)data, strlen(data), expected);
}

static void r081_empty_key_and_empty_message(void) {
    static const char *const expected[HASHES] = {
        "74e6f7298a9c2d168935f58c001bad88", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d",
        "5ce14f72894662213e2748d2a6ba234b74263910cedde2f5a9271524",
        "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"};

    check_known(true, NULL, 0, NULL, 0, expected);
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_hash *transform = new_hash(algorithm, true, NULL, 0);
        struct cd_hash_state state;
        uint8_t tag[CD_MD_DIGEST_MAX];

        CHECK_EQ(cd_hash_begin(transform, &state), CD_OK);
        update(transform, &state, NULL, 0);
        CHECK_EQ(cd_hash_finish(transform, &state, tag), CD_OK);
        check_digest(algorithm, tag, expected[hash]);
        cd_hash_free(transform);
    }
}

static void r083_two_blocks_in_one_update_and_in_pieces(void) {
    static const char *const expected[HASHES] = {
        "37eff01866ba3f538421b30b7cbefcac", "e6434bc401f98603d7eda504790c98c67385d535",
        "67d88da33fd632d8742424791dface672ff59d597fe38b3f2a998386",
        "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5"};
    static const size_t firsts[] = {128, 64, 1, 63};
    uint8_t text[128], digest[CD_MD_DIGEST_MAX];

    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = (uint8_t)i;
    }
    check_known(false, NULL, 0, text, sizeof text, expected);
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_hash *transform = new_hash(algorithm, false, NULL, 0);

        for (size_t i = 0; i < 4; i++) {
            struct cd_hash_state state;

            CHECK_EQ(cd_hash_begin(transform, &state), CD_OK);
            update(transform, &state, text, firsts[i]);
            update(transform, &state, text + firsts[i], 128 - firsts[i]);
            CHECK_EQ(cd_hash_finish(transform, &state, digest), CD_OK);
            check_digest(algorithm, digest, expected[hash]);
        }
        cd_hash_free(transform);
    }
}

/* ---- every length ---- */

/* RFC 2104 section 2, word for word, for a key of at most 64 bytes. */
static void compose_hmac(const struct cd_md_algorithm *algorithm, uint8_t *out, const uint8_t *key,
                         size_t key_len, const uint8_t *data, size_t length) {
    uint8_t pad[64 + 320] = {0}, inner[CD_MD_DIGEST_MAX];

    memcpy(pad, key, key_len);
    for (size_t i = 0; i < 64; i++) {
        pad[i] ^= 0x36;
    }
    memcpy(pad + 64, data, length);
    cd_md_digest(algorithm, inner, pad, 64 + length);
    for (size_t i = 0; i < 64; i++) {
        pad[i] ^= 0x36 ^ 0x5c;
    }
    memcpy(pad + 64, inner, algorithm->digest_size);
    cd_md_digest(algorithm, out, pad, 64 + algorithm->digest_size);
}

/* One piece, pieces of `step` bytes and the primitives agree; `out` is the digest. */
static void check_length(struct cd_hash *transform, const struct cd_md_algorithm *portable,
                         bool hmac, const uint8_t *key, uint8_t *out, size_t length) {
    uint8_t composed[CD_MD_DIGEST_MAX], pieces[CD_MD_DIGEST_MAX];
    size_t step = length % 71 + 1;
    struct cd_hash_state state;

    out[portable->digest_size] = 0xee;
    digest_of(transform, out, test_bytes, length);
    CHECK_EQ(out[portable->digest_size], 0xee);
    if (hmac) {
        compose_hmac(portable, composed, key, 20, test_bytes, length);
    } else {
        cd_md_digest(portable, composed, test_bytes, length);
    }
    CHECK_BYTES(out, composed, portable->digest_size);
    CHECK_EQ(cd_hash_begin(transform, &state), CD_OK);
    for (size_t done = 0; done < length; done += step) {
        update(transform, &state, test_bytes + done, length - done < step ? length - done : step);
    }
    CHECK(state.count == length && state.side == 0);
    CHECK_EQ(cd_hash_finish(transform, &state, pieces), CD_OK);
    CHECK_BYTES(pieces, out, portable->digest_size);
}

/*
 * Lengths 0 to 300, folded into one digest. The expected values are Python's, for test_bytes as
 * `data`:
 *   h, k = hashlib.new(name), hashlib.new(name)
 *   for n in range(301):
 *       h.update(hashlib.new(name, data[:n]).digest())
 *       k.update(hmac.new(data[n:n + 20], data[:n], name).digest())
 */
static void all_lengths_to_300(void) {
    static const char *const expected[2][HASHES] = {
        {"9fb4f885ea9d73ad433b03d3f804f61f", "75367d1b4f5f3274c3a589c8c4da0b762959acb9",
         "c8efb9cb92e9c832355c5a4301b92a1ed2b977b2b4d7d9867b112c14",
         "36bbc3bc89d171f71935d95edc9f02070070a4a3359e20621ba6e40a2595fb9c"},
        {"0190813b0012e0007e5b2e1165d6016b", "5817353b7b7f2d04f661bb74ab13d7fa02277539",
         "4df6c6092c6e502728a9837d83809ec77b9ecfc143c77ff832990c3b",
         "8a40da91ddeaf0a763b24fd16bf494420ad2c1240817ea0682e9b83beb66e787"}};

    for (int hmac = 0; hmac < 2; hmac++) {
        FOR_EVERY_HASH(hash, algorithm) {
            struct cd_hash *transform = new_hash(algorithm, hmac != 0, NULL, 0);
            struct cd_md_state fold;
            uint8_t digest[CD_MD_DIGEST_MAX + 1];

            cd_md_init(algorithm, &fold);
            for (size_t length = 0; length <= 300; length++) {
                const uint8_t *key = test_bytes + length;

                CHECK(hmac == 0 || cd_hash_set_key(transform, key, 20) == CD_OK);
                check_length(transform, test_hashes[hash][0], hmac != 0, key, digest, length);
                cd_md_update(algorithm, &fold, digest, algorithm->digest_size);
            }
            cd_md_final(algorithm, &fold, digest);
            check_digest(algorithm, digest, expected[hmac][hash]);
            cd_hash_free(transform);
        }
    }
}

/* Any alignment, up to the last byte of a page; the digest may overwrite the message. */
static void alignments_guard_pages_and_digest_in_the_source(void) {
    struct test_guard guard;

    test_guard_init(&guard);
    FOR_EVERY_HASH(hash, algorithm) {
        for (size_t i = 0; i < 32; i++) {
            struct cd_hash *transform = new_hash(algorithm, i % 2 != 0, test_bytes, i);
            uint8_t expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];
            size_t length = 100 + i;
            uint8_t *end = test_guard_end(&guard, length);
            uint8_t *begin = test_guard_begin(&guard) + i;

            digest_of(transform, expected, test_bytes, length);
            memcpy(begin, test_bytes, length);
            digest_of(transform, digest, begin, length);
            CHECK_BYTES(digest, expected, algorithm->digest_size);
            memcpy(end, test_bytes, length);
            digest_of(transform, end + length - algorithm->digest_size, end, length);
            CHECK_BYTES(end + length - algorithm->digest_size, expected, algorithm->digest_size);
            cd_hash_free(transform);
        }
    }
    test_guard_cleanup(&guard);
}

/* ---- pieces ---- */

/* R105: a digest in the middle changes nothing; a copy of the state is a message of its own. */
static void r105_update_after_finish_and_copies(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        for (int hmac = 0; hmac < 2; hmac++) {
            struct cd_hash *transform = new_hash(algorithm, hmac != 0, test_bytes, 20);
            struct cd_hash_state state, before, fork;
            uint8_t expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];

            CHECK_EQ(cd_hash_begin(transform, &state), CD_OK);
            state.side = 2; /* as a proxy leaves it: kept */
            for (size_t length = 0; length < 200; length += 9) {
                before = state;
                CHECK_EQ(cd_hash_finish(transform, &state, digest), CD_OK);
                digest_of(transform, expected, test_bytes, length);
                CHECK_BYTES(digest, expected, algorithm->digest_size);
                CHECK_BYTES(&state, &before, sizeof state);
                fork = state;
                update(transform, &fork, test_bytes + 300, 70);
                update(transform, &state, test_bytes + length, 9);
            }
            CHECK_EQ(state.side, 2);
            cd_hash_free(transform);
        }
    }
}

/* R089: a state exported after n bytes goes on in any implementation of the algorithm. */
static void check_transfer(const struct cd_md_algorithm *from, const struct cd_md_algorithm *to,
                           bool hmac, size_t length) {
    struct cd_hash *here = new_hash(from, hmac, test_bytes + 5, 70);
    struct cd_hash *there = new_hash(to, hmac, test_bytes + 5, 70);
    uint8_t blob[CD_HASH_BLOB_SIZE], expected[CD_MD_DIGEST_MAX], digest[CD_MD_DIGEST_MAX];
    struct cd_hash_state state, other;

    CHECK_EQ(cd_hash_begin(here, &state), CD_OK);
    update(here, &state, test_bytes, length);
    cd_hash_export(here, &state, blob);
    CHECK_EQ(cd_hash_import(there, &other, blob, sizeof blob), CD_OK);
    CHECK(other.count == length);
    for (size_t more = 0; more < 2; more++) {
        update(there, &other, test_bytes + length, 77 * more);
        CHECK_EQ(cd_hash_finish(there, &other, digest), CD_OK);
        digest_of(here, expected, test_bytes, length + 77 * more);
        CHECK_BYTES(digest, expected, from->digest_size);
    }
    cd_hash_free(here);
    cd_hash_free(there);
}

static void r089_states_move_between_implementations(void) {
    static const size_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 1000};

    FOR_EVERY_HASH(hash, from) {
        for (size_t to = 0; test_hashes[hash][to] != NULL; to++) {
            for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
                check_transfer(from, test_hashes[hash][to], i % 2 != 0, lengths[i / 2]);
            }
        }
    }
}

/* A state is one algorithm's: a plain hash's is none of its hmac's, sha224's is none of sha256's.
 */
static void states_of_other_algorithms_are_refused(void) {
    struct cd_hash *transforms[2 * HASHES];
    uint8_t blob[CD_HASH_BLOB_SIZE];
    struct cd_hash_state state;

    for (size_t i = 0; i < 2 * HASHES; i++) {
        transforms[i] = new_hash(test_hashes[i / 2][0], i % 2 != 0, test_bytes, 16);
    }
    for (size_t i = 0; i < 4 * HASHES * HASHES; i++) {
        size_t from = i / (2 * HASHES), to = i % (2 * HASHES);

        CHECK_EQ(cd_hash_begin(transforms[from], &state), CD_OK);
        cd_hash_export(transforms[from], &state, blob);
        CHECK_EQ(cd_hash_import(transforms[to], &state, blob, sizeof blob),
                 from == to ? CD_OK : CD_E_MISMATCH);
    }
    for (size_t i = 0; i < 2 * HASHES; i++) {
        cd_hash_free(transforms[i]);
    }
}

/* ---- threads ---- */

struct worker {
    struct cd_hash *hash;
    size_t number, wrong, digest_size;
};

static void *work(void *context) {
    struct worker *worker = context;

    for (size_t i = 0; i < 400; i++) {
        const uint8_t *data = test_bytes + (worker->number * 131 + i) % 600;
        size_t length = (worker->number * 977 + i * 13) % 400;
        uint8_t whole[CD_MD_DIGEST_MAX], pieces[CD_MD_DIGEST_MAX];
        struct cd_hash_request request = {.source = data, .length = length, .digest = whole};
        struct cd_hash_state state;

        if (cd_hash_digest(worker->hash, &request) != CD_OK ||
            cd_hash_begin(worker->hash, &state) != CD_OK ||
            cd_hash_update(worker->hash, &state, data, length / 3) != CD_OK ||
            cd_hash_update(worker->hash, &state, data + length / 3, length - length / 3) != CD_OK ||
            cd_hash_finish(worker->hash, &state, pieces) != CD_OK ||
            memcmp(whole, pieces, worker->digest_size) != 0) {
            worker->wrong++;
        }
    }
    return NULL;
}

/* R031: several threads on one transform, requests and states of their own. */
static void threads_share_a_transform(void) {
    FOR_EVERY_HASH(hash, algorithm) {
        struct cd_hash *transform = new_hash(algorithm, true, test_bytes, 20);
        struct worker workers[4];
        pthread_t threads[4];

        for (size_t t = 0; t < 4; t++) {
            workers[t] = (struct worker){transform, t, 0, algorithm->digest_size};
            CHECK(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
        }
        for (size_t t = 0; t < 4; t++) {
            CHECK(pthread_join(threads[t], NULL) == 0);
            CHECK_EQ(workers[t].wrong, 0);
        }
        cd_hash_free(transform);
    }
}

/* Last: narrows the CPU mask. */
static void without_the_instructions_the_portable_code_is_bound(void) {
    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_SHANI);
    for (size_t hash = 0; hash < HASHES; hash++) {
        struct cd_hash *transform = NULL;
        const struct cd_implementation *found = NULL;

        CHECK_EQ(cd_registry_find(&found, registry, hash_names[hash], CD_TYPE_HASH, 0, 0), CD_OK);
        CHECK_EQ(found->priority, 100);
        if (hash != MD5) {
            char name[CD_NAME_MAX];

            snprintf(name, sizeof name, "hmac(%s-ni)", hash_names[hash]);
            CHECK_EQ(cd_hash_new(&transform, registry, name, 0, 0), CD_E_UNAVAILABLE);
            snprintf(name, sizeof name, "%s-ni", hash_names[hash]);
            CHECK_EQ(cd_hash_new(&transform, registry, name, 0, 0), CD_E_UNAVAILABLE);
        }
    }
}

int main(void) {
    test_hashes_set_up();
    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, NULL) != CD_OK) {
        return 1;
    }
    RUN(every_hash_is_listed_and_the_best_one_bound);
    RUN(r027_no_hmac_without_a_key);
    RUN(abc_of_rfc_1321_and_fips_180);
    RUN(jefe_of_rfc_2202_and_rfc_4231);
    RUN(r079_key_longer_than_a_block);
    RUN(r081_empty_key_and_empty_message);
    RUN(r083_two_blocks_in_one_update_and_in_pieces);
    RUN(all_lengths_to_300);
    RUN(alignments_guard_pages_and_digest_in_the_source);
    RUN(r105_update_after_finish_and_copies);
    RUN(r089_states_move_between_implementations);
    RUN(states_of_other_algorithms_are_refused);
    RUN(threads_share_a_transform);
    RUN(without_the_instructions_the_portable_code_is_bound);
    cd_registry_free(registry);
    return test_end();
}
