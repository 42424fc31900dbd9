# Ciphers: one call from Python is one request.


@cython.final
cdef class Cipher:
    """Cipher(algorithm, key=None)\n--\n\nOne keyed instance of one cipher implementation.

    Args:
        algorithm: algorithm name (``"cbc(aes)"``: the implementation with the highest priority) or
            driver name (``"cbc(aes-lib)"``: that one).
        key: bytes-like, of a size in ``key_sizes``; without it requests fail until ``set_key``.

    Raises:
        UnknownAlgorithmError: nothing of that name is registered, or this CPU cannot run it.
        InvalidKeyError: the key's length is not in ``key_sizes``.

    A cipher may be used by several threads at once, except ``set_key`` and ``close``.
    """

    cdef cd_cipher *handle
    cdef const cd_implementation *implementation
    cdef uint32_t iv_length
    cdef Py_ssize_t active  # requests and streams under way: the key must not change under them
    cdef bint closed

    def __cinit__(self, algorithm=None, key=None, *extra, **unknown):
        cdef cd_status status
        if algorithm is None or extra or unknown:
            _check_arguments("Cipher(algorithm, key=None)", algorithm, extra, unknown)
        name = _algorithm_name(algorithm)
        status = cd_cipher_new(&self.handle, registry.handle, name, 0, CD_FLAG_MODELLED)
        if status == CD_E_UNKNOWN_ALGORITHM or status == CD_E_UNAVAILABLE:
            raise _lookup_error(status, algorithm, "cipher")
        check(status)
        self.implementation = cd_cipher_implementation(self.handle)
        self.iv_length = self.implementation.iv_size
        if key is not None:
            self.set_key(key)

    def __dealloc__(self):
        cd_cipher_free(self.handle)

    def __reduce__(self):
        raise _cannot_pickle(self, "make another one from the name and the key")

    def __enter__(self):
        self.ready()
        return self

    def __exit__(self, *_exception):
        self.close()

    def __repr__(self):
        if self.closed:
            return "<Cipher closed>"
        return f"<Cipher {self.name} by {self.driver}>"

    def close(self):
        """Give the transform up; later use is a ValueError. Idempotent.

        The key is wiped at once, or when the last request and stream under way is gone.
        """
        self.closed = True
        self.active += 1
        self.leave()

    cdef inline void leave(self) noexcept:
        """One use less; the last one of a closed transform takes the key with it."""
        self.active -= 1
        if self.closed and self.active == 0:
            self.drop()

    cdef void drop(self) noexcept:
        cd_cipher_free(self.handle)
        self.handle = NULL

    cdef inline int ready(self) except -1:
        if self.closed:
            raise ValueError("cipher: it is closed")
        return 0

    cdef int keyed(self) except -1:
        """Ready, and a key is set: what a batch needs before any record is looked at."""
        self.ready()
        if not cd_cipher_has_key(self.handle):
            raise InvalidKeyError(f"key: none is set; set_key of {self.name} comes first")
        return 0

    def set_key(self, key):
        """Set the key; after an error no request is accepted until a key is set.

        Raises:
            InvalidKeyError: the length is not in ``key_sizes``.
            RuntimeError: a request of this cipher is under way in another thread.
        """
        cdef Bytes buffer
        cdef cd_status status
        take(&buffer, key, "key")
        if self.closed or self.active:  # after the key's buffer may have run code
            release(&buffer)
            self.ready()
            raise RuntimeError("set_key: a request of this cipher is under way")
        status = cd_cipher_set_key(self.handle, buffer.data, buffer.length)
        length = buffer.length
        release(&buffer)
        if status == CD_E_KEY or status == CD_E_INVALID:
            raise InvalidKeyError(f"key: {_given(length)}, {self.name} takes {_sizes(self.key_sizes)}")
        check(status)

    @property
    def name(self):
        """Algorithm name, as ``cbc(aes)``."""
        self.ready()
        return self.implementation.algorithm.decode()

    @property
    def driver(self):
        """Driver name of the bound implementation, as ``cbc(aes-ni)``."""
        self.ready()
        return self.implementation.driver.decode()

    @property
    def block_size(self):
        """Texts are multiples of it, bytes; 1 for counter modes."""
        self.ready()
        return self.implementation.block_size

    @property
    def iv_size(self):
        """Bytes of an IV; 0 if the mode takes none."""
        self.ready()
        return self.iv_length

    @property
    def key_sizes(self):
        """Key sizes in bytes: a tuple."""
        self.ready()
        return _key_sizes(self.implementation.key_sizes)

    def encrypt(self, data, iv=None):
        """Encrypt `data` and return the ciphertext, of the same length.

        Args:
            data: bytes-like; for ecb and cbc a multiple of ``block_size``.
            iv: bytes-like of ``iv_size`` bytes; left out for ecb.

        Raises:
            TypeError, ValueError: data or iv is not of that form.
            InvalidKeyError: no key is set.
            DeviceError: the engine failed.
        """
        return self.run(data, iv, False)

    def decrypt(self, data, iv=None):
        """Decrypt `data` and return the plaintext; as ``encrypt``."""
        return self.run(data, iv, True)

    def encrypt_into(self, data, out, iv=None):
        """Encrypt `data` into `out` and return the number of bytes.

        `out` is a writable buffer of at least the length of `data`: the same memory (in place) or none
        of it. Nothing is allocated.
        """
        return self.run_into(data, out, iv, False)

    def decrypt_into(self, data, out, iv=None):
        """Decrypt `data` into `out`; as ``encrypt_into``."""
        return self.run_into(data, out, iv, True)

    def encrypt_many(self, records, ivs=None):
        """Encrypt each of `records` with the IV of the same index: a list of bytes.

        Args:
            records: sequence of bytes-like objects.
            ivs: sequence of IVs of the same length; left out for ecb.

        Raises:
            TypeError: a record or IV is not bytes-like; nothing was encrypted then.
            BatchError: some records failed (``errors``, by index); the others are in ``results``.
        """
        return cipher_many(self, records, ivs, False)

    def decrypt_many(self, records, ivs=None):
        """Decrypt each of `records`; as ``encrypt_many``."""
        return cipher_many(self, records, ivs, True)

    def encrypt_batch(self, values, offsets, ivs, out, offset_size=None):
        """Encrypt records that lie in one buffer into another; returns the bytes up to the last offset.

        Args:
            values: bytes-like; record i is ``values[offsets[i]:offsets[i + 1]]``.
            offsets: int32 or int64 buffer of one more than the number of records, as Arrow has them.
            ivs: bytes-like, the IVs one behind the other; None for ecb.
            out: writable, takes record i at ``offsets[i]``; `values` itself or no part of it.
            offset_size: 4 or 8, if `offsets` is a buffer of bytes.

        Raises:
            TypeError, ValueError: an argument is not of that form; nothing was encrypted then.
            BatchError: some records failed (``errors``, by index); the others are done.
        """
        return cipher_packed(self, values, offsets, ivs, out, offset_size, False)

    def decrypt_batch(self, values, offsets, ivs, out, offset_size=None):
        """Decrypt records that lie in one buffer; as ``encrypt_batch``."""
        return cipher_packed(self, values, offsets, ivs, out, offset_size, True)

    def encryptor(self, iv=None):
        """Start a message that is encrypted in pieces."""
        return CipherStream(self, iv, False)

    def decryptor(self, iv=None):
        """Start a message that is decrypted in pieces."""
        return CipherStream(self, iv, True)

    def submit_encrypt(self, data, iv=None):
        """Start to encrypt `data` and return at once: a ``Request`` with ``result()``.

        The buffer of `data` is held until the request has ended.
        """
        return _submit(self, data, iv, False)

    def submit_decrypt(self, data, iv=None):
        """Start to decrypt `data`; as ``submit_encrypt``."""
        return _submit(self, data, iv, True)

    cdef inline int take_iv(self, cd_cipher_request *request, object iv) except -1:
        if PyBytes_CheckExact(iv) and PyBytes_GET_SIZE(iv) == 16 and self.iv_length == 16:
            memcpy(request.iv, PyBytes_AS_STRING(iv), 16)
            return 0
        return self.take_other_iv(request, iv)

    cdef int take_other_iv(self, cd_cipher_request *request, object iv) except -1:
        cdef Bytes buffer
        cdef Py_ssize_t length
        if iv is None:
            if self.iv_length == 0:
                return 0
            raise TypeError(f"iv: None was given, {self.name} needs {self.iv_length} bytes")
        take(&buffer, iv, "iv")
        length = buffer.length
        if length == self.iv_length:
            memcpy(request.iv, buffer.data, length)
        release(&buffer)
        if length != self.iv_length:
            raise ValueError(f"iv: {_given(length)}, {self.name} takes {self.iv_length}")
        return 0

    cdef inline cd_status execute(self, cd_cipher_request *request, bint decrypt) noexcept:
        """Run one request to its end; the GIL is released while that takes long."""
        cdef cd_status status
        if self.handle == NULL:
            return CD_E_INVALID  # closed by code that a buffer ran; failure() says so
        if request.length > gil_release_bytes:
            return self.execute_long(request, decrypt)
        self.active += 1
        if decrypt:
            status = cd_cipher_decrypt(self.handle, request)
        else:
            status = cd_cipher_encrypt(self.handle, request)
        if status == CD_IN_PROGRESS:
            with nogil:
                status = _finish(self.handle, request)
        self.leave()
        return status

    cdef cd_status execute_long(self, cd_cipher_request *request, bint decrypt) noexcept:
        cdef cd_status status
        self.active += 1
        with nogil:
            if decrypt:
                status = cd_cipher_decrypt_wait(self.handle, request)
            else:
                status = cd_cipher_encrypt_wait(self.handle, request)
        self.leave()
        return status

    cdef object failure(self, cd_status status, size_t length, str where=""):
        """The exception for a request that ended with `status`."""
        if self.closed:
            return ValueError("cipher: it is closed")
        name = self.name
        if status == CD_E_LENGTH and length % self.implementation.block_size:
            text = f"{_given(length)}, {name} takes multiples of {self.implementation.block_size}"
        elif status == CD_E_LENGTH:
            text = f"{length} bytes are more than {name} can do under one IV"
        elif status == CD_E_OVERLAP:
            return ValueError(f"out: it overlaps data without being the same memory")
        elif status == CD_E_NO_KEY:
            return InvalidKeyError(f"key: none is set; set_key of {name} comes first")
        else:
            return _error(status, f"{where}{self.driver}: {cd_status_text(status).decode()}")
        return ValueError(f"{where}data: {text}")

    cdef inline object run(self, object data, object iv, bint decrypt):
        """The way of one request; bytes need no view, so nothing has to be given back."""
        cdef cd_cipher_request request
        cdef cd_status status
        cdef bytes out
        if not PyBytes_CheckExact(data):
            return self.run_viewed(data, iv, decrypt)
        self.ready()
        _prepare(&request)
        self.take_iv(&request, iv)
        out = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(data))
        request.source = <const uint8_t *>PyBytes_AS_STRING(data)
        request.destination = <uint8_t *>PyBytes_AS_STRING(out)
        request.length = PyBytes_GET_SIZE(data)
        status = self.execute(&request, decrypt)
        if status != CD_OK:
            raise self.failure(status, request.length)
        return out

    cdef object run_viewed(self, object data, object iv, bint decrypt):
        cdef cd_cipher_request request
        cdef Bytes source
        cdef cd_status status
        cdef bytes out
        self.ready()
        _prepare(&request)
        self.take_iv(&request, iv)
        take(&source, data, "data")
        try:
            out = PyBytes_FromStringAndSize(NULL, source.length)
            request.source = source.data
            request.destination = <uint8_t *>PyBytes_AS_STRING(out)
            request.length = source.length
            status = self.execute(&request, decrypt)
        finally:
            release(&source)
        if status != CD_OK:
            raise self.failure(status, request.length)
        return out

    cdef object run_into(self, object data, object out, object iv, bint decrypt):
        cdef cd_cipher_request request
        cdef Bytes source, destination
        cdef cd_status status
        self.ready()
        _prepare(&request)
        self.take_iv(&request, iv)
        destination.viewed = False
        take(&source, data, "data")
        try:
            take_writable(&destination, out, "out")
            if destination.length < source.length:
                raise ValueError(f"out: {_given(destination.length)}, at least {source.length} are needed")
            request.source = source.data
            request.destination = destination.data
            request.length = source.length
            status = self.execute(&request, decrypt)
        finally:
            release(&source)
            release(&destination)
        if status != CD_OK:
            raise self.failure(status, request.length)
        return request.length


cdef inline void _prepare(cd_cipher_request *request) noexcept:
    """What every request from Python starts with; the rest is set by the caller or the library."""
    request.block_offset = 0
    request.complete = NULL
    request.context = NULL


cdef cd_status _finish(cd_cipher *handle, cd_cipher_request *request) noexcept nogil:
    """Wait for a request that is in progress and return its outcome."""
    cdef cd_status status
    while True:
        status = cd_cipher_wait(handle, request, 1000000000)
        if status == CD_OK:
            return <cd_status>request.status
        if status != CD_E_TIMEOUT:
            return status


cdef str _sizes(tuple sizes):
    names = [str(size) for size in sizes]
    last = names.pop()
    return f"{', '.join(names)} or {last}" if names else last
