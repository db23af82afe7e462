"""Kin that no relation names: uncles, cousins, grandchildren, by way of parents and siblings.

*Who are the uncles of X?* asks for the brothers of the parents of X, whichever relations a graph has
for these: ``father`` and ``mother``, ``parent``, or ``child`` the other way about. Siblings are also
children of one parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.graph import Int64
from graph_service.model.values import EntityValue
from graph_service.query.algebra import (
    Among,
    AnyOf,
    Condition,
    Entities,
    Filter,
    Fold,
    Not,
    Query,
    Relation,
    Step,
    Targets,
)
from graph_service.query.execution import execute
from graph_service.query.walking import Walks
from graph_service.retrieve.constraints.coverage import means, sides_of
from graph_service.retrieve.constraints.reading import sex_of
from graph_service.retrieve.derived.named_question import NamedQuestion
from graph_service.retrieve.derived.request import DerivedAnswer, DerivedRequest, DerivedWalk
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_MOST = 2_000
"""Kin that are looked at in one step, at most."""
_PARENT, _CHILD, _SIBLING = "parent", "child", "sibling"
_SIBLINGS = ("brother", "sibling", "sister")
_MALE, _FEMALE = "male", "female"
_SEXES = {"male": _MALE, "man": _MALE, "m": _MALE, "female": _FEMALE, "woman": _FEMALE,
          "f": _FEMALE}  # fmt: skip
_SEX_LABELS = (["sex", "or", "gender"], ["sex"], ["gender"])
_TERMS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "grandparent": ((_PARENT, _PARENT), ""),
    "grandfather": ((_PARENT, _PARENT), _MALE),
    "grandmother": ((_PARENT, _PARENT), _FEMALE),
    "grandchild": ((_CHILD, _CHILD), ""),
    "grandson": ((_CHILD, _CHILD), _MALE),
    "granddaughter": ((_CHILD, _CHILD), _FEMALE),
    "uncle": ((_PARENT, _SIBLING), _MALE),
    "aunt": ((_PARENT, _SIBLING), _FEMALE),
    "cousin": ((_PARENT, _SIBLING, _CHILD), ""),
    "nephew": ((_SIBLING, _CHILD), _MALE),
    "niece": ((_SIBLING, _CHILD), _FEMALE),
}
"""The steps to each kind of kin, and the sex that its noun says."""
_NEAR_TERMS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "brother": ((_SIBLING,), _MALE),
    "daughter": ((_CHILD,), _FEMALE),
    "sister": ((_SIBLING,), _FEMALE),
    "son": ((_CHILD,), _MALE),
}
"""Kin of one step, of which walks tell who they are, but not whether there are any."""
_PARENTS = {"father": _MALE, "mother": _FEMALE}
_FAMILIAR = {"auntie": "aunt", "aunty": "aunt", "grandad": "grandfather", "granddad": "grandfather",
             "grandpa": "grandfather", "grandma": "grandmother", "granny": "grandmother",
             "grandkid": "grandchild"}  # fmt: skip
_FOLDS = {
    AnswerKind.ENTITIES: Fold.LIST,
    AnswerKind.COUNT: Fold.COUNT,
    AnswerKind.YES_NO: Fold.EXISTS,
}
_KIN = r"(?P<kin>(?:first )?[a-z-]+(?: [a-z-]+)?(?: (?:and|or) [a-z-]+)?)"
_LIST = (
    r"(?:(?:who|what|which)(?:'s| is| are| was| were| all are)? |what (?:is|are) the names? of "
    r"|(?:list|name|show|give|tell|find)(?: me)? )?(?:all )?(?:of )?(?:the |an? )?"
)
_PATTERNS = (
    (AnswerKind.ENTITIES, re.compile(rf"{_LIST}{{x}}(?:'s)? {_KIN}")),
    (AnswerKind.ENTITIES, re.compile(rf"{_LIST}{_KIN} (?:of|to) {{x}}")),
    (
        AnswerKind.COUNT,
        re.compile(rf"how many {_KIN} (?:do|does|did|has|have|had) {{x}}(?: have| had| got)?"),
    ),
    (
        AnswerKind.YES_NO,
        re.compile(rf"(?:do|does|did|has|had) {{x}} (?:have |had |got )?(?:an? |any )?{_KIN}"),
    ),
)


def sex_of_kin(noun: str, /) -> str:
    """Returns the sex that a noun of kin in the singular says: ``male``, ``female``, or nothing.

    >>> sex_of_kin("aunt"), sex_of_kin("husband"), sex_of_kin("cousin")
    ('female', 'male', '')
    """
    noun = _FAMILIAR.get(noun, noun)
    return sex_of(noun) or _PARENTS.get(noun, "") or _TERMS.get(noun, ((), ""))[1]


@dataclass(frozen=True, slots=True)
class _Term:
    """Kin that a noun names: the steps that lead to them, and the sex that it says."""

    steps: tuple[str, ...]
    sex: str


@dataclass(frozen=True, slots=True)
class _Kin:
    """Somebody, and the first way that was found to them.

    Attributes:
        nodes: On the way, from who was asked about.
        walk: Its statements.
        last: Its last relation; None of no statements.
    """

    nodes: tuple[int, ...]
    walk: DerivedWalk
    last: Relation | None = None

    @property
    def node(self) -> int:
        """Who it is."""
        return self.nodes[-1]


@dataclass(frozen=True, slots=True)
class _Sex:
    """The sex that a statement says of somebody.

    Attributes:
        text: ``male``, ``female``, or another.
        relation, value: By which relation, and the node of the value.
        edge: The statement.
    """

    text: str
    relation: Relation
    value: int
    edge: int


def derive_kin(question: NamedQuestion, request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns the kin that a question asks for, their number, or that there are some; None where it
    asks for something else, the graph has none, or does not say the sex of one of them.
    """
    reading = _read(question)
    if reading is None or len(question.names) != 1:
        return None
    kind, terms = reading
    reader = _KinReader(request, question.names[0].node)
    parts = [reader.of(term) for term in terms]
    if None in parts:
        return None
    kin = reader.ordered(each for part in parts if part is not None for each in part)
    query = reader.query(kin, {term.sex for term in terms}) if kin else None
    if query is None:
        return None
    nodes = tuple(each.node for each in kin)
    return DerivedAnswer(
        kind,
        {AnswerKind.COUNT: str(len(kin)), AnswerKind.YES_NO: "yes"}.get(kind),
        () if kind is AnswerKind.YES_NO else nodes,
        tuple(each.walk for each in kin),
        reader.sex_edges(nodes),
        question.names,
        replace(query, fold=_FOLDS[kind]),
    )


