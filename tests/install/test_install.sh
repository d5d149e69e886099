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

# build_examples SUFFIX FLAGS...: each with the compiler alone
build_examples() {
    local suffix=$1 name
    shift
    for name in first_steps explain_node; do
        ${CC:-cc} "$example/$name.c" -o "$name$suffix" "$@"
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
# shellcheck disable=SC2046 # flags are words
build_examples .shared $(pkg-config --cflags --libs combinex)
(export LD_LIBRARY_PATH=$lib && run_examples ./ .shared)

say "pkg-config, static"
# The linker prefers a shared library, so it is shown a folder without one.
cp -r usr static
static=$scratch/static${lib#"$scratch/usr"}
rm "$static"/libcombinex.so*
export PKG_CONFIG_PATH=$static/pkgconfig:$PKG_CONFIG_PATH
# shellcheck disable=SC2046
build_examples .static $(pkg-config --static --cflags --libs combinex)
run_examples ./ .static

say "find_package"
for target in combinex::combinex combinex::combinex_static; do
    build=${target##*:}
    cmake -S "$example" -B "$build" -DCMAKE_PREFIX_PATH="$scratch/usr" \
        -DCOMBINEX_LIBRARY=$target > log 2>&1 || { cat log; fail "configuring for $target"; }
    cmake --build "$build" > log 2>&1 || { cat log; fail "building with $target"; }
    run_examples "$build/" ""
done

say "soname and exported symbols"
header=$CBX_SOURCE/include/combinex.h
soname=libcombinex.so.$(sed -n 's/^#define CBX_VERSION_M[AI][JN]OR //p' "$header" | paste -sd .)
objdump -p "$lib/libcombinex.so" | grep "SONAME *${soname//./\\.}\$" > /dev/null || fail "soname"
sed -n 's/^CBX_API .*\(cbx_[a-z0-9_]*\)(.*/\1/p' "$header" "${header%.h}/extend.h" | sort > declared
nm -D --defined-only "$lib/libcombinex.so" | awk '{ print $3 }' | sort > exported
diff declared exported || fail "declared in the header (<) and exported (>) differ"
