/*
 * Dynamic software fallback: groups of hardware implementations that share a measured threshold,
 * and proxies that send each request to the faster side.
 *
 * The size of a request is the length of its text, for an aead without tag and associated data. A
 * message hashed in pieces chooses when it begins, as one longer than any threshold, and stays.
 * What the hardware answers with CD_E_UNSUPPORTED to a key, to a request when it is submitted, or
 * to the beginning of a message, goes to software; any other error is the caller's.
 *
 * Behaviour: fallback-semantics.md. Configuration calls (enable, disable, write, free) are
 * serialised by the handle; reads and the request path never block.
 */
#ifndef CD_FALLBACK_H
#define CD_FALLBACK_H

#include "cryptodispatch/benchmark.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A threshold T: requests of at most T bytes go to software. Two values have meanings of their own.
 */
#define CD_THRESHOLD_HARDWARE 0    /* everything to the hardware */
#define CD_THRESHOLD_SOFTWARE (-1) /* everything to the software */

/* Why a request went where it went; one counter each per group. */
enum cd_why {
    CD_WHY_ABOVE_THRESHOLD = 0,  /* hardware: longer than the threshold */
    CD_WHY_NO_THRESHOLD = 1,     /* hardware: the threshold is 0 (or the fallback is off) */
    CD_WHY_WITHIN_THRESHOLD = 2, /* software: at most the threshold */
    CD_WHY_ALWAYS_SOFTWARE = 3,  /* software: the threshold is -1 */
    CD_WHY_UNSUPPORTED = 4,      /* software, whatever the threshold: the hardware cannot do this
                                    transform's key (it or a rule says so), or refused the request */
};
#define CD_WHY_COUNT 5
const char *cd_why_name(int why); /* "above_threshold", ...; NULL for any other number */

struct cd_decision {
    enum cd_side side;
    enum cd_why why;
    int32_t threshold; /* the value used, bytes */
};

/*
 * Choose the side of a request of `size` bytes under threshold `threshold` (bytes; 0 hardware only,
 * -1 software only). Pure: no clock, no counters, no memory.
 */
static inline struct cd_decision cd_fallback_choose(int32_t threshold, size_t size) {
    struct cd_decision decision = {CD_SIDE_HARDWARE, CD_WHY_ABOVE_THRESHOLD, threshold};
    if (threshold < 0) {
        decision.side = CD_SIDE_SOFTWARE;
        decision.why = CD_WHY_ALWAYS_SOFTWARE;
    } else if (threshold == 0) {
        decision.why = CD_WHY_NO_THRESHOLD;
    } else if (size <= (size_t)threshold) {
        decision.side = CD_SIDE_SOFTWARE;
        decision.why = CD_WHY_WITHIN_THRESHOLD;
    }
    return decision;
}

/* What holds for transforms whose key has `key_size` bytes (of an aead: the cipher's key). */
struct cd_key_rule {
    uint32_t key_size; /* not 0; once per group */
    int32_t threshold; /* instead of the group's, as given and never measured; -1 .. INT32_MAX */
    bool cannot; /* the hardware cannot do such keys and is not given them: all their requests go to
                    software, whatever a threshold says, also while the fallback is off. Proxies
                    take keys of that size if the software does. */
};

/* One row of a group table. Everything is copied. */
struct cd_group_config {
    const char *name; /* unique on its fallback, not empty, not "enabled" */
    enum cd_type type;
    const char *algorithm; /* representative: generic name, gives the software side */
    const char *driver;    /* representative: hardware driver name */
    const uint8_t *key;
    size_t key_len;          /* 0: none; for a hash without key, an hmac then has the empty one */
    const uint8_t *auth_key; /* aead only */
    size_t auth_key_len;
    uint32_t tag_size;          /* aead: required, not 0; otherwise 0 */
    const char *const *members; /* hardware driver names, at least one */
    size_t member_count;
    /* Static policy; all zero: none. A fixed group is not measured, every enable publishes its
     * threshold as given; it needs no keys and no tag size. */
    bool fixed;
    int32_t fixed_threshold;         /* -1 .. INT32_MAX; 0 unless fixed */
    const struct cd_key_rule *rules; /* measured groups may have some too */
    size_t rule_count;
};

struct cd_fallback_config {
    struct cd_clock clock; /* what measurements are read on; copied */
    /* Lookup of the software side: (flags & mask) == software_flags. ASYNC, NEED_FALLBACK and PROXY
     * are always excluded on top, and so is whatever the group names as its hardware. */
    uint32_t software_flags;
    uint32_t software_mask;
};

struct cd_fallback;

/*
 * Check the table and keep it; nothing is registered and the fallback is off. `registry` must
 * outlive the handle. Errors: CD_E_INVALID (out_error names group and field), CD_E_NO_MEMORY.
 */
CD_MUST_CHECK cd_status cd_fallback_new(struct cd_fallback **out_fallback,
                                        struct cd_registry *registry, const char *name,
                                        const struct cd_group_config *groups, size_t group_count,
                                        const struct cd_fallback_config *config,
                                        struct cd_error *out_error);

