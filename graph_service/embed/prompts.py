"""Words that a model wants before questions, and before what is searched with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from graph_service.embed.protocol import Embedder, Float32
from graph_service.embed.transformer import TransformerEmbedder

_OF_PASSAGES = ("document", "passage", "corpus")


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is put before a question (``query: ``) and before any other text (``passage: ``)."""

    query: str = ""
    passage: str = ""

    @classmethod
    def of(cls, prompts: Mapping[str, Any], default: str | None = None, /) -> Self:
        """Returns the prompts of a saved model.

        Args:
            prompts: By the names that sentence-transformers gives them.
            default: The name of the one for texts that no other is for.

        >>> Prompts.of({"query": "query: ", "passage": "passage: "})
        Prompts(query='query: ', passage='passage: ')
        """
        named = [prompts[key] or "" for key in _OF_PASSAGES if key in prompts]
        passage = next(filter(None, named), "")
        if not named and default is not None:
            passage = prompts.get(default) or ""
        return cls(str(prompts.get("query") or ""), str(passage))

    @property
    def any(self) -> bool:
        """Whether queries or documents have a prompt."""
        return bool(self.query or self.passage)


class PromptedEmbedder:
    """An embedder that puts a model's prompts before texts and questions.

    Args:
        embedder: Reads texts with their prompts.
        prompts: Of its model.
    """

    def __init__(self, embedder: TransformerEmbedder, prompts: Prompts, /) -> None:
        self._embedder = embedder
        self.prompts = prompts

    @property
    def name(self) -> str:
        """The model's name and the hash of what decides its vectors."""
        return self._embedder.name

    @property
    def arithmetic(self) -> str:
        """How the encoder sums products."""
        return self._embedder.arithmetic

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._embedder.dimension

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text that questions are compared with."""
        return self._embedder.encode([self.prompts.passage + text for text in texts])

    def encode_queries(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a question."""
        return self._embedder.encode([self.prompts.query + text for text in texts])

    def share(self, folder: Path, /) -> None:
        """Keeps the encoder's weights in files of a folder, which other processes have mapped too."""
        self._embedder.share(folder)

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""
        return self._embedder.count_tokens(text)


def prompted(embedder: TransformerEmbedder, prompts: Prompts, /) -> Embedder:
    """Returns an embedder that uses a model's prompts, where it has any."""
    return PromptedEmbedder(embedder, prompts) if prompts.any else embedder
