/*
 * Lanes of messages for the MD family, and of HMACs.
 *
 * A message is one to three pieces in memory: its whole blocks, a copy of its end with the padding,
 * and for an HMAC the block of the outer hash. Lanes run as far as the shortest piece in them, so
 * that messages of equal length stay in step and others fall out of it only at pieces' ends.
 */
#include "crypto/md_lanes.h"

#include <assert.h>
#include <string.h>

#include "base/secure.h"
#include "cryptodispatch/cpu.h"

#define NARROW 3u

struct lane {
    size_t index; /* its own, in wide steps */
    const struct cd_md_lane_job *job;
    const uint8_t *data; /* the current piece */
    size_t blocks;       /* of it that are left */
    size_t tail_blocks;  /* the piece after it; 0 if there is none */
    bool is_outer;       /* in the outer hash of an HMAC */
    uint32_t words[CD_MD_WORDS_MAX];
    _Alignas(16) uint8_t tail[CD_MD_TAIL_MAX];
};

struct lanes {
    struct cd_md_wide wide;
    const struct cd_md_algorithm *algorithm;
    const struct cd_hmac_key *key; /* NULL for plain hashes */
    const uint32_t *start;         /* chaining words of a new message ... */
    uint64_t start_count;          /* ... after that many bytes */
    const struct cd_md_lane_job *next, *end;
    bool is_wide;                   /* words are in `wide`, not in the lanes */
    size_t narrow;                  /* lanes when not wide: 1 or NARROW */
    size_t active;                  /* the first that many of `order` */
    struct lane *order[CD_MD_WIDE]; /* a permutation */
    struct lane lanes[CD_MD_WIDE];
};

static void words_set(struct lanes *lanes, struct lane *lane, const uint32_t *words) {
    size_t index = lane->index, count = lanes->algorithm->state_words;

    for (size_t i = 0; i < count; i++) {
        *(lanes->is_wide ? &lanes->wide.words[i][index] : &lane->words[i]) = words[i];
    }
}

/* The lane's words, in the lane itself. */
static const uint32_t *words_get(struct lanes *lanes, struct lane *lane) {
    size_t index = lane->index, count = lanes->algorithm->state_words;

    for (size_t i = 0; lanes->is_wide && i < count; i++) {
        lane->words[i] = lanes->wide.words[i][index];
    }
    return lane->words;
}

/* Go on to the piece of the padding. */
static void lane_enter_tail(struct lane *lane) {
    lane->data = lane->tail;
    lane->blocks = lane->tail_blocks;
    lane->tail_blocks = 0;
}

static void lane_start(struct lanes *lanes, struct lane *lane, const struct cd_md_lane_job *job) {
    size_t rest = job->length % CD_MD_BLOCK;
    const uint8_t *end = rest > 0 ? job->data + (job->length - rest) : NULL;

    lane->job = job;
    lane->data = job->data;
    lane->blocks = job->length / CD_MD_BLOCK;
    lane->is_outer = false;
    lane->tail_blocks =
        cd_md_pad(lanes->algorithm, lane->tail, end, rest, lanes->start_count + job->length);
    words_set(lanes, lane, lanes->start);
    if (lane->blocks == 0) {
        lane_enter_tail(lane);
    }
}

/* From the end of the inner hash to the outer one: RFC 2104 section 2. */
static void lane_start_outer(struct lanes *lanes, struct lane *lane) {
    uint32_t digest_size = lanes->algorithm->digest_size;
    uint8_t digest[CD_MD_DIGEST_MAX];

    cd_md_store(lanes->algorithm, digest, words_get(lanes, lane));
    lane->tail_blocks =
        cd_md_pad(lanes->algorithm, lane->tail, digest, digest_size, CD_MD_BLOCK + digest_size);
    cd_wipe(digest, sizeof digest);
    words_set(lanes, lane, lanes->key->outer);
    lane->is_outer = true;
    lane_enter_tail(lane);
}

/* `lane` is at the end of a piece: the next piece, or the next message; false if there is none. */
static bool lane_continue(struct lanes *lanes, struct lane *lane) {
    if (lane->tail_blocks > 0) {
        lane_enter_tail(lane);
        return true;
    }
    if (lanes->key != NULL && !lane->is_outer) {
        lane_start_outer(lanes, lane);
        return true;
    }
    cd_md_store(lanes->algorithm, lane->job->out_digest, words_get(lanes, lane));
    if (lanes->next == lanes->end) {
        return false;
    }
    lane_start(lanes, lane, lanes->next++);
    return true;
}

/* The first `count` active lanes are `blocks` further. */
static void lanes_advance(struct lanes *lanes, size_t count, size_t blocks) {
    for (size_t i = count; i-- > 0;) {
        struct lane *lane = lanes->order[i];

        lane->data += blocks * CD_MD_BLOCK;
        lane->blocks -= blocks;
        if (lane->blocks == 0 && !lane_continue(lanes, lane)) {
            lanes->order[i] = lanes->order[--lanes->active];
            lanes->order[lanes->active] = lane;
        }
    }
}

