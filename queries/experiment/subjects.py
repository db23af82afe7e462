"""The questions of an experiment: read, told apart by file, and their gold found in a graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.browsing import ItemStatement
from graph_service.model.request import ViewRef
from graph_service.model.result import Triple
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import ChangeKind
from queries.datasets.case import Case
from queries.datasets.cases import read_question_file
from queries.datasets.gold import NA, GoldQuestion
from queries.experiment.plan import Plan

MOST_STATEMENTS = 1000


class Fate(StrEnum):
    """What a view leaves of a question's gold statements: of its best set, if it has several."""

    KEPT = "kept"
    CHANGED = "changed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class GoldFate:
    """What a view leaves of a question's gold.

    Attributes:
        fate: Of its best set.
        broken: Statements of its first set that the view changed or lost, in order.
    """

    fate: Fate
    broken: tuple[str, ...] = ()


_WORST = (Fate.KEPT, Fate.CHANGED, Fate.LOST)


@dataclass(frozen=True, slots=True)
class Subject:
    """A question with its gold in one graph.

    Attributes:
        gold: With statement ids of that graph; none where the file gives no gold, or the graph
            lacks a statement of it.
        heads: The entities whose statements the gold ones are.
        is_incomplete: Whether the file gives gold triples that the graph has not all of.
    """

    case: Case
    gold: GoldQuestion
    heads: tuple[str, ...] = ()
    is_incomplete: bool = False


def questions_of(plan: Plan, graph: str, /) -> tuple[Case, ...]:
    """Returns the questions that a plan asks a graph; ids begin with the file's name where there
    are several files.

    Raises:
        InputError: A file is wrong, or asks nothing of this graph; names it.
    """
    files = [file for file in plan.questions if file.graph in (None, graph)]
    if not files:
        raise InputError(f"{plan.source}: no question file is for graph {graph!r}", argument="plan")
    cases_by_id: dict[str, Case] = {}
    for file in files:
        cases = read_question_file(
            file.path, question_format=file.question_format, language=file.language
        )
        for case in cases[: file.first]:
            id_ = case.id if len(plan.questions) == 1 else f"{file.path.stem}:{case.id}"
            if id_ in cases_by_id:
                raise InputError(
                    f"{plan.source}: two questions have the id {id_!r}; give the files other names",
                    argument="plan",
                )
            cases_by_id[id_] = replace(case, id=id_)
    return tuple(cases_by_id.values())


