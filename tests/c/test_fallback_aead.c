/* Aeads through the fallback: measuring, dispatch, tag sizes (fallback-semantics.md). */
#include "fallback_types.h"

#define TEXT_MAX 8192

static uint8_t text[TEXT_MAX], out[TEXT_MAX], tag[CD_TAG_MAX];

static struct cd_aead *new_aead(const char *name) {
    struct cd_aead *aead = NULL;
    CHECK_EQ(cd_aead_new(&aead, registry, name, 0, CD_FLAG_MODELLED), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, fixture_key, sizeof(fixture_key), fixture_auth_key,
                             sizeof(fixture_auth_key)),
             CD_OK);
    return aead;
}

static struct cd_aead *enable_and_make(void) {
    set_up();
    cd_benchmark_fill(text, sizeof(text), 5);
    CHECK(enable());
    struct cd_aead *aead = new_aead(AUTHENC);
    CHECK(strcmp(cd_aead_implementation(aead)->driver, "fallback(" AUTHENC_DEV ")") == 0);
    (void)operations_since(HW_AEAD, SW_AEAD);
    return aead;
}

static void free_and_tear_down(struct cd_aead *aead) {
    cd_aead_free(aead);
    tear_down();
}

/* A request of `length` bytes from `text` to `out`, under a tag of its own buffer. */
static struct cd_aead_request request_of(size_t length, size_t aad_len) {
    struct cd_aead_request request;
    memset(&request, 0, sizeof(request));
    request.source = text;
    request.destination = out;
    request.length = length;
    request.aad = text;
    request.aad_len = aad_len;
    request.tag = tag;
    return request;
}

/* The side of an encryption; its result decrypts, on the software by its own name, to the text. */
static unsigned side(struct cd_aead *aead, size_t length, size_t aad_len) {
    static uint8_t back[TEXT_MAX];
    struct cd_aead_request request = request_of(length, aad_len);
    (void)operations_since(HW_AEAD, SW_AEAD);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
    unsigned operations = operations_since(HW_AEAD, SW_AEAD);
    struct cd_aead *reference = new_aead("authenc(lib)");
    CHECK_EQ(cd_aead_set_tag_size(reference, cd_aead_tag_size(aead)), CD_OK);
    request.source = out;
    request.destination = back;
    CHECK_EQ(cd_aead_decrypt_wait(reference, &request), CD_OK);
    CHECK_BYTES(back, text, length);
    cd_aead_free(reference);
    return operations;
}

static size_t edge;
static uint64_t cost_low_from_edge(size_t length) {
    return length >= edge ? 10 : 1000;
}

/* Section 3: encryption, no associated data, separate source and destination, random data, zero IV;
 * auth key and tag size of the group; rounded up to the block. */
static void test_measured_by_encryptions(void) {
    struct cd_measurement m[CD_BENCHMARK_SIZES];
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_group_config group = type_groups[AEAD];
    set_up();
    make_again(&group, 1);
    clock_state.trace = trace;
    edge = 1424;
    fakes[HW_AEAD].cost = cost_low_from_edge;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, 0), 1024);
    CHECK_EQ(cd_fallback_measurements(fallback, 0, m, CD_BENCHMARK_SIZES), 7);
    CHECK_EQ(m[6].size, 1420);
    CHECK_EQ(fakes[HW_AEAD].operations, 7 * 12);
    CHECK_EQ(fakes[SW_AEAD].operations, 7 * 12);
    CHECK_EQ(fakes[HW_AEAD].odd + fakes[SW_AEAD].odd, 0);
    CHECK(strncmp(trace, "tSTHhhhhrhr", 11) == 0);
    CHECK_EQ(fakes[HW_AEAD].lengths[0], 16);
    tear_down();
}

