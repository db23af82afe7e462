"""Views and deviation of published graphs by an engine are one machine's (O10, O11, B19)."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import pytest
from cluster_graph import check_deviation, check_drawn, open_both, spec_of

from graph_service.cluster.graph import open_graph
from graph_service.cluster.views import METHODS, create_view
from graph_service.model.view_spec import Method
from graph_service.store import Store
from loaders.load import load
from loaders.options import LoadOptions
from queries.datasets.demo_set import demo_slice


def check(session: Any, source: Path, folder: Path, *methods: Method) -> None:
    """Draws views of a loaded file by some methods, and measures the first."""

    def load_source(store: Store) -> None:
        load(source, store=store, graph="made", options=LoadOptions(workers=0))

    with open_both(folder, load_source) as both:
        graph = open_graph(session, both.folder)
        views = [
            create_view(graph, spec_of(method, 0.1, 7), folder / method.value) for method in methods
        ]
        for view in views:
            check_drawn(view, both)
        check_deviation(graph, both, views[0])


def test_the_demo(session: Any, tmp_path: Path) -> None:
    check(session, demo_slice(), tmp_path, *METHODS)


@pytest.mark.data
def test_codex_s(session: Any, tmp_path: Path, data_dir: Path) -> None:
    methods = (
        Method.RELATION_REPLACEMENT,
        Method.EDGE_DELETION,
        Method.INVERSION,
        Method.RELATION_SWAPPING,
    )
    check(session, data_dir / "codex" / "s-train.tsv", tmp_path, *methods)


@pytest.mark.data
def test_metaqa(session: Any, tmp_path: Path, data_dir: Path) -> None:
    """129,413 statements of nine relations."""
    source = tmp_path / "metaqa.tsv"
    with lzma.open(data_dir / "metaqa" / "kb_named.tsv.xz") as packed:
        source.write_bytes(packed.read())
    check(session, source, tmp_path, Method.EDGE_DELETION, Method.RELATION_REPLACEMENT)
