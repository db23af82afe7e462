"""Graphs out again: a published graph, or a view of it, as a file that other programs read."""

from __future__ import annotations

from graph_service.export.content import ExportedGraph, exported_graph
from graph_service.export.report import ExportReport, LeftOut
from graph_service.export.run import ExportFormat, export
from graph_service.export.to_networkx import to_networkx

__all__ = [
    "ExportFormat",
    "ExportReport",
    "ExportedGraph",
    "LeftOut",
    "export",
    "exported_graph",
    "to_networkx",
]
