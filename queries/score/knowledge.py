"""Knowledge matching and recall of relations (L8): LTGen's scores.

KM is 1 where any answer entity is named, eKM where all are, rKM the share: KM >= rKM >= eKM for
every case. (The paper's equations 1 and 2 are printed the wrong way round.) A case without answer
entities is unscored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queries.score.matching import names
from queries.score.metric import Score, mean_score, ratio_score
from queries.score.report import CaseReport, Groups, make_report

NO_ANSWER_ENTITY = "no case has an answer entity"
NO_REFERENCE = "no case has reference relations"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnowledgeMatch:
    """Which answer entities a text names.

    Attributes:
        found: For each answer entity whether the text names it under any of its names.
    """

    found: tuple[bool, ...]

    @property
    def km(self) -> float | None:
        """1 where any is named, else 0; None without answer entities."""
        return float(any(self.found)) if self.found else None

    @property
    def rkm(self) -> float | None:
        """The share that is named."""
        return sum(self.found) / len(self.found) if self.found else None

    @property
    def ekm(self) -> float | None:
        """1 where all are named, else 0."""
        return float(all(self.found)) if self.found else None


def match_knowledge(text: str, answers: Sequence[Sequence[str]], /) -> KnowledgeMatch:
    """Returns which answer entities a generated text names (L8).

    Args:
        text: The generation.
        answers: The names of each answer entity; any of them will do. A date or a number
            counts in the renderings that ``matching`` lists.

    >>> match = match_knowledge("She won in 1903.", [["1903-12-10"], ["1903"], ["Pierre Curie"]])
    >>> match.found, match.km, match.ekm
    ((False, True, False), 1.0, 0.0)
    """
    return KnowledgeMatch(
        tuple(any(names(text, name) for name in entity) for entity in answers if any(entity))
    )


@dataclass(frozen=True, slots=True)
class RelationRecall:
    """Reference (entity, signed relation) pairs, and how many of them were found.

    A relation walked against its direction is another one (``-P19``), and one of a wrong entity
    is a miss.
    """

    hit: int
    reference: int

    @property
    def recall(self) -> float | None:
        """Share found; None without reference pairs."""
        return self.hit / self.reference if self.reference else None


def relation_recall(
    relations: Sequence[Pair], reference: Sequence[Pair], /, *, k: int | None = None
) -> RelationRecall:
    """Returns how many reference pairs are among those found (L8).

    Given pairs ranked on the gold entities, this is the oracle recall at ``k``.

    Args:
        relations: ``(entity id, signed relation)`` in order of rank; repeats count once.
        reference: The pairs that were wanted; repeats count once.
        k: Only the first ``k`` relations of each entity; None for all.

    >>> ranked = [("Q1", "P19"), ("Q1", "-P22"), ("Q2", "P40")]
    >>> relation_recall(ranked, [("Q1", "P19"), ("Q1", "P22")])
    RelationRecall(hit=1, reference=2)
    >>> relation_recall(ranked, [("Q1", "-P22"), ("Q2", "P40")], k=1).hit
    1
    """
    selected: dict[str, list[str]] = {}
    for entity, relation in relations:
        listed = selected.setdefault(entity, [])
        if relation not in listed and (k is None or len(listed) < k):
            listed.append(relation)
    targets = set(reference)
    hit = sum(relation in selected.get(entity, ()) for entity, relation in targets)
    return RelationRecall(hit, len(targets))


@dataclass(frozen=True, slots=True)
class KnowledgeCase:
    """A generation and what it should have named and found.

    Attributes:
        text: The generation; None where the model failed.
        answers: Names of each answer entity.
        found, oracle: Ranked pairs on the entities that were tagged, and on the gold ones; None where there
            was no ranking.
        reference: The wanted pairs.
        failure: Why there is no generation.
    """

    id: str
    text: str | None
    answers: tuple[tuple[str, ...], ...] = ()
    found: tuple[Pair, ...] | None = None
    oracle: tuple[Pair, ...] | None = None
    reference: tuple[Pair, ...] = ()
    groups: Groups = Groups()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeRow:
    """One case's scores; each None where it cannot have it.

    Attributes:
        recall: Of relations, all that were found.
        oracle: Of relations found on the gold entities, by ``k``.
    """

    id: str
    groups: Groups
    match: KnowledgeMatch | None
    recall: RelationRecall | None
    oracle: Mapping[int, RelationRecall]
    failure: str | None = None


def knowledge_row(case: KnowledgeCase, /, *, ks: Sequence[int] = (1, 5)) -> KnowledgeRow:
    """Returns one case's scores.

    Args:
        case: The generation with its references.
        ks: For which ``k`` the oracle recall is taken.
    """
    match = None if case.text is None else match_knowledge(case.text, case.answers)
    recall = None
    if case.found is not None and case.reference:
        recall = relation_recall(case.found, case.reference)
    oracle = {}
    if case.oracle is not None and case.reference:
        oracle = {k: relation_recall(case.oracle, case.reference, k=k) for k in ks}
    return KnowledgeRow(case.id, case.groups, match, recall, oracle, case.failure)


def score_knowledge(
    cases: Sequence[KnowledgeCase], /, *, ks: Sequence[int] = (1, 5)
) -> tuple[tuple[KnowledgeRow, ...], CaseReport]:
    """Returns every case's row, and their report with the groups of L9.

    Args:
        cases: In any order.
        ks: For which ``k`` the oracle recall is taken.

    >>> one = KnowledgeCase("1", "Ada and Bea sang.", (("Ada",), ("Bea",)))
    >>> two = KnowledgeCase("2", "Ada sang.", (("Ada", "Ada King"), ("Cleo",)))
    >>> lost = KnowledgeCase("3", None, (("Ada",),), failure="timeout")
    >>> rows, report = score_knowledge([one, two, lost])
    >>> [report.score(name).value for name in ("KM", "rKM", "eKM")]
    [1.0, 0.75, 0.5]
    >>> report.score("KM").n, report.score("KM").failed
    (2, 1)
    """
    rows = tuple(knowledge_row(case, ks=ks) for case in cases)
    return rows, knowledge_report(rows)


def knowledge_report(rows: Sequence[KnowledgeRow], /) -> CaseReport:
    """Returns the report of rows; failed cases are counted beside each mean and are in none."""
    ranked = any(row.recall is not None for row in rows)
    ks = sorted({k for row in rows for k in row.oracle})

    def summarise(part: Sequence[KnowledgeRow]) -> dict[str, Score]:
        failed = sum(row.failure is not None for row in part)
        done = [row.match for row in part if row.failure is None and row.match is not None]
        scores = {
            name: mean_score(values, failed=failed, empty=NO_ANSWER_ENTITY)
            for name, values in (
                ("KM", [match.km for match in done]),
                ("rKM", [match.rkm for match in done]),
                ("eKM", [match.ekm for match in done]),
            )
        }
        if ranked:
            scores.update(_recalls("relation recall", part, [row.recall for row in part]))
        for k in ks:
            scores.update(_recalls(f"oracle recall@{k}", part, [row.oracle.get(k) for row in part]))
        return scores

    return make_report("knowledge matching", rows, summarise)


def _recalls(
    name: str,
    rows: Sequence[KnowledgeRow],
    values: Sequence[RelationRecall | None],
) -> dict[str, Score]:
    # A generation may have failed after a retrieval whose recall is known all the same.
    failed = sum(
        value is None and row.failure is not None for row, value in zip(rows, values, strict=True)
    )
    known = [value for value in values if value is not None]
    unscored = len(values) - len(known) - failed
    return {
        f"{name}, micro": ratio_score(
            [value.hit for value in known],
            [value.reference for value in known],
            failed=failed,
            unscored=unscored,
            empty=NO_REFERENCE,
        ),
        f"{name}, macro": mean_score(
            [*(value.recall for value in known), *[None] * unscored],
            failed=failed,
            empty=NO_REFERENCE,
        ),
    }
