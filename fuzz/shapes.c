/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.c: see shapes.h. */
#include "shapes.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

static const struct {
    const char *target;
    fuzz_shape  shape;
} shapes[] = {
#define FUZZ_SHAPE(word) {#word, fuzz_shape_##word},
#include "shapes.def"
#undef FUZZ_SHAPE
};

fuzz_shape fuzz_shape_of(const char *target)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i].target, target))
            return shapes[i].shape;
    return NULL;
}

size_t fuzz_draw(fuzz_shape shape, uint64_t seed, uint64_t number, int odds, uint8_t *to,
                 size_t room, fuzz_truth *truth)
{
    fuzz_sheet s = {.at = to, .room = room, .odds = odds, .truth = truth};
    s.rng = cbx_rng_stream(seed, number, 1, 0);
    *truth = (fuzz_truth){0};
    shape(&s);
    return s.used;
}

size_t fuzz_draw_well_made(fuzz_shape shape, uint64_t seed, uint64_t number, int odds, uint8_t *to,
                           size_t room, fuzz_truth *truth)
{
    fuzz_sheet s = {.at = to, .room = room, .odds = odds, .well_made = true, .truth = truth};
    s.rng = cbx_rng_stream(seed, number, 2, 0);
    *truth = (fuzz_truth){0};
    shape(&s);
    return s.used;
}

fuzz_sheet fuzz_inner(fuzz_sheet *s, uint8_t *room, size_t size)
{
    return (fuzz_sheet){.at = room,
                        .room = size,
                        .rng = s->rng,
                        .odds = s->odds,
                        .well_made = s->well_made,
                        .truth = s->truth};
}

void fuzz_inner_ends(fuzz_sheet *s, const fuzz_sheet *inner)
{
    s->rng = inner->rng;
}

void fuzz_bytes(fuzz_sheet *s, const void *bytes, size_t size)
{
    size_t left = s->room - s->used;
    size = size < left ? size : left;
    if (size)
        memcpy(s->at + s->used, bytes, size);
    s->used += size;
}

void fuzz_put(fuzz_sheet *s, const char *format, ...)
{
    char    text[1024];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (length > 0)
        fuzz_bytes(s, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void fuzz_part(fuzz_sheet *s, const char *name)
{
    if (fuzz_lies(s))
        fuzz_put(s, "%s==> %s <==", s->used ? "\n" : "", fuzz_below(s, 2) ? name : "other.txt");
    fuzz_put(s, "%s==> %s <==\n", s->used ? "\n" : "", name);
}

int64_t fuzz_below(fuzz_sheet *s, int64_t bound)
{
    return bound > 0 ? (int64_t)cbx_rng_below(&s->rng, (uint64_t)bound) : 0;
}

bool fuzz_lies(fuzz_sheet *s)
{
    return s->odds && !s->well_made && fuzz_below(s, s->odds) == 0;
}

int64_t fuzz_tell(fuzz_sheet *s, int64_t truth)
{
    static const int64_t others[] = {0,
                                     1,
                                     2,
                                     -1,
                                     -2,
                                     127,
                                     255,
                                     256,
                                     65535,
                                     65536,
                                     1000000,
                                     INT32_MAX,
                                     INT32_MIN,
                                     (int64_t)1 << 31,
                                     UINT32_MAX,
                                     INT64_MAX,
                                     INT64_MIN,
                                     (int64_t)1 << 32,
                                     (int64_t)1 << 53,
                                     (int64_t)1 << 62};
    enum { OTHERS = sizeof others / sizeof *others };
    if (!s->odds || fuzz_below(s, s->odds))
        return truth;
    switch (fuzz_below(s, 4)) {
    case 0:
        return (int64_t)((uint64_t)truth + 1);
    case 1:
        return (int64_t)((uint64_t)truth - 1);
    case 2:
        return (int64_t)((uint64_t)truth ^ (uint64_t)1 << fuzz_below(s, 64));
    default:
        return others[fuzz_below(s, OTHERS)];
    }
}

int64_t fuzz_tell_fact(fuzz_sheet *s, int64_t truth)
{
    int64_t told = fuzz_tell(s, truth);
    fuzz_fact(s, (double)told);
    return told;
}

int64_t fuzz_tell_key(fuzz_sheet *s, int64_t truth)
{
    return s->well_made ? truth : fuzz_tell(s, truth);
}

double fuzz_tell_real(fuzz_sheet *s, double truth)
{
    const double others[] = {NAN,     INFINITY, -INFINITY, -0.0, 0.5,    -1,
                             FLT_MAX, DBL_MAX,  1e39,      1e19, 1e-310, 2147483648.0};
    return fuzz_lies(s) ? others[fuzz_below(s, sizeof others / sizeof *others)] : truth;
}

const char *fuzz_tell_word(fuzz_sheet *s, const char *truth, const char *const *others)
{
    int64_t count = 0;
    while (others[count])
        count++;
    return fuzz_lies(s) ? others[fuzz_below(s, count)] : truth;
}

const char *fuzz_tell_name(fuzz_sheet *s, const char *truth)
{
    static const char *const others[] = {
        "",
        " ",
        "\xff\xfe",
        "\xc3",
        "\xed\xa0\x80",
        "\xf4\x90\x80\x80",
        "\x1b[2J",
        "\x7f",
        "a,b",
        "../x",
        "__metadata__",
        "one name that is as long as no name should be, and then a bit longer than that: "
        "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
        NULL};
    return fuzz_tell_word(s, truth, others);
}

const char *fuzz_tell_text(fuzz_sheet *s, double truth, char buffer[40])
{
    static const char *const others[] = {"",
                                         "nan",
                                         "-nan",
                                         "inf",
                                         "1e400",
                                         "-1e400",
                                         "1e-400",
                                         "0x8",
                                         "1,5",
                                         "1.5.",
                                         "--1",
                                         "x",
                                         "+",
                                         ".",
                                         "1e",
                                         "-0",
                                         " ",
                                         "\t",
                                         "\"",
                                         "\xff",
                                         "9e99",
                                         "99999999999999999999999",
                                         "0.00000000000000000000001"};
    if (fuzz_lies(s))
        return others[fuzz_below(s, sizeof others / sizeof *others)];
    (void)cbx_print(buffer, 40, "%.9g", truth);
    return buffer;
}
