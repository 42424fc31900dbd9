/* The buffers of a descriptor: made reachable for the engine, and given back. */
#include "eip93/driver/driver_internal.h"

static cd_status map(struct cd_eip93_driver *driver, void *memory, size_t length,
                     enum cd_dma_direction direction, uint32_t *out_address) {
    const struct cd_eip93_bus *bus = &driver->bus;
    cd_status status = bus->dma_map(bus->context, memory, length, direction, out_address);
    driver->counters.maps += status == CD_OK ? 1 : 0;
    return status;
}

static void unmap(struct cd_eip93_driver *driver, uint32_t address, size_t length,
                  enum cd_dma_direction direction) {
    const struct cd_eip93_bus *bus = &driver->bus;
    bus->dma_unmap(bus->context, address, length, direction);
    driver->counters.unmaps++;
}

cd_status cd_driver_map(struct cd_eip93_driver *driver, struct cd_driver_slot *slot,
                        const struct cd_driver_segment *segment) {
    slot->source_addr = segment->source_addr;
    slot->dest_addr = segment->dest_addr;
    if (segment->source == NULL) {
        return CD_OK;
    }
    /* The bus takes no pointer to const; the direction is the promise not to write. */
    uint8_t *source = (uint8_t *)(uintptr_t)segment->source;
    bool in_place = source == segment->destination;
    cd_status status = map(driver, source, segment->length,
                           in_place ? CD_DMA_BIDIRECTIONAL : CD_DMA_TO_DEVICE, &slot->source_addr);
    if (status != CD_OK) {
        return status;
    }
    slot->mapping = CD_DRIVER_MAPPED_SOURCE;
    if (in_place) {
        slot->dest_addr = slot->source_addr;
        slot->mapping = CD_DRIVER_MAPPED_IN_PLACE;
    } else if (segment->destination != NULL) {
        status = map(driver, segment->destination, segment->length, CD_DMA_FROM_DEVICE,
                     &slot->dest_addr);
        if (status != CD_OK) {
            cd_driver_unmap(driver, slot);
            return status;
        }
        slot->mapping = CD_DRIVER_MAPPED_BOTH;
    }
    return CD_OK;
}

void cd_driver_unmap(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot) {
    switch (slot->mapping) {
    case CD_DRIVER_MAPPED_NONE:
        return;
    case CD_DRIVER_MAPPED_IN_PLACE:
        unmap(driver, slot->source_addr, slot->length, CD_DMA_BIDIRECTIONAL);
        return;
    case CD_DRIVER_MAPPED_BOTH:
        unmap(driver, slot->dest_addr, slot->length, CD_DMA_FROM_DEVICE);
        break;
    case CD_DRIVER_MAPPED_SOURCE:
        break;
    }
    unmap(driver, slot->source_addr, slot->length, CD_DMA_TO_DEVICE);
}
