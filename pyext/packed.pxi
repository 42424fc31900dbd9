# Packed batches: values in one buffer, record i at offsets[i] up to offsets[i + 1].

cdef enum:
    CHUNK = 256  # records described at a time, on the stack


cdef struct Offsets:
    # A copy: the caller's buffer may change while the GIL is released, and may lie in `out`.
    int64_t *at
    Py_ssize_t count  # of records: one less than offsets


cdef struct Failures:
    # Indices and statuses of records that failed.
    size_t count, capacity
    int64_t *rows
    bint lost


cdef inline int64_t offset_at(const Offsets *offsets, Py_ssize_t index) noexcept nogil:
    return offsets.at[index]


cdef int offset_width(const Py_buffer *view, object offset_size) except -1:
    """Bytes of one offset: 4 or 8."""
    cdef bytes kind = b"B" if view.format == NULL else <bytes>view.format
    native = (b"", b"@", b"=", b"<" if _byteorder == "little" else b">")
    typed = view.ndim == 1 and kind[:len(kind) - 1] in native and kind.endswith((b"i", b"l", b"q"))
    if offset_size is not None:
        if offset_size not in (4, 8):
            raise ValueError(f"offset_size: {offset_size!r} was given, 4 or 8 are allowed")
        size = 4 if offset_size == 4 else 8  # not the object's own number
        if typed and view.itemsize != size:
            raise ValueError(f"offset_size: {size} was given, the items of offsets have {view.itemsize} bytes")
        return size
    if not typed:
        raise ValueError(
            f"offsets: items of format {kind.decode()!r} in {view.ndim} dimensions were given, one of int32 "
            "or int64 in this machine's byte order is needed (or bytes together with offset_size)")
    return view.itemsize


cdef int copy_offsets(Offsets *out, const Py_buffer *view, int width, Py_ssize_t values) except -1:
    """Copy and check: ascending, within the values."""
    cdef int64_t previous = 0, here
    cdef int32_t narrow
    cdef Py_ssize_t index
    cdef const char *at = <const char *>view.buf  # at any alignment
    if view.len % width or view.len < width:
        raise ValueError(
            f"offsets: {_given(view.len)}, a whole number of offsets of {width} bytes, one at least, is needed")
    out.count = view.len // width - 1
    out.at = <int64_t *>calloc(out.count + 1, sizeof(int64_t))
    if out.at == NULL:
        raise MemoryError("offsets: out of memory")
    for index in range(out.count + 1):
        if width == 4:
            memcpy(&narrow, at + 4 * index, 4)
            here = narrow
        else:
            memcpy(&here, at + 8 * index, 8)
        if here < previous:
            raise ValueError(f"offsets[{index}]: {here} was given, {previous} or more is needed")
        out.at[index] = previous = here
    if previous > values:
        raise ValueError(f"offsets[{out.count}]: {previous} was given, the values have {values} bytes")
    return 0


cdef int take_offsets(Offsets *out, object value, object offset_size, Py_ssize_t values) except -1:
    cdef Py_buffer view
    if not PyObject_CheckBuffer(value):
        raise TypeError(
            f"offsets: {type(value).__name__} was given, a buffer of int32 or int64 is needed, such as array.array('q', ...)")
    try:
        PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    except (BufferError, TypeError, ValueError) as cause:
        raise _buffer_error(value, "offsets", False, cause) from None
    try:
        return copy_offsets(out, &view, offset_width(&view, offset_size), values)
    finally:
        PyBuffer_Release(&view)


cdef inline void release_offsets(Offsets *offsets) noexcept:
    free(offsets.at)
    offsets.at = NULL


cdef void note_failure(Failures *failures, int64_t index, int64_t status, int64_t length) noexcept nogil:
    cdef int64_t *rows
    cdef size_t capacity
    if failures.count == failures.capacity:
        capacity = 64 if failures.capacity == 0 else 2 * failures.capacity
        rows = <int64_t *>realloc(failures.rows, capacity * 3 * sizeof(int64_t))
        if rows == NULL:
            failures.lost = True
            return
        failures.rows = rows
        failures.capacity = capacity
    failures.rows[3 * failures.count] = index
    failures.rows[3 * failures.count + 1] = status
    failures.rows[3 * failures.count + 2] = length
    failures.count += 1


cdef object failed_record(object transform, int64_t record, int64_t status, int64_t length):
    where = f"records[{record}]: "
    if isinstance(transform, Cipher):
        return (<Cipher>transform).failure(<cd_status><int>status, length, where)
    if isinstance(transform, Aead):
        return (<Aead>transform).failure(<cd_status><int>status, length, where)
    return (<Hash>transform).failure(<cd_status><int>status, where)


