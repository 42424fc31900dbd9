/* Batches of ciphers through a proxy: the same as records one by one (fallback-semantics.md
 * section 4), and the software's records side by side. */
#include "fallback_fixture.h"

#include "fake_batches.h"

#include <pthread.h>

#define RECORDS_MAX 400u
#define LENGTH_MAX 640u
#define STRIDE (LENGTH_MAX + 16u)
#define WINDOW 32u  /* requests in flight at most */
#define RUN_MIN 64u /* records of a run that does not end the batch, at least */

/* The same records twice: run as a batch, and one by one. */
enum { BATCH, SINGLES };
static struct cd_cipher_record records[2][RECORDS_MAX];
static uint8_t sources[2][RECORDS_MAX][STRIDE], destinations[2][RECORDS_MAX][STRIDE];
static uint8_t ivs[RECORDS_MAX][16];

static uint32_t random_state;
static uint32_t random_below(uint32_t bound) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* Lengths of whole blocks, some of them 0; now and then a record that no side may see. */
static void fill(size_t count, uint32_t seed) {
    for (int copy = BATCH; copy <= SINGLES; copy++) {
        random_state = seed;
        for (size_t i = 0; i < count; i++) {
            struct cd_cipher_record *record = &records[copy][i];
            uint8_t *source = sources[copy][i];
            memset(source, (int)random_below(256), STRIDE);
            memset(ivs[i], (int)random_below(256), sizeof(ivs[i]));
            *record = (struct cd_cipher_record){
                .source = source,
                .destination = random_below(2) == 0 ? source : destinations[copy][i],
                .length = (size_t)16 * random_below(LENGTH_MAX / 16 + 1),
                .iv = ivs[i],
                .status = 77,
            };
            switch (random_below(40)) {
            case 0:
                record->length += 5;
                break;
            case 1:
                record->source = NULL;
                break;
            case 2:
                record->destination = source + 1;
                break;
            default:
                break;
            }
        }
    }
}

/* What counters and fakes say. */
struct tally {
    uint64_t by_why[CD_WHY_COUNT];
    unsigned hardware, software;
};

static struct tally tally(size_t group) {
    struct tally now;
    cd_fallback_counters(fallback, group, now.by_why);
    now.hardware = fakes[group == AES ? HW_CBC : HW_DES].operations;
    now.software = fakes[group == AES ? SW_CBC : SW_DES].operations;
    return now;
}

static void check_same_steps(const struct tally *a, const struct tally *b, const struct tally *c) {
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        CHECK_EQ(b->by_why[why] - a->by_why[why], c->by_why[why] - b->by_why[why]);
    }
    CHECK_EQ(b->hardware - a->hardware, c->hardware - b->hardware);
    CHECK_EQ(b->software - a->software, c->software - b->software);
}

static size_t run_singles(struct cd_cipher *cipher, size_t count, bool decrypt) {
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        struct cd_cipher_record *record = &records[SINGLES][i];
        struct cd_cipher_request request = {
            .source = record->source, .destination = record->destination, .length = record->length};
        memcpy(request.iv, record->iv, sizeof(request.iv));
        record->status = decrypt ? cd_cipher_decrypt_wait(cipher, &request)
                                 : cd_cipher_encrypt_wait(cipher, &request);
        failed += record->status != CD_OK;
    }
    return failed;
}

/* Run filled records both ways. Where a record failed, its text is undefined. */
static void check_equal(struct cd_cipher *cipher, size_t group, size_t count, bool decrypt) {
    struct tally before = tally(group);
    size_t failed = decrypt ? cd_cipher_decrypt_records(cipher, records[BATCH], count)
                            : cd_cipher_encrypt_records(cipher, records[BATCH], count);
    struct tally between = tally(group);
    CHECK_EQ(failed, run_singles(cipher, count, decrypt));
    struct tally after = tally(group);
    check_same_steps(&before, &between, &after);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(records[BATCH][i].status, records[SINGLES][i].status);
        if (records[BATCH][i].status == CD_OK) {
            CHECK_BYTES(sources[BATCH][i], sources[SINGLES][i], STRIDE);
            CHECK_BYTES(destinations[BATCH][i], destinations[SINGLES][i], STRIDE);
        }
    }
}

