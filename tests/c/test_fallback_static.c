/* The static policy: fixed thresholds, and rules by key size (fallback-semantics.md section 9). */
#include "fallback_fixture.h"

static struct cd_group_config groups[2]; /* the fixture's, to be changed */

static void start(void) {
    set_up();
    groups[AES] = fixture_groups[AES];
    groups[DES] = fixture_groups[DES];
}

static void make(void) {
    struct cd_fallback_config config = fixture_config();
    cd_fallback_free(fallback);
    fallback = NULL;
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", groups, 2, &config, &error), CD_OK);
}

static void fix(size_t group, int32_t threshold) {
    groups[group].fixed = true;
    groups[group].fixed_threshold = threshold;
}

static uint8_t long_key[64];

static void set_key(struct cd_cipher *cipher, size_t key_len) {
    memcpy(long_key, fixture_key, sizeof(fixture_key));
    CHECK_EQ(cd_cipher_set_key(cipher, long_key, key_len), CD_OK);
}

/* The side of one request, whatever the key: the fakes say who had it. */
static char side(struct cd_cipher *cipher, size_t length) {
    static uint8_t buffer[4096];
    struct cd_cipher_request request;
    unsigned hardware = fakes[HW_CBC].operations, software = fakes[SW_CBC].operations;
    memset(&request, 0, sizeof(request));
    request.source = buffer;
    request.destination = buffer;
    request.length = length;
    if (cd_cipher_encrypt_wait(cipher, &request) != CD_OK) {
        return 'e';
    }
    hardware = fakes[HW_CBC].operations - hardware;
    software = fakes[SW_CBC].operations - software;
    return hardware + software != 1 ? '?' : hardware == 1 ? 'h' : 's';
}

static uint64_t counter(enum cd_why why) {
    uint64_t counters[CD_WHY_COUNT];
    cd_fallback_counters(fallback, AES, counters);
    return counters[why];
}

static unsigned told[2];
static bool watch(void *context, size_t group, const struct cd_measurement *measurement,
                  const char *failure) {
    (void)context, (void)measurement, (void)failure;
    told[group]++;
    return true;
}

/* A fixed group is not measured: its threshold is published as given, the other one is measured. */
static void test_fixed_is_not_measured(void) {
    static const int32_t thresholds[] = {-1, 0, 1, 300, INT32_MAX};
    char hardware[CD_NAME_MAX], software[CD_NAME_MAX], failure[256] = "?";
    int32_t fixed = 7;
    for (size_t i = 0; i < sizeof(thresholds) / sizeof(thresholds[0]); i++) {
        start();
        fix(AES, thresholds[i]);
        make();
        CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
        memset(told, 0, sizeof(told));
        CHECK_EQ(cd_fallback_enable(fallback, watch, NULL, &error), CD_OK);
        CHECK_EQ(cd_fallback_threshold(fallback, AES), thresholds[i]);
        CHECK_EQ(cd_fallback_threshold(fallback, DES), -1);
        CHECK_EQ(told[AES], 0);
        CHECK_EQ(told[DES], 11);
        CHECK_EQ(fakes[HW_CBC].operations + fakes[SW_CBC].operations + fakes[HW_CBC].keys, 0);
        CHECK_EQ(cd_fallback_measurements(fallback, AES, NULL, 0), 0);
        cd_fallback_failure(fallback, AES, failure, sizeof(failure));
        CHECK(failure[0] == '\0');
        cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
        CHECK(strcmp(hardware, "cbc(aes-dev)") == 0 && strcmp(software, "cbc(aes-soft)") == 0);
        CHECK(cd_fallback_fixed(fallback, AES, &fixed));
        CHECK_EQ(fixed, thresholds[i]);
        CHECK(!cd_fallback_fixed(fallback, DES, &fixed));
        CHECK(!cd_fallback_fixed(fallback, 2, &fixed));
        CHECK_EQ(fixed, thresholds[i]);
        tear_down();
    }
}

