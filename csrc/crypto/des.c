/*
 * DES (FIPS 46-3) and triple DES (SP 800-67 section 3) in portable C.
 *
 * Timing: the S-boxes are tables read at places that depend on key and text, 2 KiB in all, so the
 * time tells about them through the cache; as with every table DES.
 *
 * A round waits for the one before it. Where blocks do not depend on each other (ECB, CBC
 * decryption) two go through the rounds side by side.
 *
 * The halves are kept rotated left by one, which puts the six bits of E for every other S-box into
 * bytes of the word: S2, S4, S6, S8 as it is, S1, S3, S5, S7 rotated right by four.
 */
#include "crypto/des.h"

#include "base/endian.h"
#include "base/target.h"
#include "crypto/des_tables.h"

struct block {
    uint32_t left, right;
};

CD_ALWAYS_INLINE uint32_t rotate_right(uint32_t value, unsigned bits) {
    return value >> bits | value << (32 - bits);
}

/*
 * f(R, K), FIPS 46-3.
 *
 * What the S-boxes give shares no bit, so that any of +, ^ and | joins it; the + keeps the compiler
 * from making one long chain of all eight.
 */
CD_ALWAYS_INLINE uint32_t feistel(uint32_t right, const uint32_t *round_key) {
    uint32_t odd = rotate_right(right, 4) ^ round_key[0];
    uint32_t even = right ^ round_key[1];
    uint32_t low = cd_des_sp[7][even & 63] ^ cd_des_sp[6][odd & 63] ^ cd_des_sp[5][even >> 8 & 63] ^
                   cd_des_sp[4][odd >> 8 & 63];
    uint32_t high = cd_des_sp[3][even >> 16 & 63] + cd_des_sp[2][odd >> 16 & 63] +
                    cd_des_sp[1][even >> 24 & 63] + cd_des_sp[0][odd >> 24 & 63];
    return low ^ high;
}

/* Exchange the bits of `low` under `mask` with those of `high` that stand `distance` higher. */
CD_ALWAYS_INLINE void swap_bits(uint32_t *high, uint32_t *low, unsigned distance, uint32_t mask) {
    uint32_t differing = (*high >> distance ^ *low) & mask;
    *low ^= differing;
    *high ^= differing << distance;
}

CD_ALWAYS_INLINE struct block load(const uint8_t *bytes) {
    return (struct block){cd_load_be32(bytes), cd_load_be32(bytes + 4)};
}

CD_ALWAYS_INLINE void store(uint8_t *bytes, struct block block) {
    cd_store_be32(bytes, block.left);
    cd_store_be32(bytes + 4, block.right);
}

CD_ALWAYS_INLINE struct block mix(struct block a, struct block b) {
    return (struct block){a.left ^ b.left, a.right ^ b.right};
}

CD_ALWAYS_INLINE struct block initial_permutation(struct block block) {
    swap_bits(&block.left, &block.right, 4, 0x0f0f0f0fu);
    swap_bits(&block.left, &block.right, 16, 0x0000ffffu);
    swap_bits(&block.right, &block.left, 2, 0x33333333u);
    swap_bits(&block.right, &block.left, 8, 0x00ff00ffu);
    swap_bits(&block.left, &block.right, 1, 0x55555555u);
    return (struct block){rotate_right(block.left, 31), rotate_right(block.right, 31)};
}

CD_ALWAYS_INLINE struct block final_permutation(struct block block) {
    block = (struct block){rotate_right(block.left, 1), rotate_right(block.right, 1)};
    swap_bits(&block.left, &block.right, 1, 0x55555555u);
    swap_bits(&block.right, &block.left, 8, 0x00ff00ffu);
    swap_bits(&block.right, &block.left, 2, 0x33333333u);
    swap_bits(&block.left, &block.right, 16, 0x0000ffffu);
    swap_bits(&block.left, &block.right, 4, 0x0f0f0f0fu);
    return block;
}

/* Run a block through 16 rounds per stage. Between the stages of triple DES the final and the
 * initial permutation cancel out. */
static struct block crypt(const uint32_t *round_keys, unsigned stages, struct block block) {
    block = initial_permutation(block);
    for (; stages > 0; stages--, round_keys += 32) {
        for (unsigned i = 0; i < 32; i += 4) {
            block.left ^= feistel(block.right, round_keys + i);
            block.right ^= feistel(block.left, round_keys + i + 2);
        }
        block = (struct block){block.right, block.left};
    }
    return final_permutation(block);
}

/* Two blocks at once. */
static void crypt_x2(const uint32_t *round_keys, unsigned stages, struct block blocks[2]) {
    struct block a = initial_permutation(blocks[0]), b = initial_permutation(blocks[1]);
    for (; stages > 0; stages--, round_keys += 32) {
        for (unsigned i = 0; i < 32; i += 4) {
            a.left ^= feistel(a.right, round_keys + i);
            b.left ^= feistel(b.right, round_keys + i);
            a.right ^= feistel(a.left, round_keys + i + 2);
            b.right ^= feistel(b.left, round_keys + i + 2);
        }
        a = (struct block){a.right, a.left};
        b = (struct block){b.right, b.left};
    }
    blocks[0] = final_permutation(a);
    blocks[1] = final_permutation(b);
}