/* Disable, and drop the caller's hold: transforms of its proxies keep working and keep it. NULL:
 * nothing. */
void cd_fallback_free(struct cd_fallback *fallback);

/*
 * Told after each measured size, from the enabling thread, no lock of the request path held. Return
 * false to cancel. `measurement` is NULL when a group's benchmark failed (`failure` says why).
 *
 * It may read the handle. Enable, set_threshold and write answer CD_E_BUSY here; disable and free
 * cancel this enable and take effect at its end. Other threads' configuration calls wait until
 * then, so it must not wait for such a thread.
 */
typedef bool (*cd_fallback_progress)(void *context, size_t group,
                                     const struct cd_measurement *measurement, const char *failure);

/*
 * Measure all groups but the fixed ones, publish all thresholds, and if it was off register the
 * proxies of a new generation.
 *
 * A group whose benchmark fails gets threshold 0 and a failure text; the others go on. Errors (then
 * the thresholds are 0 and nothing is registered, or, if it was on, everything stays as it was):
 * CD_E_MISMATCH (a pair that does not fit; out_error names it), CD_E_UNKNOWN_ALGORITHM (a member
 * without a software side), CD_E_EXISTS, CD_E_CANCELLED, CD_E_NO_MEMORY, CD_E_BUSY (called from the
 * progress function).
 */
CD_MUST_CHECK cd_status cd_fallback_enable(struct cd_fallback *fallback,
                                           cd_fallback_progress progress, void *context,
                                           struct cd_error *out_error);

/* Thresholds in force to 0, then unregister the proxies. Off already: nothing. */
void cd_fallback_disable(struct cd_fallback *fallback);

/* True while the proxies are registered. */
bool cd_fallback_enabled(const struct cd_fallback *fallback);
/* Groups are numbered from 0 in the order of the table; a name is valid as long as the handle, and
 * NULL for a number beyond the last. */
size_t cd_fallback_group_count(const struct cd_fallback *fallback);
const char *cd_fallback_group_name(const struct cd_fallback *fallback, size_t group);
/* Index of a group; CD_E_INVALID if there is none of that name. */
CD_MUST_CHECK cd_status cd_fallback_group_find(size_t *out_group,
                                               const struct cd_fallback *fallback,
                                               const char *name);

/* The stored threshold of a group, bytes (in force only while enabled). */
int32_t cd_fallback_threshold(const struct cd_fallback *fallback, size_t group);
/* Store it: -1 .. INT32_MAX, else CD_E_RANGE; CD_E_INVALID: no such group. While on it is in force
 * for requests that start later, also of a fixed group; keys that have a rule keep the rule's. */
CD_MUST_CHECK cd_status cd_fallback_set_threshold(struct cd_fallback *fallback, size_t group,
                                                  int64_t threshold);

/* True if the group is fixed: *out_threshold is then what enabling publishes. */
bool cd_fallback_fixed(const struct cd_fallback *fallback, size_t group, int32_t *out_threshold);
/* Copy the rules of a group by key size (at most `capacity`); returns how many there are. */
size_t cd_fallback_rules(const struct cd_fallback *fallback, size_t group,
                         struct cd_key_rule *out_rules, size_t capacity);

/* Copy the last measurements of a group (at most CD_BENCHMARK_SIZES); returns how many there are,
 * none of a fixed group. */
size_t cd_fallback_measurements(const struct cd_fallback *fallback, size_t group,
                                struct cd_measurement *out_measurements, size_t capacity);
/* Why the last benchmark of a group failed; "" if it did not. Copies with the terminator. */
void cd_fallback_failure(const struct cd_fallback *fallback, size_t group, char *out,
                         size_t out_len);

/* Driver names of both sides of the representative as last measured (fixed: as last enabled); ""
 * before, or if there is none. */
void cd_fallback_sides(const struct cd_fallback *fallback, size_t group, char *out_hardware,
                       char *out_software, size_t out_len);

/* Requests of a group by reason (CD_WHY_COUNT counters), since the fallback was made. */
void cd_fallback_counters(const struct cd_fallback *fallback, size_t group,
                          uint64_t out_counters[CD_WHY_COUNT]);

/*
 * The control files by name, "enabled" or a group's (fallback-semantics.md section 7): text in,
 * text out.
 *
 * write: CD_E_INVALID (no such attribute, not a boolean, not a number, NUL bytes, over 64 bytes),
 * CD_E_RANGE (below -1 or beyond 32 bits), and for "enabled" the errors of enable. A refused write
 * changes nothing; out_error names the attribute.
 */
CD_MUST_CHECK cd_status cd_fallback_write(struct cd_fallback *fallback, const char *attribute,
                                          const char *text, size_t text_len,
                                          struct cd_error *out_error);
/* Writes "0\n", "512\n", ... with the terminator. CD_E_INVALID: no such attribute, or out_len < 16.
 */
CD_MUST_CHECK cd_status cd_fallback_read(const struct cd_fallback *fallback, const char *attribute,
                                         char *out, size_t out_len);

#ifdef __cplusplus
}
#endif

#endif
