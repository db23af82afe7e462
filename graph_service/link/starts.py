"""Where a question's walks may start: more entities than ``link`` names, for retrieval to choose.

``link`` says which entities a question names, by the names alone. What is asked of an entity tells
more: of ``what does jamaican people speak`` Jamaica has languages, and *People*, the magazine, has
none. So these candidates take in what ``link`` must leave out: names inside longer names, common
nouns, entities of one name beyond the first, parts of names (``obama``), and words for people and
things of a place (``hungarian``). Each says how it was found, so that retrieval can weigh it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np

from graph_service.link.candidates import find_named, look_up
from graph_service.link.capitals import without_parts
from graph_service.link.demonyms import origins_of
from graph_service.link.disambiguation import rank_candidates
from graph_service.link.function_words import COMMON_NOUNS
from graph_service.link.linker import mentioned_spans
from graph_service.link.partial_names import names_of
from graph_service.link.question_context import QuestionContext, read
from graph_service.link.respelling import with_misspelt
from graph_service.link.rules import LINKING_RULES, LinkingRules
from graph_service.link.spans import Certainty, Span, without_overlaps
from graph_service.link.spelled import code_spellings, may_bound_part
from graph_service.link.unknown_names import without_others
from graph_service.model.graph import Int32, KnowledgeGraph, NodeKind, labels_of
from graph_service.model.overlay import Overlay
from graph_service.text.fold import words


class NameForm(IntEnum):
    """How the words of a question are a name of an entity.

    ``EXACT`` are its names, misspelt ones too; ``PART`` words in a row of a longer label
    (``obama``); ``DEMONYM`` what people and things of a place are called (``hungarian``).
    """

    EXACT = 0
    PART = 1
    DEMONYM = 2


@dataclass(frozen=True, slots=True)
class StartCandidate:
    """An entity that walks may start from, and what speaks for it.

    Attributes:
        node: The entity.
        start, end: Characters of the question that name it.
        certainty: Whether the words are meant as a name; ``COMMON`` for every ``PART`` and
            ``DEMONYM``.
        words: Words of the name as the question has it.
        score: The linker's, 0 to 1; of a ``PART`` or ``DEMONYM`` by its rank alone.
        degree: Its statements, both directions, whatever the view.
        rank: Among the entities of that name, 0 first.
        is_alias: Whether no label of the entity is that name.
        neighbour_matches: Values of its neighbours that stand in the question.
        typos: Letters by which the question's spelling differs.
        form: How the words are its name.
        covered: Whether the words stand within a longer name of the question, be it one that the
            graph lacks.
        linked: Whether ``link`` names this entity first for a mention.
        listed: Whether ``link`` has it among a mention's candidates.
        in_other_name: Whether one word names it, a word beside that belongs to a longer name than
            its own (``unknown_names``), and no neighbour speaks for it (*toronto canada*).
    """

    node: int
    start: int
    end: int
    certainty: Certainty
    words: int
    score: float
    degree: int
    rank: int = 0
    is_alias: bool = False
    neighbour_matches: int = 0
    typos: int = 0
    form: NameForm = NameForm.EXACT
    covered: bool = False
    linked: bool = False
    listed: bool = False
    in_other_name: bool = False

    @property
    def span(self) -> tuple[int, int] | None:
        """Characters of the question that name it; None where none do."""
        return (self.start, self.end) if self.start >= 0 else None


@dataclass(frozen=True, slots=True)
class StartRules:
    """The numbers that decide which candidates there are.

    Attributes:
        of_name: Entities of one name at most, those that the linker ranks first.
        of_part: Entities whose label holds the same words, at most: those of the highest degree.
        of_demonym: Entities of one demonym at most, those of the highest degree.
        part_words: Most words of a question that are looked for in longer labels.
        part_letters: Least letters of one such word alone.
        demonym_words: Most words of a demonym (``puerto rican``).
        part_score: Score of the first entity of a part or demonym; of the others a share by rank.
        late_parts: Rank of a part from which on it comes after all other candidates' first ones.
        mentions: Mentions that ``link`` is asked for.
        known_part: How many times as many statements an entity has whose name the words end, than
            all who have them as their name, to be taken for their bearer too.
    """

    of_name: int = 4
    of_part: int = 4
    of_demonym: int = 3
    part_words: int = 3
    part_letters: int = 3
    demonym_words: int = 2
    part_score: float = 0.3
    late_parts: int = 2
    mentions: int = 5
    known_part: float = 8.0

    def parameters(self) -> dict[str, float]:
        """Returns the numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


