# The registry of this process: software registered at import, devices come and go.


cdef class Registry:
    """The implementations that names are looked up in."""

    cdef cd_registry *handle

    def __cinit__(self):
        cdef cd_error error
        error.message[0] = 0
        check(cd_registry_new(&self.handle))
        check(cd_software_register(self.handle, &error), &error)

    def __dealloc__(self):
        cd_registry_free(self.handle)

    def list(self):
        """Describe every implementation, in order of registration: a list of dicts."""
        cdef Listing listing
        cdef size_t index
        memset(&listing, 0, sizeof(listing))
        cd_registry_each_priority(self.handle, _visit_implementation, &listing)
        try:
            if listing.lost:
                raise MemoryError("algorithms: out of memory")
            return [_describe(&listing.rows[index]) for index in range(listing.count)]
        finally:
            free(listing.rows)


# The visitor runs under the registry's lock, so it must not run Python: an allocation can start the
# garbage collector, which can free what calls the registry.
cdef struct Listed:
    cd_implementation implementation
    int32_t priority
    char algorithm[96]
    char driver[96]


cdef struct Listing:
    Listed *rows
    size_t count, capacity
    bint lost


cdef c_bool _visit_implementation(const cd_implementation *implementation, int32_t priority,
                                  void *context) noexcept nogil:
    cdef Listing *listing = <Listing *>context
    cdef Listed *rows
    cdef size_t capacity
    if listing.count == listing.capacity:
        capacity = 64 if listing.capacity == 0 else 2 * listing.capacity
        rows = <Listed *>realloc(listing.rows, capacity * sizeof(Listed))
        if rows == NULL:
            listing.lost = True
            return False
        listing.rows = rows
        listing.capacity = capacity
    rows = &listing.rows[listing.count]
    listing.count += 1
    rows.implementation = implementation[0]
    rows.priority = priority
    strncpy(rows.algorithm, implementation.algorithm, sizeof(rows.algorithm))
    strncpy(rows.driver, implementation.driver, sizeof(rows.driver))
    return True


cdef tuple _key_sizes(uint64_t mask):
    return tuple([size for size in range(64) if mask >> size & 1])


cdef dict _describe(const Listed *row):
    """`algorithm`, `driver` and the provider of the copy may be gone; its names were copied."""
    cdef const cd_implementation *implementation = &row.implementation
    cdef char reason[256]
    cd_implementation_reason(implementation, reason, sizeof(reason))
    return {
        "name": row.algorithm.decode(),
        "driver": row.driver.decode(),
        "type": cd_type_name(implementation.type).decode(),
        "priority": row.priority,
        "block_size": implementation.block_size,
        "iv_size": implementation.iv_size,
        "chunk_size": implementation.chunk_size,
        "alignment": implementation.alignment,
        "digest_size": implementation.digest_size,
        "max_tag_size": implementation.max_tag_size,
        "key_sizes": _key_sizes(implementation.key_sizes),
        "asynchronous": bool(implementation.flags & CD_FLAG_ASYNC),
        "needs_fallback": bool(implementation.flags & CD_FLAG_NEED_FALLBACK),
        "modelled": bool(implementation.flags & CD_FLAG_MODELLED),
        "proxy": bool(implementation.flags & CD_FLAG_PROXY),
        "available": bool(cd_implementation_available(implementation)),
        "reason": reason.decode(),
    }


cdef bytes _name_of(object value, str argument):
    """Check and encode a name for a lookup."""
    settle()
    if type(value) is not str:
        raise TypeError(f"{argument}: {type(value).__name__} was given, str is needed")
    cdef bytes name = value.encode("utf-8", "surrogatepass")
    if b"\0" in name:
        raise unknown_algorithm(value, (), argument)
    if len(name) >= CD_NAME_MAX:
        return name  # longer than any: not found
    _load_source(name)  # if it cannot be had, the lookup fails and says why
    return name


cdef inline bytes _algorithm_name(object algorithm):
    return _name_of(algorithm, "algorithm")


