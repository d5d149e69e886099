/* SPDX-License-Identifier: Apache-2.0 */
/* error.h: filling in a cbx_error. */
#ifndef CBX_ERROR_H
#define CBX_ERROR_H

#include <stdarg.h>

#include "combinex.h"
#include "internal.h"

/* Writes the message, if anybody wants it, and returns `status`, so that a
 * failing function can say: return cbx_fail(err, CBX_INVALID, "…", …). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
CBX_INTERNAL cbx_status
cbx_fail(cbx_error *err, cbx_status status, const char *format, ...);

CBX_INTERNAL cbx_status cbx_fail_memory(cbx_error *err);

/* Every message is made here: formatted, and shown as cbx_text_next does, because it may quote
 * a file. What is too long is cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 0)))
#endif
CBX_INTERNAL void
cbx_message(char message[CBX_MESSAGE_SIZE], const char *format, va_list args);

/* "PATH: cannot DO: strerror(errno)", status CBX_IO. */
CBX_INTERNAL cbx_status cbx_fail_errno(cbx_error *err, const char *path, const char *what);

/* An analyzer sees one file at a time: what is returned is said where it is called. */
#ifdef CBX_ANALYZE
#define cbx_fail(err, status, ...) (cbx_fail((err), (status), __VA_ARGS__), (status))
#define cbx_fail_memory(err) (cbx_fail_memory(err), CBX_NO_MEMORY)
#define cbx_fail_errno(err, path, what) (cbx_fail_errno((err), (path), (what)), CBX_IO)
#endif

/* Puts "PREFIX: " in front of the message that is there. */
CBX_INTERNAL void cbx_error_prefix(cbx_error *err, const char *prefix);

/* The word among a NULL-terminated list nearest to `word`, or NULL if none is
 * near enough to be worth suggesting (cbx_nearest_try). */
CBX_INTERNAL const char *cbx_nearest_of(const char *word, const char *const *words);

/* "; did you mean 'WORD'?", or nothing where there is no such word. Returns `text`. */
typedef char             cbx_did_you_mean[160];
CBX_INTERNAL const char *cbx_suggest(cbx_did_you_mean text, const char *word);

#endif
