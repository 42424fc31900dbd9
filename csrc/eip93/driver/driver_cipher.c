/*
 * Ciphers on the engine: transforms, and the three kinds of jobs they make.
 *
 * A transform keeps a template of its SA record (eip93-hardware.md 5.1, 5.7). Each request copies
 * it into its own record and sets the direction there, so that requests of one transform never see
 * each other's (public-cases.md R019).
 */
#include "base/endian.h"
#include "eip93/driver/driver_internal.h"

#include <string.h>

#define BLOCK 16u
#define CIPHER_RECORD offsetof(struct cd_driver_record, last_sa) /* what ciphers use of it */

/* Blocks under one IV before the 32-bit counter of RFC 3686, which starts at 1, is used up. */
#define RFC3686_BLOCKS_MAX UINT32_MAX

struct cd_driver_transform {
    struct cd_eip93_driver *driver;
    const struct cd_driver_mode *mode;
    struct eip93_sa sa;
};
const size_t cd_driver_cipher_context_size = sizeof(struct cd_driver_transform);

static uint64_t blocks_of(uint64_t length) {
    return length / BLOCK + (length % BLOCK != 0 ? 1 : 0);
}

/* out = counter + blocks, 128 bits wide, big-endian (SP 800-38A, B.1). */
static void add_blocks(uint8_t out[16], const uint8_t counter[16], uint64_t blocks) {
    uint64_t low = cd_load_be64(counter + 8) + blocks;
    uint64_t high = cd_load_be64(counter) + (low < blocks ? 1 : 0);
    cd_store_be64(out, high);
    cd_store_be64(out + 8, low);
}

static size_t segment_limit(const struct cd_driver_job *job) {
    size_t left = job->length - job->submitted;
    return left < CD_DRIVER_SEGMENT_MAX ? left : CD_DRIVER_SEGMENT_MAX;
}

/* Text in, text of the same length out. */
static void describe_segment(const struct cd_driver_job *job, struct cd_driver_segment *out,
                             size_t length) {
    out->source = job->source + job->submitted;
    out->destination = job->destination + job->submitted;
    out->length = (uint32_t)length;
    out->result_length = (uint32_t)length;
}

static void write_sa(const struct cd_driver_job *job, struct cd_driver_record *record) {
    const struct cd_driver_transform *transform = job->transform;
    record->sa = transform->sa;
    if (job->decrypt) {
        record->sa.cmd0 |= cd_driver_le32(EIP93_SA0_DIRECTION_IN);
    }
}

static void complete_request(struct cd_driver_job *job, cd_status status) {
    cd_cipher_request_complete(job->request, status);
}

/* ---- ECB and CBC: the engine carries the IV from segment to segment ---- */

static void chained_start(const struct cd_driver_job *job, struct cd_driver_record *record) {
    const struct cd_driver_transform *transform = job->transform;
    const struct cd_cipher_request *request = job->request;
    write_sa(job, record);
    memcpy(record->state.iv, request->iv, transform->mode->iv_size);
}

static bool chained_segment(const struct cd_driver_job *job, struct cd_driver_record *record,
                            struct cd_driver_segment *out) {
    (void)record;
    describe_segment(job, out, segment_limit(job));
    return true;
}

static cd_status chained_finish(const struct cd_driver_job *job,
                                const struct cd_driver_record *record) {
    const struct cd_driver_transform *transform = job->transform;
    struct cd_cipher_request *request = job->request;
    memcpy(request->iv, record->state.iv, transform->mode->iv_size);
    return CD_OK;
}

const struct cd_driver_job_ops cd_driver_job_chained = {
    .user_flags = CD_DRIVER_USER_CIPHER,
    .record_size = CIPHER_RECORD,
    .start = chained_start,
    .segment = chained_segment,
    .finish = chained_finish,
    .complete = complete_request,
};

/* ---- CTR: the engine counts in 32 bits (6.3), the mode in 128 ---- */

static void counter_start(const struct cd_driver_job *job, struct cd_driver_record *record) {
    write_sa(job, record);
    memcpy(record->state.iv, job->counter, sizeof(record->state.iv));
}

/* A segment ends where the chip's counter would wrap. The carry is put into the state record for
 * the next one, once the engine has written the record for the last time. */
static bool counter_segment(const struct cd_driver_job *job, struct cd_driver_record *record,
                            struct cd_driver_segment *out) {
    uint8_t counter[16];
    add_blocks(counter, job->counter, job->submitted / BLOCK);
    uint32_t low = cd_load_be32(counter + 12);
    if (low == 0 && job->submitted > 0) {
        if (job->in_ring > 0) {
            return false;
        }
        memcpy(record->state.iv, counter, sizeof(counter));
    }
    uint64_t until_wrap = (((uint64_t)1 << 32) - low) * BLOCK;
    size_t limit = segment_limit(job);
    describe_segment(job, out, limit < until_wrap ? limit : (size_t)until_wrap);
    return true;
}

