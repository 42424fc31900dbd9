/* What the tests of hashes and of HMAC share: every algorithm that this CPU can run, and bytes. */
#ifndef TEST_HASH_ALL_H
#define TEST_HASH_ALL_H

#include <stdlib.h>

#include "crypto/md.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "cryptodispatch/cpu.h"
#include "test_support.h"

enum { MD5, SHA1, SHA224, SHA256, HASHES };

/* Every implementation of each hash, the portable one first; NULL at the end. */
static const struct cd_md_algorithm *test_hashes[HASHES][4] = {
    {&cd_md5_portable}, {&cd_sha1_portable}, {&cd_sha224_portable}, {&cd_sha256_portable}};

#define TEST_BYTES 2048u

/* Byte i is i * 7 + (i / 256) * 13 + 3, modulo 256. */
static uint8_t test_bytes[TEST_BYTES];

static inline bool test_hash_can_run(const struct cd_md_algorithm *algorithm) {
    return algorithm->blocks != NULL && (cd_cpu_detect() & algorithm->cpu) == algorithm->cpu;
}

static inline void test_hashes_set_up(void) {
    const struct cd_md_algorithm *const newer[][HASHES] = {
        {NULL, &cd_sha1_shani, &cd_sha224_shani, &cd_sha256_shani},
        {NULL, NULL, &cd_sha224_avx512, &cd_sha256_avx512},
    };
    for (size_t i = 0; i < TEST_BYTES; i++) {
        test_bytes[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + 3);
    }
    for (size_t i = 0; i < 2; i++) {
        if (!test_hash_can_run(newer[i][SHA256])) {
            printf("skipped: sha256 %s, not built or not in this CPU\n", newer[i][SHA256]->name);
            return; /* the second needs the first */
        }
        for (size_t hash = 0; hash < HASHES; hash++) {
            if (newer[i][hash] != NULL) {
                test_hashes[hash][i + 1] = newer[i][hash];
            }
        }
    }
}

/* For every algorithm that can run: `hash` is its number, `algorithm` itself. */
#define FOR_EVERY_HASH(hash, algorithm)                                                            \
    for (size_t hash = 0; hash < HASHES; hash++)                                                   \
        for (const struct cd_md_algorithm **at_ = test_hashes[hash], *algorithm = *at_;            \
             algorithm != NULL; algorithm = *++at_)

static inline void check_digest(const struct cd_md_algorithm *algorithm, const uint8_t *digest,
                                const char *expected_hex) {
    uint8_t expected[CD_MD_DIGEST_MAX] = {0};
    CHECK_EQ(test_hex(expected, expected_hex), algorithm->digest_size);
    CHECK_BYTES(digest, expected, algorithm->digest_size);
}

#endif
