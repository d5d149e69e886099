# SPDX-License-Identifier: Apache-2.0
"""The methods that COMBINEX is compared with, written for reading: autograd and torch.optim on
PyTorch Geometric's layers. Each goes through its steps as reference.Search does, and makes the same
kind of records. Random numbers are those of combinex (draws.py), so that traces can be compared."""
import numpy as np
import torch

import draws
from reference import Search, log_probs


def number(value):
    return value.item() if isinstance(value, torch.Tensor) else value


class Rival(Search):
    """Edges, or pairs of nodes, have the least number of their edges as an id."""

    def __init__(self, oracle, factual, options, jitter=0.0):
        super().__init__(oracle, factual, options._replace(policy="edges"), jitter)
        self.options = options
        owners = self.owner.numpy()
        ids = np.full(len(self.EP), np.iinfo(np.int64).max)
        np.minimum.at(ids, owners, factual.edges.numpy())
        self.ids = ids.tolist()

    def stream(self, t, number):
        return draws.Stream(self.options.seed, self.factual.number, t, number)

    def ask(self, x, kept):
        graph = self.factual.graph
        return log_probs(self.oracle, graph, x, kept * graph.edge_weight)[self.factual.row]

    def record(self, loss, ce, hit, edge_loss=0.0, feature_loss=0.0, alpha=0.0, eta=1.0, x=None,
               kept=None):
        """The epoch's record, and the features and edges of its candidate."""
        graph = self.factual.graph
        x = graph.x if x is None else x
        kept = torch.ones_like(graph.edge_weight) if kept is None else kept
        record = {
            "loss": number(loss),
            "ce": number(ce),
            "edge_loss": number(edge_loss),
            "feature_loss": number(feature_loss),
            "alpha": alpha,
            "eta": eta,
            "hit": hit,
            "changed_features": int((x != graph.x).sum()),
            "removed_edges": int((kept == 0).sum()),
        }
        return record, (x, kept)


class RandomEdges(Rival):
    """Draws that keep each edge with probability one half."""

    def draw(self, t):
        """A number from [0, 1) for each edge."""
        return torch.tensor([self.stream(t, number).uniform() for number in self.ids])

    def epoch(self, t):
        kept = (self.draw(t) < 0.5).to(self.EP.dtype)
        with torch.no_grad():
            row = self.ask(self.factual.graph.x, kept[self.owner])
        ce, removed = -row[self._aim(row)], (1 - kept).sum()
        return self.record(ce + removed, ce, self.reached(row), removed, kept=kept[self.owner])


class RandomFeatures(Rival):
    """Draws that move every value by U (max - min) + min."""

    def draw(self, t):
        """A number from [0, 1) for each value."""
        f = self.factual.graph.x.shape[1]
        rows = [self.stream(t, int(node)).uniforms(f) for node in self.factual.nodes]
        return torch.as_tensor(np.stack(rows))

    def epoch(self, t):
        graph = self.factual.graph
        move = self.draw(t) * (graph.high - graph.low).double() + graph.low.double()
        move = torch.where(graph.discrete, move.round(), move)
        x = (graph.x.double() + move).clamp(graph.low.double(), graph.high.double()).to(graph.x.dtype)
        kept = torch.ones_like(graph.edge_weight)
        with torch.no_grad():
            row = self.ask(x, kept)
        ce, change = -row[self._aim(row)], (x - graph.x).abs().mean()
        return self.record(ce + change, ce, self.reached(row), feature_loss=change, alpha=1.0, x=x)


class CfGnn(Rival):
    """CF-GNNExplainer: gradient descent on the weights of edges."""

    BETA, CLIP = 0.5, 2.0

    def epoch(self, t):
        x = self.factual.graph.x
        soft_kept, hard_kept = self._kept()
        soft = self.ask(x, soft_kept)
        with torch.no_grad():
            hard_values = self.ask(x, hard_kept)
        edge_loss = (1 - torch.sigmoid(self.EP)).abs().sum()
        if self.options.distance == "hard":
            edge_loss = (self.EP.detach().sigmoid() <= 0.5).sum().to(self.EP.dtype)
        away = self.options.pull == "away"
        ce = soft[self.prediction] if away else -soft[self._aim(soft)]
        same = float(int(hard_values.argmax()) == self.prediction)
        loss = same * ce + self.BETA * edge_loss
        made = self.record(loss, ce, self.reached(hard_values), edge_loss, eta=same, kept=hard_kept)
        self._step(loss)
        return made

    def _step(self, loss):
        self.optimiser.zero_grad()
        if not loss.requires_grad:  # flipped, and the distance has no gradient
            loss = 0 * self.EP.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([self.EP], self.CLIP)
        self.optimiser.step()
        if self.jitter:
            self.EP.data *= 1 + self.jitter * torch.randn_like(self.EP)