static cd_status ctr_finish(const struct cd_driver_job *job,
                            const struct cd_driver_record *record) {
    struct cd_cipher_request *request = job->request;
    (void)record;
    add_blocks(request->iv, job->counter, blocks_of(job->length));
    return CD_OK;
}

const struct cd_driver_job_ops cd_driver_job_ctr = {
    .user_flags = CD_DRIVER_USER_CIPHER,
    .record_size = CIPHER_RECORD,
    .start = counter_start,
    .segment = counter_segment,
    .finish = ctr_finish,
    .complete = complete_request,
};

/* ---- RFC 3686: CTR with nonce | IV | block number, from 1 ---- */

static cd_status rfc3686_finish(const struct cd_driver_job *job,
                                const struct cd_driver_record *record) {
    struct cd_cipher_request *request = job->request;
    (void)record;
    request->block_offset += blocks_of(job->length);
    return CD_OK;
}

const struct cd_driver_job_ops cd_driver_job_rfc3686 = {
    .user_flags = CD_DRIVER_USER_CIPHER,
    .record_size = CIPHER_RECORD,
    .start = counter_start,
    .segment = counter_segment,
    .finish = rfc3686_finish,
    .complete = complete_request,
};

/* ---- Transforms ---- */

static cd_status cipher_init(struct cd_cipher *cipher) {
    const struct cd_implementation *implementation = cd_cipher_implementation(cipher);
    struct cd_driver_transform *transform = cd_cipher_context(cipher);
    transform->driver = implementation->provider;
    transform->mode = cd_driver_mode_of(implementation);
    return CD_OK;
}

/* The key field always holds the encryption key; the engine derives the decryption schedule itself
 * (11, item 29). */
void cd_driver_cipher_sa(struct eip93_sa *out_sa, const struct cd_driver_mode *mode,
                         const uint8_t *key, size_t key_len) {
    size_t cipher_key_len = key_len - mode->nonce_size;
    uint32_t cmd1 = mode->cmd1;
    if (EIP93_GET(mode->cmd0, EIP93_SA0_CIPHER) == EIP93_SA0_CIPHER_AES) {
        cmd1 |= EIP93_PUT(cipher_key_len / 8, EIP93_SA1_AES_KEY_LENGTH);
    }
    memset(out_sa, 0, sizeof(*out_sa));
    out_sa->cmd0 = cd_driver_le32(mode->cmd0);
    out_sa->cmd1 = cd_driver_le32(cmd1);
    memcpy(out_sa->key, key, cipher_key_len);
    out_sa->seqnum_mask0 = cd_driver_le32(UINT32_MAX);
    memcpy(out_sa->nonce, key + cipher_key_len, mode->nonce_size);
}

static cd_status cipher_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    struct cd_driver_transform *transform = cd_cipher_context(cipher);
    cd_status status = cd_driver_check_ready(transform->driver);
    if (status == CD_OK) {
        cd_driver_cipher_sa(&transform->sa, transform->mode, key, key_len);
    }
    return status;
}

/* The counter block of the request's first block. */
static cd_status first_counter(const struct cd_driver_transform *transform,
                               struct cd_driver_job *job, const struct cd_cipher_request *request) {
    if (job->ops == &cd_driver_job_ctr) {
        memcpy(job->counter, request->iv, sizeof(job->counter));
    } else if (job->ops == &cd_driver_job_rfc3686) {
        if (request->block_offset > RFC3686_BLOCKS_MAX ||
            blocks_of(request->length) > RFC3686_BLOCKS_MAX - request->block_offset) {
            return CD_E_LENGTH;
        }
        memcpy(job->counter, transform->sa.nonce, 4);
        memcpy(job->counter + 4, request->iv, 8);
        cd_store_be32(job->counter + 12, (uint32_t)(request->block_offset + 1));
    }
    return CD_OK;
}

static cd_status cipher_start(struct cd_cipher *cipher, struct cd_cipher_request *request,
                              bool decrypt) {
    const struct cd_driver_transform *transform = cd_cipher_context(cipher);
    struct cd_driver_job *job = (struct cd_driver_job *)(void *)request->implementation_private;
    *job = (struct cd_driver_job){
        .ops = transform->mode->ops,
        .transform = transform,
        .request = request,
        .source = request->source,
        .destination = request->destination,
        .length = request->length,
        .decrypt = decrypt,
    };
    cd_status status = first_counter(transform, job, request);
    return status == CD_OK ? cd_driver_submit(transform->driver, job) : status;
}

static cd_status cipher_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return cipher_start(cipher, request, false);
}

static cd_status cipher_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return cipher_start(cipher, request, true);
}

static cd_status cipher_wait(struct cd_cipher *cipher, struct cd_cipher_request *request,
                             uint64_t timeout_ns) {
    const struct cd_driver_transform *transform = cd_cipher_context(cipher);
    return cd_driver_wait(transform->driver, &request->status, timeout_ns);
}

const struct cd_cipher_ops cd_driver_cipher_ops = {
    .init = cipher_init,
    .set_key = cipher_set_key,
    .encrypt = cipher_encrypt,
    .decrypt = cipher_decrypt,
    .wait = cipher_wait,
};
