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


def status_names():
    """Every status code with its name, for tests: {number: name}."""
    return {code: cd_status_name(code).decode() for code in range(CD_STATUS_LAST, 2)}
