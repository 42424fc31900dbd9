/*
 * Private to the emulator: the chip's parts and what they offer each other.
 *
 * One mutex guards everything; functions declared here are called with it held unless they say
 * otherwise. Times named `_ps` are picoseconds of device time since the emulator was made.
 */
#ifndef CD_EMULATOR_INTERNAL_H
#define CD_EMULATOR_INTERNAL_H

#include "cryptodispatch/eip93_emulator.h"

#include "crypto/aes.h"
#include "crypto/des.h"
#include "crypto/md.h"
#include "eip93/eip93_regs.h"
#include "eip93/emulator/emulator_packet.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CD_EMULATOR_REGISTERS (EIP93_REG_WINDOW_SIZE / 4u)
#define CD_EMULATOR_FAULTS 11u /* enum cd_eip93_fault starts at 1 */
#define CD_EMULATOR_NEVER UINT64_MAX

/* ---- Parts ---- */

struct cd_emulator_window {
    uint8_t *memory;
    uint32_t length;
    uint32_t direction; /* enum cd_dma_direction; 0: free */
};

/* Windows of one size: slot i starts at base + i * stride, and ends in a gap nothing answers in. */
struct cd_emulator_windows {
    uint32_t base, stride, capacity, count;
    struct cd_emulator_window *slots;
    uint16_t *free_slots; /* a stack */
    uint32_t free_count;
};

struct cd_emulator_fault {
    uint32_t skip, count, value;
};

struct cd_emulator_prng {
    uint8_t key[CD_AES_BLOCK], v[CD_AES_BLOCK], dt[CD_AES_BLOCK];
};

/* The last key expanded; keyed by content, so that a changed SA is always seen. */
struct cd_emulator_schedule {
    union {
        struct cd_aes_key aes;
        struct cd_des_key des;
        struct cd_des3_key des3;
    } key;
    uint8_t bytes[32];
    uint32_t cipher;  /* EIP93_SA0_CIPHER_* */
    uint32_t key_len; /* 0: none */
    bool has_decrypt;
};

struct cd_eip93_emulator {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* line, doorbell, acknowledge, reset, thread */
    uint32_t waiters;
    /* as configured */
    int32_t pace;
    uint32_t option_1;
    struct cd_eip93_cost cost;
    bool strap_basic_icv_check, strap_stop_on_length_error, strap_zero_length_count;
    /* registers: plain storage by word, and the row of the table that describes each word */
    uint32_t registers[CD_EMULATOR_REGISTERS];
    uint8_t register_rows[CD_EMULATOR_REGISTERS]; /* index + 1; 0: unlisted */
    /* rings */
    uint32_t cd_count, rd_count; /* as the registers show them */
    uint32_t lost_count;         /* of cd_count, those a fault swallowed */
    uint32_t cdr_index, rdr_index;
    uint64_t arrivals_ps[EIP93_RING_ENTRIES_MAX]; /* a queue: when each descriptor was rung */
    uint32_t arrival_first, arrival_count;
    /* engine */
    enum cd_emulator_stage stage;
    struct cd_emulator_packet packet;
    bool stopped;            /* after a bus error, until RST_PE */
    bool hung;               /* fault, until RST_PE */
    uint64_t free_ps;        /* when the last packet ended */
    uint64_t acknowledge_ps; /* last write to PE_RD_COUNT */
    uint64_t handed_over_ps; /* PACED: when the host is done with the last doorbell */
    uint8_t last_iv[CD_AES_BLOCK];
    struct cd_emulator_prng prng;
    const struct cd_aes_functions *aes;
    const struct cd_md_algorithm *hashes[CD_EMULATOR_HASHES];
    struct cd_emulator_schedule schedule;
    uint8_t *scratch; /* CD_EMULATOR_OUTPUT_MAX bytes, for overlapping source and destination */
    /* interrupts */
    uint32_t interrupt_raw;
    bool line;
    bool line_muted; /* fault: this result does not raise it */
    bool line_pulse; /* pulse output: not yet seen by irq_wait */
    bool masked_before;
    uint64_t line_rise_ps;
    bool rd_timeout; /* the flag */
    uint64_t rd_timeout_start_ps;
    uint64_t rd_timeout_length_ps; /* CD_EMULATOR_NEVER: disabled */
    /* time */
    uint64_t device_ps; /* FREE pace: the device's own time */
    uint64_t host_start_ns;
    uint64_t at_ps;                   /* of what happens now */
    uint64_t tick_ps, tick_remainder; /* 10^12 = tick_ps * clock_hz + tick_remainder */
    uint64_t ticks_max;               /* more than these would overflow */
    struct cd_virtual_clock virtual_clock;
    /* memory */
    uint8_t *memory;
    uint32_t memory_len;
    uint64_t *memory_used; /* a bit per 64 bytes, of dma_alloc */
    struct cd_emulator_windows small_windows, large_windows;
    /* trace, counters, faults */
    struct cd_eip93_trace_entry *trace;
    uint32_t trace_capacity, trace_first, trace_count;
    struct cd_eip93_emulator_counters counters;
    struct cd_emulator_fault faults[CD_EMULATOR_FAULTS];
    bool faults_armed; /* some fault of packets has a count */
    /* worker thread */
    pthread_t thread;
    bool has_thread, thread_stop;
    uint32_t thread_max_delay_us;
    uint64_t thread_random;
};

