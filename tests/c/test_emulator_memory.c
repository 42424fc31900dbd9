/* Memory: RAM, windows with gaps and directions, the allocator, addresses nobody answers to. */
#include "emulator_support.h"

#define COUNT 5324 /* 4096 small and 1228 large windows */

static uint32_t map(struct cd_eip93_emulator *chip, void *memory, size_t length,
                    int32_t direction) {
    uint32_t address = 0;
    CHECK_EQ(cd_eip93_emulator_map(chip, memory, length, direction, &address), CD_OK);
    return address;
}

static struct cd_eip93_emulator *chip_ready(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    chip_start(chip);
    put_sa(chip, SA, 0x0200FFC0, 0, "");
    return chip;
}

/* Copy through the engine; the status byte. An engine stopped by an error is started again. */
static uint32_t copy(struct cd_eip93_emulator *chip, uint32_t source, uint32_t destination,
                     uint32_t length) {
    chip_start(chip);
    put_command(chip, CDR, 0, source, destination, 1, length);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(chip, 1000000000), CD_OK);
    return result_status(chip, RDR, 0);
}

static void test_windows(void) {
    struct cd_eip93_emulator *chip = chip_ready();
    uint8_t in[100];
    uint8_t out[100] = {0};
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (uint8_t)i;
    }
    uint32_t source = map(chip, in + 1, 99, CD_DMA_TO_DEVICE);
    uint32_t destination = map(chip, out + 1, 99, CD_DMA_FROM_DEVICE);
    CHECK(source >= 0x80000000);
    CHECK_EQ(copy(chip, source, destination, 99), 0);
    CHECK_BYTES(out + 1, in + 1, 99);
    CHECK_EQ(out[0], 0);
    CHECK_EQ(copy(chip, source + 1, destination, 98), 0);
    CHECK_EQ(copy(chip, source + 1, destination, 99), 0x08); /* one byte beyond the source */
    CHECK_EQ(copy(chip, source, destination + 1, 99), 0x08);
    CHECK_EQ(copy(chip, destination, source, 4), 0x08); /* both directions wrong */
    CHECK_EQ(copy(chip, source, source, 4), 0x08);
    CHECK_EQ(copy(chip, destination, DEST, 4), 0x08);
    CHECK_EQ(copy(chip, source + 99, DEST, 1), 0x08); /* the gap */
    CHECK_EQ(copy(chip, source - 1, DEST, 1), 0x08);
    uint8_t bytes[4];
    CHECK_EQ(cd_eip93_emulator_read_memory(chip, bytes, source + 95, 4), CD_OK);
    CHECK_EQ(bytes[3], 99);
    CHECK_EQ(cd_eip93_emulator_read_memory(chip, bytes, source + 96, 4), CD_E_BUS);
    CHECK_EQ(cd_eip93_emulator_write_memory(chip, source, bytes, 4), CD_E_BUS);
    CHECK_EQ(cd_eip93_emulator_write_memory(chip, destination, bytes, 4), CD_OK);
    CHECK_EQ(cd_eip93_emulator_unmap(chip, source + 1), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
    CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_E_INVALID);
    CHECK_EQ(copy(chip, source, DEST, 4), 0x08);
    CHECK_EQ(cd_eip93_emulator_unmap(chip, 0x10000000), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_unmap(chip, 0xFFFFFFFF), CD_E_INVALID);
    cd_eip93_emulator_free(chip);
}

/* One buffer mapped twice is still in place; two that overlap are handled by content. */
static void test_overlap_through_windows(void) {
    struct cd_eip93_emulator *chip = chip_ready();
    uint8_t memory[80];
    uint8_t expected[64];
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    for (size_t shift = 0; shift <= 16; shift++) {
        test_hex(memory, AES_TEXT);
        uint32_t source = map(chip, memory, 64, CD_DMA_TO_DEVICE);
        uint32_t destination = map(chip, memory + shift, 64, CD_DMA_FROM_DEVICE);
        put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
        CHECK_EQ(copy(chip, source, destination, 64), 0);
        test_hex(expected, "7649abac8119b246cee98e9b12e9197d 5086cb9b507219ee95db113a917678b2 "
                           "73bed6b8e3c1743b7116e69e22229516 3ff1caa1681fac09120eca307586e1a7");
        CHECK_BYTES(memory + shift, expected, 64);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, destination), CD_OK);
    }
    cd_eip93_emulator_free(chip);
}

