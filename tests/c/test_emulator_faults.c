/* Each injected fault, what a driver sees of it, and that a reset heals what needs healing. */
#include "emulator_support.h"

#include <time.h>

static struct cd_eip93_emulator *chip_ready(int32_t pace) {
    struct cd_eip93_emulator *chip = chip_new(pace);
    chip_start(chip);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_hex(chip, SOURCE, AES_TEXT);
    for (uint32_t i = 0; i < 16; i++) {
        put_command(chip, CDR, i, SOURCE, DEST, 0x1000 + i, 16);
    }
    return chip;
}

/* The three-step recovery of a driver: both resets, then a packet that works. */
static void recover(struct cd_eip93_emulator *chip) {
    chip_start(chip);
    put_word(chip, RDR, 0);
    put_command(chip, CDR, 0, SOURCE, DEST, 0x2000, 16);
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    CHECK_EQ(get_word(chip, RDR), 0x00000002);
    CHECK_EQ(get_word(chip, RDR + 24), 0x2000);
    CHECK_HEX(chip, DEST, "7649abac8119b246cee98e9b12e9197d");
}

/* Q9: a bus error gives a result, two latches, and a stopped engine. */
static void bus_fault(int32_t fault) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_inject(chip, fault, 1, 1, 0), CD_OK);
    put_hex(chip, DEST, "eeeeeeee");
    ring(chip, 3);
    (void)cd_eip93_emulator_step(chip, 100000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00000002);
    CHECK_EQ(get_word(chip, RDR + 32), 0x00080002);
    CHECK_EQ(get_word(chip, RDR + 32 + 24), 0x1001);
    CHECK_EQ(get_word(chip, RDR + 32 + 28), 0x00800000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x60000, 0x60000);
    recover(chip);
    cd_eip93_emulator_free(chip);
}

static void test_dma_read(void) {
    bus_fault(CD_EIP93_FAULT_DMA_READ);
}

static void test_dma_write(void) {
    bus_fault(CD_EIP93_FAULT_DMA_WRITE);
}

static void test_late(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_LATE, 0, 1, 0), CD_OK);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_E_TIMEOUT);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    CHECK_EQ(cd_eip93_emulator_ticks(chip), 251000);
    CHECK_EQ(cd_eip93_emulator_step(chip, 251), 1);
    cd_eip93_emulator_free(chip);
}

static void test_late_free(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    struct timespec before;
    struct timespec after;
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_LATE, 0, 1, 0), CD_OK);
    clock_gettime(CLOCK_MONOTONIC, &before);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 0), CD_E_TIMEOUT);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec >= 1004000);
    cd_eip93_emulator_free(chip);
}

static void test_lost(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_LOST, 1, 1, 0), CD_OK);
    ring(chip, 3);
    (void)cd_eip93_emulator_step(chip, 100000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 1);
    CHECK_EQ(get_word(chip, RDR + 24), 0x1000);
    CHECK_EQ(get_word(chip, RDR + 32 + 24), 0x1002); /* the second has no result */
    recover(chip);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 0);
    cd_eip93_emulator_free(chip);
}

static void test_hang(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_HANG, 0, 1, 0), CD_OK);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_E_TIMEOUT);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 2);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
    cd_eip93_emulator_write32(chip, 0x100, 0x702); /* a ring reset alone does not help */
    cd_eip93_emulator_write32(chip, 0x100, 0x700);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_E_TIMEOUT);
    recover(chip);
    cd_eip93_emulator_free(chip);
}

static void test_hang_free(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_HANG, 0, 1, 0), CD_OK);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 5000000), CD_E_TIMEOUT);
    recover(chip);
    cd_eip93_emulator_free(chip);
}

static void test_no_interrupt(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_VIRTUAL);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_NO_INTERRUPT, 0, 1, 0), CD_OK);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_E_TIMEOUT);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00000002);
    ring(chip, 1); /* the next one raises it */
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 2);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_NO_INTERRUPT, 0, 1, 0), CD_OK);
    acknowledge(chip, 2);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_E_TIMEOUT);
    acknowledge(chip, 1); /* found by polling */
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
    cd_eip93_emulator_free(chip);
}

