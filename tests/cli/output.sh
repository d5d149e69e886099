#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# When the output cannot be written: exit status 1, and the old file stays.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --hidden 8 --epochs 2 -q -o model.safetensors
cp model.safetensors kept.safetensors

run train karate --epochs 2 -o absent/model.safetensors
check "a folder that does not exist is named before training starts" \
    fails_with 1 'absent/model.safetensors: cannot write there: No such file'
run train karate --epochs 2 -o model.safetensors/x
check "a file is not a folder" fails_with 1 'model.safetensors/x: cannot write there: Not a directory'
run train karate --epochs 2 -o .
check "a folder is not a file" fails_with 1 'it is a folder'
mkfifo pipe # stands for a device, which a test run as root must not risk
run train karate --epochs 2 -o pipe
check "what is no file is not replaced by a model" all fails_with 1 'not a regular file' , test -p pipe
if [[ $(id -u) -ne 0 ]]; then # root may write anywhere
    mkdir locked
    chmod 555 locked
    run train karate --epochs 2 -o locked/model.safetensors
    check "a folder without permission is named" \
        fails_with 1 'locked/model.safetensors: cannot write there: Permission denied'
fi
run predict karate model.safetensors -o absent/p.json
check "predict names the folder that does not exist" fails_with 1 'absent/p.json: cannot write'

# A small limit on the size of files stands for a disk that is full.
limited() {
    ran="combinex $* (no file over 1 kB)"
    (
        trap '' XFSZ
        ulimit -f 1
        exec "$COMBINEX" "$@"
    ) > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}
limited train karate --epochs 2 -q -o model.safetensors
check "a full disk fails the training" fails_with 1 'model.safetensors.*File too large'
check "and leaves the old model" cmp -s model.safetensors kept.safetensors
limited train karate --epochs 2 -q -o new.safetensors
check "a full disk leaves no part of a model" all fails_with 1 'new.safetensors' , \
    test ! -e new.safetensors
echo precious > predictions.json
limited predict karate model.safetensors --json -o predictions.json
check "a full disk fails the prediction" fails_with 1 'predictions.json: cannot write: File too large'
check "and leaves the old predictions" grep -q precious predictions.json
limited data generate ba-shapes -q -o shapes.safetensors
check "a full disk leaves no part of a graph" all fails_with 1 'shapes.safetensors' , \
    test ! -e shapes.safetensors
check "no temporary file stays" test -z "$(find . -name '*tmp*')"

ln -s predictions.json link.json
chmod 640 predictions.json
run predict karate model.safetensors --json -o link.json
check "a link is followed" all status_is 0 , test -L link.json , grep -q '"node": 33' predictions.json
check "the file keeps its permissions" test "$(stat -c %a predictions.json)" = 640
cat pipe > piped.json &
run predict karate model.safetensors --json -o pipe
wait $!
check "predictions may go to a device" all status_is 0 , test -p pipe , grep -q '"node": 33' piped.json

ln -s "$PWD/deep/new.json" dangling.json
run predict karate model.safetensors --json -o dangling.json
check "a link into no folder says where it leads" \
    fails_with 1 'dangling.json, a link to .*/deep/new.json: cannot write there: No such file'
mkdir deep
run predict karate model.safetensors --json -o dangling.json
check "a link to a file that is not there yet is followed, and the file made" \
    all status_is 0 , test -L dangling.json , grep -q '"node": 33' deep/new.json
rm deep/new.json
ln -s deep/new.safetensors dangling.safetensors
run train karate --hidden 8 --epochs 2 -q -o dangling.safetensors
check "so it is for a model" all status_is 0 , test -L dangling.safetensors , \
    cmp -s deep/new.safetensors kept.safetensors
ln -s round.json round.json
run predict karate model.safetensors --json -o round.json
check "a link to itself leads nowhere" all fails_with 1 'round.json: cannot write: Too many levels' , \
    test -L round.json
