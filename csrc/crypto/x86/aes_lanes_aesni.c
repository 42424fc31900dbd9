/*
 * AES-CBC encryption of many records, eight at once with the AES-NI instructions.
 *
 * The lanes run as far as the shortest record in them; then the ended ones take the next records.
 * Keys of one length go in one sweep over the jobs, since lanes share the number of rounds. With
 * one key for all lanes a round key is loaded once per round; with several it comes from memory per
 * lane and round, which the two load ports just sustain.
 */
#include "crypto/x86/aes_lanes_x86.h"

#if defined(__x86_64__)

#include <string.h>

#include "base/secure.h"
#include "base/target.h"
#include "crypto/x86/aes_aesni.h"
#include "crypto/x86/aes_aesni_vectors.h"

#define KERNEL CD_TARGET("aes,ssse3")
#define INLINE CD_ALWAYS_INLINE KERNEL

#define NARROW CD_AESNI_LANES
/* Blocks per record on average from which it pays to copy keys for the wide kernel. */
#define WIDE_MIXED_FROM 12u

/* ---- kernels ---- */

INLINE struct cd_aesni_four chain_load(const struct cd_aes_lanes *lanes, size_t first) {
    return (struct cd_aesni_four){
        cd_aesni_load(lanes->chain[first]), cd_aesni_load(lanes->chain[first + 1]),
        cd_aesni_load(lanes->chain[first + 2]), cd_aesni_load(lanes->chain[first + 3])};
}

INLINE void chain_store(struct cd_aes_lanes *lanes, size_t first, struct cd_aesni_four x) {
    cd_aesni_store(lanes->chain[first], x.a);
    cd_aesni_store(lanes->chain[first + 1], x.b);
    cd_aesni_store(lanes->chain[first + 2], x.c);
    cd_aesni_store(lanes->chain[first + 3], x.d);
}

INLINE struct cd_aesni_four text_load(const struct cd_aes_lanes *lanes, size_t first,
                                      size_t offset) {
    return (struct cd_aesni_four){
        cd_aesni_load(lanes->in[first] + offset), cd_aesni_load(lanes->in[first + 1] + offset),
        cd_aesni_load(lanes->in[first + 2] + offset), cd_aesni_load(lanes->in[first + 3] + offset)};
}

INLINE void text_store(const struct cd_aes_lanes *lanes, size_t first, size_t offset,
                       struct cd_aesni_four x) {
    cd_aesni_store(lanes->out[first] + offset, x.a);
    cd_aesni_store(lanes->out[first + 1] + offset, x.b);
    cd_aesni_store(lanes->out[first + 2] + offset, x.c);
    cd_aesni_store(lanes->out[first + 3] + offset, x.d);
}

KERNEL static void narrow_same(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    struct cd_aesni_schedule schedule = {(const __m128i *)(const void *)lanes->key[0]->words,
                                         rounds};
    struct cd_aesni_eight x = {chain_load(lanes, 0), chain_load(lanes, 4)};

    for (size_t offset = 0; offset < blocks * CD_AES_BLOCK; offset += CD_AES_BLOCK) {
        x.low = cd_aesni_four_xor(x.low, text_load(lanes, 0, offset));
        x.high = cd_aesni_four_xor(x.high, text_load(lanes, 4, offset));
        x = cd_aesni_encrypt_eight(schedule, x);
        text_store(lanes, 0, offset, x.low);
        text_store(lanes, 4, offset, x.high);
    }
    chain_store(lanes, 0, x.low);
    chain_store(lanes, 4, x.high);
}

INLINE __m128i lane_key(const struct cd_aes_lanes *lanes, size_t lane, uint32_t round) {
    return ((const __m128i *)(const void *)lanes->key[lane]->words)[round];
}

/* One round's keys of four lanes. */
INLINE struct cd_aesni_four lane_keys(const struct cd_aes_lanes *lanes, size_t first,
                                      uint32_t round) {
    return (struct cd_aesni_four){lane_key(lanes, first, round), lane_key(lanes, first + 1, round),
                                  lane_key(lanes, first + 2, round),
                                  lane_key(lanes, first + 3, round)};
}

