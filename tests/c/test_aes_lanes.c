/* crypto/aes_lanes.h: every backend against the portable AES, record by record. */
#include "crypto/aes_lanes.h"
#include "test_guard.h"
#include "test_kernel.h"
#include "test_support.h"

#define RECORDS 80u
#define BLOCKS_MAX 120u
#define KEYS 7u
#define GAP 48u /* bytes between the outputs of two records */
#define STRIDE (BLOCKS_MAX * 16 + GAP)

static const struct cd_aes_lane_functions *backends[3];
static size_t backend_count;

/* One batch, and what must come out. Records lie apart, so that one that grows over its end shows.
 */
static struct cd_aes_lane_job jobs[RECORDS];
static uint8_t in[RECORDS * STRIDE], out[RECORDS * STRIDE], expected[RECORDS * STRIDE];
static uint8_t ivs[RECORDS][16];
static struct cd_aes_encrypt_key keys[KEYS], portable_keys[KEYS];

static void set_up(void) {
    backends[backend_count++] = &cd_aes_lanes_portable;
    if (test_can_run("lanes ni", cd_aes_lanes_aesni.cpu)) {
        backends[backend_count++] = &cd_aes_lanes_aesni;
    }
    if (test_can_run("lanes vaes", cd_aes_lanes_vaes.cpu)) {
        backends[backend_count++] = &cd_aes_lanes_vaes;
    }
    test_fill_random(in, sizeof in);
}

/* key_len 0: of all lengths. */
static void prepare_keys(const struct cd_aes_lane_functions *lanes, size_t key_len) {
    for (size_t i = 0; i < KEYS; i++) {
        size_t length = key_len != 0 ? key_len : 16 + 8 * (i % 3);
        uint8_t bytes[32];

        test_fill_random(bytes, sizeof bytes);
        lanes->aes->prepare_encrypt(&keys[i], bytes, length);
        cd_aes_portable.prepare_encrypt(&portable_keys[i], bytes, length);
    }
}

/* Fill in one job; `shift` moves its texts off alignment. */
static void set_job(size_t index, size_t key, size_t blocks, size_t shift, bool in_place) {
    struct cd_aes_lane_job *job = &jobs[index];
    size_t start = index * STRIDE + shift;
    uint8_t iv[16];

    job->key = &keys[key];
    job->out = out + start;
    job->in = in_place ? out + start : in + start;
    job->blocks = blocks;
    test_fill_random(ivs[index], 16);
    job->iv = ivs[index];
    if (in_place) {
        memcpy(out + start, in + start, blocks * 16);
    }
    memcpy(iv, ivs[index], 16);
    cd_aes_portable.cbc_encrypt(&portable_keys[key], expected + start, in + start, blocks, iv);
}

static void clear(void) {
    memset(out, 0xa5, sizeof out);
    memset(expected, 0xa5, sizeof expected);
}

static void run_and_check(const struct cd_aes_lane_functions *lanes, size_t count) {
    uint8_t ivs_before[RECORDS][16];

    memcpy(ivs_before, ivs, sizeof ivs);
    lanes->cbc_encrypt(jobs, count);
    CHECK_BYTES(out, expected, sizeof out);
    CHECK_BYTES(ivs, ivs_before, sizeof ivs);
}

static void every_count_of_equal_records(void) {
    static const size_t lengths[] = {1, 2, 4, 16, 33, 89};

    for (size_t b = 0; b < backend_count; b++) {
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            for (size_t count = 0; count <= 40; count++) {
                prepare_keys(backends[b], 16 + 8 * (count % 3));
                clear();
                for (size_t i = 0; i < count; i++) {
                    set_job(i, 0, lengths[l], 0, false);
                }
                run_and_check(backends[b], count);
            }
        }
    }
}

/* Every length in blocks up to 1024 bytes and over, in one batch of each kind. */
static void every_length(void) {
    for (size_t b = 0; b < backend_count; b++) {
        for (size_t mixed = 0; mixed < 3; mixed++) {
            prepare_keys(backends[b], mixed == 2 ? 0 : 32);
            clear();
            for (size_t i = 0; i < RECORDS; i++) {
                set_job(i, mixed == 0 ? 3 : i % KEYS, i, i % 16, i % 2 == 0);
            }
            run_and_check(backends[b], RECORDS);
        }
    }
}

/* R085: a batch that writes lane 0's output to lane 1. As many jobs as lanes and twice that, all
 * different; every output is where it belongs and only there. */
