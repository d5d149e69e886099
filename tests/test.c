/* SPDX-License-Identifier: Apache-2.0 */
/* test.c: the harness's main, and malloc, the clock and products with counters in front. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "order.h"

static test_case  *first, **last = &first;
static int         failures_here;
static const char *skipped_here;
static char        folder[256];

void test_register(test_case *test)
{
    *last = test;
    last = &test->next;
}

bool test_check(bool ok, const char *file, int line, const char *what)
{
    if (!ok) {
        printf("  %s:%d: %s\n", file, line, what);
        failures_here++;
    }
    return ok;
}

bool test_check_int(int64_t actual, int64_t expected, const char *file, int line, const char *what)
{
    if (actual == expected)
        return true;
    printf("  %s:%d: %s is %lld, expected %lld\n", file, line, what, (long long)actual,
           (long long)expected);
    failures_here++;
    return false;
}

bool test_check_near(double actual, double expected, double tolerance, const char *file, int line,
                     const char *what)
{
    if (fabs(actual - expected) <= tolerance)
        return true;
    printf("  %s:%d: %s is %.9g, expected %.9g within %g\n", file, line, what, actual, expected,
           tolerance);
    failures_here++;
    return false;
}

bool test_check_contains(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part))
        return true;
    printf("  %s:%d: \"%s\" does not contain \"%s\"\n", file, line, text, part);
    failures_here++;
    return false;
}

bool test_check_ok(cbx_status status, const cbx_error *err, const char *file, int line,
                   const char *what)
{
    return test_check(status == CBX_OK, file, line, err->message[0] ? err->message : what);
}

void test_skip(const char *why)
{
    skipped_here = why;
}

int test_failures(void)
{
    return failures_here;
}

double test_difference(int64_t count, const float *a, const float *b)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = fabs((double)a[i] - b[i]) / fmax(1, fabs((double)b[i]));
        if (isnan(d)) /* would compare as less than anything */
            return INFINITY;
        worst = d > worst ? d : worst;
    }
    return worst;
}

/* ---- files */

const char *test_path(const char *name)
{
    static char paths[8][512];
    static int  turn;
    if (!folder[0]) {
        const char *tmp = getenv("TMPDIR");
        (void)snprintf(folder, sizeof folder, "%s/combinex-test-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(folder)) {
            perror(folder);
            exit(1);
        }
    }
    char *path = paths[turn++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void remove_folder(void)
{
    if (!folder[0])
        return;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.'))
            continue;
        (void)unlink(test_path(e->d_name));
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(folder);
}

void test_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f)) {
        perror(path);
        exit(1);
    }
}

unsigned char *test_read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    (void)fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size + 1);
    size_t         got = bytes ? fread(bytes, 1, *size, f) : 0;
    (void)fclose(f);
    if (got != *size) {
        free(bytes);
        return NULL;
    }
    bytes[got] = '\0';
    return bytes;
}

