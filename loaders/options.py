"""What a load can be told, how it shows progress, and what it says at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.errors import InputError
from graph_service.options import check_bounds, option
from loaders.property_graph.options import Neo4jOptions
from loaders.source import SourceLimits
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters

if TYPE_CHECKING:
    from graph_service.model.graph_info import GraphInfo
    from graph_service.store.protocol import LoadCounts
    from loaders.items import Reject

DEFAULT_BATCH_SIZE = 10_000
SHOWN_REJECTS = 20
EXIT_REJECTS = 3
EXIT_STOPPED = 130
DEFAULT_REJECTS_PATH = Path("rejects.jsonl")
_FILES = ("qualifier_file", "entity_ids", "relation_ids")
_FILE_LISTS = ("label_files", "type_files", "description_files")
REDIRECTS = ("follow", "resolve", "alias")
_TABLES = "tables"


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
    label_files: tuple[Path, ...] = option(
        (), help="table of id, label and perhaps language", group=_TABLES
    )
    type_files: tuple[Path, ...] = option((), help="table of id and class", group=_TABLES)
    description_files: tuple[Path, ...] = option(
        (), help="table of id, description and perhaps language", group=_TABLES
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
    batch_size: int = DEFAULT_BATCH_SIZE
    workers: int | None = option(
        None,
        help="processes that read large files of lines; 0 for none (one a core, 4 at most)",
        least=0,
    )
    limits: SourceLimits = field(default_factory=SourceLimits)
    endpoint: EndpointOptions | None = None
    neo4j: Neo4jOptions | None = None

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
        # Its password is to be in no copy.
        payload = asdict(replace(self, neo4j=None))
        for key in ("rejects_path", "batch_size", "strict", "workers", "filters"):
            del payload[key]
        payload["filters"] = self.filters.to_json()
        del payload["endpoint"]
        if self.endpoint is not None:
            payload["endpoint"] = self.endpoint.to_json()
        del payload["neo4j"]
        if self.neo4j is not None:
            payload["neo4j"] = self.neo4j.to_json()
        for key in _FILES:
            path = getattr(self, key)
            payload[key] = str(path) if path else None
        for key in _FILE_LISTS:
            payload[key] = [str(path) for path in getattr(self, key)]
        for key in ("columns", "languages", "fallback_languages", "literal_relations"):
            payload[key] = list(payload[key])
        return payload


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a load stands.

    Attributes:
        file: The file being read; ``format`` its format.
        bytes_read: Bytes taken from disk, of all files so far; ``bytes_total`` of all there
            are, 0 for a pipe.
        line: Line reached in the file; ``note`` is where a source without lines stands.
        statements, entities, rejected: Counts so far, as read.
        seconds: Since this run began.
    """

    file: str
    format: str
    bytes_read: int
    bytes_total: int
    line: int
    statements: int
    entities: int
    rejected: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did.

    Attributes:
        graph: The published graph; None when the load was stopped before its end.
        status: ``published``; ``stopped``: the same command goes on where it was; ``unchanged``:
            a refresh found what is published, and published nothing.
        formats: Names of the formats read, with their number of files.
        read_statements, read_entities: As they came from the source.
        counts: What became of them in the store.
        skipped: What was left out on purpose (or kept as it came), by reason.
        kept: What was loaded although something about it is out of the ordinary, by reason.
        rejected: How many pieces could not be read; ``rejects`` are the first of them.
        rejects_path: Where all rejects are, if there are any.
        seconds: Of this run.
        resumed: Whether this run went on with an interrupted one.
        incomplete: What an endpoint did not give whole, by reason; empty where the load is
            complete.
        filters: Which part of the source was asked for, as ``Filters.to_json``; empty for all.
        filter_lines: The same for people.
        wikidata_forms: ``full`` and ``truthy``, if Wikidata's statements are in the graph so.
        adds_to: The edition that the load added to; None where the graph holds this load alone.
        refreshes: The edition that the load refreshed.
    """

    source: str
    graph_name: str
    graph: GraphInfo | None
    status: str
    formats: Mapping[str, int]
    read_statements: int
    read_entities: int
    counts: LoadCounts | None
    skipped: Mapping[str, int]
    rejected: int
    rejects: Sequence[Reject]
    rejects_path: str | None
    seconds: float
    resumed: bool
    incomplete: Mapping[str, int] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    filter_lines: Sequence[str] = ()
    wikidata_forms: Sequence[str] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    adds_to: str | None = None
    refreshes: str | None = None

    @property
    def exit_code(self) -> int:
        """130 of a load that was stopped; 3 when anything was rejected or is not whole; else 0."""
        if self.status == "stopped":
            return EXIT_STOPPED
        return EXIT_REJECTS if self.rejected or self.incomplete else 0

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        graph: dict[str, Any] | None = None
        if self.graph is not None:
            graph = {
                "name": self.graph.name,
                "edition": self.graph.edition,
                "counts": asdict(self.graph.counts),
                "fingerprints": asdict(self.graph.fingerprints),
                "published_at": self.graph.published_at,
            }
        return {
            "source": self.source,
            "graph_name": self.graph_name,
            "status": self.status,
            "graph": graph,
            "formats": dict(self.formats),
            "read": {"statements": self.read_statements, "entities": self.read_entities},
            "counts": asdict(self.counts) if self.counts else None,
            "skipped": dict(sorted(self.skipped.items())),
            "kept": dict(sorted(self.kept.items())),
            "rejected": self.rejected,
            "rejects": [reject.to_json() for reject in self.rejects],
            "rejects_path": self.rejects_path,
            "seconds": round(self.seconds, 3),
            "resumed": self.resumed,
            "complete": not self.incomplete,
            "incomplete": dict(sorted(self.incomplete.items())),
            "filters": dict(self.filters),
            "wikidata_forms": list(self.wikidata_forms),
            "adds_to": self.adds_to,
            "refreshes": self.refreshes,
            "exit_code": self.exit_code,
        }

    def lines(self) -> list[str]:
        """Returns the report as a person reads it."""
        formats = ", ".join(
            name if number == 1 else f"{name} ({number} files)"
            for name, number in sorted(self.formats.items())
        )
        lines = [f"source: {self.source}", f"format: {formats or 'none recognised'}"]
        lines.extend(self.filter_lines)
        if self.refreshes is not None:
            lines.append(f"refreshed: {self.refreshes}")
        if self.resumed:
            lines.append("resumed: an interrupted load of the same source went on")
        lines.append(
            f"read: {self.read_statements:,} statements, {self.read_entities:,} entity records "
            f"in {self.seconds:.1f} s"
        )
        if self.counts is not None:
            counts = self.counts
            lines.append(
                f"statements: {counts.written:,} written, {counts.updated:,} updated, "
                f"{counts.duplicates:,} duplicates, {counts.removed:,} removed, "
                f"{counts.outdated:,} outdated"
                + (f", {counts.conflicting:,} conflicting" if counts.conflicting else "")
            )
        lines.extend(
            f"skipped: {number:,} {reason}" for reason, number in sorted(self.skipped.items())
        )
        lines.extend(f"kept: {number:,} {reason}" for reason, number in sorted(self.kept.items()))
        lines.extend(
            f"NOT COMPLETE: {number:,} {reason}"
            for reason, number in sorted(self.incomplete.items())
        )
        if self.rejected:
            lines.append(f"rejected: {self.rejected:,}, all of them in {self.rejects_path}")
            lines.extend(f"  {reject.place}: {reject.reason}" for reject in self.rejects)
            if self.rejected > len(self.rejects):
                lines.append(f"  and {self.rejected - len(self.rejects):,} more")
        if self.graph is None:
            lines.append("stopped: nothing is published; the same command goes on from here")
        else:
            if self.status == "unchanged":
                lines.append("unchanged: the source has what is published; no new edition")
            counts_ = self.graph.counts
            lines.append(
                f"graph: {self.graph.edition}: {counts_.entities:,} entities, "
                f"{counts_.statements:,} statements ({counts_.literals:,} with literals), "
                f"{counts_.relations:,} relations"
            )
            if counts_.names:
                lines.append(
                    f"names: {counts_.names:,} ids have names and no statement; they are kept, and "
                    "are no entities"
                )
            lines.append(f"edges fingerprint: {self.graph.fingerprints.edges}")
            lines.append(f"content fingerprint: {self.graph.fingerprints.content}")
        return lines
