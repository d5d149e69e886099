/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c: runs a fuzz target without libFuzzer: the seeds of a folder, changed at
 * random, in turn with inputs of the target's shape (shapes.h), where it has one. The same
 * number gives the same inputs. A crash leaves the input in
 * crash-NAME, and `fuzz_NAME FILE` runs it again.
 *
 *     fuzz_tu [--runs N] [--seed N] FOLDER | FILE... */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "fuzz.h"
#include "rng.h"
#include "shapes.h"

enum { MOST_SEEDS = 64, LARGEST = 1 << 16, MOST_SECONDS = 20 };

typedef struct input {
    uint8_t *bytes;
    size_t   size;
} input;

static input       seeds[MOST_SEEDS];
static size_t      num_seeds;
static uint8_t     current[LARGEST];
static size_t      current_size;
static const char *program;

/* Writes what was being read; only calls that a signal handler may make. */
static void keep(int number)
{
    char        path[256] = "crash-";
    const char *slash = strrchr(program, '/');
    strncat(path, slash ? slash + 1 : program, 200);
    FILE *f = fopen(path, "wb"); /* not safe, strictly; the program ends anyway */
    if (f) {
        (void)fwrite(current, 1, current_size, f);
        (void)fclose(f);
    }
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1 /* clang says it in another way */
#endif
#endif

/* What the undefined behaviour sanitizer finds, leaves its input, too. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

#if defined(__SANITIZE_ADDRESS__)
void        __asan_set_death_callback(void (*callback)(void));
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:max_allocation_size_mb=256:hard_rss_limit_mb=2048:"
           "handle_abort=0";
}
static void on_death(void)
{
    keep(SIGABRT);
}
#endif

static bool load(const char *path, input *out)
{
    FILE *f = fopen(path, "rb");
    out->bytes = malloc(LARGEST);
    if (!f || !out->bytes)
        return false;
    out->size = fread(out->bytes, 1, LARGEST, f);
    (void)fclose(f);
    return true;
}

static void load_all(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        if (num_seeds < MOST_SEEDS && load(path, &seeds[num_seeds]))
            num_seeds++;
        return;
    }
    for (struct dirent *e; (e = readdir(dir)) && num_seeds < MOST_SEEDS;) {
        char full[1024];
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(full, sizeof full, "%s/%s", path, e->d_name);
        if (load(full, &seeds[num_seeds]))
            num_seeds++;
    }
    (void)closedir(dir);
}

static size_t below(cbx_rng *rng, size_t bound)
{
    return bound ? (size_t)cbx_rng_below(rng, bound) : 0;
}

/* Makes room for `more` bytes at `at`, as far as there is room. */
static size_t open_gap(size_t at, size_t more)
{
    if (more > LARGEST - current_size)
        more = LARGEST - current_size;
    memmove(current + at + more, current + at, current_size - at);
    current_size += more;
    return more;
}

static void insert_text(cbx_rng *rng, size_t at)
{
    static const char *const texts[] = {"-1",
                                        "0",
                                        "1",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775808",
                                        "nan",
                                        "1e400",
                                        "-",
                                        ",",
                                        "\n",
                                        "\t",
                                        "\"",
                                        "\0",
                                        "==> ",
                                        "<",
                                        ">",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "(",
                                        ")",
                                        "\xff\xff\xff\xff",
                                        "\x80",
                                        "R",
                                        "."};
    const char              *text = texts[below(rng, sizeof texts / sizeof *texts)];
    size_t                   length = *text ? strlen(text) : 1;
    if (below(rng, 2) && at + length <= current_size) {
        memcpy(current + at, text, length);
        return;
    }
    size_t room = open_gap(at, length);
    memcpy(current + at, text, room);
}

static void mutate(cbx_rng *rng)
{
    size_t at = below(rng, current_size), count = 1 + below(rng, 16);
    if (at + count > current_size)
        count = current_size - at;
    switch (below(rng, 8)) {
    case 0:
        if (current_size)
            current[at] ^= (uint8_t)(1u << below(rng, 8));
        break;
    case 1:
        if (current_size)
            current[at] = (uint8_t)below(rng, 256);
        break;
    case 2: /* cut out */
        memmove(current + at, current + at + count, current_size - at - count);
        current_size -= count;
        break;
    case 3: /* twice */
        if (count) {
            uint8_t copy[16];
            memcpy(copy, current + at, count);
            count = open_gap(at, count);
            memcpy(current + at, copy, count);
        }
        break;
    case 4: /* cut off */
        if (below(rng, 8) == 0)
            current_size = at;
        break;
    case 5: /* a piece of another seed */
        if (num_seeds) {
            const input *other = &seeds[below(rng, num_seeds)];
            size_t       from = below(rng, other->size), length = below(rng, 64);
            length = from + length > other->size ? other->size - from : length;
            length = open_gap(at, length);
            memcpy(current + at, other->bytes + from, length);
        }
        break;
    default:
        insert_text(rng, at);
    }
}

static void run_one(void)
{
    /* a block of its own, so that reading past its end is noticed */
    uint8_t *exact = malloc(current_size ? current_size : 1);
    if (!exact)
        exit(1);
    memcpy(exact, current, current_size);
    /* an endless loop is a find, too; that others keep the machine busy is none */
    const struct itimerval most = {.it_value = {.tv_sec = MOST_SECONDS}};
    (void)setitimer(ITIMER_PROF, &most, NULL);
    (void)LLVMFuzzerTestOneInput(exact, current_size);
    free(exact);
}

static void set_current(const input *from)
{
    memcpy(current, from->bytes, from->size);
    current_size = from->size;
}

int main(int argc, char **argv)
{
    uint64_t   runs = 1000, seed = 1;
    bool       given = false;
    fuzz_shape shape = fuzz_shape_of(FUZZ_TARGET);
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
            runs = strtoull(argv[++i], NULL, 10);
            given = true;
        } else if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            seed = strtoull(argv[++i], NULL, 10);
        } else {
            load_all(argv[i]);
        }
    }
    struct stat info;
    if (argc == 2 && !given && !stat(argv[1], &info) && S_ISREG(info.st_mode))
        runs = 0; /* only what was named */
    if (!num_seeds) {
        (void)fprintf(stderr, "no seeds: name a folder\n");
        return 2;
    }
#if defined(__SANITIZE_ADDRESS__)
    __asan_set_death_callback(on_death);
#endif
    (void)signal(SIGABRT, keep);
    (void)signal(SIGSEGV, keep);
    (void)signal(SIGPROF, keep);
    for (size_t i = 0; i < num_seeds; i++) { /* as they are */
        set_current(&seeds[i]);
        run_one();
    }
    for (uint64_t k = 0; k < runs; k++) {
        cbx_rng rng = cbx_rng_stream(seed, k, 0, 0);
        if (shape && k % 2) {
            static fuzz_truth told;
            current_size = fuzz_draw(shape, seed, k, 4 << below(&rng, 6), current, LARGEST, &told);
        } else {
            set_current(&seeds[below(&rng, num_seeds)]);
            for (size_t times = 1 + below(&rng, 6); times; times--)
                mutate(&rng);
        }
        run_one();
    }
    (void)printf("%llu inputs made from %llu seeds%s\n", (unsigned long long)runs,
                 (unsigned long long)num_seeds, shape ? " and a shape" : "");
    for (size_t i = 0; i < num_seeds; i++)
        free(seeds[i].bytes);
    return 0;
}
