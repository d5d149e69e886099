#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs that were built against the libraries rely on: exported functions, and how structs and constants are
laid out.

    abi.py SOURCE BUILD            compares it with tests/install/abi.txt
    abi.py SOURCE BUILD --write    records it there, which is for new minor versions and for what is new

combinex/extend.h promises nothing, and what it declares is left out. Exit status 77: not on a machine like the one
that it was recorded on."""

import difflib
import importlib.util
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ("combinex.h", "combinex/extend.h", "combinex/kit.h")
STABLE = ("combinex.h", "combinex/kit.h")
LIBRARIES = ("libcombinex.so", "libcombinex-kit.so")


def generator(source):
    spec = importlib.util.spec_from_file_location("generate", source / "python" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def questions(header, stable):
    """A program that prints what the compiler makes of the headers."""
    lines = [f"#include <{name}>" for name in HEADERS] + ["#include <stdio.h>", "int main(void) {"]
    for name, constants in header.enums.items():
        lines += [f'printf("constant {c} %d\\n", (int){c});' for c in constants if c in stable]
    for name in header.structs:
        if f" {name};" not in stable:  # unstable, or without a name and part of another
            continue
        lines.append(f'printf("struct {name} %zu\\n", sizeof({name}));')
        for field in header.members(name):
            lines.append(
                f'printf("  {name}.{field} at %zu, %zu bytes\\n", offsetof({name}, {field}), '
                f"sizeof((({name} *)0)->{field}));"
            )
    return "\n".join(lines + ["return 0;", "}", ""])


def layout(source):
    texts = {name: (source / "include" / name).read_text(encoding="utf-8") for name in HEADERS}
    header = generator(source).Header(texts.values())
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch, "abi.c")
        program.write_text(questions(header, "".join(texts[name] for name in STABLE)), encoding="utf-8")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, f"-I{source / 'include'}", program, "-o", Path(scratch, "abi")], check=True)
        return subprocess.run([Path(scratch, "abi")], stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()


def exports(source, build):
    unstable = (source / "include" / "combinex" / "extend.h").read_text(encoding="utf-8")
    for library in LIBRARIES:
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", build / library], stdout=subprocess.PIPE, check=True, text=True
        ).stdout
        for symbol in sorted(line.split()[-1] for line in listed.splitlines()):
            name, _, version = symbol.partition("@@")
            if version and not version.endswith("_PRIVATE") and f"{name}(" not in unstable:
                yield f"{library} {name} {version}"


def main(source, build, *flags):
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        print("skipped: recorded for 64-bit Linux")
        return 77
    source, build = Path(source), Path(build)
    recorded = source / "tests" / "install" / "abi.txt"
    now = [*exports(source, build), *layout(source)]
    if "--write" in flags:
        recorded.write_text("\n".join(now) + "\n", encoding="utf-8")
        return 0
    before = recorded.read_text(encoding="utf-8").splitlines()
    changes = list(difflib.unified_diff(before, now, "recorded", "now", lineterm="", n=1))
    if changes:
        print("\n".join(changes))
        print("FAILED  programs rely on this; if it is meant, scripts/abi.sh records it")
        return 1
    print(f"ok      {len(now)} functions, constants, structs and fields are as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
