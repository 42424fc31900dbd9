/*
 * Hostile drivers: the input is a program of register accesses, memory writes and waits for the
 * chip. Whatever it does, the chip lives, every call returns, and a reset brings it back.
 *
 * With libFuzzer: clang -fsanitize=fuzzer,address -DCD_FUZZER. With plain gcc, main replays fixed
 * pseudo-random programs for some seconds (the number of programs is an argument).
 */
#include "cryptodispatch/eip93_emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a replay has reached. */
static uint64_t packets, packets_ok;

struct input {
    const uint8_t *data;
    size_t size;
};

static uint32_t take(struct input *input) {
    uint8_t bytes[4] = {0};
    size_t length = input->size < 4 ? input->size : 4;
    memcpy(bytes, input->data, length);
    input->data += length;
    input->size -= length;
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

/* An address that is often one that answers. */
static uint32_t take_address(struct input *input, uint32_t window) {
    uint32_t word = take(input);
    switch (word >> 27) {
    case 0:
        return word;
    case 1:
    case 2:
    case 3:
    case 4:
        return window + (word & 0x7FF);
    default:
        return 0x10000000u + (word & 0xFFFF);
    }
}

static void write_word(struct cd_eip93_emulator *chip, uint32_t address, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    if (cd_eip93_emulator_write_memory(chip, address, bytes, 4) != CD_OK) {
        return;
    }
}

static void start(struct cd_eip93_emulator *chip) {
    cd_eip93_emulator_write32(chip, 0x080, 0x10000000u);
    cd_eip93_emulator_write32(chip, 0x084, 0x10001000u);
    cd_eip93_emulator_write32(chip, 0x088, 7);
    cd_eip93_emulator_write32(chip, 0x100, 0x707);
    cd_eip93_emulator_write32(chip, 0x100, 0x700);
    cd_eip93_emulator_write32(chip, 0x208, 0x2);
}

/* SA words that mean something (eip93-hardware.md section 5.7), with a few bits turned over, or
 * any. */
static void put_sa_words(struct cd_eip93_emulator *chip, struct input *input, uint32_t sa) {
    static const uint32_t known[][2] = {
        {0x1200F3C0, 0x02000100}, {0x1200F3C8, 0x04000100}, {0x1200F3C0, 0x03000200},
        {0x1200F0C8, 0x00000100}, {0x1200F1C0, 0x00000100}, {0x3A400FC3, 0x00000009},
        {0x3A501FC3, 0x00001009}, {0x3A702FC3, 0x0000000D}, {0x20803FC3, 0x0000100D},
        {0x125013C1, 0x0202110B}, {0x123013C9, 0x02021102}, {0x12803141, 0x0005310B},
        {0x32402149, 0x0003110B}, {0x115013C1, 0x0206110B}, {0x10803F01, 0x0000000A},
        {0x033A1310, 0x22001101},
    };
    uint32_t word = take(input);
    const uint32_t *words = known[word & 15u];
    uint32_t flips = take(input) & take(input) & take(input) & take(input);
    if ((word & 0x30u) == 0) {
        write_word(chip, sa, take(input));
        write_word(chip, sa + 4, take(input));
        return;
    }
    write_word(chip, sa, words[0] ^ ((word & 0x40u) != 0 ? flips : 0));
    write_word(chip, sa + 4, words[1] ^ ((word & 0x80u) != 0 ? flips >> 16 : 0));
}

static void put_record(struct cd_eip93_emulator *chip, struct input *input, uint32_t window) {
    uint32_t word = take(input);
    if ((word & 0xC000u) == 0) { /* an earlier error may have stopped the engine */
        start(chip);
    }
    uint32_t slot = cd_eip93_emulator_read32(chip, 0x098) + cd_eip93_emulator_read32(chip, 0x090);
    slot += (word & 0x70000u) == 0 ? word >> 20 : 0;
    uint32_t entry = 0x10000000u + 32u * (slot & 7u);
    uint32_t sa = 0x10000000u + (take(input) & 0xFF80u);
    uint32_t first = (word & 0x03000000u) != 0 ? 1u : word; /* mostly owned by the engine */
    put_sa_words(chip, input, sa);
    write_word(chip, entry,
               (word & 0xFFFFFFFCu & ((word & 0xE00u) == 0 ? ~0u : 0x3Fu)) | (first & 3u));
    write_word(chip, entry + 4, take_address(input, window));
    write_word(chip, entry + 8, take_address(input, window));
    write_word(chip, entry + 12, sa);
    write_word(chip, entry + 16, take_address(input, window));
    write_word(chip, entry + 20, take(input));
    write_word(chip, entry + 24, take(input));
    uint32_t length = take(input);
    write_word(chip, entry + 28,
               (length & 0xFF0FFFFFu & ((word & 0x3000u) != 0 ? 0x7FFu : ~0u)) | (first & 3u)
                                                                                     << 22);
    cd_eip93_emulator_write32(chip, 0x090, 1);
}

static void run_one(struct cd_eip93_emulator *chip, struct input *input, uint32_t window) {
    uint32_t word = take(input);
    switch (word & 0xFu) {
    case 0:
        cd_eip93_emulator_write32(chip, word >> 4 & 0xFFCu, take(input));
        break;
    case 1:
        cd_eip93_emulator_write(chip, word >> 8, take(input), word >> 4 & 0xFu);
        break;
    case 2:
        (void)cd_eip93_emulator_read(chip, word >> 8, word >> 4 & 0xFu);
        break;
    case 3:
        (void)cd_eip93_emulator_step(chip, take(input));
        break;
    case 4:
        if (cd_eip93_emulator_inject(chip, (int32_t)(word >> 4 & 0xFu), word >> 8 & 3u,
                                     word >> 10 & 1u, take(input)) != CD_OK) {
            break;
        }
        break;
    case 5:
        start(chip);
        break;
    case 6:
        write_word(chip, take_address(input, window), take(input));
        break;
    case 7:
        cd_eip93_emulator_write32(chip, 0x094, word >> 8);
        break;
    case 8:
        if (cd_eip93_emulator_irq_wait(chip, word >> 8) == CD_OK) {
            cd_eip93_emulator_write32(chip, 0x094, 1);
            cd_eip93_emulator_write32(chip, 0x204, 0x2);
        }
        break;
    default:
        put_record(chip, input, window);
        break;
    }
}

/* After whatever went before, a reset and one packet; 0 if it went through. */
static int still_works(struct cd_eip93_emulator *chip) {
    for (int32_t fault = 1; fault <= 10; fault++) {
        if (cd_eip93_emulator_inject(chip, fault, 0, 0, 0) != CD_OK) {
            return 1;
        }
    }
    cd_eip93_emulator_reset(chip);
    start(chip);
    write_word(chip, 0x10002000u, 0x0200FFC0u);
    write_word(chip, 0x10002004u, 0);
    const uint32_t command[8] = {1, 0x10003000u, 0x10003100u, 0x10002000u, 0, 0, 42, 0x00400004u};
    for (uint32_t i = 0; i < 8; i++) {
        write_word(chip, 0x10000000u + 4 * i, command[i]);
    }
    cd_eip93_emulator_write32(chip, 0x090, 1);
    if (cd_eip93_emulator_irq_wait(chip, 1000000000) != CD_OK) {
        return 2;
    }
    uint8_t id = 0;
    if (cd_eip93_emulator_read_memory(chip, &id, 0x10001018u, 1) != CD_OK || id != 42) {
        return 3;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t buffer[0x1000];
    struct input input = {data, size};
    struct cd_eip93_emulator *chip = NULL;
    struct cd_eip93_emulator_config config = {.pace = CD_EIP93_VIRTUAL, .memory_len = 0x10000};
    uint32_t window = 0;
    uint32_t word = take(&input);
    config.variant = (int32_t)(word & 0xFFu) % 5;
    config.strap_basic_icv_check = (word >> 8 & 1u) != 0;
    config.strap_stop_on_length_error = (word >> 9 & 1u) != 0;
    config.strap_zero_length_count = (word >> 10 & 1u) != 0;
    if (cd_eip93_emulator_new(&chip, &config) != CD_OK) {
        return 0;
    }
    if (cd_eip93_emulator_map(chip, buffer, sizeof buffer, CD_DMA_BIDIRECTIONAL, &window) !=
            CD_OK ||
        cd_eip93_emulator_trace(chip, 16) != CD_OK) {
        abort();
    }
    start(chip);
    while (input.size != 0) {
        run_one(chip, &input, window);
    }
    struct cd_eip93_emulator_counters counters;
    cd_eip93_emulator_counters(chip, &counters);
    packets += counters.packets;
    packets_ok += counters.packets - counters.errors;
    int failed = still_works(chip);
    if (failed != 0) {
        fprintf(stderr, "the chip did not come back: %d\n", failed);
        abort();
    }
    cd_eip93_emulator_free(chip);
    return 0;
}

#if !defined(CD_FUZZER)
int main(int argc, char **argv) {
    static uint8_t program[4096];
    unsigned long programs = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    uint64_t state = 93;
    for (unsigned long i = 0; i < programs; i++) {
        for (size_t j = 0; j < sizeof program; j++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            program[j] = (uint8_t)(state >> 56);
        }
        LLVMFuzzerTestOneInput(program, (size_t)(state >> 32) % sizeof program);
    }
    printf("%lu programs replayed; %llu packets, %llu of them without an error\n", programs,
           (unsigned long long)packets, (unsigned long long)packets_ok);
    if (programs >= 1000 && packets_ok < 500) {
        printf("too few get through to test anything\n");
        return 1;
    }
    return 0;
}
#endif
