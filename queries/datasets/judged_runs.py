"""Runs of several judges over the same cases as ratings, so that their agreement can be taken (O14)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.serialise import from_plain
from queries.datasets.records import Record, read_records
from queries.score.agreement import RatedCase, Rating
from queries.score.entailment_score import EntailmentRow
from queries.score.facts import FactsRow
from queries.score.geval import GEvalRow
from queries.score.report import AXES
from queries.score.talec import TalecRow

PEOPLE = "people"

_KINDS: Mapping[str, type[Any]] = {
    "entailment": EntailmentRow,
    "factscore": FactsRow,
    "safe": FactsRow,
    "geval": GEvalRow,
    "talec": TalecRow,
}

_MODEL = re.compile(r" by (.+?) \(temperature ")


def is_run(record: Record, /) -> bool:
    """Returns whether a record is a row that ``score ... --out`` wrote."""
    return isinstance(record.fields.get("basis"), str) and "row" in record.fields


def read_judged_facts(path: str | Path, score: str, /) -> tuple[str, tuple[FactsRow, ...]]:
    """Returns who checked the facts of a run, and its rows; of an id that comes twice the last.

    Args:
        path: What ``score factscore --out`` or ``score safe --out`` wrote.
        score: Which of the two.

    Raises:
        InputError: A line is no row of that score, or the rows are of different judges.
    """
    rows: dict[str, FactsRow] = {}
    bases: dict[str, None] = {}
    for record in read_records(path):
        kind, row = _row_of(record)
        if kind != score:
            raise InputError(f"{record.where}: a row of {score} was expected; one of {kind} came")
        rows[row.id] = row
        bases[str(record.fields["basis"]).partition(" by ")[2]] = None
    if len(bases) > 1:
        raise InputError(
            f"{Path(path).name}: rows of one judge were expected; there are {' and '.join(bases)}",
            argument="file",
        )
    return next(iter(bases)), tuple(rows.values())


def ratings_of_runs(paths: Sequence[str | Path], /, *, groups: str = "") -> tuple[RatedCase, ...]:
    """Returns what each run says of each case, one rater a file, and people where they were asked.

    Of entailment the verdicts, of FActScore and SAFE those of each fact (of equal text), of G-Eval the
    ratings of each quality, of TALEC the final scores. Of an id that comes twice the last row counts.

    Args:
        paths: What ``score ... --out`` wrote; the raters are called by the files' names.
        groups: What cases are grouped by: ``kind``, ``level`` or ``references``; by default what
            is rated in one text is one group.

    Raises:
        InputError: A line is no such row, the runs are of different scores, or a row does not
            say what it is grouped by.
    """
    if groups and groups not in AXES:
        raise InputError(
            f"rows of a score are grouped by {', '.join(AXES)}, not by {groups!r}",
            argument="groups",
        )
    raters = [Path(path).stem for path in paths]
    if len(set(raters)) != len(raters) or PEOPLE in raters:
        raise InputError(
            f"files of different names were expected, none called {PEOPLE}; {raters} came",
            argument="file",
        )
    kinds: dict[str, str] = {}
    cases: dict[str, dict[str, Rating]] = {}
    group_of: dict[str, str] = {}
    for rater, path in zip(raters, paths, strict=True):
        rows: dict[str, tuple[str, Any]] = {}
        for record in read_records(path):
            kind, row = _row_of(record)
            kinds[rater] = "facts" if kind in ("factscore", "safe") else kind
            rows[row.id] = (kind, row)
        for kind, row in rows.values():
            for id_, value, people in _ratings(kind, row):
                group_of[id_] = _group(row, groups, path) if groups else row.id
                case = cases.setdefault(id_, {})
                if value is not None:
                    case[rater] = value
                if people is not None:
                    case[PEOPLE] = people
    if len(set(kinds.values())) > 1:
        shown = ", ".join(f"{name}: {kind}" for name, kind in kinds.items())
        raise InputError(f"runs of one score were expected; {shown} came", argument="file")
    return tuple(RatedCase(id_, case, group_of[id_]) for id_, case in sorted(cases.items()))


def _row_of(record: Record) -> tuple[str, Any]:
    kind = record.text("basis", default="").partition(" ")[0]
    if not is_run(record) or kind not in _KINDS:
        raise InputError(
            f"{record.where}: a row that `score {' or '.join(_KINDS)} --out` wrote was expected"
        )
    try:
        return kind, from_plain(_KINDS[kind], record.fields["row"])
    except InputError as error:
        raise InputError(f"{record.where}: {error.message}") from error


def _group(row: Any, axis: str, path: str | Path) -> str:
    known: dict[str, str] = dict(row.groups.named())
    if axis not in known:
        raise InputError(
            f"{path}: case {row.id!r} has no {axis} to be grouped by", argument="groups"
        )
    return known[axis]


def _ratings(kind: str, row: Any) -> Iterator[tuple[str, Rating | None, Rating | None]]:
    """Id, what the run says, what people say, of each thing that is rated in a row."""
    if isinstance(row, EntailmentRow):
        verdict = None if row.judgement is None else row.judgement.entailed
        yield row.id, verdict, row.gold
    elif isinstance(row, FactsRow):
        for fact in row.facts:
            yield f"{row.id}/{fact.sentence}/{fact.text}", fact.supported, None
    elif isinstance(row, GEvalRow):
        for name, score in row.scores.items():
            yield f"{row.id}/{name}", score.value, row.human.get(name)
    elif isinstance(row, TalecRow):
        yield row.id, row.score, row.human.get("score")
    else:
        raise InputError(f"no ratings are known of {kind}")


def models_of_runs(paths: Sequence[str | Path], /) -> dict[str, str]:
    """Returns the model that judged in each run, by the run's rater; those not told left out.

    Raises:
        InputError: A line is no row of a score.
    """
    models: dict[str, str] = {}
    for path in paths:
        record = next(iter(read_records(path)), None)
        match = None if record is None else _MODEL.search(record.text("basis", default=""))
        if match is not None:
            # A checker that is no model has its facts by one, which comes last.
            models[Path(path).stem] = match[1].rpartition(" by ")[2]
    return models


def with_labels(cases: Sequence[RatedCase], path: str | Path, /) -> tuple[RatedCase, ...]:
    """Returns cases with what people say of some, from JSON lines of ``id`` and ``human``.

    A line whose ``human`` is null is one that nobody has labelled yet.

    Raises:
        InputError: A label is no number and not true or false, or none is of a case.
    """
    labels: dict[str, Rating] = {}
    for record in read_records(path):
        value = record.fields.get("human")
        if value is None and "human" in record.fields:
            continue
        if not isinstance(value, bool | int | float):
            raise record.error("human", "a number, or true or false")
        labels[record.text("id")] = value
    ids = {case.id for case in cases}
    if not ids & labels.keys():
        raise InputError(
            f"none of the {len(labels)} labels of {path} is of a case that was judged, such as "
            f"{cases[0].id!r}",
            argument="labels",
        )
    return tuple(
        replace(case, ratings={**case.ratings, PEOPLE: labels[case.id]})
        if case.id in labels
        else case
        for case in cases
    )


def draw_cases(
    cases: Sequence[RatedCase], count: int, /, *, random_seed: int = 0
) -> tuple[RatedCase, ...]:
    """Returns some cases for people to label, drawn by a keyed hash: the same on every machine."""

    def rank(case: RatedCase) -> tuple[bytes, str]:
        return digest((str(random_seed), case.id), size=8, person=b"draw-labels"), case.id

    return tuple(sorted(cases, key=rank)[:count])
