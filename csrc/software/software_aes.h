/* What the files of the AES implementations share: the state of a transform, and its batches. */
#ifndef CD_SOFTWARE_AES_H
#define CD_SOFTWARE_AES_H

#include "crypto/aes.h"
#include "cryptodispatch/batch.h"

#define CD_RFC3686_NONCE 4u /* bytes, at the end of the key (RFC 3686 section 5.1) */
#define CD_RFC3686_IV 8u    /* bytes */
/* Blocks under one IV: the 32-bit counter starts at 1 and must not wrap (RFC 3686 section 4). */
#define CD_RFC3686_BLOCKS_MAX UINT64_C(0xffffffff)

/* Context of ecb and cbc. */
struct cd_software_aes {
    const struct cd_aes_functions *functions;
    struct cd_aes_key key;
};

/* Context of ctr and rfc3686: neither ever decrypts a block, so half the schedule is enough. */
struct cd_software_aes_counter {
    const struct cd_aes_functions *functions;
    struct cd_aes_encrypt_key key;
    uint8_t nonce[CD_RFC3686_NONCE]; /* rfc3686 only */
};

/* Write the counter block of a message: nonce, IV, 1 + `block_offset`. */
void cd_software_rfc3686_counter(uint8_t out_counter[CD_AES_BLOCK], const uint8_t *nonce,
                                 const uint8_t *iv, uint64_t block_offset);

/* `records` of struct cd_cipher_ops, by mode. */
void cd_software_ecb_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt);
void cd_software_cbc_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt);
void cd_software_ctr_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                             size_t count, bool decrypt);
void cd_software_rfc3686_records(struct cd_cipher *cipher, struct cd_cipher_record *records,
                                 size_t count, bool decrypt);

/* `encrypt_packed` of cbc in backends with lanes. */
void cd_software_cbc_encrypt_packed(struct cd_cipher *cipher,
                                    const struct cd_cipher_packed *packed);

#endif
