/* Enable, disable and live transforms (fallback-semantics.md section 6). */
#include "fallback_fixture.h"

#define CBC_PROXY "fallback(cbc(aes-dev))"

static char side(struct cd_cipher *cipher, size_t length) {
    return side_of(cipher, length, &fakes[HW_CBC], &fakes[SW_CBC]);
}

/* Off by default; while off an algorithm name binds straight to the hardware: the implementation is
 * the device's own structure, so its path has not one instruction more. */
static void test_off_binds_the_hardware_itself(void) {
    set_up();
    for (int round = 0; round < 2; round++) {
        struct cd_cipher *cipher = new_cipher("cbc(aes)");
        CHECK(cd_cipher_implementation(cipher) == &fakes[HW_CBC].implementation);
        CHECK_EQ(side(cipher, 16), 'h');
        cd_cipher_free(cipher);
        CHECK_EQ(registered(), FAKES);
        CHECK(enable()); /* and again after an enable and a disable */
        cd_fallback_disable(fallback);
    }
    tear_down();
}

/* While on the proxy is bound; the hardware is still there by its driver name. */
static void test_on_binds_the_proxy(void) {
    struct cd_cipher *proxy, *direct;
    set_up();
    CHECK(enable());
    CHECK(cd_fallback_enabled(fallback));
    proxy = new_cipher("cbc(aes)");
    direct = new_cipher("cbc(aes-dev)");
    CHECK(is_bound_to(proxy, CBC_PROXY));
    CHECK(cd_cipher_implementation(direct) == &fakes[HW_CBC].implementation);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(side(proxy, 512), 's');
    CHECK_EQ(side(proxy, 528), 'h');
    CHECK_EQ(side(direct, 16), 'h');
    cd_cipher_free(proxy);
    cd_cipher_free(direct);
    tear_down();
}

/* Made before enable: hardware for ever. Made while on: software, and hardware after disable. Made
 * after disable: hardware (R057). */
static void test_live_transforms_R057(void) {
    struct cd_cipher *t0, *t1, *t2;
    set_up();
    t0 = new_cipher("cbc(aes)");
    CHECK_EQ(side(t0, 16), 'h');
    CHECK(enable());
    t1 = new_cipher("cbc(aes)");
    CHECK_EQ(side(t0, 16), 'h');
    CHECK_EQ(side(t1, 16), 's');
    CHECK_EQ(side(t1, 4096), 'h');
    cd_fallback_disable(fallback);
    t2 = new_cipher("cbc(aes)");
    CHECK(cd_cipher_implementation(t2) == &fakes[HW_CBC].implementation);
    CHECK_EQ(side(t0, 16), 'h');
    CHECK_EQ(side(t1, 16), 'h');
    CHECK_EQ(side(t2, 16), 'h');
    CHECK_EQ(cd_cipher_set_key(t1, fixture_key, 16), CD_OK);
    CHECK_EQ(side(t1, 16), 'h');
    /* Re-enabled: t1 follows the new thresholds. */
    fakes[HW_CBC].cost = cost_high;
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), -1);
    CHECK_EQ(side(t0, 16), 'h');
    CHECK_EQ(side(t1, 4096), 's');
    CHECK_EQ(side(t2, 16), 'h');
    cd_cipher_free(t0);
    cd_cipher_free(t1);
    cd_cipher_free(t2);
    tear_down();
}

/* They work after the fallback is freed; its memory goes with the last of them (sanitizer). */
static void test_outlived_by_transforms(void) {
    struct cd_cipher *a, *b;
    set_up();
    CHECK(enable());
    a = new_cipher("cbc(aes)");
    cd_fallback_disable(fallback);
    CHECK(enable());
    b = new_cipher("cbc(aes)");
    cd_fallback_free(fallback);
    fallback = NULL;
    CHECK_EQ(registered(), FAKES);
    CHECK_EQ(side(a, 16), 'h');
    CHECK_EQ(side(b, 16), 'h');
    CHECK_EQ(cd_cipher_set_key(a, fixture_key, 16), CD_OK);
    CHECK_EQ(side(a, 16), 'h');
    cd_cipher_free(a);
    CHECK_EQ(side(b, 4096), 'h');
    cd_cipher_free(b);
    tear_down();
}

