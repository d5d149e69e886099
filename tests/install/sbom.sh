#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bill of materials is SPDX 2.3 and names whatever the built files need to be loaded.
set -u
command -v readelf > /dev/null || { echo "skipped: no readelf"; exit 77; }
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
for file in "$CBX_BUILD/combinex" "$CBX_BUILD/libcombinex.so" "$CBX_BUILD/libcombinex-kit.so"; do
    LC_ALL=C readelf -dW "$file"
done | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u > "${TMPDIR:-/tmp}/needed.$$"
trap 'rm -f "${TMPDIR:-/tmp}/needed.$$"' EXIT
python3 - "$CBX_BUILD/combinex.spdx.json" "${TMPDIR:-/tmp}/needed.$$" << 'END'
import json, re, sys

sbom = json.load(open(sys.argv[1]))
needed = open(sys.argv[2]).read().split()
assert needed, "nothing is linked"
for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "relationships"):
    assert key in sbom, f"{key} is missing"
assert sbom["spdxVersion"] == "SPDX-2.3" and sbom["dataLicense"] == "CC0-1.0" and sbom["SPDXID"] == "SPDXRef-DOCUMENT"
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"])
assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", sbom["documentNamespace"])
ids = {p["SPDXID"]: p for p in sbom["packages"]}
assert len(ids) == len(sbom["packages"]), "an id is there twice"
for p in sbom["packages"]:
    assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", p["SPDXID"]), p
    assert p["name"] and p["downloadLocation"] and p["filesAnalyzed"] is False, p
    assert re.match(r"[0-9]|NOASSERTION$", p["versionInfo"]), p
linked = {r["relatedSpdxElement"] for r in sbom["relationships"] if r["spdxElementId"] == "SPDXRef-combinex"}
assert linked == set(ids) - {"SPDXRef-combinex"}, "a package without a relationship"

# which package a file belongs to
packages = [
    (r"lib(open|)blas|libcblas|libblas", {"openblas", "cblas", "blas"}), (r"libz\.", {"zlib"}),
    (r"libcombinex\.", {"combinex"}), (r"libzip", {"libzip"}), (r"libexpat", {"expat"}), (r"libcairo", {"cairo"}), (r"libcurl", {"libcurl"}), (r"lib(gomp|omp|iomp5)\.", {"openmp"}),
    (r"libmpi", {"mpi"}), (r"libc\.|libm\.|libmvec\.|libpthread\.|librt\.|ld-linux|libgcc_s", {"libc"}),
]
names = {p["name"] for p in sbom["packages"]}
for file in needed:
    wanted = next((w for pattern, w in packages if re.match(pattern, file)), None)
    assert wanted and wanted & names, f"{file} is linked, and the bill of materials does not know it: {sorted(names)}"
    print(f"ok      {file} is listed as", *(wanted & names))
END
