# Messages in pieces.


@cython.final
@cython.no_gc_clear  # __dealloc__ gives back its use of the transform
cdef class CipherStream:
    """A message that is encrypted or decrypted in pieces: any split gives the one-shot bytes.

    Made by ``Cipher.encryptor`` and ``Cipher.decryptor``; used by one thread at a time.
    """

    cdef Cipher cipher
    cdef cd_cipher_stream state
    cdef bint decrypt
    cdef bint busy

    def __cinit__(self, Cipher cipher not None, iv, bint decrypt):
        cdef cd_cipher_request request
        cipher.take_iv(&request, iv)
        cipher.ready()  # after the IV's buffer may have run code
        if not cd_cipher_has_key(cipher.handle):
            raise InvalidKeyError(f"key: none is set; set_key of {cipher.name} comes first")
        self.cipher = cipher
        self.decrypt = decrypt
        cd_cipher_stream_init(&self.state, cipher.handle, decrypt, request.iv)
        cipher.active += 1  # until finalized: the key must not change in the middle of a message

    def __dealloc__(self):
        self.detach()

    def __reduce__(self):
        raise _cannot_pickle(self, "start another message with its `iv`")

    def __repr__(self):
        work = "decrypting" if self.decrypt else "encrypting"
        if self.cipher.closed or self.state.finished:
            return f"<CipherStream {'finalized' if self.state.finished else 'closed'}>"
        return f"<CipherStream {work} {self.cipher.name} by {self.cipher.driver}>"

    cdef void detach(self) noexcept:
        if self.cipher is not None and not self.state.finished:
            self.cipher.leave()
        cd_cipher_stream_cleanup(&self.state)

    cdef int ready(self) except -1:
        if self.state.finished:
            raise ValueError("stream: it is finalized")
        if self.busy:
            raise RuntimeError("stream: another thread is using it")
        return self.cipher.ready()

    cdef int advance(self, uint8_t *out, Bytes *source) except -1:
        cdef cd_status status
        self.busy = True
        if source.length > gil_release_bytes or self.cipher.implementation.flags & CD_FLAG_ASYNC:
            with nogil:
                status = cd_cipher_stream_update(&self.state, out, source.data, source.length)
        else:
            status = cd_cipher_stream_update(&self.state, out, source.data, source.length)
        self.busy = False
        if status != CD_OK:
            if self.state.finished:
                self.cipher.leave()
            if status == CD_E_OVERLAP:
                raise ValueError("out: it overlaps data without being in step with it")
            raise self.cipher.failure(status, source.length)
        return 0

    def update(self, data):
        """Take the next piece and return what it completes: a bytes object.

        Counter modes return as many bytes as they take; ecb and cbc return whole blocks.
        """
        cdef Bytes source
        cdef bytes out
        take(&source, data, "data")
        try:
            self.ready()  # after the buffer may have run code
            out = PyBytes_FromStringAndSize(NULL, cd_cipher_stream_output_size(&self.state, source.length))
            self.advance(<uint8_t *>PyBytes_AS_STRING(out), &source)
        finally:
            release(&source)
        return out

    def update_into(self, data, out):
        """Take the next piece, write what it completes into `out` and return its number of bytes."""
        cdef Bytes source, destination
        cdef Py_ssize_t length
        destination.viewed = False
        take(&source, data, "data")
        try:
            take_writable(&destination, out, "out")
            self.ready()  # after the buffers may have run code
            length = cd_cipher_stream_output_size(&self.state, source.length)
            if destination.length < length:
                raise ValueError(f"out: {_given(destination.length)}, at least {length} are needed")
            self.advance(destination.data, &source)
        finally:
            release(&source)
            release(&destination)
        return length

    def finalize(self):
        """End the message and return b"".

        Raises:
            ValueError: the message's length is not a multiple of the block size (ecb, cbc), or the
                stream is finalized already.
        """
        cdef uint32_t pending = self.state.pending
        self.ready()
        self.cipher.leave()
        if cd_cipher_stream_finalize(&self.state) == CD_E_LENGTH:
            size = self.cipher.block_size
            raise ValueError(f"data: the message ends with {pending} bytes of a block of {size}")
        return b""

    @property
    def iv(self):
        """The IV that continues the message after the whole blocks done so far: bytes.

        For counter modes after a partial block: the counter of the block after it. For rfc3686 the IV
        itself, since its counter starts anew with every message.
        """
        return (<char *>self.state.iv)[:self.cipher.iv_length]
