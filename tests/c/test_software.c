/* software/: the AES implementations, through the registry and the transform functions. */
#include <pthread.h>
#include <stdlib.h>

#include "crypto/aes.h"
#include "cryptodispatch/cipher.h"
#include "cryptodispatch/cpu.h"
#include "cryptodispatch/software.h"
#include "test_support.h"

/* In the order in which they are registered. */
static const struct backend {
    const char *name;
    int32_t priority;
    uint32_t cpu;
} backends[] = {
    {"lib", 100, 0},
    {"generic", 90, 0},
    {"fixed-time", 50, 0},
    {"ni", 300, CD_AES_AESNI_CPU},
    {"vaes", 400, CD_AES_VAES_CPU},
};

#define BACKENDS (sizeof backends / sizeof backends[0])

static bool can_run(size_t backend) {
    return (backends[backend].cpu & ~cd_cpu_detect()) == 0;
}

static const struct mode {
    const char *algorithm, *before, *after; /* driver: before, "aes-", backend, after */
    uint32_t block_size, iv_size;
    uint64_t key_sizes;
} modes[] = {
    {"ecb(aes)", "ecb(", ")", 16, 0, UINT64_C(0x101010000)},
    {"cbc(aes)", "cbc(", ")", 16, 16, UINT64_C(0x101010000)},
    {"ctr(aes)", "ctr(", ")", 1, 16, UINT64_C(0x101010000)},
    {"rfc3686(ctr(aes))", "rfc3686(ctr(", "))", 1, 8, UINT64_C(0x1010100000)},
};

#define MODES (sizeof modes / sizeof modes[0])

static struct cd_registry *registry;

/* A transform of one backend with a key; NULL if this CPU cannot run it. */
static struct cd_cipher *new_cipher(const struct mode *mode, size_t backend, const uint8_t *key,
                                    size_t key_len) {
    struct cd_cipher *cipher = NULL;
    char driver[CD_NAME_MAX];
    cd_status status;

    snprintf(driver, sizeof driver, "%saes-%s%s", mode->before, backends[backend].name,
             mode->after);
    status = cd_cipher_new(&cipher, registry, driver, 0, CD_FLAG_MODELLED);
    if (status == CD_E_UNAVAILABLE && !can_run(backend)) {
        return NULL;
    }
    CHECK_EQ(status, CD_OK);
    if (status != CD_OK) {
        exit(test_end());
    }
    CHECK_EQ(cd_cipher_set_key(cipher, key, key_len), CD_OK);
    return cipher;
}

static struct cd_cipher_request request_of(uint8_t *out, const uint8_t *in, size_t length,
                                           const uint8_t *iv) {
    struct cd_cipher_request request = {.source = in, .destination = out, .length = length};

    memcpy(request.iv, iv, sizeof request.iv);
    return request;
}

static void fill(uint8_t *out, size_t length, uint32_t seed) {
    for (size_t i = 0; i < length; i++) {
        seed = seed * 1664525u + 1013904223u;
        out[i] = (uint8_t)(seed >> 24);
    }
}

/* ---- registration ---- */

struct listing {
    const struct cd_implementation *aes[32];
    size_t aes_count, count;
};

static bool collect(const struct cd_implementation *implementation, void *context) {
    struct listing *listing = context;

    listing->count++;
    if (strstr(implementation->driver, "(aes-") != NULL &&
        strncmp(implementation->algorithm, "authenc", 7) != 0 && listing->aes_count < 32) {
        listing->aes[listing->aes_count++] = implementation;
    }
    return true;
}