static void test_wrong_id_status_half_owned(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_WRONG_ID, 0, 2, 0), CD_OK);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_STATUS, 2, 1, 0x03), CD_OK);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_HALF_OWNED, 3, 1, 0), CD_OK);
    ring(chip, 5);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 5);
    CHECK_EQ(get_word(chip, RDR + 24), ~0x1000u);
    CHECK_EQ(get_word(chip, RDR + 32 + 24), ~0x1001u);
    CHECK_EQ(get_word(chip, RDR + 64 + 24), 0x1002);
    CHECK_EQ(get_word(chip, RDR + 64), 0x00030002);
    CHECK_EQ(get_word(chip, RDR + 96), 0x00000002);
    CHECK_EQ(get_word(chip, RDR + 96 + 28), 0x00400010);
    CHECK_EQ(get_word(chip, RDR + 128), 0x00000002);
    CHECK_EQ(get_word(chip, RDR + 128 + 28), 0x00800010);
    cd_eip93_emulator_free(chip);
}

static void test_map(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    struct cd_eip93_bus bus;
    uint8_t buffer[16];
    void *memory;
    uint32_t address;
    cd_eip93_emulator_bus(chip, &bus);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_MAP, 1, 2, 0), CD_OK);
    CHECK_EQ(bus.dma_map(bus.context, buffer, 16, CD_DMA_TO_DEVICE, &address), CD_OK);
    CHECK_EQ(bus.dma_map(bus.context, buffer, 16, CD_DMA_TO_DEVICE, &address), CD_E_NO_MEMORY);
    CHECK_EQ(bus.dma_alloc(bus.context, 16, 4, &memory, &address), CD_E_NO_MEMORY);
    CHECK_EQ(bus.dma_alloc(bus.context, 16, 4, &memory, &address), CD_OK);
    cd_eip93_emulator_free(chip);
}

static void test_inject_arguments(void) {
    struct cd_eip93_emulator *chip = chip_ready(CD_EIP93_FREE);
    CHECK_EQ(cd_eip93_emulator_inject(chip, 0, 0, 1, 0), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_inject(chip, 11, 0, 1, 0), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_STATUS, 0, 1, 0x01), CD_OK);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_STATUS, 0, 0, 0), CD_OK); /* removed */
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00000002);
    CHECK_EQ(cd_eip93_emulator_inject(chip, CD_EIP93_FAULT_STATUS, 0, 1, 0x01), CD_OK);
    cd_eip93_emulator_reset(chip); /* a hardware reset keeps them */
    chip_start(chip);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1000), 1);
    CHECK_EQ(get_word(chip, RDR), 0x00010002);
    cd_eip93_emulator_free(chip);
}

/* Q8: with the strap a length error stops the engine until RST_PE */
static void test_stop_on_length_error(void) {
    for (int strap = 0; strap < 2; strap++) {
        struct cd_eip93_emulator *chip = chip_new_config((struct cd_eip93_emulator_config){
            .variant = CD_EIP93_93IES, .strap_stop_on_length_error = strap != 0});
        chip_start(chip);
        put_sa(chip, SA, 0x0100F3C0, 0x02050100, AES_KEY);
        put_command(chip, CDR, 0, SOURCE, DEST, 0, 16);
        put_command(chip, CDR, 1, SOURCE, DEST, 0, 16);
        ring(chip, 2);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), strap ? 1 : 2);
        cd_eip93_emulator_write32(chip, 0x100, 0x701);
        cd_eip93_emulator_write32(chip, 0x100, 0x700);
        CHECK_EQ(cd_eip93_emulator_step(chip, 100000), strap ? 1 : 0);
        cd_eip93_emulator_free(chip);
    }
}

int main(void) {
    RUN(test_dma_read);
    RUN(test_dma_write);
    RUN(test_late);
    RUN(test_late_free);
    RUN(test_lost);
    RUN(test_hang);
    RUN(test_hang_free);
    RUN(test_no_interrupt);
    RUN(test_wrong_id_status_half_owned);
    RUN(test_map);
    RUN(test_inject_arguments);
    RUN(test_stop_on_length_error);
    return test_end();
}
