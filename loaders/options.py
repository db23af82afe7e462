"""The options of a graph's load."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.options import check_bounds, option
from loaders.property_graph.options import Neo4jOptions
from loaders.source import SourceLimits
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters
from loaders.tables.mapping import TablesPlan, TablesRequest

REDIRECTS = ("follow", "resolve", "alias")
_TABLES = "tables"
# What does not decide the result, or is given in another form.
_NOT_DECISIVE = (
    *("rejects_path", "batch_size", "strict", "workers"),
    *("endpoint", "neo4j", "tables_request", "tables"),
)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How a source is read. ``docs/reference/options.md`` lists the options.

    Attributes:
        columns: ``head``, ``relation``, ``tail``, ``id``, ``rank``, ``language``, ``-`` for one to
            pass over, in their order, or ``head=NAME`` pairs naming columns of the header line;
            empty to recognise them.
        header: Whether a table's first line is a header; None to recognise it.
        type_files: Statements of P31 where both ids are Wikidata's, else of ``rdf:type``.
        entities_from_labels: Else an id without a statement is no entity, and its names are kept
            for later loads.
        qualifier_file: The statement is the cell in the column ``id``.
        entity_ids, relation_ids: Tables of what the cells of a table stand for: number and id,
            as DBP15K and others have them.
        fallback_languages: Descriptions and aliases too. In RDF and tables, where an entity's
            names lie apart, all of these are kept.
        label_language: Language of labels that come without one.
        filters: Which part of the source is loaded.
        mix_truthy: They are copies of the full ones under other ids.
        strict: Nothing is published then.
        rejects_path: None for ``rejects.jsonl`` in the current folder. The file is made when
            something is rejected.
        batch_size: Statements a transaction, at most 20,000.
        workers: None for one a core, four at most. What comes of it is the same.
        limits: What a source may ask of memory.
        endpoint: How a source such as ``wikidata:Q42`` is read; only for those.
        neo4j: How a graph in a Neo4j (``bolt://host``) is read; only for those.
        tables_request: What a mapping file says of tables whose rows are things.
        tables: What these tables become; a load makes it by looking at all their cells.
    """

    format: str | None = option(
        None, help="format of the source, if it is not recognised", metavar="NAME"
    )
    columns: tuple[str, ...] = option(
        (),
        help="what the columns are, by order, such as head,relation,tail, or by header, such as "
        "head=who,tail=whom",
        metavar="A,B,C",
        is_joined=True,
        group=_TABLES,
    )
    header: bool | None = None
    row: str | None = option(
        None,
        help="read each row as a thing, and this column as what names it; auto tells it by looking",
        metavar="COLUMN",
        group=_TABLES,
    )
    edge_relation: str | None = option(
        None,
        help="the relation of every row of a list of edges, such as source,target,weight",
        metavar="RELATION",
        group=_TABLES,
    )
    encoding: str | None = option(
        None, help="encoding of a table that is not UTF-8, such as cp1252", group=_TABLES
    )
    label_files: tuple[Path, ...] = option(
        (), help="table of id, label and perhaps language", group=_TABLES
    )
    type_files: tuple[Path, ...] = option((), help="table of id and class", group=_TABLES)
    description_files: tuple[Path, ...] = option(
        (), help="table of id, description and perhaps language", group=_TABLES
    )
    same_as: tuple[Path, ...] = option(
        (),
        help="table of ids of one thing, two or more a row, such as links between DBpedia and Wikidata",
        is_plural=True,
        metavar="FILE",
    )
    entities_from_labels: bool = option(
        False,
        help="every id of a file of labels or descriptions is an entity, without a statement too",
        group=_TABLES,
    )
    qualifier_file: Path | None = option(
        None, help="table of statement id, relation and value", group=_TABLES
    )
    entity_ids: Path | None = option(
        None, help="table of number and id, where cells are numbers", group=_TABLES
    )
    relation_ids: Path | None = option(
        None, help="table of number and relation id, where cells are numbers", group=_TABLES
    )
    base_iri: str | None = option(
        None,
        help="put before ids that have none; relative IRIs of RDF are resolved against it",
        metavar="IRI",
        group=_TABLES,
    )
    languages: tuple[str, ...] = option(
        (), help="keep names in these languages only", metavar="CODE"
    )
    fallback_languages: tuple[str, ...] = option(
        (),
        help="where an entity has no name in those, keep the one in the first of these, such as mul",
        metavar="CODE",
    )
    label_language: str = "en"
    literal_relations: tuple[str, ...] = option(
        (), help="relations whose values are text", metavar="A,B", is_joined=True, group=_TABLES
    )
    filters: Filters = field(default_factory=Filters)
    redirects: str = option(
        "follow",
        help="an entity that redirects to another: look-up follows it (follow), its name is an "
        "alias besides (alias), statements name the other one (resolve)",
        choices=REDIRECTS,
    )
    mix_truthy: bool = option(
        False,
        help="add Wikidata's truthy statements to a graph that has full ones, or the other way "
        "round",
    )
    strict: bool = option(False, help="stop at the first rejected piece")
    rejects_path: Path | None = option(None, help="where rejected pieces go")
    batch_size: int = 10_000
    workers: int | None = option(
        None,
        help="processes that read large files of lines; 0 for none (one a core, 4 at most)",
        least=0,
    )
    limits: SourceLimits = field(default_factory=SourceLimits)
    endpoint: EndpointOptions | None = None
    neo4j: Neo4jOptions | None = None
    tables_request: TablesRequest | None = None
    tables: TablesPlan | None = None

    @property
    def term_languages(self) -> frozenset[str]:
        """Languages of the terms that are kept where an entity's terms lie apart."""
        return (
            frozenset((*self.languages, *self.fallback_languages))
            if self.languages
            else frozenset()
        )

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range, or one that needs another."""
        if self.fallback_languages and not self.languages:
            raise InputError(
                "a fallback language needs languages; without them the names of all are kept",
                argument="fallback_languages",
                hint="Say which languages come first, for instance --language en.",
            )
        check_bounds(self)
        self.filters.check()

    def to_json(self) -> dict[str, Any]:
        """Returns what decides the result, for the store to compare a resumed load with."""
        # The opener of a Neo4j holds its password, which is to be in no copy.
        plain: dict[str, Any] = to_plain(
            replace(self, endpoint=None, neo4j=None, tables_request=None, tables=None)
        )
        for name in _NOT_DECISIVE:
            del plain[name]
        plain["filters"] = self.filters.to_json()
        if self.endpoint is not None:
            plain["endpoint"] = self.endpoint.to_json()
        if self.neo4j is not None:
            plain["neo4j"] = self.neo4j.to_json()
        if self.tables is not None:
            plain["tables"] = self.tables.to_json()
        return plain
