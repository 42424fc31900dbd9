/* R013: every documented register by its literal offset; accesses of other sizes and places. */
#include "emulator_support.h"

enum kind { STORE, FIXED, WRITE_ONLY, COUNT };

struct row {
    uint32_t offset;
    enum kind kind;
    uint32_t reset;
    uint32_t writable;
};

/* Restated from eip93-hardware.md section 2, independently of the emulator's table. */
static const struct row rows[] = {
    {0x000, STORE, 0x00000002, ~0u},
    {0x004, STORE, 0, ~0u},
    {0x008, STORE, 0, ~0u},
    {0x00C, STORE, 0, ~0u},
    {0x010, STORE, 0, ~0u},
    {0x014, STORE, 0, ~0u},
    {0x018, STORE, 0, ~0u},
    {0x01C, STORE, 0x00800000, ~0u},
    {0x080, STORE, 0, ~0u},
    {0x084, STORE, 0, ~0u},
    {0x088, STORE, 0, ~0u},
    {0x08C, STORE, 0, ~0u},
    {0x090, COUNT, 0, 0},
    {0x094, COUNT, 0, 0},
    {0x098, FIXED, 0, 0},
    {0x09C, COUNT, 0, 0},
    {0x104, FIXED, 0x0000001F, 0},
    {0x10C, STORE, 0, ~0u},
    {0x110, COUNT, 0, 0},
    {0x114, COUNT, 0, 0},
    {0x118, FIXED, 0, 0},
    {0x120, STORE, 0, ~0u},
    {0x1CC, STORE, 0x00E400E4, ~0u},
    {0x1E0, STORE, 0, 0x3F},
    {0x1E4, WRITE_ONLY, 0, 0},
    {0x1E8, STORE, 0x0000001F, 0x1F},
    {0x1F4, FIXED, 0x000FE007, 0},
    {0x1F8, FIXED, 0, 0},
    {0x1FC, FIXED, 0x0210A25D, 0},
    {0x208, STORE, 0, 0x78E03},
    {0x20C, STORE, 0, 0x3},
    {0x300, STORE, 0, ~0u},
    {0x33C, STORE, 0, ~0u},
    {0x400, STORE, 0, ~0u},
    {0x404, STORE, 0, ~0u},
    {0x408, WRITE_ONLY, 0, 0},
    {0x424, WRITE_ONLY, 0, 0},
    {0x428, STORE, 0, ~0u},
    {0x448, STORE, 0, ~0u},
    {0x464, STORE, 0, ~0u},
    {0x468, STORE, 0, ~0u},
    {0x46C, STORE, 0, ~0u},
    {0x470, STORE, 0, ~0u},
    {0x474, STORE, 0, ~0u},
    {0x478, STORE, 0, ~0u},
    {0x47C, STORE, 0, ~0u},
    {0x500, STORE, 0, ~0u},
    {0x50C, STORE, 0, ~0u},
    {0x510, STORE, 0, ~0u},
    {0x514, STORE, 0, ~0u},
    {0x534, STORE, 0, ~0u},
    {0x700, STORE, 0, ~0u},
    {0x7FC, STORE, 0, ~0u},
    {0x800, WRITE_ONLY, 0, 0},
    {0x8FC, WRITE_ONLY, 0, 0},
};
#define ROWS (sizeof rows / sizeof rows[0])

static void test_r013_reset_values(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t value = cd_eip93_emulator_read32(chip, rows[i].offset);
        if (value != rows[i].reset) {
            printf("register 0x%03x: 0x%08x\n", rows[i].offset, value);
        }
        CHECK_EQ(value, rows[i].reset);
    }
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x100), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x1D0), 0x00E400E4);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 1); /* Q30 */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    CHECK(!cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_free(chip);
}

