/*
 * A message in pieces: any split of it gives the bytes of the one-shot request.
 *
 * A stream is one caller's (not shared between threads). Each update is a request of its own and is
 * dispatched as such.
 */
#ifndef CD_STREAM_H
#define CD_STREAM_H

#include "cryptodispatch/cipher.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cd_cipher_stream {
    struct cd_cipher *cipher; /* borrowed */
    bool decrypt;
    bool finished;
    uint32_t pending;      /* bytes in `partial`: text (block modes) or left-over key stream */
    uint8_t partial[16];   /* ecb, cbc: text that does not fill a block yet;
                              ctr: the last `pending` bytes of key stream, right-aligned */
    uint8_t iv[CD_IV_MAX]; /* continues the message after the whole blocks done so far */
    uint64_t block_offset; /* as in a request */
};

/* Start a message. `iv` has the transform's iv_size bytes. */
void cd_cipher_stream_init(struct cd_cipher_stream *stream, struct cd_cipher *cipher, bool decrypt,
                           const uint8_t *iv);

/* Bytes that an update of `length` bytes will put out now. */
size_t cd_cipher_stream_output_size(const struct cd_cipher_stream *stream, size_t length);

/*
 * Take `length` bytes of text and put out cd_cipher_stream_output_size bytes. `out` may be `source`
 * only if nothing is pending in a block mode (otherwise CD_E_OVERLAP). Errors: those of a request,
 * CD_E_INVALID after finalize; after an error of a request the stream is finished.
 */
CD_MUST_CHECK cd_status cd_cipher_stream_update(struct cd_cipher_stream *stream, uint8_t *out,
                                                const uint8_t *source, size_t length);

/* End the message: CD_E_LENGTH if a partial block is pending in a block mode, CD_E_INVALID if it
 * was finished before. Wipes what was pending. */
CD_MUST_CHECK cd_status cd_cipher_stream_finalize(struct cd_cipher_stream *stream);

/* Wipe the stream. */
void cd_cipher_stream_cleanup(struct cd_cipher_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
