"""The options of load that choose what of a source is loaded, and how it is read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loaders.options import LoadOptions
    from loaders.subset.filters import Filters


def add_reading_options(load: argparse.ArgumentParser, /) -> None:
    """Adds how a source is read."""
    load.add_argument("--format", metavar="NAME", help="when it is not recognised")
    load.add_argument("--language", action="append", default=[], metavar="CODE",
                      help="keep names in these languages only")  # fmt: skip
    load.add_argument("--fallback-language", action="append", default=[], metavar="CODE",
                      help="where an entity has no name in those, keep the one in the first of "
                      "these, such as mul")  # fmt: skip
    load.add_argument("--redirects", choices=["follow", "alias", "resolve"], default="follow",
                      help="an entity that redirects to another: look-up follows it (follow), its "
                      "name is an alias besides (alias), statements name the other one (resolve)")  # fmt: skip
    load.add_argument("--mix-truthy", action="store_true", help="add Wikidata's truthy "
                      "statements to a graph that has full ones, or the other way round")  # fmt: skip
    load.add_argument("--strict", action="store_true", help="stop at the first rejected line")
    load.add_argument("--rejects", metavar="FILE", help="where rejected lines go")
    load.add_argument("--workers", type=int, metavar="N", help="processes that read large files "
                      "of lines; 0 for none (one a core, 4 at most)")  # fmt: skip
    load.add_argument("--quiet", action="store_true", help="no progress bar")
    neo4j = load.add_argument_group("from a Neo4j")
    neo4j.add_argument("--mapping", metavar="FILE", help="which of its nodes, relationships and "
                       "properties to read, as what")  # fmt: skip
    neo4j.add_argument("--source-database", default="neo4j", metavar="NAME",
                       help="the database to read (neo4j)")  # fmt: skip
    table = load.add_argument_group("tables")
    table.add_argument("--columns", metavar="A,B,C", help="what the columns are, by order, such "
                       "as head,relation,tail, or by header, such as head=who,tail=whom")  # fmt: skip
    table.add_argument("--labels", action="append", default=[], metavar="FILE", help="table of id, "
                       "label and perhaps language; may be repeated")  # fmt: skip
    table.add_argument("--types", action="append", default=[], metavar="FILE",
                       help="table of id and class; may be repeated")  # fmt: skip
    table.add_argument("--descriptions", action="append", default=[], metavar="FILE",
                       help="table of id, description and perhaps language; may be repeated")  # fmt: skip
    table.add_argument("--entities-from-labels", action="store_true", help="every id of a file of "
                       "labels or descriptions is an entity, without a statement too")  # fmt: skip
    table.add_argument("--qualifiers", metavar="FILE", help="table of statement id, relation and "
                       "value")  # fmt: skip
    table.add_argument("--entity-ids", metavar="FILE", help="table of number and id, where cells "
                       "are numbers")  # fmt: skip
    table.add_argument("--relation-ids", metavar="FILE", help="the same of relations")
    table.add_argument("--base-iri", metavar="IRI", help="put before ids that have none; "
                       "relative IRIs of RDF are resolved against it")  # fmt: skip
    table.add_argument("--literal-relations", metavar="A,B", help="their values are text")


def add_filter_options(load: argparse.ArgumentParser, /) -> None:
    """Adds which part of a file is loaded."""
    part = load.add_argument_group("only a part of a file (what is given must hold together)")
    part.add_argument("--id", action="append", default=[], metavar="ID",
                      help="only this entity; may be repeated")  # fmt: skip
    part.add_argument("--ids", metavar="FILE", help="only the entities of this list, one a line")
    part.add_argument("--class", dest="class_", action="append", default=[], metavar="ID",
                      help="only instances of this class; may be repeated")  # fmt: skip
    part.add_argument("--subclasses", metavar="FILE", help="and of its subclasses: a table of "
                      "class and superclass, or a graph with P279 or subClassOf")  # fmt: skip
    part.add_argument("--having", action="append", default=[], metavar="ID[=VALUE]",
                      help="only entities with a statement of this relation, with this value; "
                      "may be repeated")  # fmt: skip
    part.add_argument("--sitelink", action="append", default=[], metavar="SITE",
                      help="only entities with a page there, such as enwiki (Wikibase JSON)")  # fmt: skip
    part.add_argument("--relation", action="append", default=[], metavar="ID",
                      help="only statements of this relation; may be repeated")  # fmt: skip
    part.add_argument("--around", action="append", default=[], metavar="ID",
                      help="only what lies up to --hops steps around this entity")  # fmt: skip
    part.add_argument("--value-names", action="store_true", help="also the names of entities that "
                      "are values (reads the file twice)")  # fmt: skip


def filters_of(options: argparse.Namespace, /, *, walks: bool) -> Filters:
    """Returns the filters that were asked for.

    Args:
        options: Of the command line.
        walks: Whether the source is walked by its own reader, which has the hops then.
    """
    from loaders.subset.filters import Filters

    given: dict[str, Any] = {
        "entities": tuple(options.id),
        "entities_file": _path(options.ids),
        "classes": tuple(options.class_),
        "subclasses": _path(options.subclasses),
        "having": tuple(options.having),
        "sitelinks": tuple(options.sitelink),
        "relations": tuple(options.relation),
        "around": tuple(options.around),
        "value_names": options.value_names,
    }
    if not walks:
        given |= {
            "drop_relations": _path(options.drop_relations),
            "hops": options.hops,
            "direction": options.direction,
            "max_incoming": options.max_incoming,
        }
    return Filters(**{name: value for name, value in given.items() if value is not None})


def load_options_of(options: argparse.Namespace, /, *, walks: bool, **more: Any) -> LoadOptions:
    """Returns the options of a load; ``more`` are those that other modules made."""
    from loaders.options import LoadOptions

    return LoadOptions(
        format=options.format,
        columns=_listed(options.columns),
        label_files=tuple(map(Path, options.labels)),
        type_files=tuple(map(Path, options.types)),
        description_files=tuple(map(Path, options.descriptions)),
        entities_from_labels=options.entities_from_labels,
        qualifier_file=_path(options.qualifiers),
        entity_ids=_path(options.entity_ids),
        relation_ids=_path(options.relation_ids),
        base_iri=options.base_iri,
        languages=tuple(code.lower() for code in options.language),
        fallback_languages=tuple(code.lower() for code in options.fallback_language),
        literal_relations=_listed(options.literal_relations),
        redirects=options.redirects,
        mix_truthy=options.mix_truthy,
        filters=filters_of(options, walks=walks),
        strict=options.strict,
        workers=options.workers,
        rejects_path=_path(options.rejects),
        **more,
    )


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()
