/*
 * A scripted EIP-93 bus for driver tests: records register accesses, hands out memory between
 * guards, and answers commands only when and how a test says.
 *
 * Offsets are literals on purpose, independent of eip93_regs.h. The "cipher" of this double is XOR
 * with 0xA5; what it leaves as the next IV is the last 16 bytes of its output. Nor does it hash:
 * see fake_transform.
 */
#ifndef FAKE_BUS_H
#define FAKE_BUS_H

#include "cryptodispatch/eip93_bus.h"

#include <stdlib.h>
#include <string.h>

#define FAKE_MEMORY (1u << 20)
#define FAKE_BASE 0x10000000u
#define FAKE_WINDOWS 0x80000000u
#define FAKE_WINDOW_STRIDE 0x00200000u
#define FAKE_MAPPINGS 1024
#define FAKE_LOG 8192
#define FAKE_GUARD 64
#define FAKE_ALLOCATIONS 8

struct fake_mapping {
    uint8_t *memory; /* NULL: free */
    size_t length;
    enum cd_dma_direction direction;
};

struct fake_access {
    bool write;
    uint32_t offset;
    uint32_t value;
};

struct fake_allocation {
    uint32_t address; /* 0: free */
    size_t length;
};

struct fake {
    uint32_t registers[1024];
    struct fake_access log[FAKE_LOG];
    size_t logged;
    uint8_t *memory;
    uint32_t memory_used;
    struct fake_allocation allocations[FAKE_ALLOCATIONS];
    unsigned allocation_calls, fail_allocation;
    struct fake_mapping mappings[FAKE_MAPPINGS];
    unsigned map_calls, fail_map,
        windows; /* fail_map: number of the call; windows: 0 is no limit */
    unsigned maps, unmaps;
    uint32_t announced, unanswered, results, answer_index; /* ring state of the double */
    uint64_t time_ns;
    bool stopped;         /* as after a bus error: irq_hook is not called */
    unsigned dead_starts; /* this many resets from now on do not bring the engine up */
    unsigned bad;         /* things a driver must never do */
    bool closed;          /* any access is bad */
    bool line_stuck;      /* interrupt always asserted */
    bool line_dead;       /* interrupt never asserted */
    void (*irq_hook)(struct fake *fake); /* runs in every irq_wait */
};

/* How the next results differ from good ones. */
struct fake_answer {
    uint32_t status;                      /* status byte */
    uint32_t id_xor;                      /* on the user id */
    uint32_t length_less;                 /* on the result length */
    uint32_t control_owner, length_owner; /* 0: as it should be (2); 4: none */
    bool no_write;                        /* the count moves, the result is not written */
};

static inline void fake_log(struct fake *fake, bool write, uint32_t offset, uint32_t value) {
    if (fake->closed) {
        fake->bad++;
    }
    if (fake->logged < FAKE_LOG) {
        fake->log[fake->logged++] = (struct fake_access){write, offset, value};
    }
}

/* Memory behind a bus address; NULL (and bad) if `length` bytes are not all reachable that way. */
static inline uint8_t *fake_reach(struct fake *fake, uint32_t address, size_t length, int access) {
    if (address >= FAKE_WINDOWS) {
        struct fake_mapping *mapping =
            &fake->mappings[(address - FAKE_WINDOWS) / FAKE_WINDOW_STRIDE % FAKE_MAPPINGS];
        uint32_t offset = (address - FAKE_WINDOWS) % FAKE_WINDOW_STRIDE;
        if (mapping->memory != NULL && offset + length <= mapping->length &&
            ((int)mapping->direction & access) == access) {
            return mapping->memory + offset;
        }
    } else if (address >= FAKE_BASE && address - FAKE_BASE + length <= FAKE_MEMORY) {
        return fake->memory + (address - FAKE_BASE);
    }
    fake->bad++;
    return NULL;
}

/* An entry of a ring; without a ring there is nothing a test could go on with. */
static inline uint32_t *fake_entry(struct fake *fake, uint32_t base, uint32_t index) {
    void *entry = fake_reach(fake, base + 32 * index, 32, 0);
    if (entry == NULL) {
        abort();
    }
    return entry;
}

static inline uint32_t *fake_command(struct fake *fake, uint32_t index) {
    return fake_entry(fake, fake->registers[0x080 / 4], index);
}