/* A different value in each: an aliased offset would show. */
static void test_r013_stores_are_distinct(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    for (size_t i = 0; i < ROWS; i++) {
        cd_eip93_emulator_write32(chip, rows[i].offset, 0x5A000000u + rows[i].offset * 0x101u);
    }
    for (size_t i = 0; i < ROWS; i++) {
        uint32_t written = 0x5A000000u + rows[i].offset * 0x101u;
        uint32_t value = cd_eip93_emulator_read32(chip, rows[i].offset);
        uint32_t expected = rows[i].kind == STORE   ? written & rows[i].writable
                            : rows[i].kind == FIXED ? rows[i].reset
                                                    : 0;
        if (rows[i].offset == 0x09C) {
            continue; /* RING_STAT: the write to PE_RD_COUNT was an underflow, then cleared */
        }
        if (value != expected) {
            printf("register 0x%03x: 0x%08x\n", rows[i].offset, value);
        }
        CHECK_EQ(value, expected);
    }
    cd_eip93_emulator_reset(chip);
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_EQ(cd_eip93_emulator_read32(chip, rows[i].offset), rows[i].reset);
    }
    cd_eip93_emulator_free(chip);
}

/* The mistake of the report: INBUF_COUNT is 0x110, and not PE_CONFIG at 0x100 */
static void test_r013_inbuf_count(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    cd_eip93_emulator_write32(chip, 0x110, 0x40);
    cd_eip93_emulator_write32(chip, 0x114, 0x80);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x100), 0);
    cd_eip93_emulator_write32(chip, 0x100, 0x700);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x100), 0x700);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x110), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x114), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x118), 0);
    cd_eip93_emulator_free(chip);
}

/* 2.1: unlisted offsets read 0 and ignore writes; anything but an aligned word is INTERFACE_ERR */
static void test_odd_accesses(void) {
    static const uint32_t unlisted[] = {0x020, 0x07C, 0x0A0, 0x108, 0x11C, 0x1F0, 0x218,
                                        0x340, 0x480, 0x538, 0x600, 0x900, 0xFFC};
    static const uint32_t sizes[] = {1, 2, 8, 0, 3, 16};
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    struct cd_eip93_emulator_counters counters;
    for (size_t i = 0; i < sizeof unlisted / sizeof unlisted[0]; i++) {
        cd_eip93_emulator_write32(chip, unlisted[i], ~0u);
        CHECK_EQ(cd_eip93_emulator_read32(chip, unlisted[i]), 0);
    }
    cd_eip93_emulator_counters(chip, &counters);
    CHECK_EQ(counters.guest_errors, 2 * sizeof unlisted / sizeof unlisted[0]);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        cd_eip93_emulator_write(chip, 0x080, ~0u, sizes[i]);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x40001);
        cd_eip93_emulator_write32(chip, 0x204, 0x40000);
        CHECK_EQ(cd_eip93_emulator_read(chip, 0x1FC, sizes[i]), 0);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x40001);
        cd_eip93_emulator_write32(chip, 0x204, 0x40000);
    }
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x080), 0);
    static const uint32_t outside[] = {0x081, 0x082, 0x083, 0x1000, 0x10000080, 0xFFFFFFFC, ~0u};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        cd_eip93_emulator_write32(chip, outside[i], ~0u);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x40001);
        cd_eip93_emulator_write32(chip, 0x204, 0x40000);
        CHECK_EQ(cd_eip93_emulator_read32(chip, outside[i]), 0);
    }
    CHECK_EQ(cd_eip93_emulator_read(chip, 0x1FC, 4), 0x0210A25D);
    cd_eip93_emulator_free(chip);
}

/* Q20: one endian register at two places; STATE_IDIGEST mirrors SA_IDIGEST */
static void test_aliases(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    cd_eip93_emulator_write32(chip, 0x1CC, 0x00020222);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x1D0), 0x00020222);
    cd_eip93_emulator_write32(chip, 0x1D0, 0x001B001B);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x1CC), 0x001B001B);
    for (uint32_t word = 0; word < 8; word++) {
        cd_eip93_emulator_write32(chip, 0x428 + 4 * word, 0x100 + word);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x518 + 4 * word), 0x100 + word);
        cd_eip93_emulator_write32(chip, 0x518 + 4 * word, 0x200 + word);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x428 + 4 * word), 0x200 + word);
    }
    cd_eip93_emulator_free(chip);
}

