/* SPDX-License-Identifier: Apache-2.0 */
/* adversary.c: tries to break certificates.
 *
 *   adversary [--seed S] [--cases N] [--first N]   N questions, one after the other
 *   adversary --case N [--seed S] [--dump FOLDER]  one of them, with all there is to know
 *
 * Exit status 1: a claim is broken, and the line about it says which case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lie.h"
#include "radius.h"
#include "self_test.h"
#include "show.h"
#include "tally.h"

typedef struct command {
    uint64_t    seed;
    int64_t     first, cases, shown;
    bool        one;
    const char *dump;
    lie         lie;
} command;

static void show_broken(const question *q, const judged *j)
{
    for (int k = 0; k < j->count; k++)
        if (j->at[k].ruling == BROKEN)
            printf("BROKEN %s: --seed %llu --case %lld: %s\n", claim_names[j->at[k].claim],
                   (unsigned long long)q->seed, (long long)q->number, j->at[k].why);
    printf("  ");
    show_question(q);
}

static bool is_broken(const judged *j)
{
    for (int k = 0; k < j->count; k++)
        if (j->at[k].ruling == BROKEN)
            return true;
    return false;
}

/* How robust the same row is. */
static void ask_and_judge_radius(const command *c, const question *q, asked *a, judged *j)
{
    radius_question r;
    cbx_radius      told;
    draw_radius(q, &r);
    if (!ask_radius(&r, q, a, &told))
        return;
    lie_of_radius(c->lie, &told);
    judge_radius(q, &r, &told, j);
}

/* Asks and judges one question. */
static void run_case(const command *c, int64_t number, tally *t, int64_t *shown)
{
    question *q = malloc(sizeof *q);
    asked     a;
    judged    j = {0};
    if (!q)
        abort();
    draw_question(q, c->seed, number);
    lie_before(c->lie, q);
    bool fine = ask_prepare(q, &a) && ask_explain(q, &a);
    if (fine) {
        lie_after(c->lie, q, a.answer);
        judge(q, a.answer, &j);
        ask_and_judge_radius(c, q, &a, &j);
        tally_add(t, q, &j);
    } else {
        t->cases++;
        t->refused++;
    }
#pragma omp critical(output)
    {
        if (c->one)
            show_all(q, &a);
        if (c->dump)
            show_command(q, &a, c->dump);
        if (is_broken(&j) && (*shown)++ < c->shown)
            show_broken(q, &j);
    }
    ask_free(&a);
    free(q);
}

static void run_cases(const command *c, tally *total)
{
    int64_t shown = 0;
#pragma omp parallel
    {
        tally own = {0};
#pragma omp for schedule(dynamic, 16)
        for (int64_t k = c->first; k < c->first + c->cases; k++)
            run_case(c, k, &own, &shown);
#pragma omp critical(total)
        tally_merge(total, &own);
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: adversary [--seed S] [--cases N] [--first N] [--show N] [--lie KIND]\n"
                    "       adversary --case N [--seed S] [--dump FOLDER]\n"
                    "       adversary --self-test\n");
    return 2;
}

static bool read_command(int argc, char **argv, command *c)
{
    *c = (command){.seed = 1, .cases = 1000, .shown = 20};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "--seed")) {
            c->seed = strtoull(value, NULL, 10);
        } else if (!strcmp(name, "--cases")) {
            c->cases = strtoll(value, NULL, 10);
        } else if (!strcmp(name, "--first")) {
            c->first = strtoll(value, NULL, 10);
        } else if (!strcmp(name, "--show")) {
            c->shown = strtoll(value, NULL, 10);
        } else if (!strcmp(name, "--dump")) {
            c->dump = value;
        } else if (!strcmp(name, "--case")) {
            c->first = strtoll(value, NULL, 10);
            c->cases = 1;
            c->one = true;
        } else if (strcmp(name, "--lie") != 0 || !lie_named(value, &c->lie)) {
            return false;
        }
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    command c;
    tally   total = {0};
    if (argc == 2 && !strcmp(argv[1], "--self-test"))
        return self_test();
    if (!read_command(argc, argv, &c))
        return usage();
    run_cases(&c, &total);
    if (!c.one)
        tally_show(&total);
    return tally_broken(&total) > 0;
}