static inline uint32_t *fake_result(struct fake *fake, uint32_t index) {
    return fake_entry(fake, fake->registers[0x084 / 4], index);
}

/* At the doorbell everything the engine is going to read must be in place. */
static inline void fake_doorbell(struct fake *fake, uint32_t count) {
    uint32_t entries = fake->registers[0x088 / 4] + 1;
    if (count == 0 || count > 255 || fake->announced + count > entries - 1) {
        fake->bad++;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = (fake->answer_index + fake->unanswered + i) % entries;
        const uint32_t *command = fake_command(fake, index);
        const uint32_t *result = fake_result(fake, index);
        if ((command[0] & ~0x10u) != 1 || (command[7] & 0xFFF00000u) != 0x00400000u ||
            result[0] != 0 || result[7] != 0) {
            fake->bad++;
        }
    }
    fake->announced += count;
    fake->unanswered += count;
}

static inline void fake_config(struct fake *fake, uint32_t value) {
    if ((value & 6) == 6) { /* R035: both bits that are a ring reset on some chip */
        fake->announced = fake->unanswered = fake->results = fake->answer_index = 0;
    }
    if ((value & 1) != 0) {
        fake->stopped = false;
    }
    if ((value & 7) == 7 && fake->dead_starts > 0) {
        fake->dead_starts--;
        value = 0xFFFFFFFFu;
    }
    fake->registers[0x100 / 4] = value;
}

static inline void fake_write32(void *context, uint32_t offset, uint32_t value) {
    struct fake *fake = context;
    fake_log(fake, true, offset, value);
    if (offset == 0x090) {
        fake_doorbell(fake, value);
    } else if (offset == 0x094) {
        if (value == 0 || value > 255 || value > fake->results) {
            fake->bad++;
            return;
        }
        fake->results -= value;
        fake->announced -= value;
    } else if (offset == 0x100) {
        fake_config(fake, value);
    } else {
        fake->registers[offset / 4] = value;
    }
}

static inline uint32_t fake_read32(void *context, uint32_t offset) {
    struct fake *fake = context;
    uint32_t value = offset == 0x090   ? fake->unanswered
                     : offset == 0x094 ? fake->results
                                       : fake->registers[offset / 4];
    fake_log(fake, false, offset, value);
    return value;
}

static inline cd_status fake_dma_alloc(void *context, size_t length, size_t alignment,
                                       void **out_memory, uint32_t *out_address) {
    struct fake *fake = context;
    fake->bad += fake->closed ? 1 : 0;
    if (++fake->allocation_calls == fake->fail_allocation) {
        return CD_E_NO_MEMORY;
    }
    uint32_t offset = (fake->memory_used + (uint32_t)alignment - 1) & ~((uint32_t)alignment - 1);
    if (offset + length + FAKE_GUARD > FAKE_MEMORY) {
        return CD_E_NO_MEMORY;
    }
    fake->memory_used = offset + (uint32_t)length + FAKE_GUARD;
    memset(fake->memory + offset, 0, length);
    memset(fake->memory + offset + length, 0xCC, FAKE_GUARD);
    *out_memory = fake->memory + offset;
    *out_address = FAKE_BASE + offset;
    for (int i = 0; i < FAKE_ALLOCATIONS; i++) {
        if (fake->allocations[i].address == 0) {
            fake->allocations[i] = (struct fake_allocation){*out_address, length};
            return CD_OK;
        }
    }
    fake->bad++;
    return CD_E_NO_MEMORY;
}

static inline bool fake_allocated(const struct fake *fake) {
    bool any = false;
    for (int i = 0; i < FAKE_ALLOCATIONS; i++) {
        any = any || fake->allocations[i].address != 0;
    }
    return any;
}

static inline void fake_dma_free(void *context, void *memory, uint32_t address, size_t length) {
    struct fake *fake = context;
    fake->bad += fake->closed ? 1 : 0;
    const uint8_t *guard = (const uint8_t *)memory + length;
    for (int i = 0; i < FAKE_GUARD; i++) { /* R001 */
        fake->bad += guard[i] != 0xCC ? 1 : 0;
    }
    for (int i = 0; i < FAKE_ALLOCATIONS; i++) {
        if (fake->allocations[i].address == address && fake->allocations[i].length == length) {
            fake->allocations[i].address = 0;
            fake->memory_used = fake_allocated(fake) ? fake->memory_used : 4096;
            return;
        }
    }
    fake->bad++;
}

