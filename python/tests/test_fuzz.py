# SPDX-License-Identifier: Apache-2.0
"""Random things given to everything that the package offers. Each try ends in a result or in an exception that a user
can make something of: combinex's own, or a TypeError. None crashes, and no message has a control character.

A crash would take the test run with it, so the tries are made in a process of their own. A failure is repeated with
python python/tests/test_fuzz.py SEED 1.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import traceback
import warnings

import numpy as np

TRIES = int(os.environ.get("CBX_PYTHON_FUZZ", "4000"))
NUMBERS = [0, 1, -1, 2, 3, 7, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**32 + 3, 2**63 - 1, 2**63, 2**64 - 1, 2**70, 1 << 20000,
           0.5, -0.0, 1e39, 1e300, float("nan"), float("inf"), -float("inf"), True, np.float32(0.1), np.uint8(3), np.bool_(True)]  # fmt: skip
TEXTS = ["", "any", "next", "a", "0", "-1", "gcn", "karate", "é\0x", "all", "\ud800", "x" * 2000, "3,7-9", "0:1:2", "0-1",
         "\x1b[2J", "\u202e", "1e999", "../..", "cf-gnn", "ego", "paper", "undirected"]  # fmt: skip
TYPES = [np.int64, np.int32, np.int8, np.uint8, np.uint64, np.float32, np.float64, np.float16, np.longdouble, np.bool_,
         ">i8", ">f4", object, "S3", "U2", complex, "M8[s]", "m8[s]", [("a", "i4"), ("b", "f4")]]  # fmt: skip
ALLOWED = ("cx.Error", "TypeError", "result")


class Text(str):
    """A str of somebody's own."""

    def __str__(self):
        return "other"


class Array(np.ndarray):
    """An array of somebody's own."""

    def __getitem__(self, at):
        return np.ndarray.__getitem__(self, at)


class Sparse:
    """What looks like a sparse matrix."""

    def __init__(self, indptr, indices, data, shape):
        self.indptr, self.indices, self.data, self.shape = indptr, indices, data, shape