static void lanes_never_swap(void) {
    for (size_t b = 0; b < backend_count; b++) {
        for (size_t count = 8; count <= 32; count *= 2) {
            for (size_t length = 1; length <= 40; length += 3) {
                prepare_keys(backends[b], 16);
                clear();
                for (size_t i = 0; i < count; i++) {
                    set_job(i, i % KEYS, length, 0, false);
                }
                run_and_check(backends[b], count);
                for (size_t i = 1; i < count; i++) {
                    CHECK(memcmp(jobs[i].out, jobs[i - 1].out, 16) != 0);
                }
            }
        }
    }
}

static void random_batches(void) {
    for (size_t round = 0; round < 400 * backend_count; round++) {
        const struct cd_aes_lane_functions *lanes = backends[round % backend_count];
        size_t count = 1 + test_random(RECORDS);
        uint32_t longest = 1 + test_random(round % 3 == 0 ? BLOCKS_MAX : 12);
        uint32_t used_keys = round % 2 == 0 ? 1 : KEYS;

        prepare_keys(lanes, round % 5 == 0 ? 0 : 16 + 8 * (round % 3));
        clear();
        for (size_t i = 0; i < count; i++) {
            set_job(i, test_random(used_keys), test_random(longest + 1), test_random(16),
                    test_random(2) == 0);
        }
        run_and_check(lanes, count);
    }
}

/* A very long record among short ones, first, last and in between. */
static void one_long_record(void) {
    static const size_t places[] = {0, 5, 18, 19};

    for (size_t round = 0; round < 4 * backend_count; round++) {
        const struct cd_aes_lane_functions *lanes = backends[round / 4];

        prepare_keys(lanes, 24);
        clear();
        for (size_t i = 0; i < 20; i++) {
            set_job(i, i % 2, i == places[round % 4] ? BLOCKS_MAX : 1 + i % 3, 0, true);
        }
        run_and_check(lanes, 20);
    }
}

/* Jobs are put in order by the hundred; all of many are done, each once. */
static void many_jobs(void) {
    static struct cd_aes_lane_job many[700];

    for (size_t b = 0; b < backend_count; b++) {
        for (size_t kind = 0; kind < 3; kind++) {
            size_t place = 0;

            prepare_keys(backends[b], kind == 2 ? 0 : 16);
            clear();
            for (size_t i = 0; i < 700; i++) {
                size_t key = kind == 0 ? 0 : i % KEYS, blocks = kind == 0 ? 3 : i * 5 % 14;
                uint8_t iv[16];

                memcpy(iv, ivs[i % RECORDS], 16);
                many[i] = (struct cd_aes_lane_job){&keys[key], out + place, in + place, blocks,
                                                   ivs[i % RECORDS]};
                cd_aes_portable.cbc_encrypt(&portable_keys[key], expected + place, in + place,
                                            blocks, iv);
                place += 16 * blocks;
            }
            CHECK(place <= sizeof out);
            backends[b]->cbc_encrypt(many, 700);
            CHECK_BYTES(out, expected, sizeof out);
        }
    }
}

/* The text may be shared: only outputs are a job's own. */
static void shared_text(void) {
    for (size_t b = 0; b < backend_count; b++) {
        prepare_keys(backends[b], 16);
        clear();
        for (size_t i = 0; i < 33; i++) {
            uint8_t iv[16];

            set_job(i, i % KEYS, 10, 0, false);
            memcpy(iv, ivs[i], 16);
            cd_aes_portable.cbc_encrypt(&portable_keys[i % KEYS], expected + i * STRIDE, in, 10,
                                        iv);
            jobs[i].in = in;
        }
        run_and_check(backends[b], 33);
    }
}

static void records_without_blocks_are_left_alone(void) {
    for (size_t b = 0; b < backend_count; b++) {
        prepare_keys(backends[b], 16);
        clear();
        for (size_t i = 0; i < 30; i++) {
            set_job(i, 0, i % 4 == 1 ? 5 : 0, 0, false);
            if (i % 4 != 1) {
                jobs[i].in = NULL;
                jobs[i].out = NULL;
            }
        }
        run_and_check(backends[b], 30);
        backends[b]->cbc_encrypt(NULL, 0);
    }
}

