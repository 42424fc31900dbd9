/* What the fixtures of the fallback's tests share: registry, clock, costs, enabling. */
#ifndef FALLBACK_SUPPORT_H
#define FALLBACK_SUPPORT_H

#include "cryptodispatch/fallback.h"
#include "cryptodispatch/registry.h"
#include "fake_cipher.h"
#include "test_support.h"

static const uint8_t fixture_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                        0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static struct fake_clock clock_state;
static struct cd_registry *registry;
static struct cd_fallback *fallback;
static struct cd_error error;

static inline struct cd_fallback_config fixture_config(void) {
    return (struct cd_fallback_config){
        .clock = fake_clock_interface(&clock_state),
        .software_mask = CD_FLAG_MODELLED,
    };
}

/* Costs with known thresholds, in ticks. */
static inline uint64_t cost_flat(size_t length) {
    (void)length;
    return 100;
}

static inline uint64_t cost_low(size_t length) {
    (void)length;
    return 10;
}

static inline uint64_t cost_high(size_t length) {
    (void)length;
    return 1000;
}

static inline uint64_t cost_low_from_1024(size_t length) {
    return length >= 1024 ? 10 : 1000;
}

/* Register `count` fakes, and make the fallback of these groups over them. */
static inline void register_and_make(struct fake *all, size_t count,
                                     const struct cd_group_config *groups, size_t group_count) {
    struct cd_fallback_config config = fixture_config();
    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(cd_registry_add(registry, &all[i].implementation, &error), CD_OK);
    }
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", groups, group_count, &config, &error),
             CD_OK);
}

static inline void check_released(const struct fake *all, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(all[i].users, 0);
        CHECK_EQ(all[i].transforms, 0);
    }
}

/* Free fallback and registry; nothing is held any more. */
static inline void free_and_check(const struct fake *all, size_t count) {
    cd_fallback_free(fallback);
    fallback = NULL;
    cd_registry_free(registry);
    check_released(all, count);
}

static inline bool count_one(const struct cd_implementation *implementation, void *context) {
    (void)implementation;
    ++*(unsigned *)context;
    return true;
}

static inline unsigned registered(void) {
    unsigned count = 0;
    cd_registry_each(registry, count_one, &count);
    return count;
}

static inline bool enable(void) {
    cd_status status = cd_fallback_enable(fallback, NULL, NULL, &error);
    if (status != CD_OK) {
        printf("enable: %s: %s\n", cd_status_name(status), error.message);
    }
    return status == CD_OK;
}

#endif
