"""Options of load for endpoints."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.settings import read_settings

if TYPE_CHECKING:
    from loaders.sparql.options import EndpointOptions


class _PrintDropped(argparse.Action):
    """Prints the list of relations that loads from DBpedia leave out, as it can be given back."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(
            option_strings,
            dest=argparse.SUPPRESS,
            nargs=0,
            help="print the relations that loads from DBpedia leave out, and end",
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from loaders.sparql.dialects import BOOKKEEPING_FILE

        print(BOOKKEEPING_FILE.read_text(encoding="utf-8"), end="")
        parser.exit()


def add_endpoint_options(load: argparse.ArgumentParser, /) -> None:
    """Adds the options of a walk, and those of endpoints alone."""
    endpoint = load.add_argument_group("from an endpoint")
    walk = load.add_argument_group("around an entity, from an endpoint or with --around")
    walk.add_argument("--hops", type=int, metavar="N", help="steps around the entity (1)")
    walk.add_argument("--direction", choices=["both", "out", "in"],
                      help="which statements of an entity (both)")  # fmt: skip
    walk.add_argument("--max-incoming", type=int, metavar="N", help="entities that are the "
                      "value of more statements are hubs, left out (500)")  # fmt: skip
    walk.add_argument("--drop-relations", metavar="FILE", help="relations to leave out, one "
                      "IRI a line")  # fmt: skip
    endpoint.add_argument("--endpoint", metavar="URL", help="another SPARQL endpoint")
    endpoint.add_argument("--statements", choices=["full", "truthy"], help="of Wikidata: whole "
                          "statements from entities' documents, or the best ones by SPARQL alone "
                          "(full; with --endpoint truthy)")  # fmt: skip
    endpoint.add_argument("--entity-data", metavar="URL", help="where documents come from: an "
                          "api.php or Special:EntityData (Wikidata's API)")  # fmt: skip
    endpoint.add_argument("--contact", metavar="MAIL_OR_URL", help="whom its operators can write "
                          "to; default: GRAPH_SERVICE_CONTACT")  # fmt: skip
    endpoint.add_argument("--keep-relation", action="append", default=[], metavar="IRI",
                          help="keep this one of the relations that are left out, such as "
                          "wikiPageWikiLink; may be repeated")  # fmt: skip
    # As `sample` calls it; the longer name is what it was called before.
    endpoint.add_argument("--print-dropped", "--dropped-relations", action=_PrintDropped)
    endpoint.add_argument("--max-statements", type=int, metavar="N", help="stop the walk there")
    endpoint.add_argument("--max-rows", type=int, metavar="N", help="an entity with more "
                          "statements is left out and said (500,000)")  # fmt: skip
    endpoint.add_argument("--max-bytes", type=int, metavar="N", help="stop, to go on later, "
                          "after reading so much (8 GiB)")  # fmt: skip
    endpoint.add_argument("--max-seconds", type=float, metavar="S", help="stop, to go on later, "
                          "after so long (86,400)")  # fmt: skip
    endpoint.add_argument("--interval", type=float, metavar="S", help="pause between requests in "
                          "seconds (1)")  # fmt: skip
    endpoint.add_argument("--no-cache", action="store_true", help="keep no answers on disk")


def endpoint_options_of(options: argparse.Namespace, /) -> EndpointOptions | None:
    """Returns how an endpoint is read; None where a file is, and nothing says otherwise."""
    from loaders.sparql.options import EndpointOptions, is_endpoint_source

    settings = read_settings()
    given: dict[str, Any] = {
        "endpoint": options.endpoint,
        "statements": options.statements,
        "entity_data": options.entity_data,
        "keep_relations": tuple(options.keep_relation) or None,
        "max_statements": options.max_statements,
        "max_rows": options.max_rows,
        "max_bytes": options.max_bytes,
        "max_seconds": options.max_seconds,
        "interval_s": options.interval,
        "contact": options.contact,
    }
    walks = is_endpoint_source(options.source)
    if walks:
        given |= {
            "hops": options.hops,
            "direction": options.direction,
            "max_incoming": options.max_incoming,
            "drop_relations": Path(options.drop_relations) if options.drop_relations else None,
        }
    given = {name: value for name, value in given.items() if value is not None}
    if not walks:
        # Refused by the load: a file has no address.
        return EndpointOptions(**given) if given else None
    given.setdefault("contact", settings.contact or None)
    if not options.no_cache:
        given["cache_dir"] = settings.cache_path / "sparql"
    return EndpointOptions(**given)
