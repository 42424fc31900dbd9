/*
 * The yardstick: what a call from Python costs when nothing stands between it and the best kernel.
 * A METH_FASTCALL function checks that it was given bytes, makes the result object and runs the
 * kernel.
 *
 * Not part of the package; built by benchmarks/limit.py against the C library's own kernels. The
 * keys are those of benchmarks/cases.py.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/secure.h"
#include "crypto/aes.h"
#include "crypto/authenc.h"
#include "crypto/des.h"
#include "crypto/hmac.h"
#include "crypto/md.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"

static struct cd_aes_key aes_key, aes256_key;
static struct cd_des3_key des3_key;
static const struct cd_aes_functions *aes;
static const struct cd_des3_functions *des3 = &cd_des3_portable;
static const struct cd_md_algorithm *sha256, *sha1, *md5;
static const struct cd_authenc_functions *cbc_sha256, *cbc_sha1; /* NULL: the CPU has no SHA-NI */
static struct cd_hmac_key hmac_sha256, hmac_sha1, hmac_md5;

static int take(PyObject *value, const uint8_t **out, Py_ssize_t *out_len) {
    if (!PyBytes_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "bytes are needed");
        return -1;
    }
    *out = (const uint8_t *)PyBytes_AS_STRING(value);
    *out_len = PyBytes_GET_SIZE(value);
    return 0;
}

/* Text and an IV of `iv_size` bytes, which is copied: kernels continue it. 0 for modes without. */
static int take_text(PyObject *const *args, Py_ssize_t count, size_t iv_size, size_t unit,
                     const uint8_t **out_text, Py_ssize_t *out_len, uint8_t *out_iv) {
    const uint8_t *iv = NULL;
    Py_ssize_t iv_len = 0;

    if (count != (iv_size > 0 ? 2 : 1)) {
        PyErr_SetString(PyExc_TypeError, "text, and an IV if the mode has one, are needed");
        return -1;
    }
    if (take(args[0], out_text, out_len) || (iv_size > 0 && take(args[1], &iv, &iv_len))) {
        return -1;
    }
    if ((size_t)iv_len != iv_size || (size_t)*out_len % unit != 0) {
        PyErr_SetString(PyExc_ValueError, "a length does not fit");
        return -1;
    }
    if (iv_size > 0) {
        memcpy(out_iv, iv, iv_size);
    }
    return 0;
}

/* `call` reads data, length and iv, and writes as many bytes to out. */
#define CIPHER(name, iv_size, unit, call)                                                          \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count) {               \
        const uint8_t *data;                                                                       \
        Py_ssize_t length;                                                                         \
        uint8_t iv[16];                                                                            \
        (void)self;                                                                                \
        if (take_text(args, count, iv_size, unit, &data, &length, iv)) {                           \
            return NULL;                                                                           \
        }                                                                                          \
        PyObject *result = PyBytes_FromStringAndSize(NULL, length);                                \
        if (result == NULL) {                                                                      \
            return NULL;                                                                           \
        }                                                                                          \
        uint8_t *out = (uint8_t *)PyBytes_AS_STRING(result);                                       \
        call;                                                                                      \
        return result;                                                                             \
    }

CIPHER(cbc_encrypt, 16, 16, aes->cbc_encrypt(&aes_key.encrypt, out, data, (size_t)length / 16, iv))
CIPHER(cbc256_encrypt, 16, 16,
       aes->cbc_encrypt(&aes256_key.encrypt, out, data, (size_t)length / 16, iv))
CIPHER(cbc_decrypt, 16, 16, aes->cbc_decrypt(&aes_key, out, data, (size_t)length / 16, iv))
CIPHER(ctr, 16, 1, aes->ctr(&aes_key.encrypt, out, data, (size_t)length, iv))
CIPHER(ecb_encrypt, 0, 16, aes->ecb_encrypt(&aes_key.encrypt, out, data, (size_t)length / 16))
CIPHER(ecb_decrypt, 0, 16, aes->ecb_decrypt(&aes_key, out, data, (size_t)length / 16))
CIPHER(des3_encrypt, 8, 8, des3->cbc_encrypt(&des3_key, out, data, (size_t)length / 8, iv))
CIPHER(des3_decrypt, 8, 8, des3->cbc_decrypt(&des3_key, out, data, (size_t)length / 8, iv))

#define DIGEST(name, size, call)                                                                   \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count) {               \
        const uint8_t *data;                                                                       \
        Py_ssize_t length;                                                                         \
        (void)self;                                                                                \
        if (take_text(args, count, 0, 1, &data, &length, NULL)) {                                  \
            return NULL;                                                                           \
        }                                                                                          \
        PyObject *result = PyBytes_FromStringAndSize(NULL, size);                                  \
        if (result == NULL) {                                                                      \
            return NULL;                                                                           \
        }                                                                                          \
        uint8_t *out = (uint8_t *)PyBytes_AS_STRING(result);                                       \
        call;                                                                                      \
        return result;                                                                             \
    }

DIGEST(digest_sha256, CD_SHA256_DIGEST, cd_md_digest(sha256, out, data, (size_t)length))
DIGEST(digest_sha1, CD_SHA1_DIGEST, cd_md_digest(sha1, out, data, (size_t)length))
DIGEST(digest_md5, CD_MD5_DIGEST, cd_md_digest(md5, out, data, (size_t)length))
DIGEST(tag_sha256, CD_SHA256_DIGEST, cd_hmac_digest(&hmac_sha256, out, data, (size_t)length))
DIGEST(tag_sha1, CD_SHA1_DIGEST, cd_hmac_digest(&hmac_sha1, out, data, (size_t)length))
DIGEST(tag_md5, CD_MD5_DIGEST, cd_hmac_digest(&hmac_md5, out, data, (size_t)length))

