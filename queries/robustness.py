"""The same questions on a base graph and on perturbed views of it, scored alike.

Views are given inline: each is computed for the question asked, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy, Triple
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import ChangeKind, Method, ViewSpec
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer, Setting, answer, changes_of
from queries.generate.verbalise import triple_sentence
from queries.llm import ChatModel
from queries.retriever import Retriever
from queries.score.citation import SCORE_NAMES
from queries.score.metric import Score
from queries.score.run import CitationReport, score_answers

TEN_SEEDS = tuple(range(10))


@dataclass(frozen=True, slots=True)
class Spread:
    """One score on the base graph and over random seeds of a view.

    Attributes:
        base: On the base graph.
        seeds: On the view of each random seed, in order; None where it could not be scored.
        mean, low, high: Mean, least and greatest over the seeds that could; None where none.
    """

    base: float | None
    seeds: tuple[float | None, ...]
    mean: float | None
    low: float | None
    high: float | None

    def text(self) -> str:
        """Returns ``base 0.800, views 0.610 (0.500 to 0.700)``."""
        base = "none" if self.base is None else f"{self.base:.3f}"
        if self.mean is None or self.low is None or self.high is None:
            return f"base {base}, views none"
        return f"base {base}, views {self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def spread(base: Score, seeds: Sequence[Score], /) -> Spread:
    """Returns a score's mean and range over random seeds; seeds without a value are left out.

    >>> spread(Score(0.8, 5), [Score(0.5, 5), Score(0.7, 5)]).text()
    'base 0.800, views 0.600 (0.500 to 0.700)'
    """
    values = [item.value for item in seeds if item.value is not None]
    mean = sum(values) / len(values) if values else None
    return Spread(
        base.value,
        tuple(item.value for item in seeds),
        mean,
        min(values, default=None),
        max(values, default=None),
    )


@dataclass(frozen=True, slots=True)
class ChangedStatement:
    """A statement of a view that is not as in the base, for people.

    Attributes:
        cited: Whether the answer cites it, and so says what is not true.
    """

    question_id: str
    random_seed: int
    kind: ChangeKind
    statement: Triple
    base: Triple | None
    cited: bool

    def text(self) -> str:
        """Returns the change in words."""
        now = triple_sentence(self.statement)
        where = f"random seed {self.random_seed}, question {self.question_id}"
        if self.base is None:
            return f"{now} (added by the view; {where})"
        return f"{now} (the base graph says: {triple_sentence(self.base)}; {where})"


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A question set on a base graph and on one view method at one level.

    Attributes:
        method, level, random_seeds, strategy: What was asked.
        base: Scores on the base graph.
        views: Scores on the view of each random seed, in order.
        spreads: Mean and range of each score, by name.
        example: A changed statement: the first that an answer cites, else the first that was
            retrieved; None where no answer met one.
    """

    method: Method
    level: float
    random_seeds: tuple[int, ...]
    strategy: Strategy
    base: CitationReport
    views: tuple[CitationReport, ...]
    spreads: Mapping[str, Spread]
    example: ChangedStatement | None

    def to_json(self) -> str:
        """Returns the report as one line of JSON, each run's rows included."""
        data: dict[str, Any] = to_plain(self)
        data["base"] = self.base.to_plain()
        data["views"] = [report.to_plain() for report in self.views]
        return orjson.dumps(data).decode()

    def lines(
        self, names: Sequence[str] = ("precision_micro", "recall_micro", "f1_micro"), /
    ) -> list[str]:
        """Returns the report for people: one line for each score named, then the example."""
        shown = [
            f"{len(self.base.rows)} questions, {self.strategy.value}, {self.method.value} at "
            f"{self.level:.0%}, {len(self.random_seeds)} random seeds"
        ]
        width = max(len(name) for name in names)
        shown.extend(
            f"{name.replace('_', ' '):<{width}}  {self.spreads[name].text()}" for name in names
        )
        if self.example is not None:
            shown.append(f"one changed statement: {self.example.text()}")
        return shown


def sweep(
    questions: Sequence[GoldQuestion],
    /,
    *,
    retriever: Retriever,
    graph: str | None = None,
    method: Method = Method.RELATION_REPLACEMENT,
    level: float = 0.3,
    random_seeds: Sequence[int] = TEN_SEEDS,
    strategy: Strategy = Strategy.PATHS,
    model: ChatModel | None = None,
    setting: Setting = Setting.KALMA_NUMBERED,
    preset: str = "default",
    limit: int | None = None,
    link: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> SweepReport:
    """Returns citation scores on a base graph and on views of it, one a random seed.

    Args:
        questions: With their minimum sets.
        retriever: Fetches the knowledge.
        graph: Name of the graph.
        method: How the views change it.
        level: Share of its edges that they change, 0 to 1.
        random_seeds: One view each, all different.
        strategy: Which retrieval.
        model: Makes the words; None for template sentences.
        setting: How the model is asked.
        preset: Of the retrieval.
        limit: Items of the retrieval.
        link: Whether entities are linked from the question's words even where the question
            has its gold entities; by default those are given, so that scores differ by the
            view alone.
        progress: Told (answers done, answers in all) after each.

    Raises:
        InputError: There is no question or random seed, or a seed comes twice.
    """
    seeds = tuple(random_seeds)
    if not questions:
        raise InputError("a sweep needs at least one question", argument="questions")
    if not seeds or len(set(seeds)) != len(seeds):
        raise InputError(
            f"a sweep needs different random seeds, at least one; got {list(seeds)}",
            argument="random_seeds",
        )
    specs = [ViewSpec(method, level=level, random_seed=seed) for seed in seeds]
    for spec in specs:
        spec.validate()
    views = [None, *(ViewRef(spec=spec) for spec in specs)]
    total = len(views) * len(questions)
    runs: list[list[Answer]] = []
    for number, view in enumerate(views):
        run: list[Answer] = []
        for question in questions:
            run.append(
                answer(
                    question.question,
                    retriever=retriever,
                    model=model,
                    strategy=strategy,
                    setting=setting,
                    graph=graph,
                    view=view,
                    entity_ids=() if link else question.entity_ids,
                    preset=preset,
                    limit=limit,
                    question_id=question.id,
                )
            )
            if progress is not None:
                progress(number * len(questions) + len(run), total)
        runs.append(run)
    base, *reports = [score_answers(run, questions) for run in runs]
    return SweepReport(
        method=method,
        level=level,
        random_seeds=seeds,
        strategy=strategy,
        base=base,
        views=tuple(reports),
        spreads={
            name: spread(base.score(name), [report.score(name) for report in reports])
            for name in SCORE_NAMES
        },
        example=find_changed(runs[1:], seeds),
    )


def find_changed(
    runs: Sequence[Sequence[Answer]], random_seeds: Sequence[int], /
) -> ChangedStatement | None:
    """Returns a changed statement among what answers were given: a cited one where there is one."""
    first: ChangedStatement | None = None
    for run, seed in zip(runs, random_seeds, strict=True):
        for item in run:
            if item.result is None:
                continue
            cited = {
                id_
                for part in item.sentences
                for citation in part.citations
                for id_ in citation.statement_ids
            }
            changes = changes_of(item.result)
            for triple in item.knowledge:
                change = changes.get(triple.statement_id)
                if change is None or change.kind is ChangeKind.UNCHANGED:
                    continue
                found = ChangedStatement(
                    item.question_id,
                    seed,
                    change.kind,
                    triple,
                    change.base,
                    triple.statement_id in cited,
                )
                if found.cited:
                    return found
                first = first or found
    return first
