/* SPDX-License-Identifier: Apache-2.0 */
/* model_text.h: model.json for one call of an operation, written from a line of operations.txt, and
 * the archive's other parts. */
#ifndef CBX_MODEL_TEXT_H
#define CBX_MODEL_TEXT_H

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pt2.h"

enum { LINE_INPUTS = 8, LINE_OUTPUTS = 4 };

/* A tensor that the call is given: one of the program's inputs, in<NUMBER>. */
typedef struct line_input {
    char     kind; /* r p s i e b, as in operations.txt */
    cbx_type type;
    int32_t  rank;
    int64_t  size[CBX_RANKS]; /* as given: before it is turned */
    int64_t  count, below;
    bool     turned, constant;
} line_input;

typedef struct line_call {
    char       name[64];
    cbx_type   real;
    line_input input[LINE_INPUTS];
    int32_t    num_inputs;
    char       output[LINE_OUTPUTS]; /* r w v d i b n */
    int32_t    num_outputs;
    char       args[4096]; /* as JSON */
    bool       twice;      /* adds the sum of each input to the result, so that it is used twice */
} line_call;

typedef struct writer {
    char  *text;
    size_t at, size;
} writer;

__attribute__((format(printf, 2, 3))) static inline void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(w->text + w->at, w->size - w->at, format, args);
    va_end(args);
    w->at += n > 0 ? (size_t)n : 0;
    if (w->at >= w->size)
        abort(); /* the test's buffer is too small */
}

/* torch's number of a type */
static inline int torch_number(cbx_type type)
{
    static const int numbers[] = {7, 8, 5, 12};
    return numbers[type];
}

/* ---- reading a line */

/* "r[2,3]<4'!" */
static inline void read_tensor(const char *text, line_call *c, writer *w)
{
    line_input *in = &c->input[c->num_inputs];
    char       *at = (char *)text + 2;
    *in = (line_input){.kind = *text, .count = 1, .below = 2};
    in->type = strchr("ie", *text) ? CBX_INTEGER : *text == 'b' ? CBX_LOGICAL : c->real;
    while (*at != ']') {
        in->size[in->rank++] = strtoll(at, &at, 10);
        at += *at == ',';
    }
    at++;
    if (*at == '<')
        in->below = strtoll(at + 1, &at, 10);
    in->turned = *at == '\'';
    in->constant = at[in->turned] == '!';
    if (in->turned) {
        int64_t last = in->size[in->rank - 1];
        in->size[in->rank - 1] = in->size[in->rank - 2];
        in->size[in->rank - 2] = last;
    }
    for (int32_t i = 0; i < in->rank; i++)
        in->count *= in->size[i];
    put(w, "{\"name\":\"in%d%s\"}", c->num_inputs++, in->turned ? "t" : "");
}

static inline bool is_tensor(const char *text)
{
    return strchr("rpsieb", *text) && text[1] == '[';
}

/* {r[2];none}: as_tensors, or as_optional_tensors where one is none. */
static inline void read_list(char *text, line_call *c, writer *w)
{
    bool  optional = strstr(text, "none") != NULL;
    char *rest = NULL;
    put(w, optional ? "{\"as_optional_tensors\":[" : "{\"as_tensors\":[");
    text[strlen(text) - 1] = '\0';
    for (char *part = strtok_r(text + 1, ";", &rest); part; part = strtok_r(NULL, ";", &rest)) {
        bool none = !strcmp(part, "none");
        put(w, "%s", part == text + 1 ? "" : ",");
        put(w, "%s", none ? "{\"as_none\":true}" : optional ? "{\"as_tensor\":" : "");
        if (!none)
            read_tensor(part, c, w);
        put(w, "%s", optional && !none ? "}" : "");
    }
    put(w, "]}");
}

static inline void read_value(char *text, line_call *c, writer *w)
{
    if (is_tensor(text)) {
        put(w, "{\"as_tensor\":");
        read_tensor(text, c, w);
        put(w, "}");
    } else if (*text == '{') {
        read_list(text, c, w);
    } else if (*text == '(') {
        put(w, "{\"as_ints\":[%.*s]}", (int)strlen(text) - 2, text + 1);
    } else if (*text == '\'') {
        put(w, "{\"as_string\":\"%.*s\"}", (int)strlen(text) - 2, text + 1);
    } else if (!strcmp(text, "none")) {
        put(w, "{\"as_none\":true}");
    } else if (!strcmp(text, "true") || !strcmp(text, "false")) {
        put(w, "{\"as_bool\":%s}", text);
    } else if (!strcmp(text, "inf")) {
        put(w, "{\"as_float\":\"Infinity\"}");
    } else if (isdigit((unsigned char)*text) || *text == '-') {
        put(w, strpbrk(text, ".e") ? "{\"as_float\":%s}" : "{\"as_int\":%s}", text);
    } else {
        cbx_type type = !strcmp(text, "i64")    ? CBX_INTEGER
                        : !strcmp(text, "bool") ? CBX_LOGICAL
                                                : c->real;
        put(w, "{\"as_scalar_type\":%d}", torch_number(type));
    }
}

