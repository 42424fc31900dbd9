/* Hashes through the fallback: measuring, dispatch, keys (fallback-semantics.md). Messages in
 * pieces are in test_fallback_stream.c. */
#include "fallback_hash.h"

static size_t edge;
static uint64_t cost_low_from_edge(size_t length) {
    return length >= edge ? 10 : 1000;
}

/* Section 3: one `digest` per operation, 4 + 8 a size, of the length asked for; the threshold is
 * the size before the first win. */
static void test_measured_by_digests(void) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    char trace[FAKE_TRACE_MAX] = "";
    edge = 1420;
    set_up();
    clock_state.trace = trace;
    fakes[HW_HMAC].cost = cost_low_from_edge;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 1024);
    CHECK_EQ(cd_fallback_measurements(fallback, HASH, m, CD_BENCHMARK_SIZES), 7);
    CHECK_EQ(m[6].size, 1420);
    CHECK_EQ(m[6].winner, CD_SIDE_HARDWARE);
    CHECK_EQ(fakes[HW_HMAC].operations, 7 * 12);
    CHECK_EQ(fakes[SW_HMAC].operations, 7 * 12);
    CHECK(strncmp(trace, "SHhhhhrhr", 9) == 0);
    CHECK_EQ(fakes[HW_HMAC].lengths[0], 16);
    CHECK_EQ(fakes[HW_HMAC].lengths[12], 64);
    CHECK_EQ(fakes[HW_HMAC].odd + fakes[SW_HMAC].odd, 0);
    CHECK_EQ(fakes[HW_SUM].operations, 0); /* the representative alone */
    tear_down();
    set_up();
    edge = 1421; /* not rounded up to anything, so it does not win at 1420 */
    fakes[HW_HMAC].cost = cost_low_from_edge;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 1420);
    tear_down();
}

/* A representative without key; an hmac whose group has none is measured with the empty one. */
static void test_measured_without_key(void) {
    struct cd_group_config group = type_groups[HASH];
    char failure[256];
    set_up();
    group.algorithm = "sum";
    group.driver = "sum-dev";
    group.key = NULL;
    group.key_len = 0;
    make_again(&group, 1);
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 512);
    CHECK_EQ(fakes[HW_SUM].operations, 6 * 12);
    group.algorithm = "hmac(sum)";
    group.driver = "hmac(sum-dev)";
    make_again(&group, 1);
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 512);
    CHECK_EQ(fakes[HW_HMAC].keys, 1);
    group.algorithm = "sum";
    group.driver = "sum-dev";
    group.key = fixture_key;
    group.key_len = 16;
    make_again(&group, 1);
    CHECK(enable());
    cd_fallback_failure(fallback, HASH, failure, sizeof(failure));
    CHECK(strstr(failure, "setting up") != NULL);
    tear_down();
}

/* Section 4: `digest` goes by the length of the message, to the byte; equal whichever side. */
static void test_digest_by_length_R049(void) {
    struct cd_hash *hash = enable_and_make();
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 512);
    set_threshold(HASH, 100);
    CHECK_EQ(side(hash, 0), ON_SOFTWARE);
    CHECK_EQ(side(hash, 1), ON_SOFTWARE);
    CHECK_EQ(side(hash, 100), ON_SOFTWARE);
    CHECK_EQ(side(hash, 101), ON_HARDWARE);
    set_threshold(HASH, 0);
    CHECK_EQ(side(hash, 0), ON_HARDWARE);
    CHECK_EQ(side(hash, 64), ON_HARDWARE);
    set_threshold(HASH, -1);
    CHECK_EQ(side(hash, 0), ON_SOFTWARE);
    CHECK_EQ(side(hash, MEBIBYTE), ON_SOFTWARE);
    CHECK_EQ(counter(HASH, CD_WHY_WITHIN_THRESHOLD), 3);
    CHECK_EQ(counter(HASH, CD_WHY_ABOVE_THRESHOLD), 1);
    CHECK_EQ(counter(HASH, CD_WHY_NO_THRESHOLD), 2);
    CHECK_EQ(counter(HASH, CD_WHY_ALWAYS_SOFTWARE), 2);
    CHECK_EQ(counted(HASH), 8);
    CHECK_EQ(counted(AEAD), 0);
    free_and_tear_down(hash);
}

