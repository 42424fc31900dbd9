/*
 * The registers: one table, and two short functions over it.
 *
 * Offsets that no row covers read 0 and ignore writes; so does any access that is not one aligned
 * word, which also latches INTERFACE_ERR (eip93-hardware.md section 2.1).
 */
#include "eip93/emulator/emulator_internal.h"

enum access { RO, RW, WO };

struct emulator_register {
    const char *name;
    uint32_t offset; /* of the first word */
    uint32_t words;
    enum access access;
    uint32_t reset;
    uint32_t writable;
    uint32_t (*read)(struct cd_eip93_emulator *emulator, uint32_t offset); /* NULL: as stored */
    void (*write)(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value);
};

#define ALL 0xFFFFFFFFu

/* Sections 2.2 to 2.8, in order of offsets. */
static const struct emulator_register table[] = {
    {"PE_CTRL_STAT", 0x000, 1, RW, 0x00000002, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_SOURCE_ADDR", 0x004, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_DEST_ADDR", 0x008, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_SA_ADDR", 0x00C, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_STATE_ADDR", 0x010, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_ARC4STATE_ADDR", 0x014, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_USER_ID", 0x018, 1, RW, 0, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_LENGTH", 0x01C, 1, RW, 0x00800000, ALL, NULL, cd_emulator_write_descriptor},
    {"PE_CDR_BASE", 0x080, 1, RW, 0, ALL, NULL, NULL},
    {"PE_RDR_BASE", 0x084, 1, RW, 0, ALL, NULL, NULL},
    {"PE_RING_CONFIG", 0x088, 1, RW, 0, ALL, NULL, NULL},
    {"PE_RING_THRESH", 0x08C, 1, RW, 0, ALL, NULL, cd_emulator_write_ring_thresh},
    {"PE_CD_COUNT", 0x090, 1, RW, 0, ALL, cd_emulator_read_cd_count, cd_emulator_write_cd_count},
    {"PE_RD_COUNT", 0x094, 1, RW, 0, ALL, cd_emulator_read_rd_count, cd_emulator_write_rd_count},
    {"PE_RING_RW_PNTR", 0x098, 1, RO, 0, 0, cd_emulator_read_pointers, NULL},
    {"PE_RING_STAT", 0x09C, 1, RW, 0, ALL, NULL, cd_emulator_write_ring_stat},
    {"PE_CONFIG", 0x100, 1, RW, 0, ALL, NULL, cd_emulator_write_config},
    {"PE_STATUS", 0x104, 1, RO, EIP93_STATUS_IDLE, 0, NULL, NULL},
    {"PE_BUF_THRESH", 0x10C, 1, RW, 0, ALL, NULL, NULL},
    {"PE_INBUF_COUNT", 0x110, 1, RW, 0, 0, NULL, cd_emulator_write_direct},
    {"PE_OUTBUF_COUNT", 0x114, 1, RW, 0, 0, NULL, cd_emulator_write_direct},
    {"PE_BUF_RW_PNTR", 0x118, 1, RO, 0, 0, NULL, NULL},
    {"PE_DMA_CONFIG", 0x120, 1, RW, 0, ALL, NULL, NULL},
    {"PE_ENDIAN_CONFIG_OLD", 0x1CC, 1, RW, 0, ALL, cd_emulator_read_endian,
     cd_emulator_write_endian},
    {"PE_ENDIAN_CONFIG", 0x1D0, 1, RW, EIP93_ENDIAN_RESET, ALL, NULL, cd_emulator_write_endian},
    {"PE_HALT_CTRL", 0x1E0, 1, RW, 0, 0x3F, NULL, cd_emulator_write_halt},
    {"PE_CONTINUE", 0x1E4, 1, WO, 0, 0, NULL, NULL},
    {"PE_CLOCK_CTRL", 0x1E8, 1, RW, EIP93_CLOCK_ALL, EIP93_CLOCK_ALL, NULL, NULL},
    {"PE_OPTION_1", 0x1F4, 1, RO, 0, 0, NULL, NULL}, /* by variant */
    {"PE_OPTION_0", 0x1F8, 1, RO, 0, 0, NULL, NULL},
    {"PE_REVISION", 0x1FC, 1, RO, EIP93_REVISION_RESET, 0, NULL, NULL},
    {"INT_UNMASK_STAT", 0x200, 1, RO, 0, 0, cd_emulator_read_raw, NULL},
    {"INT_MASK_STAT", 0x204, 1, RW, 0, ALL, cd_emulator_read_masked, cd_emulator_write_clear},
    {"INT_MASK", 0x208, 1, RW, 0, EIP93_INT_ALL, NULL, cd_emulator_write_mask},
    {"INT_CFG", 0x20C, 1, RW, 0, 0x3, NULL, cd_emulator_write_mask},
    {"INT_MASK_ENABLE", 0x210, 1, WO, 0, EIP93_INT_ALL, NULL, cd_emulator_write_mask},
    {"INT_MASK_DISABLE", 0x214, 1, WO, 0, EIP93_INT_ALL, NULL, cd_emulator_write_mask},
    {"PRNG", 0x300, 16, RW, 0, ALL, NULL, NULL},
    {"SA_CMD", 0x400, 2, RW, 0, ALL, NULL, NULL},
    {"SA_KEY", 0x408, 8, WO, 0, ALL, NULL, NULL},
    {"SA_IDIGEST", 0x428, 8, RW, 0, ALL, NULL, NULL},
    {"SA_ODIGEST", 0x448, 8, RW, 0, ALL, NULL, NULL},
    {"SA_SPI", 0x468, 1, RW, 0, ALL, NULL, NULL},
    {"SA_SEQNUM", 0x46C, 2, RW, 0, ALL, NULL, NULL},
    {"SA_SEQNUM_MASK", 0x474, 2, RW, 0, ALL, NULL, NULL},
    {"SA_NONCE", 0x47C, 1, RW, 0, ALL, NULL, cd_emulator_write_direct},
    {"STATE_IV", 0x500, 4, RW, 0, ALL, NULL, NULL},
    {"STATE_BYTE_CNT", 0x510, 2, RW, 0, ALL, NULL, NULL},
    {"STATE_IDIGEST", 0x518, 8, RW, 0, ALL, cd_emulator_read_mirror, cd_emulator_write_mirror},
    {"ARC4_SBOX", 0x700, 64, RW, 0, ALL, NULL, NULL},
    {"DATA_BUFFER", 0x800, 64, WO, 0, ALL, NULL, cd_emulator_write_direct},
};

#define ROWS (sizeof table / sizeof table[0])
static_assert(ROWS < UINT8_MAX, "register_rows holds an index in a byte");

void cd_emulator_registers_init(struct cd_eip93_emulator *emulator) {
    for (size_t row = 0; row < ROWS; row++) {
        for (uint32_t word = 0; word < table[row].words; word++) {
            emulator->register_rows[table[row].offset / 4u + word] = (uint8_t)(row + 1);
        }
    }
}

void cd_emulator_registers_reset(struct cd_eip93_emulator *emulator) {
    for (size_t row = 0; row < ROWS; row++) {
        for (uint32_t word = 0; word < table[row].words; word++) {
            emulator->registers[table[row].offset / 4u + word] = table[row].reset;
        }
    }
    cd_emulator_register_set(emulator, EIP93_REG_PE_OPTION_1, emulator->option_1);
}

/* The row of an access; NULL, and a guest error, if the access has none. */
static const struct emulator_register *row_of(struct cd_eip93_emulator *emulator, uint32_t offset,
                                              uint32_t size) {
    if (size != 4 || offset % 4u != 0 || offset >= EIP93_REG_WINDOW_SIZE) {
        cd_emulator_guest_error(emulator, offset);
        cd_emulator_interrupt_update(emulator, EIP93_INT_INTERFACE_ERR);
        return NULL;
    }
    uint8_t row = emulator->register_rows[offset / 4u];
    if (row == 0) {
        cd_emulator_guest_error(emulator, offset);
        return NULL;
    }
    return &table[row - 1];
}

uint32_t cd_emulator_register_read(struct cd_eip93_emulator *emulator, uint32_t offset,
                                   uint32_t size) {
    const struct emulator_register *row = row_of(emulator, offset, size);
    if (row == NULL || row->access == WO) {
        return 0;
    }
    return row->read != NULL ? row->read(emulator, offset) : cd_emulator_register(emulator, offset);
}

void cd_emulator_register_write(struct cd_eip93_emulator *emulator, uint32_t offset, uint32_t value,
                                uint32_t size) {
    const struct emulator_register *row = row_of(emulator, offset, size);
    if (row == NULL) {
        return;
    }
    if (row->access == RO) {
        cd_emulator_guest_error(emulator, offset);
    } else if (row->write != NULL) {
        row->write(emulator, offset, value & row->writable);
    } else {
        cd_emulator_register_set(emulator, offset, value & row->writable);
    }
}

uint32_t cd_eip93_emulator_read32(struct cd_eip93_emulator *emulator, uint32_t offset) {
    return (uint32_t)cd_eip93_emulator_read(emulator, offset, 4);
}

void cd_eip93_emulator_write32(struct cd_eip93_emulator *emulator, uint32_t offset,
                               uint32_t value) {
    cd_eip93_emulator_write(emulator, offset, value, 4);
}

uint64_t cd_eip93_emulator_read(struct cd_eip93_emulator *emulator, uint32_t offset,
                                uint32_t size) {
    cd_emulator_lock(emulator);
    uint32_t value = cd_emulator_register_read(emulator, offset, size);
    cd_emulator_unlock(emulator);
    return value;
}

void cd_eip93_emulator_write(struct cd_eip93_emulator *emulator, uint32_t offset, uint64_t value,
                             uint32_t size) {
    cd_emulator_lock(emulator);
    cd_emulator_register_write(emulator, offset, (uint32_t)value, size);
    cd_emulator_unlock(emulator);
}
