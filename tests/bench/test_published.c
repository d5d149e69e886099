/* SPDX-License-Identifier: Apache-2.0 */
/* The committed table of published figures, against the paper's tables where they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "summary.h"
#include "test.h"

TEST(figures_are_found_by_the_names_of_files)
{
    double mean, std;
    CHECK(cbx_bench_published(CBX_NODE, "citeseer", "gcn", "combinex-def", CBX_DISTRIBUTION, &mean,
                              &std));
    CHECK_NEAR(mean, 5.620, 1e-12);
    CHECK_NEAR(std, 0.212, 1e-12);
    CHECK(cbx_bench_published(CBX_GRAPH, "AIDS-graphs", "gcn", "ego", CBX_EDGE_SPARSITY, &mean,
                              &std));
    CHECK_NEAR(mean, 0.892, 1e-12);
    CHECK(cbx_bench_published(CBX_NODE, "AIDS", "gcn", "ego", CBX_VALIDITY, &mean, &std));
    CHECK(cbx_bench_published(CBX_GRAPH, "PROTEINS_full-graphs", "gcn", "ego", CBX_VALIDITY, &mean,
                              &std));
}

TEST(what_was_not_printed_is_not_found)
{
    double mean = 1, std = 1;
    CHECK(!cbx_bench_published(CBX_NODE, "citeseer", "gcn", "ego", CBX_NODE_SPARSITY, &mean, &std));
    CHECK(isnan(mean) && isnan(std));
    CHECK(!cbx_bench_published(CBX_NODE, "citeseer", "gcn", "ego", CBX_EMBEDDING, &mean, &std));
    CHECK(!cbx_bench_published(CBX_NODE, "nowhere", "gcn", "ego", CBX_VALIDITY, &mean, &std));
    CHECK(!cbx_bench_published(CBX_GRAPH, "citeseer", "gcn", "ego", CBX_VALIDITY, &mean, &std));
}

/* The file names of the task's data sets are not those of the paper's tables. */
static const char *file_name(const char *task, const char *data)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "%s%s", data, *task == 'g' ? "-graphs" : "");
    return name;
}

TEST(every_row_of_the_tables_is_there_with_its_figures)
{
    const char *path = test_shared("paper/results.csv");
    size_t      size = 0;
    char       *text = path ? (char *)test_read_file(path, &size) : NULL, *rest = NULL;
    int         rows = 0, differ = 0;
    if (!text) {
        test_skip("no shared/paper/results.csv");
        return;
    }
    (void)strtok_r(text, "\n", &rest); /* the header */
    for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *field[15];
        for (int i = 0; i < 15; i++)
            field[i] = strsep(&line, ",");
        rows++;
        for (int k = CBX_VALIDITY; k <= CBX_EDGE_SPARSITY; k++) {
            double mean, std;
            bool   there = cbx_bench_published(*field[1] == 'g' ? CBX_GRAPH : CBX_NODE,
                                             file_name(field[1], field[2]), field[3], field[4],
                                             (cbx_bench_measure)k, &mean, &std);
            bool wanted = *field[5 + 2 * k] != '\0';
            bool same = there == wanted &&
                        (!wanted ||
                         (mean == cbx_read_number(field[5 + 2 * k], NULL) &&
                          (!*field[6 + 2 * k] || std == cbx_read_number(field[6 + 2 * k], NULL))));
            /* The general table repeats rows of the others, two of them with other figures. */
            if (!same && !strcmp(field[0], "results_general"))
                differ++;
            else
                CHECK(same);
        }
    }
    free(text);
    CHECK_INT(rows, 643);
    CHECK(differ > 0 && differ < 10);
}
