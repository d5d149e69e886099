/* SPDX-License-Identifier: Apache-2.0 */
/* A sidecar of the data that the target has: features age, tall and short, three nodes, two
 * classes. Facts, of each feature: discrete, least, most, immutable, group. */
#include "shapes.h"

static const char *const features[] = {
    "age", "0", "0-2", "1-2", "2-0", "3", "-1", "", "4294967296", "1-99999999999999999999", NULL};

static const char *feature(fuzz_sheet *s, const char *truth)
{
    return fuzz_below(s, 2) ? fuzz_tell_word(s, truth, features) : fuzz_tell_name(s, truth);
}

void fuzz_shape_sidecar(fuzz_sheet *s)
{
    static const char *const words[] = {"discrete", "continuous", "real", "", NULL};
    char                     text[2][40];
    int64_t                  least = fuzz_tell(s, 0), most = fuzz_tell(s, 40 + fuzz_below(s, 60));
    double                   higher = 1 + (double)fuzz_below(s, 9) / 4;
    bool                     whole = fuzz_below(s, 2);
    const double             facts[] = {0,
                                        (float)least,
                                        (float)most,
                                        1,
                                        -1, /* age */
                                        whole,
                                        0,
                                        1,
                                        1,
                                        0, /* tall */
                                        1,
                                        0,
                                        higher,
                                        0,
                                        0};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        fuzz_fact(s, facts[i]);
    fuzz_put(s, "{\"name\":\"%s\",\"kinds\":{\"%s\":\"%s\",\"2\":\"discrete\"},\n",
             fuzz_tell_name(s, "n"), feature(s, "tall"),
             fuzz_tell_word(s, whole ? "discrete" : "continuous", words));
    fuzz_put(s, "\"bounds\":{\"%s\":[%lld,%lld],\"short\":[0,%s]},\n", feature(s, "age"),
             (long long)least, (long long)most, fuzz_tell_text(s, higher, text[0]));
    fuzz_put(s, "\"immutable\":[\"%s\",%lld],\n", feature(s, "tall"),
             (long long)fuzz_tell_key(s, 0));
    fuzz_put(s, "\"%s\":{\"%s\":[\"%s\",%s]},\n", fuzz_lies(s) ? "bounds" : "groups",
             fuzz_tell_name(s, "size"), feature(s, "tall"), fuzz_tell_text(s, 2, text[1]));
    fuzz_put(s, "\"class_names\":[\"%s\"%s],\"node_names\":[\"a\",\"b\",\"%s\"%s]}",
             fuzz_tell_name(s, "a"), fuzz_lies(s) ? "" : ",\"b\"",
             fuzz_tell_name(s, fuzz_lies(s) ? "b" : "c"), fuzz_lies(s) ? ",7" : "");
}
