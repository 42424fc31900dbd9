# Buffers: exact bytes without a view, everything else through the buffer protocol. The view is held
# until the call that uses the pointer is over.


cdef struct Bytes:
    uint8_t *data
    Py_ssize_t length
    bint viewed
    Py_buffer view


cdef object _buffer_error(object value, str name, bint writable, object cause):
    kind = "a writable bytes-like object" if writable else "a bytes-like object"
    what = type(value).__name__
    if not PyObject_CheckBuffer(value):
        return TypeError(f"{name}: {what} was given, {kind} is needed")
    try:
        view = memoryview(value)
    except Exception:
        return TypeError(f"{name}: {cause}")
    if writable and view.readonly:
        return TypeError(f"{name}: a read-only {what} was given, {kind} is needed")
    return ValueError(f"{name}: a {what} that is not contiguous was given, {kind} in one piece is needed")


cdef int _holds_objects(object value) except -1:
    """1 if the items of a buffer are, or have in them, pointers to Python objects."""
    cdef Py_buffer view
    cdef bytes form = b""
    try:
        PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)
    except Exception:  # some arrays have no format to tell: NumPy's datetime64, also beside objects
        return bool(getattr(getattr(value, "dtype", None), "hasobject", False))
    if view.format != NULL and strchr(view.format, c"O") != NULL:
        form = view.format
    PyBuffer_Release(&view)
    for part in form.split(b":")[::2]:  # the others are names of fields
        if b"O" in part:
            return 1
    return 0


cdef int _refuse_objects(Py_buffer *view, object value, str name) except -1:
    """Release the view and raise if it shows pointers; the items have their size at least."""
    if not _holds_objects(value):
        return 0
    PyBuffer_Release(view)
    raise TypeError(f"{name}: {type(value).__name__} of Python objects was given, an array of numbers or "
                    "bytes is needed")


cdef int _take_view(Bytes *out, object value, str name, bint writable) except -1:
    try:
        PyObject_GetBuffer(value, &out.view, PyBUF_WRITABLE if writable else PyBUF_SIMPLE)
    except (BufferError, TypeError, ValueError) as cause:
        raise _buffer_error(value, name, writable, cause) from None
    if out.view.itemsize >= <Py_ssize_t>sizeof(void *):
        _refuse_objects(&out.view, value, name)
    out.viewed = True
    out.data = <uint8_t *>out.view.buf
    out.length = out.view.len
    return 0


cdef inline int take(Bytes *out, object value, str name) except -1:
    """Borrow a readable buffer; release() it on every path out."""
    if PyBytes_CheckExact(value):
        out.viewed = False
        out.data = <uint8_t *>PyBytes_AS_STRING(value)
        out.length = PyBytes_GET_SIZE(value)
        return 0
    out.viewed = False
    return _take_view(out, value, name, False)


cdef inline int take_writable(Bytes *out, object value, str name) except -1:
    out.viewed = False
    return _take_view(out, value, name, True)


cdef inline void release(Bytes *buffer) noexcept:
    if buffer.viewed:
        PyBuffer_Release(&buffer.view)
        buffer.viewed = False
