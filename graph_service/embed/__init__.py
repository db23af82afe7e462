"""Texts to vectors: the embedders and the file that keeps what they computed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from graph_service.embed.catalogue import CATALOGUE, folder_of
from graph_service.embed.cosines import cosine
from graph_service.embed.protocol import Embedder, trained_name
from graph_service.embed.vector_file import VectorFile
from graph_service.embed.vectors import PartVectors, Vectors, open_vectors
from graph_service.embed.weights import FETCH_HINT
from graph_service.errors import ModelFileError

MULTILINGUAL = "multilingual"
"""The embedder that the extra of that name brings."""

__all__ = [
    "MULTILINGUAL",
    "Embedder",
    "PartVectors",
    "VectorFile",
    "Vectors",
    "cosine",
    "has_sentence_transformers",
    "is_minilm",
    "model_folder",
    "open_embedder",
    "open_vectors",
    "trained_name",
]


def open_embedder(
    name: str = "minilm",
    /,
    *,
    model_dir: Path | str | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
) -> Embedder:
    """Returns an embedder, importing what it needs.

    Args:
        name: ``minilm`` (also ``all-MiniLM-L6-v2``); ``multilingual``; a folder of a model; a
            name that ``model fetch`` knows; ``openai:MODEL`` for an OpenAI-compatible endpoint; or
            any model's name for sentence-transformers. A folder that ``folder`` can't read goes to
            sentence-transformers, where that is installed.
        model_dir: Folder of MiniLM's files; else they are looked for.
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Key of the endpoint.

    Raises:
        ModelFileError: A model's files are missing, not the official ones, or not understood.
        InputError: There is no such embedder, and sentence-transformers is not installed.
        SetupError: sentence-transformers has no such model; or an endpoint has neither an address
            nor a key.
    """
    if name.startswith("openai:"):
        from graph_service.embed.endpoint import EndpointEmbedder

        return EndpointEmbedder(name.removeprefix("openai:"), base_url=base_url, api_key=api_key)
    if is_minilm(name):
        from graph_service.embed.minilm import MiniLM

        return MiniLM.open(Path(model_dir) if model_dir else None)
    if name == MULTILINGUAL:
        from graph_service.embed.multilingual import open_multilingual

        return open_multilingual(model_dir=Path(model_dir) if model_dir else None)
    folder = model_folder(name)
    if folder is not None:
        from graph_service.embed.folder import open_folder

        if name in CATALOGUE and not folder.is_dir():
            raise ModelFileError(
                f"the model {name} is not in {folder}", hint=f"{FETCH_HINT} {name}"
            )
        try:
            return open_folder(folder)
        except ModelFileError:
            if not has_sentence_transformers():
                raise
        name = str(folder)
    from graph_service.embed.sentence import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name)


def is_minilm(name: str, /) -> bool:
    """Returns whether a name of an embedder means the default one.

    >>> is_minilm("sentence-transformers/all-MiniLM-L6-v2"), is_minilm("e5-small")
    (True, False)
    """
    return name.removeprefix("sentence-transformers/").lower() in ("minilm", "all-minilm-l6-v2")


def model_folder(name: str, /) -> Path | None:
    """Returns the folder that an embedder's name means; None for a name of sentence-transformers.

    A name that ``model fetch`` knows means the folder that it fills, filled or not.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    return folder_of(name) if name in CATALOGUE else None


def has_sentence_transformers() -> bool:
    """Returns whether the package sentence-transformers is installed; imports nothing."""
    return importlib.util.find_spec("sentence_transformers") is not None
