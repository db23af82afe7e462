"""A graph as Parquet files that any engine reads: the layout, its manifest, and its rows.

A folder holds ``graph.json``, the manifest, and the files of two tables below ``statements`` and
``entities``. Each file has a range of keys, ascending. ``docs/reference/parquet.md`` describes the
columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service import __version__
from graph_service.errors import InputError, SetupError
from graph_service.model.graph import RANKS
from graph_service.model.hashing import Uint64, fingerprint, sum_hashes
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Snak,
    Statement,
    entity_content_hash,
)
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    decode_value,
    encode_value,
    plain_value,
    value_type,
)
from graph_service.store.encoded import StatementRow, encode_statements

LAYOUT = "graph-parquet"
VERSION = 1
MANIFEST = "graph.json"
STATEMENTS, ENTITIES = "statements", "entities"
MANIFEST_MARK = b'{"graph-service":"' + LAYOUT.encode() + b'"'
"""Begins a manifest."""
DICTIONARIES = ("relation", "rank", "value_type", "language", "kind")
"""Columns with few different values, by their last name."""
_ALIAS, _LABEL, _DESCRIPTION = "alias", "label", "description"


@dataclass(frozen=True, slots=True)
class Part:
    """A file of a graph.

    Attributes:
        file: Path below the graph's folder.
        table: ``statements`` or ``entities``.
        rows: How many it has.
        first, last: The smallest and the largest key.
        edges, content: What its rows add to the two fingerprints, as a fingerprint of its rows.
    """

    file: str
    table: str
    rows: int
    first: int
    last: int
    edges: str
    content: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What ``graph.json`` says of a graph.

    Attributes:
        graph, edition: What was written; ``view`` the id of the view it was laid under, if any.
        source: Where the graph was loaded from.
        entities, statements: How many rows there are.
        edges, content: The fingerprints of the graph.
        parts: The files: those of entities, then those of statements.
    """

    graph: str
    edition: str
    view: str | None
    source: str
    entities: int
    statements: int
    edges: str
    content: str
    parts: tuple[Part, ...]

    def to_bytes(self) -> bytes:
        """Returns the manifest as JSON, a line for each part."""
        fields = {"graph-service": LAYOUT, "version": VERSION, "tool": __version__, **asdict(self)}
        del fields["parts"]
        parts = b",\n".join(orjson.dumps(asdict(part)) for part in self.parts)
        return orjson.dumps(fields)[:-1] + b',"parts":[\n' + parts + b"\n]}\n"


def read_manifest(folder: Path, /) -> Manifest | None:
    """Returns the manifest of a folder; None where it has none of ours.

    Raises:
        InputError: It is damaged, or of a later version.
    """
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if not data.startswith(MANIFEST_MARK):
        return None
    try:
        fields = orjson.loads(data)
        version = int(fields.pop("version"))
        if version > VERSION:
            raise InputError(
                f"{path} has version {version}; this program reads up to {VERSION}",
                argument="source",
                hint="Install the newer version of graph-service that wrote it.",
            )
        del fields["graph-service"], fields["tool"]
        parts = tuple(Part(**part) for part in fields.pop("parts"))
        manifest = Manifest(**fields, parts=parts)
        _require_sums(manifest)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{path} is damaged: {error}",
            argument="source",
            hint="Export the graph again, or copy the folder again.",
        ) from error
    return manifest


def _require_sums(manifest: Manifest) -> None:
    """Raises ``ValueError`` unless the parts add up to what the manifest says of the graph."""
    total = PartSums()
    for part in manifest.parts:
        if part.table not in (STATEMENTS, ENTITIES) or ".." in Path(part.file).parts:
            raise ValueError(f"the part {part.file!r} of table {part.table!r}")
        total.add_part(part)
    sums = total.fingerprints()
    claimed = (manifest.entities, manifest.statements, manifest.edges, manifest.content)
    if (total.entities, total.statements, sums.edges, sums.content) != claimed:
        raise ValueError("its parts do not add up to the graph's rows and fingerprints")


def words_of(fingerprint_: str, /) -> Uint64:
    """Returns the two words of hashes that a fingerprint has, without its count."""
    if len(fingerprint_) != 48:
        raise ValueError(f"expected 48 hexadecimal digits, got {fingerprint_[:60]!r}")
    return np.array([int(fingerprint_[:16], 16), int(fingerprint_[16:32], 16)], dtype=np.uint64)