long=$(printf '%0255d' 7)
run predict karate model.safetensors --json -o "$long"
check "a name may be as long as names can be" all status_is 0 , grep -q '"node": 33' "$long"
run train karate --hidden 8 --epochs 2 -q -o "$long"
check "also that of a model" all status_is 0 , cmp -s "$long" kept.safetensors
run predict karate model.safetensors --json -o "${long}0"
check "and not longer" fails_with 1 'File name too long'

# Several outputs, of which one cannot be written: none is.
outputs=(-o all.json --html page.html --svg picture.svg --trace trace.json --summary summary.json)
files=(all.json page.html picture.svg trace.json summary.json)
several() { # several COMMAND...: which runs it, with these outputs
    "$@" explain karate model.safetensors --node 8 --preset paper --epochs 3 --json -q "${outputs[@]}"
}
old() { # old FILE...: they are as they were, and nothing lies beside them
    local file
    for file; do [[ $(< "$file") == precious ]] || return 1; done
    [[ -z $(find . -name '*.tmp') ]]
}
for file in "${files[@]}"; do echo precious > "$file"; done
limited_to() { # limited_to KILOBYTES ARGUMENTS...
    ran="combinex ${*:2} (no file over $1 kB)"
    (
        trap '' XFSZ
        ulimit -f "$1"
        exec "$COMBINEX" "${@:2}"
    ) > "$scratch/log/out" 2> "$scratch/log/err"
    status=$?
}
for size in 1 2 8 30; do # each stops at another of them
    several limited_to "$size"
    check "with no room for more than $size kB in a file, none of five outputs is new" \
        all fails_with 1 '^combinex: [^ ]*/(all.json|trace.json|page.html|picture.svg): cannot write: File too large' , \
        old "${files[@]}"
done
mkfifo pipe2
outputs+=(--svg pipe2)
several run
check "nor where one is no file" all fails_with 1 'pipe2: cannot write: it is not a regular file' , \
    old all.json page.html trace.json summary.json
outputs+=(--svg picture.svg)
several run
check "with room for all, all of them are new" all status_is 0 , err_empty , grep -q '"node":8' all.json , \
    grep -q '<html' page.html , grep -q '<svg' picture.svg , grep -q '"trace"' trace.json , \
    grep -q '"targets"' summary.json , test -z "$(find . -name '*.tmp')"

if [[ -c /dev/full ]]; then
    for target in '--node 8' '--all'; do
        for form in '' --json; do
            echo precious > page.html
            # shellcheck disable=SC2086 # two words each
            "$COMBINEX" explain karate model.safetensors $target --preset paper --epochs 20 $form --html page.html \
                > /dev/full 2> "$scratch/log/err"
            status=$? ran="combinex explain $target $form > /dev/full"
            check "explain $target $form says why standard output failed, and writes no page" \
                all status_is 1 , err_has 'standard output: No space left' , old page.html
        done
    done
    "$COMBINEX" predict karate model.safetensors --json > /dev/full 2> "$scratch/log/err"
    status=$? ran="combinex predict > /dev/full"
    check "a full standard output fails" all status_is 1 , err_has 'standard output: No space left'
    "$COMBINEX" --help > /dev/full 2> "$scratch/log/err"
    status=$? ran="combinex --help > /dev/full"
    check "even for help" all status_is 1 , err_has 'No space left'
    run predict karate model.safetensors --json -o /dev/full
    check "so does a full device" fails_with 1 '/dev/full: cannot write: No space left'
fi
"$COMBINEX" data list >&- 2> "$scratch/log/err"
status=$? ran="combinex data list >&-"
check "a closed standard output fails" all status_is 1 , err_has 'standard output: Bad file descriptor'
"$COMBINEX" train karate --hidden 8 --epochs 2 -o closed.safetensors >&- 2> "$scratch/log/err"
status=$? ran="combinex train >&-"
check "a summary for a closed standard output does not land in the model" \
    all status_is 1 , cmp -s closed.safetensors kept.safetensors

set -o pipefail
"$COMBINEX" predict karate model.safetensors --json 2> "$scratch/log/err" | true
check "a reader that leaves early is no reason for a message" err_empty
finish