class Fuzz:
    def __init__(self, seed, cx, folder, model, graph, answer, seeds):
        self.rng = np.random.default_rng(seed)
        self.cx, self.folder, self.model, self.six, self.answer, self.seeds = cx, folder, model, graph, answer, seeds

    def one_of(self, values):
        return values[self.rng.integers(len(values))]

    def chance(self, share):
        return self.rng.random() < share

    # ---- things to give

    def array(self, shape, low=0, high=4):
        """Nearly what was asked for: now and then of another type, shape, order, layout or content."""
        if self.chance(0.1):
            shape = tuple(int(n) for n in self.rng.integers(0, 5, self.rng.integers(0, 4)))
        values = self.rng.integers(low, max(high, low + 1), shape)
        if self.chance(0.1):
            values = values.astype(self.one_of([np.float64, object]))
            if values.size:
                values.flat[self.rng.integers(values.size)] = self.number_for(values.dtype)
        if self.chance(0.1) and values.size and values.dtype != object:
            values.flat[self.rng.integers(values.size)] = self.one_of([-1, 5, 100, -(2**31), 2**31])
        if self.chance(0.15):
            try:
                values = values.astype(self.one_of(TYPES))
            except (TypeError, ValueError, OverflowError):
                pass
        if self.chance(0.2):
            values = self.layout(values)
        if self.chance(0.05):
            values = values.tolist()
        return values if not self.chance(0.03) else self.anything()

    def number_for(self, dtype):
        number = self.one_of(NUMBERS)
        return number if dtype == object or not isinstance(number, int) or abs(number) < 2**900 else 1e300

    def layout(self, values):
        """The same values, kept in another way."""
        which = self.rng.integers(8)
        if which == 0:
            return values[..., ::-1].copy()[..., ::-1] if values.ndim else values
        if which == 1:
            return np.asfortranarray(values)
        if which == 2:  # not aligned
            raw = np.empty(values.nbytes + 1, np.uint8)[1:] if values.dtype != object else None
            if raw is None:
                return values
            out = np.frombuffer(raw, values.dtype).reshape(values.shape) if values.size else values
            return out.copy() if not values.size else self.filled(out, values)
        if which == 3:
            return np.ma.array(values, mask=self.rng.random(values.shape) < self.one_of([0, 0.3]))
        if which == 4:
            return values.view(Array)
        if which == 5 and values.ndim == 2:
            return np.asmatrix(values)
        if which == 6 and values.ndim:
            return np.repeat(values, 2, axis=-1)[..., ::2]
        if which == 7 and values.size:
            return np.broadcast_to(values.flat[0], values.shape)
        return values

    @staticmethod
    def filled(out, values):
        out.setflags(write=True)
        out[...] = values
        return out

    def sparse(self, n, f):
        counts = self.rng.integers(0, max(f, 1) + 1, n)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        indices = np.concatenate([np.sort(self.rng.permutation(max(f, 1))[:c]) for c in counts] or [np.empty(0, int)])
        parts = [indptr, indices.astype(int), self.rng.integers(1, 4, len(indices)).astype(np.float32)]
        for k in range(3):
            if self.chance(0.12):  # cut, longer, or one entry far away
                cut = int(self.rng.integers(0, len(parts[k]) + 1))
                parts[k] = self.one_of([parts[k][:cut], np.concatenate([parts[k], parts[k]]), parts[k].reshape(-1, 1)])
            if self.chance(0.08) and len(parts[k]):
                parts[k] = parts[k].astype(np.int64)
                parts[k].flat[self.rng.integers(len(parts[k]))] = self.one_of([-1, 2**20, 2**32, -(2**40), 2**62])
            if self.chance(0.05):
                parts[k] = self.layout(parts[k])
        shape = (n, f) if self.chance(0.9) else self.one_of([(n,), (n, 2**32 + f), (n + 1, f), None, "ab", (f, n), (0.5, 1)])
        return Sparse(*parts, shape)

    @staticmethod
    def scipy():
        try:
            import scipy.sparse as scipy
        except ImportError:
            return None
        return scipy

    def bent(self, scipy, n, f):
        """A matrix of SciPy that somebody worked on since it was made."""
        whole = scipy.csr_matrix(self.rng.integers(0, 3, (n, f)).astype(np.float32))
        matrix = whole.asformat(self.one_of(["csr", "csc", "coo", "bsr", "lil", "dia", "dok"]))
        for part in ("data", "indices", "indptr", "row", "col", "offsets"):
            if self.chance(0.2) and isinstance(getattr(matrix, part, None), np.ndarray):
                values = getattr(matrix, part).copy()
                if self.chance(0.5):
                    values = values[: int(self.rng.integers(0, len(values) + 1))]
                elif values.size and values.dtype != object:
                    values.flat[self.rng.integers(values.size)] = self.one_of([-1, 3, 100, 2**30])
                try:
                    setattr(matrix, part, values)
                except (AttributeError, ValueError):
                    pass
        return matrix

    def anything(self):
        return self.one_of([None, *NUMBERS, *TEXTS, Text("any"), b"x", b"\xff\0", [], {}, (), object(), [[1], [2, 3]], lambda: 1, {1, "a"},
                            np.array(3), np.zeros((2, 0)), np.ma.masked, float, self.six, self.model, self.answer,
                            {"a": [1, 2]}, range(3), iter([1]), memoryview(b"12345678"), [None], [TEXTS], "é" * 300])  # fmt: skip

    def path(self):
        name = self.one_of(["g.safetensors", "m.safetensors", "t.pt", "none", "", "a\0b", "\ud800", "\udcff", "\x1b[2J", "x" * 300, "."])
        return self.one_of([name, os.path.join(self.folder, name), os.fsencode(self.folder), self.anything()])

    # ---- what is called

    def graph(self):
        n, f, m = (int(v) for v in self.rng.integers(0, 6, 3))
        names = lambda count: [self.one_of(TEXTS) for _ in range(count)]  # noqa: E731
        options = {
            "y": lambda: self.array((n,), -1, 3),
            "edge_weight": lambda: self.array((m,), -2, 3),
            "graph_ptr": lambda: np.sort(self.rng.integers(0, n + 1, 3)) if self.chance(0.5) else self.array((3,), 0, n + 1),
            "batch": lambda: np.sort(self.rng.integers(0, 3, n)) if self.chance(0.7) else self.array((n,)),
            "num_classes": lambda: self.one_of([0, 3, -1, 2**40, 2**32 + 3, 1.5, "x"]),
            "discrete": lambda: self.array((f,), 0, 2),
            "feat_min": lambda: self.array((f,), -3, 0),
            "feat_max": lambda: self.array((f,), 0, 3),
            "immutable": lambda: self.array((f,), 0, 2),
            "feature_group": lambda: self.array((f,), -1, 2),
            "train_mask": lambda: self.array((n,), 0, 2),
            "test_mask": lambda: self.array((n, 2), 0, 2),
            "name": lambda: self.one_of([*TEXTS, Text("x")]),
            "class_names": lambda: self.one_of([["a", "b", "c"], ["a"], [], [1], "abc", None, ["\x1b", Text("b"), "c"]]),
            "node_names": lambda: names(n),
            "feature_names": lambda: names(f),
            "group_names": lambda: names(int(self.rng.integers(0, 3))),
        }
        given = {key: make() for key, make in options.items() if self.chance(0.12)}
        scipy = self.scipy()
        if self.chance(0.3):
            x = self.bent(scipy, n + 1, f + 1) if scipy and self.chance(0.5) else self.sparse(n, f)
        else:
            x = self.array((n, f))
        graph = self.cx.Graph(self.array((2, m), 0, max(n, 1)), x, **given)
        self.look_at(graph)

    def look_at(self, graph):
        """Reads all of it, so that what is not there is noticed."""
        for key in ("y", "edge_weight", "graph_ptr", "discrete", "feat_min", "feat_max", "immutable", "feature_group", "train_mask",
                    "val_mask", "test_mask", "class_names", "node_names", "feature_names", "group_names", "edge_index", "x", "name"):  # fmt: skip
            np.array(getattr(graph, key))
        graph.hash(), graph.measure(), repr(graph)
        assert pickle.loads(pickle.dumps(graph)).hash() == graph.hash()

    def options(self):
        out = {"epochs": int(self.rng.integers(0 if self.chance(0.1) else 1, 4)), "time_limit": 0.2, "robustness": 0}
        names = ["target", "explainer", "protected_edges", "one_hot", "permitted_range", "immutable_nodes", "max_edits", "learning_rate",
                 "features_to_vary", "keep", "total_cfs", "preset", "stopping_threshold", "edges", "trace", "rules", "progress",
                 "seed", "alpha", "budget", "nothing_like_it", "\x1b[2J", "\ud800"]  # fmt: skip
        for name in names:
            if self.chance(0.05):
                out[name] = self.anything() if self.chance(0.5) else self.one_of(TEXTS)
        return out

    def explain(self):
        node = int(self.rng.integers(-1, 7)) if self.chance(0.9) else self.anything()
        model = self.anything() if self.chance(0.03) else self.model
        graph = self.anything() if self.chance(0.03) else self.six
        cf = self.cx.explain(model, graph, node=node, **self.options())
        self.use(cf)

    def use(self, cf):
        str(cf), repr(cf), [str(e) for e in cf.edits], cf.to_json(), cf._repr_html_()
        other = self.anything()
        which = self.rng.integers(5)
        if which == 0:
            cf.apply(other if self.chance(0.3) else None)
        elif which == 1:
            cf.check(self.model if self.chance(0.7) else other)
        elif which == 2:
            cf.save(self.path() if self.chance(0.5) else os.path.join(self.folder, self.one_of(["a.html", "a.svg", "a.exe"])))
        elif which == 3:
            assert str(pickle.loads(pickle.dumps(cf))) == str(cf)

    def explain_all(self):
        nodes = self.one_of([None, self.array((3,), 0, 6), self.array((6,), 0, 2), self.anything(), [1, 2], np.ones(6, bool)])
        options = {**self.options(), "threads": self.one_of([1, 1, 1, self.anything()])}
        cfs = self.cx.explain_all(self.model, self.six, nodes=nodes, **options)
        str(cfs), repr(cfs), cfs.table(), cfs._repr_html_(), cfs.to_dicts(), cfs.found, cfs[:1]

    def train(self):
        options = {"epochs": 1, "hidden": 2, "threads": 1}
        for name in ("model", "layers", "hidden", "learning_rate", "seed", "split", "folds", "dropout", "val_share", "order", "nothing"):
            if self.chance(0.08):
                options[name] = self.anything()
        for name in ("hidden", "layers", "order"):
            options[name] = self.small(options.get(name))
        data = self.six if self.chance(0.9) else self.anything()
        if self.chance(0.7):
            self.cx.train(data, **options)
        else:
            self.cx.split(data, **{k: v for k, v in options.items() if k in ("seed", "split", "folds", "val_share", "nothing")})

    def models(self):
        """Parameters, notes, predictions."""
        given = {name: np.asarray(value) for name, value in self.model.parameters.items()}
        for name in list(given):
            if self.chance(0.15):
                given[name] = self.array(given[name].shape, -3, 4)
            if self.chance(0.05):
                given[self.anything_hashable()] = given.pop(name)
        arch = {**self.model.arch, **({"dropout": self.anything()} if self.chance(0.1) else {})}
        if self.chance(0.1):
            arch[self.one_of(["task", "conv", "jk", "pool", "aggr", "x"])] = self.anything()
        notes = self.one_of([None, None, {"a": "b"}, {"a": self.anything()}, self.anything()])
        model = self.cx.Model.from_parameters(arch, given, notes)
        key, value = self.one_of(["k", self.anything()]), self.one_of(["v", self.anything()])
        model.note(key), model.set_note(key, value)
        model.predict(self.six if self.chance(0.8) else self.anything(), threads=self.one_of([1, self.anything()]))
        model.save(self.path())

    def anything_hashable(self):
        return self.one_of([*TEXTS, *NUMBERS, None, b"x", ("a", 1)])

    def words(self):
        """Names, paths and options, and what takes nothing else."""
        cx, thing = self.cx, self.anything()
        call = self.one_of([
            lambda: cx.load(self.path()),
            lambda: cx.load("erdos-renyi", **{self.one_of(["nodes", "degree", "seed", "x"]): self.small(thing)}),
            lambda: cx.Graph.load(self.path(), copy=thing),
            lambda: cx.Model.load(self.path()),
            lambda: cx.Graph.builtin(thing),
            lambda: self.six.save(self.path()),
            lambda: cx.options(thing),
            lambda: cx.Rules(**{self.one_of(["target", "edges", "desired_class", "epochs"]): thing}),
            lambda: cx.load_state_dict(self.path(), thing),
            lambda: cx.Counterfactuals([self.answer] * 5)[thing if not isinstance(thing, int) else thing % 5],
            lambda: cx.Model(),
            lambda: cx.Counterfactual(),
        ])  # fmt: skip
        call()

    def small(self, thing):
        """Sizes that are allowed, and would take all memory."""
        return 5 if isinstance(thing, (int, float, np.generic)) and thing > 1000 else thing

    def state_dict(self):
        from combinex._state_dict import from_state_dict

        names = ["a.lin.weight", "a.bias", "b.lin.weight", "b.bias", "lins.0.weight", "head.weight", "head.bias",
                 "c.lin_rel.weight", "c.lin_root.weight", "c.lin_rel.bias", "weight", "bias"]  # fmt: skip
        tensors = {}
        for name in names:
            if self.chance(0.8 if name[0] in "ab" and self.chance(0.9) else 0.1):
                rank = 1 if name.endswith("bias") else int(self.rng.integers(1, 4)) if self.chance(0.1) else 2
                shape = tuple(2 if self.chance(0.9) else int(v) for v in self.rng.integers(1, 4, rank))
                found = self.array(shape, -3, 4)
                tensors[name] = found if isinstance(found, np.ndarray) else np.zeros(shape)
        arch = {"conv": self.one_of(["gcn", "cheb", "graphconv"])}
        for key in ("task", "jk", "pool", "aggr", "activation", "layers", "head", "dropout"):
            if self.chance(0.1):
                arch[key] = self.anything()
        from_state_dict(tensors, arch if self.chance(0.95) else self.anything())

    def file(self):
        """A graph, a model or a file of torch.save with some bytes changed."""
        which = self.one_of(list(self.seeds))
        content = bytearray(self.seeds[which])
        for _ in range(int(self.rng.integers(1, 6))):
            at = int(self.rng.integers(len(content)))
            content[at : at + int(self.rng.integers(0, 3))] = self.rng.bytes(int(self.rng.integers(0, 3)))
        path = os.path.join(self.folder, "changed" + which[-3:])
        with open(path, "wb") as file:
            file.write(content)
        if which.endswith(".pt"):
            return self.cx.load_state_dict(path, "gcn")
        if which.startswith("m"):
            return self.cx.Model.load(path)
        return self.look_at(self.cx.Graph.load(path))


