# Batches: many records in one call. Lists in, lists out; or contiguous values with offsets, as Arrow
# has them, in one buffer and out into another. The GIL is released once.


cdef struct Rows:
    # What a list of records needs until the call is over.
    Py_ssize_t count
    Py_ssize_t viewed  # views taken so far; 0 as long as every item is exactly bytes
    Py_ssize_t columns  # items of a record: text, IV, AAD
    Py_buffer *views


cdef inline void start_rows(Rows *rows, Py_ssize_t count, Py_ssize_t columns) noexcept:
    rows.count = count
    rows.viewed = 0
    rows.columns = columns
    rows.views = NULL


cdef void release_rows(Rows *rows) noexcept:
    while rows.viewed:
        rows.viewed -= 1
        PyBuffer_Release(&rows.views[rows.viewed])
    free(rows.views)
    rows.views = NULL


cdef int view_row(Rows *rows, object value, str name, Py_ssize_t index, const uint8_t **out,
                  size_t *out_length) except -1:
    """Borrow a record that is not exactly bytes."""
    cdef Py_buffer *view
    if rows.views == NULL:
        rows.views = <Py_buffer *>calloc(rows.columns * rows.count, sizeof(Py_buffer))
        if rows.views == NULL:
            raise MemoryError("records: out of memory")
    view = &rows.views[rows.viewed]
    try:
        PyObject_GetBuffer(value, view, PyBUF_SIMPLE)
    except (BufferError, TypeError, ValueError) as cause:
        raise _buffer_error(value, f"{name}[{index}]", False, cause) from None
    if view.itemsize >= <Py_ssize_t>sizeof(void *):
        _refuse_objects(view, value, f"{name}[{index}]")
    rows.viewed += 1
    out[0] = <const uint8_t *>view.buf
    out_length[0] = view.len
    return 0


cdef inline int take_row(Rows *rows, list given, str name, Py_ssize_t index, const uint8_t **out,
                         size_t *out_length) except -1:
    """Borrow item `index` of a list that nobody else has."""
    cdef PyObject *value = list_item(given, index)
    if is_bytes(value):
        out[0] = <const uint8_t *>bytes_data(value)
        out_length[0] = bytes_size(value)
        return 0
    return view_row(rows, <object>value, name, index, out, out_length)


