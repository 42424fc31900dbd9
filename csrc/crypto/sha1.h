/* SHA-1 (FIPS 180-4 section 6.1), as a table of functions per way of computing it. */
#ifndef CD_SHA1_H
#define CD_SHA1_H

#include "crypto/md.h"
#include "cryptodispatch/cpu.h"

#define CD_SHA1_DIGEST 20u

/* cd_sha1_shani.cpu, for initialisers. */
#define CD_SHA1_SHANI_CPU (CD_CPU_SHANI | CD_CPU_SSE41 | CD_CPU_SSSE3)

/* H(0), FIPS 180-4 section 5.3.1. */
extern const uint32_t cd_sha1_initial[5];

extern const struct cd_md_algorithm cd_sha1_portable;
extern const struct cd_md_algorithm cd_sha1_shani; /* the functions are NULL where not built */

/* The fastest table that this CPU can run. */
const struct cd_md_algorithm *cd_sha1_best(void);

#endif
