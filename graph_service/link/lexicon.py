"""What the linker knows of a graph besides its arrays: made when first asked for, kept with it."""

from __future__ import annotations

import threading
import weakref

import numpy as np

from graph_service.link.function_words import COMMON_NOUNS
from graph_service.link.misspelt import SpellingIndex
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.text import normalise_name, relation_words

# A bound on work, far beyond the relations of a real graph in two languages.
_MAX_RELATION_LABELS = 50_000


class Lexicon:
    """Words and names of one graph.

    Attributes:
        relation_names: Labels of its relations, and the words of their ids, in normal form.
        relation_words: The words that those are made of, of three letters and more.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        names: set[str] = set()
        columns = graph.relation_labels
        total = sum(len(column.texts) for column in columns.values())
        for language in sorted(columns):
            if total > _MAX_RELATION_LABELS and language not in ("en", "mul"):
                continue
            texts = columns[language].texts
            names.update(normalise_name(text) for text in texts.take(np.arange(len(texts))))
        for number in range(min(graph.relation_count, _MAX_RELATION_LABELS)):
            names.add(normalise_name(relation_words(graph.relation_ids[number])))
        self.relation_names = frozenset(names)
        self.relation_words = frozenset(
            word for name in names for word in name.split() if len(word) > 2
        )
        self._spelling: SpellingIndex | None = None
        self._lock = threading.Lock()

    def is_plain(self, word: str, /) -> bool:
        """Returns whether a word is a common noun, or one that names of relations are made of."""
        return word in COMMON_NOUNS or word in self.relation_words

    def spelling(self, graph: KnowledgeGraph, /) -> SpellingIndex:
        """Returns the index of the graph's labels by their letters."""
        with self._lock:
            if self._spelling is None:
                self._spelling = SpellingIndex.build(graph.node_labels)
            return self._spelling


_LEXICONS: weakref.WeakKeyDictionary[KnowledgeGraph, Lexicon] = weakref.WeakKeyDictionary()
_LEXICONS_LOCK = threading.Lock()


def lexicon_of(graph: KnowledgeGraph, /) -> Lexicon:
    """Returns the lexicon of a graph, the same one while the graph is open."""
    with _LEXICONS_LOCK:
        found = _LEXICONS.get(graph)
        if found is None:
            found = _LEXICONS[graph] = Lexicon(graph)
        return found


def degrees_of(graph: KnowledgeGraph, nodes: Int32, /) -> Int64:
    """Returns the number of edges of some nodes, both directions, int64."""
    out, back = graph.out_edges.indptr, graph.in_edges.indptr
    degrees: Int64 = out[nodes + 1] - out[nodes] + back[nodes + 1] - back[nodes]
    return degrees
