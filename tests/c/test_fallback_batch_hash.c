/* Batches of hashes through a proxy: the same as messages one by one (fallback-semantics.md section
 * 4), and the software's messages side by side. */
#include "fallback_hash.h"

#include "fake_batches.h"

#define RECORDS_MAX 500u
#define LENGTH_MAX 1100u

/* The same messages twice: run as a batch, and one by one. */
enum { BATCH, SINGLES };
static struct cd_hash_record records[2][RECORDS_MAX];
static uint8_t digests[2][RECORDS_MAX][FAKE_DIGEST_SIZE];

static uint32_t random_state;
static uint32_t random_below(uint32_t bound) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

/* Messages of any length; now and then one that no side may see. */
static void fill(size_t count, uint32_t seed) {
    for (int copy = BATCH; copy <= SINGLES; copy++) {
        random_state = seed;
        memset(digests[copy], 0, sizeof(digests[copy]));
        for (size_t i = 0; i < count; i++) {
            struct cd_hash_record *record = &records[copy][i];
            record->source = message + random_below(5000);
            record->length = random_below(4) == 0 ? random_below(3) : random_below(LENGTH_MAX);
            record->digest = digests[copy][i];
            record->status = 77;
            switch (random_below(40)) {
            case 0:
                record->source = NULL; /* allowed if there are no bytes */
                break;
            case 1:
                record->digest = NULL;
                break;
            case 2:
                record->length = SIZE_MAX;
                break;
            default:
                break;
            }
        }
    }
}

static size_t run_singles(struct cd_hash *hash, size_t count) {
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        struct cd_hash_record *record = &records[SINGLES][i];
        record->status = digest_of(hash, record->source, record->length, record->digest);
        failed += record->status != CD_OK;
    }
    return failed;
}

/* Run filled records both ways. Where a record failed, its digest is undefined. */
static void check_equal(struct cd_hash *hash, size_t count) {
    uint64_t before[CD_WHY_COUNT], between[CD_WHY_COUNT], after[CD_WHY_COUNT];
    (void)operations_since(HW_HMAC, SW_HMAC);
    cd_fallback_counters(fallback, HASH, before);
    size_t failed = cd_hash_digest_records(hash, records[BATCH], count);
    unsigned operations = operations_since(HW_HMAC, SW_HMAC);
    cd_fallback_counters(fallback, HASH, between);
    CHECK_EQ(failed, run_singles(hash, count));
    CHECK_EQ(operations, operations_since(HW_HMAC, SW_HMAC));
    cd_fallback_counters(fallback, HASH, after);
    for (int why = 0; why < CD_WHY_COUNT; why++) {
        CHECK_EQ(between[why] - before[why], after[why] - between[why]);
    }
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(records[BATCH][i].status, records[SINGLES][i].status);
        if (records[BATCH][i].status == CD_OK) {
            CHECK_BYTES(digests[BATCH][i], digests[SINGLES][i], FAKE_DIGEST_SIZE);
        }
    }
}

static void check_equal_everywhere(struct cd_hash *hash) {
    static const int32_t thresholds[] = {-1, 0, 1, 64, 512, 100000};
    static const size_t counts[] = {0, 1, 31, 32, 33, RECORDS_MAX};
    for (size_t t = 0; t < sizeof(thresholds) / sizeof(thresholds[0]); t++) {
        set_threshold(HASH, thresholds[t]);
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            fill(counts[c], (uint32_t)(100 * t + c));
            check_equal(hash, counts[c]);
        }
    }
}

static struct cd_hash *enable_with_batches(void) {
    set_up();
    cd_benchmark_fill(message, sizeof(message), 5);
    fakes[SW_SUM].implementation.hash = &fake_batch_hash_ops;
    fakes[SW_HMAC].implementation.hash = &fake_batch_hash_ops;
    CHECK(enable());
    fake_forget_runs();
    fake_engine = &fakes[HW_HMAC];
    struct cd_hash *hash = new_hash("hmac(sum)");
    CHECK(is_bound_to(hash, "fallback(hmac(sum-dev))"));
    return hash;
}