/* What of the group's benchmark the transforms refuse is a failed benchmark, which says so. */
static void test_failed_benchmark_R115(void) {
    char failure[256];
    struct cd_group_config groups[2] = {type_groups[HASH], type_groups[AEAD]};
    set_up();
    groups[AEAD].tag_size = 17;
    make_again(groups, 2);
    CHECK(enable());
    cd_fallback_failure(fallback, AEAD, failure, sizeof(failure));
    CHECK(strstr(failure, "software 'authenc(lib)': setting up: ") != NULL);
    CHECK_EQ(cd_fallback_threshold(fallback, AEAD), 0);
    CHECK_EQ(cd_fallback_threshold(fallback, HASH), 512);
    groups[AEAD].tag_size = 12;
    make_again(groups, 2);
    fakes[HW_AEAD].key_status = CD_E_DEVICE;
    CHECK(enable());
    cd_fallback_failure(fallback, AEAD, failure, sizeof(failure));
    CHECK(strstr(failure, "hardware '" AUTHENC_DEV "': setting up: ") != NULL);
    tear_down();
}

/* Section 4: the size is the text; associated data and tag never count. */
static void test_size_is_the_text_R049(void) {
    struct cd_aead *aead = enable_and_make();
    CHECK_EQ(cd_fallback_threshold(fallback, AEAD), 512);
    CHECK_EQ(side(aead, 512, 0), ON_SOFTWARE);
    CHECK_EQ(side(aead, 512, 4096), ON_SOFTWARE);
    CHECK_EQ(side(aead, 528, 0), ON_HARDWARE);
    CHECK_EQ(side(aead, 528, 4096), ON_HARDWARE);
    CHECK_EQ(side(aead, 0, 4096), ON_SOFTWARE);
    set_threshold(AEAD, 0);
    CHECK_EQ(side(aead, 0, 7), ON_HARDWARE);
    CHECK_EQ(side(aead, 16, 7), ON_HARDWARE);
    set_threshold(AEAD, -1);
    CHECK_EQ(side(aead, 4096, 0), ON_SOFTWARE);
    CHECK_EQ(counter(AEAD, CD_WHY_WITHIN_THRESHOLD), 3);
    CHECK_EQ(counter(AEAD, CD_WHY_ABOVE_THRESHOLD), 2);
    CHECK_EQ(counter(AEAD, CD_WHY_NO_THRESHOLD), 2);
    CHECK_EQ(counter(AEAD, CD_WHY_ALWAYS_SOFTWARE), 1);
    CHECK_EQ(counted(AEAD), 8);
    free_and_tear_down(aead);
}

/* Decryption goes by the text without the tag, and refuses one flipped bit anywhere on both sides,
 * giving out nothing. */
static void test_decrypt(void) {
    static const size_t lengths[] = {512, 528};
    uint8_t back[TEXT_MAX], untouched[TEXT_MAX];
    struct cd_aead *aead = enable_and_make();
    memset(untouched, 0xa5, sizeof(untouched));
    for (unsigned i = 0; i < 2; i++) {
        size_t length = lengths[i];
        unsigned expected = i == 0 ? ON_SOFTWARE : ON_HARDWARE;
        struct cd_aead_request request = request_of(length, 20);
        CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
        request.source = out;
        request.destination = back;
        (void)operations_since(HW_AEAD, SW_AEAD);
        CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_OK);
        CHECK_EQ(operations_since(HW_AEAD, SW_AEAD), expected);
        CHECK_BYTES(back, text, length);
        memcpy(back, untouched, sizeof(back));
        tag[15] ^= 1;
        CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_E_AUTHENTICATION);
        tag[15] ^= 1;
        out[length - 1] ^= 0x80;
        CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_E_AUTHENTICATION);
        out[length - 1] ^= 0x80;
        CHECK_BYTES(back, untouched, sizeof(back));
        CHECK_EQ(operations_since(HW_AEAD, SW_AEAD), 2 * expected);
    }
    CHECK_EQ(counter(AEAD, CD_WHY_UNSUPPORTED), 0);
    free_and_tear_down(aead);
}

/* Encrypt on each side; exactly so many bytes of a tag are written. */
static void check_tag_bytes(struct cd_aead *aead, uint32_t expected) {
    for (int32_t threshold = -1; threshold <= 0; threshold++) {
        struct cd_aead_request request = request_of(64, 0);
        uint8_t guarded[CD_TAG_MAX + 1];
        memset(guarded, 0xee, sizeof(guarded));
        set_threshold(AEAD, threshold);
        request.tag = guarded;
        CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
        for (uint32_t i = expected; i < sizeof(guarded); i++) {
            CHECK_EQ(guarded[i], 0xee);
        }
        uint8_t first = guarded[0];
        for (uint32_t i = 0; i < expected; i++) {
            CHECK_EQ(guarded[i], (uint8_t)(first + i));
        }
    }
}

