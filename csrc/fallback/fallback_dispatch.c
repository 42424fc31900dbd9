/* The children of a proxy's transform, and which policy holds for its key. */
#include "fallback/fallback_dispatch.h"

#include "algorithm/algorithm_any.h"

cd_status cd_fallback_transform_init(struct cd_fallback_transform *transform,
                                     const struct cd_implementation *proxy) {
    const struct cd_fallback_proxy *pair = (const struct cd_fallback_proxy *)(const void *)proxy;
    cd_status status = cd_transform_new_bound(&transform->software, pair->software);
    if (status != CD_OK) {
        return status;
    }
    status = cd_transform_new_bound(&transform->hardware, pair->hardware);
    if (status != CD_OK) {
        cd_transform_free(transform->software);
        return status;
    }
    struct cd_fallback_group *group = pair->group;
    uint32_t stripe = atomic_fetch_add_explicit(&group->next_stripe, 1, memory_order_relaxed);
    transform->group = group;
    transform->threshold = &group->effective;
    transform->counters = &group->counters[stripe % CD_FALLBACK_STRIPES];
    transform->hardware_ops = cd_implementation_functions(pair->hardware);
    transform->software_ops = cd_implementation_functions(pair->software);
    return CD_OK;
}

void cd_fallback_transform_cleanup(struct cd_fallback_transform *transform) {
    cd_transform_free(transform->hardware);
    cd_transform_free(transform->software);
}

bool cd_fallback_key_begins(struct cd_fallback_transform *transform, size_t key_len) {
    const struct cd_fallback_rule *rule = cd_fallback_rule_find(transform->group, key_len);
    transform->threshold = rule != NULL ? &rule->effective : &transform->group->effective;
    transform->software_only = rule != NULL && rule->rule.cannot;
    return !transform->software_only;
}

cd_status cd_fallback_key_ends(struct cd_fallback_transform *transform, cd_status hardware) {
    transform->software_only = hardware == CD_E_UNSUPPORTED;
    return transform->software_only ? CD_OK : hardware;
}