static const char *below(const char *variable, const char *name)
{
    static char paths[8][1024];
    static int  turn;
    const char *root = getenv(variable);
    char       *path = paths[turn++ % 8];
    if (!root)
        return NULL;
    (void)snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *test_source(const char *name)
{
    return below("CBX_SOURCE", name);
}

int32_t test_every(int32_t few)
{
    return getenv("CBX_SANITIZED") ? few : 1;
}

const char *test_shared(const char *name)
{
    return below("CBX_SHARED", name);
}

/* ---- allocation that fails on demand; the linker sends malloc & co. here */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static atomic_long   countdown; /* 0: never fail */
static atomic_bool   failed;
static atomic_long   allocations;
static atomic_size_t largest;

bool test_allocation_failed(void)
{
    return atomic_load(&failed);
}

long test_allocations(void)
{
    return atomic_load(&allocations);
}

size_t test_largest_allocation(void)
{
    return atomic_exchange(&largest, 0);
}

static bool refuse(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    for (size_t most = atomic_load(&largest); size > most;)
        if (atomic_compare_exchange_weak(&largest, &most, size))
            break;
    if (atomic_load(&countdown) == 0 || atomic_fetch_sub(&countdown, 1) != 1)
        return false;
    atomic_store(&failed, true);
    return true;
}

void *__wrap_malloc(size_t size)
{
    return refuse(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse(size) ? NULL : __real_realloc(old, size);
}

void test_each_allocation(cbx_status (*run)(void *user), void *user)
{
    for (long k = 1; k < 100000; k++) {
        atomic_store(&failed, false);
        atomic_store(&countdown, k);
        cbx_status status = run(user);
        atomic_store(&countdown, 0);
        if (!atomic_load(&failed)) {
            CHECK_INT(status, CBX_OK);
            CHECK(k > 1); /* or nothing was allocated, and nothing tested */
            return;
        }
        if (!CHECK_INT(status, CBX_NO_MEMORY)) {
            printf("  (allocation %ld)\n", k);
            return;
        }
    }
    CHECK(!"the run never got all its memory");
}

/* ---- a clock that does as it is told, and what is done between its readings */

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

static struct {
    bool   stopped, leapt;
    long   reads, leap_at;
    double now, leap;
    double work, since_read, most, after_leap;
} watch;

void test_clock_stop(long reads, double seconds)
{
    memset(&watch, 0, sizeof watch);
    watch.stopped = true;
    watch.now = 1000;
    watch.leap_at = reads;
    watch.leap = seconds;
}

void test_clock_run(void)
{
    watch.stopped = false;
}

long test_clock_reads(void)
{
    return watch.reads;
}

double test_work(void)
{
    return watch.work;
}

double test_work_between_reads(void)
{
    return watch.most > watch.since_read ? watch.most : watch.since_read;
}

double test_work_after_leap(void)
{
    return watch.after_leap;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
    if (!watch.stopped || id != CLOCK_MONOTONIC)
        return __real_clock_gettime(id, t);
    watch.reads++;
    watch.most = test_work_between_reads();
    watch.since_read = 0;
    if (watch.reads == watch.leap_at) {
        watch.now += watch.leap;
        watch.leapt = true;
    }
    t->tv_sec = (time_t)watch.now;
    t->tv_nsec = (long)((watch.now - (double)t->tv_sec) * 1e9);
    return 0;
}

void __real_cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha,
                        const float *A, int lda, const float *B, int ldb, float beta, float *C,
                        int ldc);
void __wrap_cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha,
                        const float *A, int lda, const float *B, int ldb, float beta, float *C,
                        int ldc);

void __wrap_cblas_sgemm(int layout, int ta, int tb, int m, int n, int k, float alpha,
                        const float *A, int lda, const float *B, int ldb, float beta, float *C,
                        int ldc)
{
    if (watch.stopped) { /* by tests of one thread */
        double work = (double)m * n * k;
        watch.work += work;
        watch.since_read += work;
        watch.after_leap += watch.leapt ? work : 0;
    }
    __real_cblas_sgemm(layout, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

/* As a program that speaks its user's language does, before it calls the library. */
static void take_locale(const char *name)
{
    if (name && !setlocale(LC_ALL, name)) {
        printf("there is no locale %s\n", name);
        exit(1);
    }
}

/* Is that program's name the one of a file, as core_test_arena is of …/core/test_arena.c? */
static bool is_named_after(const char *program, const char *file)
{
    const char *stem = strrchr(file, '/'), *folder_of = stem;
    if (!stem)
        return false;
    while (folder_of > file && folder_of[-1] != '/')
        folder_of--;
    char name[256];
    (void)snprintf(name, sizeof name, "%.*s_%s", (int)(stem - folder_of), folder_of, stem + 1);
    size_t length = strlen(program);
    return !strncmp(name, program, length) && !strcmp(name + length, ".c");
}

/* The tests of the file that the program is named after, or else all. */
static void choose(const char *program)
{
    const char *slash = strrchr(program, '/');
    test_case  *chosen = NULL, **end = &chosen;
    program = slash ? slash + 1 : program;
    for (test_case *t = first; t; t = t->next)
        if (is_named_after(program, t->file)) {
            *end = t;
            end = &t->next;
        }
    if (chosen) {
        *end = NULL;
        first = chosen;
    }
}

int main(int argc, char **argv)
{
    int passed = 0, wrong = 0, skipped = 0;
    if (argc > 0)
        choose(argv[0]);
    take_locale(getenv("CBX_TEST_LOCALE"));
    (void)cbx_order_fix(getenv("CBX_TEST_ORDER") != NULL); /* "fixed": order.h */
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (test_case *t = first; t; t = t->next) {
        failures_here = 0;
        skipped_here = NULL;
        t->run();
        char name[128];
        (void)snprintf(name, sizeof name, "%s", t->name);
        for (char *c = name; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        if (failures_here) {
            printf("FAILED  %s\n", name);
            wrong++;
        } else if (skipped_here) {
            printf("skipped %s: %s\n", name, skipped_here);
            skipped++;
        } else {
            printf("ok      %s\n", name);
            passed++;
        }
    }
    remove_folder();
    printf("%d passed, %d failed, %d skipped\n", passed, wrong, skipped);
    return wrong ? 1 : passed ? 0 : 77;
}
