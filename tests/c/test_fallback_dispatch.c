/* The request path and the proxies' properties (fallback-semantics.md sections 4 and 5). */
#include "fallback_fixture.h"

#define CBC_PROXY "fallback(cbc(aes-dev))"

static struct cd_cipher *enable_and_make(void) {
    set_up();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    CHECK(is_bound_to(cipher, CBC_PROXY));
    return cipher;
}

static void free_and_tear_down(struct cd_cipher *cipher) {
    cd_cipher_free(cipher);
    tear_down();
}

/* use_software = T < 0 || (T > 0 && size <= T), at every edge of T and size (R047, R049). */
static void test_choose_R047(void) {
    static const int32_t thresholds[] = {-1, 0, 1, 255, 256, 257, INT32_MAX};
    static const size_t sizes[] = {0, 1, 255, 256, 257, INT32_MAX, (size_t)INT32_MAX + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            int32_t t = thresholds[i];
            bool software = t < 0 || (t > 0 && sizes[j] <= (size_t)t);
            struct cd_decision decision = cd_fallback_choose(t, sizes[j]);
            enum cd_why why = t < 0      ? CD_WHY_ALWAYS_SOFTWARE
                              : t == 0   ? CD_WHY_NO_THRESHOLD
                              : software ? CD_WHY_WITHIN_THRESHOLD
                                         : CD_WHY_ABOVE_THRESHOLD;
            CHECK_EQ(decision.side, software ? CD_SIDE_SOFTWARE : CD_SIDE_HARDWARE);
            CHECK_EQ(decision.why, why);
            CHECK_EQ(decision.threshold, t);
        }
    }
    /* A stateful hash chooses with size "unbounded": software only if T < 0. */
    CHECK_EQ(cd_fallback_choose(INT32_MAX, SIZE_MAX).side, CD_SIDE_HARDWARE);
    CHECK_EQ(cd_fallback_choose(-1, SIZE_MAX).side, CD_SIDE_SOFTWARE);
}

static void test_why_name(void) {
    static const char *const names[] = {"above_threshold", "no_threshold", "within_threshold",
                                        "always_software", "unsupported"};
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        CHECK(strcmp(cd_why_name(why), names[why]) == 0);
    }
    CHECK(cd_why_name(CD_WHY_COUNT) == NULL);
    CHECK(cd_why_name(-1) == NULL);
}

/* Software up to and including T, hardware above; results equal; each counted (R047, R049). */
static void test_sides_of_thresholds_R049(void) {
    const struct fake *hw = &fakes[HW_CBC], *sw = &fakes[SW_CBC];
    uint64_t counters[CD_WHY_COUNT];
    struct cd_cipher *cipher = enable_and_make();
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 256), CD_OK);
    CHECK_EQ(side_of(cipher, 16, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 240, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 256, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 272, hw, sw), 'h');
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    CHECK_EQ(side_of(cipher, 16, hw, sw), 'h');
    CHECK_EQ(side_of(cipher, 65536, hw, sw), 'h');
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    CHECK_EQ(side_of(cipher, 16, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 65536, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 48, hw, sw), 's');
    cd_fallback_counters(fallback, AES, counters);
    CHECK_EQ(counters[CD_WHY_WITHIN_THRESHOLD], 3);
    CHECK_EQ(counters[CD_WHY_ABOVE_THRESHOLD], 1);
    CHECK_EQ(counters[CD_WHY_NO_THRESHOLD], 2);
    CHECK_EQ(counters[CD_WHY_ALWAYS_SOFTWARE], 3);
    CHECK_EQ(counters[CD_WHY_UNSUPPORTED], 0);
    cd_fallback_counters(fallback, DES, counters);
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        CHECK_EQ(counters[why], 0);
    }
    free_and_tear_down(cipher);
}

/* A stream cipher, to the byte: 255 and 256 software, 257 hardware (R049). */
static void test_stream_cipher_to_the_byte_R049(void) {
    const struct fake *hw = &fakes[HW_CTR], *sw = &fakes[SW_CTR];
    set_up();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("ctr(aes)");
    CHECK(is_bound_to(cipher, "fallback(ctr(aes-dev))"));
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 256), CD_OK);
    CHECK_EQ(side_of(cipher, 1, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 255, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 256, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 257, hw, sw), 'h');
    /* Nothing to do: neither side, and not counted. */
    CHECK_EQ(run(cipher, 0), CD_E_DEVICE); /* the IV did not move: nobody ran */
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 1), CD_OK);
    CHECK_EQ(side_of(cipher, 1, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 2, hw, sw), 'h');
    free_and_tear_down(cipher);
}

