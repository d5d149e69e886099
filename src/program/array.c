/* SPDX-License-Identifier: Apache-2.0 */
/* array.c: shapes, and loops over several arrays at once. */
#include "array.h"

#include <stdio.h>
#include <string.h>

#include "kernel.h"

const char *cbx_type_name(cbx_type type)
{
    static const char *const names[] = {"float32", "float64", "int64", "bool"};
    return names[type];
}

size_t cbx_type_size(cbx_type type)
{
    static const size_t sizes[] = {4, 8, 8, 1};
    return sizes[type];
}

bool cbx_array_pack(cbx_array *a)
{
    int64_t count = 1, step = 1;
    for (int32_t i = a->rank; i-- > 0;) {
        a->stride[i] = step;
        if (__builtin_mul_overflow(count, a->size[i], &count) ||
            __builtin_mul_overflow(step, a->size[i] > 1 ? a->size[i] : 1, &step))
            return false;
    }
    a->count = count;
    return count <= CBX_MOST_ELEMENTS;
}

bool cbx_array_is_packed(const cbx_array *a)
{
    int64_t step = 1;
    for (int32_t i = a->rank; i-- > 0; step *= a->size[i])
        if (a->size[i] != 1 && a->stride[i] != step)
            return a->count == 0;
    return true;
}

bool cbx_array_is_uniform(const cbx_array *a)
{
    for (int32_t i = 0; i < a->rank; i++)
        if (a->size[i] != 1 && a->stride[i] != 0)
            return false;
    return a->count > 1;
}

bool cbx_array_same_shape(const cbx_array *a, const cbx_array *b)
{
    for (int32_t i = 0; i < a->rank && a->rank == b->rank; i++)
        if (a->size[i] != b->size[i])
            return false;
    return a->rank == b->rank;
}

const char *cbx_array_shape(const cbx_array *a, char *text, size_t size)
{
    int at = snprintf(text, size, "[");
    for (int32_t i = 0; i < a->rank && at >= 0 && (size_t)at < size; i++)
        at += snprintf(text + at, size - (size_t)at, i ? ", %lld" : "%lld", (long long)a->size[i]);
    if (at >= 0 && (size_t)at < size)
        (void)snprintf(text + at, size - (size_t)at, "]");
    return text;
}

/* ---- loops */

/* Could the loop `i` of a nest go on where `i - 1` ends, for every operand? */
static bool joins(const cbx_loops *l, int32_t operands, int32_t i)
{
    for (int32_t k = 0; k < operands; k++)
        if (l->step[k][i] != l->step[k][i - 1] * l->size[i - 1])
            return false;
    return true;
}

void cbx_loops_make(cbx_loops *l, const cbx_array *shape, int32_t operands,
                    const cbx_array *const *operand)
{
    int32_t depth = 0;
    for (int32_t d = shape->rank; d-- > 0;) {
        if (shape->size[d] == 1)
            continue;
        l->size[depth] = shape->size[d];
        for (int32_t k = 0; k < operands; k++) {
            int32_t at = operand[k] ? d - shape->rank + operand[k]->rank : -1;
            l->step[k][depth] = at >= 0 && operand[k]->size[at] != 1 ? operand[k]->stride[at] : 0;
        }
        if (depth > 0 && joins(l, operands, depth))
            l->size[depth - 1] *= l->size[depth];
        else
            depth++;
    }
    for (; depth < 2; depth++) {
        l->size[depth] = 1;
        for (int32_t k = 0; k < operands; k++)
            l->step[k][depth] = 0;
    }
    l->depth = depth;
}

