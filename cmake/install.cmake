# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where. Nothing installed names the prefix it was
# configured with, so the prefix can be chosen, or changed, at install time.
include(CMakePackageConfigHelpers)

install(FILES include/combinex.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/combinex DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET combinex_cli)
  install(TARGETS combinex_cli)
endif()

file(RELATIVE_PATH CBX_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" CBX_PC_PREFIX "${CBX_PC_PREFIX}")
list(JOIN CBX_PC_LIBS " " CBX_PC_LIBS)
list(JOIN CBX_KIT_PC_LIBS " " CBX_KIT_PC_LIBS)

# cbx_install(target package): a library, its CMake package and its file for pkg-config.
function(cbx_install target package)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/${package})
  install(TARGETS ${target} EXPORT ${package}Shared)
  install(TARGETS ${target}_static EXPORT ${package}Static)
  # Two export files: the static target comes with dependencies, the shared without.
  foreach(kind Shared Static)
    install(EXPORT ${package}${kind} NAMESPACE combinex:: DESTINATION ${package_dir}
            FILE ${package}${kind}Targets.cmake)
  endforeach()
  configure_package_config_file(cmake/${package}Config.cmake.in ${package}Config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  # Until 1.0 a new minor version may break callers.
  write_basic_package_version_file(${package}ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}Config.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/${package}ConfigVersion.cmake DESTINATION ${package_dir})
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${package}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
cbx_install(combinex combinex)
cbx_install(combinex_kit combinex-kit)
install(FILES cmake/dependencies.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/combinex
        RENAME combinexDependencies.cmake)

install(FILES docs/man/combinex.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES completions/combinex.bash RENAME combinex OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
include(cmake/sbom.cmake)
