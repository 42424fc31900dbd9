/*
 * DES (FIPS 46-3) and triple DES, EDE with three keys (SP 800-67), on blocks and in the modes ECB
 * and CBC (NIST SP 800-38A), as tables of functions.
 *
 * Old ciphers, for old records and for engines that speak them. In all functions `out` may be `in`
 * itself, and must not overlap it otherwise; any alignment. The lowest bit of each key byte is its
 * parity and is ignored everywhere but in the functions named after it.
 */
#ifndef CD_DES_H
#define CD_DES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CD_DES_BLOCK 8u
#define CD_DES_KEY 8u
#define CD_DES3_KEY 24u /* K1, K2, K3; two-key triple DES repeats K1 as K3 */

/* Round keys in the order of use, two words per round. */
struct cd_des_key {
    uint32_t encrypt[32];
    uint32_t decrypt[32];
};

struct cd_des3_key {
    uint32_t encrypt[96];
    uint32_t decrypt[96];
};

struct cd_des_functions {
    const char *name; /* as in driver names: "lib" */
    uint32_t cpu;     /* enum cd_cpu_feature bits needed */
    void (*prepare)(struct cd_des_key *out_key, const uint8_t key[CD_DES_KEY]);
    void (*ecb_encrypt)(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    void (*ecb_decrypt)(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    /* iv: in and out, the value that continues the message. */
    void (*cbc_encrypt)(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_DES_BLOCK]);
    void (*cbc_decrypt)(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_DES_BLOCK]);
};

struct cd_des3_functions {
    const char *name;
    uint32_t cpu;
    void (*prepare)(struct cd_des3_key *out_key, const uint8_t key[CD_DES3_KEY]);
    void (*ecb_encrypt)(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    void (*ecb_decrypt)(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks);
    void (*cbc_encrypt)(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_DES_BLOCK]);
    void (*cbc_decrypt)(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                        size_t blocks, uint8_t iv[CD_DES_BLOCK]);
};

extern const struct cd_des_functions cd_des_portable;
extern const struct cd_des3_functions cd_des3_portable;

/*
 * Write the round keys of one DES key in the order of encryption and of decryption, two words per
 * round: for S1, S3, S5, S7 and for S2, S4, S6, S8, six bits per byte, highest first.
 */
void cd_des_schedule(uint32_t out_encrypt[32], uint32_t out_decrypt[32],
                     const uint8_t key[CD_DES_KEY]);

/* True for the 4 weak and the 12 semi-weak keys (SP 800-67, "Weak Keys"), whatever their parity:
 * those that have at most two different round keys, so that encrypting twice, with the key or its
 * partner, gives the text back. */
bool cd_des_key_is_weak(const uint8_t key[CD_DES_KEY]);

/* True if every byte of the key has an odd number of one bits, as FIPS 46-3 asks. */
bool cd_des_key_has_odd_parity(const uint8_t key[CD_DES_KEY]);

/* Set the lowest bit of every byte so that the key has odd parity. */
void cd_des_key_set_odd_parity(uint8_t key[CD_DES_KEY]);

/* True if triple DES with this key is single DES: K1 = K2 or K2 = K3, parity aside. Time does not
 * depend on the key. */
bool cd_des3_key_is_single(const uint8_t key[CD_DES3_KEY]);

/* True if two of the three keys are the same, parity aside: also K1 = K3, two-key triple DES. */
bool cd_des3_key_repeats(const uint8_t key[CD_DES3_KEY]);

#endif
