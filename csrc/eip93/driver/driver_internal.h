/*
 * Inside of the EIP-93 driver: its structure, and what its files offer each other.
 *
 *   driver_device.c      new, free, holds, counters
 *   driver_engine.c      register sequences: bring up, stop, restart, quiesce
 *   driver_ring.c        descriptors in, results out, doorbell
 *   driver_job.h         what a job is
 *   driver_queue.c       jobs: first in, first out into the ring, and their ends
 *   driver_map.c         the buffers of a descriptor, mapped and unmapped
 *   driver_recovery.c    an engine that stopped answering, or answered nonsense
 *   driver_wait.c        threads that wait: one listens to the interrupt, the others to it
 *   driver_cipher.c      cipher transforms and their jobs
 *   driver_digest.c      what hashes and aeads share: HMAC keys, the software child, byte order
 *   driver_hash.c        hash transforms; driver_hash_job.c their jobs
 *   driver_aead.c        aead transforms; driver_aead_job.c their jobs
 *   driver_modes.c       the table of algorithms
 *   driver_algorithms.c  registration
 *
 * Functions that say "locked" are called with the driver's mutex held. Completions run with no lock
 * held.
 */
#ifndef CD_DRIVER_INTERNAL_H
#define CD_DRIVER_INTERNAL_H

#include "cryptodispatch/eip93_driver.h"
#include "eip93/driver/driver_job.h"

#include <pthread.h>
#include <stdatomic.h>

#define CD_DRIVER_ALGORITHMS_MAX 32u

struct cd_driver_memory {
    void *memory; /* NULL: not allocated */
    uint32_t address;
    size_t length;
};

enum cd_driver_state {
    CD_DRIVER_READY = 0,
    CD_DRIVER_FAILED = 1, /* two bring-ups in a row failed */
    CD_DRIVER_GONE = 2,   /* closed; the bus is not touched any more */
};

/* One row of the table of algorithms. */
struct cd_driver_mode {
    const char *algorithm;
    const char *driver;
    const char *hash;    /* hash, aead: name of the plain hash */
    uint32_t options;    /* bits of OPTION_1 it needs, all of them */
    uint32_t cmd0;       /* SA words for encryption, without key length (5.7) */
    uint32_t cmd1;       /* an hmac's: of a descriptor that is not the last */
    uint64_t key_sizes;  /* without those of AES, which OPTION_1 says */
    uint32_t block_size; /* bytes, as all below */
    uint32_t chunk_size;
    uint32_t iv_size;
    uint32_t nonce_size;  /* at the end of the key */
    uint32_t digest_size; /* hash, aead */
    const struct cd_driver_job_ops *ops;
    const struct cd_cipher_ops *cipher; /* exactly one of the three */
    const struct cd_hash_ops *hashing;
    const struct cd_aead_ops *aead;
};

struct cd_driver_implementation {
    struct cd_implementation public; /* first: transforms find the row through it */
    const struct cd_driver_mode *mode;
};

struct cd_eip93_driver {
    struct cd_eip93_bus bus;
    struct cd_registry *registry;
    atomic_uint holds;
    uint32_t entries; /* of either ring; one stays free */
    uint32_t option_1;
    uint64_t timeout_ticks; /* of the bus's clock, for the oldest descriptor in the ring */
    struct cd_driver_memory command_ring;
    struct cd_driver_memory result_ring;
    struct cd_driver_memory records;
    struct cd_driver_memory bounces;
    uint32_t hash_segment; /* bytes of a message per descriptor, a multiple of 64 */
    struct cd_driver_implementation implementations[CD_DRIVER_ALGORITHMS_MAX];
    size_t implementation_count;

