# SPDX-License-Identifier: Apache-2.0
"""Files that are out to do harm, for tests/cli/hostile.sh and python/tests/test_hostile.py.

corpus.py FOLDER: writes them there, with FOLDER/list: a line "NAME<tab>what the message has to say". Whatever would
be run by them makes the file FOLDER/touched.
"""
import gzip
import io
import pickle
import struct
import sys
import zipfile
from pathlib import Path


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s.encode()


def pickles(marker):
    """name -> (pickle, what the reader of data sets says, what the reader of .pt files says)"""
    act = f"touch {marker}"

    class System:
        def __reduce__(self):
            return __import__("os").system, (act,)

    class Eval:
        def __reduce__(self):
            return eval, (f"__import__('os').system({act!r})",)

    class Popen:
        def __reduce__(self):
            return __import__("subprocess").Popen, (["touch", str(marker)],)

    call = text(act) + b"\x85R"
    called = "the class .*system is refused", "refers to .*system"
    deep = 200_000
    return {
        "os-system": (pickle.dumps(System(), 2), *called),
        "os-system-4": (pickle.dumps({"adj": System()}, 4), *called),
        "eval": (pickle.dumps([Eval()], 2), "the class .*eval is refused", "refers to .*eval"),
        "popen": (pickle.dumps(Popen(), 3), "subprocess.Popen is refused", "refers to subprocess.Popen"),
        # what getattr gives is called, and what that gives again
        "nested-reduce": (
            b"\x80\x02cbuiltins\ngetattr\n(cbuiltins\n__import__\n" + text("os") + b"\x85R" + text("system") + b"tR" + call + b".",
            "builtins.getattr is refused",
            "refers to builtins.getattr",
        ),
        # the state of an object whose class unpacks it with a function of its own
        "build-setstate": (
            b"\x80\x02cfunctools\npartial\n)\x81}(" + text("func") + b"cos\nsystem\nub.",
            "functools.partial is refused",
            "refers to functools.partial",
        ),
        "build-a-name": (  # the state of something that the reader itself knows
            b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}" + text("__code__") + b"K\x01s\x86b.",
            "torch._utils._rebuild_tensor_v2 is refused",
            "a state for something that has none",
        ),
        "default-factory": (
            b"\x80\x02ccollections\ndefaultdict\ncos\nsystem\n\x85R" + text(act) + b"K\x01s.",
            "os.system is refused",
            "refers to collections.defaultdict",
        ),
        "not-ndarray": (
            b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncos\nsystem\n" + call + b".",
            "os.system is refused",
            "refers to numpy.core.multiarray",
        ),
        "inst": (b"(" + text(act) + b"ios\nsystem\n.", "the opcode INST", "the opcode INST"),
        "obj": (b"(cos\nsystem\n" + text(act) + b"o.", "os.system is refused", "refers to os.system"),
        "newobj": (b"\x80\x02cos\nsystem\n" + text(act) + b"\x85\x81.", "os.system is refused", "refers to os.system"),
        "newobj-ex": (b"\x80\x04" + text("a") + b")}\x92.", "the opcode NEWOBJ_EX", "the opcode NEWOBJ_EX"),
        "stack-global": (b"\x80\x04" + text("os") + text("system") + b"\x93" + call + b".", *called),
        "dotted-name": (
            b"\x80\x04" + text("collections") + text("abc.sys.modules") + b"\x93.",
            "collections.abc.sys.modules is refused",
            "refers to collections.abc.sys.modules",
        ),
        "extension-1": (b"\x80\x02\x82\x01.", "the opcode EXT1", "the opcode EXT1"),
        "extension-2": (b"\x80\x02\x83\x01\x00.", "the opcode EXT2", "the opcode EXT2"),
        "extension-4": (b"\x80\x02\x84\x01\x00\x00\x00.", "the opcode EXT4", "the opcode EXT4"),
        "persistent": (b"Pos.system\n.", "the opcode PERSID", "the opcode PERSID"),
        "memo-index": (b"\x80\x02K\x01r\xff\xff\xff\x7f.", "memo number", "no dictionary|damaged"),
        "laughs": (  # a list of two lists of two lists of …: 2^5000 in all, were it walked
            b"\x80\x02]q\x00" + b"".join(b"](h\x00h\x00eq\x00" for _ in range(5000)) + b"h\x00.",
            "a pickle of not one thing",
            "a pickle of not one thing",
        ),
        "deep-tuples": (b"\x80\x02)" + deep * b"\x85" + b".", ".", "no dictionary of tensors"),
        "deep-key": (b"\x80\x02})" + deep * b"\x85" + b"K\x01s.", ".", "a key that is a tuple"),
        "deep-lists": (b"\x80\x02" + deep * b"]" + deep * b"a" + b".", ".", "."),
        "bytearray": (b"\x80\x05\x96" + struct.pack("<Q", 1 << 62) + b".", "the opcode BYTEARRAY8", "damaged"),
        "next-buffer": (b"\x80\x05\x97.", "the opcode NEXT_BUFFER", "the opcode NEXT_BUFFER"),
        "read-only-buffer": (b"\x80\x05\x97\x98.", "the opcode NEXT_BUFFER", "the opcode NEXT_BUFFER"),
        "long-bytes": (b"\x80\x04\x8e" + struct.pack("<Q", 1 << 62) + b".", "a text longer than the file", "damaged"),
        "marks": (b"\x80\x02" + deep * b"(" + b".", "not one thing", "not one thing"),
        "no-stack": (b"\x80\x02\x87.", "too few values", "too few values"),
    }


def archive(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as z:
        for name, content in files.items():
            z.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


BOMB = 320 << 20  # more than is unpacked without a look at the ratio


def bomb_zip(name, byte):
    """An archive in which one file is the same byte again and again."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z, z.open(name, "w") as f:
        for _ in range(BOMB >> 20):
            f.write(byte * (1 << 20))
    return out.getvalue()


def bomb_gz(byte):
    return gzip.compress(byte * BOMB, 9, mtime=0)


def many_entries(count):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for i in range(count):
            z.writestr(zipfile.ZipInfo(f"{i}"), b"")
    return out.getvalue()


def link_zip():
    """An archive whose edges.csv is a symbolic link to /etc/passwd, as unzip would make it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        info = zipfile.ZipInfo("edges.csv")
        info.create_system, info.external_attr = 3, 0o120777 << 16
        z.writestr(info, "/etc/passwd")
    return out.getvalue()


def bombs():
    """name -> (content, what has to be said of it)"""
    packed = bomb_gz(b"(")
    return {
        "bomb.zip": (bomb_zip("s.pickle", b"("), "unpacks to more than"),
        "nested.zip": (archive({"s.pickle.gz": packed}), "unpacks to more than"),
        "s.pickle.gz": (packed, "unpacks to more than"),
        "many.zip": (many_entries(20_001), "has 20001 files, more than"),
        "link.zip": (link_zip(), "edges.csv, line 1: a source and a target expected"),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "list", "w") as index:
        for name, (content, says, _) in pickles(folder / "touched").items():
            (folder / f"{name}.pickle").write_bytes(content)
            print(f"{name}.pickle", says, sep="\t", file=index)
        for name, (content, says) in bombs().items():
            (folder / name).write_bytes(content)
            print(name, says, sep="\t", file=index)
