/*
 * AES (FIPS 197) on blocks and its modes ECB, CBC, CTR (NIST SP 800-38A), as a table of functions
 * per way of computing it.
 *
 * In all functions `out` may be `in` itself, and must not overlap it otherwise; any alignment.
 */
#ifndef CD_AES_H
#define CD_AES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cryptodispatch/cpu.h"

#define CD_AES_BLOCK 16u

/* Enough to encrypt, and for CTR. Aligned for vector loads. The order of bytes in `words` belongs
 * to the functions that prepared it. */
struct cd_aes_encrypt_key {
    _Alignas(16) uint32_t words[60];
    uint32_t rounds; /* 10, 12, 14 */
};

/* Both directions. */
struct cd_aes_key {
    struct cd_aes_encrypt_key encrypt;
    _Alignas(16) uint32_t decrypt[60]; /* equivalent inverse cipher, FIPS 197 section 5.3.5 */
};

struct cd_aes_functions {
    const char *name; /* as in driver names: "lib", "ni" */
    uint32_t cpu;     /* enum cd_cpu_feature bits needed */
    /* key_len is 16, 24 or 32 (asserted). */
    void (*prepare_encrypt)(struct cd_aes_encrypt_key *out_key, const uint8_t *key, size_t key_len);
    void (*prepare)(struct cd_aes_key *out_key, const uint8_t *key, size_t key_len);
    void (*ecb_encrypt)(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    void (*ecb_decrypt)(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    /* iv: in and out, the value that continues the message. */
    void (*cbc_encrypt)(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]);
    void (*cbc_decrypt)(const struct cd_aes_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_AES_BLOCK]);
    /* Any length in bytes; the counter is 128 bits big-endian and goes up by ceil(length / 16). */
    void (*ctr)(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                size_t length, uint8_t counter[CD_AES_BLOCK]);
};

/* cd_aes_aesni.cpu and cd_aes_vaes.cpu, for initialisers. */
#define CD_AES_AESNI_CPU (CD_CPU_AESNI | CD_CPU_SSSE3)
#define CD_AES_VAES_CPU (CD_AES_AESNI_CPU | CD_CPU_AVX | CD_CPU_AVX2 | CD_CPU_VAES)

extern const struct cd_aes_functions cd_aes_portable;
extern const struct cd_aes_functions cd_aes_generic; /* 4 KiB of tables; for comparison */
extern const struct cd_aes_functions cd_aes_fixed;   /* no tables: time independent of secrets */
extern const struct cd_aes_functions cd_aes_aesni;   /* all NULL but name and cpu where not built */
extern const struct cd_aes_functions cd_aes_vaes;    /* likewise; the keys of cd_aes_aesni fit */

/* The fastest table that this CPU can run; for users that need AES but are no implementation, such
 * as the emulated chip. */
const struct cd_aes_functions *cd_aes_best(void);

/* Add `blocks` to a 128-bit big-endian counter, modulo 2^128. */
void cd_aes_counter_add(uint8_t counter[CD_AES_BLOCK], uint64_t blocks);

#endif
