# Other sources of software: the system's libcrypto and an installed PyCryptodome. Both are loaded
# when somebody asks for what they do, never at import.

LIBCRYPTO_VARIABLE = "CRYPTODISPATCH_LIBCRYPTO"

cdef object _sources_lock = allocate_lock()
# None: not tried yet; "": loaded; else why it is not there.
cdef object _openssl_reason = None
cdef object _pycryptodome_reason = None
cdef cd_openssl *_openssl = NULL
cdef cd_pycryptodome *_pycryptodome = NULL


def load_openssl():
    """Load libcrypto and register what it offers, at the first call; say why not, or ``""``.

    The environment variable CRYPTODISPATCH_LIBCRYPTO names another file to load; empty, it forbids
    to load any.
    """
    global _openssl_reason
    with _sources_lock:
        if _openssl_reason is None:
            _openssl_reason = _try_openssl(environ.get(LIBCRYPTO_VARIABLE))
    return _openssl_reason


cdef str _try_openssl(object path):
    cdef cd_error error
    cdef cd_status status
    cdef bytes encoded
    cdef const char *name = NULL
    error.message[0] = 0
    if path is not None:
        if not path:
            return f"{LIBCRYPTO_VARIABLE} is set to nothing: libcrypto is not to be loaded"
        encoded = fsencode(path)
        name = encoded
    status = cd_openssl_new(&_openssl, registry.handle, name, &error)
    return "" if status == CD_OK else _text(status, &error)


def openssl_library():
    """Version and file of the loaded libcrypto: a tuple of two str; None if none is loaded."""
    with _sources_lock:
        if _openssl == NULL:
            return None
        return (
            cd_openssl_version(_openssl).decode("utf-8", "replace"),
            fsdecode(<bytes>cd_openssl_path(_openssl)),
        )


def load_pycryptodome():
    """Load the C modules of an installed PyCryptodome and register its AES, at the first call.

    The package itself (``Crypto``, else ``Cryptodome``) is looked for and not imported. Says why
    not, or ``""``.
    """
    global _pycryptodome_reason
    with _sources_lock:
        if _pycryptodome_reason is None:
            _pycryptodome_reason = _try_pycryptodome()
    return _pycryptodome_reason


cdef str _try_pycryptodome():
    from importlib.util import find_spec

    cdef cd_error error
    cdef cd_status status
    cdef bytes folder
    cdef str reason = "PyCryptodome is not installed"
    for package in ("Crypto", "Cryptodome"):
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec is not None else ():
            folder = fsencode(join_path(place, "Cipher"))
            error.message[0] = 0
            status = cd_pycryptodome_new(&_pycryptodome, registry.handle, folder, &error)
            if status == CD_OK:
                return ""
            reason = _text(status, &error)
    return reason


cdef str _load_source(bytes driver):
    """Load the source that a driver name belongs to; why it is not there, or ""."""
    if b"-openssl" in driver:
        return load_openssl()
    if b"-pycryptodome" in driver:
        return load_pycryptodome()
    return ""
