"""Loads an exported file by the command that its report gives."""

from __future__ import annotations

import shlex
from pathlib import Path

from graph_service.export import ExportReport
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport

SUFFIXES = {
    "jsonl": "jsonl",
    "parquet": "parquet",
    "ntriples": "nt",
    "nquads": "nq",
    "tsv": "tsv",
    "kgtk": "kgtk",
}


def load_back(report: ExportReport, store: Store, graph: str, rejects: Path) -> LoadReport:
    """Loads what an export wrote into another graph, as its command says."""
    words = shlex.split(report.commands[0])

    def after(option: str) -> str | None:
        return words[words.index(option) + 1] if option in words else None

    labels = after("--label-file")
    options = LoadOptions(
        format=after("--format"),
        columns=tuple((after("--columns") or "").split(",")) if after("--columns") else (),
        literal_relations=tuple(filter(None, (after("--literal-relations") or "").split(","))),
        label_files=(Path(labels),) if labels else (),
        rejects_path=rejects,
    )
    assert words[:2] == ["graph-service", "load"]
    return load(words[2], store=store, graph=graph, replace=True, options=options)


def check_round_trip(report: ExportReport, back: LoadReport) -> None:
    """Asserts that just what the report promises came back, and that nothing was rejected."""
    assert back.graph is not None
    assert back.rejected == 0, back.rejects
    edges = back.graph.fingerprints.edges == report.fingerprints.edges
    content = back.graph.fingerprints.content == report.fingerprints.content
    if report.comes_back == "content":
        assert edges
        assert content
        assert not report.left_out
    else:
        # What is counted as lost must have been lost: a promise kept by chance would say too little.
        assert edges == (report.comes_back == "edges")
