/* SPDX-License-Identifier: Apache-2.0 */
/* range.c: the ranges that a number is asked to be in, as people write them. */
#include <math.h>
#include <string.h>

#include "error.h"
#include "number.h"
#include "model_output.h"

static const char *skip(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* A number, and what is behind it; NULL: there is none. */
static const char *read(const char *text, double *number)
{
    char *end;
    *number = cbx_read_number(skip(text), &end);
    return end != skip(text) && isfinite(*number) ? skip(end) : NULL;
}

/* ">=3.5", ">3.5", "<=2", "<2". What is beyond an end by the least step is as good as beyond it. */
static const char *read_side(const char *text, cbx_range *range)
{
    bool        up = *text == '>', closed = text[1] == '=';
    double      end;
    const char *rest = read(text + 1 + closed, &end);
    range->low = up ? (closed ? end : nextafter(end, INFINITY)) : -INFINITY;
    range->high = up ? INFINITY : (closed ? end : nextafter(end, -INFINITY));
    return rest;
}

/* "[2,3]" */
static const char *read_interval(const char *text, cbx_range *range)
{
    const char *rest = read(text + 1, &range->low);
    rest = rest && *rest == ',' ? read(rest + 1, &range->high) : NULL;
    return rest && *rest == ']' && range->low <= range->high ? skip(rest + 1) : NULL;
}

/* "+10%", "-0.5" */
static const char *read_move(const char *text, cbx_range *range)
{
    double      move;
    const char *rest = read(text, &move);
    range->relative = true;
    if (rest && *rest == '%') {
        range->share = move / 100;
        return move == 0 ? NULL : skip(rest + 1);
    }
    range->step = move;
    return move == 0 ? NULL : rest;
}

cbx_status cbx_range_parse(const char *text, cbx_range *range, cbx_error *err)
{
    const char *begin = skip(text), *rest = NULL;
    *range = (cbx_range){.low = -INFINITY, .high = INFINITY, .scale = 1};
    if (*begin == '>' || *begin == '<')
        rest = read_side(begin, range);
    else if (*begin == '[')
        rest = read_interval(begin, range);
    else if (*begin == '+' || *begin == '-')
        rest = read_move(begin, range);
    if (rest && !*rest)
        return CBX_OK;
    return cbx_fail(
        err, CBX_INVALID,
        "target '%.80s': of a model that gives numbers, a range is expected: \">=3.5\", "
        "\"<2\", \"[2,3]\", or a move: \"+10%%\", \"-0.5\"",
        text);
}
