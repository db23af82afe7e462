"""Nuggets as TREC has them, where a nugget is a statement of the graph.

A vital nugget is what an answer must say, an okay one what it may say beside. Vital are the
statements of a question's minimum set, okay those of its ``okay_ids``. A text has a nugget if it entails
the statement. TREC's figures (Pradeep and others, AutoNuggetizer, 2024) stand beside KaLMA's recall, which asks
for a citation: a text may say a statement and not cite it, or cite it and not say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graph_service.model.result import Triple
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer
from queries.llm import Usage
from queries.score.case import case_of_answer, triple_line
from queries.score.citation import citation_row
from queries.score.entailment import Entailment, Pair
from queries.score.metric import Score, mean_score, ratio_score
from queries.score.report import CaseReport, Groups, make_report

OKAY_WEIGHT = 0.5
NO_NUGGET = "no question has a minimum set of statements"
NO_OKAY = "no question has okay statements (okay_ids)"


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """The nuggets of one answer.

    Attributes:
        vital, okay: How many there are of each kind.
        vital_stated, okay_stated: How many of these the text entails.
        vital_cited: Vital ones that a correct citation names (KaLMA's recall).
        unknown: Nuggets that the graph does not have, in no figure.
        failure: Why there is no answer, or no judgement of it.
    """

    id: str
    groups: Groups
    vital: int
    okay: int
    vital_stated: int
    okay_stated: int
    vital_cited: int
    unknown: int = 0
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None

    @property
    def vital_share(self) -> float | None:
        """TREC's strict vital score: vital nuggets that are said; None without any."""
        return self.vital_stated / self.vital if self.vital else None

    @property
    def all_share(self) -> float | None:
        """TREC's strict score over all nuggets; None without any."""
        total = self.vital + self.okay
        return (self.vital_stated + self.okay_stated) / total if total else None

    @property
    def weighted_share(self) -> float | None:
        """The same, where an okay nugget counts half."""
        total = self.vital + OKAY_WEIGHT * self.okay
        return (self.vital_stated + OKAY_WEIGHT * self.okay_stated) / total if total else None


def nugget_row(
    item: Answer,
    gold: GoldQuestion,
    triples: Mapping[str, Triple],
    /,
    *,
    entailment: Entailment,
) -> NuggetRow:
    """Returns which nuggets an answer says and cites.

    Args:
        item: The answer; citations and markers are no part of what it says.
        gold: Its question.
        triples: The statements of the base graph, by id.
        entailment: Judges (text, statement) with the text as the premise.
    """
    groups = Groups(kind=gold.kind)
    vital = [id_ for id_ in dict.fromkeys(gold.statement_ids) if id_ in triples]
    okay = [
        id_
        for id_ in dict.fromkeys(gold.okay_ids)
        if id_ in triples and id_ not in gold.statement_ids
    ]
    unknown = len({*gold.statement_ids, *gold.okay_ids} - triples.keys())
    nothing = NuggetRow(gold.id, groups, len(vital), len(okay), 0, 0, 0, unknown)
    if item.failure is not None:
        return NuggetRow(gold.id, groups, len(vital), len(okay), 0, 0, 0, unknown,
                         failure=item.failure)  # fmt: skip
    if not vital and not okay:
        return nothing
    text = case_of_answer(item).text
    judged = entailment.judge([Pair(text, triple_line(triples[id_])) for id_ in (*vital, *okay)])
    usage = sum((judgement.usage for judgement in judged), Usage())
    failures = [judgement.failure for judgement in judged if judgement.failure is not None]
    entailed = [judgement.entailed is True for judgement in judged]
    counts = citation_row(item, gold).counts
    cited = 0 if counts is None else len(set(vital) - set(counts.missed))
    return NuggetRow(
        gold.id,
        groups,
        len(vital),
        len(okay),
        sum(entailed[: len(vital)]),
        sum(entailed[len(vital) :]),
        cited,
        unknown,
        usage,
        failures[0] if failures else None,
    )


def nuggets_report(
    rows: Sequence[NuggetRow],
    /,
    *,
    judged_by: str,
    notes: Sequence[str] = (),
) -> CaseReport:
    """Returns TREC's figures of nuggets, macro over questions, beside KaLMA's recall.

    Args:
        rows: One an answer.
        judged_by: Who judged what a text says.
        notes: What a reader should know of that judge.

    >>> row = NuggetRow("1", Groups(), vital=2, okay=2, vital_stated=1, okay_stated=2, vital_cited=2)
    >>> report = nuggets_report([row], judged_by="hand")
    >>> [report.score(name).value for name in ("vital, strict", "all, strict", "weighted, strict")]
    [0.5, 0.75, 0.6666666666666666]
    """

    def summarise(part: Sequence[NuggetRow]) -> dict[str, Score]:
        failed = sum(row.failure is not None for row in part)
        done = [row for row in part if row.failure is None]

        def mean(values: Sequence[float | None], empty: str = NO_NUGGET) -> Score:
            return mean_score(values, failed=failed, empty=empty)

        def ratio(above: list[int], below: list[int], empty: str = NO_NUGGET) -> Score:
            return ratio_score(above, below, failed=failed, empty=empty)

        vital = [row.vital for row in done]
        return {
            "vital, strict": mean([row.vital_share for row in done]),
            "all, strict": mean([row.all_share for row in done]),
            "weighted, strict": mean([row.weighted_share for row in done]),
            "vital, strict, micro": ratio([row.vital_stated for row in done], vital),
            "okay, strict, micro": ratio(
                [row.okay_stated for row in done], [row.okay for row in done], NO_OKAY
            ),
            "recall of citations, micro": ratio([row.vital_cited for row in done], vital),
            "recall of citations, macro": mean(
                [row.vital_cited / row.vital if row.vital else None for row in done]
            ),
        }

    unknown = sum(row.unknown for row in rows)
    lost = [f"{unknown} nuggets are not in the graph, in no figure"] if unknown else []
    return make_report(
        "nuggets", rows, summarise, basis={"judge": judged_by}, notes=[*notes, *lost]
    )
