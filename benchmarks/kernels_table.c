/*
 * The table of kernels.h: what each kernel is called with. Loops call functions through their
 * tables, as the library does.
 */
#include "kernels.h"

#include <string.h>

#include "crypto/aes_lanes.h"
#include "crypto/authenc.h"
#include "crypto/des.h"
#include "crypto/hmac.h"
#include "crypto/md5.h"
#include "crypto/md_lanes.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"

static _Alignas(64) uint8_t in[CD_BENCH_RECORDS * CD_BENCH_SIZE_MAX];
static _Alignas(64) uint8_t out[CD_BENCH_RECORDS * (CD_BENCH_SIZE_MAX + CD_MD_DIGEST_MAX)];
static uint8_t iv[16];
static const uint8_t key[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static struct cd_aes_key aes_key;
static struct cd_des_key des_key;
static struct cd_des3_key des3_key;
static struct cd_hmac_key hmac_key;
static uint8_t record_ivs[CD_BENCH_RECORDS][16];

/* A function that runs `call` again and again; it may use t (the table) and length. */
#define LOOP(name, type, call)                                                                     \
    static void name(const void *table, size_t length, size_t count) {                             \
        const type *t = table;                                                                     \
        for (; count > 0; count--) {                                                               \
            call;                                                                                  \
        }                                                                                          \
    }

typedef struct cd_aes_functions aes_table;
typedef struct cd_des_functions des_table;
typedef struct cd_des3_functions des3_table;
typedef struct cd_md_algorithm md_table;
typedef struct cd_authenc_functions authenc_table;
typedef struct cd_aes_lane_functions lane_table;

static void set_nothing(const void *table) {
    (void)table;
}

static void set_aes(const void *table) {
    ((const aes_table *)table)->prepare(&aes_key, key, 16);
}

static void set_des(const void *table) {
    ((const des_table *)table)->prepare(&des_key, key);
}

static void set_des3(const void *table) {
    ((const des3_table *)table)->prepare(&des3_key, key);
}

static void set_hmac(const void *table) {
    cd_hmac_prepare(&hmac_key, table, key, 16);
}

static void set_authenc(const void *table) {
    const authenc_table *t = table;
    t->aes->prepare(&aes_key, key, 16);
    cd_hmac_prepare(&hmac_key, t->hash, key, 16);
}

static void set_lanes(const void *table) {
    ((const lane_table *)table)->aes->prepare(&aes_key, key, 16);
}

LOOP(aes_ecb_encrypt, aes_table, t->ecb_encrypt(&aes_key.encrypt, out, in, length / 16))
LOOP(aes_ecb_decrypt, aes_table, t->ecb_decrypt(&aes_key, out, in, length / 16))
LOOP(aes_cbc_encrypt, aes_table, t->cbc_encrypt(&aes_key.encrypt, out, in, length / 16, iv))
LOOP(aes_cbc_decrypt, aes_table, t->cbc_decrypt(&aes_key, out, in, length / 16, iv))
LOOP(aes_ctr, aes_table, t->ctr(&aes_key.encrypt, out, in, length, iv))
LOOP(des_cbc_encrypt, des_table, t->cbc_encrypt(&des_key, out, in, length / 8, iv))
LOOP(des_cbc_decrypt, des_table, t->cbc_decrypt(&des_key, out, in, length / 8, iv))
LOOP(des3_cbc_encrypt, des3_table, t->cbc_encrypt(&des3_key, out, in, length / 8, iv))
LOOP(des3_cbc_decrypt, des3_table, t->cbc_decrypt(&des3_key, out, in, length / 8, iv))
LOOP(hash, md_table, cd_md_digest(t, out, in, length))

static void hmac(const void *table, size_t length, size_t count) {
    (void)table;
    for (; count > 0; count--) {
        cd_hmac_digest(&hmac_key, out, in, length);
    }
}

/* Encrypt-then-MAC in one pass, and with the same kernels in two. */
static void one_pass(const void *table, size_t length, size_t count) {
    for (; count > 0; count--) {
        struct cd_hmac_state mac;
        cd_hmac_init(&hmac_key, &mac);
        cd_authenc_cbc_encrypt(table, &aes_key.encrypt, &mac.hash, out, in, length / 16, iv);
        cd_hmac_final(&hmac_key, &mac, out + length);
    }
}

static void two_passes(const void *table, size_t length, size_t count) {
    const authenc_table *t = table;
    for (; count > 0; count--) {
        t->aes->cbc_encrypt(&aes_key.encrypt, out, in, length / 16, iv);
        cd_hmac_digest(&hmac_key, out + length, out, length);
    }
}

/* CD_BENCH_RECORDS records at once. Making the jobs is part of it, as it is of a batch. */
static void cbc_lanes(const void *table, size_t length, size_t count) {
    static struct cd_aes_lane_job jobs[CD_BENCH_RECORDS];
    const lane_table *t = table;
    for (; count > 0; count--) {
        for (size_t i = 0; i < CD_BENCH_RECORDS; i++) {
            jobs[i] = (struct cd_aes_lane_job){&aes_key.encrypt, out + i * length, in + i * length,
                                               length / 16, record_ivs[i]};
        }
        t->cbc_encrypt(jobs, CD_BENCH_RECORDS);
    }
}

static void hash_lanes(const md_table *t, size_t width, size_t length) {
    static struct cd_md_lane_job jobs[CD_BENCH_RECORDS];
    for (size_t i = 0; i < CD_BENCH_RECORDS; i++) {
        jobs[i] = (struct cd_md_lane_job){
            .data = in + i * length, .length = length, .out_digest = out + i * t->digest_size};
    }
    cd_md_lanes_digest(t, width, jobs, CD_BENCH_RECORDS);
}

LOOP(hash_3_lanes, md_table, hash_lanes(t, 3, length))
LOOP(hash_wide, md_table, hash_lanes(t, CD_MD_WIDE, length))

#define AES(name, table, cpu)                                                                      \
    {"ecb(aes) encrypt", name, set_aes, aes_ecb_encrypt, &(table), cpu, 1, 16, 0, true},           \
        {"ecb(aes) decrypt", name, set_aes, aes_ecb_decrypt, &(table), cpu, 1, 16, 0, true},       \
        {"cbc(aes) encrypt", name, set_aes, aes_cbc_encrypt, &(table), cpu, 1, 16, 0, true},       \
        {"cbc(aes) decrypt", name, set_aes, aes_cbc_decrypt, &(table), cpu, 1, 16, 0, true}, {     \
        "ctr(aes)", name, set_aes, aes_ctr, &(table), cpu, 1, 1, 0, true                           \
    }

#define CBC(operation, setup, loop, table)                                                         \
    { operation, "lib", setup, loop, &(table), 0, 1, 8, 0, true }

#define HASH(operation, name, table, cpu, digest)                                                  \
    {operation, name, set_nothing, hash, &(table), cpu, 1, 1, digest, false},                      \
        {"hmac(" operation ")", name, set_hmac, hmac, &(table), cpu, 1, 1, digest, false}, {       \
        operation, name "-3-lanes", set_nothing, hash_3_lanes, &(table), cpu, CD_BENCH_RECORDS, 1, \
            digest, false                                                                          \
    }

#define WIDE(operation, table, table_cpu, digest)                                                  \
    {                                                                                              \
        operation, "avx512-16-lanes", set_nothing, hash_wide, &(table),                            \
            (table_cpu) | CD_MD_AVX512_CPU, CD_BENCH_RECORDS, 1, digest, false                     \
    }

#define AUTHENC(operation, name, table, cpu, digest)                                               \
    {operation, name "-one-pass", set_authenc, one_pass, &(table), cpu, 1, 16, digest, true}, {    \
        operation, name "-two-passes", set_authenc, two_passes, &(table), cpu, 1, 16, digest, true \
    }

#define LANES(name, table, cpu)                                                                    \
    { "cbc(aes) encrypt", name, set_lanes, cbc_lanes, &(table), cpu, CD_BENCH_RECORDS, 16, 0, true }

#define CBC_SHA1 "authenc(hmac(sha1),cbc(aes))"
#define CBC_SHA256 "authenc(hmac(sha256),cbc(aes))"

static const struct cd_bench_kernel kernels[] = {
    AES("lib", cd_aes_portable, 0),
    AES("generic", cd_aes_generic, 0),
    AES("fixed-time", cd_aes_fixed, 0),
    AES("ni", cd_aes_aesni, CD_AES_AESNI_CPU),
    AES("vaes", cd_aes_vaes, CD_AES_VAES_CPU),
    LANES("ni-8-lanes", cd_aes_lanes_aesni, CD_AES_AESNI_CPU),
    LANES("vaes-16-lanes", cd_aes_lanes_vaes, CD_AES_VAES_CPU),
    CBC("cbc(des) encrypt", set_des, des_cbc_encrypt, cd_des_portable),
    CBC("cbc(des) decrypt", set_des, des_cbc_decrypt, cd_des_portable),
    CBC("cbc(des3_ede) encrypt", set_des3, des3_cbc_encrypt, cd_des3_portable),
    CBC("cbc(des3_ede) decrypt", set_des3, des3_cbc_decrypt, cd_des3_portable),
    WIDE("sha1", cd_sha1_shani, CD_SHA1_SHANI_CPU, CD_SHA1_DIGEST),
    WIDE("sha256", cd_sha256_shani, CD_SHA2_SHANI_CPU, CD_SHA256_DIGEST),
    HASH("md5", "lib", cd_md5_portable, 0, CD_MD5_DIGEST),
    HASH("sha1", "lib", cd_sha1_portable, 0, CD_SHA1_DIGEST),
    HASH("sha1", "ni", cd_sha1_shani, CD_SHA1_SHANI_CPU, CD_SHA1_DIGEST),
    HASH("sha224", "lib", cd_sha224_portable, 0, CD_SHA224_DIGEST),
    HASH("sha224", "ni", cd_sha224_shani, CD_SHA2_SHANI_CPU, CD_SHA224_DIGEST),
    HASH("sha256", "lib", cd_sha256_portable, 0, CD_SHA256_DIGEST),
    HASH("sha256", "ni", cd_sha256_shani, CD_SHA2_SHANI_CPU, CD_SHA256_DIGEST),
    HASH("sha256", "avx512", cd_sha256_avx512, CD_SHA2_AVX512_CPU, CD_SHA256_DIGEST),
    AUTHENC(CBC_SHA1, "lib", cd_authenc_cbc_sha1_portable, 0, CD_SHA1_DIGEST),
    AUTHENC(CBC_SHA1, "ni", cd_authenc_cbc_sha1_shani, CD_AUTHENC_SHANI_CPU, CD_SHA1_DIGEST),
    AUTHENC(CBC_SHA256, "lib", cd_authenc_cbc_sha256_portable, 0, CD_SHA256_DIGEST),
    AUTHENC(CBC_SHA256, "ni", cd_authenc_cbc_sha256_shani, CD_AUTHENC_SHANI_CPU, CD_SHA256_DIGEST),
    AUTHENC(CBC_SHA256, "avx512", cd_authenc_cbc_sha256_avx512, CD_AUTHENC_AVX512_CPU,
            CD_SHA256_DIGEST),
};

/* Text and IVs are made here, so that nobody can forget to. */
const struct cd_bench_kernel *cd_bench_kernels(size_t *out_count) {
    for (size_t i = 0; i < sizeof(in); i++) {
        in[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < CD_BENCH_RECORDS; i++) {
        record_ivs[i][15] = (uint8_t)i;
    }
    *out_count = sizeof(kernels) / sizeof(kernels[0]);
    return kernels;
}

const uint8_t *cd_bench_run(const struct cd_bench_kernel *kernel, size_t size, size_t *out_len) {
    memset(out, 0, sizeof(out));
    memcpy(iv, key + 16, sizeof(iv));
    kernel->loop(kernel->table, size, 1);
    *out_len = kernel->records * ((kernel->writes_text ? size : 0) + kernel->extra_size);
    return out;
}
