"""Real data grown to any number of statements, by a random seed, as a stream.

A published graph is written again and again with its entities renamed, so that each copy keeps its
names, literals, qualifiers and ranks. A tail of many statements stays itself in most copies, the more
the more it has: so hubs grow with the graph, as they do in Wikidata, and all copies hang together.

    python -m benchmarks.growing grow STORE GRAPH 20000000 --as ntriples | graph-service load - ...
    python -m benchmarks.growing parts STORE GRAPH --grown-to 2000000
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import IO, Any, TypeVar

import orjson

from graph_service.export import exported_graph
from graph_service.export.content import ExportedGraph
from graph_service.export.ntriples import NTriplesWriter
from graph_service.export.report import Omissions
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.neighbourhood import EdgeRow
from graph_service.model.statement import Entity, EntityKind, Rank, Snak, Statement
from graph_service.model.values import (
    EARTH,
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
    encode_value,
)
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from graph_service.store.protocol import GraphReader
from graph_service.store.snapshot.build import build_arrays, chunks_of_rows
from graph_service.store.snapshot.file import arrays_of

T = TypeVar("T")

STRIDE = 10**10
"""Between the numbers of an item and of its copy: Wikidata's have nine digits."""
HALF_SHARED = 20
"""Statements with which a tail is shared by half of the copies."""
_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class Described:
    """An entity with its statements."""

    entity: Entity
    statements: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Base:
    """What is grown.

    Attributes:
        entities: All, with their statements, in order of their keys.
        shared: For tails of statements, the share of copies in which they stay themselves.
    """

    entities: Sequence[Described]
    shared: Mapping[str, float]


def read_base(reader: GraphReader, edition: str, /) -> Base:
    """Reads a published edition into memory."""
    statements: dict[str, list[Statement]] = {}
    degrees: Counter[str] = Counter()
    for part in reader.scan_statements(edition):
        for one in part:
            statements.setdefault(one.head, []).append(one)
            if isinstance(one.value, EntityValue):
                degrees[one.value.id] += 1
    entities = [
        Described(entity, statements.get(entity.id, ()))
        for part in reader.scan_entities(edition)
        for entity in part
        if entity.redirect is None
    ]
    return Base(entities, {id_: count / (count + HALF_SHARED) for id_, count in degrees.items()})


def grow(base: Base, statements: int, /, *, random_seed: int) -> Iterator[Described]:
    """Yields entities with their statements until there are so many statements.

    The first copy is the base itself. Properties and shared tails are described there alone.
    """
    count = copy = 0
    while count < statements:
        for one in base.entities:
            if copy and one.entity.kind is EntityKind.PROPERTY:
                continue
            found = one if not copy else _renamed(one, copy, base, random_seed)
            if count + len(found.statements) > statements:
                found = replace(found, statements=found.statements[: statements - count])
            count += len(found.statements)
            yield found
            if count == statements:
                return
        copy += 1
        if not count:
            raise ValueError("the graph has no statements")


def _renamed(one: Described, copy: int, base: Base, random_seed: int) -> Described:
    id_ = copied_id(one.entity.id, copy)
    entity = replace(
        one.entity,
        id=id_,
        labels={language: f"{text} {copy}" for language, text in one.entity.labels.items()},
        aliases={
            language: tuple(f"{text} {copy}" for text in texts)
            for language, texts in one.entity.aliases.items()
        },
        same_as=(),
    )
    statements = []
    for each in one.statements:
        digest = blake2b(
            f"{random_seed}:{copy}:{each.id}".encode(), digest_size=24, usedforsecurity=False
        ).digest()
        value = each.value
        # Of one hash: the first eight bytes say whether the tail is shared, the others are the id.
        if isinstance(value, EntityValue) and value.id[:1] != "P":
            drawn = int.from_bytes(digest[:8], "big") / 2**64
            if drawn >= base.shared.get(value.id, 0.0):
                value = EntityValue(copied_id(value.id, copy))
        statements.append(replace(each, id=f"{id_}${_uuid(digest[8:])}", head=id_, value=value))
    return Described(entity, statements)


def copied_id(id_: str, copy: int, /) -> str:
    """Returns the id of an entity's copy.

    >>> copied_id("Q42", 3), copied_id("http://a/b", 3)
    ('Q30000000042', 'http://a/b~3')
    """
    if id_[:1] == "Q" and id_[1:].isdecimal():
        return f"Q{int(id_[1:]) + copy * STRIDE}"
    return f"{id_}~{copy}"


