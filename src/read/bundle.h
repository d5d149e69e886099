/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h: the files that make up a data set, wherever they lie.
 *
 * A bundle is a folder, a zip archive (an .npz is one), or files in memory; a
 * single file is the folder it lies in with that file *chosen*. Readers ask for
 * files by name and get streams of bytes, unpacked where they are gzipped, and do
 * not know which of these it was. */
#ifndef CBX_BUNDLE_H
#define CBX_BUNDLE_H

#include "combinex/kit.h"

typedef struct cbx_bundle cbx_bundle;
typedef struct cbx_stream cbx_stream;

cbx_status cbx_bundle_open(const char *path, cbx_bundle **out, cbx_error *err);

/* Files in memory, for tests and fuzzers. `bytes` holds parts that each start with
 * a line "==> NAME <==", and must outlive the bundle. */
cbx_status cbx_bundle_memory(const void *bytes, size_t size, cbx_bundle **out, cbx_error *err);

/* The zip archive `name` in a bundle, as a bundle. */
cbx_status cbx_bundle_inside(cbx_bundle *bundle, const char *name, cbx_bundle **out,
                             cbx_error *err);

void cbx_bundle_close(cbx_bundle *bundle);

const char *cbx_bundle_path(const cbx_bundle *bundle);   /* as the user gave it */
const char *cbx_bundle_chosen(const cbx_bundle *bundle); /* NULL: all of it */
bool        cbx_bundle_is_folder(const cbx_bundle *bundle);

/* The i-th file on disk that was opened for it, or NULL past the last; some may come twice. */
const char *cbx_bundle_used(const cbx_bundle *bundle, size_t i);

/* How messages call one of its files. */
typedef char cbx_place[CBX_MESSAGE_SIZE];
const char  *cbx_bundle_place(const cbx_bundle *bundle, const char *name, cbx_place buffer);

/* The data set's name: the last part of the path, without endings. */
const char *cbx_bundle_title(const cbx_bundle *bundle);

/* The i-th file's name, sorted, below the folder; NULL past the last. */
const char *cbx_bundle_name(const cbx_bundle *bundle, size_t i);

/* The file called NAME or NAME.gz here or in a folder of the bundle; NULL: none. */
const char *cbx_bundle_find(const cbx_bundle *bundle, const char *name);

/* The file whose name ends so (".gz" apart); a chosen file goes first, and where
 * several fit there must be a chosen one of the same stem. NULL: none. */
const char *cbx_bundle_ending(const cbx_bundle *bundle, const char *ending);

/* Of formats that are one file: the one that was named, or the one there is, which is not in a
 * folder of the bundle. NULL: none. */
const char *cbx_bundle_alone(const cbx_bundle *bundle, const char *ending);

/* The same; where there is none, the file that was named, whatever it is called: --format says it
 * is one. An error where none was. */
cbx_status cbx_bundle_need_alone(const cbx_bundle *bundle, const char *ending, const char **name,
                                 cbx_error *err);

/* Bytes that were read from it so far, unpacked. Sizes that a file only claims are
 * held against this, so that memory is bounded by the input. */
uint64_t cbx_bundle_bytes(const cbx_bundle *bundle);

/* Whether `count` things are few enough to be believed of that many bytes. */
bool cbx_bundle_believes(const cbx_bundle *bundle, int64_t count);

/* `name` is one that the bundle gave. */
cbx_status  cbx_stream_open(cbx_bundle *bundle, const char *name, cbx_stream **out, cbx_error *err);
const char *cbx_stream_path(const cbx_stream *stream); /* for messages */
/* *got is less than `size` only at the end. */
cbx_status cbx_stream_read(cbx_stream *stream, void *to, size_t size, size_t *got, cbx_error *err);
void       cbx_stream_close(cbx_stream *stream);

/* All of a file, malloc'ed, with a 0 behind it. */
cbx_status cbx_bundle_slurp(cbx_bundle *bundle, const char *name, unsigned char **bytes,
                            size_t *size, cbx_error *err);

/* The first bytes of a file, at most `size`; fewer where it is shorter. */
cbx_status cbx_bundle_peek(cbx_bundle *bundle, const char *name, void *to, size_t size, size_t *got,
                           cbx_error *err);

#endif
