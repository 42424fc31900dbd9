/* ESP: eip93-hardware.md sections 6.7 and 9.8. */
#include "emulator_support.h"

#define PACKET                                                                                     \
    "12345678 00000001 a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf 4cf90731 f0f558cb 5f429157 0c03cb30 "   \
    "4463856c ef6e43c8 62ec84f2 edc1fa75 6970bd7a 3366593e 79acd196"
#define PAYLOAD "404142434445464748494a4b4c4d4e4f50515253"

/* The SA of 9.8: AES-128-CBC with HMAC-SHA1-96, SPI 12345678. */
static void put_sa_esp(struct cd_eip93_emulator *chip, uint32_t cmd0, uint32_t cmd1) {
    put_sa(chip, SA, cmd0, cmd1, AES_KEY);
    put_hex(chip, SA + 0x28, "d66e890f ca60dfa5 5b48e12a 9a0b4f52 a068b01d");
    put_hex(chip, SA + 0x48, "726dc6be d3aab56b 45c6247b 8d504ea7 765d00f2");
    put_word(chip, SA + 0x68, 0x12345678);
}

static uint32_t run_esp(struct cd_eip93_emulator *chip, uint32_t source, uint32_t destination,
                        uint32_t length) {
    return run_command(chip, 0x02000411, source, destination, length);
}

/* 9.8 */
static void test_inbound_words(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_esp(chip, 0x013A1318, 0x22001102);
    put_hex(chip, SOURCE, PACKET);
    CHECK_EQ(run_command(chip, 0x11, SOURCE, DEST, 68), 0);
    CHECK_EQ(get_word(chip, RDR), 0x0C000412);
    CHECK_EQ(get_word(chip, RDR + 28), 0x0080002C);
    CHECK_HEX(chip, DEST,
              "12345678 00000001 a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf " PAYLOAD
              "0102030405060708090a 0a 04 00000000");
    CHECK_EQ(get_word(chip, SA + 0x6C), 1);
    CHECK_EQ(get_word(chip, SA + 0x70), 0);
    CHECK_EQ(get_word(chip, SA + 0x74), 0xFFFFFFFF);
    CHECK_EQ(get_word(chip, SA + 0x78), 1);
    put_word(chip, SA + 4, 0x2200110A); /* the pad counts; in place, without the header */
    put_word(chip, SA + 0x6C, 0);
    put_word(chip, SA + 4, 0x22001108);
    CHECK_EQ(run_command(chip, 0x11, SOURCE, SOURCE, 68), 0);
    CHECK_HEX(chip, SOURCE, PAYLOAD "0102030405060708090a 0a 04");
    CHECK_EQ(get_word(chip, RDR + 28), 0x00800020);
    cd_eip93_emulator_free(chip);
}

/* The other way round, with the IV from the state: the same packet; also where a driver makes it,
 * the destination below the source by header and IV */
static void test_outbound_words(void) {
    static const int32_t shifts[] = {-24, 0, 1, 16, -1, -68, 0x1000};
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        uint32_t destination = SOURCE + (uint32_t)shifts[i];
        put_sa_esp(chip, 0x023A1310, 0x22001101);
        put_hex(chip, STATE, "a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf");
        put_hex(chip, SOURCE, PAYLOAD);
        CHECK_EQ(run_esp(chip, SOURCE, destination, 20), 0);
        CHECK_HEX(chip, destination, PACKET);
        CHECK_EQ(get_word(chip, RDR), 0x0C003212); /* protocol 50 */
        CHECK_EQ(get_word(chip, RDR + 28), 0x00800044);
        CHECK_EQ(get_word(chip, SA + 0x6C), 1);
        CHECK_EQ(get_word(chip, SA + 0x74), 0xFFFFFFFF);
    }
    cd_eip93_emulator_free(chip);
}

/* The generator gives a new IV to each packet; what went out comes in, for all lengths, ciphers and
 * hashes; sequence numbers count. */
