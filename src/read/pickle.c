/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.c: the stack machine. Offsets in messages count bytes from the start. */
#include "pickle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

enum {
    CLASS_DEFAULTDICT,
    CLASS_LIST,
    CLASS_RECONSTRUCT,
    CLASS_NDARRAY,
    CLASS_DTYPE,
    CLASS_CSR,
    CLASS_ENCODE
};

static const struct {
    const char *name;
    int class;
} classes[] = {
    {"collections defaultdict", CLASS_DEFAULTDICT},
    {"__builtin__ list", CLASS_LIST},
    {"builtins list", CLASS_LIST},
    {"numpy.core.multiarray _reconstruct", CLASS_RECONSTRUCT},
    {"numpy._core.multiarray _reconstruct", CLASS_RECONSTRUCT},
    {"numpy ndarray", CLASS_NDARRAY},
    {"numpy dtype", CLASS_DTYPE},
    {"scipy.sparse.csr csr_matrix", CLASS_CSR},
    {"scipy.sparse._csr csr_matrix", CLASS_CSR},
    {"_codecs encode", CLASS_ENCODE},
};

typedef struct machine {
    cbx_reading         *reading;
    cbx_arena           *arena;
    const char          *path;
    const unsigned char *bytes;
    size_t               at, size;
    size_t               opcode_at;
    cbx_py             **stack; /* NULL entries are marks */
    size_t               depth, stack_room;
    cbx_py             **memo;
    size_t               memo_count, memo_room;
} machine;

/* ---- failing */

static cbx_status bad(machine *m, const char *what)
{
    return cbx_fail(m->reading->err, CBX_INVALID, "%s, byte %llu: %s", m->path,
                    (unsigned long long)m->opcode_at, what);
}

static cbx_status no_memory(machine *m)
{
    return CBX_MEMORY(m->reading);
}