class PartSums:
    """Sums the fingerprints of parts of a graph up to those of the graph."""

    def __init__(self) -> None:
        self._edges = np.zeros(2, dtype=np.uint64)
        self._content = np.zeros(2, dtype=np.uint64)
        self.statements = 0
        self.entities = 0

    def add_part(self, part: Part, /) -> None:
        """Adds a part to the folder."""
        self._content = self._content + words_of(part.content)
        if part.table == STATEMENTS:
            self._edges = self._edges + words_of(part.edges)
            self.statements += part.rows
        else:
            self.entities += part.rows

    def fingerprints(self) -> Fingerprints:
        """Returns the fingerprints of all parts together."""
        return Fingerprints(
            edges=fingerprint(self._edges, self.statements),
            content=fingerprint(self._content, self.statements + self.entities),
        )


@cache
def schemas() -> Mapping[str, Any]:
    """Returns the Arrow schema of each table.

    Raises:
        SetupError: pyarrow is not installed.
    """
    arrow = import_pyarrow("a graph as Parquet")
    text, key = arrow.string(), arrow.int64()

    def required(name: str, type_: Any) -> Any:
        return arrow.field(name, type_, nullable=False)

    snak = arrow.struct(
        [
            required("relation", text),
            required("value_type", text),
            required("value", text),
            required("text", text),
        ]
    )
    name = arrow.struct(
        [required("kind", text), required("language", text), arrow.field("text", text)]
    )
    hashes = [required("content_low", key), required("content_high", key)]
    statements = [
        required("key", key),
        required("statement", text),
        required("head_key", key),
        required("head", text),
        required("relation", text),
        required("rank", text),
        required("value_type", text),
        arrow.field("tail_key", key),
        arrow.field("tail", text),
        arrow.field("value", text),
        required("text", text),
        arrow.field("language", text),
        arrow.field("qualifiers", arrow.list_(snak)),
        arrow.field("sources", arrow.list_(arrow.list_(snak))),
        arrow.field("context", text),
        required("edge_low", key),
        required("edge_high", key),
        *hashes,
    ]
    entities = [
        required("key", key),
        required("entity", text),
        required("kind", text),
        arrow.field("redirect", text),
        arrow.field("datatype", text),
        arrow.field("revision", key),
        arrow.field("names", arrow.list_(name)),
        arrow.field("same_as", arrow.list_(text)),
        *hashes,
    ]
    return {STATEMENTS: arrow.schema(statements), ENTITIES: arrow.schema(entities)}


