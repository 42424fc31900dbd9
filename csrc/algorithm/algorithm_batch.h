/* Batches run as requests: what those who run one by themselves need. */
#ifndef CD_ALGORITHM_BATCH_H
#define CD_ALGORITHM_BATCH_H

#include "cryptodispatch/batch.h"

/* Requests in flight at once: enough to fill an engine's pipeline, few enough for the stack. */
#define CD_BATCH_WINDOW 32u

/* Make `request` one of `record` and start it; returns what the request returned. The record is not
 * written: its outcome is the caller's to note. */
cd_status cd_cipher_start_record(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                 const struct cd_cipher_record *record, bool decrypt);
cd_status cd_hash_start_record(struct cd_hash *hash, struct cd_hash_request *request,
                               const struct cd_hash_record *record);

/* Wait for a request that was `started` to end; returns its outcome, never CD_IN_PROGRESS. */
cd_status cd_cipher_finish_request(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                   cd_status started);
cd_status cd_hash_finish_request(struct cd_hash *hash, struct cd_hash_request *request,
                                 cd_status started);
cd_status cd_aead_finish_request(struct cd_aead *aead, struct cd_aead_request *request,
                                 cd_status started);

#endif
