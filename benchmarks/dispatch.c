/*
 * Ways to cbc(aes-ni) (where the CPU has no AES-NI: cbc(aes-generic)): the kernel called as a
 * function, a transform bound to it, and a fallback's proxy whose threshold sends the request to
 * it, once as the group's software and once as its hardware. The other side is cbc(aes-lib).
 *
 * A request's IV continues from one to the next, so that no way sets anything between requests.
 */
#include "dispatch.h"

#include <stdio.h>
#include <string.h>

#include "crypto/aes.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/fallback.h"
#include "cryptodispatch/software.h"

#define OTHER "cbc(aes-lib)"

static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t text[CD_BENCH_REQUEST] = "sixteen bytes of";

/* A transform and its request. */
struct sender {
    struct cd_cipher *cipher;
    struct cd_cipher_request *request;
};

static struct {
    const struct cd_aes_functions *aes;
    struct cd_aes_key key;
    uint8_t iv[16];
} kernel;
static struct cd_cipher_request requests[3];
static struct sender senders[3] = {
    {NULL, &requests[0]}, {NULL, &requests[1]}, {NULL, &requests[2]}};
static uint8_t outs[4][CD_BENCH_REQUEST];
static char to_software[CD_NAME_MAX], to_hardware[CD_NAME_MAX];

static void kernel_loop(const void *context, size_t length, size_t count) {
    (void)context;
    for (; count > 0; count--) {
        kernel.aes->cbc_encrypt(&kernel.key.encrypt, outs[0], text, length / 16, kernel.iv);
    }
}

static void request_loop(const void *context, size_t length, size_t count) {
    const struct sender *sender = context;
    (void)length;
    for (; count > 0; count--) {
        if (cd_cipher_encrypt(sender->cipher, sender->request) != CD_OK) {
            abort();
        }
    }
}

static const struct cd_bench_way ways[] = {
    {"kernel alone", kernel_loop, NULL},
    {"cd_cipher_encrypt, bound", request_loop, &senders[0]},
    {"cd_cipher_encrypt, proxy to software", request_loop, &senders[1]},
    {"cd_cipher_encrypt, proxy to hardware", request_loop, &senders[2]},
};

static bool has_aesni(void) {
    return (CD_AES_AESNI_CPU & ~cd_cpu_detect()) == 0;
}

const char *cd_bench_driver(void) {
    return has_aesni() ? "cbc(aes-ni)" : "cbc(aes-generic)";
}

/* Two fixed groups: nothing is measured. */
static cd_status enable(struct cd_registry *registry, struct cd_error *error) {
    static const char *other[] = {OTHER}, *driver[1];
    driver[0] = cd_bench_driver();
    const struct cd_group_config groups[] = {
        {.name = "to_software",
         .type = CD_TYPE_CIPHER,
         .algorithm = "cbc(aes)",
         .driver = OTHER,
         .members = other,
         .member_count = 1,
         .fixed = true,
         .fixed_threshold = 4096},
        {.name = "to_hardware",
         .type = CD_TYPE_CIPHER,
         .algorithm = "cbc(aes)",
         .driver = driver[0],
         .members = driver,
         .member_count = 1,
         .fixed = true,
         .fixed_threshold = 8},
    };
    struct cd_fallback_config config = {.software_mask = CD_FLAG_MODELLED};
    struct cd_fallback *fallback;

    cd_clock_host(&config.clock);
    cd_status status = cd_fallback_new(&fallback, registry, "benchmark", groups, 2, &config, error);
    return status == CD_OK ? cd_fallback_enable(fallback, NULL, NULL, error) : status;
}

static cd_status open_sender(struct sender *sender, struct cd_registry *registry, const char *name,
                             uint8_t *out) {
    cd_status status = cd_cipher_new(&sender->cipher, registry, name, 0, 0);
    if (status == CD_OK) {
        status = cd_cipher_set_key(sender->cipher, key, sizeof(key));
    }
    sender->request->source = text;
    sender->request->destination = out;
    sender->request->length = CD_BENCH_REQUEST;
    return status;
}

static cd_status open_all(struct cd_error *error) {
    struct cd_registry *registry;
    const char *driver = cd_bench_driver();
    cd_status status = cd_registry_new(&registry);

    snprintf(to_software, sizeof(to_software), "fallback(%s)", OTHER);
    snprintf(to_hardware, sizeof(to_hardware), "fallback(%s)", driver);
    if (status == CD_OK) {
        status = cd_software_register(registry, error);
    }
    if (status == CD_OK) {
        status = cd_registry_set_priority(registry, driver, 10000);
    }
    if (status == CD_OK) {
        status = enable(registry, error);
    }
    const char *names[] = {driver, to_software, to_hardware};
    for (size_t i = 0; status == CD_OK && i < 3; i++) {
        status = open_sender(&senders[i], registry, names[i], outs[i + 1]);
    }
    return status;
}

const struct cd_bench_way *cd_bench_ways(size_t *out_count) {
    struct cd_error error = {0};
    cd_status status = open_all(&error);

    if (status != CD_OK) {
        printf("dispatch: %s %s\n", cd_status_name(status), error.message);
        return NULL;
    }
    kernel.aes = has_aesni() ? &cd_aes_aesni : &cd_aes_generic;
    kernel.aes->prepare(&kernel.key, key, sizeof(key));
    *out_count = sizeof(ways) / sizeof(ways[0]);
    return ways;
}

bool cd_bench_ways_agree(void) {
    bool agree = true;

    memset(kernel.iv, 0x5a, sizeof(kernel.iv));
    kernel_loop(NULL, CD_BENCH_REQUEST, 2);
    for (size_t i = 0; i < 3; i++) {
        memset(requests[i].iv, 0x5a, sizeof(requests[i].iv));
        request_loop(&senders[i], CD_BENCH_REQUEST, 2);
        agree = agree && memcmp(outs[0], outs[i + 1], CD_BENCH_REQUEST) == 0;
    }
    return agree;
}
