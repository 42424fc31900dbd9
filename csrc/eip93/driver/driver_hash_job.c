/*
 * Hash jobs (eip93-hardware.md 6.4, 9.4, 9.5).
 *
 * Count and chaining words go from descriptor to descriptor through the state record. Only the SA
 * of a message's last descriptor says HMAC, as that ends the message. An hmac that fits in one
 * descriptor starts from the SA instead of the state.
 *
 * The digest is taken from the state record. The engine also appends it to its output, for which it
 * gets a place in the record: not every chip may have nothing at address 0 (12, Q4).
 */
#include "eip93/driver/driver_hash.h"

#include <string.h>

static const struct cd_driver_hash_job *hash_job(const struct cd_driver_job *job) {
    return (const struct cd_driver_hash_job *)job;
}

static bool is_hmac(const struct cd_driver_hash *transform) {
    return transform->digest.before > 0;
}

/* Bytes of the segment that begins at `at`. The last one keeps at least one byte. */
static size_t segment_length(const struct cd_driver_hash_job *job, size_t at) {
    const struct cd_driver_hash *transform = job->base.transform;
    if (at < job->head_length) {
        return job->head_length - at;
    }
    size_t left = job->base.length - at;
    return left < transform->driver->hash_segment ? left : transform->driver->hash_segment;
}

static void write_sa(const struct cd_driver_hash *transform, struct eip93_sa *out_sa, bool last) {
    uint32_t cmd1 = transform->mode->cmd1;
    if (last && is_hmac(transform)) {
        cmd1 |= EIP93_SA1_HMAC;
        cd_driver_digest_words(out_sa->o_digest, transform->digest.outer);
    }
    out_sa->cmd0 = cd_driver_le32(transform->mode->cmd0);
    out_sa->cmd1 = cd_driver_le32(cmd1);
    out_sa->seqnum_mask0 = cd_driver_le32(UINT32_MAX);
}

/* An hmac in one descriptor (9.5): everything comes from the SA, with a byte count of 64. */
static void start_from_sa(const struct cd_driver_hash *transform, struct eip93_sa *sa) {
    const uint32_t from_state = EIP93_SA0_HASH_SOURCE | EIP93_SA0_IV_SOURCE | EIP93_SA0_SAVE_IV;
    sa->cmd0 = cd_driver_le32(transform->mode->cmd0 & ~from_state);
    sa->cmd1 = cd_driver_le32(EIP93_SA1_HMAC | EIP93_SA1_COPY_PAD | EIP93_SA1_COPY_DIGEST);
    cd_driver_digest_words(sa->i_digest, transform->digest.inner);
}

static void hash_start(const struct cd_driver_job *base, struct cd_driver_record *record) {
    const struct cd_driver_hash_job *job = hash_job(base);
    const struct cd_driver_hash *transform = base->transform;
    bool single = segment_length(job, 0) == base->length;
    write_sa(transform, &record->sa, job->final && single);
    if (job->final && !single) {
        write_sa(transform, &record->last_sa, true);
    }
    if (job->final && single && job->words == NULL && is_hmac(transform)) {
        start_from_sa(transform, &record->sa);
        return;
    }
    record->state.byte_cnt[0] = cd_driver_le32((uint32_t)job->count);
    record->state.byte_cnt[1] = cd_driver_le32((uint32_t)(job->count >> 32));
    cd_driver_digest_words(record->state.i_digest,
                           job->words != NULL ? job->words : transform->digest.inner);
}

static bool hash_segment(const struct cd_driver_job *base, struct cd_driver_record *record,
                         struct cd_driver_segment *out) {
    const struct cd_driver_hash_job *job = hash_job(base);
    const struct cd_driver_hash *transform = base->transform;
    size_t at = base->submitted;
    size_t length = segment_length(job, at);
    bool end = job->final && at + length == base->length;
    (void)record;
    out->source = at < job->head_length ? job->head + at : base->source + (at - job->head_length);
    out->dest_addr = cd_driver_record_address(transform->driver, base->record) +
                     (uint32_t)offsetof(struct cd_driver_record, digest);
    out->length = (uint32_t)length;
    out->result_length = end ? transform->digest.size : 0;
    out->hash_final = end;
    out->last_sa = end && at > 0;
    return true;
}

static cd_status hash_finish(const struct cd_driver_job *base,
                             const struct cd_driver_record *record) {
    const struct cd_driver_hash_job *job = hash_job(base);
    const struct cd_driver_hash *transform = base->transform;
    if (job->final) {
        cd_driver_digest_bytes(&transform->digest, job->digest, record->state.i_digest);
    } else {
        cd_driver_digest_words(job->words, record->state.i_digest);
    }
    return CD_OK;
}

static void complete_request(struct cd_driver_job *base, cd_status status) {
    cd_hash_request_complete(base->request, status);
}

static void complete_part(struct cd_driver_job *base, cd_status status) {
    __atomic_store_n((int32_t *)base->request, (int32_t)status, __ATOMIC_RELEASE);
}

const struct cd_driver_job_ops cd_driver_job_hash = {
    .user_flags = CD_DRIVER_USER_HASH,
    .record_size = sizeof(struct cd_driver_record),
    .start = hash_start,
    .segment = hash_segment,
    .finish = hash_finish,
    .complete = complete_request,
};

const struct cd_driver_job_ops cd_driver_job_hash_part = {
    .user_flags = CD_DRIVER_USER_HASH,
    .record_size = sizeof(struct cd_driver_record),
    .start = hash_start,
    .segment = hash_segment,
    .finish = hash_finish,
    .complete = complete_part,
};
