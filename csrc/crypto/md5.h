/* MD5 (RFC 1321), as tables of functions. Broken as a hash; here for HMAC-MD5 and old records. */
#ifndef CD_MD5_H
#define CD_MD5_H

#include "crypto/md.h"

#define CD_MD5_DIGEST 16u

extern const struct cd_md_algorithm cd_md5_portable;

#endif
