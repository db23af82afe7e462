"""Figures of a set of evolved questions, beside those of BioKaLMA's files (K9, K10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from graph_service.model.result import Triple
from queries.builders.description import Column, Description, mean, mean_words
from queries.builders.kalma.dataset import GENERAL_NAME, PARAGRAPHS_NAME, SPECIFIC_NAME
from queries.builders.material import names_any
from queries.datasets.biokalma import read_biokalma
from queries.datasets.case import Case
from queries.datasets.cases import read_question_file
from queries.generate.answer import read_answers

MINIMUM = "facts of a minimum set"
PAPER_MINIMUM = 6.8
"""Mean of BioKaLMA's minimum sets (KaLMA, section 2.3); its files do not have the sets."""


def describe(folder: Path, /, *, published: Sequence[Path] = ()) -> Description:
    """Returns the figures of a data set, and those of BioKaLMA's files that are given.

    Raises:
        InputError: A file is missing or wrong; names it.
    """
    paragraphs = read_answers(folder / PARAGRAPHS_NAME)
    known = {paragraph.question_id: paragraph.knowledge for paragraph in paragraphs}
    columns = [
        Column(name, _own(read_question_file(folder / name), known))
        for name in (GENERAL_NAME, SPECIFIC_NAME)
    ]
    columns += [Column(path.name, _published(read_biokalma(path))) for path in published]
    notes = ["names in full: share of an entry's entities whose label stands in the question"]
    if published:
        notes.append(
            f"BioKaLMA's files have no minimum sets; its paper says {PAPER_MINIMUM} facts on average"
        )
    return Description(tuple(columns), tuple(notes))


def _own(cases: Sequence[Case], known: Mapping[str, tuple[Triple, ...]]) -> dict[str, float | int]:
    minimum = {case.id: set(case.statement_ids) for case in cases}
    relations = {
        triple.relation.id
        for case in cases
        for triple in known.get(case.id, ())
        if triple.statement_id in minimum[case.id]
    }
    figures = _figures(cases, {case.id: known.get(case.id, ()) for case in cases})
    figures[MINIMUM] = mean(len(ids) for ids in minimum.values())
    figures["relations of minimum sets"] = len(relations)
    return figures


def _published(cases: Sequence[Case]) -> dict[str, float | int]:
    return _figures(cases, {case.id: case.knowledge for case in cases})


def _figures(
    cases: Sequence[Case], known: Mapping[str, Sequence[Triple]]
) -> dict[str, float | int]:
    labels = {triple.head.id: triple.head.label for facts in known.values() for triple in facts}
    entities = {id_ for case in cases for id_ in case.entity_ids}
    named = [
        names_any(case.question, [labels[id_]])
        for case in cases
        for id_ in case.entity_ids
        if id_ in labels
    ]
    return {
        "questions": len(cases),
        "words of a question": mean_words([case.question for case in cases]),
        "entities of a question": mean(len(case.entity_ids) for case in cases),
        "entities": len(entities),
        "names in full": mean(float(is_named) for is_named in named),
        "facts known of an entry": mean(len(facts) for facts in known.values()),
        "relations": len({fact.relation.id for facts in known.values() for fact in facts}),
    }
