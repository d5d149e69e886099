# shellcheck shell=bash
# test_python: sets `python` to an interpreter that can import the package. That is the
# one in CBX_TEST_PYTHON, which has it installed, or else one in a virtual environment
# under the build folder, over a Python that has NumPy and pytest. Without any,
# `python` is empty and `why` says what is missing.
test_python() {
    local base venv=$CBX_BUILD/python/venv
    why='' python=${CBX_TEST_PYTHON:-}
    [ -z "$python" ] || return 0
    if [ ! -f "$CBX_BUILD/python/package/combinex/__init__.py" ]; then
        why="the Python package was not built: no Python of at least 3.9 when cmake ran"
        return 0
    fi
    if [ ! -x "$venv/bin/python" ]; then
        for base in python3 /usr/bin/python3; do
            "$base" -c 'import sys, numpy, pytest, venv; assert sys.version_info >= (3, 9)' 2> /dev/null || continue
            "$base" -m venv --without-pip --system-site-packages "$venv"
            "$venv/bin/python" - "$CBX_BUILD/python/package" << 'END'
import pathlib, site, sys
folder = next(p for p in site.getsitepackages() if p.startswith(sys.prefix))
pathlib.Path(folder, "combinex.pth").write_text(sys.argv[1] + "\n")
END
            break
        done
    fi
    if [ -x "$venv/bin/python" ]; then
        python=$venv/bin/python
    else
        why="no Python here has NumPy, pytest and venv (python3-numpy, python3-pytest)"
    fi
}