/* A hash without key follows the group as well. */
static void test_hash_without_key(void) {
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    struct cd_hash *plain = new_hash("sum");
    CHECK(is_bound_to(plain, "fallback(sum-dev)"));
    CHECK(cd_hash_has_key(plain));
    CHECK_EQ(cd_hash_set_key(plain, fixture_key, 16), CD_E_KEY);
    for (int32_t threshold = -1; threshold <= 0; threshold++) {
        set_threshold(HASH, threshold);
        (void)operations_since(HW_SUM, SW_SUM);
        CHECK_EQ(digest_of(plain, message, 300, digest), CD_OK);
        CHECK_EQ(operations_since(HW_SUM, SW_SUM), threshold < 0 ? ON_SOFTWARE : ON_HARDWARE);
        check_digest(digest, "sum-lib", 300);
    }
    cd_hash_free(plain);
    free_and_tear_down(hash);
}

static cd_status fail_20(size_t length) {
    return length == 20 ? CD_E_TIMEOUT : CD_OK;
}

static bool refuse_0(size_t length) {
    return length == 0;
}

static bool refuse_20(size_t length) {
    return length == 20;
}

/* What the hardware refuses at once runs on the software and is counted so: a digest, a begin. Any
 * other error, and every error of a later piece, is the caller's, and the state is as it was
 * (R059). */
static void test_unsupported_R059(void) {
    struct cd_hash_state state, before;
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    set_threshold(HASH, 0);
    fakes[HW_HMAC].refuses = refuse_20;
    CHECK_EQ(side(hash, 20), ON_SOFTWARE);
    CHECK_EQ(side(hash, 21), ON_HARDWARE);
    CHECK_EQ(counter(HASH, CD_WHY_UNSUPPORTED), 1);
    CHECK_EQ(counter(HASH, CD_WHY_NO_THRESHOLD), 1);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_HARDWARE);
    before = state;
    CHECK_EQ(cd_hash_update(hash, &state, message, 20), CD_E_UNSUPPORTED);
    CHECK_BYTES(&state, &before, sizeof(state));
    fakes[HW_HMAC].refuses = refuse_0;
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_SOFTWARE);
    CHECK_EQ(counter(HASH, CD_WHY_UNSUPPORTED), 2);
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(cd_hash_update(hash, &state, message, 20), CD_OK);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 2 * ON_SOFTWARE);
    check_digest(digest, "hmac(sum-lib)", 20);
    fakes[HW_HMAC].refuses = NULL;
    fakes[HW_HMAC].outcome = fail_20;
    CHECK_EQ(digest_of(hash, message, 20, digest), CD_E_TIMEOUT);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    before = state;
    CHECK_EQ(cd_hash_update(hash, &state, message, 20), CD_E_TIMEOUT);
    CHECK_BYTES(&state, &before, sizeof(state));
    CHECK_EQ(counter(HASH, CD_WHY_UNSUPPORTED), 2);
    free_and_tear_down(hash);
}

/* A key that the hardware refuses: everything goes to software, also a message that began on the
 * hardware under another key; a key it takes brings it back. */
static void test_unsupported_key(void) {
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash *hash = enable_and_make();
    set_threshold(HASH, 0);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    fakes[HW_HMAC].key_status = CD_E_UNSUPPORTED;
    CHECK_EQ(cd_hash_set_key(hash, fixture_key, 16), CD_OK);
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(cd_hash_update(hash, &state, message, 20), CD_OK);
    CHECK_EQ(cd_hash_finish(hash, &state, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 2 * ON_SOFTWARE);
    CHECK_EQ(side(hash, 4096), ON_SOFTWARE);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_SOFTWARE);
    CHECK_EQ(counter(HASH, CD_WHY_UNSUPPORTED), 2);
    fakes[HW_HMAC].key_status = CD_OK;
    CHECK_EQ(cd_hash_set_key(hash, fixture_key, 16), CD_OK);
    CHECK_EQ(side(hash, 4096), ON_HARDWARE);
    free_and_tear_down(hash);
}

/* Software first, then hardware; an error of either is the caller's, and afterwards everything is
 * refused until a key is set (R029). */
