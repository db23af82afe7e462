"""What is kept in Neo4j and under which names.

    (:Graph {name, current, previous, next, lease...})     one a graph; ``current`` an edition
    (:GraphEdition {id, state, sequence, checkpoint, ...}) one an edition, ``demo@7``
    (:Entity {key, graph, id, label, kind, terms, ...})    ``graph`` is the edition
    (:SpareName {key, id, spare, terms, ...})              names of an id without a statement
    (:Entity)-[:P106 {id, key, relation, rank, ...}]->(:Entity | :Literal {value, label})
    (:Relation {key, id, iri, label, type})                one a relation, for all graphs
    (:GraphPage {key, places, rows})                       statement keys to heads, see neo4j_journal
    (:LoadJournal {key, rows}), (:SameAs {key, target}), (:GraphRecordPart)
    (:GraphRecord {id, name_id, ...})                      ``name_id``: of a name that is unique
    (:PassageSet {number, graph, source, state, ...})      what one load of passages brought
    (:Passage {key, id, title, source, text, entity, ...}) one a passage, ``key`` its set and key

``Entity.key`` is ``edition:`` and 16 hexadecimal digits of the 64-bit key plus 2**63: one index
finds a node, and its order, ASCII of one length, is the order of the keys.

Each node and each relation has a ``label``, by which Neo4j's Browser captions it: a label of the
graph, or the end of its id. What full-text search reads is in ``_search``.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import neo4j

from graph_service.errors import KeyCollisionError
from graph_service.model.identity import key64
from graph_service.store.neo4j.driver import Connection, one_row, rows_of

SCHEMA_VERSION = 5
STATEMENT_TYPE = "STATEMENT"
MAX_NEW_TYPES = 5_000
"""New relationship types a load may make. A Neo4j database holds 65,536 and never frees one."""

MAX_INDEXED_ID_BYTES = 1_000
SEARCH_INDEX = "graph_service_search"
PASSAGE_INDEX = "graph_service_passages"

PASSAGE_STATEMENTS = (
    "CREATE CONSTRAINT graph_service_passage_set IF NOT EXISTS "
    "FOR (n:PassageSet) REQUIRE n.number IS UNIQUE",
    "CREATE CONSTRAINT graph_service_passage IF NOT EXISTS FOR (n:Passage) REQUIRE n.key IS UNIQUE",
    f"CREATE FULLTEXT INDEX {PASSAGE_INDEX} IF NOT EXISTS FOR (n:Passage) ON EACH [n._search] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
)
UNUSED_NAME_STATEMENTS = (
    "CREATE CONSTRAINT graph_service_spare_name IF NOT EXISTS "
    "FOR (n:SpareName) REQUIRE n.key IS UNIQUE",
)
NAME_STATEMENTS = (
    "CREATE CONSTRAINT graph_service_record_name IF NOT EXISTS "
    "FOR (n:GraphRecord) REQUIRE n.name_id IS UNIQUE",
)
STATEMENTS = (
    "CREATE CONSTRAINT graph_service_graph IF NOT EXISTS FOR (n:Graph) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT graph_service_edition IF NOT EXISTS "
    "FOR (n:GraphEdition) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT graph_service_entity IF NOT EXISTS FOR (n:Entity) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT graph_service_relation IF NOT EXISTS "
    "FOR (n:Relation) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT graph_service_relation_type IF NOT EXISTS "
    "FOR (n:Relation) REQUIRE n.own_type IS UNIQUE",
    "CREATE CONSTRAINT graph_service_page IF NOT EXISTS FOR (n:GraphPage) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT graph_service_journal IF NOT EXISTS "
    "FOR (n:LoadJournal) REQUIRE n.key IS UNIQUE",
    "CREATE CONSTRAINT graph_service_record IF NOT EXISTS "
    "FOR (n:GraphRecord) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT graph_service_meta IF NOT EXISTS "
    "FOR (n:GraphServiceMeta) REQUIRE n.id IS UNIQUE",
    "CREATE INDEX graph_service_entity_id IF NOT EXISTS FOR (n:Entity) ON (n.graph, n.id)",
    *UNUSED_NAME_STATEMENTS,
    *NAME_STATEMENTS,
    "CREATE INDEX graph_service_same_as IF NOT EXISTS FOR (n:SameAs) ON (n.key)",
    "CREATE INDEX graph_service_same_as_target IF NOT EXISTS FOR (n:SameAs) ON (n.target)",
    "CREATE INDEX graph_service_record_kind IF NOT EXISTS FOR (n:GraphRecord) ON (n.kind)",
    "CREATE INDEX graph_service_record_graph IF NOT EXISTS FOR (n:GraphRecord) ON (n.graph)",
    "CREATE INDEX graph_service_edition_graph IF NOT EXISTS FOR (n:GraphEdition) ON (n.graph)",
    "CREATE INDEX graph_service_record_part IF NOT EXISTS FOR (n:GraphRecordPart) ON (n.record)",
    f"CREATE FULLTEXT INDEX {SEARCH_INDEX} IF NOT EXISTS FOR (n:Entity) ON EACH [n._search] "
    "OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}",
    *PASSAGE_STATEMENTS,
)


def caption_in_cypher(id_: str, /) -> str:
    """Returns ``caption_of`` as an expression of Cypher."""
    tail = f"last(split(replace({id_}, '#', '/'), '/'))"
    return f"CASE WHEN {id_} CONTAINS '://' AND {tail} <> '' THEN {tail} ELSE {id_} END"


def hex_key(key: int, /) -> str:
    """Returns a signed 64-bit key as 16 hexadecimal digits in the order of the keys."""
    return f"{key + 2**63:016x}"


def key_of_hex(text: str, /) -> int:
    """Returns the key at the end of a node's key."""
    return int(text[-16:], 16) - 2**63