static void test_map_arguments(void) {
    struct cd_eip93_emulator *chip = chip_ready();
    uint8_t byte;
    uint32_t address;
    CHECK_EQ(cd_eip93_emulator_map(chip, NULL, 1, CD_DMA_TO_DEVICE, &address), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_map(chip, &byte, 0, CD_DMA_TO_DEVICE, &address), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_map(chip, &byte, 1, 0, &address), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_map(chip, &byte, 1, 4, &address), CD_E_INVALID);
    CHECK_EQ(cd_eip93_emulator_map(chip, &byte, 0x100000, CD_DMA_TO_DEVICE, &address), CD_E_RANGE);
    CHECK_EQ(cd_eip93_emulator_map(chip, &byte, SIZE_MAX, CD_DMA_TO_DEVICE, &address), CD_E_RANGE);
    cd_eip93_emulator_free(chip);
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All windows at once: none overlaps another, each is followed by a gap; then all come back. */
static void test_all_windows(void) {
    struct cd_eip93_emulator *chip = chip_ready();
    uint32_t *addresses = calloc(COUNT, sizeof *addresses);
    uint8_t *memory = malloc(0xFFFFF);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            addresses[i] = map(chip, memory, i < 1228 ? 0xFFFFF : 0x10000, CD_DMA_TO_DEVICE);
        }
        uint32_t none;
        CHECK_EQ(cd_eip93_emulator_map(chip, memory, 1, CD_DMA_TO_DEVICE, &none), CD_E_NO_MEMORY);
        qsort(addresses, COUNT, sizeof *addresses, compare);
        for (int i = 0; i + 1 < COUNT; i++) {
            CHECK(addresses[i + 1] - addresses[i] >= 0x20000);
        }
        uint8_t byte;
        CHECK_EQ(cd_eip93_emulator_read_memory(chip, &byte, addresses[0] + 0x10000, 1), CD_E_BUS);
        CHECK_EQ(cd_eip93_emulator_read_memory(chip, &byte, addresses[COUNT - 1] + 0xFFFFE, 1),
                 CD_OK);
        CHECK_EQ(cd_eip93_emulator_read_memory(chip, &byte, addresses[COUNT - 1] + 0xFFFFF, 1),
                 CD_E_BUS);
        for (int i = 0; i < COUNT; i++) {
            CHECK_EQ(cd_eip93_emulator_unmap(chip, addresses[i]), CD_OK);
        }
    }
    cd_eip93_emulator_free(chip);
    free(memory);
    free(addresses);
}

static void test_dma_alloc(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    struct cd_eip93_bus bus;
    void *memory[3];
    uint32_t address[3];
    cd_eip93_emulator_bus(chip, &bus);
    CHECK_EQ(bus.abi, CD_EIP93_BUS_ABI);
    CHECK_EQ(bus.dma_alloc(bus.context, 100, 4, &memory[0], &address[0]), CD_OK);
    CHECK_EQ(bus.dma_alloc(bus.context, 16384, 4096, &memory[1], &address[1]), CD_OK);
    CHECK_EQ(bus.dma_alloc(bus.context, 128, 64, &memory[2], &address[2]), CD_OK);
    CHECK_EQ((uintptr_t)memory[1] % 4096, 0);
    CHECK_EQ(address[1] % 4096, 0);
    CHECK(address[2] + 128 <= address[1] || address[2] >= address[1] + 16384);
    CHECK(address[0] + 100 <= address[2] || address[0] >= address[2] + 128);
    memset(memory[1], 0x5A, 16384);
    uint8_t byte;
    CHECK_EQ(cd_eip93_emulator_read_memory(chip, &byte, address[1] + 16383, 1), CD_OK);
    CHECK_EQ(byte, 0x5A);
    bus.dma_free(bus.context, memory[1], address[1], 16384);
    CHECK_EQ(bus.dma_alloc(bus.context, 16384, 4096, &memory[1], &address[1]), CD_OK);
    CHECK_EQ(((uint8_t *)memory[1])[16383], 0); /* zeroed again */
    CHECK_EQ(bus.dma_alloc(bus.context, 0, 4, &memory[0], &address[0]), CD_E_INVALID);
    CHECK_EQ(bus.dma_alloc(bus.context, 4, 3, &memory[0], &address[0]), CD_E_INVALID);
    CHECK_EQ(bus.dma_alloc(bus.context, 4, 8192, &memory[0], &address[0]), CD_E_INVALID);
    CHECK_EQ(bus.dma_alloc(bus.context, 0x100001, 4, &memory[0], &address[0]), CD_E_NO_MEMORY);
    unsigned pages = 0;
    while (bus.dma_alloc(bus.context, 4096, 4096, &memory[0], &address[0]) == CD_OK) {
        CHECK(address[0] + 4096 <= address[1] || address[0] >= address[1] + 16384);
        pages++;
    }
    CHECK_EQ(pages, 256 - 4 - 1);             /* the two small ones share a page */
    bus.dma_free(bus.context, NULL, 0, 4096); /* nobody's: nothing */
    bus.dma_free(bus.context, NULL, 0x100FF000, 0x2000);
    bus.dma_unmap(bus.context, 0x12345678, 4, CD_DMA_TO_DEVICE);
    cd_eip93_emulator_free(chip);
}

