/* What accesses to single registers do beyond storing; called from the register table. */
#include "eip93/emulator/emulator_internal.h"

static uint32_t mode(const struct cd_eip93_emulator *emulator) {
    return EIP93_GET(cd_emulator_register(emulator, EIP93_REG_PE_CONFIG), EIP93_CONFIG_PE_MODE);
}

static bool ring_held(const struct cd_eip93_emulator *emulator) {
    return (cd_emulator_register(emulator, EIP93_REG_PE_CONFIG) & EIP93_CONFIG_RST_RING_ANY) != 0;
}

/* In autonomous ring mode the engine loads these from the ring [model]. */
void cd_emulator_write_descriptor(struct cd_eip93_emulator *emulator, uint32_t offset,
                                  uint32_t value) {
    if (mode(emulator) != EIP93_CONFIG_PE_MODE_ARM) {
        cd_emulator_register_set(emulator, offset, value);
    }
}

uint32_t cd_emulator_read_cd_count(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return emulator->cd_count & EIP93_COUNT_READ;
}

uint32_t cd_emulator_read_rd_count(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return emulator->rd_count & EIP93_COUNT_READ;
}

uint32_t cd_emulator_read_pointers(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return EIP93_PUT(emulator->cdr_index, EIP93_RING_RW_PNTR_CDR) |
           EIP93_PUT(emulator->rdr_index, EIP93_RING_RW_PNTR_RDR);
}

/* The doorbell. Nothing is run here: see section 11, item 12. */
void cd_emulator_write_cd_count(struct cd_eip93_emulator *emulator, uint32_t offset,
                                uint32_t value) {
    uint32_t commands = value & EIP93_COUNT_WRITE;
    if (mode(emulator) != EIP93_CONFIG_PE_MODE_ARM) {
        cd_emulator_unimplemented(emulator, offset); /* would start a command of that mode */
        return;
    }
    if (!ring_held(emulator) && commands != 0) {
        cd_emulator_ring_add(emulator, commands);
    }
}

void cd_emulator_write_rd_count(struct cd_eip93_emulator *emulator, uint32_t offset,
                                uint32_t value) {
    (void)offset;
    if (!ring_held(emulator)) {
        cd_emulator_ring_acknowledge(emulator, value & EIP93_COUNT_WRITE);
    }
}

void cd_emulator_write_ring_stat(struct cd_eip93_emulator *emulator, uint32_t offset,
                                 uint32_t value) {
    (void)value;
    cd_emulator_register_set(emulator, offset, 0);
}

void cd_emulator_write_ring_thresh(struct cd_eip93_emulator *emulator, uint32_t offset,
                                   uint32_t value) {
    uint32_t before = cd_emulator_register(emulator, offset);
    cd_emulator_register_set(emulator, offset, value);
    cd_emulator_timeout_configure(emulator);
    if ((value & ~before & EIP93_RING_THRESH_TIMEOUT_EN) != 0) {
        cd_emulator_timeout_restart(emulator);
    }
    cd_emulator_interrupt_update(emulator, 0);
}

/* Section 2.5: byte swapping is not modelled; say so where it would change something. */
static void check_endian(struct cd_eip93_emulator *emulator) {
    uint32_t config = cd_emulator_register(emulator, EIP93_REG_PE_CONFIG);
    uint32_t endian = cd_emulator_register(emulator, EIP93_REG_PE_ENDIAN_CONFIG);
    uint32_t master = EIP93_CONFIG_SWAP_DATA | EIP93_CONFIG_SWAP_SA | EIP93_CONFIG_SWAP_CDRD;
    bool swaps_master =
        (config & master) != 0 && ((endian ^ EIP93_ENDIAN_RESET) & EIP93_ENDIAN_MASTER) != 0;
    bool swaps_target = (config & EIP93_CONFIG_SWAP_TARGET) != 0 &&
                        ((endian ^ EIP93_ENDIAN_RESET) & EIP93_ENDIAN_TARGET) != 0;
    if (swaps_master || swaps_target) {
        cd_emulator_unimplemented(emulator, EIP93_REG_PE_ENDIAN_CONFIG);
    }
}

/* Reset bits act while they are 1; the register reads back what was written. */
void cd_emulator_write_config(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    cd_emulator_register_set(emulator, offset, value);
    if ((value & (EIP93_CONFIG_RST_PE | EIP93_CONFIG_RST_RING_ANY)) != 0) {
        cd_emulator_trace_event(emulator, CD_EIP93_EVENT_RESET, value);
    }
    if ((value & EIP93_CONFIG_RST_PE) != 0) {
        cd_emulator_reset_engine(emulator);
    }
    if ((value & EIP93_CONFIG_RST_RING_ANY) != 0) {
        cd_emulator_reset_ring(emulator);
    }
    check_endian(emulator);
    cd_emulator_interrupt_update(emulator, 0);
    pthread_cond_broadcast(&emulator->changed);
}

/* Both maps have the register, at different offsets: one storage (Q20). */
uint32_t cd_emulator_read_endian(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return cd_emulator_register(emulator, EIP93_REG_PE_ENDIAN_CONFIG);
}

void cd_emulator_write_endian(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    (void)offset;
    cd_emulator_register_set(emulator, EIP93_REG_PE_ENDIAN_CONFIG, value);
    check_endian(emulator);
}

/* Halting between stages is not modelled. */
void cd_emulator_write_halt(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    cd_emulator_register_set(emulator, offset, value);
    if ((value & 1u) != 0) {
        cd_emulator_unimplemented(emulator, offset);
    }
}

/* Registers that start or feed an operation of direct host mode, which is not modelled. */
void cd_emulator_write_direct(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    if (mode(emulator) == EIP93_CONFIG_PE_MODE_DHM) {
        cd_emulator_unimplemented(emulator, offset);
    }
    if (offset == EIP93_REG_SA_NONCE) {
        cd_emulator_register_set(emulator, offset, value);
    }
}

/* STATE_IDIGEST is SA_IDIGEST (section 2.8). */
static uint32_t mirrored(uint32_t offset) {
    return offset - EIP93_REG_STATE_IDIGEST + EIP93_REG_SA_IDIGEST;
}

uint32_t cd_emulator_read_mirror(struct cd_eip93_emulator *emulator, uint32_t offset) {
    return cd_emulator_register(emulator, mirrored(offset));
}

void cd_emulator_write_mirror(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    cd_emulator_register_set(emulator, mirrored(offset), value);
}

uint32_t cd_emulator_read_raw(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return emulator->interrupt_raw;
}

uint32_t cd_emulator_read_masked(struct cd_eip93_emulator *emulator, uint32_t offset) {
    (void)offset;
    return emulator->interrupt_raw & cd_emulator_register(emulator, EIP93_REG_INT_MASK);
}

void cd_emulator_write_clear(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    (void)offset;
    cd_emulator_interrupt_clear(emulator, value);
}

void cd_emulator_write_mask(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value) {
    uint32_t mask = cd_emulator_register(emulator, EIP93_REG_INT_MASK);
    switch (offset) {
    case EIP93_REG_INT_MASK_ENABLE:
        mask |= value;
        break;
    case EIP93_REG_INT_MASK_DISABLE:
        mask &= ~value;
        break;
    case EIP93_REG_INT_MASK:
        mask = value;
        break;
    default:
        cd_emulator_register_set(emulator, offset, value); /* INT_CFG */
        break;
    }
    cd_emulator_register_set(emulator, EIP93_REG_INT_MASK, mask);
    cd_emulator_interrupt_update(emulator, 0);
}
