"""The golden retrieval cases: questions to the demo's slice, and vectors that are frozen data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service import Service
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import RetrievalResult, ScoredPath, Step, Strategy
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import Method, ViewSpec

FOLDER = Path(__file__).parent / "golden" / "retrieval"
TEXTS, VECTORS, CASES = FOLDER / "texts.json", FOLDER / "vectors.npy", FOLDER / "cases.json"
_SCALE = 127.0

_MOTHER = "Who is the mother of Maria Shriver's husband?"
_THREE = "Who founded the university where Ethel Skakel Kennedy's husband studied law?"
_LACKING = "What was the blood type of Jacqueline Kennedy Onassis?"
_NONSENSE = "How often did Maria Shriver sneeze in the cupboard?"
_NOBODY = "How high is the mountain?"
_DIALOGUE = "Who is Maria Shriver?\nA journalist.\nAnd who is Katherine Schwarzenegger's father?"


def requests() -> list[RetrieveRequest]:
    """Returns the questions of all cases; a few, since each brings its texts."""
    asked = [
        RetrieveRequest(question, strategy, preset="default-6", limit=4)
        for question in (_MOTHER, _THREE)
        for strategy in Strategy
    ]
    asked.append(RetrieveRequest(_LACKING, Strategy.PATHS, preset="default-6"))
    asked.append(RetrieveRequest(_NONSENSE, Strategy.TRIPLETS, preset="default-6", limit=2))
    # Nobody's capital: no statement is left of the entity.
    asked.append(replace(asked[-2], relation_ids=("P36",)))
    asked.append(RetrieveRequest(_NOBODY, Strategy.TRIPLETS, preset="default-6"))
    asked += [
        RetrieveRequest(_MOTHER, strategy, preset="okgqa", limit=4, max_hops=1)
        for strategy in Strategy
    ]
    view = ViewRef(spec=ViewSpec(method=Method.EDGE_DELETION, level=0.3, random_seed=7))
    asked.append(RetrieveRequest(_MOTHER, Strategy.PATHS, preset="default-6", limit=4, view=view))
    asked += [
        RetrieveRequest(_DIALOGUE, strategy, preset="ltgen", triples_per_relation=2)
        for strategy in (Strategy.TRIPLETS, Strategy.PATHS)
    ]
    asked.append(replace(asked[-1], relations_per_entity=2, draw_seed=7, view=view))
    return asked


@dataclass
class FrozenEmbedder:
    """Gives recorded vectors, one signed byte a number; a text that was not recorded is an error.

    Attributes:
        rows: Text to its row of ``vectors``.
        vectors: int8 [n, d].
    """

    rows: dict[str, int]
    vectors: npt.NDArray[np.int8]
    name: str = "frozen-minilm"
    dimension: int = 384

    @classmethod
    def read(cls) -> FrozenEmbedder:
        texts = json.loads(TEXTS.read_text(encoding="utf-8"))
        return cls({text: row for row, text in enumerate(texts)}, np.load(VECTORS))

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        unknown = [text for text in texts if text not in self.rows]
        assert not unknown, f"not among the frozen vectors: {unknown}; record them anew"
        found = self.vectors[[self.rows[text] for text in texts]].astype(np.float64)
        sizes = np.linalg.norm(found, axis=1, keepdims=True)
        unit: npt.NDArray[np.float32] = (found / sizes).astype(np.float32)
        return unit

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


def freeze(vectors: npt.NDArray[np.float32], /) -> npt.NDArray[np.int8]:
    """Returns unit vectors in bytes, each scaled by its largest number."""
    scaled = vectors / np.abs(vectors).max(axis=1, keepdims=True) * _SCALE
    frozen: npt.NDArray[np.int8] = np.round(scaled).astype(np.int8)
    return frozen


def outcome(service: Service, request: RetrieveRequest, /) -> dict[str, Any]:
    """Returns what a case is judged by: all of a result but what differs between machines."""
    result: RetrievalResult = service.retrieve(request)
    items = []
    for item in result.items:
        steps = item.steps if isinstance(item, ScoredPath) else (item,)
        words = [
            f"{step.triple.head.label} | {step.triple.relation.label} |"
            f" {step.triple.statement_id}"
            + (" reversed" if isinstance(step, Step) and step.reversed else "")
            for step in steps
        ]
        items.append({"score": item.score, "statements": words})
    return {
        "question": request.question,
        "strategy": request.strategy.value,
        "preset": result.provenance.preset,
        "view": result.provenance.view_id,
        "status": result.status.value,
        "linked": [linked.entity.id for linked in result.linked],
        "region": to_plain(result.region),
        "truncated": to_plain(result.truncated),
        "tokens": result.tokens.count,
        "items": items,
    }
