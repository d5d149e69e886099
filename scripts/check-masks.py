#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the compiler load two vectors of one array with the mask of the first?

gcc 12.2 does where a loop of fixed length, longer than one vector, chooses what to load
(`w[k] > 0 ? high[k] : low[k]`): numbers behind the first vector are silently wrong. What its
vectoriser made (-fdump-tree-vect) tells. `check-masks.py FOLDER FLAGS` looks at all dumps below a
build's folder. First it compiles and runs a program that a compiler with the fault gets wrong: the
dump must show the fault exactly where the result is wrong, or this looks for the wrong thing.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

LOAD = re.compile(r"\.MASK_LOAD \((\w+\.\d+)_(\d+), \w+, ([\w.]+)\)")

KNOWN = """
#include <stdio.h>
__attribute__((noinline)) void of(int n, const double *w, const double *low, const double *high,
                                  double *restrict out)
{
    for (int k = 0; k + 16 <= n; k += 16)
        for (int i = k; i < k + 16; i++)
            out[i] = w[i] * (w[i] > 0 ? high[i] : low[i]);
}
__attribute__((noinline)) void of_two(int n, const double *w, const double *low, const double *high,
                                      double *restrict out)
{
    for (int k = 0; k + 16 <= n; k += 16)
        for (int i = k; i < k + 16; i++)
            out[i] = w[i] > 0 && w[i] < low[i] ? high[i] : low[i];
}
int main(void)
{
    double w[16], low[16], high[16], out[16];
    for (int i = 0; i < 16; i++)
        w[i] = i % 3 - 1.0, low[i] = 1 + i, high[i] = 2 + i;
    of(16, w, low, high, out);
    for (int i = 0; i < 16; i++)
        if (out[i] != (w[i] > 0 ? w[i] * high[i] : w[i] * low[i]))
            return 1;
    return 0;
}
"""


def shared_masks(dump: pathlib.Path) -> list[str]:
    """The functions in which one mask serves two vectors of the same array."""
    found, function, seen = [], "", {}
    for line in dump.read_text(errors="replace").splitlines():
        if line.startswith(";; Function "):
            function, seen = line.split()[2], {}
        load = LOAD.search(line)
        if not load:
            continue
        array, vector, mask = load.groups()
        if seen.setdefault((array, mask), vector) != vector and function not in found:
            found.append(function)
    return found


def known_fault(flags: list[str]) -> tuple[bool, bool]:
    """Whether the compiler gets the known program wrong, and whether its dump shows it."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "known.c")
        source.write_text(KNOWN)
        subprocess.run(
            ["cc", "-O3", "-fno-trapping-math", *flags, "-fdump-tree-vect", "-o", "known", "known.c"],
            cwd=folder,
            check=True,
        )
        wrong = subprocess.run([source.with_suffix("")], check=False).returncode != 0
        return wrong, any(shared_masks(d) for d in pathlib.Path(folder).glob("*.vect"))


def main() -> None:
    folder, *flags = sys.argv[1:]
    wrong, shown = known_fault(flags)
    if wrong != shown:
        sys.exit(f"check-masks: the known program is {'wrong' if wrong else 'right'}, and its dump "
                 f"{'shows' if shown else 'does not show'} the fault: look for something else")
    dumps = sorted(pathlib.Path(folder).rglob("*.vect"))
    if not dumps:
        sys.exit(f"check-masks: no dumps of the vectoriser in {folder}; is it compiled by gcc?")
    faults = [f"{dump.name.split('.')[0]}.c: {name}" for dump in dumps for name in shared_masks(dump)]
    for fault in faults:
        print(f"{fault}: two vectors of an array are loaded with one mask", file=sys.stderr)
    print(f"masked loads: {len(dumps)} files, {len(faults)} wrong; this compiler has "
          f"{'the fault' if wrong else 'no such fault'}")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