static void end(struct cd_hash *hash) {
    fake_engine = NULL;
    free_and_tear_down(hash);
}

static void test_equals_singles(void) {
    struct cd_hash *hash = enable_with_batches();
    check_equal_everywhere(hash);
    CHECK(fake_runs > 0);
    CHECK(fake_runs_overlapping > 0);
    cd_hash_free(hash);
    hash = new_hash("sum"); /* takes no key */
    check_equal_everywhere(hash);
    end(hash);
}

static bool refuse_some(size_t length) {
    return length < 2 || (length > 600 && length < 650);
}

static cd_status fail_some(size_t length) {
    return length % 7 == 3 ? CD_E_DEVICE : CD_OK;
}

static void test_failures_R059(void) {
    struct cd_hash *hash = enable_with_batches();
    fakes[HW_HMAC].refuses = refuse_some;
    fakes[HW_HMAC].outcome = fail_some;
    check_equal_everywhere(hash);
    CHECK(counter(HASH, CD_WHY_UNSUPPORTED) > 0);
    fakes[SW_HMAC].outcome = fail_some;
    check_equal_everywhere(hash);
    fakes[HW_HMAC].gone = true;
    check_equal_everywhere(hash);
    fakes[HW_HMAC].gone = false;
    end(hash);
}

static void test_keys(void) {
    struct cd_hash *hash = enable_with_batches();
    fakes[HW_HMAC].key_status = CD_E_UNSUPPORTED; /* the software can */
    CHECK_EQ(cd_hash_set_key(hash, fixture_key, 3), CD_OK);
    check_equal_everywhere(hash);
    CHECK_EQ(counted(HASH), counter(HASH, CD_WHY_UNSUPPORTED));
    fakes[HW_HMAC].key_status = CD_E_KEY;
    CHECK_EQ(cd_hash_set_key(hash, fixture_key, 3), CD_E_KEY);
    fill(40, 1);
    check_equal(hash, 40);
    CHECK_EQ(records[BATCH][0].status, CD_E_NO_KEY);
    end(hash);
}

/* `count` messages of `length` bytes, each `every`-th of LENGTH_MAX. */
static void fill_mixed(size_t count, size_t length, size_t every) {
    fill(0, 0);
    for (size_t i = 0; i < count; i++) {
        records[BATCH][i] = (struct cd_hash_record){
            .source = message,
            .length = every > 0 && i % every == 0 ? LENGTH_MAX : length,
            .digest = digests[BATCH][i],
        };
    }
}

/* The software has its messages together, also the empty ones, while the engine works. */
static void test_runs(void) {
    struct cd_hash *hash = enable_with_batches();
    set_threshold(HASH, -1);
    fill_mixed(300, 0, 7);
    CHECK_EQ(cd_hash_digest_records(hash, records[BATCH], 300), 0);
    CHECK_EQ(fake_runs, 1);
    CHECK_EQ(fake_run_sizes[0], 300);
    CHECK_EQ(fake_runs_overlapping, 0);
    fake_forget_runs();
    set_threshold(HASH, 512);
    fill_mixed(RECORDS_MAX, 64, 2);
    CHECK_EQ(cd_hash_digest_records(hash, records[BATCH], RECORDS_MAX), 0);
    CHECK(fake_runs > 1 && fake_run_sizes[0] >= 64);
    CHECK_EQ(fake_runs_overlapping, fake_runs);
    check_digest(digests[BATCH][1], "hmac(sum-lib)", 64);
    check_digest(digests[BATCH][2], "hmac(sum-lib)", LENGTH_MAX);
    end(hash);
}

static void test_software_without_batches(void) {
    struct cd_hash *hash = enable_and_make();
    CHECK(cd_hash_implementation(hash)->hash->records == NULL);
    check_equal_everywhere(hash);
    free_and_tear_down(hash);
}

int main(void) {
    RUN(test_equals_singles);
    RUN(test_failures_R059);
    RUN(test_keys);
    RUN(test_runs);
    RUN(test_software_without_batches);
    return test_end();
}