def _read(question: NamedQuestion) -> tuple[AnswerKind, list[_Term]] | None:
    """Returns of what kind an answer is asked for, and the kin; None for another question."""
    for kind, pattern in _PATTERNS:
        match = pattern.fullmatch(question.text)
        if match is None:
            continue
        known = _TERMS if kind is not AnswerKind.YES_NO else {**_TERMS, **_NEAR_TERMS}
        terms = [_term(noun, known) for noun in re.split(r" (?:and|or) ", match["kin"])]
        if all(terms):
            return kind, [term for term in terms if term is not None]
    return None


def _term(noun: str, known: Mapping[str, tuple[tuple[str, ...], str]], /) -> _Term | None:
    """Returns what a noun of kin means, with the steps to those that are known.

    >>> _term("great-grandson", _TERMS).steps, _term("aunts", _TERMS).sex, _term("sister", _TERMS)
    (('child', 'child', 'child'), 'female', None)
    """
    noun = noun.replace("-", " ").removeprefix("first ")
    noun = re.sub(r"\bgreat(?=\S)", "great ", noun).replace("grand ", "grand")
    *greats, own = noun.split()
    own = own.removesuffix("ren") if own.endswith("grandchildren") else singular(own)
    term = known.get(_FAMILIAR.get(own, own))
    if term is None or any(each != "great" for each in greats):
        return None
    steps, sex = term
    if greats and (len(steps) == 1 or own in {"cousin", "nephew", "niece"}):
        return None
    return _Term((*(steps[0] for _ in greats), *steps), sex)