static void test_round_trips(void) {
    static const struct {
        uint32_t out0, out1, in0, in1, overhead; /* header, IV, ICV */
    } rows[] = {
        {0x033A1310, 0x22001101, 0x013A1318, 0x22001102, 8 + 16 + 12}, /* AES-CBC, SHA-1 */
        {0x034A3310, 0x24001101, 0x014A3318, 0x24001102, 8 + 16 + 16}, /* AES-256, SHA-256 */
        {0x033A0110, 0x20001101, 0x013A0118, 0x20001102, 8 + 8 + 12},  /* 3DES, MD5 */
        {0x033A2010, 0x20001101, 0x013A2018, 0x20001102, 8 + 8 + 12},  /* DES, SHA-224 */
        {0x033A1310, 0x22001201, 0x013A1318, 0x22001202, 8 + 8 + 12},  /* AES-CTR */
        {0x033A1F10, 0x20001001, 0x013A1F18, 0x20001002, 8 + 12},      /* null cipher */
        {0x0308F310, 0x22001100, 0x0108F318, 0x22001102, 8 + 16},      /* no hash */
    };
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t length = 1; length < 40; length++) {
            uint8_t plain[40];
            uint8_t back[40];
            memset(plain, (int)length, sizeof plain);
            put_sa_esp(chip, rows[i].out0, rows[i].out1);
            put_word(chip, SA + 0x6C, 0x1000 + length);
            put_bytes(chip, SOURCE, plain, length);
            CHECK_EQ(run_esp(chip, SOURCE, DEST, length), 0);
            uint32_t total = result_length(chip);
            CHECK(total >= length + 2 + rows[i].overhead && total % 4 == 0);
            CHECK_EQ(get_word(chip, SA + 0x6C), 0x1001 + length);
            uint8_t number[4];
            get_bytes(chip, number, DEST + 4, 4);
            CHECK_EQ(number[2] << 8 | number[3], 0x1001 + length);
            put_sa_esp(chip, rows[i].in0, rows[i].in1);
            CHECK_EQ(run_esp(chip, DEST, DEST, total), 0);
            uint32_t header = rows[i].overhead - (rows[i].out1 % 2 != 0 ? 12 : 0);
            header -= (rows[i].out0 & 0x00F00000) == 0x00400000 ? 4 : 0;
            CHECK_EQ(result_length(chip), header + length);
            get_bytes(chip, back, DEST + header, length);
            CHECK_BYTES(back, plain, length);
            CHECK_EQ(get_word(chip, RDR) >> 8 & 0xFF, 4);
        }
    }
    cd_eip93_emulator_free(chip);
}

/* 6.2: in ESP the null cipher is padded without SCPAD, too, and PAD_CTRL 1 aligns to 4. */
static void test_alignment(void) {
    static const struct {
        uint32_t code, align;
    } rows[] = {{0x00, 8}, {0x01, 4}, {0x02, 4}, {0x04, 8}, {0x08, 16}, {0x80, 256}};
    struct cd_eip93_emulator *chip = chip_started();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t length = 1; length < 9; length++) {
            put_sa_esp(chip, 0x0308FF10, 0x20000000);
            uint32_t control = rows[i].code << 24 | 0x0411;
            CHECK_EQ(run_command(chip, control, SOURCE, DEST, length), 0);
            uint32_t align = rows[i].align;
            CHECK_EQ(result_length(chip), 8 + (length + 2 + align - 1) / align * align);
        }
    }
    cd_eip93_emulator_free(chip);
}

/* Forged packets: AUTH_ERR, 0x48 for another SPI, and neither moves the window. */
static void test_forged(void) {
    struct cd_eip93_emulator *chip = chip_started();
    for (uint32_t byte = 0; byte < 68; byte++) {
        uint8_t value;
        put_sa_esp(chip, 0x013A1318, 0x22001102);
        put_hex(chip, SOURCE, PACKET);
        get_bytes(chip, &value, SOURCE + byte, 1);
        value ^= 0x10;
        put_bytes(chip, SOURCE + byte, &value, 1);
        uint32_t status = run_esp(chip, SOURCE, DEST, 68);
        CHECK(byte < 4 ? status == 0x48 : (status & 0x09) == 1);
        CHECK_EQ(get_word(chip, SA + 0x6C), 0);
        CHECK_EQ(get_word(chip, SA + 0x78), 0);
    }
    cd_eip93_emulator_free(chip);
}

