/*
 * What the CPU can do, as implementations require it.
 *
 * The mask is the library's only process-wide value: read once from the CPU and the operating
 * system, only ever narrowed afterwards.
 */
#ifndef CD_CPU_H
#define CD_CPU_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cd_cpu_feature {
    CD_CPU_SSSE3 = 1 << 0,
    CD_CPU_SSE41 = 1 << 1,
    CD_CPU_AESNI = 1 << 2,
    CD_CPU_AVX = 1 << 3,  /* with OS support for the YMM state */
    CD_CPU_AVX2 = 1 << 4, /* with OS support for the YMM state */
    CD_CPU_VAES = 1 << 5, /* 256-bit AESENC; needs AVX2 */
    CD_CPU_SHANI = 1 << 6,
    CD_CPU_AVX512 = 1 << 7, /* F+BW+DQ+VL with OS support for the ZMM state */
    CD_CPU_BMI2 = 1 << 8,
    CD_CPU_SHA_LANES = 1 << 9, /* SHA-NI overlaps several messages: AMD; Intel gains nothing */
    CD_CPU_NEON = 1 << 16,
    CD_CPU_ARM_AES = 1 << 17,
    CD_CPU_ARM_SHA2 = 1 << 18,
};

/*
 * Read what the CPU and the operating system allow: one or more `enum cd_cpu_feature` bits.
 *
 * The first call asks CPUID and XGETBV (x86-64) or the auxiliary vector (arm64) and leaves out
 * every feature named in the environment variable CRYPTODISPATCH_CPU_DISABLE (names as of
 * cd_cpu_feature_name in any case, separated by commas or blanks; "all" leaves none; what is no
 * name has no effect). Each is left out by itself: without "aesni" there is still "vaes". Later
 * calls return the kept mask. Any thread.
 */
uint32_t cd_cpu_detect(void);

/*
 * Keep only the features in `allowed`; returns the new mask. Features cannot come back.
 * Implementations that are bound already keep what they were bound with. Any thread.
 */
uint32_t cd_cpu_narrow(uint32_t allowed);

/* Name of one feature bit ("aesni", "vaes", ...); NULL if `feature` is not exactly one known bit.
 */
const char *cd_cpu_feature_name(uint32_t feature);

#ifdef __cplusplus
}
#endif

#endif
