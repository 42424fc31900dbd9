/*
 * The scheduler of the AES-CBC lanes.
 *
 * Lanes run as far as the shortest record in them; then the ended ones take the next records.
 * Records of different lengths are taken longest first: those that start together then end nearly
 * together, steps are long, and a long record (up to 4 KiB are told apart) is not left to run alone
 * at the end. Keys of one length go in one sweep over the jobs, since lanes share the number of
 * rounds.
 */
#include "crypto/x86/aes_lanes_x86.h"

#if defined(__x86_64__)

#include <string.h>

#include "base/secure.h"
#include "crypto/x86/aes_aesni.h"

#define NARROW CD_AES_LANES_NARROW
/* Blocks per record on average from which it pays to copy keys for the wide kernel. */
#define WIDE_MIXED_FROM 12u
/* Jobs that are put in order at a time: an index is a byte. */
#define SORTED_MAX 256u
/* Lengths in blocks that are told apart: up to 4 KiB. */
#define LENGTHS 256u

/* Blocks of every lane that are copied at a time when lanes crowd a cache; and from how many on. */
#define STAGE_BLOCKS 32u
#define STAGED_FROM 16u

/* One sweep: jobs of one number of rounds. */
struct sweep {
    const struct cd_aes_lane_job *jobs;      /* or, if that is NULL: */
    const struct cd_aes_lane_packed *packed; /* its records from `first` on */
    size_t first;
    const uint8_t *order; /* of the jobs; NULL: as they are */
    size_t next, count;
    size_t width; /* lanes */
    uint32_t rounds;
    bool one_key; /* in all jobs */
};

static inline struct cd_aes_lane_job packed_job(const struct cd_aes_lane_packed *packed,
                                                size_t index) {
    int64_t start = packed->offsets[index];

    return (struct cd_aes_lane_job){
        .key = packed->key,
        .out = packed->out + start,
        .in = packed->in + start,
        .blocks = (size_t)(packed->offsets[index + 1] - start) / CD_AES_BLOCK,
        .iv = packed->ivs + index * CD_AES_BLOCK,
    };
}

static inline struct cd_aes_lane_job job_at(const struct sweep *sweep, size_t index) {
    return sweep->jobs != NULL ? sweep->jobs[index]
                               : packed_job(sweep->packed, sweep->first + index);
}

/* False if there is none any more. */
static inline bool sweep_next(struct sweep *sweep, struct cd_aes_lane_job *out_job) {
    while (sweep->next < sweep->count) {
        size_t place = sweep->next++;

        *out_job = job_at(sweep, sweep->order != NULL ? sweep->order[place] : place);
        if (out_job->blocks > 0 && out_job->key->rounds == sweep->rounds) {
            return true;
        }
    }
    return false;
}

static void pair_key_set(struct cd_aes_lanes *lanes, size_t lane) {
    const struct cd_aes_encrypt_key *key = lanes->key[lane];

    for (uint32_t i = 0; i <= key->rounds; i++) {
        memcpy(lanes->pair_keys[lane / 2][i][lane % 2], key->words + 4 * (size_t)i, CD_AES_BLOCK);
    }
}

static inline void lane_start(struct cd_aes_lanes *lanes, size_t lane,
                              const struct cd_aes_lane_job *job) {
    memcpy(lanes->chain[lane], job->iv, CD_AES_BLOCK);
    lanes->out[lane] = job->out;
    lanes->in[lane] = job->in;
    lanes->left[lane] = job->blocks;
    lanes->key[lane] = job->key;
    if (lanes->wide) {
        pair_key_set(lanes, lane);
    }
}

/* Have `lane` do what another does. */
static void lane_copy(struct cd_aes_lanes *lanes, size_t lane, size_t from) {
    memcpy(lanes->chain[lane], lanes->chain[from], CD_AES_BLOCK);
    lanes->out[lane] = lanes->out[from];
    lanes->in[lane] = lanes->in[from];
    lanes->left[lane] = lanes->left[from];
    lanes->key[lane] = lanes->key[from];
    if (lanes->wide) {
        pair_key_set(lanes, lane);
    }
}

/* Whether lanes are faster than one record after the other, which a CPU that looks ahead overlaps
 * too if they are short. Measured on Ice Lake: lanes gain from 5 records of 4 blocks and from 3 of
 * 16 blocks on, and 0.5 to 1.1 with two. */
