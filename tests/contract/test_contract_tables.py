"""Tables of things come to the same graph in both stores (B14)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from error_texts import check_counts

from benchmarks.messy_tables.question_set import ENCODINGS, FOLDERS
from graph_service.store import open_store
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions

PARTS = (
    "Part No;Name;Supplier;Price;Ordered;Colours\nP-1;Saw;2;EUR 98,97;03.04.2024;red|blue\n"
    "P-2;Axe;1;1.301,60;28.04.2024;Blue\nP-3;Peg;2;EUR 0,10;n/a;red\n"
)
SUPPLIERS = "id,name,city\n1,Kestrel,Leeds\n2,Pola Plastics,Gda\u0144sk\n"


def test_a_folder_of_tables_is_one_graph(
    store: Store, graph_names: Callable[[], str], tmp_path: Path
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "parts.csv").write_text(PARTS)
    (folder / "suppliers.csv").write_text(SUPPLIERS)
    name, options = graph_names(), LoadOptions(row="auto")
    report = load(folder, store=store, graph=name, options=options)
    assert report.graph is not None
    assert report.rejected == 0
    check_counts(report.skipped, 1)
    with open_store(f"sqlite:///{tmp_path / 'beside.db'}") as beside:
        other = load(folder, store=beside, graph=name, options=options)
    assert other.graph is not None
    assert report.graph.fingerprints == other.graph.fingerprints
    assert report.graph.counts == other.graph.counts


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_people_export_is_one_graph(
    store: Store, graph_names: Callable[[], str], tmp_path: Path, folder: str
) -> None:
    name = graph_names()
    rejects = tmp_path / "rejects.jsonl"
    options = LoadOptions(row="auto", encoding=ENCODINGS.get(folder), rejects_path=rejects)
    report = load(FOLDERS[folder], store=store, graph=name, options=options)
    with open_store(f"sqlite:///{tmp_path / 'beside.db'}") as beside:
        other = load(FOLDERS[folder], store=beside, graph=name, options=options)
    assert report.graph is not None
    assert other.graph is not None
    assert report.graph.fingerprints == other.graph.fingerprints
    assert report.graph.counts == other.graph.counts
    assert (report.rejected, report.skipped) == (0, other.skipped)
