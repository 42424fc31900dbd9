/*
 * AES-CBC encryption by AES-NI and SHA-256 by SHA-NI, interleaved: per step four blocks of AES,
 * whose chain of rounds waits for itself, and one block of the hash, which does too. Constant time.
 * Exists on x86-64 only.
 *
 * The AES rounds are spread evenly over the hash's groups of four rounds, closely enough for the
 * CPU to see both chains at all times. The number of rounds is a constant of each kernel, so that
 * everything is straight-line code.
 *
 * A file for newer CPUs defines CD_AUTHENC_TARGET, the features it compiles for, and
 * CD_AUTHENC_FOUR_EXPAND, its way of doing what cd_sha2_four_expand does, before the include.
 */
#ifndef CD_AUTHENC_X86_H
#define CD_AUTHENC_X86_H

#include "base/target.h"
#include "crypto/authenc.h"
#include "crypto/x86/aes_aesni_vectors.h"
#include "crypto/x86/sha2_shani.h"

#ifndef CD_AUTHENC_TARGET
#define CD_AUTHENC_TARGET "aes,sha,sse4.1,ssse3"
#define CD_AUTHENC_FOUR_EXPAND cd_sha2_four_expand
#endif

#define CD_AUTHENC_INLINE CD_ALWAYS_INLINE CD_TARGET(CD_AUTHENC_TARGET)

#define CD_AUTHENC_BLOCKS (CD_AUTHENC_STEP / CD_AES_BLOCK) /* of AES per step */

/* ---- the CBC chain, a few rounds at a time ---- */

/* The chain trick of cd_aes_cbc_encrypt_aesni: `state` has the text and the first key in it
 * already, and the last round of a block puts in those of the next one (`text`). */
struct cd_authenc_chain {
    const __m128i *keys;
    __m128i state, ciphertext;
    uint8_t *out;
    const uint8_t *in; /* the block after the one in `state` */
    size_t left;       /* blocks after the one in `state` */
};

CD_AUTHENC_INLINE void cd_authenc_chain_start(struct cd_authenc_chain *out_chain,
                                              const struct cd_aes_encrypt_key *key, uint8_t *out,
                                              const uint8_t *in, size_t blocks, const uint8_t *iv) {
    const __m128i *keys = (const __m128i *)(const void *)key->words;
    __m128i text = _mm_xor_si128(cd_aesni_load(in), keys[0]);

    out_chain->keys = keys;
    out_chain->state = _mm_xor_si128(text, cd_aesni_load(iv));
    out_chain->ciphertext = _mm_setzero_si128();
    out_chain->out = out;
    out_chain->in = in + CD_AES_BLOCK;
    out_chain->left = blocks - 1;
}

/* The middle rounds number `from` to `to` - 1, at most four; both are constants. */
CD_AUTHENC_INLINE void cd_authenc_chain_rounds(struct cd_authenc_chain *chain, unsigned from,
                                               unsigned to) {
    if (from < to) {
        chain->state = _mm_aesenc_si128(chain->state, chain->keys[from]);
    }
    if (from + 1 < to) {
        chain->state = _mm_aesenc_si128(chain->state, chain->keys[from + 1]);
    }
    if (from + 2 < to) {
        chain->state = _mm_aesenc_si128(chain->state, chain->keys[from + 2]);
    }
    if (from + 3 < to) {
        chain->state = _mm_aesenc_si128(chain->state, chain->keys[from + 3]);
    }
}

/* The last round, and into the next block. There is none after the last block: it reads the last
 * one once more, as some text that has no effect. */
CD_AUTHENC_INLINE void cd_authenc_chain_end_block(struct cd_authenc_chain *chain, unsigned rounds) {
    const uint8_t *in = chain->left > 0 ? chain->in : chain->in - CD_AES_BLOCK;
    __m128i text = _mm_xor_si128(cd_aesni_load(in), chain->keys[0]);

    chain->state = _mm_aesenclast_si128(chain->state, _mm_xor_si128(text, chain->keys[rounds]));
    chain->ciphertext = _mm_xor_si128(chain->state, text);
    cd_aesni_store(chain->out, chain->ciphertext);
    chain->out += CD_AES_BLOCK;
    chain->in += CD_AES_BLOCK;
    chain->left -= chain->left > 0 ? 1 : 0;
}