static bool lanes_pay(const struct cd_aes_lanes *lanes) {
    size_t blocks = 0;

    if (lanes->active > 4) {
        return true;
    }
    for (size_t i = 0; i < lanes->active; i++) {
        blocks += lanes->left[i] < 32 ? lanes->left[i] : 32;
    }
    return lanes->active > 2 && blocks >= 32;
}

static inline size_t shortest(const struct cd_aes_lanes *lanes) {
    size_t blocks = lanes->left[0];

    for (size_t i = 1; i < lanes->active; i++) {
        blocks = lanes->left[i] < blocks ? lanes->left[i] : blocks;
    }
    return blocks;
}

/* The first `width` lanes are `blocks` further; ended ones take the next records, or close up.
 * Downwards, so that a lane that moves down is up to date. */
static void lanes_advance(struct cd_aes_lanes *lanes, struct sweep *sweep, size_t width,
                          size_t blocks) {
    for (size_t i = 0; i < width; i++) {
        lanes->left[i] -= blocks;
        lanes->in[i] += blocks * CD_AES_BLOCK;
        lanes->out[i] += blocks * CD_AES_BLOCK;
    }
    for (size_t i = lanes->active; i-- > 0;) {
        struct cd_aes_lane_job job;

        if (lanes->left[i] > 0) {
            continue;
        }
        if (sweep_next(sweep, &job)) {
            lane_start(lanes, i, &job);
        } else if (i != --lanes->active) {
            lane_copy(lanes, i, lanes->active);
        }
    }
}

static void run_kernel(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       const struct sweep *sweep, size_t width, size_t blocks) {
    cd_aes_lanes_kernel *kernel;

    if (width == NARROW) {
        kernel = sweep->one_key ? cd_aes_lanes_same_aesni : cd_aes_lanes_mixed_aesni;
    } else {
        kernel = sweep->one_key ? kernels->wide_same : kernels->wide_mixed;
    }
    kernel(lanes, sweep->rounds, blocks);
}

/* Whether the lanes' places share few sets of a first-level cache (64 of 64 bytes each): texts that
 * lie whole pages apart. They would drive each other out. */
static bool is_crowded(const struct cd_aes_lanes *lanes, size_t width) {
    uint64_t sets = 0;

    for (size_t i = 0; i < width; i++) {
        sets |= UINT64_C(1) << ((uintptr_t)lanes->in[i] / 64 % 64);
        sets |= UINT64_C(1) << ((uintptr_t)lanes->out[i] / 64 % 64);
    }
    sets &= sets - 1; /* without its lowest bit, twice: three and more are enough */
    return (sets & (sets - 1)) == 0;
}

/* Texts of all lanes a little way, at places that do not share sets. */
struct stage {
    uint8_t text[CD_AES_LANES_MAX][STAGE_BLOCKS * CD_AES_BLOCK + 64];
};

/* run_kernel by way of a copy, which is faster than a crowd (aes lanes, 4096-byte records on Ice
 * Lake: 1.6 to 2 times). The text in it is encrypted in place, so no plaintext stays behind. */
static void run_staged(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       const struct sweep *sweep, size_t width, size_t blocks) {
    struct stage stage;
    const uint8_t *in[CD_AES_LANES_MAX];
    uint8_t *out[CD_AES_LANES_MAX];

    for (size_t i = 0; i < width; i++) {
        memcpy(stage.text[i], lanes->in[i], blocks * CD_AES_BLOCK);
        in[i] = lanes->in[i];
        out[i] = lanes->out[i];
        lanes->in[i] = lanes->out[i] = stage.text[i];
    }
    run_kernel(kernels, lanes, sweep, width, blocks);
    for (size_t i = 0; i < width; i++) {
        lanes->in[i] = in[i];
        lanes->out[i] = out[i];
        memcpy(out[i], stage.text[i], blocks * CD_AES_BLOCK);
    }
}

/* Run `width` lanes `most` blocks on, or less; returns how many. */
static size_t run_some(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       const struct sweep *sweep, size_t width, size_t most) {
    if (most < STAGED_FROM || !is_crowded(lanes, width)) {
        run_kernel(kernels, lanes, sweep, width, most);
        return most;
    }
    most = most < STAGE_BLOCKS ? most : STAGE_BLOCKS;
    run_staged(kernels, lanes, sweep, width, most);
    return most;
}

