# Messages that are hashed in pieces.


@cython.final
@cython.no_gc_clear  # __dealloc__ gives back its use of the transform
cdef class HashStream:
    """A message that is hashed in pieces; digests can be taken at any time, and it goes on.

    Made by ``Hash.new``. Several threads may update one stream: each update is taken as a whole.
    """

    cdef Hash hash
    cdef cd_hash_state state
    cdef object lock

    def __cinit__(self, Hash hash not None):
        hash.ready()
        cdef cd_status status = cd_hash_begin(hash.handle, &self.state)
        if status != CD_OK:
            raise hash.failure(status)
        self.hash = hash
        hash.active += 1  # the key must not change in the middle of a message
        self.lock = allocate_lock()

    def __dealloc__(self):
        memset(&self.state, 0, sizeof(self.state))
        if self.hash is not None:
            self.hash.leave()

    def __reduce__(self):
        raise _cannot_pickle(self, "copy() makes another one, export_state() bytes to go on from")

    def __repr__(self):
        if self.hash.closed:
            return "<HashStream closed>"
        return f"<HashStream of {self.hash.name} by {self.hash.driver}>"

    def update(self, data):
        """Take the next piece; an error leaves the message as it was."""
        cdef Bytes source
        cdef cd_status status
        take(&source, data, "data")
        try:
            self.hash.ready()  # after the buffer may have run code
            with self.lock:
                if source.length > gil_release_bytes or self.hash.implementation.flags & CD_FLAG_ASYNC:
                    with nogil:
                        status = cd_hash_update(self.hash.handle, &self.state, source.data, source.length)
                else:
                    status = cd_hash_update(self.hash.handle, &self.state, source.data, source.length)
        finally:
            release(&source)
        if status != CD_OK:
            raise self.hash.failure(status)

    def digest(self):
        """Return the digest of the message so far: bytes."""
        cdef cd_status status
        cdef cd_hash_state state
        cdef bytes out
        self.hash.ready()
        out = PyBytes_FromStringAndSize(NULL, self.hash.digest_length)
        cdef uint8_t *digest = <uint8_t *>PyBytes_AS_STRING(out)
        with self.lock:
            state = self.state
        with nogil:
            status = cd_hash_finish(self.hash.handle, &state, digest)
        memset(&state, 0, sizeof(state))
        if status != CD_OK:
            raise self.hash.failure(status)
        return out

    def hexdigest(self):
        """Return the digest of the message so far in hexadecimal: str."""
        return self.digest().hex()

    def copy(self):
        """Return a stream of its own that goes on from here."""
        cdef HashStream other = HashStream(self.hash)
        with self.lock:
            other.state = self.state
        return other

    def export_state(self):
        """Return the state as bytes that ``import_state`` of any implementation of the algorithm takes.

        As secret as the message; for an HMAC as secret as the key.
        """
        cdef uint8_t blob[240]
        self.hash.ready()
        with self.lock:
            cd_hash_export(self.hash.handle, &self.state, blob)
        return (<char *>blob)[:CD_HASH_BLOB_SIZE]

    def import_state(self, blob):
        """Go on from an exported state instead of this one.

        Raises:
            ValueError: not an exported state, or one of another algorithm; the stream is as it was.
        """
        cdef Bytes source
        cdef cd_status status
        cdef cd_hash_state state
        self.hash.ready()
        take(&source, blob, "blob")
        status = cd_hash_import(self.hash.handle, &state, source.data, source.length)
        release(&source)
        if status == CD_E_MISMATCH:
            raise ValueError(f"blob: the state of another algorithm was given, {self.hash.name} is needed")
        if status != CD_OK:
            raise ValueError("blob: it is not an exported state")
        with self.lock:
            self.state = state

    @property
    def name(self):
        """Algorithm name."""
        return self.hash.name

    @property
    def digest_size(self):
        """Bytes of a digest."""
        return self.hash.digest_size

    @property
    def block_size(self):
        """Bytes of a block of the hash: 64."""
        return CD_HASH_BLOCK
