"""A query as Cypher on the layout of our graphs in Neo4j (docs/how-to/cypher.md).

Ids, texts and names are quoted as data. Its answers are those of ``execution`` over the graph itself;
a view is no part of Neo4j.

In a graph of several sources a node has the ids of all entities that are one thing with it as
``equal``. Each step then goes on from any of them, and an answer is the first. Below a class, two
steps from a class to its equal of another source are followed.
"""

from __future__ import annotations

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
    Not,
    Number,
    Order,
    Present,
    Query,
    Relation,
    Targets,
    Test,
    Text,
)
from graph_service.query.readings import (
    DATE_PATTERN,
    IDENTIFIER,
    MEASURED_PATTERN,
    NUMBER_PATTERN,
)

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)
_ANSWER = "coalesce(x.long_id, x.id, x.value) AS answer, x.label AS label"
_MEASURED = f"(?i){MEASURED_PATTERN}"
_KNOWN = "coalesce(NOT {0}.type IN ['somevalue', 'novalue'], true)"


def render_cypher(query: Query, /, *, graph: str, joins_equal: bool = False) -> str:
    """Returns a query as Cypher that returns its answers, their number, or whether there are any.

    Args:
        query: The query.
        graph: Name of the graph.
        joins_equal: Whether entities of the graph are one thing with others.
    """
    return _Rendering(graph, joins_equal=joins_equal).render(query)


def quote(text: str, /) -> str:
    r"""Returns a text as Cypher writes it, whatever its characters.

    >>> print(quote("it's a \\ line"))
    'it\'s a \\ line'
    """
    return f"'{text.translate(_ESCAPES)}'"