/* Every threshold, both directions, batches around the window and far beyond it. */
static void check_equal_everywhere(struct cd_cipher *cipher, size_t group) {
    static const int32_t thresholds[] = {-1, 0, 1, 16, 512, 100000};
    static const size_t counts[] = {0, 1, 31, 32, 33, RECORDS_MAX};
    for (size_t t = 0; t < sizeof(thresholds) / sizeof(thresholds[0]); t++) {
        CHECK_EQ(cd_fallback_set_threshold(fallback, group, thresholds[t]), CD_OK);
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            fill(counts[c], (uint32_t)(100 * t + c));
            check_equal(cipher, group, counts[c], (t + c) % 2 == 1);
        }
    }
}

static struct cd_cipher *enable_and_make(const char *name) {
    set_up();
    fakes[SW_CBC].implementation.cipher = &fake_batch_ops;
    fakes[SW_DES].implementation.cipher = &fake_batch_ops;
    CHECK(enable());
    fake_forget_runs();
    fake_engine = &fakes[HW_CBC];
    return new_cipher(name);
}

static void free_and_tear_down(struct cd_cipher *cipher) {
    fake_engine = NULL;
    cd_cipher_free(cipher);
    tear_down();
}

static void test_equals_singles(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    CHECK(is_bound_to(cipher, "fallback(cbc(aes-dev))"));
    check_equal_everywhere(cipher, AES);
    CHECK(fake_runs > 0);
    CHECK(fakes[HW_CBC].operations > 0);
    free_and_tear_down(cipher);
}

/* Hardware whose requests are done when they return. */
static void test_synchronous_hardware(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(des)");
    CHECK(is_bound_to(cipher, "fallback(cbc(des-dev))"));
    check_equal_everywhere(cipher, DES);
    free_and_tear_down(cipher);
}

static cd_status fail_some(size_t length) {
    return length == 64 ? CD_E_TIMEOUT : length == 528 ? CD_E_DEVICE : CD_OK;
}

static bool refuse_some(size_t length) {
    return length == 48 || length == 640;
}

/* What the engine refuses at once goes to software and is counted so; what fails later, or on the
 * software, is that record's own (R059). */
static void test_failures_R059(void) {
    static const char *const names[] = {"cbc(aes)", "cbc(des)"};
    for (size_t group = AES; group <= DES; group++) {
        struct cd_cipher *cipher = enable_and_make(names[group]);
        struct fake *hardware = &fakes[group == AES ? HW_CBC : HW_DES];
        uint64_t counters[CD_WHY_COUNT];
        hardware->refuses = refuse_some;
        hardware->outcome = fail_some;
        check_equal_everywhere(cipher, group);
        cd_fallback_counters(fallback, group, counters);
        CHECK(counters[CD_WHY_UNSUPPORTED] > 0);
        fakes[group == AES ? SW_CBC : SW_DES].outcome = fail_some;
        check_equal_everywhere(cipher, group);
        hardware->gone = true;
        check_equal_everywhere(cipher, group);
        hardware->gone = false;
        free_and_tear_down(cipher);
    }
}

static void test_without_key(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    CHECK_EQ(cd_cipher_set_key(cipher, fixture_key, 15), CD_E_KEY);
    fill(40, 1);
    check_equal(cipher, AES, 40, false);
    CHECK_EQ(records[BATCH][0].status, CD_E_NO_KEY);
    free_and_tear_down(cipher);
}

/* Rules by key size, and a key that the hardware itself declines. */
static void test_key_sizes(void) {
    static const struct cd_key_rule rules[] = {
        {.key_size = 24, .cannot = true},
        {.key_size = 32, .threshold = 256},
    };
    static uint8_t key[32] = {9, 8, 7};
    struct cd_group_config group = fixture_groups[AES];
    struct cd_fallback_config config = fixture_config();
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    cd_cipher_free(cipher);
    group.rules = rules;
    group.rule_count = 2;
    cd_fallback_free(fallback);
    CHECK_EQ(cd_fallback_new(&fallback, registry, "dev", &group, 1, &config, &error), CD_OK);
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    for (size_t key_len = 16; key_len <= 32; key_len += 8) {
        CHECK_EQ(cd_cipher_set_key(cipher, key, key_len), CD_OK);
        check_equal_everywhere(cipher, AES);
    }
    fakes[HW_CBC].key_status = CD_E_UNSUPPORTED;
    CHECK_EQ(cd_cipher_set_key(cipher, key, 16), CD_OK);
    check_equal_everywhere(cipher, AES);
    cd_fallback_disable(fallback);
    check_equal_everywhere(cipher, AES);
    free_and_tear_down(cipher);
}

