/*
 * AES-CBC encryption of many independent records: CBC encrypts a record block after block, and a
 * block is all latency, so several records side by side take hardly longer than one.
 *
 * Lengths and keys may be mixed. A lane takes the next record as soon as its own ends. Records of
 * one key length go together, and a key that all records share is fastest.
 */
#ifndef CD_AES_LANES_H
#define CD_AES_LANES_H

#include "crypto/aes.h"

/* One record. The texts of different jobs must not overlap, but for `in` and `in`; within a job
 * `out` may be `in` itself. Any alignment. */
struct cd_aes_lane_job {
    const struct cd_aes_encrypt_key *key; /* prepared by the `aes` of the table; shared or not */
    uint8_t *out;
    const uint8_t *in;
    size_t blocks;     /* of 16 bytes; 0 leaves everything as it is */
    const uint8_t *iv; /* CD_AES_BLOCK bytes, in no `out` of the batch */
};

/* Many records under one key, one behind the other: record i is at offsets[i] up to offsets[i + 1],
 * a whole number of blocks further and not below. */
struct cd_aes_lane_packed {
    const struct cd_aes_encrypt_key *key; /* as above */
    uint8_t *out;                         /* `in` itself, or overlapping it nowhere */
    const uint8_t *in;
    const int64_t *offsets; /* count + 1 of them, into `in` and `out`, in bytes */
    size_t count;           /* records */
    const uint8_t *ivs;     /* CD_AES_BLOCK bytes for each; overlapping `out` nowhere */
};

/* One way of computing it. Nothing fails and nothing is shared: any thread. */
struct cd_aes_lane_functions {
    const char *name;                   /* as in driver names: "lib", "ni", "vaes" */
    uint32_t cpu;                       /* enum cd_cpu_feature bits needed */
    size_t lanes;                       /* records at once; 1 for the portable one */
    const struct cd_aes_functions *aes; /* whose keys it takes */
    /* Encrypt all jobs: what aes->cbc_encrypt does for each, IVs unchanged. NULL where not built.
     */
    void (*cbc_encrypt)(const struct cd_aes_lane_job *jobs, size_t count);
    /* The same for packed records. */
    void (*cbc_encrypt_packed)(const struct cd_aes_lane_packed *packed);
};

extern const struct cd_aes_lane_functions cd_aes_lanes_portable;
extern const struct cd_aes_lane_functions cd_aes_lanes_aesni;
extern const struct cd_aes_lane_functions cd_aes_lanes_vaes;

/* The fastest table that this CPU can run. Its `aes` is cd_aes_best(). */
const struct cd_aes_lane_functions *cd_aes_lanes_best(void);

#endif
