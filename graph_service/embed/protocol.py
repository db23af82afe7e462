"""The embedder seam: texts to unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError

Float32 = npt.NDArray[np.float32]


def check_text(text: str, /) -> None:
    """Raises ``InputError`` for a text that no model reads: it holds a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error


class Embedder(Protocol):
    """Turns texts into unit vectors. Implementations: encoders in numpy, sentence-transformers,
    an OpenAI-compatible endpoint.
    """

    @property
    def name(self) -> str:
        """Model and revision; part of every cache key and result."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension]."""

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""


@runtime_checkable
class Recomputed(Protocol):
    """An embedder that has computed the vectors of one model in more than one way.

    They agree to what a model is worth, so that what was trained on the ones serves with the
    others; but they are not the same bits, and kept ones must not be mixed.
    """

    @property
    def arithmetic(self) -> str:
        """The way; part of the key that a vector is kept under, and not of the model's name."""


@runtime_checkable
class Aligned(Protocol):
    """An embedder whose vectors lie among those of another model."""

    @property
    def trained_name(self) -> str:
        """The other model's name: what was trained on its vectors reads these too."""


def trained_name(embedder: Embedder, /) -> str:
    """Returns the name of the model whose trained weights read an embedder's vectors."""
    return embedder.trained_name if isinstance(embedder, Aligned) else embedder.name


@runtime_checkable
class Shareable(Protocol):
    """An embedder whose weights several processes can hold once."""

    def share(self, folder: Path, /) -> None:
        """Keeps its weights in files of a folder, which other processes have mapped too."""


@runtime_checkable
class Connected(Protocol):
    """What holds connections until it is closed; embedders that compute here do not."""

    def close(self) -> None:
        """Closes them; another call opens them anew."""
