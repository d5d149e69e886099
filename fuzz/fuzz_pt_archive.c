/* SPDX-License-Identifier: Apache-2.0 */
/* The archive of an exported model, as a file. */
#include "fuzz.h"
#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    cbx_program *program = NULL;
    cbx_error    err = {0};
    fuzz_check(cbx_program_load(fuzz_file("x.pt2", bytes, size), NULL, &program, &err), &err);
    cbx_program_free(program);
    return 0;
}
