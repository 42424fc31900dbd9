/*
 * Hashing many independent messages: three, or two, side by side by the algorithm's functions for
 * several messages (blocks_x3, blocks_x2), each with the length it has. A lane takes the next
 * message as soon as its own ends.
 *
 * Works with every table of crypto/md.h; how much it gains is up to that table's functions.
 */
#ifndef CD_MD_LANES_H
#define CD_MD_LANES_H

#include "crypto/hmac.h"
#include "crypto/md.h"

/* One message, or the rest of one. Data of different jobs may overlap; `out_digest` must not
 * overlap anything. */
struct cd_md_lane_job {
    uint32_t words[CD_MD_WORDS_MAX]; /* in: after the first `count` bytes; out: the final ones */
    uint64_t count;                  /* bytes before `data`, a multiple of 64 (asserted) */
    const uint8_t *data;             /* NULL is fine for no bytes */
    size_t length;                   /* bytes */
    uint8_t *out_digest;             /* digest_size bytes; NULL if only the words are wanted */
};

/* True if lanes are faster here than one message after the other: for the portable functions
 * always, for SHA-NI by CPU (CD_CPU_SHA_LANES). */
bool cd_md_lanes_pay(const struct cd_md_algorithm *algorithm);

/* Hash all messages to their ends: what cd_md_finish and cd_md_store do for each. Any thread. */
void cd_md_lanes_finish(const struct cd_md_algorithm *algorithm, struct cd_md_lane_job *jobs,
                        size_t count);

/* One message under a common key. */
struct cd_hmac_lane_job {
    const uint8_t *data; /* NULL is fine for no bytes */
    size_t length;       /* bytes */
    uint8_t *out_tag;    /* digest_size bytes, overlapping nothing */
};

/* The tags of all messages: what cd_hmac_digest does for each. Any thread. */
void cd_hmac_lanes_digest(const struct cd_hmac_key *key, const struct cd_hmac_lane_job *jobs,
                          size_t count);

#endif
