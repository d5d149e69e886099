#!/usr/bin/env bash
# Installs the built tree, then builds and runs the examples against what was
# installed in every way that users may, and looks at what the library exports.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
example=$CBX_SOURCE/examples

fail() { echo "FAIL: $*" >&2; exit 1; }
say() { echo "-- $*"; }

# build_examples SUFFIX PKG_CONFIG...: each with the compiler alone. One takes the kit, the others
# do with libcombinex.
build_examples() {
    local suffix=$1 name
    shift
    # shellcheck disable=SC2046 # flags are words
    ${CC:-cc} "$example/first_steps.c" -o "first_steps$suffix" $("$@" --cflags --libs combinex-kit)
    for name in explain_node own_method; do
        # shellcheck disable=SC2046
        ${CC:-cc} "$example/$name.c" -o "$name$suffix" $("$@" --cflags --libs combinex)
    done
}

# run_examples PREFIX SUFFIX: PREFIXnameSUFFIX for each
run_examples() {
    "$1first_steps$2"
    "$1explain_node$2" karate.safetensors model.safetensors 8 > log
    cat log
    grep -q '^node 8: class [0-3] -> class [0-3] (found)$' log || fail "no counterfactual of node 8"
    grep -q '^  \(set feature\|remove the edge\) ' log || fail "a counterfactual without edits"
    ! "$1explain_node$2" karate.safetensors model.safetensors 34 2> log || fail "there is no node 34"
    grep -q 'node 34 does not exist' log || fail "what is wrong with node 34?"
    "$1own_method$2" karate.safetensors model.safetensors 8 > log
    cat log
    grep -q '^node 8: class [0-3] -> class [0-3], [1-5] edges removed (found)$' log ||
        fail "a method from outside finds nothing for node 8"
    ! "$1own_method$2" karate.safetensors model.safetensors 8 0 2> log || fail "0 edges were removed"
    grep -q 'greedy_most: 0 is out of range: 1 to 100' log || fail "its options are not checked"
}

say "install with DESTDIR"
DESTDIR=$scratch/stage cmake --install "$CBX_BUILD" --prefix /opt/combinex > /dev/null
[ -x stage/opt/combinex/bin/combinex ] || fail "DESTDIR was not honoured"
stage/opt/combinex/bin/combinex --version

say "install without, and move it: nothing may remember the prefix"
cmake --install "$CBX_BUILD" --prefix "$scratch/first" > /dev/null
mv first usr
! grep -rIl "$scratch/first" usr || fail "the files above name the prefix"
lib=$(dirname "$(find "$scratch/usr" -name libcombinex.so)")
usr/bin/combinex data generate karate -q -o karate.safetensors
usr/bin/combinex train karate -q --epochs 50 --seed 1 -o model.safetensors
export PKG_CONFIG_PATH=$lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}

say "pkg-config, shared"
build_examples .shared pkg-config
(export LD_LIBRARY_PATH=$lib && run_examples ./ .shared)

say "the program in docs/embedding.md"
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$CBX_SOURCE/docs/embedding.md" > embedded.c
# shellcheck disable=SC2046
${CC:-cc} embedded.c -o embedded $(pkg-config --cflags --libs combinex)
[ "$(LD_LIBRARY_PATH=$lib ./embedded karate.safetensors model.safetensors)" = "found, 2 edits" ] ||
    fail "docs/embedding.md does not work"

say "pkg-config, static"
# The linker prefers a shared library, so it is shown a folder without one.
cp -r usr static
static=$scratch/static${lib#"$scratch/usr"}
rm "$static"/libcombinex*.so*
export PKG_CONFIG_PATH=$static/pkgconfig:$PKG_CONFIG_PATH
build_examples .static pkg-config --static
run_examples ./ .static

say "find_package"
for kind in "" _static; do
    build=cmake$kind
    cmake -S "$example" -B "$build" -DCMAKE_PREFIX_PATH="$scratch/usr" \
        -DCOMBINEX_KIND=$kind > log 2>&1 || { cat log; fail "configuring for '$kind'"; }
    cmake --build "$build" > log 2>&1 || { cat log; fail "building with '$kind'"; }
    run_examples "$build/" ""
done

say "soname and exported symbols"
include=$CBX_SOURCE/include
abi=$(sed -n 's/^#define CBX_VERSION_M[AI][JN]OR //p' "$include/combinex.h" | paste -sd .)
# declared MARK HEADER...: the names that the headers declare with it
declared() {
    local mark=$1
    shift
    cat "$@" | sed '/^#define/d' | tr '\n' ' ' | grep -o "$mark [^(;[]*" |
        grep -o 'cbx_[a-z0-9_]*$' | sort
}
# exported LIBRARY VERSION: the names that it exports as symbols of that version
exported() { nm -D --defined-only "$lib/$1.so" | sed -n "s/.* \([^ ]*\)@@$2\$/\1/p" | sort; }
# is_its_own LIBRARY: it says its version, and exports symbols of its own versions only
is_its_own() {
    objdump -p "$lib/$1.so" | grep "SONAME *$1\.so\.${abi//./\\.}\$" > /dev/null || fail "soname of $1"
    ! nm -D --defined-only "$lib/$1.so" | grep -v " A CBX_\|@@CBX_" || fail "$1 exports the above"
}
[ "$(wc -l < "$include/combinex.h")" -lt 400 ] || fail "combinex.h is for most, and has 400 lines"
is_its_own libcombinex
is_its_own libcombinex-kit
diff <(declared CBX_API "$include/combinex.h" "$include/combinex/extend.h") <(exported libcombinex "CBX_${abi/./_}") ||
    fail "declared in combinex.h and extend.h (<) and exported (>) differ"
diff <(declared CBX_API "$include/combinex/kit.h") <(exported libcombinex-kit "CBX_KIT_${abi/./_}") ||
    fail "declared in combinex/kit.h (<) and exported (>) differ"
diff <(declared CBX_INTERNAL "$CBX_SOURCE"/src/*/*.h) <(exported libcombinex "CBX_${abi/./_}_PRIVATE") ||
    fail "marked CBX_INTERNAL (<) and exported (>) differ"

say "what is lent is used, and what is needed is little"
nm -D --undefined-only "$lib/libcombinex-kit.so" | sed -n 's/.* \(cbx_[^@]*\).*/\1/p' | sort > used
! comm -23 <(exported libcombinex "CBX_${abi/./_}_PRIVATE") used | grep . ||
    fail "marked CBX_INTERNAL, and the kit does not use the above"
! readelf -dW "$lib/libcombinex.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v '^lib\(c\|m\|mvec\|gomp\|omp\|zip\|openblas\|cblas\|blas\|gcc_s\|pthread\)\.so\|^ld-linux' ||
    fail "libcombinex needs the above, too"
