"""The entity that a title names, told from those of the same name by the text below the title."""

from __future__ import annotations

import re

import numpy as np

from graph_service.link.candidates import distinct, look_up
from graph_service.link.disambiguation import rank_candidates
from graph_service.link.question import read_atoms
from graph_service.link.question_context import read
from graph_service.link.spans import Certainty, Span
from graph_service.model.graph import KnowledgeGraph, NodeKind
from graph_service.text.fold import normalise_name

_QUALIFIED = re.compile(r"(.*\S)\s*\(([^()]+)\)\s*")


def link_title(title: str, graph: KnowledgeGraph, /, *, context: str = "") -> int | None:
    """Returns the node that a title names, or None.

    The title is looked up as a whole among labels and aliases of all languages; one that ends in
    a parenthesis (``Mercury (planet)``) also without it. Of entities of one name the linker's
    rule decides (K2): most neighbours whose value stands in the parenthesis or the context; then
    label over alias, higher degree, and the smaller key.

    Args:
        title: As the source has it.
        graph: Whose names and neighbours are looked at.
        context: The beginning of the text.
    """
    qualified = _QUALIFIED.fullmatch(title)
    tries = [(title, "")]
    if qualified:
        tries.append((qualified[1], qualified[2]))
    for name, qualifier in tries:
        normal = normalise_name(name)
        if not normal:
            continue
        nodes, is_alias = distinct(*graph.names.find(normal))
        entities = graph.node_kinds[nodes] == NodeKind.ENTITY
        nodes, is_alias = nodes[entities], is_alias[entities]
        if len(nodes) == 1:
            return int(nodes[0])
        if len(nodes):
            reading = read(f"{name}\n{qualifier}\n{context}", graph)
            span = Span(
                left=0,
                right=len(read_atoms(name)),
                start=0,
                end=len(name),
                name=normal,
                nodes=nodes.astype(np.int32),
                is_alias=tuple(is_alias.tolist()),
                certainty=Certainty.WRITTEN,
            )
            return rank_candidates(reading, span, look_up(reading), limit=1)[0].node
    return None
