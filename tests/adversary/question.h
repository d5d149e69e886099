/* SPDX-License-Identifier: Apache-2.0 */
/* question.h: one question to the explainer: a graph, an oracle, a row, and rules.
 *
 * Everything is here twice: as the library is told it, and as what it means, so that judging needs
 * no reader of lists. */
#ifndef CBX_ADVERSARY_QUESTION_H
#define CBX_ADVERSARY_QUESTION_H

#include "combinex/kit.h"
#include "dice.h"
#include "naive_gnn.h"

enum {
    MAX_RELATIONS = 3,
    MAX_GRAPHS = 4,
    MAX_SETTINGS = 32,
    MAX_SETTING = 1200,
    SHAPE_NAME = 64,
    MAX_NEW = 24
};

/* ---- the graph */

typedef struct world {
    cbx_task task;
    int      nodes, edges, features, classes, graphs;
    int      offered;           /* edges behind `edges` that are not there, and may be added */
    char     shape[SHAPE_NAME]; /* in words */
    int64_t  source[MAX_EDGES], target[MAX_EDGES];
    float    edge_weight[MAX_EDGES];
    int   copied[MAX_NEW], at[MAX_NEW], newcomers; /* nodes that may be added to the row's graph */
    bool  weighted;
    float x[MAX_NODES * MAX_FEATURES];
    bool  sparse; /* told as CSR */
    bool  told_kinds, told_bounds;
    uint8_t discrete[MAX_FEATURES], immutable[MAX_FEATURES];
    float   lo[MAX_FEATURES], hi[MAX_FEATURES];
    /* features that are one-hot: which block each is of, or -1; of the blocks the first few are
     * groups by the data, the others are so if a rule says it */
    int32_t block[MAX_FEATURES], blocks, told_blocks;
    int32_t told[MAX_FEATURES]; /* the block, where the data says that it is a group */
    int64_t graph_ptr[MAX_GRAPHS + 1];
    /* memory for the sparse form */
    int64_t indptr[MAX_NODES + 1];
    int32_t indices[MAX_NODES * MAX_FEATURES];
    float   values[MAX_NODES * MAX_FEATURES];
} world;

/* ---- the rules */

/* What a question can have; combinations of any two are asked in turn. */
typedef enum rule {
    RULE_NONE,
    RULE_NO_ISOLATED,
    RULE_CONNECTED,
    RULE_MOLECULE,
    RULE_KEEP_EDGES,
    RULE_OWN_EDGES,
    RULE_OWN_FEATURES,
    RULE_IMMUTABLE_NODES,
    RULE_PROTECTED_EDGES,
    RULE_FEATURES_TO_VARY,
    RULE_IMMUTABLE_FEATURES,
    RULE_IMMUTABLE_DATA,
    RULE_PERMITTED_RANGE,
    RULE_ONE_HOT,
    RULE_ONE_HOT_DATA,
    RULE_MAX_EDITS,
    RULE_THRESHOLD,
    RULE_DIRECTED,
    RULE_NEXT,
    RULE_CLASS,
    RULE_COSTS,
    RULE_TOTAL_CFS,
    RULE_DIVERSE,
    RULE_BUDGET,
    RULE_TIME_LIMIT,
    RULE_KINDS_AUTO,
    RULE_START_BOTH,
    RULE_CANCEL, /* the caller stops the search in the middle */
    RULE_WAY,    /* only-up, only-down */
    RULE_STEP,
    RULE_IF_CHANGED,
    RULE_AS_SELF,
    RULE_METHOD, /* another one than minimal */
    RULES
} rule;

#define RULE_BIT(rule) (UINT64_C(1) << (rule))

extern const char *const rule_names[RULES];

enum { KEEP_ANY, KEEP_NO_ISOLATED, KEEP_CONNECTED, KEEP_MOLECULE };
enum { TARGET_NEXT = -2, TARGET_ANY = -1 };

/* What answers are compared by. */
enum { COUNTS_BOTH, COUNTS_EDITS, COUNTS_DISTANCE };

