/* Aead transforms and the jobs they make. */
#ifndef CD_DRIVER_AEAD_H
#define CD_DRIVER_AEAD_H

#include "eip93/driver/driver_digest.h"

/* Context of an aead. */
struct cd_driver_aead {
    struct cd_eip93_driver *driver;
    const struct cd_driver_mode *mode;
    struct cd_driver_digest digest;
    struct cd_aead *child; /* the same algorithm in software, with the same keys and tag size */
    struct eip93_sa sa;    /* template for encryption, without what a request brings */
};

struct __attribute__((may_alias)) cd_driver_aead_job {
    struct cd_driver_job base;
    uint32_t tag_size; /* the transform's at submission, bytes */
};
static_assert(sizeof(struct cd_driver_aead_job) <= CD_AEAD_REQUEST_PRIVATE_WORDS * sizeof(uint64_t),
              "an aead job fits in the private words of a request");

/* driver_aead_job.c */
extern const struct cd_driver_job_ops cd_driver_job_aead;
/* True if the engine can do the request: it has offset bits for the AAD, and there is room. */
bool cd_driver_aead_fits(const struct cd_aead_request *request, uint32_t tag_size, bool decrypt);

#endif
