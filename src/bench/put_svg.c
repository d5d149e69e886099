/* SPDX-License-Identifier: Apache-2.0 */
/* put_svg.c: mean ranks as a picture.
 *
 * A panel a measure: a scale from 1, the best, to the number of methods, and on it a dot
 * a method. Names stand below in the order of their ranks, each on a line of its own, so
 * that none hides another. */
#include <math.h>

#include "number.h"
#include "summary.h"

enum { WIDTH = 340, LEFT = 120, RIGHT = 40, TOP = 34, STEP = 16, COLUMNS = 3 };

static double x_of(const cbx_bench_summary *s, double rank)
{
    int32_t last = s->plan->num_methods > 1 ? s->plan->num_methods : 2;
    return LEFT + (rank - 1) / (last - 1) * (WIDTH - LEFT - RIGHT);
}

/* The method of the i-th smallest rank, by place in the plan where ranks are equal; -1: none. */
static int32_t in_order(const cbx_bench_summary *s, const double *ranks, int measure, int32_t i)
{
    int32_t count = s->plan->num_methods;
    for (int32_t a = 0; a < count; a++) {
        double  mine = ranks[(int64_t)a * CBX_BENCH_MEASURES + measure];
        int32_t before = 0;
        for (int32_t b = 0; b < count; b++) {
            double other = ranks[(int64_t)b * CBX_BENCH_MEASURES + measure];
            before += other < mine || (other == mine && b < a);
        }
        if (!isnan(mine) && before == i)
            return a;
    }
    return -1;
}

static void put_panel(FILE *out, const cbx_bench_summary *s, const double *ranks, int k, int height)
{
    const cbx_bench_measure_info *info = &cbx_bench_measure_infos[k];
    int32_t                       count = s->plan->num_methods;
    (void)fprintf(out, "<g transform=\"translate(%d %d)\">\n", k % COLUMNS * WIDTH,
                  k / COLUMNS * height);
    (void)fprintf(out,
                  "<text x=\"%d\" y=\"14\" font-weight=\"bold\">%s %s</text>\n"
                  "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"#888\"/>\n",
                  LEFT, info->title, info->higher ? "↑" : "↓", LEFT, WIDTH - RIGHT, TOP - 6,
                  TOP - 6);
    for (int32_t r = 1; r <= count; r++)
        (void)cbx_fprint(out,
                         "<text x=\"%.1f\" y=\"%d\" font-size=\"8\" text-anchor=\"middle\" "
                         "fill=\"#666\">%d</text>\n",
                         x_of(s, r), TOP - 9, r);
    for (int32_t i = 0; i < count; i++) {
        int32_t m = in_order(s, ranks, k, i);
        if (m < 0)
            break;
        double rank = ranks[(int64_t)m * CBX_BENCH_MEASURES + k], x = x_of(s, rank);
        int    y = TOP + 8 + i * STEP;
        (void)cbx_fprint(out,
                         "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
                         "<line x1=\"%d\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>\n"
                         "<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n"
                         "<text x=\"%.1f\" y=\"%d\" font-size=\"9\">%.1f</text>\n",
                         LEFT - 8, y + 4, s->plan->methods[m]->name, LEFT, x, y, y, x, y,
                         i == 0 ? "#0b6e4f" : "#4a6fa5", x + 7, y + 3, rank);
    }
    (void)fputs("</g>\n", out);
}

void cbx_bench_put_svg(FILE *out, const cbx_bench_summary *s, const double *ranks)
{
    int height = TOP + 24 + s->plan->num_methods * STEP;
    int lines = (CBX_BENCH_MEASURES + COLUMNS - 1) / COLUMNS;
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                  "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<title>Mean rank of each explainer, 1 is the best</title>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  COLUMNS * WIDTH, lines * height, COLUMNS * WIDTH, lines * height);
    for (int k = 0; k < CBX_BENCH_MEASURES; k++)
        put_panel(out, s, ranks, k, height);
    (void)fputs("</svg>\n", out);
}
