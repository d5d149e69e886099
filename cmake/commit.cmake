# SPDX-License-Identifier: Apache-2.0
# Which commit the sources are of: cmake -DOUTPUT=x.c -DSOURCE=folder -P commit.cmake
# Run with every build; the file changes only where the commit does. Without git, as in a released
# archive, it is empty.
set(commit "")
find_program(git git)
if(git AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit MATCHES "^[0-9a-f]+(-dirty)?$")
  set(commit "")
endif()
set(text "/* Made by cmake/commit.cmake. */\n#include \"folder.h\"\n\nconst char cbx_bench_commit[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUTPUT} "${text}")
endif()
