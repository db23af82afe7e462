"""The verb ``verify`` of the command line."""

from __future__ import annotations

from collections.abc import Iterator

from graph_service.cli.opening import require_file, settings_of
from graph_service.cli.options import GraphOptions
from graph_service.cli.output import Output
from graph_service.doctor.verification import Verified, verify_store, verify_vectors
from graph_service.service import open_configured_store
from graph_service.settings import Settings
from graph_service.store.protocol import Store

EXIT_DAMAGED = 5


def verify(options: GraphOptions, output: Output, /) -> int:
    """Checks that a store holds what its fingerprints claim; 5 where it does not."""
    settings = settings_of(options)
    require_file(settings.store_url)
    parts = []
    with open_configured_store(settings) as store:
        output.note(f"store {store.url}")
        for item in _parts(store, settings, options, output):
            parts.append(item)
            name = f"{item.graph}: {item.part}" if item.graph else item.part
            output.line(f"{'FAULT' if item.fault else 'whole'}  {name}"
                        + (f": {item.fault}" if item.fault else ""))  # fmt: skip
            if item.fix:
                output.line(f"       -> {item.fix}")
    faults = sum(1 for item in parts if item.fault)
    output.show(
        {"whole": not faults, "parts": parts},
        f"{len(parts)} parts, {faults} damaged" if faults else f"{len(parts)} parts, all whole",
    )
    return EXIT_DAMAGED if faults else 0


def _parts(
    store: Store, settings: Settings, options: GraphOptions, output: Output
) -> Iterator[Verified]:
    yield from verify_store(
        store, graph=options.graph, progress=lambda what: output.note(f"reading {what}")
    )
    # Vectors belong to no graph.
    if options.graph is None and settings.vector_file.exists():
        output.note("reading the vectors of texts")
        yield verify_vectors(settings.vector_file)
