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
    {"sha224 avx512", &cd_sha224_avx512, &cd_sha224_portable},
    {"sha256 avx512", &cd_sha256_avx512, &cd_sha256_portable},
};

/* A hash that this CPU can run, and how many lanes. */
static struct { size_t hash, width; } ways[32];
static size_t way_count;
static struct cd_md_lane_job jobs[MESSAGES];
static uint8_t text[LONGEST + MESSAGES];
/* A byte more than the longest digest: one that is too long shows. */
static uint8_t digests[MESSAGES][CD_MD_DIGEST_MAX + 1], expected[MESSAGES][CD_MD_DIGEST_MAX + 1];

/* Keys for the HMAC of a way, and for its reference. */
static struct cd_hmac_key key, reference_key;

static void add_way(size_t hash, size_t width) {
    ways[way_count].hash = hash;
    ways[way_count++].width = width;
}

static void set_up(void) {
    for (size_t i = 0; i < sizeof all_hashes / sizeof all_hashes[0]; i++) {
        const struct cd_md_algorithm *algorithm = all_hashes[i].algorithm;

        if (!test_can_run(all_hashes[i].name, algorithm->cpu)) {
            continue;
        }
        add_way(i, 1);
        add_way(i, 3);
        if (algorithm->blocks_wide != NULL && test_can_run("16 lanes", algorithm->wide_cpu)) {
            add_way(i, CD_MD_WIDE);
        }
    }
    test_fill_random(text, sizeof text);
}

static void clear(void) {
    memset(digests, 0xa5, sizeof digests);
    memset(expected, 0xa5, sizeof expected);
}

static const struct cd_md_algorithm *algorithm_of(size_t way) {
    return all_hashes[ways[way].hash].algorithm;
}

static void set_job(size_t way, size_t index, const uint8_t *data, size_t length) {
    jobs[index] =
        (struct cd_md_lane_job){.data = data, .length = length, .out_digest = digests[index]};
    cd_md_digest(all_hashes[ways[way].hash].reference, expected[index], data, length);
}

static void run_and_check(size_t way, size_t count) {
    cd_md_lanes_digest(algorithm_of(way), ways[way].width, jobs, count);
    CHECK_BYTES(digests, expected, sizeof digests);
}

static void every_length_in_one_batch(void) {
    for (size_t i = 0; i < way_count; i++) {
        clear();
        for (size_t length = 0; length <= 1024; length++) {
            set_job(i, length, text + length, length);
        }
        run_and_check(i, 1025);
    }
}

static void every_count_of_equal_messages(void) {
    static const size_t lengths[] = {0, 1, 55, 56, 63, 64, 65, 119, 120, 256, 1420};

    for (size_t i = 0; i < way_count; i++) {
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            cd_md_lanes_digest(algorithm_of(i), ways[i].width, NULL, 0);
            for (size_t count = 0; count <= 40; count++) {
                clear();
                for (size_t k = 0; k < count; k++) {
                    set_job(i, k, text + 7 * k, lengths[l]);
                }
                run_and_check(i, count);
            }
        }
    }
}

/* R085: no lane's result in another's place, with messages that differ in every lane. */
static void lanes_never_swap(void) {
    for (size_t i = 0; i < way_count; i++) {
        for (size_t length = 1; length <= 300; length += 13) {
            clear();
            for (size_t k = 0; k < 33; k++) {
                set_job(i, k, text + 170 * k, length);
            }
            run_and_check(i, 33);
            for (size_t k = 1; k < 33; k++) {
                CHECK(memcmp(digests[k], digests[k - 1], 16) != 0);
            }
        }
    }
}

static void random_batches(void) {
    for (size_t round = 0; round < 60 * way_count; round++) {
        size_t count = test_random(60);
        uint32_t longest = 1 + test_random(round % 3 == 0 ? LONGEST : 200);

        clear();
        for (size_t k = 0; k < count; k++) {
            set_job(round / 60, k, text + test_random(MESSAGES), test_random(longest));
        }
        run_and_check(round / 60, count);
    }
}

static void every_alignment(void) {
    for (size_t i = 0; i < way_count; i++) {
        clear();
        for (size_t k = 0; k < 256; k++) {
            set_job(i, k, text + k % 16, 100 + k / 16);
        }
        run_and_check(i, 256);
    }
}

