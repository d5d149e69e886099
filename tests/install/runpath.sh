#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nothing that is built looks for libraries where a program happens to run: an empty or
# relative element of RUNPATH or RPATH is the current folder to the loader, and a library
# that lies among somebody's data would be run.
set -u
command -v readelf > /dev/null || { echo "skipped: no readelf"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# strays FOLDER: for every element of a search path in it that leads to no fixed place,
# "FILE [ELEMENT]"; last, "N files". What the Python tests install was built by others.
strays() {
    find "$1" -name venv -prune -o -type f \( -perm -u+x -o -name '*.so*' \) -print0 |
        LC_ALL=C xargs -0 readelf -dW /dev/null 2> /dev/null | awk -v skip="${#1}" '
            /^File: / { file = substr($0, 8 + skip) }
            /^Dynamic section/ { files++ }
            /\((RUNPATH|RPATH)\)/ {
                gsub(/^.*\[|\]$/, "")
                count = split($0, elements, ":")
                for (i = 1; i <= count; i++)
                    if (elements[i] !~ /^(\/|\$ORIGIN(\/|$)|\$\{ORIGIN\}(\/|$))/)
                        printf "%s [%s]\n", file, elements[i]
            }
            END { print files + 0 " files" }'
}

# the reading itself is tried first, on paths that must be told of and others that must not
echo 'int main(void) { return 0; }' > "$scratch/main.c"
plant() { ${CC:-cc} "$scratch/main.c" -o "$scratch/$1" -Wl,-rpath,"$2" || exit 1; }
plant last-empty /a:
plant first-empty :/a
plant within-empty /a::/b
plant relative lib:/a
plant dotted ./lib
# shellcheck disable=SC2016 # the loader's word for the folder of the file
plant sound '/a:$ORIGIN/../lib:/b'
diff <(strays "$scratch" | sort) - << 'END' || { echo "FAILED  planted paths are not told of"; exit 1; }
6 files
dotted [./lib]
first-empty []
last-empty []
relative [lib]
within-empty []
END

strays "$CBX_BUILD" > "$scratch/found"
if [ "$(wc -l < "$scratch/found")" -ne 1 ] || grep -qx '0 files' "$scratch/found"; then
    echo "FAILED  looked for in the folder where the program runs:"
    cat "$scratch/found"
    exit 1
fi
echo "ok      $(cat "$scratch/found") look for libraries in fixed places only"
