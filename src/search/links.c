/* SPDX-License-Identifier: Apache-2.0 */
/* links.c: see links.h. */
#include "links.h"

#include "deadline.h"

int cbx_links_init(cbx_links *links, const cbx_view *whole, cbx_arena *arena)
{
    *links = (cbx_links){
        .whole = whole,
        .gone = CBX_NEW0(arena, uint8_t, whole->m),
        .absent = CBX_NEW0(arena, uint8_t, whole->n),
        .around = CBX_NEW(arena, int32_t, whole->n),
        .seen = CBX_NEW0(arena, int64_t, whole->n),
        .queue = {CBX_NEW(arena, int32_t, whole->n), CBX_NEW(arena, int32_t, whole->n)}};
    return links->gone && links->absent && links->around && links->seen && links->queue[0] &&
                   links->queue[1]
               ? 0
               : -1;
}

/* The k-th link of a node, counting those into it and then those out of it, whatever is gone. */
static int64_t slot_of_link(const cbx_view *v, int32_t node, int64_t k, int32_t *other)
{
    int64_t into = v->offset[node + 1] - v->offset[node];
    int64_t o = v->out_offset[node] + k - into;
    int64_t slot = k < into ? v->offset[node] + k : v->out_slot[o];
    *other = k < into ? v->source[slot] : v->out_target[o];
    return slot;
}

/* Where it leads, or -1: it is gone, or a loop. */
static int32_t neighbour(const cbx_links *links, int32_t node, int64_t k)
{
    const cbx_view *v = links->whole;
    int32_t         other;
    int64_t         slot = slot_of_link(v, node, k, &other);
    bool            lost = links->gone[v->edge ? v->edge[slot] : slot] || links->absent[other];
    return other == node || lost ? -1 : other;
}

static int64_t count_links(const cbx_links *links, int32_t node)
{
    const cbx_view *v = links->whole;
    return v->offset[node + 1] - v->offset[node] + v->out_offset[node + 1] - v->out_offset[node];
}

bool cbx_links_none_at(const cbx_links *links, int32_t node)
{
    int64_t count = count_links(links, node);
    for (int64_t k = 0; k < count; k++)
        if (neighbour(links, node, k) >= 0)
            return false;
    return true;
}

bool cbx_links_apart(cbx_links *links, int32_t a, int32_t b)
{
    int32_t      ends[2] = {a, b}, head[2] = {0, 0}, tail[2] = {1, 1};
    int64_t      stamp[2] = {++links->walk, ++links->walk};
    const double link = 20; /* multiplications in the time of one that is followed */
    if (a == b)
        return false;
    for (int side = 0; side < 2; side++) {
        links->queue[side][0] = ends[side];
        links->seen[ends[side]] = stamp[side];
    }
    /* node by node in turn, until the walks meet or one of them has been everywhere it can */
    for (int side = 0; head[side] < tail[side]; side = !side) {
        int32_t node = links->queue[side][head[side]++];
        int64_t count = count_links(links, node);
        if (cbx_out_of_time(link * (double)count))
            return true;
        for (int64_t k = 0; k < count; k++) {
            int32_t other = neighbour(links, node, k);
            if (other < 0 || links->seen[other] == stamp[side])
                continue;
            if (links->seen[other] == stamp[!side])
                return false;
            links->seen[other] = stamp[side];
            links->queue[side][tail[side]++] = other;
        }
    }
    return true;
}

/* Those that are left of what an absent node linked, to links->around; how many. */
static int32_t find_around(cbx_links *links, int32_t node)
{
    int32_t head = 0, tail = 0, count = 0, *queue = links->queue[0];
    int64_t stamp = ++links->walk;
    links->seen[node] = stamp;
    queue[tail++] = node;
    while (head < tail) {
        int32_t from = queue[head++];
        for (int64_t k = 0, all = count_links(links, from); k < all; k++) {
            int32_t other;
            (void)slot_of_link(links->whole, from, k, &other);
            if (links->seen[other] == stamp)
                continue;
            links->seen[other] = stamp;
            if (links->absent[other])
                queue[tail++] = other;
            else
                links->around[count++] = other;
        }
    }
    return count;
}

bool cbx_links_lost(cbx_links *links, int32_t node, bool one_piece)
{
    int32_t count = find_around(links, node);
    bool    lost = false;
    for (int32_t k = 0; k < count && !lost; k++)
        lost = one_piece ? cbx_links_apart(links, links->around[0], links->around[k])
                         : cbx_links_none_at(links, links->around[k]);
    return lost;
}
