/*
 * Jobs, and what they keep in DMA memory.
 *
 * A job is one request on its way through the ring, as one or more descriptors (segments) that are
 * chained through the state record of the job. Queue and ring know nothing of algorithms: they ask
 * the job's operations.
 */
#ifndef CD_DRIVER_JOB_H
#define CD_DRIVER_JOB_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/hash.h"
#include "eip93/eip93_regs.h"

#define CD_DRIVER_SEGMENT_MAX 0xFFFF0u    /* whole blocks in the 20-bit length field, bytes (4.2) */
#define CD_DRIVER_NONE UINT32_MAX         /* no record, no bounce area */
#define CD_DRIVER_USER_LAST 0x00080000u   /* user id of a request's last descriptor (4.4) */
#define CD_DRIVER_USER_HASH 0x00400000u   /* user id of a hash's descriptor (4.4) */
#define CD_DRIVER_USER_AEAD 0x00800000u   /* user id of an aead's descriptor (4.4) */
#define CD_DRIVER_USER_CIPHER 0x01000000u /* user id of a cipher's descriptor (4.4) */

/* What a job keeps in DMA memory; its index is the id part of the user id. */
struct cd_driver_record {
    struct eip93_sa sa;
    struct eip93_state state;
    uint8_t unused[8];
    struct eip93_sa last_sa; /* hashes: the SA of the last of several descriptors */
    uint8_t digest[64];      /* hashes: where the engine appends the digest; 32 bytes used */
};
static_assert(sizeof(struct cd_driver_record) == 384, "records keep their parts 64-byte aligned");
static_assert(offsetof(struct cd_driver_record, state) == EIP93_SA_SIZE, "state follows the SA");
static_assert(offsetof(struct cd_driver_record, last_sa) == 192, "aligned");

/*
 * Bounce areas: the engine wants AAD and text of an aead in one piece and gives text and tag in
 * one (6.5), while requests have them in three. A few are enough, as the engine works on one packet
 * at a time: one under way, one next, and two being filled or emptied by the host. 64 KiB of text
 * is above any packet or record that protocols have; longer texts are served in software.
 */
#define CD_DRIVER_BOUNCE_COUNT 4u
#define CD_DRIVER_BOUNCE_AAD_MAX 1020u /* 255 words, bytes (5.5) */
#define CD_DRIVER_BOUNCE_TEXT_MAX 65536u
#define CD_DRIVER_BOUNCE_TAIL 64u /* for the tag */
#define CD_DRIVER_BOUNCE_SIZE                                                                      \
    (CD_DRIVER_BOUNCE_AAD_MAX + 4u + CD_DRIVER_BOUNCE_TEXT_MAX + CD_DRIVER_BOUNCE_TAIL)
static_assert(CD_DRIVER_BOUNCE_SIZE % 64 == 0, "bounce areas keep their alignment");

struct cd_driver_job;

/* One descriptor of a job. Buffers are the caller's memory and get mapped. */
struct cd_driver_segment {
    const uint8_t *source; /* NULL: source_addr stands */
    uint8_t *destination;  /* NULL: dest_addr stands */
    uint32_t source_addr;  /* in memory that the driver has from dma_alloc */
    uint32_t dest_addr;
    uint32_t length;        /* bytes of input, 1..CD_DRIVER_SEGMENT_MAX */
    uint32_t result_length; /* bytes that the engine must report */
    bool hash_final;        /* the message ends here */
    bool last_sa;           /* the record's other SA */
};

/* How one kind of job uses the engine. */
struct cd_driver_job_ops {
    uint32_t user_flags;  /* upper half of the user id */
    uint32_t record_size; /* bytes of the record that it uses */
    bool bounces;         /* holds a bounce area from start to finish */
    /* Fill the zeroed record, and the bounce area, before the first segment. Locked. */
    void (*start)(const struct cd_driver_job *job, struct cd_driver_record *record);
    /* Describe the segment that begins at job->submitted in the zeroed *out; false: not before the
     * job's earlier segments are done. May be asked again for the same segment. Locked. */
    bool (*segment)(const struct cd_driver_job *job, struct cd_driver_record *record,
                    struct cd_driver_segment *out);
    /* All segments went well: take from the record what the request wants. Returns the outcome.
     * Locked. */
    cd_status (*finish)(const struct cd_driver_job *job, const struct cd_driver_record *record);
    /* Tell the request's owner, to whom the job's memory belongs again. Not locked. */
    void (*complete)(struct cd_driver_job *job, cd_status status);
};

/* Lies in the private words of the request, first in a larger structure for some. */
struct __attribute__((may_alias)) cd_driver_job {
    struct cd_driver_job *next;
    const struct cd_driver_job_ops *ops;
    const void *transform;
    void *request;
    const uint8_t *source;
    uint8_t *destination;
    size_t length;    /* bytes of input */
    size_t submitted; /* bytes handed to the ring */
    uint32_t in_ring; /* descriptors under way */
    uint32_t record;  /* index, or CD_DRIVER_NONE */
    uint32_t bounce;  /* index, or CD_DRIVER_NONE */
    cd_status status; /* first error, or CD_OK */
    bool queued;      /* in the driver's queue: not all bytes are handed to the ring */
    bool started;     /* its record is filled */
    bool decrypt;
    uint8_t counter[16]; /* counter modes: the first block's */
};
static_assert(sizeof(struct cd_driver_job) <= CD_REQUEST_PRIVATE_WORDS * sizeof(uint64_t),
              "a job fits in the private words of a request");

struct cd_driver_list {
    struct cd_driver_job *head;
    struct cd_driver_job *tail;
};

/* What of a descriptor is mapped. */
enum cd_driver_mapping {
    CD_DRIVER_MAPPED_NONE = 0,
    CD_DRIVER_MAPPED_SOURCE = 1,
    CD_DRIVER_MAPPED_BOTH = 2,
    CD_DRIVER_MAPPED_IN_PLACE = 3, /* one mapping, in both directions */
};

/* What is remembered of one descriptor in the ring. */
struct cd_driver_slot {
    struct cd_driver_job *job;
    uint32_t source_addr;
    uint32_t dest_addr;
    uint32_t length; /* bytes */
    uint32_t result_length;
    uint32_t user_id;
    enum cd_driver_mapping mapping;
    bool hash_final;
    bool last_sa;
};

#endif