KINDS = ["graph", "explain", "state_dict", "file", "explain_all", "train", "models", "words"]


def seeds_of(cx, folder, model, graph):
    from test_state_dict import archive, tensor_pickle

    paths = {name: os.path.join(folder, name) for name in ("m.safetensors", "g.safetensors", "t.pt")}
    model.save(paths["m.safetensors"])
    graph.save(paths["g.safetensors"])
    archive(paths["t.pt"], tensor_pickle(), _0=bytes(16))
    return {name: open(path, "rb").read() for name, path in paths.items()}


def ending_of(cx, call):
    try:
        call()
        return "result"
    except cx.Error as problem:
        said = str(problem)
        assert said and all(sign.isprintable() or sign > "\x9f" for sign in said), f"a message that steers: {said!r}"
        return "cx.Error"
    except Exception as problem:
        name = type(problem).__name__
        if name not in ALLOWED:
            traceback.print_exc()
        return name


def main(seed, tries):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import combinex as cx

    warnings.simplefilter("ignore")
    six = cx.Graph([[0, 1, 1, 2, 2, 3, 4, 5], [1, 0, 2, 1, 3, 2, 5, 4]], np.eye(6, 3, dtype=np.float32), y=[0, 1, 0, 1, 0, 1])
    model = cx.train(six, "gcn", epochs=2, hidden=4)
    answer = cx.explain(model, six, node=1, target="any", epochs=3)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        seeds = seeds_of(cx, folder, model, six)
        for k in range(tries):
            kind = KINDS[(seed + k) % len(KINDS)]
            print(seed + k, kind, file=sys.stderr, flush=True)  # the last line is the one that crashed
            fuzz = Fuzz(seed + k, cx, folder, model, six, answer, seeds)
            ending = ending_of(cx, getattr(fuzz, kind))
            counts[kind, ending] = counts.get((kind, ending), 0) + 1
        os.chdir("/")
    for (kind, ending), count in sorted(counts.items()):
        print(f"{kind:12} {ending:22} {count}")


def test_random_things_do_not_crash_it():
    done = subprocess.run([sys.executable, __file__, "1", str(TRIES)], capture_output=True, text=True)
    last = done.stderr.splitlines()[-3:]
    assert done.returncode == 0, f"ended with {done.returncode} at {last}"
    endings = {tuple(line.split()[:2]): int(line.split()[2]) for line in done.stdout.splitlines()}
    assert sum(endings.values()) == TRIES
    for kind in KINDS:  # both ways, or nothing was tried
        assert endings.get((kind, "cx.Error"), 0) > TRIES // 1000, done.stdout
        assert endings.get((kind, "result"), 0) > 0, done.stdout
    odd = {key for key in endings if key[1] not in ALLOWED}
    assert not odd, f"{odd}\n{done.stderr[-3000:]}"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
