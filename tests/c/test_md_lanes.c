/* crypto/md_lanes.h: many messages at once against one by one. */
#include "crypto/md5.h"
#include "crypto/md_lanes.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"
#include "test_guard.h"
#include "test_kernel.h"
#include "test_support.h"

#define MESSAGES 1100u
#define LONGEST 5000u

/* A hash and the one to compare with. */
static const struct {
    const char *name;
    const struct cd_md_algorithm *algorithm, *reference;
} all_hashes[] = {
    {"md5 lib", &cd_md5_portable, &cd_md5_portable},
    {"sha1 lib", &cd_sha1_portable, &cd_sha1_portable},
    {"sha224 lib", &cd_sha224_portable, &cd_sha224_portable},
    {"sha256 lib", &cd_sha256_portable, &cd_sha256_portable},
    {"sha1 ni", &cd_sha1_shani, &cd_sha1_portable},
    {"sha224 ni", &cd_sha224_shani, &cd_sha224_portable},
    {"sha256 ni", &cd_sha256_shani, &cd_sha256_portable},
};

static size_t hashes[7], hash_count; /* indices of those that this CPU can run */
static struct cd_md_lane_job jobs[MESSAGES];
static struct cd_hmac_lane_job hmac_jobs[MESSAGES];
static uint8_t text[LONGEST + MESSAGES];
/* A byte more than the longest digest: one that is too long shows. */
static uint8_t digests[MESSAGES][CD_MD_DIGEST_MAX + 1], expected[MESSAGES][CD_MD_DIGEST_MAX + 1];

static void set_up(void) {
    for (size_t i = 0; i < sizeof all_hashes / sizeof all_hashes[0]; i++) {
        if (test_can_run(all_hashes[i].name, all_hashes[i].algorithm->cpu)) {
            hashes[hash_count++] = i;
        }
    }
    test_fill_random(text, sizeof text);
}

static void clear(void) {
    memset(digests, 0xa5, sizeof digests);
    memset(expected, 0xa5, sizeof expected);
}

/* A whole message. */
static void set_job(size_t hash, size_t index, const uint8_t *data, size_t length) {
    const struct cd_md_algorithm *algorithm = all_hashes[hash].algorithm;
    struct cd_md_lane_job *job = &jobs[index];

    memcpy(job->words, algorithm->initial, 4 * algorithm->state_words);
    job->count = 0;
    job->data = data;
    job->length = length;
    job->out_digest = digests[index];
    cd_md_digest(all_hashes[hash].reference, expected[index], data, length);
}

static void run_and_check(size_t hash, size_t count) {
    cd_md_lanes_finish(all_hashes[hash].algorithm, jobs, count);
    CHECK_BYTES(digests, expected, sizeof digests);
}

static void every_length_in_one_batch(void) {
    for (size_t i = 0; i < hash_count; i++) {
        clear();
        for (size_t length = 0; length <= 1024; length++) {
            set_job(hashes[i], length, text + length, length);
        }
        run_and_check(hashes[i], 1025);
    }
}

static void every_count_of_equal_messages(void) {
    static const size_t lengths[] = {0, 1, 55, 56, 63, 64, 65, 119, 120, 256, 1420};

    for (size_t i = 0; i < hash_count; i++) {
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            cd_md_lanes_finish(all_hashes[hashes[i]].algorithm, NULL, 0);
            for (size_t count = 0; count <= 10; count++) {
                clear();
                for (size_t k = 0; k < count; k++) {
                    set_job(hashes[i], k, text + 7 * k, lengths[l]);
                }
                run_and_check(hashes[i], count);
            }
        }
    }
}

/* R085: no lane's result in another's place, with messages that differ in every lane. */
static void lanes_never_swap(void) {
    for (size_t i = 0; i < hash_count; i++) {
        for (size_t length = 1; length <= 300; length += 13) {
            clear();
            for (size_t k = 0; k < 9; k++) {
                set_job(hashes[i], k, text + 300 * k, length);
            }
            run_and_check(hashes[i], 9);
            for (size_t k = 1; k < 9; k++) {
                CHECK(memcmp(digests[k], digests[k - 1], 16) != 0);
            }
        }
    }
}

static void random_batches(void) {
    for (size_t round = 0; round < 60 * hash_count; round++) {
        size_t count = test_random(60);
        uint32_t longest = 1 + test_random(round % 3 == 0 ? LONGEST : 200);

        clear();
        for (size_t k = 0; k < count; k++) {
            set_job(hashes[round / 60], k, text + test_random(MESSAGES), test_random(longest));
        }
        run_and_check(hashes[round / 60], count);
    }
}