/* False where the line is a comment or empty. */
static inline bool line_read(const char *line, cbx_type real, line_call *c)
{
    char   copy[512], *rest = NULL;
    writer w = {c->args, 0, sizeof c->args};
    *c = (line_call){.real = real};
    if (*line == '#' || !*line || (size_t)snprintf(copy, sizeof copy, "%s", line) >= sizeof copy)
        return false;
    char *arrow = strstr(copy, "->");
    for (const char *t = arrow + 2; *t; t++)
        if (!isspace((unsigned char)*t) && c->num_outputs < LINE_OUTPUTS)
            c->output[c->num_outputs++] = *t;
    *arrow = '\0';
    (void)snprintf(c->name, sizeof c->name, "%s", strtok_r(copy, " ", &rest));
    for (char *arg; (arg = strtok_r(NULL, " ", &rest));) {
        char *value = strchr(arg, '=');
        *value++ = '\0';
        put(&w, "%s{\"name\":\"%s\",\"arg\":", w.at ? "," : "", arg);
        read_value(value, c, &w);
        put(&w, ",\"kind\":1}");
    }
    return true;
}

/* ---- writing model.json */

static inline void put_tensor_value(writer *w, const char *name, int number, cbx_type type,
                                    int32_t rank, const int64_t *size)
{
    put(w, "\"%s%d\":{\"dtype\":%d,\"sizes\":[", name, number, torch_number(type));
    for (int32_t i = 0; i < rank; i++)
        put(w, "%s{\"as_int\":%lld}", i ? "," : "", (long long)size[i]);
    put(w, "]},");
}

static inline void put_node(writer *w, const char *target, const char *args, const char *outputs)
{
    bool aten = strncmp(target, "_operator", 9) && strncmp(target, "torch.", 6);
    put(w, "{\"target\":\"%s%s\",\"inputs\":[%s],\"outputs\":[%s],\"name\":\"n\"}",
        aten ? "torch.ops.aten." : "", target, args, outputs);
}

/* Turns the last two dimensions of input k. */
static inline void put_turn(writer *w, int k, int32_t rank)
{
    char args[160], output[64];
    (void)snprintf(args, sizeof args,
                   "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"in%d\"}}},"
                   "{\"name\":\"dim0\",\"arg\":{\"as_int\":%d}},"
                   "{\"name\":\"dim1\",\"arg\":{\"as_int\":%d}}",
                   k, rank - 1, rank - 2);
    (void)snprintf(output, sizeof output, "{\"as_tensor\":{\"name\":\"in%dt\"}}", k);
    put_node(w, "transpose.int", args, output);
    put(w, ",");
}

/* result0 = out0 + sum of in0 + sum of in1 + … */
static inline void put_sums(writer *w, const line_call *c)
{
    char args[320], output[64], so_far[32] = "out0";
    for (int i = 0; i < c->num_inputs; i++) {
        if (!cbx_is_real(c->input[i].type) || c->input[i].constant)
            continue;
        (void)snprintf(args, sizeof args,
                       "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"in%d\"}}}", i);
        (void)snprintf(output, sizeof output, "{\"as_tensor\":{\"name\":\"sum%d\"}}", i);
        put_node(w, "sum.default", args, output);
        (void)snprintf(args, sizeof args,
                       "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}},"
                       "{\"name\":\"other\",\"arg\":{\"as_tensor\":{\"name\":\"sum%d\"}}}",
                       so_far, i);
        (void)snprintf(so_far, sizeof so_far, "with%d", i);
        (void)snprintf(output, sizeof output, "{\"as_tensor\":{\"name\":\"%s\"}}", so_far);
        put(w, ",");
        put_node(w, "add.Tensor", args, output);
        put(w, ",");
    }
    (void)snprintf(args, sizeof args,
                   "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"%s\"}}}", so_far);
    put_node(w, "clone.default", args, "{\"as_tensor\":{\"name\":\"result0\"}}");
}

