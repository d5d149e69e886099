/* SPDX-License-Identifier: Apache-2.0 */
/* What methods train: kept in a folder, found again, and not mistaken for anything else. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../search/oracle.h"
#include "explainer.h"
#include "safetensors.h"
#include "test.h"

static const char *folder(void)
{
    return test_path("");
}

/* Files in the folder; the last one's path. */
static int files(char *path, size_t size)
{
    int  count = 0;
    DIR *dir = opendir(folder());
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strstr(e->d_name, ".safetensors")) {
            count++;
            if (path)
                (void)snprintf(path, size, "%s", test_path(e->d_name));
        }
    if (dir)
        (void)closedir(dir);
    return count;
}

static void forget(void)
{
    char path[600];
    while (files(path, sizeof path) > 0)
        CHECK_INT(unlink(path), 0);
}

typedef struct watched {
    int64_t training; /* times that it was told of */
    int64_t stop_at;  /* 0: never */
} watched;

static int watch(void *user, int64_t done, int64_t total, const char *text)
{
    watched *w = user;
    if (strcmp(text, "training") != 0)
        return 0;
    CHECK(done >= 1 && done <= total);
    return ++w->training == w->stop_at;
}

static cbx_explain_options asked(const char *where)
{
    return ASK("explainer", "rcexplainer", "target", "any", "rcexplainer-epochs", "2", "trained",
               where);
}

static cbx_status explain(const oracle *o, const cbx_explain_options *options, watched *w,
                          cbx_counterfactual **r, cbx_error *err)
{
    *w = (watched){.stop_at = w->stop_at};
    return cbx_explain_with(o->model, o->graph, 2, options, watch, w, r, err);
}

/* Trains, or not; the answer as text without what depends on the clock. */
static char *answer(const oracle *o, const cbx_explain_options *options, bool trains)
{
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    watched             w = {0};
    CHECK_OK(explain(o, options, &w, &r, &err), err);
    CHECK((w.training > 0) == trains);
    CHECK(r->num_trained > 0 && r->trained_seconds >= 0);
    r->seconds = r->trained_seconds = 0;
    char *text = cbx_counterfactual_json_with(r, o->graph, NULL, NULL, NULL);
    cbx_counterfactual_free(r);
    return text;
}

TEST(what_was_trained_is_found_again_and_gives_the_same_answer)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options options = asked(folder());
    char               *first = answer(&o, &options, true), *second = answer(&o, &options, false);
    CHECK_INT(files(NULL, 0), 1);
    CHECK(!strcmp(first, second));
    cbx_explain_options none = asked("");
    char               *third = answer(&o, &none, true);
    CHECK(!strcmp(first, third));
    CHECK_INT(files(NULL, 0), 1);
    free(first);
    free(second);
    free(third);
    forget();
    oracle_free(&o);
}

TEST(another_seed_option_oracle_or_graph_is_trained_for_anew)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    oracle              other = oracle_make((oracle_shape){.nodes = 0, .conv = "graphconv"});
    oracle              small = oracle_make((oracle_shape){.nodes = 24});
    cbx_explain_options options = asked(folder());
    free(answer(&o, &options, true));
    free(answer(&other, &options, true));
    free(answer(&small, &options, true));
    options.seed++;
    free(answer(&o, &options, true));
    CHECK_INT(cbx_fields_set(cbx_explain_table(), &options, "rcexplainer-lr", "0.1", NULL), 0);
    free(answer(&o, &options, true));
    options.epochs++; /* which is the search's */
    free(answer(&o, &options, false));
    cbx_model_set_reproducible(o.model, true);
    free(answer(&o, &options, true));
    CHECK_INT(cbx_fields_set(cbx_explain_table(), &options, "edges", "undirected", NULL), 0);
    free(answer(&o, &options, true));
    CHECK_INT(files(NULL, 0), 7);
    cbx_graph_data wider = small.data; /* the same values, which may be others */
    float          lo[] = {-9, -9, -9, -9, -9}, hi[] = {9, 9, 9, 9, 9};
    oracle         again = {.model = small.model};
    cbx_error      err = {0};
    wider.feat_min = lo;
    wider.feat_max = hi;
    CHECK_OK(cbx_graph_new(&wider, &again.graph, &err), err);
    options = asked(folder());
    free(answer(&small, &options, false));
    free(answer(&again, &options, true));
    CHECK_INT(files(NULL, 0), 8);
    cbx_graph_free(again.graph);
    forget();
    oracle_free(&o);
    oracle_free(&other);
    oracle_free(&small);
}

TEST(a_file_that_is_damaged_or_somebody_else_s_is_not_believed)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options options = asked(folder());
    char               *first = answer(&o, &options, true), path[600], *again;
    size_t              size;
    CHECK_INT(files(path, sizeof path), 1);
    unsigned char *bytes = test_read_file(path, &size);
    test_write_file(path, bytes, size / 2); /* cut off */
    again = answer(&o, &options, true);
    CHECK(!strcmp(first, again));
    free(again);
    char *key = strstr((char *)bytes + 8, "\"key\":\"");
    if (CHECK(key != NULL)) {
        key[8] = key[8] == '0' ? '1' : '0'; /* another hash inside */
        test_write_file(path, bytes, size);
        again = answer(&o, &options, true);
        CHECK(!strcmp(first, again));
        free(again);
    }
    free(answer(&o, &options, false)); /* it was written anew */
    free(bytes);
    free(first);
    forget();
    oracle_free(&o);
}

TEST(a_folder_that_is_not_there_is_told_before_anything_is_trained)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options options = asked(test_path("nowhere"));
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    watched             w = {0};
    CHECK_INT(explain(&o, &options, &w, &r, &err), CBX_INVALID);
    CHECK_CONTAINS(err.message, "trained: the folder '");
    CHECK_CONTAINS(err.message, "nowhere' cannot be written to");
    CHECK_INT(w.training, 0);
    oracle_free(&o);
}

TEST(training_that_is_cancelled_leaves_no_file_and_no_answer)
{
    oracle              o = oracle_make((oracle_shape){.nodes = 0});
    cbx_explain_options options = asked(folder());
    cbx_counterfactual *r = NULL;
    cbx_error           err = {0};
    watched             w = {.stop_at = 7};
    CHECK_OK(explain(&o, &options, &w, &r, &err), err);
    CHECK_INT(r->outcome, CBX_NOT_FINISHED);
    CHECK_INT(w.training, 7);
    CHECK_INT(files(NULL, 0), 0);
    cbx_counterfactual_free(r);
    oracle_free(&o);
}
