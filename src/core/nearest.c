/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c: the "did you mean" of all messages. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "combinex/extend.h"
#include "error.h"
#include "word.h"

/* Levenshtein's distance of short words; long ones are not compared. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1], la = strlen(a), lb = strlen(b);
    if (la > LONGEST || lb > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t best = diagonal + (cbx_lower(a[i - 1]) != cbx_lower(b[j - 1]));
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[lb];
}

void cbx_nearest_begin(cbx_nearest *near, const char *wanted)
{
    *near = (cbx_nearest){.wanted = wanted, .least = strlen(wanted) / 3 + 2};
}

void cbx_nearest_try(cbx_nearest *near, const char *candidate)
{
    size_t d = distance(near->wanted, candidate);
    size_t length = strlen(near->wanted);
    /* "epoch" for "epochs", "ba" for "ba-shapes": the start of a word counts as near */
    if (d > 1 && length > 1 && cbx_same_start(near->wanted, candidate, length))
        d = 1;
    /* "labl" for "label-column": so does the first of several words, if a little less */
    char   first[32];
    size_t end = strcspn(candidate, "-");
    if (candidate[end] && end > 2 && end < sizeof first) {
        memcpy(first, candidate, end);
        first[end] = '\0';
        size_t one = distance(near->wanted, first) + 1;
        d = one < d ? one : d;
    }
    if (d < near->least && strlen(candidate) < sizeof near->best) {
        near->least = d;
        memcpy(near->best, candidate, strlen(candidate) + 1);
    }
}

const char *cbx_nearest_of(const char *word, const char *const *words)
{
    cbx_nearest near;
    const char *best = NULL;
    cbx_nearest_begin(&near, word);
    for (; *words; words++) {
        size_t least = near.least;
        cbx_nearest_try(&near, *words);
        best = near.least < least ? *words : best;
    }
    return best;
}

const char *cbx_suggest(cbx_did_you_mean text, const char *word)
{
    bool known = word && *word;
    (void)snprintf(text, sizeof(cbx_did_you_mean), "%s%s%s", known ? "; did you mean '" : "",
                   known ? word : "", known ? "'?" : "");
    return text;
}
