/*
 * Measuring transforms: whole requests, completion included, read around each one on a clock.
 *
 * The numbers behind the fallback thresholds; exactly the procedure of the kernel's framework
 * (fallback-semantics.md section 3).
 */
#ifndef CD_BENCHMARK_H
#define CD_BENCHMARK_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/clock.h"
#include "cryptodispatch/hash.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CD_BENCHMARK_WARMUPS 4u
#define CD_BENCHMARK_RUNS 8u
#define CD_BENCHMARK_CLOSE_RUNS 16u /* more runs of each side when the two are close */

#define CD_BENCHMARK_SIZES 11u
extern const uint32_t cd_benchmark_sizes[CD_BENCHMARK_SIZES]; /* 16 .. 16384 bytes, ascending */

/*
 * Sum the ticks of `runs` encryptions of `length` bytes in place in `buffer` after `warmups`
 * unmeasured ones. The IV is zero before each. `length` is a positive multiple of the block size.
 *
 * Errors: CD_E_BENCHMARK if the sum is zero (no counter) or the clock ran backwards; CD_E_LENGTH if
 * `length` is 0; the first error of a request, at once.
 */
CD_MUST_CHECK cd_status cd_benchmark_cipher(uint64_t *out_ticks, struct cd_cipher *cipher,
                                            const struct cd_clock *clock, uint8_t *buffer,
                                            size_t length, uint32_t warmups, uint32_t runs);

/* The same for `runs` decryptions. */
CD_MUST_CHECK cd_status cd_benchmark_cipher_decrypt(uint64_t *out_ticks, struct cd_cipher *cipher,
                                                    const struct cd_clock *clock, uint8_t *buffer,
                                                    size_t length, uint32_t warmups, uint32_t runs);

/* The same for `runs` digests of the `length` bytes at `source`; 0 bytes are a message too. */
CD_MUST_CHECK cd_status cd_benchmark_hash(uint64_t *out_ticks, struct cd_hash *hash,
                                          const struct cd_clock *clock, const uint8_t *source,
                                          size_t length, uint32_t warmups, uint32_t runs);

/* The same for `runs` encryptions without associated data from `source` to `destination`, `length`
 * bytes each, which do not overlap; a multiple of the block size, 0 included. */
CD_MUST_CHECK cd_status cd_benchmark_aead(uint64_t *out_ticks, struct cd_aead *aead,
                                          const struct cd_clock *clock, const uint8_t *source,
                                          uint8_t *destination, size_t length, uint32_t warmups,
                                          uint32_t runs);

enum cd_side {
    CD_SIDE_NONE = 0,
    CD_SIDE_HARDWARE = 1,
    CD_SIDE_SOFTWARE = 2,
};
const char *cd_side_name(int side); /* "hardware", "software"; NULL otherwise */

/* One size measured on both sides. */
struct cd_measurement {
    uint32_t size;     /* bytes, as asked (before rounding to the block size) */
    uint32_t samples;  /* operations measured on each side: 8 or 24 */
    uint64_t hardware; /* ticks, sum of the samples */
    uint64_t software; /* ticks, sum of the samples */
    int32_t winner;    /* enum cd_side */
};

/* Decide who won: hardware only if its sum is strictly lower. Pure. */
enum cd_side cd_benchmark_winner(uint64_t hardware, uint64_t software);

/* True if the two sums are so close (within a tenth of the smaller) that more samples are due.
 * Pure. */
bool cd_benchmark_is_close(uint64_t hardware, uint64_t software);

/*
 * Measure one size on both sides: hardware, then software, and again 16 of each without warm-up if
 * they are close. `buffer` holds at least `size` rounded up to the block size of `hardware`. Errors
 * as cd_benchmark_cipher; if `hardware` of the measurement is then 0 the hardware failed, else the
 * software did.
 */
CD_MUST_CHECK cd_status cd_benchmark_cipher_pair(struct cd_measurement *out_measurement,
                                                 struct cd_cipher *hardware,
                                                 struct cd_cipher *software,
                                                 const struct cd_clock *clock, uint8_t *buffer,
                                                 uint32_t size);

/* The same for hashes: one digest of `size` bytes, which are not rounded. */
CD_MUST_CHECK cd_status cd_benchmark_hash_pair(struct cd_measurement *out_measurement,
                                               struct cd_hash *hardware, struct cd_hash *software,
                                               const struct cd_clock *clock, const uint8_t *source,
                                               uint32_t size);

/* The same for aeads: encryption as in cd_benchmark_aead; both buffers hold `size` rounded up to
 * the block size of `hardware`. Keys and tag sizes are set before. */
CD_MUST_CHECK cd_status cd_benchmark_aead_pair(struct cd_measurement *out_measurement,
                                               struct cd_aead *hardware, struct cd_aead *software,
                                               const struct cd_clock *clock, const uint8_t *source,
                                               uint8_t *destination, uint32_t size);

/* Fill `length` bytes with reproducible pseudo-random data drawn from `seed`. Not for keys. */
void cd_benchmark_fill(uint8_t *out, size_t length, uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
