/*
 * What the tests of the kernels share: random bytes, the CPU-feature subsets, and whether a
 * function left the upper register halves clean.
 */
#ifndef TEST_KERNEL_H
#define TEST_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cryptodispatch/cpu.h"

static uint64_t test_random_state = 0x9e3779b97f4a7c15;

static inline uint32_t test_random(uint32_t below) {
    test_random_state ^= test_random_state << 13;
    test_random_state ^= test_random_state >> 7;
    test_random_state ^= test_random_state << 17;
    return (uint32_t)(test_random_state >> 32) % below;
}

static inline void test_fill_random(uint8_t *out, size_t length) {
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)test_random(256);
    }
}

/* Whether this CPU can run a table; says so if not. */
static inline bool test_can_run(const char *what, uint32_t cpu) {
    if ((cd_cpu_detect() & cpu) == cpu) {
        return true;
    }
    printf("skipped: %s, this CPU cannot run it\n", what);
    return false;
}

/* Run `check` in a process of its own for every subset of `features` that this CPU has, with the
 * rest narrowed away; narrowing cannot be undone. Returns in how many it failed. */
static inline unsigned test_feature_subsets(uint32_t features, bool (*check)(uint32_t mask)) {
    uint32_t available = cd_cpu_detect() & features, subset = available;
    unsigned failed = 0;

    for (;; subset = (subset - 1) & available) {
        int status = 1;
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0) {
            uint32_t mask = cd_cpu_narrow(subset);
            bool passed = check(mask);

            fflush(stdout);
            _exit(mask == subset && passed ? 0 : 1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            printf("failed with features 0x%x\n", (unsigned)subset);
            failed++;
        }
        if (subset == 0) {
            return failed;
        }
    }
}

#if defined(__x86_64__)
#include <cpuid.h>

/* XINUSE bit 2: whether an upper half of a YMM register is not zero (Intel SDM volume 1, section
 * 13.6). */
static inline bool test_upper_in_use(void) {
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
    (void)high;
    return (low & 4) != 0;
}

static inline void test_upper_clean(void) {
    __asm__ volatile("vzeroupper" : : : "memory");
}

/* Whether test_upper_in_use tells: CPUID leaf 13 offers it, and it sees a dirty register. Needs
 * AVX2. */
static inline bool test_upper_works(void) {
    uint32_t eax, ebx, ecx, edx;
    bool dirty, clean;

    if (__get_cpuid_count(13, 1, &eax, &ebx, &ecx, &edx) == 0 || (eax & 4) == 0) {
        return false;
    }
    __asm__ volatile("vpcmpeqd %%ymm0, %%ymm0, %%ymm0" : : : "xmm0");
    dirty = test_upper_in_use();
    test_upper_clean();
    clean = !test_upper_in_use();
    return dirty && clean;
}
#else
static inline bool test_upper_in_use(void) {
    return false;
}

static inline void test_upper_clean(void) {
}

static inline bool test_upper_works(void) {
    return false;
}
#endif

#endif
