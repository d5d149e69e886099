# SPDX-License-Identifier: Apache-2.0
# What makes a slip in a release build harder to use: each flag where the compiler and the
# linker take it. CBX_HARDENED lists those taken, for tests/install/hardening.sh, which
# reads the files that were built.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
set(CBX_HARDENED "")

# Level 3 also checks sizes known only when the program runs; it takes glibc 2.34 and a
# compiler that can. Some distributions' compilers define a level themselves.
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_QUIET ON)
set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_c_source_compiles("#include <string.h>
  int main(int argc, char **argv) { char to[9]; memcpy(to, argv[0], (size_t)argc); return to[0]; }"
  CBX_FORTIFY_3)
cmake_pop_check_state()
add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${CBX_FORTIFY_3}>,3,2>)
list(APPEND CBX_HARDENED fortify)

set(CMAKE_REQUIRED_QUIET ON)
foreach(flag stack-protector-strong stack-clash-protection cf-protection)
  string(MAKE_C_IDENTIFIER ${flag} word)
  # clang takes flags that do nothing on this machine, with a warning
  check_c_compiler_flag("-Werror -f${flag}" CBX_TAKES_${word})
  if(CBX_TAKES_${word})
    add_compile_options(-f${flag})
    list(APPEND CBX_HARDENED ${flag})
  endif()
endforeach()
foreach(flag relro now noexecstack separate-code)
  string(MAKE_C_IDENTIFIER ${flag} word)
  check_linker_flag(C "-Wl,-z,${flag}" CBX_LINKS_${word})
  if(CBX_LINKS_${word})
    add_link_options(-Wl,-z,${flag})
    list(APPEND CBX_HARDENED ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_QUIET)
if(CMAKE_C_LINK_PIE_SUPPORTED)
  list(APPEND CBX_HARDENED pie)
endif()
