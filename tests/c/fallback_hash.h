/* Hashes of the fixture of fallback_types.h: making them, and checking their digests. */
#ifndef FALLBACK_HASH_H
#define FALLBACK_HASH_H

#include "fallback_types.h"

#define MEBIBYTE ((size_t)1 << 20)

static uint8_t message[MEBIBYTE + 10];

static inline struct cd_hash *new_hash(const char *name) {
    struct cd_hash *hash = NULL;
    CHECK_EQ(cd_hash_new(&hash, registry, name, 0, CD_FLAG_MODELLED), CD_OK);
    if (cd_hash_implementation(hash)->key_sizes != 0) {
        CHECK_EQ(cd_hash_set_key(hash, fixture_key, sizeof(fixture_key)), CD_OK);
    }
    return hash;
}

static inline bool is_bound_to(const struct cd_hash *hash, const char *driver) {
    return strcmp(cd_hash_implementation(hash)->driver, driver) == 0;
}

static inline struct cd_hash *enable_and_make(void) {
    set_up();
    cd_benchmark_fill(message, sizeof(message), 5);
    CHECK(enable());
    struct cd_hash *hash = new_hash("hmac(sum)");
    CHECK(is_bound_to(hash, "fallback(hmac(sum-dev))"));
    (void)operations_since(HW_HMAC, SW_HMAC);
    return hash;
}

static inline void free_and_tear_down(struct cd_hash *hash) {
    cd_hash_free(hash);
    tear_down();
}

static inline cd_status digest_of(struct cd_hash *hash, const uint8_t *source, size_t length,
                                  uint8_t *out) {
    struct cd_hash_request request;
    memset(&request, 0, sizeof(request));
    request.source = source;
    request.length = length;
    request.digest = out;
    return cd_hash_digest_wait(hash, &request);
}

/* What the digest must be: that of the software by its own name, whose operation is not counted. */
static inline void check_digest(const uint8_t *digest, const char *driver, size_t length) {
    uint8_t expected[FAKE_DIGEST_SIZE];
    struct cd_hash *reference = new_hash(driver);
    struct fake *fake = fake_of_hash(reference);
    unsigned before = fake->operations;
    CHECK_EQ(digest_of(reference, message, length, expected), CD_OK);
    CHECK_BYTES(digest, expected, FAKE_DIGEST_SIZE);
    fake->operations = before;
    cd_hash_free(reference);
}

/* The side of one digest. */
static inline unsigned side(struct cd_hash *hash, size_t length) {
    uint8_t digest[FAKE_DIGEST_SIZE];
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(digest_of(hash, message, length, digest), CD_OK);
    check_digest(digest, "hmac(sum-lib)", length);
    return operations_since(HW_HMAC, SW_HMAC);
}

#endif
