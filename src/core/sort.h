/* SPDX-License-Identifier: Apache-2.0 */
/* sort.h: qsort for lists so long that time may run out over them. */
#ifndef CBX_SORT_H
#define CBX_SORT_H

#include <stdint.h>

#include "arena.h"

/* Sorts `count` items of `size` bytes with memory of the arena; a list that is in order
 * already takes one look. 0: done; -1: no memory, or no time (cbx_time_is_up), and then the
 * list is of no more use. */
int cbx_sort(void *items, int64_t count, size_t size, int (*compare)(const void *, const void *),
             cbx_arena *arena);

#endif
