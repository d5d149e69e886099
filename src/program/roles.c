/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c: which input is which. Names are those that PyG's modules have; a mapping of the
 * caller's comes first. */
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "pt2.h"

static const char *const names[CBX_ROLES] = {"other", "x",         "edge_index",
                                             "batch", "edge_attr", "edge_weight"};

const char *cbx_role_name(cbx_role role)
{
    return names[role];
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static bool begins(const char *name, const char *part)
{
    return !strncmp(name, part, strlen(part));
}

/* Could an input of this type and shape have the role at all? */
static bool fits(const cbx_program_input *in, cbx_role role)
{
    bool real = cbx_is_real(in->type), integer = in->type == CBX_INTEGER;
    switch (role) {
    case CBX_ROLE_X:
        return real && in->rank >= 1;
    case CBX_ROLE_EDGE_INDEX:
        return integer && in->rank == 2 && in->size[0] == 2;
    case CBX_ROLE_BATCH:
        return integer && in->rank == 1;
    case CBX_ROLE_EDGE_ATTR:
        return (real || integer) && (in->rank == 1 || in->rank == 2); /* kinds are integers */
    case CBX_ROLE_EDGE_WEIGHT:
        return real && in->rank <= 2;
    default:
        return true;
    }
}

static cbx_role by_name(const cbx_program_input *in)
{
    const char *n = in->name;
    cbx_role    role = has(n, "edge_index") && !has(n, "label")     ? CBX_ROLE_EDGE_INDEX
                       : has(n, "edge_weight")                      ? CBX_ROLE_EDGE_WEIGHT
                       : has(n, "edge_attr") || has(n, "edge_feat") ? CBX_ROLE_EDGE_ATTR
                       : has(n, "batch")                            ? CBX_ROLE_BATCH
                       : !strcmp(n, "x") || begins(n, "x_") || has(n, "features") ? CBX_ROLE_X
                                                                                  : CBX_ROLE_OTHER;
    return fits(in, role) ? role : CBX_ROLE_OTHER;
}

/* ---- the caller's mapping: "x=features,edge_index=links" */

static cbx_status set_one(cbx_program *p, const char *word, size_t length, cbx_error *err)
{
    const char *equals = memchr(word, '=', length);
    size_t      role_length = equals ? (size_t)(equals - word) : 0;
    int         role = 1;
    while (role < CBX_ROLES &&
           (strlen(names[role]) != role_length || strncmp(names[role], word, role_length) != 0))
        role++;
    for (int32_t i = 0; equals && role < CBX_ROLES && i < p->info.num_inputs; i++) {
        cbx_program_input *in = &p->inputs[i];
        if (strlen(in->name) != length - role_length - 1 ||
            strncmp(in->name, equals + 1, length - role_length - 1) != 0)
            continue;
        if (!fits(in, (cbx_role)role))
            return cbx_fail(err, CBX_INVALID,
                            "%s: input '%s' cannot be %s: it is %s of %d dimensions", p->info.path,
                            in->name, names[role], cbx_type_name(in->type), in->rank);
        in->role = (cbx_role)role;
        return CBX_OK;
    }
    return cbx_fail(
        err, CBX_INVALID,
        "%s: '%.*s': ROLE=INPUT expected, a role being x, edge_index, batch, edge_attr or "
        "edge_weight",
        p->info.path, (int)(length < 80 ? length : 80), word);
}

static cbx_status set_all(cbx_program *p, const char *roles, cbx_error *err)
{
    cbx_status status = CBX_OK;
    for (const char *at = roles; *at && !status;) {
        size_t length = strcspn(at, ",");
        status = set_one(p, at, length, err);
        at += length + (at[length] == ',');
    }
    return status;
}

/* ---- what must be there */

/* Inputs that could have a role which no name gave: how many, and the last of them. */
static int32_t candidates(const cbx_program *p, cbx_role role, int32_t *count)
{
    int32_t found = -1;
    for (int32_t i = 0; i < p->info.num_inputs; i++)
        if (p->inputs[i].role == CBX_ROLE_OTHER && fits(&p->inputs[i], role) &&
            (role != CBX_ROLE_X || p->inputs[i].rank == 2)) {
            found = i;
            ++*count;
        }
    return found;
}

static cbx_status fail_missing(const cbx_program *p, cbx_role role, cbx_error *err)
{
    char   all[200] = "";
    size_t at = 0;
    for (int32_t i = 0; i < p->info.num_inputs && at < sizeof all - 1; i++) {
        int n = snprintf(all + at, sizeof all - at, "%s%.40s", i ? ", " : "", p->inputs[i].name);
        at += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail(
        err, CBX_INVALID,
        "%s: which input is %s? There are: %s. Say so: inputs=%s=NAME (--inputs %s=NAME)",
        p->info.path, names[role], all, names[role], names[role]);
}

/* Which dimension of an input follows the graph. */
static int32_t open_dim(const cbx_program_input *in)
{
    return in->role == CBX_ROLE_EDGE_INDEX ? 1 : 0;
}

/* The line of Python that would have freed all of them. */
static void tell_shapes(const cbx_program *p, char *text, size_t size)
{
    size_t at = 0;
    for (int32_t i = 0; i < p->info.num_inputs && at < size - 1; i++) {
        int n = snprintf(text + at, size - at, "%s'%.40s': {%d: d}", i ? ", " : "",
                         p->inputs[i].name, open_dim(&p->inputs[i]));
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Sizes that would have to be those of the export's graph. */
static cbx_status check_fixed(const cbx_program *p, const cbx_program_input *in, cbx_error *err)
{
    char    shapes[200] = "";
    int32_t dim = open_dim(in);
    if (in->role == CBX_ROLE_OTHER || in->rank <= dim || in->size[dim] < 0)
        return CBX_OK;
    tell_shapes(p, shapes, sizeof shapes);
    return cbx_fail(err, CBX_INVALID,
                    "%s: exported with fixed sizes: '%s' has size %lld in dimension %d. Free them: "
                    "d = torch.export.Dim.DYNAMIC; torch.export.export(module, inputs, "
                    "dynamic_shapes={%s})",
                    p->info.path, in->name, (long long)in->size[dim], dim, shapes);
}

cbx_status cbx_roles_find(cbx_program *p, const char *roles, cbx_error *err)
{
    cbx_status status = roles ? set_all(p, roles, err) : CBX_OK;
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++)
        if (p->inputs[i].role == CBX_ROLE_OTHER)
            p->inputs[i].role = by_name(&p->inputs[i]);
    static const cbx_role needed[] = {CBX_ROLE_EDGE_INDEX, CBX_ROLE_X};
    for (size_t k = 0; k < 2 && !status; k++) {
        if (cbx_program_find(p, needed[k]) >= 0)
            continue;
        int32_t count = 0, only = candidates(p, needed[k], &count);
        if (count == 1)
            p->inputs[only].role = needed[k];
        else if (count > 1 || needed[k] == CBX_ROLE_EDGE_INDEX) /* a model may have no features */
            status = fail_missing(p, needed[k], err);
    }
    for (int32_t i = 0; i < p->info.num_inputs && !status; i++)
        status = check_fixed(p, &p->inputs[i], err);
    return status;
}
