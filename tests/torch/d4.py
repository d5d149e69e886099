# SPDX-License-Identifier: Apache-2.0
"""D4Explainer's training written for reading: noise on a graph's edges, a network of pairs of nodes that takes it off,
and the oracle that should leave its class. Parameters and random numbers are combinex's."""
import math

import torch
import torch.nn.functional as F

import draws
from reference import Factual, Graph, log_probs

LEVELS = 10
ORDER, NOISE = 2, 3  # which stream of a seed is what


class Training:
    def __init__(self, tensors, oracle, theta, seed, undirected, settings):
        self.graph = Graph.from_tensors(tensors, torch.float64)
        self.oracle, self.seed, self.undirected, self.own = oracle.double(), seed, undirected, settings
        self.rows = list(range(len(self.graph.graph_ptr) - 1))
        w = settings["width"]
        layers = [(3, w), (self.graph.x.shape[1], w)]
        for _ in range(settings["layers"]):
            layers += [(w, w)] * 4 + [(2 * w, w)]
        layers += [(w, w), (w, 1)]
        sizes = [size for i, o in layers for size in ((i, o), (o,))]
        parts = torch.as_tensor(theta).double().split([math.prod(size) for size in sizes])
        self.parameters = [part.reshape(size).clone().requires_grad_() for part, size in zip(parts, sizes)]
        self.optimiser = torch.optim.Adam(self.parameters, settings["lr"])

    def theta(self):
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def layer(self, k, x):
        return x @ self.parameters[2 * k] + self.parameters[2 * k + 1]

    def scores(self, x, adjacency, noise):
        n = len(x)
        own = torch.eye(n).double()
        U = torch.relu(self.layer(0, torch.stack([adjacency, torch.full_like(adjacency, noise), own], 2)))
        U = U + own.unsqueeze(2) * torch.relu(self.layer(1, x)).unsqueeze(1)
        at = 2
        for _ in range(self.own["layers"]):
            P = torch.relu(self.layer(at + 1, torch.relu(self.layer(at, U))))
            Q = torch.relu(self.layer(at + 3, torch.relu(self.layer(at + 2, U))))
            U = torch.relu(self.layer(at + 4, torch.cat([U, torch.einsum("ilk,ljk->ijk", P, Q) / n], 2)))
            at += 5
        score = self.layer(at + 1, torch.relu(self.layer(at, U))).squeeze(2)
        return (score + score.T) / 2 if self.undirected else score

    def shaken(self, adjacency, stream, share):
        adjacency = adjacency.clone()
        for i in range(len(adjacency)):
            for j in range(i if self.undirected else len(adjacency)):
                if i == j or not stream.uniform() < share:
                    continue
                adjacency[i, j] = 1 - adjacency[i, j]
                if self.undirected:
                    adjacency[j, i] = 1 - adjacency[j, i]
        return adjacency

    def loss(self, row, epoch):
        graph = Factual.one_of_many(self.graph, row).graph
        n, (source, target) = len(graph.x), graph.edge_index
        prediction = int(log_probs(self.oracle, graph, graph.x, graph.edge_weight)[0].argmax())
        stream = draws.Stream((self.seed + (NOISE << 56)) & draws.MASK, epoch, row, 0)
        noise = self.own["noise"] * (stream.below(LEVELS) + 1) / LEVELS
        A = torch.zeros(n, n).double()
        A[target, source] = 1
        if self.undirected:
            A[source, target] = 1
        at = self.scores(graph.x, self.shaken(A, stream, noise), noise)
        loss = F.binary_cross_entropy_with_logits(at, A, pos_weight=torch.tensor(self.own["edges"]).double())
        after = log_probs(self.oracle, graph, graph.x, torch.sigmoid(at)[target, source] * graph.edge_weight)[0]
        others = torch.cat([after[:prediction], after[prediction + 1 :]])
        return loss - self.own["oracle"] * others.logsumexp(0)

    def run(self):
        """Parameters after all epochs, and None: the last epoch's are kept."""
        for epoch in range(self.own["epochs"]):
            self.optimiser.param_groups[0]["lr"] = self.own["lr"] * self.own["decay"] ** epoch
            order = draws.Stream(self.seed, ORDER, epoch, 0)
            for i in range(len(self.rows) - 1, 0, -1):
                j = order.below(i + 1)
                self.rows[i], self.rows[j] = self.rows[j], self.rows[i]
            for at in range(0, len(self.rows), self.own["batch"]):
                self.optimiser.zero_grad()
                batch = [self.loss(row, epoch) for row in self.rows[at : at + self.own["batch"]]]
                torch.stack(batch).mean().backward()
                self.optimiser.step()
        return self.theta(), None
