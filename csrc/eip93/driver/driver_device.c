/* The driver as a whole: made, counted, closed. */
#include "base/secure.h"
#include "eip93/driver/driver_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RING_ENTRIES_MIN 4u
#define REQUEST_TIMEOUT_DEFAULT_NS 1000000000u
#define DMA_ALIGNMENT 64u

static void say(struct cd_error *out_error, const char *message) {
    if (out_error != NULL) {
        snprintf(out_error->message, sizeof(out_error->message), "%s", message);
    }
}

void cd_driver_retain(void *context) {
    struct cd_eip93_driver *driver = context;
    atomic_fetch_add_explicit(&driver->holds, 1, memory_order_relaxed);
}

void cd_driver_release(void *context) {
    struct cd_eip93_driver *driver = context;
    if (atomic_fetch_sub_explicit(&driver->holds, 1, memory_order_acq_rel) != 1) {
        return;
    }
    pthread_cond_destroy(&driver->progress);
    pthread_mutex_destroy(&driver->lock);
    free(driver->free_records);
    free(driver->slots);
    free(driver);
}

cd_status cd_driver_check_ready(struct cd_eip93_driver *driver) {
    pthread_mutex_lock(&driver->lock);
    bool ready = driver->state == CD_DRIVER_READY;
    pthread_mutex_unlock(&driver->lock);
    return ready ? CD_OK : CD_E_NO_DEVICE;
}

cd_status cd_driver_count_software(struct cd_eip93_driver *driver) {
    pthread_mutex_lock(&driver->lock);
    bool ready = driver->state == CD_DRIVER_READY;
    driver->counters.software += ready ? 1 : 0;
    pthread_mutex_unlock(&driver->lock);
    return ready ? CD_OK : CD_E_NO_DEVICE;
}

/* The configuration with every 0 replaced by what it stands for. */
static struct cd_eip93_driver_config complete(const struct cd_eip93_driver_config *config) {
    struct cd_eip93_driver_config full = {.ring_entries = 0};
    if (config != NULL) {
        full = *config;
    }
    if (full.ring_entries == 0) {
        full.ring_entries = CD_EIP93_RING_DEFAULT;
    }
    if (full.request_timeout_ns == 0) {
        full.request_timeout_ns = REQUEST_TIMEOUT_DEFAULT_NS;
    }
    if (full.hash_segment == 0) {
        full.hash_segment = CD_EIP93_HASH_SEGMENT_MAX;
    }
    return full;
}

static cd_status check_arguments(const struct cd_eip93_bus *bus,
                                 const struct cd_eip93_driver_config *config,
                                 struct cd_error *out_error) {
    if (bus->abi != CD_EIP93_BUS_ABI) {
        say(out_error, "bus: its ABI is not CD_EIP93_BUS_ABI of this library");
        return CD_E_INVALID;
    }
    if (bus->read32 == NULL || bus->write32 == NULL || bus->dma_alloc == NULL ||
        bus->dma_free == NULL || bus->dma_map == NULL || bus->dma_unmap == NULL ||
        bus->irq_wait == NULL || bus->clock.now == NULL || bus->clock.hz == 0) {
        say(out_error, "bus: a function is missing, or its clock does not run");
        return CD_E_INVALID;
    }
    if (config->ring_entries < RING_ENTRIES_MIN || config->ring_entries > EIP93_RING_ENTRIES_MAX) {
        say(out_error, "ring_entries: 4 to 1024, or 0 for the default, is allowed");
        return CD_E_INVALID;
    }
    if (config->hash_segment % CD_HASH_BLOCK != 0 ||
        config->hash_segment > CD_EIP93_HASH_SEGMENT_MAX) {
        say(out_error, "hash_segment: a multiple of 64 up to 1048512, or 0, is allowed");
        return CD_E_INVALID;
    }
    return CD_OK;
}

static bool init_locks(struct cd_eip93_driver *driver) {
    pthread_condattr_t attributes;
    if (pthread_mutex_init(&driver->lock, NULL) != 0) {
        return false;
    }
    bool made = false;
    if (pthread_condattr_init(&attributes) == 0) {
        made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&driver->progress, &attributes) == 0;
        pthread_condattr_destroy(&attributes);
    }
    if (!made) {
        pthread_mutex_destroy(&driver->lock);
    }
    return made;
}

