/* SPDX-License-Identifier: Apache-2.0 */
/* Whole benchmarks through the library: alone, cancelled, and by a team, whose processes are
 * threads here. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trained_oracle.h"
#include "rows.h"
#include "standardise.h"
#include "test.h"

static cbx_graph        *graph;
static cbx_bench_data    data;
static cbx_bench_options options;

static void begin(void)
{
    cbx_error err = {0};
    CHECK_OK(cbx_graph_builtin_with("karate", NULL, &graph, &err), err);
    data = (cbx_bench_data){"karate", graph};
    cbx_fields_default(cbx_bench_table(), &options);
    options.models = "gcn,graphconv";
    options.explainers = "combinex-lin,random-edges,ego";
    options.folds = 2;
    options.samples = 6;
    options.train_epochs = 20;
    options.epochs = 30;
    options.jobs = 1;
}

/* A file of the folder without its last two columns, seconds and memory. */
static char *timeless(const char *folder)
{
    char     *path = cbx_bench_path(folder, "rows.csv.gz"), *text = NULL;
    cbx_error err = {0};
    CHECK_OK(cbx_bench_read_packed(path, &text, &err), err);
    size_t size = text ? strlen(text) : 0, at = 0;
    char  *out = calloc(size + 1, 1);
    for (size_t i = 0, commas = 0; text && i < size; i++) {
        commas = text[i] == '\n' ? 0 : commas + (text[i] == ',');
        if (commas < 23)
            out[at++] = text[i];
    }
    free(text);
    free(path);
    return out;
}

static void check_same(const char *one, const char *two)
{
    char *a = timeless(one), *b = timeless(two);
    CHECK(strlen(a) > 1000 && !strcmp(a, b));
    free(a), free(b);
}

typedef struct stopper {
    int64_t after, calls;
} stopper;

static int stop(void *user, int64_t done, int64_t total, const char *text)
{
    stopper *s = user;
    (void)total, (void)text;
    s->calls++;
    return done >= s->after;
}

TEST(a_cancelled_benchmark_keeps_its_answers_and_goes_on_to_the_same_rows)
{
    begin();
    char             whole[512], parts[512];
    cbx_bench_result result;
    cbx_error        err = {0};
    stopper          s = {.after = 20};
    cbx_bench_hooks  hooks = {.progress = stop, .user = &s};
    (void)snprintf(whole, sizeof whole, "%s", test_path("whole"));
    (void)snprintf(parts, sizeof parts, "%s", test_path("parts"));
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, whole, false, NULL, NULL, &result, &err), err);
    CHECK_INT(result.answers, 2 * 2 * 3 * 6);
    CHECK_INT(result.asked, 72);
    CHECK_INT(result.oracles, 4);
    CHECK_INT(cbx_bench_run_with(&options, &data, 1, parts, false, NULL, &hooks, &result, &err),
              CBX_CANCELLED);
    CHECK(result.asked >= 20 && result.asked < 72 && s.calls > 20);
    int64_t before = result.asked;
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, parts, true, NULL, NULL, &result, &err), err);
    CHECK_INT(result.asked, 72 - before);
    check_same(whole, parts);
    cbx_graph_free(graph);
}

TEST(what_a_killed_process_left_is_swept_and_nothing_else)
{
    begin();
    char      folder[512];
    cbx_error err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path("swept"));
    CHECK(!mkdir(folder, 0777));
    char *models = cbx_bench_path(folder, "models");
    CHECK(!mkdir(models, 0777));
    char *one = cbx_bench_path(folder, ".combinex-0123456789abcdef.tmp");
    char *two = cbx_bench_path(models, ".combinex-fedcba9876543210.tmp");
    char *mine = cbx_bench_path(folder, "notes.tmp");
    test_write_file(one, "par", 3);
    test_write_file(two, "par", 3);
    test_write_file(mine, "mine", 4);
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, folder, false, NULL, NULL, NULL, &err), err);
    CHECK(access(one, F_OK) && access(two, F_OK) && !access(mine, F_OK));
    free(models), free(one), free(two), free(mine);
    cbx_graph_free(graph);
}

