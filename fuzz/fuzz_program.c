/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an exported model, as text and numbers: what loads is run and differentiated. The
 * archive around them has checksums, which few changes would pass. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "sample.h"

/* Forwards and backwards, with weights of 1 and of less. */
static void run(const cbx_program *program)
{
    const cbx_program_info *info = cbx_program_describe(program);
    cbx_runner_options      options = {.gradient = true, .most = (size_t)1 << 26};
    cbx_arena               arena = {0};
    cbx_sample              sample;
    cbx_runner             *runner = NULL;
    cbx_error               err = {0};
    cbx_status              status = cbx_sample_make(program, &arena, &sample, &err);
    for (int32_t i = 0; i < info->num_inputs && !status; i++) {
        sample.inputs[i].gradient = cbx_is_real(info->inputs[i].type);
        sample.inputs[i].weighted = info->inputs[i].role == CBX_ROLE_EDGE_INDEX;
    }
    if (!status)
        status = cbx_runner_new(program, &runner, &err);
    if (!status)
        status = cbx_runner_plan(runner, sample.inputs, &options, &err);
    for (int round = 0; round < 2 && !status; round++) {
        status = cbx_runner_forward(runner, &err);
        if (status)
            break;
        const cbx_array *y = cbx_runner_output(runner);
        void            *direction = calloc((size_t)y->count + 1, 8);
        if (direction)
            cbx_runner_backward(runner, direction);
        free(direction);
        void *w = cbx_runner_weights(runner, cbx_program_find(program, CBX_ROLE_EDGE_INDEX));
        memset(w, 0, (size_t)sample.edges / 2 * cbx_type_size(cbx_runner_real(runner)));
    }
    fuzz_check(status, &err);
    cbx_runner_free(runner);
    cbx_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_program *program = NULL;
    cbx_error    err = {0};
    fuzz_check(fuzz_program(bytes, size, &program, &err), &err);
    if (program)
        run(program);
    cbx_program_free(program);
    return 0;
}
