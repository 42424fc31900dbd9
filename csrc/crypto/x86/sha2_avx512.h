/* SHA-224 and SHA-256 of 16 messages at once. Exists on x86-64 only. */
#ifndef CD_SHA2_AVX512_H
#define CD_SHA2_AVX512_H

#include "crypto/md.h"

/* As blocks_wide of struct cd_md_algorithm. Needs CD_MD_AVX512_CPU. */
void cd_sha2_blocks_avx512(struct cd_md_wide *wide, size_t blocks);

#endif
