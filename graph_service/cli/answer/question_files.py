"""questions: what a question file holds, and the facts that it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.cli.answer.options import QuestionsOptions
from graph_service.cli.opening import cases_of_file, open_from
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.datasets.case import Case, both_wordings

_BATCH = 100


def questions(options: QuestionsOptions, output: Output, /) -> int:
    """Counts the questions of a file, and writes them and their facts in forms of our own."""
    cases = cases_of_file(options.file, options)
    if options.specific:
        other = cases_of_file(options.specific, options)
        cases = both_wordings(cases, other, source=Path(options.specific).name)
    read = len(cases)
    if options.known_to:
        with open_from(options, output) as service:
            client = Client.over(service)
            cases = _known(cases, client, graph=options.known_to, base_iri=options.base_iri)
        if not cases:
            raise InputError(
                f"each of the {read} questions names an entity that graph {options.known_to} lacks",
                argument="known_to",
            )
    if options.out:
        _write(options.out, (orjson.dumps(_record(case)).decode() for case in cases))
    facts = {triple.statement_id: triple for case in cases for triple in case.knowledge}
    if options.triples:
        _write(
            options.triples,
            (
                "\t".join(_cell(part) for part in (row.head.id, row.relation.id, row.value_label))
                for row in facts.values()
            ),
        )
    if options.labels:
        labels = {row.head.id: row.head.label for row in facts.values()}
        _write(options.labels, (f"{_cell(id_)}\t{_cell(name)}" for id_, name in labels.items()))
    kinds = Counter(case.kind for case in cases if case.kind)
    counts: dict[str, Any] = {
        "questions": len(cases),
        "read": read,
        "entities": len({id_ for case in cases for id_ in case.entity_ids}),
        "without_entities": sum(not case.entity_ids for case in cases),
        "facts": len(facts),
        "lacking": sum(case.lacking for case in cases),
        "kinds": dict(sorted(kinds.items())),
    }
    output.object(counts)
    known = f" of {read}" if options.known_to else ""
    output.line(f"{counts['questions']}{known} questions, {counts['entities']} entities, "
                f"{counts['without_entities']} questions without entities")  # fmt: skip
    if facts:
        output.line(f"{len(facts)} facts")
    if counts["lacking"]:
        output.line(f"{counts['lacking']} that the graph is said to lack")
    for kind, count in sorted(kinds.items()):
        output.line(f"  {kind}: {count}")
    return 0


def _known(cases: Sequence[Case], client: Client, *, graph: str, base_iri: str) -> Sequence[Case]:
    ids_of_cases = sorted({id_ for case in cases for id_ in case.entity_ids})
    known: set[str] = set()
    for start in range(0, len(ids_of_cases), _BATCH):
        ids = ids_of_cases[start : start + _BATCH]
        items = client.items([id_.removeprefix(base_iri) for id_ in ids], graph=graph)
        known |= {id_ for id_, item in zip(ids, items, strict=True) if item is not None}
    # Written as the graph has them, so that answer --given-entities finds them there.
    return [
        replace(case, entity_ids=tuple(id_.removeprefix(base_iri) for id_ in case.entity_ids))
        for case in cases
        if case.entity_ids and set(case.entity_ids) <= known
    ]


def _record(case: Case) -> dict[str, Any]:
    """A question as a line of our own form; empty fields are left out."""
    fields: dict[str, Any] = {
        "id": case.id,
        "question": case.question,
        "kind": case.kind,
        "entity_ids": case.entity_ids,
        "history": case.history,
        "statement_ids": case.statement_ids,
        "knowledge": case.knowledge,
        "answers": case.answers,
        "lacking": case.lacking,
        "question_vector": case.question_vector,
        "alternatives": case.alternatives,
        "answer_ids": case.answer_ids,
        "gold_triples": case.gold_triples,
        "hard_answers": case.hard_answers,
        "stale_answers": case.stale_answers,
    }
    return {name: to_plain(value) for name, value in fields.items() if value}


def _cell(text: str) -> str:
    return " ".join(text.split())


def _write(path: str, lines: Iterable[str]) -> None:
    from graph_service.export.run import is_database

    if is_database(Path(path)):
        raise InputError(
            f"{path} is a database, which the questions would take the place of",
            hint="Name another file, or delete that one first.",
        )
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}") from error
