/*
 * Windows: the caller's buffers at bus addresses, mapped and unmapped in constant time.
 *
 * Two tables of equal slots, for buffers up to 64 KiB and for longer ones. A slot is larger than
 * any buffer in it, so every window is followed by a gap that nothing answers in, and a driver that
 * runs past the end of a buffer gets a bus error and not its neighbour.
 */
#include "eip93/emulator/emulator_internal.h"

#include <stdlib.h>

#define SMALL_MAX 0x10000u
#define SMALL_STRIDE 0x20000u
#define SMALL_COUNT 4096u
#define LARGE_BASE (CD_EIP93_WINDOW_BASE + SMALL_STRIDE * SMALL_COUNT)
#define LARGE_MAX 0xFFFFFu
#define LARGE_STRIDE 0x140000u
#define LARGE_COUNT 1228u

static_assert((uint64_t)LARGE_BASE + (uint64_t)LARGE_STRIDE * LARGE_COUNT <= UINT64_C(1) << 32,
              "windows end within 32 bits");

static cd_status table_init(struct cd_emulator_windows *table, uint32_t base, uint32_t stride,
                            uint32_t capacity, uint32_t count) {
    table->base = base;
    table->stride = stride;
    table->capacity = capacity;
    table->count = count;
    table->slots = calloc(count, sizeof *table->slots);
    table->free_slots = calloc(count, sizeof *table->free_slots);
    if (table->slots == NULL || table->free_slots == NULL) {
        return CD_E_NO_MEMORY;
    }
    table->free_count = count;
    for (uint32_t slot = 0; slot < count; slot++) {
        table->free_slots[slot] = (uint16_t)(count - 1 - slot); /* the lowest on top */
    }
    return CD_OK;
}

cd_status cd_emulator_windows_init(struct cd_eip93_emulator *emulator) {
    cd_status status = table_init(&emulator->small_windows, CD_EIP93_WINDOW_BASE, SMALL_STRIDE,
                                  SMALL_MAX, SMALL_COUNT);
    if (status == CD_OK) {
        status =
            table_init(&emulator->large_windows, LARGE_BASE, LARGE_STRIDE, LARGE_MAX, LARGE_COUNT);
    }
    if (status != CD_OK) {
        cd_emulator_windows_cleanup(emulator);
    }
    return status;
}

static void table_cleanup(struct cd_emulator_windows *table) {
    free(table->slots);
    free(table->free_slots);
    table->slots = NULL;
    table->free_slots = NULL;
}

void cd_emulator_windows_cleanup(struct cd_eip93_emulator *emulator) {
    table_cleanup(&emulator->small_windows);
    table_cleanup(&emulator->large_windows);
}

static const struct cd_emulator_windows *table_of(const struct cd_eip93_emulator *emulator,
                                                  uint32_t address) {
    return address < LARGE_BASE ? &emulator->small_windows : &emulator->large_windows;
}

const struct cd_emulator_window *cd_emulator_window_find(const struct cd_eip93_emulator *emulator,
                                                         uint32_t address, uint32_t *out_offset) {
    if (address < CD_EIP93_WINDOW_BASE) {
        return NULL;
    }
    const struct cd_emulator_windows *table = table_of(emulator, address);
    uint32_t slot = (address - table->base) / table->stride;
    uint32_t offset = (address - table->base) % table->stride;
    if (slot >= table->count || table->slots[slot].direction == 0 ||
        offset >= table->slots[slot].length) {
        return NULL;
    }
    *out_offset = offset;
    return &table->slots[slot];
}

static bool table_map(struct cd_emulator_windows *table, void *memory, size_t length,
                      int32_t direction, uint32_t *out_address) {
    if (length > table->capacity || table->free_count == 0) {
        return false;
    }
    uint32_t slot = table->free_slots[--table->free_count];
    table->slots[slot].memory = memory;
    table->slots[slot].length = (uint32_t)length;
    table->slots[slot].direction = (uint32_t)direction;
    *out_address = table->base + slot * table->stride;
    return true;
}

cd_status cd_emulator_window_map(struct cd_eip93_emulator *emulator, void *memory, size_t length,
                                 int32_t direction, uint32_t *out_address) {
    if (memory == NULL || length == 0 || direction < CD_DMA_TO_DEVICE ||
        direction > CD_DMA_BIDIRECTIONAL) {
        return CD_E_INVALID;
    }
    if (length > LARGE_MAX) {
        return CD_E_RANGE;
    }
    if (cd_emulator_fault_strikes(emulator, CD_EIP93_FAULT_MAP)) {
        return CD_E_NO_MEMORY;
    }
    if (table_map(&emulator->small_windows, memory, length, direction, out_address) ||
        table_map(&emulator->large_windows, memory, length, direction, out_address)) {
        return CD_OK;
    }
    return CD_E_NO_MEMORY;
}

cd_status cd_emulator_window_unmap(struct cd_eip93_emulator *emulator, uint32_t address) {
    uint32_t offset = 0;
    if (cd_emulator_window_find(emulator, address, &offset) == NULL || offset != 0) {
        return CD_E_INVALID;
    }
    struct cd_emulator_windows *table =
        address < LARGE_BASE ? &emulator->small_windows : &emulator->large_windows;
    uint32_t slot = (address - table->base) / table->stride;
    table->slots[slot].direction = 0;
    table->free_slots[table->free_count++] = (uint16_t)slot;
    return CD_OK;
}

cd_status cd_eip93_emulator_map(struct cd_eip93_emulator *emulator, void *memory, size_t length,
                                int32_t direction, uint32_t *out_address) {
    pthread_mutex_lock(&emulator->lock);
    cd_status status = cd_emulator_window_map(emulator, memory, length, direction, out_address);
    pthread_mutex_unlock(&emulator->lock);
    return status;
}

cd_status cd_eip93_emulator_unmap(struct cd_eip93_emulator *emulator, uint32_t address) {
    pthread_mutex_lock(&emulator->lock);
    cd_status status = cd_emulator_window_unmap(emulator, address);
    pthread_mutex_unlock(&emulator->lock);
    return status;
}
