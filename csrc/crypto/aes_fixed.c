/*
 * AES in plain C without tables: four blocks at once as eight bit planes, the S-box as a circuit.
 *
 * Timing: no address and no branch depends on key or text, nor does any operand of an instruction
 * whose duration varies on the CPUs in view (only and, or, exclusive or, shifts by constants): the
 * time depends on the number of blocks and on the key size. That is a property of this text; C does
 * not promise that a compiler keeps it, and this project does not inspect what every compiler
 * makes. Power and emissions are another matter. The price: several times the time of
 * aes_portable.c, and one block costs as much as four, so CBC encryption is the worst case. For
 * CPUs without AES instructions where others can measure this process.
 *
 * Bit k of byte i of block b is bit 4 * i + b of plane k. Byte i is row i % 4 of column i / 4 (FIPS
 * 197 section 3.4), so a column is 16 bits of each plane and a row every fourth group of 4 bits:
 * ShiftRows and MixColumns are rotations by constants.
 */
#include <string.h>

#include "base/endian.h"
#include "base/secure.h"
#include "crypto/aes.h"
#include "crypto/aes_fixed_sbox.h"
#include "crypto/aes_modes.h"
#include "crypto/aes_schedule.h"

#define LANES 4u       /* blocks in a set of planes */
#define ROUNDS_MAX 14u /* FIPS 197 section 5 */

/* Round keys as planes, the same for every lane. */
struct planes_key {
    uint64_t planes[ROUNDS_MAX + 1][8];
    uint32_t rounds;
};

static inline uint64_t rotate_right(uint64_t plane, unsigned bits) {
    return plane >> bits | plane << (64 - bits);
}

/* ---- bytes and planes ---- */

