# Authenticated encryption: ciphertext and tag in one bytes object.


@cython.final
cdef class Aead:
    """Aead(algorithm, key=None, auth_key=None, tag_size=None)\n--\n\nOne keyed instance of one AEAD implementation.

    Args:
        algorithm: algorithm name (``"authenc(hmac(sha256),cbc(aes))"``) or driver name.
        key: the cipher's key, of a size in ``key_sizes``.
        auth_key: the HMAC's key, of any length up to 2^20 bytes.
        tag_size: bytes of the tag, 1 to ``max_tag_size``; None: the whole digest.

    Raises:
        UnknownAlgorithmError: nothing of that name is registered, or this CPU cannot run it.
        InvalidKeyError: a key's length is not allowed.
        ValueError: tag_size is out of range.

    Encrypts, then authenticates `aad` and ciphertext; the IV only if it is part of `aad` (as in the
    kernel's authenc). May be used by several threads at once, except ``set_key`` and ``close``.
    """

    cdef cd_aead *handle
    cdef const cd_implementation *implementation
    cdef uint32_t iv_length
    cdef uint32_t tag_length
    cdef Py_ssize_t active
    cdef bint closed

    def __cinit__(self, algorithm=None, key=None, auth_key=None, tag_size=None, *extra, **unknown):
        cdef cd_status status
        if algorithm is None or extra or unknown:
            _check_arguments("Aead(algorithm, key=None, auth_key=None, tag_size=None)", algorithm, extra, unknown)
        name = _algorithm_name(algorithm)
        status = cd_aead_new(&self.handle, registry.handle, name, 0, CD_FLAG_MODELLED)
        if status == CD_E_UNKNOWN_ALGORITHM or status == CD_E_UNAVAILABLE:
            raise _lookup_error(status, algorithm, "aead")
        check(status)
        self.implementation = cd_aead_implementation(self.handle)
        self.iv_length = self.implementation.iv_size
        self.tag_length = self.implementation.max_tag_size
        if tag_size is not None:
            size = _integer(tag_size, "tag_size")
            if not 1 <= size <= self.tag_length:
                raise ValueError(f"tag_size: {size} was given, 1 to {self.tag_length} are allowed")
            check(cd_aead_set_tag_size(self.handle, size))
            self.tag_length = size
        if key is not None or auth_key is not None:
            self.set_key(key, auth_key)

    def __dealloc__(self):
        cd_aead_free(self.handle)

    def __reduce__(self):
        raise _cannot_pickle(self, "make another one from the name and the keys")

    def __enter__(self):
        self.ready()
        return self

    def __exit__(self, *_exception):
        self.close()

    def __repr__(self):
        return "<Aead closed>" if self.closed else f"<Aead {self.name} by {self.driver}>"

    def close(self):
        """Give the transform up; later use is a ValueError. Idempotent."""
        self.closed = True
        self.active += 1
        self.leave()

    cdef inline void leave(self) noexcept:
        """One use less; the last one of a closed transform takes the key with it."""
        self.active -= 1
        if self.closed and self.active == 0:
            self.drop()

    cdef void drop(self) noexcept:
        cd_aead_free(self.handle)
        self.handle = NULL

    cdef inline int ready(self) except -1:
        if self.closed:
            raise ValueError("aead: it is closed")
        return 0

    cdef int keyed(self) except -1:
        """Ready, and a key is set: what a batch needs before any record is looked at."""
        self.ready()
        if not cd_aead_has_key(self.handle):
            raise InvalidKeyError(f"key: none is set; set_key of {self.name} comes first")
        return 0

    def set_key(self, key, auth_key):
        """Set both keys; after an error no request is accepted until they are set.

        Raises:
            InvalidKeyError: a length is not allowed.
            RuntimeError: a request is under way in another thread.
        """
        cdef Bytes first, second
        cdef cd_status status
        second.viewed = False
        take(&first, key, "key")
        try:
            take(&second, auth_key, "auth_key")
            self.ready()  # after the keys' buffers may have run code
            if self.active:
                raise RuntimeError("set_key: a request of this aead is under way")
            status = cd_aead_set_key(self.handle, first.data, first.length, second.data, second.length)
            lengths = first.length, second.length
        finally:
            release(&first)
            release(&second)
        if status == CD_E_KEY and lengths[0] not in self.key_sizes:
            raise InvalidKeyError(f"key: {_given(lengths[0])}, {self.name} takes {_sizes(self.key_sizes)}")
        if status == CD_E_KEY:
            raise InvalidKeyError(f"auth_key: {_given(lengths[1])}, at most 1048576 are allowed")
        check(status)

    @property
    def name(self):
        """Algorithm name, as ``authenc(hmac(sha1),cbc(aes))``."""
        self.ready()
        return self.implementation.algorithm.decode()

    @property
    def driver(self):
        """Driver name of the bound implementation."""
        self.ready()
        return self.implementation.driver.decode()

    @property
    def block_size(self):
        """Texts are multiples of it, bytes; 1 for counter modes."""
        self.ready()
        return self.implementation.block_size

    @property
    def iv_size(self):
        """Bytes of an IV."""
        self.ready()
        return self.iv_length

    @property
    def key_sizes(self):
        """Sizes of the cipher's key in bytes: a tuple."""
        self.ready()
        return _key_sizes(self.implementation.key_sizes)

    @property
    def tag_size(self):
        """Bytes of the tag."""
        self.ready()
        return self.tag_length

    @property
    def max_tag_size(self):
        """Bytes of the longest tag: the digest."""
        self.ready()
        return self.implementation.max_tag_size

    def encrypt(self, data, iv, aad=b""):
        """Return the ciphertext of `data` and behind it the tag: bytes.

        Args:
            data: bytes-like, a multiple of ``block_size``.
            iv: bytes-like of ``iv_size`` bytes.
            aad: bytes-like of any length; authenticated, not encrypted.
        """
        cdef cd_aead_request request
        cdef Bytes source, extra
        cdef cd_status status
        cdef bytes out
        self.prepare(&request, iv)
        extra.viewed = False
        take(&source, data, "data")
        try:
            take(&extra, aad, "aad")
            out = PyBytes_FromStringAndSize(NULL, source.length + self.tag_length)
            request.source = source.data
            request.length = source.length
            request.aad = extra.data
            request.aad_len = extra.length
            request.destination = <uint8_t *>PyBytes_AS_STRING(out)
            request.tag = request.destination + source.length
            status = self.execute(&request, False)
        finally:
            release(&source)
            release(&extra)
        if status != CD_OK:
            raise self.failure(status, request.length)
        return out

    def decrypt(self, data, iv, aad=b""):
        """Check the tag at the end of `data` and return the plaintext: bytes.

        Raises:
            AuthenticationError: the tag does not match; nothing of the plaintext is given out.
            ValueError: data is shorter than a tag.
        """
        cdef cd_aead_request request
        cdef Bytes source, extra
        cdef cd_status status
        cdef bytes out
        self.prepare(&request, iv)
        extra.viewed = False
        take(&source, data, "data")
        try:
            take(&extra, aad, "aad")
            if source.length < self.tag_length:
                raise ValueError(
                    f"data: {_given(source.length)}, at least the {self.tag_length} of a tag are needed")
            request.length = source.length - self.tag_length
            out = PyBytes_FromStringAndSize(NULL, request.length)
            request.source = source.data
            request.aad = extra.data
            request.aad_len = extra.length
            request.destination = <uint8_t *>PyBytes_AS_STRING(out)
            request.tag = source.data + request.length
            status = self.execute(&request, True)
        finally:
            release(&source)
            release(&extra)
        if status != CD_OK:
            raise self.failure(status, request.length)
        return out

    def encrypt_many(self, records, ivs, aads=None):
        """Encrypt each of `records` with IV (and AAD) of the same index: a list of bytes.

        Raises:
            TypeError: an item is not bytes-like; nothing was encrypted then.
            BatchError: some records failed (``errors``, by index); the others are in ``results``.
        """
        return aead_many(self, records, ivs, aads, False)

    def decrypt_many(self, records, ivs, aads=None):
        """Decrypt each of `records`; as ``encrypt_many``. A forged one is an error of its index."""
        return aead_many(self, records, ivs, aads, True)

    def encrypt_batch(self, values, offsets, ivs, out, aads=None, aad_offsets=None, offset_size=None):
        """Encrypt records that lie in one buffer into another; returns the bytes written.

        Args:
            values, offsets, ivs, offset_size: as ``Cipher.encrypt_batch``.
            out: writable, no part of `values`; takes record i and its tag at
                ``offsets[i] + i * tag_size``.
            aads, aad_offsets: the AAD of every record in the same form; None: empty.

        Raises:
            TypeError, ValueError: an argument is not of that form; nothing was encrypted then.
            BatchError: some records failed (``errors``, by index); the others are done.
        """
        return aead_packed(self, values, offsets, ivs, out, aads, aad_offsets, offset_size, False)

    def decrypt_batch(self, values, offsets, ivs, out, aads=None, aad_offsets=None, offset_size=None):
        """Decrypt records with their tags; record i goes to ``offsets[i] - i * tag_size``.

        Of a forged record nothing is written, and it is an error of its index.
        """
        return aead_packed(self, values, offsets, ivs, out, aads, aad_offsets, offset_size, True)

    cdef int prepare(self, cd_aead_request *request, object iv) except -1:
        cdef Bytes buffer
        cdef Py_ssize_t length
        self.ready()
        request.complete = NULL
        request.context = NULL
        if PyBytes_CheckExact(iv) and PyBytes_GET_SIZE(iv) == 16 and self.iv_length == 16:
            memcpy(request.iv, PyBytes_AS_STRING(iv), 16)
            return 0
        take(&buffer, iv, "iv")
        length = buffer.length
        if length == self.iv_length:
            memcpy(request.iv, buffer.data, length)
        release(&buffer)
        if length != self.iv_length:
            raise ValueError(f"iv: {_given(length)}, {self.name} takes {self.iv_length}")
        return 0

    cdef cd_status execute(self, cd_aead_request *request, bint decrypt) noexcept:
        """Run one request to its end; the GIL is released while that takes long."""
        cdef cd_status status
        if self.handle == NULL:
            return CD_E_INVALID  # closed by code that a buffer ran; failure() says so
        self.active += 1
        if request.length + request.aad_len <= gil_release_bytes:
            if decrypt:
                status = cd_aead_decrypt(self.handle, request)
            else:
                status = cd_aead_encrypt(self.handle, request)
            if status == CD_IN_PROGRESS:
                with nogil:
                    status = _finish_aead(self.handle, request)
        else:
            with nogil:
                if decrypt:
                    status = cd_aead_decrypt_wait(self.handle, request)
                else:
                    status = cd_aead_encrypt_wait(self.handle, request)
        self.leave()
        return status

    cdef object failure(self, cd_status status, size_t length, str where=""):
        if self.closed:
            return ValueError("aead: it is closed")
        if status == CD_E_AUTHENTICATION:
            return AuthenticationError(f"{where}data: the tag does not match")
        if status == CD_E_NO_KEY:
            return InvalidKeyError(f"key: none is set; set_key of {self.name} comes first")
        if status == CD_E_LENGTH and length % self.implementation.block_size:
            return ValueError(f"{where}data: {length} bytes of text were given, {self.name} takes "
                              f"multiples of {self.implementation.block_size}")
        if status == CD_E_LENGTH:
            return ValueError(f"{where}data: {length} bytes are more than {self.name} can do under one IV")
        return _error(status, f"{where}{self.driver}: {cd_status_text(status).decode()}")


cdef cd_status _finish_aead(cd_aead *handle, cd_aead_request *request) noexcept nogil:
    """Wait for a request that is in progress and return its outcome."""
    cdef cd_status status
    while True:
        status = cd_aead_wait(handle, request, 1000000000)
        if status == CD_OK:
            return <cd_status>request.status
        if status != CD_E_TIMEOUT:
            return status
