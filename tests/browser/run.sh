#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.py: a test of pages in a real browser; skipped, with the reason, where there is none.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || ! "$python" -c 'import sys; assert sys.version_info >= (3, 8)' 2> /dev/null || break
done
if [ -z "$python" ]; then
    echo "skipped: no Python of at least 3.8 drives the browser"
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here
if ! "$python" -c 'import sys, browser; sys.exit(not browser.find_chromium())'; then
    echo "skipped: no Chromium here (Debian's package is called chromium)"
    exit 77
fi
exec "$python" "$here/$1"
