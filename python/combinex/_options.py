# SPDX-License-Identifier: Apache-2.0
"""Options by name, from the library's own tables: whatever is added there is known here."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from . import errors
from ._arguments import encoded
from ._lib import check, h, lib, make, owned, text, threads_here

_KINDS = {
    h.CBX_OPTION_INT: "a whole number",
    h.CBX_OPTION_REAL: "a number",
    h.CBX_OPTION_BOOL: "True or False",
    h.CBX_OPTION_TEXT: "a text",
}


def as_text(value: Any) -> str:
    """A Python value as the command line would be given it: lists with commas between, and what belongs to a
    key, or together, with colons."""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ",".join(f"{_joined(key, ':')}:{_joined(item, ':')}" for key, item in value.items())
    return _joined(value, ",")


def _joined(value: Any, mark: str) -> str:
    if hasattr(value, "tolist"):  # NumPy and torch
        value = value.tolist()
    if isinstance(value, (list, tuple, set, frozenset, range)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return mark.join(_joined(item, ":") if not isinstance(item, str) else _quoted(item, mark) for item in items)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        return _quoted(value, mark)
    return as_text(value) if isinstance(value, bool) else repr(value)


def _quoted(word: str, mark: str) -> str:
    """A word of a list; a name may have the list's marks in it."""
    return '"' + word.replace('"', '""') + '"' if any(sign in word for sign in (",", '"', mark)) else word


def _option_text(name: str, value: Any) -> bytes:
    try:
        return encoded(as_text(value), name)
    except errors.InvalidError:
        raise
    except (TypeError, ValueError) as problem:  # a set that has no order, a number of too many digits
        raise errors.InvalidError(f"{name}: {problem}") from None


def option_value(option: Any, address: int) -> Any:
    """What the struct at an address has for an option."""
    at = address + option.offset
    if option.type == h.CBX_OPTION_CHOICE:
        return text(option.choices[ctypes.c_int.from_address(at).value])
    if option.type == h.CBX_OPTION_TEXT:
        return text(ctypes.c_char_p.from_address(at).value)
    kinds: dict[int, Any] = {h.CBX_OPTION_INT: ctypes.c_int64, h.CBX_OPTION_REAL: ctypes.c_double, h.CBX_OPTION_BOOL: ctypes.c_bool}
    return kinds[option.type].from_address(at).value


# what else options may be called here -> the table's name
_ALIASES = {"learning_rate": "lr", "lr": "learning-rate", "conv": "model"}


class Table:
    """One of the library's option tables."""

    def __init__(self, name: str, pointer: Any):
        self.name = name
        self.pointer = pointer
        self.options: list[Any] = []
        while option := lib.cbx_option_at(pointer, len(self.options)):
            self.options.append(option.contents)
        self.names = {self._field(option): option.name.decode() for option in self.options}  # as Python spells it
        for alias, option in _ALIASES.items():
            if option in self.names.values():
                self.names.setdefault(alias, option)

    @staticmethod
    def _field(option: Any) -> str:
        return str(option.name.decode().replace("-", "_"))

    def describe(self) -> str:
        """One line per option, for documentation."""
        lines = []
        for option in self.options:
            if not option.help:  # not for people
                continue
            default = text(option.fallback) or "None"
            if option.type == h.CBX_OPTION_CHOICE:
                kind = " | ".join(self.choices(self._field(option)))
            else:
                kind = _KINDS.get(option.type, "")
            lines.append(f"{self._field(option)} ({kind}; default {default}): {text(option.help)}")
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
        return name in self.names or name.replace("_", "-") in self.names.values()


class _Pointer(ctypes.c_void_p):
    def __init__(self, address: int, owner: Any):
        super().__init__(address)
        self.owner = owner


class Options:
    """A value for each option of a table."""

    def __init__(self, table: Table, values: Mapping[str, Any] | None = None):
        self.table = table
        self.given: dict[str, Any] = {}
        self._address = make(lib.cbx_options_new, table.pointer)
        owned(self, lib.cbx_options_free, self._address)
        for name, value in (values or {}).items():
            self.set(name, value)

    def set(self, name: str, value: Any) -> None:
        """None leaves the default. What the table does not know is refused by the library."""
        if value is None:
            return
        self.given[name] = value
        if name == "preset" and self.table is explain_table:
            check(lib.cbx_explain_preset, self._address, _option_text(name, value))
            return
        option = self.table.names.get(name, name.replace("_", "-"))
        content = _option_text(name, value)
        try:
            check(lib.cbx_options_set, self._address, encoded(option, "option"), content)
        except errors.InvalidError as problem:  # tells of it by the name that was given
            field = option.replace("-", "_")
            message = str(problem)
            if message.startswith(f"{field}: "):
                message = name + message[len(field) :]
            raise errors.InvalidError(message) from None

    def get(self, name: str) -> str | None:
        """The value as text; None where there is none."""
        size = 256
        while True:
            room = ctypes.create_string_buffer(size)
            if not lib.cbx_options_get(self._address, name.encode(), room, size):
                return None
            if len(room.value) < size - 1:
                return text(room.value)
            size *= 2

    @property
    def pointer(self) -> Any:
        """For a call, during which it keeps the options alive."""
        threads = self.get("threads")
        if threads is not None and threads_here(int(threads)) != int(threads):
            self.set("threads", threads_here(int(threads)))
        return _Pointer(self._address, self)

    def __reduce__(self) -> Any:
        return _again, (self.table.name, self.given)


explain_table = Table("explain", lib.cbx_explain_table())
train_table = Table("train", lib.cbx_train_table())
model_table = Table("model", lib.cbx_model_table())
generate_table = Table("generate", lib.cbx_generate_table())
read_table = Table("read", lib.cbx_read_table())
open_table = Table("open", lib.cbx_open_table())
robust_table = Table("robust", lib.cbx_robust_table())


def _again(name: str, given: dict[str, Any]) -> Options:
    tables = (explain_table, train_table, model_table, generate_table, read_table, open_table, robust_table)
    return Options(next(table for table in tables if table.name == name), given)