static cbx_status refuse_opcode(machine *m, unsigned char opcode)
{
    static const struct {
        unsigned char code;
        const char   *name;
    } names[] = {{'i', "INST"},        {'o', "OBJ"},          {0x82, "EXT1"},
                 {0x83, "EXT2"},       {0x84, "EXT4"},        {0x92, "NEWOBJ_EX"},
                 {'P', "PERSID"},      {'Q', "BINPERSID"},    {'I', "INT"},
                 {'L', "LONG"},        {'F', "FLOAT"},        {'S', "STRING"},
                 {'V', "UNICODE"},     {'g', "GET"},          {'p', "PUT"},
                 {'0', "POP"},         {'1', "POP_MARK"},     {'2', "DUP"},
                 {'l', "LIST"},        {'d', "DICT"},         {0x8b, "LONG4"},
                 {0x8f, "EMPTY_SET"},  {0x90, "ADDITEMS"},    {0x91, "FROZENSET"},
                 {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
    char text[96];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == opcode) {
            (void)snprintf(text, sizeof text, "the opcode %s is not one that such a file needs",
                           names[i].name);
            return bad(m, text);
        }
    (void)snprintf(text, sizeof text, "0x%02x is no opcode of a pickle", opcode);
    return bad(m, text);
}

/* ---- values and the stack */

static cbx_py *make(machine *m, cbx_py_kind kind)
{
    cbx_py *v = CBX_NEW0(m->arena, cbx_py, 1);
    if (v)
        v->kind = kind;
    return v;
}

static bool grow(cbx_py ***list, size_t *room, size_t need)
{
    if (need <= *room)
        return true;
    size_t   more = 2 * need + 64;
    cbx_py **bigger = realloc(*list, more * sizeof *bigger);
    if (!bigger)
        return false;
    memset(bigger + *room, 0, (more - *room) * sizeof *bigger);
    *list = bigger;
    *room = more;
    return true;
}

static cbx_status push(machine *m, cbx_py *value)
{
    if (!grow(&m->stack, &m->stack_room, m->depth + 1))
        return no_memory(m);
    m->stack[m->depth++] = value;
    return CBX_OK;
}

static cbx_status push_new(machine *m, cbx_py *value)
{
    return value ? push(m, value) : no_memory(m);
}

static cbx_status push_int(machine *m, int64_t integer)
{
    cbx_py *v = make(m, CBX_PY_INT);
    if (v)
        v->integer = integer;
    return push_new(m, v);
}

/* The topmost value; NULL, as if a mark, where there is none. */
static cbx_py *pop(machine *m)
{
    return m->depth ? m->stack[--m->depth] : NULL;
}

static cbx_py *top(machine *m)
{
    return m->depth ? m->stack[m->depth - 1] : NULL;
}

/* Where the topmost mark lies; false: there is none. */
static bool find_mark(const machine *m, size_t *at)
{
    for (size_t i = m->depth; i > 0; i--)
        if (!m->stack[i - 1]) {
            *at = i - 1;
            return true;
        }
    return false;
}

static bool append(machine *m, cbx_py *list, cbx_py *const *values, size_t count)
{
    if (list->count + count > list->room) {
        size_t   room = 2 * (list->count + count);
        cbx_py **more = CBX_NEW(m->arena, cbx_py *, room);
        if (!more)
            return false;
        if (list->count)
            memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        list->room = room;
    }
    if (count)
        memcpy(list->items + list->count, values, count * sizeof *values);
    list->count += count;
    return true;
}

static cbx_status push_tuple(machine *m, size_t from)
{
    cbx_py *v = make(m, CBX_PY_TUPLE);
    for (size_t i = from; i < m->depth; i++)
        if (!m->stack[i])
            return bad(m, "a tuple of too few values");
    if (!v || !append(m, v, m->stack + from, m->depth - from))
        return no_memory(m);
    m->depth = from;
    return push(m, v);
}

/* ---- reading operands */

static cbx_status take(machine *m, size_t count, const unsigned char **out)
{
    *out = m->bytes;
    if (count > m->size - m->at)
        return bad(m, "the file ends within a value");
    *out = m->bytes + m->at;
    m->at += count;
    return CBX_OK;
}

static cbx_status take_number(machine *m, size_t bytes, uint64_t *out)
{
    const unsigned char *at;
    cbx_status           status = take(m, bytes, &at);
    *out = 0;
    for (size_t i = 0; !status && i < bytes; i++)
        *out |= (uint64_t)at[i] << (8 * i);
    return status;
}

static cbx_status push_text(machine *m, size_t length_bytes)
{
    uint64_t             length;
    const unsigned char *at = NULL;
    cbx_status           status = take_number(m, length_bytes, &length);
    if (!status && length > m->size)
        status = bad(m, "a text longer than the file");
    if (!status)
        status = take(m, (size_t)length, &at);
    cbx_py *v = status ? NULL : make(m, CBX_PY_TEXT);
    if (status)
        return status;
    if (v) {
        v->text = (const char *)at;
        v->count = (size_t)length;
    }
    return push_new(m, v);
}

static cbx_status push_class(machine *m, const char *module, size_t module_length, const char *name,
                             size_t name_length)
{
    char both[160], text[256];
    (void)snprintf(both, sizeof both, "%.*s %.*s", (int)(module_length < 70 ? module_length : 70),
                   module, (int)(name_length < 70 ? name_length : 70), name);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(classes[i].name, both)) {
            cbx_py *v = make(m, CBX_PY_CLASS);
            if (v)
                v->class = classes[i].class;
            return push_new(m, v);
        }
    for (char *c = both; *c; c++)
        *c = *c == ' ' ? '.' : (unsigned char)*c < 32 ? '?' : *c;
    (void)snprintf(text, sizeof text,
                   "the class %s is refused: only NumPy arrays and SciPy's csr_matrix are read",
                   both);
    return bad(m, text);
}

static cbx_status global(machine *m)
{
    const char *module = (const char *)m->bytes + m->at;
    const char *end = memchr(module, '\n', m->size - m->at);
    const char *name = end ? end + 1 : NULL;
    const char *stop =
        name ? memchr(name, '\n', m->size - (size_t)(name - (const char *)m->bytes)) : NULL;
    if (!stop)
        return bad(m, "the file ends within the name of a class");
    m->at = (size_t)(stop + 1 - (const char *)m->bytes);
    return push_class(m, module, (size_t)(end - module), name, (size_t)(stop - name));
}

static cbx_status stack_global(machine *m)
{
    const cbx_py *name = pop(m), *module = pop(m);
    if (!name || !module || name->kind != CBX_PY_TEXT || module->kind != CBX_PY_TEXT)
        return bad(m, "the name of a class is not a text");
    return push_class(m, module->text, module->count, name->text, name->count);
}

/* ---- what the classes stand for */

