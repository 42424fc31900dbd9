/* SHA-1 of 16 messages at once. Exists on x86-64 only. */
#ifndef CD_SHA1_AVX512_H
#define CD_SHA1_AVX512_H

#include "crypto/md.h"

/* As blocks_wide of struct cd_md_algorithm. Needs CD_MD_AVX512_CPU. */
void cd_sha1_blocks_avx512(struct cd_md_wide *wide, size_t blocks);

#endif
