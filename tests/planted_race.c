/* SPDX-License-Identifier: Apache-2.0 */
/* planted_race.c: "racy" adds to one number from several threads without a lock, "locked"
 * with one. Whoever looks for races must find the first and not the second. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int  racy = argc > 1 && !strcmp(argv[1], "racy");
    long sum = 0, each[64];
#pragma omp parallel for schedule(static, 1) num_threads(4)
    for (int i = 0; i < 64; i++) {
        each[i] = i;
        if (racy) {
            sum += each[i];
        } else {
#pragma omp critical(cbx_planted)
            sum += each[i];
        }
    }
    for (int i = 0; i < 64; i++) /* what a barrier makes safe to read */
        sum -= each[i];
    (void)printf("%ld\n", sum);
    return 0;
}