def import_pyarrow(what: str, /) -> Any:
    """Returns pyarrow with its module of Parquet; raises ``SetupError`` where it is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise SetupError(
            f"{what} needs pyarrow, which is not installed",
            hint='Run pip install "graph-service[parquet]".',
        ) from error
    return pyarrow


Columns = dict[str, list[Any]]
"""The columns of some rows, by name."""


def statement_columns(statements: Sequence[Statement], /) -> tuple[Columns, Uint64]:
    """Returns the columns of statements, and what they add to both fingerprints (four words)."""
    encoded = encode_statements(statements)
    edges = np.frombuffer(encoded.edges, dtype="<i8").reshape(-1, 2)
    contents = np.frombuffer(encoded.contents, dtype="<i8").reshape(-1, 2)
    values = [statement.value for statement in statements]
    columns: Columns = {
        "key": list(encoded.keys),
        "statement": encoded.ids,
        "head_key": list(encoded.heads),
        "head": [statement.head for statement in statements],
        "relation": [statement.relation for statement in statements],
        "rank": [RANKS[rank].value for rank in encoded.ranks],
        "value_type": [value_type(value) for value in values],
        "tail_key": encoded.tails,
        "tail": [value.id if type(value) is EntityValue else None for value in values],
        "value": encoded.values,
        "text": [plain_value(value) for value in values],
        "language": [
            value.language if isinstance(value, MonolingualText) else None for value in values
        ],
        "qualifiers": [
            snak_rows(item.qualifiers) if item.qualifiers else None for item in statements
        ],
        "sources": [
            [snak_rows(reference.parts) for reference in item.references]
            if item.references
            else None
            for item in statements
        ],
        "context": encoded.contexts,
        "edge_low": edges[:, 0].tolist(),
        "edge_high": edges[:, 1].tolist(),
        "content_low": contents[:, 0].tolist(),
        "content_high": contents[:, 1].tolist(),
    }
    return columns, encoded.sums


def snak_rows(snaks: Iterable[Snak], /) -> list[dict[str, str]]:
    """Returns qualifiers, or the parts of a reference, as the layout has them."""
    return [
        {
            "relation": snak.relation,
            "value_type": value_type(snak.value),
            "value": encode_value(snak.value),
            "text": plain_value(snak.value),
        }
        for snak in snaks
    ]


def entity_columns(entities: Sequence[Entity], /) -> tuple[Columns, Uint64]:
    """Returns the columns of entities, and what they add to ``content`` (two words)."""
    hashes = b"".join(map(entity_content_hash, entities))
    words = np.frombuffer(hashes, dtype="<i8").reshape(-1, 2)
    columns: Columns = {
        "key": [entity.key for entity in entities],
        "entity": [entity.id for entity in entities],
        "kind": [entity.kind.value for entity in entities],
        "redirect": [entity.redirect for entity in entities],
        "datatype": [entity.datatype or None for entity in entities],
        "revision": [entity.revision for entity in entities],
        "names": [_names(entity) or None for entity in entities],
        "same_as": [list(entity.same_as) or None for entity in entities],
        "content_low": words[:, 0].tolist(),
        "content_high": words[:, 1].tolist(),
    }
    return columns, sum_hashes(hashes)


def _names(entity: Entity) -> list[dict[str, str | None]]:
    names: list[dict[str, str | None]] = []
    for kind, texts in ((_LABEL, entity.labels), (_DESCRIPTION, entity.descriptions)):
        names.extend(
            {"kind": kind, "language": code, "text": texts[code]} for code in sorted(texts)
        )
    for code in sorted(entity.aliases):
        # A language with an empty list of aliases is content too.
        names.extend(
            {"kind": _ALIAS, "language": code, "text": text}
            for text in entity.aliases[code] or (None,)
        )
    return names


def statement_rows(columns: Columns, /) -> list[StatementRow]:
    """Returns the statements of some columns, their parts encoded.

    Raises:
        ValueError: A value is in no form of ours.
    """
    rows = []
    for id_, head, relation, rank, tail, value, qualifiers, sources, context in zip(
        columns["statement"],
        columns["head"],
        columns["relation"],
        columns["rank"],
        columns["tail"],
        columns["value"],
        columns["qualifiers"],
        columns["sources"],
        columns["context"],
        strict=True,
    ):
        if tail is None:
            decode_value(value or "")
            encoded = value
        else:
            encoded = encode_value(EntityValue(tail))
        rows.append(
            StatementRow(
                id_,
                head,
                relation,
                tail,
                encoded,
                Rank(rank),
                orjson.dumps(_pairs(qualifiers)).decode() if qualifiers else None,
                orjson.dumps([_pairs(snaks) for snaks in sources]).decode() if sources else None,
                context,
            )
        )
    return rows


def _pairs(snaks: Sequence[Mapping[str, str]]) -> list[list[str]]:
    for snak in snaks:
        decode_value(snak["value"])
    return [[snak["relation"], snak["value"]] for snak in snaks]


def entity_rows(columns: Columns, /) -> list[Entity]:
    """Returns the entities of some columns.

    Raises:
        ValueError: A name is of no kind, or an entity.
    """
    entities = []
    for id_, kind, redirect, datatype, revision, names, same_as in zip(
        columns["entity"],
        columns["kind"],
        columns["redirect"],
        columns["datatype"],
        columns["revision"],
        columns["names"],
        columns["same_as"],
        strict=True,
    ):
        labels: dict[str, str] = {}
        descriptions: dict[str, str] = {}
        aliases: dict[str, list[str]] = {}
        for name in names or ():
            code, text = name["language"], name["text"]
            match name["kind"]:
                case "label":
                    labels[code] = text
                case "description":
                    descriptions[code] = text
                case "alias":
                    texts = aliases.setdefault(code, [])
                    if text is not None:
                        texts.append(text)
                case other:
                    raise ValueError(f"expected a label, a description or an alias, got {other!r}")
        entities.append(
            Entity(
                id=id_,
                kind=EntityKind(kind),
                labels=labels,
                descriptions=descriptions,
                aliases={code: tuple(texts) for code, texts in aliases.items()},
                datatype=datatype,
                redirect=redirect,
                revision=revision,
                same_as=tuple(same_as or ()),
            )
        )
    return entities
