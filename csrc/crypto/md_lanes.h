/*
 * Hashing many independent messages side by side, each with the length it has: 16 in the registers
 * of AVX-512 (blocks_wide), or three, or two, interleaved (blocks_x3, blocks_x2). A lane takes the
 * next message as soon as its own ends.
 */
#ifndef CD_MD_LANES_H
#define CD_MD_LANES_H

#include "crypto/hmac.h"
#include "crypto/md.h"

/* One message: `prefix`, then `data`. Both of different jobs may overlap; `out_digest` must not
 * overlap anything. */
struct cd_md_lane_job {
    const uint8_t *data;   /* NULL is fine for no bytes */
    size_t length;         /* bytes */
    uint8_t *out_digest;   /* digest_size bytes */
    const uint8_t *prefix; /* NULL is fine for no bytes */
    size_t prefix_len;
};

/*
 * How many lanes are fastest here, for the functions below: CD_MD_WIDE if the algorithm has them
 * and the CPU can; else 3 where interleaving gains (portable functions, and SHA-NI on CPUs with
 * CD_CPU_SHA_LANES); else 1.
 */
size_t cd_md_lanes_best(const struct cd_md_algorithm *algorithm);

/* Digest all messages: what cd_md_digest does for each, prefix and data in one piece. `width` is 1,
 * 3 or, if the algorithm has blocks_wide and the CPU wide_cpu, CD_MD_WIDE. Any thread. */
void cd_md_lanes_digest(const struct cd_md_algorithm *algorithm, size_t width,
                        const struct cd_md_lane_job *jobs, size_t count);

/* The tags of all messages: what cd_hmac_digest does for each. `width` as above. Any thread. */
void cd_hmac_lanes_digest(const struct cd_hmac_key *key, size_t width,
                          const struct cd_md_lane_job *jobs, size_t count);

#endif
