"""The graph of a frozen set in a store of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from graph_service.client import Client
from graph_service.model.identity import Fingerprints
from graph_service.model.request import ViewRef
from graph_service.service import Service, open_service
from graph_service.settings import read_settings
from graph_service.store import SQLITE_SCHEME
from graph_service.views.digest import gone_statements, view_fingerprint
from loaders.load import load
from loaders.options import LoadOptions
from queries.robustness.building import Folder
from queries.robustness.material import GraphFiles

READ_TIMEOUT_S = 3600.0
"""Rules are mined, and large views drawn, in one read."""


class StoredSetGraph:
    """The graph of a set as a service has it.

    Args:
        service: Over the store of the set.
        name: Of the graph.
    """

    def __init__(self, service: Service, name: str, /) -> None:
        self.service = service
        self._name = name
        self.client = Client.over(service)

    def fingerprints(self) -> Fingerprints | None:
        """Returns the fingerprints of the graph; None where it is not loaded."""
        for info in self.service.graphs():
            if info.name == self._name:
                return info.fingerprints
        return None

    def load(self, files: GraphFiles, /) -> None:
        """Loads the graph; goes on where a load was stopped."""
        if files.is_table:
            options = LoadOptions(
                format="tsv",
                columns=("head", "relation", "tail"),
                header=False,
                strict=True,
                label_files=() if files.labels is None else (files.labels,),
            )
        else:
            options = LoadOptions(strict=True)
        load(
            files.statements,
            store=self.service.store,
            graph=self._name,
            replace=True,
            options=options,
        )

    def view_fingerprint(self, view: ViewRef, /) -> str:
        """Returns the fingerprint of what a view changes."""
        arrays, applied = self.service.views.apply(view, graph=self._name)
        return view_fingerprint(arrays, applied.delta, applied.overlay)

    def gone_statements(self, view: ViewRef, /) -> set[str]:
        """Returns the ids of the statements that a view removes or changes."""
        arrays, applied = self.service.views.apply(view, graph=self._name)
        return gone_statements(arrays, applied.overlay)


def store_url(folder: Folder, /) -> str:
    """Returns the address of the store that has the graph of a set."""
    return f"{SQLITE_SCHEME}{folder.store_file}"


@contextmanager
def open_set_graph(folder: Folder, /) -> Iterator[StoredSetGraph]:
    """Opens the store of a set, or makes it."""
    folder.of_source.mkdir(parents=True, exist_ok=True)
    name = folder.recipe.graph_name
    settings = replace(
        read_settings(), store=store_url(folder), graph=name, read_timeout_s=READ_TIMEOUT_S
    )
    with open_service(settings=settings) as service:
        yield StoredSetGraph(service, name)