/* The maximum is the smaller one; both sides write as many bytes as the caller was told, from the
 * beginning on. */
static void test_smaller_tag(void) {
    set_up();
    fakes[SW_AEAD].implementation.max_tag_size = 14;
    CHECK(enable());
    struct cd_aead *aead = new_aead(AUTHENC);
    CHECK_EQ(cd_aead_tag_size(aead), 14);
    check_tag_bytes(aead, 14);
    CHECK_EQ(cd_aead_set_tag_size(aead, 15), CD_E_RANGE);
    CHECK_EQ(cd_aead_set_tag_size(aead, 12), CD_OK);
    check_tag_bytes(aead, 12);
    cd_aead_free(aead);
    cd_fallback_disable(fallback);
    fakes[SW_AEAD].implementation.max_tag_size = 16;
    fakes[HW_AEAD].implementation.max_tag_size = 12;
    CHECK(enable());
    aead = new_aead(AUTHENC);
    CHECK_EQ(cd_aead_tag_size(aead), 12);
    check_tag_bytes(aead, 12);
    free_and_tear_down(aead);
}

/* Software first, then hardware; if either refuses, the size stays what it was, on both. */
static void test_set_tag_size(void) {
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_aead *aead = enable_and_make();
    clock_state.trace = trace;
    CHECK_EQ(cd_aead_set_tag_size(aead, 8), CD_OK);
    CHECK(strcmp(trace, "tT") == 0);
    CHECK_EQ(cd_aead_tag_size(aead), 8);
    clock_state.trace = NULL;
    check_tag_bytes(aead, 8);
    fakes[HW_AEAD].tag_status = CD_E_UNSUPPORTED;
    CHECK_EQ(cd_aead_set_tag_size(aead, 16), CD_E_UNSUPPORTED);
    CHECK_EQ(cd_aead_tag_size(aead), 8);
    check_tag_bytes(aead, 8);
    fakes[HW_AEAD].tag_status = CD_OK;
    fakes[SW_AEAD].tag_status = CD_E_RANGE;
    CHECK_EQ(cd_aead_set_tag_size(aead, 4), CD_E_RANGE);
    CHECK_EQ(cd_aead_tag_size(aead), 8);
    check_tag_bytes(aead, 8);
    free_and_tear_down(aead);
}

/* A child that does not take the tag size of the proxy: no transform, and nothing left. */
static void test_init_failures(void) {
    struct cd_aead *aead = NULL;
    set_up();
    CHECK(enable());
    for (unsigned i = 0; i < 2; i++) {
        struct fake *failing = &fakes[i == 0 ? SW_AEAD : HW_AEAD];
        failing->tag_status = CD_E_DEVICE;
        CHECK_EQ(cd_aead_new(&aead, registry, AUTHENC, 0, 0), CD_E_DEVICE);
        failing->tag_status = CD_OK;
        failing->init_status = CD_E_NO_MEMORY;
        CHECK_EQ(cd_aead_new(&aead, registry, AUTHENC, 0, 0), CD_E_NO_MEMORY);
        failing->init_status = CD_OK;
    }
    CHECK(aead == NULL);
    tear_down();
}

/* Software first, then hardware; after an error of either all requests are refused (R029). */
static void test_set_key_R029(void) {
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_aead *aead = enable_and_make();
    clock_state.trace = trace;
    CHECK_EQ(cd_aead_set_key(aead, fixture_key, 16, fixture_auth_key, 20), CD_OK);
    CHECK(strcmp(trace, "SH") == 0);
    for (unsigned i = 0; i < 2; i++) {
        struct fake *failing = &fakes[i == 0 ? SW_AEAD : HW_AEAD];
        failing->key_status = CD_E_NO_DEVICE;
        CHECK_EQ(cd_aead_set_key(aead, fixture_key, 16, fixture_auth_key, 20), CD_E_NO_DEVICE);
        for (int32_t threshold = -1; threshold <= 0; threshold++) {
            struct cd_aead_request request = request_of(64, 0);
            set_threshold(AEAD, threshold);
            CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_E_NO_KEY);
            CHECK_EQ(cd_aead_decrypt_wait(aead, &request), CD_E_NO_KEY);
        }
        failing->key_status = CD_OK;
        CHECK_EQ(cd_aead_set_key(aead, fixture_key, 16, fixture_auth_key, 20), CD_OK);
    }
    CHECK_EQ(side(aead, 64, 0), ON_HARDWARE);
    free_and_tear_down(aead);
}

