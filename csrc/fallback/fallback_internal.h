/*
 * What the files of fallback/ share: the handle, its groups, proxies and generations.
 *
 * Who keeps whom alive: a transform of a proxy holds its generation (retain and release of the
 * proxy's implementation), a generation holds the fallback and both implementations of each of its
 * pairs. So a transform works after disable, after the next enable and after cd_fallback_free.
 */
#ifndef CD_FALLBACK_INTERNAL_H
#define CD_FALLBACK_INTERNAL_H

#include "cryptodispatch/fallback.h"

#include <pthread.h>
#include <stdatomic.h>

#define CD_FALLBACK_STRIPES 8 /* copies of the counters, so that threads do not share a line */

struct cd_fallback_group;
struct cd_fallback_proxy;

/* What is particular to a transform type. A new type is one more of these in fallback_table.c. */
struct cd_fallback_type {
    enum cd_type type;
    /* Give a transform of either side the key (and tag size) of the group's benchmark. */
    cd_status (*prepare)(void *transform, const struct cd_group_config *config);
    /* Measure one size of two prepared transforms, as cd_benchmark_cipher_pair. The buffers hold it
     * rounded up to any block size; a type that works in place uses `source` alone. */
    cd_status (*measure)(struct cd_measurement *out_measurement, void *hardware, void *software,
                         const struct cd_clock *clock, uint8_t *source, uint8_t *destination,
                         uint32_t size);
    /* Set the functions that the requests of a proxy, whose pair is known, run through. */
    void (*describe)(struct cd_fallback_proxy *proxy);
};

extern const struct cd_fallback_type cd_fallback_type_cipher;
extern const struct cd_fallback_type cd_fallback_type_hash;
extern const struct cd_fallback_type cd_fallback_type_aead;

/* What the last measuring of a group found. */
struct cd_fallback_result {
    int32_t threshold;
    size_t count;
    struct cd_measurement measurements[CD_BENCHMARK_SIZES];
    struct cd_error failure; /* "": none */
    char hardware[CD_NAME_MAX];
    char software[CD_NAME_MAX];
};

struct cd_fallback_counters {
    _Alignas(64) _Atomic uint64_t by_why[CD_WHY_COUNT];
};

/* What holds for the keys of one size instead of the group's threshold. */
struct cd_fallback_rule {
    _Atomic int32_t effective; /* in force, read once by every request; 0 while off */
    struct cd_key_rule rule;
};

struct cd_fallback_group {
    /* In force, read once by every request; 0 while the fallback is off. */
    _Alignas(64) _Atomic int32_t effective;
    _Atomic int32_t stored; /* shown, and in force while on */
    _Atomic uint32_t next_stripe;
    const struct cd_fallback_type *type;
    struct cd_group_config config;    /* a deep copy: everything it points to is owned */
    struct cd_fallback_rule *rules;   /* config.rule_count of them; instead of config.rules */
    struct cd_fallback_result result; /* under the fallback's snapshot lock */
    struct cd_fallback_counters counters[CD_FALLBACK_STRIPES];
};

/* The implementation `fallback(<hardware driver name>)`. */
struct cd_fallback_proxy {
    struct cd_implementation implementation;  /* first: a transform leads back to here */
    const struct cd_implementation *hardware; /* retained */
    const struct cd_implementation *software; /* retained */
    struct cd_fallback_group *group;
    char algorithm[CD_NAME_MAX];
    char driver[CD_NAME_MAX];
};

/* The proxies of one enable; lives until the last transform of them is freed. */
struct cd_fallback_generation {
    _Atomic size_t references;    /* the fallback's while registered, and one per user */
    struct cd_fallback *fallback; /* held */
    size_t count;
    struct cd_fallback_proxy *proxies;
};

struct cd_fallback {
    _Atomic size_t references; /* the caller's, and one per generation */
    struct cd_registry *registry;
    char name[CD_NAME_MAX];
    struct cd_clock clock;
    uint32_t software_flags;
    uint32_t software_mask;
    /* Serialises configuration; held while measuring. Knows its owner, see cd_fallback_disable. */
    pthread_mutex_t configuration;
    pthread_mutex_t snapshot; /* guards the groups' results; only ever held for a copy */
    _Atomic bool enabled;
    bool disable_wanted; /* disable was called from the progress function of this very enable */
    struct cd_fallback_generation *generation; /* NULL while off; under `configuration` */
    size_t group_count;
    struct cd_fallback_group *groups;
};

