/* SPDX-License-Identifier: Apache-2.0 */
/* The unpickler: it reads what it knows, and refuses the rest by name. Pickles here
 * are spelt out as opcodes. */
#include "bundle_case.h"
#include "pickle.h"

/* The message for a pickle of these bytes; "" where it was read. */
static const char *verdict(const char *bytes, size_t size, cbx_py_kind *kind)
{
    static cbx_error err;
    char             text[4096] = "==> a.pickle <==\n";
    size_t           at = strlen(text);
    cbx_arena        arena = {0};
    unsigned char   *owned = NULL;
    const cbx_py    *py = NULL;
    cbx_reading      r = {.err = &err};
    err = (cbx_error){0};
    memcpy(text + at, bytes, size);
    CHECK(cbx_bundle_memory(text, at + size, &r.bundle, &err) == CBX_OK);
    cbx_status status = cbx_pickle_read(&r, "a.pickle", &arena, &owned, &py);
    CHECK(status == CBX_OK || status == CBX_INVALID);
    CHECK((status == CBX_OK) == (py != NULL));
    *kind = status ? CBX_PY_NONE : py->kind;
    free(owned);
    cbx_arena_free(&arena);
    cbx_bundle_close(r.bundle);
    return status ? err.message : "";
}

#define VERDICT(bytes, kind) verdict((bytes), sizeof(bytes) - 1, (kind))

static void refused(const char *bytes, size_t size, const char *why)
{
    cbx_py_kind kind;
    CHECK_CONTAINS(verdict(bytes, size, &kind), why);
}

#define REFUSED(bytes, why) refused((bytes), sizeof(bytes) - 1, (why))

TEST(numbers_lists_and_dicts_are_read)
{
    cbx_py_kind kind;
    CHECK(!*VERDICT("\x80\x02K\x05.", &kind));
    CHECK(kind == CBX_PY_INT);
    CHECK(!*VERDICT("\x80\x02](K\x01K\x02"
                    "e.",
                    &kind));
    CHECK(kind == CBX_PY_LIST);
    CHECK(!*VERDICT("\x80\x02}q\x00U\x01"
                    "aK\x01s.",
                    &kind));
    CHECK(kind == CBX_PY_DICT);
    CHECK(!*VERDICT("\x80\x04\x95\x03\x00\x00\x00\x00\x00\x00\x00K\x07\x94.", &kind));
    CHECK(kind == CBX_PY_INT);
}

TEST(other_classes_are_refused_by_name)
{
    REFUSED("\x80\x02"
            "cos\nsystem\nq\x00X\x04\x00\x00\x00true\x85R.",
            "the class os.system is refused");
    REFUSED("\x80\x04\x8c\x08"
            "builtins\x8c\x04"
            "eval\x93\x8c\x01"
            "1\x85R.",
            "the class builtins.eval is refused");
    REFUSED("\x80\x02"
            "cscipy.sparse.coo\ncoo_matrix\n)\x81.",
            "the class scipy.sparse.coo.coo_matrix is refused");
}

TEST(other_opcodes_are_refused_by_name)
{
    REFUSED("(S'true'\nios\nsystem\n.", "the opcode STRING");
    REFUSED("(ios\nsystem\n.", "the opcode INST");
    REFUSED("(o.", "the opcode OBJ");
    REFUSED("\x80\x02\x82\x01.", "the opcode EXT1");
    REFUSED("Pid\n.", "the opcode PERSID");
    REFUSED("K\x01Q.", "the opcode BINPERSID");
    REFUSED("K\x01K\x02K\x03\x92.", "the opcode NEWOBJ_EX");
    REFUSED("\xf0.", "0xf0 is no opcode");
}

TEST(a_known_class_cannot_be_called_in_another_way)
{
    REFUSED("\x80\x02"
            "cnumpy\nndarray\n)R.",
            "not need");
    REFUSED("\x80\x02"
            "cnumpy\nndarray\n)\x81.",
            "not scipy's csr_matrix");
    REFUSED("K\x01K\x02R.", "no class");
}