static bool refuse_48(size_t length) {
    return length == 48;
}

static cd_status fail_64(size_t length) {
    return length == 64 ? CD_E_TIMEOUT : CD_OK;
}

/* What the hardware refuses when it is submitted runs on the software and is counted so; other
 * errors are the caller's (R059). A refused key sends everything to software. */
static void test_unsupported_R059(void) {
    struct cd_aead *aead = enable_and_make();
    struct cd_aead_request request = request_of(64, 0);
    set_threshold(AEAD, 0);
    fakes[HW_AEAD].refuses = refuse_48;
    fakes[HW_AEAD].outcome = fail_64;
    CHECK_EQ(side(aead, 48, 5), ON_SOFTWARE);
    CHECK_EQ(side(aead, 32, 5), ON_HARDWARE);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_E_TIMEOUT);
    CHECK_EQ(counter(AEAD, CD_WHY_UNSUPPORTED), 1);
    CHECK_EQ(counter(AEAD, CD_WHY_NO_THRESHOLD), 2);
    fakes[HW_AEAD].key_status = CD_E_UNSUPPORTED;
    CHECK_EQ(cd_aead_set_key(aead, fixture_key, 16, fixture_auth_key, 20), CD_OK);
    CHECK_EQ(side(aead, 32, 5), ON_SOFTWARE);
    CHECK_EQ(counter(AEAD, CD_WHY_UNSUPPORTED), 2);
    free_and_tear_down(aead);
}

/* The static policy by the size of the cipher's key; a fixed aead needs no keys and no tag size. */
static void test_rule_by_key_size(void) {
    static const struct cd_key_rule rules[] = {{24, 0, true}};
    struct cd_group_config group = type_groups[AEAD];
    static const uint8_t key[24] = {7};
    set_up();
    group.fixed = true;
    group.fixed_threshold = 64;
    group.key = NULL;
    group.key_len = 0;
    group.auth_key = NULL;
    group.auth_key_len = 0;
    group.tag_size = 0;
    group.rules = rules;
    group.rule_count = 1;
    make_again(&group, 1);
    CHECK(enable());
    CHECK_EQ(fakes[HW_AEAD].operations + fakes[HW_AEAD].keys, 0);
    struct cd_aead *aead = new_aead(AUTHENC);
    CHECK_EQ(side(aead, 64, 0), ON_SOFTWARE);
    CHECK_EQ(side(aead, 80, 0), ON_HARDWARE);
    unsigned keys = fakes[HW_AEAD].keys;
    CHECK_EQ(cd_aead_set_key(aead, key, 24, fixture_auth_key, 16), CD_OK);
    CHECK_EQ(fakes[HW_AEAD].keys, keys);
    struct cd_aead_request request = request_of(4096, 0);
    (void)operations_since(HW_AEAD, SW_AEAD);
    CHECK_EQ(cd_aead_encrypt_wait(aead, &request), CD_OK);
    CHECK_EQ(operations_since(HW_AEAD, SW_AEAD), ON_SOFTWARE);
    CHECK_EQ(counter(0, CD_WHY_UNSUPPORTED), 1);
    free_and_tear_down(aead);
}

static unsigned completed;
static void on_complete(struct cd_aead_request *request, void *context) {
    CHECK(context == &completed);
    CHECK_EQ(request->status, CD_OK);
    CHECK_EQ(counter(AEAD, CD_WHY_NO_THRESHOLD), 1); /* counted before it could complete */
    completed++;
}