/* emulator.c */
void cd_emulator_lock(struct cd_eip93_emulator *emulator); /* not held; sets at_ps */
void cd_emulator_unlock(struct cd_eip93_emulator *emulator);
void cd_emulator_reset_engine(struct cd_eip93_emulator *emulator); /* RST_PE */
void cd_emulator_reset_ring(struct cd_eip93_emulator *emulator);   /* ring reset */

/* emulator_registers.c */
void cd_emulator_registers_init(struct cd_eip93_emulator *emulator);
void cd_emulator_registers_reset(struct cd_eip93_emulator *emulator);
uint32_t cd_emulator_register_read(struct cd_eip93_emulator *emulator, uint32_t offset,
                                   uint32_t size);
void cd_emulator_register_write(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value,
                                uint32_t size);
static inline uint32_t cd_emulator_register(const struct cd_eip93_emulator *emulator,
                                            uint32_t offset) {
    return emulator->registers[offset / 4u];
}
static inline void cd_emulator_register_set(struct cd_eip93_emulator *emulator, uint32_t offset,
                                            uint32_t value) {
    emulator->registers[offset / 4u] = value;
}

/* emulator_hooks.c: what accesses to single registers do beyond storing */
uint32_t cd_emulator_read_cd_count(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_rd_count(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_pointers(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_raw(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_masked(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_mirror(struct cd_eip93_emulator *emulator, uint32_t offset);
uint32_t cd_emulator_read_endian(struct cd_eip93_emulator *emulator, uint32_t offset);
void cd_emulator_write_descriptor(struct cd_eip93_emulator *emulator, uint32_t offset,
                                  uint32_t value);
void cd_emulator_write_cd_count(struct cd_eip93_emulator *emulator, uint32_t offset,
                                uint32_t value);
void cd_emulator_write_rd_count(struct cd_eip93_emulator *emulator, uint32_t offset,
                                uint32_t value);
void cd_emulator_write_ring_stat(struct cd_eip93_emulator *emulator, uint32_t offset,
                                 uint32_t value);
void cd_emulator_write_ring_thresh(struct cd_eip93_emulator *emulator, uint32_t offset,
                                   uint32_t value);
void cd_emulator_write_config(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_endian(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_halt(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_direct(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_mirror(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_clear(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
void cd_emulator_write_mask(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);

/* emulator_interrupt.c */
/* Latch `events` and every level condition that holds, and compute the line. */
void cd_emulator_interrupt_update(struct cd_eip93_emulator *emulator, uint32_t events);
void cd_emulator_interrupt_clear(struct cd_eip93_emulator *emulator, uint32_t bits);
/* The host has seen the line: ends a pulse. */
void cd_emulator_interrupt_take(struct cd_eip93_emulator *emulator);
/* When the result timeout strikes; CD_EMULATOR_NEVER if it is not running. */
uint64_t cd_emulator_timeout_due(const struct cd_eip93_emulator *emulator);
/* Set the timeout flag if it is due at `now_ps`. */
void cd_emulator_timeout_run(struct cd_eip93_emulator *emulator, uint64_t now_ps);
void cd_emulator_timeout_restart(struct cd_eip93_emulator *emulator);
/* Take over what PE_RING_THRESH says of the timeout. */
void cd_emulator_timeout_configure(struct cd_eip93_emulator *emulator);

/* emulator_memory.c */
CD_MUST_CHECK cd_status cd_emulator_memory_init(struct cd_eip93_emulator *emulator,
                                                uint32_t memory_len);
void cd_emulator_memory_cleanup(struct cd_eip93_emulator *emulator);
/* Where `length` >= 1 bytes at a bus address lie; NULL unless all of them answer to an engine that
 * wants to do `access` (CD_DMA_TO_DEVICE: read, CD_DMA_FROM_DEVICE: write, both, or 0: look). */
uint8_t *cd_emulator_memory_at(const struct cd_eip93_emulator *emulator, uint32_t address,
                               size_t length, uint32_t access);
CD_MUST_CHECK cd_status cd_emulator_memory_alloc(struct cd_eip93_emulator *emulator, size_t length,
                                                 size_t alignment, uint32_t *out_address);
void cd_emulator_memory_free(struct cd_eip93_emulator *emulator, uint32_t address, size_t length);

/* emulator_window.c */
CD_MUST_CHECK cd_status cd_emulator_windows_init(struct cd_eip93_emulator *emulator);
void cd_emulator_windows_cleanup(struct cd_eip93_emulator *emulator);
CD_MUST_CHECK cd_status cd_emulator_window_map(struct cd_eip93_emulator *emulator, void *memory,
                                               size_t length, int32_t direction,
                                               uint32_t *out_address);
CD_MUST_CHECK cd_status cd_emulator_window_unmap(struct cd_eip93_emulator *emulator,
                                                 uint32_t address);
/* The window that `address` lies in, and where in it; NULL: a gap or a free slot. */
const struct cd_emulator_window *cd_emulator_window_find(const struct cd_eip93_emulator *emulator,
                                                         uint32_t address, uint32_t *out_offset);

/* emulator_ring.c */
uint32_t cd_emulator_ring_entries(const struct cd_eip93_emulator *emulator);
/* True if the command of a finished packet is to be updated (separate rings, EN_CDR_UPDATE). */
bool cd_emulator_ring_updates(const struct cd_eip93_emulator *emulator);
/* True if the engine may take a command now, were its time come. */
bool cd_emulator_ring_ready(const struct cd_eip93_emulator *emulator);
bool cd_emulator_ring_full(const struct cd_eip93_emulator *emulator); /* the result ring */
uint64_t cd_emulator_ring_arrival(const struct cd_eip93_emulator *emulator);
void cd_emulator_ring_add(struct cd_eip93_emulator *emulator, uint32_t commands);
void cd_emulator_ring_acknowledge(struct cd_eip93_emulator *emulator, uint32_t results);
void cd_emulator_ring_fetch(struct cd_eip93_emulator *emulator);
void cd_emulator_ring_check(struct cd_eip93_emulator *emulator);
void cd_emulator_ring_update_command(struct cd_eip93_emulator *emulator);
void cd_emulator_ring_write_result(struct cd_eip93_emulator *emulator);

/* emulator_engine.c */
/* Run packets whose time is up to `limit_ps`, at most `budget`; how many ended. */
uint32_t cd_emulator_engine_run(struct cd_eip93_emulator *emulator, uint64_t limit_ps,
                                uint32_t budget);
/* When the packet in work, or the next one, goes on; CD_EMULATOR_NEVER: none can. */
uint64_t cd_emulator_engine_packet_next(const struct cd_eip93_emulator *emulator);
/* When something will happen next (packet or timeout); CD_EMULATOR_NEVER: nothing by itself. */
uint64_t cd_emulator_engine_next(const struct cd_eip93_emulator *emulator);
/* The packet met an address that nothing answers to (section 8.1, bus error). */
void cd_emulator_engine_bus_error(struct cd_eip93_emulator *emulator, uint32_t address);
/* Packets that one call runs before it looks at the line again. */
#define CD_EMULATOR_BURST 32u

/* emulator_time.c */
CD_MUST_CHECK cd_status cd_emulator_time_init(struct cd_eip93_emulator *emulator,
                                              const struct cd_eip93_cost *cost);
uint64_t cd_emulator_time_host_ns(void); /* any thread */
uint64_t cd_emulator_time_now(const struct cd_eip93_emulator *emulator);
/* Move the device's time on to `now_ps`, where the pace allows it. */
void cd_emulator_time_set(struct cd_eip93_emulator *emulator, uint64_t now_ps);
uint64_t cd_emulator_time_from_ticks(const struct cd_eip93_emulator *emulator, uint64_t ticks);
uint64_t cd_emulator_time_to_ticks(const struct cd_eip93_emulator *emulator, uint64_t time_ps);
static inline uint64_t cd_emulator_time_add(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
/* Modelled time of the packet, section 10.2. */
uint64_t cd_emulator_time_packet_ticks(const struct cd_eip93_emulator *emulator,
                                       const struct cd_emulator_packet *packet);

/* emulator_wait.c */
/* Run what is due now in the emulator's pace, at most `budget` packets; true if any ended. */
bool cd_emulator_wait_run(struct cd_eip93_emulator *emulator, uint32_t budget);
/* Host time at which there is something to run; 0: now, CD_EMULATOR_NEVER: not by itself. */
uint64_t cd_emulator_wait_next_ns(const struct cd_eip93_emulator *emulator);
/* Let go of the lock until a host time, or until something changes. May return early. */
void cd_emulator_wait_until(struct cd_eip93_emulator *emulator, uint64_t event_ns,
                            uint64_t deadline_ns);

/* emulator_trace.c */
void cd_emulator_trace_record(struct cd_eip93_emulator *emulator, int32_t event, uint32_t value);
static inline void cd_emulator_trace_event(struct cd_eip93_emulator *emulator, int32_t event,
                                           uint32_t value) {
    if (emulator->trace_capacity != 0) {
        cd_emulator_trace_record(emulator, event, value);
    }
}
void cd_emulator_guest_error(struct cd_eip93_emulator *emulator, uint32_t where);
void cd_emulator_unimplemented(struct cd_eip93_emulator *emulator, uint32_t what);

/* emulator_fault.c */
/* Count one packet (or mapping) for fault `kind`; true if it strikes. */
bool cd_emulator_fault_strikes(struct cd_eip93_emulator *emulator, int32_t kind);
/* The faults that strike the packet that begins now, as bits. */
uint32_t cd_emulator_fault_packet(struct cd_eip93_emulator *emulator);
static inline bool cd_emulator_faulted(const struct cd_emulator_packet *packet, int32_t kind) {
    return (packet->faults >> kind & 1u) != 0;
}

/* emulator_words.h has loads and stores of descriptor words. */

#endif
