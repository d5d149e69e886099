/* SPDX-License-Identifier: Apache-2.0 */
/* model.c: see model.h. */
#include "model.h"

#include <stdio.h>
#include <string.h>

/* The number of a label that the data's classes have the name of. */
static const char *label_number(const source *s, const char *label, class_text buffer)
{
    for (int32_t c = 0; label && s->view->class_names && c < s->view->num_classes; c++)
        if (!strcmp(s->view->class_names[c], label)) {
            (void)snprintf(buffer, sizeof(class_text), "%d", (int)c);
            return buffer;
        }
    return label;
}

/* The data with these two classes, and with no label of its own, which would be of others. */
static int rename_classes(source *s, const cbx_model *model)
{
    cbx_graph_data data = *s->view;
    cbx_graph     *renamed;
    cbx_error      err;
    s->classes[0] = cbx_model_class_name(model, 0);
    s->classes[1] = cbx_model_class_name(model, 1);
    data.y = NULL;
    data.num_classes = 2;
    data.class_names = s->classes;
    data.num_splits = 0;
    data.train_mask = data.val_mask = data.test_mask = NULL;
    if (cbx_graph_new(&data, &renamed, &err))
        return fail_with(&err);
    s->read = s->graph;
    s->graph = renamed;
    s->view = cbx_graph_arrays(renamed);
    return EXIT_DONE;
}

/* Are the model's classes other ones than the data's? Two that the data names are its own, unless
 * the user says what the scores are. */
static bool has_other_classes(const asked_model *m, const cbx_options *o, const source *s)
{
    if (!cbx_model_class_name(m->model, 0))
        return false;
    bool said = args_given(o, "scores") || args_given(o, "label") || args_given(o, "classes");
    return m->numbers || said || s->view->num_classes != 2 || !s->view->class_names;
}

/* Of a model of numbers: whether they are where they are wanted. */
static int take_aim(asked_model *m, const char *path, const source *s, const char **target)
{
    cbx_error err;
    if (!target || cbx_model_describe(m->model).num_classes != 1)
        return EXIT_DONE;
    if (!*target || !strcmp(*target, "next") || !strcmp(*target, "any"))
        return fail("%s gives numbers, and no classes: --target needs a range, such as \">=3.5\", "
                    "\"[2,3]\" or \"+10%%\"",
                    path);
    m->numbers = m->model;
    m->model = NULL;
    if (cbx_model_aim(m->numbers, s->graph, *target, &m->model, &err))
        return fail_with(&err);
    *target = "1";
    return EXIT_DONE;
}

/* --label may be a name of the data's classes. */
static int number_label(cbx_options *options, const source *s)
{
    class_text buffer;
    char       label[512];
    cbx_error  err;
    if (!cbx_options_get(options, "label", label, sizeof label))
        return EXIT_DONE;
    return cbx_options_set(options, "label", label_number(s, label, buffer), &err) ? fail_with(&err)
                                                                                   : EXIT_DONE;
}

int model_open(asked_model *m, const char *path, cbx_options *options, source *s,
               const char **target)
{
    cbx_error err;
    *m = (asked_model){0};
    if (number_label(options, s))
        return EXIT_FAILED;
    if (cbx_model_open(path, options, &m->model, &err))
        return fail_with(&err);
    int status = take_aim(m, path, s, target);
    if (status == EXIT_DONE && has_other_classes(m, options, s))
        status = rename_classes(s, m->model);
    if (status == EXIT_DONE && cbx_model_fits(m->model, s->graph, &err))
        status = fail_with(&err);
    return status;
}

void model_close(asked_model *m)
{
    cbx_model_free(m->model);
    cbx_model_free(m->numbers);
}
