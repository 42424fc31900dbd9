/* Hash transforms and the jobs they make. */
#ifndef CD_DRIVER_HASH_H
#define CD_DRIVER_HASH_H

#include "eip93/driver/driver_digest.h"

/* Context of a hash and of an hmac. */
struct cd_driver_hash {
    struct cd_eip93_driver *driver;
    const struct cd_driver_mode *mode;
    struct cd_driver_digest digest;
};

/*
 * A message, or the next part of one: `head`, then the source of the base; the base's length is
 * that of both. A part that is not the end is whole blocks.
 */
struct __attribute__((may_alias)) cd_driver_hash_job {
    struct cd_driver_job base;
    const uint8_t *head;
    uint32_t head_length; /* bytes, 0..64 */
    bool final;           /* the message ends here */
    uint32_t *words;      /* in, and out if not final: chaining words; NULL: the message starts */
    uint64_t count;       /* bytes that were hashed before, the block of the key included */
    uint8_t *digest;      /* out, if final */
};
static_assert(sizeof(struct cd_driver_hash_job) <= CD_HASH_REQUEST_PRIVATE_WORDS * sizeof(uint64_t),
              "a hash job fits in the private words of a request");

/* driver_hash_job.c: the request of the job is a struct cd_hash_request. */
extern const struct cd_driver_job_ops cd_driver_job_hash;
/* The request of the job is an int32_t status. */
extern const struct cd_driver_job_ops cd_driver_job_hash_part;

#endif
