# SPDX-License-Identifier: Apache-2.0
"""CLEAR's training written for reading: a variational autoencoder of graphs, conditioned on the wanted class.
Parameters and random numbers are combinex's."""
import math

import torch
import torch.nn.functional as F

import draws
from reference import Factual, Graph, log_probs

HIDDEN = LATENT = 16
ORDER, CLASS, NOISE = 2, 3, 4  # which stream of a seed is what


def stream(seed, what, epoch, row):
    return draws.Stream((seed + (what << 56)) & draws.MASK, epoch, row, 0)


class Training:
    def __init__(self, tensors, oracle, theta, seed, undirected, settings):
        self.graph = Graph.from_tensors(tensors, torch.float64)
        self.oracle, self.seed, self.undirected, self.own = oracle.double(), seed, undirected, settings
        bounds = self.graph.graph_ptr
        self.rows = list(range(len(bounds) - 1))
        self.nodes = max(end - begin for begin, end in zip(bounds, bounds[1:]))
        d, self.classes = self.graph.x.shape[1], oracle.sizes.classes
        layers = [(d, HIDDEN), (HIDDEN + self.classes, LATENT), (HIDDEN + self.classes, LATENT)]
        for outputs in (self.nodes * d, self.nodes**2):
            layers += [(LATENT + self.classes, HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, outputs)]
        sizes = [size for i, o in layers for size in ((i, o), (o,))]
        parts = torch.as_tensor(theta).double().split([math.prod(size) for size in sizes])
        self.parameters = [part.reshape(size).clone().requires_grad_() for part, size in zip(parts, sizes)]
        self.optimiser = torch.optim.Adam(self.parameters, settings["lr"])

    def theta(self):
        return torch.cat([p.detach().flatten() for p in self.parameters])

    def layer(self, k, x):
        return x @ self.parameters[2 * k] + self.parameters[2 * k + 1]

    def smooth(self, graph):
        """Â X, with the loop that every node has in place of those that there are."""
        source, target = graph.edge_index
        n = len(graph.x)
        degree = 1 + torch.bincount(target, minlength=n).double()
        out = graph.x / degree.unsqueeze(1)
        other = source != target
        share = graph.x[source] / (degree[source] * degree[target]).sqrt().unsqueeze(1)
        return out.index_add(0, target[other], share[other])

    def decoded(self, first, code):
        return self.layer(first + 2, torch.relu(self.layer(first + 1, torch.relu(self.layer(first, code)))))

    def loss(self, row, epoch):
        factual = Factual.one_of_many(self.graph, row)
        graph, n = factual.graph, len(factual.graph.x)
        prediction = int(log_probs(self.oracle, graph, graph.x, graph.edge_weight)[0].argmax())
        wanted = stream(self.seed, CLASS, epoch, row).below(self.classes - 1)
        wanted += wanted >= prediction
        noise = stream(self.seed, NOISE, epoch, row)
        noise = torch.tensor([noise.normal() for _ in range(LATENT)]).double()
        y = F.one_hot(torch.tensor(wanted), self.classes).double()
        seen = torch.cat([torch.relu(self.layer(0, self.smooth(graph))).mean(0), y])
        mu, spread = self.layer(1, seen), self.layer(2, seen)
        code = torch.cat([mu + noise * (spread / 2).exp(), y])
        Q = torch.sigmoid(self.decoded(3, code).view(self.nodes, -1)[:n])
        at = self.decoded(6, code).view(self.nodes, self.nodes)[:n, :n]
        at = (at + at.T) / 2 if self.undirected else at
        A = torch.zeros(n, n).double()
        A[graph.edge_index[1], graph.edge_index[0]] = 1
        links = int(A.sum())
        weight = torch.tensor((n * n - links) / links if links else 0.0).double()
        scale = graph.high - graph.low
        x = torch.where(scale > 0, (graph.x - graph.low) / scale, Q.detach())
        loss = self.own["features"] * (Q - x).square().mean()
        loss = loss + self.own["edges"] * F.binary_cross_entropy_with_logits(at, A, pos_weight=weight)
        loss = loss + self.own["kl"] * 0.5 * (spread.exp() + mu.square() - 1 - spread).mean()
        if 2 * epoch < self.own["epochs"]:
            return loss
        kept = torch.sigmoid(at)[graph.edge_index[1], graph.edge_index[0]]
        after = log_probs(self.oracle, graph, graph.low + scale * Q, kept * graph.edge_weight)[0]
        return loss - self.own["oracle"] * after[wanted]

    def run(self):
        """Parameters after all epochs, and None: the last epoch's are kept."""
        for epoch in range(self.own["epochs"]):
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
