/* The host's cycle counter, and how many of its ticks make a second. */
#include <stddef.h>
#include <time.h>

#include "cryptodispatch/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_SECOND UINT64_C(1000000000)

#if defined(CLOCK_MONOTONIC_RAW)
#define HOST_CLOCK CLOCK_MONOTONIC_RAW
#else
#define HOST_CLOCK CLOCK_MONOTONIC
#endif

/* The operating system's clock in nanoseconds; 0 if it has none. */
static uint64_t system_now(void *context) {
    struct timespec now;

    (void)context;
    if (clock_gettime(HOST_CLOCK, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)

/* The fences keep the reading from moving before earlier and after later instructions (Intel SDM
 * volume 2, RDTSC). */
static uint64_t tsc_now(void *context) {
    uint32_t low, high;

    (void)context;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* The counter runs at one rate in all power states (CPUID 80000007h, EDX bit 8). */
static bool tsc_is_invariant(void) {
    uint32_t eax, ebx, ecx, edx;

    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1) != 0;
}

/*
 * The frequency as the CPU states it, or 0 (Intel SDM volume 3, "Time-Stamp Counter"). Leaf 15h
 * counts only when it is complete and no hypervisor is present, which may scale the counter
 * without changing the leaf. Leaf 16h gives whole megahertz of a marketing frequency, off by up to
 * a percent from the counter's: never used.
 */
static uint64_t tsc_stated_hz(void) {
    uint32_t denominator, numerator, crystal_hz, ecx, unused;

    if (__get_cpuid(1, &unused, &unused, &ecx, &unused) == 0 || (ecx >> 31 & 1) != 0 ||
        __get_cpuid(0x15, &denominator, &numerator, &crystal_hz, &unused) == 0 ||
        denominator == 0 || numerator == 0) {
        return 0;
    }
    return (uint64_t)crystal_hz * numerator / denominator;
}

struct pair {
    uint64_t ticks, ns;
};

/* Read both clocks at the same moment: of some tries the one in which least time passed, so that a
 * preempted one does not count. */
static struct pair read_pair(void) {
    struct pair best = {0, 0};
    uint64_t best_width = UINT64_MAX;

    for (int i = 0; i < 16; i++) {
        uint64_t before = tsc_now(NULL);
        uint64_t ns = system_now(NULL);
        uint64_t width = tsc_now(NULL) - before;

        if (width < best_width) {
            best_width = width;
            best = (struct pair){before + width / 2, ns};
        }
    }
    return best;
}

/* Count ticks for about 10 ms of the operating system's clock; 0 if that clock does not run. */
static uint64_t tsc_measured_hz(void) {
    const struct timespec pause = {0, 10000000};
    struct pair start = read_pair(), end;
    double seconds;

    (void)nanosleep(&pause, NULL);
    end = read_pair();
    if (end.ns <= start.ns || end.ticks <= start.ticks) {
        return 0;
    }
    seconds = (double)(end.ns - start.ns) / (double)NS_PER_SECOND;
    return (uint64_t)((double)(end.ticks - start.ticks) / seconds);
}

static bool counter_clock(struct cd_clock *out_clock) {
    uint64_t hz;

    if (!tsc_is_invariant()) {
        return false;
    }
    hz = tsc_stated_hz();
    hz = hz != 0 ? hz : tsc_measured_hz();
    *out_clock = (struct cd_clock){.now = tsc_now, .name = "rdtsc", .hz = hz};
    return hz != 0;
}

#elif defined(__aarch64__)

/* The barriers keep the reading in program order (Arm ARM, "Generic Timer"). */
static uint64_t cntvct_now(void *context) {
    uint64_t ticks;

    (void)context;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
}

static bool counter_clock(struct cd_clock *out_clock) {
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    *out_clock = (struct cd_clock){.now = cntvct_now, .name = "cntvct_el0", .hz = hz};
    return hz != 0;
}

#else

static bool counter_clock(struct cd_clock *out_clock) {
    (void)out_clock;
    return false;
}

#endif

void cd_clock_host(struct cd_clock *out_clock) {
    struct timespec now;

    if (counter_clock(out_clock)) {
        return;
    }
    *out_clock = (struct cd_clock){
        .now = system_now,
        .name = "clock_gettime",
        .hz = clock_gettime(HOST_CLOCK, &now) == 0 ? NS_PER_SECOND : 0,
    };
}
