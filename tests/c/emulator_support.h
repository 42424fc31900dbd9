/*
 * A bench for the emulated chip: registers and records by literal offsets, as a driver would.
 * Nothing here knows eip93_regs.h, so that a wrong number there cannot hide.
 */
#ifndef EMULATOR_SUPPORT_H
#define EMULATOR_SUPPORT_H

#include "test_support.h"

#include "cryptodispatch/eip93_emulator.h"

#include <stdlib.h>

#define RAM 0x10000000u
#define CDR 0x10000000u
#define RDR 0x10008000u
#define SA 0x10010000u
#define STATE 0x10010100u
#define SOURCE 0x10020000u
#define DEST 0x10021000u

static inline struct cd_eip93_emulator *chip_new_config(struct cd_eip93_emulator_config config) {
    struct cd_eip93_emulator *chip = NULL;
    if (cd_eip93_emulator_new(&chip, &config) != CD_OK) {
        printf("no emulator\n");
        exit(1);
    }
    return chip;
}

static inline struct cd_eip93_emulator *chip_new(int32_t pace) {
    return chip_new_config(
        (struct cd_eip93_emulator_config){.variant = CD_EIP93_93IES, .pace = pace});
}

static inline void put_bytes(struct cd_eip93_emulator *chip, uint32_t address, const void *bytes,
                             size_t length) {
    CHECK_EQ(cd_eip93_emulator_write_memory(chip, address, bytes, length), CD_OK);
}

static inline void get_bytes(struct cd_eip93_emulator *chip, void *bytes, uint32_t address,
                             size_t length) {
    CHECK_EQ(cd_eip93_emulator_read_memory(chip, bytes, address, length), CD_OK);
}

static inline void put_word(struct cd_eip93_emulator *chip, uint32_t address, uint32_t value) {
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                        (uint8_t)(value >> 24)};
    put_bytes(chip, address, bytes, sizeof bytes);
}

static inline uint32_t get_word(struct cd_eip93_emulator *chip, uint32_t address) {
    uint8_t b[4] = {0};
    get_bytes(chip, b, address, sizeof b);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Put hexadecimal text (spaces allowed) into memory; returns its bytes. */
static inline size_t put_hex(struct cd_eip93_emulator *chip, uint32_t address, const char *hex) {
    uint8_t bytes[4096];
    size_t length = test_hex(bytes, hex);
    put_bytes(chip, address, bytes, length);
    return length;
}

static inline bool is_hex(struct cd_eip93_emulator *chip, uint32_t address, const char *hex) {
    uint8_t expected[4096];
    uint8_t actual[4096];
    size_t length = test_hex(expected, hex);
    get_bytes(chip, actual, address, length);
    if (memcmp(expected, actual, length) == 0) {
        return true;
    }
    for (size_t i = 0; i < length; i++) {
        printf("%02x", actual[i]);
    }
    printf("\n");
    return false;
}

#define CHECK_HEX(chip, address, hex) CHECK(is_hex((chip), (address), (hex)))

/* The sequence of eip93-hardware.md section 9.1 on rings of `entries`. */
static inline void chip_start_rings(struct cd_eip93_emulator *chip, uint32_t cdr, uint32_t rdr,
                                    uint32_t entries) {
    cd_eip93_emulator_write32(chip, 0x080, cdr);
    cd_eip93_emulator_write32(chip, 0x084, rdr);
    cd_eip93_emulator_write32(chip, 0x088, entries - 1);
    cd_eip93_emulator_write32(chip, 0x100, 0x00000705);
    cd_eip93_emulator_write32(chip, 0x100, cd_eip93_emulator_read32(chip, 0x100) & ~0x5u);
    cd_eip93_emulator_write32(chip, 0x1E8, 0x17);
    cd_eip93_emulator_write32(chip, 0x10C, 0x00800080);
    cd_eip93_emulator_write32(chip, 0x204, 0x00078E03);
    cd_eip93_emulator_write32(chip, 0x214, 0x00078E03);
    cd_eip93_emulator_write32(chip, 0x08C, 0x940001E0);
    cd_eip93_emulator_write32(chip, 0x210, 0x00000002);
}

static inline void chip_start(struct cd_eip93_emulator *chip) {
    chip_start_rings(chip, CDR, RDR, 512);
}

static inline void put_words(struct cd_eip93_emulator *chip, uint32_t address,
                             const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        put_word(chip, address + 4 * (uint32_t)i, words[i]);
    }
}

