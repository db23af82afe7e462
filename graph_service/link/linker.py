"""Mentions of entities in a question, and which of the entities of a name each one means."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from graph_service.link.function_words import COMMON_NOUNS, FUNCTION_WORDS
from graph_service.link.misspelt import SpellingIndex, allowed_distance
from graph_service.link.question import (
    Atom,
    find_runs,
    is_content,
    join_atoms,
    read_atoms,
    writes_capitals,
)
from graph_service.model.graph import (
    Adjacency,
    Bool,
    Int32,
    Int64,
    KnowledgeGraph,
    NodeKind,
    labels_of,
    require_node,
)
from graph_service.model.identity import key64
from graph_service.model.text import (
    normalise_name,
    relation_words,
)
from graph_service.model.values import Time, decode_value, display_value
from graph_service.model.view import Overlay

# Bounds on work, far beyond any real question or name.
_MAX_HOMONYMS = 1_000
_MAX_EDGES_A_NODE = 50_000
_MAX_LITERALS = 400
_MAX_RELATION_LABELS = 50_000
_MAX_WINDOW_WORDS = 4
_MAX_WINDOWED_WORDS = 40
_MAX_RESPELT = 40


class Certainty(IntEnum):
    """How sure it is that words are meant as a name."""

    NO = 0
    COMMON = 1
    SPOKEN = 2
    WRITTEN = 3


_CONFIDENCE = {Certainty.COMMON: 0.5, Certainty.SPOKEN: 0.9, Certainty.WRITTEN: 1.0}
_CONFIDENCE_A_SLIP = 0.8


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a mention may mean.

    Attributes:
        node: Its node.
        score: Confidence in the mention times this entity's share of the evidence, 0 to 1.
        matched: The name of the entity that was found, as the graph writes it (as the question
            does, for an alias).
        is_alias: Whether that name is an alias only.
        neighbour_matches: Values of its neighbours that stand in the question.
        slips: Letters by which the question's spelling differs.
    """

    node: int
    score: float
    matched: str
    is_alias: bool
    neighbour_matches: int
    slips: int = 0


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a question that name an entity.

    Attributes:
        text: The words as written; empty where the caller gave the entity.
        start, end: Characters of the question; -1 where the caller gave the entity.
        candidates: Best first; never empty.
    """

    text: str
    start: int
    end: int
    candidates: tuple[Candidate, ...]


def link(
    question: str,
    graph: KnowledgeGraph,
    /,
    *,
    languages: Sequence[str] = (),
    overlay: Overlay | None = None,
    limit: int = 5,
    max_alternatives: int = 5,
    given_ids: Sequence[str] = (),
) -> tuple[Mention, ...]:
    """Returns the mentions of entities, in order of the question; empty if it names none.

    Args:
        question: Text in any language.
        graph: The graph; its names are those of the base, whatever the view.
        languages: Languages of the names shown in ``matched``, best first. Names of all
            languages are found.
        overlay: A view, whose edges then decide between entities of one name.
        limit: How many mentions at most; the surest and longest stay.
        max_alternatives: How many runners-up a mention keeps.
        given_ids: Entities known to the caller: they come first, and the question is then not
            searched for others.

    Raises:
        InputError: The graph lacks an entity of ``given_ids``.
    """
    if given_ids:
        return tuple(_given(graph, id_, languages) for id_ in dict.fromkeys(given_ids))
    reader = _Reader(question, graph, languages, overlay)
    spans = reader.spans()[: max(0, limit)]
    mentions = [
        Mention(
            text=question[span.start : span.end],
            start=span.start,
            end=span.end,
            candidates=reader.candidates(span, 1 + max(0, max_alternatives)),
        )
        for span in sorted(spans, key=lambda span: span.start)
    ]
    return tuple(mentions)


def _given(graph: KnowledgeGraph, id_: str, languages: Sequence[str]) -> Mention:
    node = require_node(graph, id_)
    (label,) = labels_of(graph.node_labels, np.array([node], dtype=np.int32), languages)
    return Mention("", -1, -1, (Candidate(node, 1.0, label or id_, False, 0),))


@dataclass(frozen=True, slots=True, eq=False)
class _Span:
    """Atoms ``left`` to ``right`` (exclusive) that are a name, and its nodes."""

    left: int
    right: int
    start: int
    end: int
    name: str
    nodes: Int32
    is_alias: tuple[bool, ...]
    certainty: Certainty
    weight: float = 1.0
    slips: int = 0

    def overlaps(self, other: _Span) -> bool:
        return self.left < other.right and other.left < self.right

    def word_count(self) -> int:
        return self.name.count(" ") + 1


class _Reader:
    """One question read against one graph."""

    def __init__(
        self,
        question: str,
        graph: KnowledgeGraph,
        languages: Sequence[str],
        overlay: Overlay | None,
    ) -> None:
        self._question = question
        self._graph = graph
        self._languages = tuple(languages)
        self._overlay = overlay
        self._proper: dict[str, bool] = {}
        self._atoms = read_atoms(question)
        self._writes_capitals = writes_capitals(self._atoms)
        self._runs = find_runs(self._atoms, graph.names.longest)
        self._named = self._look_up()

    def spans(self) -> list[_Span]:
        """Returns the spans that are mentions, surest and longest first, not overlapping."""
        chosen = _without_overlaps(self._named)
        chosen = self._respelt(chosen)
        chosen = self._respelt_windows(chosen)
        if any(span.certainty > Certainty.COMMON for span in chosen):
            chosen = [span for span in chosen if span.certainty > Certainty.COMMON]
        seen: set[str] = set()
        distinct: list[_Span] = []
        for span in sorted(chosen, key=lambda span: span.start):
            if span.name not in seen:
                seen.add(span.name)
                distinct.append(span)
        return sorted(distinct, key=_preference)

    def candidates(self, span: _Span, limit: int) -> tuple[Candidate, ...]:
        """Returns the entities of a span's name, the one it means first (K2)."""
        nodes, aliases = span.nodes, np.array(span.is_alias, dtype=np.bool_)
        degrees = _degrees(self._graph, nodes)
        if len(nodes) > _MAX_HOMONYMS:
            kept = np.lexsort((nodes, -degrees, aliases))[:_MAX_HOMONYMS]
            nodes, aliases, degrees = nodes[kept], aliases[kept], degrees[kept]
        matches = self._neighbour_matches(span, nodes)
        order = np.lexsort((nodes, -degrees, aliases, -matches))
        # The same order as a share: a match outweighs all else, a label outweighs any degree.
        weights = (
            4.0 ** np.minimum(matches - int(matches.max()), 0)
            * np.where(aliases, 1.0, 2.0)
            * (1.0 + degrees / (1.0 + float(degrees.max())))
        )
        scores = weights / weights.sum() * span.weight * _CONFIDENCE[span.certainty]
        return tuple(
            Candidate(
                node=int(nodes[i]),
                score=round(float(scores[i]), 5),
                matched=self._matched(int(nodes[i]), span),
                is_alias=bool(aliases[i]),
                neighbour_matches=int(matches[i]),
                slips=span.slips,
            )
            for i in order[:limit].tolist()
        )

    def _look_up(self) -> list[_Span]:
        """Returns all runs of the question that are names, of whatever certainty."""
        names = list(self._runs)
        if not names:
            return []
        keys = np.array([key64(name) for name in names], dtype=np.int64)
        index = self._graph.names
        starts = np.searchsorted(index.name_keys, keys, side="left")
        ends = np.searchsorted(index.name_keys, keys, side="right")
        spans: list[_Span] = []
        for place in np.flatnonzero(ends > starts).tolist():
            rows = slice(int(starts[place]), int(ends[place]))
            nodes, is_alias = _distinct(index.nodes[rows], index.is_alias[rows])
            kinds = self._graph.node_kinds[nodes]
            entities = kinds == NodeKind.ENTITY
            if entities.any():
                nodes, is_alias = nodes[entities], is_alias[entities]
            name = names[place]
            for left, right in self._runs[name]:
                certainty = self._certainty(left, right, nodes, bool(entities.any()))
                if certainty is Certainty.NO:
                    continue
                spans.append(
                    _Span(
                        left=left,
                        right=right,
                        start=self._atoms[left].start,
                        end=self._atoms[right - 1].end,
                        name=name,
                        nodes=nodes,
                        is_alias=tuple(is_alias.tolist()),
                        certainty=certainty,
                        weight=0.5 if self._ends_run(left, right) else 1.0,
                    )
                )
        return spans

    def _certainty(self, left: int, right: int, nodes: Int32, entities: bool) -> Certainty:
        atoms = self._atoms[left:right]
        content = [atom for atom in atoms if is_content(atom)]
        if not content:
            # ``It`` and ``The Who`` are names where every word has a capital that no sentence
            # asks for; a single character of a script without spaces only where it stands alone.
            written = all(atom.capital for atom in atoms) and any(
                atom.capital and not atom.first and atom.text != "i" for atom in atoms
            )
            if written and self._writes_capitals:
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
            plain = name in _lexicon(self._graph).relation_names
            if len(name) < 2:
                return Certainty.NO
            return Certainty.COMMON if plain else Certainty.SPOKEN
        if self._writes_capitals:
            if any(atom.capital and not atom.first for atom in content):
                begun = len(atoms) == 1 and self._begins_run(left, right)
                # ``Republic`` of a Roman Republic that the graph lacks.
                ended = self._ends_run(left, right) and not self._is_proper(name, nodes)
                return Certainty.COMMON if begun or ended else Certainty.WRITTEN
            if content[0].capital:
                # The first word of a sentence: the graph says whether it is a proper name.
                if len(atoms) == 1 and (
                    self._begins_run(left, right) or self._is_plain(content[0].text)
                ):
                    return Certainty.COMMON
                proper = self._is_proper(name, nodes)
                return Certainty.WRITTEN if proper else Certainty.COMMON
            several = len(content) > 1
            proper = several and self._is_proper(name, nodes)
            return Certainty.SPOKEN if proper else Certainty.COMMON
        if name in _lexicon(self._graph).relation_names or all(
            self._is_plain(atom.text) for atom in content
        ):
            return Certainty.COMMON
        proper = self._is_proper(name, nodes)
        return Certainty.SPOKEN if proper else Certainty.COMMON

    def _is_plain(self, word: str) -> bool:
        """Returns whether a word is a common noun, or one that names of relations are made of."""
        return word in COMMON_NOUNS or word in _lexicon(self._graph).relation_words

    def _is_proper(self, name: str, nodes: Int32) -> bool:
        """Returns whether the graph writes a name with a capital, or with none in any script.

        English goes first, for German writes all nouns so.
        """
        known = self._proper.get(name)
        if known is None:
            known = self._proper[name] = self._find_proper(nodes)
        return known

    def _find_proper(self, nodes: Int32) -> bool:
        best = np.argsort(-_degrees(self._graph, nodes), kind="stable")[:5]
        languages = ("en", "mul", *self._languages)
        shown = labels_of(self._graph.node_labels, nodes[best], languages)
        for label in shown:
            if label is None:
                return True
            if label != label.lower() or label.upper() == label:
                return True
        return False

    def _begins_run(self, left: int, right: int) -> bool:
        """Returns whether a capitalised word follows at once: a first name, not the whole name."""
        if right >= len(self._atoms):
            return False
        after = self._atoms[right]
        return (
            after.near and after.capital and not after.unspaced and after.text not in FUNCTION_WORDS
        )

    def _ends_run(self, left: int, right: int) -> bool:
        """Returns whether one word has a capitalised one before it: perhaps a last name alone."""
        if right - left != 1 or left == 0 or not self._writes_capitals:
            return False
        before, here = self._atoms[left - 1], self._atoms[left]
        return (
            here.near
            and here.capital
            and not here.unspaced
            and before.capital
            and not before.first
            and is_content(before)
        )

    def _respelt(self, chosen: list[_Span]) -> list[_Span]:
        """Returns the spans with misspelt names for capitalised runs that no name covers."""
        if not self._writes_capitals:
            return chosen
        owners = {place: span for span in chosen for place in range(span.left, span.right)}
        dropped: set[tuple[int, int]] = set()
        added: list[_Span] = []
        tries = 0
        for left, right in self._capital_runs():
            inside = {owners[place] for place in range(left, right) if place in owners}
            if inside and right - left < 2:
                continue
            if any(span.left < left or span.right > right for span in inside):
                continue
            if any(span.left == left and span.right == right for span in inside):
                continue
            tries += 1
            if tries > _MAX_RESPELT:
                break
            found = self._respell(left, right, Certainty.WRITTEN)
            if found is not None:
                dropped.update((span.left, span.right) for span in inside)
                added.append(found)
        return [span for span in chosen if (span.left, span.right) not in dropped] + added

    def _respelt_windows(self, chosen: list[_Span]) -> list[_Span]:
        """Returns the spans with misspelt names of two words and more, where there are no
        capitals to show where a name begins: in place of one-word names and common nouns only.
        """
        if self._writes_capitals:
            return chosen
        sure = [
            span for span in chosen if span.certainty > Certainty.COMMON and span.word_count() > 1
        ]
        found: list[_Span] = []
        count = min(len(self._atoms), _MAX_WINDOWED_WORDS)
        for left in range(count):
            for right in range(left + 2, min(count, left + _MAX_WINDOW_WORDS) + 1):
                atoms = self._atoms[left:right]
                if any(span.left < right and left < span.right for span in sure):
                    continue
                if any(atom.unspaced for atom in atoms) or any(
                    not is_content(atom) or self._is_plain(atom.text)
                    for atom in (atoms[0], atoms[-1])
                ):
                    continue
                span = self._respell(left, right, Certainty.SPOKEN)
                if span is not None:
                    found.append(span)
        found = _without_overlaps(found)
        kept = [span for span in chosen if not any(span.overlaps(other) for other in found)]
        return kept + found

    def _respell(self, left: int, right: int, certainty: Certainty) -> _Span | None:
        name = join_atoms(self._atoms[left:right])
        letters = name.replace(" ", "")
        if not allowed_distance(letters) or (certainty is Certainty.SPOKEN and len(letters) < 9):
            return None
        found = _lexicon(self._graph).spelling(self._graph).find(name)
        found = [item for item in found if self._graph.node_kinds[item.node] == NodeKind.ENTITY]
        # Many names equally near are no evidence for one of them.
        if not found or len({normalise_name(item.label) for item in found}) > 1:
            return None
        return _Span(
            left=left,
            right=right,
            start=self._atoms[left].start,
            end=self._atoms[right - 1].end,
            name=name,
            nodes=np.array([item.node for item in found], dtype=np.int32),
            is_alias=(False,) * len(found),
            certainty=certainty,
            weight=_CONFIDENCE_A_SLIP ** max(1, found[0].distance),
            slips=found[0].distance,
        )

    def _capital_runs(self) -> list[tuple[int, int]]:
        """Returns the longest runs of capitalised words, with function words only inside them."""
        runs: list[tuple[int, int]] = []
        left = 0
        while left < len(self._atoms):
            atom = self._atoms[left]
            if not (atom.capital and is_content(atom)):
                left += 1
                continue
            right = left + 1
            last = right
            while right < len(self._atoms):
                after = self._atoms[right]
                if not after.near or after.unspaced:
                    break
                if after.capital:
                    last = right + 1
                elif after.text not in FUNCTION_WORDS:
                    break
                right += 1
            if not (atom.first and last - left == 1 and self._is_plain(atom.text)):
                runs.append((left, last))
            left = last
        return runs

    def _neighbour_matches(self, span: _Span, nodes: Int32) -> Int64:
        """Returns for each node how many values of its neighbours stand in the question (K2).

        A value counts once, by any of its names, and only outside the mention itself.
        """
        outside = sorted(
            (
                other
                for other in self._named
                if not other.overlaps(span) and any(is_content(a) for a in self._span_atoms(other))
            ),
            key=lambda other: (-(other.end - other.start), other.start),
        )
        counts = np.zeros(len(nodes), dtype=np.int64)
        phrases: dict[str, int] = {}
        values: list[Int32] = []
        numbers: list[Int64] = []
        for other in outside:
            number = phrases.setdefault(other.name, len(phrases))
            values.append(other.nodes)
            numbers.append(np.full(len(other.nodes), number, dtype=np.int64))
        owners, ends = self._neighbours(nodes)
        if values:
            value_nodes, first = np.unique(np.concatenate(values), return_index=True)
            value_numbers = np.concatenate(numbers)[first]
            places = np.searchsorted(value_nodes, ends)
            places[places == len(value_nodes)] = 0
            hit = value_nodes[places] == ends
            pairs = np.unique(owners[hit] * len(phrases) + value_numbers[places[hit]])
            counts += np.bincount(pairs // len(phrases), minlength=len(nodes))
        literal = ends >= self._graph.entity_count
        for owner in np.unique(owners[literal]).tolist():
            tails = np.unique(ends[literal & (owners == owner)])[:_MAX_LITERALS]
            found = {
                text
                for encoded in self._graph.node_ids.take(tails)
                for text in _renderings(encoded)
                if text not in phrases and self._stands_outside(text, span)
            }
            counts[owner] += len(found)
        return counts

    def _neighbours(self, nodes: Int32) -> tuple[Int64, Int32]:
        """Returns (place in ``nodes``, neighbour) of every edge, both directions, in the view."""
        graph = self._graph
        owners, ends = [], []
        for adjacency, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
            owner, edges = _edges_of(adjacency, nodes)
            if self._overlay is not None:
                held = ~self._overlay.gone[edges]
                owner, edges = owner[held], edges[held]
            owners.append(owner)
            ends.append(other[edges])
        if self._overlay is not None:
            order = np.argsort(nodes, kind="stable")
            for mine, other in (
                (self._overlay.head, self._overlay.tail),
                (self._overlay.tail, self._overlay.head),
            ):
                places = np.searchsorted(nodes[order], mine)
                places[places == len(nodes)] = 0
                hit = (nodes[order][places] == mine) & (other < graph.node_count)
                owners.append(order[places[hit]])
                ends.append(other[hit])
        return np.concatenate(owners), np.concatenate(ends)

    def _stands_outside(self, text: str, span: _Span) -> bool:
        return any(
            right <= span.left or span.right <= left for left, right in self._runs.get(text, ())
        )

    def _span_atoms(self, span: _Span) -> list[Atom]:
        return self._atoms[span.left : span.right]

    def _matched(self, node: int, span: _Span) -> str:
        """Returns the label that matched, in the best language that has it."""
        columns = self._graph.node_labels
        order = dict.fromkeys([*self._languages, "mul", "en", *sorted(columns)])
        shown = None
        for language in order:
            column = columns.get(language)
            if column is None:
                continue
            place = int(np.searchsorted(column.index, node))
            if place >= len(column.index) or int(column.index[place]) != node:
                continue
            label = column.texts[place]
            shown = shown or label
            if normalise_name(label) == span.name:
                return label
        if span.slips and shown:
            return shown
        return self._question[span.start : span.end]


def _preference(span: _Span) -> tuple[int, int, int, int]:
    return (-span.certainty, -span.word_count(), -(span.end - span.start), span.start)


def _without_overlaps(spans: Sequence[_Span]) -> list[_Span]:
    """Returns spans of which no two overlap: the longest, but a common noun never in a name's way."""
    chosen: list[_Span] = []
    taken = bytearray(max((span.right for span in spans), default=0))
    for span in sorted(
        spans,
        key=lambda span: (
            span.certainty == Certainty.COMMON,
            -span.word_count(),
            -(span.end - span.start),
            -span.certainty,
            span.start,
        ),
    ):
        if not any(taken[span.left : span.right]):
            taken[span.left : span.right] = b"\x01" * (span.right - span.left)
            chosen.append(span)
    return chosen


def _distinct(nodes: Int32, is_alias: Bool) -> tuple[Int32, Bool]:
    """Returns each node once, by alias only if no label has the name."""
    order = np.lexsort((is_alias, nodes))
    kept = np.unique(nodes[order], return_index=True)[1]
    return nodes[order][kept], is_alias[order][kept]


def _degrees(graph: KnowledgeGraph, nodes: Int32) -> Int64:
    out, back = graph.out_edges.indptr, graph.in_edges.indptr
    degrees: Int64 = out[nodes + 1] - out[nodes] + back[nodes + 1] - back[nodes]
    return degrees


def _edges_of(adjacency: Adjacency, nodes: Int32) -> tuple[Int64, Int32]:
    """Returns (place in ``nodes``, edge) of all their edges, the first 50,000 of each node."""
    starts = adjacency.indptr[nodes]
    counts = np.minimum(adjacency.indptr[nodes + 1] - starts, _MAX_EDGES_A_NODE)
    owners = np.repeat(np.arange(len(nodes), dtype=np.int64), counts)
    within = np.arange(len(owners), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, adjacency.edges[np.repeat(starts, counts) + within]


def _renderings(encoded: str) -> tuple[str, ...]:
    """Returns a literal's value in normal form; of a date its year too."""
    value = decode_value(encoded)
    shown = normalise_name(display_value(value))
    if isinstance(value, Time) and value.precision > 9 and not value.time.startswith("-"):
        return (shown, value.time.lstrip("+").split("-", 1)[0].lstrip("0"))
    return (shown,) if len(shown) > 1 else ()


class _Lexicon:
    """What the linker knows of a graph besides its arrays; made when first asked for."""

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

    def spelling(self, graph: KnowledgeGraph) -> SpellingIndex:
        with self._lock:
            if self._spelling is None:
                self._spelling = SpellingIndex.build(graph.node_labels)
            return self._spelling


_LEXICONS: weakref.WeakKeyDictionary[KnowledgeGraph, _Lexicon] = weakref.WeakKeyDictionary()
_LEXICONS_LOCK = threading.Lock()


def _lexicon(graph: KnowledgeGraph) -> _Lexicon:
    with _LEXICONS_LOCK:
        found = _LEXICONS.get(graph)
        if found is None:
            found = _LEXICONS[graph] = _Lexicon(graph)
        return found
