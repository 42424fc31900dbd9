/*
 * DES as FIPS 46-3 writes it down, a bit at a time, from the standard's own tables: what the fast
 * code is compared with. Bits are bytes of value 0 or 1, the standard's bit 1 first.
 */
#ifndef TEST_PLAIN_DES_H
#define TEST_PLAIN_DES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */
static const uint8_t plain_ip[64] = {
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
    62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
    57, 49, 41, 33, 25, 17,  9, 1, 59, 51, 43, 35, 27, 19, 11, 3,
    61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7};
static const uint8_t plain_e[48] = {
    32,  1,  2,  3,  4,  5,  4,  5,  6,  7,  8,  9,  8,  9, 10, 11, 12, 13, 12, 13, 14, 15, 16, 17,
    16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32,  1};
static const uint8_t plain_p[32] = {
    16, 7, 20, 21, 29, 12, 28, 17,  1, 15, 23, 26,  5, 18, 31, 10,
     2, 8, 24, 14, 32, 27,  3,  9, 19, 13, 30,  6, 22, 11,  4, 25};
static const uint8_t plain_pc1[56] = {
    57, 49, 41, 33, 25, 17,  9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3,
    60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37,
    29, 21, 13,  5, 28, 20, 12, 4};
static const uint8_t plain_pc2[48] = {
    14, 17, 11, 24,  1,  5,  3, 28, 15,  6, 21, 10, 23, 19, 12,  4, 26,  8, 16,  7, 27, 20, 13,  2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32};
static const uint8_t plain_shifts[16] = {1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1};
static const uint8_t plain_s[8][64] = {
    {14,  4, 13,  1,  2, 15, 11,  8,  3, 10,  6, 12,  5,  9,  0,  7,
      0, 15,  7,  4, 14,  2, 13,  1, 10,  6, 12, 11,  9,  5,  3,  8,
      4,  1, 14,  8, 13,  6,  2, 11, 15, 12,  9,  7,  3, 10,  5,  0,
     15, 12,  8,  2,  4,  9,  1,  7,  5, 11,  3, 14, 10,  0,  6, 13},
    {15,  1,  8, 14,  6, 11,  3,  4,  9,  7,  2, 13, 12,  0,  5, 10,
      3, 13,  4,  7, 15,  2,  8, 14, 12,  0,  1, 10,  6,  9, 11,  5,
      0, 14,  7, 11, 10,  4, 13,  1,  5,  8, 12,  6,  9,  3,  2, 15,
     13,  8, 10,  1,  3, 15,  4,  2, 11,  6,  7, 12,  0,  5, 14,  9},
    {10,  0,  9, 14,  6,  3, 15,  5,  1, 13, 12,  7, 11,  4,  2,  8,
     13,  7,  0,  9,  3,  4,  6, 10,  2,  8,  5, 14, 12, 11, 15,  1,
     13,  6,  4,  9,  8, 15,  3,  0, 11,  1,  2, 12,  5, 10, 14,  7,
      1, 10, 13,  0,  6,  9,  8,  7,  4, 15, 14,  3, 11,  5,  2, 12},
    { 7, 13, 14,  3,  0,  6,  9, 10,  1,  2,  8,  5, 11, 12,  4, 15,
     13,  8, 11,  5,  6, 15,  0,  3,  4,  7,  2, 12,  1, 10, 14,  9,
     10,  6,  9,  0, 12, 11,  7, 13, 15,  1,  3, 14,  5,  2,  8,  4,
      3, 15,  0,  6, 10,  1, 13,  8,  9,  4,  5, 11, 12,  7,  2, 14},
    { 2, 12,  4,  1,  7, 10, 11,  6,  8,  5,  3, 15, 13,  0, 14,  9,
     14, 11,  2, 12,  4,  7, 13,  1,  5,  0, 15, 10,  3,  9,  8,  6,
      4,  2,  1, 11, 10, 13,  7,  8, 15,  9, 12,  5,  6,  3,  0, 14,
     11,  8, 12,  7,  1, 14,  2, 13,  6, 15,  0,  9, 10,  4,  5,  3},
    {12,  1, 10, 15,  9,  2,  6,  8,  0, 13,  3,  4, 14,  7,  5, 11,
     10, 15,  4,  2,  7, 12,  9,  5,  6,  1, 13, 14,  0, 11,  3,  8,
      9, 14, 15,  5,  2,  8, 12,  3,  7,  0,  4, 10,  1, 13, 11,  6,
      4,  3,  2, 12,  9,  5, 15, 10, 11, 14,  1,  7,  6,  0,  8, 13},
    { 4, 11,  2, 14, 15,  0,  8, 13,  3, 12,  9,  7,  5, 10,  6,  1,
     13,  0, 11,  7,  4,  9,  1, 10, 14,  3,  5, 12,  2, 15,  8,  6,
      1,  4, 11, 13, 12,  3,  7, 14, 10, 15,  6,  8,  0,  5,  9,  2,
      6, 11, 13,  8,  1,  4, 10,  7,  9,  5,  0, 15, 14,  2,  3, 12},
    {13,  2,  8,  4,  6, 15, 11,  1, 10,  9,  3, 14,  5,  0, 12,  7,
      1, 15, 13,  8, 10,  3,  7,  4, 12,  5,  6, 11,  0, 14,  9,  2,
      7, 11,  4,  1,  9, 12, 14,  2,  0,  6, 10, 13, 15,  3,  5,  8,
      2,  1, 14,  7,  4, 10,  8, 13, 15, 12,  9,  0,  3,  5,  6, 11}};