static size_t shortest(const struct lanes *lanes, size_t count) {
    size_t blocks = lanes->order[0]->blocks;

    for (size_t i = 1; i < count; i++) {
        blocks = lanes->order[i]->blocks < blocks ? lanes->order[i]->blocks : blocks;
    }
    return blocks;
}

/* All lanes; those that have ended do what another does, for nothing. */
static void wide_step(struct lanes *lanes) {
    size_t blocks = shortest(lanes, lanes->active);

    for (size_t i = 0; i < CD_MD_WIDE; i++) {
        struct lane *lane = lanes->order[i];

        lanes->wide.data[lane->index] = i < lanes->active ? lane->data : lanes->order[0]->data;
    }
    lanes->algorithm->blocks_wide(&lanes->wide, blocks);
    lanes_advance(lanes, lanes->active, blocks);
}

/* Too few lanes for wide steps: each has its words again. */
static void leave_wide(struct lanes *lanes) {
    for (size_t i = 0; i < lanes->active; i++) {
        (void)words_get(lanes, lanes->order[i]);
    }
    lanes->is_wide = false;
}

static void narrow_step(struct lanes *lanes) {
    const struct cd_md_algorithm *algorithm = lanes->algorithm;
    struct lane *a = lanes->order[0], *b = lanes->order[1], *c = lanes->order[2];
    size_t count = lanes->active < lanes->narrow ? lanes->active : lanes->narrow;
    size_t blocks = shortest(lanes, count);

    if (count == 1) {
        algorithm->blocks(a->words, a->data, blocks);
    } else if (count == 2) {
        algorithm->blocks_x2(a->words, a->data, b->words, b->data, blocks);
    } else {
        algorithm->blocks_x3(a->words, a->data, b->words, b->data, c->words, c->data, blocks);
    }
    lanes_advance(lanes, count, blocks);
}

static bool can_be_wide(const struct cd_md_algorithm *algorithm) {
    return algorithm->blocks_wide != NULL && (algorithm->wide_cpu & ~cd_cpu_detect()) == 0;
}

static size_t narrow_best(const struct cd_md_algorithm *algorithm) {
    bool gains = (algorithm->cpu & CD_CPU_SHANI) == 0 || (cd_cpu_detect() & CD_CPU_SHA_LANES) != 0;

    return gains ? NARROW : 1;
}

size_t cd_md_lanes_best(const struct cd_md_algorithm *algorithm) {
    return can_be_wide(algorithm) ? CD_MD_WIDE : narrow_best(algorithm);
}

static void lanes_run(struct lanes *lanes, size_t width, const struct cd_md_lane_job *jobs,
                      size_t count) {
    size_t used = count < width ? count : width;

    assert(width == NARROW || (width == CD_MD_WIDE && can_be_wide(lanes->algorithm)));
    lanes->next = jobs;
    lanes->end = jobs + count;
    lanes->is_wide = width == CD_MD_WIDE && count >= lanes->algorithm->wide_from;
    lanes->narrow = width == CD_MD_WIDE ? narrow_best(lanes->algorithm) : width;
    lanes->active = used;
    if (lanes->is_wide) {
        memset(&lanes->wide, 0, sizeof lanes->wide); /* lanes that are never used count as well */
    }
    for (size_t i = 0; i < CD_MD_WIDE; i++) {
        lanes->order[i] = &lanes->lanes[i];
        lanes->lanes[i].index = i;
    }
    for (size_t i = 0; i < used; i++) {
        lane_start(lanes, &lanes->lanes[i], lanes->next++);
    }
    while (lanes->is_wide && lanes->active >= lanes->algorithm->wide_from) {
        wide_step(lanes);
    }
    if (lanes->is_wide) {
        leave_wide(lanes);
        cd_wipe(&lanes->wide, sizeof lanes->wide);
    }
    while (lanes->active > 0) {
        narrow_step(lanes);
    }
    cd_wipe(lanes->lanes, used * sizeof lanes->lanes[0]);
}

void cd_md_lanes_digest(const struct cd_md_algorithm *algorithm, size_t width,
                        const struct cd_md_lane_job *jobs, size_t count) {
    struct lanes lanes;

    if (width == 1) {
        for (size_t i = 0; i < count; i++) {
            cd_md_digest(algorithm, jobs[i].out_digest, jobs[i].data, jobs[i].length);
        }
        return;
    }
    lanes.algorithm = algorithm;
    lanes.key = NULL;
    lanes.start = algorithm->initial;
    lanes.start_count = 0;
    lanes_run(&lanes, width, jobs, count);
}

void cd_hmac_lanes_digest(const struct cd_hmac_key *key, size_t width,
                          const struct cd_md_lane_job *jobs, size_t count) {
    struct lanes lanes;

    if (width == 1) {
        for (size_t i = 0; i < count; i++) {
            cd_hmac_digest(key, jobs[i].out_digest, jobs[i].data, jobs[i].length);
        }
        return;
    }
    lanes.algorithm = key->algorithm;
    lanes.key = key;
    lanes.start = key->inner;
    lanes.start_count = CD_MD_BLOCK;
    lanes_run(&lanes, width, jobs, count);
}
