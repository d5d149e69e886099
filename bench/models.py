#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which models of PyTorch Geometric are explained, by which door, and are the answers right?

    models.py [--nodes 4] [--only 'NAME;…']

Trains each architecture a little on the karate club, takes it as layers, as a program and as a function that is asked
in torch, as far as it can be, and makes every answer in torch: the edges are taken out, the features set, and the
module must decide as the answer says. A row says for each door how many answers hold of those that were found, how
many edits they take (the median), and by which one cx.explain goes. The exit status is 1 if an answer does not hold.
"""
import argparse
import sys
import tempfile
import warnings

import torch
from torch import nn
from torch_geometric import nn as gnn
from torch_geometric.data import Data
from torch_geometric.datasets import KarateClub
from torch_geometric.nn import models

import combinex as cx
from common import table

F, H, C = 34, 16, 4


def mlp(a, b):
    return nn.Sequential(nn.Linear(a, H), nn.ReLU(), nn.Linear(H, b))


class Two(nn.Module):
    """Two convolutions, something between them."""

    def __init__(self, make, between=None):
        super().__init__()
        self.first, self.second = make(F, H), make(H, C)
        self.between = between or nn.ReLU()

    def forward(self, x, edge_index):
        return self.second(self.between(self.first(x, edge_index)), edge_index)


class Skip(nn.Module):
    """A residual network with an MLP for a head."""

    def __init__(self, make, norm=nn.Identity):
        super().__init__()
        self.lift, self.convs = nn.Linear(F, H), nn.ModuleList([make(H, H), make(H, H)])
        self.norms, self.head = nn.ModuleList([norm(H), norm(H)]), mlp(H, C)

    def forward(self, x, edge_index):
        x = self.lift(x)
        for conv, norm in zip(self.convs, self.norms):
            x = x + torch.relu(norm(conv(x, edge_index)))
        return self.head(x)


class Wide(nn.Module):
    """Attention with several heads side by side."""

    def __init__(self, make):
        super().__init__()
        self.first, self.second = make(F, 8, heads=4), make(32, C, heads=1)

    def forward(self, x, edge_index):
        return self.second(nn.functional.elu(self.first(x, edge_index)), edge_index)


class Initial(nn.Module):
    """GCNII: every layer sees the first."""

    def __init__(self):
        super().__init__()
        self.lift, self.convs = nn.Linear(F, H), nn.ModuleList([gnn.GCN2Conv(H, 0.1) for _ in range(3)])
        self.head = nn.Linear(H, C)

    def forward(self, x, edge_index):
        x = first = self.lift(x).relu()
        for conv in self.convs:
            x = conv(x, first, edge_index).relu()
        return self.head(x)


class Propagated(nn.Module):
    def __init__(self, spread):
        super().__init__()
        self.mlp, self.spread = mlp(F, C), spread

    def forward(self, x, edge_index):
        return self.spread(self.mlp(x), edge_index)


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = gnn.GCNConv(F, H), gnn.SAGEConv(F, H), gnn.GATConv(2 * H, C)

    def forward(self, x, edge_index):
        return self.c(torch.cat([self.a(x, edge_index), self.b(x, edge_index)], 1).tanh(), edge_index)


ARCHITECTURES = {
    "GCN": lambda: Two(gnn.GCNConv),
    "GCN, improved": lambda: Two(lambda a, b: gnn.GCNConv(a, b, improved=True)),
    "GCN, no self-loops": lambda: Two(lambda a, b: gnn.GCNConv(a, b, add_self_loops=False)),
    "Cheb, K = 3": lambda: Two(lambda a, b: gnn.ChebConv(a, b, 3)),
    "GraphConv": lambda: Two(gnn.GraphConv),
    "GraphConv, max": lambda: Two(lambda a, b: gnn.GraphConv(a, b, aggr="max")),
    "SAGE, mean": lambda: Two(gnn.SAGEConv),
    "SAGE, max": lambda: Two(lambda a, b: gnn.SAGEConv(a, b, aggr="max")),
    "SAGE, mean and max": lambda: Two(lambda a, b: gnn.SAGEConv(a, b, aggr=["mean", "max"])),
    "SAGE, normalised": lambda: Two(lambda a, b: gnn.SAGEConv(a, b, normalize=True)),
    "GAT": lambda: Two(gnn.GATConv),
    "GAT, 4 heads": lambda: Wide(gnn.GATConv),
    "GATv2, 4 heads": lambda: Wide(gnn.GATv2Conv),
    "Transformer": lambda: Two(gnn.TransformerConv),
    "Transformer, 4 heads": lambda: Wide(gnn.TransformerConv),
    "SuperGAT": lambda: Two(gnn.SuperGATConv),
    "GIN": lambda: Two(lambda a, b: gnn.GINConv(mlp(a, b))),
    "GIN, batch norm inside": lambda: Two(
        lambda a, b: gnn.GINConv(nn.Sequential(nn.Linear(a, H), nn.BatchNorm1d(H), nn.ReLU(), nn.Linear(H, b)))
    ),
    "GIN, eps learnt": lambda: Two(lambda a, b: gnn.GINConv(mlp(a, b), train_eps=True)),
    "SGC": lambda: Two(lambda a, b: gnn.SGConv(a, b, K=2)),
    "SSGC": lambda: Two(lambda a, b: gnn.SSGConv(a, b, alpha=0.1, K=2)),
    "TAG": lambda: Two(lambda a, b: gnn.TAGConv(a, b, K=2)),
    "ARMA": lambda: Two(gnn.ARMAConv),
    "APPNP": lambda: Propagated(gnn.APPNP(4, 0.1)),
    "LGConv": lambda: Propagated(gnn.LGConv()),
    "GCNII": Initial,
    "Gated": lambda: Two(gnn.ResGatedGraphConv),
    "EdgeConv": lambda: Two(lambda a, b: gnn.EdgeConv(mlp(2 * a, b))),
    "FeaSt": lambda: Two(gnn.FeaStConv),
    "Le": lambda: Two(gnn.LEConv),
    "ClusterGCN": lambda: Two(gnn.ClusterGCNConv),
    "MF": lambda: Two(gnn.MFConv),
    "GENConv": lambda: Two(gnn.GENConv),
    "FiLM": lambda: Two(gnn.FiLMConv),
    "GeneralConv": lambda: Two(gnn.GeneralConv),
    "HypergraphConv": lambda: Two(gnn.HypergraphConv),
    "PNA": lambda: Two(
        lambda a, b: gnn.PNAConv(a, b, ["mean", "max", "std"], ["identity", "amplification"], torch.bincount(degrees()))
    ),
    "ELU between": lambda: Two(gnn.GCNConv, nn.ELU()),
    "GELU between": lambda: Two(gnn.SAGEConv, nn.GELU()),
    "tanh between": lambda: Two(gnn.GCNConv, nn.Tanh()),
    "PReLU between": lambda: Two(gnn.GCNConv, nn.PReLU()),
    "LayerNorm between": lambda: Two(gnn.SAGEConv, nn.Sequential(nn.LayerNorm(H), nn.ReLU())),
    "BatchNorm between": lambda: Two(gnn.GCNConv, nn.Sequential(nn.BatchNorm1d(H), nn.ReLU())),
    "GraphNorm between": lambda: Two(gnn.GCNConv, nn.Sequential(gnn.GraphNorm(H), nn.ReLU())),
    "PairNorm between": lambda: Two(gnn.GCNConv, nn.Sequential(gnn.PairNorm(), nn.ReLU())),
    "residual GCN, MLP head": lambda: Skip(gnn.GCNConv),
    "residual GAT, LayerNorm": lambda: Skip(gnn.GATConv, nn.LayerNorm),
    "GCN, SAGE and GAT": Mixed,
    "models.GCN, 3 layers": lambda: models.GCN(F, H, 3, C),
    "models.GCN, jk max": lambda: models.GCN(F, H, 2, C, jk="max"),
    "models.GCN, jk lstm": lambda: models.GCN(F, H, 2, C, jk="lstm"),
    "models.GraphSAGE": lambda: models.GraphSAGE(F, H, 2, C),
    "models.GAT": lambda: models.GAT(F, H, 2, C, heads=2),
    "models.GIN": lambda: models.GIN(F, H, 2, C),
    "models.EdgeCNN": lambda: models.EdgeCNN(F, H, 2, C),
    "models.LINKX": lambda: models.LINKX(34, F, H, C, 2),
}


def degrees():
    edge_index = KarateClub()[0].edge_index
    return torch.bincount(edge_index[1], minlength=34)


def trained(make, data):
    torch.manual_seed(1)
    module = make()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(data.x, data.edge_index), data.y).backward()
        optimizer.step()
    return module.eval()


def holds(module, data, cf, node):
    """Does torch decide on the edited data as the answer says?"""
    x, keep = data.x.clone(), torch.ones(data.edge_index.shape[1], dtype=torch.bool)
    source, target = data.edge_index
    for edit in cf.to_dict()["edits"]:
        if edit["op"] == "set_feature":
            x[edit["node"], edit["feature"]] = edit["to"]
            continue
        a, b = edit["source"], edit["target"]
        keep &= ~((source == a) & (target == b))
        if edit["undirected"]:
            keep &= ~((source == b) & (target == a))
    with torch.no_grad():
        return int(module(x, data.edge_index[:, keep])[node].argmax()) == cf.result


def doors(module, data, folder):
    """The module through each of the three doors: (name, model and graph, or why not)."""

    def program():
        model = cx.export(module, data, f"{folder}/model.pt2")
        return model, cx.pyg.graph_from_pyg(data)

    for name, go in (
        ("layers", lambda: cx.pyg.import_both(module, data)),
        ("program", program),
        ("callback", lambda: cx.pyg.ask_in_torch(module, data)),
    ):
        try:
            yield name, go()
        except (cx.UnsupportedError, cx.errors.InvalidError) as error:
            yield name, str(error)


def asked(module, data, nodes, model, graph):
    """How many nodes get an answer, how many of these hold in torch, and the median of their edits."""
    answers = [(node, cx.explain(model, graph, node=node, target="any", time_limit=20)) for node in nodes]
    found = [(node, cf) for node, cf in answers if cf.status == "found"]
    edits = sorted(cf.num_edits for _, cf in found)
    return len(found), sum(holds(module, data, cf, node) for node, cf in found), edits[len(edits) // 2] if edits else ""


def row_of(name, data, nodes):
    """The row of a table; answers, and those that hold; the door that cx.explain takes."""
    module, row, total, right, first = trained(ARCHITECTURES[name], data), [name], 0, 0, "refused"
    with tempfile.TemporaryDirectory() as folder:
        for door, taken in doors(module, data, folder):
            if isinstance(taken, str):
                print(f"{name}, {door}: {taken[:200]}", file=sys.stderr)
                row.append("")
                continue
            first = door if first == "refused" else first
            found, hold, edits = asked(module, data, nodes, *taken)
            total, right = total + found, right + hold
            row.append(f"{hold} of {found}, {edits} edits" if found == len(nodes) else f"{hold} of {found} of {len(nodes)}")
    return [*row, first], total, right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--only", type=lambda text: text.split(";"), default=list(ARCHITECTURES))
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    club = KarateClub()[0]
    data = Data(x=club.x, edge_index=club.edge_index, y=club.y)
    rows, total, right = [], 0, 0
    for name in args.only:
        row, found, hold = row_of(name, data, [0, 8, 19, 33][: args.nodes])
        rows.append(row)
        total, right = total + found, right + hold
        print(row, file=sys.stderr, flush=True)
    print(table(["model", "layers", "program", "asked in torch", "cx.explain takes"], rows))
    taken = sum(row[-1] != "refused" for row in rows)
    print(f"{taken} of {len(rows)} architectures are taken; {right} of {total} answers hold in torch.")
    sys.exit(0 if right == total else 1)


if __name__ == "__main__":
    main()
