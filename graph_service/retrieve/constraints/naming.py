"""What else of a region a question names: values, types and further entities, by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.link.partial_names import names_of
from graph_service.link.question import read_atoms, writes_capitals
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.model.values import MonolingualText, StringValue, encode_value
from graph_service.retrieve.constraints.reading import OR, sex_of
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.relation_phrases import asking_words

_AUXILIARY_BEFORE = re.compile(r".*\b(?:do|does|did)\s+(?:the\s+)?", re.IGNORECASE | re.DOTALL)
MOST_WORDS = 6
"""Words of a name that is looked up."""
_MOST_LITERALS = 5_000
"""Literals of a region that are looked through for texts that a question says."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedNodes:
    """Words of a question that are a name of some entities of a region.

    Attributes:
        text: As the question has it.
        start, end: Its characters.
        words: Folded.
        nodes: Local numbers, int64, ascending.
        exact: Those of them of which the words are a whole name, not a part of one.
        is_entity: Whether the words are the name of one thing, else of a value or a type.
        is_negated: Whether what is asked for is said not to be so.
    """

    text: str
    start: int
    end: int
    words: tuple[str, ...]
    nodes: Int64
    exact: Int64
    is_entity: bool
    is_negated: bool = False

    def overlaps(self, start: int, end: int, /) -> bool:
        """Returns whether the words share a character with a span of the question."""
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that linking found in a question.

    Attributes:
        node: Global number.
        start, end: Characters; -1 where the question does not name it.
        linked: Whether linking takes the words for this entity.
        is_name: Whether, besides, they are meant as the name of one thing.
        is_distinguished: Whether values of its neighbours that the question says speak for it, and
            others have its name.
        has_namesakes: Whether others have its name.
    """

    node: int
    start: int
    end: int
    linked: bool
    is_name: bool
    is_distinguished: bool = False
    has_namesakes: bool = False


def find_named(
    question: str,
    mentions: Sequence[Mention],
    graph: KnowledgeGraph,
    region: Region,
    languages: Sequence[str] = (),
    /,
) -> list[NamedNodes]:
    """Returns the runs of a question's words that name entities or texts of a region, longer ones
    first.

    A noun names in the plural too (``cities``), and one of kin or sex names that sex
    (``daughters``: female). What linking found is named as well, by parts of names too, but not by
    those that are no names in the question: *major* of a major regional center, *kind* of the film
    Kind Lady. The verb of a name names nothing: ``play``, in *what music did Debussy play*. Texts
    are those of the languages, or of none.
    """
    spans = word_spans(question)
    capitals = writes_capitals(read_atoms(question))
    verbs = _verbs_of(question, spans, mentions)
    texts = _literals(graph, region)
    nodes_of: dict[tuple[int, int], set[int]] = {}
    exact_of: dict[tuple[int, int], frozenset[int]] = {}
    for first in range(len(spans)):
        for after in range(first + 1, min(first + MOST_WORDS, len(spans)) + 1):
            run = [word for word, _, _ in spans[first:after]]
            if run[0] in EMPTY_IN_ENGLISH or run[-1] in EMPTY_IN_ENGLISH:
                continue
            if spans[first][1] in verbs:
                continue
            nodes = {
                int(node) for name in _names(run) for node in graph.names.find(name)[0].tolist()
            }
            written = question[spans[first][1] : spans[after - 1][2]]
            nodes.update(
                texts[encoded]
                for text in (written, *_names(run))
                for encoded in _encoded(text, languages)
                if encoded in texts
            )
            if nodes:
                span = (spans[first][1], spans[after - 1][2])
                nodes_of[span], exact_of[span] = nodes, frozenset(nodes)
    names = {
        (mention.start, mention.end)
        for mention in mentions
        if mention.is_name and mention.start >= 0
    }
    for mention in mentions:
        span = (mention.start, mention.end)
        if mention.start < 0 or mention.start in verbs:
            continue
        if not _is_mere_part(question[slice(*span)], mention.node, graph, capitals=capitals):
            nodes_of.setdefault(span, set()).add(mention.node)
    named = []
    for (start, end), nodes in nodes_of.items():
        numbers = np.array(sorted(nodes), dtype=np.int64)
        index = np.searchsorted(region.nodes, numbers)
        index[index == region.node_count] = 0
        local = index[region.nodes[index] == numbers]
        if len(local):
            folded = tuple(word for word, left, right in spans if start <= left and right <= end)
            is_name = (start, end) in names
            exact = local[np.isin(region.nodes[local], list(exact_of.get((start, end), ())))]
            named.append(NamedNodes(question[start:end], start, end, folded, local, exact, is_name))
    return sorted(named, key=lambda mention: (-len(mention.words), mention.start, mention.end))


def without_choices(question: str, named: Sequence[NamedNodes], /) -> list[NamedNodes]:
    """Returns names less the values that stand before *or* and after it, of a question for one of
    them: *is X's child a man or a woman* asks which it is.
    """
    splits = [match.span() for match in OR.finditer(question)]
    return [
        each
        for each in named
        if each.is_entity
        or not any(each.end == start or each.start == end for start, end in splits)
    ]


def _verbs_of(
    question: str, spans: Sequence[tuple[str, int, int]], mentions: Sequence[Mention]
) -> set[int]:
    """Returns where the words stand that follow a name after *do*, *does* or *did*, and a word in
    small letters after an opening *who*: who *lost* the war asks for nothing of the series Lost.
    """
    first = [
        start for _, start, _ in spans[1:2] if spans[0][0] == "who" and question[start].islower()
    ]
    name_boundaries = {
        mention.end
        for mention in mentions
        if mention.linked
        and mention.start >= 0
        and _AUXILIARY_BEFORE.fullmatch(question[: mention.start])
    }
    return {*first} | {
        start
        for _, start, _ in spans
        if any(not question[end:start].strip() for end in name_boundaries if end < start)
    }


def _is_mere_part(text: str, node: int, graph: KnowledgeGraph, /, *, capitals: bool) -> bool:
    """Returns whether one word stands in a longer label and is no name in the question: the label
    or the question has it without a capital where names have one, or people ask with it.
    """
    (label,) = names_of(graph, np.array([node], dtype=np.int32), ("en", "mul"))
    word = text.lower()
    if label is None or word == label.lower() or word not in words(label):
        return False
    return word in label.split() or (capitals and text == word) or word in asking_words()


def _literals(graph: KnowledgeGraph, region: Region) -> dict[str, int]:
    """Returns the literals of a region by their encoded values; none where there are very many."""
    literals = region.nodes[region.literal]
    literals = literals[literals < graph.node_count]
    if len(literals) > _MOST_LITERALS:
        return {}
    return dict(zip(graph.node_ids.take(literals), literals.tolist(), strict=True))


def _encoded(text: str, languages: Sequence[str]) -> Iterator[str]:
    """Yields what a text is encoded as, of no language and of some."""
    yield encode_value(StringValue(text))
    for language in languages:
        yield encode_value(MonolingualText(text, language))


def _names(run: Sequence[str]) -> set[str]:
    last = singular(run[-1])
    names = {" ".join(run), " ".join((*run[:-1], last))}
    if len(run) == 1 and (sex := sex_of(last)):
        names.add(sex)
    return names
