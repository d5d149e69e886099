#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardening.sh FLAG...: the command and the libraries that were built have what
# cmake/hardening.cmake says was asked for, as their ELF files show it.
set -u
command -v readelf > /dev/null || { echo "skipped: no readelf"; exit 77; }
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
header() { LC_ALL=C readelf -hW "$file"; }
segments() { LC_ALL=C readelf -lW "$file"; }
dynamic() { LC_ALL=C readelf -dW "$file"; }
symbols() { LC_ALL=C readelf --dyn-syms -W "$file"; }
has() { "$1" | grep -Eq -- "$2"; }
lacks() { ! "$1" | grep -Eq -- "$2"; }
marked() { LC_ALL=C objdump -d --no-show-raw-insn "$file" | grep -Eqm1 'endbr64|bti'; }

for file in "$CBX_BUILD/combinex" "$CBX_BUILD/libcombinex.so" "$CBX_BUILD/libcombinex-kit.so"; do
    name=${file##*/}
    check "$name needs no changes to its code when it is loaded" lacks dynamic 'TEXTREL'
    check "$name has no segment that can be both written and run" lacks segments 'RWE'
    for flag in "$@"; do
        case $flag in
            pie) [[ $name == *.so ]] || check "$name can be loaded anywhere" has header 'Type: +DYN' ;;
            relro) check "$name makes its tables read-only" has segments 'GNU_RELRO' ;;
            now) check "$name binds all symbols at the start" has dynamic 'BIND_NOW|FLAGS_1.*NOW' ;;
            noexecstack) check "$name runs nothing on its stack" has segments 'GNU_STACK .* RW ' ;;
            separate-code)
                check "$name has no data in what can be run" \
                    lacks segments '^ +[0-9]+ +.*\.text.*\.rodata' ;;
            stack-protector-strong) check "$name guards its stack" has symbols '__stack_chk_fail' ;;
            fortify) check "$name checks the sizes of copies" has symbols '__[a-z]+_chk(@| |$)' ;;
            cf-protection)
                command -v objdump > /dev/null && check "$name marks where jumps may lead" marked ;;
            stack-clash-protection) ;; # leaves no trace to read
            *) check "there is a test for $flag" false ;;
        esac
    done
done
[ $failures -eq 0 ]
