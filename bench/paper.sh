#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every cell of the paper's tables: 17 data sets with three models, four folds, 25 rows of each,
# all methods, under both protocols; then docs/reproduction.
#
#   bench/paper.sh DIR [PROTOCOL…]    PROTOCOL: published, meant, faults; the first two if none is named
#
# Takes hours, and can be stopped and started again at any time: it goes on where it was. $JOBS: threads (1); $RUN: a command in
# front, such as "mpirun -n 2": beside other work processes are faster than threads, which wait for each other.
# $SAMPLES, $FOLDS: fewer make a trial of it; nothing is written to docs then. Data sets are looked for in
# $COMBINEX_DATA. Those that take longest come first. `faults` is the published protocol with the faults of the
# published program, and its twelve methods only: what is left of the differences then is ours.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ $# -ge 1 ] || { sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
out=$1
shift
[ $# -ge 1 ] || set -- published meant
export BUILD=${BUILD:-$root/build}
jobs=${JOBS:-1} samples=${SAMPLES:-25} folds=${FOLDS:-4}
data=${DATA:-wiki,PROTEINS,pubmed,COIL-DEL-graphs,AIDS,PROTEINS_full-graphs,cora,ENZYMES,facebook,AIDS-graphs,citeseer,ENZYMES-graphs,actor,wisconsin,texas,cornell,karate}
published=combinex-def,combinex-feat,combinex-dyn,combinex-exp,combinex-lin,combinex-sin,ego,random-edges,random-features,cff,cf-gnn,unr

# Oracles that both protocols train alike are taken from the other's folder; an oracle's file says
# how it was trained, so those that are not are trained.
share_oracles() { # share_oracles FOLDER
    local other
    mkdir -p "$1/models"
    for other in published meant faults; do
        [ "$out/$other" = "$1" ] || [ ! -d "$out/$other/models" ] || cp -n "$out/$other"/models/*.safetensors "$1/models" 2> /dev/null || true
    done
}

for protocol; do
    case $protocol in
        published) flags=(--protocol published) ;;
        meant) # what both ask alike is not asked twice
            flags=(--protocol meant)
            [ ! -e "$out/published/plan.txt" ] || flags+=(--rows-of "$out/published")
            ;;
        faults) flags=(--protocol published --published-faults all --explainers "$published") ;;
        *) echo "bench/paper.sh: no protocol '$protocol': published, meant, faults" >&2; exit 2 ;;
    esac
    folder=$out/$protocol
    share_oracles "$folder"
    [ ! -e "$folder/plan.txt" ] || flags+=(--resume)
    echo "$(date -u +%FT%TZ) $protocol $(git -C "$root" describe --always --dirty 2> /dev/null || true)" >> "$out/versions.txt"
    # shellcheck disable=SC2086 # words of a command
    nice -n 15 ${RUN:-} "$BUILD/combinex" bench --data "$data" --models gcn,cheb,graphconv --folds "$folds" \
        --samples "$samples" --jobs "$jobs" "${flags[@]}" --out "$folder"
    [ "$folds/$samples" != 4/25 ] || python3 "$root/bench/reproduction.py" "$folder" --name "$protocol"
done
