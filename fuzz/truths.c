/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes: without a lie they are sound, with some they are taken or refused, and both happens.
 * A shape that nothing reads would fuzz no more than a parser's first lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "shapes.h"
#include "test.h"

enum { ROOM = 1 << 16, INPUTS = 300 };

static const struct {
    const char *word, *name;
} readers[] = {
#define X(word, name) {#word, name},
#include "readers.def"
#undef X
};

static const char *const targets[] = {
#define FUZZ_SHAPE(word) #word,
#include "shapes.def"
#undef FUZZ_SHAPE
};

static const cbx_reader *reader_of(const char *target)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(readers[i].word, target))
            return cbx_reader_at(i);
    return NULL;
}

static cbx_status read_bundle(const cbx_reader *reader, const uint8_t *bytes, size_t size,
                              cbx_error *err)
{
    static const cbx_read_options plain;
    cbx_reading                   r = {.options = &plain, .err = err};
    cbx_graph                    *graph = NULL;
    cbx_status                    status = cbx_bundle_memory(bytes, size, &r.bundle, err);
    if (!status)
        status = cbx_reading_graph(&r, reader, &graph);
    cbx_graph_free(graph);
    cbx_bundle_close(r.bundle);
    return status;
}

static cbx_status read_model(const uint8_t *bytes, size_t size, cbx_error *err)
{
    cbx_model *model = NULL;
    cbx_status status = cbx_model_load(fuzz_file("m", bytes, size), &model, err);
    cbx_model_free(model);
    return status;
}

/* Behind the data that fuzz_sidecar.c has. */
static cbx_status read_sidecar(const uint8_t *bytes, size_t size, cbx_error *err)
{
    static const char data[] = "==> edges.csv <==\na,b\nb,c\n==> features.csv <==\n"
                               "id,age,tall,short,label\na,31,1,0,x\nb,25.5,0,1,y\nc,4,0,1,x\n"
                               "==> combinex.json <==\n";
    static uint8_t    all[sizeof data + ROOM];
    memcpy(all, data, sizeof data - 1);
    memcpy(all + sizeof data - 1, bytes, size);
    return read_bundle(reader_of("csv"), all, sizeof data - 1 + size, err);
}

static cbx_status read_input(const char *target, const uint8_t *bytes, size_t size, cbx_error *err)
{
    const cbx_reader *reader = reader_of(target);
    cbx_graph        *graph = NULL;
    if (!reader)
        return !strcmp(target, "model") ? read_model(bytes, size, err)
                                        : read_sidecar(bytes, size, err);
    if (!reader->load)
        return read_bundle(reader, bytes, size, err);
    cbx_status status = reader->load(fuzz_file("x", bytes, size), &graph, err);
    cbx_graph_free(graph);
    return status;
}

TEST(inputs_without_a_lie_are_sound)
{
    static uint8_t bytes[ROOM];
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        int before = test_failures();
        for (uint64_t k = 0; k < INPUTS && test_failures() == before; k++) {
            cbx_error err = {0};
            size_t    size = fuzz_draw(fuzz_shape_of(targets[t]), 1, k, 0, bytes, sizeof bytes);
            CHECK_OK(read_input(targets[t], bytes, size, &err), err);
        }
        if (test_failures() > before)
            printf("  (%s)\n", targets[t]);
    }
}

TEST(of_inputs_with_lies_some_are_taken_and_some_refused)
{
    static uint8_t bytes[ROOM];
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        int taken = 0, refused = 0;
        for (uint64_t k = 0; k < INPUTS; k++) {
            cbx_error  err = {0};
            size_t     size = fuzz_draw(fuzz_shape_of(targets[t]), 2, k, 64, bytes, sizeof bytes);
            cbx_status status = read_input(targets[t], bytes, size, &err);
            taken += status == CBX_OK;
            refused += status == CBX_INVALID && err.message[0];
        }
        if (!CHECK(taken > INPUTS / 20 && refused > INPUTS / 20))
            printf("  (%s: %d taken, %d refused)\n", targets[t], taken, refused);
    }
}

TEST(the_same_number_gives_the_same_input)
{
    static uint8_t a[ROOM], b[ROOM];
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        size_t size = fuzz_draw(fuzz_shape_of(targets[t]), 3, 7, 16, a, sizeof a);
        CHECK(size > 0 && size == fuzz_draw(fuzz_shape_of(targets[t]), 3, 7, 16, b, sizeof b));
        CHECK(!memcmp(a, b, size));
        CHECK(fuzz_draw(fuzz_shape_of(targets[t]), 3, 7, 16, b, 50) <= 50); /* no room */
    }
}
