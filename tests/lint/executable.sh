#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What says by its first line how it is run can be run: executable.sh FOLDER…
set -euo pipefail
bad=0
while IFS= read -r -d "" file; do
    if head -c 2 "$file" | grep -q '^#!' && [ ! -x "$file" ]; then
        echo "$file: has a '#!' line and is not executable"
        bad=1
    fi
done < <(find "$@" -type f -print0)
exit $bad