INLINE struct cd_aesni_four enc_keys(struct cd_aesni_four x, struct cd_aesni_four keys) {
    return (struct cd_aesni_four){_mm_aesenc_si128(x.a, keys.a), _mm_aesenc_si128(x.b, keys.b),
                                  _mm_aesenc_si128(x.c, keys.c), _mm_aesenc_si128(x.d, keys.d)};
}

INLINE struct cd_aesni_four enc_last_keys(struct cd_aesni_four x, struct cd_aesni_four keys) {
    return (struct cd_aesni_four){
        _mm_aesenclast_si128(x.a, keys.a), _mm_aesenclast_si128(x.b, keys.b),
        _mm_aesenclast_si128(x.c, keys.c), _mm_aesenclast_si128(x.d, keys.d)};
}

KERNEL static void narrow_mixed(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks) {
    struct cd_aesni_four low = chain_load(lanes, 0), high = chain_load(lanes, 4);

    for (size_t offset = 0; offset < blocks * CD_AES_BLOCK; offset += CD_AES_BLOCK) {
        low = cd_aesni_four_xor(low, text_load(lanes, 0, offset));
        high = cd_aesni_four_xor(high, text_load(lanes, 4, offset));
        low = cd_aesni_four_xor(low, lane_keys(lanes, 0, 0));
        high = cd_aesni_four_xor(high, lane_keys(lanes, 4, 0));
        for (uint32_t i = 1; i < rounds; i++) {
            low = enc_keys(low, lane_keys(lanes, 0, i));
            high = enc_keys(high, lane_keys(lanes, 4, i));
        }
        low = enc_last_keys(low, lane_keys(lanes, 0, rounds));
        high = enc_last_keys(high, lane_keys(lanes, 4, rounds));
        text_store(lanes, 0, offset, low);
        text_store(lanes, 4, offset, high);
    }
    chain_store(lanes, 0, low);
    chain_store(lanes, 4, high);
}

/* ---- the scheduler ---- */

/* One sweep: jobs of one number of rounds. */
struct sweep {
    struct cd_aes_lane_job *next, *end;
    size_t width; /* lanes */
    uint32_t rounds;
    bool one_key; /* in all jobs */
};

static struct cd_aes_lane_job *sweep_next(struct sweep *sweep) {
    while (sweep->next < sweep->end) {
        struct cd_aes_lane_job *job = sweep->next++;

        if (job->blocks > 0 && job->key->rounds == sweep->rounds) {
            return job;
        }
    }
    return NULL;
}

static void pair_key_set(struct cd_aes_lanes *lanes, size_t lane) {
    const struct cd_aes_encrypt_key *key = lanes->key[lane];

    for (uint32_t i = 0; i <= key->rounds; i++) {
        memcpy(lanes->pair_keys[lane / 2][i][lane % 2], key->words + 4 * (size_t)i, CD_AES_BLOCK);
    }
}

