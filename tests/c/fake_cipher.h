/*
 * Fake ciphers and a scripted clock for the tests of benchmark/ and fallback/.
 *
 * Every fake computes the same function, so that "equal whichever side" can be checked: a byte is
 * moved by a key byte and an IV byte, and the IV's first byte counts requests up. What differs is
 * scripted: how long a request takes, which ones fail, whether it completes later.
 */
#ifndef FAKE_CIPHER_H
#define FAKE_CIPHER_H

#include "cryptodispatch/cipher.h"
#include "cryptodispatch/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_TRACE_MAX 16384

/* A clock that only requests move. With `trace`, operations and readings leave a mark there; for
 * one thread. */
struct fake_clock {
    _Atomic uint64_t ticks;
    bool broken; /* always reads 0 */
    char *trace;
    size_t trace_len;
};

static inline void fake_mark(struct fake_clock *clock, char mark) {
    if (clock->trace != NULL && clock->trace_len + 1 < FAKE_TRACE_MAX) {
        clock->trace[clock->trace_len++] = mark;
        clock->trace[clock->trace_len] = '\0';
    }
}

static inline uint64_t fake_now(void *context) {
    struct fake_clock *clock = context;
    fake_mark(clock, 'r');
    return clock->broken ? 0 : atomic_load(&clock->ticks);
}

static inline struct cd_clock fake_clock_interface(struct fake_clock *clock) {
    return (struct cd_clock){.now = fake_now, .context = clock, .name = "fake", .hz = 1000000000};
}

struct fake {
    struct cd_implementation implementation; /* first: a transform leads back to here */
    struct fake_clock *clock;
    char mark;                           /* in the clock's trace */
    uint64_t (*cost)(size_t length);     /* ticks of a request; NULL: 1 */
    cd_status (*outcome)(size_t length); /* of a request; NULL: CD_OK */
    bool (*refuses)(size_t length);      /* answers CD_E_UNSUPPORTED at once; NULL: never */
    cd_status key_status;                /* of set_key */
    cd_status init_status;
    bool gone; /* the device was removed */
    _Atomic unsigned operations, keys, transforms, users;
    _Atomic unsigned odd; /* requests with a non-zero IV, out of place, or of zeros */
    size_t lengths[64];   /* of the first operations; for one thread */
    pthread_mutex_t lock; /* guards `pending` and `jobs` */
    struct cd_cipher_request *pending;
    struct fake_job *jobs; /* fake_types.h: the same for hashes and aeads */
    cd_status tag_status;  /* of set_tag_size */
};

struct fake_context {
    uint8_t key[64];
    size_t key_len;
};

/* What an asynchronous fake keeps in a request. */
struct fake_private {
    struct cd_cipher_request *next;
    struct cd_cipher *cipher;
    bool decrypt;
};

static inline struct fake *fake_behind(const struct cd_implementation *implementation) {
    return (struct fake *)(uintptr_t)(const void *)implementation;
}

static inline struct fake *fake_of(const struct cd_cipher *cipher) {
    return fake_behind(cd_cipher_implementation(cipher));
}

static inline cd_status fake_open(struct fake *fake) {
    if (fake->gone || fake->init_status != CD_OK) {
        return fake->gone ? CD_E_NO_DEVICE : fake->init_status;
    }
    fake->transforms++;
    return CD_OK;
}

static inline cd_status fake_init(struct cd_cipher *cipher) {
    return fake_open(fake_of(cipher));
}

static inline void fake_cleanup(struct cd_cipher *cipher) {
    fake_of(cipher)->transforms--;
}

static inline cd_status fake_keep_key(struct fake *fake, struct fake_context *context,
                                      const uint8_t *key, size_t key_len) {
    fake->keys++;
    fake_mark(fake->clock, fake->mark == 'h' ? 'H' : 'S');
    if (fake->key_status != CD_OK) {
        return fake->key_status;
    }
    if (key_len > 0) {
        memcpy(context->key, key, key_len);
    }
    context->key_len = key_len;
    return CD_OK;
}

static inline cd_status fake_set_key(struct cd_cipher *cipher, const uint8_t *key, size_t key_len) {
    return fake_keep_key(fake_of(cipher), cd_cipher_context(cipher), key, key_len);
}

static inline bool fake_is_zero(const uint8_t *bytes) {
    static const uint8_t zeros[16];
    return memcmp(bytes, zeros, 16) == 0;
}

/* Note one operation, and let its time pass; returns how it ends. */
static inline cd_status fake_operate(struct fake *fake, size_t length, bool odd) {
    unsigned index = fake->operations++;
    if (index < sizeof(fake->lengths) / sizeof(fake->lengths[0]) && fake->clock->trace != NULL) {
        fake->lengths[index] = length;
    }
    if (odd) {
        fake->odd++;
    }
    fake_mark(fake->clock, fake->mark);
    atomic_fetch_add(&fake->clock->ticks, fake->cost != NULL ? fake->cost(length) : 1);
    return fake->outcome != NULL ? fake->outcome(length) : CD_OK;
}