/* Decryption goes by the same rule. */
static void test_decrypt(void) {
    uint8_t text[64] = {0}, zeros[64] = {0};
    struct cd_cipher_request request;
    struct cd_cipher *cipher = enable_and_make();
    for (int32_t threshold = -1; threshold <= 0; threshold++) {
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, threshold), CD_OK);
        unsigned hw_before = fakes[HW_CBC].operations;
        memset(&request, 0, sizeof(request));
        request.source = text;
        request.destination = text;
        request.length = 64;
        CHECK_EQ(cd_cipher_encrypt_wait(cipher, &request), CD_OK);
        CHECK(memcmp(text, zeros, 64) != 0);
        request.iv[0] = 0;
        CHECK_EQ(cd_cipher_decrypt_wait(cipher, &request), CD_OK);
        CHECK_BYTES(text, zeros, 64);
        CHECK_EQ(fakes[HW_CBC].operations - hw_before, threshold == 0 ? 2 : 0);
    }
    free_and_tear_down(cipher);
}

/* The completion callback passes through unchanged, once, with the caller's context. */
static unsigned completed;
static void on_complete(struct cd_cipher_request *request, void *context) {
    uint64_t counters[CD_WHY_COUNT];
    CHECK(context == &completed);
    CHECK_EQ(request->status, CD_OK);
    cd_fallback_counters(fallback, AES, counters); /* counted before it could complete (R063) */
    CHECK_EQ(counters[CD_WHY_NO_THRESHOLD], 1);
    completed++;
}

static void test_asynchronous_passes_through_R063(void) {
    uint8_t text[32] = {0};
    struct cd_cipher_request request;
    struct cd_cipher *cipher = enable_and_make();
    memset(&request, 0, sizeof(request));
    request.source = text;
    request.destination = text;
    request.length = sizeof(text);
    request.complete = on_complete;
    request.context = &completed;
    completed = 0;
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_OK); /* software: done, no callback */
    CHECK_EQ(completed, 0);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_IN_PROGRESS);
    CHECK_EQ(completed, 0);
    /* Chosen when it started: a change applies to later ones. */
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    CHECK_EQ(cd_cipher_wait(cipher, &request, 0), CD_OK);
    CHECK_EQ(completed, 1);
    CHECK_EQ(request.status, CD_OK);
    free_and_tear_down(cipher);
}

/* Key: software first, then hardware. */
static void test_set_key_order(void) {
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_cipher *cipher = enable_and_make();
    clock_state.trace = trace;
    clock_state.trace_len = 0;
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_OK);
    CHECK(strcmp(trace, "SH") == 0);
    fakes[SW_CBC].key_status = CD_E_KEY;
    clock_state.trace_len = 0;
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_E_KEY);
    CHECK(strcmp(trace, "S") == 0);
    free_and_tear_down(cipher);
}

/* An error of either is the caller's; afterwards requests are refused on both sides until a key
 * is set (R029). */
static void test_failed_set_key_R029(void) {
    for (int side = 0; side < 2; side++) {
        struct cd_cipher *cipher = enable_and_make();
        struct fake *failing = side == 0 ? &fakes[SW_CBC] : &fakes[HW_CBC];
        failing->key_status = CD_E_NO_DEVICE;
        CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_E_NO_DEVICE);
        for (int32_t threshold = -1; threshold <= 0; threshold++) {
            CHECK_EQ(cd_fallback_set_threshold(fallback, AES, threshold), CD_OK);
            CHECK_EQ(run(cipher, 16), CD_E_NO_KEY);
            CHECK_EQ(run(cipher, 4096), CD_E_NO_KEY);
        }
        failing->key_status = CD_OK;
        CHECK_EQ(run(cipher, 16), CD_E_NO_KEY);
        CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 15), CD_E_KEY);
        CHECK_EQ(run(cipher, 16), CD_E_NO_KEY);
        CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_OK);
        CHECK_EQ(run(cipher, 16), CD_OK);
        free_and_tear_down(cipher);
    }
}

static bool refuse_48(size_t length) {
    return length == 48;
}

/* What the hardware refuses at once runs on the software, and is counted so; other errors are the
 * caller's (R059). */
static cd_status fail_64(size_t length) {
    return length == 64 ? CD_E_TIMEOUT : length == 80 ? CD_E_BUSY : CD_OK;
}