def split_questions(
    cases: Sequence[Case], /, *, share: float, random_seed: int
) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Returns the questions that a rule is calibrated on, and those that are measured.

    Args:
        cases: All of them.
        share: Of the first, rounded to whole questions; both parts then have at least one.
        random_seed: By which they are drawn, with their ids, by a hash.

    Raises:
        InputError: There is only one question to share.
    """
    if not share:
        return (), tuple(cases)
    if len(cases) < 2:
        raise InputError("calibration needs at least two questions", argument="plan")
    count = min(max(round(share * len(cases)), 1), len(cases) - 1)
    sample = sorted(cases, key=lambda case: _hash(f"calibrate/{random_seed}/{case.id}"))[:count]
    ids = {case.id for case in sample}
    return (
        tuple(case for case in cases if case.id in ids),
        tuple(case for case in cases if case.id not in ids),
    )


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def find_gold(cases: Sequence[Case], client: Client, /, *, graph: str) -> tuple[Subject, ...]:
    """Returns questions with the statement ids that a graph has for their gold.

    Statement ids are taken as the file gives them; triples are looked up by head, relation (id or
    label) and value (id or label).
    """
    known: dict[str, tuple[ItemStatement, ...]] = {}

    def of_head(head: str) -> tuple[ItemStatement, ...]:
        if head not in known:
            known[head] = client.statements(head, graph=graph, limit=MOST_STATEMENTS)
        return known[head]

    subjects: list[Subject] = []
    for case in cases:
        ids, incomplete = case.statement_ids, False
        contents = case.gold_triples or tuple(
            (triple.head.id, triple.relation.label, triple.value_label) for triple in case.knowledge
        )
        if not ids and contents:
            triples = [
                next(
                    (triple.triple for triple in of_head(row[0]) if _says(triple.triple, row)), None
                )
                for row in contents
            ]
            incomplete = None in triples
            if not incomplete:
                ids = tuple(
                    dict.fromkeys(triple.statement_id for triple in triples if triple is not None)
                )
        sets = (ids, *case.alternatives)
        heads = [id_.partition("$")[0] for listed in sets for id_ in listed if "$" in id_]
        if any("$" not in id_ for listed in sets for id_ in listed):
            heads += [*case.entity_ids, *(row[0] for row in contents)]
            heads += _heads_around(case, {id_ for listed in sets for id_ in listed}, client, graph)
        gold = GoldQuestion(
            id=case.id,
            question=case.question,
            kind=case.kind or "question",
            entity_ids=case.entity_ids,
            statement_ids=ids,
            alternatives=case.alternatives,
            answer_ids=case.answer_ids,
            answers=case.answers or ((NA,) if case.lacking else ()),
            lacking=case.lacking,
            hard_answers=case.hard_answers,
            stale_answers=case.stale_answers,
        )
        subjects.append(Subject(case, gold, tuple(dict.fromkeys(heads)), incomplete))
    return tuple(subjects)


def _heads_around(case: Case, ids: set[str], client: Client, graph: str) -> list[str]:
    """The heads of those statements whose value is an entity of the question or an answer.

    An id that does not begin with its head, as of tables and RDF, does not say where to look.
    """
    heads: list[str] = []
    for entity_id in dict.fromkeys((*case.entity_ids, *case.answer_ids)):
        page = client.statement_page(
            entity_id, graph=graph, direction="incoming", first=MOST_STATEMENTS
        )
        if page is not None:
            heads += [
                statement.triple.head.id
                for statement in page.statements
                if statement.triple.statement_id in ids
            ]
    return heads


def _says(triple: Triple, row: tuple[str, str, str]) -> bool:
    _, relation, value = row
    if relation != triple.relation.id and relation.casefold() != triple.relation.label.casefold():
        return False
    if isinstance(triple.value, EntityValue) and triple.value.id == value:
        return True
    return triple.value_label.casefold() == value.casefold()


def fate_of(
    subject: Subject, client: Client, /, *, graph: str, view: ViewRef | None
) -> GoldFate | None:
    """Returns what a view leaves of a question's gold; None where it has none.

    A statement is changed where the view says another one in its place, and lost where it says
    none. Both ends of it are looked at, so that an exchange of head and tail is a change.
    """
    sets = [listed for listed in subject.gold.minimum_sets if listed]
    if not sets:
        return None
    if view is None:
        return GoldFate(Fate.KEPT)
    if view.spec is not None and view.spec.scope.of_question:
        # Such a view is of one question's words: only a retrieval can be asked on it.
        return None
    fates: dict[str, Fate] = {}
    for head in dict.fromkeys((*subject.heads, *subject.gold.answer_ids)):
        for statement in client.statements(head, graph=graph, view=view, limit=MOST_STATEMENTS):
            if statement.change.kind is ChangeKind.UNCHANGED:
                fates[statement.triple.statement_id] = Fate.KEPT
            elif statement.change.base is not None:
                fates.setdefault(statement.change.base.statement_id, Fate.CHANGED)
    worst = [max(_WORST.index(fates.get(id_, Fate.LOST)) for id_ in listed) for listed in sets]
    broken = tuple(
        id_ for id_ in subject.gold.statement_ids if fates.get(id_, Fate.LOST) is not Fate.KEPT
    )
    return GoldFate(_WORST[min(worst)], broken)