/* In force to the byte. */
static void test_fixed_in_force(void) {
    start();
    fix(AES, 512);
    make();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    CHECK_EQ(side(cipher, 512), 's');
    CHECK_EQ(side(cipher, 528), 'h');
    cd_cipher_free(cipher);
    tear_down();
}

/* It needs no keys, and a representative that is not there is no failure. */
static void test_fixed_needs_no_benchmark(void) {
    char hardware[CD_NAME_MAX] = "?", software[CD_NAME_MAX] = "?", failure[256] = "?";
    start();
    fix(AES, 64);
    groups[AES].key = NULL;
    groups[AES].key_len = 0;
    make();
    cd_registry_remove(registry, &fakes[HW_CBC].implementation);
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 64);
    cd_fallback_failure(fallback, AES, failure, sizeof(failure));
    CHECK(failure[0] == '\0');
    cd_fallback_sides(fallback, AES, hardware, software, CD_NAME_MAX);
    CHECK(hardware[0] == '\0' && software[0] == '\0');
    tear_down();
}

/* A value written while on is in force at once; the next enable publishes the given one again. */
static void test_fixed_is_written_over(void) {
    start();
    fix(AES, 512);
    make();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    CHECK_EQ(cd_fallback_write(fallback, "aes", "16", 2, &error), CD_OK);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 16);
    CHECK_EQ(side(cipher, 32), 'h');
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(side(cipher, 32), 's');
    cd_fallback_disable(fallback);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(side(cipher, 32), 'h');
    cd_cipher_free(cipher);
    tear_down();
}

static const struct cd_key_rule rules[] = {{24, 64, false}, {32, -1, false}};

static void take_rules(const struct cd_key_rule *some, size_t count) {
    groups[AES].rules = some;
    groups[AES].rule_count = count;
}

/* A rule holds instead of the group's threshold, measured or fixed, for keys of its size alone. A
 * write to the group does not touch it. */
static void test_rule_by_key_size(void) {
    for (int fixed = 0; fixed < 2; fixed++) {
        start();
        if (fixed == 1) {
            fix(AES, 512);
        }
        take_rules(rules, 2);
        make();
        CHECK(enable());
        CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
        struct cd_cipher *cipher = new_cipher("cbc(aes)");
        CHECK_EQ(side(cipher, 512), 's');
        CHECK_EQ(side(cipher, 528), 'h');
        set_key(cipher, 24);
        CHECK_EQ(side(cipher, 64), 's');
        CHECK_EQ(side(cipher, 80), 'h');
        set_key(cipher, 32);
        CHECK_EQ(side(cipher, 4096), 's');
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
        CHECK_EQ(side(cipher, 4096), 's');
        set_key(cipher, 24);
        CHECK_EQ(side(cipher, 64), 's');
        CHECK_EQ(side(cipher, 80), 'h');
        set_key(cipher, 16);
        CHECK_EQ(side(cipher, 16), 'h');
        CHECK_EQ(counter(CD_WHY_WITHIN_THRESHOLD), 3);
        CHECK_EQ(counter(CD_WHY_ALWAYS_SOFTWARE), 2);
        CHECK_EQ(counter(CD_WHY_ABOVE_THRESHOLD), 3);
        CHECK_EQ(counter(CD_WHY_NO_THRESHOLD), 1);
        CHECK_EQ(counter(CD_WHY_UNSUPPORTED), 0);
        cd_cipher_free(cipher);
        tear_down();
    }
}

