"""What the linker knows of a graph besides its arrays: made when first asked for, kept with it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from graph_service.link.function_words import COMMON_NOUNS
from graph_service.link.letters import Vocabulary
from graph_service.link.misspelt import ExactLabels, SpellingIndex
from graph_service.link.partial_names import PartialNames
from graph_service.model.graph import KnowledgeGraph, LabelColumn, StringTable
from graph_service.text.fold import normalise_name, relation_words

# A bound on work, far beyond the relations of a real graph in two languages.
_MAX_RELATION_LABELS = 50_000


@dataclass(frozen=True, slots=True)
class RelationNames:
    """What the relations of a graph are called.

    Attributes:
        names: Their labels, and the words of their ids, in normal form.
        words: The words that those are made of, of three letters and more.
    """

    names: frozenset[str]
    words: frozenset[str]

    @classmethod
    def build(cls, labels: Mapping[str, Iterable[str]], ids: Iterable[str], /) -> RelationNames:
        """Returns them from labels by language, and from the ids in order of their keys.

        Of very many labels only those in English and in no one language count.
        """
        texts = {language: list(labels[language]) for language in sorted(labels)}
        total = sum(map(len, texts.values()))
        names: set[str] = set()
        for language, some in texts.items():
            if total <= _MAX_RELATION_LABELS or language in ("en", "mul"):
                names.update(map(normalise_name, some))
        for id_ in islice(ids, _MAX_RELATION_LABELS):
            names.add(normalise_name(relation_words(id_)))
        words = frozenset(word for name in names for word in name.split() if len(word) > 2)
        return cls(frozenset(names), words)

    @classmethod
    def of_graph(cls, graph: KnowledgeGraph, /) -> RelationNames:
        """Returns those of a whole graph."""
        columns = graph.relation_labels
        return cls.build(
            {
                language: column.texts.take(np.arange(len(column.texts)))
                for language, column in columns.items()
            },
            (graph.relation_ids[number] for number in range(graph.relation_count)),
        )


class Lexicon:
    """Words and names of one graph.

    Attributes:
        relation_names: Labels of its relations, and the words of their ids, in normal form.
        relation_words: The words that those are made of, of three letters and more.

    Args:
        relations: Those names and words.
        misspelt: Whether all labels are at hand, so that misspelt ones can be told.
    """

    def __init__(self, relations: RelationNames, *, misspelt: bool = True) -> None:
        self.relation_names = relations.names
        self.relation_words = relations.words
        self._misspelt = misspelt
        self._spelling: SpellingIndex | None = None
        self._partial_names: PartialNames | None = None
        self._lock = threading.Lock()

    def is_plain(self, word: str, /) -> bool:
        """Returns whether a word is a common noun, or one that names of relations are made of."""
        return word in COMMON_NOUNS or word in self.relation_words

    def is_plain_name(self, name: str, content: Iterable[str], /) -> bool:
        """Returns whether a name may be nouns that questions ask with.

        Args:
            name: In normal form.
            content: Its words that are no function words.
        """
        return name in self.relation_names or all(self.is_plain(word) for word in content)

    def spelling(self, graph: KnowledgeGraph, /) -> SpellingIndex | ExactLabels:
        """Returns the index of the graph's labels by their letters; of a part, its own labels."""
        if not self._misspelt:
            return ExactLabels(graph)
        with self._lock:
            if self._spelling is None:
                self._spelling = SpellingIndex.build(graph.node_labels)
            return self._spelling

    def partial_names(self, graph: KnowledgeGraph, /) -> PartialNames | None:
        """Returns the index of the graph's labels by the words in them; of a part, None."""
        if not self._misspelt:
            return None
        with self._lock:
            if self._partial_names is None:
                self._partial_names = PartialNames(graph)
            return self._partial_names


class PartLexicon(Lexicon):
    """What is known of a graph of which a part was read for one question.

    Args:
        whole: Of the graph.
        named: Nodes of the part whose labels the question may hold a part of, or nearly.
        times: How many names of the graph have each of some words.
    """

    def __init__(
        self, whole: Lexicon, /, *, named: Sequence[int], times: Mapping[str, int]
    ) -> None:
        super().__init__(RelationNames(whole.relation_names, whole.relation_words))
        self._named = tuple(named)
        self._times = dict(times)

    def spelling(self, graph: KnowledgeGraph, /) -> SpellingIndex | ExactLabels:
        """Returns the index of the labels of the nodes that may be named."""
        if not self._times:
            # No misspelt name was looked for.
            return ExactLabels(graph)
        nodes = np.unique(np.array(self._named, dtype=np.int32))
        labels = {}
        for language, column in graph.node_labels.items():
            rows = np.flatnonzero(np.isin(column.index, nodes))
            texts = StringTable.build(column.texts.take(rows))
            labels[language] = LabelColumn(column.index[rows], texts)
        index = SpellingIndex.build(labels)
        return replace(index, vocabulary=Vocabulary.of_counts(self._times))

    def partial_names(self, graph: KnowledgeGraph, /) -> PartialNames | None:
        """Returns the index of the labels of the nodes that may be named by the words in them."""
        return PartialNames(graph, among=self._named)


_LEXICONS: weakref.WeakKeyDictionary[KnowledgeGraph, Lexicon] = weakref.WeakKeyDictionary()
_LEXICONS_LOCK = threading.Lock()


def lexicon_of(graph: KnowledgeGraph, /) -> Lexicon:
    """Returns the lexicon of a graph, the same one while the graph is open."""
    with _LEXICONS_LOCK:
        found = _LEXICONS.get(graph)
        if found is None:
            found = _LEXICONS[graph] = Lexicon(RelationNames.of_graph(graph))
        return found


def share_lexicon(part: KnowledgeGraph, lexicon: Lexicon, /) -> None:
    """Makes a part of a graph be read by what is known of the whole one."""
    with _LEXICONS_LOCK:
        _LEXICONS[part] = lexicon
