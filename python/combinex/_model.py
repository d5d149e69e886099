# SPDX-License-Identifier: Apache-2.0
"""Models: convolutions, a pooling for graph tasks, a linear head."""

from __future__ import annotations

import copy
import ctypes
import json
import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ContextManager, Mapping, Sequence

import numpy as np

from . import _safetensors, errors
from ._arguments import MOST_THREADS, brief, encoded, instance, path_of, whole
from ._graph import Graph
from ._reading import Reading
from ._options import Options, open_table
from ._lib import check, h, lib, make, owned, text, threads_here
from ._options import option_value


class Oracle(str):
    """Who runs a model: "layers", "program" or "callback". `why` says of each that comes before it in this order, and is
    faster, why it is not that one."""

    why: dict[str, str]

    def __new__(cls, kind: str, why: Mapping[str, str] | None = None) -> "Oracle":
        oracle = super().__new__(cls, kind)
        oracle.why = dict(why or {})
        return oracle

    def __reduce__(self) -> Any:
        return Oracle, (str(self), self.why)


class Model:
    """A graph neural network that classifies nodes or graphs; made by load, train, from_pyg or from_parameters."""

    def __init__(self) -> None:
        raise TypeError("models come from combinex.load, train, from_pyg, load_state_dict or Model.from_parameters")

    @classmethod
    def _of(cls, address: int) -> "Model":
        model = cls.__new__(cls)
        model._address = address
        model._info = lib.cbx_model_describe(address)
        model._digest = None
        model.training = None
        model._why = {}
        model._callback = None
        model._file = None
        model._numbers = None
        owned(model, lib.cbx_model_free, address)
        return model

    _address: int
    _info: Any
    _digest: str | None
    _callback: Any  # what C calls, where the model is a function of the user's
    _why: dict[str, str]  # of a module: why it is run by nobody faster
    _numbers: Any  # of a model that was aimed: the one that gives numbers, which must stay
    _file: Any  # of a program: () -> its file's content; and how it was opened
    training: dict[str, Any] | None  # of the model that combinex.train gives: epochs, loss, accuracies

    @classmethod
    def _of_callback(cls, callback: Any, num_features: int, hops: int | None) -> "Model":
        model = cls._of(callback.address(num_features, hops))
        model._callback = callback
        return model

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        inputs: Mapping[str, str] | str | None = None,
        scores: str = "auto",
        label: int | str | None = None,
        classes: Sequence[str] | str | None = None,
    ) -> "Model":
        """A model file. Of an exported program may be said which of its inputs is which (inputs={"x": "features"}), what
        it gives (scores: "classes", "probabilities", "labels", "label-chances" or "number"), and which of
        several labels or numbers is asked about; classes: names of a label's, in place of "no" and "yes"."""
        if inputs is not None and not isinstance(inputs, str):
            inputs = ",".join(f"{role}={name}" for role, name in inputs.items())
        options = Options(open_table, {"inputs": inputs, **Reading(scores, label, classes).options()})
        model = cls._of(make(lib.cbx_model_open, path_of(path), options.pointer))
        if model.conv == "program":
            model._file = Path(os.fsdecode(path_of(path))).resolve(), inputs, scores, label, classes
        return model

    @classmethod
    def from_parameters(
        cls, arch: Mapping[str, Any], parameters: Mapping[str, np.ndarray], notes: Mapping[str, str] | None = None
    ) -> "Model":
        """From arrays with the names and the architecture of a model file (docs/formats.md)."""
        metadata = {"arch": _json(arch, "arch"), **_texts(notes)}
        with tempfile.TemporaryDirectory(prefix="combinex-") as folder:
            path = Path(folder) / "model"
            _safetensors.write(path, parameters, metadata)
            try:
                return cls.load(path)
            except errors.InvalidError as problem:  # the file is ours: speak of the model
                raise errors.InvalidError(str(problem).replace(f"{path}: ", "")) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file; it appears whole or not at all."""
        check(lib.cbx_model_save, self._address, path_of(path))

    # ---- looking at it

    @property
    def task(self) -> str:
        return "graph" if self._info.task == h.CBX_GRAPH else "node"

    @property
    def conv(self) -> str:
        """The kind of its convolutions, as train's model; "program" or "callback" where it is no chain of layers."""
        return text(self._info.conv)

    @property
    def oracle(self) -> Oracle:
        """Who runs it, and why nobody faster: "layers", "program" or "callback"."""
        return Oracle(self.conv if self.conv in ("program", "callback") else "layers", self._why)

    @property
    def num_layers(self) -> int:
        return self._info.num_layers

    @property
    def num_features(self) -> int:
        return self._info.num_features

    @property
    def num_classes(self) -> int:
        return self._info.num_classes

    @property
    def arch(self) -> dict[str, Any]:
        """As in a model file."""
        out: dict[str, Any] = {
            "task": self.task,
            "conv": self.conv,
            "jk": text(self._info.head),
            "pool": text(self._info.pool),
            "dropout": self._info.dropout,
        }
        out.update((key, value) for _, key, value in self._settings() if key)
        return out

    @property
    def settings(self) -> dict[str, Any]:
        """What was said of its convolutions, by the names of train's options: {"heads": 4, …}."""
        return {name: value for name, _, value in self._settings()}

    def _settings(self) -> list[tuple[str, str | None, Any]]:
        """The option, the key in a model file, if it has one, and the value of each."""
        found: list[tuple[str, str | None, Any]] = []
        values, key = ctypes.c_void_p(), ctypes.c_char_p()
        while option := lib.cbx_model_setting(self._address, len(found), ctypes.byref(values), ctypes.byref(key)):
            o = option.contents
            name = text(o.name).replace("-", "_")
            found.append((name, text(key.value) if key.value else None, option_value(o, values.value or 0)))
        return found

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Copies of all parameters, named and shaped as PyTorch Geometric does."""
        out: dict[str, np.ndarray] = {}
        name, rows, columns = ctypes.c_char_p(), ctypes.c_int32(), ctypes.c_int32()
        while lib.cbx_model_parameter(
            self._address, len(out), ctypes.byref(name), ctypes.byref(rows), ctypes.byref(columns)
        ):
            sizes = (ctypes.c_int64 * 3)()
            rank = lib.cbx_model_parameter_shape(self._address, len(out), sizes)
            values = np.empty(sizes[:rank], np.float32)
            check(lib.cbx_model_get, self._address, len(out), values.ctypes.data, values.size)
            out[text(name.value)] = values
        return out

    def note(self, key: str) -> str | None:
        """A note of the model file, such as "test_accuracy"."""
        found = lib.cbx_model_note(self._address, encoded(key, "key"))
        return None if found is None else text(found)

    def set_note(self, key: str, value: str) -> None:
        check(lib.cbx_model_set_note, self._address, encoded(key, "key"), encoded(value, key))

    def _rescale(self, mean: np.ndarray, scale: np.ndarray) -> None:
        """From (x - mean) / scale to x, in place, before anybody else has the model."""
        rows = [np.ascontiguousarray(row, np.float32) for row in (mean, scale)]
        check(lib.cbx_model_rescale, self._address, rows[0].ctypes.data, rows[1].ctypes.data, len(rows[0]))
        self._digest = None

    def hash(self) -> str:
        """SHA-256 of architecture and parameters."""
        if self._digest is None:  # nothing here changes
            hex_digits = ctypes.create_string_buffer(65)
            lib.cbx_model_hash(self._address, hex_digits)
            self._digest = hex_digits.value.decode()
        return self._digest

    # ---- using it

    @property
    def reproducible(self) -> bool:
        """Whether what is computed with this model has the same bits on every x86-64 and arm64 processor.

        Set to True it takes longer (docs/reliability.md). Files do not have it; pickles and copies do.
        """
        return bool(lib.cbx_model_describe(self._address).reproducible)

    @reproducible.setter
    def reproducible(self, wanted: bool) -> None:
        lib.cbx_model_set_reproducible(self._address, bool(whole(wanted, "reproducible", 0, 1)))

    def _in_order(self, reproducible: bool | None) -> "Model":
        """This model, or a copy where that one would be computed with in the other way; None: as it is."""
        if reproducible is None or bool(whole(reproducible, "reproducible", 0, 1)) == self.reproducible:
            return self
        other = copy.copy(self)
        other.reproducible = reproducible
        return other

    def predict(self, graph: Graph, threads: int = 0) -> np.ndarray:
        """Log-probabilities: a row for each node or graph, a column for each class."""
        instance(graph, Graph, "graph")
        out = np.empty((graph.num_rows, self.num_classes), np.float32)
        team = threads_here(whole(threads, "threads", 0, MOST_THREADS))
        with self._asking():
            check(lib.cbx_predict, self._address, graph._address, team, out.ctypes.data)
        return out

    @property
    def gives_numbers(self) -> bool:
        """It gives a number for each node or graph, and no class: predict has one column."""
        return self._info.num_classes == 1

    @property
    def class_names(self) -> list[str] | None:
        """Names of classes that are the model's own, of a label or a range; None: they are the data's."""
        names = [lib.cbx_model_class_name(self._address, k) for k in range(2)]
        return None if None in names else [text(name) for name in names]

    def aimed(self, graph: Graph, target: str) -> "Model":
        """Of a model that gives numbers: one that says whether they are in the range `target`, such as ">=3.5", "[2,3]"
        or, from what each row of `graph` has, "+10%"."""
        with self._asking():
            model = Model._of(make(lib.cbx_model_aim, self._address, graph._address, encoded(target, "target")))
        model._numbers, model._callback, model._why = self, self._callback, self._why
        return model

    def _asking(self) -> ContextManager[None]:
        """Around whatever may ask the model: what a function of the user's raises comes out here."""
        return self._callback.asking() if self._callback else nullcontext()

    def classes(self, graph: Graph, threads: int = 0) -> np.ndarray:
        """The likeliest class of each node or graph."""
        return self.predict(graph, threads).argmax(1)

    def __repr__(self) -> str:
        return (
            f"Model({self.conv}, {self.task} task, {self.num_layers} layers, "
            f"{self.num_features} features, {self.num_classes} classes)"
        )

    def _content(self) -> bytes:
        """Of the program's file, if that is still what was loaded."""
        path, *how = self._file
        try:
            content = path.read_bytes()
        except OSError as problem:
            raise errors.FileError(f"{path}: the model was loaded from it, and cannot be pickled without: {problem}") from None
        if _rebuild_program(content, how, {}).hash() != self.hash():
            raise errors.FileError(f"{path}: is not the file any more that the model was loaded from")
        return content

    def __reduce__(self) -> Any:
        if self.conv == "program":
            if self._numbers is not None:
                raise errors.UnsupportedError("a model that was aimed at a range is not pickled: hand on the one it is of")
            path, *how = self._file
            return _rebuild_program, (path if isinstance(path, bytes) else self._content(), how, self._why)
        if self.conv == "callback":
            raise errors.UnsupportedError("a model that is a function is neither pickled nor copied: hand on the function")
        notes = {}
        for key in ("data", "split", "version", "reproducible", "test_accuracy"):
            value = self.note(key)
            if value is not None:
                notes[key] = value
        return _rebuild, (self.arch, self.parameters, notes, self.training, self.reproducible)


def _rebuild_program(content: bytes, how: Any, why: dict[str, str]) -> Model:
    with tempfile.TemporaryDirectory(prefix="combinex-") as folder:
        path = Path(folder) / "model.pt2"
        path.write_bytes(content)
        model = Model.load(path, *how)
    model._file, model._why = (content, *how), why
    return model


def _json(arch: Any, what: str) -> str:
    if not isinstance(arch, Mapping):
        raise errors.InvalidError(f"{what} is {brief(arch)}, expected a dictionary")
    try:
        return json.dumps(dict(arch), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise errors.InvalidError(f"{what}: {problem}") from None


def _texts(notes: Any) -> dict[str, str]:
    """Notes are texts by texts."""
    if notes is None:
        return {}
    if not isinstance(notes, Mapping):
        raise errors.InvalidError(f"notes is {brief(notes)}, expected a dictionary")
    return {
        encoded(key, "notes").decode(): encoded(value, f"notes[{brief(key)}]").decode() for key, value in notes.items()
    }


def _rebuild(arch: Any, parameters: Any, notes: Any, training: Any, reproducible: bool) -> Model:
    model = Model.from_parameters(arch, parameters, notes)
    model.training = training
    model.reproducible = reproducible
    return model
