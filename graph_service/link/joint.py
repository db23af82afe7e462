"""What a question is taken to name once retrieval has chosen among the start candidates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph_service.link.starts import StartCandidate


@dataclass(frozen=True, slots=True)
class JointMention:
    """Words of a question, and the entities that they may mean.

    Attributes:
        start, end: Characters of the question.
        score: The linker's of the first entity, 0 to 1.
        nodes: The entity that is taken to be meant, then the runners-up, likely ones first.
    """

    start: int
    end: int
    score: float
    nodes: tuple[int, ...]


def joint_linking(
    candidates: Sequence[StartCandidate],
    used_nodes: Iterable[int],
    /,
    *,
    max_alternatives: int = 5,
) -> list[JointMention]:
    """Returns one mention for each run of words that names a used entity, and those that ``link``
    finds beside them, in order of the question.

    Of the words of a mention the used entity comes first; if several are used, the first of them,
    and the others next. A mention of which no entity is used is kept where ``link`` names one and
    its words overlap no used one's.

    Args:
        candidates: Likely ones first, each entity once (``start_candidates``).
        used_nodes: The entities that retrieval answered from, those of the best answers first.
        max_alternatives: How many runners-up a mention keeps.

    Raises:
        KeyError: A used entity is no candidate.
    """
    of_node = {each.node: each for each in candidates}
    used = [of_node[node] for node in dict.fromkeys(used_nodes)]
    first: dict[tuple[int, int], list[StartCandidate]] = {}
    for each in used:
        first.setdefault((each.start, each.end), []).append(each)
    taken = list(first)
    for each in candidates:
        if each.linked and not any(each.start < end and start < each.end for start, end in taken):
            first.setdefault((each.start, each.end), [each])
    mentions = []
    for span in sorted(first):
        chosen = first[span]
        others = [
            each for each in candidates if (each.start, each.end) == span and each not in chosen
        ]
        nodes = [each.node for each in (*chosen, *others)][: 1 + max_alternatives]
        mentions.append(JointMention(*span, chosen[0].score, tuple(nodes)))
    return mentions