TEST(an_oracle_that_cannot_be_written_is_the_end_and_not_a_failure_among_others)
{
    begin();
    char      folder[512];
    cbx_error err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path("full"));
    CHECK(!mkdir(folder, 0777));
    char *models = cbx_bench_path(folder, "models"), *table = cbx_bench_path(folder, "summary.csv");
    CHECK(!mkdir(models, 0777));
    char *there = cbx_bench_path(models, "karate-graphconv-0.model.safetensors");
    CHECK(!mkdir(there, 0777)); /* where the third oracle should go */
    CHECK_INT(cbx_bench_run_with(&options, &data, 1, folder, false, NULL, NULL, NULL, &err),
              CBX_IO);
    CHECK_CONTAINS(err.message, "karate-graphconv-0.model.safetensors: cannot write");
    CHECK(access(table, F_OK)); /* no tables of half a benchmark */
    CHECK(!rmdir(there));
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, folder, true, NULL, NULL, NULL, &err), err);
    CHECK(!access(table, F_OK));
    free(models), free(table), free(there);
    cbx_graph_free(graph);
}

TEST(a_folder_that_is_in_use_is_refused)
{
    begin();
    char      folder[512];
    cbx_error err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path("used"));
    CHECK(!mkdir(folder, 0777));
    char *path = cbx_bench_path(folder, "lock");
    int   fd = open(path, O_RDWR | O_CREAT, 0666);
    CHECK(!flock(fd, LOCK_EX));
    CHECK_INT(cbx_bench_run_with(&options, &data, 1, folder, false, NULL, NULL, NULL, &err),
              CBX_INVALID);
    CHECK_CONTAINS(err.message, "another benchmark is running");
    (void)close(fd);
    free(path);
    cbx_graph_free(graph);
}

/* ------------------------------------------------------------------ a team */

enum { RANKS = 3 };

static struct {
    pthread_mutex_t   lock;
    pthread_barrier_t barrier;
    int64_t           next[8];
    const char       *folder;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct member {
    cbx_bench_team   team;
    cbx_bench_result result;
    cbx_status       status;
} member;

static int64_t take(void *user, int phase)
{
    (void)user;
    (void)pthread_mutex_lock(&shared.lock);
    int64_t number = shared.next[phase]++;
    (void)pthread_mutex_unlock(&shared.lock);
    return number;
}

static void meet(void *user)
{
    (void)user;
    (void)pthread_barrier_wait(&shared.barrier);
}

static void *take_part(void *user)
{
    member *m = user;
    m->status = cbx_bench_run_with(&options, &data, 1, shared.folder, false, &m->team, NULL,
                                   &m->result, NULL);
    return NULL;
}

TEST(a_team_gives_the_rows_of_one_process)
{
    begin();
    char      alone[512], together[512];
    pthread_t threads[RANKS];
    member    members[RANKS] = {0};
    cbx_error err = {0};
    int64_t   asked = 0;
    (void)snprintf(alone, sizeof alone, "%s", test_path("alone"));
    (void)snprintf(together, sizeof together, "%s", test_path("together"));
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, alone, false, NULL, NULL, NULL, &err), err);
    shared.folder = together;
    CHECK(!pthread_barrier_init(&shared.barrier, NULL, RANKS));
    for (int i = 0; i < RANKS; i++) {
        members[i].team = (cbx_bench_team){i, RANKS, take, meet, NULL};
        CHECK(!pthread_create(&threads[i], NULL, take_part, &members[i]));
    }
    for (int i = 0; i < RANKS; i++) {
        CHECK(!pthread_join(threads[i], NULL));
        CHECK_INT(members[i].status, CBX_OK);
        asked += members[i].result.asked;
    }
    CHECK_INT(asked, 72);
    CHECK_INT(members[0].result.answers, 72);
    check_same(alone, together);
    (void)pthread_barrier_destroy(&shared.barrier);
    cbx_graph_free(graph);
}

