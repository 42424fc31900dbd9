# Hashes and HMACs: one-shot digests.


@cython.final
cdef class Hash:
    """Hash(algorithm, key=None)\n--\n\nOne instance of one hash implementation, keyed for an HMAC.

    Args:
        algorithm: algorithm name (``"sha256"``, ``"hmac(sha256)"``: the implementation with the highest
            priority) or driver name (``"sha256-lib"``: that one).
        key: bytes-like, of any length up to 2^20 bytes; for an HMAC only, and without it digests fail
            until ``set_key``.

    Raises:
        UnknownAlgorithmError: nothing of that name is registered, or this CPU cannot run it.
        InvalidKeyError: a key for a hash that takes none, or one that is too long.

    A hash may be used by several threads at once, except ``set_key`` and ``close``.
    """

    cdef cd_hash *handle
    cdef const cd_implementation *implementation
    cdef uint32_t digest_length
    cdef Py_ssize_t active
    cdef bint closed

    def __cinit__(self, algorithm=None, key=None, *extra, **unknown):
        cdef cd_status status
        if algorithm is None or extra or unknown:
            _check_arguments("Hash(algorithm, key=None)", algorithm, extra, unknown)
        name = _algorithm_name(algorithm)
        status = cd_hash_new(&self.handle, registry.handle, name, 0, CD_FLAG_MODELLED)
        if status == CD_E_UNKNOWN_ALGORITHM or status == CD_E_UNAVAILABLE:
            raise _lookup_error(status, algorithm, "hash")
        check(status)
        self.implementation = cd_hash_implementation(self.handle)
        self.digest_length = self.implementation.digest_size
        if key is not None:
            self.set_key(key)

    def __dealloc__(self):
        cd_hash_free(self.handle)

    def __reduce__(self):
        raise _cannot_pickle(self, "make another one from the name and the key")

    def __enter__(self):
        self.ready()
        return self

    def __exit__(self, *_exception):
        self.close()

    def __repr__(self):
        return "<Hash closed>" if self.closed else f"<Hash {self.name} by {self.driver}>"

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
        cd_hash_free(self.handle)
        self.handle = NULL

    cdef inline int ready(self) except -1:
        if self.closed:
            raise ValueError("hash: it is closed")
        return 0

    cdef int keyed(self) except -1:
        """Ready, and a key is set: what a batch needs before any record is looked at."""
        self.ready()
        if not cd_hash_has_key(self.handle):
            raise InvalidKeyError(f"key: none is set; set_key of {self.name} comes first")
        return 0

    def set_key(self, key):
        """Set the key of an HMAC; after an error no digest is made until a key is set.

        Raises:
            InvalidKeyError: the hash takes no key, or the key is longer than 2^20 bytes.
            RuntimeError: a digest is under way in another thread, or a stream is open.
        """
        cdef Bytes buffer
        cdef cd_status status
        take(&buffer, key, "key")
        if self.closed or self.active:  # after the key's buffer may have run code
            release(&buffer)
            self.ready()
            raise RuntimeError("set_key: a digest or stream of this hash is under way")
        status = cd_hash_set_key(self.handle, buffer.data, buffer.length)
        length = buffer.length
        release(&buffer)
        if status == CD_E_KEY:
            allowed = "at most 1048576" if self.implementation.key_sizes else "no key"
            raise InvalidKeyError(f"key: {_given(length)}, {self.name} takes {allowed}")
        check(status)

    @property
    def name(self):
        """Algorithm name, as ``hmac(sha256)``."""
        self.ready()
        return self.implementation.algorithm.decode()

    @property
    def driver(self):
        """Driver name of the bound implementation."""
        self.ready()
        return self.implementation.driver.decode()

    @property
    def digest_size(self):
        """Bytes of a digest."""
        self.ready()
        return self.digest_length

    @property
    def block_size(self):
        """Bytes of a block of the hash: 64."""
        self.ready()
        return CD_HASH_BLOCK

    cdef object failure(self, cd_status status, str where=""):
        if self.closed:
            return ValueError("hash: it is closed")
        if status == CD_E_NO_KEY:
            return InvalidKeyError(f"key: none is set; set_key of {self.name} comes first")
        if status == CD_E_LENGTH:
            return ValueError(f"{where}data: the message would be longer than 2^61 - 1 bytes")
        return _error(status, f"{where}{self.driver}: {cd_status_text(status).decode()}")

    cdef inline cd_status execute(self, cd_hash_request *request) noexcept:
        """Run one digest to its end; the GIL is released while that takes long."""
        cdef cd_status status
        if self.handle == NULL:
            return CD_E_INVALID  # closed by code that a buffer ran; failure() says so
        if request.length > gil_release_bytes:
            return self.execute_long(request)
        self.active += 1
        status = cd_hash_digest(self.handle, request)
        if status == CD_IN_PROGRESS:
            with nogil:
                status = _finish_hash(self.handle, request)
        self.leave()
        return status

    cdef cd_status execute_long(self, cd_hash_request *request) noexcept:
        cdef cd_status status
        self.active += 1
        with nogil:
            status = cd_hash_digest_wait(self.handle, request)
        self.leave()
        return status

    def digest(self, data):
        """Return the digest of one whole message: bytes.

        Raises:
            TypeError, ValueError: data is not a contiguous bytes-like object.
            InvalidKeyError: an HMAC without key.
            DeviceError: the engine failed.
        """
        cdef cd_hash_request request
        cdef cd_status status
        cdef bytes out
        if not PyBytes_CheckExact(data):
            return self.digest_viewed(data)
        self.ready()
        request.complete = NULL
        request.context = NULL
        out = PyBytes_FromStringAndSize(NULL, self.digest_length)
        request.source = <const uint8_t *>PyBytes_AS_STRING(data)
        request.length = PyBytes_GET_SIZE(data)
        request.digest = <uint8_t *>PyBytes_AS_STRING(out)
        status = self.execute(&request)
        if status != CD_OK:
            raise self.failure(status)
        return out

    def hexdigest(self, data):
        """Return the digest of one whole message in hexadecimal: str; as ``digest``."""
        return self.digest(data).hex()

    cdef object digest_viewed(self, object data):
        cdef cd_hash_request request
        cdef Bytes source
        cdef cd_status status
        cdef bytes out
        self.ready()
        request.complete = NULL
        request.context = NULL
        take(&source, data, "data")
        try:
            out = PyBytes_FromStringAndSize(NULL, self.digest_length)
            request.source = source.data
            request.length = source.length
            request.digest = <uint8_t *>PyBytes_AS_STRING(out)
            status = self.execute(&request)
        finally:
            release(&source)
        if status != CD_OK:
            raise self.failure(status)
        return out

    def digest_into(self, data, out):
        """Write the digest of `data` into `out`, a writable buffer, and return its number of bytes."""
        cdef cd_hash_request request
        cdef Bytes source, destination
        cdef cd_status status
        self.ready()
        request.complete = NULL
        request.context = NULL
        destination.viewed = False
        take(&source, data, "data")
        try:
            take_writable(&destination, out, "out")
            if destination.length < self.digest_length:
                raise ValueError(
                    f"out: {_given(destination.length)}, at least {self.digest_length} are needed")
            request.source = source.data
            request.length = source.length
            request.digest = destination.data
            status = self.execute(&request)
        finally:
            release(&source)
            release(&destination)
        if status != CD_OK:
            raise self.failure(status)
        return self.digest_length

    def digest_many(self, records):
        """Return the digest of each of `records`: a list of bytes.

        Raises:
            TypeError: a record is not bytes-like; nothing was hashed then.
            BatchError: some records failed (``errors``, by index); the others are in ``results``.
        """
        return hash_many(self, records)

    def digest_batch(self, values, offsets, out, offset_size=None):
        """Digest records that lie in one buffer into `out`, one behind the other; returns its bytes.

        Args:
            values: bytes-like; record i is ``values[offsets[i]:offsets[i + 1]]``.
            offsets: int32 or int64 buffer of one more than the number of records, as Arrow has them.
            out: writable, ``digest_size`` bytes for each record.
            offset_size: 4 or 8, if `offsets` is a buffer of bytes.

        Raises:
            TypeError, ValueError: an argument is not of that form; nothing was hashed then.
        """
        return hash_packed(self, values, offsets, out, offset_size)

    def new(self, data=b""):
        """Start a message that is hashed in pieces: a ``HashStream`` that has taken `data`."""
        cdef HashStream stream = HashStream(self)
        stream.update(data)
        return stream


cdef cd_status _finish_hash(cd_hash *handle, cd_hash_request *request) noexcept nogil:
    """Wait for a request that is in progress and return its outcome."""
    cdef cd_status status
    while True:
        status = cd_hash_wait(handle, request, 1000000000)
        if status == CD_OK:
            return <cd_status>request.status
        if status != CD_E_TIMEOUT:
            return status
