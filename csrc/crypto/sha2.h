/* SHA-224 and SHA-256 (FIPS 180-4 sections 6.2 and 6.3), as a table of functions per way of
 * computing them. */
#ifndef CD_SHA2_H
#define CD_SHA2_H

#include "crypto/md.h"
#include "cryptodispatch/cpu.h"

#define CD_SHA224_DIGEST 28u
#define CD_SHA256_DIGEST 32u

/* cd_sha224_shani.cpu and cd_sha256_shani.cpu, for initialisers. */
#define CD_SHA2_SHANI_CPU (CD_CPU_SHANI | CD_CPU_SSE41 | CD_CPU_SSSE3)

/* The same of cd_sha224_avx512 and cd_sha256_avx512. */
#define CD_SHA2_AVX512_CPU (CD_SHA2_SHANI_CPU | CD_CPU_AVX512)

/* H(0), FIPS 180-4 sections 5.3.2 and 5.3.3. */
extern const uint32_t cd_sha224_initial[8];
extern const uint32_t cd_sha256_initial[8];

/* The constants of the 64 rounds, FIPS 180-4 section 4.2.2; aligned for vector loads. */
extern const uint32_t cd_sha256_round_constants[64];

extern const struct cd_md_algorithm cd_sha224_portable;
extern const struct cd_md_algorithm cd_sha256_portable;
extern const struct cd_md_algorithm cd_sha224_shani; /* the functions are NULL where not built */
extern const struct cd_md_algorithm cd_sha256_shani;
extern const struct cd_md_algorithm cd_sha224_avx512; /* as the ones before them */
extern const struct cd_md_algorithm cd_sha256_avx512;

/* The fastest tables that this CPU can run. */
const struct cd_md_algorithm *cd_sha224_best(void);
const struct cd_md_algorithm *cd_sha256_best(void);

#endif
