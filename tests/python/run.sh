#!/usr/bin/env bash
# The tests of the Python package; those that need torch skip themselves where it is not.
set -euo pipefail
# shellcheck source=lib.bash
. "$CBX_SOURCE/tests/python/lib.bash"
test_python
if [ -z "$python" ]; then
    echo "skipped: $why"
    exit 77
fi
cd "$CBX_SOURCE"
export PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import combinex, sys; print("Python", sys.version.split()[0], combinex.__file__)'
exec "$python" -m pytest -q -p no:cacheprovider python/tests