static void test_asynchronous_passes_through_R063(void) {
    struct cd_aead *aead = enable_and_make();
    struct cd_aead_request request = request_of(64, 3);
    request.complete = on_complete;
    request.context = &completed;
    completed = 0;
    set_threshold(AEAD, -1);
    CHECK_EQ(cd_aead_encrypt(aead, &request), CD_OK);
    CHECK_EQ(completed, 0);
    set_threshold(AEAD, 0);
    CHECK_EQ(cd_aead_encrypt(aead, &request), CD_IN_PROGRESS);
    set_threshold(AEAD, -1);
    CHECK_EQ(completed, 0);
    CHECK_EQ(cd_aead_wait(aead, &request, 0), CD_OK);
    CHECK_EQ(completed, 1);
    free_and_tear_down(aead);
}

/* Section 5 as far as it speaks of aeads. */
static void test_proxy_properties(void) {
    const struct cd_implementation *found;
    set_up();
    fakes[HW_AEAD].implementation.key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(32);
    fakes[SW_AEAD].implementation.key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(24);
    fakes[HW_AEAD].implementation.max_tag_size = 12;
    CHECK(enable());
    CHECK_EQ(registered(), FAKES + 3); /* a member that the device lacks is left out */
    CHECK_EQ(cd_registry_find(&found, registry, "fallback(" AUTHENC_DEV ")", CD_TYPE_AEAD, 0, 0),
             CD_OK);
    CHECK(strcmp(found->algorithm, AUTHENC) == 0);
    CHECK_EQ(found->priority, 1501);
    CHECK_EQ(found->key_sizes, CD_KEY_SIZE(16));
    CHECK_EQ(found->max_tag_size, 12);
    CHECK_EQ(found->block_size, 16);
    CHECK_EQ(found->iv_size, 16);
    cd_implementation_release(found);
    cd_fallback_disable(fallback);
    fakes[HW_AEAD].implementation.iv_size = 8;
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_MISMATCH);
    CHECK(strstr(error.message, "IV size 8 and 16") != NULL);
    CHECK_EQ(registered(), FAKES);
    tear_down();
}

/* Made before enabling, while on, after disabling (R057); and after the device is gone. */
static void test_live_transforms_R057(void) {
    set_up();
    cd_benchmark_fill(text, sizeof(text), 5);
    struct cd_aead *t0 = new_aead(AUTHENC);
    CHECK(enable());
    struct cd_aead *t1 = new_aead(AUTHENC);
    CHECK_EQ(side(t0, 16, 0), ON_HARDWARE);
    CHECK_EQ(side(t1, 16, 0), ON_SOFTWARE);
    cd_fallback_disable(fallback);
    struct cd_aead *t2 = new_aead(AUTHENC);
    CHECK(cd_aead_implementation(t2) == &fakes[HW_AEAD].implementation);
    CHECK_EQ(side(t0, 16, 0), ON_HARDWARE);
    CHECK_EQ(side(t1, 16, 0), ON_HARDWARE);
    CHECK_EQ(side(t2, 16, 0), ON_HARDWARE);
    CHECK(enable()); /* a live one follows the new thresholds */
    CHECK_EQ(side(t1, 16, 0), ON_SOFTWARE);
    CHECK_EQ(side(t2, 16, 0), ON_HARDWARE);
    cd_aead_free(t0);
    cd_aead_free(t2);
    cd_fallback_free(fallback);
    fallback = NULL;
    CHECK_EQ(side(t1, 16, 0), ON_HARDWARE);
    struct cd_aead_request request = request_of(16, 0);
    fakes[HW_AEAD].gone = true;
    CHECK_EQ(cd_aead_encrypt_wait(t1, &request), CD_E_NO_DEVICE);
    CHECK_EQ(cd_aead_decrypt_wait(t1, &request), CD_E_NO_DEVICE);
    cd_aead_free(t1);
    tear_down();
}

int main(void) {
    RUN(test_measured_by_encryptions);
    RUN(test_failed_benchmark_R115);
    RUN(test_size_is_the_text_R049);
    RUN(test_decrypt);
    RUN(test_smaller_tag);
    RUN(test_set_tag_size);
    RUN(test_init_failures);
    RUN(test_set_key_R029);
    RUN(test_rule_by_key_size);
    RUN(test_unsupported_R059);
    RUN(test_asynchronous_passes_through_R063);
    RUN(test_proxy_properties);
    RUN(test_live_transforms_R057);
    return test_end();
}
