"""Files of cases that scores are taken of, and which fields they have; see ``docs/reference/scores.md``.

A file is JSON lines. Answers that ``graph-service answer --out`` wrote are cases too, wherever a
text is scored: they are told by their ``sentences``. So are another system's (``answers.py``), told
by triples as their ``knowledge``: their citations are no part of the text that is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from graph_service.model.result import Triple
from queries.datasets.answers import (
    answer_of,
    failure_of,
    foreign_answer,
    is_answer,
    is_foreign,
    triples_in,
)
from queries.datasets.factbench import factbench_cases, read_factbench
from queries.datasets.records import Record, read_cases, read_records
from queries.datasets.wice import is_wice, wice_case
from queries.score.agreement import RatedCase
from queries.score.answer_sets import AnswerSetCase
from queries.score.case import TextCase, case_of_answer
from queries.score.entailment import Pair, Relation
from queries.score.entailment_score import EntailmentCase
from queries.score.knowledge import KnowledgeCase
from queries.score.report import Groups

SPLITS = ("train", "eval", "test")


def groups_of(record: Record, /) -> Groups:
    """Returns ``kind`` (or ``type``), ``level`` and ``references`` (a number or a list)."""
    kind = record.text("kind", default="", filled=False) or record.text(
        "type", default="", filled=False
    )
    listed = record.fields.get("references")
    references = len(listed) if isinstance(listed, list) else record.count("references")
    return Groups(kind, record.text("level", default="", filled=False), references)


def text_case(record: Record, /, *, needs: Sequence[str] = ()) -> TextCase:
    """Returns a record as a text to be judged.

    Fields: ``id``, ``question``, ``text`` (or ``answer``); ``knowledge`` (a list of texts or of triples),
    ``evidence`` (a list of texts; by default the knowledge), ``context``, ``human`` (numbers, or true and false, by name),
    ``reasons`` (texts by name), ``split``, ``failure`` and groups.

    Args:
        record: The object.
        needs: Fields that the score cannot be taken without.

    Raises:
        InputError: A field is missing or is not as expected; names line and field.
    """
    if is_answer(record):
        return case_of_answer(answer_of(record))
    if failure_of(record) is None:
        for name in needs:
            record.text(name)
    human: dict[str, float] = {}
    for name, value in record.mapping("human").items():
        if not isinstance(value, bool | int | float):
            raise record.error("human", "numbers, or true and false, by name")
        human[name] = float(value)
    reasons = record.mapping("reasons")
    if not all(isinstance(reason, str) for reason in reasons.values()):
        raise record.error("reasons", "texts by name")
    failure = failure_of(record)
    name = "answer" if "answer" in record.fields and "text" not in record.fields else "text"
    # An empty text is a case like any other: it has not responded.
    text = record.text(name, default="" if failure else None, filled=False)
    split = record.text("split", default="", filled=False)
    if split and split not in SPLITS:
        record.choice("split", SPLITS)
    knowledge: tuple[str, ...] = ()
    cited = text
    names: tuple[str, ...] = ()
    if is_foreign(record):
        answer = case_of_answer(foreign_answer(record))
        text, knowledge, names = answer.text, answer.knowledge, answer.names
    elif record.has("knowledge"):
        knowledge = record.texts("knowledge")
    return TextCase(
        id=record.text("id", default=str(record.number)),
        question=record.text("question", default="", filled=False),
        text=text,
        knowledge=knowledge,
        evidence=record.texts("evidence") or knowledge,
        context=record.text("context", default="", filled=False),
        cited=cited,
        names=names,
        human=human,
        reasons=dict(reasons),
        split=split,
        groups=groups_of(record),
        failure=failure,
    )


def entailment_case(record: Record, /) -> EntailmentCase:
    """Returns a record as a pair.

    Fields: ``premise`` and ``hypothesis``, or ``generation`` and ``reference`` (L8), or WiCE's; ``label`` one of
    entailment, neutral and contradiction; ``group``; groups.
    """
    if is_wice(record):
        return wice_case(record)
    names = ("premise", "hypothesis")
    if "generation" in record.fields:
        names = ("generation", "reference")
    failure = failure_of(record)
    label = ""
    if record.has("label"):
        label = record.choice("label", [relation.value for relation in Relation])
    return EntailmentCase(
        id=record.text("id", default=str(record.number)),
        pair=Pair(
            *(
                # A generation may say nothing, which entails nothing; a hypothesis says something.
                record.text(name, default="" if failure else None, filled=name == names[1])
                for name in names
            )
        ),
        group=record.text("group", default="", filled=False),
        entailed=label == Relation.ENTAILMENT if label else None,
        label=label,
        groups=groups_of(record),
        failure=failure,
    )


def read_pairs(path: str | Path, /) -> tuple[EntailmentCase, ...]:
    """Returns the pairs of a file: JSON lines, WiCE's, or FactBench's table (``.tsv``).

    Raises:
        InputError: A line is not as expected; names line and field.
    """
    if Path(path).suffix == ".tsv":
        return factbench_cases(read_factbench(path))
    return read_cases(path, entailment_case)


def knowledge_case(record: Record, /) -> KnowledgeCase:
    """Returns a record as a generation with its answer entities (L8).

    Fields: ``text`` (or ``generation``); ``answers``, a list of names or of lists of names; ``found``, ``oracle``
    and ``reference``, lists of [entity, signed relation]; ``failure`` and groups. What a citation
    names, its sentence does not: citations are left out of answers, ours and another system's.
    """
    if is_answer(record):
        answer = case_of_answer(answer_of(record))
        return KnowledgeCase(
            answer.id,
            None if answer.failure else answer.text,
            groups=answer.groups,
            failure=answer.failure,
        )
    failure = failure_of(record)
    name = "generation" if "generation" in record.fields else "text"
    text = None if failure else record.text(name, filled=False)
    if text is not None and is_foreign(record):
        text = case_of_answer(foreign_answer(record)).text
    return KnowledgeCase(
        id=record.text("id", default=str(record.number)),
        text=text,
        answers=_entities(record, "answers"),
        found=record.pairs("found") if record.has("found") else None,
        oracle=record.pairs("oracle") if record.has("oracle") else None,
        reference=record.pairs("reference"),
        groups=groups_of(record),
        failure=failure,
    )


def _entities(record: Record, field: str) -> tuple[tuple[str, ...], ...]:
    """Returns the names of each of some entities: a list of names, or of lists of names."""
    listed = record.fields.get(field, [])
    if not isinstance(listed, list):
        raise record.error(field, "a list of names, or of lists of names")
    entities: list[tuple[str, ...]] = []
    for entity in listed:
        entry = [entity] if isinstance(entity, str) else entity
        if not isinstance(entry, list) or not all(isinstance(part, str) for part in entry):
            raise record.error(field, "a list of names, or of lists of names")
        entities.append(tuple(entry))
    return tuple(entities)


def answer_set_case(record: Record, /) -> AnswerSetCase:
    """Returns a record as an answer that is held against a set of answers (B3).

    Fields: ``text``; ``named``, a list of texts; ``answers``, ``hard``, ``stale`` and ``targets``, lists of
    names or of lists of names; ``answerable``, ``errors``, ``rejected`` and ``detected``, true or false;
    ``failure`` and groups.
    """
    known = knowledge_case(record)
    rejects = record.truth("rejected")
    if rejects is None and known.text is not None and (is_answer(record) or is_foreign(record)):
        # Citations and markers are no part of the text of these.
        answer = answer_of(record) if is_answer(record) else foreign_answer(record)
        rejects = answer.not_available
    return AnswerSetCase(
        id=known.id,
        text=known.text,
        named=record.texts("named") if record.has("named") else None,
        answers=known.answers,
        hard=_entities(record, "hard"),
        stale=_entities(record, "stale"),
        targets=_entities(record, "targets"),
        is_answerable=record.truth("answerable"),
        has_errors=bool(record.truth("errors")),
        rejects=rejects,
        detects=record.truth("detected"),
        groups=known.groups,
        failure=known.failure,
    )


def rated_case(record: Record, /, *, groups: str = "") -> RatedCase:
    """Returns a record as one case that several raters rated.

    Fields: ``ratings``, numbers, texts or true and false by rater; ``group``, or the field named.

    Args:
        record: The record.
        groups: Name of the field that says what the case belongs to; it must be there.
    """
    ratings = record.mapping("ratings")
    if not ratings or not all(isinstance(x, bool | int | float | str) for x in ratings.values()):
        raise record.error("ratings", "an object of numbers, texts or true and false by rater")
    id_ = record.text("id", default=str(record.number))
    if not groups:
        return RatedCase(id_, dict(ratings), record.text("group", default="", filled=False))
    value = record.fields.get(groups)
    if not isinstance(value, bool | int | float | str) or not str(value).strip():
        raise record.error(groups, "a text, a number, or true or false to group by")
    return RatedCase(id_, dict(ratings), str(value))


def read_absent(path: str | Path, /) -> Mapping[str, tuple[Triple, ...]]:
    """Returns what was withheld from each question, by its id (K6).

    Fields: ``id``, and ``absent``, a list of triples.
    """
    return {
        record.text("id"): triples_in(record, "absent", needed=True)
        for record in read_records(path)
    }


def read_texts_by_id(path: str | Path, name: str, /) -> Mapping[str, tuple[str, ...]]:
    """Returns texts by case id: passages to check facts against, or evaluation contexts.

    Fields: ``id``, and the one named: a text or a list of texts.
    """
    texts_by_id: dict[str, tuple[str, ...]] = {}
    for record in read_records(path):
        listed = record.fields.get(name)
        texts = (record.text(name),) if isinstance(listed, str) else record.texts(name)
        if not texts:
            raise record.error(name, "a text or a list of texts")
        texts_by_id[record.text("id")] = (*texts_by_id.get(record.text("id"), ()), *texts)
    return texts_by_id


def read_text_cases(path: str | Path, /, *, needs: Sequence[str] = ()) -> tuple[TextCase, ...]:
    """Returns the texts of a file, answers included.

    Args:
        path: The file.
        needs: Fields that each text must have.
    """
    return read_cases(path, lambda record: text_case(record, needs=needs))