static void ecb(const uint32_t *round_keys, unsigned stages, uint8_t *out, const uint8_t *in,
                size_t blocks) {
    for (; blocks >= 2; blocks -= 2, in += 16, out += 16) {
        struct block pair[2] = {load(in), load(in + 8)};
        crypt_x2(round_keys, stages, pair);
        store(out, pair[0]);
        store(out + 8, pair[1]);
    }
    if (blocks > 0) {
        store(out, crypt(round_keys, stages, load(in)));
    }
}

static void cbc_encrypt(const uint32_t *round_keys, unsigned stages, uint8_t *out,
                        const uint8_t *in, size_t blocks, uint8_t *iv) {
    struct block chain = load(iv);
    for (; blocks > 0; blocks--, in += 8, out += 8) {
        chain = crypt(round_keys, stages, mix(load(in), chain));
        store(out, chain);
    }
    store(iv, chain);
}

static void cbc_decrypt(const uint32_t *round_keys, unsigned stages, uint8_t *out,
                        const uint8_t *in, size_t blocks, uint8_t *iv) {
    struct block chain = load(iv);
    for (; blocks >= 2; blocks -= 2, in += 16, out += 16) {
        struct block first = load(in), second = load(in + 8);
        struct block pair[2] = {first, second};
        crypt_x2(round_keys, stages, pair);
        store(out, mix(pair[0], chain));
        store(out + 8, mix(pair[1], first));
        chain = second;
    }
    if (blocks > 0) {
        struct block last = load(in);
        store(out, mix(crypt(round_keys, stages, last), chain));
        chain = last;
    }
    store(iv, chain);
}

static void des_prepare(struct cd_des_key *out_key, const uint8_t key[CD_DES_KEY]) {
    cd_des_schedule(out_key->encrypt, out_key->decrypt, key);
}

static void des_ecb_encrypt(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                            size_t blocks) {
    ecb(key->encrypt, 1, out, in, blocks);
}

static void des_ecb_decrypt(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                            size_t blocks) {
    ecb(key->decrypt, 1, out, in, blocks);
}

static void des_cbc_encrypt(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                            size_t blocks, uint8_t iv[CD_DES_BLOCK]) {
    cbc_encrypt(key->encrypt, 1, out, in, blocks, iv);
}

static void des_cbc_decrypt(const struct cd_des_key *key, uint8_t *out, const uint8_t *in,
                            size_t blocks, uint8_t iv[CD_DES_BLOCK]) {
    cbc_decrypt(key->decrypt, 1, out, in, blocks, iv);
}

/* Encryption is E(K1) D(K2) E(K3), decryption D(K3) E(K2) D(K1) (SP 800-67 section 3). */
static void des3_prepare(struct cd_des3_key *out_key, const uint8_t key[CD_DES3_KEY]) {
    cd_des_schedule(out_key->encrypt, out_key->decrypt + 64, key);
    cd_des_schedule(out_key->decrypt + 32, out_key->encrypt + 32, key + 8);
    cd_des_schedule(out_key->encrypt + 64, out_key->decrypt, key + 16);
}

static void des3_ecb_encrypt(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                             size_t blocks) {
    ecb(key->encrypt, 3, out, in, blocks);
}

static void des3_ecb_decrypt(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                             size_t blocks) {
    ecb(key->decrypt, 3, out, in, blocks);
}

static void des3_cbc_encrypt(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                             size_t blocks, uint8_t iv[CD_DES_BLOCK]) {
    cbc_encrypt(key->encrypt, 3, out, in, blocks, iv);
}

static void des3_cbc_decrypt(const struct cd_des3_key *key, uint8_t *out, const uint8_t *in,
                             size_t blocks, uint8_t iv[CD_DES_BLOCK]) {
    cbc_decrypt(key->decrypt, 3, out, in, blocks, iv);
}

const struct cd_des_functions cd_des_portable = {
    .name = "lib",
    .prepare = des_prepare,
    .ecb_encrypt = des_ecb_encrypt,
    .ecb_decrypt = des_ecb_decrypt,
    .cbc_encrypt = des_cbc_encrypt,
    .cbc_decrypt = des_cbc_decrypt,
};

const struct cd_des3_functions cd_des3_portable = {
    .name = "lib",
    .prepare = des3_prepare,
    .ecb_encrypt = des3_ecb_encrypt,
    .ecb_decrypt = des3_ecb_decrypt,
    .cbc_encrypt = des3_cbc_encrypt,
    .cbc_decrypt = des3_cbc_decrypt,
};
