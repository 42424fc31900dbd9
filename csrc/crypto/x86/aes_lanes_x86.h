/*
 * Lanes of AES-CBC encryption as the x86 kernels see them, and the scheduler that fills them.
 * Exists on x86-64 only.
 */
#ifndef CD_AES_LANES_X86_H
#define CD_AES_LANES_X86_H

#include "crypto/aes_lanes.h"

#define CD_AES_LANES_NARROW 8u
#define CD_AES_LANES_MAX 16u
#define CD_AES_ROUND_KEYS_MAX 15u

/* Lanes 0 to active-1 hold a record each. */
struct cd_aes_lanes {
    _Alignas(32) uint8_t chain[CD_AES_LANES_MAX][CD_AES_BLOCK]; /* the last ciphertext, or the IV */
    uint8_t *out[CD_AES_LANES_MAX];                             /* the next block */
    const uint8_t *in[CD_AES_LANES_MAX];
    const struct cd_aes_encrypt_key *key[CD_AES_LANES_MAX];
    size_t left[CD_AES_LANES_MAX]; /* blocks */
    size_t active;
    bool wide; /* pair_keys is kept: the kernel of 16 lanes is used, with more than one key */
    /* The round keys of lanes 2 i and 2 i + 1, side by side for 256-bit registers. */
    _Alignas(32) uint8_t pair_keys[CD_AES_LANES_MAX / 2][CD_AES_ROUND_KEYS_MAX][2][CD_AES_BLOCK];
};

/*
 * Encrypt the next `blocks` blocks in the first 8 or 16 lanes, all of which can be read and written
 * that far (lanes beyond the active ones do what lane 0 does: all lanes are read before one is
 * written). Updates `chain` alone. All keys have `rounds`.
 */
typedef void cd_aes_lanes_kernel(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks);

struct cd_aes_lanes_kernels {
    size_t width;                    /* 8 or 16 lanes */
    cd_aes_lanes_kernel *wide_same;  /* 16 lanes with one key; NULL if width is 8 */
    cd_aes_lanes_kernel *wide_mixed; /* 16 lanes with keys in pair_keys */
};

/* The kernels of 8 lanes: one key for all; a key each. Need CD_AES_AESNI_CPU. */
void cd_aes_lanes_same_aesni(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks);
void cd_aes_lanes_mixed_aesni(struct cd_aes_lanes *lanes, uint32_t rounds, size_t blocks);

/* Encrypt all jobs. With up to 8 records left, lanes are narrowed to AES-NI's 8, and the last
 * few, where lanes no longer pay, run alone. Needs CD_AES_AESNI_CPU and what the kernels need. */
void cd_aes_lanes_run(const struct cd_aes_lanes_kernels *kernels,
                      const struct cd_aes_lane_job *jobs, size_t count);

/* The same for packed records. */
void cd_aes_lanes_run_packed(const struct cd_aes_lanes_kernels *kernels,
                             const struct cd_aes_lane_packed *packed);

#endif