    pthread_mutex_t lock;
    pthread_cond_t progress; /* completions were told, or nobody listens to the interrupt */
    /* All below only under the lock. */
    enum cd_driver_state state;
    bool listening;               /* a thread uses the bus outside the lock */
    bool spurious;                /* the last interrupt brought no result */
    uint32_t followers;           /* threads waiting for `progress` */
    bool stalled;                 /* the oldest descriptor has been looked for in vain ... */
    uint64_t stalled_since;       /* ... since then, ticks */
    uint32_t next;                /* ring index of the next command */
    uint32_t oldest;              /* ring index of the next result */
    uint32_t in_flight;           /* descriptors in the ring */
    uint32_t unannounced;         /* of those, not yet told to the engine */
    struct cd_driver_slot *slots; /* by ring index */
    uint16_t *free_records;
    uint32_t free_record_count;
    uint32_t free_bounces; /* a bit each */
    struct cd_driver_list queue;
    struct cd_eip93_driver_counters counters;
};

/* A word as the engine sees it. */
static inline uint32_t cd_driver_le32(uint32_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(value);
#else
    return value;
#endif
}

static inline uint32_t cd_driver_read(const struct cd_eip93_driver *driver, uint32_t offset) {
    return driver->bus.read32(driver->bus.context, offset);
}

static inline void cd_driver_write(const struct cd_eip93_driver *driver, uint32_t offset,
                                   uint32_t value) {
    driver->bus.write32(driver->bus.context, offset, value);
}

static inline struct cd_driver_record *cd_driver_record(const struct cd_eip93_driver *driver,
                                                        uint32_t index) {
    return (struct cd_driver_record *)driver->records.memory + index;
}

/* Bus address of a record. */
static inline uint32_t cd_driver_record_address(const struct cd_eip93_driver *driver,
                                                uint32_t index) {
    return driver->records.address + index * (uint32_t)sizeof(struct cd_driver_record);
}

static inline uint8_t *cd_driver_bounce(const struct cd_eip93_driver *driver, uint32_t index) {
    return (uint8_t *)driver->bounces.memory + (size_t)index * CD_DRIVER_BOUNCE_SIZE;
}

static inline uint32_t cd_driver_bounce_address(const struct cd_eip93_driver *driver,
                                                uint32_t index) {
    return driver->bounces.address + index * CD_DRIVER_BOUNCE_SIZE;
}

/* driver_device.c */
void cd_driver_retain(void *driver);
void cd_driver_release(void *driver);
/* CD_OK, or CD_E_NO_DEVICE. Not locked. */
cd_status cd_driver_check_ready(struct cd_eip93_driver *driver);
/* The same, and count one request that is served in software instead. Not locked. */
cd_status cd_driver_count_software(struct cd_eip93_driver *driver);

/* driver_engine.c: register sequences of section 9.1. Locked, except before registration. */
/* Reset, check and start the engine. CD_E_DEVICE: not an EIP-93, or it does not come up. */
cd_status cd_driver_engine_start(struct cd_eip93_driver *driver);
/* Hold the engine in reset: no DMA from now on. */
void cd_driver_engine_stop(const struct cd_eip93_driver *driver);
/* After a bus error: release the engine, which goes on with the next descriptor (8.1). */
void cd_driver_engine_continue(const struct cd_eip93_driver *driver);
/* Leave the engine idle and silent for whoever comes next. */
void cd_driver_engine_quiesce(const struct cd_eip93_driver *driver);

/* driver_ring.c. Locked. */
enum cd_driver_pop {
    CD_DRIVER_POP_NONE = 0,   /* no result, or not owned yet */
    CD_DRIVER_POP_SOME = 1,   /* results were taken */
    CD_DRIVER_POP_BROKEN = 2, /* the engine answers nonsense; recovery is needed */
};
void cd_driver_ring_clear(struct cd_eip93_driver *driver);
bool cd_driver_ring_has_room(const struct cd_eip93_driver *driver);
/* Write one command for `slot`; the engine is told by the next cd_driver_ring_announce. */
void cd_driver_ring_push(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot);
void cd_driver_ring_announce(struct cd_eip93_driver *driver);
/* Take the results that are there; jobs that end are appended to `done`. */
enum cd_driver_pop cd_driver_ring_pop(struct cd_eip93_driver *driver, struct cd_driver_list *done);

/* driver_map.c. Locked. */
/* Map what of a segment needs it; nothing stays mapped on an error. */
cd_status cd_driver_map(struct cd_eip93_driver *driver, struct cd_driver_slot *slot,
                        const struct cd_driver_segment *segment);