TEST(what_a_known_class_is_given_must_fit_it)
{
    REFUSED("\x80\x04K\x01K\x02\x93.", "the name of a class is not a text");
    REFUSED("c_codecs\nencode\nK\x01\x85R.", "not Latin-1 text");
    REFUSED("c_codecs\nencode\nX\x01\x00\x00\x00"
            "aX\x04\x00\x00\x00utf8\x86R.",
            "not Latin-1 text");
    REFUSED("c_codecs\nencode\nX\x02\x00\x00\x00\xc4\x80X\x06\x00\x00\x00latin1\x86R.",
            "a text that is not Latin-1");
    REFUSED("cnumpy.core.multiarray\n_reconstruct\nK\x01\x85R.", "no numpy.ndarray");
    REFUSED("cnumpy\ndtype\nK\x01\x85R.", "without a name");
    REFUSED("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n\x85RK\x01"
            "b.",
            "the state of a numpy.ndarray is not understood");
    REFUSED("cnumpy\ndtype\nU\x02i4\x85RK\x01"
            "b.",
            "the state of a numpy.dtype is not understood");
    REFUSED("]K\x01"
            "b.",
            "a state for something that has none");
    REFUSED("K\x01"
            "b.",
            "a state for nothing");
    REFUSED("b.", "a state for nothing");
}

TEST(numbers_of_all_sizes_are_read)
{
    cbx_py_kind kind;
    CHECK(!*VERDICT("\x8a\x05\xff\xff\xff\xff\x80.", &kind) && kind == CBX_PY_INT);
    CHECK(!*VERDICT("\x8a\x00.", &kind) && kind == CBX_PY_INT);
    REFUSED("\x8a\x09"
            "123456789.",
            "more than 64 bits");
    REFUSED("\x8a\x05"
            "1.",
            "ends within a value");
    CHECK(!*VERDICT("G\x3f\xf0\x00\x00\x00\x00\x00\x00.", &kind) && kind == CBX_PY_REAL);
    REFUSED("G\x3f.", "ends within a value");
    CHECK(!*VERDICT("\x8d\x01\x00\x00\x00\x00\x00\x00\x00x.", &kind) && kind == CBX_PY_TEXT);
    CHECK(!*VERDICT("c__builtin__\nlist\n)R.", &kind) && kind == CBX_PY_LIST);
}

TEST(broken_pickles_are_refused)
{
    REFUSED("q\x01.", "nothing to remember");
    REFUSED("](K\x01(a.", "no list");
    REFUSED("](K\x01(K\x02"
            "e.",
            "no list");
    REFUSED("](a.", "a mark where a value should be");
    REFUSED("t.", "no mark to go back to");
    REFUSED("cos\n", "ends within the name of a class");
    REFUSED("", "ends without a STOP");
    REFUSED("\x80\x02K", "ends within a value");
    REFUSED("K\x01", "ends without a STOP");
    REFUSED(".", "not one thing");
    REFUSED("K\x01K\x02.", "not one thing");
    REFUSED("(.", "not one thing");
    REFUSED("h\x05.", "never set");
    REFUSED("K\x01r\xff\xff\xff\xff.", "too large");
    REFUSED("X\xff\xff\xff\xffoops.", "longer than the file");
    REFUSED("e.", "no mark");
    REFUSED("(K\x01"
            "e.",
            "no list");
    REFUSED("](K\x01u.", "no dict");
    REFUSED("\x80\x09K\x01.", "newer than 5");
    REFUSED("\x86.", "too few values");
    REFUSED("(\x85.", "too few values");
}

TEST(an_array_must_fit_its_shape)
{
#define ARRAY(shape, type, bytes)                                                 \
    "\x80\x02"                                                                    \
    "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01"       \
    "b\x87R(K\x01" shape "cnumpy\ndtype\nU\x02" type "K\x00K\x01\x87R(K\x03U\x01" \
    "<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" bytes "tb."
    cbx_py_kind kind;
    CHECK(!*VERDICT(ARRAY("K\x02\x85", "i4",
                          "U\x08"
                          "12345678"),
                    &kind));
    CHECK(kind == CBX_PY_ARRAY);
    REFUSED(ARRAY("K\x03\x85", "i4",
                  "U\x08"
                  "12345678"),
            "do not fit its shape");
    REFUSED(ARRAY("K\x02\x85", "O8",
                  "U\x08"
                  "12345678"),
            "Python objects");
    REFUSED(ARRAY("K\x01\x85", "m8",
                  "U\x08"
                  "12345678"),
            "another kind");
    REFUSED(ARRAY("U\x01"
                  "2\x85",
                  "i4",
                  "U\x08"
                  "12345678"),
            "not made of numbers");
}
