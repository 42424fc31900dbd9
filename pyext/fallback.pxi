# The fallback handle. Names, defaults and dataclasses are the facade's.



cdef c_bool _on_progress(void *context, size_t group, const cd_measurement *measurement,
                         const char *failure) noexcept with gil:
    """Hand a measurement to Python; an exception cancels and is raised by enable."""
    cdef list state = <list>context
    try:
        row = None if measurement == NULL else _measurement(measurement)
        text = None if failure == NULL else failure.decode("utf-8", "replace")
        return state[0](group, row, text) is not False
    except BaseException as error:
        state[1] = error
        return False


cdef tuple _measurement(const cd_measurement *row):
    cdef const char *winner = cd_side_name(row.winner)
    return row.size, row.hardware, row.software, row.samples, "" if winner == NULL else winner.decode()


@cython.no_gc_clear  # __dealloc__ needs what it holds
cdef class FallbackHandle:
    """A fallback over the process's registry.

    Args:
        name: of the fallback.
        groups: rows (name, type number, algorithm, driver, key, auth key, tag size, member names, fixed
            threshold or None, rules), all names as bytes; rules are (key size, threshold, cannot).
        clock: a Clock; None is the host's.
        modelled: True: the software side is the simulated machine's.
    """

    cdef cd_fallback *handle
    cdef Clock clock
    cdef Py_ssize_t busy  # calls under way that may wait for a measuring, or measure

    def __cinit__(self, bytes name not None, list groups not None, Clock clock, bint modelled):
        cdef cd_fallback_config config
        cdef cd_error error
        cdef cd_status status
        cdef cd_group_config *rows = <cd_group_config *>calloc(max(len(groups), 1), sizeof(cd_group_config))
        cdef const char **members = <const char **>calloc(
            sum(len(row[7]) for row in groups) + 1, sizeof(char *))
        cdef cd_key_rule *rules = <cd_key_rule *>calloc(
            sum(len(row[9]) for row in groups) + 1, sizeof(cd_key_rule))
        cdef size_t used = 0, used_rules = 0
        error.message[0] = 0
        try:
            if rows == NULL or members == NULL or rules == NULL:
                raise MemoryError("groups: out of memory")
            for index, row in enumerate(groups):
                for driver in (row[3], *row[7]):
                    _load_source(driver)
                _fill_group(&rows[index], row, members + used, rules + used_rules)
                used += rows[index].member_count
                used_rules += rows[index].rule_count
            self.clock = clock
            memset(&config, 0, sizeof(config))  # fields that are new in C
            config.clock = host_clock()[0] if clock is None else clock.clock
            config.software_flags = CD_FLAG_MODELLED if modelled else 0
            config.software_mask = CD_FLAG_MODELLED
            status = cd_fallback_new(&self.handle, registry.handle, name, rows, len(groups), &config, &error)
        finally:
            free(rows)
            free(members)
            free(rules)
        check(status, &error)

    def __dealloc__(self):
        cd_fallback_free(self.handle)

    def close(self):
        """Disable and give the handle up; transforms of its proxies live on. Idempotent."""
        cdef cd_fallback *handle = self.handle
        if self.busy:
            raise RuntimeError("close: the fallback is being measured or written")
        self.handle = NULL
        with nogil:
            cd_fallback_free(handle)

    def closed(self):
        return self.handle == NULL

    cdef int ready(self) except -1:
        if self.handle == NULL:
            raise ValueError("fallback: it is closed")
        return 0

    def enable(self, progress):
        """Measure and register; progress(group, (size, hardware, software, samples, winner) or None, failure or None)."""
        cdef cd_error error
        cdef cd_status status
        cdef list state = [progress, None]
        self.ready()
        settle()
        error.message[0] = 0
        self.busy += 1
        with nogil:
            status = cd_fallback_enable(self.handle, _on_progress, <void *>state, &error)
        self.busy -= 1
        if state[1] is not None:
            raise state[1]
        check(status, &error)

    def disable(self):
        self.ready()
        self.busy += 1
        with nogil:
            cd_fallback_disable(self.handle)
        self.busy -= 1

    def enabled(self):
        self.ready()
        return bool(cd_fallback_enabled(self.handle))

    def threshold(self, size_t group):
        self.ready()
        return cd_fallback_threshold(self.handle, group)

    def set_threshold(self, size_t group, int64_t threshold):
        """False if the value is out of range."""
        cdef cd_status status
        self.ready()
        self.busy += 1
        with nogil:
            status = cd_fallback_set_threshold(self.handle, group, threshold)
        self.busy -= 1
        if status == CD_E_RANGE:
            return False
        check(status)
        return True

    def measurements(self, size_t group):
        """The last measurements of a group: tuples (size, hardware, software, samples, winner)."""
        cdef cd_measurement rows[16]
        self.ready()
        count = cd_fallback_measurements(self.handle, group, rows, 16)
        return [_measurement(&rows[index]) for index in range(count)]

    def fixed(self, size_t group):
        """The threshold a fixed group was given; None for a measured one."""
        cdef int32_t threshold = 0
        self.ready()
        fixed = cd_fallback_fixed(self.handle, group, &threshold)
        return threshold if fixed else None

    def rules(self, size_t group):
        """Rules by key size: tuples (key size, threshold, cannot)."""
        cdef cd_key_rule rules[64]
        self.ready()
        count = cd_fallback_rules(self.handle, group, rules, 64)
        return [(rules[index].key_size, rules[index].threshold, bool(rules[index].cannot))
                for index in range(min(count, 64))]

    def failure(self, size_t group):
        cdef char text[256]
        self.ready()
        cd_fallback_failure(self.handle, group, text, sizeof(text))
        return text.decode("utf-8", "replace")

    def sides(self, size_t group):
        """Driver names (hardware, software) as last measured; "" before."""
        cdef char hardware[96]
        cdef char software[96]
        self.ready()
        cd_fallback_sides(self.handle, group, hardware, software, sizeof(hardware))
        return hardware.decode(), software.decode()

    def counters(self, size_t group):
        """Requests by reason: a dict."""
        cdef uint64_t counters[16]
        self.ready()
        cd_fallback_counters(self.handle, group, counters)
        return {cd_why_name(why).decode(): counters[why] for why in range(CD_WHY_COUNT)}

    def write(self, bytes attribute not None, bytes text not None):
        cdef cd_error error
        cdef cd_status status
        cdef const char *name = attribute
        cdef const char *data = text
        cdef size_t length = len(text)
        self.ready()
        settle()
        error.message[0] = 0
        self.busy += 1
        with nogil:
            status = cd_fallback_write(self.handle, name, data, length, &error)
        self.busy -= 1
        check(status, &error)

    def read(self, bytes attribute not None):
        cdef char text[32]
        self.ready()
        check(cd_fallback_read(self.handle, attribute, text, sizeof(text)))
        return text.decode()


cdef int _fill_group(cd_group_config *out, tuple row, const char **members, cd_key_rule *rules) except -1:
    """The row's bytes objects must stay alive until the configuration was copied."""
    name, kind, algorithm, driver, key, auth_key, tag_size, names, threshold, key_rules = row
    out.name = name
    out.type = <cd_type><int>kind
    out.algorithm = algorithm
    out.driver = driver
    out.key = <const uint8_t *><const char *>key
    out.key_len = len(key)
    if len(auth_key):
        out.auth_key = <const uint8_t *><const char *>auth_key
    out.auth_key_len = len(auth_key)
    out.tag_size = tag_size
    for index, member in enumerate(names):
        members[index] = member
    out.members = members
    out.member_count = len(names)
    out.fixed = threshold is not None
    out.fixed_threshold = 0 if threshold is None else threshold
    for index, (key_size, rule_threshold, cannot) in enumerate(key_rules):
        rules[index].key_size = key_size
        rules[index].threshold = rule_threshold
        rules[index].cannot = cannot
    out.rules = rules
    out.rule_count = len(key_rules)
    return 0