START_RULES = StartRules()

# Between the words of a name: ``Statue of Liberty``, ``Lord of the Rings``.
_JOINTS = frozenset({"of", "the"})


def start_candidates(
    question: str,
    graph: KnowledgeGraph,
    /,
    *,
    languages: Sequence[str] = (),
    overlay: Overlay | None = None,
    limit: int = 14,
    rules: LinkingRules = LINKING_RULES,
    start_rules: StartRules = START_RULES,
) -> tuple[StartCandidate, ...]:
    """Returns the entities that the walks of a question may start from, each once, likely ones
    first.

    What ``link`` names goes first, plain nouns (``mother``) last. In between, names inside longer
    names come after others, the third and further entities of a partial name after the first
    two, lower ranks after higher ones; then the surer, the longer and the earlier mention decides.

    An entity without a statement is none unless ``link`` names it, nor is the first word of a name
    like ``Statue of Liberty`` that the graph lacks.

    Args:
        question: Text in any language. Parts of names are not looked for in scripts without spaces.
        graph: The graph; names and degrees are those of the base, whatever the view.
        languages: Of the labels that partial names are looked for in, besides English and ``mul``.
            Whole names are found in all languages.
        overlay: A view, whose edges then decide between entities of one name.
        limit: How many at most.
        rules: The linker's numbers.
        start_rules: The numbers that decide which candidates there are.
    """
    reading = read(question, graph, languages=languages, overlay=overlay, rules=rules)
    named = look_up(reading)
    chosen = without_overlaps(named)
    spelt = with_misspelt(reading, chosen)
    linked = mentioned_spans(
        reading, _with_known_parts(reading, spelt, chosen, start_rules), limit=start_rules.mentions
    )
    spans = _distinct_spans([*linked, *spelt, *named])
    heads = _unknown_heads(reading, spans)
    candidates = [
        *_exact(reading, spans, named, len(linked), start_rules),
        *_partial(reading, spans, chosen, start_rules),
    ]
    lost = [(span.start, span.end) for span in _lost_parts(reading, spelt)]
    candidates = [
        replace(each, covered=True) if (each.start, each.end) in lost else each
        for each in candidates
        if (each.degree or each.linked) and (each.start, each.end) not in heads
    ]
    # A whole name says more than any part.
    best: dict[int, StartCandidate] = {}
    for each in sorted(
        candidates, key=lambda each: (each.form != NameForm.EXACT, _order(each, start_rules))
    ):
        best.setdefault(each.node, each)
    ordered = sorted(best.values(), key=lambda each: _order(each, start_rules))
    return tuple(ordered[: max(0, limit)])


def _order(one: StartCandidate, rules: StartRules) -> tuple[int, ...]:
    return (
        not one.linked,
        one.certainty <= Certainty.PLAIN,
        one.covered,
        one.form != NameForm.EXACT and one.rank >= rules.late_parts,
        one.rank,
        -one.certainty,
        -one.words,
        one.form,
        one.start,
        one.node,
    )


def _distinct_spans(spans: Sequence[Span]) -> list[Span]:
    """Returns the first span of each run and certainty: what is linked may weigh less."""
    distinct: dict[tuple[int, int, int], Span] = {}
    for span in spans:
        distinct.setdefault((span.left, span.right, span.certainty), span)
    return list(distinct.values())


def _lost_parts(reading: QuestionContext, spelt: Sequence[Span]) -> list[Span]:
    """Returns the names that are one word of a longer name which the graph lacks (``capitals``)."""
    remaining = {(span.left, span.right) for span in without_parts(reading, spelt)}
    return [span for span in spelt if (span.left, span.right) not in remaining]


def _unknown_heads(reading: QuestionContext, spans: Sequence[Span]) -> set[tuple[int, int]]:
    """Returns where, in characters, the first word stands of each name like ``Statue of Liberty``
    that the graph lacks: alone it says only what kind of thing that is.
    """
    atoms = reading.atoms
    heads = set()
    for left, atom in enumerate(atoms):
        after = left + 1
        while after < len(atoms) and atoms[after].near and atoms[after].text in _JOINTS:
            after += 1
        if not (reading.writes_capitals and left + 1 < after < len(atoms)):
            continue
        last = atoms[after]
        if atoms[left + 1].text == "the" or not (atom.capital and last.capital and last.near):
            continue
        if not any(span.left <= left and after < span.right for span in spans):
            heads.add((atom.start, atom.end))
    return heads