/* R005: the chip's own registers are on no bus of its own; addresses at every edge */
static void test_r005_bad_addresses(void) {
    static const uint32_t bad[] = {0,          0x090,      0x1E004000, 0x1E004090, 0x1FB70090,
                                   0x0FFFFFFF, 0x10100000, 0x10100001, 0x7FFFFFFF, 0x80000000,
                                   0x9FFFFFFF, 0xA0000000, 0xFFFFFFFC, 0xFFFFFFFF};
    struct cd_eip93_emulator *chip = chip_ready();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(copy(chip, bad[i], DEST, 4), 0x08);
        CHECK_EQ(copy(chip, SOURCE, bad[i], 4), 0x08);
    }
    CHECK_EQ(copy(chip, 0x100FFFFC, DEST, 4), 0);
    CHECK_EQ(copy(chip, 0x100FFFFD, DEST, 4), 0x08);
    CHECK_EQ(copy(chip, SOURCE, 0x100FFFFD, 4), 0x08);
    chip_start(chip); /* SA, state, rings */
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 4);
    put_word(chip, CDR + 12, 0x100FFFFC);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_EQ(result_status(chip, RDR, 0), 0x08);
    put_sa(chip, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    chip_start(chip);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 16);
    put_word(chip, CDR + 16, 0);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_EQ(result_status(chip, RDR, 0), 0x08);
    chip_start_rings(chip, 0x10FFFFF0, RDR, 8);
    ring(chip, 2);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1); /* stops after the first */
    CHECK_EQ(get_word(chip, RDR), 0x00080002);
    chip_start_rings(chip, CDR, 0xFFFFFFF8, 8);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 16);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1); /* a result that cannot be written */
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 1);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x200) & 0x60000, 0x60000);
    cd_eip93_emulator_free(chip);
}

/* R003, cipher part, and R009: every length from 1 on; the largest the field takes */
static void test_r003_lengths(void) {
    struct cd_eip93_emulator *chip = chip_ready();
    uint8_t *in = malloc(0xFFFFF);
    uint8_t *out = malloc(0xFFFFF);
    put_sa(chip, SA, 0x1200F3C0, 0x02000200, AES_KEY);
    for (uint32_t length = 1; length < 64; length++) {
        uint8_t *exact_in = malloc(length);
        uint8_t *exact_out = malloc(length);
        memset(exact_in, 0, length);
        uint32_t source = map(chip, exact_in, length, CD_DMA_TO_DEVICE);
        uint32_t destination = map(chip, exact_out, length, CD_DMA_FROM_DEVICE);
        CHECK_EQ(copy(chip, source, destination, length), 0);
        CHECK_EQ(get_word(chip, RDR + 28), 0x00800000 | length);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
        CHECK_EQ(cd_eip93_emulator_unmap(chip, destination), CD_OK);
        free(exact_in);
        free(exact_out);
    }
    memset(in, 0x5C, 0xFFFFF);
    uint32_t source = map(chip, in, 0xFFFFF, CD_DMA_TO_DEVICE);
    uint32_t destination = map(chip, out, 0xFFFFF, CD_DMA_FROM_DEVICE);
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    CHECK_EQ(copy(chip, source, destination, 0xFFFFF), 0);
    put_hex(chip, STATE, "000102030405060708090a0b0c0d0e0f");
    CHECK_EQ(cd_eip93_emulator_unmap(chip, source), CD_OK);
    source = map(chip, out, 0xFFFFF, CD_DMA_BIDIRECTIONAL);
    CHECK_EQ(copy(chip, source, source, 0xFFFFF), 0);
    CHECK_BYTES(out, in, 0xFFFFF);
    /* a block cipher pads it to one byte more than a window may have */
    put_sa(chip, SA, 0x0200F3C0, 0x02000000, AES_KEY);
    CHECK_EQ(copy(chip, source, source, 0xFFFFF), 0x08);
    cd_eip93_emulator_free(chip);
    free(in);
    free(out);
}

int main(void) {
    RUN(test_windows);
    RUN(test_overlap_through_windows);
    RUN(test_map_arguments);
    RUN(test_all_windows);
    RUN(test_dma_alloc);
    RUN(test_r005_bad_addresses);
    RUN(test_r003_lengths);
    return test_end();
}
