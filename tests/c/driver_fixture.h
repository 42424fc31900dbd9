/* What the driver tests against the scripted bus share: a driver on a double, keyed transforms. */
#ifndef DRIVER_FIXTURE_H
#define DRIVER_FIXTURE_H

#include "cryptodispatch/aead.h"
#include "cryptodispatch/eip93_driver.h"
#include "cryptodispatch/hash.h"
#include "fake_bus.h"
#include "test_support.h"

#define TIMEOUT_NS 1000000000u

struct fixture {
    struct fake *fake;
    struct cd_eip93_bus bus;
    struct cd_registry *registry;
    struct cd_eip93_driver *driver;
    struct cd_cipher *cipher;
};

/* One request with its own 64 bytes of text, and how often it was completed. */
struct job {
    struct cd_cipher_request request;
    uint8_t source[64];
    uint8_t destination[64];
    unsigned completions;
};

static const uint8_t fixture_key[36] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                        0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};

static inline void fixture_cipher(struct fixture *f, const char *name, size_t key_len) {
    CHECK_EQ(cd_cipher_new(&f->cipher, f->registry, name, 0, 0), CD_OK);
    CHECK_EQ(cd_cipher_set_key(f->cipher, fixture_key, key_len), CD_OK);
}

static inline struct fixture fixture_new_segments(uint32_t ring_entries, uint32_t hash_segment) {
    struct fixture f = {.fake = fake_new()};
    struct cd_eip93_driver_config config = {.ring_entries = ring_entries,
                                            .request_timeout_ns = TIMEOUT_NS,
                                            .hash_segment = hash_segment};
    fake_bus(f.fake, &f.bus);
    CHECK_EQ(cd_registry_new(&f.registry), CD_OK);
    CHECK_EQ(cd_eip93_driver_new(&f.driver, f.registry, &f.bus, &config, NULL), CD_OK);
    fixture_cipher(&f, "cbc(aes)", 16);
    return f;
}

static inline struct fixture fixture_new(uint32_t ring_entries) {
    return fixture_new_segments(ring_entries, 0);
}

static inline void fixture_end(struct fixture *f) {
    cd_cipher_free(f->cipher);
    cd_eip93_driver_free(f->driver);
    f->fake->closed = true;
    cd_registry_free(f->registry);
    CHECK(fake_free(f->fake));
}

static inline struct cd_eip93_driver_counters fixture_counters(const struct fixture *f) {
    struct cd_eip93_driver_counters counters;
    cd_eip93_driver_counters(f->driver, &counters);
    return counters;
}

static inline void job_completed(struct cd_cipher_request *request, void *context) {
    struct job *job = context;
    (void)request;
    job->completions++;
}

/* Start a job of `length` bytes whose text depends on `tag`. */
static inline void job_start(struct fixture *f, struct job *job, size_t length, unsigned tag) {
    memset(job, 0, sizeof(*job));
    for (size_t i = 0; i < sizeof(job->source); i++) {
        job->source[i] = (uint8_t)(tag * 7 + i + (tag >> 8));
    }
    job->request.source = job->source;
    job->request.destination = job->destination;
    job->request.length = length;
    job->request.complete = job_completed;
    job->request.context = job;
    CHECK_EQ(cd_cipher_encrypt(f->cipher, &job->request), CD_IN_PROGRESS);
}

static inline bool job_is_right(const struct job *job) {
    bool right = job->completions == 1 && job->request.status == CD_OK;
    for (size_t i = 0; i < job->request.length; i++) {
        right = right && job->destination[i] == (job->source[i] ^ 0xA5);
    }
    return right;
}

static inline bool job_failed(const struct job *job, cd_status status) {
    return job->completions == 1 && job->request.status == (int32_t)status;
}

/* Make the engine answer everything, and the driver see it, until nothing more comes. */
static inline void fixture_drain(struct fixture *f) {
    f->fake->irq_hook = fake_answer_all;
    while (cd_eip93_driver_poll(f->driver) > 0) {
    }
}

#endif