static void every_mode_is_listed_with_its_sizes(void) {
    struct listing listing = {.count = 0};

    cd_registry_each(registry, collect, &listing);
    CHECK_EQ(listing.aes_count, BACKENDS * MODES);
    for (size_t i = 0; i < BACKENDS * MODES && i < listing.aes_count; i++) {
        const struct mode *mode = &modes[i % MODES];
        const struct cd_implementation *found = listing.aes[i];
        char driver[CD_NAME_MAX];

        snprintf(driver, sizeof driver, "%saes-%s%s", mode->before, backends[i / MODES].name,
                 mode->after);
        CHECK(strcmp(found->algorithm, mode->algorithm) == 0);
        CHECK(strcmp(found->driver, driver) == 0);
        CHECK_EQ(found->type, CD_TYPE_CIPHER);
        CHECK_EQ(found->flags, 0);
        CHECK_EQ(found->priority, backends[i / MODES].priority);
        CHECK_EQ(found->block_size, mode->block_size);
        CHECK_EQ(found->iv_size, mode->iv_size);
        CHECK_EQ(found->chunk_size, 16);
        CHECK(found->key_sizes == mode->key_sizes);
        CHECK(found->cpu == backends[i / MODES].cpu);
        CHECK(found->provider == NULL && found->retain == NULL && found->release == NULL);
    }
}

static void the_best_backend_is_bound_by_algorithm_name(void) {
    int32_t best = 0;

    for (size_t i = 0; i < BACKENDS; i++) {
        best = can_run(i) && backends[i].priority > best ? backends[i].priority : best;
    }
    for (size_t i = 0; i < MODES; i++) {
        const struct cd_implementation *found;

        CHECK_EQ(cd_registry_find(&found, registry, modes[i].algorithm, CD_TYPE_CIPHER, 0,
                                  CD_FLAG_MODELLED),
                 CD_OK);
        CHECK_EQ(found->priority, best);
        cd_implementation_release(found);
    }
}

/* A name that is taken, by any of the implementations: nothing of the rest stays. */
static void failed_registration_leaves_nothing(void) {
    struct listing all = {.count = 0};

    cd_registry_each(registry, collect, &all);
    for (size_t i = 0; i < all.aes_count; i++) {
        struct cd_implementation squatter = *all.aes[i];
        struct cd_registry *other;
        struct listing left = {.count = 0};
        struct cd_error error = {""};

        CHECK_EQ(cd_registry_new(&other), CD_OK);
        CHECK_EQ(cd_registry_add(other, &squatter, NULL), CD_OK);
        CHECK_EQ(cd_software_register(other, &error), CD_E_EXISTS);
        CHECK(strstr(error.message, squatter.driver) != NULL);
        cd_registry_each(other, collect, &left);
        CHECK_EQ(left.count, 1);
        CHECK(left.aes[0] == &squatter);
        cd_registry_remove(other, &squatter);
        CHECK_EQ(cd_software_register(other, NULL), CD_OK);
        cd_registry_free(other);
    }
}

/* ---- keys ---- */

/* R043 and the other modes: every length that is no key size is refused, and leaves no key. */
static void only_the_key_sizes_are_taken(void) {
    uint8_t key[64] = {1}, text[16] = {0};
    static const uint8_t iv[16];

    for (size_t i = 0; i < MODES * BACKENDS; i++) {
        const struct mode *mode = &modes[i % MODES];
        size_t good = i % MODES == 3 ? 20 : 16;
        struct cd_cipher *cipher = new_cipher(mode, i / MODES, key, good);

        for (size_t length = 0; cipher != NULL && length <= 64; length++) {
            struct cd_cipher_request request = request_of(text, text, sizeof text, iv);
            bool allowed = length < 64 && (mode->key_sizes >> length & 1) != 0;

            CHECK_EQ(cd_cipher_set_key(cipher, key, length), allowed ? CD_OK : CD_E_KEY);
            CHECK_EQ(cd_cipher_encrypt(cipher, &request), allowed ? CD_OK : CD_E_NO_KEY);
        }
        cd_cipher_free(cipher);
    }
}

/* ---- RFC 3686 ---- */

/* RFC 3686 section 6, test vectors 1 to 9: key and nonce, IV, plaintext length (its bytes count up
 * from 0; 0 stands for "Single block msg"), ciphertext. */
