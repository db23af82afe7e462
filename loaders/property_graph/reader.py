"""Nodes and relationships of a Neo4j, in the order of the nodes' ids, as entities and statements.

Every query runs in a transaction for reading, in which the server refuses to write. Nodes come
label by label and page by page, each with the relationships that begin there, so that a load
goes on where it was stopped. What is written to that graph meanwhile may be in or not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from graph_service.errors import InputError
from graph_service.model.identity import check_text
from graph_service.model.statement import Entity, Snak, make_statement
from graph_service.model.values import EntityValue, Value
from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.property_graph.mapping import OTHERS, GraphMapping, NodeMapping, RelationshipMapping
from loaders.property_graph.options import Neo4jOptions
from loaders.property_graph.protocol import PropertyGraph

FORMAT = "neo4j"
# What an id of Wikidata's may have before it: with it or without, it is one entity.
_WIKIDATA_ADDRESSES = [
    f"{scheme}://www.wikidata.org/{folder}/"
    for scheme in ("http", "https")
    for folder in ("entity", "wiki")
]
NO_ID = "nodes without a text or number as id"
NO_TAIL = "relationships to nodes of labels that the mapping leaves out"
NO_TAIL_ID = "relationships to nodes without a text or number as id"
NO_HEAD_ID = "relationships from nodes without a text or number as id"
SHARED_ID = "nodes with the id of a node of another label, both one entity"
CHANGED = "nodes and relationships that others added or deleted while the graph was read"
LEFT_OUT = "properties that the mapping leaves out"
NO_VALUE = "properties without a form as a value (bytes)"
# The smallest of each kind: a comparison with it holds for all of that kind and for no other.
LOWEST_IDS: tuple[Any, ...] = ("", float("-inf"))
# In place of the index of a label, where all are read and counted.
_END = -1


def check(source: str, options: LoadOptions, /) -> Neo4jOptions:
    """Returns the options of a load from a Neo4j; asks nothing.

    Raises:
        InputError: There is no mapping, or the address holds a password, which would be kept.
    """
    if options.neo4j is None:
        raise InputError(
            f"{source} is a Neo4j; a mapping says which nodes and relationships to read",
            argument="mapping",
            hint="Write a mapping file and say --mapping FILE; docs/how-to/load-neo4j.md has an example.",
        )
    if urlsplit(source).username is not None:
        raise InputError(
            "the source's address is kept with the graph, so it may hold no user and password",
            argument="source",
            hint="Give user and password apart from it, as NEO4J_USERNAME and NEO4J_PASSWORD.",
        )
    return options.neo4j


def read(
    source: str,
    options: LoadOptions,
    start: Mapping[str, Any],
    /,
    *,
    stop: threading.Event | None = None,
) -> Iterator[Parsed]:
    """Yields the graph in pieces, from the beginning or right after a position.

    Raises:
        InputError: The mapping does not fit the graph; names its file and line.
        StoreError: The server does not answer.
    """
    settings = check(source, options)
    opened = settings.open_graph(source)
    try:
        graph = _Graph(opened, source, settings, options)
        if not start:
            graph.check_mapping()
        for parsed in graph.read(start):
            yield parsed
            if stop is not None and stop.is_set():
                return
    finally:
        opened.close()


class _Graph:
    """The graph that is read."""

    def __init__(
        self, graph: PropertyGraph, source: str, settings: Neo4jOptions, options: LoadOptions
    ) -> None:
        self._graph = graph
        self._rows = graph.rows
        self._source = source
        self._settings = settings
        self._mapping: GraphMapping = settings.mapping
        self._languages = options.term_languages
        self._by_type = {row.type: row for row in self._mapping.relationships}
        self._types = None if OTHERS in self._by_type else sorted(self._by_type)
        self._id_names = sorted({node.id for node in self._mapping.nodes})

    def check_mapping(self) -> None:
        """Raises ``InputError`` where the mapping names what the graph does not have."""
        mapping = self._mapping
        for index, node in enumerate(mapping.nodes):
            label, id_ = quoted(node.label), quoted(node.id)
            ((nodes, ids),) = self._rows(f"MATCH (n:{label}) RETURN count(n), count(n.{id_})")
            if not nodes:
                raise mapping.error(
                    node.line,
                    f"the graph has no node of label {node.label!r}",
                    hint=self._known("CALL db.labels() YIELD label RETURN label"),
                )
            if not ids:
                keys = (
                    f"MATCH (n:{label}) WITH n LIMIT 100 UNWIND keys(n) AS key RETURN DISTINCT key"
                )
                raise mapping.error(
                    node.line,
                    f"no node of label {node.label!r} has a property {node.id!r}",
                    hint=self._known(keys),
                )
            repeated = self._rows(
                f"MATCH (n:{label}) WHERE n.{id_} IS NOT NULL {self._not_before(index)}"
                f"WITH n.{id_} AS raw, $iri + toStringOrNull(n.{id_}) AS text "
                "WITH raw, reduce(id = text, address IN $addresses | replace(id, address, '')) "
                "AS id WHERE id IS NOT NULL "
                "WITH id, count(*) AS number, collect(DISTINCT raw) AS raws WHERE number > 1 "
                "RETURN raws[..3], number ORDER BY number DESC, id LIMIT 1",
                iri=node.iri,
                addresses=_WIKIDATA_ADDRESSES,
            )
            if repeated:
                ((raws, number),) = repeated
                values = " or ".join(sorted(map(repr, raws)))
                same = ", which are one id as text" if len(raws) > 1 else ""
                raise mapping.error(
                    node.line,
                    f"{node.id!r} does not identify nodes of label {node.label!r}: "
                    f"{number} of them have {values}{same}",
                    hint="Name a property that is unique.",
                )
        for row in mapping.relationships:
            if row.type != OTHERS:
                ((count,),) = self._rows(f"MATCH ()-[r:{quoted(row.type)}]->() RETURN count(r)")
                if not count:
                    raise mapping.error(
                        row.line,
                        f"the graph has no relationship of type {row.type!r}",
                        hint=self._known(
                            "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type"
                        ),
                    )

    def _known(self, query: str) -> str:
        names = sorted(str(row[0]) for row in self._rows(query))
        return f"It has {', '.join(names[:30]) or 'none'}{', ...' if len(names) > 30 else ''}."

    def _not_before(self, index: int) -> str:
        """Returns the condition that a node has none of the labels that come before."""
        return "".join(f"AND NOT n:{quoted(node.label)} " for node in self._mapping.nodes[:index])

    def read(self, start: Mapping[str, Any]) -> Iterator[Parsed]:
        """Yields the graph; the last piece says how many records it has by the server's count."""
        total = int(start["records"]) if start else self._count_records()
        done = int(start.get("counted", 0))
        for parsed in self._read_labels(start):
            done += parsed.counts.total
            parsed.position = {**parsed.position, "records": total, "counted": done}
            yield parsed
        if start.get("label") == _END:
            return
        last, now = Parsed(terms_only=True), self._count_records()
        if now == total:
            last.source_records = total
        else:
            # Neither count is that of what was read.
            last.source_records = done
            last.kept[CHANGED] += abs(now - total)
        if shared := self._count_shared_ids():
            last.kept[SHARED_ID] += shared
        last.position = {"label": _END, "records": total, "counted": done}
        yield last

    def _count_records(self) -> int:
        """Returns how many nodes the mapping names, and relationships that begin at them."""
        is_named = " OR ".join(f"n:{quoted(node.label)}" for node in self._mapping.nodes)
        ((nodes,),) = self._rows(f"MATCH (n) WHERE {is_named} RETURN count(n)")
        ((relationships,),) = self._rows(
            f"MATCH (n)-[r]->() WHERE ({is_named}) AND ($types IS NULL OR type(r) IN $types) "
            "RETURN count(r)",
            types=self._types,
        )
        return int(nodes) + int(relationships)

    def _count_shared_ids(self) -> int:
        """Returns how many nodes have the id of one of a label that comes earlier in the mapping."""
        if len(self._mapping.nodes) == 1:
            return 0
        ids = " ".join(
            f"WHEN n:{quoted(node.label)} THEN $iris[{index}] + toStringOrNull(n.{quoted(node.id)})"
            for index, node in enumerate(self._mapping.nodes)
        )
        is_named = " OR ".join(f"n:{quoted(node.label)}" for node in self._mapping.nodes)
        ((shared,),) = self._rows(
            f"MATCH (n) WHERE {is_named} "
            f"WITH reduce(id = CASE {ids} END, address IN $addresses | replace(id, address, '')) "
            "AS id WHERE id IS NOT NULL "
            "WITH id, count(*) AS number WHERE number > 1 RETURN coalesce(sum(number - 1), 0)",
            iris=[node.iri for node in self._mapping.nodes],
            addresses=_WIKIDATA_ADDRESSES,
        )
        return int(shared)

    def _read_labels(self, start: Mapping[str, Any]) -> Iterator[Parsed]:
        first = int(start.get("label", 0))
        if first == _END:
            return
        for index in range(first, len(self._mapping.nodes)):
            resumed = start if index == first else {}
            kind = int(resumed.get("kind", 0))
            for kind_index in range(kind, len(LOWEST_IDS)):
                here = resumed if kind_index == kind else {}
                yield from self._read_kind(index, kind_index, here)
            yield self._without_id(index)

    def _without_id(self, index: int) -> Parsed:
        node = self._mapping.nodes[index]
        id_ = f"n.{quoted(node.id)}"
        ((nodes, relationships),) = self._rows(
            f"MATCH (n:{quoted(node.label)}) "
            f"WHERE NOT coalesce({id_} > '' OR {id_} >= $least, false) {self._not_before(index)}"
            "OPTIONAL MATCH (n)-[r]->() WHERE $types IS NULL OR type(r) IN $types "
            "RETURN count(DISTINCT n), count(r)",
            least=LOWEST_IDS[1],
            types=self._types,
        )
        parsed = Parsed(terms_only=True, position={"label": index + 1})
        parsed.skipped[NO_ID] += nodes
        parsed.skipped[NO_HEAD_ID] += relationships
        parsed.counts.passed_over += nodes + relationships
        parsed.note = node.label
        return parsed

    def _read_kind(self, index: int, kind: int, start: Mapping[str, Any]) -> Iterator[Parsed]:
        node = self._mapping.nodes[index]
        after = start.get("after", LOWEST_IDS[kind])
        operator = ">" if "after" in start or kind == 0 else ">="
        position: dict[str, Any] = {"label": index, "kind": kind}
        if "hub" in start:
            yield from self._read_hub(node, index, after, str(start["hub"]), position)
        id_ = quoted(node.id)
        while True:
            rows = self._rows(
                f"MATCH (n:{quoted(node.label)}) WHERE n.{id_} {operator} $after "
                f"{self._not_before(index)}"
                f"RETURN n.{id_}, properties(n), COUNT {{ (n)-[]->() }} "
                f"ORDER BY n.{id_} LIMIT $limit",
                after=after,
                limit=self._settings.page_nodes,
            )
            operator = ">"
            for portion in _portions(rows, self._settings.page_relationships):
                parsed = Parsed(terms_only=True, note=f"{node.label} {portion[-1][0]}")
                for value, properties, _ in portion:
                    self._add_node(parsed, node, value, properties)
                after = portion[-1][0]
                if portion[0][2] > self._settings.page_relationships:
                    # Its relationships come in pieces of their own.
                    parsed.position = {**position, "after": after, "hub": ""}
                    yield parsed
                    yield from self._read_hub(node, index, after, "", position)
                    continue
                if any(row[2] for row in portion):
                    for row in self._relationships(node, index, portion[0][0], after):
                        self._add_relationship(parsed, node, row)
                parsed.position = {**position, "after": after}
                yield parsed
            if len(rows) < self._settings.page_nodes:
                return

    def _relationships(
        self, node: NodeMapping, index: int, first: object, last: object
    ) -> list[list[Any]]:
        id_ = quoted(node.id)
        return self._rows(
            f"MATCH (n:{quoted(node.label)}) WHERE n.{id_} >= $first AND n.{id_} <= $last "
            f"{self._not_before(index)}MATCH (n)-[r]->(b) "
            f"WHERE $types IS NULL OR type(r) IN $types RETURN n.{id_}, {self._of_relationship()}",
            first=first,
            last=last,
            types=self._types,
        )

    def _read_hub(
        self, node: NodeMapping, index: int, value: object, after: str, position: dict[str, Any]
    ) -> Iterator[Parsed]:
        """Yields the relationships of one node, in the order of the server's ids of them."""
        id_, limit = quoted(node.id), self._settings.page_relationships
        query = (
            f"MATCH (n:{quoted(node.label)}) WHERE n.{id_} = $value {self._not_before(index)}"
            "MATCH (n)-[r]->(b) WHERE elementId(r) > $after "
            "AND ($types IS NULL OR type(r) IN $types) "
            f"RETURN n.{id_}, {self._of_relationship()}, elementId(r) AS element "
            "ORDER BY element LIMIT $limit"
        )
        while True:
            rows = self._rows(query, value=value, after=after, types=self._types, limit=limit)
            parsed = Parsed(terms_only=True, note=f"{node.label} {value}")
            for row in rows:
                self._add_relationship(parsed, node, row[:-1])
            done = len(rows) < limit
            after = rows[-1][-1] if rows else after
            parsed.position = {**position, "after": value, **({} if done else {"hub": after})}
            yield parsed
            if done:
                return

    def _of_relationship(self) -> str:
        ids = ", ".join(f"b.{quoted(name)}" for name in self._id_names)
        return f"type(r), properties(r), labels(b), [{ids}]"

    def _add_node(
        self, parsed: Parsed, node: NodeMapping, value: object, properties: Mapping[str, Any]
    ) -> None:
        def add() -> bool:
            id_ = node.entity_id(value)
            if id_ is None:
                parsed.skipped[NO_ID] += 1
                return False
            check_text(id_, what="an id")
            used = {node.id, *node.names}
            if node.description is not None:
                used.add(node.description)
            entity = self._entity(id_, node, properties)
            made = []
            if self._mapping.type_relation is not None:
                made.append(
                    make_statement(id_, self._mapping.type_relation, EntityValue(node.type))
                )
            for name in sorted(properties):
                if name in used:
                    continue
                if node.literals is not None and name not in node.literals:
                    parsed.skipped[LEFT_OUT] += 1
                    continue
                relation = node.relations.get(name, name)
                made.extend(
                    make_statement(id_, relation, literal)
                    for literal in self._values(parsed, properties[name])
                )
            parsed.entities.append(entity)
            parsed.statements.extend(made)
            return True

        self._or_reject(parsed, add, f"{node.label} {value}")

    def _entity(self, id_: str, node: NodeMapping, properties: Mapping[str, Any]) -> Entity:
        if self._languages and node.language not in self._languages:
            return Entity(id_)
        names = [name for key in node.names for name in _texts(properties.get(key)) if name.strip()]
        names = list(dict.fromkeys(names))
        described = _texts(properties.get(node.description)) if node.description else []
        for text in (*names, *described):
            check_text(text, what="a name")
        return Entity(
            id_,
            labels={node.language: names[0]} if names else {},
            aliases={node.language: tuple(names[1:])} if names[1:] else {},
            descriptions={node.language: described[0]} if described else {},
        )

    def _values(self, parsed: Parsed, value: object) -> list[Value]:
        values = self._graph.values(value)
        if values is None:
            parsed.skipped[NO_VALUE] += 1
            return []
        for item in values:
            text = getattr(item, "text", None)
            if text is not None:
                check_text(text, what="a property")
        return values

    def _add_relationship(self, parsed: Parsed, node: NodeMapping, row: list[Any]) -> None:
        value, type_, properties, labels, ids = row

        def add() -> bool:
            mapping = self._by_type.get(type_) or self._by_type[OTHERS]
            end = next((mapped for mapped in self._mapping.nodes if mapped.label in labels), None)
            if end is None:
                parsed.skipped[NO_TAIL] += 1
                return False
            head = node.entity_id(value)
            tail = end.entity_id(ids[self._id_names.index(end.id)])
            if tail is None or head is None:
                parsed.skipped[NO_TAIL_ID] += 1
                return False
            if mapping.reverse:
                head, tail = tail, head
            parsed.statements.append(
                make_statement(
                    head,
                    mapping.relation or type_,
                    EntityValue(tail),
                    qualifiers=self._qualifiers(parsed, mapping, properties),
                )
            )
            return True

        self._or_reject(parsed, add, f"{node.label} {value} -{type_}->")

    def _qualifiers(
        self, parsed: Parsed, mapping: RelationshipMapping, properties: Mapping[str, Any]
    ) -> list[Snak]:
        snaks: list[Snak] = []
        for name in sorted(properties):
            if mapping.qualifiers is not None and name not in mapping.qualifiers:
                parsed.skipped[LEFT_OUT] += 1
                continue
            relation = mapping.relations.get(name, name)
            snaks.extend(Snak(relation, value) for value in self._values(parsed, properties[name]))
        return snaks

    def _or_reject(self, parsed: Parsed, add: Callable[[], bool], what: str) -> None:
        """Adds a record, and counts whether it was read, passed over or rejected."""
        try:
            is_read = add()
            parsed.counts.read += is_read
            parsed.counts.passed_over += not is_read
        except (InputError, ValueError) as error:
            reason = error.message if isinstance(error, InputError) else str(error)
            text = what[:200].encode("utf-8", "backslashreplace").decode()
            parsed.rejects.append(Reject(self._source, 0, 0, reason, text))
            parsed.counts.rejected += 1


def quoted(name: str, /) -> str:
    """Returns a name as Cypher quotes it.

    >>> quoted("Person"), quoted("a`b")
    ('`Person`', '`a``b`')
    """
    if not name or "\x00" in name or "\\" in name:
        raise InputError(f"{name!r} can be no name in Neo4j", argument="mapping")
    return "`" + name.replace("`", "``") + "`"


def _texts(value: object) -> list[str]:
    """Returns the texts of a property of names: one or a list, numbers as they are written."""
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [item if isinstance(item, str) else str(item) for item in values if item is not None]


def _portions(rows: list[list[Any]], limit: int) -> Iterator[list[list[Any]]]:
    """Yields nodes in runs of at most ``limit`` relationships; one that has more, alone."""
    portion: list[list[Any]] = []
    size = 0
    for row in rows:
        if portion and size + row[2] > limit:
            yield portion
            portion, size = [], 0
        portion.append(row)
        size += row[2]
    if portion:
        yield portion