/* Output k as reals: "result". A number is added to 0. */
static inline void put_result(writer *w, const line_call *c, int k)
{
    char args[320];
    if (c->twice) {
        put_sums(w, c);
        return;
    }
    if (c->output[k] == 'n') {
        (void)snprintf(args, sizeof args,
                       "{\"name\":\"s\",\"arg\":{\"as_float\":0.0}},"
                       "{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":%d}}",
                       torch_number(c->real));
        put_node(w, "scalar_tensor.default", args, "{\"as_tensor\":{\"name\":\"zero0\"}}");
        (void)snprintf(args, sizeof args,
                       "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"zero0\"}}},"
                       "{\"name\":\"other\",\"arg\":{\"as_sym_int\":{\"as_name\":\"out%d\"}}}",
                       k);
        put(w, ",");
        put_node(w, "add.Tensor", args, "{\"as_tensor\":{\"name\":\"result0\"}}");
        return;
    }
    (void)snprintf(args, sizeof args,
                   "{\"name\":\"self\",\"arg\":{\"as_tensor\":{\"name\":\"out%d\"}}},"
                   "{\"name\":\"dtype\",\"arg\":{\"as_scalar_type\":%d}}",
                   k, torch_number(c->real));
    put_node(w, "_to_copy.default", args, "{\"as_tensor\":{\"name\":\"result0\"}}");
}

/* model.json of a program whose output is output k of the call. */
static inline void line_write(const line_call *c, int k, char *json, size_t size)
{
    writer w = {json, 0, size};
    char   outputs[320];
    writer o = {outputs, 0, sizeof outputs};
    put(&w, "{\"schema_version\":{\"major\":8},\"graph_module\":{\"signature\":{\"input_specs\":[");
    for (int i = 0; i < c->num_inputs; i++)
        put(&w, "%s{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"in%d\"}}}}", i ? "," : "",
            i);
    put(&w,
        "],\"output_specs\":[{\"user_output\":{\"arg\":{\"as_tensor\":{\"name\":\"result0\"}}}}]}");
    put(&w, ",\"graph\":{\"tensor_values\":{");
    for (int i = 0; i < c->num_inputs; i++) {
        const line_input *in = &c->input[i];
        put_tensor_value(&w, "in", i, in->type, in->rank, in->size);
        put_tensor_value(&w, "sum", i, c->real, 0, NULL);
        put_tensor_value(&w, "with", i, c->real, 0, NULL);
        put(&w, "\"in%dt\":{\"dtype\":%d,\"sizes\":[", i, torch_number(in->type));
        for (int32_t d = 0; d < in->rank; d++)
            put(&w, "%s{\"as_int\":0}", d ? "," : "");
        put(&w, "]},");
    }
    for (int i = 0; i < c->num_outputs; i++) {
        cbx_type type = c->output[i] == 'i'   ? CBX_INTEGER
                        : c->output[i] == 'b' ? CBX_LOGICAL
                                              : c->real;
        put_tensor_value(&w, "out", i, type, 0, NULL);
        put(&o,
            c->output[i] == 'n' ? "%s{\"as_sym_int\":{\"as_name\":\"out%d\"}}"
                                : "%s{\"as_tensor\":{\"name\":\"out%d\"}}",
            i ? "," : "", i);
    }
    /* what normalisations give besides */
    if (strstr(c->name, "native_")) {
        put(&o, ",{\"as_tensor\":{\"name\":\"more1\"}},{\"as_tensor\":{\"name\":\"more2\"}}");
        put_tensor_value(&w, "more", 1, c->real, 0, NULL);
        put_tensor_value(&w, "more", 2, c->real, 0, NULL);
    }
    put_tensor_value(&w, "zero", 0, c->real, 0, NULL);
    put_tensor_value(&w, "result", 0, c->real, 0, NULL);
    w.at--; /* the last comma */
    put(&w, "},\"nodes\":[");
    for (int i = 0; i < c->num_inputs; i++)
        if (c->input[i].turned)
            put_turn(&w, i, c->input[i].rank);
    put_node(&w, c->name, c->args, outputs);
    put(&w, ",");
    put_result(&w, c, k);
    put(&w, "]}}}");
}

/* The parts of an archive with this model.json, and no weights. `part` has room for four. */
static inline cbx_status model_parts(const char *json, cbx_part *part, cbx_arena *arena,
                                     cbx_parts *out)
{
    part[0] = (cbx_part){"archive_format", "pt2", 3};
    part[1] = (cbx_part){"archive_version", "0", 1};
    part[2] = (cbx_part){"byteorder", "little", 6};
    part[3] = (cbx_part){"models/model.json", json, strlen(json)};
    *out = (cbx_parts){.path = "model.pt2", .part = part, .count = 4};
    return cbx_parts_index(out, arena, NULL);
}

#endif
