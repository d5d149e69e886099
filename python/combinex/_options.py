# SPDX-License-Identifier: Apache-2.0
"""Options by name, from the library's own tables: whatever is added there is known here."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from . import errors
from ._arguments import encoded, whole
from ._lib import check, h, lib, text, threads_here

_KINDS = {
    h.CBX_OPTION_INT: "a whole number",
    h.CBX_OPTION_REAL: "a number",
    h.CBX_OPTION_BOOL: "True or False",
    h.CBX_OPTION_TEXT: "a text",
}


def as_text(value: Any) -> str:
    """A Python value as the command line would be given it: lists with commas between, and what belongs to a
    key behind it and a colon."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ",".join(f"{as_text(key)}:{_joined(item, ':')}" for key, item in value.items())
    return _joined(value, ",", inner=":")


def _joined(value: Any, mark: str, inner: str = ":") -> str:
    if hasattr(value, "tolist"):  # NumPy and torch
        value = value.tolist()
    if isinstance(value, (list, tuple, set, frozenset, range)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return mark.join(_joined(item, inner) for item in items)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return as_text(value) if isinstance(value, (bool, str)) else repr(value)


def _option_text(name: str, value: Any) -> bytes:
    try:
        return encoded(as_text(value), name)
    except errors.InvalidError:
        raise
    except (TypeError, ValueError) as problem:  # a set that has no order, a number of too many digits
        raise errors.InvalidError(f"{name}: {problem}") from None


class Table:
    """One of the library's option tables, and the struct it fills in."""

    def __init__(self, table: Any, struct: Any):
        self.pointer = table
        self.struct = struct
        content = table.contents
        if content.size and content.size != ctypes.sizeof(struct):
            raise ImportError(f"{struct.__name__} has {content.size} bytes in the library: install it again")
        self.options = [content.options[i] for i in range(content.count)]
        fields = {getattr(struct, name).offset: name for name, _ in struct._fields_}
        self.names: dict[str, str] = {}  # as Python spells it -> as the table does
        for option in self.options:
            name = option.name.decode()
            self.names[name.replace("-", "_")] = name
            self.names.setdefault(fields.get(option.offset, name), name)
        self.extra = {  # fields that no option sets
            name for name, _ in struct._fields_ if name not in {fields.get(o.offset) for o in self.options}
        }

    def describe(self) -> str:
        """One line an option, for documentation."""
        lines = []
        for option in self.options:
            name = option.name.decode().replace("-", "_")
            default = text(option.fallback) or "None"
            if option.type == h.CBX_OPTION_CHOICE:
                kind = " | ".join(self.choices(name))
            else:
                kind = _KINDS.get(option.type, "")
            lines.append(f"{name} ({kind}; default {default}): {text(option.help)}")
        return "\n".join(lines)

    def choices(self, name: str) -> list[str]:
        """The words that an option takes."""
        for option in self.options:
            if option.name.decode() == self.names.get(name, name) and option.choices:
                words, i = [], 0
                while option.choices[i]:
                    words.append(option.choices[i].decode())
                    i += 1
                return words
        return []

    def knows(self, name: str) -> bool:
        return name in self.names or name.replace("_", "-") in self.names.values() or name in self.extra


class Options:
    """One option struct. Its texts are borrowed by the library, so they are kept here."""

    def __init__(self, table: Table, values: Mapping[str, Any] | None = None):
        self.table = table
        self.raw = table.struct()
        self.kept: list[bytes] = []
        self.given: dict[str, Any] = {}
        lib.cbx_options_default(table.pointer, ctypes.byref(self.raw))
        for name, value in (values or {}).items():
            self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        """None leaves the default. What the table does not know is refused by the library."""
        if value is None:
            return
        self.given[name] = value
        if name == "preset" and self.table is explain_table:
            check(lib.cbx_explain_preset, ctypes.byref(self.raw), _option_text(name, value))
            return
        if name in self.table.extra:
            setattr(self.raw, name, whole(value, name, 0, 1))
            return
        option = self.table.names.get(name, name.replace("_", "-"))
        content = _option_text(name, value)
        self.kept.append(content)
        try:
            word = encoded(option, "option")
            check(lib.cbx_options_set, self.table.pointer, ctypes.byref(self.raw), word, content)
        except errors.InvalidError as problem:
            # the library speaks as to the command line
            message = str(problem).replace(f"--{option}:", f"{name}:")
            raise errors.InvalidError(message) from None

    @property
    def pointer(self) -> Any:
        if "threads" in self.table.names:
            self.raw.threads = threads_here(self.raw.threads)
        return ctypes.byref(self.raw)

    def __reduce__(self) -> Any:
        return _again, (self.table.struct.__name__, self.given)


explain_table = Table(lib.cbx_explain_table(), h.cbx_explain_options)
train_table = Table(lib.cbx_train_table(), h.cbx_train_options)
model_table = Table(lib.cbx_model_table(), h.cbx_model_spec)
generate_table = Table(lib.cbx_generate_table(), h.cbx_generate_options)
open_table = Table(lib.cbx_open_table(), h.cbx_open_options)


def _again(struct: str, given: dict[str, Any]) -> Options:
    tables = (explain_table, train_table, model_table, generate_table, open_table)
    return Options(next(table for table in tables if table.struct.__name__ == struct), given)