static void lanes_step(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       struct sweep *sweep) {
    size_t width = lanes->active > NARROW ? sweep->width : NARROW;
    size_t blocks;

    if (width == NARROW) {
        lanes->wide = false; /* it does not come back: records only get fewer */
    }
    for (size_t i = lanes->active; i < width; i++) {
        lane_copy(lanes, i, 0);
    }
    blocks = run_some(kernels, lanes, sweep, width, shortest(lanes));
    lanes_advance(lanes, sweep, width, blocks);
}

static void sweep_run(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                      struct sweep *sweep) {
    struct cd_aes_lane_job job;

    lanes->active = 0;
    lanes->wide = sweep->width > NARROW && !sweep->one_key;
    while (lanes->active < sweep->width && sweep_next(sweep, &job)) {
        lane_start(lanes, lanes->active++, &job);
    }
    while (lanes_pay(lanes)) {
        lanes_step(kernels, lanes, sweep);
    }
    for (size_t i = 0; i < lanes->active; i++) {
        cd_aes_cbc_encrypt_aesni(lanes->key[i], lanes->out[i], lanes->in[i], lanes->left[i],
                                 lanes->chain[i]);
    }
}

static inline size_t length_class(size_t blocks) {
    return blocks < LENGTHS ? LENGTHS - 1 - blocks : 0;
}

/* The longest jobs first; LENGTHS blocks and more count as equal. A counting sort. */
static void order_by_length(uint8_t *out_order, const struct sweep *sweep) {
    uint16_t places[LENGTHS] = {0};
    uint16_t place = 0;

    for (size_t i = 0; i < sweep->count; i++) {
        places[length_class(job_at(sweep, i).blocks)]++;
    }
    for (size_t i = 0; i < LENGTHS; i++) {
        uint16_t number = places[i];

        places[i] = place;
        place = (uint16_t)(place + number);
    }
    for (size_t i = 0; i < sweep->count; i++) {
        out_order[places[length_class(job_at(sweep, i).blocks)]++] = (uint8_t)i;
    }
}

/* Put the jobs of a sweep in order unless all are of one length. */
static void sweep_sort(struct sweep *sweep, uint8_t order[SORTED_MAX]) {
    size_t blocks = job_at(sweep, 0).blocks;

    for (size_t i = 1; i < sweep->count; i++) {
        if (job_at(sweep, i).blocks != blocks) {
            order_by_length(order, sweep);
            sweep->order = order;
            return;
        }
    }
}

/* Run what is in all lanes, a record of `blocks` blocks in each. */
static void run_row(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                    const struct sweep *sweep, size_t blocks) {
    while (blocks > 0) {
        size_t step = run_some(kernels, lanes, sweep, sweep->width, blocks);

        for (size_t i = 0; i < sweep->width; i++) {
            lanes->in[i] += step * CD_AES_BLOCK;
            lanes->out[i] += step * CD_AES_BLOCK;
        }
        blocks -= step;
    }
}

/* Jobs of one length and key, as many as fill all lanes some times: no lane is looked at by itself.
 * Returns how many jobs that were. */
static size_t run_uniform_jobs(const struct cd_aes_lanes_kernels *kernels,
                               struct cd_aes_lanes *lanes, const struct sweep *sweep) {
    size_t blocks = sweep->jobs[0].blocks, done = 0;

    for (size_t i = 0; i < sweep->width; i++) {
        lanes->key[i] = sweep->jobs[0].key;
    }
    for (; done + sweep->width <= sweep->count; done += sweep->width) {
        for (size_t i = 0; i < sweep->width; i++) {
            const struct cd_aes_lane_job *job = &sweep->jobs[done + i];

            memcpy(lanes->chain[i], job->iv, CD_AES_BLOCK);
            lanes->in[i] = job->in;
            lanes->out[i] = job->out;
        }
        run_row(kernels, lanes, sweep, blocks);
    }
    return done;
}

