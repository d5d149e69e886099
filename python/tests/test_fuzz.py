# SPDX-License-Identifier: Apache-2.0
"""Random things given to the package: they end in a result or in a Python exception, never in a crash.

A crash would take the test run with it, so the tries are made in a process of their own. A failure is repeated with
python python/tests/test_fuzz.py SEED 1.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

TRIES = int(os.environ.get("CBX_PYTHON_FUZZ", "4000"))
NUMBERS = [0, 1, -1, 2, 3, 7, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**70, 0.5, -0.0, 1e39, 1e300, float("nan"), float("inf")]
TEXTS = ["", "any", "next", "a", "0", "-1", "gcn", "é\0x", "all", "\ud800", "x" * 2000, "3,7-9", "0:1:2", "0-1"]
TYPES = [np.int64, np.int32, np.int8, np.uint8, np.uint64, np.float32, np.float64, np.float16, np.bool_, object, "S3", "U2", complex]


class Fuzz:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one_of(self, values):
        return values[self.rng.integers(len(values))]

    def chance(self, share):
        return self.rng.random() < share

    def array(self, shape, low=0, high=4):
        """Nearly what was asked for: now and then of another type, shape, order or content."""
        if self.chance(0.1):
            shape = tuple(int(n) for n in self.rng.integers(0, 5, self.rng.integers(0, 4)))
        values = self.rng.integers(low, max(high, low + 1), shape)
        if self.chance(0.1):
            values = values.astype(np.float64)
            if values.size:
                values.flat[self.rng.integers(values.size)] = self.one_of(NUMBERS)
        if self.chance(0.1) and values.size:
            values.flat[self.rng.integers(values.size)] = self.one_of([-1, 5, 100, -(2**31), 2**31])
        if self.chance(0.15):
            try:
                values = values.astype(self.one_of(TYPES))
            except (TypeError, ValueError, OverflowError):
                pass
        if self.chance(0.1):
            values = values[..., ::-1] if values.ndim else values
        if self.chance(0.05):
            values = np.asfortranarray(values)
        if self.chance(0.05):
            values = values.tolist()
        return values if not self.chance(0.03) else self.anything()

    def anything(self):
        return self.one_of([None, *NUMBERS, *TEXTS, b"x", [], {}, (), object(), [[1], [2, 3]], lambda: 1, np.array(3), float])

    # ---- what is called

    def graph(self, cx):
        n, f, m = (int(v) for v in self.rng.integers(0, 6, 3))
        given = {}
        options = {
            "y": lambda: self.array((n,), -1, 3),
            "edge_weight": lambda: self.array((m,), -2, 3),
            "graph_ptr": lambda: np.sort(self.array((3,), 0, n + 1)) if self.chance(0.5) else self.array((3,), 0, n + 1),
            "batch": lambda: np.sort(self.rng.integers(0, 3, n)) if self.chance(0.7) else self.array((n,)),
            "num_classes": lambda: self.one_of([0, 3, -1, 2**40, 1.5, "x"]),
            "discrete": lambda: self.array((f,), 0, 2),
            "feat_min": lambda: self.array((f,), -3, 0),
            "feat_max": lambda: self.array((f,), 0, 3),
            "immutable": lambda: self.array((f,), 0, 2),
            "train_mask": lambda: self.array((n,), 0, 2),
            "test_mask": lambda: self.array((n, 2), 0, 2),
            "name": lambda: self.one_of(TEXTS),
            "class_names": lambda: self.one_of([["a", "b", "c"], ["a"], [1], "abc", None]),
            "node_names": lambda: [self.one_of(TEXTS) for _ in range(n)],
        }
        for key, make in options.items():
            if self.chance(0.15):
                given[key] = make()
        return cx.Graph(self.array((2, m), 0, max(n, 1)), self.array((n, f)), **given)

    def explain(self, cx, model, graph):
        options = {"epochs": int(self.rng.integers(0 if self.chance(0.1) else 1, 4)), "time_limit": 0.2, "robustness": 0, "threads": 1}
        names = ["target", "explainer", "protected_edges", "one_hot", "permitted_range", "immutable_nodes", "max_edits",
                 "features_to_vary", "keep", "total_cfs", "preset", "stopping_threshold", "edges", "nothing_like_it"]  # fmt: skip
        for name in names:
            if self.chance(0.07):
                options[name] = self.anything() if self.chance(0.4) else self.one_of(TEXTS)
        node = int(self.rng.integers(-1, 7)) if self.chance(0.9) else self.anything()
        cf = cx.explain(self.anything() if self.chance(0.03) else model, graph, node=node, **options)
        str(cf), cf.edits, cf.to_json()

    def state_dict(self, cx):
        from combinex._state_dict import from_state_dict

        names = ["a.lin.weight", "a.bias", "b.lin.weight", "b.bias", "lins.0.weight", "head.weight", "head.bias",
                 "c.lin_rel.weight", "c.lin_root.weight", "c.lin_rel.bias", "weight", "bias"]  # fmt: skip
        tensors = {}
        for name in names:
            if self.chance(0.8 if name[0] in "ab" and self.chance(0.9) else 0.1):
                rank = 1 if name.endswith("bias") else int(self.rng.integers(1, 4)) if self.chance(0.1) else 2
                shape = tuple(2 if self.chance(0.9) else int(v) for v in self.rng.integers(1, 4, rank))
                tensors[name] = np.asarray(self.array(shape, -3, 4))
        arch = {"conv": self.one_of(["gcn", "cheb", "graphconv"])}
        for key in ("task", "jk", "pool", "aggr", "activation", "layers", "head", "dropout"):
            if self.chance(0.1):
                arch[key] = self.anything()
        from_state_dict(tensors, arch if self.chance(0.95) else self.anything())

    def file(self, cx, folder, seeds):
        """A model file or a file of torch.save with some bytes changed."""
        which = self.one_of(list(seeds))
        content = bytearray(seeds[which])
        for _ in range(int(self.rng.integers(1, 6))):
            at = int(self.rng.integers(len(content)))
            content[at : at + int(self.rng.integers(0, 3))] = self.rng.bytes(int(self.rng.integers(0, 3)))
        path = os.path.join(folder, which)
        with open(path, "wb") as file:
            file.write(content)
        return cx.load_state_dict(path, "gcn") if which.endswith(".pt") else cx.Model.load(path)


def seeds_of(cx, folder, model):
    from test_state_dict import archive, tensor_pickle

    path = os.path.join(folder, "m.safetensors")
    model.save(path)
    torch = archive(os.path.join(folder, "t.pt"), tensor_pickle(), _0=bytes(16))
    return {"m.safetensors": open(path, "rb").read(), "t.pt": open(torch, "rb").read()}


def main(seed, tries):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import combinex as cx

    six = cx.Graph([[0, 1, 1, 2, 2, 3, 4, 5], [1, 0, 2, 1, 3, 2, 5, 4]], np.eye(6, 3, dtype=np.float32), y=[0, 1, 0, 1, 0, 1])
    model = cx.train(six, "gcn", epochs=2, hidden=4)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        seeds = seeds_of(cx, folder, model)
        for k in range(tries):
            fuzz = Fuzz(seed + k)
            kind = ["graph", "explain", "state_dict", "file"][k % 4]
            print(seed + k, kind, file=sys.stderr, flush=True)  # the last line is the one that crashed
            try:
                if kind == "graph":
                    graph = fuzz.graph(cx)
                    graph.hash(), graph.y, graph.num_classes
                elif kind == "explain":
                    fuzz.explain(cx, model, six)
                elif kind == "state_dict":
                    fuzz.state_dict(cx)
                else:
                    fuzz.file(cx, folder, seeds)
                ending = "result"
            except Exception as problem:
                ending = "cx.Error" if isinstance(problem, cx.Error) else type(problem).__name__
            counts[kind, ending] = counts.get((kind, ending), 0) + 1
    for (kind, ending), count in sorted(counts.items()):
        print(f"{kind:12} {ending:22} {count}")


def test_random_things_do_not_crash_it():
    done = subprocess.run([sys.executable, __file__, "1", str(TRIES)], capture_output=True, text=True)
    last = done.stderr.splitlines()[-3:]
    assert done.returncode == 0, f"ended with {done.returncode} at {last}"
    endings = {tuple(line.split()[:2]): int(line.split()[2]) for line in done.stdout.splitlines()}
    assert sum(endings.values()) == TRIES
    for kind in ("graph", "explain", "state_dict", "file"):  # both ways, or nothing was tried
        assert endings.get((kind, "cx.Error"), 0) > TRIES // 100, done.stdout
    assert endings[("graph", "result")] > TRIES // 100 and endings[("explain", "result")] > TRIES // 100, done.stdout


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
