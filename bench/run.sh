#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make bench` runs: combinex against PyTorch Geometric where there is torch, its searches and
# the models that it takes as programs;
# else the phases of combinex alone. Arguments go to speed.py. $PYTHON: an
# interpreter with torch and torch_geometric (tests/torch/requirements.txt).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export BUILD=${BUILD:-$PWD/build}

cmake -S . -B "$BUILD" -DCBX_BENCH=ON > /dev/null
MAKEFLAGS='' cmake --build "$BUILD" --parallel "$(getconf _NPROCESSORS_ONLN)" \
    --target combinex_cli combinex_phases combinex_program_speed > /dev/null

has_torch() { "$1" -c 'import torch, torch_geometric' 2> /dev/null; }
for python in "${PYTHON:-}" "$BUILD/venv/bin/python" python3; do
    if [ -n "$python" ] && command -v "$python" > /dev/null && has_torch "$python"; then
        "$python" bench/speed.py "$@"
        exec "$python" bench/programs.py "$BUILD/combinex_program_speed"
    fi
done
echo "No python with torch and torch_geometric: combinex alone. For the comparison:" >&2
echo "  python3 -m venv build/venv && build/venv/bin/pip install -r tests/torch/requirements.txt" >&2
exec python3 bench/speed.py --no-peers "$@"
