#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Data sets of every format with one thing wrong each (tests/hostile/bad_data.py): the message
# says what, and that is all that happens. Some are sound in a rare way, and are read.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

python3 -c 'import numpy' 2> /dev/null || skip "no python3 with NumPy"
python3 "$here/../hostile/bad_data.py" . || exit 1
says() { cat "$scratch/log/out" "$scratch/log/err" | grep -Eq -- "$1"; }
while IFS=$'\t' read -r path what format options says; do
    arguments=(data "$what" "$path" --format "$format")
    # shellcheck disable=SC2206 # words
    [[ $options == - ]] || arguments+=($options)
    run "${arguments[@]}"
    if [[ $says == - ]]; then
        check "$path is read" status_is 0
    elif [[ $what == check ]]; then
        check "$path: $says" all says "$says" , [ "$status" -le 1 ]
    else
        check "$path: $says" fails_with 1 "$says"
    fi
done < list

# ---- what options and files around it may have wrong
run data info csv-gzip/
check "a folder may end in a slash" status_is 0
run data info csv-gzip --sidecar absent.json
check "a sidecar that is named must be there" fails_with 1 'absent.json'
run data info csv-gzip --sidecar csv-gzip
check "and be a file" fails_with 1 'csv-gzip: not a JSON file'
(cd tu-real-label && python3 -c 'import zipfile, glob; z = zipfile.ZipFile("../t.zip", "w"); [z.write(n) for n in glob.glob("*")]')
echo '{"name": "beside"}' > t.combinex.json
run data info t.zip
check "an archive has its sidecar beside it" all status_is 0 , out_has beside
run data info t.zip/nothing.txt
check "a file that is not in the archive is told" fails_with 1 'the archive has no such file'
run data info tu-real-label --format planetoid
check "a format that is asked for must be the one" fails_with 1 'ind\.'
run data info nowhere
check "a folder that is not there is told" fails_with 1 'nowhere'
run data info /dev/null
check "a device is no data set" fails_with 1 'neither a file nor a folder'
finish
