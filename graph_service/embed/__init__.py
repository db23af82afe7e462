"""Texts to vectors: the embedders and the file that keeps what they computed."""

from __future__ import annotations

from pathlib import Path

from graph_service.embed.cosines import cosine
from graph_service.embed.protocol import Embedder
from graph_service.embed.vectors import PartVectors, VectorFile, Vectors, open_vectors

__all__ = [
    "Embedder",
    "PartVectors",
    "VectorFile",
    "Vectors",
    "cosine",
    "open_embedder",
    "open_vectors",
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
        name: ``minilm`` (also ``all-MiniLM-L6-v2``); ``openai:MODEL`` for an OpenAI-compatible
            endpoint; or any model's name or folder for sentence-transformers.
        model_dir: Folder of MiniLM's files; else they are looked for.
        base_url: Address of the endpoint; OpenAI's own where it is empty.
        api_key: Key of the endpoint.

    Raises:
        ModelFileError: MiniLM's files are missing or not the official ones.
        SetupError: sentence-transformers is not installed, or has no such model; or an endpoint
            has neither an address nor a key.
    """
    if name.startswith("openai:"):
        from graph_service.embed.endpoint import EndpointEmbedder

        return EndpointEmbedder(name.removeprefix("openai:"), base_url=base_url, api_key=api_key)
    if name.removeprefix("sentence-transformers/").lower() in ("minilm", "all-minilm-l6-v2"):
        from graph_service.embed.minilm import MiniLM

        return MiniLM.open(Path(model_dir) if model_dir else None)
    from graph_service.embed.sentence import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(name)