cdef object _lookup_error(cd_status status, str name, str kind):
    cdef list entries = registry.list()
    if status == CD_E_UNAVAILABLE:
        reasons = sorted({e["reason"] for e in entries if name in (e["name"], e["driver"])})
        return UnknownAlgorithmError(f"algorithm: {shown(name)} cannot run here: {'; '.join(reasons)}")
    others = sorted({e["type"] for e in entries if name in (e["name"], e["driver"])} - {kind})
    if others:
        return UnknownAlgorithmError(f"algorithm: {name!r} is of type {others[0]}, {kind} is needed here")
    missing = _load_source(name.encode("utf-8", "surrogatepass"))
    if missing:
        return UnknownAlgorithmError(f"algorithm: {shown(name)} cannot run here: {missing}")
    known = [e[field] for e in entries for field in ("name", "driver") if e["type"] == kind]
    return unknown_algorithm(name, known)


def cpu_features():
    """Names of the CPU features in use, as narrowed: a list of str."""
    cdef uint32_t mask = cd_cpu_detect()
    cdef const char *name
    cdef list names = []
    for bit in range(32):
        name = cd_cpu_feature_name((<uint32_t>1) << bit)
        if name != NULL and mask >> bit & 1:
            names.append(name.decode())
    return names


def cpu_feature_names():
    """Names of all CPU features that the library knows, of every architecture: a list of str."""
    cdef const char *name
    cdef list names = []
    for bit in range(32):
        name = cd_cpu_feature_name((<uint32_t>1) << bit)
        if name != NULL:
            names.append(name.decode())
    return names


def cpu_narrow(names):
    """Keep only the named CPU features, for this process and for good."""
    cdef uint32_t mask = 0
    cdef const char *name
    wanted = set(names)
    for bit in range(32):
        name = cd_cpu_feature_name((<uint32_t>1) << bit)
        if name != NULL and name.decode() in wanted:
            mask |= (<uint32_t>1) << bit
            wanted.discard(name.decode())
    if wanted:
        raise ValueError(f"names: {sorted(wanted)[0]!r} is not a CPU feature this library knows")
    cd_cpu_narrow(mask)


cdef Registry registry = Registry()


# Called once, before the first lookup of the process: puts the priorities that were measured before
# in force. Nothing is left of it afterwards but a comparison with None.
cdef object _first_lookup = None


cdef int settle() except -1:
    global _first_lookup
    if _first_lookup is not None:
        hook = _first_lookup
        _first_lookup = None
        hook()
    return 0


def on_first_lookup(hook):
    """Call `hook` before the next lookup of a name or list of implementations; None: nothing."""
    global _first_lookup
    _first_lookup = hook


def implementations():
    """Describe every registered implementation: a list of dicts."""
    settle()
    return registry.list()


def set_priority(driver, priority):
    """Put another priority than its own in force for the implementation of that driver name.

    Algorithm names are looked up by it from now on, in this process and until the implementation is
    unregistered; transforms that exist keep what they are bound to.

    Args:
        driver: driver name, as ``"fallback(cbc(aes-ni))"``.
        priority: int32; asked for by algorithm name, the available one with the highest is bound.

    Raises:
        UnknownAlgorithmError: no implementation has that driver name.
        TypeError, ValueError: an argument is not of that form.
    """
    cdef cd_status status
    cdef bytes name = _name_of(driver, "driver")
    number = _integer(priority, "priority")
    if not INT32_MIN <= number <= INT32_MAX:
        raise ValueError(f"priority: {number} was given, {INT32_MIN} to {INT32_MAX} are allowed")
    status = cd_registry_set_priority(registry.handle, name, number)
    if status != CD_OK:
        raise unknown_algorithm(driver, [entry["driver"] for entry in registry.list()], "driver")


cdef c_bool _visit_software(const cd_implementation *implementation, int32_t _priority,
                            void *context) noexcept with gil:
    cdef bint batched = implementation.cipher != NULL and implementation.cipher.records != NULL
    if implementation.hash != NULL and implementation.hash.records != NULL:
        batched = True
    if not implementation.flags & (CD_FLAG_ASYNC | CD_FLAG_NEED_FALLBACK | CD_FLAG_MODELLED | CD_FLAG_PROXY):
        (<list>context).append((
            implementation.algorithm.decode(),
            implementation.driver.decode(),
            implementation.type,
            implementation.priority,
            bool(cd_implementation_available(implementation)),
            bool(batched),
        ))
    return True


def software():
    """The plain software implementations in order of registration: a list of tuples.

    (algorithm, driver, type number, the priority it was made with, available, runs batches in lanes)
    """
    cdef list found = []
    cd_registry_each_priority(registry.handle, _visit_software, <void *>found)
    return found