static inline cd_status fake_dma_map(void *context, void *memory, size_t length,
                                     enum cd_dma_direction direction, uint32_t *out_address) {
    struct fake *fake = context;
    fake->bad += fake->closed || length == 0 || length > 0xFFFFF ? 1 : 0;
    if (++fake->map_calls == fake->fail_map ||
        (fake->windows != 0 && fake->maps - fake->unmaps == fake->windows)) {
        return CD_E_NO_MEMORY;
    }
    for (uint32_t i = 0; i < FAKE_MAPPINGS; i++) {
        uint32_t slot = (fake->maps + i) % FAKE_MAPPINGS; /* not the same one again at once */
        if (fake->mappings[slot].memory == NULL) {
            fake->mappings[slot] = (struct fake_mapping){memory, length, direction};
            fake->maps++;
            *out_address = FAKE_WINDOWS + slot * FAKE_WINDOW_STRIDE;
            return CD_OK;
        }
    }
    return CD_E_NO_MEMORY;
}

/* True if a command that the engine still works on has this window. */
static inline bool fake_is_busy(struct fake *fake, uint32_t address) {
    uint32_t entries = fake->registers[0x088 / 4] + 1;
    for (uint32_t i = 0; i < fake->unanswered; i++) {
        const uint32_t *command = fake_command(fake, (fake->answer_index + i) % entries);
        if (command[1] == address || command[2] == address) {
            return true;
        }
    }
    return false;
}

static inline void fake_dma_unmap(void *context, uint32_t address, size_t length,
                                  enum cd_dma_direction direction) {
    struct fake *fake = context;
    struct fake_mapping *mapping =
        &fake->mappings[(address - FAKE_WINDOWS) / FAKE_WINDOW_STRIDE % FAKE_MAPPINGS];
    bool good = !fake->closed && mapping->memory != NULL && mapping->length == length &&
                mapping->direction == direction && !fake_is_busy(fake, address);
    fake->bad += good ? 0 : 1;
    fake->unmaps++;
    mapping->memory = NULL;
}

static inline cd_status fake_irq_wait(void *context, uint64_t timeout_ns) {
    struct fake *fake = context;
    fake->bad += fake->closed ? 1 : 0;
    if (fake->irq_hook != NULL && !fake->stopped) {
        fake->irq_hook(fake);
    }
    if (fake->line_stuck || (fake->results > 0 && !fake->line_dead)) {
        return CD_OK;
    }
    fake->time_ns += timeout_ns;
    return CD_E_TIMEOUT;
}

static inline uint64_t fake_now(void *context) {
    return ((struct fake *)context)->time_ns;
}

static inline void fake_advance(void *context, uint64_t picoseconds) {
    ((struct fake *)context)->time_ns += picoseconds / 1000;
}

/* What the SA of a command says. */
struct fake_operation {
    uint32_t opcode, header, digest; /* bytes */
    bool inbound;
};

static inline struct fake_operation fake_operation(struct fake *fake, const uint32_t *command) {
    uint32_t sa[2] = {0, 0};
    memcpy(sa, fake_reach(fake, command[3], 128, 0), sizeof(sa));
    struct fake_operation operation = {
        .opcode = sa[0] & 7,
        .inbound = (sa[0] & 8) != 0,
        .header = (sa[0] & 7) == 1 ? (sa[1] >> 16 & 0xFF) * ((sa[1] & 0x2000) != 0 ? 1 : 4) : 0,
    };
    bool final = (command[0] & 0x10) != 0 || (sa[1] & 0x1000) != 0;
    if (operation.opcode != 0 && final && (sa[1] & 1) != 0) {
        operation.digest = (sa[0] >> 20 & 0xF) * 4;
    }
    return operation;
}

/* Move the bytes of one command and leave the next IV, or the digest. The "digest" of this double
 * is the chaining words with the length added to the first, and that of an aead all zeros. */
