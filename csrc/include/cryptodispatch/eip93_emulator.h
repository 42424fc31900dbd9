/*
 * The EIP-93 packet engine, register by register: what a driver sees of the chip, in memory.
 *
 * An emulator is one chip with its memory, its interrupt line and its sense of time. Whatever a
 * driver writes, it neither crashes nor hangs nor touches memory that was not given to it. All
 * functions may be called from any thread, except new and free. Facts: eip93-hardware.md.
 */
#ifndef CD_EIP93_EMULATOR_H
#define CD_EIP93_EMULATOR_H

#include "cryptodispatch/eip93_bus.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cd_eip93_emulator;

enum cd_eip93_variant {
    CD_EIP93_93I = 0,
    CD_EIP93_93IE = 1,
    CD_EIP93_93IS = 2,
    CD_EIP93_93IES = 3,
    CD_EIP93_93IW = 4,
};

enum cd_eip93_pace {
    CD_EIP93_FREE = 0,    /* as fast as it can; device ticks only count */
    CD_EIP93_PACED = 1,   /* never sooner than the modelled time on the host's clock */
    CD_EIP93_VIRTUAL = 2, /* the modelled time on a virtual clock; deterministic */
};

/*
 * What things cost. `_ticks` are engine clocks; `_ps` are picoseconds of the host CPU that drives
 * the engine on the modelled machine, charged so that a request costs what it costs there.
 */
struct cd_eip93_cost {
    uint64_t clock_hz;
    uint32_t descriptor_read_ticks;   /* command descriptor */
    uint32_t descriptor_update_ticks; /* ownership back into the command ring */
    uint32_t result_write_ticks;      /* result descriptor */
    uint32_t sa_read_ticks;
    uint32_t state_ticks;        /* read or write of one group (IV; byte count and digest) */
    uint32_t aes_block_ticks[3]; /* 128, 192, 256 bit keys, per 16 bytes */
    uint32_t des_block_ticks;    /* per 8 bytes */
    uint32_t des3_block_ticks;   /* per 8 bytes */
    uint32_t md5_block_ticks;    /* per 64 bytes */
    uint32_t sha1_block_ticks;   /* per 64 bytes */
    uint32_t sha2_block_ticks;   /* per 64 bytes, SHA-224 and SHA-256 */
    uint32_t prng_block_ticks;   /* per 16 bytes */
    uint32_t dma_bytes_per_tick; /* each way, overlapped with the processing */
    uint64_t doorbell_ps;        /* host: once per write to PE_CD_COUNT */
    uint64_t descriptor_ps;      /* host: per descriptor handed over */
    uint64_t interrupt_ps;       /* host: from the line to the driver's handler */
};

/* The proposal of eip93-hardware.md section 10.2: 250 MHz, host costs 0. */
void cd_eip93_cost_default(struct cd_eip93_cost *out_cost);

struct cd_eip93_emulator_config {
    int32_t variant;            /* enum cd_eip93_variant */
    int32_t pace;               /* enum cd_eip93_pace */
    uint32_t memory_len;        /* bytes of the chip-side RAM at CD_EIP93_MEMORY_BASE; 0: 1 MiB */
    struct cd_eip93_cost cost;  /* clock_hz 0: cd_eip93_cost_default */
    bool strap_basic_icv_check; /* Q1: compare the tag of basic hash-decrypt */
    bool strap_stop_on_length_error; /* Q8: stop after 0x68/0x88 until RST_PE */
    bool strap_zero_length_count;    /* Q5: a zero-length hash adds the digest size to BYTE_CNT */
};

#define CD_EIP93_MEMORY_BASE 0x10000000u /* bus address of the RAM */
#define CD_EIP93_WINDOW_BASE 0x80000000u /* mapped buffers lie from here up */

/* Errors: CD_E_INVALID (variant, pace), CD_E_RANGE (memory_len below 64 KiB, above 256 MiB or not a
 * multiple of 4096; a cost beyond 2^40), CD_E_NO_MEMORY. The chip comes up as after a hardware
 * reset. */