class Cff(Rival):
    """CF²: a mask that is enough, and without which the class is another."""

    LAMBDA = ALPHA = GAMMA = 0.5

    def __init__(self, oracle, factual, options, jitter=0.0):
        super().__init__(oracle, factual, options, jitter)
        start = [self.stream(0, number).normal() for number in self.ids]
        start = torch.tensor(start, dtype=torch.float32)  # as combinex rounds them
        self.EP = start.to(self.EP.dtype).requires_grad_()
        self.optimiser = torch.optim.Adam([self.EP], 0.05)

    def scores(self, row):
        """(of the prediction, of the best other class)"""
        row = row if self.options.scores == "log" else row.exp()
        others = torch.cat([row[: self.prediction], row[self.prediction + 1 :]])
        return row[self.prediction], others.max()

    def epoch(self, t):
        x = self.factual.graph.x
        mask = torch.sigmoid(self.EP)
        weights = mask[self.owner]
        mine, second = self.scores(self.ask(x, weights))
        factual = torch.relu(self.GAMMA + second - mine)
        masked = self.options.complement == "masked"
        mine, second = self.scores(self.ask(x, 1 - weights if masked else torch.ones_like(weights)))
        counterfactual = torch.relu(self.GAMMA + mine - second)
        margins = self.ALPHA * factual + (1 - self.ALPHA) * counterfactual
        loss = mask.sum() + self.LAMBDA * margins
        without = (~(weights.detach() > 0.5)).to(weights.dtype)
        with torch.no_grad():
            row = self.ask(x, without)
        made = self.record(loss, margins, self.reached(row), mask.sum(), alpha=self.ALPHA, kept=without)
        self._step(loss)
        return made


class Ego(Rival):
    """Only the edges among the target and those with an edge to it."""

    def epoch(self, t):
        graph = self.factual.graph
        source, target = graph.edge_index
        if self.oracle.arch["task"] == "node":
            centre = self.factual.row
        else:
            ends = torch.cat([source, target])
            centre = int(torch.bincount(ends, minlength=len(graph.x)).argmax())
        inside = torch.zeros(len(graph.x), dtype=torch.bool)
        inside[centre] = True
        inside[source[target == centre]] = True
        kept = (inside[source] & inside[target]).to(graph.edge_weight.dtype)
        gone = torch.zeros_like(self.EP.detach())
        gone[self.owner[kept == 0]] = 1
        with torch.no_grad():
            row = self.ask(graph.x, kept)
        ce = -row[self._aim(row)]
        return self.record(ce + gone.sum(), ce, self.reached(row), gone.sum(), kept=kept)

    def run(self):
        record, candidate = self.epoch(0)
        return [record], (0, *candidate) if record["hit"] else None


class TreeNode:
    def __init__(self, at):
        self.at, self.children, self.visits, self.value = at, None, 0, 0.0


