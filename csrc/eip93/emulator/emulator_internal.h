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
#include "eip93/eip93_regs.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CD_EMULATOR_REGISTERS (EIP93_REG_WINDOW_SIZE / 4u)
#define CD_EMULATOR_FAULTS 11u /* enum cd_eip93_fault starts at 1 */
#define CD_EMULATOR_NEVER UINT64_MAX
#define CD_EMULATOR_PAD_MAX 257u   /* section 6.2 */
#define CD_EMULATOR_DIGEST_MAX 32u /* section 5.4 */
#define CD_EMULATOR_OUTPUT_MAX (EIP93_CD_LENGTH_MAX + CD_EMULATOR_PAD_MAX + CD_EMULATOR_DIGEST_MAX)

struct cd_emulator_packet;

/* ---- Ciphers and operations: rows of tables, so that more slot in ---- */

/* One cipher in one mode, as SA_CMD0 and SA_CMD1 select it. */
struct cd_emulator_cipher {
    uint32_t cipher;    /* EIP93_SA0_CIPHER_* */
    uint32_t mode;      /* EIP93_SA1_CIPHER_MODE_*, or CD_EMULATOR_ANY_MODE */
    uint32_t option;    /* EIP93_OPTION_* bit that offers it; 0: always there */
    uint32_t block_len; /* length must be (inbound) or becomes (outbound) a multiple; 1: stream */
    uint32_t iv_len;    /* bytes in the state record; 0: uses no IV */
    uint32_t input_iv_len; /* bytes if the IV comes with the input */
    uint32_t tick_len;     /* bytes that `block_ticks` is the cost of */
    uint32_t (*block_ticks)(const struct cd_eip93_cost *cost, uint32_t key_len);
    /* Transform `length` bytes, continuing packet->iv. A multiple of block_len, and of 16 in all
     * calls but the last. `out` is `in` or does not overlap it. */
    void (*run)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet, uint8_t *out,
                const uint8_t *in, size_t length);
};
#define CD_EMULATOR_ANY_MODE 0xFFu

/* What one opcode does. The functions are NULL where the model does not do it (answer 0x28). */
struct cd_emulator_operation {
    uint32_t group;      /* EIP93_SA0_OPGROUP_* */
    uint32_t opcode;     /* EIP93_OPCODE_* */
    uint32_t directions; /* CD_EMULATOR_OUT, CD_EMULATOR_IN */
    /* Check the SA and lay out the packet; a status byte of section 8.1. */
    uint32_t (*plan)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
    /* From packet->source to packet->destination. */
    void (*run)(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
};
#define CD_EMULATOR_OUT 1u
#define CD_EMULATOR_IN 2u

/* ---- The packet in the engine ---- */

enum cd_emulator_stage {
    CD_EMULATOR_IDLE = 0,
    CD_EMULATOR_RUNNING = 1, /* fetched and checked; effects appear at due_ps */
    CD_EMULATOR_STALLED = 2, /* all done but the result: the result ring is full */
};

struct cd_emulator_packet {
    struct eip93_descriptor command; /* host byte order */
    struct eip93_sa sa;              /* words in host byte order */
    uint32_t index;                  /* entry of the command ring */
    uint32_t status;                 /* status byte so far */
    bool bus_failed;
    bool processed;                                /* all effects but the result are there */
    const struct cd_emulator_operation *operation; /* NULL: nothing to process */
    const struct cd_emulator_cipher *cipher;       /* NULL: none in this operation */
    uint32_t key_len;
    bool inbound;
    bool header_copied;
    bool sa_read;
    /* input = bypass | header | payload; output = bypass | header if copied | payload | pad */
    uint32_t bypass_len, header_len, payload_len;
    uint32_t input_len;  /* bytes read */
    uint32_t output_len; /* bytes written */
    uint32_t result_len; /* bytes reported */
    uint32_t pad_len;    /* outbound: bytes to insert */
    uint32_t pad_status, pad_value;
    uint64_t process_ticks;             /* cipher, hash, PRNG: without DMA and fixed items */
    uint32_t state_reads, state_writes; /* groups of the state record */
    uint8_t iv[CD_AES_BLOCK];
    const uint8_t *source;
    uint8_t *destination;
    uint32_t faults; /* bit (1 << enum cd_eip93_fault): strikes this packet */
    uint64_t due_ps;
    uint64_t host_due_ns; /* FREE pace, late fault: not before this host time; 0: none */
};

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

/* The last AES key expanded; keyed by content, so that a changed SA is always seen. */
struct cd_emulator_schedule {
    struct cd_aes_key key;
    uint8_t bytes[32];
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

/* emulator_packet.c: stages of one packet */
void cd_emulator_packet_read_sa(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_read_state(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_gather(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_transform(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_scatter(struct cd_eip93_emulator *emulator);
void cd_emulator_packet_write_state(struct cd_eip93_emulator *emulator);
/* Make the packet's IV from the bytes that the input or the PRNG gave. */
void cd_emulator_packet_set_iv(struct cd_emulator_packet *packet, const uint8_t *bytes);

/* emulator_operation.c */
/* Choose the operation of the packet and lay it out: status byte of section 8.1. */
uint32_t cd_emulator_operation_plan(struct cd_eip93_emulator *emulator,
                                    struct cd_emulator_packet *packet);

/* emulator_crypt.c: basic encrypt and decrypt */
uint32_t cd_emulator_crypt_plan(struct cd_eip93_emulator *emulator,
                                struct cd_emulator_packet *packet);
void cd_emulator_crypt_run(struct cd_eip93_emulator *emulator, struct cd_emulator_packet *packet);
/* Modelled time of the cipher over payload and pad. */
uint64_t cd_emulator_crypt_ticks(const struct cd_eip93_emulator *emulator,
                                 const struct cd_emulator_packet *packet);

/* emulator_cipher.c */
/* The cipher that the SA selects, with its key length; NULL: reserved, absent or not modelled. */
const struct cd_emulator_cipher *cd_emulator_cipher_find(struct cd_eip93_emulator *emulator,
                                                         struct cd_emulator_packet *packet);
/* Forget the key schedule. */
void cd_emulator_cipher_wipe(struct cd_eip93_emulator *emulator);

/* emulator_padding.c */
/* Set packet->pad_len of an outbound packet; a status byte. */
uint32_t cd_emulator_padding_plan(struct cd_emulator_packet *packet);
void cd_emulator_padding_fill(const struct cd_emulator_packet *packet, uint8_t *out);
/* Verify and consume the pad at the end of `payload`: status, pad_status, pad_value, result_len. */
void cd_emulator_padding_check(struct cd_emulator_packet *packet, const uint8_t *payload,
                               uint32_t payload_len);

/* emulator_prng.c */
uint32_t cd_emulator_prng_plan(struct cd_eip93_emulator *emulator,
                               struct cd_emulator_packet *packet);
void cd_emulator_prng_next(struct cd_eip93_emulator *emulator, uint8_t out[CD_AES_BLOCK]);

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