/* The `part`th of `parts` equal parts of a block. */
CD_AUTHENC_INLINE void cd_authenc_chain_part(struct cd_authenc_chain *chain, unsigned rounds,
                                             unsigned part, unsigned parts) {
    cd_authenc_chain_rounds(chain, 1 + (rounds - 1) * part / parts,
                            1 + (rounds - 1) * (part + 1) / parts);
    if (part + 1 == parts) {
        cd_authenc_chain_end_block(chain, rounds);
    }
}

/* ---- with SHA-256: 16 groups of four rounds, four per block of AES ---- */

CD_AUTHENC_INLINE void cd_authenc_sha256_four(struct cd_sha2_lane *lane,
                                              struct cd_authenc_chain *chain, unsigned rounds,
                                              const uint32_t *constants) {
    cd_sha2_four(lane, 0, constants), cd_authenc_chain_part(chain, rounds, 0, 4);
    cd_sha2_four(lane, 1, constants), cd_authenc_chain_part(chain, rounds, 1, 4);
    cd_sha2_four(lane, 2, constants), cd_authenc_chain_part(chain, rounds, 2, 4);
    cd_sha2_four(lane, 3, constants), cd_authenc_chain_part(chain, rounds, 3, 4);
}

CD_AUTHENC_INLINE void cd_authenc_sha256_four_expand(struct cd_sha2_lane *lane,
                                                     struct cd_authenc_chain *chain,
                                                     unsigned rounds, const uint32_t *constants) {
    CD_AUTHENC_FOUR_EXPAND(lane, 0, constants), cd_authenc_chain_part(chain, rounds, 0, 4);
    CD_AUTHENC_FOUR_EXPAND(lane, 1, constants), cd_authenc_chain_part(chain, rounds, 1, 4);
    CD_AUTHENC_FOUR_EXPAND(lane, 2, constants), cd_authenc_chain_part(chain, rounds, 2, 4);
    CD_AUTHENC_FOUR_EXPAND(lane, 3, constants), cd_authenc_chain_part(chain, rounds, 3, 4);
}

CD_AUTHENC_INLINE void cd_authenc_sha256_steps(const struct cd_aes_encrypt_key *key,
                                               unsigned rounds, uint8_t *out, const uint8_t *in,
                                               size_t steps, uint8_t *iv, uint32_t *words,
                                               const uint8_t *hashed) {
    const uint32_t *k = cd_sha256_round_constants;
    struct cd_sha2_lane lane;
    struct cd_authenc_chain chain;

    cd_sha2_lane_load(&lane, words);
    cd_authenc_chain_start(&chain, key, out, in, steps * CD_AUTHENC_BLOCKS, iv);
    for (; steps > 0; steps--, hashed += CD_MD_BLOCK) {
        const __m128i abef = lane.abef, cdgh = lane.cdgh;

        cd_sha2_lane_take_block(&lane, hashed);
        cd_authenc_sha256_four_expand(&lane, &chain, rounds, k);
        cd_authenc_sha256_four_expand(&lane, &chain, rounds, k + 16);
        cd_authenc_sha256_four_expand(&lane, &chain, rounds, k + 32);
        cd_authenc_sha256_four(&lane, &chain, rounds, k + 48);
        cd_sha2_lane_add(&lane, abef, cdgh);
    }
    cd_sha2_lane_store(&lane, words);
    cd_aesni_store(iv, chain.ciphertext);
}

/* Once for every number of rounds, that it be a constant. */
CD_AUTHENC_INLINE void cd_authenc_cbc_sha256(const struct cd_aes_encrypt_key *key, uint8_t *out,
                                             const uint8_t *in, size_t steps,
                                             uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                                             const uint8_t *hashed) {
    if (steps == 0) {
        return;
    }
    if (key->rounds == 10) {
        cd_authenc_sha256_steps(key, 10, out, in, steps, iv, words, hashed);
    } else if (key->rounds == 12) {
        cd_authenc_sha256_steps(key, 12, out, in, steps, iv, words, hashed);
    } else {
        cd_authenc_sha256_steps(key, 14, out, in, steps, iv, words, hashed);
    }
}

#endif
