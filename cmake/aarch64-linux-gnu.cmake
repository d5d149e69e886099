# SPDX-License-Identifier: Apache-2.0
# Cross-compiles libcombinex.a for 64-bit ARM, to see that it compiles: `make cross-arm64`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
# The dependencies' headers serve every architecture, but there are no libraries to link.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
