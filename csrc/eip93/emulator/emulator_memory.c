/*
 * The memory the chip can reach: RAM, with an allocator for dma_alloc beside it, and windows.
 *
 * Every address of the engine goes through cd_emulator_memory_at. The chip's own registers are not
 * on this bus, so no descriptor can make it ring its own doorbell.
 */
#include "eip93/emulator/emulator_internal.h"

#include "base/secure.h"

#include <stdlib.h>
#include <string.h>

#define GRANULE 64u /* bytes per bit of memory_used: a cache line */
#define RAM_MIN 0x10000u
#define RAM_MAX 0x10000000u
#define RAM_DEFAULT 0x100000u
#define PAGE 4096u

static size_t used_words(const struct cd_eip93_emulator *emulator) {
    return (emulator->memory_len / GRANULE + 63u) / 64u;
}

cd_status cd_emulator_memory_init(struct cd_eip93_emulator *emulator, uint32_t memory_len) {
    if (memory_len == 0) {
        memory_len = RAM_DEFAULT;
    }
    if (memory_len < RAM_MIN || memory_len > RAM_MAX || memory_len % PAGE != 0) {
        return CD_E_RANGE;
    }
    emulator->memory_len = memory_len;
    emulator->memory = aligned_alloc(PAGE, memory_len);
    emulator->memory_used = calloc(used_words(emulator), sizeof *emulator->memory_used);
    if (emulator->memory == NULL || emulator->memory_used == NULL) {
        cd_emulator_memory_cleanup(emulator);
        return CD_E_NO_MEMORY;
    }
    memset(emulator->memory, 0, memory_len);
    return CD_OK;
}

void cd_emulator_memory_cleanup(struct cd_eip93_emulator *emulator) {
    if (emulator->memory != NULL) {
        cd_wipe(emulator->memory, emulator->memory_len);
        free(emulator->memory);
    }
    free(emulator->memory_used);
    emulator->memory = NULL;
    emulator->memory_used = NULL;
}

uint8_t *cd_emulator_memory_at(const struct cd_eip93_emulator *emulator, uint32_t address,
                               size_t length, uint32_t access) {
    uint32_t offset = address - CD_EIP93_MEMORY_BASE; /* wraps below the base: then too big */
    if (offset < emulator->memory_len) {
        return length <= emulator->memory_len - offset ? emulator->memory + offset : NULL;
    }
    const struct cd_emulator_window *window = cd_emulator_window_find(emulator, address, &offset);
    if (window == NULL || (window->direction & access) != access ||
        length > window->length - offset) {
        return NULL;
    }
    return window->memory + offset;
}

static bool is_used(const struct cd_eip93_emulator *emulator, size_t granule) {
    return (emulator->memory_used[granule / 64u] >> (granule % 64u) & 1u) != 0;
}

static void set_used(struct cd_eip93_emulator *emulator, size_t first, size_t count, bool used) {
    for (size_t granule = first; granule < first + count; granule++) {
        uint64_t bit = (uint64_t)1 << (granule % 64u);
        if (used) {
            emulator->memory_used[granule / 64u] |= bit;
        } else {
            emulator->memory_used[granule / 64u] &= ~bit;
        }
    }
}

/* Free granules from `first` on, up to `count`. */
static size_t free_run(const struct cd_eip93_emulator *emulator, size_t first, size_t count) {
    size_t run = 0;
    while (run < count && !is_used(emulator, first + run)) {
        run++;
    }
    return run;
}

cd_status cd_emulator_memory_alloc(struct cd_eip93_emulator *emulator, size_t length,
                                   size_t alignment, uint32_t *out_address) {
    if (length == 0 || alignment == 0 || alignment > PAGE || (alignment & (alignment - 1)) != 0) {
        return CD_E_INVALID;
    }
    size_t total = emulator->memory_len / GRANULE;
    if (length > emulator->memory_len) {
        return CD_E_NO_MEMORY;
    }
    size_t count = (length + GRANULE - 1) / GRANULE;
    size_t step = alignment <= GRANULE ? 1 : alignment / GRANULE;
    for (size_t first = 0; first + count <= total;) {
        size_t run = free_run(emulator, first, count);
        if (run == count) {
            set_used(emulator, first, count, true);
            memset(emulator->memory + first * GRANULE, 0, length);
            *out_address = CD_EIP93_MEMORY_BASE + (uint32_t)(first * GRANULE);
            return CD_OK;
        }
        first += (run / step + 1) * step;
    }
    return CD_E_NO_MEMORY;
}

void cd_emulator_memory_free(struct cd_eip93_emulator *emulator, uint32_t address, size_t length) {
    uint32_t offset = address - CD_EIP93_MEMORY_BASE;
    if (offset >= emulator->memory_len || length > emulator->memory_len - offset) {
        return;
    }
    set_used(emulator, offset / GRANULE, (length + GRANULE - 1) / GRANULE, false);
}

cd_status cd_eip93_emulator_read_memory(struct cd_eip93_emulator *emulator, uint8_t *out,
                                        uint32_t address, size_t length) {
    if (length == 0) {
        return CD_OK;
    }
    cd_emulator_lock(emulator);
    const uint8_t *memory = cd_emulator_memory_at(emulator, address, length, 0);
    if (memory != NULL) {
        memcpy(out, memory, length);
    }
    cd_emulator_unlock(emulator);
    return memory != NULL ? CD_OK : CD_E_BUS;
}

cd_status cd_eip93_emulator_write_memory(struct cd_eip93_emulator *emulator, uint32_t address,
                                         const uint8_t *data, size_t length) {
    if (length == 0) {
        return CD_OK;
    }
    cd_emulator_lock(emulator);
    /* A to-device window may be memory that nobody may write. */
    uint8_t *memory = cd_emulator_memory_at(emulator, address, length, CD_DMA_FROM_DEVICE);
    if (memory != NULL) {
        memcpy(memory, data, length);
    }
    cd_emulator_unlock(emulator);
    return memory != NULL ? CD_OK : CD_E_BUS;
}
