/*
 * Aead jobs: encrypt-hash and hash-decrypt (eip93-hardware.md 6.5, 9.6), in a bounce area.
 *
 * Direction, AAD length and tag size are put into the request's own SA (public-cases.md R019,
 * R021). The engine always computes the whole tag; the cut to the tag size, and on decryption the
 * comparison, are the driver's: only some engines compare, and no output leaves the bounce area
 * before the tag was found right here.
 */
#include "eip93/driver/driver_aead.h"

#include "base/endian.h"
#include "base/secure.h"

#include <string.h>

#define OFFSET_MAX 255u     /* of HASH_CRYPT_OFFSET, in words or bytes (5.5) */
#define BYTE_OFFSET_MIN 4u  /* bytes (5.5) */
#define COMPARED_TAG_MIN 4u /* bytes: an engine that compares tags by itself does so in words */
#define RFC3686_FIRST_BLOCK 1u

static bool takes_byte_offset(size_t aad_len) {
    return aad_len % 4 != 0 && aad_len >= BYTE_OFFSET_MIN && aad_len <= OFFSET_MAX;
}

bool cd_driver_aead_fits(const struct cd_aead_request *request, uint32_t tag_size, bool decrypt) {
    size_t aad_len = request->aad_len;
    bool offset =
        (aad_len % 4 == 0 && aad_len <= CD_DRIVER_BOUNCE_AAD_MAX) || takes_byte_offset(aad_len);
    return offset && aad_len + request->length > 0 &&
           request->length <= CD_DRIVER_BOUNCE_TEXT_MAX &&
           (!decrypt || tag_size >= COMPARED_TAG_MIN);
}

static void write_sa(const struct cd_driver_aead *transform, const struct cd_driver_job *base,
                     struct eip93_sa *out_sa) {
    const struct cd_driver_aead_job *job = (const struct cd_driver_aead_job *)base;
    const struct cd_aead_request *request = base->request;
    size_t aad_len = request->aad_len;
    uint32_t cmd0 = cd_driver_le32(transform->sa.cmd0);
    uint32_t cmd1 = cd_driver_le32(transform->sa.cmd1);
    cmd1 |= takes_byte_offset(aad_len)
                ? EIP93_SA1_BYTE_OFFSET | EIP93_PUT(aad_len, EIP93_SA1_HASH_CRYPT_OFFSET)
                : EIP93_PUT(aad_len / 4, EIP93_SA1_HASH_CRYPT_OFFSET);
    if (base->decrypt) {
        cmd0 = (cmd0 & ~EIP93_SA0_DIGEST_LENGTH) | EIP93_SA0_DIRECTION_IN | EIP93_SA0_SAVE_HASH |
               EIP93_PUT(job->tag_size / 4, EIP93_SA0_DIGEST_LENGTH);
        cmd1 &= ~(EIP93_SA1_COPY_PAD | EIP93_SA1_COPY_DIGEST);
    }
    *out_sa = transform->sa;
    out_sa->cmd0 = cd_driver_le32(cmd0);
    out_sa->cmd1 = cd_driver_le32(cmd1);
}

static void write_iv(const struct cd_driver_aead *transform, const struct cd_aead_request *request,
                     uint8_t out_iv[16]) {
    const struct cd_driver_mode *mode = transform->mode;
    memcpy(out_iv, transform->sa.nonce, mode->nonce_size);
    memcpy(out_iv + mode->nonce_size, request->iv, mode->iv_size);
    if (mode->nonce_size > 0) {
        cd_store_be32(out_iv + 12, RFC3686_FIRST_BLOCK);
    }
}

static void copy(uint8_t *out, const uint8_t *in, size_t length) {
    if (length > 0) { /* NULL is allowed for nothing */
        memcpy(out, in, length);
    }
}

static void aead_start(const struct cd_driver_job *base, struct cd_driver_record *record) {
    const struct cd_driver_aead_job *job = (const struct cd_driver_aead_job *)base;
    const struct cd_driver_aead *transform = base->transform;
    const struct cd_aead_request *request = base->request;
    uint8_t *area = cd_driver_bounce(transform->driver, base->bounce);
    write_sa(transform, base, &record->sa);
    write_iv(transform, request, record->state.iv);
    copy(area, request->aad, request->aad_len);
    copy(area + request->aad_len, request->source, request->length);
    if (base->decrypt) { /* where an engine that compares looks for it */
        memcpy(area + base->length, request->tag, job->tag_size);
    }
}

static bool aead_segment(const struct cd_driver_job *base, struct cd_driver_record *record,
                         struct cd_driver_segment *out) {
    const struct cd_driver_aead *transform = base->transform;
    (void)record;
    out->source_addr = cd_driver_bounce_address(transform->driver, base->bounce);
    out->dest_addr = out->source_addr;
    out->length = (uint32_t)base->length;
    out->result_length = out->length + (base->decrypt ? 0 : transform->digest.size);
    return true;
}

/* The tag that belongs to the text: on decryption from the state record, else from behind it. */
static void read_tag(const struct cd_driver_job *base, const struct cd_driver_record *record,
                     uint8_t out_tag[CD_TAG_MAX]) {
    const struct cd_driver_aead *transform = base->transform;
    uint32_t words[8] = {0};
    if (base->decrypt) {
        memcpy(words, record->state.i_digest, sizeof(words));
    } else {
        memcpy(words, cd_driver_bounce(transform->driver, base->bounce) + base->length,
               transform->digest.size);
    }
    cd_driver_digest_bytes(&transform->digest, out_tag, words);
    cd_wipe(words, sizeof(words));
}

static cd_status aead_finish(const struct cd_driver_job *base,
                             const struct cd_driver_record *record) {
    const struct cd_driver_aead_job *job = (const struct cd_driver_aead_job *)base;
    const struct cd_driver_aead *transform = base->transform;
    const struct cd_aead_request *request = base->request;
    const uint8_t *area = cd_driver_bounce(transform->driver, base->bounce);
    uint8_t tag[CD_TAG_MAX];
    cd_status status = CD_OK;
    read_tag(base, record, tag);
    if (base->decrypt && !cd_equal_ct(tag, request->tag, job->tag_size)) {
        status = CD_E_AUTHENTICATION;
    } else {
        copy(request->destination, area + request->aad_len, request->length);
        if (!base->decrypt) {
            memcpy(request->tag, tag, job->tag_size);
        }
    }
    cd_wipe(tag, sizeof(tag)); /* the right one for a forged message is a secret */
    return status;
}

static void complete_request(struct cd_driver_job *base, cd_status status) {
    cd_aead_request_complete(base->request, status);
}

const struct cd_driver_job_ops cd_driver_job_aead = {
    .user_flags = CD_DRIVER_USER_AEAD,
    .record_size = offsetof(struct cd_driver_record, last_sa),
    .bounces = true,
    .start = aead_start,
    .segment = aead_segment,
    .finish = aead_finish,
    .complete = complete_request,
};