class _Rendering:
    def __init__(self, graph: str, /, *, joins_equal: bool) -> None:
        self._graph = graph
        self._count = 0
        self._joins_equal = joins_equal

    def render(self, query: Query, /) -> str:
        lines = [f"MATCH (g:Graph {{name: {quote(self._graph)}}})"]
        lines += self._main(query)
        if query.order is None:
            lines.append(_returned(query.fold, f"WITH DISTINCT {_ANSWER}"))
            return "\n".join(lines)
        lines.append(f"WITH DISTINCT {_ANSWER}, x")
        if query.fold in MEASURES:
            return "\n".join([*lines, *self._measured(query.order, query.fold)])
        lines += self._valued(query.order)
        lines += _ordered(query)
        return "\n".join(lines)

    def _name(self) -> str:
        self._count += 1
        return f"n{self._count}"

    def _main(self, query: Query) -> list[str]:
        """Returns what binds ``x`` to the answers."""
        nodes = [f"a{index}" for index in range(len(query.path))] + ["x"]
        start = nodes[0]
        lines = []
        if isinstance(query.start, Entities):
            lines.append(f"MATCH ({start}:Entity {{graph: g.current}})")
            lines.append(f"WHERE {_one_of(f'{start}.id', query.start.ids)}")
        elif isinstance(query.start, Targets):
            lines += _targets(start, query.start)
            if any(relation.backward for relation in query.relations[:1]):
                lines.append(f"WITH * WHERE {start}:Entity")
        else:
            ids = query.start.class_ids
            lines.append(f"MATCH (c:Entity {{graph: g.current}}) WHERE {_one_of('c.id', ids)}")
            if self._joins_equal:
                above = "c"
                for below in ("k1", "k2"):
                    lines.append(_member(above, f"{below}m"))
                    lines.append(f"MATCH {_below(below, f'{below}m', f'{below}s')}")
                    lines.append(f"WHERE {_any_below_test(f'{below}s')}")
                    lines.append(f"WITH DISTINCT {below}")
                    above = below
                lines.append(_member(above, "k"))
                lines.append(f"MATCH ({start}:Entity)-[i]->(k) WHERE {_any_instance_test('i')}")
            else:
                lines.append(f"MATCH {_below('k', 'c', 's')}, ({start}:Entity)-[i]->(k)")
                lines.append(f"WHERE {_below_test('s', ids)} AND {_instance_test('i', ids)}")
            lines.append(f"WITH DISTINCT {start}")
        tests: list[str] = []
        if query.path:
            lines.append(self._match(nodes, query.relations, "r"))
            tests += self._statement_tests(query.relations, "r")
        for node, step in zip(nodes[1:], query.path, strict=True):
            tests += [self._filter(each, node) for each in step.filters]
        tests += [self._filter(each, "x") for each in query.filters]
        if query.path and not query.relations[-1].backward:
            tests.append(_KNOWN.format("x"))
        if tests:
            lines.append(("WHERE " if query.path else "WITH * WHERE ") + " AND ".join(tests))
        if self._joins_equal and query.fold is not Fold.COMPARE:
            lines.append("OPTIONAL MATCH (f:Entity {graph: x.graph, id: x.equal[0]})")
            lines.append("WITH DISTINCT coalesce(f, x) AS x")
        return lines

    def _match(self, nodes: Sequence[str], path: Sequence[Relation], name: str) -> str:
        """Returns what matches a path; its relationships are named ``name`` and a number.

        ``WITH *`` lets Neo4j plan each step by itself: as one pattern, three steps over equal
        entities take it twice as long to plan.
        """
        if not self._joins_equal:
            return f"MATCH {_pattern(nodes, path, name)}"
        clauses = []
        for index, relation in enumerate(path, 1):
            at = f"{name}{index}m"
            step = _pattern([at, nodes[index]], [relation], "").replace("[1]", f"[{name}{index}]")
            clauses.append(f"{_member(nodes[index - 1], at)} WITH * MATCH {step}")
        return " WITH * ".join(clauses)

    def _statement_tests(self, path: Sequence[Relation], name: str) -> list[str]:
        """Returns the conditions on the statements of a path; none is used twice."""
        tests = _statement_tests(path, name)
        if self._joins_equal:
            for index, relation in enumerate(path, 1):
                for earlier in range(1, index):
                    if path[earlier - 1].id == relation.id:
                        tests.append(_differ(f"{name}{index}", f"{name}{earlier}"))
        return tests

    def _filter(self, filter: Filter, node: str) -> str:
        match filter:
            case Not():
                return f"NOT {self._filter(filter.filter, node)}"
            case AnyOf():
                return f"({' OR '.join(self._filter(each, node) for each in filter.filters)})"
            case Condition():
                return self._condition(filter, node)

    def _condition(self, condition: Condition, node: str) -> str:
        test, path = condition.test, condition.path
        if not path:
            if isinstance(test, During):
                return f"EXISTS {{ UNWIND [{node}] AS v {_during(test)} }}"
            return f"coalesce({self._test(test, node)}, false)"
        nodes = [node, *(self._name() for _ in path[1:]), self._name()]
        last = nodes[-1]
        tests = self._statement_tests(path, f"{last}_")
        match = f"{self._match(nodes, path, f'{last}_')} WHERE {' AND '.join(tests)}"
        if isinstance(test, During):
            return f"EXISTS {{ {match} WITH {last} AS v {_during(test)} }}"
        return f"EXISTS {{ {match} AND {self._test(test, last)} }}"

    def _test(self, test: Test, node: str) -> str:
        match test:
            case Present():
                return _KNOWN.format(node)
            case Among(ids):
                if self._joins_equal:
                    of_thing = f"coalesce({node}.equal, [coalesce({node}.long_id, {node}.id)])"
                    return f"any(id IN {of_thing} WHERE {_one_of('id', ids)})"
                return _one_of(f"coalesce({node}.long_id, {node}.id)", ids)
            case InstanceOf(class_ids) if self._joins_equal:
                return self._joined_instance(node, class_ids)
            case InstanceOf(class_ids):
                to, of = self._name(), self._name()
                match = f"MATCH ({node})-[{of}i]->({of}), {_below(of, to, f'{to}s')}"
                tests = [
                    _instance_test(f"{of}i", class_ids),
                    _below_test(f"{to}s", class_ids),
                    _one_of(f"{to}.id", class_ids),
                ]
                return f"EXISTS {{ {match} WHERE {' AND '.join(tests)} }}"
            case Text(text):
                texts = f"{node}.text, CASE {node}.type WHEN 'url' THEN {node}.label END"
                return f"coalesce({texts}) = {quote(text)}"
            case Number(comparison, amount, unit):
                compared = f"{_number(node, unit)} {comparison.value} {float(amount)!r}"
                return f"({compared})"
        raise AssertionError(test)

    def _joined_instance(self, node: str, class_ids: Sequence[str]) -> str:
        """Returns whether any entity of a thing is an instance of a class or of its equals."""
        names = [self._name() for _ in range(7)]
        at, of, first, second, third, fourth, last = names
        clauses = [
            f"{_member(node, at)} WITH * MATCH ({at})-[{at}i]->({of}) WHERE {_any_instance_test(f'{at}i')}"
        ]
        for lower, member, upper in ((of, first, second), (second, third, fourth)):
            clauses.append(
                f"WITH * {_member(lower, member)} WITH * MATCH {_below(member, upper, f'{upper}s')} "
                f"WHERE {_any_below_test(f'{upper}s')}"
            )
        clauses.append(f"WITH * {_member(fourth, last)} AND {_one_of(f'{last}.id', class_ids)}")
        return f"EXISTS {{ {' '.join(clauses)} }}"

    def _measured(self, order: Order, fold: Fold) -> list[str]:
        """Returns what makes the mean or the sum of the answers' numbers; null for several units."""
        made = f"{'avg' if fold is Fold.MEAN else 'sum'}(number)"
        return [
            self._match(["x", "v"], order.path, "o_"),
            f"WHERE {' AND '.join(self._statement_tests(order.path, 'o_'))}",
            f"WITH answer, {_number('v', order.unit)} AS number, {_unit('v')} AS unit",
            "WHERE number IS NOT NULL",
            "WITH DISTINCT answer, number, unit",
            f"RETURN CASE WHEN count(DISTINCT unit) = 1 THEN {made} END AS answer",
        ]

    def _valued(self, order: Order) -> list[str]:
        """Returns what adds ``low`` and ``high``, what each answer is ordered by."""
        if order.fold is not None:
            return self._folded(order, order.fold)
        lines, node = [], "x"
        if order.path:
            nodes = ["x", *(f"o{index}" for index in range(1, len(order.path))), "w"]
            lines.append(self._match(nodes, order.path, "o_"))
            tests = self._statement_tests(order.path, "o_")
            tests += [self._filter(each, nodes[1]) for each in order.filters]
            lines.append(f"WHERE {' AND '.join(tests)}")
            node = "w"
        carried = "answer, label"
        if order.kind is Comparable.DATES:
            lines.append(f"WITH {carried}, {node} AS v")
            lines += _days(carried)
            lines.append("WITH answer, label, min(low) AS low, min(high) AS high")
            return lines
        lines.append(f"WITH {carried}, {_number(node, order.unit)} AS number")
        best = "max" if order.descending else "min"
        lines.append("WHERE number IS NOT NULL")
        lines.append(f"WITH answer, label, {best}(number) AS low, {best}(number) AS high")
        return lines

    def _folded(self, order: Order, fold: Fold) -> list[str]:
        """Returns what adds ``low`` and ``high`` to the answers: the count, mean or sum of each."""
        nodes = ["x", *(f"o{index}" for index in range(1, len(order.path))), "w"]
        tests = self._statement_tests(order.path, "o_")
        tests += [self._filter(each, nodes[1]) for each in order.filters]
        match = self._match(nodes, order.path, "o_")
        if fold is Fold.COUNT:
            if not order.path[-1].backward:
                tests.append(_KNOWN.format("w"))
            # Of a clause of several matches each would be optional by itself.
            return [
                "CALL { WITH x "
                f"{match} WHERE {' AND '.join(tests)} "
                f"RETURN count(DISTINCT {self._thing('w')}) AS low }}",
                "WITH answer, label, low, low AS high",
            ]
        made = f"{'avg' if fold is Fold.MEAN else 'sum'}(number)"
        return [
            match,
            f"WHERE {' AND '.join(tests)}",
            f"WITH answer, label, {self._thing(nodes[-2])} AS thing, "
            f"{_number('w', order.unit)} AS number, {_unit('w')} AS unit",
            "WHERE number IS NOT NULL",
            "WITH DISTINCT answer, label, thing, number, unit",
            f"WITH answer, label, count(DISTINCT unit) AS units, {made} AS low",
            "WHERE units = 1",
            "WITH answer, label, low, low AS high",
        ]

    def _thing(self, node: str) -> str:
        """Returns what nodes of one thing share."""
        own = f"coalesce({node}.long_id, {node}.id, {node}.value)"
        return f"coalesce({node}.equal[0], {own})" if self._joins_equal else own