/* Messages that go on from given words, as HMAC's do, and those whose words alone are wanted. */
static void messages_continue_from_words(void) {
    for (size_t round = 0; round < 20 * hash_count; round++) {
        const struct cd_md_algorithm *algorithm = all_hashes[hashes[round / 20]].algorithm;

        clear();
        for (size_t k = 0; k < 20; k++) {
            size_t before = 64 * (size_t)test_random(4), length = test_random(400);

            set_job(hashes[round / 20], k, text + k, before + length);
            algorithm->blocks(jobs[k].words, text + k, before / 64);
            jobs[k].count = before;
            jobs[k].data += before;
            jobs[k].length = length;
            jobs[k].out_digest = k % 3 == 0 ? NULL : digests[k];
        }
        cd_md_lanes_finish(algorithm, jobs, 20);
        for (size_t k = 0; k < 20; k++) {
            if (k % 3 == 0) {
                CHECK_EQ(digests[k][0], 0xa5);
            }
            cd_md_store(algorithm, digests[k], jobs[k].words);
        }
        CHECK_BYTES(digests, expected, sizeof digests);
    }
}

static void every_alignment(void) {
    for (size_t i = 0; i < hash_count; i++) {
        clear();
        for (size_t k = 0; k < 256; k++) {
            set_job(hashes[i], k, text + k % 16, 100 + k / 16);
        }
        run_and_check(hashes[i], 256);
    }
}

static void guard_pages_are_not_touched(void) {
    struct test_guard guard;

    test_guard_init(&guard);
    for (size_t i = 0; i < hash_count; i++) {
        for (size_t length = 0; length <= 260; length++) {
            uint8_t *begin = test_guard_begin(&guard), *end = test_guard_end(&guard, length);

            memcpy(begin, text, length);
            memcpy(end, text + 500, length);
            clear();
            set_job(hashes[i], 0, begin, length);
            set_job(hashes[i], 1, end, length);
            set_job(hashes[i], 2, length == 0 ? NULL : end, length);
            set_job(hashes[i], 3, text, 777);
            run_and_check(hashes[i], 4);
        }
    }
    test_guard_cleanup(&guard);
}

static void hmac_equals_one_by_one(void) {
    for (size_t i = 0; i < hash_count; i++) {
        const struct cd_md_algorithm *reference = all_hashes[hashes[i]].reference;

        for (size_t count = 0; count <= 60; count++) {
            struct cd_hmac_key key, reference_key;

            clear();
            cd_hmac_prepare(&key, all_hashes[hashes[i]].algorithm, text, count);
            cd_hmac_prepare(&reference_key, reference, text, count);
            for (size_t k = 0; k < count; k++) {
                size_t length = count % 2 == 0 ? 20 * count : test_random(500);

                hmac_jobs[k] = (struct cd_hmac_lane_job){text + k, length, digests[k]};
                cd_hmac_digest(&reference_key, expected[k], text + k, length);
            }
            cd_hmac_lanes_digest(&key, hmac_jobs, count);
            CHECK_BYTES(digests, expected, sizeof digests);
        }
    }
}

/* RFC 4231 section 4.3, in every lane. */
static void hmac_rfc_4231_case_2(void) {
    static const char *const tag_hex =
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    uint8_t tag[32];

    test_hex(tag, tag_hex);
    for (size_t i = 0; i < hash_count; i++) {
        const struct cd_md_algorithm *algorithm = all_hashes[hashes[i]].algorithm;
        struct cd_hmac_key key;

        if (strcmp(algorithm->algorithm, "sha256") != 0) {
            continue;
        }
        cd_hmac_prepare(&key, algorithm, (const uint8_t *)"Jefe", 4);
        for (size_t k = 0; k < 5; k++) {
            const uint8_t *data = (const uint8_t *)"what do ya want for nothing?";

            hmac_jobs[k] = (struct cd_hmac_lane_job){data, 28, digests[k]};
        }
        cd_hmac_lanes_digest(&key, hmac_jobs, 5);
        for (size_t k = 0; k < 5; k++) {
            CHECK_BYTES(digests[k], tag, 32);
        }
    }
}

int main(void) {
    set_up();
    RUN(every_length_in_one_batch);
    RUN(every_count_of_equal_messages);
    RUN(lanes_never_swap);
    RUN(random_batches);
    RUN(messages_continue_from_words);
    RUN(every_alignment);
    RUN(guard_pages_are_not_touched);
    RUN(hmac_equals_one_by_one);
    RUN(hmac_rfc_4231_case_2);
    return test_end();
}
