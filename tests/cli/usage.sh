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
wrong "a negative node is refused" '--node: -1 is out of range' predict karate m --node -1
wrong "a choice that does not exist gets the choices" 'not one of gcn, cheb, graphconv' \
    train karate -o m --model transformer
wrong "the form --name=value is checked alike" 'not one of gcn, cheb, graphconv' \
    train karate -o m --model=transformer
wrong "a switch takes only true and false" "--json: 'maybe'" data list --json=maybe
wrong "data list takes no operand" "unexpected argument 'karate'" data list karate

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