def _with_known_parts(
    reading: QuestionContext, spans: Sequence[Span], chosen: Sequence[Span], rules: StartRules
) -> list[Span]:
    """Returns names with the entities that are far better known than all who have them, and whose
    own names these are the last words of, as by an alias: of *Obama* Barack Obama.
    """
    index = reading.lexicon.partial_names(reading.graph)
    if index is None:
        return list(spans)
    nodes_of = {span.name: span.nodes for span in spans}
    runs = [
        [atom.text for atom in reading.atoms[span.left : span.right]]
        if span.certainty > Certainty.PLAIN
        and _may_be_part(reading, (span.left, span.right), chosen, nodes_of, rules)
        else []
        for span in spans
    ]
    listed = index.find_all(runs, reading.languages, most=rules.of_part)
    result = []
    for span, nodes in zip(spans, listed, strict=True):
        known = np.array(nodes, dtype=np.int32)
        most = float(reading.graph.degrees_of(span.nodes).max(initial=0))
        known = known[reading.graph.degrees_of(known) >= rules.known_part * (1 + most)]
        own = without_others(reading, span.left, span.right, known.tolist())
        new = [
            node
            for node in own
            if node not in span.nodes
            and (span.word_count() > 1 or _is_last_word_of(reading, node, span))
        ]
        if new:
            both = np.concatenate([span.nodes, np.array(new, dtype=np.int32)])
            order = np.argsort(both)
            aliases = np.array([*span.is_alias, *(True for _ in new)])
            span = replace(span, nodes=both[order], is_alias=tuple(aliases[order].tolist()))
        result.append(span)
    return result


def _is_last_word_of(reading: QuestionContext, node: int, span: Span) -> bool:
    """Returns whether a word is the last one of an entity's label: a surname, not a first name."""
    languages = (*reading.languages, "en", "mul")
    (label,) = names_of(reading.graph, np.array([node], dtype=np.int32), languages)
    return label is not None and words(label)[-1:] == [span.name]


def _is_covered(left: int, right: int, spans: Sequence[Span]) -> bool:
    return any(
        span.left <= left and right <= span.right and span.right - span.left > right - left
        for span in spans
    )


def _exact(
    reading: QuestionContext,
    spans: Sequence[Span],
    named: Sequence[Span],
    linked: int,
    rules: StartRules,
) -> Iterator[StartCandidate]:
    """Yields the entities of whole names; the first spans, ``linked`` of them, are mentions."""
    graph = reading.graph
    for index, span in enumerate(spans):
        is_mention = index < linked
        is_class = span.certainty == Certainty.PLAIN and _is_class(reading, span.name, span.nodes)
        covered = _is_covered(span.left, span.right, spans)
        if is_class and covered and not is_mention:
            continue
        alternatives = 1 + reading.rules.max_alternatives if is_mention else 0
        most = max(1 if is_class else rules.of_name, alternatives)
        candidates = rank_candidates(reading, span, named, limit=most)
        if is_class:
            candidates = candidates[:1]
        nodes = np.array([candidate.node for candidate in candidates], dtype=np.int32)
        degrees = graph.degrees_of(nodes).tolist()
        alone = span.right == span.left + 1
        own = without_others(reading, span.left, span.right, nodes.tolist()) if alone else nodes
        for rank, (candidate, degree) in enumerate(zip(candidates, degrees, strict=True)):
            if graph.node_kinds[candidate.node] != NodeKind.ENTITY:
                continue
            yield StartCandidate(
                node=candidate.node,
                start=span.start,
                end=span.end,
                certainty=span.certainty,
                words=span.word_count(),
                rank=rank,
                score=candidate.score,
                is_alias=candidate.is_alias,
                neighbour_matches=candidate.neighbour_matches,
                typos=candidate.typos,
                covered=covered,
                linked=is_mention and rank == 0,
                listed=is_mention and rank < alternatives,
                degree=degree,
                in_other_name=not (candidate.neighbour_matches or candidate.node in own),
            )


def _is_class(reading: QuestionContext, name: str, nodes: Int32) -> bool:
    """Returns whether a name says what kind of thing is asked for: ``language``.

    It does if questions ask with all of its words, if it names a relation, or if the graph writes
    its entity of the highest degree without a capital.
    """
    if name in reading.lexicon.relation_names or COMMON_NOUNS.issuperset(name.split()):
        return True
    if not len(nodes):
        return False
    best = nodes[np.lexsort((nodes, -reading.graph.degrees_of(nodes)))[:1]]
    (label,) = labels_of(reading.graph.node_labels, best, ("en", "mul", *reading.languages))
    return label is not None and label == label.lower() and label != label.upper()