/* While off the thresholds of rules are not in force either, and after the next enable they are. */
static void test_rule_while_off(void) {
    start();
    take_rules(rules, 2);
    make();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    set_key(cipher, 32);
    CHECK_EQ(side(cipher, 16), 's');
    cd_fallback_disable(fallback);
    CHECK_EQ(side(cipher, 16), 'h');
    set_key(cipher, 24);
    CHECK_EQ(side(cipher, 16), 'h');
    CHECK(enable());
    CHECK_EQ(side(cipher, 64), 's');
    CHECK_EQ(side(cipher, 80), 'h');
    /* An enable that fails while off puts nothing in force. */
    cd_fallback_disable(fallback);
    fakes[HW_DES].implementation.block_size = 8;
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_MISMATCH);
    CHECK_EQ(side(cipher, 16), 'h');
    cd_fallback_free(fallback); /* and rules live as long as the transform */
    fallback = NULL;
    set_key(cipher, 32);
    CHECK_EQ(side(cipher, 16), 'h');
    cd_cipher_free(cipher);
    tear_down();
}

/* "The hardware cannot": the requests of such a key go to software whatever the threshold, counted
 * as unsupported; the hardware is not given the key. */
static void test_cannot(void) {
    static const struct cd_key_rule cannot[] = {{24, 0, true}};
    static const int32_t thresholds[] = {-1, 0, 16, 512};
    start();
    take_rules(cannot, 1);
    make();
    CHECK(enable());
    struct cd_cipher *cipher = new_cipher("cbc(aes)");
    unsigned hardware_keys = fakes[HW_CBC].keys, software_keys = fakes[SW_CBC].keys;
    set_key(cipher, 24);
    CHECK_EQ(fakes[HW_CBC].keys, hardware_keys);
    CHECK_EQ(fakes[SW_CBC].keys, software_keys + 1);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, thresholds[i]), CD_OK);
        CHECK_EQ(side(cipher, 16), 's');
        CHECK_EQ(side(cipher, 4096), 's');
    }
    CHECK_EQ(counter(CD_WHY_UNSUPPORTED), 8);
    cd_fallback_disable(fallback);
    CHECK_EQ(side(cipher, 4096), 's');
    CHECK(enable());
    set_key(cipher, 16);
    CHECK_EQ(side(cipher, 4096), 'h');
    CHECK_EQ(side(cipher, 16), 's');
    CHECK_EQ(counter(CD_WHY_WITHIN_THRESHOLD), 1);
    set_key(cipher, 24); /* a key that fails leaves none, also where the hardware is not asked */
    fakes[SW_CBC].key_status = CD_E_KEY;
    CHECK_EQ(cd_cipher_set_key(cipher, long_key, 24), CD_E_KEY);
    CHECK_EQ(side(cipher, 4096), 'e');
    cd_cipher_free(cipher);
    tear_down();
}

/* The proxy takes a key size that the hardware does not even list, if the software does. */
static void test_cannot_widens_key_sizes(void) {
    static const struct cd_key_rule cannot[] = {{24, 0, true}, {48, 0, true}, {1000, 0, true}};
    static const struct cd_key_rule can[] = {{24, 100, false}};
    for (int round = 0; round < 2; round++) {
        start();
        take_rules(round == 0 ? cannot : can, round == 0 ? 3 : 1);
        fakes[HW_CBC].implementation.key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(32);
        make();
        CHECK(enable());
        struct cd_cipher *cipher = new_cipher("cbc(aes)");
        CHECK_EQ(cd_cipher_implementation(cipher)->key_sizes,
                 CD_KEY_SIZE(16) | CD_KEY_SIZE(32) | (round == 0 ? CD_KEY_SIZE(24) : 0));
        if (round == 0) {
            set_key(cipher, 24);
            CHECK_EQ(side(cipher, 4096), 's');
        }
        cd_cipher_free(cipher);
        tear_down();
    }
}

