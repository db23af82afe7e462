"""A query as SPARQL, where its ids are Wikidata's or IRIs, such as DBpedia's.

It is plain SPARQL 1.1 over direct triples, as ``graph-service export`` writes them and as both
endpoints have them. What such triples do not hold cannot be compared: units of numbers, decades and
centuries, and types of strings.

In a graph of several sources, entities that ``owl:sameAs`` joins are one thing at every step, and an
answer is the one of them whose IRI sorts first. SPARQL follows every such link, also those of groups
that stay apart in the graph since they are too large or hold two ids of one source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graph_service.model.classes import (
    INSTANCE_RELATIONS,
    SUBCLASS_RELATIONS,
)
from graph_service.model.identity import WIKIDATA_ID
from graph_service.query.algebra import (
    MEASURES,
    Among,
    AnyOf,
    Comparable,
    Condition,
    During,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Instances,
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Targets,
    Test,
    Text,
    conditions_of,
    filters_of,
    paths_of,
)
from graph_service.query.readings import DATE_PATTERN, MEASURED_PATTERN, NUMBER_PATTERN

_PREFIXES = {
    "wd:": "http://www.wikidata.org/entity/",
    "wdt:": "http://www.wikidata.org/prop/direct/",
    "xsd:": "http://www.w3.org/2001/XMLSchema#",
    "owl:": "http://www.w3.org/2002/07/owl#",
}
_SAME = "owl:sameAs|^owl:sameAs"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|^`\\]+")
_PROPERTY = re.compile(r"P[1-9][0-9]*")
_ESCAPES = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)
_DATES = "xsd:gYear, xsd:gYearMonth, xsd:date, xsd:dateTime"


def render_sparql(query: Query, /, *, joins_equal: bool = False) -> str | None:
    """Returns a query as SPARQL; None where an id of it is neither Wikidata's nor an IRI.

    Args:
        query: The query.
        joins_equal: Whether entities of the graph are one thing with others.
    """
    if not all(_is_iri(id_) for id_ in _ids(query)):
        return None
    body = _Rendering(joins_equal=joins_equal).render(query)
    used = [f"PREFIX {prefix} <{iri}>" for prefix, iri in _PREFIXES.items() if f"{prefix}" in body]
    return "\n".join([*used, body])


def quote(text: str, /) -> str:
    r"""Returns a text as SPARQL writes it, whatever its characters.

    >>> print(quote('say "no" \\ or'))
    "say \"no\" \\ or"
    """
    return f'"{text.translate(_ESCAPES)}"'


def _is_iri(id_: str) -> bool:
    return bool(WIKIDATA_ID.fullmatch(id_) or _IRI.fullmatch(id_))


def _entity(id_: str) -> str:
    return f"wd:{id_}" if WIKIDATA_ID.fullmatch(id_) else f"<{id_}>"


def _predicate(id_: str) -> str:
    return f"wdt:{id_}" if _PROPERTY.fullmatch(id_) else _entity(id_)


def _ids(query: Query) -> Iterable[str]:
    match query.start:
        case Entities(ids=ids) | Instances(class_ids=ids):
            yield from ids
    yield from paths_of(query)
    for filter in filters_of(query):
        for condition in conditions_of(filter):
            match condition.test:
                case Among(ids=ids) | InstanceOf(class_ids=ids):
                    yield from ids


class _Rendering:
    def __init__(self, *, joins_equal: bool) -> None:
        self._count = 0
        self._joins_equal = joins_equal

    def render(self, query: Query, /) -> str:
        if query.fold is Fold.COMPARE:
            return self._comparison(query)
        nodes = [f"?x{index}" for index in range(len(query.path))]
        lines = self._main(query, [*nodes, "?reached" if self._joins_equal else "?x"])
        if query.order is None:
            return _folded(query.fold, lines)
        if query.fold in MEASURES:
            return self._measured(lines, query.order, query.fold)
        return _folded(query.fold, *self._ordered(lines, query.order))

    def _name(self) -> str:
        self._count += 1
        return f"?v{self._count}"

    def _main(self, query: Query, nodes: list[str]) -> list[str]:
        start, reached = query.start, nodes[-1]
        lines = []
        if isinstance(start, Entities) and len(start.ids) == 1 and query.path:
            nodes[0] = _entity(start.ids[0])
        elif isinstance(start, Entities):
            lines.append(f"VALUES {nodes[0]} {{ {' '.join(map(_entity, start.ids))} }}")
        elif isinstance(start, Targets):
            lines.append(self._targets(nodes[0], start))
            if any(relation.backward for relation in query.relations[:1]):
                lines.append(f"FILTER(isIRI({nodes[0]}))")
        else:
            lines.append(self._instance(nodes[0], start.class_ids))
        lines += self._triples(nodes, query.relations)
        for node, step in zip(nodes[1:], query.path, strict=True):
            lines += [self._filter(each, node) for each in step.filters]
        if self._joins_equal:
            lines += self._first_of_thing(reached)
        return lines + [self._filter(each, "?x") for each in query.filters]

    def _first_of_thing(self, node: str, name: str = "?x") -> list[str]:
        """Returns what binds a name to the entity that stands for the thing of a node."""
        other = self._name()
        smaller = f"FILTER(STR({other}) < STR({name})) {self._is_there(other)}"
        return [
            f"{node} ({_SAME})* {name} . {self._is_there(name)}",
            f"FILTER(!EXISTS {{ {name} ({_SAME})* {other} . {smaller} }})",
        ]

    def _is_there(self, node: str) -> str:
        """Returns the condition that the graph says something of a node, not only a link."""
        head, tail, relation = self._name(), self._name(), self._name()
        link = f"FILTER({relation} != owl:sameAs)"
        ways = f"{{ {node} {relation} {tail} {link} }} UNION {{ {head} {relation} {node} {link} }}"
        return f"FILTER(EXISTS {{ {ways} }})"

    def _same(self, node: str) -> tuple[list[str], str]:
        """Returns what binds a name to each entity that is one thing with a node, and the name."""
        if not self._joins_equal:
            return [], node
        name = self._name()
        return [f"{node} ({_SAME})* {name} ."], name

    def _triples(self, nodes: Sequence[str], path: Sequence[Relation]) -> list[str]:
        """Returns the triples of a path; no statement is used twice, and no literal walked through.

        A triple begins at any entity that is one thing with the node.
        """
        lines: list[str] = []
        pairs: list[tuple[str, str]] = []
        for relation, before, after in zip(path, nodes, nodes[1:], strict=False):
            links, at = self._same(before)
            head, tail = (after, at) if relation.backward else (at, after)
            pairs.append((head, tail))
            lines += [*links, f"{head} {_predicate(relation.id)} {tail} ."]
        for index, (relation, (head, tail)) in enumerate(zip(path, pairs, strict=True)):
            if relation.backward and index and not path[index - 1].backward:
                lines.append(f"FILTER(isIRI({tail}))")
            for earlier, (other_head, other_tail) in zip(path[:index], pairs, strict=False):
                if earlier.id == relation.id:
                    same = [
                        self._is_same(left, other)
                        for left, other in ((head, other_head), (tail, other_tail))
                        if left != other
                    ]
                    lines.append(f"FILTER(!({' && '.join(same)}))")
        return lines

    def _is_same(self, node: str, other: str) -> str:
        """Returns whether two nodes are one thing."""
        if not self._joins_equal:
            return f"{node} = {other}"
        return f"({node} = {other} || EXISTS {{ {node} ({_SAME})* {other} }})"

    def _targets(self, node: str, start: Targets) -> str:
        """Returns what binds a node to all ends of some relations."""
        ways = []
        for relation in start.relations:
            other, predicate = self._name(), _predicate(relation.id)
            head, tail = (node, other) if relation.backward else (other, node)
            ways.append(f"{head} {predicate} {tail} .")
        return ways[0] if len(ways) == 1 else " UNION ".join(f"{{ {way} }}" for way in ways)

    def _instance(self, node: str, class_ids: Sequence[str]) -> str:
        path = f"{_alternatives(INSTANCE_RELATIONS, class_ids)}/{_alternatives(SUBCLASS_RELATIONS, class_ids)}*"
        if self._joins_equal:
            # A class of one source may be one thing with that of another.
            instance, below = (
                "|".join(map(_predicate, sorted(relations)))
                for relations in (INSTANCE_RELATIONS, SUBCLASS_RELATIONS)
            )
            path = f"({_SAME})*/({instance})/({_SAME}|{below})*"
        if len(class_ids) == 1:
            return f"{node} {path} {_entity(class_ids[0])} ."
        name = self._name()
        return f"VALUES {name} {{ {' '.join(map(_entity, class_ids))} }} {node} {path} {name} ."

    def _filter(self, filter: Filter, node: str) -> str:
        return f"FILTER({self._expression(filter, node)})"

    def _expression(self, filter: Filter, node: str) -> str:
        match filter:
            case Not():
                return f"!({self._expression(filter.filter, node)})"
            case AnyOf():
                return " || ".join(f"({self._expression(each, node)})" for each in filter.filters)
            case Condition():
                return self._condition(filter, node)

    def _condition(self, condition: Condition, node: str) -> str:
        nodes = [node, *(self._name() for _ in condition.path)]
        lines = self._triples(nodes, condition.path)
        last = nodes[-1]
        if not condition.path:
            last = self._name()
            lines.append(f"BIND({node} AS {last})")
        is_property = (
            bool(condition.path) and _PROPERTY.fullmatch(condition.path[-1].id) is not None
        )
        lines += self._test(condition.test, last, is_property=is_property)
        return f"EXISTS {{ {' '.join(lines)} }}"

    def _test(self, test: Test, node: str, *, is_property: bool) -> list[str]:
        match test:
            case Present():
                return []
            case Among(ids):
                links, name = self._same(node)
                return [*links, f"FILTER({name} IN ({', '.join(map(_entity, ids))}))"]
            case InstanceOf(class_ids):
                return [self._instance(node, class_ids)]
            case Text(text):
                is_text = f"!isNumeric({node}) && !(DATATYPE({node}) IN ({_DATES}))"
                same = f"STR({node}) = {quote(text)}"
                return [f"FILTER(isLiteral({node}) && {same} && {is_text})"]
            case Number(comparison, amount):
                is_number, number = _number(node)
                return [f"FILTER({is_number} && {number} {comparison.value} {float(amount)!r})"]
            case During(days):
                lines, low, high = self._days(node, is_property=is_property)
                return [*lines, f"FILTER({days.first} <= {low} && {high} <= {days.last})"]

    def _days(self, node: str, *, is_property: bool) -> tuple[list[str], str, str]:
        """Returns what binds the first and the last day that a node may mean, and their names."""
        text, year, month, day = (self._name() for _ in range(4))
        number = f'xsd:integer(REPLACE({text}, "^(-?[0-9]+).*$", "$1"))'
        if is_property:
            # Wikidata's RDF counts as ISO 8601 does: year 0 is 1 BC.
            number = f"IF({number} < 1, {number} - 1, {number})"
        is_text = f'DATATYPE({node}) = xsd:string && REGEX({text}, "^({DATE_PATTERN})$")'
        part = 'IF(REGEX({0}, "^-?[0-9]+{1}[0-9][0-9]"), xsd:integer(REPLACE({0}, "^-?[0-9]+{1}([0-9][0-9]).*$", "$1")), 0)'
        lines = [
            f"FILTER(isLiteral({node})) BIND(STR({node}) AS {text})",
            f"FILTER(DATATYPE({node}) IN ({_DATES}) || {is_text})",
            f"BIND({number} AS {year})",
            f"BIND({part.format(text, '-')} AS {month})",
            f"BIND({part.format(text, '-[0-9][0-9]-')} AS {day})",
        ]
        if is_property:
            year_of_text = f'xsd:integer(REPLACE({text}, "^(-?[0-9]+).*$", "$1"))'
            lines[2] = (
                f"BIND(IF({year_of_text} < 1 && DATATYPE({node}) != xsd:string, "
                f"{year_of_text} - 1, {year_of_text}) AS {year})"
            )
        low, high = self._name(), self._name()
        lines.append(
            f"BIND({year} * 10000 + IF({month} = 0, 101, {month} * 100 + IF({day} = 0, 1, {day})) AS {low})"
        )
        lines.append(
            f"BIND({year} * 10000 + IF({month} = 0, 1231, {month} * 100 + IF({day} = 0, 31, {day})) AS {high})"
        )
        return lines, low, high

    def _valued(self, node: str, order: Order) -> tuple[list[str], str, str]:
        """Returns what binds the numbers or days that an answer is ordered by, and their names."""
        nodes = [node, *(self._name() for _ in order.path)]
        lines, last = self._triples(nodes, order.path), nodes[-1]
        lines += [self._filter(each, nodes[1]) for each in order.filters]
        if order.kind is Comparable.DATES:
            is_property = bool(order.path) and _PROPERTY.fullmatch(order.path[-1].id) is not None
            binding, low, high = self._days(last, is_property=is_property)
            return [*lines, *binding], low, high
        is_number, number = _number(last)
        name = self._name()
        return [*lines, f"FILTER({is_number}) BIND({number} AS {name})"], name, name

    def _own(self, lines: Sequence[str], node: str, order: Order) -> str:
        """Returns a sub-query of the answers with ``?low`` and ``?high``."""
        if order.fold is not None:
            return self._folded(lines, node, order, order.fold)
        valued, low, high = self._valued(node, order)
        best = "MAX" if order.descending and order.kind is Comparable.NUMBERS else "MIN"
        inner = " ".join([*lines, *valued])
        return (
            f"SELECT {node} ({best}({low}) AS ?low) ({best}({high}) AS ?high) "
            f"WHERE {{ {inner} }} GROUP BY {node}"
        )

    def _folded(self, lines: Sequence[str], node: str, order: Order, fold: Fold) -> str:
        """Returns that sub-query for a count, a mean or a sum of each answer."""
        nodes = [node, *(self._name() for _ in order.path)]
        triples = self._triples(nodes, order.path)
        triples += [self._filter(each, nodes[1]) for each in order.filters]
        if fold is Fold.COUNT:
            binding, counted = self._thing(nodes[-1])
            made = f"COUNT(DISTINCT {counted})"
            # A pattern of its own, so that nothing is left out that leads to none.
            pattern = f"OPTIONAL {{ {' '.join([*triples, *binding])} }}"
            inner = f"SELECT DISTINCT {node} WHERE {{ {' '.join(lines)} }}"
            where = f"{{ {inner} }} {pattern}"
        else:
            is_number, number = _number(nodes[-1])
            binding, counted = self._thing(nodes[-2]) if len(order.path) > 1 else ([], node)
            name = self._name()
            amounts = [*lines, *triples, *binding, f"FILTER({is_number}) BIND({number} AS {name})"]
            names = dict.fromkeys((node, counted, name))
            where = f"{{ SELECT DISTINCT {' '.join(names)} WHERE {{ {' '.join(amounts)} }} }}"
            made = f"{'AVG' if fold is Fold.MEAN else 'SUM'}({name})"
        return (
            f"SELECT {node} ({made} AS ?low) ({made} AS ?high) WHERE {{ {where} }} GROUP BY {node}"
        )

    def _thing(self, node: str) -> tuple[list[str], str]:
        """Returns what binds a name to the entity that stands for the thing of a node, or to a
        literal, and the name.
        """
        if not self._joins_equal:
            return [], node
        first, name = self._name(), self._name()
        binding = " ".join(self._first_of_thing(node, first))
        return [f"OPTIONAL {{ {binding} }} BIND(COALESCE({first}, {node}) AS {name})"], name

    def _ordered(self, lines: Sequence[str], order: Order) -> tuple[list[str], str]:
        """Returns what finds the answers in their order, and by what they are sorted."""
        own = self._own(lines, "?x", order)
        first = "?high" if order.descending else "?low"
        sorted_by = f"DESC({first})" if order.descending else first
        patterns = [f"{{ {own} }}"]
        if order.first is not None:
            other = own.replace("?x", "?y").replace("?low", "?l").replace("?high", "?h")
            is_before = "?l > ?high" if order.descending else "?h < ?low"
            patterns = [
                f"{{ SELECT ?x ?low ?high WHERE {{ {{ {own} }} "
                f"OPTIONAL {{ {{ {other} }} FILTER({is_before}) }} }} "
                f"GROUP BY ?x ?low ?high HAVING (COUNT(DISTINCT ?y) < {order.first}) }}"
            ]
        elif order.rank == 1:
            # Of values that overlap none is surely first.
            sure = "MAX(?low)" if order.descending else "MIN(?high)"
            inner = own.replace("?low", "?l").replace("?high", "?h")
            sure = sure.replace("?low", "?l").replace("?high", "?h")
            patterns.append(f"{{ SELECT ({sure} AS ?sure) WHERE {{ {{ {inner} }} }} }}")
            patterns.append(f"FILTER({'?high >= ?sure' if order.descending else '?low <= ?sure'})")
        elif order.rank is not None:
            inner = f"SELECT DISTINCT {first} WHERE {{ {{ {own} }} }}"
            patterns.append(f"{{ {inner} ORDER BY {sorted_by} LIMIT 1 OFFSET {order.rank - 1} }}")
        return patterns, sorted_by

    def _measured(self, lines: Sequence[str], order: Order, fold: Fold) -> str:
        """Returns what makes the mean or the sum of the answers' numbers."""
        valued, number, _ = self._valued("?x", order)
        inner = f"SELECT DISTINCT ?x {number} WHERE {{ {' '.join([*lines, *valued])} }}"
        made = f"{'AVG' if fold is Fold.MEAN else 'SUM'}({number})"
        return (
            f"SELECT ({made} AS ?measure) WHERE {{\n  {{ {inner} }}\n}}\n"
            f"HAVING (COUNT({number}) > 0)"
        )

    def _comparison(self, query: Query) -> str:
        order = query.order
        assert order is not None
        assert isinstance(query.start, Entities)
        lines = []
        for index, id_ in enumerate(query.start.ids):
            node = f"?x{index}"
            own = self._own([f"VALUES {node} {{ {_entity(id_)} }}"], node, order)
            own = own.replace("?low", f"?low{index}").replace("?high", f"?high{index}")
            lines.append(f"{{ {own} }}")
        lines.append(f"FILTER({'?low0 > ?high1' if order.descending else '?high0 < ?low1'})")
        return _folded(Fold.EXISTS, lines)


