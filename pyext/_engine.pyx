# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, initializedcheck=False
# cython: embedsignature=True, auto_pickle=False
"""The engine: registry, transforms, clock, benchmark, fallback and driver, bound to C.

Marshals only: every decision is made in C or in the facade. The parts are in the .pxi files.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_SIMPLE,
    PyBUF_WRITABLE,
    Py_buffer,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_GET_SIZE, PyList_New
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset, strchr, strncpy

from cdecl cimport *

from _thread import allocate_lock
from operator import index as index_of
from sys import byteorder as _byteorder
from os import environ, fsdecode, fsencode
from os.path import join as join_path

from cryptodispatch._errors import (
    AuthenticationError,
    BatchError,
    CryptoDispatchError,
    DeviceError,
    DeviceTimeoutError,
    InvalidKeyError,
    UnknownAlgorithmError,
    shown,
    unknown_algorithm,
)

include "errors.pxi"
include "buffers.pxi"
include "registry.pxi"
include "sources.pxi"
include "clock.pxi"
include "gil.pxi"
include "cipher.pxi"
include "stream.pxi"
include "request.pxi"
include "hash.pxi"
include "hash_stream.pxi"
include "aead.pxi"
include "batch.pxi"
include "packed.pxi"
include "benchmark.pxi"
include "machine.pxi"
include "driver.pxi"
include "fallback.pxi"
