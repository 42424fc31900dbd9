/*
 * The table of algorithms: 8 ciphers, 8 hashes and HMACs, 16 aeads, with the SA words that the
 * Linux driver builds (eip93-hardware.md 5.7), made of their fields.
 */
#include "eip93/driver/driver_internal.h"

#define CMD0_CIPHER(cipher)                                                                        \
    (EIP93_PUT(EIP93_SA0_IV_SOURCE_STATE, EIP93_SA0_IV_SOURCE) |                                   \
     EIP93_PUT(EIP93_SA0_HASH_NULL, EIP93_SA0_HASH) | EIP93_PUT(cipher, EIP93_SA0_CIPHER) |        \
     EIP93_PUT(EIP93_SA0_PAD_TYPE_ZERO, EIP93_SA0_PAD_TYPE))
#define CMD1_MODE(mode) EIP93_PUT(mode, EIP93_SA1_CIPHER_MODE)

/* Count and chaining words in the state record, no cipher. */
#define CMD0_HASH(hash, words)                                                                     \
    (EIP93_SA0_SAVE_HASH | EIP93_SA0_SAVE_IV |                                                     \
     EIP93_PUT(EIP93_SA0_HASH_SOURCE_STATE, EIP93_SA0_HASH_SOURCE) |                               \
     EIP93_PUT(EIP93_SA0_IV_SOURCE_STATE, EIP93_SA0_IV_SOURCE) |                                   \
     EIP93_PUT(words, EIP93_SA0_DIGEST_LENGTH) | EIP93_PUT(hash, EIP93_SA0_HASH) |                 \
     EIP93_PUT(EIP93_SA0_CIPHER_NULL, EIP93_SA0_CIPHER) |                                          \
     EIP93_PUT(EIP93_SA0_PAD_TYPE_ZERO, EIP93_SA0_PAD_TYPE) |                                      \
     EIP93_PUT(EIP93_OPCODE_HASH, EIP93_SA0_OPCODE))
#define CMD1_HASH (EIP93_SA1_COPY_PAD | EIP93_SA1_COPY_DIGEST)
#define CMD1_HMAC (CMD1_HASH | EIP93_SA1_COPY_HEADER)

/* The prepared digests in the SA, the IV in the state record. */
#define CMD0_AEAD(hash, words, cipher)                                                             \
    (EIP93_SA0_SAVE_IV | EIP93_PUT(EIP93_SA0_HASH_SOURCE_SA, EIP93_SA0_HASH_SOURCE) |              \
     EIP93_PUT(EIP93_SA0_IV_SOURCE_STATE, EIP93_SA0_IV_SOURCE) |                                   \
     EIP93_PUT(words, EIP93_SA0_DIGEST_LENGTH) | EIP93_PUT(hash, EIP93_SA0_HASH) |                 \
     EIP93_PUT(cipher, EIP93_SA0_CIPHER) |                                                         \
     EIP93_PUT(EIP93_SA0_PAD_TYPE_ZERO, EIP93_SA0_PAD_TYPE) |                                      \
     EIP93_PUT(EIP93_OPCODE_CRYPT_HASH, EIP93_SA0_OPCODE))
#define CMD1_AEAD(mode) (CMD1_HMAC | EIP93_SA1_HMAC | CMD1_MODE(mode))

/* Names, option, cipher, key sizes, mode, and bytes of block, chunk, IV, nonce. */
#define ECB(name, option, cipher, keys, block)                                                     \
    "ecb(" name ")", "ecb(" name "-eip93)", option, EIP93_SA0_CIPHER_##cipher, keys,               \
        EIP93_SA1_CIPHER_MODE_ECB, block, block, 0, 0
#define CBC(name, option, cipher, keys, block)                                                     \
    "cbc(" name ")", "cbc(" name "-eip93)", option, EIP93_SA0_CIPHER_##cipher, keys,               \
        EIP93_SA1_CIPHER_MODE_CBC, block, block, block, 0
#define AES EIP93_OPTION_AES, AES, 0, 16
#define DES EIP93_OPTION_TDES, DES, CD_KEY_SIZE(8), 8
#define DES3 EIP93_OPTION_TDES, 3DES, CD_KEY_SIZE(24), 8
/* One macro more, so that the lists above are spread into parameters. */
#define ECB_OF(name, ...) ECB(name, __VA_ARGS__)
#define CBC_OF(name, ...) CBC(name, __VA_ARGS__)

#define ECB_AES ECB_OF("aes", AES)
#define CBC_AES CBC_OF("aes", AES)
#define ECB_DES ECB_OF("des", DES)
#define CBC_DES CBC_OF("des", DES)
#define ECB_DES3 ECB_OF("des3_ede", DES3)
#define CBC_DES3 CBC_OF("des3_ede", DES3)
#define CTR_AES                                                                                    \
    "ctr(aes)", "ctr(aes-eip93)", EIP93_OPTION_AES, EIP93_SA0_CIPHER_AES, 0,                       \
        EIP93_SA1_CIPHER_MODE_CTR, 1, 16, 16, 0
