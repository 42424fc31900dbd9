/* Time: the cost model of eip93-hardware.md section 10.2, and the three paces. */
#include "emulator_support.h"

#include <time.h>

static uint64_t host_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct cd_eip93_emulator *chip_costing(int32_t pace, uint64_t doorbell_ps,
                                              uint64_t descriptor_ps, uint64_t interrupt_ps) {
    struct cd_eip93_emulator_config config = {.variant = CD_EIP93_93IES, .pace = pace};
    cd_eip93_cost_default(&config.cost);
    config.cost.doorbell_ps = doorbell_ps;
    config.cost.descriptor_ps = descriptor_ps;
    config.cost.interrupt_ps = interrupt_ps;
    struct cd_eip93_emulator *chip = chip_new_config(config);
    chip_start(chip);
    return chip;
}

/* Ticks that one packet takes in VIRTUAL pace, from the doorbell to the line. */
static uint64_t packet_ticks(struct cd_eip93_emulator *chip, uint32_t entry, uint32_t cmd0,
                             uint32_t cmd1, uint32_t length) {
    uint64_t before = cd_eip93_emulator_ticks(chip);
    put_sa(chip, SA, cmd0, cmd1, "");
    put_command(chip, CDR, entry, SOURCE, DEST, 1, length);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    acknowledge(chip, 1);
    return cd_eip93_emulator_ticks(chip) - before;
}

/* Command 30, update 30, result 30, SA 60; IV read and write 20 each; then blocks or DMA. */
static void test_cost_table(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 0, 0, 0);
    CHECK_EQ(packet_ticks(chip, 0, 0x1200F3C0, 0x02000100, 16), 190 + 61);
    CHECK_EQ(packet_ticks(chip, 1, 0x1200F3C0, 0x03000100, 16), 190 + 72);
    CHECK_EQ(packet_ticks(chip, 2, 0x1200F3C0, 0x04000100, 16), 190 + 84);
    CHECK_EQ(packet_ticks(chip, 3, 0x1200F3C0, 0x02000100, 4096), 190 + 256 * 61);
    CHECK_EQ(packet_ticks(chip, 4, 0x1200F3C0, 0x02000200, 17), 190 + 2 * 61);
    CHECK_EQ(packet_ticks(chip, 5, 0x0200F3C0, 0x02000000, 32), 150 + 2 * 61); /* ECB: no IV */
    CHECK_EQ(packet_ticks(chip, 6, 0x0200F3C0, 0x02000000, 17), 150 + 2 * 61); /* padded */
    CHECK_EQ(packet_ticks(chip, 7, 0x0200FFC0, 0, 401), 150 + 101);            /* DMA alone */
    CHECK_EQ(packet_ticks(chip, 8, 0x0200F7C0, 0, 400), 150);                  /* an error */
    cd_eip93_emulator_write32(chip, 0x100, 0x300); /* no update of the command */
    CHECK_EQ(packet_ticks(chip, 9, 0x0200FFC0, 0, 400), 120 + 100);
    cd_eip93_emulator_free(chip);
}

/* Hash blocks with room for 0x80 and the length, one more for HMAC; cipher and hash overlap. */
static void test_cost_of_hashes(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 0, 0, 0);
    CHECK_EQ(packet_ticks(chip, 0, 0x0200F0C0, 0, 16), 150 + 2 * 15);
    CHECK_EQ(packet_ticks(chip, 1, 0x1200F1C0, 0x100, 17), 190 + 3 * 45);
    CHECK_EQ(packet_ticks(chip, 2, 0x3A400FC3, 0x1009, 55), 190 + 2 * 80); /* MD5, HMAC */
    CHECK_EQ(packet_ticks(chip, 3, 0x3A400FC3, 0x1009, 56), 190 + 3 * 80);
    CHECK_EQ(packet_ticks(chip, 4, 0x3A501FC3, 0x0009, 64), 190 + 96); /* not ended */
    CHECK_EQ(packet_ticks(chip, 5, 0x3A501FC3, 0x1009, 64), 190 + 3 * 96);
    CHECK_EQ(packet_ticks(chip, 6, 0x20702FC3, 0x1009, 64), 170 + 3 * 80); /* digests in the SA */
    CHECK_EQ(packet_ticks(chip, 7, 0x0C803FC3, 0x1009, 1000), 150 + 17 * 80);
    /* 48 bytes of AES: 183; 8 + 48 hashed and ended: 2 blocks, and the outer one */
    CHECK_EQ(packet_ticks(chip, 8, 0x125013C1, 0x0202110B, 56), 190 + 3 * 96);
    CHECK_EQ(packet_ticks(chip, 9, 0x125013C1, 0x0402110B, 8 + 4096), 190 + 256 * 84);
    CHECK_EQ(packet_ticks(chip, 10, 0x125013C9, 0x0402110B, 8 + 4096), 190 + 256 * 84);
    CHECK_EQ(packet_ticks(chip, 11, 0x325013C1, 0x0202110B, 55), 210 + 3 * 96); /* SAVE_HASH */
    /* ESP: 20 bytes and 12 of pad; 8 + 16 + 32 hashed; the SA is written */
    CHECK_EQ(packet_ticks(chip, 12, 0x033A1310, 0x22001101, 20), 170 + 3 * 96);
    cd_eip93_emulator_free(chip);
}

