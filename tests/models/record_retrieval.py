"""Records the golden retrieval cases with vectors of all-MiniLM-L6-v2.

Run after a change of the presets' rules, and read the difference before it is committed:

    python tests/models/record_retrieval.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from retrieval_cases import (
    CASES,
    FOLDER,
    TEXTS,
    VECTORS,
    FrozenEmbedder,
    freeze,
    outcome,
    requests,
)

from graph_service import open_service
from graph_service.embed import open_embedder
from graph_service.embed.protocol import Embedder
from graph_service.settings import Settings
from loaders.load import load
from queries.datasets.demo_set import demo_slice


@dataclass
class _Recorder:
    """Passes vectors on, as they will be read again, and keeps them."""

    embedder: Embedder
    kept: dict[str, npt.NDArray[np.int8]] = field(default_factory=dict)
    name: str = "frozen-minilm"
    dimension: int = 384

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        for text, row in zip(texts, freeze(self.embedder.encode(texts)), strict=True):
            self.kept.setdefault(text, row)
        again = FrozenEmbedder(
            {text: row for row, text in enumerate(texts)},
            np.stack([self.kept[text] for text in texts]),
        )
        vectors: npt.NDArray[np.float32] = again.encode(texts)
        return vectors

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


def main() -> None:
    recorder = _Recorder(open_embedder("minilm"))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            vectors=str(Path(folder) / "vectors.db"), cache_dir=folder, read_timeout_s=600
        )
        url = f"sqlite:///{Path(folder) / 'demo.db'}"
        with open_service(url, settings=settings, embedder=recorder) as service:
            load(demo_slice(), store=service.store, graph="demo")
            cases = [outcome(service, request) for request in requests()]
    FOLDER.mkdir(exist_ok=True)
    texts = sorted(recorder.kept)
    TEXTS.write_text(json.dumps(texts, ensure_ascii=True, indent=0) + "\n", encoding="utf-8")
    np.save(VECTORS, np.stack([recorder.kept[text] for text in texts]))
    CASES.write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(cases)} cases, {len(texts)} texts, {VECTORS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
