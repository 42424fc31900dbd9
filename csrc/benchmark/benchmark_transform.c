/* Measuring transforms of all types, on one side and on both (fallback-semantics.md section 3). */
#include "cryptodispatch/benchmark.h"

#include <string.h>

union request {
    struct cd_cipher_request cipher;
    struct cd_hash_request hash;
    struct cd_aead_request aead;
};

/* A transform, where its requests read and write, and how its type runs one. */
struct side {
    void *transform;
    void (*prepare)(union request *request, struct side *side, size_t length); /* not timed */
    cd_status (*run)(void *transform, union request *request); /* whole, completion included */
    const uint8_t *source;
    uint8_t *destination;
    uint8_t result[CD_TAG_MAX]; /* a digest or a tag; they are of the same size at most */
};
_Static_assert(CD_DIGEST_MAX <= CD_TAG_MAX, "a digest fits where a tag does");

static void prepare_cipher(union request *request, struct side *side, size_t length) {
    memset(&request->cipher, 0, sizeof(request->cipher));
    request->cipher.source = side->source;
    request->cipher.destination = side->destination;
    request->cipher.length = length;
}

static void prepare_hash(union request *request, struct side *side, size_t length) {
    memset(&request->hash, 0, sizeof(request->hash));
    request->hash.source = side->source;
    request->hash.length = length;
    request->hash.digest = side->result;
}

static void prepare_aead(union request *request, struct side *side, size_t length) {
    memset(&request->aead, 0, sizeof(request->aead));
    request->aead.source = side->source;
    request->aead.destination = side->destination;
    request->aead.length = length;
    request->aead.tag = side->result;
}

static cd_status run_cipher(void *transform, union request *request) {
    return cd_cipher_encrypt_wait(transform, &request->cipher);
}

static cd_status run_cipher_decrypt(void *transform, union request *request) {
    return cd_cipher_decrypt_wait(transform, &request->cipher);
}

static cd_status run_hash(void *transform, union request *request) {
    return cd_hash_digest_wait(transform, &request->hash);
}

static cd_status run_aead(void *transform, union request *request) {
    return cd_aead_encrypt_wait(transform, &request->aead);
}

static struct side cipher_side(struct cd_cipher *cipher, uint8_t *buffer) {
    return (struct side){cipher, prepare_cipher, run_cipher, buffer, buffer, {0}};
}

static struct side hash_side(struct cd_hash *hash, const uint8_t *source) {
    return (struct side){hash, prepare_hash, run_hash, source, NULL, {0}};
}

static struct side aead_side(struct cd_aead *aead, const uint8_t *source, uint8_t *destination) {
    return (struct side){aead, prepare_aead, run_aead, source, destination, {0}};
}

/* Run one request; out_ticks NULL: without reading the clock. */
static cd_status run_once(uint64_t *out_ticks, struct side *side, const struct cd_clock *clock,
                          size_t length) {
    union request request;
    side->prepare(&request, side, length);
    if (out_ticks == NULL) {
        return side->run(side->transform, &request);
    }
    uint64_t start = cd_clock_now(clock);
    cd_status status = side->run(side->transform, &request);
    uint64_t end = cd_clock_now(clock);
    if (status == CD_OK && end < start) {
        return CD_E_BENCHMARK;
    }
    *out_ticks = end - start;
    return status;
}

/* Sum the ticks of `runs` requests after `warmups` unmeasured ones. */
static cd_status measure(uint64_t *out_ticks, struct side *side, const struct cd_clock *clock,
                         size_t length, uint32_t warmups, uint32_t runs) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < warmups; i++) {
        cd_status status = run_once(NULL, side, clock, length);
        if (status != CD_OK) {
            return status;
        }
    }
    for (uint32_t i = 0; i < runs; i++) {
        uint64_t ticks;
        cd_status status = run_once(&ticks, side, clock, length);
        if (status != CD_OK) {
            return status;
        }
        total += ticks;
    }
    if (total == 0) {
        return CD_E_BENCHMARK;
    }
    *out_ticks = total;
    return CD_OK;
}

cd_status cd_benchmark_cipher(uint64_t *out_ticks, struct cd_cipher *cipher,
                              const struct cd_clock *clock, uint8_t *buffer, size_t length,
                              uint32_t warmups, uint32_t runs) {
    struct side side = cipher_side(cipher, buffer);
    return length == 0 ? CD_E_LENGTH : measure(out_ticks, &side, clock, length, warmups, runs);
}