static void guard_pages_are_not_touched(void) {
    struct test_guard guard;

    test_guard_init(&guard);
    for (size_t i = 0; i < way_count; i++) {
        for (size_t length = 0; length <= 260; length++) {
            uint8_t *begin = test_guard_begin(&guard), *end = test_guard_end(&guard, length);

            memcpy(begin, text, length);
            memcpy(end, text + 500, length);
            clear();
            set_job(i, 0, begin, length);
            set_job(i, 1, end, length);
            set_job(i, 2, length == 0 ? NULL : end, length);
            set_job(i, 3, text, 777);
            for (size_t k = 4; k < 20; k++) {
                set_job(i, k, k % 2 == 0 ? begin : end, length);
            }
            run_and_check(i, 20);
        }
    }
    test_guard_cleanup(&guard);
}

static void hmac_equals_one_by_one(void) {
    for (size_t i = 0; i < way_count; i++) {
        const struct cd_md_algorithm *reference = all_hashes[ways[i].hash].reference;

        for (size_t count = 0; count <= 60; count++) {
            clear();
            cd_hmac_prepare(&key, algorithm_of(i), text, count);
            cd_hmac_prepare(&reference_key, reference, text, count);
            for (size_t k = 0; k < count; k++) {
                size_t length = count % 2 == 0 ? 20 * count : test_random(500);

                jobs[k] = (struct cd_md_lane_job){
                    .data = text + k, .length = length, .out_digest = digests[k]};
                cd_hmac_digest(&reference_key, expected[k], text + k, length);
            }
            cd_hmac_lanes_digest(&key, ways[i].width, jobs, count);
            CHECK_BYTES(digests, expected, sizeof digests);
        }
    }
}

/* ---- messages of a prefix and data ---- */

static void set_keys(size_t way) {
    cd_hmac_prepare(&key, algorithm_of(way), text, 20);
    cd_hmac_prepare(&reference_key, all_hashes[ways[way].hash].reference, text, 20);
}

/* The expected digest is that of both in one piece. */
static void set_prefixed(size_t index, const uint8_t *prefix, size_t prefix_len,
                         const uint8_t *data, size_t length, bool is_hmac) {
    static uint8_t whole[2 * LONGEST];

    if (prefix_len > 0) {
        memcpy(whole, prefix, prefix_len);
    }
    if (length > 0) {
        memcpy(whole + prefix_len, data, length);
    }
    jobs[index] = (struct cd_md_lane_job){data, length, digests[index], prefix, prefix_len};
    if (is_hmac) {
        cd_hmac_digest(&reference_key, expected[index], whole, prefix_len + length);
    } else {
        cd_md_digest(reference_key.algorithm, expected[index], whole, prefix_len + length);
    }
}

static void run_and_check_as(size_t way, size_t count, bool is_hmac) {
    if (is_hmac) {
        cd_hmac_lanes_digest(&key, ways[way].width, jobs, count);
    } else {
        cd_md_lanes_digest(algorithm_of(way), ways[way].width, jobs, count);
    }
    CHECK_BYTES(digests, expected, sizeof digests);
}

/* Both ends around every edge of the first blocks, and every place where they meet. */
static void every_prefix_length(void) {
    static const size_t lengths[] = {0,  1,   8,   9,   51,  52,  55,  56,  57,  63,  64,
                                     65, 116, 119, 120, 121, 127, 128, 129, 192, 256, 1420};

    for (size_t i = 0; i < way_count; i++) {
        set_keys(i);
        for (size_t l = 0; l < 2 * (sizeof lengths / sizeof lengths[0]); l++) {
            size_t length = lengths[l / 2];

            clear();
            for (size_t prefix_len = 0; prefix_len <= 200; prefix_len++) {
                set_prefixed(prefix_len, text + 3 * prefix_len, prefix_len,
                             text + 2000 + prefix_len, length, l % 2 == 1);
            }
            run_and_check_as(i, 201, l % 2 == 1);
        }
    }
}

/* With and without one, long and short, side by side. */
static void random_prefixes(void) {
    for (size_t round = 0; round < 20 * way_count; round++) {
        size_t count = test_random(60);
        uint32_t longest = 1 + test_random(round % 3 == 0 ? LONGEST : 200);

        set_keys(round / 20);
        clear();
        for (size_t k = 0; k < count; k++) {
            size_t prefix_len = test_random(3) == 0 ? 0 : test_random(longest);

            set_prefixed(k, text + test_random(MESSAGES), prefix_len, text + test_random(MESSAGES),
                         test_random(longest), round % 2 == 0);
        }
        run_and_check_as(round / 20, count, round % 2 == 0);
    }
}

