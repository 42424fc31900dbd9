/* Batches of the hash implementations. */
#ifndef CD_SOFTWARE_HASH_H
#define CD_SOFTWARE_HASH_H

#include "crypto/hmac.h"
#include "cryptodispatch/batch.h"

/* Digest those records whose status is CD_OK. */
void cd_software_hash_records(const struct cd_md_algorithm *algorithm,
                              struct cd_hash_record *records, size_t count);
void cd_software_hmac_records(const struct cd_hmac_key *key, struct cd_hash_record *records,
                              size_t count);

#endif
