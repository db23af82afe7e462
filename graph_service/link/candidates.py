"""Runs of a question that are names in the graph, and how sure it is that each is meant as one."""

from __future__ import annotations

import numpy as np

from graph_service.link.function_words import FUNCTION_WORDS
from graph_service.link.question import is_content, join_atoms
from graph_service.link.reading import Reading
from graph_service.link.spans import Certainty, Span
from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph, NodeKind, labels_of
from graph_service.model.identity import key64


def look_up(reading: Reading, /) -> list[Span]:
    """Returns all runs of the question that are names, of whatever certainty."""
    names = list(reading.runs)
    if not names:
        return []
    keys = np.array([key64(name) for name in names], dtype=np.int64)
    index = reading.graph.names
    starts = np.searchsorted(index.name_keys, keys)
    held = np.flatnonzero(starts < len(index.name_keys))
    held = held[index.name_keys[starts[held]] == keys[held]]
    ends = np.searchsorted(index.name_keys, keys[held], side="right")
    judge = _Judge(reading)
    spans: list[Span] = []
    for place, start, end in zip(held.tolist(), starts[held].tolist(), ends.tolist(), strict=True):
        rows = slice(start, end)
        nodes, is_alias = distinct(index.nodes[rows], index.is_alias[rows])
        kinds = reading.graph.node_kinds[nodes]
        entities = kinds == NodeKind.ENTITY
        if entities.any():
            nodes, is_alias = nodes[entities], is_alias[entities]
        name = names[place]
        for left, right in reading.runs[name]:
            certainty = judge.certainty(left, right, nodes, bool(entities.any()))
            if certainty is Certainty.NO:
                continue
            spans.append(
                Span(
                    left=left,
                    right=right,
                    start=reading.atoms[left].start,
                    end=reading.atoms[right - 1].end,
                    name=name,
                    nodes=nodes,
                    is_alias=tuple(is_alias.tolist()),
                    certainty=certainty,
                    weight=0.5 if reading.ends_run(left, right) else 1.0,
                )
            )
    return spans


def distinct(nodes: Int32, is_alias: Bool, /) -> tuple[Int32, Bool]:
    """Returns each node once, by alias only if no label has the name."""
    order = np.lexsort((is_alias, nodes))
    kept = np.unique(nodes[order], return_index=True)[1]
    return nodes[order][kept], is_alias[order][kept]


def degrees_of(graph: KnowledgeGraph, nodes: Int32, /) -> Int64:
    """Returns the number of edges of some nodes, both directions, int64."""
    out, back = graph.out_edges.indptr, graph.in_edges.indptr
    degrees: Int64 = out[nodes + 1] - out[nodes] + back[nodes + 1] - back[nodes]
    return degrees


class _Judge:
    """Whether words that are a name in the graph are meant as one in this question."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._proper: dict[str, bool] = {}

    def certainty(self, left: int, right: int, nodes: Int32, entities: bool, /) -> Certainty:
        reading = self._reading
        atoms = reading.atoms[left:right]
        content = [atom for atom in atoms if is_content(atom)]
        if not content:
            # ``It`` and ``The Who`` are names where every word has a capital that no sentence
            # asks for; a single character of a script without spaces only where it stands alone.
            written = all(atom.capital for atom in atoms) and any(
                atom.capital and not atom.first and atom.text != "i" for atom in atoms
            )
            if written and reading.writes_capitals:
                return Certainty.WRITTEN
            alone = len(atoms) == 1 and atoms[0].alone and not atoms[0].cased
            return (
                Certainty.COMMON if alone and atoms[0].text not in FUNCTION_WORDS else Certainty.NO
            )
        if not entities or all(atom.text.isdigit() for atom in atoms):
            return Certainty.COMMON
        name = join_atoms(atoms)
        if not any(atom.cased for atom in content):
            if name in FUNCTION_WORDS:
                return Certainty.NO
            plain = name in reading.lexicon.relation_names
            if len(name) < 2:
                return Certainty.NO
            return Certainty.COMMON if plain else Certainty.SPOKEN
        if reading.writes_capitals:
            if any(atom.capital and not atom.first for atom in content):
                begun = len(atoms) == 1 and reading.begins_run(left, right)
                # ``Republic`` of a Roman Republic that the graph lacks.
                ended = reading.ends_run(left, right) and not self._is_proper(name, nodes)
                return Certainty.COMMON if begun or ended else Certainty.WRITTEN
            if content[0].capital:
                # The first word of a sentence: the graph says whether it is a proper name.
                if len(atoms) == 1 and (
                    reading.begins_run(left, right) or reading.lexicon.is_plain(content[0].text)
                ):
                    return Certainty.COMMON
                proper = self._is_proper(name, nodes)
                return Certainty.WRITTEN if proper else Certainty.COMMON
            several = len(content) > 1
            proper = several and self._is_proper(name, nodes)
            return Certainty.SPOKEN if proper else Certainty.COMMON
        if name in reading.lexicon.relation_names or all(
            reading.lexicon.is_plain(atom.text) for atom in content
        ):
            return Certainty.COMMON
        proper = self._is_proper(name, nodes)
        return Certainty.SPOKEN if proper else Certainty.COMMON

    def _is_proper(self, name: str, nodes: Int32) -> bool:
        """Returns whether the graph writes a name with a capital, or with none in any script.

        English goes first, for German writes all nouns so.
        """
        known = self._proper.get(name)
        if known is None:
            known = self._proper[name] = self._find_proper(nodes)
        return known

    def _find_proper(self, nodes: Int32) -> bool:
        graph = self._reading.graph
        best = np.argsort(-degrees_of(graph, nodes), kind="stable")[:5]
        languages = ("en", "mul", *self._reading.languages)
        shown = labels_of(graph.node_labels, nodes[best], languages)
        for label in shown:
            if label is None:
                return True
            if label != label.lower() or label.upper() == label:
                return True
        return False
