# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# cores.bash: the kinds of processor that OpenBLAS can be told to see (OPENBLAS_CORETYPE), of those
# that this one can run.
blas_cores() {
    local flags=" $(grep -m1 -E '^(flags|Features)' /proc/cpuinfo 2> /dev/null) "
    case $(uname -m) in
    x86_64)
        if [[ $flags == *' pni '* ]]; then echo Prescott; fi
        if [[ $flags == *' avx2 '* && $flags == *' fma '* ]]; then echo Haswell; fi
        if [[ $flags == *' avx512f '* && $flags == *' avx512vl '* ]]; then echo SkylakeX; fi
        ;;
    aarch64) printf '%s\n' ARMV8 CORTEXA57 NEOVERSEN1 ;;
    esac
}