def _ordered(query: Query) -> list[str]:
    """Returns what orders the answers by ``low`` and ``high``, and what is made of them."""
    order = query.order
    assert order is not None
    first, last = ("-high", "-low") if order.descending else ("low", "high")
    lines = [f"WITH answer, label, {first} AS first, {last} AS last"]
    if query.fold is Fold.COMPARE:
        assert isinstance(query.start, Entities)
        left, right = (quote(id_) for id_ in query.start.ids)
        rows = "[row IN rows WHERE row.answer = {0}][0]"
        return [
            *lines,
            "WITH collect({answer: answer, first: first, last: last}) AS rows",
            f"WITH {rows.format(left)} AS one, {rows.format(right)} AS other",
            "RETURN one.last < other.first AS answer",
        ]
    if order.first is not None:
        row = "{answer: answer, label: label, first: first, last: last}"
        lines.append(f"WITH collect({row}) AS rows")
        lines.append("UNWIND rows AS row")
        before = "size([other IN rows WHERE other.last < row.first])"
        lines.append(f"WITH row, {before} AS before WHERE before < {order.first}")
        lines.append("WITH row.answer AS answer, row.label AS label, row.first AS first")
    if order.rank is not None:
        # Of values that overlap none is surely first.
        sure = (
            "reduce(least = null, row IN rows | CASE WHEN least < row.last THEN least "
            "ELSE row.last END) AS sure"
        )
        row = "{answer: answer, label: label, first: first, last: last}"
        lines.append(f"WITH collect({row}) AS rows")
        for _ in range(order.rank - 1):
            lines.append(f"WITH rows, {sure}")
            lines.append("WITH [row IN rows WHERE row.first > sure] AS rows")
        lines.append(f"WITH rows, {sure}")
        lines.append("UNWIND [row IN rows WHERE row.first <= sure] AS row")
        lines.append("WITH row.answer AS answer, row.label AS label, row.first AS first")
    if query.fold is Fold.LIST:
        return [*lines, "RETURN answer, label ORDER BY first, answer"]
    return [*lines, _returned(query.fold, "")]


