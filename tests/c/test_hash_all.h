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
static const struct cd_md_algorithm *test_hashes[HASHES][3] = {
    {&cd_md5_portable}, {&cd_sha1_portable}, {&cd_sha224_portable}, {&cd_sha256_portable}};

#define TEST_BYTES 2048u

/* Byte i is i * 7 + (i / 256) * 13 + 3, modulo 256. */
static uint8_t test_bytes[TEST_BYTES];

static inline void test_hashes_set_up(void) {
    const struct cd_md_algorithm *const shani[HASHES] = {NULL, &cd_sha1_shani, &cd_sha224_shani,
                                                         &cd_sha256_shani};
    for (size_t i = 0; i < TEST_BYTES; i++) {
        test_bytes[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + 3);
    }
    if (cd_sha1_shani.blocks == NULL ||
        (cd_cpu_detect() & cd_sha1_shani.cpu) != cd_sha1_shani.cpu) {
        printf("skipped: shani, not built or not in this CPU\n");
        return;
    }
    for (size_t hash = SHA1; hash < HASHES; hash++) {
        test_hashes[hash][1] = shani[hash];
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
