/*
 * Compiling single functions for instructions that the whole build may not use, and in or out of
 * their callers.
 *
 * A function with CD_TARGET may only be called after cd_cpu_detect has reported the features. The
 * build itself stays at the baseline of its architecture: build systems apply one list of flags to
 * a whole extension, and code compiled with more would crash on older machines.
 */
#ifndef CD_TARGET_H
#define CD_TARGET_H

#if defined(__GNUC__)
/* `features` as GCC and Clang spell them: CD_TARGET("aes,ssse3"). */
#define CD_TARGET(features) __attribute__((target(features)))
/* Inlined whatever the optimisation level; the caller needs the same CD_TARGET. */
#define CD_ALWAYS_INLINE static inline __attribute__((always_inline))
/* Kept out of its callers: for what is rare there, and would cost the rest registers. */
#define CD_NEVER_INLINE __attribute__((noinline))
#else
#define CD_TARGET(features)
#define CD_ALWAYS_INLINE static inline
#define CD_NEVER_INLINE
#endif

#endif
