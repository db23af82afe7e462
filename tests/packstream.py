"""PackStream, in which Bolt's messages are written: what the driver and Neo4j's answers use of it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Structure:
    """A message: its tag and its fields."""

    tag: int
    fields: list[Any]


def pack(value: Any, /) -> bytes:
    """Returns a value as PackStream."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return _pack_int(value)
    if isinstance(value, float):
        return b"\xc1" + struct.pack(">d", value)
    if isinstance(value, (bytes, bytearray)):
        return _sized(len(value), None, (0xCC, 0xCD, 0xCE)) + bytes(value)
    if isinstance(value, str):
        data = value.encode()
        return _sized(len(data), 0x80, (0xD0, 0xD1, 0xD2)) + data
    if isinstance(value, (list, tuple)):
        return _sized(len(value), 0x90, (0xD4, 0xD5, 0xD6)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        pairs = b"".join(pack(key) + pack(each) for key, each in value.items())
        return _sized(len(value), 0xA0, (0xD8, 0xD9, 0xDA)) + pairs
    if isinstance(value, Structure):
        head = bytes((0xB0 + len(value.fields), value.tag))
        return head + b"".join(map(pack, value.fields))
    raise TypeError(f"no value of Bolt: {value!r}")


def _pack_int(value: int) -> bytes:
    if -16 <= value < 128:
        return struct.pack(">b", value)
    for marker, code, bits in ((0xC8, ">b", 8), (0xC9, ">h", 16), (0xCA, ">i", 32)):
        if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return bytes((marker,)) + struct.pack(code, value)
    return b"\xcb" + struct.pack(">q", value)


def _sized(size: int, tiny: int | None, markers: tuple[int, int, int]) -> bytes:
    if tiny is not None and size < 16:
        return bytes((tiny + size,))
    for marker, code, bits in zip(markers, (">B", ">H", ">I"), (8, 16, 32), strict=True):
        if size < 2**bits:
            return bytes((marker,)) + struct.pack(code, size)
    raise ValueError("too large for Bolt")


def unpack(data: bytes, /) -> Any:
    """Returns the value that PackStream holds."""
    value, end = _unpack(data, 0)
    if end != len(data):
        raise ValueError("bytes are left over")
    return value


_NUMBERS = {0xC1: ">d", 0xC8: ">b", 0xC9: ">h", 0xCA: ">i", 0xCB: ">q"}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_SIZES = (">B", ">H", ">I")


def _unpack(data: bytes, at: int) -> tuple[Any, int]:
    marker = data[at]
    at += 1
    if marker < 0x80 or marker >= 0xF0:
        return marker if marker < 0x80 else marker - 256, at
    if marker in _CONSTANTS:
        return _CONSTANTS[marker], at
    if marker in _NUMBERS:
        code = _NUMBERS[marker]
        return struct.unpack_from(code, data, at)[0], at + struct.calcsize(code)
    if 0xB0 <= marker < 0xC0:
        fields, end = _unpack_many(data, at + 1, marker - 0xB0)
        return Structure(data[at], fields), end
    if marker < 0xB0:
        kind, size = marker & 0xF0, marker & 0x0F
    else:
        kind, place = {
            **{0xCC + place: (0xCC, place) for place in range(3)},
            **{0xD0 + place: (0x80, place) for place in range(3)},
            **{0xD4 + place: (0x90, place) for place in range(3)},
            **{0xD8 + place: (0xA0, place) for place in range(3)},
        }[marker]
        size = struct.unpack_from(_SIZES[place], data, at)[0]
        at += struct.calcsize(_SIZES[place])
    if kind == 0xCC:
        return data[at : at + size], at + size
    if kind == 0x80:
        return data[at : at + size].decode(), at + size
    if kind == 0x90:
        return _unpack_many(data, at, size)
    flat, end = _unpack_many(data, at, 2 * size)
    return dict(zip(flat[::2], flat[1::2], strict=True)), end


def _unpack_many(data: bytes, at: int, count: int) -> tuple[list[Any], int]:
    values = []
    for _ in range(count):
        value, at = _unpack(data, at)
        values.append(value)
    return values, at
