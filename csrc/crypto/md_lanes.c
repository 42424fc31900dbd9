/*
 * Lanes of messages for the MD family, and of HMACs.
 *
 * A message is one to three pieces in memory: its whole blocks, a copy of its end with the padding,
 * and for an HMAC the block of the outer hash. With a prefix there are up to two more at its start:
 * the prefix's whole blocks, and a copy of the block in which prefix and data meet. Lanes run as
 * far as the shortest piece in them, so that messages of equal length stay in step and others fall
 * out of it only at pieces' ends.
 */
#include "crypto/md_lanes.h"

#include <assert.h>
#include <string.h>

#include "base/secure.h"
#include "base/target.h"
#include "cryptodispatch/cpu.h"

#define NARROW 3u

#define PIECES_MAX 4u /* prefix, joint, data, padding */

struct piece {
    const uint8_t *data;
    size_t blocks;
};

struct lane {
    size_t index; /* its own, in wide steps */
    const struct cd_md_lane_job *job;
    struct piece now;                   /* what is left of the current piece */
    struct piece ahead[PIECES_MAX - 1]; /* those after it, the last one first */
    size_t ahead_count;
    bool is_outer; /* in the outer hash of an HMAC */
    uint32_t words[CD_MD_WORDS_MAX];
    _Alignas(16) uint8_t joint[CD_MD_BLOCK]; /* where prefix and data meet */
    uint8_t tail[CD_MD_TAIL_MAX];            /* right behind it: the two may be one piece */
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
    /* The outer hashes' blocks, by index: padded, the inner digest to be filled in. */
    _Alignas(16) uint8_t outer[CD_MD_WIDE][CD_MD_BLOCK];
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

/* Go on to the piece after the current one. */
static inline void lane_pop(struct lane *lane) {
    lane->now = lane->ahead[--lane->ahead_count];
}

/* Put a piece, unless it is empty, before the `first` one so far. */
static inline struct piece put_before(struct lane *lane, struct piece first, const uint8_t *data,
                                      size_t blocks) {
    if (blocks == 0) {
        return first;
    }
    lane->ahead[lane->ahead_count++] = first;
    return (struct piece){data, blocks};
}

static void start_plain(const struct lanes *lanes, struct lane *lane) {
    const struct cd_md_lane_job *job = lane->job;
    size_t rest = job->length % CD_MD_BLOCK, blocks = job->length / CD_MD_BLOCK;
    const uint8_t *end = rest > 0 ? job->data + (job->length - rest) : NULL;
    struct piece tail = {lane->tail, cd_md_pad(lanes->algorithm, lane->tail, end, rest,
                                               lanes->start_count + job->length)};

    lane->now = blocks > 0 ? (struct piece){job->data, blocks} : tail;
    lane->ahead[0] = tail;
    lane->ahead_count = blocks > 0 ? 1 : 0;
}

/* Fill the joint; returns how many bytes are in it: less than a block if the message ends there. */
static size_t join(struct lane *lane, size_t *out_taken) {
    const struct cd_md_lane_job *job = lane->job;
    size_t before = job->prefix_len % CD_MD_BLOCK;
    size_t room = CD_MD_BLOCK - before;

    *out_taken = 0;
    if (before == 0) {
        return 0;
    }
    *out_taken = job->length < room ? job->length : room;
    cd_md_copy_partial(lane->joint, job->prefix + (job->prefix_len - before), before);
    cd_md_copy_partial(lane->joint + before, job->data, *out_taken);
    return before + *out_taken;
}

/* Not inlined: messages without a prefix would be 1 ns slower (hash batches, 64 bytes). */
CD_NEVER_INLINE static void start_prefixed(const struct lanes *lanes, struct lane *lane) {
    const struct cd_md_lane_job *job = lane->job;
    size_t taken, joined = join(lane, &taken);
    const uint8_t *data = taken > 0 ? job->data + taken : job->data; /* which may be NULL */
    size_t left = job->length - taken, rest = left % CD_MD_BLOCK, blocks = left / CD_MD_BLOCK;
    const uint8_t *end = rest > 0 ? data + (left - rest) : NULL;
    struct piece first = {lane->tail, 0};

    if (joined % CD_MD_BLOCK > 0) { /* the data ended in the joint, which is the rest */
        end = lane->joint;
        rest = joined;
    }
    first.blocks = cd_md_pad(lanes->algorithm, lane->tail, end, rest,
                             lanes->start_count + job->prefix_len + job->length);
    lane->ahead_count = 0;
    if (joined == CD_MD_BLOCK && blocks == 0) {
        first = (struct piece){lane->joint, 1 + first.blocks};
    } else {
        first = put_before(lane, first, data, blocks);
        first = put_before(lane, first, lane->joint, joined / CD_MD_BLOCK);
    }
    lane->now = put_before(lane, first, job->prefix, job->prefix_len / CD_MD_BLOCK);
}

static void lane_start(struct lanes *lanes, struct lane *lane, const struct cd_md_lane_job *job) {
    lane->job = job;
    lane->is_outer = false;
    if (job->prefix_len == 0) {
        start_plain(lanes, lane);
    } else {
        start_prefixed(lanes, lane);
    }
    words_set(lanes, lane, lanes->start);
}

/* From the end of the inner hash to the outer one: RFC 2104 section 2. */
static void lane_start_outer(struct lanes *lanes, struct lane *lane) {
    uint8_t *block = lanes->outer[lane->index];

    cd_md_store(lanes->algorithm, block, words_get(lanes, lane));
    lane->now = (struct piece){block, 1};
    words_set(lanes, lane, lanes->key->outer);
    lane->is_outer = true;
}

/* `lane` is at the end of a piece: the next piece, or the next message; false if there is none. */
static bool lane_continue(struct lanes *lanes, struct lane *lane) {
    if (lane->ahead_count > 0) {
        lane_pop(lane);
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

        lane->now.data += blocks * CD_MD_BLOCK;
        lane->now.blocks -= blocks;
        if (lane->now.blocks == 0 && !lane_continue(lanes, lane)) {
            lanes->order[i] = lanes->order[--lanes->active];
            lanes->order[lanes->active] = lane;
        }
    }
}

static size_t shortest(const struct lanes *lanes, size_t count) {
    size_t blocks = lanes->order[0]->now.blocks;

    for (size_t i = 1; i < count; i++) {
        blocks = lanes->order[i]->now.blocks < blocks ? lanes->order[i]->now.blocks : blocks;
    }
    return blocks;
}

/* All lanes; those that have ended do what another does, for nothing. */
static void wide_step(struct lanes *lanes) {
    size_t blocks = shortest(lanes, lanes->active);

    for (size_t i = 0; i < CD_MD_WIDE; i++) {
        struct lane *lane = lanes->order[i];

        lanes->wide.data[lane->index] =
            i < lanes->active ? lane->now.data : lanes->order[0]->now.data;
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
        algorithm->blocks(a->words, a->now.data, blocks);
    } else if (count == 2) {
        algorithm->blocks_x2(a->words, a->now.data, b->words, b->now.data, blocks);
    } else {
        algorithm->blocks_x3(a->words, a->now.data, b->words, b->now.data, c->words, c->now.data,
                             blocks);
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

/* Pad the first `count` blocks of outer hashes. */
static void pad_outer(struct lanes *lanes, size_t count) {
    static const uint8_t digest[CD_MD_DIGEST_MAX];
    uint32_t digest_size = lanes->algorithm->digest_size;
    uint8_t padded[CD_MD_TAIL_MAX];

    (void)cd_md_pad(lanes->algorithm, padded, digest, digest_size, CD_MD_BLOCK + digest_size);
    for (size_t i = 0; i < count; i++) {
        memcpy(lanes->outer[i], padded, CD_MD_BLOCK);
    }
}

/* Start the first `used` messages. */
static void lanes_begin(struct lanes *lanes, size_t width, const struct cd_md_lane_job *jobs,
                        size_t count, size_t used) {
    lanes->next = jobs;
    lanes->end = jobs + count;
    lanes->is_wide = width == CD_MD_WIDE && count >= lanes->algorithm->wide_from;
    lanes->narrow = width == CD_MD_WIDE ? narrow_best(lanes->algorithm) : width;
    lanes->active = used;
    if (lanes->is_wide) {
        memset(&lanes->wide, 0, sizeof lanes->wide); /* lanes that are never used count as well */
    }
    if (lanes->key != NULL) {
        pad_outer(lanes, used);
    }
    for (size_t i = 0; i < CD_MD_WIDE; i++) {
        lanes->order[i] = &lanes->lanes[i];
        lanes->lanes[i].index = i;
    }
    for (size_t i = 0; i < used; i++) {
        lane_start(lanes, &lanes->lanes[i], lanes->next++);
    }
}

static void lanes_run(struct lanes *lanes, size_t width, const struct cd_md_lane_job *jobs,
                      size_t count) {
    size_t used = count < width ? count : width;

    assert(width == NARROW || (width == CD_MD_WIDE && can_be_wide(lanes->algorithm)));
    if (count == 0) {
        return;
    }
    lanes_begin(lanes, width, jobs, count, used);
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
    if (lanes->key != NULL) {
        cd_wipe(lanes->outer, used * sizeof lanes->outer[0]);
    }
}

static void digest_alone(const struct cd_md_algorithm *algorithm,
                         const struct cd_md_lane_job *job) {
    struct cd_md_state state;

    if (job->prefix_len == 0) {
        cd_md_digest(algorithm, job->out_digest, job->data, job->length);
        return;
    }
    cd_md_init(algorithm, &state);
    cd_md_update(algorithm, &state, job->prefix, job->prefix_len);
    cd_md_update(algorithm, &state, job->data, job->length);
    cd_md_final(algorithm, &state, job->out_digest);
}

void cd_md_lanes_digest(const struct cd_md_algorithm *algorithm, size_t width,
                        const struct cd_md_lane_job *jobs, size_t count) {
    struct lanes lanes;

    if (width == 1) {
        for (size_t i = 0; i < count; i++) {
            digest_alone(algorithm, &jobs[i]);
        }
        return;
    }
    lanes.algorithm = algorithm;
    lanes.key = NULL;
    lanes.start = algorithm->initial;
    lanes.start_count = 0;
    lanes_run(&lanes, width, jobs, count);
}

static void hmac_alone(const struct cd_hmac_key *key, const struct cd_md_lane_job *job) {
    struct cd_hmac_state state;

    if (job->prefix_len == 0) {
        cd_hmac_digest(key, job->out_digest, job->data, job->length);
        return;
    }
    cd_hmac_init(key, &state);
    cd_hmac_update(key, &state, job->prefix, job->prefix_len);
    cd_hmac_update(key, &state, job->data, job->length);
    cd_hmac_final(key, &state, job->out_digest);
}

void cd_hmac_lanes_digest(const struct cd_hmac_key *key, size_t width,
                          const struct cd_md_lane_job *jobs, size_t count) {
    struct lanes lanes;

    if (width == 1) {
        for (size_t i = 0; i < count; i++) {
            hmac_alone(key, &jobs[i]);
        }
        return;
    }
    lanes.algorithm = key->algorithm;
    lanes.key = key;
    lanes.start = key->inner;
    lanes.start_count = CD_MD_BLOCK;
    lanes_run(&lanes, width, jobs, count);
}