/* No record is read or written over its ends: each in turn lies at a forbidden page. */
static void guard_pages_are_not_touched(void) {
    struct test_guard guard_in, guard_out;

    test_guard_init(&guard_in);
    test_guard_init(&guard_out);
    for (size_t round = 0; round < 20 * 2 * backend_count; round++) {
        const struct cd_aes_lane_functions *lanes = backends[round / 40];
        size_t guarded = round / 2 % 20, length = 16 * (1 + guarded % 9);
        bool at_end = round % 2 == 0;

        prepare_keys(lanes, 16);
        clear();
        for (size_t i = 0; i < 20; i++) {
            set_job(i, 0, 1 + i % 9, 0, false);
        }
        jobs[guarded].in = at_end ? test_guard_end(&guard_in, length) : test_guard_begin(&guard_in);
        jobs[guarded].out =
            at_end ? test_guard_end(&guard_out, length) : test_guard_begin(&guard_out);
        memcpy(at_end ? test_guard_end(&guard_in, length) : test_guard_begin(&guard_in),
               in + guarded * STRIDE, length);
        lanes->cbc_encrypt(jobs, 20);
        CHECK_BYTES(jobs[guarded].out, expected + guarded * STRIDE, length);
    }
    test_guard_cleanup(&guard_in);
    test_guard_cleanup(&guard_out);
}

/* The last block of a piece is the IV of the next one. */
static void pieces_equal_the_whole(void) {
    for (size_t b = 0; b < backend_count; b++) {
        prepare_keys(backends[b], 0);
        clear();
        for (size_t i = 0; i < 30; i++) {
            set_job(i, i % KEYS, 90, 0, false);
            jobs[i].blocks = i;
        }
        backends[b]->cbc_encrypt(jobs, 30);
        for (size_t i = 0; i < 30; i++) {
            jobs[i].in += i * 16;
            jobs[i].out += i * 16;
            jobs[i].blocks = 90 - i;
            jobs[i].iv = i > 0 ? jobs[i].out - 16 : ivs[i];
        }
        run_and_check(backends[b], 30);
    }
}

static void upper_register_halves_are_left_clean(void) {
    if (!test_can_run("upper register halves", cd_aes_vaes.cpu) || !test_upper_works()) {
        printf("skipped: this CPU does not tell whether upper register halves are in use\n");
        return;
    }
    for (size_t count = 0; count <= 40; count++) {
        prepare_keys(&cd_aes_lanes_vaes, 16);
        for (size_t i = 0; i < count; i++) {
            set_job(i, i * (count % 2) % KEYS, 1 + i % 20 + count, 0, false);
        }
        test_upper_clean();
        cd_aes_lanes_vaes.cbc_encrypt(jobs, count);
        CHECK(!test_upper_in_use());
    }
}

static bool best_fits(uint32_t mask) {
    const struct cd_aes_lane_functions *best = cd_aes_lanes_best();
    bool can_vaes = (mask & CD_AES_VAES_CPU) == CD_AES_VAES_CPU;
    bool can_ni = (mask & CD_AES_AESNI_CPU) == CD_AES_AESNI_CPU;

    CHECK(best == (can_vaes ? &cd_aes_lanes_vaes
                   : can_ni ? &cd_aes_lanes_aesni
                            : &cd_aes_lanes_portable));
    CHECK(best->aes == cd_aes_best() && best->cpu == best->aes->cpu);
    CHECK(strcmp(best->name, best->aes->name) == 0);
    CHECK_EQ(best->lanes, can_vaes ? 16 : can_ni ? 8 : 1);
    prepare_keys(best, 16);
    clear();
    for (size_t i = 0; i < 40; i++) {
        set_job(i, i % KEYS, 1 + i, 0, false);
    }
    run_and_check(best, 40);
    return !test_state.current_failed;
}

static void best_follows_every_subset_of_cpu_features(void) {
    CHECK_EQ(test_feature_subsets(CD_AES_VAES_CPU | CD_CPU_SHANI | CD_CPU_AVX512, best_fits), 0);
}

int main(void) {
    set_up();
    RUN(every_count_of_equal_records);
    RUN(every_length);
    RUN(lanes_never_swap);
    RUN(random_batches);
    RUN(one_long_record);
    RUN(many_jobs);
    RUN(shared_text);
    RUN(records_without_blocks_are_left_alone);
    RUN(guard_pages_are_not_touched);
    RUN(pieces_equal_the_whole);
    RUN(upper_register_halves_are_left_clean);
    RUN(best_follows_every_subset_of_cpu_features);
    return test_end();
}