static const struct {
    const char *key, *nonce, *iv;
    size_t length;
    const char *ciphertext;
} rfc3686[] = {
    {"AE6852F8121067CC4BF7A5765577F39E", "00000030", "0000000000000000", 0,
     "E4095D4FB7A7B3792D6175A3261311B8"},
    {"7E24067817FAE0D743D6CE1F32539163", "006CB6DB", "C0543B59DA48D90B", 32,
     "5104A106168A72D9790D41EE8EDAD388EB2E1EFC46DA57C8FCE630DF9141BE28"},
    {"7691BE035E5020A8AC6E618529F9A0DC", "00E0017B", "27777F3F4A1786F0", 36,
     "C1CF48A89F2FFDD9CF4652E9EFDB72D74540A42BDE6D7836D59A5CEAAEF3105325B2072F"},
    {"16AF5B145FC9F579C175F93E3BFB0EED863D06CCFDB78515", "00000048", "36733C147D6D93CB", 0,
     "4B55384FE259C9C84E7935A003CBE928"},
    {"7C5CB2401B3DC33C19E7340819E0F69C678C3DB8E6F6A91A", "0096B03B", "020C6EADC2CB500D", 32,
     "453243FC609B23327EDFAAFA7131CD9F8490701C5AD4A79CFC1FE0FF42F4FB00"},
    {"02BF391EE8ECB159B959617B0965279BF59B60A786D3E0FE", "0007BDFD", "5CBD60278DCC0912", 36,
     "96893FC55E5C722F540B7DD1DDF7E758D288BC95C69165884536C811662F2188ABEE0935"},
    {"776BEFF2851DB06F4C8A0542C8696F6C6A81AF1EEC96B4D37FC1D689E6C1C104", "00000060",
     "DB5672C97AA8F0B2", 0, "145AD01DBF824EC7560863DC71E3E0C0"},
    {"F6D66D6BD52D59BB0796365879EFF886C66DD51A5B6A99744B50590C87A23884", "00FAAC24",
     "C1585EF15A43D875", 32, "F05E231B3894612C49EE000B804EB2A9B8306B508F839D6A5530831D9344AF1C"},
    {"FF7A617CE69148E4F1726E2F43581DE2AA62D9F805532EDFF1EED687FB54153D", "001CC5B7",
     "51A51D70A1C11148", 36,
     "EB6C52821D0BBBF7CE7594462ACA4FAAB407DF866569FD07F48CC0B583D6071F1EC0E6B8"},
};

#define RFC3686_VECTORS (sizeof rfc3686 / sizeof rfc3686[0])

static void rfc3686_section_6(void) {
    for (size_t i = 0; i < RFC3686_VECTORS * BACKENDS; i++) {
        size_t v = i % RFC3686_VECTORS, key_len;
        uint8_t key[36], iv[16] = {0}, plaintext[36], ciphertext[36], out[36];
        size_t length = test_hex(ciphertext, rfc3686[v].ciphertext);
        struct cd_cipher_request request = {.source = plaintext, .destination = out};
        struct cd_cipher *cipher;

        CHECK_EQ(length, rfc3686[v].length == 0 ? 16 : rfc3686[v].length);
        for (size_t j = 0; j < sizeof plaintext; j++) {
            plaintext[j] =
                rfc3686[v].length == 0 ? (uint8_t) "Single block msg"[j % 16] : (uint8_t)j;
        }
        key_len = test_hex(key, rfc3686[v].key);
        key_len += test_hex(key + key_len, rfc3686[v].nonce);
        test_hex(iv, rfc3686[v].iv);
        cipher = new_cipher(&modes[3], i / RFC3686_VECTORS, key, key_len);
        if (cipher == NULL) {
            continue;
        }
        request = request_of(out, plaintext, length, iv);
        CHECK_EQ(cd_cipher_encrypt(cipher, &request), CD_OK);
        CHECK_BYTES(out, ciphertext, length);
        CHECK_BYTES(request.iv, iv, 16);
        CHECK_EQ(request.block_offset, (length + 15) / 16);
        request = request_of(out, ciphertext, length, iv);
        CHECK_EQ(cd_cipher_decrypt(cipher, &request), CD_OK);
        CHECK_BYTES(out, plaintext, length);
        cd_cipher_free(cipher);
    }
}

