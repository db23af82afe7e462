"""How well a ranker puts the right relation first, on questions whose relation is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from graph_service.model.ranking import RelationRanker, SignedRelation, TextEncoder
from graph_service.rank.trained import TrainedRanker
from queries.rank.training import Example, train_ranker
from queries.score.metric import Score, mean_score


@dataclass(frozen=True, slots=True)
class RankingReport:
    """Recall at k of a ranker.

    Attributes:
        ranker: Its name.
        candidates: How many signed relations were ranked for each question.
        recall: By k, over questions; with ``n`` and an interval.
    """

    ranker: str
    candidates: int
    recall: dict[int, Score]

    def lines(self) -> list[str]:
        """Returns the report for people."""
        shown = [f"{self.ranker}, {self.candidates} signed relations"]
        return shown + [f"recall@{k}  {score.text()}" for k, score in self.recall.items()]


@dataclass(frozen=True, slots=True)
class Fold:
    """One part of the relations kept out of the training.

    Attributes:
        relations: Ids of the relations kept out, both directions of each.
        unseen: Questions for these; all relations are ranked.
        seen: The other questions, by the same ranker.
        embedding: The questions for the relations kept out, ranked by embedding alone.
    """

    relations: tuple[str, ...]
    unseen: RankingReport
    seen: RankingReport
    embedding: RankingReport


@dataclass(frozen=True, slots=True)
class HeldOutReport:
    """Recall on relations that a ranker never saw: folds, and their means."""

    folds: tuple[Fold, ...]
    ks: tuple[int, ...]

    def mean(self, part: str, k: int, /) -> float | None:
        """Returns the mean over folds of ``unseen``, ``seen`` or ``embedding`` at k."""
        reports: list[RankingReport] = [getattr(fold, part) for fold in self.folds]
        values = [
            score.value for report in reports if (score := report.recall[k]).value is not None
        ]
        return sum(values) / len(values) if values else None

    def lines(self) -> list[str]:
        """Returns the report for people."""
        shown: list[str] = []
        for index, fold in enumerate(self.folds, 1):
            figures = ", ".join(f"@{k} {fold.unseen.recall[k].text()}" for k in self.ks)
            shown.append(f"fold {index}, {len(fold.relations)} relations kept out: {figures}")
        for part, title in (
            ("unseen", "relations kept out"),
            ("embedding", "these by embedding alone"),
            ("seen", "the other relations, by the same rankers"),
        ):
            figures = ", ".join(
                f"@{k} {value:.3f}" for k in self.ks if (value := self.mean(part, k)) is not None
            )
            shown.append(f"mean of {len(self.folds)} folds, {title}: recall {figures or 'none'}")
        return shown


def candidates_of(examples: Sequence[Example], /) -> tuple[SignedRelation, ...]:
    """Returns the distinct signed relations of examples, by id."""
    relations = {each.relation.key: each.relation for each in examples}
    return tuple(relations[key] for key in sorted(relations))


def measure_ranking(
    ranker: RelationRanker,
    examples: Sequence[Example],
    candidates: Sequence[SignedRelation],
    /,
    *,
    ks: Sequence[int] = (1, 5),
) -> RankingReport:
    """Returns recall at k: the share of questions whose relation is among the first k."""
    ranks: list[int] = []
    for each in examples:
        ranked = ranker.rank(each.question, candidates, entity=each.entity)
        keys = [item.relation.key for item in ranked]
        ranks.append(keys.index(each.relation.key) if each.relation.key in keys else len(keys))
    return RankingReport(
        ranker.name,
        len(candidates),
        {k: mean_score([float(rank < k) for rank in ranks]) for k in ks},
    )


def split_relations(ids: Sequence[str], folds: int, /, *, random_seed: int = 0) -> list[list[str]]:
    """Returns relations in parts of one size, drawn by a keyed hash."""
    key = str(random_seed).encode()
    sample = sorted(
        set(ids), key=lambda id_: (blake2b(id_.encode(), digest_size=8, key=key).digest(), id_)
    )
    return [sorted(sample[i::folds]) for i in range(folds)]


def measure_held_out(
    train: Sequence[Example],
    valid: Sequence[Example],
    encoder: TextEncoder,
    embedding: RelationRanker,
    /,
    *,
    folds: int = 5,
    ks: Sequence[int] = (1, 5),
    random_seed: int = 0,
) -> HeldOutReport:
    """Returns what rankers find that were trained without a part of the relations.

    Args:
        train: Questions to train on; those for the relations kept out are left out.
        valid: Questions to measure on.
        encoder: The embedder.
        embedding: The ranker to compare with.
        folds: Parts; each is kept out once, both directions of a relation together.
        ks: Where recall is taken.
        random_seed: Of the parts and of the training.
    """
    candidates = candidates_of([*train, *valid])
    parts = split_relations([each.id for each in candidates], folds, random_seed=random_seed)
    measured: list[Fold] = []
    for part in parts:
        out = set(part)
        weights = train_ranker(
            [each for each in train if each.relation.id not in out],
            encoder,
            random_seed=random_seed,
        )
        ranker = TrainedRanker(weights, encoder)
        unseen = [each for each in valid if each.relation.id in out]
        seen = [each for each in valid if each.relation.id not in out]
        measured.append(
            Fold(
                tuple(part),
                measure_ranking(ranker, unseen, candidates, ks=ks),
                measure_ranking(ranker, seen, candidates, ks=ks),
                measure_ranking(embedding, unseen, candidates, ks=ks),
            )
        )
    return HeldOutReport(tuple(measured), tuple(ks))
