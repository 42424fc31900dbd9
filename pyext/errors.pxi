# From cd_status to exceptions. What an argument was and what is allowed is added where it is known.


cdef str _text(cd_status status, const cd_error *error):
    if error != NULL and error.message[0] != 0:
        return (<const char *>error.message).decode("utf-8", "replace")
    return cd_status_text(status).decode()


cdef object _error(cd_status status, str text):
    """The exception for a status; `text` says what happened to what."""
    if status == CD_E_NO_MEMORY:
        return MemoryError(text)
    if status == CD_E_KEY or status == CD_E_NO_KEY:
        return InvalidKeyError(text)
    if status == CD_E_UNKNOWN_ALGORITHM or status == CD_E_UNAVAILABLE:
        return UnknownAlgorithmError(text)
    if status == CD_E_TIMEOUT:
        return DeviceTimeoutError(text)
    if status == CD_E_NO_DEVICE or status == CD_E_DEVICE or status == CD_E_BUS or status == CD_E_EXISTS:
        return DeviceError(text)
    if status == CD_E_INVALID or status == CD_E_LENGTH or status == CD_E_OVERLAP or status == CD_E_RANGE:
        return ValueError(text)
    name = cd_status_name(status).decode()
    return CryptoDispatchError(f"{text} ({name}, {int(status)})")


cdef int check(cd_status status, const cd_error *error=NULL) except -1:
    if status < 0:
        raise _error(status, _text(status, error))
    return 0


cdef str _bytes(Py_ssize_t length):
    return "1 byte" if length == 1 else f"{length} bytes"


cdef str _given(Py_ssize_t length):
    return f"{_bytes(length)} {'was' if length == 1 else 'were'} given"


cdef object _integer(object value, str name):
    """The value as an int, or a TypeError that names the argument."""
    try:
        return index_of(value)
    except TypeError:
        raise TypeError(f"{name}: {type(value).__name__} was given, int is needed") from None


cdef int _check_arguments(str signature, object algorithm, tuple extra, dict unknown) except -1:
    """What the constructors of transforms are given; Python's own text would speak of __cinit__."""
    if unknown:
        raise TypeError(f"{next(iter(unknown))}: there is no such argument: {signature}")
    if extra:
        raise TypeError(f"too many arguments were given: {signature}")
    if algorithm is None:
        raise TypeError(f"algorithm: none was given, str is needed: {signature}")
    return 0


cdef object _cannot_pickle(object value, str instead):
    return TypeError(f"{type(value).__name__}: it can be neither pickled nor copied; {instead}")


def status_names():
    """Every status code with its name, for tests: {number: name}."""
    return {code: cd_status_name(code).decode() for code in range(CD_STATUS_LAST, 2)}