static inline void fake_transform(struct fake *fake, const uint32_t *command) {
    struct fake_operation operation = fake_operation(fake, command);
    uint32_t length = command[7] & 0xFFFFF;
    bool hash = operation.opcode == 3;
    size_t output = operation.digest + (hash ? 0 : length);
    const uint8_t *source = fake_reach(fake, command[1], length, CD_DMA_TO_DEVICE);
    uint8_t *destination = fake_reach(fake, command[2], output, CD_DMA_FROM_DEVICE);
    uint8_t *state = fake_reach(fake, command[4], 56, 0);
    if (source == NULL || destination == NULL || state == NULL) {
        return;
    }
    if (operation.opcode != 0) {
        uint32_t word;
        memcpy(&word, state + 24, 4);
        word = hash ? word + length : 0;
        memcpy(state + 24, &word, 4);
        memset(destination + output - operation.digest, 0, operation.digest);
    }
    for (uint32_t i = operation.header; !hash && i < length; i++) {
        destination[i] = source[i] ^ 0xA5;
    }
    if (!hash && length >= 16) {
        memcpy(state, destination + length - 16, 16);
    }
}

/* Answer the oldest command. */
static inline void fake_answer(struct fake *fake, struct fake_answer how) {
    uint32_t entries = fake->registers[0x088 / 4] + 1;
    uint32_t *command = fake_command(fake, fake->answer_index);
    uint32_t *result = fake_result(fake, fake->answer_index);
    if (fake->unanswered == 0) {
        fake->bad++;
        return;
    }
    struct fake_operation operation = fake_operation(fake, command);
    uint32_t output = operation.digest + (operation.opcode == 3 ? 0 : command[7] & 0xFFFFF);
    uint32_t length = how.status == 0 ? output - how.length_less : 0;
    if (how.status == 0 && !how.no_write) {
        fake_transform(fake, command);
    }
    if (!how.no_write) {
        memcpy(result + 1, command + 1, 24);
        result[6] ^= how.id_xor;
        result[7] = (how.length_owner == 0 ? 2 : how.length_owner & 3) << 22 | length;
        result[0] = (how.control_owner == 0 ? 2 : how.control_owner & 3) | (command[0] & 0x10) |
                    how.status << 16;
        command[0] = result[0];
        command[7] = result[7];
    }
    fake->answer_index = (fake->answer_index + 1) % entries;
    fake->unanswered--;
    fake->results++;
    fake->stopped = how.status == 0x08;
}

/* An engine that does everything at once and well. */
static inline void fake_answer_all(struct fake *fake) {
    while (fake->unanswered > 0 && !fake->stopped) {
        fake_answer(fake, (struct fake_answer){0});
    }
}

static inline unsigned fake_mapped(const struct fake *fake) {
    return fake->maps - fake->unmaps;
}

/* Number of accesses of one kind since `from` in the log. */
static inline unsigned fake_count(const struct fake *fake, size_t from, bool write,
                                  uint32_t offset) {
    unsigned count = 0;
    for (size_t i = from; i < fake->logged; i++) {
        count += fake->log[i].write == write && fake->log[i].offset == offset ? 1 : 0;
    }
    return count;
}

static inline struct fake *fake_new(void) {
    struct fake *fake = calloc(1, sizeof(*fake));
    fake->memory = aligned_alloc(4096, FAKE_MEMORY);
    memset(fake->memory, 0, FAKE_MEMORY);
    fake->memory_used = 4096; /* no bus address that is FAKE_BASE itself */
    fake->registers[0x1F4 / 4] = 0x000FE007;
    fake->registers[0x1FC / 4] = 0x0210A25D;
    return fake;
}

static inline void fake_bus(struct fake *fake, struct cd_eip93_bus *out_bus) {
    *out_bus = (struct cd_eip93_bus){
        .abi = CD_EIP93_BUS_ABI,
        .context = fake,
        .read32 = fake_read32,
        .write32 = fake_write32,
        .dma_alloc = fake_dma_alloc,
        .dma_free = fake_dma_free,
        .dma_map = fake_dma_map,
        .dma_unmap = fake_dma_unmap,
        .irq_wait = fake_irq_wait,
        .clock = {fake_now, fake_advance, fake, "fake", 1000000000u},
    };
}

/* Frees the double; true if everything was given back and nothing bad was done. */
static inline bool fake_free(struct fake *fake) {
    bool clean = fake->bad == 0 && fake->maps == fake->unmaps && !fake_allocated(fake);
    free(fake->memory);
    free(fake);
    return clean;
}

#endif
