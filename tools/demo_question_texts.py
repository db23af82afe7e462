"""The demo's fifty questions, each written by hand with the statements that answer it.

A question is a text and layers of statements ``(head, relation, tail)``: the first layer touches
an entity that the question names, each next one what the layer before reached; the far ends of
the last layer are the answers. A tail of None stands for the one literal of that relation.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_service.model.identity import normalise_statement_guid

FILE = Path(__file__).with_name("demo") / "questions.jsonl"
Edge = tuple[str, str, str | None]

INVERSE = {
    "P22": ("P40",),
    "P25": ("P40",),
    "P40": ("P22", "P25"),
    "P26": ("P26",),
    "P3373": ("P3373",),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its statements have ids."""

    id: str
    kind: str
    question: str
    entities: tuple[str, ...]
    layers: tuple[tuple[Edge, ...], ...]
    absent: tuple[tuple[str, str], ...] = ()
    note: str = ""


def _edges(layer: list[list[Any]]) -> tuple[Edge, ...]:
    return tuple((head, relation, tail) for head, relation, tail in layer)


def _draft(line: str) -> Draft:
    row = json.loads(line)
    return Draft(
        row["id"],
        row["kind"],
        row["question"],
        tuple(row["entities"]),
        tuple(map(_edges, row["layers"])),
        tuple((entity, relation) for entity, relation in row.get("absent", ())),
        row.get("note", ""),
    )


def read_drafts() -> tuple[Draft, ...]:
    """Returns the questions of ``demo/questions.jsonl``."""
    return tuple(map(_draft, FILE.read_text(encoding="utf-8").splitlines()))


class Index:
    """The statements of the slice by (head, relation, tail)."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self.ids: dict[Edge, str] = {}
        self.literals: dict[tuple[str, str], str] = {}
        self.labels = {d["id"]: d["labels"]["en"]["value"] for d in documents}
        for document in documents:
            for relation, group in document["claims"].items():
                for found in group:
                    value = found["mainsnak"]["datavalue"]["value"]
                    tail = value.get("id") if isinstance(value, dict) else None
                    guid = normalise_statement_guid(found["id"])
                    if guid is None:
                        raise SystemExit(f"{found['id']} is no statement GUID")
                    self.ids[document["id"], relation, tail] = guid
                    if tail is None and isinstance(value, dict) and "time" in value:
                        self.literals[document["id"], relation] = value["time"][1:11]

    def inverse(self, edge: Edge) -> str | None:
        """Returns the id of the statement that says the same from the other end, if there."""
        head, relation, tail = edge
        for other in INVERSE.get(relation, ()):
            if tail is not None and (tail, other, head) in self.ids:
                return self.ids[tail, other, head]
        return None


def resolve(draft: Draft, index: Index) -> dict[str, Any]:
    """Returns the question's record, with ids, alternatives and answers."""
    choices: list[list[tuple[str, ...]]] = []
    frontier = set(draft.entities)
    ends: list[str | None] = []
    literals: list[str] = []
    for layer in draft.layers:
        options = [tuple(index.ids[edge] for edge in layer)]
        inverses = tuple(index.inverse(edge) for edge in layer)
        if all(inverses):
            options.append(tuple(i for i in inverses if i))
        choices.append(options)
        ends = [tail if head in frontier else head for head, _, tail in layer]
        literals = [index.literals[head, rel] for head, rel, tail in layer if tail is None]
        frontier = {end for end in ends if end}
    sets = [tuple(itertools.chain(*combination)) for combination in itertools.product(*choices)]
    answer_ids = [] if draft.absent else [end for end in ends if end]
    answers = ["[NA]"] if draft.absent else [index.labels[a] for a in answer_ids] + literals
    return {
        "id": draft.id,
        "question": draft.question,
        "kind": draft.kind,
        "entity_ids": draft.entities,
        "statement_ids": sets[0],
        "alternatives": sets[1:],
        "answer_ids": answer_ids,
        "answers": answers,
        "hops": len(draft.layers) + (1 if draft.absent else 0),
        "lacking": bool(draft.absent),
        "absent": draft.absent,
        "note": draft.note,
    }


def write_questions(documents: list[dict[str, Any]], path: Path) -> None:
    """Writes one JSON line a question."""
    index = Index(documents)
    lines = [json.dumps(resolve(d, index), ensure_ascii=False) + "\n" for d in read_drafts()]
    path.write_text("".join(lines), encoding="utf-8")
