# SPDX-License-Identifier: Apache-2.0
"""Nothing in src/ but core/number.c reads or prints a number with a fraction by the C library,
and nothing compares letters by it: both go by the locale of the program.

    python3 locale_free.py SOURCE NM LIBRARY.a...     LIBRARY.a: what was built of src/

Printing is found in the sources: calls of the printf family whose text has a conversion of a
fraction, or whose text is not there to be looked at. Reading is found in the objects: what they
take from the C library."""

import pathlib
import re
import subprocess
import sys

OWN = {"number.c"}
CALL = re.compile(r"\b(v?(?:as|d|f|s|sn)?printf)\s*\(")
FRACTION = re.compile(r"%[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aAeEfFgG]")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
FORBIDDEN = re.compile(
    r"^(strto(d|f|ld)(_l)?|atof|(__isoc\d+_)?v?f?s?scanf|localeconv|setlocale|strn?casecmp(_l)?|to(upper|lower)(_l)?"
    r"|is(alpha|alnum|print|space|upper|lower|punct|graph|cntrl)|__ctype_(b|tolower|toupper)_loc|strcoll|strxfrm)$"
)


def without_comments(text):
    """With as many lines as before."""

    def blank(match):
        return match.group(0) if match.group(0)[0] in "\"'" else re.sub(r"[^\n]", " ", match.group(0))

    return re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def call_at(text, start):
    """The arguments of the call whose bracket opens before `start`."""
    depth, at = 1, start
    while depth and at < len(text):
        quoted = TEXT.match(text, at) if text[at] == '"' else None
        if quoted:
            at = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start : at - 1]


def printing(path):
    text = without_comments(path.read_text(encoding="utf-8"))
    for call in CALL.finditer(text):
        arguments = call_at(text, call.end())
        line = text.count("\n", 0, call.start()) + 1
        if call.group(1).startswith("v"):
            yield f"{path}:{line}: {call.group(1)} may print a fraction: cbx_vprint"
        elif any(FRACTION.search(t.replace("%%", "")) for t in TEXT.findall(arguments)):
            yield f"{path}:{line}: {call.group(1)} prints a fraction: cbx_print or cbx_fprint"


def reading(library, nm):
    listed = subprocess.run([nm, "-A", "-u", library], stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in listed.splitlines():
        place, _, symbol = line.split()[-3:] if len(line.split()) > 2 else ("", "", "")
        name = place.rstrip(":").rsplit(":", 1)[-1]  # LIBRARY.a:file.c.o:
        if FORBIDDEN.match(symbol) and name.removesuffix(".o") not in OWN:
            yield f"{name}: calls {symbol}: see core/number.h and core/word.h"


def main(source, nm, *libraries):
    files = [f for f in sorted(pathlib.Path(source, "src").rglob("*.c")) if f.name not in OWN]
    found = [complaint for file in files for complaint in printing(file)]
    found += [complaint for library in libraries for complaint in reading(library, nm)]
    print("\n".join(found) if found else f"{len(files)} files go by no locale")
    return 1 if found or not files or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