static inline bool is_words(struct cd_eip93_emulator *chip, uint32_t address, const uint32_t *words,
                            size_t count) {
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t actual = get_word(chip, address + 4 * (uint32_t)i);
        if (actual != words[i]) {
            printf("word %zu: %08x, expected %08x\n", i, actual, words[i]);
            same = false;
        }
    }
    return same;
}

/* An SA with zeros but for the given parts and MASK0. */
static inline void put_sa(struct cd_eip93_emulator *chip, uint32_t address, uint32_t cmd0,
                          uint32_t cmd1, const char *key) {
    uint8_t zeros[128] = {0};
    put_bytes(chip, address, zeros, sizeof zeros);
    put_word(chip, address, cmd0);
    put_word(chip, address + 4, cmd1);
    put_hex(chip, address + 8, key);
    put_word(chip, address + 0x74, 0xFFFFFFFF);
}

/* A command for entry `index` of a ring at `cdr`. */
static inline void put_command(struct cd_eip93_emulator *chip, uint32_t cdr, uint32_t index,
                               uint32_t source, uint32_t destination, uint32_t user_id,
                               uint32_t length) {
    const uint32_t words[8] = {0x00000001, source, destination, SA,
                               STATE,      0,      user_id,     0x00400000 | length};
    put_words(chip, cdr + 32 * index, words, 8);
}

static inline void ring(struct cd_eip93_emulator *chip, uint32_t commands) {
    cd_eip93_emulator_write32(chip, 0x090, commands);
}

/* Let the device run for at most `timeout_ns`, whether it raises the line or not. */
static inline void run_device(struct cd_eip93_emulator *chip, uint64_t timeout_ns) {
    if (cd_eip93_emulator_irq_wait(chip, timeout_ns) != CD_OK) {
        return;
    }
}

/* Acknowledge `results` results as the Linux driver does. */
static inline void acknowledge(struct cd_eip93_emulator *chip, uint32_t results) {
    cd_eip93_emulator_write32(chip, 0x094, results);
    cd_eip93_emulator_write32(chip, 0x204, 0x2);
}

/* Status byte of entry `index` of the result ring at `rdr`. */
static inline uint32_t result_status(struct cd_eip93_emulator *chip, uint32_t rdr, uint32_t index) {
    return get_word(chip, rdr + 32 * index) >> 16 & 0xFF;
}

static inline uint32_t map_buffer(struct cd_eip93_emulator *chip, void *memory, size_t length,
                                  int32_t direction) {
    uint32_t address = 0;
    CHECK_EQ(cd_eip93_emulator_map(chip, memory, length, direction, &address), CD_OK);
    return address;
}

static inline struct cd_eip93_emulator *chip_started(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    chip_start(chip);
    return chip;
}

/* One command of a ring started anew; the status byte. `control` is word 0. */
static inline uint32_t run_command(struct cd_eip93_emulator *chip, uint32_t control,
                                   uint32_t source, uint32_t destination, uint32_t length) {
    chip_start(chip);
    put_command(chip, CDR, 0, source, destination, 1, length);
    put_word(chip, CDR, control);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000000), 1);
    return result_status(chip, RDR, 0);
}

static inline uint32_t result_length(struct cd_eip93_emulator *chip) {
    return get_word(chip, RDR + 28) & 0xFFFFF;
}

#define AES_KEY "2b7e151628aed2a6abf7158809cf4f3c"
#define AES_TEXT                                                                                   \
    "6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 "                           \
    "30c81c46a35ce411e5fbc1191a0a52ef f69f2445df4f9b17ad2b417be66c3710"

#endif
