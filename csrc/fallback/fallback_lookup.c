/* Which registered implementations are the two sides of a pair. */
#include "cryptodispatch/registry.h"
#include "fallback/fallback_internal.h"

#include <string.h>

struct search {
    const char *name;
    const struct cd_fallback_group *group; /* software only */
    uint32_t flags;
    uint32_t mask;
    const struct cd_implementation *found; /* retained */
    int32_t priority;                      /* of `found`, as in force; software only */
};

/* Take over a hold of `implementation` instead of the one found so far. Both are registered while
 * the registry's lock is held, so the release cannot be the last. */
static void keep(struct search *search, const struct cd_implementation *implementation) {
    cd_implementation_retain(implementation);
    if (search->found != NULL) {
        cd_implementation_release(search->found);
    }
    search->found = implementation;
}

static bool visit_hardware(const struct cd_implementation *implementation, void *context) {
    struct search *search = context;
    if (strcmp(implementation->driver, search->name) != 0) {
        return true;
    }
    if (cd_implementation_available(implementation)) {
        keep(search, implementation);
    }
    return false;
}

const struct cd_implementation *cd_fallback_find_hardware(struct cd_fallback *fallback,
                                                          const char *driver) {
    struct search search = {.name = driver};
    cd_registry_each(fallback->registry, visit_hardware, &search);
    return search.found;
}

static bool is_hardware_of(const struct cd_fallback_group *group, const char *driver) {
    if (strcmp(group->config.driver, driver) == 0) {
        return true;
    }
    for (size_t i = 0; i < group->config.member_count; i++) {
        if (strcmp(group->config.members[i], driver) == 0) {
            return true;
        }
    }
    return false;
}

static bool visit_software(const struct cd_implementation *implementation, int32_t priority,
                           void *context) {
    struct search *search = context;
    if (implementation->type == search->group->config.type &&
        (implementation->flags & search->mask) == search->flags &&
        strcmp(implementation->algorithm, search->name) == 0 &&
        (search->found == NULL || priority > search->priority) &&
        cd_implementation_available(implementation) &&
        !is_hardware_of(search->group, implementation->driver)) {
        keep(search, implementation);
        search->priority = priority;
    }
    return true;
}

const struct cd_implementation *cd_fallback_find_software(struct cd_fallback *fallback,
                                                          const struct cd_fallback_group *group,
                                                          const char *algorithm) {
    struct search search = {
        .name = algorithm,
        .group = group,
        .flags = fallback->software_flags,
        .mask = fallback->software_mask | CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY,
    };
    cd_registry_each_priority(fallback->registry, visit_software, &search);
    return search.found;
}
