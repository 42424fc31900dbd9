/*
 * Encryption and hash in one pass: what stands before and after the steps of a kernel, and the
 * portable kernels.
 *
 * The hash trails the encryption by 64 to 79 bytes. Before the first step as much is encrypted
 * alone, after the last one as much is hashed alone.
 */
#include "crypto/authenc.h"

#include <string.h>

#include "crypto/sha1.h"
#include "crypto/sha2.h"

/* One message on its way through the kernel. */
struct pass {
    const struct cd_authenc_functions *functions;
    const struct cd_aes_encrypt_key *key;
    uint8_t *out; /* next */
    const uint8_t *in;
    size_t left; /* bytes */
    uint8_t *iv;
    struct cd_md_state *state;
};

static void encrypt_alone(struct pass *pass, size_t bytes) {
    pass->functions->aes->cbc_encrypt(pass->key, pass->out, pass->in, bytes / CD_AES_BLOCK,
                                      pass->iv);
    pass->out += bytes;
    pass->in += bytes;
    pass->left -= bytes;
}

static void run_steps(struct pass *pass, size_t steps, const uint8_t *hashed) {
    size_t bytes = steps * CD_AUTHENC_STEP;

    pass->functions->cbc_encrypt(pass->key, pass->out, pass->in, steps, pass->iv,
                                 pass->state->words, hashed);
    pass->out += bytes;
    pass->in += bytes;
    pass->left -= bytes;
}

/* With `room` bytes still free in the hash's buffer: encrypt as many, and start the kernel on the
 * filled buffer. Needs one step's text after them. */
static void fill_buffer(struct pass *pass, size_t room) {
    size_t ahead = (room + CD_AES_BLOCK - 1) / CD_AES_BLOCK * CD_AES_BLOCK;
    const uint8_t *ciphertext = pass->out;

    encrypt_alone(pass, ahead);
    memcpy(pass->state->buffer + CD_MD_BLOCK - room, ciphertext, room);
    run_steps(pass, 1, pass->state->buffer);
    pass->state->count += room;
}

void cd_authenc_cbc_encrypt(const struct cd_authenc_functions *functions,
                            const struct cd_aes_encrypt_key *key, struct cd_md_state *state,
                            uint8_t *out, const uint8_t *in, size_t blocks,
                            uint8_t iv[CD_AES_BLOCK]) {
    struct pass pass = {functions, key, out, in, blocks * CD_AES_BLOCK, iv, state};
    size_t used = (size_t)(state->count % CD_MD_BLOCK);
    size_t hashed = used > 0 ? CD_MD_BLOCK - used : 0, length = pass.left;

    if (length < 2 * CD_AUTHENC_STEP) {
        encrypt_alone(&pass, length);
        cd_md_update(functions->hash, state, out, length);
        return;
    }
    if (used > 0) {
        fill_buffer(&pass, hashed);
    } else {
        encrypt_alone(&pass, CD_AUTHENC_STEP);
    }
    if (pass.left >= CD_AUTHENC_STEP) {
        size_t steps = pass.left / CD_AUTHENC_STEP;

        run_steps(&pass, steps, out + hashed);
        hashed += steps * CD_AUTHENC_STEP;
        state->count += steps * CD_AUTHENC_STEP;
    }
    encrypt_alone(&pass, pass.left);
    cd_md_update(functions->hash, state, out + hashed, length - hashed);
}

/* ---- portable: one after the other ---- */

static void encrypt_portable(const struct cd_md_algorithm *hash,
                             const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                             size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                             const uint8_t *hashed) {
    cd_aes_portable.cbc_encrypt(key, out, in, steps * (CD_AUTHENC_STEP / CD_AES_BLOCK), iv);
    hash->blocks(words, hashed, steps);
}

static void cbc_sha1_portable(const struct cd_aes_encrypt_key *key, uint8_t *out, const uint8_t *in,
                              size_t steps, uint8_t iv[CD_AES_BLOCK], uint32_t *words,
                              const uint8_t *hashed) {
    encrypt_portable(&cd_sha1_portable, key, out, in, steps, iv, words, hashed);
}

static void cbc_sha256_portable(const struct cd_aes_encrypt_key *key, uint8_t *out,
                                const uint8_t *in, size_t steps, uint8_t iv[CD_AES_BLOCK],
                                uint32_t *words, const uint8_t *hashed) {
    encrypt_portable(&cd_sha256_portable, key, out, in, steps, iv, words, hashed);
}

const struct cd_authenc_functions cd_authenc_cbc_sha1_portable = {
    0, &cd_aes_portable, &cd_sha1_portable, cbc_sha1_portable};
const struct cd_authenc_functions cd_authenc_cbc_sha224_portable = {
    0, &cd_aes_portable, &cd_sha224_portable, cbc_sha256_portable};
const struct cd_authenc_functions cd_authenc_cbc_sha256_portable = {
    0, &cd_aes_portable, &cd_sha256_portable, cbc_sha256_portable};
