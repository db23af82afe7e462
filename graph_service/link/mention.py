"""What linking gives: mentions, and the entities that each may mean."""

from __future__ import annotations

from dataclasses import dataclass


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
        typos: Letters by which the question's spelling differs.
    """

    node: int
    score: float
    matched: str
    is_alias: bool
    neighbour_matches: int
    typos: int = 0


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