static void test_set_key_R029(void) {
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_hash *hash = enable_and_make();
    clock_state.trace = trace;
    CHECK_EQ(cd_hash_set_key(hash, fixture_key, 16), CD_OK);
    CHECK(strcmp(trace, "SH") == 0);
    for (unsigned i = 0; i < 2; i++) {
        struct fake *failing = &fakes[i == 0 ? SW_HMAC : HW_HMAC];
        failing->key_status = CD_E_NO_DEVICE;
        CHECK_EQ(cd_hash_set_key(hash, fixture_key, 16), CD_E_NO_DEVICE);
        for (int32_t threshold = -1; threshold <= 0; threshold++) {
            set_threshold(HASH, threshold);
            CHECK_EQ(digest_of(hash, message, 5, digest), CD_E_NO_KEY);
            CHECK_EQ(cd_hash_begin(hash, &state), CD_E_NO_KEY);
        }
        failing->key_status = CD_OK;
        CHECK_EQ(cd_hash_set_key(hash, fixture_key, 16), CD_OK);
        CHECK_EQ(digest_of(hash, message, 5, digest), CD_OK);
    }
    free_and_tear_down(hash);
}

/* The static policy by the size of an hmac's key: a threshold of its own, and "cannot". */
static void test_rule_by_key_size(void) {
    static const struct cd_key_rule rules[] = {{32, -1, false}, {48, 0, true}};
    static const uint8_t key[64] = {7};
    struct cd_group_config group = type_groups[HASH];
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    set_up();
    group.fixed = true;
    group.fixed_threshold = 64;
    group.rules = rules;
    group.rule_count = 2;
    make_again(&group, 1);
    CHECK(enable());
    CHECK_EQ(fakes[HW_HMAC].operations, 0);
    struct cd_hash *hash = new_hash("hmac(sum)");
    CHECK_EQ(side(hash, 64), ON_SOFTWARE);
    CHECK_EQ(side(hash, 65), ON_HARDWARE);
    CHECK_EQ(cd_hash_set_key(hash, key, 32), CD_OK);
    CHECK_EQ(digest_of(hash, message, 4096, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), ON_SOFTWARE);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_SOFTWARE);
    CHECK_EQ(counter(HASH, CD_WHY_ALWAYS_SOFTWARE), 2);
    unsigned keys = fakes[HW_HMAC].keys;
    CHECK_EQ(cd_hash_set_key(hash, key, 48), CD_OK);
    CHECK_EQ(fakes[HW_HMAC].keys, keys);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_SOFTWARE);
    CHECK_EQ(counter(HASH, CD_WHY_UNSUPPORTED), 1);
    CHECK_EQ(cd_hash_set_key(hash, key, 64), CD_OK);
    CHECK_EQ(fakes[HW_HMAC].keys, keys + 1);
    CHECK_EQ(cd_hash_begin(hash, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_HARDWARE);
    free_and_tear_down(hash);
}

static unsigned completed;
static void on_complete(struct cd_hash_request *request, void *context) {
    CHECK(context == &completed);
    CHECK_EQ(request->status, CD_OK);
    CHECK_EQ(counter(HASH, CD_WHY_NO_THRESHOLD), 1); /* counted before it could complete */
    completed++;
}

/* The completion callback passes through unchanged; a change of the threshold is for later ones. */
static void test_asynchronous_passes_through_R063(void) {
    uint8_t digest[FAKE_DIGEST_SIZE];
    struct cd_hash_request request;
    struct cd_hash *hash = enable_and_make();
    memset(&request, 0, sizeof(request));
    request.source = message;
    request.length = 48;
    request.digest = digest;
    request.complete = on_complete;
    request.context = &completed;
    completed = 0;
    set_threshold(HASH, -1);
    CHECK_EQ(cd_hash_digest(hash, &request), CD_OK);
    CHECK_EQ(completed, 0);
    set_threshold(HASH, 0);
    CHECK_EQ(cd_hash_digest(hash, &request), CD_IN_PROGRESS);
    set_threshold(HASH, -1);
    CHECK_EQ(completed, 0);
    CHECK_EQ(cd_hash_wait(hash, &request, 0), CD_OK);
    CHECK_EQ(completed, 1);
    check_digest(digest, "hmac(sum-lib)", 48);
    free_and_tear_down(hash);
}

