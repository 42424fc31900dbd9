/* What the driver tests on the emulator share: chip, driver and software side by side. */
#ifndef DRIVER_RIG_H
#define DRIVER_RIG_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/eip93_driver.h"
#include "cryptodispatch/eip93_emulator.h"
#include "cryptodispatch/hash.h"
#include "cryptodispatch/software.h"
#include "test_support.h"

#include <stdlib.h>

struct rig {
    struct cd_eip93_emulator *emulator;
    struct cd_eip93_bus bus;
    struct cd_registry *registry;
    struct cd_eip93_driver *driver;
    uint32_t hash_segment; /* of drivers attached from now on */
};

static inline void rig_attach(struct rig *rig, uint32_t entries, uint64_t timeout_ns) {
    struct cd_eip93_driver_config config = {.ring_entries = entries,
                                            .request_timeout_ns = timeout_ns,
                                            .hash_segment = rig->hash_segment};
    CHECK_EQ(cd_eip93_driver_new(&rig->driver, rig->registry, &rig->bus, &config, NULL), CD_OK);
}

static inline struct rig rig_new(int pace, uint32_t entries, uint64_t timeout_ns) {
    struct rig rig = {.emulator = NULL};
    struct cd_eip93_emulator_config config = {.variant = CD_EIP93_93IES, .pace = pace};
    CHECK_EQ(cd_eip93_emulator_new(&rig.emulator, &config), CD_OK);
    cd_eip93_emulator_bus(rig.emulator, &rig.bus);
    CHECK_EQ(cd_registry_new(&rig.registry), CD_OK);
    CHECK_EQ(cd_software_register(rig.registry, NULL), CD_OK);
    rig_attach(&rig, entries, timeout_ns);
    return rig;
}

static inline struct rig rig_with_segments(uint32_t entries, uint32_t hash_segment) {
    struct rig rig = rig_new(CD_EIP93_FREE, entries, 0);
    cd_eip93_driver_free(rig.driver);
    rig.hash_segment = hash_segment;
    rig_attach(&rig, entries, 0);
    return rig;
}

static inline struct cd_eip93_driver_counters rig_counters(const struct rig *rig) {
    struct cd_eip93_driver_counters counters;
    cd_eip93_driver_counters(rig->driver, &counters);
    return counters;
}

/* Nothing may be left mapped, nothing under way. */
static inline void rig_end(struct rig *rig) {
    if (rig->driver != NULL) {
        struct cd_eip93_driver_counters counters = rig_counters(rig);
        CHECK_EQ(counters.maps, counters.unmaps);
        CHECK_EQ(counters.requests, counters.completed);
    }
    cd_eip93_driver_free(rig->driver);
    cd_eip93_emulator_free(rig->emulator);
    cd_registry_free(rig->registry);
}

static inline struct cd_cipher *rig_cipher(const struct rig *rig, const char *name,
                                           const uint8_t *key, size_t key_len) {
    struct cd_cipher *cipher = NULL;
    CHECK_EQ(cd_cipher_new(&cipher, rig->registry, name, 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(cipher, key, key_len), CD_OK);
    return cipher;
}

/* Repeatable bytes: xorshift64. */
static inline void fill(uint8_t *out, size_t length, uint64_t seed) {
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out[i] = (uint8_t)(state >> 32);
    }
}

#endif