def _folded(fold: Fold, lines: Sequence[str], sorted_by: str = "") -> str:
    inner = "".join(f"  {line}\n" for line in lines)
    match fold:
        case Fold.COUNT:
            return f"SELECT (COUNT(DISTINCT ?x) AS ?count) WHERE {{\n{inner}}}"
        case Fold.EXISTS | Fold.COMPARE:
            return f"ASK {{\n{inner}}}"
    if sorted_by:
        return f"SELECT ?x WHERE {{\n{inner}}} ORDER BY {sorted_by} ?x"
    return f"SELECT DISTINCT ?x WHERE {{\n{inner}}}"


def _number(node: str) -> tuple[str, str]:
    """Returns whether a node is a number, and the number."""
    pattern = f"^({NUMBER_PATTERN}|{MEASURED_PATTERN})$"
    is_text = f'DATATYPE({node}) = xsd:string && REGEX(STR({node}), "{pattern}", "i")'
    is_number = f"(isNumeric({node}) || {is_text})"
    return f"isLiteral({node}) && {is_number}", f'xsd:double(REPLACE(STR({node}), " .*", ""))'


def _alternatives(relations: Iterable[str], class_ids: Sequence[str]) -> str:
    """Returns those relations that speak of classes of such ids: Wikidata's, or those of RDF."""
    of_wikidata = {WIKIDATA_ID.fullmatch(id_) is not None for id_ in class_ids}
    chosen = [
        _predicate(id_)
        for id_ in sorted(relations)
        if (WIKIDATA_ID.fullmatch(id_) is not None) in of_wikidata
    ]
    return chosen[0] if len(chosen) == 1 else f"({'|'.join(chosen)})"