static void test_unsupported_request_R059(void) {
    const struct fake *hw = &fakes[HW_CBC], *sw = &fakes[SW_CBC];
    uint64_t counters[CD_WHY_COUNT];
    struct cd_cipher *cipher = enable_and_make();
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    fakes[HW_CBC].refuses = refuse_48;
    fakes[HW_CBC].outcome = fail_64;
    CHECK_EQ(side_of(cipher, 48, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 32, hw, sw), 'h');
    CHECK_EQ(run(cipher, 64), CD_E_TIMEOUT);
    CHECK_EQ(run(cipher, 80), CD_E_BUSY);
    cd_fallback_counters(fallback, AES, counters);
    CHECK_EQ(counters[CD_WHY_UNSUPPORTED], 1);
    CHECK_EQ(counters[CD_WHY_NO_THRESHOLD], 3);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 16), CD_OK);
    CHECK_EQ(side_of(cipher, 48, hw, sw), 's');
    cd_fallback_counters(fallback, AES, counters);
    CHECK_EQ(counters[CD_WHY_UNSUPPORTED], 2);
    CHECK_EQ(counters[CD_WHY_ABOVE_THRESHOLD], 0);
    free_and_tear_down(cipher);
}

/* A key the hardware cannot do (section 9, AES-192): such a transform's requests go to software
 * whatever the threshold; another key brings the hardware back. */
static void test_unsupported_key(void) {
    const struct fake *hw = &fakes[HW_CBC], *sw = &fakes[SW_CBC];
    uint64_t counters[CD_WHY_COUNT];
    struct cd_cipher *cipher = enable_and_make();
    fakes[HW_CBC].key_status = CD_E_UNSUPPORTED;
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_OK);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    CHECK_EQ(side_of(cipher, 4096, hw, sw), 's');
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 64), CD_OK);
    CHECK_EQ(side_of(cipher, 4096, hw, sw), 's');
    CHECK_EQ(side_of(cipher, 16, hw, sw), 's');
    cd_fallback_counters(fallback, AES, counters);
    CHECK_EQ(counters[CD_WHY_UNSUPPORTED], 3); /* also the one within the threshold */
    CHECK_EQ(counters[CD_WHY_WITHIN_THRESHOLD], 0);
    cd_fallback_disable(fallback);
    CHECK_EQ(side_of(cipher, 4096, hw, sw), 's');
    fakes[HW_CBC].key_status = CD_OK;
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 16), CD_OK);
    CHECK_EQ(side_of(cipher, 4096, hw, sw), 'h');
    free_and_tear_down(cipher);
}

/* Names, priority, flags, key sizes, alignment, chunk (section 5). */
static void test_proxy_properties(void) {
    const struct cd_implementation *found;
    set_up();
    fakes[HW_CBC].implementation.key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(32);
    fakes[SW_CBC].implementation.key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(24);
    fakes[HW_CBC].implementation.chunk_size = 16;
    fakes[SW_CBC].implementation.chunk_size = 64;
    fakes[HW_CBC].implementation.max_tag_size = 12;
    fakes[SW_CBC].implementation.max_tag_size = 16;
    CHECK(enable());
    CHECK_EQ(registered(), FAKES + 3);
    CHECK_EQ(cd_registry_find(&found, registry, CBC_PROXY, CD_TYPE_CIPHER, 0, 0), CD_OK);
    CHECK(strcmp(found->algorithm, "cbc(aes)") == 0);
    CHECK(strcmp(found->driver, CBC_PROXY) == 0);
    CHECK_EQ(found->priority, 1501);
    CHECK_EQ(found->flags, CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY);
    CHECK_EQ(found->key_sizes, CD_KEY_SIZE(16));
    CHECK_EQ(found->alignment, 4);
    CHECK_EQ(found->chunk_size, 64);
    CHECK_EQ(found->max_tag_size, 12);
    CHECK_EQ(found->block_size, 16);
    CHECK_EQ(found->iv_size, 16);
    cd_implementation_release(found);
    CHECK_EQ(cd_registry_find(&found, registry, "fallback(cbc(des-dev))", CD_TYPE_CIPHER, 0, 0),
             CD_OK);
    CHECK_EQ(found->flags, CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY); /* synchronous hardware */
    cd_implementation_release(found);
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 24), CD_E_KEY);
    cd_cipher_free(cipher);
    tear_down();
}

/* A proxy is never itself the software side of anything. */
static void test_proxy_is_never_a_fallback_R069(void) {
    const struct cd_implementation *found;
    set_up();
    CHECK(enable());
    CHECK_EQ(cd_registry_find(&found, registry, "cbc(aes)", CD_TYPE_CIPHER, 0,
                              CD_FLAG_NEED_FALLBACK | CD_FLAG_ASYNC),
             CD_OK);
    CHECK(strcmp(found->driver, "cbc(aes-soft)") == 0);
    cd_implementation_release(found);
    tear_down();
}

static void check_refused(cd_status expected, const char *text) {
    memset(&error, 0, sizeof(error));
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), expected);
    if (strstr(error.message, text) == NULL || strstr(error.message, "'aes'") == NULL) {
        printf("'%s' does not say '%s'\n", error.message, text);
        CHECK(false);
    }
    CHECK_EQ(registered(), FAKES);
    CHECK(!cd_fallback_enabled(fallback));
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    CHECK_EQ(cd_fallback_threshold(fallback, DES), 0);
}