/* Bytes as Python 3 writes them for Python 2: as Latin-1 text, in UTF-8. */
static cbx_status encode(machine *m, const cbx_py *args)
{
    if (args->count != 2 || args->items[0]->kind != CBX_PY_TEXT ||
        !cbx_py_is(args->items[1], "latin1"))
        return bad(m, "_codecs.encode of something that is not Latin-1 text");
    const cbx_py *from = args->items[0];
    cbx_py       *v = make(m, CBX_PY_TEXT);
    char         *to = CBX_NEW(m->arena, char, from->count + 1);
    if (!v || !to)
        return no_memory(m);
    v->text = to;
    for (size_t i = 0; i < from->count; i++) {
        unsigned char c = (unsigned char)from->text[i];
        if (c >= 0x80) {
            unsigned char next = i + 1 < from->count ? (unsigned char)from->text[++i] : 0;
            if ((c & 0xfe) != 0xc2 || (next & 0xc0) != 0x80)
                return bad(m, "a text that is not Latin-1");
            c = (unsigned char)(c << 6 | (next & 0x3f));
        }
        to[v->count++] = (char)c;
    }
    return push(m, v);
}

static cbx_status reduce(machine *m)
{
    cbx_py *args = pop(m), *class = pop(m);
    if (!class || class->kind != CBX_PY_CLASS || !args || args->kind != CBX_PY_TUPLE)
        return bad(m, "something is called that is no class");
    switch (class->class) {
    case CLASS_DEFAULTDICT:
        return push_new(m, make(m, CBX_PY_DICT));
    case CLASS_LIST:
        return push_new(m, make(m, CBX_PY_LIST));
    case CLASS_ENCODE:
        return encode(m, args);
    case CLASS_RECONSTRUCT:
        if (args->count < 1 || args->items[0]->kind != CBX_PY_CLASS ||
            args->items[0]->class != CLASS_NDARRAY)
            return bad(m, "an array that is no numpy.ndarray");
        return push_new(m, make(m, CBX_PY_ARRAY));
    case CLASS_DTYPE: {
        if (args->count < 1 || args->items[0]->kind != CBX_PY_TEXT || args->items[0]->count > 8)
            return bad(m, "a numpy.dtype without a name");
        cbx_py *v = make(m, CBX_PY_TYPE);
        char   *text = CBX_NEW0(m->arena, char, 16);
        if (!v || !text)
            return no_memory(m);
        text[0] = '<'; /* until its state says otherwise */
        memcpy(text + 1, args->items[0]->text, args->items[0]->count);
        v->text = text;
        return push(m, v);
    }
    default:
        return bad(m, "a class is called in a way that such a file does not need");
    }
}

static cbx_status new_object(machine *m)
{
    cbx_py *args = pop(m), *class = pop(m);
    if (!class || class->kind != CBX_PY_CLASS || !args || args->kind != CBX_PY_TUPLE ||
        class->class != CLASS_CSR)
        return bad(m, "an object of a class that is not scipy's csr_matrix");
    return push_new(m, make(m, CBX_PY_CSR));
}

/* (version, shape, dtype, by column, bytes) */
static cbx_status build_array(machine *m, cbx_py *v, const cbx_py *state)
{
    const char *why;
    if (state->kind != CBX_PY_TUPLE || state->count != 5 || state->items[1]->kind != CBX_PY_TUPLE ||
        state->items[2]->kind != CBX_PY_TYPE || state->items[4]->kind != CBX_PY_TEXT ||
        state->items[1]->count > CBX_ARRAY_RANK)
        return bad(m, "the state of a numpy.ndarray is not understood");
    cbx_array *a = CBX_NEW0(m->arena, cbx_array, 1);
    if (!a)
        return no_memory(m);
    a->rank = (int)state->items[1]->count;
    for (int k = 0; k < a->rank; k++) {
        if (state->items[1]->items[k]->kind != CBX_PY_INT)
            return bad(m, "the shape of an array is not made of numbers");
        a->shape[k] = state->items[1]->items[k]->integer;
    }
    if (!cbx_array_type(a, state->items[2]->text, &why)) {
        char text[96];
        (void)snprintf(text, sizeof text, "an array of %s, which cannot be read", why);
        return bad(m, text);
    }
    a->by_column = state->items[3]->integer != 0;
    a->bytes = (const unsigned char *)state->items[4]->text;
    if (!cbx_array_fits(a, state->items[4]->count))
        return bad(m, "the bytes of an array do not fit its shape");
    v->array = a;
    return CBX_OK;
}

