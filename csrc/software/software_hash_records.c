/* Batches of hashes: messages side by side through the lanes of crypto/md_lanes.h. */
#include "software/software_hash.h"

#include <string.h>

#include "base/secure.h"
#include "crypto/md_lanes.h"

/* Messages described to the lanes at once: many times their number, and small enough for the stack.
 */
#define CHUNK 64u

void cd_software_hash_records(const struct cd_md_algorithm *algorithm,
                              struct cd_hash_record *records, size_t count) {
    struct cd_md_lane_job jobs[CHUNK];
    size_t used = 0;

    if (!cd_md_lanes_pay(algorithm)) {
        for (size_t i = 0; i < count; i++) {
            if (records[i].status == CD_OK) {
                cd_md_digest(algorithm, records[i].digest, records[i].source, records[i].length);
            }
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (records[i].status == CD_OK) {
            struct cd_md_lane_job *job = &jobs[used++];

            memcpy(job->words, algorithm->initial, algorithm->state_words * sizeof job->words[0]);
            job->count = 0;
            job->data = records[i].source;
            job->length = records[i].length;
            job->out_digest = records[i].digest;
        }
        if (used == CHUNK || i + 1 == count) {
            cd_md_lanes_finish(algorithm, jobs, used);
            used = 0;
        }
    }
    cd_wipe(jobs, sizeof jobs); /* SHA-224 keeps one word back */
}

void cd_software_hmac_records(const struct cd_hmac_key *key, struct cd_hash_record *records,
                              size_t count) {
    struct cd_hmac_lane_job jobs[CHUNK];
    size_t used = 0;

    if (!cd_md_lanes_pay(key->algorithm)) {
        for (size_t i = 0; i < count; i++) {
            if (records[i].status == CD_OK) {
                cd_hmac_digest(key, records[i].digest, records[i].source, records[i].length);
            }
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (records[i].status == CD_OK) {
            jobs[used].data = records[i].source;
            jobs[used].length = records[i].length;
            jobs[used++].out_tag = records[i].digest;
        }
        if (used == CHUNK || i + 1 == count) {
            cd_hmac_lanes_digest(key, jobs, used);
            used = 0;
        }
    }
}
