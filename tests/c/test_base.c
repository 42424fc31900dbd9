/* base/: statuses, wiping and comparing, byte order, CPU features. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/secure.h"
#include "cryptodispatch/cpu.h"
#include "cryptodispatch/status.h"
#include "test_support.h"

static void every_status_has_its_own_name_and_text(void) {
    for (int a = CD_STATUS_LAST; a <= CD_IN_PROGRESS; a++) {
        CHECK(strcmp(cd_status_name(a), "CD_E_?") != 0);
        CHECK(strncmp(cd_status_name(a), a < 0 ? "CD_E_" : "CD_", a < 0 ? 5 : 3) == 0);
        CHECK(strcmp(cd_status_text(a), cd_status_text(1000)) != 0);
        for (int b = CD_STATUS_LAST; b < a; b++) {
            CHECK(strcmp(cd_status_name(a), cd_status_name(b)) != 0);
            CHECK(strcmp(cd_status_text(a), cd_status_text(b)) != 0);
        }
    }
    CHECK(strcmp(cd_status_name(-3), "CD_E_KEY") == 0);
    CHECK(strcmp(cd_status_name(-19), "CD_E_AUTHENTICATION") == 0);
    CHECK(strcmp(cd_status_name(0), "CD_OK") == 0);
}

static void other_numbers_are_no_status(void) {
    const int others[] = {2, CD_STATUS_LAST - 1, INT32_MIN, INT32_MAX};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK(strcmp(cd_status_name(others[i]), "CD_E_?") == 0);
        CHECK(cd_status_text(others[i])[0] != '\0');
    }
}

static void wipe_clears_exactly_the_given_bytes(void) {
    for (size_t length = 0; length < 40; length++) {
        uint8_t bytes[48];

        memset(bytes, 0xa5, sizeof bytes);
        cd_wipe(bytes + 4, length);
        for (size_t i = 0; i < sizeof bytes; i++) {
            CHECK_EQ(bytes[i], i >= 4 && i < 4 + length ? 0 : 0xa5);
        }
    }
    cd_wipe(NULL, 0);
}

static void comparison_sees_every_bit(void) {
    uint8_t a[33], b[33];

    memset(a, 0x3c, sizeof a);
    memset(b, 0x3c, sizeof b);
    CHECK(cd_equal_ct(a, b, sizeof a));
    CHECK(cd_equal_ct(a, b, 0));
    for (size_t bit = 0; bit < 8 * sizeof a; bit++) {
        b[bit / 8] = (uint8_t)(b[bit / 8] ^ 1u << bit % 8);
        CHECK(!cd_equal_ct(a, b, sizeof a));
        CHECK(cd_equal_ct(a, b, bit / 8)); /* differences behind the end do not count */
        b[bit / 8] = a[bit / 8];
    }
}

static void byte_order_holds_at_every_alignment(void) {
    for (size_t offset = 0; offset < 8; offset++) {
        uint8_t bytes[24] = {0};
        uint8_t *p = bytes + offset;

        memcpy(p, "\x01\x23\x45\x67\x89\xab\xcd\xef", 8);
        CHECK_EQ(cd_load_le32(p), 0x67452301);
        CHECK_EQ(cd_load_be32(p), 0x01234567);
        CHECK(cd_load_be64(p) == UINT64_C(0x0123456789abcdef));
        CHECK(cd_load_le64(p) == UINT64_C(0xefcdab8967452301));
        cd_store_le32(p, 0x89abcdef);
        CHECK_BYTES(p, "\xef\xcd\xab\x89\x89", 5);
        cd_store_be32(p, 0x89abcdef);
        CHECK_BYTES(p, "\x89\xab\xcd\xef\x89", 5);
        cd_store_be64(p, UINT64_C(0xfedcba9876543210));
        CHECK_BYTES(p, "\xfe\xdc\xba\x98\x76\x54\x32\x10\x00", 9);
        cd_store_le64(p, UINT64_C(0xfedcba9876543210));
        CHECK_BYTES(p, "\x10\x32\x54\x76\x98\xba\xdc\xfe\x00", 9);
    }
}

static const struct {
    uint32_t feature;
    const char *name;
} known[] = {
    {CD_CPU_SSSE3, "ssse3"}, {CD_CPU_SSE41, "sse41"},     {CD_CPU_AESNI, "aesni"},
    {CD_CPU_AVX, "avx"},     {CD_CPU_AVX2, "avx2"},       {CD_CPU_VAES, "vaes"},
    {CD_CPU_SHANI, "shani"}, {CD_CPU_AVX512, "avx512"},   {CD_CPU_BMI2, "bmi2"},
    {CD_CPU_NEON, "neon"},   {CD_CPU_ARM_AES, "arm_aes"}, {CD_CPU_ARM_SHA2, "arm_sha2"},
};

#define KNOWN (sizeof known / sizeof known[0])

