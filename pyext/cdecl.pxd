# The only file with `cdef extern`: the C API as pyext/ uses it.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "<stdbool.h>" nogil:
    ctypedef bint c_bool "bool"

# The same functions as in cpython.bytes and cpython.list, without a count of references per line.
cdef extern from *:
    ctypedef struct PyObject
    PyObject *bytes_new "PyBytes_FromStringAndSize"(const char *data, Py_ssize_t size) except NULL
    char *bytes_data "PyBytes_AS_STRING"(PyObject *value)
    Py_ssize_t bytes_size "PyBytes_GET_SIZE"(PyObject *value)
    bint is_bytes "PyBytes_CheckExact"(PyObject *value)
    PyObject *list_item "PyList_GET_ITEM"(object values, Py_ssize_t index)
    void list_place "PyList_SET_ITEM"(object values, Py_ssize_t index, PyObject *value)

cdef extern from "cryptodispatch/cryptodispatch.h" nogil:
    # status.h
    ctypedef enum cd_status:
        CD_OK
        CD_IN_PROGRESS
        CD_E_INVALID
        CD_E_RANGE
        CD_E_KEY
        CD_E_NO_KEY
        CD_E_LENGTH
        CD_E_OVERLAP
        CD_E_UNKNOWN_ALGORITHM
        CD_E_UNAVAILABLE
        CD_E_EXISTS
        CD_E_NO_MEMORY
        CD_E_BUSY
        CD_E_TIMEOUT
        CD_E_NO_DEVICE
        CD_E_DEVICE
        CD_E_BUS
        CD_E_MISMATCH
        CD_E_BENCHMARK
        CD_E_CANCELLED
        CD_E_AUTHENTICATION
        CD_E_UNSUPPORTED
    int CD_STATUS_LAST
    struct cd_error:
        char message[256]
    const char *cd_status_name(int status)
    const char *cd_status_text(int status)

    # cpu.h
    uint32_t cd_cpu_detect()
    uint32_t cd_cpu_narrow(uint32_t allowed)
    const char *cd_cpu_feature_name(uint32_t feature)

    # clock.h
    struct cd_clock:
        uint64_t (*now)(void *context) noexcept
        void *context
        const char *name
        uint64_t hz
    uint64_t cd_clock_now(const cd_clock *clock)
    void cd_clock_host(cd_clock *out_clock)
    uint64_t cd_clock_overhead(const cd_clock *clock, unsigned tries)
    uint64_t cd_clock_ticks_to_ns(const cd_clock *clock, uint64_t ticks)

    # algorithm.h
    enum cd_type:
        CD_TYPE_CIPHER
        CD_TYPE_HASH
        CD_TYPE_AEAD
    const char *cd_type_name(int type)
    enum cd_flag:
        CD_FLAG_ASYNC
        CD_FLAG_NEED_FALLBACK
        CD_FLAG_MODELLED
        CD_FLAG_PROXY
    int CD_NAME_MAX
    struct cd_cipher_ops:
        void *records
    struct cd_hash_ops:
        void *records
    struct cd_implementation:
        const char *algorithm
        const char *driver
        cd_type type
        uint32_t flags
        int32_t priority
        uint32_t cpu
        uint32_t block_size
        uint32_t iv_size
        uint32_t chunk_size
        uint32_t alignment
        uint32_t digest_size
        uint32_t max_tag_size
        uint64_t key_sizes
        size_t context_size
        const cd_cipher_ops *cipher
        const cd_hash_ops *hash
    c_bool cd_implementation_available(const cd_implementation *implementation)
    void cd_implementation_reason(const cd_implementation *implementation, char *out,
                                  size_t out_len)

    # registry.h
    struct cd_registry:
        pass
    cd_status cd_registry_new(cd_registry **out_registry)
    void cd_registry_free(cd_registry *registry)
    cd_status cd_registry_set_priority(cd_registry *registry, const char *driver, int32_t priority)
    void cd_registry_each_priority(cd_registry *registry,
                                   c_bool (*visit)(const cd_implementation *implementation,
                                                   int32_t priority, void *context) noexcept,
                                   void *context)

    # software.h
    cd_status cd_software_register(cd_registry *registry, cd_error *out_error)

    # openssl.h
    struct cd_openssl:
        pass
    cd_status cd_openssl_new(cd_openssl **out_openssl, cd_registry *registry, const char *path,
                             cd_error *out_error)
    void cd_openssl_free(cd_openssl *openssl)
    const char *cd_openssl_version(const cd_openssl *openssl)
    const char *cd_openssl_path(const cd_openssl *openssl)

    # pycryptodome.h
    struct cd_pycryptodome:
        pass
    cd_status cd_pycryptodome_new(cd_pycryptodome **out_pycryptodome, cd_registry *registry,
                                  const char *folder, cd_error *out_error)

    # cipher.h
    int CD_IV_MAX
    struct cd_cipher:
        pass
    struct cd_cipher_request:
        const uint8_t *source
        uint8_t *destination
        size_t length
        uint8_t iv[16]
        uint64_t block_offset
        void (*complete)(cd_cipher_request *request, void *context) noexcept
        void *context
        int32_t status
    cd_status cd_cipher_new(cd_cipher **out_cipher, cd_registry *registry, const char *name,
                            uint32_t flags, uint32_t mask)
    void cd_cipher_free(cd_cipher *cipher)
    cd_status cd_cipher_set_key(cd_cipher *cipher, const uint8_t *key, size_t key_len)
    cd_status cd_cipher_encrypt(cd_cipher *cipher, cd_cipher_request *request)
    cd_status cd_cipher_decrypt(cd_cipher *cipher, cd_cipher_request *request)
    cd_status cd_cipher_wait(cd_cipher *cipher, cd_cipher_request *request, uint64_t timeout_ns)
    cd_status cd_cipher_encrypt_wait(cd_cipher *cipher, cd_cipher_request *request)
    cd_status cd_cipher_decrypt_wait(cd_cipher *cipher, cd_cipher_request *request)
    const cd_implementation *cd_cipher_implementation(const cd_cipher *cipher)
    c_bool cd_cipher_has_key(const cd_cipher *cipher)

    # hash.h
    int CD_HASH_BLOCK
    int CD_HASH_BLOB_SIZE
    struct cd_hash:
        pass
    struct cd_hash_request:
        const uint8_t *source
        size_t length
        uint8_t *digest
        void (*complete)(cd_hash_request *request, void *context) noexcept
        void *context
        int32_t status
    struct cd_hash_state:
        uint64_t count
        int32_t side
    cd_status cd_hash_new(cd_hash **out_hash, cd_registry *registry, const char *name,
                          uint32_t flags, uint32_t mask)
    void cd_hash_free(cd_hash *hash)
    cd_status cd_hash_set_key(cd_hash *hash, const uint8_t *key, size_t key_len)
    cd_status cd_hash_digest(cd_hash *hash, cd_hash_request *request)
    cd_status cd_hash_wait(cd_hash *hash, cd_hash_request *request, uint64_t timeout_ns)
    cd_status cd_hash_digest_wait(cd_hash *hash, cd_hash_request *request)
    cd_status cd_hash_begin(cd_hash *hash, cd_hash_state *state)
    cd_status cd_hash_update(cd_hash *hash, cd_hash_state *state, const uint8_t *data, size_t length)
    cd_status cd_hash_finish(cd_hash *hash, const cd_hash_state *state, uint8_t *out_digest)
    void cd_hash_export(const cd_hash *hash, const cd_hash_state *state, uint8_t *out_blob)
    cd_status cd_hash_import(const cd_hash *hash, cd_hash_state *out_state, const uint8_t *blob,
                             size_t blob_len)
    const cd_implementation *cd_hash_implementation(const cd_hash *hash)
    c_bool cd_hash_has_key(const cd_hash *hash)

    # aead.h
    struct cd_aead:
        pass
    struct cd_aead_request:
        const uint8_t *source
        uint8_t *destination
        size_t length
        const uint8_t *aad
        size_t aad_len
        uint8_t *tag
        uint8_t iv[16]
        void (*complete)(cd_aead_request *request, void *context) noexcept
        void *context
        int32_t status
    cd_status cd_aead_new(cd_aead **out_aead, cd_registry *registry, const char *name,
                          uint32_t flags, uint32_t mask)
    void cd_aead_free(cd_aead *aead)
    cd_status cd_aead_set_key(cd_aead *aead, const uint8_t *key, size_t key_len,
                              const uint8_t *auth_key, size_t auth_key_len)
    cd_status cd_aead_set_tag_size(cd_aead *aead, uint32_t tag_size)
    cd_status cd_aead_encrypt(cd_aead *aead, cd_aead_request *request)
    cd_status cd_aead_decrypt(cd_aead *aead, cd_aead_request *request)
    cd_status cd_aead_wait(cd_aead *aead, cd_aead_request *request, uint64_t timeout_ns)
    cd_status cd_aead_encrypt_wait(cd_aead *aead, cd_aead_request *request)
    cd_status cd_aead_decrypt_wait(cd_aead *aead, cd_aead_request *request)
    const cd_implementation *cd_aead_implementation(const cd_aead *aead)
    c_bool cd_aead_has_key(const cd_aead *aead)

    # batch.h
    struct cd_cipher_record:
        const uint8_t *source
        uint8_t *destination
        size_t length
        const uint8_t *iv
        int32_t status
    size_t cd_cipher_encrypt_records(cd_cipher *cipher, cd_cipher_record *records, size_t count)
    size_t cd_cipher_decrypt_records(cd_cipher *cipher, cd_cipher_record *records, size_t count)
    struct cd_cipher_packed:
        const uint8_t *values
        uint8_t *out
        const int64_t *offsets
        size_t count
        const uint8_t *ivs
    ctypedef void cd_packed_failed(void *context, size_t index, size_t length, cd_status status) noexcept nogil
    size_t cd_cipher_encrypt_packed(cd_cipher *cipher, const cd_cipher_packed *packed, cd_packed_failed *failed,
                                    void *context)
    size_t cd_cipher_decrypt_packed(cd_cipher *cipher, const cd_cipher_packed *packed, cd_packed_failed *failed,
                                    void *context)
    struct cd_hash_record:
        const uint8_t *source
        size_t length
        uint8_t *digest
        int32_t status
    size_t cd_hash_digest_records(cd_hash *hash, cd_hash_record *records, size_t count)
    struct cd_aead_record:
        const uint8_t *source
        uint8_t *destination
        size_t length
        const uint8_t *aad
        size_t aad_len
        uint8_t *tag
        const uint8_t *iv
        int32_t status
    size_t cd_aead_encrypt_records(cd_aead *aead, cd_aead_record *records, size_t count)
    size_t cd_aead_decrypt_records(cd_aead *aead, cd_aead_record *records, size_t count)

    # stream.h
    struct cd_cipher_stream:
        c_bool finished
        uint32_t pending
        uint8_t iv[16]
        uint64_t block_offset
    void cd_cipher_stream_init(cd_cipher_stream *stream, cd_cipher *cipher, c_bool decrypt,
                               const uint8_t *iv)
    size_t cd_cipher_stream_output_size(const cd_cipher_stream *stream, size_t length)
    cd_status cd_cipher_stream_update(cd_cipher_stream *stream, uint8_t *out,
                                      const uint8_t *source, size_t length)
    cd_status cd_cipher_stream_finalize(cd_cipher_stream *stream)
    void cd_cipher_stream_cleanup(cd_cipher_stream *stream)

    # benchmark.h
    uint32_t CD_BENCHMARK_WARMUPS
    uint32_t CD_BENCHMARK_RUNS
    uint32_t CD_BENCHMARK_SIZES
    const uint32_t cd_benchmark_sizes[11]
    const char *cd_side_name(int side)
    struct cd_measurement:
        uint32_t size
        uint32_t samples
        uint64_t hardware
        uint64_t software
        int32_t winner
    cd_status cd_benchmark_cipher(uint64_t *out_ticks, cd_cipher *cipher, const cd_clock *clock,
                                  uint8_t *buffer, size_t length, uint32_t warmups, uint32_t runs)
    cd_status cd_benchmark_cipher_decrypt(uint64_t *out_ticks, cd_cipher *cipher,
                                          const cd_clock *clock, uint8_t *buffer, size_t length,
                                          uint32_t warmups, uint32_t runs)
    cd_status cd_benchmark_hash(uint64_t *out_ticks, cd_hash *hash, const cd_clock *clock,
                                const uint8_t *source, size_t length, uint32_t warmups, uint32_t runs)
    cd_status cd_benchmark_aead(uint64_t *out_ticks, cd_aead *aead, const cd_clock *clock,
                                const uint8_t *source, uint8_t *destination, size_t length,
                                uint32_t warmups, uint32_t runs)
    void cd_benchmark_fill(uint8_t *out, size_t length, uint64_t seed)

    # machine.h
    struct cd_cpu_cost:
        char algorithm[96]
        uint32_t key_size
        uint64_t request_ps
        uint64_t byte_fs
    struct cd_machine:
        pass
    cd_status cd_machine_new(cd_machine **out_machine, cd_registry *registry, const char *name,
                             const cd_clock *clock, const cd_cpu_cost *costs, size_t cost_count,
                             cd_error *out_error)
    void cd_machine_free(cd_machine *machine)

    # fallback.h
    int CD_WHY_COUNT
    const char *cd_why_name(int why)
    struct cd_key_rule:
        uint32_t key_size
        int32_t threshold
        c_bool cannot
    struct cd_group_config:
        const char *name
        cd_type type
        const char *algorithm
        const char *driver
        const uint8_t *key
        size_t key_len
        const uint8_t *auth_key
        size_t auth_key_len
        uint32_t tag_size
        const char *const *members
        size_t member_count
        c_bool fixed
        int32_t fixed_threshold
        const cd_key_rule *rules
        size_t rule_count
    struct cd_fallback_config:
        cd_clock clock
        uint32_t software_flags
        uint32_t software_mask
    struct cd_fallback:
        pass
    ctypedef c_bool (*cd_fallback_progress)(void *context, size_t group,
                                            const cd_measurement *measurement,
                                            const char *failure) noexcept
    cd_status cd_fallback_new(cd_fallback **out_fallback, cd_registry *registry, const char *name,
                              const cd_group_config *groups, size_t group_count,
                              const cd_fallback_config *config, cd_error *out_error)
    void cd_fallback_free(cd_fallback *fallback)
    cd_status cd_fallback_enable(cd_fallback *fallback, cd_fallback_progress progress,
                                 void *context, cd_error *out_error)
    void cd_fallback_disable(cd_fallback *fallback)
    c_bool cd_fallback_enabled(const cd_fallback *fallback)
    int32_t cd_fallback_threshold(const cd_fallback *fallback, size_t group)
    cd_status cd_fallback_set_threshold(cd_fallback *fallback, size_t group, int64_t threshold)
    c_bool cd_fallback_fixed(const cd_fallback *fallback, size_t group, int32_t *out_threshold)
    size_t cd_fallback_rules(const cd_fallback *fallback, size_t group, cd_key_rule *out_rules,
                             size_t capacity)
    size_t cd_fallback_measurements(const cd_fallback *fallback, size_t group,
                                    cd_measurement *out_measurements, size_t capacity)
    void cd_fallback_failure(const cd_fallback *fallback, size_t group, char *out, size_t out_len)
    void cd_fallback_sides(const cd_fallback *fallback, size_t group, char *out_hardware,
                           char *out_software, size_t out_len)
    void cd_fallback_counters(const cd_fallback *fallback, size_t group, uint64_t *out_counters)
    cd_status cd_fallback_write(cd_fallback *fallback, const char *attribute, const char *text,
                                size_t text_len, cd_error *out_error)
    cd_status cd_fallback_read(const cd_fallback *fallback, const char *attribute, char *out,
                               size_t out_len)

    # eip93_bus.h, eip93_driver.h
    struct cd_eip93_bus:
        uint32_t abi
        cd_clock clock
    uint32_t CD_EIP93_BUS_ABI
    struct cd_eip93_driver:
        pass
    struct cd_eip93_driver_config:
        uint32_t ring_entries
        uint64_t request_timeout_ns
        uint32_t hash_segment
    struct cd_eip93_driver_counters:
        uint64_t requests
        uint64_t completed
        uint64_t failed
        uint64_t descriptors
        uint64_t doorbells
        uint64_t interrupts
        uint64_t backlogged
        uint64_t resets
        uint64_t maps
        uint64_t unmaps
        uint64_t software
    cd_status cd_eip93_driver_new(cd_eip93_driver **out_driver, cd_registry *registry,
                                  const cd_eip93_bus *bus, const cd_eip93_driver_config *config,
                                  cd_error *out_error)
    void cd_eip93_driver_free(cd_eip93_driver *driver)
    size_t cd_eip93_driver_poll(cd_eip93_driver *driver)
    void cd_eip93_driver_get_counters "cd_eip93_driver_counters"(
        const cd_eip93_driver *driver, cd_eip93_driver_counters *out_counters)