class _KinReader:
    """Finds the kin of an entity in a graph or view.

    Args:
        request: What is asked.
        origin: Whose kin.
    """

    def __init__(self, request: DerivedRequest, origin: int, /) -> None:
        self._request = request
        self._labels = request.labels
        self._walker = request.walker()
        self._origin = origin
        self._sexes: dict[int, _Sex | None] = {}

    def of(self, term: _Term, /) -> list[_Kin] | None:
        """Returns the kin of a term; None where the sex of one is not said, or limits cut some."""
        kin = [_Kin((self._origin,), DerivedWalk((), ()))]
        for step in term.steps:
            kin = self._step(kin, step)
            if len(kin) > _MOST or self._walker.cuts:
                return None
        if not term.sex:
            return kin
        sexes = [self._sex(each.node) for each in kin]
        if None in sexes:
            return None
        pairs = zip(kin, sexes, strict=True)
        return [each for each, sex in pairs if sex is not None and sex.text == term.sex]

    def ordered(self, kin: Iterable[_Kin], /) -> list[_Kin]:
        """Returns kin by their labels, each once."""
        each = list({person.node: person for person in kin}.values())
        labels = self._labels.nodes(np.array([person.node for person in each], dtype=np.int64))
        pairs = sorted(zip(labels, each, strict=True), key=lambda pair: (pair[0], pair[1].node))
        return [person for _, person in pairs]

    def sex_edges(self, nodes: Iterable[int], /) -> tuple[int, ...]:
        """Returns the statements by which the sex of some kin is known, where it was looked at."""
        sexes = (self._sexes.get(node) for node in nodes)
        return tuple(sex.edge for sex in sexes if sex is not None)

    def query(self, kin: Sequence[_Kin], sexes: set[str], /) -> Query | None:
        """Returns a query that lists some kin, from those that they are next to; None where none
        does.

        Args:
            kin: At least one.
            sexes: That the question says, the empty one for none.
        """
        nodes = {each.node for each in kin}
        before: dict[Relation, set[int]] = {}
        for each in kin:
            if each.last is not None:
                before.setdefault(each.last, set()).add(each.nodes[-2])
        filters = self._sex_filters(kin) if len(sexes) == 1 and "" not in sexes else ()
        if len(before) == 1:
            ((relation, sources),) = before.items()
            query = Query(Entities(self._ids(sources)), (Step(relation),), filters)
        else:
            ways = [
                Condition((relation.reversed,), Among(self._ids(sources)))
                for relation, sources in before.items()
            ]
            query = Query(Targets(tuple(before)), filters=(AnyOf(tuple(ways)), *filters))
        others = self._executed(query) - nodes
        if others:
            # Who is a child of the same parents is asked about, or on the way.
            not_these = Not(Condition((), Among(self._ids(others))))
            query = replace(query, filters=(*query.filters, not_these))
        return query if self._executed(query) == nodes else None

    def _step(self, kin: Sequence[_Kin], step: str) -> list[_Kin]:
        """Returns who is next to some kin, each once, by the first relation that leads to them."""
        nearest = self._along(kin, step)
        if step == _SIBLING:
            nearest += self._along(self._along(kin, _PARENT), _CHILD)
        first: dict[int, _Kin] = {}
        for each in nearest:
            first.setdefault(each.node, each)
        return list(first.values())

    def _along(self, kin: Sequence[_Kin], role: str) -> list[_Kin]:
        nodes = np.unique(np.array([each.node for each in kin], dtype=np.int64))
        nearest: list[_Kin] = []
        for relation in self._relations(nodes, role):
            walks = self._walker.follow(Walks.at(nodes), relation)
            steps = list(zip(walks.origins, walks.edges[:, 0], walks.targets, strict=True))
            for each in kin:
                nearest += [
                    _Kin(
                        (*each.nodes, int(target)),
                        DerivedWalk(
                            (*each.walk.edges, int(edge)),
                            (*each.walk.reversed, relation.backward),
                        ),
                        relation,
                    )
                    for origin, edge, target in steps
                    if nodes[origin] == each.node
                    and target not in each.nodes
                    and isinstance(self._walker.value(int(target)), EntityValue)
                ]
        return nearest

    def _relations(self, nodes: Int64, role: str) -> list[Relation]:
        """Returns the relations at some nodes that lead to their parents, children or siblings: what
        is said of these nodes first.
        """
        relations = [
            relation
            for relation in self._walker.relations_at(nodes)
            if _leads_to(self._labels.relation(relation.id), role, backward=relation.backward)
        ]
        return sorted(relations, key=lambda relation: relation.backward)

    def _sex(self, node: int) -> _Sex | None:
        if node not in self._sexes:
            self._sexes[node] = self._read_sex(node)
        return self._sexes[node]

    def _read_sex(self, node: int) -> _Sex | None:
        nodes = np.array([node], dtype=np.int64)
        for relation in self._walker.relations_at(nodes):
            if relation.backward or words(self._labels.relation(relation.id)) not in _SEX_LABELS:
                continue
            walks = self._walker.follow(Walks.at(nodes), relation)
            texts = {text.casefold() for text in self._labels.nodes(walks.targets)}
            if len(texts) == 1:
                text = texts.pop()
                return _Sex(
                    _SEXES.get(text, text), relation, int(walks.targets[0]), int(walks.edges[0, 0])
                )
        return None

    def _sex_filters(self, kin: Sequence[_Kin]) -> tuple[Filter, ...]:
        sexes = [sex for each in kin if (sex := self._sex(each.node)) is not None]
        if len({sex.relation for sex in sexes}) != 1:
            return ()
        ids = self._ids({sex.value for sex in sexes})
        return (Condition((sexes[0].relation,), Among(ids)),) if ids else ()

    def _executed(self, query: Query) -> set[int]:
        request = self._request
        result = execute(
            query,
            request.graph,
            overlay=request.overlay,
            ranks=request.ranks,
            deadline=request.deadline,
        )
        return {row.node for row in result.rows}

    def _ids(self, nodes: Iterable[int]) -> tuple[str, ...]:
        values = [self._walker.value(node) for node in sorted(nodes)]
        return tuple(value.id for value in values if isinstance(value, EntityValue))


@lru_cache(maxsize=1 << 12)
def _leads_to(label: str, role: str, /, *, backward: bool) -> bool:
    """Returns whether a relation of a label leads to somebody's parents, children or siblings.

    >>> _leads_to("child", "parent", backward=True), _leads_to("father", "parent", backward=False)
    (True, True)
    >>> _leads_to("parent organization", "parent", backward=False)
    False
    """
    side = sides_of(label)[backward]
    if role == _SIBLING:
        # A brother of mine may not be whose brother I am called.
        return any(means(noun, each) for noun in _SIBLINGS for each in sides_of(label))
    if role == _PARENT and any(means(noun, side) for noun in ("cousin", "sibling")):
        return False
    return any(means(noun, side) for noun in ((role,) if role == _CHILD else ("father", "mother")))