/* `count` records in place of `length` bytes, each `every`-th of LENGTH_MAX. */
static void fill_mixed(size_t count, size_t length, size_t every) {
    for (size_t i = 0; i < count; i++) {
        records[BATCH][i] = (struct cd_cipher_record){
            .source = sources[BATCH][i],
            .destination = sources[BATCH][i],
            .length = every > 0 && i % every == 0 ? LENGTH_MAX : length,
            .iv = ivs[i],
        };
    }
}

/* Nothing for the hardware: the software has the batch in one piece. */
static void test_one_run_if_all_is_software(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    fill_mixed(RECORDS_MAX, 64, 7);
    CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], RECORDS_MAX), 0);
    CHECK_EQ(fake_runs, 1);
    CHECK_EQ(fake_run_sizes[0], RECORDS_MAX);
    free_and_tear_down(cipher);
}

/* Whatever the mix, runs are long enough for the lanes, and the engine has work meanwhile. */
static void test_runs_fill_lanes_while_the_engine_works(void) {
    static const size_t everies[] = {2, 3, 12};
    for (size_t e = 0; e < sizeof(everies) / sizeof(everies[0]); e++) {
        struct cd_cipher *cipher = enable_and_make("cbc(aes)");
        unsigned software = 0;
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 512), CD_OK);
        fill_mixed(RECORDS_MAX, 64, everies[e]);
        CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], RECORDS_MAX), 0);
        CHECK(fake_runs > 1 && fake_runs <= FAKE_RUNS_MAX);
        for (unsigned i = 0; i < fake_runs && i < FAKE_RUNS_MAX; i++) {
            CHECK(fake_run_sizes[i] >= RUN_MIN || i + 1 == fake_runs);
            software += fake_run_sizes[i];
        }
        CHECK_EQ(software, RECORDS_MAX - (RECORDS_MAX + everies[e] - 1) / everies[e]);
        CHECK_EQ(fake_runs_overlapping, fake_runs);
        free_and_tear_down(cipher);
    }
}

static unsigned most_pending;
static bool count_pending(size_t length) {
    unsigned pending = 1; /* the one that asks */
    (void)length;
    struct cd_cipher_request *request = fakes[HW_CBC].pending;
    while (request != NULL) {
        const struct fake_private *private = (void *)request->implementation_private;
        request = private->next;
        pending++;
    }
    most_pending = pending > most_pending ? pending : most_pending;
    return false;
}

/* Many requests are in flight, and no more than there is room for. */
static void test_window(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    fakes[HW_CBC].refuses = count_pending;
    most_pending = 0;
    fill_mixed(300, 64, 0);
    CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], 300), 0);
    CHECK_EQ(most_pending, WINDOW);
    CHECK_EQ(fake_runs, 0);
    free_and_tear_down(cipher);
}

static unsigned submitted;
static bool change_at_100(size_t length) {
    (void)length;
    submitted++;
    if (submitted == 100) {
        CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    }
    return false;
}

/* The threshold is read for each record: a change is in force from the next one on. */
static void test_threshold_is_live_R049(void) {
    uint64_t counters[CD_WHY_COUNT];
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 0), CD_OK);
    fakes[HW_CBC].refuses = change_at_100;
    submitted = 0;
    fill_mixed(300, 64, 0);
    CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], 300), 0);
    cd_fallback_counters(fallback, AES, counters);
    CHECK_EQ(counters[CD_WHY_NO_THRESHOLD], 100);
    CHECK_EQ(counters[CD_WHY_ALWAYS_SOFTWARE], 200);
    CHECK_EQ(fake_runs, 1);
    CHECK_EQ(fake_run_sizes[0], 200);
    free_and_tear_down(cipher);
}

static bool free_fallback_once(size_t length) {
    (void)length;
    if (fallback != NULL) {
        cd_fallback_free(fallback); /* disables: the rest goes to the hardware */
        fallback = NULL;
    }
    return false;
}

/* A batch goes on through disable and the end of the framework, with requests in flight. */
static void test_fallback_ends_during_a_batch(void) {
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    unsigned hardware = fakes[HW_CBC].operations;
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, 512), CD_OK);
    fakes[HW_CBC].refuses = free_fallback_once;
    fill_mixed(300, 64, 2);
    records[BATCH][0].length = 512;
    CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], 300), 0);
    /* Records 0 and 1 were within the threshold, 2 was above it. */
    CHECK_EQ(fakes[HW_CBC].operations - hardware, 298);
    CHECK_EQ(fake_run_sizes[0], 2);
    free_and_tear_down(cipher);
}