/* The registry may go too, once the fallback is freed. */
static void test_outlived_by_transforms_without_registry(void) {
    struct cd_cipher *cipher;
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    cd_fallback_free(fallback);
    cd_registry_free(registry);
    CHECK_EQ(side(cipher, 16), 'h');
    cd_cipher_free(cipher);
    check_nothing_left();
}

/* The device is removed under live transforms: "no device", no crash. */
static void test_device_removed(void) {
    struct cd_cipher *cipher;
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    cd_fallback_disable(fallback);
    for (size_t i = HW_CBC; i <= HW_DES; i++) {
        cd_registry_remove(registry, &fakes[i].implementation);
        fakes[i].gone = true;
    }
    CHECK_EQ(run(cipher, 16), CD_E_NO_DEVICE);
    CHECK_EQ(run(cipher, 4096), CD_E_NO_DEVICE);
    /* Enabled without a device: every benchmark failed, no proxies, and no error. */
    CHECK(enable());
    CHECK_EQ(registered(), 3);
    CHECK_EQ(run(cipher, 16), CD_E_NO_DEVICE);
    cd_cipher_free(cipher);
    tear_down();
}

/* Enable while enabled: measured and published again, no new generation, live ones follow. */
static void test_enable_twice_R069(void) {
    struct cd_cipher *cipher;
    const struct cd_implementation *bound;
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    bound = cd_cipher_implementation(cipher);
    fakes[HW_CBC].cost = cost_low;
    CHECK(enable());
    CHECK_EQ(registered(), FAKES + 3);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 0);
    CHECK_EQ(side(cipher, 16), 'h');
    cd_cipher_free(cipher);
    cipher = new_cipher("cbc(aes)");
    CHECK(cd_cipher_implementation(cipher) == bound);
    cd_cipher_free(cipher);
    tear_down();
}

/* Disable while off does nothing. */
static void test_disable_while_off(void) {
    set_up();
    cd_fallback_disable(fallback);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 99), CD_OK);
    cd_fallback_disable(fallback);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 99);
    CHECK(!cd_fallback_enabled(fallback));
    tear_down();
}

/* The stored values stay shown after disable, and are not in force. */
static void test_stored_after_disable(void) {
    struct cd_cipher *cipher;
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    cd_fallback_disable(fallback);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(side(cipher, 16), 'h');
    /* Written while off: stored and shown, not in force; the next enable overwrites it. */
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), -1);
    CHECK_EQ(side(cipher, 16), 'h');
    CHECK(enable());
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    /* Written while on: in force at once. */
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 16), CD_OK);
    CHECK_EQ(side(cipher, 32), 'h');
    cd_cipher_free(cipher);
    tear_down();
}

/* Enabled and disabled 1000 times, with a transform alive over each change, nothing is left. */
static void test_thousand_times(void) {
    struct cd_cipher *previous = NULL;
    set_up();
    fakes[HW_CBC].cost = cost_low;
    fakes[HW_DES].cost = cost_low;
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_OK);
        struct cd_cipher *cipher = new_cipher("cbc(aes)");
        cd_cipher_free(previous);
        previous = cipher;
        cd_fallback_disable(fallback);
        CHECK_EQ(registered(), FAKES);
    }
    cd_cipher_free(previous);
    for (size_t i = 0; i < FAKES; i++) {
        CHECK_EQ(fakes[i].users, 0); /* already before the fallback is freed */
    }
    tear_down();
}

