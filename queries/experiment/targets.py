"""The false answers that a view leads to, read from the view itself.

* A view that states another value in place of an answer, or another head, leads to that one.
* A statement of the same head and relation as a gold one, beside it, leads to its value.
* A false chain from the question's entities leads to what stands at its end.

Whatever answers the question is no target. A view that only deletes has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from graph_service.client import Client
from graph_service.model.browsing import ItemStatement
from graph_service.model.request import ViewRef
from graph_service.model.result import Triple
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import ChangeKind, Method
from queries.datasets.gold import GoldQuestion
from queries.experiment.short_answers import Name, match_answers
from queries.experiment.subjects import MOST_STATEMENTS, Subject

MOST_STEPS = 4
"""Of a chain, as many as a path of a question has."""
_STATES_NOTHING_FALSE = frozenset(
    (Method.EDGE_DELETION, Method.PATH_DELETION, Method.RULE_DELETION, Method.WITHHOLDING,
     Method.STALE, Method.NAMES)
)  # fmt: skip
_DIRECTIONS: tuple[Literal["outgoing", "incoming"], ...] = ("outgoing", "incoming")


@dataclass(frozen=True, slots=True)
class _On:
    """A view of a graph, and who reads it."""

    client: Client
    graph: str
    view: ViewRef

    def statements(
        self, id_: str, direction: Literal["outgoing", "incoming"], /
    ) -> Sequence[ItemStatement]:
        page = self.client.statement_page(
            id_, graph=self.graph, view=self.view, direction=direction, first=MOST_STATEMENTS
        )
        return () if page is None else page.statements


def targets_of(
    subject: Subject, client: Client, /, *, graph: str, view: ViewRef | None
) -> tuple[Name, ...]:
    """Returns the false answers that a view of a question leads to, each once."""
    spec = None if view is None else view.spec
    if view is None or (spec is not None and spec.scope.of_question):
        return ()
    if spec is not None and spec.method in _STATES_NOTHING_FALSE:
        return ()
    on = _On(client, graph, view)
    names = [*_near_gold(subject, on)]
    if spec is not None and spec.method is Method.INSERTION and spec.entity_ids:
        names += _last_of_chains(spec.entity_ids, on)
    distinct = {(name.id or name.text.casefold()): name for name in names}
    return tuple(name for name in distinct.values() if not _is_right(name, subject.gold))


def _is_right(name: Name, gold: GoldQuestion) -> bool:
    return any(match_answers((name,), gold).right)


def _near_gold(subject: Subject, on: _On) -> Iterator[Name]:
    """What stands where an answer stood, or beside it."""
    gold = subject.gold
    gold_ids = {id_ for listed in gold.minimum_sets for id_ in listed}
    answered: set[tuple[str, str]] = set()
    added: list[Triple] = []
    for head in dict.fromkeys((*subject.heads, *gold.answer_ids)):
        for statement in on.statements(head, "outgoing"):
            triple, change = statement.triple, statement.change
            base = triple if change.kind is ChangeKind.UNCHANGED else change.base
            if change.kind is ChangeKind.ADDED:
                added.append(triple)
            elif base is not None and base.statement_id in gold_ids:
                if _is_right(_value(base), gold):
                    answered.add((base.head.id, base.relation.id))
                    if change.kind is ChangeKind.VALUE_CHANGED:
                        yield _value(triple)
                elif _is_right(_head(base), gold) and change.kind is ChangeKind.HEAD_CHANGED:
                    yield _head(triple)
    yield from (
        _value(triple) for triple in added if (triple.head.id, triple.relation.id) in answered
    )


def _value(triple: Triple) -> Name:
    id_ = triple.value.id if isinstance(triple.value, EntityValue) else ""
    return Name(triple.value_label, id_)


def _head(triple: Triple) -> Name:
    return Name(triple.head.label, triple.head.id)


def _last_of_chains(entity_ids: Sequence[str], on: _On) -> Iterator[Name]:
    """The entities from which no added statement leads on, walked from the question's."""
    seen = set(entity_ids)
    frontier = [Name("", id_) for id_ in entity_ids]
    for _ in range(MOST_STEPS):
        following: dict[str, Name] = {}
        for name in frontier:
            others = [other for other in _joined(name.id, on) if other.id not in seen]
            following |= {other.id: other for other in others}
            if not others and name.text:
                yield name
        seen |= following.keys()
        frontier = list(following.values())
    yield from frontier


def _joined(id_: str, on: _On) -> Iterator[Name]:
    for direction in _DIRECTIONS:
        for statement in on.statements(id_, direction):
            if statement.change.kind is ChangeKind.ADDED:
                triple = statement.triple
                yield _value(triple) if direction == "outgoing" else _head(triple)