def _uuid(data: bytes) -> str:
    text = data.hex().upper()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def write_ntriples(grown: Iterator[Described], out: IO[bytes], like: ExportedGraph, /) -> None:
    """Writes N-Triples; they hold no qualifiers, and the loader names statements by content."""
    writer = NTriplesWriter(out, like, Omissions(), quads=False)
    for one in grown:
        writer.entity(one.entity)
        for statement in one.statements:
            writer.statement(statement)


def write_wikibase_json(grown: Iterator[Described], out: IO[bytes], /) -> None:
    """Writes the JSON of Wikidata's dumps: a list with one document a line."""
    out.write(b"[\n")
    comma = b""
    for one in grown:
        out.write(comma + orjson.dumps(wikibase_document(one)))
        comma = b",\n"
    out.write(b"\n]\n")


def wikibase_document(one: Described, /) -> dict[str, Any]:
    """Returns an entity and its statements as Wikibase writes them."""
    claims: dict[str, list[dict[str, Any]]] = {}
    for each in one.statements:
        claim: dict[str, Any] = {
            "mainsnak": _snak(Snak(each.relation, each.value)),
            "type": "statement",
            "id": each.id if "$" in each.id else f"{each.head}${_uuid(_digest(each.id))}",
            "rank": {Rank.PREFERRED: "preferred", Rank.DEPRECATED: "deprecated"}.get(
                each.rank, "normal"
            ),
        }
        if each.qualifiers:
            qualifiers: dict[str, list[dict[str, Any]]] = {}
            for snak in each.qualifiers:
                qualifiers.setdefault(snak.relation, []).append(_snak(snak))
            claim |= {"qualifiers": qualifiers, "qualifiers-order": list(qualifiers)}
        claims.setdefault(each.relation, []).append(claim)
    entity = one.entity
    return {
        "type": "property" if entity.kind is EntityKind.PROPERTY else "item",
        "id": entity.id,
        "labels": _texts(entity.labels),
        "descriptions": _texts(entity.descriptions),
        "aliases": {
            language: [{"language": language, "value": text} for text in texts]
            for language, texts in entity.aliases.items()
        },
        "claims": claims,
    }


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16, usedforsecurity=False).digest()