/* Every second byte of 8, from byte 0 on, as 32 bits. */
static inline uint64_t gather_even(uint64_t bytes) {
    bytes &= UINT64_C(0x00ff00ff00ff00ff);
    bytes = (bytes | bytes >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (bytes | bytes >> 16) & UINT64_C(0x00000000ffffffff);
}

static inline uint64_t spread_even(uint64_t bytes) {
    bytes = (bytes | bytes << 16) & UINT64_C(0x0000ffff0000ffff);
    return (bytes | bytes << 8) & UINT64_C(0x00ff00ff00ff00ff);
}

/* Exchange the bits of `mask` in b with those `shift` places higher in a. */
static inline void exchange(uint64_t *a, uint64_t *b, uint64_t mask, unsigned shift) {
    uint64_t difference = (*a >> shift ^ *b) & mask;

    *b ^= difference;
    *a ^= difference << shift;
}

/* Bit k of byte j of words[w] becomes bit w of byte j of words[k]; its own inverse. */
static inline void transpose(uint64_t words[8]) {
    for (size_t i = 0; i < 8; i += 2) {
        exchange(&words[i], &words[i + 1], UINT64_C(0x5555555555555555), 1);
    }
    for (size_t i = 0; i < 8; i += i % 4 == 1 ? 3 : 1) {
        exchange(&words[i], &words[i + 2], UINT64_C(0x3333333333333333), 2);
    }
    for (size_t i = 0; i < 4; i++) {
        exchange(&words[i], &words[i + 4], UINT64_C(0x0f0f0f0f0f0f0f0f), 4);
    }
}

static inline void planes_load(uint64_t out_planes[8], const uint8_t in[LANES * CD_AES_BLOCK]) {
    for (size_t lane = 0; lane < LANES; lane++) {
        uint64_t first = cd_load_le64(in + lane * CD_AES_BLOCK);
        uint64_t second = cd_load_le64(in + lane * CD_AES_BLOCK + 8);

        out_planes[lane] = gather_even(first) | gather_even(second) << 32;
        out_planes[lane + LANES] = gather_even(first >> 8) | gather_even(second >> 8) << 32;
    }
    transpose(out_planes);
}

/* Destroys the planes. */
static inline void planes_store(uint8_t out[LANES * CD_AES_BLOCK], uint64_t planes[8]) {
    transpose(planes);
    for (size_t lane = 0; lane < LANES; lane++) {
        uint64_t even = planes[lane], odd = planes[lane + LANES];

        cd_store_le64(out + lane * CD_AES_BLOCK,
                      spread_even(even & 0xffffffff) | spread_even(odd & 0xffffffff) << 8);
        cd_store_le64(out + lane * CD_AES_BLOCK + 8,
                      spread_even(even >> 32) | spread_even(odd >> 32) << 8);
    }
}

/* ---- the schedule ---- */

static uint32_t substitute(uint32_t word) {
    uint8_t bytes[LANES * CD_AES_BLOCK] = {0};
    uint64_t planes[8];

    cd_store_le32(bytes, word);
    planes_load(planes, bytes);
    cd_aes_sbox_planes(planes);
    planes_store(bytes, planes);
    word = cd_load_le32(bytes);
    cd_wipe(bytes, sizeof bytes);
    cd_wipe(planes, sizeof planes);
    return word;
}

/* Times 2 in GF(2^8), each byte of the word. */
static inline uint32_t times_2(uint32_t word) {
    uint32_t carry = word >> 7 & UINT32_C(0x01010101);

    return (word << 1 & UINT32_C(0xfefefefe)) ^ carry ^ carry << 1 ^ carry << 3 ^ carry << 4;
}

/* InvMixColumns = MixColumns after a + 4 * (a + a rotated by two rows). */
static uint32_t unmix(uint32_t word) {
    uint32_t both = word ^ cd_aes_rotate_left(word, 16);

    word ^= times_2(times_2(both));
    both = word ^ cd_aes_rotate_left(word, 24);
    return times_2(both) ^ cd_aes_rotate_left(word, 24) ^ cd_aes_rotate_left(both, 16);
}

static void prepare_encrypt(struct cd_aes_encrypt_key *out_key, const uint8_t *key,
                            size_t key_len) {
    cd_aes_schedule_encrypt(out_key, key, key_len, substitute);
}

static void prepare(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len) {
    prepare_encrypt(&out_key->encrypt, key, key_len);
    cd_aes_schedule_decrypt(out_key, unmix);
}

/* Four round keys become planes together, as if they were blocks, and each is then copied to all
 * lanes. */
static void planes_prepare(struct planes_key *out_key, const uint32_t *words, uint32_t rounds) {
    uint8_t bytes[LANES * CD_AES_BLOCK];
    uint64_t planes[8];

    out_key->rounds = rounds;
    for (uint32_t first = 0; first <= rounds; first += LANES) {
        uint32_t count = rounds + 1 - first < LANES ? rounds + 1 - first : LANES;

        memset(bytes, 0, sizeof bytes);
        for (size_t i = 0; i < 4 * (size_t)count; i++) {
            cd_store_le32(bytes + 4 * i, words[4 * first + i]);
        }
        planes_load(planes, bytes);
        for (uint32_t i = 0; i < count; i++) {
            for (size_t bit = 0; bit < 8; bit++) {
                uint64_t lane = planes[bit] >> i & UINT64_C(0x1111111111111111);

                out_key->planes[first + i][bit] = (lane << 4) - lane; /* times 15 */
            }
        }
    }
    cd_wipe(bytes, sizeof bytes);
    cd_wipe(planes, sizeof planes);
}

/* ---- rounds ---- */

static inline void add_round_key(uint64_t planes[8], const struct planes_key *key, uint32_t round) {
    for (size_t bit = 0; bit < 8; bit++) {
        planes[bit] ^= key->planes[round][bit];
    }
}

#define ROW(r) (UINT64_C(0x000f000f000f000f) << 4 * (r)) /* bits of row r in a plane */

/* Row r comes from r columns further on: 16 * r bits. Decryption passes the rows mirrored. */
static inline void shift_rows(uint64_t planes[8], uint64_t row_1, uint64_t row_3) {
    for (size_t bit = 0; bit < 8; bit++) {
        uint64_t plane = planes[bit];

        planes[bit] = (plane & ROW(0)) | (rotate_right(plane, 16) & row_1) |
                      (rotate_right(plane, 32) & ROW(2)) | (rotate_right(plane, 48) & row_3);
    }
}

/* Every row becomes the one below it, within each column of 16 bits. */
static inline uint64_t next_row(uint64_t plane) {
    return (plane >> 4 & UINT64_C(0x0fff0fff0fff0fff)) |
           (plane << 12 & ~UINT64_C(0x0fff0fff0fff0fff));
}

static inline uint64_t row_after_next(uint64_t plane) {
    return (plane >> 8 & UINT64_C(0x00ff00ff00ff00ff)) |
           (plane << 8 & ~UINT64_C(0x00ff00ff00ff00ff));
}

/* planes ^= 2 * a in GF(2^8) modulo 11b, where planes may not be a. */
static inline void add_times_2(uint64_t planes[8], const uint64_t a[8]) {
    planes[0] ^= a[7];
    planes[1] ^= a[0] ^ a[7];
    planes[2] ^= a[1];
    planes[3] ^= a[2] ^ a[7];
    planes[4] ^= a[3] ^ a[7];
    planes[5] ^= a[4];
    planes[6] ^= a[5];
    planes[7] ^= a[6];
}

/* 2a + 3b + c + d = 2(a + b) + b + (c + d), for rows a, b, c, d from each row on. */
static inline void mix_columns(uint64_t planes[8]) {
    uint64_t both[8];

    for (size_t bit = 0; bit < 8; bit++) {
        uint64_t next = next_row(planes[bit]);

        both[bit] = planes[bit] ^ next;
        planes[bit] = next ^ row_after_next(both[bit]);
    }
    add_times_2(planes, both);
}

/* As unmix above. */
static inline void unmix_columns(uint64_t planes[8]) {
    uint64_t both[8], twice[8] = {0};

    for (size_t bit = 0; bit < 8; bit++) {
        both[bit] = planes[bit] ^ row_after_next(planes[bit]);
    }
    add_times_2(twice, both);
    add_times_2(planes, twice);
    mix_columns(planes);
}

static void encrypt_planes(const struct planes_key *key, uint64_t planes[8]) {
    add_round_key(planes, key, 0);
    for (uint32_t round = 1; round < key->rounds; round++) {
        cd_aes_sbox_planes(planes);
        shift_rows(planes, ROW(1), ROW(3));
        mix_columns(planes);
        add_round_key(planes, key, round);
    }
    cd_aes_sbox_planes(planes);
    shift_rows(planes, ROW(1), ROW(3));
    add_round_key(planes, key, key->rounds);
}

static void decrypt_planes(const struct planes_key *key, uint64_t planes[8]) {
    add_round_key(planes, key, 0);
    for (uint32_t round = 1; round < key->rounds; round++) {
        cd_aes_inverse_sbox_planes(planes);
        shift_rows(planes, ROW(3), ROW(1));
        unmix_columns(planes);
        add_round_key(planes, key, round);
    }
    cd_aes_inverse_sbox_planes(planes);
    shift_rows(planes, ROW(3), ROW(1));
    add_round_key(planes, key, key->rounds);
}

/* ---- blocks and modes ---- */

/* Run all blocks, four at a time; the last up to three with idle lanes. */
static void run_blocks(void (*run)(const struct planes_key *key, uint64_t planes[8]),
                       const uint32_t *words, uint32_t rounds, uint8_t *out, const uint8_t *in,
                       size_t blocks) {
    struct planes_key key;
    uint8_t text[LANES * CD_AES_BLOCK] = {0};
    uint64_t planes[8];

    planes_prepare(&key, words, rounds);
    while (blocks > 0) {
        size_t count = blocks < LANES ? blocks : LANES;

        memcpy(text, in, count * CD_AES_BLOCK);
        planes_load(planes, text);
        run(&key, planes);
        planes_store(text, planes);
        memcpy(out, text, count * CD_AES_BLOCK);
        in += count * CD_AES_BLOCK;
        out += count * CD_AES_BLOCK;
        blocks -= count;
    }
    cd_wipe(&key, sizeof key);
    cd_wipe(text, sizeof text);
    cd_wipe(planes, sizeof planes);
}

static void encrypt_blocks(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                           size_t blocks) {
    run_blocks(encrypt_planes, key->words, key->rounds, out, in, blocks);
}

static void decrypt_blocks(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                           size_t blocks) {
    run_blocks(decrypt_planes, key->decrypt, key->encrypt.rounds, out, in, blocks);
}

static void cbc_encrypt(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    cd_aes_modes_cbc_encrypt(encrypt_blocks, key, out, in, blocks, iv);
}

static void cbc_decrypt(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]) {
    cd_aes_modes_cbc_decrypt(decrypt_blocks, key, out, in, blocks, iv);
}

static void ctr(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                size_t length, uint8_t counter[CD_AES_BLOCK]) {
    cd_aes_modes_ctr(encrypt_blocks, key, out, in, length, counter);
}

const struct cd_aes_functions cd_aes_fixed = {
    .name = "fixed-time",
    .cpu = 0,
    .prepare_encrypt = prepare_encrypt,
    .prepare = prepare,
    .ecb_encrypt = encrypt_blocks,
    .ecb_decrypt = decrypt_blocks,
    .cbc_encrypt = cbc_encrypt,
    .cbc_decrypt = cbc_decrypt,
    .ctr = ctr,
};
