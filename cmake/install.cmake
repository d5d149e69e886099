# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where. Nothing installed names the prefix it was
# configured with, so the prefix can be chosen, or changed, at install time.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/combinex)

set_target_properties(combinex PROPERTIES EXPORT_NAME combinex)
install(TARGETS combinex EXPORT combinexShared)
install(TARGETS combinex_static EXPORT combinexStatic)
install(FILES include/combinex.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/combinex/extend.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/combinex)
if(TARGET combinex_cli)
  install(TARGETS combinex_cli)
endif()

# Two export files: the static target comes with dependencies, the shared without.
foreach(kind Shared Static)
  install(EXPORT combinex${kind} NAMESPACE combinex:: DESTINATION ${package_dir}
          FILE combinex${kind}Targets.cmake)
endforeach()
configure_package_config_file(cmake/combinexConfig.cmake.in combinexConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 a new minor version may break callers.
write_basic_package_version_file(combinexConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/combinexConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/combinexConfigVersion.cmake DESTINATION ${package_dir})
install(FILES cmake/dependencies.cmake DESTINATION ${package_dir} RENAME combinexDependencies.cmake)

file(RELATIVE_PATH CBX_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" CBX_PC_PREFIX "${CBX_PC_PREFIX}")
list(JOIN CBX_PC_LIBS " " CBX_PC_LIBS)
configure_file(cmake/combinex.pc.in combinex.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/combinex.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES docs/man/combinex.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
install(FILES completions/combinex.bash RENAME combinex OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
include(cmake/sbom.cmake)