cdef list as_list(object records, str name):
    # A copy even of a list: the records' pointers are used without holding them one by one, and the
    # caller's list may change meanwhile.
    if isinstance(records, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: {type(records).__name__} was given, a sequence of bytes-like objects is needed")
    if type(records) is list or type(records) is tuple:
        return list(records)
    try:
        iterator = iter(records)
    except TypeError:
        raise TypeError(f"{name}: {type(records).__name__} was given, a sequence of bytes-like objects is needed") from None
    return list(iterator)  # outside: what the caller's iterator raises is the caller's


cdef object batch_error(list failed, list results):
    """BatchError for (index, exception) pairs."""
    index, first = failed[0]
    rest = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return BatchError(f"{first}{rest}", dict(failed), results)


# ---- lists ----


cdef inline uint8_t *new_result(list results, Py_ssize_t index, Py_ssize_t length) except NULL:
    """Put a new bytes object in its place of a list from PyList_New; where it is written."""
    cdef PyObject *out = bytes_new(NULL, length)
    list_place(results, index, out)
    return <uint8_t *>bytes_data(out)


cdef inline int copy_iv(uint8_t *out, object transform, PyObject *value, Py_ssize_t index, size_t size,
                        list failed) except -1:
    """Copy the IV of a record; one of the wrong length is noted and is zeros."""
    if is_bytes(value) and <size_t>bytes_size(value) == size:
        memcpy(out, bytes_data(value), size)
        return 0
    return view_iv(out, transform, <object>value, index, size, failed)


cdef int view_iv(uint8_t *out, object transform, object value, Py_ssize_t index, size_t size, list failed) except -1:
    cdef Bytes view
    take(&view, value, f"ivs[{index}]")
    try:
        if <size_t>view.length == size:
            memcpy(out, view.data, size)
        else:
            failed.append((index, ValueError(
                f"ivs[{index}]: {_given(view.length)}, {transform.name} takes {size}")))
    finally:
        release(&view)
    return 0


cdef uint8_t *copy_ivs(object transform, size_t size, object ivs, Py_ssize_t count, list failed) except? NULL:
    """The IVs of `size` bytes one behind the other, to be freed; NULL if the algorithm takes none.

    Copied, and not kept as objects: less work than holding them while the GIL is released.
    """
    cdef list given
    cdef Py_ssize_t index
    cdef uint8_t *copies
    if not size:
        if ivs is not None and (given := as_list(ivs, "ivs")):
            raise ValueError(f"ivs: {len(given)} were given, {transform.name} takes none")
        return NULL
    if ivs is None:
        if count:
            raise TypeError(f"ivs: None was given, {transform.name} needs one of {size} bytes a record")
        return NULL
    given = ivs if type(ivs) is list else as_list(ivs, "ivs")
    copies = <uint8_t *>calloc(count + 1, size)
    if copies == NULL:
        raise MemoryError("ivs: out of memory")
    try:
        for index in range(count):
            if PyList_GET_SIZE(given) != count:  # also if a record's buffer changed the caller's list
                break
            copy_iv(copies + index * size, transform, list_item(given, index), index, size, failed)
        if PyList_GET_SIZE(given) != count:
            raise ValueError(f"ivs: {len(given)} were given for {count} records")
    except:
        free(copies)
        raise
    return copies


cdef list cipher_many(Cipher cipher, object records, object ivs, bint decrypt):
    cdef Rows rows
    cdef cd_cipher_record *batch
    cdef uint8_t *vectors = NULL
    cdef list given, results
    cdef list failed = []
    cdef Py_ssize_t index
    cdef size_t total = 0, bad = 0
    given = as_list(records, "records")
    if ivs is not None and type(ivs) is not list:
        ivs = as_list(ivs, "ivs")
    cipher.keyed()  # after the caller's iterators have run
    start_rows(&rows, len(given), 1)
    batch = <cd_cipher_record *>calloc(rows.count + 1, sizeof(cd_cipher_record))
    if batch == NULL:
        raise MemoryError("records: out of memory")
    cipher.active += 1
    try:
        vectors = copy_ivs(cipher, cipher.iv_length, ivs, rows.count, failed)
        for index in range(rows.count):
            take_row(&rows, given, "records", index, &batch[index].source, &batch[index].length)
        results = PyList_New(rows.count)  # after the records' buffers, which may run code
        for index in range(rows.count):
            batch[index].destination = new_result(results, index, batch[index].length)
            batch[index].iv = vectors + index * cipher.iv_length
            total += batch[index].length
        for index, _error in failed:  # an IV that is wrong: nothing is done
            batch[index].length = 0
        if total > gil_release_bytes or cipher.implementation.flags & CD_FLAG_ASYNC:
            with nogil:
                bad = run_cipher_records(cipher.handle, batch, rows.count, decrypt)
        else:
            bad = run_cipher_records(cipher.handle, batch, rows.count, decrypt)
        if bad or failed:
            for index in range(rows.count):
                if batch[index].status != CD_OK:
                    failed.append((index, cipher.failure(
                        <cd_status>batch[index].status, batch[index].length, f"records[{index}]: ")))
            for index, _error in failed:
                results[index] = None
            raise batch_error(sorted(failed, key=first_of), results)
    finally:
        cipher.leave()
        release_rows(&rows)
        free(batch)
        free(vectors)
    return results


cdef size_t run_cipher_records(cd_cipher *handle, cd_cipher_record *batch, size_t count,
                               bint decrypt) noexcept nogil:
    if decrypt:
        return cd_cipher_decrypt_records(handle, batch, count)
    return cd_cipher_encrypt_records(handle, batch, count)


cdef object first_of(tuple pair):
    return pair[0]


cdef list hash_many(Hash hash, object records):
    cdef Rows rows
    cdef cd_hash_record *batch
    cdef list given, results
    cdef Py_ssize_t index
    cdef size_t total = 0, bad = 0
    given = as_list(records, "records")
    hash.keyed()  # after the caller's iterator has run
    start_rows(&rows, len(given), 1)
    batch = <cd_hash_record *>calloc(rows.count + 1, sizeof(cd_hash_record))
    if batch == NULL:
        raise MemoryError("records: out of memory")
    hash.active += 1
    try:
        for index in range(rows.count):
            take_row(&rows, given, "records", index, &batch[index].source, &batch[index].length)
        results = PyList_New(rows.count)  # after the records' buffers, which may run code
        for index in range(rows.count):
            batch[index].digest = new_result(results, index, hash.digest_length)
            total += batch[index].length + CD_HASH_BLOCK  # of padding
        if total > gil_release_bytes or hash.implementation.flags & CD_FLAG_ASYNC:
            with nogil:
                bad = cd_hash_digest_records(hash.handle, batch, rows.count)
        else:
            bad = cd_hash_digest_records(hash.handle, batch, rows.count)
        if bad:
            for index in range(rows.count):
                if batch[index].status != CD_OK:
                    results[index] = None
            raise batch_error([
                (index, hash.failure(<cd_status>batch[index].status, f"records[{index}]: "))
                for index in range(rows.count) if batch[index].status != CD_OK], results)
    finally:
        hash.leave()
        release_rows(&rows)
        free(batch)
    return results


cdef list aead_many(Aead aead, object records, object ivs, object aads, bint decrypt):
    cdef Rows rows
    cdef cd_aead_record *batch
    cdef uint8_t *vectors = NULL
    cdef list given, given_aads, results
    cdef list failed = []
    cdef Py_ssize_t index
    cdef size_t total = 0, bad = 0
    given = as_list(records, "records")
    if type(ivs) is not list:
        ivs = as_list(ivs, "ivs")
    given_aads = None if aads is None else as_list(aads, "aads")
    aead.keyed()  # after the caller's iterators have run
    if given_aads is not None and len(given_aads) != len(given):
        raise ValueError(f"aads: {len(given_aads)} were given for {len(given)} records")
    start_rows(&rows, len(given), 2)
    batch = <cd_aead_record *>calloc(rows.count + 1, sizeof(cd_aead_record))
    if batch == NULL:
        raise MemoryError("records: out of memory")
    aead.active += 1
    try:
        vectors = copy_ivs(aead, aead.iv_length, ivs, rows.count, failed)
        for index, _error in failed:
            batch[index].status = CD_E_INVALID  # named already
        for index in range(rows.count):
            take_row(&rows, given, "records", index, &batch[index].source, &batch[index].length)
            if given_aads is not None:
                take_row(&rows, given_aads, "aads", index, &batch[index].aad, &batch[index].aad_len)
        results = PyList_New(rows.count)  # after the records' buffers, which may run code
        for index in range(rows.count):
            batch[index].iv = vectors + index * aead.iv_length
            aead_row(aead, &batch[index], results, index, decrypt, failed)
            total += batch[index].length + batch[index].aad_len + CD_HASH_BLOCK  # of padding
        for index, _error in failed:  # refused below
            batch[index].tag = NULL
        if total > gil_release_bytes or aead.implementation.flags & CD_FLAG_ASYNC:
            with nogil:
                bad = run_aead_records(aead.handle, batch, rows.count, decrypt)
        else:
            bad = run_aead_records(aead.handle, batch, rows.count, decrypt)
        if bad:
            wrong = {index for index, _error in failed}
            for index in range(rows.count):
                if batch[index].status != CD_OK:
                    results[index] = None
                    if index not in wrong:
                        failed.append((index, aead.failure(
                            <cd_status>batch[index].status, batch[index].length, f"records[{index}]: ")))
            raise batch_error(sorted(failed, key=first_of), results)
    finally:
        aead.leave()
        release_rows(&rows)
        free(batch)
        free(vectors)
    return results


cdef size_t run_aead_records(cd_aead *handle, cd_aead_record *batch, size_t count, bint decrypt) noexcept nogil:
    if decrypt:
        return cd_aead_decrypt_records(handle, batch, count)
    return cd_aead_encrypt_records(handle, batch, count)


cdef inline int aead_row(Aead aead, cd_aead_record *record, list results, Py_ssize_t index, bint decrypt,
                         list failed) except -1:
    """Make the result of one record and point the record at it."""
    if not decrypt:
        record.destination = new_result(results, index, record.length + aead.tag_length)
        record.tag = record.destination + record.length
    elif record.length >= aead.tag_length:
        record.length -= aead.tag_length
        record.tag = <uint8_t *>record.source + record.length
        record.destination = new_result(results, index, record.length)
    else:
        new_result(results, index, 0)
        if record.status == CD_OK:
            failed.append((index, ValueError(
                f"records[{index}]: data: {_given(record.length)}, at least the {aead.tag_length} "
                "of a tag are needed")))
    return 0