cd_status cd_benchmark_cipher_decrypt(uint64_t *out_ticks, struct cd_cipher *cipher,
                                      const struct cd_clock *clock, uint8_t *buffer, size_t length,
                                      uint32_t warmups, uint32_t runs) {
    struct side side = cipher_side(cipher, buffer);
    side.run = run_cipher_decrypt;
    return length == 0 ? CD_E_LENGTH : measure(out_ticks, &side, clock, length, warmups, runs);
}

cd_status cd_benchmark_hash(uint64_t *out_ticks, struct cd_hash *hash, const struct cd_clock *clock,
                            const uint8_t *source, size_t length, uint32_t warmups, uint32_t runs) {
    struct side side = hash_side(hash, source);
    return measure(out_ticks, &side, clock, length, warmups, runs);
}

cd_status cd_benchmark_aead(uint64_t *out_ticks, struct cd_aead *aead, const struct cd_clock *clock,
                            const uint8_t *source, uint8_t *destination, size_t length,
                            uint32_t warmups, uint32_t runs) {
    struct side side = aead_side(aead, source, destination);
    return measure(out_ticks, &side, clock, length, warmups, runs);
}

/* Add `runs` requests to a side's sum; the sum of a side that fails is 0. */
static cd_status add_runs(uint64_t *sum, struct side *side, const struct cd_clock *clock,
                          size_t length, uint32_t warmups, uint32_t runs) {
    uint64_t ticks;
    cd_status status = measure(&ticks, side, clock, length, warmups, runs);
    *sum = status == CD_OK ? *sum + ticks : 0;
    return status;
}

/* Measure a size, rounded up to a multiple of `block` bytes. */
static cd_status measure_pair(struct cd_measurement *out_measurement, struct side *hardware,
                              struct side *software, const struct cd_clock *clock, uint32_t size,
                              size_t block) {
    size_t length = ((size_t)size + block - 1) / block * block;
    struct cd_measurement *m = out_measurement;
    *m = (struct cd_measurement){.size = size};
    uint32_t warmups = CD_BENCHMARK_WARMUPS;
    uint32_t runs = CD_BENCHMARK_RUNS;
    do {
        cd_status status = add_runs(&m->hardware, hardware, clock, length, warmups, runs);
        if (status == CD_OK) {
            status = add_runs(&m->software, software, clock, length, warmups, runs);
        }
        if (status != CD_OK) {
            return status;
        }
        m->samples += runs;
        warmups = 0;
        runs = CD_BENCHMARK_CLOSE_RUNS;
    } while (m->samples == CD_BENCHMARK_RUNS && cd_benchmark_is_close(m->hardware, m->software));
    m->winner = (int32_t)cd_benchmark_winner(m->hardware, m->software);
    return CD_OK;
}

cd_status cd_benchmark_cipher_pair(struct cd_measurement *out_measurement,
                                   struct cd_cipher *hardware, struct cd_cipher *software,
                                   const struct cd_clock *clock, uint8_t *buffer, uint32_t size) {
    struct side sides[2] = {cipher_side(hardware, buffer), cipher_side(software, buffer)};
    return measure_pair(out_measurement, &sides[0], &sides[1], clock, size,
                        cd_cipher_implementation(hardware)->block_size);
}

cd_status cd_benchmark_hash_pair(struct cd_measurement *out_measurement, struct cd_hash *hardware,
                                 struct cd_hash *software, const struct cd_clock *clock,
                                 const uint8_t *source, uint32_t size) {
    struct side sides[2] = {hash_side(hardware, source), hash_side(software, source)};
    return measure_pair(out_measurement, &sides[0], &sides[1], clock, size, 1);
}

cd_status cd_benchmark_aead_pair(struct cd_measurement *out_measurement, struct cd_aead *hardware,
                                 struct cd_aead *software, const struct cd_clock *clock,
                                 const uint8_t *source, uint8_t *destination, uint32_t size) {
    struct side sides[2] = {aead_side(hardware, source, destination),
                            aead_side(software, source, destination)};
    return measure_pair(out_measurement, &sides[0], &sides[1], clock, size,
                        cd_aead_implementation(hardware)->block_size);
}