static void check_refused(const char *text) {
    memset(&error, 0, sizeof(error));
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_MISMATCH);
    CHECK(strstr(error.message, text) != NULL && strstr(error.message, "'hash'") != NULL);
    CHECK_EQ(registered(), FAKES);
}

/* Section 5 as far as it speaks of hashes. */
static void test_proxy_properties(void) {
    const struct cd_implementation *found;
    set_up();
    fakes[HW_HMAC].implementation.chunk_size = 64;
    CHECK(enable());
    CHECK_EQ(cd_registry_find(&found, registry, "fallback(hmac(sum-dev))", CD_TYPE_HASH, 0, 0),
             CD_OK);
    CHECK(strcmp(found->algorithm, "hmac(sum)") == 0);
    CHECK_EQ(found->priority, 1501);
    CHECK_EQ(found->flags, CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY);
    CHECK_EQ(found->digest_size, FAKE_DIGEST_SIZE);
    CHECK(found->key_sizes == CD_KEY_ANY);
    CHECK_EQ(found->chunk_size, 64);
    CHECK_EQ(found->alignment, 4);
    cd_implementation_release(found);
    cd_fallback_disable(fallback);
    fakes[HW_SUM].implementation.digest_size = 20;
    check_refused("digest size 20 and 16");
    fakes[HW_SUM].implementation.digest_size = FAKE_DIGEST_SIZE;
    fakes[HW_SUM].implementation.key_sizes = CD_KEY_ANY;
    check_refused("no common key size");
    tear_down();
}

/* Made before enabling: hardware for ever. Made while on: software, and hardware after disabling,
 * except the message that began on software. Made after: hardware (R057). */
static void test_live_transforms_R057(void) {
    struct cd_hash_state state;
    uint8_t digest[FAKE_DIGEST_SIZE];
    set_up();
    struct cd_hash *t0 = new_hash("hmac(sum)");
    fakes[HW_HMAC].cost = cost_high;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), -1);
    struct cd_hash *t1 = new_hash("hmac(sum)");
    CHECK_EQ(side(t0, 16), ON_HARDWARE);
    CHECK_EQ(side(t1, 16), ON_SOFTWARE);
    CHECK_EQ(cd_hash_begin(t1, &state), CD_OK);
    cd_fallback_disable(fallback);
    struct cd_hash *t2 = new_hash("hmac(sum)");
    CHECK(cd_hash_implementation(t2) == &fakes[HW_HMAC].implementation);
    CHECK_EQ(side(t0, 16), ON_HARDWARE);
    CHECK_EQ(side(t1, 16), ON_HARDWARE);
    CHECK_EQ(side(t2, 16), ON_HARDWARE);
    (void)operations_since(HW_HMAC, SW_HMAC);
    CHECK_EQ(cd_hash_update(t1, &state, message, 33), CD_OK);
    CHECK_EQ(cd_hash_finish(t1, &state, digest), CD_OK);
    CHECK_EQ(operations_since(HW_HMAC, SW_HMAC), 2 * ON_SOFTWARE);
    check_digest(digest, "hmac(sum-lib)", 33);
    CHECK_EQ(cd_hash_begin(t1, &state), CD_OK);
    CHECK_EQ(state.side, CD_SIDE_HARDWARE);
    cd_hash_free(t0);
    cd_hash_free(t2);
    cd_fallback_free(fallback); /* outlived by t1 */
    fallback = NULL;
    CHECK_EQ(side(t1, 16), ON_HARDWARE);
    cd_hash_free(t1);
    tear_down();
}

int main(void) {
    RUN(test_measured_by_digests);
    RUN(test_measured_without_key);
    RUN(test_digest_by_length_R049);
    RUN(test_hash_without_key);
    RUN(test_unsupported_R059);
    RUN(test_unsupported_key);
    RUN(test_set_key_R029);
    RUN(test_rule_by_key_size);
    RUN(test_asynchronous_passes_through_R063);
    RUN(test_proxy_properties);
    RUN(test_live_transforms_R057);
    return test_end();
}
