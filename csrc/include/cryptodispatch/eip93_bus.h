/*
 * The seam between a driver and an EIP-93: registers, DMA memory, interrupt line, clock.
 *
 * The driver knows the chip through this structure alone, so the emulator, a real device (UIO), a
 * recorded trace or a test double plug in alike. Public, because embedders bring buses of their
 * own.
 */
#ifndef CD_EIP93_BUS_H
#define CD_EIP93_BUS_H

#include "cryptodispatch/clock.h"
#include "cryptodispatch/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CD_EIP93_BUS_ABI 0x65393301u /* changes whenever the structure does */

enum cd_dma_direction {
    CD_DMA_TO_DEVICE = 1,
    CD_DMA_FROM_DEVICE = 2,
    CD_DMA_BIDIRECTIONAL = 3,
};

/*
 * All functions may be called from any thread. Registers are 32 bits wide at byte offsets 0..0xFFC,
 * multiples of 4. A register write has been seen by the device when the call returns, and
 * everything the caller wrote to DMA memory before it is visible to the device (release); a
 * register read and a return of irq_wait make everything visible that the device wrote before
 * (acquire).
 */
struct cd_eip93_bus {
    uint32_t abi; /* CD_EIP93_BUS_ABI */
    void *context;
    uint32_t (*read32)(void *context, uint32_t offset);
    void (*write32)(void *context, uint32_t offset, uint32_t value);
    /* Coherent memory for rings and records: zeroed, aligned to `alignment` (a power of two, at
     * most 4096) on both sides. CD_E_NO_MEMORY if there is none left. */
    cd_status (*dma_alloc)(void *context, size_t length, size_t alignment, void **out_memory,
                           uint32_t *out_address);
    void (*dma_free)(void *context, void *memory, uint32_t address, size_t length);
    /* Let the device reach `length` bytes (1..2^20 - 1) of the caller's memory until unmapped, any
     * alignment. CD_E_NO_MEMORY if no window is left. */
    cd_status (*dma_map)(void *context, void *memory, size_t length,
                         enum cd_dma_direction direction, uint32_t *out_address);
    void (*dma_unmap)(void *context, uint32_t address, size_t length,
                      enum cd_dma_direction direction);
    /* Wait until the interrupt line is asserted: CD_OK at once if it is. CD_E_TIMEOUT after
     * `timeout_ns` of the bus's clock; 0 polls, but lets an emulated device make progress. */
    cd_status (*irq_wait)(void *context, uint64_t timeout_ns);
    struct cd_clock clock; /* the time that waits are bounded in */
};

#ifdef __cplusplus
}
#endif

#endif
