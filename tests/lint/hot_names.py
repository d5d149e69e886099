#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that are compiled for several processors have names of their own: hot_names.py FOLDER…

For each, clang makes a symbol NAME.resolver that all files see, though the function is static: two of one name do not
link. gcc makes a local one, so that a build with gcc alone does not tell.
"""
import re
import sys
from pathlib import Path

HOT = re.compile(r"^CBX_HOT\s[^(;{]*?(\w+)\(", re.MULTILINE)

places = {}
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).rglob("*.c")):
        for name in HOT.findall(path.read_text(encoding="utf-8")):
            places.setdefault(name, []).append(str(path))
twice = {name: files for name, files in places.items() if len(files) > 1}
for name, files in twice.items():
    print(f"{name}: marked CBX_HOT in {', '.join(files)}")
if not places:
    print("no function is marked CBX_HOT: is this the right folder?")
sys.exit(1 if twice or not places else 0)
