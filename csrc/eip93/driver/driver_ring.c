/*
 * The two rings: commands in, results out (eip93-hardware.md 3.2, 4, 9.2).
 *
 * Commands and results advance together: result i answers command i, at the same index. The engine
 * is told of new commands once per batch, and of taken results once per batch.
 */
#include "eip93/driver/driver_internal.h"

#include <string.h>

#define OWNERSHIP_READS 64u /* of one result whose count has moved, before a later look */

static struct eip93_descriptor *descriptor(const struct cd_driver_memory *ring, uint32_t index) {
    return (struct eip93_descriptor *)ring->memory + index;
}

static uint32_t after(const struct cd_eip93_driver *driver, uint32_t index) {
    return index + 1 == driver->entries ? 0 : index + 1;
}

void cd_driver_ring_clear(struct cd_eip93_driver *driver) {
    memset(driver->command_ring.memory, 0, driver->command_ring.length);
    memset(driver->result_ring.memory, 0, driver->result_ring.length);
    driver->next = 0;
    driver->oldest = 0;
    driver->in_flight = 0;
    driver->unannounced = 0;
    driver->stalled = false;
}

bool cd_driver_ring_has_room(const struct cd_eip93_driver *driver) {
    return driver->in_flight < driver->entries - 1;
}

void cd_driver_ring_push(struct cd_eip93_driver *driver, const struct cd_driver_slot *slot) {
    struct eip93_descriptor *result = descriptor(&driver->result_ring, driver->next);
    struct eip93_descriptor *command = descriptor(&driver->command_ring, driver->next);
    uint32_t record = cd_driver_record_address(driver, slot->job->record);
    uint32_t sa = slot->last_sa ? (uint32_t)offsetof(struct cd_driver_record, last_sa) : 0;
    uint32_t control = EIP93_CD_HOST_READY | (slot->hash_final ? EIP93_CD_HASH_FINAL : 0);
    /* A stale result must not pass for the one to come (4.3). */
    __atomic_store_n(&result->control, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&result->length, 0, __ATOMIC_RELAXED);
    command->source_addr = cd_driver_le32(slot->source_addr);
    command->dest_addr = cd_driver_le32(slot->dest_addr);
    command->sa_addr = cd_driver_le32(record + sa);
    command->state_addr = cd_driver_le32(record + EIP93_SA_SIZE);
    command->arc4_addr = 0;
    command->user_id = cd_driver_le32(slot->user_id);
    __atomic_store_n(&command->length, cd_driver_le32(EIP93_CD_LENGTH_HOST_READY | slot->length),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&command->control, cd_driver_le32(control), __ATOMIC_RELEASE);
    driver->slots[driver->next] = *slot;
    driver->next = after(driver, driver->next);
    driver->in_flight++;
    driver->counters.descriptors++;
    if (++driver->unannounced == EIP93_COUNT_WRITE_MAX) {
        cd_driver_ring_announce(driver);
    }
}

void cd_driver_ring_announce(struct cd_eip93_driver *driver) {
    if (driver->unannounced > 0) {
        cd_driver_write(driver, EIP93_REG_PE_CD_COUNT, driver->unannounced);
        driver->unannounced = 0;
        driver->counters.doorbells++;
    }
}

/* Read both ownership words once; true if the result is the host's (4.3). */
static bool result_is_owned(const struct eip93_descriptor *result, uint32_t *out_control,
                            uint32_t *out_length) {
    *out_control = cd_driver_le32(__atomic_load_n(&result->control, __ATOMIC_ACQUIRE));
    *out_length = cd_driver_le32(__atomic_load_n(&result->length, __ATOMIC_ACQUIRE));
    return EIP93_GET(*out_control, EIP93_CD_OWNER) == EIP93_OWNER_HOST &&
           EIP93_GET(*out_length, EIP93_CD_LENGTH_OWNER) == EIP93_OWNER_HOST;
}

/* The outcome of one result that is owned and carries the right id. An engine that compares tags by
 * itself says so (12, Q1). */
