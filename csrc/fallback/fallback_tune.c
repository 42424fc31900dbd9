/* Measuring the groups and turning measurements into thresholds (fallback-semantics.md section 3).
 */
#include "algorithm/algorithm_any.h"
#include "base/error.h"
#include "fallback/fallback_internal.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64u
#define FILL_SEED 0x63727970746f6469u /* any value; the same data every time */

struct tuning {
    struct cd_fallback *fallback;
    cd_fallback_progress progress;
    void *context;
    size_t group;
    struct cd_fallback_result *result;
};

struct pair {
    const struct cd_implementation *hardware, *software; /* retained */
    void *hardware_transform, *software_transform;
    uint8_t *source, *destination; /* in one allocation */
};

int32_t cd_fallback_threshold_of(const struct cd_measurement *measurements, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (measurements[i].winner == CD_SIDE_HARDWARE) {
            return i == 0 ? CD_THRESHOLD_HARDWARE : (int32_t)measurements[i - 1].size;
        }
    }
    return CD_THRESHOLD_SOFTWARE;
}

static bool find_sides(struct tuning *tuning, struct pair *pair) {
    const struct cd_fallback_group *group = &tuning->fallback->groups[tuning->group];
    const struct cd_group_config *config = &group->config;
    pair->hardware = cd_fallback_find_hardware(tuning->fallback, config->driver);
    if (pair->hardware == NULL) {
        cd_error_set(CD_E_BENCHMARK, &tuning->result->failure,
                     "hardware '%s' is not registered or not available here", config->driver);
        return false;
    }
    strcpy(tuning->result->hardware, pair->hardware->driver);
    if (pair->hardware->type != config->type || (pair->hardware->flags & CD_FLAG_PROXY) != 0 ||
        strcmp(pair->hardware->algorithm, config->algorithm) != 0) {
        cd_error_set(CD_E_BENCHMARK, &tuning->result->failure,
                     "hardware '%s' does not implement '%s'", config->driver, config->algorithm);
        return false;
    }
    pair->software = cd_fallback_find_software(tuning->fallback, group, config->algorithm);
    if (pair->software == NULL) {
        cd_error_set(CD_E_BENCHMARK, &tuning->result->failure,
                     "no software side for '%s' is registered", config->algorithm);
        return false;
    }
    strcpy(tuning->result->software, pair->software->driver);
    return true;
}

/* Make one side's transform with the benchmark key. */
static bool open_side(struct tuning *tuning, void **out_transform, const char *side,
                      const struct cd_implementation *implementation) {
    const struct cd_fallback_group *group = &tuning->fallback->groups[tuning->group];
    cd_status status = cd_transform_new_bound(out_transform, implementation);
    if (status == CD_OK) {
        status = group->type->prepare(*out_transform, &group->config);
    }
    if (status != CD_OK) {
        cd_error_set(CD_E_BENCHMARK, &tuning->result->failure, "%s '%s': setting up: %s", side,
                     implementation->driver, cd_status_text(status));
    }
    return status == CD_OK;
}

static bool open_pair(struct tuning *tuning, struct pair *pair) {
    if (!find_sides(tuning, pair) ||
        !open_side(tuning, &pair->software_transform, "software", pair->software) ||
        !open_side(tuning, &pair->hardware_transform, "hardware", pair->hardware)) {
        return false;
    }
    /* The longest text: the largest size, rounded up to the block size. */
    size_t longest = cd_benchmark_sizes[CD_BENCHMARK_SIZES - 1];
    size_t room = (longest + pair->hardware->block_size + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
    pair->source = aligned_alloc(ALIGNMENT, 2 * room);
    if (pair->source == NULL) {
        cd_error_set(CD_E_BENCHMARK, &tuning->result->failure, "no memory for the buffer");
        return false;
    }
    pair->destination = pair->source + room;
    cd_benchmark_fill(pair->source, 2 * room, FILL_SEED);
    return true;
}

static void close_pair(struct pair *pair) {
    free(pair->source);
    cd_transform_free(pair->hardware_transform);
    cd_transform_free(pair->software_transform);
    if (pair->hardware != NULL) {
        cd_implementation_release(pair->hardware);
    }
    if (pair->software != NULL) {
        cd_implementation_release(pair->software);
    }
}

/* Tell the caller; false: he wants to stop. A disable out of his function stops as well. */
static bool report(const struct tuning *tuning, const struct cd_measurement *measurement,
                   const char *failure) {
    bool go_on = tuning->progress == NULL ||
                 tuning->progress(tuning->context, tuning->group, measurement, failure);
    return go_on && !tuning->fallback->disable_wanted;
}

/* Measure size by size up to the first win of the hardware. */
static cd_status measure(struct tuning *tuning, const struct pair *pair) {
    const struct cd_fallback_group *group = &tuning->fallback->groups[tuning->group];
    struct cd_fallback_result *result = tuning->result;
    for (size_t i = 0; i < CD_BENCHMARK_SIZES; i++) {
        struct cd_measurement measurement;
        cd_status status = group->type->measure(
            &measurement, pair->hardware_transform, pair->software_transform,
            &tuning->fallback->clock, pair->source, pair->destination, cd_benchmark_sizes[i]);
        if (status != CD_OK) {
            bool hardware = measurement.hardware == 0;
            cd_error_set(CD_E_BENCHMARK, &tuning->result->failure, "%s '%s': %u bytes: %s",
                         hardware ? "hardware" : "software",
                         (hardware ? pair->hardware : pair->software)->driver,
                         cd_benchmark_sizes[i], cd_status_text(status));
            return CD_OK;
        }
        result->measurements[result->count++] = measurement;
        if (!report(tuning, &measurement, NULL)) {
            return CD_E_CANCELLED;
        }
        if (measurement.winner == CD_SIDE_HARDWARE) {
            break;
        }
    }
    result->threshold = cd_fallback_threshold_of(result->measurements, result->count);
    return CD_OK;
}

/* Fill one group's result. A failed benchmark is a result too: threshold 0 and why. */
static cd_status tune_group(struct tuning *tuning) {
    struct pair pair = {0};
    cd_status status = CD_OK;
    tuning->result->threshold = CD_THRESHOLD_HARDWARE;
    if (open_pair(tuning, &pair)) {
        status = measure(tuning, &pair);
    }
    close_pair(&pair);
    if (tuning->result->failure.message[0] != '\0' &&
        !report(tuning, NULL, tuning->result->failure.message)) {
        status = CD_E_CANCELLED;
    }
    return status;
}

/* The result of a fixed group, of which nothing is measured: a missing side is no failure. */
static void take_fixed(struct tuning *tuning) {
    struct pair pair = {0};
    (void)find_sides(tuning, &pair);
    close_pair(&pair);
    tuning->result->failure.message[0] = '\0';
    tuning->result->threshold = tuning->fallback->groups[tuning->group].config.fixed_threshold;
}

cd_status cd_fallback_tune(struct cd_fallback *fallback, struct cd_fallback_result *results,
                           cd_fallback_progress progress, void *context) {
    for (size_t i = 0; i < fallback->group_count; i++) {
        struct tuning tuning = {fallback, progress, context, i, &results[i]};
        if (fallback->groups[i].config.fixed) {
            take_fixed(&tuning);
            continue;
        }
        cd_status status = tune_group(&tuning);
        if (status != CD_OK) {
            return status;
        }
    }
    return CD_OK;
}
