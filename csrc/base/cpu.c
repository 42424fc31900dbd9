/* Reading what the CPU and the operating system allow, once per process. */
#include "cryptodispatch/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#define DETECTED (UINT32_C(1) << 31) /* set in `kept_mask` once the CPU has been asked */

static const struct {
    uint32_t feature;
    const char *name;
} features[] = {
    {CD_CPU_SSSE3, "ssse3"},       {CD_CPU_SSE41, "sse41"},
    {CD_CPU_AESNI, "aesni"},       {CD_CPU_AVX, "avx"},
    {CD_CPU_AVX2, "avx2"},         {CD_CPU_VAES, "vaes"},
    {CD_CPU_SHANI, "shani"},       {CD_CPU_AVX512, "avx512"},
    {CD_CPU_BMI2, "bmi2"},         {CD_CPU_SHA_LANES, "sha_lanes"},
    {CD_CPU_NEON, "neon"},         {CD_CPU_ARM_AES, "arm_aes"},
    {CD_CPU_ARM_SHA2, "arm_sha2"},
};

#define FEATURE_COUNT (sizeof features / sizeof features[0])

/* The mask and DETECTED. The library's only process-wide value: set once, then only narrowed. */
static _Atomic uint32_t kept_mask;

#if defined(__x86_64__)

/* Which register states the operating system saves: XCR0, or 0 if it does not say (Intel SDM
 * volume 1, section 13.3). */
static uint32_t read_xcr0(uint32_t leaf1_ecx) {
    uint32_t low, high;

    if ((leaf1_ecx & bit_OSXSAVE) == 0) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}

static uint32_t when(bool condition, uint32_t feature) {
    return condition ? feature : 0;
}

/* Feature bits of CPUID leaf 7 (Intel SDM volume 2, CPUID). */
static uint32_t read_leaf7(bool ymm, bool zmm) {
    const uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
    uint32_t eax, ebx, ecx, edx, mask;
    bool avx2;

    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) {
        return 0;
    }
    avx2 = ymm && (ebx & bit_AVX2) != 0;
    mask = when((ebx & bit_BMI2) != 0, CD_CPU_BMI2) | when((ebx & bit_SHA) != 0, CD_CPU_SHANI);
    mask |= when(avx2, CD_CPU_AVX2) | when(avx2 && (ecx & bit_VAES) != 0, CD_CPU_VAES);
    mask |= when(zmm && (ebx & avx512) == avx512, CD_CPU_AVX512);
    return mask;
}

/* Two or three messages side by side are up to twice as fast on Zen and a tenth slower on Ice Lake
 * (tests/c/test_md_lanes.c has the lanes; benchmarks/compare.py --batches the figures). */
static uint32_t read_vendor(void) {
    uint32_t eax, ebx, ecx, edx;

    if (__get_cpuid(0, &eax, &ebx, &ecx, &edx) == 0) {
        return 0;
    }
    return when(ebx == signature_AMD_ebx && ecx == signature_AMD_ecx && edx == signature_AMD_edx,
                CD_CPU_SHA_LANES);
}

static uint32_t read_cpu(void) {
    const uint32_t ymm_state = 0x6, zmm_state = 0xe6; /* XCR0: SSE, AVX; opmask, ZMM halves */
    uint32_t eax, ebx, ecx, edx, xcr0, mask;
    bool ymm, zmm;

    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) {
        return 0;
    }
    xcr0 = read_xcr0(ecx);
    ymm = (ecx & bit_AVX) != 0 && (xcr0 & ymm_state) == ymm_state;
    zmm = ymm && (xcr0 & zmm_state) == zmm_state;
    mask = when((ecx & bit_SSSE3) != 0, CD_CPU_SSSE3) |
           when((ecx & bit_SSE4_1) != 0, CD_CPU_SSE41) | when((ecx & bit_AES) != 0, CD_CPU_AESNI) |
           when(ymm, CD_CPU_AVX);
    return mask | read_leaf7(ymm, zmm) | read_vendor();
}

#elif defined(__aarch64__)

static uint32_t read_cpu(void) {
    uint32_t mask = CD_CPU_NEON; /* part of the architecture's baseline */

#if defined(__linux__)
    /* Bits of Linux's arch/arm64 hwcap ABI ("ARM64 ELF hwcaps"): AES is 3, SHA2 is 6. */
    unsigned long hwcap = getauxval(AT_HWCAP);

    mask |= (hwcap >> 3 & 1) != 0 ? (uint32_t)CD_CPU_ARM_AES : 0;
    mask |= (hwcap >> 6 & 1) != 0 ? (uint32_t)CD_CPU_ARM_SHA2 : 0;
#endif
    return mask;
}

#else

static uint32_t read_cpu(void) {
    return 0;
}

#endif

/* Whether `text`, `length` characters without terminator, is the lower-case `name` in any case.
 * ASCII alone: strncasecmp() would go by the program's locale. */
static bool is_name(const char *text, size_t length, const char *name) {
    if (strlen(name) != length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char letter = text[i];

        if (letter >= 'A' && letter <= 'Z') {
            letter = (char)(letter - 'A' + 'a');
        }
        if (letter != name[i]) {
            return false;
        }
    }
    return true;
}

/* The feature of that name, `length` characters without terminator; all of them for "all"; 0 if
 * there is none. */
static uint32_t feature_of_name(const char *name, size_t length) {
    if (is_name(name, length, "all")) {
        return ~UINT32_C(0);
    }
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (is_name(name, length, features[i].name)) {
            return features[i].feature;
        }
    }
    return 0;
}

/* Features that CRYPTODISPATCH_CPU_DISABLE names; blanks around names and unknown names are
 * skipped. */
static uint32_t read_disabled(void) {
    const char *text = getenv("CRYPTODISPATCH_CPU_DISABLE");
    uint32_t disabled = 0;

    while (text != NULL && *text != '\0') {
        size_t length;

        text += strspn(text, ", ");
        length = strcspn(text, ", ");
        disabled |= feature_of_name(text, length);
        text += length;
    }
    return disabled;
}

uint32_t cd_cpu_detect(void) {
    uint32_t mask = atomic_load_explicit(&kept_mask, memory_order_relaxed);

    if (mask == 0) {
        uint32_t found = (read_cpu() & ~read_disabled()) | DETECTED;

        /* Only the first of several threads may store, lest a later one undo a narrowing. */
        if (atomic_compare_exchange_strong(&kept_mask, &mask, found)) {
            mask = found;
        }
    }
    return mask & ~DETECTED;
}

uint32_t cd_cpu_narrow(uint32_t allowed) {
    (void)cd_cpu_detect();
    return atomic_fetch_and(&kept_mask, allowed | DETECTED) & allowed & ~DETECTED;
}

const char *cd_cpu_feature_name(uint32_t feature) {
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        if (features[i].feature == feature) {
            return features[i].name;
        }
    }
    return NULL;
}
