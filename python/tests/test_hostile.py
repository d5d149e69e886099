# SPDX-License-Identifier: Apache-2.0
"""Files of torch.save that are out to do harm (tests/hostile/corpus.py): refused, nothing run, little memory taken."""

import copyreg
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import combinex as cx
from combinex import _torch_file

ROOT = __import__("pathlib").Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "hostile"))
import corpus  # noqa: E402

NAMES = sorted(corpus.pickles("x"))


def archive(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, content in files.items():
            out.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_pickle_is_refused(tmp_path, name):
    content, _, says = corpus.pickles(tmp_path / "touched")[name]
    path = archive(tmp_path / "x.pt", {"archive/data.pkl": content})
    with pytest.raises(cx.InvalidError, match=says):
        cx.load_state_dict(path, arch="gcn")
    assert not (tmp_path / "touched").exists()


def test_the_corpus_is_dangerous(tmp_path):
    """With Python's own unpickler the same files do what they say: the corpus is no straw man."""
    content, _, _ = corpus.pickles(tmp_path / "touched")["os-system"]
    (tmp_path / "x").write_bytes(content)
    load = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"
    subprocess.run([sys.executable, "-c", load, str(tmp_path / "x")], check=True)
    assert (tmp_path / "touched").exists()


def test_a_registered_extension_is_not_found(tmp_path):
    """An extension code stands for whatever the program has registered, past any look at names."""
    copyreg.add_extension("os", "getcwd", 0x70)
    try:
        path = archive(tmp_path / "x.pt", {"archive/data.pkl": b"\x80\x02\x82\x70)R."})
        with pytest.raises(cx.InvalidError, match="the opcode EXT1"):
            _torch_file.read(path)
    finally:
        copyreg.remove_extension("os", "getcwd", 0x70)


def test_no_state_is_left_behind(tmp_path):
    before = dict(vars(_torch_file))
    content, _, _ = corpus.pickles(tmp_path / "touched")["build-a-name"]
    with pytest.raises(cx.InvalidError):
        _torch_file.read(archive(tmp_path / "x.pt", {"archive/data.pkl": content}))
    assert {k: v for k, v in vars(_torch_file).items() if k in before} == before


@pytest.mark.parametrize("name", ["archive/data.pkl", "archive/data/0"])
def test_a_bomb_is_refused_unopened(tmp_path, name, monkeypatch):
    from test_state_dict import tensor_pickle

    monkeypatch.setattr(_torch_file, "_ROOM", 1 << 20)  # the same with less to pack
    path = tmp_path / "x.pt"
    files = {"archive/data.pkl": tensor_pickle(), "archive/data/0": bytes(16)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for each, content in files.items():
            if each != name:
                out.writestr(each, content)
        with out.open(name, "w") as file:
            for _ in range(8):
                file.write(bytes(1 << 20))
    read = []
    real = zipfile.ZipFile.read
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda self, n, *rest: read.append(n) or real(self, n, *rest))
    with pytest.raises(cx.InvalidError, match="unpacks to far more than the file holds"):
        _torch_file.read(path)
    assert name not in read


def test_many_entries_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_torch_file, "_MOST_FILES", 10)
    (tmp_path / "x.pt").write_bytes(corpus.many_entries(11))
    with pytest.raises(cx.InvalidError, match="11 files in it, more than 10"):
        _torch_file.read(tmp_path / "x.pt")


def test_a_tensor_is_no_larger_than_its_storage(tmp_path):
    """A step of 0 would make terabytes of one number."""
    from test_state_dict import tensor_pickle

    files = {"archive/data.pkl": tensor_pickle(size=(1 << 20, 1 << 20), stride=(0, 0)), "archive/data/0": bytes(16)}
    with pytest.raises(cx.InvalidError, match="in a storage of 4 elements"):
        _torch_file.read(archive(tmp_path / "x.pt", files))


def test_a_storage_outside_the_archive_is_missing(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(np.ones(4, np.float32).tobytes())
    from test_state_dict import tensor_pickle

    name = f"../../../../../../..{secret}"
    program = tensor_pickle().replace(b"X\x01\0\0\x000", corpus.text(name))
    with pytest.raises(cx.InvalidError, match="is missing"):
        _torch_file.read(archive(tmp_path / "x.pt", {"archive/data.pkl": program}))