cdef object packed_error(object transform, Failures *failures):
    """BatchError for what failed; frees the list."""
    cdef size_t index
    cdef int64_t *row
    cdef list failed = []
    try:
        for index in range(failures.count):
            row = failures.rows + 3 * index
            failed.append((row[0], failed_record(transform, row[0], row[1], row[2])))
    finally:
        free(failures.rows)
        failures.rows = NULL
    if failures.lost:
        return MemoryError("offsets: out of memory while noting which records failed")
    return batch_error(failed, [])


cdef int check_room(Bytes *out, Py_ssize_t needed, Bytes *values, bint in_place) except -1:
    if out.length < needed:
        raise ValueError(f"out: {_given(out.length)}, at least {needed} are needed")
    if in_place and out.data == values.data:
        return 0
    if out.data < values.data + values.length and values.data < out.data + needed:
        raise ValueError("out: it overlaps values" + (" without being the same memory" if in_place else ""))
    return 0


cdef int check_apart(Bytes *out, Py_ssize_t needed, Bytes *other, str name) except -1:
    """`out` is written while `other` is still read."""
    if other.length and out.data < other.data + other.length and other.data < out.data + needed:
        raise ValueError(f"out: it overlaps {name}")
    return 0


cdef int check_ivs(Bytes *ivs, Py_ssize_t count, uint32_t size, str name) except -1:
    if ivs.length != count * <Py_ssize_t>size:
        raise ValueError(f"ivs: {_given(ivs.length)}, {name} needs {size} for each of {count} records")
    return 0


# ---- ciphers ----


cdef void cipher_failed(void *context, size_t index, size_t length, cd_status status) noexcept nogil:
    note_failure(<Failures *>context, index, status, length)


cdef Py_ssize_t cipher_packed(Cipher cipher, object values, object offsets, object ivs, object out,
                              object offset_size, bint decrypt) except -1:
    cdef Bytes source, vectors, destination
    cdef Offsets bounds
    cdef Failures failures
    cdef cd_cipher_packed packed
    cdef Py_ssize_t total
    cipher.keyed()
    memset(&failures, 0, sizeof(failures))
    vectors.viewed = destination.viewed = False
    bounds.at = NULL
    vectors.data = NULL
    vectors.length = 0
    source.viewed = False
    cipher.active += 1  # a buffer may run code that closes it
    try:
        take(&source, values, "values")
        take_offsets(&bounds, offsets, offset_size, source.length)
        if ivs is not None:
            take(&vectors, ivs, "ivs")
        check_ivs(&vectors, bounds.count, cipher.iv_length, cipher.name)
        take_writable(&destination, out, "out")
        total = offset_at(&bounds, bounds.count)
        check_room(&destination, total, &source, True)
        check_apart(&destination, total, &vectors, "ivs")
        packed.values = source.data
        packed.out = destination.data
        packed.offsets = bounds.at
        packed.count = bounds.count
        packed.ivs = vectors.data
        with nogil:
            if decrypt:
                cd_cipher_decrypt_packed(cipher.handle, &packed, cipher_failed, &failures)
            else:
                cd_cipher_encrypt_packed(cipher.handle, &packed, cipher_failed, &failures)
        if failures.count or failures.lost:
            raise packed_error(cipher, &failures)
    finally:
        cipher.leave()
        release(&source)
        release(&vectors)
        release(&destination)
        release_offsets(&bounds)
    return total


# ---- hashes ----


cdef void run_hash_packed(cd_hash *handle, const uint8_t *values, const Offsets *offsets, uint32_t digest_size,
                          uint8_t *out, Failures *failures) noexcept nogil:
    cdef cd_hash_record records[CHUNK]
    cdef Py_ssize_t first = 0, index, count
    cdef int64_t start
    while first < offsets.count:
        count = min(offsets.count - first, <Py_ssize_t>CHUNK)
        for index in range(count):
            start = offset_at(offsets, first + index)
            records[index].source = values + start
            records[index].length = <size_t>(offset_at(offsets, first + index + 1) - start)
            records[index].digest = out + (first + index) * digest_size
        if cd_hash_digest_records(handle, records, count):
            for index in range(count):
                if records[index].status != CD_OK:
                    note_failure(failures, first + index, records[index].status, records[index].length)
        first += count


cdef Py_ssize_t hash_packed(Hash hash, object values, object offsets, object out, object offset_size) except -1:
    cdef Bytes source, destination
    cdef Offsets bounds
    cdef Failures failures
    cdef Py_ssize_t total
    hash.keyed()
    memset(&failures, 0, sizeof(failures))
    destination.viewed = False
    bounds.at = NULL
    source.viewed = False
    hash.active += 1  # a buffer may run code that closes it
    try:
        take(&source, values, "values")
        take_offsets(&bounds, offsets, offset_size, source.length)
        take_writable(&destination, out, "out")
        total = bounds.count * <Py_ssize_t>hash.digest_length
        check_room(&destination, total, &source, False)
        with nogil:
            run_hash_packed(hash.handle, source.data, &bounds, hash.digest_length, destination.data, &failures)
        if failures.count or failures.lost:
            raise packed_error(hash, &failures)
    finally:
        hash.leave()
        release(&source)
        release(&destination)
        release_offsets(&bounds)
    return total


