#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh FOLDER [all|short]: the unit tests of a build under valgrind's memcheck. Without "all",
# those that take long there are left out: the sanitizers see them in every `make check`. "short":
# those of what everything else stands on, and of what reads JSON and pickles.
#
# What counts is memcheck's verdict: no access that is invalid, no use of what was never set, no
# block lost; and the test's own, as other instructions run here than the processor may have. Those
# named below may fail, for what they are about: that is told and does not count.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(cd "${1:?the build folder}" && pwd)
which=${2:-}
short='core_|graph_test_(edit|matrix)|read_test_(pickle|csv)|report_test_json_read'
export CBX_SOURCE=$PWD CBX_SHARED=${CBX_SHARED:-/nonexistent} COMBINEX=$folder/combinex CBX_BUILD=$folder
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
# more than 20 s each
long=' api_test_allocations bench_test_run data_test_graph_file data_test_model_file data_test_safetensors
 data_test_atomic_file verify_test_check_edits method_test_combinex search_test_explain
 method_test_cf_gnn method_test_cff method_test_golden_traces search_test_many minimal_test_minimal method_test_random_edges
 method_test_random_features search_test_rank minimal_test_rules search_test_search search_test_setup method_test_shortcuts method_test_reference
 bench_test_mixed_targets bench_test_rows minimal_test_certificates search_test_limits program_test_corpus program_test_operations
 method_test_unr verify_test_verify method_test_wide kernel_test_gemm kernel_test_spectral layer_test_layer
 search_test_numbers search_test_used kernel_test_time model_test_class_bound model_test_patch model_test_input_mean model_test_standardise oracle_test_program_model
 minimal_test_add_edge minimal_test_add_node minimal_test_prove_edges minimal_test_prove_features oracle_test_callback oracle_test_program_edits report_test_scene report_test_undo verify_test_plausible minimal_test_infeasible minimal_test_remove_node minimal_test_set_edge method_test_additions method_test_d4 method_test_rcexplainer proof_test_lead_bound proof_test_pattern_bound proof_test_radius proof_test_walk_search model_test_pass model_test_predict model_test_train read_test_readers read_test_shared_raw report_test_report report_test_run '
# proofs that have so many seconds, where everything is some forty times slower; searches with steps
# so large that the last bit of a rounding decides them
may_fail=' minimal_test_minimal method_test_reference '
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

run_one() {
    local status=0
    valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
        --show-leak-kinds=definite --suppressions=scripts/valgrind.supp "$1" \
        > "$logs/${1##*/}.log" 2>&1 || status=$?
    echo "$status" > "$logs/${1##*/}.status"
}

left=0
for test in "$folder"/tests/*_test_*; do
    if [ ! -f "$test" ] || [ ! -x "$test" ]; then continue; fi
    name=${test##*/}
    if { [ "$which" != all ] && [[ ${long//$'\n'/ } == *" $name "* ]]; } ||
        { [ "$which" = short ] && ! [[ $name =~ ^($short) ]]; }; then
        left=$((left + 1))
        continue
    fi
    while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    run_one "$test" &
done
wait

ran=0 bad=0 failed=0 told=''
for log in "$logs"/*.log; do
    name=$(basename "$log" .log)
    status=$(cat "$logs/$name.status")
    ran=$((ran + 1))
    if [ "$status" -eq 99 ] || [ "$status" -gt 128 ]; then
        echo "valgrind: $name"
        grep -E '^(==|FAILED)' "$log" | sed -n 1,40p || true
        bad=$((bad + 1))
    elif [ "$status" -ne 0 ] && [ "$status" -ne 77 ]; then
        told="$told $name"
        [[ $may_fail == *" $name "* ]] || failed=$((failed + 1))
        echo "failed: $name"
        grep -B 3 -E '^FAILED' "$log" | sed -n 1,20p || true
    fi
done
echo "valgrind: $ran unit tests, $left left out, $bad with errors of memory${told:+; failed:$told}"
[ "$bad" -eq 0 ] && [ "$failed" -eq 0 ]