/* Ten packets one after the other; host costs at the doorbell and before the handler */
static void test_virtual_totals(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 500000, 20000, 3000000);
    struct cd_eip93_bus bus;
    cd_eip93_emulator_bus(chip, &bus);
    CHECK(strcmp(bus.clock.name, "virtual") == 0);
    CHECK_EQ(cd_clock_now(&bus.clock), 0);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    for (uint32_t i = 0; i < 10; i++) {
        put_command(chip, CDR, i, SOURCE, DEST, i, 16);
    }
    ring(chip, 10);
    CHECK_EQ(cd_clock_now(&bus.clock), 700); /* 500 + 10 * 20 ns */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0);
    CHECK_EQ(bus.irq_wait(bus.context, 1000000), CD_OK);
    /* first packet: 251 clocks of 4 ns; handler 3 us after the line */
    CHECK_EQ(cd_clock_now(&bus.clock), 700 + 1004 + 3000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 0), 2); /* those that ended meanwhile */
    CHECK_EQ(cd_eip93_emulator_step(chip, 1), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 7 * 251), 7);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 10);
    cd_eip93_emulator_free(chip);
}

/* A virtual clock that someone else moved: the device worked meanwhile */
static void test_virtual_clock_moved_outside(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 0, 0, 0);
    struct cd_eip93_bus bus;
    cd_eip93_emulator_bus(chip, &bus);
    put_sa(chip, SA, 0x0200FFC0, 0, "");
    put_command(chip, CDR, 0, SOURCE, DEST, 0, 4);
    put_command(chip, CDR, 1, SOURCE, DEST, 1, 4);
    ring(chip, 1);
    bus.clock.advance(bus.clock.context, 50000000);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 0); /* not inside a register access */
    ring(chip, 1);
    CHECK_EQ(bus.irq_wait(bus.context, 0), CD_OK);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1); /* the second began 50 us later */
    CHECK_EQ(cd_eip93_emulator_step(chip, 150), 0);
    CHECK_EQ(cd_eip93_emulator_step(chip, 1), 1);
    CHECK_EQ(cd_clock_now(&bus.clock), 50604);
    cd_eip93_emulator_free(chip);
}

/* Two runs give the same times and the same memory, to the last event. */
static void test_virtual_is_deterministic(void) {
    struct cd_eip93_trace_entry traces[2][512];
    size_t counts[2];
    for (int run = 0; run < 2; run++) {
        struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 1234567, 7, 89);
        CHECK_EQ(cd_eip93_emulator_trace(chip, 512), CD_OK);
        put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
        for (uint32_t i = 0; i < 30; i++) {
            put_command(chip, CDR, i, SOURCE, DEST, i, 16 * (i + 1));
            ring(chip, 1);
            if (i % 3 == 2) {
                CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_OK);
                acknowledge(chip, 1);
            }
        }
        counts[run] = cd_eip93_emulator_trace_take(chip, traces[run], 512);
        cd_eip93_emulator_free(chip);
    }
    CHECK(counts[0] > 100);
    CHECK_EQ(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++) {
        CHECK_EQ(traces[0][i].ticks, traces[1][i].ticks);
        CHECK_EQ(traces[0][i].event, traces[1][i].event);
        CHECK_EQ(traces[0][i].value, traces[1][i].value);
    }
}

/* An odd frequency: steps add up to the same number of ticks without drift */
static void test_odd_frequency(void) {
    struct cd_eip93_emulator_config config = {.pace = CD_EIP93_VIRTUAL};
    cd_eip93_cost_default(&config.cost);
    config.cost.clock_hz = 219999999;
    struct cd_eip93_emulator *chip = chip_new_config(config);
    for (uint64_t i = 1; i <= 1000; i++) {
        (void)cd_eip93_emulator_step(chip, 7);
    }
    CHECK_EQ(cd_eip93_emulator_ticks(chip), 7000);
    cd_eip93_emulator_free(chip);
}

