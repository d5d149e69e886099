#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Python package's view of the C interface out of the public headers.

    generate.py combinex.h combinex/extend.h combinex/kit.h _header.py abi.c

_header.py holds every constant, enumeration, struct, callback and function of the headers for ctypes. abi.c
asks the compiler whether it lays the structs out likewise, and carries the fingerprint of the headers that the
package was made from; the package compares it with the one in _header.py when it is imported. Whatever in
the headers is not understood here is an error, and ends the build.
"""

import ctypes
import hashlib
import re
import sys
from pathlib import Path

SCALARS = {
    "int": "c_int",
    "bool": "c_bool",
    "char": "c_char",
    "float": "c_float",
    "double": "c_double",
    "size_t": "c_size_t",
    "int16_t": "c_int16",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "uint8_t": "c_uint8",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
}


class HeaderError(Exception):
    pass


class Header:
    """What the headers declare, one after the other; `text` is Python for the declarations so far."""

    def __init__(self, sources):
        self.constants = {}
        self.enums = {}  # name -> {constant: value}
        self.structs = {}  # name -> [(field, Python type)]
        self.bases = {}  # name -> ctypes' base, of what has no name in C
        self.opaque = set()
        self.callbacks = {}  # name -> (result, [arguments])
        self.order = []  # of structs and callbacks, which refer to earlier ones
        self.functions = {}  # name -> (result, [arguments])
        words = []
        for source in sources:
            source = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
            words += source.split()
            self.read(source)
        self.fingerprint = hashlib.sha256(" ".join(words).encode()).hexdigest()

    def read(self, source):
        for line in re.findall(r"^#define\s+(CBX_\w+)\s+(-?\d+)\s*$", source, flags=re.M):
            self.constants[line[0]] = int(line[1])
        body = re.sub(r"^#.*(?:\\\n.*)*$", "", source, flags=re.M)
        body = body.replace('extern "C" {', "").strip()
        body = re.sub(r"\}\s*$", "", body) if body.count("{") < body.count("}") else body
        for declaration in self.split(body):
            self.take(declaration)

    @staticmethod
    def split(body):
        """Declarations: what ends with a semicolon outside of braces."""
        depth, begin = 0, 0
        for at, mark in enumerate(body):
            depth += (mark == "{") - (mark == "}")
            if mark == ";" and depth == 0:
                yield " ".join(body[begin:at].split())
                begin = at + 1
        if body[begin:].strip():
            raise HeaderError(f"not understood: {body[begin:].strip()[:200]}")

    def take(self, text):
        for pattern, action in (
            (r"typedef enum (\w+) \{(.*)\} (\w+)$", self.take_enum),
            (r"typedef struct (\w+) \{(.*)\} (\w+)$", self.take_struct),
            (r"struct (\w+) \{(.*)\}()$", self.take_struct),
            (r"typedef struct (\w+) (\w+)$", self.take_opaque),
            (r"typedef (\w+) \(\*(\w+)\)\((.*)\)$", self.take_callback),
            (r"CBX_API ([\w\s*]+?)(\w+)\((.*)\)$", self.take_function),
        ):
            match = re.match(pattern, text)
            if match:
                action(*match.groups())
                return
        raise HeaderError(f"not understood: {text[:200]}")

    def take_enum(self, tag, body, name):
        value, constants = -1, {}
        for item in filter(None, (part.strip() for part in body.split(","))):
            key, _, number = (part.strip() for part in item.partition("="))
            value = int(number, 0) if number else value + 1
            constants[key] = value
        self.enums[name] = constants

    def members(self, name):
        """The struct's members, and those of what has no name in it."""
        for field, kind in self.structs[name]:
            if field == kind:
                yield from self.members(kind)
            else:
                yield field

    def take_struct(self, tag, body, name):
        """A union without a name becomes a class of its own, and so do the structs without a name in it. Their
        members are the outer struct's, as in C."""
        name = name or tag  # the typedef came before
        self.opaque.discard(name)
        fields = []
        for declaration in self.split(body):
            inner = re.match(r"(struct|union) \{(.*)\}$", declaration)
            if inner:
                part = f"{name}_{len(fields)}"
                self.take_struct(part, inner.group(2), part)
                self.bases[part] = {"struct": "Structure", "union": "Union"}[inner.group(1)]
                fields.append((part, part))
                continue
            function = re.match(r"[\w\s*]+\(\*(\w+)\)\(.*\)$", declaration)
            if function:
                fields.append((function.group(1), "c_void_p"))
                continue
            match = re.match(r"((?:const )?(?:struct )?\w+(?: const)?)\s*(.*)$", declaration)
            if not match:
                raise HeaderError(f"struct {name}: {declaration}")
            for item in match.group(2).split(","):
                fields.append(self.declare(match.group(1), item.strip(), field=True))
        self.structs[name] = fields
        self.order.append(name)

    def take_opaque(self, tag, name):
        self.opaque.add(name)

    def take_callback(self, result, name, arguments):
        self.callbacks[name] = (self.result(result), self.arguments(arguments))
        self.order.append(name)

    def take_function(self, result, name, arguments):
        self.functions[name] = (self.result(result.strip()), self.arguments(arguments))

    def arguments(self, text):
        if text.strip() in ("", "void"):
            return []
        found = []
        for item in text.split(","):
            match = re.match(r"((?:const )?\w+(?: const)?)\s*(.*)$", item.strip())
            found.append(self.declare(match.group(1), match.group(2), field=False)[1])
        return found

    def result(self, text):
        base, stars = text.replace("*", "").strip(), text.count("*")
        if base == "void" and not stars:
            return "None"
        if base == "char" and stars == 1:
            return "c_void_p"  # to be freed
        return self.type_of(base, stars, field=False)

    def declare(self, base, declarator, field):
        """(name, Python type) of one declarator, such as *const *names or message[512]."""
        match = re.match(r"((?:\*\s*(?:const)?\s*)*)(\w+)(?:\[(\w+)\])?$", declarator)
        if not match:
            raise HeaderError(f"not understood: {base} {declarator}")
        stars, name, size = match.group(1).count("*"), match.group(2), match.group(3)
        if size and not field:
            return name, "c_void_p"
        kind = self.type_of(base, stars, field)
        if size:
            kind = f"{kind} * {self.constants.get(size, size)}"
        return name, kind

    def type_of(self, base, stars, field):
        const, base = "const" in base.split(), base.replace("const", "").strip()
        if base.startswith("struct ") and stars == 1:
            return "c_void_p"  # a struct that is not complete yet: its own
        if stars == 0:
            if base in SCALARS:
                return SCALARS[base]
            if base in self.enums:
                return "c_int"
            if base in self.structs or base in self.callbacks:
                return base
        elif base == "char" and const and stars == 1:
            return "c_char_p"
        elif base == "char" and const and stars == 2:
            return "POINTER(c_char_p)"
        elif base in self.structs and stars == 1:
            return f"POINTER({base})"
        elif base in SCALARS or base in self.structs or base in self.opaque or base == "void":
            return "c_void_p"  # addresses of arrays, of opaque things, of places for them
        raise HeaderError(f"not understood: the type {base} with {stars} stars")