CD_MUST_CHECK cd_status cd_eip93_emulator_new(struct cd_eip93_emulator **out_emulator,
                                              const struct cd_eip93_emulator_config *config);
/* Stops the worker thread if there is one. NULL does nothing. */
void cd_eip93_emulator_free(struct cd_eip93_emulator *emulator);

/* Hardware reset: registers as at power-on, work dropped; memory and mappings stay. */
void cd_eip93_emulator_reset(struct cd_eip93_emulator *emulator);

/* Register access as a 32-bit bus master makes it. An offset that is not a multiple of 4 or is
 * beyond 0xFFC is a guest error: reads give 0, writes are dropped, INTERFACE_ERR latches. */
uint32_t cd_eip93_emulator_read32(struct cd_eip93_emulator *emulator, uint32_t offset);
void cd_eip93_emulator_write32(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
/* Accesses of `size` 1, 2, 4 or 8 bytes; all but 4 are the guest error above. */
uint64_t cd_eip93_emulator_read(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t size);
void cd_eip93_emulator_write(struct cd_eip93_emulator *emulator, uint32_t offset, uint64_t value,
                             uint32_t size);

/* The chip-side RAM and mapped buffers by bus address. CD_E_BUS if any byte is not there. */
CD_MUST_CHECK cd_status cd_eip93_emulator_read_memory(struct cd_eip93_emulator *emulator,
                                                      uint8_t *out, uint32_t address,
                                                      size_t length);
CD_MUST_CHECK cd_status cd_eip93_emulator_write_memory(struct cd_eip93_emulator *emulator,
                                                       uint32_t address, const uint8_t *data,
                                                       size_t length);
/* As dma_map and dma_unmap of the bus. `direction` is enum cd_dma_direction and is enforced: the
 * engine cannot write a to-device window nor read a from-device one. */
CD_MUST_CHECK cd_status cd_eip93_emulator_map(struct cd_eip93_emulator *emulator, void *memory,
                                              size_t length, int32_t direction,
                                              uint32_t *out_address);
/* CD_E_INVALID if no window starts at `address`. */
CD_MUST_CHECK cd_status cd_eip93_emulator_unmap(struct cd_eip93_emulator *emulator,
                                                uint32_t address);

/*
 * Let device time pass: run work whose modelled time fits in `ticks` engine clocks, then stop at
 * that time (a packet half done goes on with the next step). Returns the packets that ended. Time
 * in PACED mode passes by itself: ticks is then ignored and work that is due is done. A VIRTUAL
 * clock is advanced.
 */
uint32_t cd_eip93_emulator_step(struct cd_eip93_emulator *emulator, uint64_t ticks);

/* Engine clocks since new, saturating. */
uint64_t cd_eip93_emulator_ticks(struct cd_eip93_emulator *emulator);

/* True while the interrupt output is asserted. */
bool cd_eip93_emulator_irq(struct cd_eip93_emulator *emulator);

/* As irq_wait of the bus: runs the device in the caller's thread (with a worker thread: sleeps). */
CD_MUST_CHECK cd_status cd_eip93_emulator_irq_wait(struct cd_eip93_emulator *emulator,
                                                   uint64_t timeout_ns);

/* The seam for a driver. Valid as long as the emulator. */
void cd_eip93_emulator_bus(struct cd_eip93_emulator *emulator, struct cd_eip93_bus *out_bus);

/* Run the device in a thread of its own from now on. Before each packet it sleeps a pseudo-random
 * time of at most `max_delay_us` microseconds, drawn from `seed`. CD_E_EXISTS if it runs already,
 * CD_E_INVALID in VIRTUAL mode (it would not be deterministic), CD_E_NO_MEMORY. */
CD_MUST_CHECK cd_status cd_eip93_emulator_start_thread(struct cd_eip93_emulator *emulator,
                                                       uint32_t max_delay_us, uint64_t seed);
void cd_eip93_emulator_stop_thread(struct cd_eip93_emulator *emulator);

/* What the chip went through, in order. Names: cd_eip93_event_name. */
enum cd_eip93_event {
    CD_EIP93_EVENT_DOORBELL = 1, /* value: descriptors added */
    CD_EIP93_EVENT_FETCH = 2,    /* value: ring index */
    CD_EIP93_EVENT_CHECK = 3,    /* value: status so far */
    CD_EIP93_EVENT_READ_SA = 4,  /* value: address */
    CD_EIP93_EVENT_READ_STATE = 5,
    CD_EIP93_EVENT_GATHER = 6,    /* value: bytes */
    CD_EIP93_EVENT_TRANSFORM = 7, /* value: opcode word of the SA */
    CD_EIP93_EVENT_SCATTER = 8,   /* value: bytes */
    CD_EIP93_EVENT_WRITE_STATE = 9,
    CD_EIP93_EVENT_UPDATE_COMMAND = 10,
    CD_EIP93_EVENT_WRITE_RESULT = 11, /* value: status byte */
    CD_EIP93_EVENT_RAISE = 12,        /* value: raw interrupt bits */
    CD_EIP93_EVENT_RESET = 13,
    CD_EIP93_EVENT_GUEST_ERROR = 14,   /* value: offset or address */
    CD_EIP93_EVENT_UNIMPLEMENTED = 15, /* value: offset or opcode */
};
#define CD_EIP93_EVENT_LAST 15

/* Name of an event in lower case ("doorbell", "fetch", ...); NULL for any other number. */
const char *cd_eip93_event_name(int32_t event);

struct cd_eip93_trace_entry {
    uint64_t ticks;
    int32_t event;
    uint32_t value;
};

/* Keep the last `entries` events (0 stops tracing; at most 65536). CD_E_RANGE, CD_E_NO_MEMORY. */
CD_MUST_CHECK cd_status cd_eip93_emulator_trace(struct cd_eip93_emulator *emulator,
                                                uint32_t entries);
/* Copy at most `capacity` kept events, oldest first, and forget them; returns how many. */
size_t cd_eip93_emulator_trace_take(struct cd_eip93_emulator *emulator,
                                    struct cd_eip93_trace_entry *out_entries, size_t capacity);

struct cd_eip93_emulator_counters {
    uint64_t packets; /* result descriptors written (or tried) */
    uint64_t errors;  /* of those, with a status other than 0 */
    uint64_t doorbells;
    uint64_t interrupts; /* times the line went from low to high */
    uint64_t guest_errors;
    uint64_t unimplemented;
    uint64_t bytes_read; /* packet data by DMA */
    uint64_t bytes_written;
};
/* Copy the counters. Any thread. */
void cd_eip93_emulator_counters(struct cd_eip93_emulator *emulator,
                                struct cd_eip93_emulator_counters *out_counters);

/* Faults to inject, for driver tests. */
enum cd_eip93_fault {
    CD_EIP93_FAULT_DMA_READ = 1,     /* reading the source fails with a bus error */
    CD_EIP93_FAULT_DMA_WRITE = 2,    /* writing the destination fails with a bus error */
    CD_EIP93_FAULT_LATE = 3,         /* the result comes 1000 times later */
    CD_EIP93_FAULT_LOST = 4,         /* no result descriptor is written and no count moves */
    CD_EIP93_FAULT_HANG = 5,         /* the engine stops until RST_PE */
    CD_EIP93_FAULT_NO_INTERRUPT = 6, /* the line stays low for this result */
    CD_EIP93_FAULT_WRONG_ID = 7,     /* the result carries another user id */
    CD_EIP93_FAULT_STATUS = 8,       /* the status byte is `value` */
    CD_EIP93_FAULT_HALF_OWNED = 9,   /* the result's two ownership pairs disagree */
    CD_EIP93_FAULT_MAP = 10,         /* dma_map and dma_alloc fail; counts calls, not packets */
};
/* Let the fault strike `count` times after `skip` packets went well; replaces an earlier injection
 * of the same kind, count 0 removes it. CD_E_INVALID for an unknown kind. A hardware reset keeps
 * them. */
CD_MUST_CHECK cd_status cd_eip93_emulator_inject(struct cd_eip93_emulator *emulator, int32_t fault,
                                                 uint32_t skip, uint32_t count, uint32_t value);

#ifdef __cplusplus
}
#endif

#endif
