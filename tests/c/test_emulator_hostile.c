/* R017: random descriptors and SAs; the chip lives, answers each, and others do not notice. */
#include "emulator_support.h"

static uint64_t random_state = 17;

static uint32_t random_word(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static uint32_t random_address(void) {
    uint32_t word = random_word();
    return (word >> 29) == 0 ? random_word() : 0x10010000u + (word & 0xFFFF);
}

/* One chance in `n`. */
static bool chance(uint32_t n) {
    return random_word() % n == 0;
}

static void put_random_sa(struct cd_eip93_emulator *chip) {
    static const uint32_t opcodes[] = {0x0, 0x8, 0x1, 0x9, 0x1, 0x9, 0x3, 0x10, 0x18};
    uint8_t sa[128];
    for (size_t i = 0; i < sizeof sa; i++) {
        sa[i] = (uint8_t)random_word();
    }
    put_bytes(chip, 0x10010000u, sa, sizeof sa);
    if (chance(4)) {
        return;
    }
    uint32_t cmd0 = random_word() & 0x3F0F00C0; /* mostly a valid operation */
    cmd0 |= (random_word() % 9) << 20;
    cmd0 |= (random_word() & 3) << 12;
    cmd0 |= chance(16) ? 0xF000 : 0;
    cmd0 |= (random_word() & 3) << 8;
    cmd0 |= chance(8) ? 0xF00 : 0;
    cmd0 |= opcodes[random_word() % 9];
    uint32_t cmd1 = random_word() & (chance(16) ? 0x00FF3F0F : 0x003F330F);
    cmd1 |= (2 + random_word() % 3) << 24;
    put_word(chip, 0x10010000u, cmd0);
    put_word(chip, 0x10010004u, cmd1);
}

static void put_random_job(struct cd_eip93_emulator *chip, uint32_t slot, uint32_t id) {
    uint32_t words[8];
    put_random_sa(chip);
    uint32_t mask = chance(4) ? 0xFFFFFFF8u : 0xFF00FF30u;
    words[0] = (random_word() & mask) | 1;
    words[1] = random_address();
    words[2] = random_address();
    words[3] = chance(32) ? random_word() : 0x10010000u;
    words[4] = random_address();
    words[5] = random_word();
    words[6] = id;
    mask = chance(16) ? 0xFFFFFu : 0xFFFu;
    words[7] = 0x00400000u | (random_word() & mask);
    words[7] |= chance(4) ? random_word() & 0xFF000000u : 0;
    put_words(chip, CDR + 32 * slot, words, 8);
}

/* Every one of 20,000 commands has its result, in order, whatever it asked for; of each operation
 * and each way, some go through. */
static void test_r017_random_commands(void) {
    struct cd_eip93_emulator *chip =
        chip_new_config((struct cd_eip93_emulator_config){.variant = CD_EIP93_93IES,
                                                          .pace = CD_EIP93_VIRTUAL,
                                                          .strap_basic_icv_check = true,
                                                          .strap_zero_length_count = true});
    unsigned ok_of[16] = {0}; /* by DIRECTION and opcode */
    unsigned forged = 0;
    struct cd_eip93_emulator *other = chip_new(CD_EIP93_VIRTUAL);
    unsigned ok = 0;
    unsigned stops = 0;
    uint32_t slot = 0;
    chip_start_rings(chip, CDR, RDR, 8);
    for (uint32_t job = 0; job < 20000; job++) {
        put_random_job(chip, slot, job);
        ring(chip, 1);
        if (cd_eip93_emulator_irq_wait(chip, 10000000000) != CD_OK) {
            CHECK(false);
            break;
        }
        CHECK_EQ(get_word(chip, RDR + 32 * slot + 24), job);
        uint32_t first = get_word(chip, RDR + 32 * slot);
        CHECK_EQ(first & 3, 2);
        CHECK((first & 0x00080000) != 0 || (first & 0x00F00000) == 0);
        ok += (first & 0x00FF0000) == 0;
        ok_of[get_word(chip, 0x10010000u) & 0xF] += (first & 0x00FF0000) == 0;
        forged += (first & 0x00090000) == 0x00010000;
        acknowledge(chip, 1);
        slot = (slot + 1) % 8;
        if ((first & 0x00FF0000) == 0x00080000) { /* a bus error stops the engine: reset */
            chip_start_rings(chip, CDR, RDR, 8);
            slot = 0;
            stops++;
        }
    }
    CHECK(ok > 1000);
    CHECK(ok_of[0x0] > 50 && ok_of[0x8] > 50 && ok_of[0x1] > 50 && ok_of[0x9] > 50);
    CHECK(ok_of[0x3] > 300);
    CHECK(forged > 50); /* tags that are compared and found wrong */
    CHECK(stops > 100);
    chip_start(other);
    put_sa(other, SA, 0x1200F3C0, 0x02000100, AES_KEY);
    put_hex(other, STATE, "000102030405060708090a0b0c0d0e0f");
    put_hex(other, SOURCE, AES_TEXT);
    put_command(other, CDR, 0, SOURCE, DEST, 1, 16);
    ring(other, 1);
    CHECK_EQ(cd_eip93_emulator_irq_wait(other, 1000000), CD_OK);
    CHECK_HEX(other, DEST, "7649abac8119b246cee98e9b12e9197d");
    cd_eip93_emulator_free(chip);
    cd_eip93_emulator_free(other);
}

/* R017: more jobs than the ring has room for, and nobody reads results: back-pressure */
static void test_r017_ring_overrun(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_FREE);
    chip_start_rings(chip, CDR, RDR, 8);
    put_sa(chip, SA, 0x0200FFC0, 0, "");
    for (uint32_t i = 0; i < 8; i++) {
        put_command(chip, CDR, i, SOURCE, DEST, i, 4);
    }
    for (int i = 0; i < 1000; i++) {
        ring(chip, 255);
        run_device(chip, 0);
    }
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x094), 8);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x090), 8);
    CHECK_EQ(cd_eip93_emulator_read32(chip, 0x09C), 1);
    cd_eip93_emulator_free(chip);
}

/* Ring sizes changed under a running engine, unaligned rings, rings on top of each other */
static void test_moving_rings(void) {
    struct cd_eip93_emulator *chip = chip_new(CD_EIP93_VIRTUAL);
    chip_start_rings(chip, CDR, RDR, 8);
    for (int i = 0; i < 5000; i++) {
        cd_eip93_emulator_write32(chip, 0x080, 0x10000000u + (random_word() & 0xFFFF));
        cd_eip93_emulator_write32(chip, 0x084, 0x10000000u + (random_word() & 0xFFFF));
        cd_eip93_emulator_write32(chip, 0x088, random_word());
        cd_eip93_emulator_write32(chip, 0x08C, random_word());
        ring(chip, random_word() & 0xFF);
        (void)cd_eip93_emulator_step(chip, random_word() & 0xFFFF);
        run_device(chip, 1000);
        acknowledge(chip, random_word() & 0xFF);
        if (i % 16 == 15) {
            cd_eip93_emulator_write32(chip, 0x100, 0x701);
            cd_eip93_emulator_write32(chip, 0x100, 0x700);
        }
    }
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_r017_random_commands);
    RUN(test_r017_ring_overrun);
    RUN(test_moving_rings);
    return test_end();
}
