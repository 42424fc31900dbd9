/*
 * Driver for the EIP-93 packet engine behind any `struct cd_eip93_bus`.
 *
 * Registers the engine's algorithms with priority 1500. Requests are asynchronous; several may be
 * in flight from several threads. Hashes and aeads lean on software of the same algorithm, which
 * must be in the registry when their transforms are made: it prepares HMAC keys and serves what the
 * engine cannot do (empty messages, AAD or text beyond its limits). Every wait is bounded; an
 * engine that stops answering is reset and the requests it held end with CD_E_TIMEOUT.
 */
#ifndef CD_EIP93_DRIVER_H
#define CD_EIP93_DRIVER_H

#include "cryptodispatch/cipher.h"
#include "cryptodispatch/eip93_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CD_EIP93_PRIORITY 1500
#define CD_EIP93_RING_DEFAULT 512u
#define CD_EIP93_HASH_SEGMENT_MAX 0xFFFC0u /* whole blocks in the 20-bit length field, bytes */

struct cd_eip93_driver;

struct cd_eip93_driver_config {
    uint32_t ring_entries;       /* 4..1024; 0: CD_EIP93_RING_DEFAULT. One entry stays free. */
    uint64_t request_timeout_ns; /* how long the oldest work in the ring may go without an answer,
                                    on the bus's clock; 0: 1 s */
    uint32_t hash_segment; /* bytes of a message that one descriptor of a hash carries: a multiple
                              of 64 up to CD_EIP93_HASH_SEGMENT_MAX; 0: that. 64 is what the Linux
                              driver does. */
};

/* Counters since the driver was made; a snapshot. */
struct cd_eip93_driver_counters {
    uint64_t requests;    /* accepted */
    uint64_t completed;   /* ended, whatever the outcome */
    uint64_t failed;      /* of those, with an error */
    uint64_t descriptors; /* submitted to the ring */
    uint64_t doorbells;   /* writes to PE_CD_COUNT */
    uint64_t interrupts;  /* irq_wait returned CD_OK */
    uint64_t backlogged;  /* requests that had to wait for room in the ring */
    uint64_t resets;   /* recoveries from an engine that stopped answering or answered nonsense */
    uint64_t maps;     /* dma_map calls that succeeded */
    uint64_t unmaps;   /* dma_unmap calls */
    uint64_t software; /* hash and aead requests, or ends of streams, that the engine cannot do and
                          software did; not in `requests` */
};

/*
 * Reset and initialise the engine (eip93-hardware.md section 9.1) and register what its OPTION_1
 * register offers. `bus` is copied; its context must outlive the driver, and
 * so must `registry`.
 *
 * Errors: CD_E_INVALID (bus ABI, ring_entries, hash_segment), CD_E_DEVICE (REVISION is not an
 * EIP-93, or the rings do not come up), CD_E_NO_MEMORY, CD_E_EXISTS (another engine of that name is
 * registered).
 */
CD_MUST_CHECK cd_status cd_eip93_driver_new(struct cd_eip93_driver **out_driver,
                                            struct cd_registry *registry,
                                            const struct cd_eip93_bus *bus,
                                            const struct cd_eip93_driver_config *config,
                                            struct cd_error *out_error);

/*
 * Take the engine away: unregister the algorithms, end requests under way with CD_E_NO_DEVICE,
 * quiesce the engine, and drop the caller's hold. Transforms that still live fail with
 * CD_E_NO_DEVICE; the driver's memory goes with the last of them. The bus is not touched after the
 * return. NULL: nothing.
 */
void cd_eip93_driver_free(struct cd_eip93_driver *driver);

/* Process completions without waiting; returns how many requests ended. */
size_t cd_eip93_driver_poll(struct cd_eip93_driver *driver);

/* Copy the counters. Any thread. */
void cd_eip93_driver_counters(const struct cd_eip93_driver *driver,
                              struct cd_eip93_driver_counters *out_counters);

#ifdef __cplusplus
}
#endif

#endif