def short_id(id_: str, /) -> str:
    """Returns an id as its index holds it: itself, or a hash of a long one."""
    data = id_.encode()
    if len(data) <= MAX_INDEXED_ID_BYTES:
        return id_
    return f"#{hashlib.blake2b(data, digest_size=16).hexdigest()}"


def search_token(edition: str, /) -> str:
    """Returns the token that confines a full-text search to an edition; no name holds an @."""
    return f"@{edition}"


def caption_of(id_: str, /) -> str:
    """Returns what a node is called that has no label: the end of an IRI, any other id itself.

    >>> caption_of("http://dbpedia.org/resource/Ada_Lovelace"), caption_of("Q42")
    ('Ada_Lovelace', 'Q42')
    """
    return (id_.replace("#", "/").rpartition("/")[2] if "://" in id_ else id_) or id_


_PREFIXES = (
    ("http://dbpedia.org/ontology/", "dbo_"),
    ("http://dbpedia.org/property/", "dbp_"),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf_"),
    ("http://www.w3.org/2000/01/rdf-schema#", "rdfs_"),
    ("http://www.w3.org/2002/07/owl#", "owl_"),
    ("http://www.w3.org/2004/02/skos/core#", "skos_"),
    ("http://purl.org/dc/terms/", "dcterms_"),
    ("http://purl.org/dc/elements/1.1/", "dc_"),
    ("http://xmlns.com/foaf/0.1/", "foaf_"),
    ("http://schema.org/", "schema_"),
    ("https://schema.org/", "schema_"),
)
_MAX_TYPE_CHARACTERS = 60


def type_name(relation: str, /, *, unique: bool = False) -> str:
    """Returns the relationship type of a relation: letters, digits and ``_`` alone.

    Args:
        relation: Relation id.
        unique: Whether to add the relation's key, for a name that another relation has.

    >>> type_name("P106"), type_name("http://dbpedia.org/ontology/birthPlace")
    ('P106', 'dbo_birthPlace')
    >>> type_name("x`]->() DETACH DELETE n //")
    'x___DETACH_DELETE_n'
    """
    prefix, tail = "", relation
    for iri, short in _PREFIXES:
        if relation.startswith(iri):
            prefix, tail = short, relation[len(iri) :]
            break
    else:
        if "://" in relation:
            tail = re.split(r"[/#]", relation.rstrip("/#"))[-1]
    name = (prefix + re.sub(r"\W", "_", tail))[:_MAX_TYPE_CHARACTERS]
    name = re.sub(r"_{4,}", "___", name).strip("_") or "relation"
    if not name[0].isalpha():
        name = f"r_{name}"
    if unique or name == STATEMENT_TYPE:
        name = f"{name}_{hex_key(key64(relation))}"
    return name


def relation_iri(relation: str, /) -> str | None:
    """Returns the IRI of a relation, where it has one."""
    if re.fullmatch(r"P[1-9]\d*", relation):
        return f"http://www.wikidata.org/entity/{relation}"
    return relation if "://" in relation else None


def assign_types(
    connection: Connection, relations: list[str], edition: str, /, *, max_new_types: int
) -> dict[str, str]:
    """Returns the relationship type of each relation, naming the ones that are new.

    The names are one table for the whole database, changed by one transaction at a time. When the
    edition has named ``max_new_types`` of them, further relations get ``STATEMENT``.

    Raises:
        KeyCollisionError: Two relations have the same key.
    """
    by_key = {key64(relation): relation for relation in relations}
    find = "UNWIND $keys AS key MATCH (r:Relation {key: key}) RETURN r.key, r.id, r.type"

    def known(rows: list[list[Any]]) -> dict[str, str]:
        for key, id_, _ in rows:
            if by_key[key] != id_:
                raise KeyCollisionError(f"relations {by_key[key]!r} and {id_!r} share a key")
        return {id_: type_ for _, id_, type_ in rows}

    types = known(connection.read(find, keys=list(by_key)))
    if len(types) == len(by_key):
        return types

    def name_them(tx: neo4j.Transaction) -> dict[str, str]:
        rows_of(
            tx,
            "MATCH (m:GraphServiceMeta {id: 'schema'}) SET m.named_at = timestamp()",
            {},
        )
        existing = known(rows_of(tx, find, {"keys": list(by_key)}))
        new = sorted(set(by_key.values()) - set(existing), key=key64)
        names = {relation: type_name(relation) for relation in new}
        taken = {
            row[0]
            for row in rows_of(
                tx,
                "UNWIND $names AS name MATCH (r:Relation {own_type: name}) RETURN r.own_type",
                {"names": sorted(set(names.values()))},
            )
        }
        row = one_row(
            tx,
            "MATCH (e:GraphEdition {id: $edition}) RETURN coalesce(e.new_types, 0)",
            {"edition": edition},
        )
        made = row[0] if row else 0
        created: list[dict[str, Any]] = []
        for relation in new:
            own: str | None = names[relation]
            if made >= max_new_types:
                own = None
            else:
                made += 1
                if own in taken:
                    own = type_name(relation, unique=True)
                taken.add(own)
            created.append(
                {
                    "key": key64(relation),
                    "id": relation,
                    "iri": relation_iri(relation),
                    "own_type": own,
                    "type": own or STATEMENT_TYPE,
                    "label": caption_of(relation),
                }
            )
        rows_of(tx, "UNWIND $rows AS row CREATE (r:Relation) SET r = row", {"rows": created})
        rows_of(
            tx,
            "MATCH (e:GraphEdition {id: $edition}) SET e.new_types = $made",
            {"edition": edition, "made": made},
        )
        return existing | {row["id"]: row["type"] for row in created}

    return connection.transaction(name_them, what="naming relationship types")