TEST(only_the_meant_protocol_standardises_features)
{
    begin();
    for (int protocol = CBX_PROTOCOL_PUBLISHED; protocol <= CBX_PROTOCOL_MEANT; protocol++) {
        cbx_bench_plan    plan;
        cbx_model_spec    spec;
        cbx_train_options train;
        cbx_error         err = {0};
        options.protocol = protocol;
        CHECK_OK(cbx_bench_plan_init(&plan, &options, &data, 1, &err), err);
        CHECK_OK(cbx_bench_training(&plan, 0, 0, &spec, &train, &err), err);
        CHECK_INT(train.standardise,
                  protocol == CBX_PROTOCOL_MEANT ? CBX_STANDARDISE_AUTO : CBX_STANDARDISE_OFF);
        cbx_bench_plan_free(&plan);
    }
    cbx_graph_free(graph);
}

/* Whether the meant protocol takes the oracle that the published one trained on this graph. */
static bool shares_an_oracle(const cbx_graph *of, const char *name)
{
    cbx_bench_plan plan;
    cbx_model     *model = NULL;
    double         accuracy;
    cbx_error      err = {0};
    char           folder[512];
    (void)snprintf(folder, sizeof folder, "%s", test_path(name));
    char *models = cbx_bench_path(folder, "models");
    CHECK(!mkdir(folder, 0777) && !mkdir(models, 0777));
    data = (cbx_bench_data){"data", of};
    options.protocol = CBX_PROTOCOL_PUBLISHED;
    CHECK_OK(cbx_bench_plan_init(&plan, &options, &data, 1, &err), err);
    CHECK_OK(cbx_bench_oracle_make(&plan, folder, 0, 0, 0, NULL, NULL, &err), err);
    options.protocol = CBX_PROTOCOL_MEANT;
    cbx_status status = cbx_bench_oracle_load(&plan, folder, 0, 0, 0, &model, &accuracy, &err);
    CHECK(!status || strstr(err.message, "was trained otherwise"));
    cbx_model_free(model);
    cbx_bench_plan_free(&plan);
    free(models);
    return status == CBX_OK;
}

TEST(protocols_share_the_oracles_that_they_train_alike)
{
    begin();
    cbx_graph_data d = *cbx_graph_arrays(graph);
    cbx_graph     *scaled = NULL;
    cbx_error      err = {0};
    size_t         values = (size_t)d.num_nodes * (size_t)d.num_features;
    float         *x = malloc(values * sizeof *x);
    CHECK(x && d.x);
    for (size_t i = 0; i < values; i++)
        x[i] = d.x[i] == 1 ? 7 : d.x[i];
    d.x = x;
    CHECK_OK(cbx_graph_new(&d, &scaled, &err), err);
    CHECK(shares_an_oracle(graph, "binary"));
    CHECK(!shares_an_oracle(scaled, "units"));
    cbx_graph_free(scaled);
    free(x);
    cbx_graph_free(graph);
}

/* ------------------------------------------- what need not be asked twice */

/* A graph like karate, of features that are not all discrete and 0 or 1; it borrows the arrays. */
static cbx_graph *other_graph(float one, uint8_t first_kind, float *x, uint8_t *kinds)
{
    cbx_graph_data d = *cbx_graph_arrays(graph);
    cbx_graph     *out = NULL;
    cbx_error      err = {0};
    for (int32_t i = 0; i < d.num_nodes * d.num_features; i++)
        x[i] = d.x[i] == 1 ? one : d.x[i];
    memset(kinds, 1, (size_t)d.num_features);
    kinds[0] = first_kind;
    d.x = x;
    d.discrete = kinds;
    d.feat_min = d.feat_max = NULL;
    CHECK_OK(cbx_graph_new(&d, &out, &err), err);
    return out;
}

