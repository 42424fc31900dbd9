/* The emulator as a `struct cd_eip93_bus`: what a driver is given. */
#include "eip93/emulator/emulator_internal.h"

static uint32_t bus_read32(void *context, uint32_t offset) {
    return cd_eip93_emulator_read32(context, offset);
}

static void bus_write32(void *context, uint32_t offset, uint32_t value) {
    cd_eip93_emulator_write32(context, offset, value);
}

static cd_status bus_dma_alloc(void *context, size_t length, size_t alignment, void **out_memory,
                               uint32_t *out_address) {
    struct cd_eip93_emulator *emulator = context;
    cd_status status = CD_E_NO_MEMORY;
    pthread_mutex_lock(&emulator->lock);
    if (!cd_emulator_fault_strikes(emulator, CD_EIP93_FAULT_MAP)) {
        status = cd_emulator_memory_alloc(emulator, length, alignment, out_address);
    }
    if (status == CD_OK) {
        *out_memory = cd_emulator_memory_at(emulator, *out_address, length, 0);
    }
    pthread_mutex_unlock(&emulator->lock);
    return status;
}

static void bus_dma_free(void *context, void *memory, uint32_t address, size_t length) {
    struct cd_eip93_emulator *emulator = context;
    (void)memory;
    pthread_mutex_lock(&emulator->lock);
    cd_emulator_memory_free(emulator, address, length);
    pthread_mutex_unlock(&emulator->lock);
}

static cd_status bus_dma_map(void *context, void *memory, size_t length,
                             enum cd_dma_direction direction, uint32_t *out_address) {
    return cd_eip93_emulator_map(context, memory, length, (int32_t)direction, out_address);
}

/* An address that was not mapped is the caller's error; it is counted, not answered. */
static void bus_dma_unmap(void *context, uint32_t address, size_t length,
                          enum cd_dma_direction direction) {
    struct cd_eip93_emulator *emulator = context;
    (void)length;
    (void)direction;
    if (cd_eip93_emulator_unmap(emulator, address) != CD_OK) {
        cd_emulator_lock(emulator);
        cd_emulator_guest_error(emulator, address);
        cd_emulator_unlock(emulator);
    }
}

static cd_status bus_irq_wait(void *context, uint64_t timeout_ns) {
    return cd_eip93_emulator_irq_wait(context, timeout_ns);
}

void cd_eip93_emulator_bus(struct cd_eip93_emulator *emulator, struct cd_eip93_bus *out_bus) {
    *out_bus = (struct cd_eip93_bus){
        .abi = CD_EIP93_BUS_ABI,
        .context = emulator,
        .read32 = bus_read32,
        .write32 = bus_write32,
        .dma_alloc = bus_dma_alloc,
        .dma_free = bus_dma_free,
        .dma_map = bus_dma_map,
        .dma_unmap = bus_dma_unmap,
        .irq_wait = bus_irq_wait,
    };
    if (emulator->pace == CD_EIP93_VIRTUAL) {
        cd_virtual_clock_interface(&out_bus->clock, &emulator->virtual_clock);
    } else {
        cd_clock_host(&out_bus->clock);
    }
}