void cd_driver_unmap(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot);

/* driver_queue.c. Locked, except submit. */
/* Accept a job that is zeroed but for ops, transform, request, buffers, length, decrypt and
 * counter. Returns CD_IN_PROGRESS, or CD_E_NO_DEVICE and the job was not taken. */
cd_status cd_driver_submit(struct cd_eip93_driver *driver, struct cd_driver_job *job);
/* Fill the ring from the queue and tell the engine. */
void cd_driver_pump(struct cd_eip93_driver *driver, struct cd_driver_list *done);
/* The descriptor of `slot` has left the ring with `status`. */
void cd_driver_settle(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot,
                      cd_status status, struct cd_driver_list *done);
/* End every queued job that has no descriptor in the ring. */
void cd_driver_abort_queue(struct cd_eip93_driver *driver, cd_status status,
                           struct cd_driver_list *done);
/* One look for results: take them, recover if need be, refill the ring. True if any was there. */
bool cd_driver_process(struct cd_eip93_driver *driver, struct cd_driver_list *done);
/* Unlock, complete the jobs of `done`, wake who waits for them, lock. Returns how many. */
size_t cd_driver_publish(struct cd_eip93_driver *driver, struct cd_driver_list *done);

/* driver_recovery.c. Locked. */
/* End every job that has descriptors in the ring; the engine must be stopped. */
void cd_driver_abort_ring(struct cd_eip93_driver *driver, cd_status status,
                          struct cd_driver_list *done);
/* Reset the engine; what it held ends with CD_E_TIMEOUT. If it does not come up, the device has
 * failed and everything ends. */
void cd_driver_recover(struct cd_eip93_driver *driver, struct cd_driver_list *done);
/* Nothing came out of the ring at this look: recover if that has been so for too long. */
void cd_driver_check_stall(struct cd_eip93_driver *driver, struct cd_driver_list *done);

/* driver_wait.c. Not locked. */
/* Make progress until *status is not CD_IN_PROGRESS (CD_OK) or `timeout_ns` passed (CD_E_TIMEOUT).
 */
cd_status cd_driver_wait(struct cd_eip93_driver *driver, const int32_t *status,
                         uint64_t timeout_ns);
/* Let about `ns` of the bus's time pass. */
void cd_driver_delay(const struct cd_eip93_driver *driver, uint64_t ns);

/* driver_modes.c */
extern const struct cd_driver_mode cd_driver_modes[CD_DRIVER_ALGORITHMS_MAX];

/* driver_algorithms.c */
/* Register what OPTION_1 offers; on an error nothing stays registered. */
cd_status cd_driver_register(struct cd_eip93_driver *driver, struct cd_error *out_error);
void cd_driver_unregister(struct cd_eip93_driver *driver);

/* The row of an implementation of this driver. */
static inline const struct cd_driver_mode *
cd_driver_mode_of(const struct cd_implementation *implementation) {
    return ((const struct cd_driver_implementation *)(const void *)implementation)->mode;
}

/* driver_cipher.c */
extern const struct cd_driver_job_ops cd_driver_job_chained; /* ECB, CBC: the engine keeps the IV */
extern const struct cd_driver_job_ops cd_driver_job_ctr;
extern const struct cd_driver_job_ops cd_driver_job_rfc3686;
extern const struct cd_cipher_ops cd_driver_cipher_ops;
extern const size_t cd_driver_cipher_context_size;
/* Start an SA: the mode's words, with the key in it; `key_len` with the nonce. */
void cd_driver_cipher_sa(struct eip93_sa *out_sa, const struct cd_driver_mode *mode,
                         const uint8_t *key, size_t key_len);

/* driver_hash.c */
extern const struct cd_hash_ops cd_driver_hash_ops;
extern const struct cd_hash_ops cd_driver_hmac_ops;
extern const size_t cd_driver_hash_context_size;

/* driver_aead.c */
extern const struct cd_aead_ops cd_driver_aead_ops;
extern const size_t cd_driver_aead_context_size;

#endif
