"""Tables of triples as graphs of a store."""

from __future__ import annotations

from pathlib import Path

from graph_service.store.protocol import Store


def load_table(path: Path, store: Store, graph: str, labels: Path | None, /) -> None:
    """Loads a table of triples into a graph of a store, with a table of labels."""
    from loaders.load import load
    from loaders.options import LoadOptions

    load(
        path,
        store=store,
        graph=graph,
        replace=True,
        options=LoadOptions(
            columns=("head", "relation", "tail"),
            header=False,
            label_files=() if labels is None else (labels,),
            # Measures count on names without a statement: to tell them apart is the work.
            entities_from_labels=True,
            strict=True,
        ),
    )