/* 1.3 */
static void test_variants(void) {
    static const uint32_t option_1[] = {0x00022005, 0x000EE005, 0x00032007, 0x000FE007, 0x30822005};
    for (int32_t variant = 0; variant < 5; variant++) {
        struct cd_eip93_emulator *chip =
            chip_new_config((struct cd_eip93_emulator_config){.variant = variant});
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x1F4), option_1[variant]);
        CHECK_EQ(cd_eip93_emulator_read32(chip, 0x1FC) & 0xFF, 0x5D);
        cd_eip93_emulator_free(chip);
    }
}

/* 2.2: in autonomous ring mode the engine owns the descriptor registers */
static void test_descriptor_registers(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    chip_start(chip);
    cd_eip93_emulator_write32(chip, 0x018, 0x1234);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x018), 0);
    put_sa(chip, SA, 0x0200FFC0, 0, "");
    put_command(chip, CDR, 0, SOURCE, DEST, 0x4321, 8);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x018), 0x4321);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x000), 0x00000002);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x01C), 0x00800008);
    cd_eip93_emulator_free(chip);
}

static uint64_t unimplemented(struct cd_eip93_emulator *chip) {
    struct cd_eip93_emulator_counters counters;
    cd_eip93_emulator_counters(chip, &counters);
    return counters.unimplemented;
}

/* What is stored only says so where it would have had an effect. */
static void test_unimplemented_is_counted(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    CHECK_EQ(unimplemented(chip), 0);
    cd_eip93_emulator_write32(chip, 0x090, 1); /* doorbell outside ring mode */
    CHECK_EQ(unimplemented(chip), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
    cd_eip93_emulator_write32(chip, 0x47C, 1); /* SA_READY in direct host mode */
    CHECK_EQ(unimplemented(chip), 2);
    cd_eip93_emulator_write32(chip, 0x110, 64);
    CHECK_EQ(unimplemented(chip), 3);
    cd_eip93_emulator_write32(chip, 0x100, 0x300);
    cd_eip93_emulator_write32(chip, 0x47C, 1);
    CHECK_EQ(unimplemented(chip), 3);
    cd_eip93_emulator_write32(chip, 0x1E0, 0x3E); /* halt points without enable */
    CHECK_EQ(unimplemented(chip), 3);
    cd_eip93_emulator_write32(chip, 0x1E0, 0x3F);
    CHECK_EQ(unimplemented(chip), 4);
    cd_eip93_emulator_write32(chip, 0x1CC, 0x00020222); /* as the old driver: no enable */
    CHECK_EQ(unimplemented(chip), 4);
    cd_eip93_emulator_write32(chip, 0x100, 0x10300);
    CHECK_EQ(unimplemented(chip), 5);
    cd_eip93_emulator_free(chip);
}

static void test_new_checks_config(void) {
    struct cd_eip93_emulator *chip;
    struct cd_eip93_emulator_config config = {.variant = 5};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_INVALID);
    config = (struct cd_eip93_emulator_config){.variant = -1};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_INVALID);
    config = (struct cd_eip93_emulator_config){.pace = 3};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_INVALID);
    config = (struct cd_eip93_emulator_config){.memory_len = 0xF000};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_RANGE);
    config = (struct cd_eip93_emulator_config){.memory_len = 0x10010};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_RANGE);
    config = (struct cd_eip93_emulator_config){.memory_len = 0x10001000};
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_RANGE);
    config = (struct cd_eip93_emulator_config){0};
    cd_eip93_cost_default(&config.cost);
    config.cost.interrupt_ps = (UINT64_C(1) << 40) + 1;
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_E_RANGE);
    CHECK(chip == NULL);
    config.cost.interrupt_ps = UINT64_C(1) << 40;
    config.memory_len = 0x10000;
    CHECK_EQ(cd_eip93_emulator_new(&chip, &config), CD_OK);
    cd_eip93_emulator_free(chip);
    cd_eip93_emulator_free(NULL);
}

int main(void) {
    RUN(test_r013_reset_values);
    RUN(test_r013_stores_are_distinct);
    RUN(test_r013_inbuf_count);
    RUN(test_odd_accesses);
    RUN(test_aliases);
    RUN(test_variants);
    RUN(test_descriptor_registers);
    RUN(test_unimplemented_is_counted);
    RUN(test_new_checks_config);
    return test_end();
}