static void guard_pages_around_prefixes_are_not_touched(void) {
    struct test_guard guards[2];

    test_guard_init(&guards[0]);
    test_guard_init(&guards[1]);
    for (size_t i = 0; i < way_count; i++) {
        set_keys(i);
        for (size_t n = 0; n <= 260; n++) {
            size_t prefix_len = n * 7 % 150, length = n * 11 % 150;
            uint8_t *prefixes[2] = {test_guard_begin(&guards[0]),
                                    test_guard_end(&guards[0], prefix_len)};
            uint8_t *data[2] = {test_guard_begin(&guards[1]), test_guard_end(&guards[1], length)};

            for (size_t k = 0; k < 2; k++) {
                memcpy(prefixes[k], text + k, prefix_len);
                memcpy(data[k], text + 300 + k, length);
            }
            clear();
            for (size_t k = 0; k < 20; k++) {
                set_prefixed(k, prefix_len == 0 ? NULL : prefixes[k % 2], prefix_len,
                             length == 0 ? NULL : data[k / 2 % 2], length, n % 2 == 0);
            }
            run_and_check_as(i, 20, n % 2 == 0);
        }
    }
    test_guard_cleanup(&guards[0]);
    test_guard_cleanup(&guards[1]);
}

/* RFC 4231 section 4.3, in every lane, as one piece and cut everywhere. */
static void hmac_rfc_4231_case_2(void) {
    static const char *const tag_hex =
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
    uint8_t tag[32];

    test_hex(tag, tag_hex);
    for (size_t i = 0; i < way_count; i++) {
        const struct cd_md_algorithm *algorithm = algorithm_of(i);
        if (strcmp(algorithm->algorithm, "sha256") != 0) {
            continue;
        }
        cd_hmac_prepare(&key, algorithm, (const uint8_t *)"Jefe", 4);
        for (size_t k = 0; k <= 28; k++) {
            const uint8_t *data = (const uint8_t *)"what do ya want for nothing?";

            jobs[k] = (struct cd_md_lane_job){data + k, 28 - k, digests[k], data, k};
        }
        cd_hmac_lanes_digest(&key, ways[i].width, jobs, 29);
        for (size_t k = 0; k <= 28; k++) {
            CHECK_BYTES(digests[k], tag, 32);
        }
    }
}

/* Upper register halves that stay in use slow down all SSE code after them. */
static void upper_register_halves_are_left_clean(void) {
    if (!test_can_run("upper register halves", CD_CPU_AVX2) || !test_upper_works()) {
        printf("skipped: this CPU does not tell whether upper register halves are in use\n");
        return;
    }
    for (size_t i = 0; i < way_count; i++) {
        for (size_t count = 0; count <= 40; count++) {
            clear();
            for (size_t k = 0; k < count; k++) {
                set_job(i, k, text, 11 * k);
                jobs[k].prefix = text;
                jobs[k].prefix_len = 5 * k % 90;
            }
            test_upper_clean();
            cd_md_lanes_digest(algorithm_of(i), ways[i].width, jobs, count);
            CHECK(!test_upper_in_use());
        }
    }
}

static bool best_fits(uint32_t mask) {
    size_t wide = (mask & CD_CPU_AVX512) != 0 ? CD_MD_WIDE : (mask & CD_CPU_SHA_LANES) != 0 ? 3 : 1;

    CHECK_EQ(cd_md_lanes_best(&cd_md5_portable), 3);
    CHECK_EQ(cd_md_lanes_best(&cd_sha256_portable), (mask & CD_CPU_AVX512) != 0 ? CD_MD_WIDE : 3);
    CHECK_EQ(cd_md_lanes_best(&cd_sha1_portable), (mask & CD_CPU_AVX512) != 0 ? CD_MD_WIDE : 3);
    CHECK_EQ(cd_md_lanes_best(&cd_sha1_shani), wide);
    CHECK_EQ(cd_md_lanes_best(&cd_sha224_shani), wide);
    CHECK_EQ(cd_md_lanes_best(&cd_sha256_shani), wide);
    CHECK_EQ(cd_md_lanes_best(&cd_sha256_avx512), wide);
    return !test_state.current_failed;
}

static void best_follows_every_subset_of_cpu_features(void) {
    CHECK_EQ(test_feature_subsets(CD_CPU_AVX512 | CD_CPU_SHA_LANES, best_fits), 0);
}

int main(void) {
    set_up();
    RUN(every_length_in_one_batch);
    RUN(every_count_of_equal_messages);
    RUN(lanes_never_swap);
    RUN(random_batches);
    RUN(every_alignment);
    RUN(guard_pages_are_not_touched);
    RUN(hmac_equals_one_by_one);
    RUN(every_prefix_length);
    RUN(random_prefixes);
    RUN(guard_pages_around_prefixes_are_not_touched);
    RUN(hmac_rfc_4231_case_2);
    RUN(upper_register_halves_are_left_clean);
    RUN(best_follows_every_subset_of_cpu_features);
    return test_end();
}
