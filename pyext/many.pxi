# Lists of records. On an engine up to MANY_WINDOW requests are in flight at once.

cdef enum:
    MANY_WINDOW = 256


cdef class _Batch:
    """Owns what a list of records needs until the last request has ended."""

    cdef Cipher cipher
    cdef Bytes *sources
    cdef cd_cipher_request *window
    cdef Py_ssize_t count, taken, started, ended
    cdef Py_ssize_t failed_index
    cdef cd_status failed
    cdef list out

    def __cinit__(self, Cipher cipher not None, Py_ssize_t count):
        self.cipher = cipher
        self.count = count
        self.failed_index = -1
        self.sources = <Bytes *>calloc(max(count, 1), sizeof(Bytes))
        self.window = <cd_cipher_request *>calloc(MANY_WINDOW, sizeof(cd_cipher_request))
        if self.sources == NULL or self.window == NULL:
            raise MemoryError("records: out of memory")
        cipher.active += 1

    def __dealloc__(self):
        self.drain()
        for index in range(self.taken):
            release(&self.sources[index])
        free(self.sources)
        free(self.window)
        if self.cipher is not None:
            self.cipher.active -= 1

    cdef int take_records(self, object records) except -1:
        cdef uint32_t block = self.cipher.implementation.block_size
        self.out = []
        for index in range(self.count):
            take(&self.sources[index], records[index], f"records[{index}]")
            self.taken = index + 1
            if self.sources[index].length % block:
                raise self.cipher.failure(
                    CD_E_LENGTH, self.sources[index].length, f"records[{index}]: ")
        for index in range(self.count):
            self.out.append(PyBytes_FromStringAndSize(NULL, self.sources[index].length))
        return 0

    cdef cd_cipher_request *slot(self, Py_ssize_t index):
        return &self.window[index % MANY_WINDOW]

    cdef void end_oldest(self) noexcept:
        cdef cd_cipher_request *request = self.slot(self.ended)
        cdef cd_status status = <cd_status>request.status
        if status == CD_IN_PROGRESS:
            with nogil:
                status = _finish(self.cipher.handle, request)
        if status != CD_OK and self.failed_index < 0:
            self.failed_index = self.ended
            self.failed = status
        self.ended += 1

    cdef void drain(self) noexcept:
        while self.ended < self.started:
            self.end_oldest()

    cdef int start(self, object iv, bint decrypt) except -1:
        cdef cd_cipher_request *request
        cdef Py_ssize_t index = self.started
        if index - self.ended == MANY_WINDOW:
            self.end_oldest()
        request = self.slot(index)
        _prepare(request)
        self.cipher.take_iv(request, iv)
        request.source = self.sources[index].data
        request.destination = <uint8_t *>PyBytes_AS_STRING(self.out[index])
        request.length = self.sources[index].length
        if decrypt:
            request.status = cd_cipher_decrypt(self.cipher.handle, request)
        else:
            request.status = cd_cipher_encrypt(self.cipher.handle, request)
        self.started = index + 1
        return 0


cdef list _run_many(Cipher cipher, object records, object ivs, bint decrypt):
    cdef _Batch batch
    cdef cd_cipher_request probe
    cipher.ready()
    records = records if isinstance(records, (list, tuple)) else list(records)
    if ivs is not None:
        ivs = ivs if isinstance(ivs, (list, tuple)) else list(ivs)
        if len(ivs) != len(records):
            raise ValueError(f"ivs: {len(ivs)} were given for {len(records)} records")
    elif cipher.iv_length and len(records):
        raise TypeError(f"ivs: None was given, {cipher.name} needs one of {cipher.iv_length} bytes a record")
    batch = _Batch(cipher, len(records))
    batch.take_records(records)
    if ivs is not None:
        for index in range(batch.count):
            try:
                cipher.take_iv(&probe, ivs[index])
            except (TypeError, ValueError) as error:
                raise type(error)(f"ivs[{index}]: {error}") from None
    for index in range(batch.count):
        batch.start(None if ivs is None else ivs[index], decrypt)
    batch.drain()
    if batch.failed_index >= 0:
        raise cipher.failure(batch.failed, 0, f"records[{batch.failed_index}]: ")
    return batch.out
