"""What the linker knows of a graph besides its arrays: made when first asked for, kept with it."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from graph_service.link.function_words import COMMON_NOUNS
from graph_service.link.inflection import stem
from graph_service.link.letters import Vocabulary
from graph_service.link.misspelt import ExactLabels, SpellingIndex
from graph_service.link.partial_names import IDS, PartialNames, named_by_id
from graph_service.model.graph import KnowledgeGraph, LabelColumn, StringTable
from graph_service.text.fold import normalise_name, relation_words, word_spans

# A bound on work, far beyond the relations of a real graph in two languages.
_MAX_RELATION_LABELS = 50_000
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class RelationNames:
    """What the relations of a graph are called.

    Attributes:
        names: Their labels, and the words of their ids, in normal form.
        words: The words that those are made of, of three letters and more. In a graph that begins
            most of them in lower case, words with a capital are proper names, and none of these:
            *France* in *National Library of France ID*.
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
        written: dict[str, None] = {}
        for language, some in texts.items():
            if total <= _MAX_RELATION_LABELS or language in ("en", "mul"):
                written.update(dict.fromkeys(some))
        written.update(
            dict.fromkeys(relation_words(id_) for id_ in islice(ids, _MAX_RELATION_LABELS))
        )
        names = frozenset(map(normalise_name, written))
        return cls(names, frozenset(word for word in _common_words(written) if len(word) > 2))

    @classmethod
    def of_graph(cls, graph: KnowledgeGraph, /) -> RelationNames:
        """Returns those of a whole graph."""
        columns = graph.relation_labels
        return cls.build(
            {
                language: column.texts.take(np.arange(len(column.texts)))
                for language, column in columns.items()
            },
            (graph.relation_ids[index] for index in range(graph.relation_count)),
        )


def _common_words(names: Collection[str]) -> Iterator[str]:
    """Yields the folded words of some names, without proper names where capitals tell them.

    A name with a digit (``P31``) is no evidence of how names are written.
    """
    cased = [name for name in names if name[:1].isalpha() and not _DIGIT.search(name)]
    tells = 2 * sum(name[0].islower() for name in cased) > len(cased)
    for name in names:
        for word, start, _ in word_spans(name):
            if not (tells and name[start].isupper()):
                yield word


class Lexicon:
    """Words and names of one graph.

    Attributes:
        relation_names: Labels of its relations, and the words of their ids, in normal form.
        relation_words: The words that those are made of, of three letters and more.
        relation_stems: Those words without their endings: ``suppli`` of ``supplied by``.

    Args:
        relations: Those names and words.
        misspelt: Whether all labels are at hand, so that misspelt ones can be told.
    """

    def __init__(self, relations: RelationNames, *, misspelt: bool = True) -> None:
        self.relation_names = relations.names
        self.relation_words = relations.words
        self.relation_stems = frozenset(map(stem, relations.words))
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
                named = {**graph.node_labels, IDS: named_by_id(graph)}
                self._spelling = SpellingIndex.build(named)
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
        lexicon: Of the graph.
        named: Nodes of the part whose labels the question may hold a part of, or nearly.
        times: How many names of the graph have each of some words.
    """

    def __init__(
        self, lexicon: Lexicon, /, *, named: Sequence[int], times: Mapping[str, int]
    ) -> None:
        super().__init__(RelationNames(lexicon.relation_names, lexicon.relation_words))
        self._named = tuple(named)
        self._times = dict(times)

    def spelling(self, graph: KnowledgeGraph, /) -> SpellingIndex | ExactLabels:
        """Returns the index of the labels of the nodes that may be named."""
        if not self._times:
            # No misspelt name was looked for.
            return ExactLabels(graph)
        nodes = np.unique(np.array(self._named, dtype=np.int32))
        labels = {}
        for language, column in (*graph.node_labels.items(), (IDS, named_by_id(graph))):
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
        lexicon = _LEXICONS.get(graph)
        if lexicon is None:
            lexicon = _LEXICONS[graph] = Lexicon(RelationNames.of_graph(graph))
        return lexicon


def share_lexicon(part: KnowledgeGraph, lexicon: Lexicon, /) -> None:
    """Makes a part of a graph be read by what is known of the whole one."""
    with _LEXICONS_LOCK:
        _LEXICONS[part] = lexicon