/* 6.7: the window of 64 numbers. Without hash, so that any number may be put in. */
static void test_replay(void) {
    static const struct {
        uint32_t number, status, highest, mask0, mask1;
    } rows[] = {
        {1, 0, 1, 0x00000001, 0},
        {1, 4, 1, 0x00000001, 0},
        {3, 0, 3, 0x00000005, 0},
        {2, 0, 3, 0x00000007, 0},
        {66, 0, 66, 0x00000001, 0x80000000}, /* 3 is 63 back; 2 and 1 fall out */
        {4, 0, 66, 0x00000001, 0xC0000000},
        {3, 4, 66, 0x00000001, 0xC0000000},
        {2, 4, 66, 0x00000001, 0xC0000000},
        {0, 4, 66, 0x00000001, 0xC0000000},
        {130, 0, 130, 0x00000001, 0},
        {0xFFFFFFFF, 0, 0xFFFFFFFF, 0x00000001, 0},
    };
    struct cd_eip93_emulator *chip = chip_started();
    put_sa_esp(chip, 0x010AFF18, 0x20000002);
    put_word(chip, SA + 0x74, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t n = rows[i].number;
        put_hex(chip, SOURCE, "12345678 00000000 aabb 0004");
        uint8_t number[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
        put_bytes(chip, SOURCE + 4, number, 4);
        CHECK_EQ(run_esp(chip, SOURCE, DEST, 12), rows[i].status);
        CHECK_EQ(result_length(chip), 10);
        CHECK_EQ(get_word(chip, SA + 0x6C), rows[i].highest);
        CHECK_EQ(get_word(chip, SA + 0x74), rows[i].mask0);
        CHECK_EQ(get_word(chip, SA + 0x78), rows[i].mask1);
    }
    cd_eip93_emulator_free(chip);
}

/* Lengths, overflow of the number, and an SA that may not be written */
static void test_errors(void) {
    struct cd_eip93_emulator *chip = chip_started();
    put_hex(chip, SOURCE, PACKET);
    put_sa_esp(chip, 0x013A1318, 0x22001102);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 67), 0x68);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 8), 0x68);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 35), 0x68);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 64), 0x78);
    CHECK_EQ(get_word(chip, SA + 0x6C), 0);
    put_word(chip, SA + 0x68, 1);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 64), 0x48); /* before 0x78 */
    put_sa_esp(chip, 0x033A1310, 0x22001101);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 65536), 0x68);
    put_word(chip, SA + 0x6C, 0xFFFFFFFF);
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 20), 0x04);
    CHECK_EQ(get_word(chip, SA + 0x6C), 0);
    CHECK_EQ(get_word(chip, SA + 0x70), 1);
    put_sa_esp(chip, 0x013A1310, 0x22001101); /* outbound, IV from the input */
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 20), 0x28);
    put_sa_esp(chip, 0x03321310, 0x22001101); /* no HDR_PROC: not modelled */
    CHECK_EQ(run_esp(chip, SOURCE, DEST, 20), 0x28);
    uint8_t sa[128];
    put_sa_esp(chip, 0x033A1310, 0x22001101);
    get_bytes(chip, sa, SA, sizeof sa);
    uint32_t address = map_buffer(chip, sa, sizeof sa, CD_DMA_TO_DEVICE);
    chip_start(chip);
    put_command(chip, CDR, 0, SOURCE, DEST, 1, 20);
    put_word(chip, CDR + 12, address);
    ring(chip, 1);
    CHECK_EQ(cd_eip93_emulator_step(chip, 100000), 1);
    CHECK_EQ(result_status(chip, RDR, 0), 0x08);
    cd_eip93_emulator_free(chip);
}

int main(void) {
    RUN(test_inbound_words);
    RUN(test_outbound_words);
    RUN(test_round_trips);
    RUN(test_alignment);
    RUN(test_forged);
    RUN(test_replay);
    RUN(test_errors);
    return test_end();
}