def python_of(h):
    """The declarations for ctypes."""
    out = [
        "# SPDX-License-Identifier: Apache-2.0",
        '"""The C interface, made from the public headers by generate.py. Not to be edited."""',
        "# mypy: ignore-errors",
        "from ctypes import *",
        "",
        f'FINGERPRINT = "{h.fingerprint}"',
        "",
    ]
    out += [f"{name} = {value}" for name, value in h.constants.items()]
    for constants in h.enums.values():
        out += [f"{name} = {value}" for name, value in constants.items()]
    for name in h.order:
        if name in h.callbacks:
            result, arguments = h.callbacks[name]
            out += ["", "", f"{name} = CFUNCTYPE({', '.join([result, *arguments])})"]
            continue
        fields = h.structs[name]
        out += ["", "", f"class {name}({h.bases.get(name, 'Structure')}):"]
        unnamed = [field for field, kind in fields if field == kind]
        if unnamed:
            out.append(f"    _anonymous_ = {tuple(unnamed)!r}")
        out.append("    _fields_ = [")
        out += [f'        ("{field}", {kind}),' for field, kind in fields]
        out += ["    ]"]
    out += ["", "", "FUNCTIONS = {"]
    for name, (result, arguments) in h.functions.items():
        out.append(f'    "{name}": ({result}, [{", ".join(arguments)}]),')
    out += ["}", f"STRUCTS = [{', '.join(name for name in h.structs if name not in h.bases)}]", ""]
    return "\n".join(out)


def c_of(h, declarations):
    """Questions to the compiler: it answers by compiling, or not."""
    out = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* Made from the public headers by generate.py. Not to be edited. */",
        "#include <stddef.h>",
        "",
        '#include "combinex/extend.h"',
        '#include "combinex/kit.h"',
        "",
        "#define SAME(what, number) _Static_assert((what) == (number), #what)",
        "",
    ]
    out += [f"SAME({name}, {value});" for name, value in h.constants.items()]
    for constants in h.enums.values():
        out += [f"SAME({name}, {value});" for name, value in constants.items()]
    for name in h.enums:
        out.append(f"SAME(sizeof({name}), {ctypes.sizeof(ctypes.c_int)});")
    for name in h.structs:
        if name in h.bases:
            continue
        struct = declarations[name]
        out.append(f"SAME(sizeof({name}), {ctypes.sizeof(struct)});")
        for field in h.members(name):
            at = getattr(struct, field)
            out.append(f"SAME(offsetof({name}, {field}), {at.offset});")
            out.append(f"SAME(sizeof((({name} *)0)->{field}), {at.size});")
    out += [
        "",
        "CBX_API const char *cbx_python_abi(void);",
        "const char         *cbx_python_abi(void)",
        "{",
        f'    return "{h.fingerprint}";',
        "}",
        "",
    ]
    return "\n".join(out)


def main():
    *sources, python, c = map(Path, sys.argv[1:])
    try:
        header = Header(source.read_text(encoding="utf-8") for source in sources)
    except HeaderError as problem:
        return f"{', '.join(map(str, sources))}: {problem}; python/generate.py has to learn it"
    text = python_of(header)
    declarations = {}
    exec(compile(text, str(python), "exec"), declarations)  # our own text, a line above
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(text, encoding="utf-8")
    c.write_text(c_of(header, declarations), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
