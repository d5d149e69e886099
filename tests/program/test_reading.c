/* SPDX-License-Identifier: Apache-2.0 */
/* Exported models that are not what they say, or not what can be explained: each is refused, by a
 * message that names the file, the place, the value and what was expected. */
#include "model_text.h"
#include "test.h"

enum { JSON = 1 << 16 };

/* ---- archives */

TEST(a_file_that_is_not_there_is_refused)
{
    cbx_program *p = NULL;
    cbx_error    err = {0};
    CHECK_INT(cbx_program_load(test_path("nothing.pt2"), NULL, &p, &err), CBX_IO);
    CHECK_CONTAINS(err.message, "nothing.pt2: cannot open");
    CHECK(p == NULL);
}

TEST(a_file_that_is_no_archive_is_refused)
{
    cbx_program *p = NULL;
    cbx_error    err = {0};
    const char  *path = test_path("text.pt2");
    test_write_file(path, "hello", 5);
    CHECK_INT(cbx_program_load(path, NULL, &p, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "text.pt2: not a .pt2 archive");
}

/* A committed program with bytes of it changed, each alone. */
TEST(a_damaged_archive_is_refused_or_says_the_same)
{
    size_t      size = 0;
    const char *from = test_source("tests/golden/programs/gcn.pt2"),
               *path = test_path("damaged.pt2");
    unsigned char *bytes = from ? test_read_file(from, &size) : NULL;
    if (!CHECK(bytes != NULL))
        return;
    for (size_t at = 0; at < size; at += 97) {
        cbx_program  *p = NULL;
        cbx_error     err = {0};
        unsigned char old = bytes[at];
        bytes[at] = (unsigned char)(old ^ 0x20);
        test_write_file(path, bytes, size);
        if (cbx_program_load(path, NULL, &p, &err))
            CHECK_CONTAINS(err.message, "damaged.pt2");
        cbx_program_free(p);
        bytes[at] = old;
    }
    for (size_t length = 0; length < size; length += 1013) {
        cbx_program *p = NULL;
        cbx_error    err = {0};
        test_write_file(path, bytes, length);
        CHECK_INT(cbx_program_load(path, NULL, &p, &err), CBX_INVALID);
        CHECK_CONTAINS(err.message, "damaged.pt2");
    }
    free(bytes);
}

static cbx_status load_gcn(void *user)
{
    cbx_program *p = NULL;
    cbx_status   status = cbx_program_load(user, NULL, &p, NULL);
    cbx_program_free(p);
    return status;
}

TEST(running_out_of_memory_while_reading_is_told)
{
    const char *path = test_source("tests/golden/programs/gcn.pt2");
    if (CHECK(path != NULL))
        test_each_allocation(load_gcn, (void *)path);
}

/* ---- model.json, a model of one or two nodes */

typedef struct model {
    char        inputs[512]; /* input_specs */
    char        tensors[1024];
    char        nodes[4096];
    const char *output;
    const char *extra; /* weights' config */
} model;

#define X_AND_EDGES                                                \
    "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"x\"}}}}," \
    "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"edge_index\"}}}}"
#define SIZE_X "\"x\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{\"expr_str\":\"s0\"}},{\"as_int\":3}]}"
#define SIZE_EDGES \
    "\"edge_index\":{\"dtype\":5,\"sizes\":[{\"as_int\":2},{\"as_expr\":{\"expr_str\":\"s1\"}}]}"
#define SIZE_Y "\"y\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{\"expr_str\":\"s0\"}},{\"as_int\":3}]}"
#define TENSOR(key, name) "{\"name\":\"" key "\",\"arg\":{\"as_tensor\":{\"name\":\"" name "\"}}}"
#define INT(key, value) "{\"name\":\"" key "\",\"arg\":{\"as_int\":" value "}}"
#define NODE(target, args, out)                                   \
    "{\"target\":\"torch.ops.aten." target "\",\"inputs\":[" args \
    "],\"outputs\":[{\"as_tensor\":{"                             \
    "\"name\":\"" out "\"}}],\"name\":\"" out "\"}"

static const model sound = {.inputs = X_AND_EDGES,
                            .tensors = SIZE_X "," SIZE_EDGES "," SIZE_Y,
                            .nodes = NODE("relu.default", TENSOR("self", "x"), "y"),
                            .output = "y"};

/* Loads it; the message, if it is refused, in `message`. */
static cbx_status load_with(const model *m, const cbx_program_options *options, char *message)
{
    static char  json[JSON];
    cbx_part     part[6];
    cbx_parts    parts;
    cbx_arena    arena = {0};
    cbx_program *p = NULL;
    cbx_error    err = {0};
    (void)snprintf(
        json, sizeof json,
        "{\"schema_version\":{\"major\":8},\"graph_module\":{\"signature\":{\"input_specs\":["
        "%s],\"output_specs\":[{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}}]}"
        ",\"graph\":{\"tensor_values\":{%s},\"nodes\":[%s]}}}",
        m->inputs, m->output, m->tensors, m->nodes);
    (void)model_parts(json, part, &arena, &parts);
    part[4] = (cbx_part){"data/weights/model_weights_config.json", m->extra,
                         m->extra ? strlen(m->extra) : 0};
    part[5] = (cbx_part){"data/weights/weight_0", "0123456789abcdef", 16};
    parts.count = m->extra ? 6 : 4;
    (void)cbx_parts_index(&parts, &arena, NULL);
    cbx_status status = cbx_program_from_parts(&parts, options, &p, &err);
    (void)snprintf(message, CBX_MESSAGE_SIZE, "%s", err.message);
    cbx_program_free(p);
    cbx_arena_free(&arena);
    return status;
}

static void refuse(const model *m, const char *because)
{
    char message[CBX_MESSAGE_SIZE];
    CHECK_INT(load_with(m, NULL, message), CBX_INVALID);
    CHECK_CONTAINS(message, "model.pt2");
    CHECK_CONTAINS(message, because);
}

#define SET(field, ...) (void)snprintf(m.field, sizeof m.field, __VA_ARGS__)

TEST(a_sound_model_is_taken)
{
    char message[CBX_MESSAGE_SIZE];
    CHECK_INT(load_with(&sound, NULL, message), CBX_OK);
}

TEST(an_output_of_another_size_than_the_file_says_is_refused)
{
    model m = sound;
    SET(tensors,
        SIZE_X "," SIZE_EDGES ",\"y\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{\"expr_str\":\"s0\"}},"
               "{\"as_int\":2147483647}]}");
    refuse(&m, "output 'y' has size 3 in dimension 1, the file says 2147483647");
    SET(tensors,
        SIZE_X "," SIZE_EDGES ",\"y\":{\"dtype\":7,\"sizes\":[{\"as_int\":-1},{\"as_int\":3}]}");
    refuse(&m, "an output of a negative size");
    SET(tensors, SIZE_X "," SIZE_EDGES ",\"y\":{\"dtype\":7,\"sizes\":[{\"as_int\":3}]}");
    refuse(&m, "output 'y' has 2 dimensions, the file says 1");
}

TEST(an_unknown_operation_is_named_with_its_place)
{
    model m = sound;
    SET(nodes, NODE("linear.default", TENSOR("self", "x"), "y"));
    refuse(&m, "node 0, 'y' (torch.ops.aten.linear.default): this operation is not known here");
    refuse(&m, "run_decompositions");
}

TEST(an_operation_that_files_must_not_use_is_unknown)
{
    model m = sound;
    SET(nodes, NODE("cbx.weights", TENSOR("index", "edge_index"), "y"));
    refuse(&m, "not known here");
    SET(nodes,
        NODE("index_select.default",
             TENSOR("self", "x") "," TENSOR("index", "edge_index") "," TENSOR("cbx.shape", "x"),
             "y"));
    refuse(&m, "the argument 'cbx.shape' is not known here");
}

TEST(an_unknown_operation_that_nobody_needs_is_no_matter)
{
    model m = sound;
    char  message[CBX_MESSAGE_SIZE];
    SET(nodes, NODE("relu.default", TENSOR("self", "x"), "y") "," NODE("no.such",
                                                                       TENSOR("self", "y"), "z"));
    CHECK_INT(load_with(&m, NULL, message), CBX_OK);
}

TEST(a_node_that_uses_what_comes_after_it_is_refused)
{
    model m = sound;
    SET(nodes, NODE("relu.default", TENSOR("self", "y"), "y"));
    refuse(&m, "node 0 uses 'y', which nothing before it makes");
    SET(nodes, NODE("relu.default", TENSOR("self", "z"), "y") "," NODE("relu.default",
                                                                       TENSOR("self", "x"), "z"));
    refuse(&m, "node 0 uses 'z', which nothing before it makes");
}

TEST(a_name_that_is_made_twice_is_refused)
{
    model m = sound;
    SET(nodes, NODE("relu.default", TENSOR("self", "x"), "y") "," NODE("relu.default",
                                                                       TENSOR("self", "x"), "y"));
    refuse(&m, "'y' is made twice");
}

TEST(fixed_sizes_are_refused_with_what_to_do)
{
    model m = sound;
    SET(tensors,
        "\"x\":{\"dtype\":7,\"sizes\":[{\"as_int\":20},{\"as_int\":3}]}," SIZE_EDGES "," SIZE_Y);
    refuse(&m, "exported with fixed sizes: 'x' has size 20 in dimension 0");
    refuse(&m, "dynamic_shapes={'x': {0: d}, 'edge_index': {1: d}})");
    refuse(&m, "dynamic_shapes");
}

TEST(types_that_are_not_known_here_are_named)
{
    model m = sound;
    SET(tensors, SIZE_X "," SIZE_EDGES ",\"y\":{\"dtype\":6,\"sizes\":[]}");
    refuse(&m, "'y' is float16");
    SET(tensors, SIZE_X "," SIZE_EDGES ",\"y\":{\"dtype\":5,\"sizes\":[]}");
    refuse(&m, "makes int64 of float32");
}

TEST(sizes_that_overflow_are_refused)
{
    model m = sound;
    SET(nodes,
        NODE("expand.default",
             TENSOR("self",
                    "x") ",{\"name\":\"size\",\"arg\":{\"as_ints\":[4294967296,4294967296,-1,3]}}",
             "y"));
    refuse(&m, "to more than");
    SET(nodes,
        NODE("expand.default",
             TENSOR("self", "x") ",{\"name\":\"size\",\"arg\":{\"as_ints\":[100000000,-1,3]}}",
             "z") "," NODE("relu.default", TENSOR("self", "z"), "y"));
    SET(tensors, SIZE_X "," SIZE_EDGES "," SIZE_Y ",\"z\":{\"dtype\":7,\"sizes\":[]}");
    refuse(&m, "goes through more than");
}

TEST(an_index_out_of_range_is_refused)
{
    model m = sound;
    SET(nodes,
        NODE("select.int", TENSOR("self", "x") "," INT("dim", "1") "," INT("index", "3"), "y"));
    refuse(&m, "index 3 of dimension 1, which has 3");
    SET(nodes,
        NODE("select.int", TENSOR("self", "x") "," INT("dim", "2") "," INT("index", "0"), "y"));
    refuse(&m, "dimension 2 of a tensor that has 2");
}

TEST(a_weight_that_is_missing_or_too_short_is_named)
{
    model m = sound;
    SET(inputs,
        X_AND_EDGES ",{\"parameter\":{\"arg\":{\"name\":\"p\"},\"parameter_name\":\"lin.bias\"}}");
    SET(tensors,
        SIZE_X "," SIZE_EDGES "," SIZE_Y ",\"p\":{\"dtype\":7,\"sizes\":[{\"as_int\":3}]}");
    SET(nodes, NODE("add.Tensor", TENSOR("self", "x") "," TENSOR("other", "p"), "y"));
    refuse(&m, "the weight 'lin.bias' is missing");
#define CONFIG(sizes, strides, offset)                                                             \
    "{\"config\":{\"lin.bias\":{\"path_name\":\"weight_0\",\"use_pickle\":false,\"tensor_meta\":{" \
    "\"dtype\":7,\"sizes\":[{\"as_int\":" sizes "}],\"strides\":[{\"as_int\":" strides             \
    "}],\"storage_offset\":{\"as_int\":" offset "}}}}}"
    m.extra = CONFIG("3", "1", "2"); /* one past the end */
    refuse(&m, "data/weights/weight_0: 'lin.bias' needs 5 numbers of 4 bytes, 16 bytes are there");
    m.extra = CONFIG("3", "9223372036854775807", "1");
    refuse(&m, "strides beyond 64 bits");
    m.extra = CONFIG("3", "-1", "3");
    refuse(&m, "a size or a stride that is not a number from 0");
    char message[CBX_MESSAGE_SIZE];
    m.extra = CONFIG("3", "1", "1");
    CHECK_INT(load_with(&m, NULL, message), CBX_OK);
}

TEST(another_schema_is_refused)
{
    static const char json[] = "{\"schema_version\":{\"major\":9}}";
    cbx_part          part[4];
    cbx_parts         parts;
    cbx_arena         arena = {0};
    cbx_program      *p = NULL;
    cbx_error         err = {0};
    (void)model_parts(json, part, &arena, &parts);
    CHECK_INT(cbx_program_from_parts(&parts, NULL, &p, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "schema version 9, 8 expected");
    part[2].bytes = "bigger";
    CHECK_INT(cbx_program_from_parts(&parts, NULL, &p, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "byteorder: 'bigger', little expected");
    cbx_arena_free(&arena);
}

/* ---- inputs */

TEST(inputs_whose_names_do_not_tell_are_asked_about)
{
    model m = sound;
    char  message[CBX_MESSAGE_SIZE];
#define INPUT(name) "{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"" name "\"}}}}"
#define PAIRS(name) \
    "\"" name "\":{\"dtype\":5,\"sizes\":[{\"as_int\":2},{\"as_expr\":{\"expr_str\":\"s1\"}}]}"
    SET(inputs, INPUT("x") "," INPUT("links") "," INPUT("pairs"));
    SET(tensors, SIZE_X "," PAIRS("links") "," PAIRS("pairs") "," SIZE_Y);
    refuse(
        &m,
        "which input is edge_index? There are: x, links, pairs. Say so: inputs=edge_index=NAME");
    CHECK_INT(load_with(&m, &(cbx_program_options){.roles = "edge_index=links"}, message), CBX_OK);
    CHECK_INT(load_with(&m, &(cbx_program_options){.roles = "edge_index=x"}, message), CBX_INVALID);
    CHECK_CONTAINS(message, "input 'x' cannot be edge_index: it is float32 of 2 dimensions");
    CHECK_INT(load_with(&m, &(cbx_program_options){.roles = "edges=links"}, message), CBX_INVALID);
    CHECK_CONTAINS(message, "'edges=links': ROLE=INPUT expected");
}

TEST(one_input_that_fits_needs_no_name)
{
    model m = sound;
    char  message[CBX_MESSAGE_SIZE];
    SET(inputs, INPUT("x") "," INPUT("links"));
    SET(tensors, SIZE_X "," PAIRS("links") "," SIZE_Y);
    CHECK_INT(load_with(&m, NULL, message), CBX_OK);
}

TEST(an_output_that_is_not_there_is_refused)
{
    char message[CBX_MESSAGE_SIZE];
    CHECK_INT(load_with(&sound, &(cbx_program_options){.output = 1}, message), CBX_INVALID);
    CHECK_CONTAINS(message, "output 1, but there are 1 tensors");
}

/* ---- weights of 0 */

/* Sums the edges' sources over all edges at once: a removed edge would still count. */
TEST(a_model_that_does_not_follow_weights_is_refused)
{
    model m = sound;
    char  message[CBX_MESSAGE_SIZE];
    SET(nodes,
        NODE(
            "select.int", TENSOR("self", "edge_index") "," INT("dim", "0") "," INT("index", "0"),
            "s") "," NODE("index_select.default",
                          TENSOR("self", "x") "," INT("dim", "0") "," TENSOR("index", "s"),
                          "g") "," NODE("sum.dim_IntList",
                                        TENSOR("self",
                                               "g") ",{\"name\":\"dim\",\"arg\":{\"as_ints\":[0]}}",
                                        "t") "," NODE("add.Tensor",
                                                      TENSOR("self", "x") "," TENSOR("other", "t"),
                                                      "y"));
    SET(tensors,
        SIZE_X "," SIZE_EDGES "," SIZE_Y
               ",\"s\":{\"dtype\":5,\"sizes\":[{\"as_expr\":{\"expr_str\":\"s1\"}}]}"
               ",\"g\":{\"dtype\":7,\"sizes\":[{\"as_expr\":{\"expr_str\":\"s1\"}},{\"as_int\":3}]}"
               ",\"t\":{\"dtype\":7,\"sizes\":[{\"as_int\":3}]}");
    refuse(&m, "the output is another than with weight 0 for them");
    CHECK_INT(load_with(&m, &(cbx_program_options){.unchecked = true}, message), CBX_OK);
}
