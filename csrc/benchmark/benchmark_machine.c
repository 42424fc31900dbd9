/* The life of a simulated machine: describing its implementations, registering them, its end. */
#include "base/error.h"
#include "benchmark/benchmark_internal.h"

#include <stdlib.h>
#include <string.h>

/* What never stands for the CPU. */
#define NOT_CPU                                                                                    \
    ((uint32_t)(CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_MODELLED | CD_FLAG_PROXY))

static void machine_retain(void *provider) {
    struct cd_machine *machine = provider;
    atomic_fetch_add_explicit(&machine->references, 1, memory_order_relaxed);
}

static void machine_release(void *provider) {
    struct cd_machine *machine = provider;
    if (atomic_fetch_sub_explicit(&machine->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < machine->modelled_count; i++) {
        cd_implementation_release(machine->modelled[i].child);
    }
    pthread_mutex_destroy(&machine->lock);
    free(machine->modelled);
    free(machine->costs);
    free(machine);
}

/* False: a row stands for a key size that the algorithm does not take. */
static bool fill(struct cd_modelled *modelled, struct cd_machine *machine) {
    struct cd_implementation *implementation = &modelled->implementation;
    *implementation = *modelled->child;
    implementation->algorithm = modelled->algorithm;
    implementation->driver = modelled->driver;
    implementation->flags = CD_FLAG_MODELLED;
    implementation->priority = 0;
    implementation->provider = machine;
    implementation->retain = machine_retain;
    implementation->release = machine_release;
    cd_modelled_describe(implementation);
    modelled->machine = machine;
    return cd_cpu_cost_key_sizes(&implementation->key_sizes, machine->costs, machine->cost_count,
                                 modelled->algorithm, modelled->child->key_sizes);
}

/* Find and retain the software of an algorithm, whose type its name alone does not tell. */
static cd_status find_child(const struct cd_implementation **out_child,
                            struct cd_registry *registry, const char *algorithm) {
    static const enum cd_type types[] = {CD_TYPE_CIPHER, CD_TYPE_HASH, CD_TYPE_AEAD};
    cd_status status = CD_E_UNKNOWN_ALGORITHM;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        cd_status found = cd_registry_find(out_child, registry, algorithm, types[i], 0, NOT_CPU);
        if (found == CD_OK) {
            return CD_OK;
        }
        status = found == CD_E_UNAVAILABLE ? found : status;
    }
    return status;
}

/* Describe the implementation of `algorithm` on the machine; counts it in once it owns a child. */
static cd_status describe(struct cd_machine *machine, const char *algorithm, const char *name,
                          struct cd_error *out_error) {
    struct cd_modelled *modelled = &machine->modelled[machine->modelled_count];
    cd_status status = find_child(&modelled->child, machine->registry, algorithm);
    if (status != CD_OK) {
        return cd_error_set(status, out_error, "machine '%s': no software implements '%s'", name,
                            algorithm);
    }
    machine->modelled_count++;
    const struct cd_implementation *child = modelled->child;
    if (strcmp(child->algorithm, algorithm) != 0 || (child->flags & NOT_CPU) != 0) {
        return cd_error_set(CD_E_UNKNOWN_ALGORITHM, out_error,
                            "machine '%s': '%s' names a driver, not an algorithm of the CPU", name,
                            algorithm);
    }
    memcpy(modelled->algorithm, algorithm, strlen(algorithm) + 1);
    if (!cd_machine_driver_name(modelled->driver, algorithm, name)) {
        return cd_error_set(CD_E_INVALID, out_error, "machine '%s': name too long for '%s'", name,
                            algorithm);
    }
    if (!fill(modelled, machine)) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "machine '%s': cost of '%s': key_size: '%s' takes no key of that size",
                            name, algorithm, child->driver);
    }
    return CD_OK;
}

