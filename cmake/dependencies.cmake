# SPDX-License-Identifier: Apache-2.0
# What libcombinex needs, as the target combinex::dependencies, and what libcombinex-kit needs
# beyond that, as combinex::kit_dependencies. The build includes this file, and so do the installed
# packages, for whoever links the static libraries. CBX_MISSING and CBX_KIT_MISSING name what was
# not found; CBX_PC_LIBS and CBX_KIT_PC_LIBS are the same dependencies for pkg-config.
include(CheckSymbolExists)
include(CMakePushCheckState)
find_package(PkgConfig QUIET)
set(CBX_MISSING "")
set(CBX_PC_LIBS -lm)
set(CBX_LIBRARIES m)
set(CBX_KIT_MISSING "")
set(CBX_KIT_PC_LIBS "")
set(CBX_KIT_LIBRARIES "")

# CBLAS: under one of these names, and only if it really has CBLAS in it.
set(CBX_CBLAS "")
foreach(module openblas cblas blas)
  pkg_check_modules(CBX_${module} QUIET IMPORTED_TARGET ${module})
  if(CBX_${module}_FOUND)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_QUIET ON)
    set(CMAKE_REQUIRED_LIBRARIES PkgConfig::CBX_${module})
    check_symbol_exists(cblas_sgemm cblas.h CBX_CBLAS_IN_${module})
    cmake_pop_check_state()
    if(CBX_CBLAS_IN_${module})
      set(CBX_CBLAS ${module})
      list(APPEND CBX_LIBRARIES PkgConfig::CBX_${module})
      # Not a requirement of combinex.pc: for static linking that would ask for the
      # Fortran runtime, of which CBLAS needs nothing.
      list(APPEND CBX_PC_LIBS ${CBX_${module}_LDFLAGS})
      break()
    endif()
  endif()
endforeach()
if(NOT CBX_CBLAS)
  find_path(CBX_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas)
  find_library(CBX_CBLAS_LIBRARY NAMES openblas cblas)
  if(CBX_CBLAS_INCLUDE AND CBX_CBLAS_LIBRARY)
    add_library(combinex::cblas UNKNOWN IMPORTED)
    set_target_properties(combinex::cblas PROPERTIES
      IMPORTED_LOCATION "${CBX_CBLAS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CBX_CBLAS_INCLUDE}")
    list(APPEND CBX_LIBRARIES combinex::cblas)
    list(APPEND CBX_PC_LIBS ${CBX_CBLAS_LIBRARY})
  else()
    list(APPEND CBX_MISSING "CBLAS (OpenBLAS or another)")
  endif()
endif()

# cbx_needs(prefix module): that module, for the library of that prefix.
macro(cbx_needs prefix module)
  pkg_check_modules(CBX_${module} QUIET IMPORTED_TARGET ${module})
  if(CBX_${module}_FOUND)
    list(APPEND ${prefix}_LIBRARIES PkgConfig::CBX_${module})
    list(APPEND ${prefix}_PC_LIBS ${CBX_${module}_LDFLAGS})
  else()
    list(APPEND ${prefix}_MISSING "${module} (with pkg-config)")
  endif()
endmacro()
# libzip unpacks exported models and, as zlib does, what readers are given; expat reads XML.
cbx_needs(CBX libzip)
foreach(module libzip zlib expat)
  cbx_needs(CBX_KIT ${module})
endforeach()

# Optional in the build: without libcurl nothing is downloaded, without cairo no PNG is drawn. A package that was built with
# them needs them.
set(CBX_CURL_FOUND OFF)
set(CBX_CAIRO_FOUND OFF)
foreach(optional "CURL;libcurl;libcurl" "CAIRO;cairo;cairo>=1.14")
  list(GET optional 0 name)
  list(GET optional 1 module)
  list(GET optional 2 version)
  if(NOT DEFINED CBX_${name} OR CBX_${name})
    pkg_check_modules(CBX_${module} QUIET IMPORTED_TARGET ${version})
    if(CBX_${module}_FOUND)
      set(CBX_${name}_FOUND ON)
      list(APPEND CBX_KIT_LIBRARIES PkgConfig::CBX_${module})
      list(APPEND CBX_KIT_PC_LIBS ${CBX_${module}_LDFLAGS})
    endif()
  endif()
endforeach()

# OpenMP is optional in the build: without it everything runs in one thread. A
# package that was built with it needs it.
set(CBX_OPENMP_FOUND OFF)
if(CBX_OPENMP)
  find_package(OpenMP QUIET COMPONENTS C)
  set(CBX_OPENMP_FOUND ${OpenMP_C_FOUND})
  if(OpenMP_C_FOUND)
    list(APPEND CBX_LIBRARIES OpenMP::OpenMP_C)
    list(APPEND CBX_KIT_LIBRARIES OpenMP::OpenMP_C)
    foreach(name ${OpenMP_C_LIB_NAMES})
      list(APPEND CBX_PC_LIBS -l${name})
      list(APPEND CBX_KIT_PC_LIBS -l${name})
    endforeach()
  endif()
endif()

if(NOT TARGET combinex::dependencies)
  add_library(combinex::dependencies INTERFACE IMPORTED)
  set_property(TARGET combinex::dependencies PROPERTY INTERFACE_LINK_LIBRARIES "${CBX_LIBRARIES}")
  add_library(combinex::kit_dependencies INTERFACE IMPORTED)
  set_property(TARGET combinex::kit_dependencies PROPERTY
               INTERFACE_LINK_LIBRARIES m "${CBX_KIT_LIBRARIES}")
endif()
