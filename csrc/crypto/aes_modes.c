/* AES beyond one way of computing it: the choice of a backend, counters, modes over blocks. */
#include "crypto/aes_modes.h"

#include <string.h>

#include "base/endian.h"
#include "base/secure.h"
#include "cryptodispatch/cpu.h"

const struct cd_aes_functions *cd_aes_best(void) {
    uint32_t mask = cd_cpu_detect();

    if ((mask & cd_aes_vaes.cpu) == cd_aes_vaes.cpu) {
        return &cd_aes_vaes;
    }
    return (mask & cd_aes_aesni.cpu) == cd_aes_aesni.cpu ? &cd_aes_aesni : &cd_aes_portable;
}

void cd_aes_counter_add(uint8_t counter[CD_AES_BLOCK], uint64_t blocks) {
    uint64_t low = cd_load_be64(counter + 8) + blocks;

    cd_store_be64(counter + 8, low);
    if (low < blocks) {
        cd_store_be64(counter, cd_load_be64(counter) + 1);
    }
}

static void xor_block(uint8_t *out, const uint8_t *a, const uint8_t *b) {
    uint64_t x[2], y[2];

    memcpy(x, a, sizeof x);
    memcpy(y, b, sizeof y);
    x[0] ^= y[0];
    x[1] ^= y[1];
    memcpy(out, x, sizeof x);
}

void cd_aes_modes_cbc_encrypt(cd_aes_encrypt_blocks *encrypt, const struct cd_aes_encrypt_key *key,
                              uint8_t *out, const uint8_t *in, size_t blocks,
                              uint8_t iv[CD_AES_BLOCK]) {
    const uint8_t *previous = iv;

    for (size_t i = 0; i < blocks; i++) {
        xor_block(out, in, previous);
        encrypt(key, out, out, 1);
        previous = out;
        in += CD_AES_BLOCK;
        out += CD_AES_BLOCK;
    }
    if (blocks > 0) {
        memcpy(iv, previous, CD_AES_BLOCK);
    }
}

void cd_aes_modes_cbc_decrypt(cd_aes_decrypt_blocks *decrypt, const struct cd_aes_key *key,
                              uint8_t *out, const uint8_t *in, size_t blocks,
                              uint8_t iv[CD_AES_BLOCK]) {
    /* The IV, then the ciphertext: in place, decrypting overwrites it. */
    uint8_t chain[(CD_AES_MODES_BLOCKS + 1) * CD_AES_BLOCK];

    memcpy(chain, iv, CD_AES_BLOCK);
    while (blocks > 0) {
        size_t count = blocks < CD_AES_MODES_BLOCKS ? blocks : CD_AES_MODES_BLOCKS;
        size_t bytes = count * CD_AES_BLOCK;

        memcpy(chain + CD_AES_BLOCK, in, bytes);
        decrypt(key, out, in, count);
        for (size_t i = 0; i < bytes; i += CD_AES_BLOCK) {
            xor_block(out + i, out + i, chain + i);
        }
        memcpy(chain, chain + bytes, CD_AES_BLOCK);
        in += bytes;
        out += bytes;
        blocks -= count;
    }
    memcpy(iv, chain, CD_AES_BLOCK);
}

/* out = in ^ stream; whole blocks first, then the bytes of the last one. */
static void xor_bytes(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t length) {
    size_t i = 0;

    for (; length - i >= CD_AES_BLOCK; i += CD_AES_BLOCK) {
        xor_block(out + i, in + i, stream + i);
    }
    for (; i < length; i++) {
        out[i] = (uint8_t)(in[i] ^ stream[i]);
    }
}

void cd_aes_modes_ctr(cd_aes_encrypt_blocks *encrypt, const struct cd_aes_encrypt_key *key,
                      uint8_t *out, const uint8_t *in, size_t length,
                      uint8_t counter[CD_AES_BLOCK]) {
    uint8_t stream[CD_AES_MODES_BLOCKS * CD_AES_BLOCK];

    while (length > 0) {
        size_t bytes = length < sizeof stream ? length : sizeof stream;
        size_t count = (bytes + CD_AES_BLOCK - 1) / CD_AES_BLOCK;

        for (size_t i = 0; i < count; i++) {
            memcpy(stream + i * CD_AES_BLOCK, counter, CD_AES_BLOCK);
            cd_aes_counter_add(counter, 1);
        }
        encrypt(key, stream, stream, count);
        xor_bytes(out, in, stream, bytes);
        in += bytes;
        out += bytes;
        length -= bytes;
    }
    cd_wipe(stream, sizeof stream);
}
