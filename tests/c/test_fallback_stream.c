/* Messages in pieces through the proxies of hashes (fallback-semantics.md section 4). */
#include "fallback_hash.h"

/* R055: whatever is written meanwhile, a message stays where it began: begin, two updates and a
 * finish on one side, and one count. */
static void check_stream(struct cd_hash *hash, int32_t at_begin, int32_t later, size_t first,
                         size_t length, unsigned expected) {
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    uint64_t before = counted(HASH);
    set_threshold(HASH, at_begin);
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    set_threshold(HASH, later);
    CHECK_EQ(cd_hash_update(hash, &state, message, first), CD_OK);
    set_threshold(HASH, at_begin);
    CHECK_EQ(cd_hash_update(hash, &state, message + first, length - first), CD_OK);
    set_threshold(HASH, later);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 4 * expected);
    CHECK_EQ(counted(HASH) - before, 1);
    check_digest(digest, "hmac(sum-lib)", length);
}

static void test_stream_stays_R055(void) {
    struct cd_hash *hash = enable_and_make();
    static const size_t firsts[] = {10, MEBIBYTE};
    for (unsigned i = 0; i < 2; i++) {
        check_stream(hash, -1, 0, firsts[i], MEBIBYTE + 10, ON_SOFTWARE);
        check_stream(hash, -1, 512, firsts[i], MEBIBYTE + 10, ON_SOFTWARE);
        check_stream(hash, 0, -1, firsts[i], MEBIBYTE + 10, ON_HARDWARE);
        check_stream(hash, 512, -1, firsts[i], MEBIBYTE + 10, ON_HARDWARE);
    }
    /* Unbounded: longer than any threshold, however short the message turns out to be. */
    check_stream(hash, INT32_MAX, -1, 5, 10, ON_HARDWARE);
    CHECK_EQ(counter(HASH, CD_WHY_ALWAYS_SOFTWARE), 4);
    CHECK_EQ(counter(HASH, CD_WHY_NO_THRESHOLD), 2);
    CHECK_EQ(counter(HASH, CD_WHY_ABOVE_THRESHOLD), 3);
    CHECK_EQ(counter(HASH, CD_WHY_WITHIN_THRESHOLD), 0);
    free_and_tear_down(hash);
}

/* A copy of a state goes on at the side of the original. */
static void test_stream_forked(void) {
    struct cd_hash_state state, fork;
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    set_threshold(HASH, -1);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(cd_hash_update(hash, &state, message, 10), CD_OK);
    fork = state;
    set_threshold(HASH, 0);
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(cd_hash_update(hash, &fork, message + 10, 20), CD_OK);
    CHECK_EQ(cd_hash_finish(hash, &fork, digest), CD_OK);
    check_digest(digest, "hmac(sum-lib)", 30);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 3 * ON_SOFTWARE);
    check_digest(digest, "hmac(sum-lib)", 10);
    free_and_tear_down(hash);
}

/* Exported and imported again, also into another transform and after a disable, it stays. */
static void test_imported_state_stays(void) {
    struct cd_hash_state state, imported;
    uint8_t blob[CD_HASH_BLOB_SIZE], digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    struct cd_hash *other = new_hash("hmac(sum)");
    for (int32_t threshold = -1; threshold <= 0; threshold++) {
        unsigned expected = threshold < 0 ? ON_SOFTWARE : ON_HARDWARE;
        set_threshold(HASH, threshold);
        CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
        CHECK_EQ(cd_hash_update(hash, &state, message, 100), CD_OK);
        CHECK_EQ(state.side, threshold < 0 ? CD_SIDE_SOFTWARE : CD_SIDE_HARDWARE);
        cd_hash_export(hash, &state, blob);
        uint64_t before = counted(HASH);
        set_threshold(HASH, -1 - threshold);
        if (threshold < 0) {
            cd_fallback_disable(fallback);
        }
        CHECK_EQ(cd_hash_import(other, &imported, blob, sizeof(blob)), CD_OK);
        (void)operations_since(HW_HMAC, SW_HMAC);
        CHECK_EQ(cd_hash_update(other, &imported, message + 100, 50), CD_OK);
        CHECK_EQ(cd_hash_finish(other, &imported, digest), CD_OK);
        CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 2 * expected);
        CHECK_EQ(counted(HASH), before);
        check_digest(digest, "hmac(sum-lib)", 150);
        CHECK(threshold == 0 || enable());
    }
    cd_hash_free(other);
    free_and_tear_down(hash);
}

/* A state that no proxy began chooses at its next update, as begin would, and keeps that; a finish
 * chooses for itself. Plain implementations take what a proxy exported, whatever its side. */
static void test_plain_state_imported(void) {
    struct cd_hash_state state, imported;
    uint8_t blob[CD_HASH_BLOB_SIZE], digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    struct cd_hash *plain = new_hash("hmac(sum-lib)");
    CHECK_EQ(cd_hash_begin(plain, &state), CD_OK);
    CHECK_EQ(cd_hash_update(plain, &state, message, 20), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_NONE);
    cd_hash_export(plain, &state, blob);
    for (int32_t threshold = -1; threshold <= 0; threshold++) {
        unsigned expected = threshold < 0 ? ON_SOFTWARE : ON_HARDWARE;
        set_threshold(HASH, threshold);
        uint64_t before = counted(HASH);
        CHECK_EQ(cd_hash_import(hash, &imported, blob, sizeof(blob)), CD_OK);
        (void)operations_since(HW_HMAC, SW_HMAC);
        CHECK_EQ(cd_hash_finish(hash, &imported, digest), CD_OK);
        CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), expected);
        CHECK_EQ(counted(HASH) - before, 1);
        check_digest(digest, "hmac(sum-lib)", 20);
        (void)operations_since(HW_HMAC, SW_HMAC);
        CHECK_EQ(cd_hash_update(hash, &imported, message + 20, 20), CD_OK);
        set_threshold(HASH, -1 - threshold);
        CHECK_EQ(cd_hash_update(hash, &imported, message + 40, 2), CD_OK);
        CHECK_EQ(cd_hash_finish(hash, &imported, digest), CD_OK);
        CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 3 * expected);
        CHECK_EQ(counted(HASH) - before, 2);
        check_digest(digest, "hmac(sum-lib)", 42);
    }
    cd_hash_export(hash, &imported, blob);
    CHECK_EQ(cd_hash_import(plain, &imported, blob, sizeof(blob)), CD_OK);
    CHECK_EQ(cd_hash_finish(plain, &imported, digest), CD_OK);
    check_digest(digest, "hmac(sum-lib)", 42);
    cd_hash_free(plain);
    free_and_tear_down(hash);
}

/* The device is removed under a live transform: "no device", in one piece and in several. */
static void test_device_removed(void) {
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    set_threshold(HASH, 0);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    cd_fallback_disable(fallback);
    cd_registry_remove(registry, &fakes[HW_HMAC].implementation);
    fakes[HW_HMAC].gone = true;
    CHECK_EQ(digest_of(hash, message, 16, digest), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_update(hash, &state, message, 16), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_E_NO_DEVICE);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_E_NO_DEVICE);
    free_and_tear_down(hash);
}

int main(void) {
    RUN(test_stream_stays_R055);
    RUN(test_stream_forked);
    RUN(test_imported_state_stays);
    RUN(test_plain_state_imported);
    RUN(test_device_removed);
    return test_end();
}