static inline cd_status fake_run(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                 bool decrypt) {
    struct fake *fake = fake_of(cipher);
    const struct fake_context *context = cd_cipher_context(cipher);
    bool odd = !fake_is_zero(request->iv) || request->source != request->destination ||
               (request->length >= 16 && fake_is_zero(request->source));
    cd_status status = fake_operate(fake, request->length, odd);
    if (status != CD_OK) {
        return status;
    }
    for (size_t i = 0; i < request->length; i++) {
        uint8_t step = (uint8_t)(context->key[i % context->key_len] + request->iv[i % 16] + i);
        request->destination[i] =
            (uint8_t)(decrypt ? request->source[i] - step : request->source[i] + step);
    }
    request->iv[0]++;
    return CD_OK;
}

/* CD_OK: it takes a request of this length. */
static inline cd_status fake_takes(const struct fake *fake, size_t length) {
    if (fake->gone) {
        return CD_E_NO_DEVICE;
    }
    return fake->refuses != NULL && fake->refuses(length) ? CD_E_UNSUPPORTED : CD_OK;
}

static inline cd_status fake_start(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                   bool decrypt) {
    struct fake *fake = fake_of(cipher);
    cd_status status = fake_takes(fake, request->length);
    if (status != CD_OK) {
        return status;
    }
    if ((fake->implementation.flags & CD_FLAG_ASYNC) == 0) {
        return fake_run(cipher, request, decrypt);
    }
    struct fake_private *private = (void *)request->implementation_private;
    private->cipher = cipher;
    private->decrypt = decrypt;
    pthread_mutex_lock(&fake->lock);
    private->next = fake->pending;
    fake->pending = request;
    pthread_mutex_unlock(&fake->lock);
    return CD_IN_PROGRESS;
}

static inline cd_status fake_encrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return fake_start(cipher, request, false);
}

static inline cd_status fake_decrypt(struct cd_cipher *cipher, struct cd_cipher_request *request) {
    return fake_start(cipher, request, true);
}

/* Complete everything that is pending, whoever asked. */
static inline void fake_poll(struct fake *fake) {
    pthread_mutex_lock(&fake->lock);
    struct cd_cipher_request *request = fake->pending;
    fake->pending = NULL;
    pthread_mutex_unlock(&fake->lock);
    while (request != NULL) {
        struct fake_private *private = (void *)request->implementation_private;
        struct cd_cipher_request *next = private->next;
        cd_cipher_request_complete(request, fake_run(private->cipher, request, private->decrypt));
        request = next;
    }
}

static inline cd_status fake_wait(struct cd_cipher *cipher, struct cd_cipher_request *request,
                                  uint64_t timeout_ns) {
    (void)timeout_ns;
    fake_poll(fake_of(cipher));
    return __atomic_load_n(&request->status, __ATOMIC_ACQUIRE) == CD_IN_PROGRESS ? CD_E_TIMEOUT
                                                                                 : CD_OK;
}

static inline void fake_retain(void *provider) {
    ((struct fake *)provider)->users++;
}

static inline void fake_release(void *provider) {
    ((struct fake *)provider)->users--;
}

static const struct cd_cipher_ops fake_ops = {
    .init = fake_init,
    .cleanup = fake_cleanup,
    .set_key = fake_set_key,
    .encrypt = fake_encrypt,
    .decrypt = fake_decrypt,
    .wait = fake_wait,
};

/* A fake of keys of 16, 24 and 32 bytes; `mark` is 'h' for hardware, 's' for software. */
static inline void fake_describe(struct fake *fake, struct fake_clock *clock, char mark,
                                 const char *algorithm, const char *driver, uint32_t flags) {
    memset(fake, 0, sizeof(*fake));
    pthread_mutex_init(&fake->lock, NULL);
    fake->clock = clock;
    fake->mark = mark;
    fake->implementation = (struct cd_implementation){
        .algorithm = algorithm,
        .driver = driver,
        .type = CD_TYPE_CIPHER,
        .flags = flags,
        .priority = mark == 'h' ? 1500 : 100,
        .block_size = 16,
        .iv_size = 16,
        .chunk_size = 16,
        .alignment = mark == 'h' ? 4 : 1,
        .key_sizes = CD_KEY_SIZE(16) | CD_KEY_SIZE(24) | CD_KEY_SIZE(32),
        .context_size = sizeof(struct fake_context),
        .cipher = &fake_ops,
        .provider = fake,
        .retain = fake_retain,
        .release = fake_release,
    };
}

#endif