/* Absurd costs saturate; nothing hangs or overflows */
static void test_saturation(void) {
    struct cd_eip93_emulator_config config = {.variant = CD_EIP93_93IES, .pace = CD_EIP93_VIRTUAL};
    memset(&config.cost, 0xFF, sizeof config.cost);
    config.cost.clock_hz = 1000;
    config.cost.dma_bytes_per_tick = 1;
    config.cost.doorbell_ps = config.cost.descriptor_ps = config.cost.interrupt_ps = UINT64_C(1)
                                                                                     << 40;
    struct cd_eip93_emulator *chip = chip_new_config(config);
    chip_start(chip);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_command(chip, CDR, 0, SOURCE, DEST, 0, 65536);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000), CD_E_TIMEOUT);
    (void)cd_eip93_emulator_step(chip, UINT64_MAX);
    (void)cd_eip93_emulator_step(chip, UINT64_MAX);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, UINT64_MAX), CD_OK);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    acknowledge(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, UINT64_MAX), CD_E_TIMEOUT);
    cd_eip93_emulator_free(chip);
}

/* irq_wait ends at its bound on the virtual clock; a poll takes little */
static void test_virtual_timeout(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_VIRTUAL, 0, 0, 5000000);
    struct cd_eip93_bus bus;
    cd_eip93_emulator_bus(chip, &bus);
    CHECK_EQ(bus.irq_wait(bus.context, 12345), CD_E_TIMEOUT);
    CHECK_EQ(cd_clock_now(&bus.clock), 12345);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_command(chip, CDR, 0, SOURCE, DEST, 0, 16);
    ring(chip, 1);
    int polls = 0;
    while (bus.irq_wait(bus.context, 0) == CD_E_TIMEOUT) {
        polls++;
    }
    CHECK_EQ(polls, 10); /* 1004 ns in steps of 100 */
    CHECK_EQ(cd_clock_now(&bus.clock), 12345 + 1004);
    CHECK_EQ(bus.irq_wait(bus.context, 1000), CD_E_TIMEOUT); /* the handler comes later */
    CHECK_EQ(bus.irq_wait(bus.context, 1000000), CD_OK);
    CHECK_EQ(cd_clock_now(&bus.clock), 12345 + 1004 + 5000);
    cd_eip93_emulator_free(chip);
}

/* PACED: never sooner than the modelled time on the host's clock, and not wildly later */
static void test_paced(void) {
    struct cd_eip93_emulator_config config = {.variant = CD_EIP93_93IES, .pace = CD_EIP93_PACED};
    cd_eip93_cost_default(&config.cost);
    config.cost.doorbell_ps = 20000000;
    config.cost.interrupt_ps = 30000000;
    struct cd_eip93_emulator *chip = chip_new_config(config);
    chip_start(chip);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t length = i % 2 == 0 ? 16 : 256; /* 1 us and 3.9 us of AES */
        uint64_t model_ns = (190 + 61 * (length / 16)) * 4 + 20000 + 30000;
        put_command(chip, CDR, i, SOURCE, DEST, i, length);
        uint64_t before = host_ns();
        ring(chip, 1);
        CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
        uint64_t took = host_ns() - before;
        CHECK(took >= model_ns);
        CHECK(took < model_ns + 500000000);
        acknowledge(chip, 1);
    }
    uint64_t before = host_ns();
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 3000000), CD_E_TIMEOUT);
    CHECK(host_ns() - before >= 3000000);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 0), CD_E_TIMEOUT);
    cd_eip93_emulator_free(chip);
}

/* FREE: an idle device waits on the host's clock, a busy one not at all */
static void test_free(void) {
    struct cd_eip93_emulator *chip = chip_costing(CD_EIP93_FREE, 1000000, 1000000, 1000000);
    struct cd_eip93_bus bus;
    cd_eip93_emulator_bus(chip, &bus);
    CHECK(strcmp(bus.clock.name, "virtual") != 0);
    uint64_t before = host_ns();
    CHECK_EQ(bus.irq_wait(bus.context, 2000000), CD_E_TIMEOUT);
    CHECK(host_ns() - before >= 2000000);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_command(chip, CDR, 0, SOURCE, DEST, 0, 16);
    ring(chip, 1);
    CHECK_EQ(bus.irq_wait(bus.context, 0), CD_OK);
    CHECK_EQ(cd_eip93_emulator_ticks(chip), 251);
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_cost_table);
    RUN(test_cost_of_hashes);
    RUN(test_virtual_totals);
    RUN(test_virtual_clock_moved_outside);
    RUN(test_virtual_is_deterministic);
    RUN(test_odd_frequency);
    RUN(test_saturation);
    RUN(test_virtual_timeout);
    RUN(test_paced);
    RUN(test_free);
    return test_end();
}