/* The last counter under one IV is 2^32 - 1; one block more is refused before any output. */
static void rfc3686_ends_before_the_counter_wraps(void) {
    static const struct {
        uint64_t offset;
        size_t length;
        cd_status status;
    } cases[] = {
        {0xfffffffe, 16, CD_OK},          {0xfffffffe, 1, CD_OK},
        {0xfffffffe, 17, CD_E_LENGTH},    {0xffffffff, 1, CD_E_LENGTH},
        {0x100000000, 16, CD_E_LENGTH},   {UINT64_MAX, 16, CD_E_LENGTH},
        {UINT64_MAX - 1, 1, CD_E_LENGTH}, {0xfffffff5, 160, CD_OK},
        {0xfffffff5, 161, CD_E_LENGTH},
    };
    uint8_t key[20], iv[16] = {9, 8, 7, 6, 5, 4, 3, 2}, zeros[176] = {0}, out[176];
    uint8_t counter[16], stream[16];

    fill(key, sizeof key, 1);
    for (size_t i = 0; i < BACKENDS * sizeof cases / sizeof cases[0]; i++) {
        size_t c = i / BACKENDS;
        struct cd_cipher *cipher = new_cipher(&modes[3], i % BACKENDS, key, 20);
        struct cd_cipher *ecb = new_cipher(&modes[0], 0, key, 16);
        struct cd_cipher_request request = request_of(out, zeros, cases[c].length, iv);
        struct cd_cipher_request block = request_of(stream, counter, 16, zeros);

        memset(out, 0xee, sizeof out);
        request.block_offset = cases[c].offset;
        CHECK(cipher == NULL || cd_cipher_encrypt(cipher, &request) == cases[c].status);
        if (cipher != NULL && cases[c].status == CD_OK) {
            memcpy(counter, key + 16, 4);
            memcpy(counter + 4, iv, 8);
            for (size_t j = 0; j < 4; j++) {
                counter[12 + j] = (uint8_t)((cases[c].offset + 1) >> (24 - 8 * j));
            }
            CHECK_EQ(cd_cipher_encrypt(ecb, &block), CD_OK);
            CHECK_BYTES(out, stream, cases[c].length < 16 ? cases[c].length : 16);
            CHECK(request.block_offset == cases[c].offset + (cases[c].length + 15) / 16);
        } else if (cipher != NULL) {
            CHECK(out[0] == 0xee && request.block_offset == cases[c].offset);
        }
        CHECK_BYTES(request.iv, iv, 16);
        cd_cipher_free(ecb);
        cd_cipher_free(cipher);
    }
}

/* ---- all modes ---- */

