/*
 * Hash functions of the MD family with blocks of 64 bytes: what one is, as data, and the layer
 * above it that every one shares (buffering, padding and the length; RFC 1321 sections 3.1 and 3.2,
 * FIPS 180-4 section 5.1.1).
 *
 * `words` are the raw chaining words (H in FIPS 180-4, A to D in RFC 1321), `state_words` of them,
 * at any alignment that uint32_t allows. Data may have any alignment; NULL is fine for no bytes.
 * Nothing here fails and nothing is shared: any thread.
 */
#ifndef CD_MD_H
#define CD_MD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cryptodispatch/cpu.h"

#define CD_MD_BLOCK 64u
#define CD_MD_WORDS_MAX 8u
#define CD_MD_DIGEST_MAX 32u
#define CD_MD_TAIL_MAX (2 * CD_MD_BLOCK) /* the last bytes of a message with their padding */

#define CD_MD_WIDE 16u

/* CPU features of the kernels of CD_MD_WIDE messages, for initialisers. */
#define CD_MD_AVX512_CPU CD_CPU_AVX512

/* CD_MD_WIDE messages side by side. */
struct cd_md_wide {
    _Alignas(64) uint32_t words[CD_MD_WORDS_MAX][CD_MD_WIDE]; /* chaining words, lane by lane */
    const uint8_t *data[CD_MD_WIDE];                          /* the next block of each */
};

/* One way of computing one hash function. */
struct cd_md_algorithm {
    const char *algorithm; /* "md5", "sha1", "sha224", "sha256" */
    const char *name;      /* as in driver names: "lib", "ni" */
    uint32_t cpu;          /* enum cd_cpu_feature bits needed */
    uint32_t digest_size;  /* bytes */
    uint32_t state_words;
    bool big_endian;         /* words and the length, as bytes */
    const uint32_t *initial; /* state_words chaining words that a message starts with */
    /* Take `blocks` blocks of 64 bytes into the chaining words. The functions are NULL where they
     * are not built. */
    void (*blocks)(uint32_t *words, const uint8_t *data, size_t blocks);
    /* The same for two and for three messages of as many blocks each, in about the time of one
     * where the instructions allow. Data may be shared, words may not. */
    void (*blocks_x2)(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                      const uint8_t *data_b, size_t blocks);
    void (*blocks_x3)(uint32_t *words_a, const uint8_t *data_a, uint32_t *words_b,
                      const uint8_t *data_b, uint32_t *words_c, const uint8_t *data_c,
                      size_t blocks);
    /* The same for CD_MD_WIDE messages of as many blocks each; data may be shared. It takes the
     * time of wide_from messages one by one. NULL where there is none. */
    void (*blocks_wide)(struct cd_md_wide *wide, size_t blocks);
    uint32_t wide_cpu; /* enum cd_cpu_feature bits needed, over `cpu` */
    uint32_t wide_from;
};

/* A message in pieces. Plain data: a copy continues on its own, and with any implementation of the
 * same algorithm. */
struct cd_md_state {
    uint32_t words[CD_MD_WORDS_MAX]; /* after the whole blocks so far */
    uint64_t count;                  /* bytes so far; count % 64 of them wait in `buffer` */
    uint8_t buffer[CD_MD_BLOCK];
};

/* Copy less than a block, between places that do not overlap, by two moves that may; a memcpy of
 * unknown length is a call. */
static inline void cd_md_copy_partial(uint8_t *out, const uint8_t *in, size_t length) {
    if (length >= 32) {
        memcpy(out, in, 32);
        memcpy(out + length - 32, in + length - 32, 32);
    } else if (length >= 16) {
        memcpy(out, in, 16);
        memcpy(out + length - 16, in + length - 16, 16);
    } else if (length >= 8) {
        memcpy(out, in, 8);
        memcpy(out + length - 8, in + length - 8, 8);
    } else if (length >= 4) {
        memcpy(out, in, 4);
        memcpy(out + length - 4, in + length - 4, 4);
    } else if (length > 0) {
        out[0] = in[0];
        out[length / 2] = in[length / 2];
        out[length - 1] = in[length - 1];
    }
}

/* Start a message. */
void cd_md_init(const struct cd_md_algorithm *algorithm, struct cd_md_state *out_state);

/* Start in the middle of a message: after `count` bytes, a multiple of 64 (asserted), whose
 * chaining words are `words`. */
void cd_md_init_from(const struct cd_md_algorithm *algorithm, struct cd_md_state *out_state,
                     const uint32_t *words, uint64_t count);

/* Add `length` bytes to the message. */
void cd_md_update(const struct cd_md_algorithm *algorithm, struct cd_md_state *state,
                  const uint8_t *data, size_t length);

/*
 * cd_md_update for callers that keep a message in a form of their own: `words` after the whole
 * blocks so far, and in `buffer` the `used` bytes (less than 64, asserted) since then. Afterwards
 * (used + length) % 64 bytes are in it.
 */
void cd_md_absorb(const struct cd_md_algorithm *algorithm, uint32_t *words,
                  uint8_t buffer[CD_MD_BLOCK], size_t used, const uint8_t *data, size_t length);

/* End the message and write digest_size bytes. Wipes the state. */
void cd_md_final(const struct cd_md_algorithm *algorithm, struct cd_md_state *state,
                 uint8_t *out_digest);

/* The digest of one whole message: digest_size bytes. */
void cd_md_digest(const struct cd_md_algorithm *algorithm, uint8_t *out_digest, const uint8_t *data,
                  size_t length);

/*
 * End a message whose last `length` bytes are in one piece, without a state: `words` are the
 * chaining words after the first `count` bytes, a multiple of 64 (asserted), and become the final
 * ones. What a finished digest is before it turns into bytes.
 */
void cd_md_finish(const struct cd_md_algorithm *algorithm, uint32_t *words, uint64_t count,
                  const uint8_t *data, size_t length);

/* Write the last block or two of a message: its last `rest_len` bytes (less than 64, asserted), the
 * padding, and the length of the whole message, `count` bytes. Returns how many blocks. */
size_t cd_md_pad(const struct cd_md_algorithm *algorithm, uint8_t out_tail[CD_MD_TAIL_MAX],
                 const uint8_t *rest, size_t rest_len, uint64_t count);

/* Write final chaining words as the digest: digest_size bytes. */
void cd_md_store(const struct cd_md_algorithm *algorithm, uint8_t *out_digest,
                 const uint32_t *words);

#endif