/* fallback.c */

void cd_fallback_retain(struct cd_fallback *fallback);
void cd_fallback_release(struct cd_fallback *fallback);

/* fallback_table.c */

/* Check a group table. CD_E_INVALID: out_error names group and field. */
CD_MUST_CHECK cd_status cd_fallback_table_check(const struct cd_group_config *configs, size_t count,
                                                struct cd_error *out_error);
/* Copy a checked table; NULL if memory is short. */
struct cd_fallback_group *cd_fallback_table_copy(const struct cd_group_config *configs,
                                                 size_t count);
/* Wipe the keys and free a table. NULL does nothing. */
void cd_fallback_table_free(struct cd_fallback_group *groups, size_t count);

/* fallback_rules.c */

/* Check the static policy of a group: fixed threshold and rules. CD_E_INVALID as above. */
CD_MUST_CHECK cd_status cd_fallback_rules_check(const struct cd_group_config *config,
                                                struct cd_error *out_error);
/* Copy checked rules; false if memory is short. */
bool cd_fallback_rules_copy(struct cd_fallback_group *group, const struct cd_group_config *config);
/* Put the thresholds of the rules in force, or with `on` false take them out of it. */
void cd_fallback_rules_publish(struct cd_fallback_group *group, bool on);
/* The rule for keys of this size; NULL: the group's threshold holds. */
const struct cd_fallback_rule *cd_fallback_rule_find(const struct cd_fallback_group *group,
                                                     size_t key_len);
/* CD_KEY_SIZE bits of the keys that the hardware cannot do. */
uint64_t cd_fallback_rules_refused_sizes(const struct cd_fallback_group *group);

/* fallback_lookup.c */

/* Find and retain what is registered under this driver name, of whatever type; NULL: nothing that
 * this CPU can run. */
const struct cd_implementation *cd_fallback_find_hardware(struct cd_fallback *fallback,
                                                          const char *driver);
/* Find and retain the software side of `algorithm` for a group; NULL: there is none. Never a proxy,
 * an asynchronous implementation, or one that the group names as its hardware. */
const struct cd_implementation *cd_fallback_find_software(struct cd_fallback *fallback,
                                                          const struct cd_fallback_group *group,
                                                          const char *algorithm);

/* fallback_tune.c */

/* Measure all groups into `results` (group_count of them). Errors: CD_E_CANCELLED. */
CD_MUST_CHECK cd_status cd_fallback_tune(struct cd_fallback *fallback,
                                         struct cd_fallback_result *results,
                                         cd_fallback_progress progress, void *context);
/* The threshold that measurements (ascending sizes, up to the first hardware win) mean. Pure. */
int32_t cd_fallback_threshold_of(const struct cd_measurement *measurements, size_t count);

/* fallback_proxy.c */

/* Pair the two sides into `proxy` (zeroed), which takes over both holds, also on an error.
 * CD_E_MISMATCH: they do not fit; out_error says where. */
CD_MUST_CHECK cd_status cd_fallback_proxy_init(struct cd_fallback_proxy *proxy,
                                               struct cd_fallback_generation *generation,
                                               struct cd_fallback_group *group,
                                               const struct cd_implementation *hardware,
                                               const struct cd_implementation *software,
                                               struct cd_error *out_error);
void cd_fallback_proxy_cleanup(struct cd_fallback_proxy *proxy);

/* fallback_generation.c */

/* Make and register the proxies of all members that are there. On an error none is registered. */
CD_MUST_CHECK cd_status cd_fallback_generation_register(struct cd_fallback_generation **out,
                                                        struct cd_fallback *fallback,
                                                        struct cd_error *out_error);
void cd_fallback_generation_retain(struct cd_fallback_generation *generation);
void cd_fallback_generation_release(struct cd_fallback_generation *generation);
/* Unregister the proxies and drop the fallback's hold. */
void cd_fallback_generation_unregister(struct cd_fallback_generation *generation);

#endif