/* clang-format on */

static inline void plain_unpack(uint8_t bits[64], const uint8_t bytes[8]) {
    for (size_t i = 0; i < 64; i++) {
        bits[i] = bytes[i / 8] >> (7 - i % 8) & 1;
    }
}

static inline void plain_pick(uint8_t *out, const uint8_t *bits, const uint8_t *table,
                              size_t length) {
    for (size_t i = 0; i < length; i++) {
        out[i] = bits[table[i] - 1];
    }
}

/* The 48 bits of each round key. */
static inline void plain_des_schedule(uint8_t round_keys[16][48], const uint8_t key[8]) {
    uint8_t bits[64], cd[56], turned[56];
    plain_unpack(bits, key);
    plain_pick(cd, bits, plain_pc1, 56);
    for (size_t round = 0; round < 16; round++) {
        for (size_t i = 0; i < 28; i++) {
            turned[i] = cd[(i + plain_shifts[round]) % 28];
            turned[28 + i] = cd[28 + (i + plain_shifts[round]) % 28];
        }
        memcpy(cd, turned, sizeof cd);
        plain_pick(round_keys[round], cd, plain_pc2, 48);
    }
}

/* f(R, K) */
static inline void plain_des_f(uint8_t out[32], const uint8_t right[32], const uint8_t key[48]) {
    uint8_t expanded[48], chosen[32];
    plain_pick(expanded, right, plain_e, 48);
    for (size_t box = 0; box < 8; box++) {
        uint8_t v[6];
        for (size_t i = 0; i < 6; i++) {
            v[i] = expanded[6 * box + i] ^ key[6 * box + i];
        }
        size_t row = 2u * v[0] + v[5], column = 8u * v[1] + 4u * v[2] + 2u * v[3] + v[4];
        for (size_t i = 0; i < 4; i++) {
            chosen[4 * box + i] = plain_s[box][16 * row + column] >> (3 - i) & 1;
        }
    }
    plain_pick(out, chosen, plain_p, 32);
}

static inline void plain_des(uint8_t out[8], const uint8_t in[8], const uint8_t key[8],
                             bool decrypt) {
    uint8_t round_keys[16][48], bits[64], left[32], right[32], next[32];
    plain_des_schedule(round_keys, key);
    plain_unpack(bits, in);
    plain_pick(left, bits, plain_ip, 32);
    plain_pick(right, bits, plain_ip + 32, 32);
    for (size_t round = 0; round < 16; round++) {
        plain_des_f(next, right, round_keys[decrypt ? 15 - round : round]);
        for (size_t i = 0; i < 32; i++) {
            next[i] ^= left[i];
        }
        memcpy(left, right, 32);
        memcpy(right, next, 32);
    }
    memset(out, 0, 8);
    for (size_t i = 0; i < 64; i++) { /* the inverse of IP, on R16 L16 */
        size_t place = plain_ip[i] - 1u;
        uint8_t bit = i < 32 ? right[i] : left[i - 32];
        out[place / 8] = (uint8_t)(out[place / 8] | bit << (7 - place % 8));
    }
}

/* EDE with three keys, SP 800-67 section 3. */
static inline void plain_des3(uint8_t out[8], const uint8_t in[8], const uint8_t key[24],
                              bool decrypt) {
    uint8_t first[8], second[8];
    plain_des(first, in, key + (decrypt ? 16 : 0), decrypt);
    plain_des(second, first, key + 8, !decrypt);
    plain_des(out, second, key + (decrypt ? 0 : 16), decrypt);
}

#endif
