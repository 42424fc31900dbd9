/* Enable, disable, and changing a threshold (fallback-semantics.md section 6). */
#include "base/error.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>

/* False if this very thread holds it: a call out of the progress function. */
static bool lock(struct cd_fallback *fallback) {
    return pthread_mutex_lock(&fallback->configuration) == 0;
}

static void unlock(struct cd_fallback *fallback) {
    pthread_mutex_unlock(&fallback->configuration);
}

static void set_effective(struct cd_fallback_group *group, int32_t threshold, bool on) {
    atomic_store_explicit(&group->effective, threshold, memory_order_relaxed);
    cd_fallback_rules_publish(group, on);
}

static void set(struct cd_fallback_group *group, int32_t threshold, bool on) {
    atomic_store_explicit(&group->stored, threshold, memory_order_relaxed);
    set_effective(group, threshold, on);
}

static void publish(struct cd_fallback *fallback, const struct cd_fallback_result *results) {
    pthread_mutex_lock(&fallback->snapshot);
    for (size_t i = 0; i < fallback->group_count; i++) {
        fallback->groups[i].result = results[i];
    }
    pthread_mutex_unlock(&fallback->snapshot);
    for (size_t i = 0; i < fallback->group_count; i++) {
        set(&fallback->groups[i], results[i].threshold, true);
    }
}

static void reset_thresholds(struct cd_fallback *fallback) {
    for (size_t i = 0; i < fallback->group_count; i++) {
        set(&fallback->groups[i], CD_THRESHOLD_HARDWARE, false);
    }
}

static cd_status measure_and_publish(struct cd_fallback *fallback, cd_fallback_progress progress,
                                     void *context, struct cd_error *out_error) {
    struct cd_fallback_result *results = calloc(fallback->group_count, sizeof(*results));
    if (results == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "no memory for the measurements");
    }
    cd_status status = cd_fallback_tune(fallback, results, progress, context);
    if (status == CD_OK) {
        publish(fallback, results);
    } else {
        status = cd_error_set(status, out_error, "measuring was cancelled");
    }
    free(results);
    return status;
}

/* Called with the lock held, as is disable_locked. */
static cd_status enable_locked(struct cd_fallback *fallback, cd_fallback_progress progress,
                               void *context, struct cd_error *out_error) {
    cd_status status = measure_and_publish(fallback, progress, context, out_error);
    if (fallback->generation != NULL) {
        return status;
    }
    if (status == CD_OK) {
        status = cd_fallback_generation_register(&fallback->generation, fallback, out_error);
    }
    if (status != CD_OK) {
        reset_thresholds(fallback);
        return status;
    }
    atomic_store(&fallback->enabled, true);
    return CD_OK;
}

static void disable_locked(struct cd_fallback *fallback) {
    if (fallback->generation == NULL) {
        return;
    }
    for (size_t i = 0; i < fallback->group_count; i++) {
        set_effective(&fallback->groups[i], CD_THRESHOLD_HARDWARE, false);
    }
    atomic_store(&fallback->enabled, false);
    struct cd_fallback_generation *generation = fallback->generation;
    fallback->generation = NULL;
    cd_fallback_generation_unregister(generation);
}

cd_status cd_fallback_enable(struct cd_fallback *fallback, cd_fallback_progress progress,
                             void *context, struct cd_error *out_error) {
    if (!lock(fallback)) {
        return cd_error_set(CD_E_BUSY, out_error, "enabled: this thread is measuring already");
    }
    cd_fallback_retain(fallback); /* the progress function may free it */
    fallback->disable_wanted = false;
    cd_status status = enable_locked(fallback, progress, context, out_error);
    if (fallback->disable_wanted) {
        disable_locked(fallback);
    }
    unlock(fallback);
    cd_fallback_release(fallback);
    return status;
}

void cd_fallback_disable(struct cd_fallback *fallback) {
    if (!lock(fallback)) {
        /* Out of the progress function: the enable under way stops there and disables. */
        fallback->disable_wanted = true;
        return;
    }
    disable_locked(fallback);
    unlock(fallback);
}

cd_status cd_fallback_set_threshold(struct cd_fallback *fallback, size_t group, int64_t threshold) {
    if (group >= fallback->group_count) {
        return CD_E_INVALID;
    }
    if (threshold < CD_THRESHOLD_SOFTWARE || threshold > INT32_MAX) {
        return CD_E_RANGE;
    }
    if (!lock(fallback)) {
        return CD_E_BUSY;
    }
    struct cd_fallback_group *target = &fallback->groups[group];
    atomic_store_explicit(&target->stored, (int32_t)threshold, memory_order_relaxed);
    if (fallback->generation != NULL) {
        atomic_store_explicit(&target->effective, (int32_t)threshold, memory_order_relaxed);
    }
    unlock(fallback);
    return CD_OK;
}