def _texts(texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {language: {"language": language, "value": text} for language, text in texts.items()}


def _snak(snak: Snak) -> dict[str, Any]:
    if isinstance(snak.value, (SomeValue, NoValue)):
        kind = "somevalue" if isinstance(snak.value, SomeValue) else "novalue"
        return {"snaktype": kind, "property": snak.relation}
    type_, value = _datavalue(snak.value)
    return {
        "snaktype": "value",
        "property": snak.relation,
        "datavalue": {"type": type_, "value": value},
    }


def _datavalue(value: Value) -> tuple[str, Any]:
    match value:
        case EntityValue(id_):
            kind = "property" if id_[:1] == "P" else "item"
            return "wikibase-entityid", {"entity-type": kind, "id": id_}
        case StringValue(text):
            return "string", text
        case Iri(iri):
            return "string", iri
        case MonolingualText(text, language):
            return "monolingualtext", {"text": text, "language": language}
        case Quantity(amount, unit, lower, upper):
            found = {"amount": amount, "unit": _entity_iri(unit) if unit else "1"}
            bounds = {"lowerBound": lower, "upperBound": upper}
            return "quantity", found | {name: each for name, each in bounds.items() if each}
        case Time():
            return "time", {
                "time": value.time,
                "timezone": value.timezone,
                "before": value.before,
                "after": value.after,
                "precision": value.precision,
                "calendarmodel": _entity_iri(value.calendar),
            }
        case Coordinates():
            return "globecoordinate", {
                "latitude": value.latitude,
                "longitude": value.longitude,
                "altitude": value.altitude,
                "precision": value.precision,
                "globe": _entity_iri(value.globe or EARTH),
            }
    raise ValueError(f"Wikibase has no such value: {value!r}")


def _entity_iri(id_: str) -> str:
    return id_ if "://" in id_ else f"http://www.wikidata.org/entity/{id_}"


def grown_arrays(
    base: Base, statements: int, info: GraphInfo, /, *, random_seed: int
) -> KnowledgeGraph:
    """Returns the arrays of a grown graph, without a store; all ids are in memory meanwhile.

    Args:
        base: What is grown.
        statements: How many.
        info: Of the base; its name is that of the result.
        random_seed: Of the draw.
    """
    described: set[str] = set()
    named: set[str] = set()

    def entities() -> Iterator[list[Entity]]:
        for one in grow(base, statements, random_seed=random_seed):
            described.add(one.entity.id)
            named.update(
                each.value.id for each in one.statements if isinstance(each.value, EntityValue)
            )
            yield [one.entity]
        yield [Entity(id_) for id_ in sorted(named - described)]

    def edges() -> Iterator[list[EdgeRow]]:
        for one in grow(base, statements, random_seed=random_seed):
            yield [
                EdgeRow(each.id, each.head, each.relation, encode_value(each.value), each.rank)
                for each in one.statements
            ]

    relations: dict[int, str] = {}
    return build_arrays(
        info,
        chunks_of_rows(_in_chunks(edges()), relations),
        lambda: relations,
        _in_chunks(entities()),
    )


def _in_chunks(parts: Iterator[list[T]]) -> Iterator[list[T]]:
    """Joins short lists to long ones."""
    chunk: list[T] = []
    for part in parts:
        chunk += part
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    yield chunk


PARTS: Mapping[str, tuple[str, ...]] = {
    "topology, both ways": ("topology.",),
    "statement ids": ("statement_ids.",),
    "statement keys and their order": ("statement_keys", "key_order"),
    "ranks": ("rank", "best"),
    "entity keys and kinds": ("node_keys", "node_kinds"),
    "entity ids and values": ("node_ids.",),
    "labels": ("node_labels.", "relation_labels.", "relation_ids.", "relation_keys"),
    "names, for linking": ("names.", "equal."),
}
"""Parts of a snapshot, by how the names of its arrays begin."""


def bytes_by_part(graph: KnowledgeGraph, /) -> dict[str, int]:
    """Returns the bytes of each part of a graph's arrays."""
    found = dict.fromkeys(PARTS, 0)
    for name, array in arrays_of(graph).items():
        (part,) = (
            part
            for part, starts in PARTS.items()
            if any(name == one or (one[-1] == "." and name.startswith(one)) for one in starts)
        )
        found[part] += array.nbytes
    return found


def _open(store: str) -> Service:
    return open_service(settings=replace(read_settings(), store=store))


def _grow(options: argparse.Namespace) -> None:
    with _open(options.store) as service:
        info = service.graph(options.graph)
        base = read_base(service.store, info.edition)
        grown = grow(base, options.statements, random_seed=options.random_seed)
        out = sys.stdout.buffer
        if options.format == "ntriples":
            write_ntriples(grown, out, exported_graph(service, graph=options.graph))
        else:
            write_wikibase_json(grown, out)


def _parts(options: argparse.Namespace) -> None:
    with _open(options.store) as service:
        info = service.graph(options.graph)
        if options.grown_to:
            base = read_base(service.store, info.edition)
            graph = grown_arrays(base, options.grown_to, info, random_seed=options.random_seed)
        else:
            graph = service.arrays(info)
        found = bytes_by_part(graph)
        print(f"{graph.edge_count:,} statements, {graph.entity_count:,} entities")
        for part, size in [*found.items(), ("all", sum(found.values()))]:
            print(f"{part:24} {size:15,}  {size / graph.edge_count:6.1f} bytes a statement")


def main() -> None:
    """Runs the command line of this module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growing")
    words = parser.add_subparsers(required=True)
    growing = words.add_parser("grow", help="write a graph, grown, to standard output")
    parts = words.add_parser("parts", help="print the bytes of each part of a graph's arrays")
    for word in (growing, parts):
        word.add_argument("store")
        word.add_argument("graph")
        word.add_argument("--random-seed", type=int, default=1)
    parts.add_argument("--grown-to", type=int, metavar="STATEMENTS")
    growing.add_argument("statements", type=int)
    growing.add_argument("--as", dest="format", choices=("ntriples", "json"), default="ntriples")
    growing.set_defaults(run=_grow)
    parts.set_defaults(run=_parts)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