static cd_status result_status(const struct cd_driver_slot *slot, uint32_t control,
                               uint32_t length) {
    uint32_t status = EIP93_GET(control, EIP93_RD_STATUS);
    if (status == EIP93_RD_AUTH_ERR && slot->job->ops->bounces && slot->job->decrypt) {
        return CD_E_AUTHENTICATION;
    }
    bool processed =
        status == EIP93_RD_OK && EIP93_GET(length, EIP93_CD_LENGTH) == slot->result_length;
    return processed ? CD_OK : CD_E_DEVICE;
}

/* Take the oldest result. NONE: it is not owned (yet). Sets *out_stopped on a bus error. */
static enum cd_driver_pop pop_one(struct cd_eip93_driver *driver, bool *out_stopped,
                                  struct cd_driver_list *done) {
    const struct eip93_descriptor *result = descriptor(&driver->result_ring, driver->oldest);
    const struct cd_driver_slot slot = driver->slots[driver->oldest];
    uint32_t control;
    uint32_t length;
    unsigned reads = 0;
    while (!result_is_owned(result, &control, &length)) {
        if (++reads == OWNERSHIP_READS) {
            return CD_DRIVER_POP_NONE;
        }
    }
    if (cd_driver_le32(result->user_id) != slot.user_id) {
        return CD_DRIVER_POP_BROKEN;
    }
    if (EIP93_GET(control, EIP93_RD_STATUS) == EIP93_RD_ERR_BUS) {
        *out_stopped = true;
    }
    driver->oldest = after(driver, driver->oldest);
    driver->in_flight--;
    cd_driver_settle(driver, &slot, result_status(&slot, control, length), done);
    return CD_DRIVER_POP_SOME;
}

/* Tell the engine that `count` results were taken, and let the interrupt go. The threshold is a
 * level: a result that came meanwhile raises it again (7.2). */
static void acknowledge(const struct cd_eip93_driver *driver, uint32_t count) {
    while (count > 0) {
        uint32_t part = count < EIP93_COUNT_WRITE_MAX ? count : EIP93_COUNT_WRITE_MAX;
        cd_driver_write(driver, EIP93_REG_PE_RD_COUNT, part);
        count -= part;
    }
    cd_driver_write(driver, EIP93_REG_INT_CLR, EIP93_INT_RDR_THRESH);
}

/* Read the count once and take that many. */
static enum cd_driver_pop pop_batch(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    uint32_t count = cd_driver_read(driver, EIP93_REG_PE_RD_COUNT) & EIP93_COUNT_READ;
    if (count > driver->in_flight) {
        return CD_DRIVER_POP_BROKEN;
    }
    enum cd_driver_pop last = CD_DRIVER_POP_NONE;
    bool stopped = false;
    uint32_t taken = 0;
    while (taken < count) {
        last = pop_one(driver, &stopped, done);
        if (last != CD_DRIVER_POP_SOME) {
            break;
        }
        taken++;
    }
    if (last == CD_DRIVER_POP_BROKEN) {
        return last;
    }
    if (taken > 0 || count == 0) {
        acknowledge(driver, taken);
    }
    if (stopped) {
        cd_driver_engine_continue(driver);
        driver->counters.resets++;
    }
    return taken > 0 ? CD_DRIVER_POP_SOME : CD_DRIVER_POP_NONE;
}

enum cd_driver_pop cd_driver_ring_pop(struct cd_eip93_driver *driver, struct cd_driver_list *done) {
    enum cd_driver_pop outcome = CD_DRIVER_POP_NONE;
    uint32_t control;
    uint32_t length;
    while (driver->in_flight > 0) {
        enum cd_driver_pop batch = pop_batch(driver, done);
        outcome = batch == CD_DRIVER_POP_NONE ? outcome : batch;
        if (batch != CD_DRIVER_POP_SOME || driver->in_flight == 0 ||
            !result_is_owned(descriptor(&driver->result_ring, driver->oldest), &control, &length)) {
            break;
        }
    }
    return outcome;
}
