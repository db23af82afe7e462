"""From a question to its mentions: the steps of linking, in order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.link.candidates import look_up
from graph_service.link.capitals import names_unknown, without_parts
from graph_service.link.disambiguation import rank_candidates
from graph_service.link.mention import Candidate, Mention
from graph_service.link.question_context import QuestionContext, read
from graph_service.link.respelling import with_misspelt
from graph_service.link.rules import LINKING_RULES, LinkingRules
from graph_service.link.spans import Certainty, Span, surest, without_overlaps
from graph_service.model.graph import KnowledgeGraph, labels_of, require_node
from graph_service.model.overlay import Overlay


def link(
    question: str,
    graph: KnowledgeGraph,
    /,
    *,
    languages: Sequence[str] = (),
    overlay: Overlay | None = None,
    limit: int = 5,
    given_ids: Sequence[str] = (),
    rules: LinkingRules = LINKING_RULES,
) -> tuple[Mention, ...]:
    """Returns the mentions of entities, in order of the question; empty if it names none.

    Args:
        question: Text in any language.
        graph: The graph; its names are those of the base, whatever the view.
        languages: Languages of the names shown in ``matched``, best first. Names of all
            languages are found.
        overlay: A view, whose edges then decide between entities of one name.
        limit: How many mentions at most; the surest and longest stay.
        given_ids: Entities known to the caller: they come first, and the question is then not
            searched for others.
        rules: The numbers that decide.

    Raises:
        InputError: The graph lacks an entity of ``given_ids``.
    """
    if given_ids:
        return tuple(_mention_of(graph, id_, languages) for id_ in dict.fromkeys(given_ids))
    reading = read(question, graph, languages=languages, overlay=overlay, rules=rules)
    named = look_up(reading)
    spans = mentioned_spans(reading, with_misspelt(reading, without_overlaps(named)), limit=limit)
    return tuple(
        Mention(
            text=question[span.start : span.end],
            start=span.start,
            end=span.end,
            candidates=rank_candidates(reading, span, named, limit=1 + rules.max_alternatives),
        )
        for span in sorted(spans, key=lambda span: span.start)
    )


def mentioned_spans(
    reading: QuestionContext, spelt: Sequence[Span], /, *, limit: int
) -> list[Span]:
    """Returns the spans that the question is linked by, the surest and longest first.

    Args:
        reading: The question.
        spelt: Names that stand in it, misspelt ones too, of which no two overlap.
        limit: How many at most.
    """
    spans = without_parts(reading, spelt)
    if names_unknown(reading, spans):
        # Whoever asks about a name that is not here does not ask about ``government``.
        spans = [span for span in spans if span.certainty > Certainty.COMMON]
    return surest(spans)[: max(0, limit)]


def _mention_of(graph: KnowledgeGraph, id_: str, languages: Sequence[str]) -> Mention:
    node = require_node(graph, id_)
    (label,) = labels_of(graph.node_labels, np.array([node], dtype=np.int32), languages)
    return Mention("", -1, -1, (Candidate(node, 1.0, label or id_, False, 0),))
