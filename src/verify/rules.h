/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h: which edits are allowed at all.
 *
 * Rules are not penalties: no answer breaks one. They come as text in the options and are read once
 * a call (src/search/read_rules.h). Searches ask what they may try; and whatever a search says that
 * it found, cbx_rules_check looks at its edits again, from the data on. */
#ifndef CBX_RULES_H
#define CBX_RULES_H

#include "arena.h"
#include "edge_columns.h"
#include "graph.h"
#include "plausible.h"

/* One-hot: one feature of the group is 1 and the others are 0. A row of which that is not true to
 * begin with keeps the group as it is. */
enum { CBX_GROUP_OFF, CBX_GROUP_ON };

/* What removing edges must leave: option keep. */
enum { CBX_KEEP_NOTHING, CBX_KEEP_NO_ISOLATED, CBX_KEEP_CONNECTED, CBX_KEEP_MOLECULE };

/* Must what is in one piece stay so? */
static inline bool cbx_keeps_one_piece(int keep)
{
    return keep == CBX_KEEP_CONNECTED || keep == CBX_KEEP_MOLECULE;
}

/* Which way a feature may go: bits. */
enum { CBX_WAY_NOT_DOWN = 1, CBX_WAY_NOT_UP = 2 };

/* Kinds of edit that are allowed: bits. */
enum {
    CBX_EDITS_REMOVE = 1,
    CBX_EDITS_FEATURES = 2,
    CBX_EDITS_ADD = 4,
    CBX_EDITS_REMOVE_NODES = 8,
    CBX_EDITS_WEIGHTS = 16,
    CBX_EDITS_ADD_NODES = 32,
    CBX_EDITS_ATTRIBUTES = 64
};

/* Those that a search takes up one after the other, from an answer without them. */
enum {
    CBX_EDITS_FURTHER =
        CBX_EDITS_ADD | CBX_EDITS_REMOVE_NODES | CBX_EDITS_WEIGHTS | CBX_EDITS_ADD_NODES |
        CBX_EDITS_ATTRIBUTES
};

/* Features from `first` to `last`; group: those of them that are in it, -1: all. */
typedef struct cbx_feature_set {
    int32_t first, last, group;
} cbx_feature_set;

/* `what` may change only in nodes in which `with` changes as well. */
typedef struct cbx_relation {
    cbx_feature_set what, with;
} cbx_relation;

/* Of a call: the same for all targets. */
typedef struct cbx_rules {
    const cbx_graph *graph;
    bool             any;       /* by the options or by the data: is there one at all? */
    uint8_t         *fixed;     /* by feature: may not change */
    float           *lo, *hi;   /* by feature: permitted */
    double          *step;      /* by feature: permitted are multiples of it; 0: all values */
    uint8_t         *way;       /* by feature: CBX_WAY_… */
    int32_t         *group;     /* by feature: its one-hot group, -1: none */
    int32_t          groups;    /* those of the data come first */
    cbx_relation    *relations; /* that must hold together */
    int64_t          num_relations;
    bool             own_features, own_edges, keep_edges;
    bool             keep_all_edges; /* nor does one go with a node of its own */
    int              keep;
    int32_t          elements; /* CBX_KEEP_MOLECULE: the group that says what an atom is, … */
    int8_t          *valence;  /* … and by feature in it, as elements.h has it; NULL: none */
    float           *bond;     /* by edge: its order; NULL: not known, and at least 1 */
    bool             bond_is_weight;
    int64_t          max_edits; /* changes: a group that points elsewhere is one; 0: no limit */
    /* sorted: may not change, nor lose an edge; graph tasks: numbers within a graph */
    int32_t *nodes;
    int64_t  num_nodes;
    int32_t (*edges)[2]; /* sorted pairs, smaller node first: protected */
    int64_t        num_edges;
    cbx_plausible *plausible;            /* how unusual rows are that change; NULL: nobody asks */
    double         most_unusual;         /* that they may be; 0: no limit */
    unsigned       edits;                /* CBX_EDITS_… */
    bool           add_at_target;        /* edges are added at the explained node only */
    int64_t        add_within;           /* hops between the ends of an added edge; 0: any number */
    int64_t        max_degree;           /* edges into the ends of an added edge; 0: no limit */
    float          add_weight;           /* of an added edge */
    float          weight_lo, weight_hi; /* of the data's edges; the same: no weight may change */
    bool           add_to_some;          /* added edges lead to some nodes only: */
    int32_t       *add_to;               /* sorted, numbered as `nodes` */
    int64_t        num_add_to;
    int32_t       *type;            /* by node: both ends of an added edge have the same, and
                                     * not -1; NULL: nobody asks */
    int64_t max_added, max_removed; /* edges; 0: no limit */
    /* what the data has of attributes of edges; NULL: none may change */
    const cbx_edge_columns *attributes;
    /* what the explainer minimal works out for itself (src/minimal) */
    double  *price;              /* by feature: what changing it costs */
    uint8_t *fractions;          /* by feature: some node has one; NULL: nothing is to be proved */
    struct cbx_columns *columns; /* what the data has of features with many values; NULL: none has
                                  * many */
} cbx_rules;