#define RFC3686                                                                                    \
    "rfc3686(ctr(aes))", "rfc3686(ctr(aes-eip93))", EIP93_OPTION_AES, EIP93_SA0_CIPHER_AES, 0,     \
        EIP93_SA1_CIPHER_MODE_CTR, 1, 16, 8, 4

/* Names, option, hash, and words of digest. */
#define MD5 "md5", "md5-eip93", EIP93_OPTION_MD5, EIP93_SA0_HASH_MD5, 4
#define SHA1 "sha1", "sha1-eip93", EIP93_OPTION_SHA1, EIP93_SA0_HASH_SHA1, 5
#define SHA224 "sha224", "sha224-eip93", EIP93_OPTION_SHA224, EIP93_SA0_HASH_SHA224, 7
#define SHA256 "sha256", "sha256-eip93", EIP93_OPTION_SHA256, EIP93_SA0_HASH_SHA256, 8

/* Without an IV there is none to save. */
#define CIPHER_ROW(job, name, driver_name, option, code, keys, mode, block, chunk, iv, nonce)      \
    {                                                                                              \
        .algorithm = (name), .driver = (driver_name), .options = (option),                         \
        .cmd0 = CMD0_CIPHER(code) | ((iv) > 0 ? EIP93_SA0_SAVE_IV : 0), .cmd1 = CMD1_MODE(mode),   \
        .key_sizes = (keys), .block_size = (block), .chunk_size = (chunk), .iv_size = (iv),        \
        .nonce_size = (nonce), .ops = &(job), .cipher = &cd_driver_cipher_ops,                     \
    }

#define HASH_ROW(name, driver_name, option, code, words)                                           \
    {                                                                                              \
        .algorithm = (name), .driver = (driver_name), .hash = (name), .options = (option),         \
        .cmd0 = CMD0_HASH(code, words), .cmd1 = CMD1_HASH, .block_size = CD_HASH_BLOCK,            \
        .chunk_size = 1, .digest_size = 4 * (words), .hashing = &cd_driver_hash_ops,               \
    }

#define HMAC_ROW(name, driver_name, option, code, words)                                           \
    {                                                                                              \
        .algorithm = "hmac(" name ")", .driver = "hmac(" driver_name ")", .hash = (name),          \
        .options = (option), .cmd0 = CMD0_HASH(code, words), .cmd1 = CMD1_HMAC,                    \
        .key_sizes = CD_KEY_ANY, .block_size = CD_HASH_BLOCK, .chunk_size = 1,                     \
        .digest_size = 4 * (words), .hashing = &cd_driver_hmac_ops,                                \
    }

#define AEAD_ROW(hash_name, hash_driver, hash_option, hash_code, words, name, driver_name, option, \
                 code, keys, mode, block, chunk, iv, nonce)                                        \
    {                                                                                              \
        .algorithm = "authenc(hmac(" hash_name ")," name ")",                                      \
        .driver = "authenc(hmac(" hash_driver ")," driver_name ")", .hash = (hash_name),           \
        .options = (hash_option) | (option), .cmd0 = CMD0_AEAD(hash_code, words, code),            \
        .cmd1 = CMD1_AEAD(mode), .key_sizes = (keys), .block_size = (block),                       \
        .chunk_size = (chunk), .iv_size = (iv), .nonce_size = (nonce), .digest_size = 4 * (words), \
        .aead = &cd_driver_aead_ops,                                                               \
    }

#define CIPHER_MODE(job, ...) CIPHER_ROW(job, __VA_ARGS__)
#define HASH_MODE(...) HASH_ROW(__VA_ARGS__)
#define HMAC_MODE(...) HMAC_ROW(__VA_ARGS__)
#define AEAD_MODE(...) AEAD_ROW(__VA_ARGS__)
#define AEAD_MODES(cipher)                                                                         \
    AEAD_MODE(MD5, cipher), AEAD_MODE(SHA1, cipher), AEAD_MODE(SHA224, cipher),                    \
        AEAD_MODE(SHA256, cipher)

const struct cd_driver_mode cd_driver_modes[CD_DRIVER_ALGORITHMS_MAX] = {
    CIPHER_MODE(cd_driver_job_chained, ECB_AES),
    CIPHER_MODE(cd_driver_job_chained, CBC_AES),
    CIPHER_MODE(cd_driver_job_ctr, CTR_AES),
    CIPHER_MODE(cd_driver_job_rfc3686, RFC3686),
    CIPHER_MODE(cd_driver_job_chained, ECB_DES),
    CIPHER_MODE(cd_driver_job_chained, CBC_DES),
    CIPHER_MODE(cd_driver_job_chained, ECB_DES3),
    CIPHER_MODE(cd_driver_job_chained, CBC_DES3),
    HASH_MODE(MD5),
    HASH_MODE(SHA1),
    HASH_MODE(SHA224),
    HASH_MODE(SHA256),
    HMAC_MODE(MD5),
    HMAC_MODE(SHA1),
    HMAC_MODE(SHA224),
    HMAC_MODE(SHA256),
    AEAD_MODES(CBC_AES),
    AEAD_MODES(RFC3686),
    AEAD_MODES(CBC_DES),
    AEAD_MODES(CBC_DES3),
};