def _returned(fold: Fold, before: str) -> str:
    made = {
        Fold.COUNT: "RETURN count(DISTINCT answer) AS answer",
        Fold.EXISTS: "RETURN count(answer) > 0 AS answer",
    }.get(fold, "RETURN answer, label ORDER BY label, answer")
    return f"{before}\n{made}" if before else made


def _pattern(nodes: Sequence[str], path: Sequence[Relation], name: str) -> str:
    """Returns a path through some nodes; its relationships are named ``name`` and a number."""
    parts = [f"({nodes[0]})"]
    for index, (relation, node) in enumerate(zip(path, nodes[1:], strict=True), 1):
        left, right = ("<-", "-") if relation.backward else ("-", "->")
        parts.append(f"{left}[{name}{index}]{right}({node})")
    return "".join(parts)


def _statement_tests(path: Sequence[Relation], name: str) -> list[str]:
    tests = []
    for index, relation in enumerate(path, 1):
        tests.append(f"{name}{index}.relation = {quote(relation.id)}")
        tests.append(f"{name}{index}.rank <> 'deprecated'")
    return tests


def _targets(name: str, start: Targets) -> list[str]:
    """Returns what binds a name to all ends of some relations."""
    cases = []
    for backward, end in ((False, "t"), (True, "h")):
        ids = [relation.id for relation in start.relations if relation.backward is backward]
        if ids:
            cases.append(f"CASE WHEN {_one_of('i.relation', ids)} THEN {end} END")
    every = sorted({relation.id for relation in start.relations})
    return [
        "MATCH (h:Entity {graph: g.current})-[i]->(t)",
        f"WHERE {_one_of('i.relation', every)} AND i.rank <> 'deprecated' AND {_KNOWN.format('t')}",
        f"UNWIND [{', '.join(cases)}] AS {name}",
        f"WITH g, {name} WHERE {name} IS NOT NULL",
        f"WITH DISTINCT {name}",
    ]


