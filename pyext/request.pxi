# Requests in flight: submitted from Python, collected later.


@cython.final
@cython.no_gc_clear  # __dealloc__ gives back its use of the transform
cdef class Request:
    """One request that may still be under way; made by ``Cipher.submit_encrypt`` and ``submit_decrypt``.

    Holds the buffer of its data until it has ended. An engine works on it while anybody waits for
    any of the engine's requests.
    """

    cdef Cipher cipher
    cdef cd_cipher_request request
    cdef Bytes source
    cdef bytes out
    cdef bint under_way
    cdef cd_status status

    def __dealloc__(self):
        if self.under_way:
            with nogil:
                self.status = _finish(self.cipher.handle, &self.request)
            self.settle()

    def __reduce__(self):
        raise _cannot_pickle(self, "its result() can")

    def __repr__(self):
        if self.cipher is None:
            return "<Request of nothing>"
        state = "under way" if self.under_way else "done" if self.status == CD_OK else "failed"
        what = "a closed cipher" if self.cipher.closed else f"{self.cipher.name} by {self.cipher.driver}"
        return f"<Request of {what}, {_bytes(self.request.length)}, {state}>"

    cdef void settle(self) noexcept:
        self.under_way = False
        self.cipher.leave()
        release(&self.source)

    cdef int start(self, bint decrypt) except -1:
        self.cipher.active += 1
        self.under_way = True
        if decrypt:
            self.status = cd_cipher_decrypt(self.cipher.handle, &self.request)
        else:
            self.status = cd_cipher_encrypt(self.cipher.handle, &self.request)
        if self.status != CD_IN_PROGRESS:
            self.settle()
        return 0

    cdef cd_status poll(self, uint64_t timeout_ns):
        """CD_IN_PROGRESS, or the outcome."""
        cdef cd_status status
        cdef cd_cipher_request *request = &self.request
        cdef cd_cipher *handle = self.cipher.handle
        if self.under_way:
            with nogil:
                status = cd_cipher_wait(handle, request, timeout_ns)
            if status == CD_OK and self.under_way:
                self.status = <cd_status>request.status
                self.settle()
            elif status != CD_OK and status != CD_E_TIMEOUT:
                check(status)
        return CD_IN_PROGRESS if self.under_way else self.status

    def done(self):
        """True if the request has ended, whatever the outcome. Does not block."""
        return self.poll(0) != CD_IN_PROGRESS

    def result(self, timeout=None):
        """Wait for the end and return the text: bytes, the same object every time.

        Args:
            timeout: seconds; None waits as long as the engine's own bound.

        Raises:
            TimeoutError: the request is still under way; it can be asked again.
            DeviceError: the engine failed.
        """
        cdef cd_status status = CD_IN_PROGRESS
        if timeout is not None:
            try:
                allowed = timeout >= 0
            except TypeError:
                raise TypeError(f"timeout: {type(timeout).__name__} was given, a number is needed") from None
            if not allowed:
                raise ValueError(f"timeout: {timeout!r} was given, 0 or more seconds are allowed")
            status = self.poll(<uint64_t>(min(timeout, 1e9) * 1e9))
            if status == CD_IN_PROGRESS:
                raise TimeoutError(f"request: still under way after {timeout} s")
        while status == CD_IN_PROGRESS:
            status = self.poll(1000000000)
        if status != CD_OK:
            raise self.cipher.failure(status, self.request.length)
        return self.out


cdef Request _submit(Cipher cipher, object data, object iv, bint decrypt):
    cdef Request request = Request.__new__(Request)
    cipher.ready()
    _prepare(&request.request)
    cipher.take_iv(&request.request, iv)
    request.cipher = cipher
    take(&request.source, data, "data")
    if PyBytes_CheckExact(data):
        _take_view(&request.source, data, "data", False)  # the view keeps the object alive
    cipher.ready()  # again: the buffers may have run code
    request.out = PyBytes_FromStringAndSize(NULL, request.source.length)
    request.request.source = request.source.data
    request.request.destination = <uint8_t *>PyBytes_AS_STRING(request.out)
    request.request.length = request.source.length
    request.start(decrypt)
    if request.status < 0:
        raise cipher.failure(request.status, request.request.length)
    return request
