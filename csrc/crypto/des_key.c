/*
 * The key schedule of DES (FIPS 46-3, "Key schedule KS") and what can be said about keys.
 *
 * The schedule reads tables at places that depend on the key, as the cipher itself does; the
 * functions that answer a question about a key do not.
 */
#include "base/endian.h"
#include "base/secure.h"
#include "crypto/des.h"
#include "crypto/des_tables.h"

#define HALF_MASK 0x0fffffffu
#define PARITY_MASK 0x0101010101010101u

/* C and D, 28 bits each; bit 1 of the standard is the highest. */
struct halves {
    uint32_t c, d;
};

static uint64_t load_key(const uint8_t *key) {
    return (uint64_t)cd_load_le32(key + 4) << 32 | cd_load_le32(key);
}

static uint64_t swap_bits(uint64_t value, unsigned distance, uint64_t mask) {
    uint64_t differing = (value ^ value >> distance) & mask;
    return value ^ differing ^ differing << distance;
}

/*
 * Permuted choice 1: with the last byte as the top row, the key is a matrix of 8 x 8 bits whose
 * columns, read downwards, are the rows of PC-1: the first three and a half make C, the seventh,
 * sixth, fifth and the rest of the fourth make D; the eighth is the parity.
 */
static struct halves permuted_choice_1(const uint8_t *key) {
    uint64_t rows = load_key(key);
    rows = swap_bits(rows, 7, 0x00aa00aa00aa00aau);
    rows = swap_bits(rows, 14, 0x0000cccc0000ccccu);
    rows = swap_bits(rows, 28, 0x00000000f0f0f0f0u);
    return (struct halves){
        .c = (uint32_t)(rows >> 36),
        .d = (uint32_t)((rows >> 8 & 0xff) << 20 | (rows >> 16 & 0xff) << 12 |
                        (rows >> 24 & 0xff) << 4 | (rows >> 32 & 0xf)),
    };
}

static uint32_t rotate_half(uint32_t half, unsigned bits) {
    return (half << bits | half >> (28 - bits)) & HALF_MASK;
}

/* The 24 bits of C and D that permuted choice 2 uses: without 9, 18, 22, 25 and 35, 38, 43, 54. */
static uint32_t used_of_c(uint32_t c) {
    return (c >> 4 & 0xff0000) | (c >> 3 & 0xff00) | (c >> 2 & 0xe0) | (c >> 1 & 0x18) | (c & 7);
}

static uint32_t used_of_d(uint32_t d) {
    return (d >> 4 & 0xfc0000) | (d >> 3 & 0x30000) | (d >> 2 & 0xf000) | (d >> 1 & 0xffc) |
           (d & 3);
}

static uint32_t choose(const uint32_t tables[4][64], uint32_t bits) {
    return tables[0][bits >> 18] | tables[1][bits >> 12 & 63] | tables[2][bits >> 6 & 63] |
           tables[3][bits & 63];
}

void cd_des_schedule(uint32_t out_encrypt[32], uint32_t out_decrypt[32],
                     const uint8_t key[CD_DES_KEY]) {
    const uint32_t single_shifts = 0x8103; /* bit r: round r shifts by one, the others by two */
    struct halves halves = permuted_choice_1(key);
    for (unsigned round = 0; round < 16; round++) {
        unsigned shift = 2 - (single_shifts >> round & 1);
        halves.c = rotate_half(halves.c, shift);
        halves.d = rotate_half(halves.d, shift);
        uint32_t from_c = choose(cd_des_pc2, used_of_c(halves.c));
        uint32_t from_d = choose(cd_des_pc2 + 4, used_of_d(halves.d));
        uint32_t odd_boxes = (from_c & 0xffff0000u) | from_d >> 16;
        uint32_t even_boxes = from_c << 16 | (from_d & 0xffff);
        out_encrypt[2 * round] = odd_boxes;
        out_encrypt[2 * round + 1] = even_boxes;
        out_decrypt[2 * (15 - round)] = odd_boxes;
        out_decrypt[2 * (15 - round) + 1] = even_boxes;
    }
    cd_wipe(&halves, sizeof halves);
}

bool cd_des_key_is_weak(const uint8_t key[CD_DES_KEY]) {
    struct halves halves = permuted_choice_1(key);
    /* Each half is 00.., 11.., 01.. or 10..: what rotating by two does not change. */
    uint32_t changed = halves.c ^ rotate_half(halves.c, 2);
    changed |= halves.d ^ rotate_half(halves.d, 2);
    cd_wipe(&halves, sizeof halves);
    return changed == 0;
}

/* The parity of every byte, in its lowest bit. */
static uint64_t byte_parities(uint64_t bytes) {
    bytes ^= bytes >> 4;
    bytes ^= bytes >> 2;
    bytes ^= bytes >> 1;
    return bytes & PARITY_MASK;
}

bool cd_des_key_has_odd_parity(const uint8_t key[CD_DES_KEY]) {
    return byte_parities(load_key(key)) == PARITY_MASK;
}

void cd_des_key_set_odd_parity(uint8_t key[CD_DES_KEY]) {
    uint64_t bytes = load_key(key);
    bytes ^= byte_parities(bytes) ^ PARITY_MASK;
    cd_store_le32(key, (uint32_t)bytes);
    cd_store_le32(key + 4, (uint32_t)(bytes >> 32));
}

/* Whether the keys at a and b differ in no more than parity: 1 or 0, without a branch. */
static uint32_t same_key(const uint8_t *a, const uint8_t *b) {
    uint64_t differing = (load_key(a) ^ load_key(b)) & ~PARITY_MASK;
    return (uint32_t)((~differing & (differing - 1)) >> 63);
}

bool cd_des3_key_is_single(const uint8_t key[CD_DES3_KEY]) {
    return (same_key(key, key + 8) | same_key(key + 8, key + 16)) != 0;
}

bool cd_des3_key_repeats(const uint8_t key[CD_DES3_KEY]) {
    return (same_key(key, key + 8) | same_key(key + 8, key + 16) | same_key(key, key + 16)) != 0;
}
