/*
 * What the proxies of all types share: the two children of a transform, and sending a request to
 * one of them (fallback-semantics.md section 4). The request path takes no lock and allocates
 * nothing.
 */
#ifndef CD_FALLBACK_DISPATCH_H
#define CD_FALLBACK_DISPATCH_H

#include "fallback/fallback_internal.h"

#define CD_FALLBACK_UNBOUNDED SIZE_MAX /* the size of a message whose end is not known */

/* The context of a proxy's transform, whatever its type. */
struct cd_fallback_transform {
    const _Atomic int32_t *threshold;      /* in force for this key: the group's or a rule's */
    struct cd_fallback_counters *counters; /* one stripe of the group's */
    void *hardware;                        /* transforms of the proxy's type */
    void *software;
    const void *hardware_ops; /* the children's functions, of the type */
    const void *software_ops;
    bool software_only; /* the hardware cannot do this key: everything goes to software */
    struct cd_fallback_group *group;
};

/* Make the children of a new transform of this proxy. On an error there are none. */
CD_MUST_CHECK cd_status cd_fallback_transform_init(struct cd_fallback_transform *transform,
                                                   const struct cd_implementation *proxy);
void cd_fallback_transform_cleanup(struct cd_fallback_transform *transform);

/* Take the policy for a key of this size, which the software has taken. False: the hardware cannot
 * do such keys and must not be asked. */
bool cd_fallback_key_begins(struct cd_fallback_transform *transform, size_t key_len);

/* Take what the hardware said of the key. One that it cannot do is no error: the software can. */
cd_status cd_fallback_key_ends(struct cd_fallback_transform *transform, cd_status hardware);

static inline void cd_fallback_count(const struct cd_fallback_transform *transform, enum cd_why why,
                                     uint64_t requests) {
    atomic_fetch_add_explicit(&transform->counters->by_why[why], requests, memory_order_relaxed);
}

/* Take one request back that was counted and that the hardware does not do. */
static inline void cd_fallback_uncount(const struct cd_fallback_transform *transform,
                                       enum cd_why why) {
    atomic_fetch_sub_explicit(&transform->counters->by_why[why], 1, memory_order_relaxed);
}

/* Choose the side of one request, not counted yet; the threshold is read here, once. */
static inline struct cd_decision cd_fallback_decide(const struct cd_fallback_transform *transform,
                                                    size_t size) {
    int32_t threshold = atomic_load_explicit(transform->threshold, memory_order_relaxed);
    struct cd_decision decision = {CD_SIDE_SOFTWARE, CD_WHY_UNSUPPORTED, threshold};
    if (!transform->software_only) {
        decision = cd_fallback_choose(threshold, size);
    }
    return decision;
}

/*
 * Choose the side of one request, and count it.
 *
 * It is counted before it starts: once the hardware has it, it may complete at any time, and its
 * owner may look.
 */
static inline struct cd_decision cd_fallback_route(const struct cd_fallback_transform *transform,
                                                   size_t size) {
    struct cd_decision decision = cd_fallback_decide(transform, size);
    cd_fallback_count(transform, decision.why, 1);
    return decision;
}

/* Start a request, of whatever type, with a child's functions. */
typedef cd_status (*cd_fallback_start)(const void *ops, void *child, void *request);

/*
 * Start a request of `size` bytes on the side chosen for it, and on the software if the hardware
 * cannot do it, which is then counted as that; *out_side is the one that has it.
 *
 * It was checked when it came to the proxy, so `start` calls the children's functions directly.
 * Inline, so that `start` is known where it is called: no more indirection than without it.
 */
static inline cd_status cd_fallback_dispatch(enum cd_side *out_side,
                                             const struct cd_fallback_transform *transform,
                                             size_t size, cd_fallback_start start, void *request) {
    struct cd_decision decision = cd_fallback_route(transform, size);
    *out_side = decision.side;
    if (decision.side == CD_SIDE_HARDWARE) {
        cd_status status = start(transform->hardware_ops, transform->hardware, request);
        if (status != CD_E_UNSUPPORTED) {
            return status;
        }
        cd_fallback_uncount(transform, decision.why);
        cd_fallback_count(transform, CD_WHY_UNSUPPORTED, 1);
        *out_side = CD_SIDE_SOFTWARE;
    }
    return start(transform->software_ops, transform->software, request);
}

#endif
