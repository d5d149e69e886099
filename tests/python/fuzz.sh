#!/usr/bin/env bash
# The package's fuzzing over a library that was built for the address sanitizer. The sanitizer
# has to be in the interpreter, too, and is put there by the loader. What Python itself leaves
# behind at the end is not looked at.
set -euo pipefail
# shellcheck source=lib.bash
. "$CBX_SOURCE/tests/python/lib.bash"
runtime=$(cc -print-file-name=libasan.so)
if [ ! -e "$runtime" ]; then
    echo "skipped: no libasan.so, as gcc has it, to load into Python"
    exit 77
fi
unset CBX_TEST_PYTHON # which has another library
test_python
if [ -z "$python" ]; then
    echo "skipped: $why"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
"$python" -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("combinex").origin.startswith(sys.argv[1]))' \
    "$CBX_BUILD" || { echo "another combinex is found than that of $CBX_BUILD"; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Silence must mean something: one byte too many is read, and has to be noticed.
planted='import ctypes, numpy; a = numpy.zeros(300); ctypes.string_at(a.ctypes.data, a.nbytes + 1)'
if LD_PRELOAD=$runtime "$python" -c "$planted" 2> "$log" || ! grep -q heap-buffer-overflow "$log"; then
    echo "a read past the end of an array is not noticed"
    exit 1
fi
LD_PRELOAD=$runtime "$python" "$CBX_SOURCE/python/tests/test_fuzz.py" 1 "${CBX_PYTHON_FUZZ:-2000}" 2> "$log" || {
    grep -v '^[0-9]* [a-z_]*$' "$log" | head -n 60
    tail -n 1 "$log"
    exit 1
}