/* What a fresh process detects with that environment; must run before this process detects. */
static uint32_t mask_in_child(const char *disabled) {
    uint32_t mask = 0xdeadbeef;
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0) {
        return mask;
    }
    child = fork();
    if (child == 0) {
        if (disabled != NULL) {
            setenv("CRYPTODISPATCH_CPU_DISABLE", disabled, 1);
        } else {
            unsetenv("CRYPTODISPATCH_CPU_DISABLE");
        }
        mask = cd_cpu_detect();
        _exit(write(ends[1], &mask, sizeof mask) == (ssize_t)sizeof mask ? 0 : 1);
    }
    CHECK(read(ends[0], &mask, sizeof mask) == (ssize_t)sizeof mask);
    CHECK(waitpid(child, NULL, 0) == child);
    close(ends[0]);
    close(ends[1]);
    return mask;
}

/* R111: features can be masked from outside. */
static void environment_disables_features(void) {
    uint32_t all = mask_in_child(NULL);

    CHECK(all != 0xdeadbeef);
    for (size_t i = 0; i < KNOWN; i++) {
        CHECK_EQ(mask_in_child(known[i].name), all & ~known[i].feature);
    }
    CHECK_EQ(mask_in_child("all"), 0);
    CHECK_EQ(mask_in_child(""), all);
    CHECK_EQ(mask_in_child("ALL"), 0);
    CHECK_EQ(mask_in_child("aes,aesnix,AES@I,,nonsense,al"), all);
    CHECK_EQ(mask_in_child("aesni,vaes"), all & ~(uint32_t)(CD_CPU_AESNI | CD_CPU_VAES));
    CHECK_EQ(mask_in_child("AESNI,Vaes"), all & ~(uint32_t)(CD_CPU_AESNI | CD_CPU_VAES));
    CHECK_EQ(mask_in_child(" ssse3 , avx2,"), all & ~(uint32_t)(CD_CPU_SSSE3 | CD_CPU_AVX2));
}

static void *detect_in_thread(void *out_mask) {
    *(uint32_t *)out_mask = cd_cpu_detect();
    return NULL;
}

/* The first detection in this process, by several threads at once. */
static void threads_detect_the_same(void) {
    pthread_t threads[4];
    uint32_t masks[4];

    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, detect_in_thread, &masks[i]) == 0);
    }
    for (size_t i = 0; i < 4; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_EQ(masks[i], cd_cpu_detect());
    }
}

#if defined(__x86_64__) && defined(__linux__)
/* The kernel lists what it found by itself; we may claim less (valgrind), never more. */
static void nothing_is_claimed_that_the_kernel_does_not_list(void) {
    static const char *const flags[] = {"ssse3", "sse4_1", "aes",     "avx", "avx2",
                                        "vaes",  "sha_ni", "avx512f", "bmi2"};
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192] = "", wanted[32];
    size_t found = 0;

    while (file != NULL && strncmp(line, "flags", 5) != 0 &&
           fgets(line, (int)sizeof line - 1, file) != NULL) {
    }
    if (file != NULL) {
        fclose(file);
    }
    line[strcspn(line, "\n")] = ' ';
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        snprintf(wanted, sizeof wanted, " %s ", flags[i]);
        if ((cd_cpu_detect() & known[i].feature) != 0) {
            CHECK(strstr(line, wanted) != NULL);
            found++;
        }
    }
    printf("features claimed: %zu of %zu\n", found, sizeof flags / sizeof flags[0]);
}
#endif

static void features_have_names(void) {
    for (size_t i = 0; i < KNOWN; i++) {
        CHECK(cd_cpu_feature_name(known[i].feature) != NULL);
        CHECK(strcmp(cd_cpu_feature_name(known[i].feature), known[i].name) == 0);
    }
    CHECK(cd_cpu_feature_name(0) == NULL);
    CHECK(cd_cpu_feature_name(CD_CPU_AVX | CD_CPU_AVX2) == NULL);
    CHECK(cd_cpu_feature_name(UINT32_C(1) << 30) == NULL);
    CHECK(cd_cpu_feature_name(UINT32_C(1) << 31) == NULL);
}

/* Last: there is no way back. */
static void narrowing_only_removes(void) {
    uint32_t all = cd_cpu_detect();

    CHECK_EQ(cd_cpu_narrow(UINT32_MAX), all);
    for (size_t i = 0; i < KNOWN; i++) {
        uint32_t before = cd_cpu_detect();

        CHECK_EQ(cd_cpu_narrow(~known[i].feature), before & ~known[i].feature);
        CHECK_EQ(cd_cpu_detect(), before & ~known[i].feature);
        CHECK_EQ(cd_cpu_narrow(UINT32_MAX), before & ~known[i].feature);
    }
    CHECK_EQ(cd_cpu_narrow(0), 0);
    CHECK_EQ(cd_cpu_detect(), 0); /* an empty mask is not detected anew */
}

int main(void) {
    RUN(environment_disables_features);
    RUN(threads_detect_the_same);
    RUN(every_status_has_its_own_name_and_text);
    RUN(other_numbers_are_no_status);
    RUN(wipe_clears_exactly_the_given_bytes);
    RUN(comparison_sees_every_bit);
    RUN(byte_order_holds_at_every_alignment);
#if defined(__x86_64__) && defined(__linux__)
    RUN(nothing_is_claimed_that_the_kernel_does_not_list);
#endif
    RUN(features_have_names);
    RUN(narrowing_only_removes);
    return test_end();
}