static void test_free_while_enabled(void) {
    set_up();
    CHECK(enable());
    tear_down(); /* frees it: proxies unregistered, everything released */
    cd_fallback_free(NULL);
}

/* Calls out of the progress function have a defined result and never stop for ever. */
static int32_t shown;
static bool configure(void *context, size_t group, const struct cd_measurement *measurement,
                      const char *failure) {
    char text[16];
    (void)context, (void)measurement, (void)failure;
    CHECK_EQ(cd_fallback_enable(fallback, NULL, NULL, &error), CD_E_BUSY);
    CHECK(strstr(error.message, "measuring already") != NULL);
    CHECK_EQ(cd_fallback_set_threshold(fallback, group, 5), CD_E_BUSY);
    CHECK_EQ(cd_fallback_write(fallback, "aes", "5", 1, &error), CD_E_BUSY);
    CHECK(strstr(error.message, "aes: ") != NULL);
    CHECK_EQ(cd_fallback_read(fallback, "aes", text, sizeof(text)), CD_OK); /* reads go on */
    shown = cd_fallback_threshold(fallback, AES);
    return true;
}

static bool disable_there(void *context, size_t group, const struct cd_measurement *measurement,
                          const char *failure) {
    ++*(unsigned *)context;
    (void)group, (void)measurement, (void)failure;
    cd_fallback_disable(fallback);
    return true;
}

static bool free_there(void *context, size_t group, const struct cd_measurement *measurement,
                       const char *failure) {
    (void)context, (void)group, (void)measurement, (void)failure;
    cd_fallback_free(fallback);
    fallback = NULL;
    return true;
}

static void test_calls_from_progress(void) {
    unsigned calls = 0;
    set_up();
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 33), CD_OK);
    CHECK_EQ(cd_fallback_enable(fallback, configure, NULL, &error), CD_OK);
    CHECK_EQ(shown, 33);
    CHECK_EQ(cd_fallback_threshold(fallback, AES), 512);
    CHECK_EQ(cd_fallback_enable(fallback, disable_there, &calls, &error), CD_E_CANCELLED);
    CHECK_EQ(calls, 1);
    CHECK(!cd_fallback_enabled(fallback));
    CHECK_EQ(registered(), FAKES);
    CHECK(enable()); /* the wish is forgotten */
    CHECK_EQ(cd_fallback_enable(fallback, free_there, NULL, &error), CD_E_CANCELLED);
    CHECK_EQ(registered(), FAKES);
    tear_down();
}

/* Two fallbacks over different hardware, side by side. */
static void test_two_fallbacks(void) {
    struct cd_fallback *second = NULL;
    struct cd_fallback_config config;
    set_up();
    cd_fallback_free(fallback);
    config = fixture_config();
    CHECK_EQ(cd_fallback_new(&fallback, registry, "a", fixture_groups, 1, &config, &error), CD_OK);
    CHECK_EQ(cd_fallback_new(&second, registry, "b", fixture_groups + 1, 1, &config, &error),
             CD_OK);
    CHECK(enable());
    CHECK_EQ(cd_fallback_enable(second, NULL, NULL, &error), CD_OK);
    CHECK_EQ(registered(), FAKES + 3);
    cd_fallback_disable(fallback);
    CHECK_EQ(registered(), FAKES + 1);
    cd_fallback_free(second);
    tear_down();
}

int main(void) {
    RUN(test_off_binds_the_hardware_itself);
    RUN(test_on_binds_the_proxy);
    RUN(test_live_transforms_R057);
    RUN(test_outlived_by_transforms);
    RUN(test_outlived_by_transforms_without_registry);
    RUN(test_device_removed);
    RUN(test_enable_twice_R069);
    RUN(test_disable_while_off);
    RUN(test_stored_after_disable);
    RUN(test_thousand_times);
    RUN(test_free_while_enabled);
    RUN(test_calls_from_progress);
    RUN(test_two_fallbacks);
    return test_end();
}
