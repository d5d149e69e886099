#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC1091,SC2034,SC2154 # lib.bash sets and reads some of these
# Pages and pictures as files; tests/browser looks at them.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run train karate --epochs 100 --seed 1 -q -o model.safetensors
ask=(explain karate model.safetensors --node 8 --target any)
run "${ask[@]}" --html page.html --svg picture.svg
check "explain says what it wrote" all status_is 0 , err_empty , out_has '^member 8: ' , \
    out_has '^written: page.html$' , out_has '^written: picture.svg$'
check "a page is a whole document" all grep -q '^<!doctype html>' page.html , grep -q '</html>' page.html
check "so is a picture" all grep -q '<svg xmlns' picture.svg , grep -q '</svg>' picture.svg
run "${ask[@]}" --json --html page.html
check "for programs there is only the result" all status_is 0 , out_lines 1 , out_has '^\{"node":8'
cp "$scratch/log/out" one.jsonl
run "${ask[@]}" -q --html page.html --svg picture.svg
check "--quiet does not say it" all status_is 0 , not out_has written

run report one.jsonl karate model.safetensors -o again.svg
check "report makes the same picture from the results" all status_is 0 , out_has '^written: again.svg$' , \
    cmp -s again.svg picture.svg
run report one.jsonl karate model.safetensors -q -o again.html
check "and a page" all status_is 0 , out_empty , grep -q '"undo"' again.html
run report one.jsonl -q -o short.html
check "without data a page has what the results say" all status_is 0 , not grep -q '"undo"' short.html , \
    grep -q '"robustness"' short.html
cat one.jsonl one.jsonl > two.jsonl
run report two.jsonl --line 2 -q -o short.html
check "--line takes one" status_is 0
run report two.jsonl --line 3 -o short.html
check "a line that is not there is named" fails_with 1 'two.jsonl: there is no line 3: it has 2'

run explain karate model.safetensors --all --target any --json -o all.jsonl --html run.html
check "many targets have one page" all status_is 0 , grep -q '"targets":34' run.html , grep -q '"common":' run.html
run report all.jsonl karate model.safetensors -o again.html
check "which is the same from the results" all status_is 0 , cmp -s run.html again.html
run report all.jsonl -q -o short.html
check "and there without data and model" all status_is 0 , grep -q '"targets":34' short.html , \
    grep -q 'combinex explain DATA MODEL --node TARGET' short.html
run report all.jsonl -o all.svg
check "but a picture shows one" status_is 1

cp page.html kept.html
run "${ask[@]}" --html absent/page.html
check "a missing folder is told before the search" fails_with 1 'absent/page.html: cannot write there'
run "${ask[@]}" --html -
check "a page goes to a file" fails_with 2 '--html goes to a file'
run explain karate model.safetensors --all --svg picture.svg
check "a picture has one target" fails_with 2 '--svg is for one target, and there are 34'
run explain karate model.safetensors --replay one.jsonl --html page.html
check "a replay has no page" fails_with 2 '--replay goes with none of'
run report one.jsonl karate -o page.html
check "data without a model is a mistake" fails_with 2 'takes DATA and MODEL, or neither'
run report one.jsonl -o page.pdf
check "other endings are refused" fails_with 2 'page.pdf: the file.s name must end in .html, .svg or .png'
run report one.jsonl
check "a report goes to a file" fails_with 2 '--output|-o'
run report absent.jsonl -o page.html
check "missing results are named" fails_with 1 'absent.jsonl: No such file'
echo '{"node": 8}' > bad.jsonl
run report bad.jsonl -o page.html
check "what is no result is told with its line" fails_with 1 'bad.jsonl: line 1: '
: > empty.jsonl
run report empty.jsonl -o page.html
check "so is that there is none" fails_with 1 'empty.jsonl: there are no results in it'
run train karate --epochs 5 --seed 2 -q -o other.safetensors
run report one.jsonl karate other.safetensors -o page.html
check "results of another model are refused" fails_with 1 'line 1: the result was made with another model'
run data generate erdos-renyi --nodes 34 --features 34 --classes 4 -q -o other-data.safetensors
run report one.jsonl other-data.safetensors model.safetensors -o page.html
check "and so are those of other data" fails_with 1 'line 1: the result was made with other data'
check "whatever failed left the page as it was" cmp -s page.html kept.html

run "${ask[@]}" -q --png picture.png
if [ "$status" -eq 0 ]; then
    check "a PNG is one" test "$(head -c 8 picture.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a
else
    check "without cairo there is no PNG, and it says so" all status_is 1 , err_has 'cairo'
fi
finish