/* Block size, IV size and digest size must be equal, and some key size common; a refused proxy
 * undoes the whole enable. */
static void test_mismatches(void) {
    struct cd_implementation *hw = &fakes[HW_CTR].implementation;
    set_up();
    hw->block_size = 16;
    check_refused(CD_E_MISMATCH, "'ctr(aes-dev)' and 'ctr(aes-soft)' do not fit: block size 16");
    hw->block_size = 1;
    hw->iv_size = 8;
    check_refused(CD_E_MISMATCH, "IV size 8 and 16");
    hw->iv_size = 16;
    hw->digest_size = 32;
    check_refused(CD_E_MISMATCH, "digest size 32 and 0");
    hw->digest_size = 0;
    hw->key_sizes = CD_KEY_SIZE(20);
    check_refused(CD_E_MISMATCH, "no common key size");
    hw->key_sizes = fakes[SW_CTR].implementation.key_sizes;
    CHECK(enable());
    tear_down();
}

/* A member that is not registered is skipped silently; one without a software side is not. */
static void test_missing_members(void) {
    set_up();
    cd_registry_remove(registry, &fakes[HW_CTR].implementation);
    CHECK(enable());
    CHECK_EQ(registered(), FAKES - 1 + 2);
    cd_fallback_disable(fallback);
    CHECK_EQ(cd_registry_add(registry, &fakes[HW_CTR].implementation, &error), CD_OK);
    cd_registry_remove(registry, &fakes[SW_CTR].implementation);
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_UNKNOWN_ALGORITHM);
    CHECK(strstr(error.message, "'ctr(aes-dev)': no software side for 'ctr(aes)'") != NULL);
    CHECK_EQ(registered(), FAKES - 1);
    tear_down();
}

/* A member whose proxy's name is taken: all proxies before it are taken back. */
static void test_name_taken(void) {
    struct fake squatter;
    set_up();
    fake_describe(&squatter, &clock_state, 's', "x", "fallback(cbc(des-dev))", 0);
    CHECK_EQ(cd_registry_add(registry, &squatter.implementation, &error), CD_OK);
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_EXISTS);
    CHECK(strstr(error.message, "fallback(cbc(des-dev))") != NULL);
    CHECK_EQ(registered(), FAKES + 1);
    CHECK(!cd_fallback_enabled(fallback));
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    tear_down();
}

/* No proxy of a proxy (R069). */
static void test_no_proxy_of_a_proxy_R069(void) {
    static const char *const members[] = {CBC_PROXY};
    struct cd_fallback *second = NULL;
    struct cd_fallback_config config;
    struct cd_group_config group = fixture_groups[AES];
    set_up();
    config = fixture_config();
    group.name = "second";
    group.driver = CBC_PROXY;
    group.members = members;
    group.member_count = 1;
    CHECK_EQ(cd_fallback_new(&second, registry, "dev2", &group, 1, &config, &error), CD_OK);
    CHECK(enable());
    CHECK_EQ(cd_fallback_enable(second, NULL, NULL, &error), CD_E_MISMATCH);
    CHECK(strstr(error.message, CBC_PROXY) != NULL);
    CHECK_EQ(registered(), FAKES + 3);
    cd_fallback_free(second);
    tear_down();
}

/* A transform of a proxy that cannot get its hardware child fails cleanly. */
static void test_init_failures(void) {
    struct cd_cipher *cipher = NULL;
    set_up();
    CHECK(enable());
    fakes[HW_CBC].init_status = CD_E_NO_MEMORY;
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes)", 0, 0), CD_E_NO_MEMORY);
    fakes[HW_CBC].init_status = CD_OK;
    fakes[SW_CBC].init_status = CD_E_NO_MEMORY;
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes)", 0, 0), CD_E_NO_MEMORY);
    CHECK(cipher == NULL);
    tear_down();
}

int main(void) {
    RUN(test_choose_R047);
    RUN(test_why_name);
    RUN(test_sides_of_thresholds_R049);
    RUN(test_stream_cipher_to_the_byte_R049);
    RUN(test_decrypt);
    RUN(test_asynchronous_passes_through_R063);
    RUN(test_set_key_order);
    RUN(test_failed_set_key_R029);
    RUN(test_unsupported_request_R059);
    RUN(test_unsupported_key);
    RUN(test_proxy_properties);
    RUN(test_proxy_is_never_a_fallback_R069);
    RUN(test_mismatches);
    RUN(test_missing_members);
    RUN(test_name_taken);
    RUN(test_no_proxy_of_a_proxy_R069);
    RUN(test_init_failures);
    return test_end();
}
