#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Help and version: what somebody sees who has just installed it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run --version
check "--version names the program and its version" out_has '^combinex [0-9]+\.[0-9]+\.[0-9]+$'
check "--version succeeds" all status_is 0 , err_empty , out_lines 1

run --help
check "--help succeeds and goes to standard output" all status_is 0 , err_empty
for word in 'data list' 'data info' 'data generate' train predict explain apply help COMBINEX_DATA 'Exit status'; do
    check "--help mentions $word" out_has "$word"
done

run
check "without arguments it shows the help on stderr, as wrong usage" fails_with 2 'Usage: combinex'

run data
check "a group without a command shows the group's commands" fails_with 2 'data generate'
run data --help
check "a group has help" all status_is 0 , out_has 'data info' , not out_has 'predict'
run help data
check "help knows groups" all status_is 0 , out_has 'data info' , not out_has 'predict'

for command in 'data list' 'data info' 'data generate' train predict explain apply help; do
    # shellcheck disable=SC2086 # a command may be two words
    run $command --help
    check "$command --help succeeds" all status_is 0 , err_empty
    check "$command --help shows usage, examples and exit codes" \
        all out_has "^Usage: combinex $command" , out_has '^Examples:' , out_has '^Exit status:'
    check "$command --help keeps its lines short" \
        not out_has '^.{101,}'
    cp "$scratch/log/out" "$scratch/long"
    # shellcheck disable=SC2086
    run help $command
    check "help $command is the same" cmp -s "$scratch/long" "$scratch/log/out"
    [ "$command" != explain ] || continue
    # shellcheck disable=SC2086
    run $command -h
    check "$command -h is the same" cmp -s "$scratch/long" "$scratch/log/out"
done

run explain -h
check "explain -h has the most used options, and says where the others are" all status_is 0 , err_empty , \
    out_has '^Usage: combinex explain' , out_has '^Most used:' , out_has ' --node ' , out_has ' --as ' , out_has ' --prove ' , \
    not out_has ' --momentum' , out_has '^Examples:' , out_has "^'combinex explain --help' has all [0-9]+ options"
check "it fits a window or two" [ "$(wc -l < "$scratch/log/out")" -lt 100 ]
check "every option it names is one" [ "$(sed -n '/^Most used:/,/^$/p' "$scratch/log/out" | grep -cE '^( {6}|  -., )--')" = 24 ]

run train --help
check "help shows choices and defaults" out_says 'auto, gcn, cheb, graphconv, sage, gin, gat; default auto'
check "help shows what is required" out_says '-o, --output FILE [^)]*\(required\)'
run train --bogus --help
check "a mistake before --help is still a mistake" fails_with 2 'unknown option --bogus'
run train --help --bogus
check "--help comes first when it is first" status_is 0
run help nothing
check "help for a command that does not exist is wrong usage" fails_with 2 "unknown command 'nothing'"
finish