def _partial(
    reading: QuestionContext, spans: Sequence[Span], chosen: Sequence[Span], rules: StartRules
) -> Iterator[StartCandidate]:
    """Yields the entities of partial names and of demonyms."""
    runs: list[tuple[int, int]] = []
    texts: list[list[str]] = []
    for left, right in _partial_runs(reading, rules):
        atoms = reading.atoms[left:right]
        for text in ([atom.text for atom in atoms], *code_spellings(atoms)):
            runs.append((left, right))
            texts.append(text)
    index = reading.lexicon.partial_names(reading.graph)
    parts: list[list[int]] = [[] for _ in runs]
    if index is not None:
        nodes_of = {span.name: span.nodes for span in spans}
        tried = [
            text if _may_be_part(reading, run, chosen, nodes_of, rules) else []
            for run, text in zip(runs, texts, strict=True)
        ]
        parts = [
            without_others(reading, *run, nodes)
            for run, nodes in zip(
                runs, index.find_all(tried, reading.languages, most=rules.of_part), strict=True
            )
        ]
    demonyms = [
        " ".join(text) if len(text) <= rules.demonym_words and text[-1] not in COMMON_NOUNS else ""
        for text in texts
    ]
    origins = _origins(reading.graph, demonyms, rules.of_demonym)
    for (left, right), of_part, of_demonym in zip(runs, parts, origins, strict=True):
        for form, nodes in ((NameForm.PART, of_part), (NameForm.DEMONYM, of_demonym)):
            if not nodes:
                continue
            degrees = reading.graph.degrees_of(np.array(nodes, dtype=np.int32)).tolist()
            for rank, (node, degree) in enumerate(zip(nodes, degrees, strict=True)):
                yield StartCandidate(
                    node=node,
                    start=reading.atoms[left].start,
                    end=reading.atoms[right - 1].end,
                    certainty=Certainty.COMMON,
                    words=right - left,
                    rank=rank,
                    score=round(rules.part_score / (1 + rank), 5),
                    is_alias=True,
                    form=form,
                    covered=_is_covered(left, right, spans),
                    degree=degree,
                )


def _partial_runs(reading: QuestionContext, rules: StartRules) -> Iterator[tuple[int, int]]:
    """Yields the runs of words that may be a part of a name or a demonym: those that begin and end
    with a content word or a code, and have no amount in them.
    """
    atoms = reading.atoms
    for left in range(len(atoms)):
        for right in range(left + 1, min(len(atoms), left + rules.part_words) + 1):
            if atoms[right - 1].unspaced:
                break
            amount = not reading.amounts.isdisjoint(range(left, right))
            if may_bound_part(atoms, left, right) and not amount:
                yield left, right


def _may_be_part(
    reading: QuestionContext,
    run: tuple[int, int],
    chosen: Sequence[Span],
    nodes_of: Mapping[str, Int32],
    rules: StartRules,
) -> bool:
    """Returns whether words are looked for in longer labels: not those within a name of several
    words that is meant as one, nor a word that says what kind of thing is asked for.
    """
    left, right = run
    sure = [span for span in chosen if span.certainty > Certainty.PLAIN]
    if _is_covered(left, right, sure):
        return False
    if right - left > 1:
        return True
    word = reading.atoms[left].text
    nodes = nodes_of.get(word, np.zeros(0, dtype=np.int32))
    long = len(word) >= rules.part_letters or not (word.isalpha() or word.isdigit())
    return long and not _is_class(reading, word, nodes)


def _origins(graph: KnowledgeGraph, demonyms: Sequence[str], most: int) -> list[list[int]]:
    """Returns for each word the entities whose name is that of a place it comes from, by degree."""
    names = [origins_of(demonym) for demonym in demonyms]
    listed = find_named(graph, {name for some in names for name in some})
    origins: list[list[int]] = []
    for some in names:
        matches = [listed[name].nodes for name in some if name in listed]
        if not matches:
            origins.append([])
            continue
        nodes = np.unique(np.concatenate(matches))
        nodes = nodes[graph.node_kinds[nodes] == NodeKind.ENTITY]
        origins.append(nodes[np.lexsort((nodes, -graph.degrees_of(nodes)))][:most].tolist())
    return origins