class Unr(Rival):
    """UNR-Explainer: Monte-Carlo tree search for the connected subgraph without which the target has
    other nearest neighbours. Nodes have the graph's numbers, and every subgraph is evaluated by
    running the oracle on the whole graph without it."""

    NEIGHBOURS, EXPLORATION, RESTART, PATIENCE = 5, 1.0, 0.2, 500

    def __init__(self, oracle, factual, options, jitter=0.0):
        super().__init__(oracle, factual, options, jitter)
        whole, inside = factual.whole, factual.whole.edge_index[:, factual.edges].T.tolist()
        self.ways = {}
        for a, b in {tuple(sorted(ends)) for ends in inside if ends[0] != ends[1]}:
            self.ways.setdefault(a, []).append(b)
            self.ways.setdefault(b, []).append(a)
        self.expansion = max(3, round(whole.edge_index.shape[1] / len(whole.x)))
        low, high = whole.edge_index.sort(0).values
        self.codes = low * len(whole.x) + high  # of unordered pairs
        self.rng = self.stream(0, 0)
        self.nearest = self.find_nearest(whole)
        self.importances = {}

    def find_nearest(self, graph):
        h = graph.x
        with torch.no_grad():
            for layer in self.oracle.layers:
                h = layer(h, graph.edge_index, graph.edge_weight).relu()
        distance = (h - h[self.factual.number]).square().sum(1)
        distance[self.factual.number] = torch.inf
        return set(distance.sort(stable=True).indices[: min(self.NEIGHBOURS, len(h) - 1)].tolist())

    def without(self, pairs):
        """The whole graph, and which of the factual graph's edges are left."""
        whole, n = self.factual.whole, len(self.factual.whole.x)
        stays = ~torch.isin(self.codes, torch.tensor([a * n + b for a, b in pairs]))
        left = whole._replace(
            edge_index=whole.edge_index[:, stays], edge_weight=whole.edge_weight[stays]
        )
        return left, stays[self.factual.edges].to(whole.edge_weight.dtype)

    def importance(self, pairs):
        """And how many edges, directions apart, are removed."""
        key = frozenset(pairs)
        if key not in self.importances:
            left, kept = self.without(key)
            after = self.find_nearest(left)
            importance = 1 - len(after & self.nearest) / len(self.nearest)
            self.importances[key] = importance, int((kept == 0).sum())
        return self.importances[key]

    def expand(self, node):
        hat = sorted(self.ways.get(node.at, []))
        node.children = []
        for i in range(min(len(hat), self.expansion)):
            k = i + self.rng.below(len(hat) - i)
            hat[i], hat[k] = hat[k], hat[i]
            node.children.append(TreeNode(hat[i]))

    def best_child(self, node):
        def score(child):
            if child.visits == 0:
                return np.inf
            return child.value + self.EXPLORATION * np.sqrt(np.log(self.root.visits) / child.visits)

        scores = [score(child) for child in node.children]
        return scores.index(max(scores))

    def rollout(self):
        """The tree nodes of a walk, and the pairs of nodes on it."""
        at, path, pairs, restarted = self.root, [self.root], set(), False

        def step(child):
            pairs.add(tuple(sorted((at.at, child.at))))
            path.append(child)
            return child

        while at.children is not None:
            if self.rng.uniform() < self.RESTART:
                at, restarted = self.root, True
                continue
            k = self.best_child(at)
            if restarted and len(at.children) > 1:
                other = self.rng.below(len(at.children) - 1)
                k = other + (other >= k)
            restarted = False
            at = step(at.children[k])
        if at.visits:
            self.expand(at)
            step(at.children[0])
        return path, pairs

    def run(self):
        records, best, since = [], (-1.0, 0, None), 0
        self.root = TreeNode(self.factual.number)
        self.expand(self.root)
        if not self.root.children:
            return [], None
        while len(records) < self.options.rollouts and since < self.PATIENCE:
            path, pairs = self.rollout()
            importance, removed = self.importance(pairs)
            for node in path:
                node.visits += 1
                node.value = max(node.value, importance)
            records.append(self.record(1 - importance, 0.0, False, float(len(pairs)), eta=0.0)[0])
            records[-1]["removed_edges"] = removed
            since += 1
            if (importance, -len(pairs)) > best[:2]:
                best, since = (importance, -len(pairs), len(records) - 1, pairs), 0
            if importance >= 1:
                break
        _, _, epoch, pairs = best
        whole, kept = self.without(pairs)
        row = log_probs(self.oracle, whole, whole.x, whole.edge_weight)[self.factual.number]
        records[epoch]["hit"] = self.reached(row)
        return records, (epoch, self.factual.graph.x, kept)


METHODS = {
    "combinex": Search,
    "random-edges": RandomEdges,
    "random-features": RandomFeatures,
    "ego": Ego,
    "cf-gnn": CfGnn,
    "cff": Cff,
    "unr": Unr,
}
