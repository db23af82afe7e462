"""Any other model, through sentence-transformers (an extra: it brings torch)."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph_service.embed.catalogue import CATALOGUE
from graph_service.embed.protocol import Float32, check_text
from graph_service.embed.weights import remembered_sha256
from graph_service.errors import InputError, SetupError

_INSTALL = 'pip install "graph-service[sentence-transformers]"'


class SentenceTransformerEmbedder:
    """An embedder by model name or folder. Importing and loading take seconds, once.

    Args:
        model: Name on the model hub, or a folder.
        revision: Which state of a hub model; the newest by default.
        device: ``cpu`` by default, so that the same text has the same vector everywhere.
        batch_size: Texts computed at a time.

    Raises:
        InputError: The package is not installed, so that there is no such embedder.
        SetupError: The package does not import, or the model can't be loaded.
    """

    def __init__(
        self,
        model: str,
        /,
        *,
        revision: str | None = None,
        device: str = "cpu",
        batch_size: int = 64,
    ) -> None:
        try:
            from sentence_transformers import (  # type: ignore[import-not-found, unused-ignore]
                SentenceTransformer,
            )
        except ModuleNotFoundError as error:
            if error.name != "sentence_transformers" or Path(model).exists():
                raise _not_importable(model, error) from error
            raise InputError(
                f"there is no embedder {model!r}: it is no folder, and none of minilm, "
                f"{', '.join(CATALOGUE)}",
                argument="embedder",
                hint=f"If it is a model of sentence-transformers: {_INSTALL}",
            ) from error
        except ImportError as error:
            raise _not_importable(model, error) from error
        try:
            self._model: Any = SentenceTransformer(model, revision=revision, device=device)
        except (OSError, ValueError, RuntimeError) as error:
            raise SetupError(
                f"sentence-transformers can't load the model {model!r}: {error}",
                argument="embedder",
                hint="Check its name, or give a folder that holds it; the embedder 'minilm' "
                "needs neither network nor torch.",
            ) from error
        self._lock = threading.Lock()
        self._batch_size = batch_size
        state = revision or _revision(self._model) or _state_of_folder(model)
        self._name = f"{model}@{state}" if state else model
        # Asked of a vector: the method that tells has changed its name between releases.
        self._dimension = int(self._encode([""]).shape[1])

    @property
    def name(self) -> str:
        """Model as it was named, with its revision, or a hash of its weights, where known."""
        return self._name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._dimension

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Raises:
            InputError: A text holds a lone surrogate.
        """
        for text in texts:
            check_text(text)
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return self._encode(texts)

    def count_tokens(self, text: str, /) -> int:
        """Returns the number of tokens of a text, without special ones and without a limit."""
        with self._lock:
            return len(
                self._model.tokenizer(
                    text, add_special_tokens=False, truncation=False, verbose=False
                )["input_ids"]
            )

    def _encode(self, texts: Sequence[str]) -> Float32:
        # One at a time: its tokenizer keeps settings of a call, and torch uses all cores anyway.
        with self._lock:
            vectors: Float32 = self._model.encode(
                list(texts),
                batch_size=self._batch_size,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return np.ascontiguousarray(vectors, dtype=np.float32)


def _not_importable(model: str, error: ImportError) -> SetupError:
    return SetupError(
        f"embedder {model!r} needs the package sentence-transformers: {error}",
        argument="embedder",
        hint=f"Run: {_INSTALL}",
    )


def _state_of_folder(model: str) -> str | None:
    """Returns a hash of the weights and configurations in a folder, 16 digits; None for no folder.

    What one folder holds may change, and two models must not share vectors.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir():
        return None
    kinds = ("*.json", "*.txt", "*.safetensors", "*.bin", "*.model")
    files = sorted(path for kind in kinds for path in folder.rglob(kind) if path.is_file())
    digests = [(str(path.relative_to(folder)), remembered_sha256(path)) for path in files]
    return hashlib.sha256(repr(digests).encode()).hexdigest()[:16]


def _revision(model: Any) -> str | None:
    """Returns the commit that a hub model was loaded from, 8 digits, where it tells."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    commit = getattr(config, "_commit_hash", None)
    return str(commit)[:8] if commit else None