static void lane_start(struct cd_aes_lanes *lanes, size_t lane, struct cd_aes_lane_job *job) {
    memcpy(lanes->chain[lane], job->iv, CD_AES_BLOCK);
    lanes->out[lane] = job->out;
    lanes->in[lane] = job->in;
    lanes->left[lane] = job->blocks;
    lanes->job[lane] = job;
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
    lanes->job[lane] = lanes->job[from];
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

static size_t shortest(const struct cd_aes_lanes *lanes) {
    size_t blocks = lanes->left[0];

    for (size_t i = 1; i < lanes->active; i++) {
        blocks = lanes->left[i] < blocks ? lanes->left[i] : blocks;
    }
    return blocks;
}

/* All active lanes are `blocks` further; ended ones take the next records, or close up. Downwards,
 * so that a lane that moves down is up to date. */
static void lanes_advance(struct cd_aes_lanes *lanes, struct sweep *sweep, size_t blocks) {
    for (size_t i = lanes->active; i-- > 0;) {
        struct cd_aes_lane_job *job;

        lanes->left[i] -= blocks;
        if (lanes->left[i] > 0) {
            lanes->in[i] += blocks * CD_AES_BLOCK;
            lanes->out[i] += blocks * CD_AES_BLOCK;
            continue;
        }
        memcpy(lanes->job[i]->iv, lanes->chain[i], CD_AES_BLOCK);
        job = sweep_next(sweep);
        if (job != NULL) {
            lane_start(lanes, i, job);
        } else if (i != --lanes->active) {
            lane_copy(lanes, i, lanes->active);
        }
    }
}

static void lanes_step(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                       struct sweep *sweep) {
    size_t blocks = shortest(lanes);
    size_t width = lanes->active > NARROW ? sweep->width : NARROW;

    if (width == NARROW) {
        lanes->wide = false; /* it does not come back: records only get fewer */
    }
    for (size_t i = lanes->active; i < width; i++) {
        lane_copy(lanes, i, 0);
    }
    if (width == NARROW) {
        (sweep->one_key ? narrow_same : narrow_mixed)(lanes, sweep->rounds, blocks);
    } else {
        (sweep->one_key ? kernels->wide_same : kernels->wide_mixed)(lanes, sweep->rounds, blocks);
    }
    lanes_advance(lanes, sweep, blocks);
}

static void sweep_run(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lanes *lanes,
                      struct sweep *sweep) {
    struct cd_aes_lane_job *job;

    lanes->active = 0;
    lanes->wide = sweep->width > NARROW && !sweep->one_key;
    while (lanes->active < sweep->width && (job = sweep_next(sweep)) != NULL) {
        lane_start(lanes, lanes->active++, job);
    }
    while (lanes_pay(lanes)) {
        lanes_step(kernels, lanes, sweep);
    }
    for (size_t i = 0; i < lanes->active; i++) {
        job = lanes->job[i];
        memcpy(job->iv, lanes->chain[i], CD_AES_BLOCK);
        cd_aes_cbc_encrypt_aesni(job->key, lanes->out[i], lanes->in[i], lanes->left[i], job->iv);
    }
}

void cd_aes_lanes_run(const struct cd_aes_lanes_kernels *kernels, struct cd_aes_lane_job *jobs,
                      size_t count) {
    struct cd_aes_lanes lanes;
    struct sweep sweep = {.width = kernels->width, .one_key = true};
    uint32_t seen = 0; /* bit n: a key of n rounds */
    size_t blocks = 0;

    if (count == 0) {
        return;
    }
    sweep.end = jobs + count;
    for (size_t i = 0; i < count; i++) {
        sweep.one_key = sweep.one_key && jobs[i].key == jobs[0].key;
        seen |= UINT32_C(1) << jobs[i].key->rounds;
        blocks += jobs[i].blocks;
    }
    if (!sweep.one_key && blocks / count < WIDE_MIXED_FROM) {
        sweep.width = NARROW;
    }
    for (sweep.rounds = 10; sweep.rounds <= 14; sweep.rounds += 2) {
        if ((seen >> sweep.rounds & 1) != 0) {
            sweep.next = jobs;
            sweep_run(kernels, &lanes, &sweep);
        }
    }
    if (!sweep.one_key && sweep.width > NARROW) {
        cd_wipe(lanes.pair_keys, sizeof lanes.pair_keys);
    }
}

static void cbc_encrypt(struct cd_aes_lane_job *jobs, size_t count) {
    static const struct cd_aes_lanes_kernels kernels = {NARROW, NULL, NULL};

    cd_aes_lanes_run(&kernels, jobs, count);
}

#define AES_LANES_AESNI_FUNCTION cbc_encrypt

#else
#define AES_LANES_AESNI_FUNCTION NULL
#endif

const struct cd_aes_lane_functions cd_aes_lanes_aesni = {
    .name = "ni",
    .cpu = CD_AES_AESNI_CPU,
    .lanes = 8,
    .aes = &cd_aes_aesni,
    .cbc_encrypt = AES_LANES_AESNI_FUNCTION,
};