/* A driver with one hold and no DMA memory; NULL if there is no memory. */
static struct cd_eip93_driver *new_driver(struct cd_registry *registry,
                                          const struct cd_eip93_bus *bus,
                                          const struct cd_eip93_driver_config *config) {
    uint32_t entries = config->ring_entries;
    struct cd_eip93_driver *driver = calloc(1, sizeof(*driver));
    if (driver == NULL) {
        return NULL;
    }
    driver->slots = calloc(entries, sizeof(*driver->slots));
    driver->free_records = calloc(entries, sizeof(*driver->free_records));
    if (driver->slots == NULL || driver->free_records == NULL || !init_locks(driver)) {
        free(driver->free_records);
        free(driver->slots);
        free(driver);
        return NULL;
    }
    driver->bus = *bus;
    driver->registry = registry;
    atomic_init(&driver->holds, 1);
    driver->entries = entries;
    driver->timeout_ticks = cd_clock_ns_to_ticks(&driver->bus.clock, config->request_timeout_ns);
    driver->hash_segment = config->hash_segment;
    driver->free_bounces = (1u << CD_DRIVER_BOUNCE_COUNT) - 1;
    for (uint32_t i = 0; i < entries; i++) {
        driver->free_records[i] = (uint16_t)(entries - 1 - i);
    }
    driver->free_record_count = entries;
    return driver;
}

static cd_status allocate(struct cd_eip93_driver *driver, struct cd_driver_memory *out,
                          size_t count, size_t size) {
    size_t length = count * size;
    cd_status status = driver->bus.dma_alloc(driver->bus.context, length, DMA_ALIGNMENT,
                                             &out->memory, &out->address);
    if (status != CD_OK) {
        out->memory = NULL;
        return status;
    }
    out->length = length;
    return CD_OK;
}

static cd_status allocate_all(struct cd_eip93_driver *driver) {
    size_t entries = driver->entries;
    cd_status status = allocate(driver, &driver->command_ring, entries, EIP93_DESCRIPTOR_SIZE);
    if (status == CD_OK) {
        status = allocate(driver, &driver->result_ring, entries, EIP93_DESCRIPTOR_SIZE);
    }
    if (status == CD_OK) {
        status = allocate(driver, &driver->records, entries, sizeof(struct cd_driver_record));
    }
    if (status == CD_OK) {
        status = allocate(driver, &driver->bounces, CD_DRIVER_BOUNCE_COUNT, CD_DRIVER_BOUNCE_SIZE);
    }
    return status;
}

static void deallocate(struct cd_eip93_driver *driver, struct cd_driver_memory *memory) {
    if (memory->memory != NULL) {
        cd_wipe(memory->memory, memory->length);
        driver->bus.dma_free(driver->bus.context, memory->memory, memory->address, memory->length);
        memory->memory = NULL;
    }
}

static void deallocate_all(struct cd_eip93_driver *driver) {
    deallocate(driver, &driver->bounces);
    deallocate(driver, &driver->records);
    deallocate(driver, &driver->result_ring);
    deallocate(driver, &driver->command_ring);
}

/* End everything, leave the engine idle and give the DMA memory back. */
static void detach(struct cd_eip93_driver *driver) {
    struct cd_driver_list done = {NULL, NULL};
    pthread_mutex_lock(&driver->lock);
    driver->state = CD_DRIVER_GONE;
    while (driver->listening) {
        pthread_cond_wait(&driver->progress, &driver->lock);
    }
    cd_driver_engine_quiesce(driver);
    cd_driver_abort_ring(driver, CD_E_NO_DEVICE, &done);
    cd_driver_abort_queue(driver, CD_E_NO_DEVICE, &done);
    deallocate_all(driver);
    (void)cd_driver_publish(driver, &done);
    pthread_mutex_unlock(&driver->lock);
}

cd_status cd_eip93_driver_new(struct cd_eip93_driver **out_driver, struct cd_registry *registry,
                              const struct cd_eip93_bus *bus,
                              const struct cd_eip93_driver_config *config,
                              struct cd_error *out_error) {
    const struct cd_eip93_driver_config full = complete(config);
    cd_status status = check_arguments(bus, &full, out_error);
    if (status != CD_OK) {
        return status;
    }
    struct cd_eip93_driver *driver = new_driver(registry, bus, &full);
    if (driver == NULL) {
        say(out_error, "no memory for the driver");
        return CD_E_NO_MEMORY;
    }
    status = allocate_all(driver);
    if (status != CD_OK) {
        say(out_error, "bus: no DMA memory for rings, records and bounce areas");
        deallocate_all(driver);
        cd_driver_release(driver);
        return status;
    }
    status = cd_driver_engine_start(driver);
    if (status != CD_OK) {
        say(out_error, "bus: no EIP-93 answers there, or its rings do not come up");
        deallocate_all(driver);
        cd_driver_release(driver);
        return status;
    }
    status = cd_driver_register(driver, out_error);
    if (status != CD_OK) {
        detach(driver);
        cd_driver_release(driver);
        return status;
    }
    *out_driver = driver;
    return CD_OK;
}

void cd_eip93_driver_free(struct cd_eip93_driver *driver) {
    if (driver == NULL) {
        return;
    }
    cd_driver_unregister(driver);
    detach(driver);
    cd_driver_release(driver);
}

void cd_eip93_driver_counters(const struct cd_eip93_driver *driver,
                              struct cd_eip93_driver_counters *out_counters) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&driver->lock;
    pthread_mutex_lock(lock);
    *out_counters = driver->counters;
    pthread_mutex_unlock(lock);
}
