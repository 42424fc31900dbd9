/*
 * Threads that hash, cipher and authenticate at once on one engine (R031), with transforms of
 * their own and shared ones (R019). Run under ThreadSanitizer, too.
 */
#include "driver_rig.h"

#include <pthread.h>

#define HASH_THREADS 8
#define CIPHER_THREADS 2
#define AEAD_THREADS 4
#define THREADS (HASH_THREADS + CIPHER_THREADS + AEAD_THREADS)

static const struct {
    const char *engine, *software;
    size_t digest_size;
    bool keyed;
} hashes[HASH_THREADS] = {
    {"md5-eip93", "md5-lib", 16, false},
    {"sha1-eip93", "sha1-lib", 20, false},
    {"sha224-eip93", "sha224-lib", 28, false},
    {"sha256-eip93", "sha256-lib", 32, false},
    {"hmac(md5-eip93)", "hmac(md5-lib)", 16, true},
    {"hmac(sha1-eip93)", "hmac(sha1-lib)", 20, true},
    {"hmac(sha224-eip93)", "hmac(sha224-lib)", 28, true},
    {"hmac(sha256-eip93)", "hmac(sha256-lib)", 32, true},
};

struct worker {
    const struct rig *rig;
    struct cd_aead *engine, *software; /* shared by the aead threads */
    size_t number, jobs;
    unsigned wrong;
};

static struct cd_hash *hash_new(struct worker *worker, const char *name) {
    struct cd_hash *hash = NULL;
    uint8_t key[20];
    fill(key, sizeof(key), 8);
    worker->wrong += cd_hash_new(&hash, worker->rig->registry, name, 0, 0) != CD_OK;
    if (hashes[worker->number].keyed) {
        worker->wrong += cd_hash_set_key(hash, key, sizeof(key)) != CD_OK;
    }
    return hash;
}

static void *hash_worker(void *context) {
    struct worker *worker = context;
    struct cd_hash *engine = hash_new(worker, hashes[worker->number].engine);
    struct cd_hash *software = hash_new(worker, hashes[worker->number].software);
    uint8_t text[256], actual[32], expected[32];
    for (size_t i = 0; i < worker->jobs; i++) {
        size_t length = i % 256;
        struct cd_hash_request right = {.source = text, .length = length, .digest = actual};
        struct cd_hash_request left = {.source = text, .length = length, .digest = expected};
        fill(text, length, worker->number * 1000000 + i);
        worker->wrong += cd_hash_digest_wait(software, &left) != CD_OK;
        if (i % 8 == 7) {
            struct cd_hash_state state;
            worker->wrong += cd_hash_begin(engine, &state) != CD_OK;
            worker->wrong += cd_hash_update(engine, &state, text, length) != CD_OK;
            worker->wrong += cd_hash_finish(engine, &state, actual) != CD_OK;
        } else {
            worker->wrong += cd_hash_digest_wait(engine, &right) != CD_OK;
        }
        worker->wrong += memcmp(actual, expected, hashes[worker->number].digest_size) != 0;
    }
    cd_hash_free(engine);
    cd_hash_free(software);
    return NULL;
}

static void *cipher_worker(void *context) {
    struct worker *worker = context;
    uint8_t key[24], text[64], expected[64];
    fill(key, sizeof(key), 9);
    struct cd_cipher *engine = rig_cipher(worker->rig, "cbc(des3_ede-eip93)", key, 24);
    struct cd_cipher *software = rig_cipher(worker->rig, "cbc(des3_ede-lib)", key, 24);
    for (size_t i = 0; i < worker->jobs; i++) {
        struct cd_cipher_request right = {.source = text, .destination = text, .length = 64};
        struct cd_cipher_request left = {.source = text, .destination = expected, .length = 64};
        fill(text, 64, worker->number * 1000000 + i);
        worker->wrong += cd_cipher_encrypt_wait(software, &left) != CD_OK;
        worker->wrong += cd_cipher_encrypt_wait(engine, &right) != CD_OK;
        worker->wrong += memcmp(text, expected, 64) != 0;
    }
    cd_cipher_free(engine);
    cd_cipher_free(software);
    return NULL;
}

/* Encryptions, decryptions, forgeries, and what goes to software, in turn. */
static void *aead_worker(void *context) {
    struct worker *worker = context;
    uint8_t text[64], plain[64], tag[20];
    for (size_t i = 0; i < worker->jobs; i++) {
        struct cd_aead_request request = {.source = text,
                                          .destination = text,
                                          .length = 16 + 16 * (i % 4),
                                          .aad = text,
                                          .aad_len = 0,
                                          .tag = tag};
        bool forged = i % 5 == 4;
        uint8_t aad[8] = {(uint8_t)i};
        request.aad = aad;
        request.aad_len = i % 9;
        fill(plain, 64, worker->number * 1000000 + i);
        memcpy(text, plain, 64);
        worker->wrong +=
            cd_aead_encrypt_wait(i % 2 == 0 ? worker->engine : worker->software, &request) != CD_OK;
        tag[0] ^= forged ? 1 : 0;
        worker->wrong += cd_aead_decrypt_wait(i % 3 == 0 ? worker->software : worker->engine,
                                              &request) != (forged ? CD_E_AUTHENTICATION : CD_OK);
        worker->wrong += !forged && memcmp(text, plain, 64) != 0;
    }
    return NULL;
}

static void *run_worker(void *context) {
    struct worker *worker = context;
    if (worker->number < HASH_THREADS) {
        return hash_worker(context);
    }
    return worker->number < HASH_THREADS + CIPHER_THREADS ? cipher_worker(context)
                                                          : aead_worker(context);
}

static struct cd_aead *shared_aead(const struct rig *rig, const char *name) {
    struct cd_aead *aead = NULL;
    uint8_t key[36];
    fill(key, sizeof(key), 10);
    CHECK_EQ(cd_aead_new(&aead, rig->registry, name, 0, 0), CD_OK);
    CHECK_EQ(cd_aead_set_key(aead, key, 16, key + 16, 20), CD_OK);
    return aead;
}

/* `jobs` per thread. */
static void mix(uint32_t entries, uint32_t hash_segment, size_t jobs) {
    struct rig rig = rig_with_segments(entries, hash_segment);
    struct cd_aead *engine = shared_aead(&rig, "authenc(hmac(sha1-eip93),cbc(aes-eip93))");
    struct cd_aead *software = shared_aead(&rig, "authenc(hmac(sha1-lib),cbc(aes-lib))");
    pthread_t ids[THREADS];
    struct worker workers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){&rig, engine, software, i, jobs, 0};
        CHECK_EQ(pthread_create(&ids[i], NULL, run_worker, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        CHECK_EQ(workers[i].wrong, 0);
    }
    CHECK_EQ(rig_counters(&rig).resets, 0);
    cd_aead_free(engine);
    cd_aead_free(software);
    rig_end(&rig);
}

static void small_ring(void) {
    mix(8, 64, 500);
}

static void default_ring(void) {
    mix(0, 0, 7200); /* 100 000 jobs in all */
}

int main(void) {
    RUN(small_ring);
    RUN(default_ring);
    return test_end();
}
