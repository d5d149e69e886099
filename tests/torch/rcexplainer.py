# SPDX-License-Identifier: Apache-2.0
"""RCExplainer's training written for reading: a mask from a small network, concrete sampling, the distance to the
class's boundaries. Parameters and random numbers are combinex's."""
import math

import torch

import draws
from reference import Factual, Graph, log_probs

HIDDEN, HOTTEST, COLDEST, LEAST = 64, 5.0, 0.5, 1e-6
ORDER, WALKS, NOISE = 2, 3, 4  # which stream of a seed is what


def embed(oracle, graph):
    """The last layer's output for every node."""
    x = graph.x - oracle.mean
    for layer in oracle.layers:
        x = layer(x, graph.edge_index, graph.edge_weight).relu()
    return x


def walk(start, end):
    """The first class that is another on the way from one row of scores to the other; None: there is none."""
    stays = 1.0
    for _ in range(64):
        stays *= 0.9
        best = int((stays * start + (1 - stays) * end).argmax())
        if best != int(start.argmax()):
            return best
    return None


def boundaries(logp, seed, walks):
    """By class: those that shut rows of other classes out, the best first."""
    classes, met, seed = logp.argmax(1).tolist(), {}, draws.Stream(seed, WALKS, 0, 0).state
    for i, own in enumerate(classes):
        stream = draws.Stream(seed, i, 0, 0)
        for _ in range(walks):
            to = stream.below(len(logp))
            other = walk(logp[i], logp[to]) if classes[to] != own else None
            if other is not None:
                met.setdefault(own, set()).add(other)
    chosen = {}
    for own, others in met.items():
        left = {i for i, c in enumerate(classes) if c != own}
        out = {other: {i for i in left if logp[i, own] <= logp[i, other]} for other in others}
        chosen[own] = []
        while left and others:
            best = max(sorted(others), key=lambda other: len(left & out[other]))
            if not left & out[best]:
                break
            chosen[own].append(best)
            others = others - {best}
            left -= out[best]
    return chosen


class Training:
    def __init__(self, tensors, oracle, theta, seed, undirected, settings):
        self.graph = Graph.from_tensors(tensors, torch.float64)
        self.oracle, self.seed, self.undirected, self.own = oracle.double(), seed, undirected, settings
        self.node_task = oracle.arch["task"] == "node"
        with torch.no_grad():
            self.Z = embed(oracle, self.graph)
            self.logp = log_probs(oracle, self.graph, self.graph.x, self.graph.edge_weight)
        self.boundaries = boundaries(self.logp, seed, settings["walks"])
        theta = torch.as_tensor(theta).double()
        inputs = (3 if self.node_task else 2) * self.Z.shape[1]
        sizes = [(inputs, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
        parts = theta.split([math.prod(size) for size in sizes])
        self.parameters = [part.reshape(size).clone().requires_grad_() for part, size in zip(parts, sizes)]
        self.optimiser = torch.optim.Adam(self.parameters, settings["lr"])

    def theta(self):
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def factual(self, row):
        if self.node_task:
            return Factual.around_node(self.graph, row, len(self.oracle.layers))
        return Factual.one_of_many(self.graph, row)

    def scores(self, factual):
        """By pair, with each edge's pair and each pair's least edge."""
        ends = factual.graph.edge_index
        owner = torch.arange(ends.shape[1])
        if self.undirected:
            owner = torch.unique(ends.sort(0).values, dim=1, return_inverse=True)[1]
        Z = self.Z[factual.nodes]
        parts = [Z[ends[0]], Z[ends[1]]]
        if self.node_task:
            parts.append(Z[factual.row].expand(len(owner), -1))
        W1, b1, W2, b2 = self.parameters
        edge = (torch.relu(torch.cat(parts, 1) @ W1 + b1) @ W2 + b2).flatten()
        count = int(owner.max()) + 1
        score = torch.zeros(count, dtype=edge.dtype).scatter_reduce(0, owner, edge, "mean", include_self=False)
        ids = torch.full((count,), len(self.graph.edge_weight)).scatter_reduce(0, owner, factual.edges, "amin")
        return score, owner, ids.tolist()

    def loss(self, row, epoch):
        """None: there is nothing to learn from this row."""
        factual, before = self.factual(row), self.logp[row]
        own = int(before.argmax())
        others = self.boundaries.get(own, [])
        if not len(factual.edges) or not others:
            return None
        score, owner, ids = self.scores(factual)
        u = [draws.Stream((self.seed + (NOISE << 56)) & draws.MASK, epoch, row, i).uniform() for i in ids]
        u = LEAST + (1 - 2 * LEAST) * torch.tensor(u, dtype=score.dtype)
        share = epoch / (self.own["epochs"] - 1) if self.own["epochs"] > 1 else 0
        mask = torch.sigmoid((score + u.log() - (1 - u).log()) / (HOTTEST * (COLDEST / HOTTEST) ** share))
        graph = factual.graph
        after = log_probs(self.oracle, graph, graph.x, graph.edge_weight * (1 - mask)[owner])[factual.row]
        sides = torch.stack([(before[own] - before[j]) * (after[own] - after[j]) for j in others])
        entropy = -(torch.xlogy(mask, mask) + torch.xlogy(1 - mask, 1 - mask)).mean()
        return torch.sigmoid(sides).min() + self.own["size"] * mask.sum() + self.own["entropy"] * entropy

    def run(self):
        """Parameters after all epochs, and the mean loss of each."""
        rows, means = list(range(len(self.logp))), []
        for epoch in range(self.own["epochs"]):
            stream = draws.Stream(self.seed, ORDER, epoch, 0)
            for i in range(len(rows) - 1, 0, -1):
                j = stream.below(i + 1)
                rows[i], rows[j] = rows[j], rows[i]
            losses = []
            for at in range(0, len(rows), self.own["batch"]):
                batch = [self.loss(row, epoch) for row in rows[at : at + self.own["batch"]]]
                batch = [loss for loss in batch if loss is not None]
                if not batch:
                    continue
                self.optimiser.zero_grad()
                torch.stack(batch).mean().backward()
                self.optimiser.step()
                losses += [loss.item() for loss in batch]
            means.append(sum(losses) / len(losses) if losses else math.nan)
        return self.theta(), means