/* Software that takes no batches: records are requests, in their order, as for any implementation
 * (a simulated machine's are, whose costs are per request). */
static void test_software_without_batches(void) {
    char trace[FAKE_TRACE_MAX] = "";
    struct cd_cipher *cipher;
    set_up();
    CHECK(enable());
    cipher = new_cipher("cbc(aes)");
    CHECK(cd_cipher_implementation(cipher)->cipher->records == NULL);
    check_equal_everywhere(cipher, AES);
    CHECK_EQ(cd_fallback_set_threshold(fallback, AES, -1), CD_OK);
    fill_mixed(10, 64, 0);
    clock_state.trace = trace;
    CHECK_EQ(cd_cipher_encrypt_records(cipher, records[BATCH], 10), 0);
    CHECK(strcmp(trace, "ssssssssss") == 0);
    clock_state.trace = NULL;
    free_and_tear_down(cipher);
}

#define WORKERS 3
#define BATCHES 60
#define BATCH_SIZE 97u
static _Atomic bool stop;
static _Atomic unsigned wrong;

/* Batches on a shared transform; every result is checked. */
static void *work(void *argument) {
    static _Thread_local uint8_t texts[BATCH_SIZE][STRIDE];
    static const uint8_t iv[16] = {1, 2, 3};
    struct cd_cipher_record mine[BATCH_SIZE];
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        for (size_t i = 0; i < BATCH_SIZE; i++) {
            memset(texts[i], 0x55, STRIDE);
            mine[i] =
                (struct cd_cipher_record){texts[i], texts[i], 16 + (batch + i) % 3 * 304, iv, 77};
        }
        wrong += (unsigned)cd_cipher_encrypt_records(argument, mine, BATCH_SIZE);
        for (size_t i = 0; i < BATCH_SIZE; i++) {
            for (size_t j = 0; j < STRIDE; j++) {
                size_t step = j < mine[i].length ? fixture_key[j % 16] + iv[j % 16] + j : 0;
                wrong += texts[i][j] != (uint8_t)(0x55 + step);
            }
        }
    }
    return NULL;
}

static void *reconfigure(void *argument) {
    static const int64_t thresholds[] = {0, 300, -1, 64};
    (void)argument;
    for (unsigned i = 0; !stop; i++) {
        wrong += cd_fallback_set_threshold(fallback, AES, thresholds[i % 4]) != CD_OK;
        if (i % 8 == 0) {
            cd_fallback_disable(fallback);
            wrong += cd_fallback_enable(fallback, NULL, NULL, NULL) != CD_OK;
        }
    }
    return NULL;
}

/* Thresholds rewritten, disabled and enabled again while threads run batches: all right, and each
 * record counted once. */
static void test_reconfigured_under_load_R049(void) {
    pthread_t workers[WORKERS], writer;
    uint64_t counters[CD_WHY_COUNT], sum = 0;
    struct cd_cipher *cipher = enable_and_make("cbc(aes)");
    fake_engine = NULL;
    stop = false;
    wrong = 0;
    CHECK_EQ(pthread_create(&writer, NULL, reconfigure, NULL), 0);
    for (size_t i = 0; i < WORKERS; i++) {
        CHECK_EQ(pthread_create(&workers[i], NULL, work, cipher), 0);
    }
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i], NULL);
    }
    stop = true;
    pthread_join(writer, NULL);
    CHECK_EQ(wrong, 0);
    cd_fallback_counters(fallback, AES, counters);
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        sum += counters[why];
    }
    CHECK_EQ(sum, WORKERS * BATCHES * BATCH_SIZE);
    free_and_tear_down(cipher);
}

int main(void) {
    RUN(test_equals_singles);
    RUN(test_synchronous_hardware);
    RUN(test_failures_R059);
    RUN(test_without_key);
    RUN(test_key_sizes);
    RUN(test_one_run_if_all_is_software);
    RUN(test_runs_fill_lanes_while_the_engine_works);
    RUN(test_window);
    RUN(test_threshold_is_live_R049);
    RUN(test_fallback_ends_during_a_batch);
    RUN(test_software_without_batches);
    RUN(test_reconfigured_under_load_R049);
    return test_end();
}
