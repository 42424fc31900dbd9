/*
 * The yardstick: what a call from Python costs when nothing stands between it and the best kernel. A
 * METH_FASTCALL function checks that it was given bytes, makes the result object and runs the kernel.
 *
 * Not part of the package; built by benchmarks/limit.py against the C library's own kernels.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "crypto/aes.h"
#include "crypto/hmac.h"
#include "crypto/md.h"
#include "crypto/md5.h"
#include "crypto/sha1.h"
#include "crypto/sha2.h"

static struct cd_aes_key aes_key;
static const struct cd_aes_functions *aes;
static const struct cd_md_algorithm *sha256, *sha1, *md5;
static struct cd_hmac_key hmac_sha256, hmac_sha1;

static int take(PyObject *value, const uint8_t **out, Py_ssize_t *out_len) {
    if (!PyBytes_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "bytes are needed");
        return -1;
    }
    *out = (const uint8_t *)PyBytes_AS_STRING(value);
    *out_len = PyBytes_GET_SIZE(value);
    return 0;
}

#define CIPHER(name, call)                                                                         \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count) {               \
        const uint8_t *data, *iv_in;                                                               \
        Py_ssize_t length, iv_len;                                                                 \
        uint8_t iv[16];                                                                            \
        (void)self;                                                                                \
        if (count != 2 || take(args[0], &data, &length) || take(args[1], &iv_in, &iv_len) ||       \
            iv_len != 16 || length % 16) {                                                         \
            return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "lengths");            \
        }                                                                                          \
        PyObject *result = PyBytes_FromStringAndSize(NULL, length);                                \
        if (result == NULL) {                                                                      \
            return NULL;                                                                           \
        }                                                                                          \
        uint8_t *out = (uint8_t *)PyBytes_AS_STRING(result);                                       \
        memcpy(iv, iv_in, 16);                                                                     \
        call;                                                                                      \
        return result;                                                                             \
    }

CIPHER(cbc_encrypt, aes->cbc_encrypt(&aes_key.encrypt, out, data, (size_t)length / 16, iv))
CIPHER(cbc_decrypt, aes->cbc_decrypt(&aes_key, out, data, (size_t)length / 16, iv))
CIPHER(ctr, aes->ctr(&aes_key.encrypt, out, data, (size_t)length, iv))
CIPHER(ecb_encrypt, aes->ecb_encrypt(&aes_key.encrypt, out, data, (size_t)length / 16))

#define DIGEST(name, size, call)                                                                   \
    static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count) {               \
        const uint8_t *data;                                                                       \
        Py_ssize_t length;                                                                         \
        (void)self;                                                                                \
        if (count != 1 || take(args[0], &data, &length)) {                                         \
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

DIGEST(digest_sha256, 32, cd_md_digest(sha256, out, data, (size_t)length))
DIGEST(digest_sha1, 20, cd_md_digest(sha1, out, data, (size_t)length))
DIGEST(digest_md5, 16, cd_md_digest(md5, out, data, (size_t)length))
DIGEST(digest_hmac_sha256, 32, cd_hmac_digest(&hmac_sha256, out, data, (size_t)length))
DIGEST(digest_hmac_sha1, 20, cd_hmac_digest(&hmac_sha1, out, data, (size_t)length))

static PyMethodDef methods[] = {
    {"cbc_encrypt", (PyCFunction)(void (*)(void))cbc_encrypt, METH_FASTCALL, NULL},
    {"cbc_decrypt", (PyCFunction)(void (*)(void))cbc_decrypt, METH_FASTCALL, NULL},
    {"ctr", (PyCFunction)(void (*)(void))ctr, METH_FASTCALL, NULL},
    {"ecb_encrypt", (PyCFunction)(void (*)(void))ecb_encrypt, METH_FASTCALL, NULL},
    {"sha256", (PyCFunction)(void (*)(void))digest_sha256, METH_FASTCALL, NULL},
    {"sha1", (PyCFunction)(void (*)(void))digest_sha1, METH_FASTCALL, NULL},
    {"md5", (PyCFunction)(void (*)(void))digest_md5, METH_FASTCALL, NULL},
    {"hmac_sha256", (PyCFunction)(void (*)(void))digest_hmac_sha256, METH_FASTCALL, NULL},
    {"hmac_sha1", (PyCFunction)(void (*)(void))digest_hmac_sha1, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "limit", NULL, -1, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_limit(void) {
    /* The keys of benchmarks/cases.py. */
    static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    aes = cd_aes_best();
    aes->prepare(&aes_key, key, sizeof(key));
    sha256 = cd_sha256_best();
    sha1 = cd_sha1_best();
    md5 = &cd_md5_portable;
    cd_hmac_prepare(&hmac_sha256, sha256, key, sizeof(key));
    cd_hmac_prepare(&hmac_sha1, sha1, key, sizeof(key));
    return PyModule_Create(&module);
}
