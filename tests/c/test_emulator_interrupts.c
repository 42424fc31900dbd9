/* Interrupts: latches, masks, the re-latch rule, thresholds, the result timeout, pulses. */
#include "emulator_support.h"

static struct cd_eip93_emulator *chip_ready(int32_t pace) {
    struct cd_eip93_emulator *chip = chip_new(pace);
    chip_start(chip);
    put_sa(chip, SA, 0x0200FFC0, 0, "");
    for (uint32_t i = 0; i < 512; i++) {
        put_command(chip, CDR, i, SOURCE, DEST, i, 4);
    }
    return chip;
}

/* 7.2: clearing a level that still holds sets it again at once */
static void test_clear_relatches(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    CHECK(!cd_eip93_emulator_irq(chip));
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 2);
    CHECK(cd_eip93_emulator_irq(chip));
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2);
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2);
    CHECK(cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_write32(chip, 0x094, 1);
    cd_eip93_emulator_write32(chip, 0x204, 0x2); /* one result is left */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2);
    cd_eip93_emulator_write32(chip, 0x094, 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2); /* latched although the level is gone */
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    CHECK(!cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_free(chip);
}

/* 7.3: a result between reading RD_COUNT = 0 and the clear must not be lost */
static void test_linux_race(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    cd_eip93_emulator_write32(chip, 0x214, 0x2); /* handler: disable, the line must drop */
    CHECK(!cd_eip93_emulator_irq(chip));
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x2, 0x2);
    acknowledge(chip, 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1); /* it arrives here */
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    cd_eip93_emulator_write32(chip, 0x210, 0x2);
    CHECK(cd_eip93_emulator_irq(chip));
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 0), CD_OK);
    cd_eip93_emulator_free(chip);
}

static void test_masks(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    cd_eip93_emulator_write32(chip, 0x208, 0);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x3);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    cd_eip93_emulator_write32(chip, 0x210, 0); /* no bits: no effect */
    cd_eip93_emulator_write32(chip, 0x214, 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x208), 0);
    cd_eip93_emulator_write32(chip, 0x210, 0x1);
    cd_eip93_emulator_write32(chip, 0x210, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x208), 0x3);
    CHECK(cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_write32(chip, 0x214, 0x1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x208), 0x2);
    cd_eip93_emulator_write32(chip, 0x208, 0x30000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    CHECK(!cd_eip93_emulator_irq(chip));
    struct cd_eip93_emulator_counters counters;
    cd_eip93_emulator_counters(chip, &counters);
    CHECK_EQ(counters.interrupts, 1);
    cd_eip93_emulator_free(chip);
}

/* 4.5: CD_COUNT <= CDR_THRESH, RD_COUNT > RDR_THRESH */
static void test_thresholds(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    cd_eip93_emulator_write32(chip, 0x08C, 3u << 16 | 2); /* no timeout */
    ring(chip, 8);
    cd_eip93_emulator_write32(chip, 0x204, 0x78E03);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 3 * 155), 3);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 155), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 155), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 155), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x3);
    cd_eip93_emulator_free(chip);
}

/* 4.5, Q19: 2^(N+10) clocks after the first result; cleared by a write to RD_COUNT only */
static void test_timeout(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    cd_eip93_emulator_write32(chip, 0x08C, 0x80000000u | 1u << 26 | 100u << 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 151), 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 2047), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1), 0);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2);
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2); /* the flag holds it */
    cd_eip93_emulator_write32(chip, 0x094, 1);
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK); /* passes the timeout */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 2);
    CHECK_EQ(cd_eip93_emulator_ticks(chip), 151 + 2048 + 151 + 2048);
    cd_eip93_emulator_write32(chip, 0x094, 1); /* restarts the counter: one is left */
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 2047), 0);
    CHECK(!cd_eip93_emulator_irq(chip));
    CHECK_EQ(cd_eip93_emulator_step(chip, 1), 0);
    CHECK(cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_free(chip);
}

/* In FREE pace an idle device jumps to its timeout. */
static void test_timeout_free(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    cd_eip93_emulator_write32(chip, 0x08C, 0x80000000u | 15u << 26 | 100u << 16);
    ring(chip, 3);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 3);
    CHECK_EQ(cd_eip93_emulator_ticks(chip), 151 + 33554432);
    cd_eip93_emulator_free(chip);
}

/* 7.2 pulse output: one event per rise, whether or not the source stays; auto-clear */
static void test_pulse(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    cd_eip93_emulator_write32(chip, 0x20C, 0x1);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_E_TIMEOUT);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0x2);
    acknowledge(chip, 1);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    acknowledge(chip, 1);
    cd_eip93_emulator_write32(chip, 0x20C, 0x3);
    cd_eip93_emulator_write32(chip, 0x208, 0x20000);
    put_sa(chip, SA, 0x0200F7C0, 0, "");
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x204), 0); /* the event cleared itself */
    cd_eip93_emulator_free(chip);
}

/* 2.4: an engine reset leaves latches; sources latched while masked come out when enabled */
static void test_latches_survive_reset(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    cd_eip93_emulator_write(chip, 0x080, 0, 1);
    cd_eip93_emulator_write32(chip, 0x100, 0x705);
    cd_eip93_emulator_write32(chip, 0x100, 0x700);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x40001);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x208), 0x2);
    CHECK(!cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_write32(chip, 0x210, 0x40000);
    CHECK(cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_reset(chip);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200), 0x1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x208), 0);
    CHECK(!cd_eip93_emulator_irq(chip));
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_clear_relatches);
    RUN(test_linux_race);
    RUN(test_masks);
    RUN(test_thresholds);
    RUN(test_timeout);
    RUN(test_timeout_free);
    RUN(test_pulse);
    RUN(test_latches_survive_reset);
    return test_end();
}
