# SPDX-License-Identifier: Apache-2.0
"""Bindings cannot drift from the header: a mismatch ends the build, or the import."""

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import combinex
from combinex import _header as h
from combinex._lib import lib

PACKAGE = Path(combinex.__file__).parent
HEADERS = ("combinex.h", "combinex/extend.h", "combinex/kit.h")


@pytest.fixture(scope="module")
def generate(root):
    spec = importlib.util.spec_from_file_location("generate", root / "python" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def header_text(root):
    return (root / "include" / "combinex.h").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def other_headers(root):
    """What comes after it, with its name."""
    return {name: (root / "include" / name).read_text(encoding="utf-8") for name in HEADERS[1:]}


def import_copy(folder):
    """Imports the package that lies in `folder`; its complaint."""
    return subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import combinex", str(folder)],
        capture_output=True,
        text=True,
    )


def test_a_copy_of_the_package_can_be_imported(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "combinex")
    assert import_copy(tmp_path).returncode == 0


def test_another_header_than_the_library_s_ends_the_import(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "combinex")
    header = tmp_path / "combinex" / "_header.py"
    text = header.read_text()
    header.write_text(text.replace(h.FINGERPRINT, "0" * 64))
    done = import_copy(tmp_path)
    assert done.returncode != 0
    assert "ImportError" in done.stderr and "another combinex.h" in done.stderr


def test_a_missing_library_ends_the_import(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "combinex")
    (tmp_path / "combinex" / "libcombinex.so").unlink()
    done = import_copy(tmp_path)
    assert done.returncode != 0 and "is missing" in done.stderr


def test_any_change_of_the_header_changes_its_fingerprint(generate, header_text, other_headers):
    def read(text):
        return generate.Header([text, *other_headers.values()])

    first = read(header_text)
    assert first.fingerprint == h.FINGERPRINT, "the package was built from another header"
    changed = header_text.replace("int32_t      row;", "int64_t      row;")
    assert changed != header_text
    assert read(changed).fingerprint != first.fingerprint
    commented = header_text.replace("/* one per label row", "/* one for each label row")
    assert commented != header_text
    assert read(commented).fingerprint == first.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        ("int32_t num_left_out;", "int64_t num_left_out;"),  # another size
        ("float   from, to;", "float   to, from;"),  # another order
        ("CBX_IO,        /*", "CBX_MORE, CBX_IO,  /*"),  # another number
    ],
)
def test_structs_that_the_compiler_lays_out_otherwise_end_the_build(generate, header_text, other_headers, tmp_path, change):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    assert change[0] in header_text
    header = generate.Header([header_text, *other_headers.values()])
    names = {}
    exec(generate.python_of(header), names)
    (tmp_path / "abi.c").write_text(generate.c_of(header, names))
    build = [compiler, "-std=c17", "-fsyntax-only", f"-I{tmp_path}", str(tmp_path / "abi.c")]
    (tmp_path / "combinex").mkdir()
    for name, text in {"combinex.h": header_text, **other_headers}.items():
        (tmp_path / name).write_text(text)
    assert subprocess.run(build, capture_output=True).returncode == 0
    (tmp_path / "combinex.h").write_text(header_text.replace(*change))
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode != 0 and "static assertion failed" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "CBX_API long double cbx_odd(void);",
        "CBX_API int cbx_odd(cbx_unknown thing);",
        "typedef struct cbx_odd { int bits : 3; } cbx_odd;",
        "extern int cbx_odd;",
    ],
)
def test_what_the_generator_does_not_understand_ends_the_build(generate, header_text, line):
    end = header_text.index("#ifdef __cplusplus\n}")
    with pytest.raises(generate.HeaderError):
        generate.Header([header_text[:end] + line + "\n" + header_text[end:]])


def test_every_public_function_is_bound(header_text, other_headers):
    text = header_text + "".join(other_headers.values())
    public = set(re.findall(r"^CBX_API .*?\b(cbx_\w+)\(", text, flags=re.M))
    assert public and public == set(h.FUNCTIONS)
    for name in public:
        assert getattr(lib, name).argtypes is not None


def test_a_result_that_points_to_something_unknown_is_still_whole(karate, club, monkeypatch):
    """A later library may add a pointer that nothing here copies. Words and JSON are then made while it lives: the
    trace stands for such a thing, and is left out of what is copied."""
    from combinex import _counterfactual

    plain = combinex.explain(club, karate, node=8, target="any", trace=True, preset="paper", epochs=30)
    monkeypatch.setattr(_counterfactual, "_UNKNOWN", {"trace"})
    other = combinex.explain(club, karate, node=8, target="any", trace=True, preset="paper", epochs=30)
    assert set(other._parts) == set(plain._parts) | {"text", "json"}
    assert str(other).splitlines()[:2] == str(plain).splitlines()[:2]
    assert other.to_dict()["edits"] == plain.to_dict()["edits"]


def test_no_pointer_of_the_library_survives(karate, club):
    cf = combinex.explain(club, karate, node=8, target="any", preset="paper", epochs=30)
    for name in ("before", "after", "edits", "trace", "reason"):
        at = getattr(cf._raw, name)
        address = ctypes.cast(at, ctypes.c_void_p).value if at else None
        own = ctypes.cast(ctypes.c_char_p(cf._parts[name]), ctypes.c_void_p).value
        assert address is None or address == own or name == "reason"


def test_the_version_is_the_header_s():
    assert combinex.__version__ == f"{h.CBX_VERSION_MAJOR}.{h.CBX_VERSION_MINOR}.{h.CBX_VERSION_PATCH}"
