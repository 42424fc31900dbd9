/*
 * Buffering and padding for hash functions with blocks of 64 bytes: 0x80, zeros, and the length in
 * bits as 64 bits (RFC 1321 sections 3.1 and 3.2; FIPS 180-4 section 5.1.1).
 */
#include "crypto/md.h"

#include <assert.h>
#include <string.h>

#include "base/endian.h"
#include "base/secure.h"

/* Where the length stands in the last block. */
#define LENGTH_OFFSET 56u

static inline void store_bit_length(const struct cd_md_algorithm *algorithm, uint8_t *out,
                                    uint64_t count) {
    uint64_t bits = count << 3; /* modulo 2^64, as RFC 1321 says for MD5; SHA stops short of it */
    if (algorithm->big_endian) {
        cd_store_be64(out, bits);
    } else {
        cd_store_le32(out, (uint32_t)bits);
        cd_store_le32(out + 4, (uint32_t)(bits >> 32));
    }
}

static inline void copy_words(const struct cd_md_algorithm *algorithm, uint32_t *out,
                              const uint32_t *words) {
    memcpy(out, words, 16);
    if (algorithm->state_words > 4) {
        memcpy(out + 4, words + 4, (algorithm->state_words - 4) * sizeof *words);
    }
}

void cd_md_init(const struct cd_md_algorithm *algorithm, struct cd_md_state *out_state) {
    cd_md_init_from(algorithm, out_state, algorithm->initial, 0);
}

void cd_md_init_from(const struct cd_md_algorithm *algorithm, struct cd_md_state *out_state,
                     const uint32_t *words, uint64_t count) {
    assert(count % CD_MD_BLOCK == 0);
    memset(out_state, 0, sizeof *out_state);
    copy_words(algorithm, out_state->words, words);
    out_state->count = count;
}

void cd_md_update(const struct cd_md_algorithm *algorithm, struct cd_md_state *state,
                  const uint8_t *data, size_t length) {
    size_t used = (size_t)(state->count % CD_MD_BLOCK);
    state->count += length;
    cd_md_absorb(algorithm, state->words, state->buffer, used, data, length);
}

void cd_md_absorb(const struct cd_md_algorithm *algorithm, uint32_t *words,
                  uint8_t buffer[CD_MD_BLOCK], size_t used, const uint8_t *data, size_t length) {
    assert(used < CD_MD_BLOCK);
    if (used > 0) {
        size_t room = CD_MD_BLOCK - used;
        if (length < room) {
            cd_md_copy_partial(buffer + used, data, length);
            return;
        }
        cd_md_copy_partial(buffer + used, data, room);
        algorithm->blocks(words, buffer, 1);
        data += room;
        length -= room;
    }
    size_t rest = length % CD_MD_BLOCK;
    if (length > rest) {
        algorithm->blocks(words, data, length / CD_MD_BLOCK);
        data += length - rest;
    }
    cd_md_copy_partial(buffer, data, rest);
}

void cd_md_final(const struct cd_md_algorithm *algorithm, struct cd_md_state *state,
                 uint8_t *out_digest) {
    size_t used = (size_t)(state->count % CD_MD_BLOCK);
    state->buffer[used++] = 0x80;
    if (used > LENGTH_OFFSET) {
        memset(state->buffer + used, 0, CD_MD_BLOCK - used);
        algorithm->blocks(state->words, state->buffer, 1);
        used = 0;
    }
    memset(state->buffer + used, 0, LENGTH_OFFSET - used);
    store_bit_length(algorithm, state->buffer + LENGTH_OFFSET, state->count);
    algorithm->blocks(state->words, state->buffer, 1);
    cd_md_store(algorithm, out_digest, state->words);
    cd_wipe(state, sizeof *state);
}

void cd_md_digest(const struct cd_md_algorithm *algorithm, uint8_t *out_digest, const uint8_t *data,
                  size_t length) {
    uint32_t words[CD_MD_WORDS_MAX];
    copy_words(algorithm, words, algorithm->initial);
    cd_md_finish(algorithm, words, 0, data, length);
    cd_md_store(algorithm, out_digest, words);
}

/* cd_md_pad, for both that need it. */
static inline size_t pad(const struct cd_md_algorithm *algorithm, uint8_t *out_tail,
                         const uint8_t *rest, size_t rest_len, uint64_t count) {
    size_t blocks = rest_len < LENGTH_OFFSET ? 1 : 2;
    memset(out_tail, 0, CD_MD_BLOCK);
    if (blocks == 2) {
        memset(out_tail + CD_MD_BLOCK, 0, CD_MD_BLOCK);
    }
    cd_md_copy_partial(out_tail, rest, rest_len);
    out_tail[rest_len] = 0x80;
    store_bit_length(algorithm, out_tail + blocks * CD_MD_BLOCK - 8, count);
    return blocks;
}

size_t cd_md_pad(const struct cd_md_algorithm *algorithm, uint8_t out_tail[CD_MD_TAIL_MAX],
                 const uint8_t *rest, size_t rest_len, uint64_t count) {
    assert(rest_len < CD_MD_BLOCK);
    return pad(algorithm, out_tail, rest, rest_len, count);
}

void cd_md_finish(const struct cd_md_algorithm *algorithm, uint32_t *words, uint64_t count,
                  const uint8_t *data, size_t length) {
    assert(count % CD_MD_BLOCK == 0);
    size_t rest = length % CD_MD_BLOCK;
    if (length > rest) {
        algorithm->blocks(words, data, length / CD_MD_BLOCK);
        data += length - rest;
    }
    _Alignas(16) uint8_t tail[CD_MD_TAIL_MAX];
    size_t blocks = pad(algorithm, tail, data, rest, count + length);
    algorithm->blocks(words, tail, blocks);
    cd_wipe(tail, blocks * CD_MD_BLOCK);
}

void cd_md_store(const struct cd_md_algorithm *algorithm, uint8_t *out_digest,
                 const uint32_t *words) {
    uint32_t count = algorithm->digest_size / 4;
    if (algorithm->big_endian) {
        for (uint32_t i = 0; i < count; i++) {
            cd_store_be32(out_digest + 4 * (size_t)i, words[i]);
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            cd_store_le32(out_digest + 4 * (size_t)i, words[i]);
        }
    }
}
