/* The handle: its life, enable and disable, and what can be read of it. */
#include "base/error.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>
#include <string.h>

const char *cd_why_name(int why) {
    static const char *const names[CD_WHY_COUNT] = {
        [CD_WHY_ABOVE_THRESHOLD] = "above_threshold",
        [CD_WHY_NO_THRESHOLD] = "no_threshold",
        [CD_WHY_WITHIN_THRESHOLD] = "within_threshold",
        [CD_WHY_ALWAYS_SOFTWARE] = "always_software",
        [CD_WHY_UNSUPPORTED] = "unsupported",
    };
    return why >= 0 && why < CD_WHY_COUNT ? names[why] : NULL;
}

void cd_fallback_retain(struct cd_fallback *fallback) {
    atomic_fetch_add_explicit(&fallback->references, 1, memory_order_relaxed);
}

void cd_fallback_release(struct cd_fallback *fallback) {
    if (atomic_fetch_sub_explicit(&fallback->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_mutex_destroy(&fallback->configuration);
    pthread_mutex_destroy(&fallback->snapshot);
    cd_fallback_table_free(fallback->groups, fallback->group_count);
    free(fallback);
}

/* CD_E_INVALID: out_error says what of the handle's own settings is malformed. */
static cd_status check_config(const struct cd_registry *registry, const char *name,
                              const struct cd_fallback_config *config, struct cd_error *out_error) {
    const uint32_t excluded = CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_PROXY;
    if (registry == NULL) {
        return cd_error_set(CD_E_INVALID, out_error, "registry: missing");
    }
    if (name == NULL || name[0] == '\0' || strlen(name) >= CD_NAME_MAX) {
        return cd_error_set(CD_E_INVALID, out_error, "name: 1 to %d bytes are allowed",
                            CD_NAME_MAX - 1);
    }
    if (config == NULL || config->clock.now == NULL) {
        return cd_error_set(CD_E_INVALID, out_error, "clock: missing");
    }
    if ((config->software_flags & ~config->software_mask) != 0 ||
        (config->software_flags & excluded) != 0) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "software_flags: no implementation can match them");
    }
    return CD_OK;
}

/* The mutex that tells its owner when he takes it again instead of stopping for ever. */
static bool init_configuration_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes) != 0) {
        return false;
    }
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    int error = pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return error == 0;
}

static bool init_locks(struct cd_fallback *fallback) {
    if (!init_configuration_lock(&fallback->configuration)) {
        return false;
    }
    if (pthread_mutex_init(&fallback->snapshot, NULL) != 0) {
        pthread_mutex_destroy(&fallback->configuration);
        return false;
    }
    return true;
}

cd_status cd_fallback_new(struct cd_fallback **out_fallback, struct cd_registry *registry,
                          const char *name, const struct cd_group_config *groups,
                          size_t group_count, const struct cd_fallback_config *config,
                          struct cd_error *out_error) {
    cd_status status = check_config(registry, name, config, out_error);
    if (status == CD_OK) {
        status = cd_fallback_table_check(groups, group_count, out_error);
    }
    if (status != CD_OK) {
        return status;
    }
    struct cd_fallback *fallback = calloc(1, sizeof(*fallback));
    struct cd_fallback_group *copy = cd_fallback_table_copy(groups, group_count);
    if (fallback == NULL || copy == NULL || !init_locks(fallback)) {
        cd_fallback_table_free(copy, group_count);
        free(fallback);
        return cd_error_set(CD_E_NO_MEMORY, out_error, "no memory for the groups");
    }
    fallback->references = 1;
    fallback->registry = registry;
    memcpy(fallback->name, name, strlen(name) + 1);
    fallback->clock = config->clock;
    fallback->software_flags = config->software_flags;
    fallback->software_mask = config->software_mask;
    fallback->groups = copy;
    fallback->group_count = group_count;
    *out_fallback = fallback;
    return CD_OK;
}

void cd_fallback_free(struct cd_fallback *fallback) {
    if (fallback == NULL) {
        return;
    }
    cd_fallback_disable(fallback);
    cd_fallback_release(fallback);
}