static cbx_status build(machine *m)
{
    cbx_py *state = pop(m), *v = top(m);
    if (!state || !v)
        return bad(m, "a state for nothing");
    if (v->kind == CBX_PY_ARRAY)
        return build_array(m, v, state);
    if (v->kind == CBX_PY_TYPE) {
        if (state->kind != CBX_PY_TUPLE || state->count < 2 ||
            state->items[1]->kind != CBX_PY_TEXT || state->items[1]->count != 1)
            return bad(m, "the state of a numpy.dtype is not understood");
        char *text = CBX_NEW0(m->arena, char, 16);
        if (!text)
            return no_memory(m);
        memcpy(text, v->text, strlen(v->text));
        text[0] = state->items[1]->text[0];
        v->text = text;
        return CBX_OK;
    }
    if (v->kind == CBX_PY_CSR && state->kind == CBX_PY_DICT)
        return append(m, v, &state, 1) ? CBX_OK : no_memory(m);
    return bad(m, "a state for something that has none");
}

/* ---- lists, dicts and the memo */

static cbx_status appends(machine *m, cbx_py_kind kind, bool marked)
{
    size_t from = m->depth ? m->depth - 1 : 0;
    if (marked && !find_mark(m, &from))
        return bad(m, "no mark to go back to");
    size_t  first = marked ? from + 1 : from - (kind == CBX_PY_DICT && from > 0);
    size_t  below = marked ? from : first;
    size_t  count = m->depth - first;
    cbx_py *to = below > 0 ? m->stack[below - 1] : NULL;
    if (!to || to->kind != kind || (kind == CBX_PY_DICT && count % 2))
        return bad(m, kind == CBX_PY_DICT ? "items for something that is no dict"
                                          : "values for something that is no list");
    for (size_t i = first; i < m->depth; i++)
        if (!m->stack[i])
            return bad(m, "a mark where a value should be");
    if (!append(m, to, m->stack + first, count))
        return no_memory(m);
    m->depth = below;
    return CBX_OK;
}

static cbx_status remember(machine *m, uint64_t at)
{
    if (!top(m))
        return bad(m, "nothing to remember");
    if (at > m->size) /* more than a file of this size can remember */
        return bad(m, "a memo number that is too large");
    if (!grow(&m->memo, &m->memo_room, (size_t)at + 1))
        return no_memory(m);
    m->memo[at] = top(m);
    m->memo_count = at >= m->memo_count ? (size_t)at + 1 : m->memo_count;
    return CBX_OK;
}

static cbx_status recall(machine *m, uint64_t at)
{
    if (at >= m->memo_count || !m->memo[at])
        return bad(m, "a memo number that was never set");
    return push(m, m->memo[at]);
}

/* ---- the loop */

static cbx_status long1(machine *m)
{
    uint64_t             length, value = 0;
    const unsigned char *at = NULL;
    cbx_status           status = take_number(m, 1, &length);
    if (!status && length > 8)
        status = bad(m, "a whole number of more than 64 bits");
    if (!status)
        status = take(m, (size_t)length, &at);
    if (status)
        return status;
    for (uint64_t i = 0; i < length; i++)
        value |= (uint64_t)at[i] << (8 * i);
    if (length && length < 8 && at[length - 1] & 0x80)
        value |= ~(uint64_t)0 << (8 * length);
    return push_int(m, (int64_t)value);
}

static cbx_status real(machine *m)
{
    const unsigned char *at = NULL;
    uint64_t             bits = 0;
    cbx_status           status = take(m, 8, &at);
    if (status)
        return status;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | at[i]; /* big-endian, alone among all */
    cbx_py *v = make(m, CBX_PY_REAL);
    if (v)
        memcpy(&v->real, &bits, 8);
    return push_new(m, v);
}

static cbx_status push_flag(machine *m, int value)
{
    cbx_py *v = make(m, CBX_PY_BOOL);
    if (v)
        v->integer = value;
    return push_new(m, v);
}

static cbx_status numbers(machine *m, unsigned char opcode)
{
    uint64_t   n = 0;
    size_t     bytes = opcode == 'J' ? 4 : opcode == 'M' ? 2 : 1;
    cbx_status status = take_number(m, bytes, &n);
    return status ? status : push_int(m, opcode == 'J' ? (int32_t)(uint32_t)n : (int64_t)n);
}