def _member(node: str, name: str) -> str:
    """Returns what matches each entity that is one thing with a node, itself too."""
    ids = f"coalesce({node}.equal, [{node}.id])"
    return f"MATCH ({name}:Entity {{graph: {node}.graph}}) WHERE {name}.id IN {ids}"


def _differ(one: str, other: str) -> str:
    """Returns whether two statements of a relation differ, in another source too."""
    heads, tails = ([f"{end}({name})" for name in (one, other)] for end in ("startNode", "endNode"))
    same = " AND ".join(
        f"coalesce({left}.equal[0], {left}.id) = coalesce({right}.equal[0], {right}.id)"
        for left, right in (heads, tails)
    )
    elsewhere = f"({heads[0]} <> {heads[1]} OR {tails[0]} <> {tails[1]})"
    return f"{one} <> {other} AND NOT coalesce({same} AND {elsewhere}, false)"


def _any_below_test(name: str) -> str:
    test = f"{_one_of('e.relation', sorted(SUBCLASS_RELATIONS))} AND e.rank <> 'deprecated'"
    return f"all(e IN {name} WHERE {test})"


def _any_instance_test(name: str) -> str:
    relations = _one_of(f"{name}.relation", sorted(INSTANCE_RELATIONS))
    return f"{relations} AND {name}.rank <> 'deprecated'"


def _one_of(value: str, ids: Iterable[str]) -> str:
    quoted = [quote(id_) for id_ in ids]
    return f"{value} = {quoted[0]}" if len(quoted) == 1 else f"{value} IN [{', '.join(quoted)}]"


def _below(lower: str, upper: str, name: str) -> str:
    return f"({lower})-[{name}*0..]->({upper})"


def _below_test(name: str, class_ids: Sequence[str]) -> str:
    relations = _of_family(class_ids, SUBCLASS_RELATIONS)
    test = f"{_one_of('e.relation', relations)} AND e.rank <> 'deprecated'"
    return f"all(e IN {name} WHERE {test})"


def _instance_test(name: str, class_ids: Sequence[str]) -> str:
    relations = _of_family(class_ids, INSTANCE_RELATIONS)
    return f"{_one_of(f'{name}.relation', relations)} AND {name}.rank <> 'deprecated'"


def _of_family(class_ids: Sequence[str], relations: Iterable[str]) -> list[str]:
    """Returns those relations that speak of classes of such ids: Wikidata's, or those of RDF."""
    of_wikidata = {WIKIDATA_ID.fullmatch(id_) is not None for id_ in class_ids}
    return [
        id_ for id_ in sorted(relations) if (WIKIDATA_ID.fullmatch(id_) is not None) in of_wikidata
    ]