/* R041: chunks of 16, 64, 48... bytes, each continued with the request the last one left. */
static void chunked_messages_equal_one_piece(void) {
    static const size_t chunks[] = {16, 64, 48, 160, 16, 208, 128};
    uint8_t key[36], iv[16], text[640], whole[640], pieces[640];

    fill(key, sizeof key, 2);
    fill(iv, sizeof iv, 3);
    fill(text, sizeof text, 4);
    for (size_t i = 0; i < MODES * BACKENDS * 4; i++) {
        size_t m = i % MODES, key_len = m == 3 ? 36 : 32, done = 0;
        struct cd_cipher *cipher = new_cipher(&modes[m], i / MODES % BACKENDS, key, key_len);
        bool decrypt = i / (MODES * BACKENDS) % 2 != 0, in_place = i / (MODES * BACKENDS * 2) != 0;
        cd_status (*run)(struct cd_cipher *, struct cd_cipher_request *) =
            decrypt ? cd_cipher_decrypt : cd_cipher_encrypt;
        struct cd_cipher_request one = request_of(whole, text, sizeof text, iv), many = one;

        if (cipher == NULL) {
            continue;
        }
        CHECK_EQ(run(cipher, &one), CD_OK);
        memcpy(pieces, text, sizeof text);
        for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
            many.source = in_place ? pieces + done : text + done;
            many.destination = pieces + done;
            many.length = chunks[c];
            CHECK_EQ(run(cipher, &many), CD_OK);
            done += chunks[c];
        }
        CHECK_EQ(done, sizeof text);
        CHECK_BYTES(pieces, whole, sizeof text);
        CHECK_BYTES(many.iv, one.iv, 16);
        CHECK(many.block_offset == one.block_offset);
        CHECK(one.block_offset == (m == 3 ? sizeof text / 16 : 0));
        cd_cipher_free(cipher);
    }
}

/* R019: decrypting changes nothing for later encryptions on the same transform. */
static void directions_do_not_disturb_each_other(void) {
    uint8_t key[36], iv[16], text[48], first[48], back[48], third[48];

    fill(key, sizeof key, 5);
    fill(iv, sizeof iv, 6);
    fill(text, sizeof text, 7);
    for (size_t i = 0; i < MODES * BACKENDS; i++) {
        size_t m = i % MODES;
        struct cd_cipher *cipher = new_cipher(&modes[m], i / MODES, key, m == 3 ? 28 : 24);
        struct cd_cipher_request a = request_of(first, text, 48, iv);
        struct cd_cipher_request b = request_of(back, first, 48, iv);
        struct cd_cipher_request c = request_of(third, text, 48, iv);

        if (cipher == NULL) {
            continue;
        }
        CHECK_EQ(cd_cipher_encrypt(cipher, &a), CD_OK);
        CHECK_EQ(cd_cipher_decrypt(cipher, &b), CD_OK);
        CHECK_EQ(cd_cipher_encrypt(cipher, &c), CD_OK);
        CHECK_BYTES(back, text, 48);
        CHECK_BYTES(third, first, 48);
        CHECK(memcmp(first, text, 48) != 0);
        cd_cipher_free(cipher);
    }
}

/* R077: the vector of that report, out of place and in place. */
static void cbc_decryption_in_place_case_r077(void) {
    uint8_t key[32], iv[16], ciphertext[32], plaintext[32], out[32];

    test_hex(key, "cdc9b7d04d649dad5ad5030944ed0485d6d583d9191d54032b2d313ddd1c9d86");
    test_hex(iv, "89fddec061532f8a28bf2e44de8b6cbd");
    test_hex(ciphertext, "3d31b7479eab5c15f3d96395b14058113980d56cfab141b73e95b6e7f9eeb7b2");
    test_hex(plaintext, "ffd8ac06851b20e559a219f19c1c9ab9a6f2c43c485a21f2f2becfef179c361f");
    for (size_t backend = 0; backend < BACKENDS; backend++) {
        struct cd_cipher *cipher = new_cipher(&modes[1], backend, key, 32);
        struct cd_cipher_request apart = request_of(out, ciphertext, 32, iv);

        if (cipher == NULL) {
            continue;
        }
        CHECK_EQ(cd_cipher_decrypt(cipher, &apart), CD_OK);
        CHECK_BYTES(out, plaintext, 32);
        memcpy(out, ciphertext, 32);
        apart = request_of(out, out, 32, iv);
        CHECK_EQ(cd_cipher_decrypt(cipher, &apart), CD_OK);
        CHECK_BYTES(out, plaintext, 32);
        CHECK_BYTES(apart.iv, ciphertext + 16, 16);
        cd_cipher_free(cipher);
    }
}