# ---- aead ----


cdef struct AeadLayout:
    const uint8_t *values
    const uint8_t *ivs
    const uint8_t *aads
    uint8_t *out
    uint32_t iv_size, tag_size


cdef void run_aead_packed(cd_aead *handle, const AeadLayout *layout, const Offsets *offsets, const Offsets *aad_offsets,
                          bint decrypt, Failures *failures) noexcept nogil:
    cdef cd_aead_record records[CHUNK]
    cdef cd_aead_record *record
    cdef Py_ssize_t first = 0, index, at, count
    cdef int64_t start, length
    cdef size_t bad
    while first < offsets.count:
        count = min(offsets.count - first, <Py_ssize_t>CHUNK)
        for index in range(count):
            at = first + index
            record = &records[index]
            start = offset_at(offsets, at)
            length = offset_at(offsets, at + 1) - start
            record.source = layout.values + start
            record.iv = layout.ivs + at * layout.iv_size
            record.aad = NULL
            record.aad_len = 0
            if aad_offsets != NULL:
                record.aad = layout.aads + offset_at(aad_offsets, at)
                record.aad_len = <size_t>(offset_at(aad_offsets, at + 1) - offset_at(aad_offsets, at))
            if decrypt:
                length -= layout.tag_size
                record.destination = layout.out + start - at * layout.tag_size
                record.tag = <uint8_t *>layout.values + start + length
            else:
                record.destination = layout.out + start + at * layout.tag_size
                record.tag = record.destination + length
            record.length = <size_t>length
        bad = cd_aead_decrypt_records(handle, records, count) if decrypt else cd_aead_encrypt_records(
            handle, records, count)
        if bad:
            for index in range(count):
                if records[index].status != CD_OK:
                    note_failure(failures, first + index, records[index].status, records[index].length)
        first += count


cdef int check_tags(Aead aead, const Offsets *offsets) except -1:
    cdef Py_ssize_t index
    cdef int64_t length
    for index in range(offsets.count):
        length = offset_at(offsets, index + 1) - offset_at(offsets, index)
        if length < aead.tag_length:
            raise ValueError(
                f"records[{index}]: {_given(length)}, at least the {aead.tag_length} of a tag are needed")
    return 0


cdef Py_ssize_t aead_packed(Aead aead, object values, object offsets, object ivs, object out, object aads,
                            object aad_offsets, object offset_size, bint decrypt) except -1:
    cdef Bytes source, vectors, extra, destination
    cdef Offsets bounds, extra_bounds
    cdef AeadLayout layout
    cdef Failures failures
    cdef Py_ssize_t total
    aead.keyed()
    memset(&failures, 0, sizeof(failures))
    memset(&layout, 0, sizeof(layout))
    vectors.viewed = extra.viewed = destination.viewed = False
    bounds.at = extra_bounds.at = NULL
    source.viewed = False
    aead.active += 1  # a buffer may run code that closes it
    try:
        take(&source, values, "values")
        take_offsets(&bounds, offsets, offset_size, source.length)
        take(&vectors, ivs, "ivs")
        check_ivs(&vectors, bounds.count, aead.iv_length, aead.name)
        take_writable(&destination, out, "out")
        total = offset_at(&bounds, bounds.count)
        if decrypt:
            check_tags(aead, &bounds)
            total -= bounds.count * <Py_ssize_t>aead.tag_length
        else:
            total += bounds.count * <Py_ssize_t>aead.tag_length
        check_room(&destination, total, &source, False)
        check_apart(&destination, total, &vectors, "ivs")
        if (aads is None) != (aad_offsets is None):
            raise ValueError("aads, aad_offsets: one was given, both or none are needed")
        if aads is not None:
            take(&extra, aads, "aads")
            take_offsets(&extra_bounds, aad_offsets, offset_size, extra.length)
            if extra_bounds.count != bounds.count:
                raise ValueError(f"aad_offsets: {extra_bounds.count} records were given, {bounds.count} are needed")
            check_apart(&destination, total, &extra, "aads")
            layout.aads = extra.data
        layout.values = source.data
        layout.ivs = vectors.data
        layout.out = destination.data
        layout.iv_size = aead.iv_length
        layout.tag_size = aead.tag_length
        with nogil:
            run_aead_packed(aead.handle, &layout, &bounds, &extra_bounds if extra_bounds.at != NULL else NULL,
                            decrypt, &failures)
        if failures.count or failures.lost:
            raise packed_error(aead, &failures)
    finally:
        aead.leave()
        release(&source)
        release(&vectors)
        release(&extra)
        release(&destination)
        release_offsets(&bounds)
        release_offsets(&extra_bounds)
    return total