static cbx_status memo(machine *m, unsigned char opcode)
{
    uint64_t n = 0;
    if (opcode == 0x94)
        return remember(m, m->memo_count);
    cbx_status status = take_number(m, opcode == 'r' || opcode == 'j' ? 4 : 1, &n);
    if (status)
        return status;
    return opcode == 'q' || opcode == 'r' ? remember(m, n) : recall(m, n);
}

static cbx_status tuple(machine *m, unsigned char opcode)
{
    size_t from, count = opcode == ')' ? 0 : (size_t)(opcode - 0x84);
    if (opcode != 't')
        return count <= m->depth ? push_tuple(m, m->depth - count)
                                 : bad(m, "a tuple of too few values");
    if (!find_mark(m, &from))
        return bad(m, "no mark to go back to");
    cbx_py *v = make(m, CBX_PY_TUPLE);
    if (!v || !append(m, v, m->stack + from + 1, m->depth - from - 1))
        return no_memory(m);
    m->depth = from;
    return push(m, v);
}

static cbx_status step(machine *m, unsigned char opcode)
{
    uint64_t n;
    switch (opcode) {
    case 0x80: /* PROTO */
        return take_number(m, 1, &n) ? CBX_INVALID
               : n > 5               ? bad(m, "a pickle protocol newer than 5")
                                     : CBX_OK;
    case 0x95: /* FRAME */
        return take_number(m, 8, &n);
    case 'c':
        return global(m);
    case 0x93:
        return stack_global(m);
    case 'q':
    case 'r':
    case 'h':
    case 'j':
    case 0x94:
        return memo(m, opcode);
    case '(':
        return push(m, NULL);
    case 't':
    case ')':
    case 0x85:
    case 0x86:
    case 0x87:
        return tuple(m, opcode);
    case ']':
        return push_new(m, make(m, CBX_PY_LIST));
    case '}':
        return push_new(m, make(m, CBX_PY_DICT));
    case 'a':
    case 'e':
        return appends(m, CBX_PY_LIST, opcode == 'e');
    case 's':
    case 'u':
        return appends(m, CBX_PY_DICT, opcode == 'u');
    case 'J':
    case 'K':
    case 'M':
        return numbers(m, opcode);
    case 0x8a:
        return long1(m);
    case 'G':
        return real(m);
    case 'N':
        return push_new(m, make(m, CBX_PY_NONE));
    case 0x88:
    case 0x89:
        return push_flag(m, opcode == 0x88);
    case 'U':  /* SHORT_BINSTRING */
    case 'C':  /* SHORT_BINBYTES */
    case 0x8c: /* SHORT_BINUNICODE */
        return push_text(m, 1);
    case 'T': /* BINSTRING */
    case 'B': /* BINBYTES */
    case 'X': /* BINUNICODE */
        return push_text(m, 4);
    case 0x8e: /* BINBYTES8 */
    case 0x8d: /* BINUNICODE8 */
        return push_text(m, 8);
    case 'R':
        return reduce(m);
    case 0x81:
        return new_object(m);
    case 'b':
        return build(m);
    default:
        return refuse_opcode(m, opcode);
    }
}

static cbx_status run(machine *m, const cbx_py **out)
{
    for (;;) {
        m->opcode_at = m->at;
        if (m->at == m->size)
            return bad(m, "the pickle ends without a STOP");
        unsigned char opcode = m->bytes[m->at++];
        if (opcode == '.')
            break;
        cbx_status status = step(m, opcode);
        if (status)
            return status;
    }
    if (m->depth != 1 || !top(m))
        return bad(m, "a pickle of not one thing");
    *out = top(m);
    return CBX_OK;
}

cbx_status cbx_pickle_read(cbx_reading *r, const char *name, cbx_arena *arena,
                           unsigned char **bytes, const cbx_py **out)
{
    cbx_place place;
    machine   m = {.reading = r, .arena = arena};
    *out = NULL;
    m.path = cbx_bundle_place(r->bundle, name, place);
    cbx_status status = cbx_bundle_slurp(r->bundle, name, bytes, &m.size, r->err);
    if (status)
        return status;
    m.bytes = *bytes;
    status = grow(&m.stack, &m.stack_room, 1) ? run(&m, out) : no_memory(&m);
    free(m.stack);
    free(m.memo);
    return status;
}