def _text_of(node: str) -> str:
    """Returns the text that may be a number or a date: an entity's id, or a string's text."""
    is_text = f"{node}.type = 'string' AND NOT {node}.value ENDS WITH ',\"{IDENTIFIER}\"]'"
    return f"coalesce({node}.long_id, {node}.id, CASE WHEN {is_text} THEN {node}.text END)"


def _number(node: str, unit: str | None) -> str:
    """Returns the number that a node is, null for none."""
    quantity = f"split({node}.value, '\"')"
    text = _text_of(node)
    is_measured = f"{text} =~ {quote(_MEASURED)}"
    amount = f"split({text}, ' ')[0]"
    if unit is not None:
        of_unit = f"{node}.type = 'quantity' AND {quantity}[4..6] = [',', {quote(unit)}]"
        is_text = f"{is_measured} AND split({text}, ' ')[1] = {quote(unit)}"
        return f"toFloat(CASE WHEN {of_unit} THEN {quantity}[3] WHEN {is_text} THEN {amount} END)"
    return (
        f"toFloat(CASE WHEN {node}.type = 'quantity' THEN {quantity}[3] "
        f"WHEN {text} =~ {quote(NUMBER_PATTERN)} THEN {text} WHEN {is_measured} THEN {amount} END)"
    )


def _unit(node: str) -> str:
    """Returns the id of the unit of a number; an empty text for none."""
    parts, text = f"split({node}.value, '\"')", _text_of(node)
    return (
        f"CASE WHEN {node}.type = 'quantity' AND {parts}[4] = ',' THEN {parts}[5] "
        f"WHEN {text} =~ {quote(_MEASURED)} THEN split({text}, ' ')[1] ELSE '' END"
    )


def _during(test: During) -> str:
    days = test.days
    return (
        f"{' '.join(_days(''))} WITH low, high WHERE {days.first} <= low AND high <= {days.last} "
        "RETURN low"
    )


def _days(carried: str) -> list[str]:
    """Returns the first and the last day that ``v`` may mean: year * 10000 + month * 100 + day."""
    carry = f"{carried}, " if carried else ""
    time = "split(v.value, '\"')[3]"
    return [
        f"WITH {carry}CASE v.type WHEN 'time' THEN {time} ELSE {_text_of('v')} END AS date, "
        "CASE v.type WHEN 'time' THEN toInteger(split(v.value, ',')[2]) END AS precision",
        f"WHERE precision >= 7 OR precision IS NULL AND date =~ {quote(DATE_PATTERN)}",
        f"WITH {carry}precision, CASE WHEN date STARTS WITH '-' THEN -1 ELSE 1 END AS era, "
        "split(split(ltrim(replace(' ' + date, ' -', ' ')), 'T')[0], '-') AS parts",
        f"WITH {carry}era * toInteger(parts[0]) AS year, toInteger(coalesce(parts[1], '0')) AS month, "
        "toInteger(coalesce(parts[2], '0')) AS day, coalesce(precision, 8 + size(parts)) AS precision",
        f"WITH {carry}CASE WHEN precision = 7 AND year > 0 THEN [(year - 1) / 100 * 100 + 1, 101, "
        "(year - 1) / 100 * 100 + 100, 1231] "
        "WHEN precision = 7 THEN [-((99 - year) / 100 * 100), 101, 99 - (99 - year) / 100 * 100, 1231] "
        "WHEN precision = 8 THEN [toInteger(floor(year / 10.0)) * 10, 101, "
        "toInteger(floor(year / 10.0)) * 10 + 9, 1231] "
        "WHEN precision >= 11 AND month > 0 AND day > 0 "
        "THEN [year, month * 100 + day, year, month * 100 + day] "
        "WHEN precision >= 10 AND month > 0 THEN [year, month * 100 + 1, year, month * 100 + 31] "
        "ELSE [year, 101, year, 1231] END AS days",
        f"WITH {carry}days[0] * 10000 + days[1] AS low, days[2] * 10000 + days[3] AS high",
    ]