/* Check a row against those before it; *out_first: no earlier row is of the same algorithm. */
static cd_status check_cost(bool *out_first, const struct cd_cpu_cost *costs, size_t index,
                            const char *name, struct cd_error *out_error) {
    const struct cd_cpu_cost *cost = &costs[index];
    *out_first = true;
    if (cost->algorithm[0] == '\0' || memchr(cost->algorithm, '\0', CD_NAME_MAX) == NULL) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "machine '%s': cost %zu: algorithm: 1 to %d bytes", name, index,
                            CD_NAME_MAX - 1);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(costs[i].algorithm, cost->algorithm) != 0) {
            continue;
        }
        *out_first = false;
        if (costs[i].key_size == cost->key_size) {
            return cd_error_set(CD_E_INVALID, out_error,
                                "machine '%s': cost of '%s': key_size: %u is there twice", name,
                                cost->algorithm, cost->key_size);
        }
    }
    return CD_OK;
}

static cd_status describe_all(struct cd_machine *machine, const char *name,
                              struct cd_error *out_error) {
    for (size_t i = 0; i < machine->cost_count; i++) {
        bool first = false;
        cd_status status = check_cost(&first, machine->costs, i, name, out_error);
        if (status == CD_OK && first) {
            status = describe(machine, machine->costs[i].algorithm, name, out_error);
        }
        if (status != CD_OK) {
            return status;
        }
    }
    return CD_OK;
}

static cd_status register_all(struct cd_machine *machine, struct cd_error *out_error) {
    for (size_t i = 0; i < machine->modelled_count; i++) {
        cd_status status =
            cd_registry_add(machine->registry, &machine->modelled[i].implementation, out_error);
        if (status != CD_OK) {
            while (i-- > 0) {
                cd_registry_remove(machine->registry, &machine->modelled[i].implementation);
            }
            return status;
        }
    }
    return CD_OK;
}

static struct cd_machine *allocate(struct cd_registry *registry, const struct cd_clock *clock,
                                   const struct cd_cpu_cost *costs, size_t cost_count) {
    struct cd_machine *machine = calloc(1, sizeof(*machine));
    if (machine == NULL) {
        return NULL;
    }
    if (pthread_mutex_init(&machine->lock, NULL) != 0) {
        free(machine);
        return NULL;
    }
    machine->references = 1;
    machine->registry = registry;
    machine->clock = *clock;
    machine->cost_count = cost_count;
    machine->costs = calloc(cost_count + 1, sizeof(*machine->costs));
    machine->modelled = calloc(cost_count + 1, sizeof(*machine->modelled));
    if (machine->costs == NULL || machine->modelled == NULL) {
        machine_release(machine);
        return NULL;
    }
    if (cost_count > 0) {
        memcpy(machine->costs, costs, cost_count * sizeof(*costs));
    }
    return machine;
}

cd_status cd_machine_new(struct cd_machine **out_machine, struct cd_registry *registry,
                         const char *name, const struct cd_clock *clock,
                         const struct cd_cpu_cost *costs, size_t cost_count,
                         struct cd_error *out_error) {
    if (name == NULL || name[0] == '\0' || strlen(name) >= CD_NAME_MAX ||
        strpbrk(name, "(), ") != NULL) {
        return cd_error_set(CD_E_INVALID, out_error, "machine: name: one word of at most %d bytes",
                            CD_NAME_MAX - 1);
    }
    if (clock == NULL || clock->now == NULL || clock->advance == NULL) {
        return cd_error_set(CD_E_INVALID, out_error,
                            "machine '%s': clock: must have now and advance", name);
    }
    if (costs == NULL && cost_count > 0) {
        return cd_error_set(CD_E_INVALID, out_error, "machine '%s': costs: missing", name);
    }
    struct cd_machine *machine = allocate(registry, clock, costs, cost_count);
    if (machine == NULL) {
        return cd_error_set(CD_E_NO_MEMORY, out_error, "machine '%s': out of memory", name);
    }
    cd_status status = describe_all(machine, name, out_error);
    if (status == CD_OK) {
        status = register_all(machine, out_error);
    }
    if (status != CD_OK) {
        machine_release(machine);
        return status;
    }
    *out_machine = machine;
    return CD_OK;
}

void cd_machine_free(struct cd_machine *machine) {
    if (machine == NULL) {
        return;
    }
    for (size_t i = 0; i < machine->modelled_count; i++) {
        cd_registry_remove(machine->registry, &machine->modelled[i].implementation);
    }
    pthread_mutex_lock(&machine->lock);
    machine->gone = true;
    pthread_mutex_unlock(&machine->lock);
    machine_release(machine);
}