/* The policy of 2020: AES up to 512 bytes in software, AES-192 always, DES always to the engine. */
static void test_static_ancestor(void) {
    static const struct cd_key_rule aes192[] = {{24, 0, true}};
    start();
    fix(AES, 512);
    fix(DES, 0);
    take_rules(aes192, 1);
    make();
    CHECK(enable());
    struct cd_cipher *aes = new_cipher("cbc(aes)"), *des = new_cipher("cbc(des)");
    CHECK_EQ(side(aes, 16), 's');
    CHECK_EQ(side(aes, 512), 's');
    CHECK_EQ(side(aes, 528), 'h');
    set_key(aes, 24);
    CHECK_EQ(side(aes, 4096), 's');
    set_key(aes, 32);
    CHECK_EQ(side(aes, 528), 'h');
    CHECK_EQ(side_of(des, 16, &fakes[HW_DES], &fakes[SW_DES]), 'h');
    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(cd_fallback_measurements(fallback, i, NULL, 0), 0);
    }
    CHECK_EQ(fakes[HW_DES].operations, 1);
    cd_cipher_free(aes);
    cd_cipher_free(des);
    tear_down();
}

/* What can be read, and that it is a copy. */
static void test_getters(void) {
    struct cd_key_rule mine[2] = {{24, 64, false}, {32, 5, true}}, got[3];
    start();
    take_rules(mine, 2);
    make();
    memset(mine, 0, sizeof(mine));
    memset(got, 0x55, sizeof(got));
    CHECK_EQ(cd_fallback_rules(fallback, AES, got, 3), 2);
    CHECK(got[0].key_size == 24 && got[0].threshold == 64 && !got[0].cannot);
    CHECK(got[1].key_size == 32 && got[1].threshold == 5 && got[1].cannot);
    memset(got, 0, sizeof(got));
    CHECK_EQ(cd_fallback_rules(fallback, AES, got, 1), 2);
    CHECK_EQ(got[1].key_size, 0);
    CHECK_EQ(cd_fallback_rules(fallback, AES, NULL, 0), 2);
    CHECK_EQ(cd_fallback_rules(fallback, DES, got, 3), 0);
    CHECK_EQ(cd_fallback_rules(fallback, 2, got, 3), 0);
    tear_down();
}

static void check_refused(const char *text) {
    struct cd_fallback_config config = fixture_config();
    struct cd_fallback *made = NULL;
    CHECK_EQ(cd_fallback_new(&made, registry, "dev", groups, 2, &config, &error), CD_E_INVALID);
    CHECK(made == NULL);
    if (strstr(error.message, text) == NULL) {
        printf("'%s' does not say '%s'\n", error.message, text);
        CHECK(false);
    }
}

static void test_malformed(void) {
    static const struct cd_key_rule zero[] = {{0, 1, false}};
    static const struct cd_key_rule twice[] = {{16, 1, false}, {24, 1, false}, {16, 2, true}};
    static const struct cd_key_rule below[] = {{16, -2, false}};
    start();
    fix(AES, -2);
    check_refused("group 'aes': fixed_threshold: -1 and above");
    groups[AES].fixed = false;
    groups[AES].fixed_threshold = 512;
    check_refused("group 'aes': fixed_threshold: only for a fixed group");
    groups[AES].fixed_threshold = 0;
    take_rules(NULL, 1);
    check_refused("group 'aes': rules: missing");
    take_rules(zero, 1);
    check_refused("group 'aes': rules: number 0: key_size: 0");
    take_rules(twice, 3);
    check_refused("group 'aes': rules: number 2: key_size: is there twice");
    take_rules(below, 1);
    check_refused("group 'aes': rules: number 0: threshold: -1 and above");
    take_rules(rules, 2);
    groups[AES].key = NULL;
    groups[AES].key_len = 0;
    check_refused("group 'aes': key: missing"); /* rules alone do not spare the benchmark */
    tear_down();
}

int main(void) {
    RUN(test_fixed_is_not_measured);
    RUN(test_fixed_in_force);
    RUN(test_fixed_needs_no_benchmark);
    RUN(test_fixed_is_written_over);
    RUN(test_rule_by_key_size);
    RUN(test_rule_while_off);
    RUN(test_cannot);
    RUN(test_cannot_widens_key_sizes);
    RUN(test_static_ancestor);
    RUN(test_getters);
    RUN(test_malformed);
    return test_end();
}
