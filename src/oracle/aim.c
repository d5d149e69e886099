/* SPDX-License-Identifier: Apache-2.0 */
/* aim.c: of a model that gives numbers, one that says whether they are in a range. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "model.h"
#include "model_output.h"

/* What the aimed model's reading points to: one block. */
typedef struct aim {
    cbx_range range;
    double    base[];
} aim;

/* The numbers by node, and how far apart they are: a standard deviation is a unit of log-odds. */
static void spread_out(const cbx_graph *graph, const float *numbers, double *base, double *scale)
{
    const cbx_graph_data *d = cbx_graph_arrays(graph);
    int32_t               rows = cbx_graph_label_rows(graph);
    double                sum = 0, squares = 0;
    for (int32_t i = 0; i < rows; i++) {
        sum += (double)numbers[i] / rows;
        for (int64_t k = d->task == CBX_GRAPH ? d->graph_ptr[i] : i;
             k < (d->task == CBX_GRAPH ? d->graph_ptr[i + 1] : i + 1); k++)
            base[k] = (double)numbers[i];
    }
    for (int32_t i = 0; i < rows; i++)
        squares += ((double)numbers[i] - sum) * ((double)numbers[i] - sum) / rows;
    *scale = isfinite(squares) && squares > 0 ? sqrt(squares) : 1;
}

static cbx_status measure(const cbx_model *numbers, const cbx_graph *graph, aim *a, cbx_error *err)
{
    float *told = calloc((size_t)cbx_graph_label_rows(graph) + 1, sizeof *told);
    if (!told)
        return cbx_fail_memory(err);
    cbx_status status = cbx_predict(numbers, graph, 0, told, err);
    if (!status)
        spread_out(graph, told, a->base, &a->range.scale);
    free(told);
    return status;
}

static cbx_status check(const cbx_model *numbers, cbx_error *err)
{
    return numbers->oracle && numbers->num_classes == 1
               ? CBX_OK
               : cbx_fail(err, CBX_INVALID,
                          "target: a range is for models that give numbers, and this one knows %d "
                          "classes",
                          numbers->num_classes);
}

/* Takes over what it is aimed by. */
static cbx_status aimed(const cbx_model *numbers, const char *range, aim *a, cbx_model **out,
                        cbx_error *err)
{
    const cbx_driver *from = numbers->oracle;
    cbx_driver        driver = *from;
    cbx_model_output  reading = *from->reading(from->model);
    reading.aim = &a->range;
    driver.numbers = numbers;
    (void)snprintf(driver.class_names[0], sizeof driver.class_names[0], "not %s", range);
    (void)snprintf(driver.class_names[1], sizeof driver.class_names[1], "%s", range);
    driver.model = from->read_as(from->model, &reading, a);
    if (!driver.model) {
        free(a);
        return cbx_fail_memory(err);
    }
    return cbx_model_run_by(&driver, numbers->task, numbers->num_features,
                            cbx_model_output_classes(&reading), out, err);
}

cbx_status cbx_model_aim(const cbx_model *numbers, const cbx_graph *graph, const char *range,
                         cbx_model **out, cbx_error *err)
{
    *out = NULL;
    cbx_status status = check(numbers, err);
    if (!status)
        status = cbx_model_fits(numbers, graph, err);
    if (status)
        return status;
    aim *a = calloc(1, sizeof *a + (size_t)cbx_graph_arrays(graph)->num_nodes * sizeof *a->base);
    if (!a)
        return cbx_fail_memory(err);
    status = cbx_range_parse(range, &a->range, err);
    if (!status)
        status = measure(numbers, graph, a, err);
    a->range.base = a->base;
    if (!status)
        return aimed(numbers, range, a, out, err);
    free(a);
    return status;
}
