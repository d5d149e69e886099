#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# abi.sh [BUILD]: records what programs that are built against the libraries rely on, in
# tests/install/abi.txt. The diff of that file is what a reviewer of an interface reads.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
cmake --build "$build" --target combinex combinex_kit > /dev/null
exec python3 tests/install/abi.py . "$build" --write
