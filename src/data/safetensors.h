/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.h: the container of graphs and models: named arrays and text.
 *
 * Reading maps the file, or copies it, and believes nothing in it: every length, offset, shape
 * and name is checked before an array is handed out. Writing is atomic. */
#ifndef CBX_SAFETENSORS_H
#define CBX_SAFETENSORS_H

#include "arena.h"
#include "combinex.h"

typedef enum cbx_dtype {
    CBX_F64,
    CBX_F32,
    CBX_I64,
    CBX_I32,
    CBX_U8,
    CBX_BOOL,
    CBX_OTHER
} cbx_dtype;

enum { CBX_MAX_RANK = 8 };

typedef struct cbx_tensor {
    const char *name;
    cbx_dtype   dtype;
    const char *dtype_name; /* as in the file */
    int32_t     rank;
    int64_t     shape[CBX_MAX_RANK];
    int64_t     count;      /* elements */
    const void *data;       /* aligned for its type */
    uint64_t    begin, end; /* in the file's data part */
} cbx_tensor;

typedef struct cbx_meta {
    const char *key, *value;
} cbx_meta;

typedef struct cbx_tensor_file {
    char       *path;
    cbx_tensor *tensors; /* in the order of their bytes */
    size_t      count;
    cbx_meta   *meta;
    size_t      meta_count;
    void       *map; /* or its copy */
    size_t      map_size;
    bool        copied;
    cbx_arena   arena;
} cbx_tensor_file;

/* Maps a file, which must not be changed while it is open: what is cut off raises SIGBUS
 * when it is read. */
cbx_status cbx_tensors_open(const char *path, cbx_tensor_file **out, cbx_error *err);
/* Reads one into memory; it may change afterwards. */
cbx_status cbx_tensors_copy(const char *path, cbx_tensor_file **out, cbx_error *err);
void       cbx_tensors_close(cbx_tensor_file *file);

/* NULL where there is none. */
const cbx_tensor *cbx_tensors_find(const cbx_tensor_file *file, const char *name);
const char       *cbx_tensors_meta(const cbx_tensor_file *file, const char *key);

/* The tensor if it is there and has this type and shape (-1: any size); *out is
 * NULL if it is absent. U8 also takes BOOL. */
cbx_status cbx_tensors_get(const cbx_tensor_file *file, const char *name, cbx_dtype dtype,
                           int32_t rank, const int64_t *shape, const cbx_tensor **out,
                           cbx_error *err);

/* Only name, dtype, rank, shape and data of each tensor matter. */
cbx_status cbx_tensors_write(const char *path, const cbx_tensor *tensors, size_t count,
                             const cbx_meta *meta, size_t meta_count, cbx_error *err);

#endif
