/* SPDX-License-Identifier: Apache-2.0 */
/* test.h: a harness of one page. A test file holds TESTs and no main. The files of a folder are one
 * program, core_tests; by the name core_test_arena it runs the TESTs of core/test_arena.c, and by
 * its own all of them.
 *
 * Test names are sentences. A CHECK that fails says what it saw and the test goes
 * on; a binary exits 1 if any failed, and 77 if all were skipped. */
#ifndef CBX_TEST_H
#define CBX_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "combinex/kit.h"
#include "inner_options.h"

typedef struct test_case {
    const char *name, *file;
    void (*run)(void);
    struct test_case *next;
} test_case;

void test_register(test_case *test);
bool test_check(bool ok, const char *file, int line, const char *what);
bool test_check_int(int64_t actual, int64_t expected, const char *file, int line, const char *what);
bool test_check_near(double actual, double expected, double tolerance, const char *file, int line,
                     const char *what);
bool test_check_contains(const char *text, const char *part, const char *file, int line);
/* Says why it failed, where `err` knows. */
bool test_check_ok(cbx_status status, const cbx_error *err, const char *file, int line,
                   const char *what);
void test_skip(const char *why);
/* Checks of this test that have failed so far. */
int test_failures(void);

#define TEST(name)                                                                             \
    static void                              name(void);                                       \
    static test_case                         case_##name = {#name, __BASE_FILE__, name, NULL}; \
    __attribute__((constructor)) static void register_##name(void)                             \
    {                                                                                          \
        test_register(&case_##name);                                                           \
    }                                                                                          \
    static void name(void)

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_INT(actual, expected) \
    test_check_int((actual), (expected), __FILE__, __LINE__, #actual)
#define CHECK_NEAR(actual, expected, tolerance) \
    test_check_near((actual), (expected), (tolerance), __FILE__, __LINE__, #actual)
#define CHECK_CONTAINS(text, part) test_check_contains((text), (part), __FILE__, __LINE__)
#define CHECK_OK(call, err) test_check_ok((call), &(err), __FILE__, __LINE__, #call)

/* Runs `run` again and again, failing the first allocation, then the second, …
 * until one run meets no failure. Every run but the last must report
 * CBX_NO_MEMORY, the last CBX_OK. Leaks are the sanitizer's to find. */
void test_each_allocation(cbx_status (*run)(void *user), void *user);

/* Within such a run: has its allocation failed yet? For code that can do without. */
bool test_allocation_failed(void);

/* How often malloc, calloc and realloc were called so far. */
long test_allocations(void);
/* The largest block that was asked for since the last call of this. */
size_t test_largest_allocation(void);

/* ---- a clock of the test's own
 * It stands still, and at its `reads`-th reading from here it leaps by `seconds`, once. */
void test_clock_stop(long reads, double seconds);
void test_clock_run(void);   /* the true one again */
long test_clock_reads(void); /* since it was stopped */

/* Multiplications in products with dense matrices since the clock was stopped; the most between
 * two readings of it; and those since it leapt. */
double test_work(void);
double test_work_between_reads(void);
double test_work_after_leap(void);

/* Largest |a - b| / max(1, |b|). */
double test_difference(int64_t count, const float *a, const float *b);

/* A file of this test's own: "build/…/NAME"; the folder is removed at the end. */
const char *test_path(const char *name);

/* Writes bytes to a file, for making bad inputs. */
void test_write_file(const char *path, const void *bytes, size_t size);
/* The whole of a file and a 0 behind it, malloc'ed, or NULL. */
unsigned char *test_read_file(const char *path, size_t *size);

/* "FOLDER/NAME" below the source tree or the shared data, or NULL where absent. */
const char *test_source(const char *name);
const char *test_shared(const char *name);

/* 1; under the sanitizers `few`: of cases that are the same code again, there slowly, every so
 * many. */
int32_t test_every(int32_t few);

#endif
