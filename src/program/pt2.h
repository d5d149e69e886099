/* SPDX-License-Identifier: Apache-2.0 */
/* pt2.h: the parts of a .pt2 file, and how they become a program.
 *
 * The file is a zip archive: models/model.json has the operations, data/weights and
 * data/constants the numbers. Parts may also come from memory, for tests and fuzzers. */
#ifndef CBX_PT2_H
#define CBX_PT2_H

#include "ir.h"
#include "json.h"
#include "name_map.h"

typedef struct cbx_part {
    const char *name; /* below the archive's own folder: "models/model.json" */
    const void *bytes;
    size_t      size;
} cbx_part;

typedef struct cbx_parts {
    const char  *path; /* for messages */
    cbx_part    *part;
    size_t       count;
    cbx_name_map by_name; /* made by cbx_parts_index */
} cbx_parts;

/* Reads the archive's parts into the arena; what programs do not need is left out. */
cbx_status cbx_pt2_open(const char *path, cbx_arena *arena, cbx_parts *out, cbx_error *err);

/* Makes parts to be found by name; a name that is there twice is an error. */
cbx_status cbx_parts_index(cbx_parts *parts, cbx_arena *arena, cbx_error *err);
/* NULL: there is none. */
const cbx_part *cbx_parts_find(const cbx_parts *parts, const char *name);

/* A part as JSON, in the arena. */
cbx_status cbx_parts_json(const cbx_parts *parts, const cbx_part *part, cbx_arena *arena,
                          const cbx_json **out, cbx_error *err);

/* A program out of parts, of which nothing is known yet: no roles, no hops. What it needs of the
 * parts is copied. */
cbx_status cbx_program_build(const cbx_parts *parts, const cbx_program_options *options,
                             cbx_program **out, cbx_error *err);
/* All that cbx_program_load does, but for opening the file. */
cbx_status cbx_program_from_parts(const cbx_parts *parts, const cbx_program_options *options,
                                  cbx_program **out, cbx_error *err);

/* ---- numbers of data/weights or data/constants */

enum { CBX_TORCH_TYPES = 14 };

/* A part as elements, once for each type that tensors take it for. */
typedef struct cbx_loaded {
    void *as[CBX_TORCH_TYPES];
} cbx_loaded;

typedef struct cbx_numbers {
    const cbx_parts       *parts;
    const char            *folder;
    cbx_name_map           by_name; /* places in `entry` */
    const cbx_json *const *entry;
    cbx_loaded            *loaded; /* of each part */
} cbx_numbers;

/* Texts live in `arena`. */
cbx_status cbx_numbers_open(const cbx_parts *parts, const char *folder, const char *config,
                            cbx_arena *arena, cbx_numbers *out, cbx_error *err);
/* The tensor of this name, its elements copied to the arena, once for all that share them; *out is
 * NULL where there is none. */
cbx_status cbx_numbers_get(cbx_numbers *numbers, const char *name, cbx_arena *arena,
                           cbx_array **out, cbx_error *err);

/* torch's number of a type; false where such tensors are not known here. */
bool cbx_type_from_torch(int64_t number, cbx_type *type);
/* "float16", …, "type 99" */
const char *cbx_torch_type_name(int64_t number, char *buffer, size_t size);

/* ---- the graph */

/* Reads inputs, weights and nodes of a model; json is the whole of model.json. */
cbx_status cbx_model_json_read(cbx_builder *b, const cbx_parts *parts, const cbx_json *json,
                               const cbx_program_options *options, cbx_error *err);

/* ---- which input is which, by name and shape, and by `roles` where that is not NULL */
cbx_status cbx_roles_find(cbx_program *p, const char *roles, cbx_error *err);

/* ---- what is known of a program after it was run on a made-up graph */

/* How far it looks. */
cbx_status cbx_hops_find(cbx_program *p, cbx_error *err);
/* Is a weight of 0 the same as a removal? */
cbx_status cbx_removal_check(const cbx_program *p, cbx_error *err);

#endif
