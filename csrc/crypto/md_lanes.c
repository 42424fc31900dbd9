/*
 * Lanes of messages for the MD family, and HMAC on top of them.
 *
 * A message is one or two pieces in memory: its whole blocks, and a copy of its end with the
 * padding. Lanes run as far as the shortest piece in them, so that messages of equal length stay in
 * step and others fall out of it only at pieces' ends.
 */
#include "crypto/md_lanes.h"

#include <assert.h>
#include <string.h>

#include "base/secure.h"
#include "cryptodispatch/cpu.h"

#define LANES 3u

struct lane {
    struct cd_md_lane_job *job;
    const uint8_t *data; /* the current piece */
    size_t blocks;       /* of it that are left */
    size_t tail_blocks;  /* the piece after it; 0 if there is none */
    _Alignas(16) uint8_t tail[CD_MD_TAIL_MAX];
};

struct lanes {
    const struct cd_md_algorithm *algorithm;
    struct cd_md_lane_job *next, *end;
    size_t active; /* the first that many of `order` */
    struct lane *order[LANES];
    struct lane lanes[LANES];
};

/* Go on to the piece of the padding. */
static void lane_enter_tail(struct lane *lane) {
    lane->data = lane->tail;
    lane->blocks = lane->tail_blocks;
    lane->tail_blocks = 0;
}

static void lane_start(const struct cd_md_algorithm *algorithm, struct lane *lane,
                       struct cd_md_lane_job *job) {
    size_t rest = job->length % CD_MD_BLOCK;
    const uint8_t *end = rest > 0 ? job->data + (job->length - rest) : NULL;

    assert(job->count % CD_MD_BLOCK == 0);
    lane->job = job;
    lane->data = job->data;
    lane->blocks = job->length / CD_MD_BLOCK;
    lane->tail_blocks = cd_md_pad(algorithm, lane->tail, end, rest, job->count + job->length);
    if (lane->blocks == 0) {
        lane_enter_tail(lane);
    }
}

/* `lane` is at the end of a piece: the next piece, or the next message; false if there is none. */
static bool lane_continue(struct lanes *lanes, struct lane *lane) {
    if (lane->tail_blocks > 0) {
        lane_enter_tail(lane);
        return true;
    }
    if (lane->job->out_digest != NULL) {
        cd_md_store(lanes->algorithm, lane->job->out_digest, lane->job->words);
    }
    if (lanes->next == lanes->end) {
        return false;
    }
    lane_start(lanes->algorithm, lane, lanes->next++);
    return true;
}

/* All active lanes are `blocks` further. */
static void lanes_advance(struct lanes *lanes, size_t blocks) {
    for (size_t i = lanes->active; i-- > 0;) {
        struct lane *lane = lanes->order[i];

        lane->data += blocks * CD_MD_BLOCK;
        lane->blocks -= blocks;
        if (lane->blocks == 0 && !lane_continue(lanes, lane)) {
            lanes->order[i] = lanes->order[--lanes->active];
        }
    }
}

static void lanes_step(struct lanes *lanes) {
    const struct cd_md_algorithm *algorithm = lanes->algorithm;
    struct lane *a = lanes->order[0], *b = lanes->order[1], *c = lanes->order[2];
    size_t blocks = a->blocks;

    if (lanes->active == 1) {
        algorithm->blocks(a->job->words, a->data, blocks);
        lanes_advance(lanes, blocks);
        return;
    }
    blocks = b->blocks < blocks ? b->blocks : blocks;
    if (lanes->active == 2) {
        algorithm->blocks_x2(a->job->words, a->data, b->job->words, b->data, blocks);
    } else {
        blocks = c->blocks < blocks ? c->blocks : blocks;
        algorithm->blocks_x3(a->job->words, a->data, b->job->words, b->data, c->job->words, c->data,
                             blocks);
    }
    lanes_advance(lanes, blocks);
}

bool cd_md_lanes_pay(const struct cd_md_algorithm *algorithm) {
    return (algorithm->cpu & CD_CPU_SHANI) == 0 || (cd_cpu_detect() & CD_CPU_SHA_LANES) != 0;
}

void cd_md_lanes_finish(const struct cd_md_algorithm *algorithm, struct cd_md_lane_job *jobs,
                        size_t count) {
    struct lanes lanes;
    size_t used = count < LANES ? count : LANES;

    if (count == 0) {
        return;
    }
    lanes.algorithm = algorithm;
    lanes.next = jobs;
    lanes.end = jobs + count;
    lanes.active = used;
    for (size_t i = 0; i < LANES; i++) {
        lanes.order[i] = &lanes.lanes[i];
    }
    for (size_t i = 0; i < used; i++) {
        lane_start(algorithm, &lanes.lanes[i], lanes.next++);
    }
    while (lanes.active > 0) {
        lanes_step(&lanes);
    }
    for (size_t i = 0; i < used; i++) {
        cd_wipe(lanes.lanes[i].tail, sizeof lanes.lanes[i].tail);
    }
}

/* ---- HMAC ---- */

#define HMAC_CHUNK                                                                                 \
    24u /* messages whose inner digests wait for the outer hash; a multiple of LANES */

static void hmac_chunk(const struct cd_hmac_key *key, const struct cd_hmac_lane_job *jobs,
                       size_t count, struct cd_md_lane_job *out_hashes,
                       uint8_t (*out_digests)[CD_MD_DIGEST_MAX]) {
    for (size_t i = 0; i < count; i++) {
        struct cd_md_lane_job *hash = &out_hashes[i];

        memcpy(hash->words, key->inner, sizeof hash->words);
        hash->count = CD_MD_BLOCK;
        hash->data = jobs[i].data;
        hash->length = jobs[i].length;
        hash->out_digest = out_digests[i];
    }
    cd_md_lanes_finish(key->algorithm, out_hashes, count);
    for (size_t i = 0; i < count; i++) {
        struct cd_md_lane_job *hash = &out_hashes[i];

        memcpy(hash->words, key->outer, sizeof hash->words);
        hash->data = out_digests[i];
        hash->length = key->algorithm->digest_size;
        hash->out_digest = jobs[i].out_tag;
    }
    cd_md_lanes_finish(key->algorithm, out_hashes, count);
}

void cd_hmac_lanes_digest(const struct cd_hmac_key *key, const struct cd_hmac_lane_job *jobs,
                          size_t count) {
    struct cd_md_lane_job hashes[HMAC_CHUNK];
    uint8_t digests[HMAC_CHUNK][CD_MD_DIGEST_MAX];

    while (count > 0) {
        size_t chunk = count < HMAC_CHUNK ? count : HMAC_CHUNK;

        hmac_chunk(key, jobs, chunk, hashes, digests);
        cd_wipe(digests, chunk * sizeof digests[0]);
        cd_wipe(hashes, chunk * sizeof hashes[0]);
        jobs += chunk;
        count -= chunk;
    }
}