typedef struct question {
    uint64_t  seed;
    int64_t   number;
    world     world;
    naive_gnn gnn;
    int       row;
    uint64_t  rules; /* bits: RULE_BIT */
    bool      near;  /* its oracle is made to flip by little … */
    bool      alone; /* … with removals of edges alone */

    /* what they mean */
    int     keep;
    bool    removes_nodes, adds_nodes, weighs; /* weights of edges may change */
    bool    adds; /* edges to these nodes may be added, at the row or in its graph, and nodes */
    uint8_t add_to[MAX_NODES];
    bool    keep_edges, own_edges, own_features, directed, diverse, kinds_auto;
    uint8_t fixed[MAX_FEATURES]; /* by the question's rules and by the data */
    uint8_t asked_fixed[MAX_FEATURES];
    uint8_t discrete[MAX_FEATURES];
    float   lo[MAX_FEATURES], hi[MAX_FEATURES];             /* permitted, within the data's */
    float   asked_lo[MAX_FEATURES], asked_hi[MAX_FEATURES]; /* NaN: not asked for */
    int32_t group[MAX_FEATURES], groups;                    /* one-hot, by both */
    int32_t atoms;                 /* the group that says what an atom is; -1: none */
    int     element[MAX_FEATURES]; /* of a column of it: elements */
    uint8_t only_up[MAX_FEATURES], only_down[MAX_FEATURES];
    double  step[MAX_FEATURES]; /* values are multiples; 0: they need not be */
    int     what[MAX_RELATIONS], with[MAX_RELATIONS], relations; /* features: if-changed */
    bool    as_self, shown_groups; /* groups that the values show count */
    double  plausible;             /* how unusual rows that change may be; 0: no limit */
    uint8_t immutable_node[MAX_NODES], protect_edge[MAX_EDGES]; /* edge: and all beside it */
    int     max_edits, target, total_cfs;
    int     max_added, max_removed; /* edges; 0: no limit */
    int     add_within, max_degree; /* hops between the ends of an added edge, edges into them */
    bool    same_type;              /* so are atoms at both ends of an added edge */
    int     patience; /* calls of the progress function after which it stops the search; 0: never */
    double  threshold, edge_cost, feature_cost, node_cost;
    int     counts;    /* of costs: one of COUNTS_… */
    int     dear;      /* a feature that has a cost of its own; -1: none */
    double  dear_cost; /* that */

    /* how they are told: names and values of cbx_explain_table */
    int  num_settings;
    char settings[MAX_SETTINGS][2][MAX_SETTING];
} question;

/* What atoms can be; those of no valence stay what they are. */
typedef struct chemical_element {
    const char *symbol;
    int         valence;
} chemical_element;

enum { ELEMENTS = 8 };
extern const chemical_element elements[ELEMENTS];

static inline bool has_rule(const question *q, rule r)
{
    return q->rules >> r & 1;
}

static inline float feature_of(const world *w, int node, int feature)
{
    return w->x[node * w->features + feature];
}

/* The nodes of the row: one, or those of a graph. */
static inline int first_node(const question *q)
{
    return q->world.task == CBX_GRAPH ? (int)q->world.graph_ptr[q->row] : q->row;
}

static inline int end_node(const question *q)
{
    return q->world.task == CBX_GRAPH ? (int)q->world.graph_ptr[q->row + 1] : q->row + 1;
}

/* May these two nodes lose their edges, as far as the two are concerned? May this node's features
 * change? */
bool may_lose_edges(const question *q, int u, int v);
bool may_change_node(const question *q, int node);

/* May the edges between these two get another weight? */
bool may_weigh(const question *q, int u, int v);

/* May this node go, with all its edges? */
bool may_lose_node(const question *q, int node);

/* Bonds that the atom can have, as it is; 0: none is known. */
int valence_of(const question *q, int node);

/* May this newcomer come? */
bool may_get_node(const question *q, int newcomer);

/* The same of edges that come. */
bool may_get_edge(const question *q, int u, int v);

/* What the weight of an added edge is. */
float middle_weight(const world *w);

/* May a node's feature become this, one-hot groups aside? */
bool may_become(const question *q, int node, int feature, float value);

/* Can an atom be one column's element as well as the other's? Yes of what tells no atoms. */
bool are_exchangeable(const question *q, int column, int other);

/* Of a node's features as they are: has everything changed that others changed with? */
bool changes_together(const question *q, int node, const float *x);

/* ---- drawing them, the same for the same seed and number */

void draw_question(question *q, uint64_t seed, int64_t number);

void draw_world(world *w, dice *d, uint64_t rules);
void draw_gnn(naive_gnn *gnn, const world *w, dice *d);
void draw_rules(question *q, dice *d);
void tell_rules(question *q, dice *d);

/* Makes a class lead with some edits within the rules, but hardly. */
void move_near_flip(question *q, dice *d);

#endif