/* Runs the benchmark under a protocol; how many rows it asked about. */
static int64_t ask_under(int protocol, const char *name, const char *rows_of, cbx_status wanted)
{
    char             folder[512];
    cbx_bench_result result;
    cbx_error        err = {0};
    (void)snprintf(folder, sizeof folder, "%s", test_path(name));
    options.protocol = protocol;
    options.rows_of = rows_of;
    cbx_status status =
        cbx_bench_run_with(&options, &data, 1, folder, false, NULL, NULL, &result, &err);
    CHECK_INT(status, wanted);
    if (status)
        CHECK_CONTAINS(err.message, "plan.txt: ");
    options.rows_of = NULL;
    return result.asked;
}

TEST(rows_of_binary_features_are_those_of_the_other_protocol_and_can_be_taken_from_it)
{
    begin();
    char published[512], asked[512], taken[512];
    (void)snprintf(published, sizeof published, "%s", test_path("as-published"));
    (void)snprintf(asked, sizeof asked, "%s", test_path("asked"));
    (void)snprintf(taken, sizeof taken, "%s", test_path("taken"));
    CHECK_INT(ask_under(CBX_PROTOCOL_PUBLISHED, "as-published", NULL, CBX_OK), 72);
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "asked", NULL, CBX_OK), 72);
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "taken", published, CBX_OK), 0);
    check_same(asked, taken);
    check_same(published, taken);
    options.models = "graphconv"; /* less than is there */
    options.explainers = "ego";
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "less", published, CBX_OK), 0);
    options.explainers = "ego,cf-gnn"; /* more than is there */
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "more", published, CBX_INVALID), 0);
    options.explainers = "ego";
    options.samples = 5;
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "fewer", published, CBX_INVALID), 0);
    options.samples = 6;
    options.published_faults = "loss";
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "faulty", published, CBX_INVALID), 0);
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "nowhere", taken + 1, CBX_INVALID), 0);
    cbx_graph_free(graph);
}

TEST(rows_of_other_features_or_of_another_file_are_asked_again)
{
    begin();
    char        published[512];
    float       x[2][34 * 34];
    uint8_t     kinds[2][34];
    cbx_graph  *others[] = {other_graph(1, 0, x[0], kinds[0]), other_graph(7, 1, x[1], kinds[1])};
    const char *names[][2] = {{"kinds-1", "kinds-2"}, {"units-1", "units-2"}};
    for (int i = 0; i < 2; i++) {
        (void)snprintf(published, sizeof published, "%s", test_path(names[i][0]));
        data = (cbx_bench_data){"karate", others[i]};
        CHECK_INT(ask_under(CBX_PROTOCOL_PUBLISHED, names[i][0], NULL, CBX_OK), 72);
        CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, names[i][1], published, CBX_OK), 72);
    }
    data = (cbx_bench_data){"karate", graph}; /* the file with that name is another one now */
    CHECK_INT(ask_under(CBX_PROTOCOL_MEANT, "file", published, CBX_OK), 72);
    cbx_graph_free(others[0]), cbx_graph_free(others[1]);
    cbx_graph_free(graph);
}

TEST(tables_can_be_made_of_the_answers_that_are_there)
{
    begin();
    char             folder[512];
    cbx_bench_result result;
    cbx_error        err = {0};
    stopper          s = {.after = 20};
    cbx_bench_hooks  hooks = {.progress = stop, .user = &s};
    (void)snprintf(folder, sizeof folder, "%s", test_path("some"));
    CHECK_INT(cbx_bench_run_with(&options, &data, 1, folder, false, NULL, &hooks, &result, &err),
              CBX_CANCELLED);
    int64_t asked = result.asked;
    char   *table = cbx_bench_path(folder, "summary.csv");
    CHECK(asked >= 20 && asked < 72 && access(table, F_OK));
    options.tables_only = true;
    CHECK_OK(cbx_bench_run_with(&options, &data, 1, folder, true, NULL, NULL, &result, &err), err);
    CHECK_INT(result.asked, 0);
    CHECK_INT(result.answers, asked);
    CHECK(!access(table, F_OK));
    free(table);
    cbx_graph_free(graph);
}
