/*
 * Messages in pieces. Whole blocks go to the transform as requests; what does not fill a block is
 * kept: text in the block modes, left-over key stream in the counter modes.
 */
#include "cryptodispatch/stream.h"

#include "base/secure.h"

#include <string.h>

#define BLOCK sizeof(((struct cd_cipher_stream *)0)->partial)

/* The unit in which the transform takes text that goes on: 16 for all modes of AES. */
static size_t unit_size(const struct cd_cipher_stream *stream) {
    return cd_cipher_implementation(stream->cipher)->chunk_size;
}

/* Counter modes put out every byte at once. */
static bool is_counter_mode(const struct cd_cipher_stream *stream) {
    return cd_cipher_implementation(stream->cipher)->block_size == 1;
}

void cd_cipher_stream_init(struct cd_cipher_stream *stream, struct cd_cipher *cipher, bool decrypt,
                           const uint8_t *iv) {
    memset(stream, 0, sizeof(*stream));
    stream->cipher = cipher;
    stream->decrypt = decrypt;
    memcpy(stream->iv, iv, cd_cipher_implementation(cipher)->iv_size);
}

size_t cd_cipher_stream_output_size(const struct cd_cipher_stream *stream, size_t length) {
    if (is_counter_mode(stream)) {
        return length;
    }
    size_t unit = unit_size(stream);
    size_t rest = length % unit + stream->pending;
    return length - length % unit + (rest >= unit ? unit : 0);
}

/* Run one request that continues the message. */
static cd_status run(struct cd_cipher_stream *stream, uint8_t *out, const uint8_t *source,
                     size_t length) {
    struct cd_cipher_request request = {.source = source, .destination = out, .length = length};
    memcpy(request.iv, stream->iv, CD_IV_MAX);
    request.block_offset = stream->block_offset;
    cd_status status = stream->decrypt ? cd_cipher_decrypt_wait(stream->cipher, &request)
                                       : cd_cipher_encrypt_wait(stream->cipher, &request);
    if (status != CD_OK) {
        cd_cipher_stream_cleanup(stream);
        return status;
    }
    memcpy(stream->iv, request.iv, CD_IV_MAX);
    stream->block_offset = request.block_offset;
    return CD_OK;
}

/* Use up left-over key stream; returns the bytes done. */
static size_t use_key_stream(struct cd_cipher_stream *stream, uint8_t *out, const uint8_t *source,
                             size_t length) {
    size_t count = stream->pending < length ? stream->pending : length;
    const uint8_t *key_stream = stream->partial + BLOCK - stream->pending;
    for (size_t i = 0; i < count; i++) {
        out[i] = (uint8_t)(source[i] ^ key_stream[i]);
    }
    stream->pending -= (uint32_t)count;
    return count;
}

static cd_status update_counter_mode(struct cd_cipher_stream *stream, uint8_t *out,
                                     const uint8_t *source, size_t length) {
    size_t done = use_key_stream(stream, out, source, length);
    size_t whole = (length - done) - (length - done) % BLOCK;
    cd_status status = whole > 0 ? run(stream, out + done, source + done, whole) : CD_OK;
    done += whole;
    if (status != CD_OK || done == length) {
        return status;
    }
    memset(stream->partial, 0, BLOCK);
    status = run(stream, stream->partial, stream->partial, BLOCK);
    if (status != CD_OK) {
        return status;
    }
    stream->pending = BLOCK;
    use_key_stream(stream, out + done, source + done, length - done);
    return CD_OK;
}

static cd_status update_block_mode(struct cd_cipher_stream *stream, uint8_t *out,
                                   const uint8_t *source, size_t length) {
    size_t unit = unit_size(stream);
    if (stream->pending > 0) {
        size_t count = unit - stream->pending < length ? unit - stream->pending : length;
        memcpy(stream->partial + stream->pending, source, count);
        stream->pending += (uint32_t)count;
        source += count;
        length -= count;
        if (stream->pending < unit) {
            return CD_OK;
        }
        cd_status status = run(stream, out, stream->partial, unit);
        if (status != CD_OK) {
            return status;
        }
        stream->pending = 0;
        out += unit;
    }
    size_t rest = length % unit;
    cd_status status = length > rest ? run(stream, out, source, length - rest) : CD_OK;
    if (status == CD_OK && rest > 0) {
        memcpy(stream->partial, source + length - rest, rest);
        stream->pending = (uint32_t)rest;
    }
    return status;
}

/* With text pending the output runs behind the input, so the two may not share bytes at all. */
static bool overlap_is_refused(const struct cd_cipher_stream *stream, const uint8_t *out,
                               const uint8_t *source, size_t length) {
    uintptr_t a = (uintptr_t)out, b = (uintptr_t)source;
    size_t out_length = cd_cipher_stream_output_size(stream, length);
    bool shares = a < b + length && b < a + out_length;
    bool in_step = a == b && (is_counter_mode(stream) || stream->pending == 0);
    return out_length > 0 && shares && !in_step;
}

cd_status cd_cipher_stream_update(struct cd_cipher_stream *stream, uint8_t *out,
                                  const uint8_t *source, size_t length) {
    if (stream->finished) {
        return CD_E_INVALID;
    }
    if (length == 0) {
        return CD_OK;
    }
    if (overlap_is_refused(stream, out, source, length)) {
        return CD_E_OVERLAP;
    }
    return is_counter_mode(stream) ? update_counter_mode(stream, out, source, length)
                                   : update_block_mode(stream, out, source, length);
}

cd_status cd_cipher_stream_finalize(struct cd_cipher_stream *stream) {
    if (stream->finished) {
        return CD_E_INVALID;
    }
    bool incomplete = stream->pending > 0 && !is_counter_mode(stream);
    cd_wipe(stream->partial, BLOCK);
    stream->pending = 0;
    stream->finished = true;
    return incomplete ? CD_E_LENGTH : CD_OK;
}

void cd_cipher_stream_cleanup(struct cd_cipher_stream *stream) {
    cd_wipe(stream->partial, sizeof(stream->partial));
    cd_wipe(stream->iv, sizeof(stream->iv));
    stream->pending = 0;
    stream->finished = true;
}