/* Encrypt-then-MAC: ciphertext and tag, in one pass where there is a kernel for both. */
static PyObject *seal(const struct cd_authenc_functions *functions, const struct cd_hmac_key *auth,
                      PyObject *const *args, Py_ssize_t count) {
    const uint8_t *data;
    Py_ssize_t length;
    uint8_t iv[16];
    struct cd_hmac_state mac;

    if (take_text(args, count, 16, 16, &data, &length, iv)) {
        return NULL;
    }
    PyObject *result =
        PyBytes_FromStringAndSize(NULL, length + (Py_ssize_t)auth->algorithm->digest_size);
    if (result == NULL) {
        return NULL;
    }
    uint8_t *out = (uint8_t *)PyBytes_AS_STRING(result);
    cd_hmac_init(auth, &mac);
    if (functions != NULL) {
        cd_authenc_cbc_encrypt(functions, &aes_key.encrypt, &mac.hash, out, data,
                               (size_t)length / 16, iv);
    } else {
        aes->cbc_encrypt(&aes_key.encrypt, out, data, (size_t)length / 16, iv);
        cd_hmac_update(auth, &mac, out, (size_t)length);
    }
    cd_hmac_final(auth, &mac, out + length);
    return result;
}

/* The way back: the tag first, then the text. */
static PyObject *unseal(const struct cd_hmac_key *auth, PyObject *const *args, Py_ssize_t count) {
    const uint8_t *data;
    Py_ssize_t length, tag_size = (Py_ssize_t)auth->algorithm->digest_size;
    uint8_t iv[16], tag[CD_MD_DIGEST_MAX];

    if (take_text(args, count, 16, 1, &data, &length, iv)) {
        return NULL;
    }
    length -= tag_size;
    if (length < 0 || length % 16 != 0) {
        return PyErr_Format(PyExc_ValueError, "a length does not fit");
    }
    cd_hmac_digest(auth, tag, data, (size_t)length);
    if (!cd_equal_ct(tag, data + length, (size_t)tag_size)) {
        return PyErr_Format(PyExc_ValueError, "the tag does not match");
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, length);
    if (result != NULL) {
        aes->cbc_decrypt(&aes_key, (uint8_t *)PyBytes_AS_STRING(result), data, (size_t)length / 16,
                         iv);
    }
    return result;
}

#define BOUND(name, call)                                                                          \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count) {               \
        (void)self;                                                                                \
        return call;                                                                               \
    }

BOUND(seal_sha256, seal(cbc_sha256, &hmac_sha256, args, count))
BOUND(seal_sha1, seal(cbc_sha1, &hmac_sha1, args, count))
BOUND(unseal_sha256, unseal(&hmac_sha256, args, count))
BOUND(unseal_sha1, unseal(&hmac_sha1, args, count))

#define METHOD(name, function)                                                                     \
    { name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL }

static PyMethodDef methods[] = {
    METHOD("cbc_encrypt", cbc_encrypt),
    METHOD("cbc256_encrypt", cbc256_encrypt),
    METHOD("cbc_decrypt", cbc_decrypt),
    METHOD("ctr", ctr),
    METHOD("ecb_encrypt", ecb_encrypt),
    METHOD("ecb_decrypt", ecb_decrypt),
    METHOD("des3_encrypt", des3_encrypt),
    METHOD("des3_decrypt", des3_decrypt),
    METHOD("sha256", digest_sha256),
    METHOD("sha1", digest_sha1),
    METHOD("md5", digest_md5),
    METHOD("hmac_sha256", tag_sha256),
    METHOD("hmac_sha1", tag_sha1),
    METHOD("hmac_md5", tag_md5),
    METHOD("seal_sha256", seal_sha256),
    METHOD("seal_sha1", seal_sha1),
    METHOD("unseal_sha256", unseal_sha256),
    METHOD("unseal_sha1", unseal_sha1),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "limit", NULL, -1, methods, NULL, NULL, NULL, NULL};

static const struct cd_authenc_functions *usable(const struct cd_authenc_functions *functions) {
    return (functions->cpu & ~cd_cpu_detect()) == 0 ? functions : NULL;
}

PyMODINIT_FUNC PyInit_limit(void) {
    uint8_t key[32];
    for (uint8_t i = 0; i < sizeof(key); i++) {
        key[i] = i;
    }
    aes = cd_aes_best();
    aes->prepare(&aes_key, key, 16);
    aes->prepare(&aes256_key, key, 32);
    des3->prepare(&des3_key, key);
    sha256 = cd_sha256_best();
    sha1 = cd_sha1_best();
    md5 = &cd_md5_portable;
    cd_hmac_prepare(&hmac_sha256, sha256, key, 16);
    cd_hmac_prepare(&hmac_sha1, sha1, key, 16);
    cd_hmac_prepare(&hmac_md5, md5, key, 16);
    cbc_sha256 = usable(&cd_authenc_cbc_sha256_avx512);
    if (cbc_sha256 == NULL) {
        cbc_sha256 = usable(&cd_authenc_cbc_sha256_shani);
    }
    cbc_sha1 = usable(&cd_authenc_cbc_sha1_shani);
    return PyModule_Create(&module);
}
