#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [short|all]: tests, in programs that have set a locale in which one half is 0,5. Short:
# the unit tests of everything that reads and writes numbers, and some commands; all: the suite but for
# tests of what has no text in it. CBX_BUILD is a build folder; the locales are made in it, so nothing need be installed
# but their sources.
set -euo pipefail
how=${1:-short}
cd "${CBX_BUILD:?the path of a build folder}"
command -v localedef > /dev/null || { echo "skipped: no localedef"; exit 77; }
for name in de_DE ps_AF tr_TR; do # a comma; a point of two bytes; letters of their own
    [ -e "locale/$name.UTF-8" ] && continue
    mkdir -p locale
    [ -f "/usr/share/i18n/locales/$name" ] || { echo "skipped: no sources of locales (package locales)"; exit 77; }
    localedef -c -i "$name" -f UTF-8 "locale/$name.making" > /dev/null 2>&1 || [ -e "locale/$name.making" ]
    mv "locale/$name.making" "locale/$name.UTF-8"
done
export LOCPATH=$CBX_BUILD/locale CBX_TEST_LOCALES=1 CBX_TEST_LOCALE=de_DE.UTF-8
host=$CBX_BUILD/tests/liblocale_host.so

if [ "$how" = all ]; then
    # Numbers are in neither: kernels, layers, searches and proofs. Limits of memory and counts of instructions are not for
    # programs with a locale loaded into them.
    silent='(adversary|fuzz|kernel|layer|method|oracle|program|proof|verify)/'
    silent+='|minimal/test_(a|certificates|infeasible|m|p|remove_node|set_edge|w)|search/test_(explain|limits|many|rank|search|used)'
    silent+='|cli/(memory|rivals|reproducible|robust_truth|shared_data)$|(faults|growth|locale|reproducible|reproduction)$'
    LD_PRELOAD=$host exec ctest --output-on-failure --exclude-regex "^($silent)" \
        --parallel "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --timeout 300
fi

failures=0
check() {
    local sentence=$1
    shift
    if "$@"; then
        echo "ok      $sentence"
    else
        echo "FAILED  $sentence"
        failures=$((failures + 1))
    fi
}
passes() {
    local result=0
    CBX_TEST_LOCALE=$1 "$2" > locale/log 2>&1 || result=$?
    [ $result -eq 0 ] || [ $result -eq 77 ] || { cat locale/log; false; }
}
count=0
for test in tests/core_test_{error,number,options,word} tests/{data,read,write,report,bench}_test_* \
    tests/graph_test_graph tests/search_test_options tests/minimal_test_rules tests/model_test_split tests/api_test_locale; do
    [ -x "$test" ] || continue
    count=$((count + 1))
    check "${test##*/} passes in a German program" passes de_DE.UTF-8 "$test"
done
check "there are tests to run" [ $count -gt 20 ]
for test in tests/read_test_{csv,graphml,readers,text_formats} tests/write_test_write; do
    check "${test##*/} passes in a Turkish program" passes tr_TR.UTF-8 "$test"
done

# The command: what it prints and writes is the same with and without.
commands() (
    rm -rf "locale/$1"
    mkdir "locale/$1"
    cd "locale/$1"
    "$COMBINEX" train karate -q --epochs 20 --learning-rate 0.02 --seed 1 -o model.safetensors
    "$COMBINEX" data info karate > info.txt
    "$COMBINEX" data info karate --json > info.json
    "$COMBINEX" predict karate model.safetensors --node 8 > predict.txt
    "$COMBINEX" explain karate model.safetensors --all --target any --seed 1 --threads 2 --json |
        sed -E 's/"seconds":[0-9.e-]+//' > explain.json
    "$COMBINEX" explain karate model.safetensors --node 8 --target any --seed 1 --svg picture.svg |
        sed -E 's/[0-9.]+ m?s//' > explain.txt
    for format in csv graphml gexf dot; do
        "$COMBINEX" data convert karate "karate.$format" --to "$format" -q
    done
)
commands plain
(export LD_PRELOAD=$host && commands german)
check "the command prints and writes the same in a German process" diff -r locale/plain locale/german
[ $failures -eq 0 ]