void cbx_loops_run(const cbx_loops *l, cbx_inner inner, int32_t operands, void *const *first,
                   const size_t *bytes, const void *parameters)
{
    void   *at[CBX_OPERANDS];
    int64_t index[CBX_RANKS] = {0};
    for (int32_t i = 0; i < l->depth; i++)
        if (l->size[i] == 0)
            return;
    memcpy(at, first, (size_t)operands * sizeof *at);
    for (;;) {
        inner(l, at, parameters);
        int32_t i = 2;
        for (; i < l->depth; i++) { /* counts on, as an odometer does */
            int64_t by = ++index[i] < l->size[i] ? 1 : 1 - l->size[i];
            for (int32_t k = 0; k < operands; k++)
                at[k] = (char *)at[k] + by * l->step[k][i] * (int64_t)bytes[k];
            if (by == 1)
                break;
            index[i] = 0;
        }
        if (i == l->depth)
            return;
    }
}

/* ---- copies */

#define COPY(name, T)                                                               \
    CBX_HOT static void name(const cbx_loops *l, void *const *at, const void *none) \
    {                                                                               \
        const int64_t n = l->size[0], a = l->step[0][0], b = l->step[1][0];         \
        (void)none;                                                                 \
        for (int64_t i = 0; i < l->size[1]; i++) {                                  \
            T       *to = (T *)at[0] + i * l->step[0][1];                           \
            const T *from = (const T *)at[1] + i * l->step[1][1];                   \
            if (a == 1 && b == 1)                                                   \
                memcpy(to, from, (size_t)n * sizeof *to);                           \
            else if (a == 1 && b == 0)                                              \
                for (int64_t k = 0; k < n; k++)                                     \
                    to[k] = *from;                                                  \
            else                                                                    \
                for (int64_t k = 0; k < n; k++)                                     \
                    to[k * a] = from[k * b];                                        \
        }                                                                           \
    }

COPY(copy_bytes, uint8_t)
COPY(copy_halves, uint32_t)
COPY(copy_words, uint64_t)

void cbx_array_copy(const cbx_array *to, void *to_data, const cbx_array *from,
                    const void *from_data)
{
    cbx_loops    loops;
    size_t       size = cbx_type_size(to->type);
    void        *at[] = {to_data, (void *)from_data};
    const size_t bytes[] = {size, size};
    cbx_loops_make(&loops, to, 2, (const cbx_array *const[]){to, from});
    cbx_loops_run(&loops,
                  size == 1   ? copy_bytes
                  : size == 4 ? copy_halves
                              : copy_words,
                  2, at, bytes, NULL);
}

#define ADD(name, T)                                                                \
    CBX_HOT static void name(const cbx_loops *l, void *const *at, const void *none) \
    {                                                                               \
        const int64_t n = l->size[0], a = l->step[0][0], b = l->step[1][0];         \
        (void)none;                                                                 \
        for (int64_t i = 0; i < l->size[1]; i++) {                                  \
            T       *to = (T *)at[0] + i * l->step[0][1];                           \
            const T *from = (const T *)at[1] + i * l->step[1][1];                   \
            if (a == 1 && b == 1) {                                                 \
                for (int64_t k = 0; k < n; k++)                                     \
                    to[k] += from[k];                                               \
            } else if (a == 0 && b == 1) {                                          \
                T sum = 0;                                                          \
                CBX_SIMD_SUM                                                        \
                for (int64_t k = 0; k < n; k++)                                     \
                    sum += from[k];                                                 \
                *to += sum;                                                         \
            } else {                                                                \
                for (int64_t k = 0; k < n; k++)                                     \
                    to[k * a] += from[k * b];                                       \
            }                                                                       \
        }                                                                           \
    }
#define CBX_SIMD_SUM _Pragma("omp simd reduction(+ : sum)")

ADD(add_floats, float)
ADD(add_doubles, double)

void cbx_array_add(const cbx_array *shape, const cbx_array *to, void *to_data,
                   const cbx_array *from, const void *from_data)
{
    cbx_loops    loops;
    size_t       size = cbx_type_size(to->type);
    void        *at[] = {to_data, (void *)from_data};
    const size_t bytes[] = {size, size};
    cbx_loops_make(&loops, shape, 2, (const cbx_array *const[]){to, from});
    cbx_loops_run(&loops, to->type == CBX_REAL64 ? add_doubles : add_floats, 2, at, bytes, NULL);
}
