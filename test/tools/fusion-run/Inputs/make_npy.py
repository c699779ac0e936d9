"""Writes .npy files, sound and broken ones, into a folder (no numpy needed)."""

import os
import struct
import sys

out = sys.argv[1]
os.makedirs(out, exist_ok=True)


def header(text, version=1):
    size = 10 if version == 1 else 12
    text += " " * (-(size + len(text) + 1) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("utf-8")


def write(name, descr, shape, data, order="False", version=1, text=None):
    if text is None:
        text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    with open(os.path.join(out, name + ".npy"), "wb") as file:
        file.write(header(text, version) + data)


six = struct.pack("<6f", 0, 1, 2, 3, 4, 5)
write("v1", "<f4", "(2, 3)", six)
write("v2", "<f4", "(2, 3)", six, version=2)
write("v3", "<f4", "(2, 3)", six, version=3)
write("fortran", "<f4", "(2, 3)", struct.pack("<6f", 0, 3, 1, 4, 2, 5), order="True")
write("double-quotes", "<f4", "(2, 3)", six, text='{"shape": (2,3,), "fortran_order": False, "descr": "<f4"}')
write("scalar", "<f4", "()", struct.pack("<f", 2.5))
write("rows0", "<f4", "(0, 3)", b"")
write("half", "<f2", "(3,)", struct.pack("<3e", 1.5, -2, 65504))
write("brain", "<u2", "(3,)", struct.pack("<3H", 0x3F80, 0xC000, 0x7F80))
write("bools", "|b1", "(3,)", bytes([1, 0, 1]))
write("int64", "<i8", "(3,)", struct.pack("<3q", -1, 2**40, 7))
write("uint8", "|u1", "(3,)", bytes([1, 2, 255]))

write("bigendian", ">f4", "(2, 3)", struct.pack(">6f", 0, 1, 2, 3, 4, 5))
write("double", "<f8", "(2, 3)", struct.pack("<6d", 0, 1, 2, 3, 4, 5))
write("wrong-shape", "<f4", "(3, 2)", six)
write("short", "<f4", "(2, 3)", six[:-1])
write("long", "<f4", "(2, 3)", six + b"\0")
write("huge", "<f4", "(4611686018427387904, 4611686018427387904)", six)
write("large", "<f4", "(1000000000, 1000)", six)
write("digits", "<f4", "(99999999999999999999999999, 3)", six)
write("negative", "<f4", "(-2, 3)", six)
write("number", "<f4", "(3)", six[:12])
write("complex", "<c8", "(2, 3)", six + six)
write("structured", "", "", six, text="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }")
write("extra-key", "", "", six, text="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'evil': 1, }")
write("twice", "", "", six, text="{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }")
write("lacking", "", "", six, text="{'descr': '<f4', 'shape': (2, 3), }")
write("code", "", "", six, text="__import__('os').system('true')")
write("trailing", "", "", six, text="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } + 1")
write("order", "<f4", "(2, 3)", six, order="Perhaps")
for name, data in {
    "empty": b"",
    "magic": b"\x93NUMPX\x01\x00\x10\x00",
    "cut-header": header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }")[:40],
    "version9": b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16,
}.items():
    with open(os.path.join(out, name + ".npy"), "wb") as file:
        file.write(data)
