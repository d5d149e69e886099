/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.c: for libFuzzer: now and then an input of the target's shape (shapes.h) takes the
 * place of one whose bytes are changed. What coverage it reaches stays in the corpus, and is
 * changed further. */
#include "shapes.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    fuzz_shape shape = fuzz_shape_of(FUZZ_TARGET);
    if (!shape || seed % 4)
        return LLVMFuzzerMutate(bytes, size, most);
    static fuzz_truth told;
    size = fuzz_draw(shape, seed, 0, 1 << (seed / 4 % 6 + 2), bytes, most, &told);
    return seed / 64 % 4 ? size : LLVMFuzzerMutate(bytes, size, most);
}
