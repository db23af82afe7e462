"""From a question to its mentions: the steps of linking, in order."""

from __future__ import annotations

from collections.abc import Sequence

from graph_service.link.candidates import look_up
from graph_service.link.capitals import names_unknown, without_parts
from graph_service.link.disambiguation import rank_candidates
from graph_service.link.mention import Mention
from graph_service.link.question_context import QuestionContext, read
from graph_service.link.respelling import with_misspelt
from graph_service.link.rules import LINKING_RULES, LinkingRules
from graph_service.link.spans import Certainty, Span, surest, without_overlaps
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.overlay import Overlay


def link(
    question: str,
    graph: KnowledgeGraph,
    /,
    *,
    languages: Sequence[str] = (),
    overlay: Overlay | None = None,
    limit: int = 5,
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
        rules: The numbers that decide.
    """
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
