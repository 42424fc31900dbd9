/*
 * A fake device and fake software of hashes and aeads, and a fallback of two groups over them:
 * "hash" (measured with hmac(sum); members sum and hmac(sum)) and "aead" (authenc).
 */
#ifndef FALLBACK_TYPES_H
#define FALLBACK_TYPES_H

#include "fake_types.h"
#include "fallback_support.h"

#define HASH 0u /* indices of the groups */
#define AEAD 1u

#define AUTHENC "authenc(hmac(sum),cbc(aes))"
#define AUTHENC_DEV "authenc(hmac(sum-dev),cbc(aes-dev))"

static const char *const hash_members[] = {"sum-dev", "hmac(sum-dev)"};
static const char *const aead_members[] = {AUTHENC_DEV, "gcm(aes-dev)"};
static const uint8_t fixture_auth_key[20] = {0x0b, 0x0b, 0x0b};

static const struct cd_group_config type_groups[] = {
    {
        .name = "hash",
        .type = CD_TYPE_HASH,
        .algorithm = "hmac(sum)",
        .driver = "hmac(sum-dev)",
        .key = fixture_key,
        .key_len = sizeof(fixture_key),
        .members = hash_members,
        .member_count = 2,
    },
    {
        .name = "aead",
        .type = CD_TYPE_AEAD,
        .algorithm = AUTHENC,
        .driver = AUTHENC_DEV,
        .key = fixture_key,
        .key_len = sizeof(fixture_key),
        .auth_key = fixture_auth_key,
        .auth_key_len = sizeof(fixture_auth_key),
        .tag_size = 12,
        .members = aead_members,
        .member_count = 2,
    },
};

enum { HW_SUM, HW_HMAC, HW_AEAD, SW_SUM, SW_HMAC, SW_AEAD, FAKES };

static struct fake fakes[FAKES];

static inline void set_up(void) {
    memset(&clock_state, 0, sizeof(clock_state));
    memset(&error, 0, sizeof(error));
    for (unsigned i = 0; i < FAKES; i += SW_SUM) {
        bool hw = i == HW_SUM;
        char mark = hw ? 'h' : 's';
        uint32_t flags = hw ? CD_FLAG_ASYNC : 0;
        fake_describe_hash(&fakes[i + HW_SUM], &clock_state, mark, "sum",
                           hw ? "sum-dev" : "sum-lib", flags, false);
        fake_describe_hash(&fakes[i + HW_HMAC], &clock_state, mark, "hmac(sum)",
                           hw ? "hmac(sum-dev)" : "hmac(sum-lib)", flags, true);
        fake_describe_aead(&fakes[i + HW_AEAD], &clock_state, mark, AUTHENC,
                           hw ? AUTHENC_DEV : "authenc(lib)", flags);
    }
    for (unsigned i = 0; i < FAKES; i++) {
        fakes[i].cost = i < SW_SUM ? cost_low_from_1024 : cost_flat;
    }
    register_and_make(fakes, FAKES, type_groups, 2);
}

static inline void tear_down(void) {
    free_and_check(fakes, FAKES);
}

/* Make the fallback again with other groups. */
static inline void make_again(const struct cd_group_config *groups, size_t count) {
    struct cd_fallback_config config = fixture_config();
    cd_fallback_free(fallback);
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", groups, count, &config, &error), CD_OK);
}

static inline void set_threshold(size_t group, int32_t threshold) {
    CHECK_EQ(cd_fallback_set_threshold(fallback, group, threshold), CD_OK);
}

static inline uint64_t counter(size_t group, enum cd_why why) {
    uint64_t counters[CD_WHY_COUNT];
    cd_fallback_counters(fallback, group, counters);
    return counters[why];
}

/* All counters of a group together. */
static inline uint64_t counted(size_t group) {
    uint64_t sum = 0;
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        sum += counter(group, (enum cd_why)why);
    }
    return sum;
}

/* Operations since the last call: "h1s0" as 0x10, "h0s2" as 0x02. */
static inline unsigned operations_since(unsigned hardware, unsigned software) {
    static unsigned before[FAKES];
    unsigned h = fakes[hardware].operations - before[hardware];
    unsigned s = fakes[software].operations - before[software];
    before[hardware] += h;
    before[software] += s;
    return h << 4 | s;
}

#define ON_HARDWARE 0x10u
#define ON_SOFTWARE 0x01u

#endif
