#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Wrong usage: exit status 2, a message that helps, and nothing written.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

wrong() { # wrong SENTENCE PATTERN ARGUMENTS...
    local sentence=$1 pattern=$2
    shift 2
    run "$@"
    check "$sentence" fails_with 2 "$pattern"
}

wrong "an unknown command gets the nearest one suggested" "did you mean 'train'" trian karate
wrong "so does the second word of a command" "did you mean 'data list'" data lst
wrong "a command unlike any other gets no suggestion" "unknown command 'xyzzy'$" xyzzy
wrong "options before the command are refused" 'options come after' --quiet train karate
wrong "an unknown option gets the nearest one suggested" 'did you mean --epochs' \
    train karate -o m --epoch 3
wrong "an unknown letter is refused" 'unknown option -x' train karate -x
wrong "an option without its value is refused" '--epochs needs a value' train karate -o m --epochs
wrong "another option is not a value" '--output needs a value' train karate -o --quiet
wrong "a missing operand is named" 'train needs DATA' train -o m
wrong "a missing second operand is named" 'predict needs MODEL' predict karate
wrong "a missing required option is named" 'train needs --output FILE' train karate
wrong "an empty file name is no file name" 'train needs --output FILE' train karate -o ''
wrong "too many operands are refused" "unexpected argument 'more'" train karate more -o m
wrong "after -- everything is an operand" "unexpected argument '--json'" data info karate -- --json
wrong "text is not a whole number" "--epochs: 'ten'" train karate -o m --epochs ten
wrong "a fraction is not a whole number" "--epochs: '1.5'" train karate -o m --epochs 1.5
wrong "trailing letters are not ignored" "--epochs: '5x'" train karate -o m --epochs 5x
wrong "an empty number is refused" '--epochs' train karate -o m --epochs=
wrong "NaN is no number" "--dropout: 'nan'" train karate -o m --dropout nan
wrong "infinity is no number" "--dropout: 'inf'" train karate -o m --dropout inf
wrong "a number too large for the type is refused" '--seed: .* out of range' \
    train karate -o m --seed 99999999999999999999
wrong "a number too large for the option is refused" '--dropout: 1e300 is out of range' \
    train karate -o m --dropout 1e300
wrong "a number too small is refused" '--layers: 0 is out of range' train karate -o m --layers 0
wrong "a choice that is nearly one gets that suggested" "did you mean 'cf-gnn'" \
    explain karate m --node 8 --explainer cfgnn
wrong "help for a command that is nearly one gets that suggested" "did you mean 'explain'" help explian
wrong "a choice that does not exist gets the choices" 'not one of auto, gcn, cheb, graphconv' \
    train karate -o m --model transformer
wrong "the form --name=value is checked alike" 'not one of auto, gcn, cheb, graphconv' \
    train karate -o m --model=transformer
wrong "a switch takes only true and false" "--json: 'maybe'" data list --json=maybe
wrong "data list takes no operand" "unexpected argument 'karate'" data list karate

# What was asked for and would be ignored.
ignored() { # ignored STATUS SENTENCE PATTERN ARGUMENTS...
    local code=$1 sentence=$2 pattern=$3
    shift 3
    run "$@"
    check "$sentence" fails_with "$code" "$pattern"
}
for command in 'data info' 'data check' 'predict' ; do
    words=("${command% *}")
    [[ $command != data* ]] || words=(data "${command#* }")
    operands=(karate)
    [[ $command != predict ]] || operands=(karate m)
    ignored 1 "$command: a built-in data set has no sidecar" '--sidecar: is about files, and karate is built in' \
        "${words[@]}" "${operands[@]}" --sidecar /nonexistent
    ignored 1 "$command: nor a format" '--format: is about files' "${words[@]}" "${operands[@]}" --format csv
    ignored 1 "$command: nor a class for each graph" 'karate: it has no class for each graph' \
        "${words[@]}" "${operands[@]}" --task graph
done
run data info karate --task node --copy --symmetric
check "what holds for a built-in data set may be said of it" status_is 0
ignored 1 "a benchmark of built-in data sets takes no format" '--format: is about files' \
    bench --data karate,ba-shapes --format csv --out b
ignored 2 "a built-in data set is not downloaded from anywhere" '--from: karate is built in' \
    data fetch karate --from https://example.org
ignored 1 "the karate club has no number of nodes to choose" '--nodes: karate has nothing of the kind' \
    data generate karate --nodes 10 -o m
ignored 1 "a random graph has no motifs" '--motifs: erdos-renyi has nothing of the kind' \
    data generate erdos-renyi --motifs 3 -o m
wrong "the order is that of cheb" '--order is for --model cheb' train karate --order 3 -o m
wrong "the aggregation is that of graphconv" '--aggregation is for --model graphconv' \
    train karate --aggregation max -o m
wrong "heads are those of gat" '--heads is for --model gat' train karate --heads 2 -o m
wrong "eps is gin's" '--train-eps is for --model gin' train karate --model gat --train-eps -o m
ignored 1 "heads share a layer's units" '10 units cannot be shared out among 4 heads' \
    train karate --model gat --heads 4 --hidden 10 -o m
wrong "nodes are not pooled" '--pool is for data with a class for each graph' train karate --pool sum -o m
wrong "nodes come in no batches" '--batch is for data with' train karate --batch 3 -o m
wrong "a random split has no folds" '--folds is for --split kfold' train karate --folds 3 -o m
wrong "folds have no share" '--train-share is for --split random' train karate --split kfold --train-share 0.5 -o m
wrong "a published split is not drawn" '--val-share is for splits that are drawn' \
    train karate --split public --val-share 0.1 -o m
wrong "replaying searches nothing" '--epochs: is about searching' explain karate m --replay r --epochs 3
wrong "nor by a preset" '--preset: is about searching' explain karate m --replay r --preset paper
wrong "and sums nothing up" '--replay goes with none of' explain karate m --replay r --summary s
wrong "several answers are not everybody's" '--total-cfs: only the explainers minimal and moexp do that, not combinex' \
    explain karate m --node 1 --preset paper --total-cfs 2
wrong "a proof is only minimal's" '--prove: only the explainer minimal does that, not moexp' \
    explain karate m --node 1 --explainer moexp --prove 1
wrong "a report without data has no format" '--format: is about DATA, and there is none' \
    report r.jsonl --format csv -o r.html

run train karate
check "the message says where to read on" err_has "Try 'combinex train --help'"
check "no wrong usage wrote a file" test -z "$(ls -A)"

run data list --json=false
check "a switch can be switched off" all status_is 0 , not out_has '^\{'
run data info -- karate
check "-- ends the options" status_is 0
run data info karate --json -q
check "options may follow operands" all status_is 0 , out_has '^\{'
run train karate -qom --epochs=1
check "letters may be joined, and a value joined to its letter" all status_is 0 , test -f m , out_empty
finish
