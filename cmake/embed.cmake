# SPDX-License-Identifier: Apache-2.0
# Turns the files of the pages into C: cmake -DOUTPUT=x.c -DASSETS="a|b" -P embed.cmake
# Each becomes an array of bytes with a 0 behind it, and a line of the table in page.h.
set(arrays "")
set(lines "")
set(number 0)
string(REPLACE "|" ";" ASSETS "${ASSETS}")
foreach(asset ${ASSETS})
  get_filename_component(name ${asset} NAME)
  file(READ ${asset} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char asset_${number}[] = {\n${bytes}0x00};\n")
  string(APPEND lines "    {\"${name}\", (const char *)asset_${number}, sizeof asset_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* Made by cmake/embed.cmake from src/report/page. */
#include \"page.h\"

${arrays}
const cbx_page_asset cbx_page_assets[] = {
${lines}    {0, 0, 0}};
")