/* May this node's features change, in a search for `row`? Which of them is `fixed`. Numbers of the
 * graph. */
bool cbx_rules_node(const cbx_rules *rules, int32_t row, int32_t node);

/* May the edges between these two nodes go, as far as the two are concerned? */
bool cbx_rules_pair(const cbx_rules *rules, int32_t row, int32_t u, int32_t v);

/* May this node go, as far as it alone is concerned? And the edges between two nodes, where one of
 * them goes? A node goes with all its edges or not at all. */
bool cbx_rules_removal(const cbx_rules *rules, int32_t row, int32_t node);
bool cbx_rules_pair_with_node(const cbx_rules *rules, int32_t row, int32_t u, int32_t v);

/* May the edges between these two get this weight? */
bool cbx_rules_weight(const cbx_rules *rules, int32_t row, int32_t u, int32_t v, float weight);

/* May the edges between these two get the attribute that the edit gives them? */
bool cbx_rules_attribute(const cbx_rules *rules, int32_t row, const cbx_edit *edit);

/* May an edge be added between these two, as far as the two are concerned? How far apart they are,
 * and how many edges they have, is asked elsewhere. */
bool cbx_rules_addition(const cbx_rules *rules, int32_t row, int32_t u, int32_t v);

/* May a copy of one node be added with an edge to another of the same graph, as far as the two are
 * concerned? How many edges there are is asked elsewhere. */
bool cbx_rules_new_node(const cbx_rules *rules, int32_t row, int32_t copied, int32_t at);

/* Do edges that are added meet a limit at their ends? And how many may be added into a node, by the
 * rules max-degree, which counts the data's edges without loops, and keep molecule, which counts
 * orders of bonds. Less than 0: there are too many already. Taking an edge away makes no room. */
bool    cbx_rules_limit_degree(const cbx_rules *rules);
int64_t cbx_rules_room(const cbx_rules *rules, int32_t node);

/* Is there a limit to the number of edits? */
static inline bool cbx_rules_limit_numbers(const cbx_rules *rules)
{
    return rules->max_edits > 0 || rules->max_added > 0 || rules->max_removed > 0;
}

/* May the feature go from one value to another? */
bool cbx_rules_value(const cbx_rules *rules, int32_t feature, float from, float to);

/* May a one-hot group that points to the feature `from` point to `to`, of the same group? */
bool cbx_rules_turn(const cbx_rules *rules, int32_t from, int32_t to);

/* The permitted value that is nearest to `to`; `from` where there is none. */
float cbx_rules_nearest(const cbx_rules *rules, int32_t feature, float from, float to);

/* The multiple of a step that is nearest; the first that is not below, or not above. */
float cbx_rules_multiple(double step, float value);
float cbx_rules_multiple_from(double step, float value);
float cbx_rules_multiple_to(double step, float value);

static inline bool cbx_rules_has(const cbx_rules *rules, const cbx_feature_set *set, int32_t j)
{
    return j >= set->first && j <= set->last && (set->group < 0 || rules->group[j] == set->group);
}

/* Of a row's features as they were and as they are: does the relation hold? Do all? */
bool cbx_rules_relation(const cbx_rules *rules, const cbx_relation *relation, const float *before,
                        const float *after);
bool cbx_rules_relations(const cbx_rules *rules, const float *before, const float *after);

/* Do the edits keep all rules? `class`: that they lead to, -1: one that the data does not know.
 * CBX_INVALID: they do not, and the error says which and why. */
cbx_status cbx_rules_check(const cbx_rules *rules, int32_t row, int32_t class,
                           const cbx_edit *edits, int64_t count, cbx_error *err);

/* Do those hold that are about edits together, whatever the others say: relations, plausibility,
 * and where nodes go what must be left of the graph? Taking an edit back can break them. */
cbx_status cbx_rules_check_together(const cbx_rules *rules, int32_t class, const cbx_edit *edits,
                                    int64_t count, bool *hold, cbx_error *err);

#endif
