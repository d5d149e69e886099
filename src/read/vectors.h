/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h: arrays that grow while a file is read, so that what they take is
 * bounded by what was there to read and not by what a header claims. */
#ifndef CBX_VECTORS_H
#define CBX_VECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define CBX_VECTOR(name, type)                                                                \
    typedef struct name {                                                                     \
        type  *at;                                                                            \
        size_t count, room;                                                                   \
    } name;                                                                                   \
    static inline bool name##_reserve(name *v, size_t count)                                  \
    {                                                                                         \
        if (count <= v->room)                                                                 \
            return true;                                                                      \
        size_t room = v->room + v->room / 2 > count ? v->room + v->room / 2 : count;          \
        room = room < 16 ? 16 : room;                                                         \
        if (room > SIZE_MAX / 2 / sizeof(type))                                               \
            return false;                                                                     \
        type *more = realloc(v->at, room * sizeof(type));                                     \
        if (!more)                                                                            \
            return false;                                                                     \
        v->at = more;                                                                         \
        v->room = room;                                                                       \
        return true;                                                                          \
    }                                                                                         \
    static inline bool name##_add(name *v, type value)                                        \
    {                                                                                         \
        if (v->count == v->room && !name##_reserve(v, v->count + 1))                          \
            return false;                                                                     \
        v->at[v->count++] = value;                                                            \
        return true;                                                                          \
    }                                                                                         \
    /* Up to `count` values, the new ones `value`; not every kind is filled. */               \
    __attribute__((unused)) static inline bool name##_fill(name *v, size_t count, type value) \
    {                                                                                         \
        if (!name##_reserve(v, count))                                                        \
            return false;                                                                     \
        while (v->count < count)                                                              \
            v->at[v->count++] = value;                                                        \
        return true;                                                                          \
    }                                                                                         \
    static inline void name##_free(name *v)                                                   \
    {                                                                                         \
        free(v->at);                                                                          \
        *v = (name){0};                                                                       \
    }

CBX_VECTOR(cbx_longs, int64_t)
CBX_VECTOR(cbx_ints, int32_t)
CBX_VECTOR(cbx_floats, float)
CBX_VECTOR(cbx_bytes, uint8_t)

#endif
