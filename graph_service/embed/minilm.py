"""all-MiniLM-L6-v2: the default embedder.

The model is BERT of 6 layers, 12 heads and width 384 (Wang et al. 2020, MiniLM), with the mean of
the last layer's states as the vector of a text.
"""

from __future__ import annotations

from pathlib import Path

from graph_service.embed.folder import read_tensors, read_tokenizer
from graph_service.embed.layers import Architecture, Grids
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.embed.weights import WEIGHTS, ModelFolder, find_model

ARCHITECTURE = Architecture(layers=6, heads=12, width=384, max_tokens=256)
NAME = f"all-MiniLM-L6-v2@{WEIGHTS.sha256[:8]}"
"""Model and the first digits of its weights' SHA-256."""


class MiniLM(TransformerEmbedder):
    """The default embedder. Safe to use from several threads.

    >>> MiniLM.open().encode(["capital of France"]).shape
    (1, 384)
    """

    @classmethod
    def open(cls, folder: Path | None = None, /) -> MiniLM:
        """Returns the embedder from files on this machine, checked.

        Args:
            folder: Where they are; else they are looked for, see ``weights``.

        Raises:
            ModelFileError: They are missing or not the official ones.
        """
        return cls.load(find_model(folder))

    @classmethod
    def load(cls, folder: ModelFolder, /) -> MiniLM:
        """Returns the embedder from files that were checked."""
        # The file asks for 128 words, padded; the model is run with 256, and packed.
        tokenizer = read_tokenizer(folder.tokenizer)
        tensors = read_tensors(folder.weights)
        # Working the grids out takes as long as reading the weights; a test shows that these do.
        return cls(NAME, ARCHITECTURE, tensors, tokenizer, grids=Grids())