struct worker {
    struct cd_cipher *cipher;
    uint32_t seed;
    unsigned wrong;
};

static void *work(void *context) {
    struct worker *worker = context;

    for (uint32_t i = 0; i < 500; i++) {
        uint8_t text[80], sent[80], back[80], iv[16];
        struct cd_cipher_request there = {.length = 0}, again = {.length = 0};

        fill(text, sizeof text, worker->seed * 1000 + i);
        fill(iv, sizeof iv, worker->seed * 7000 + i);
        there = request_of(sent, text, sizeof text, iv);
        again = request_of(back, sent, sizeof sent, iv);
        if (cd_cipher_encrypt(worker->cipher, &there) != CD_OK ||
            cd_cipher_decrypt(worker->cipher, &again) != CD_OK ||
            memcmp(text, back, sizeof text) != 0) {
            worker->wrong++;
        }
    }
    return NULL;
}

/* R019, R053: several threads on one transform, requests of their own. */
static void threads_share_a_transform(void) {
    uint8_t key[36];

    fill(key, sizeof key, 8);
    for (size_t i = 0; i < MODES * BACKENDS; i++) {
        size_t m = i % MODES;
        struct cd_cipher *cipher = new_cipher(&modes[m], i / MODES, key, m == 3 ? 20 : 16);
        struct worker workers[4];
        pthread_t threads[4];

        for (uint32_t t = 0; cipher != NULL && t < 4; t++) {
            workers[t] = (struct worker){cipher, t, 0};
            CHECK(pthread_create(&threads[t], NULL, work, &workers[t]) == 0);
        }
        for (size_t t = 0; cipher != NULL && t < 4; t++) {
            CHECK(pthread_join(threads[t], NULL) == 0);
            CHECK_EQ(workers[t].wrong, 0);
        }
        cd_cipher_free(cipher);
    }
}

/* Last: narrows the CPU mask. What needs AES-NI stays listed, with a reason, and is not bound. */
static void without_the_instructions_the_portable_code_is_bound(void) {
    struct cd_cipher *cipher = NULL;
    struct listing listing = {.count = 0};
    char reason[128];

    (void)cd_cpu_narrow(~(uint32_t)CD_CPU_AESNI);
    the_best_backend_is_bound_by_algorithm_name();
    CHECK_EQ(cd_cipher_new(&cipher, registry, "cbc(aes-ni)", 0, 0), CD_E_UNAVAILABLE);
    cd_registry_each(registry, collect, &listing);
    CHECK_EQ(listing.aes_count, BACKENDS * MODES);
    for (size_t i = 0; i < listing.aes_count; i++) {
        bool ni = (listing.aes[i]->cpu & CD_CPU_AESNI) != 0;

        cd_implementation_reason(listing.aes[i], reason, sizeof reason);
        CHECK_EQ(cd_implementation_available(listing.aes[i]), !ni);
        CHECK((strstr(reason, "aesni") != NULL) == ni);
    }
}

int main(void) {
    if (cd_registry_new(&registry) != CD_OK || cd_software_register(registry, NULL) != CD_OK) {
        return 1;
    }
    for (size_t i = 0; i < BACKENDS; i++) {
        if (!can_run(i)) {
            printf("skipped: backend %s, this CPU cannot run it\n", backends[i].name);
        }
    }
    RUN(every_mode_is_listed_with_its_sizes);
    RUN(the_best_backend_is_bound_by_algorithm_name);
    RUN(failed_registration_leaves_nothing);
    RUN(only_the_key_sizes_are_taken);
    RUN(rfc3686_section_6);
    RUN(rfc3686_ends_before_the_counter_wraps);
    RUN(chunked_messages_equal_one_piece);
    RUN(directions_do_not_disturb_each_other);
    RUN(cbc_decryption_in_place_case_r077);
    RUN(threads_share_a_transform);
    RUN(without_the_instructions_the_portable_code_is_bound);
    cd_registry_free(registry);
    return test_end();
}
