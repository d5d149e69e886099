# SPDX-License-Identifier: Apache-2.0
# The software bill of materials: combinex.spdx.json (SPDX 2.3), what this build is linked
# with and in which version. Versions are those of pkg-config, or of what was asked instead.
# tests/install/sbom.sh holds it against what the built files need.
set(sbom_packages "")
set(sbom_relations "")

function(cbx_sbom_add name version link what)
  if(version STREQUAL "")
    set(version NOASSERTION)
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9.-]" "-" id "SPDXRef-${name}")
  string(APPEND sbom_packages ",
    { \"SPDXID\": \"${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\",
      \"comment\": \"${what}\", \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false,
      \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"NOASSERTION\",
      \"copyrightText\": \"NOASSERTION\" }")
  string(APPEND sbom_relations ",
    { \"spdxElementId\": \"SPDXRef-combinex\", \"relationshipType\": \"${link}\",
      \"relatedSpdxElement\": \"${id}\" }")
  set(sbom_packages "${sbom_packages}" PARENT_SCOPE)
  set(sbom_relations "${sbom_relations}" PARENT_SCOPE)
endfunction()

if(CBX_CBLAS)
  cbx_sbom_add(${CBX_CBLAS} "${CBX_${CBX_CBLAS}_VERSION}" DYNAMIC_LINK "matrix products")
else()
  cbx_sbom_add(cblas "" DYNAMIC_LINK "matrix products: ${CBX_CBLAS_LIBRARY}")
endif()
cbx_sbom_add(zlib "${CBX_zlib_VERSION}" DYNAMIC_LINK "unpacks gzip")
cbx_sbom_add(libzip "${CBX_libzip_VERSION}" DYNAMIC_LINK "unpacks zip")
cbx_sbom_add(expat "${CBX_expat_VERSION}" DYNAMIC_LINK "reads XML")
if(CBX_CAIRO_FOUND)
  cbx_sbom_add(cairo "${CBX_cairo_VERSION}" DYNAMIC_LINK "draws PNG pictures")
endif()
if(CBX_CURL_FOUND)
  cbx_sbom_add(libcurl "${CBX_libcurl_VERSION}" DYNAMIC_LINK "downloads data sets")
endif()
if(CBX_OPENMP_FOUND)
  # The runtime comes with the compiler, and has its version.
  cbx_sbom_add(openmp "${CMAKE_C_COMPILER_VERSION}" DYNAMIC_LINK
               "threads: the runtime of ${CMAKE_C_COMPILER_ID}")
endif()
if(CBX_MPI AND MPI_C_FOUND AND TARGET combinex_cli)
  pkg_check_modules(CBX_mpi QUIET ompi-c)
  if(NOT CBX_mpi_FOUND)
    pkg_check_modules(CBX_mpi QUIET mpich)
  endif()
  cbx_sbom_add(mpi "${CBX_mpi_VERSION}" DYNAMIC_LINK "bench over many machines; the command only")
endif()
set(libc_version "")
if(NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE libc_version ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^glibc " "" libc_version "${libc_version}")
endif()
cbx_sbom_add(libc "${libc_version}" DYNAMIC_LINK "the C library, with libm")

string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC) # SOURCE_DATE_EPOCH, where it is set
string(UUID uuid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1
       NAME "combinex ${PROJECT_VERSION} ${created} ${sbom_packages}")
file(CONFIGURE OUTPUT combinex.spdx.json CONTENT "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"combinex-@PROJECT_VERSION@\",
  \"documentNamespace\": \"urn:uuid:@uuid@\",
  \"creationInfo\": { \"created\": \"@created@\", \"creators\": [\"Tool: cmake-@CMAKE_VERSION@\"] },
  \"documentDescribes\": [\"SPDXRef-combinex\"],
  \"packages\": [
    { \"SPDXID\": \"SPDXRef-combinex\", \"name\": \"combinex\", \"versionInfo\": \"@PROJECT_VERSION@\",
      \"summary\": \"@PROJECT_DESCRIPTION@\", \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false, \"licenseConcluded\": \"Apache-2.0\", \"licenseDeclared\": \"Apache-2.0\",
      \"copyrightText\": \"NOASSERTION\", \"primaryPackagePurpose\": \"LIBRARY\" }@sbom_packages@
  ],
  \"relationships\": [
    { \"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\",
      \"relatedSpdxElement\": \"SPDXRef-combinex\" }@sbom_relations@
  ]
}
" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/combinex.spdx.json DESTINATION ${CMAKE_INSTALL_DATADIR}/sbom)
