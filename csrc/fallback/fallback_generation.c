/* The proxies of one enable: made, registered and freed together. */
#include "base/error.h"
#include "cryptodispatch/registry.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>
#include <string.h>

void cd_fallback_generation_retain(struct cd_fallback_generation *generation) {
    atomic_fetch_add_explicit(&generation->references, 1, memory_order_relaxed);
}

void cd_fallback_generation_release(struct cd_fallback_generation *generation) {
    if (atomic_fetch_sub_explicit(&generation->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    struct cd_fallback *fallback = generation->fallback;
    for (size_t i = 0; i < generation->count; i++) {
        cd_fallback_proxy_cleanup(&generation->proxies[i]);
    }
    free(generation->proxies);
    free(generation);
    cd_fallback_release(fallback);
}

static struct cd_fallback_generation *allocate(struct cd_fallback *fallback) {
    size_t capacity = 0;
    for (size_t i = 0; i < fallback->group_count; i++) {
        capacity += fallback->groups[i].config.member_count;
    }
    struct cd_fallback_generation *generation = calloc(1, sizeof(*generation));
    if (generation == NULL) {
        return NULL;
    }
    generation->proxies = calloc(capacity + 1, sizeof(*generation->proxies));
    if (generation->proxies == NULL) {
        free(generation);
        return NULL;
    }
    generation->references = 1;
    generation->fallback = fallback;
    cd_fallback_retain(fallback);
    return generation;
}

/* Add the proxy of one member; a member whose hardware is not there is left out. */
static cd_status add_member(struct cd_fallback_generation *generation,
                            struct cd_fallback_group *group, const char *member,
                            struct cd_error *out_error) {
    struct cd_fallback *fallback = generation->fallback;
    const struct cd_implementation *hardware = cd_fallback_find_hardware(fallback, member);
    if (hardware == NULL) {
        return CD_OK;
    }
    if (hardware->type != group->config.type || (hardware->flags & CD_FLAG_PROXY) != 0) {
        cd_implementation_release(hardware);
        return cd_error_set(CD_E_MISMATCH, out_error,
                            "group '%s': members: '%s' is not a %s of a device", group->config.name,
                            member, cd_type_name((int)group->config.type));
    }
    const struct cd_implementation *software =
        cd_fallback_find_software(fallback, group, hardware->algorithm);
    if (software == NULL) {
        cd_status status =
            cd_error_set(CD_E_UNKNOWN_ALGORITHM, out_error,
                         "group '%s': members: '%s': no software side for '%s' is registered",
                         group->config.name, member, hardware->algorithm);
        cd_implementation_release(hardware);
        return status;
    }
    return cd_fallback_proxy_init(&generation->proxies[generation->count++], generation, group,
                                  hardware, software, out_error);
}

static cd_status add_all(struct cd_fallback_generation *generation, struct cd_error *out_error) {
    struct cd_fallback *fallback = generation->fallback;
    for (size_t g = 0; g < fallback->group_count; g++) {
        struct cd_fallback_group *group = &fallback->groups[g];
        for (size_t m = 0; m < group->config.member_count; m++) {
            cd_status status = add_member(generation, group, group->config.members[m], out_error);
            if (status != CD_OK) {
                return status;
            }
        }
    }
    return CD_OK;
}

/* Take the first `count` proxies out of the registry, last first. */
static void remove_first(struct cd_fallback_generation *generation, size_t count) {
    while (count-- > 0) {
        cd_registry_remove(generation->fallback->registry,
                           &generation->proxies[count].implementation);
    }
}

static cd_status register_all(struct cd_fallback_generation *generation,
                              struct cd_error *out_error) {
    for (size_t i = 0; i < generation->count; i++) {
        cd_status status = cd_registry_add(generation->fallback->registry,
                                           &generation->proxies[i].implementation, out_error);
        if (status != CD_OK) {
            remove_first(generation, i);
            return status;
        }
    }
    return CD_OK;
}

cd_status cd_fallback_generation_register(struct cd_fallback_generation **out,
                                          struct cd_fallback *fallback,
                                          struct cd_error *out_error) {
    struct cd_fallback_generation *generation = allocate(fallback);
    if (generation == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "no memory for the proxies");
    }
    cd_status status = add_all(generation, out_error);
    if (status == CD_OK) {
        status = register_all(generation, out_error);
    }
    if (status != CD_OK) {
        cd_fallback_generation_release(generation);
        return status;
    }
    *out = generation;
    return CD_OK;
}

void cd_fallback_generation_unregister(struct cd_fallback_generation *generation) {
    remove_first(generation, generation->count);
    cd_fallback_generation_release(generation);
}