/* Up to SORTED_MAX jobs. */
static void run_jobs(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                     const struct cd_aes_lane_job *jobs, size_t count) {
    uint8_t order[SORTED_MAX];
    struct sweep sweep = {.jobs = jobs, .count = count, .width = kernels->width, .one_key = true};
    uint32_t seen = 0; /* bit n: a key of n rounds */
    size_t blocks = 0, done = 0;

    for (size_t i = 0; i < count; i++) {
        sweep.one_key = sweep.one_key && jobs[i].key == jobs[0].key;
        seen |= UINT32_C(1) << jobs[i].key->rounds;
        blocks += jobs[i].blocks;
    }
    sweep_sort(&sweep, order);
    if (sweep.one_key && sweep.order == NULL && blocks > 0) {
        sweep.rounds = jobs[0].key->rounds;
        done = run_uniform_jobs(kernels, lanes, &sweep);
    }
    if (!sweep.one_key && blocks / count < WIDE_MIXED_FROM) {
        sweep.width = NARROW;
    }
    for (sweep.rounds = 10; sweep.rounds <= 14; sweep.rounds += 2) {
        if ((seen >> sweep.rounds & 1) != 0) {
            sweep.next = done;
            sweep_run(kernels, lanes, &sweep);
        }
    }
    if (!sweep.one_key && sweep.width > NARROW) {
        cd_wipe(lanes->pair_keys, sizeof lanes->pair_keys);
    }
}

void cd_aes_lanes_run(const struct cd_aes_lanes_kernels *kernels,
                      const struct cd_aes_lane_job *jobs, size_t count) {
    struct cd_aes_lanes lanes;

    lanes.wide = false;
    while (count > 0) {
        size_t now = count < SORTED_MAX ? count : SORTED_MAX;

        run_jobs(kernels, &lanes, jobs, now);
        jobs += now;
        count -= now;
    }
}

/* ---- packed ---- */

/* How many records from `first` on have its length. */
static size_t uniform_count(const struct cd_aes_lane_packed *packed, size_t first) {
    const int64_t *offsets = packed->offsets + first;
    int64_t length = offsets[1] - offsets[0];
    size_t count = 1, most = packed->count - first;

    while (count < most && offsets[count + 1] - offsets[count] == length) {
        count++;
    }
    return count;
}

/* Run the next row of packed records of `blocks` blocks, from `start` on one behind the other. */
static void run_packed_row(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                           const struct cd_aes_lane_packed *packed, const struct sweep *sweep,
                           int64_t start, size_t blocks) {
    for (size_t i = 0; i < sweep->width; i++) {
        lanes->in[i] = packed->in + start + i * blocks * CD_AES_BLOCK;
        lanes->out[i] = packed->out + start + i * blocks * CD_AES_BLOCK;
    }
    run_row(kernels, lanes, sweep, blocks);
}

/* As run_uniform_jobs. */
static size_t run_uniform_packed(const struct cd_aes_lanes_kernels *kernels,
                                 struct cd_aes_lanes *lanes,
                                 const struct cd_aes_lane_packed *packed, size_t first,
                                 size_t count) {
    struct sweep sweep = {.width = kernels->width, .rounds = packed->key->rounds, .one_key = true};
    size_t blocks = packed_job(packed, first).blocks, done = 0;

    for (size_t i = 0; i < sweep.width; i++) {
        lanes->key[i] = packed->key;
    }
    for (; done + sweep.width <= count; done += sweep.width) {
        memcpy(lanes->chain, packed->ivs + (first + done) * CD_AES_BLOCK,
               sweep.width * CD_AES_BLOCK);
        run_packed_row(kernels, lanes, packed, &sweep, packed->offsets[first + done], blocks);
    }
    return done;
}

/* Up to SORTED_MAX records. */
static void run_packed(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       const struct cd_aes_lane_packed *packed, size_t first, size_t count) {
    uint8_t order[SORTED_MAX];
    struct sweep sweep = {
        .packed = packed,
        .first = first,
        .count = count,
        .width = kernels->width,
        .rounds = packed->key->rounds,
        .one_key = true,
    };

    sweep_sort(&sweep, order);
    sweep_run(kernels, lanes, &sweep);
}

void cd_aes_lanes_run_packed(const struct cd_aes_lanes_kernels *kernels,
                             const struct cd_aes_lane_packed *packed) {
    struct cd_aes_lanes lanes;
    size_t done = 0;

    lanes.wide = false;
    while (done < packed->count) {
        size_t count;

        done += run_uniform_packed(kernels, &lanes, packed, done, uniform_count(packed, done));
        count = packed->count - done < SORTED_MAX ? packed->count - done : SORTED_MAX;
        if (count > 0) {
            run_packed(kernels, &lanes, packed, done, count);
            done += count;
        }
    }
}

#endif
