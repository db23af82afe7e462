"""Conscious incompetence by rounds: statements of the minimum set withheld, one more each round (K6).

A withheld set is a view: each question is asked on a view of its own that withholds the first statements of an
order drawn once, so that the rounds are nested and what is absent is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy, Triple
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import Method, ViewSpec
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer, Setting, answer
from queries.generate.setting import RECIPES
from queries.generate.verbalise import VERBALISER
from queries.llm import ChatModel, Usage
from queries.retriever import Retriever
from queries.score.entailment import Entailment
from queries.score.not_available import NotAvailableReport, score_not_available
from queries.score.report import Groups, PlainReport, Section
from queries.score.run import CitationReport, score_answers

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class WithheldCase:
    """One question of one round.

    Attributes:
        question: With its minimum set.
        withheld: How many statements are withheld from it.
        order: Its minimum set in the order in which it is withheld.
    """

    question: GoldQuestion
    withheld: int
    order: tuple[str, ...]

    @property
    def id(self) -> str:
        """The question's id and the round, ``two-01#2``."""
        return f"{self.question.id}#{self.withheld}"

    @property
    def absent(self) -> tuple[str, ...]:
        """The statements that are withheld."""
        return self.order[: self.withheld]


@dataclass(frozen=True, slots=True)
class WithheldRow:
    """One answer of one round, as it is kept.

    Attributes:
        id: Of its ``WithheldCase``.
        withheld: How many statements were withheld.
        absent: Their ids.
        answer: The answer as ``answer --out`` writes it.
        usage: Its tokens, where a model was asked.
        failure: Why there is no answer.
    """

    id: str
    groups: Groups
    withheld: int
    absent: tuple[str, ...]
    answer: Mapping[str, Any]
    usage: Usage = field(default_factory=Usage)
    failure: str | None = None

    def read(self) -> Answer:
        """Returns the answer of the row as ``Answer``."""
        return Answer.from_json(orjson.dumps(self.answer))


@dataclass(frozen=True, slots=True)
class QuestionSetup:
    """How the questions of all rounds are asked; the gold entities are given.

    Attributes:
        model: Makes the words; None for template sentences.
        setting: How the model is asked; one that takes facts and no passages.
        graph: Name of the graph.
        strategy: Which retrieval.
        preset: Of the retrieval.
        limit: Items of the retrieval.
    """

    model: ChatModel | None = None
    setting: Setting = Setting.KALMA_NUMBERED
    graph: str | None = None
    strategy: Strategy = Strategy.TRIPLETS
    preset: str = "default"
    limit: int | None = None

    def __post_init__(self) -> None:
        recipe = RECIPES[self.setting]
        if not recipe.facts or recipe.passages:
            raise InputError(
                f"setting {self.setting.value} does not answer from the graph's statements alone, "
                "so that nothing can be withheld from it",
                argument="setting",
            )

    @property
    def label(self) -> str:
        """All of it, as kept answers have it; the setting where there is a model."""
        parts = [VERBALISER if self.model is None else f"{self.model.name}, {self.setting.value}"]
        parts += [f"graph {self.graph}"] if self.graph is not None else []
        parts.append(f"{self.strategy.value}, preset {self.preset}")
        parts += [f"limit {self.limit}"] if self.limit is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Round:
    """One round's scores.

    Attributes:
        withheld: Statements withheld from each question; 0 is the base graph.
        questions: Questions whose minimum set has as many.
        citations: Of their answers; recall is against the full minimum set.
        not_available: ``[NA]`` against what was withheld; None in round 0.
    """

    withheld: int
    questions: int
    citations: CitationReport
    not_available: NotAvailableReport | None

    @property
    def has_failed(self) -> bool:
        """Whether an answer, or its judgement, failed."""
        return any(row.failure is not None for row in self.citations.rows) or (
            self.not_available is not None and self.not_available.has_failed
        )

    def section(self) -> Section:
        """Returns what people read of the round."""
        scores = {
            f"citation {name}": self.citations.score(f"{name}_micro")
            for name in ("precision", "recall")
        }
        if self.not_available is not None:
            scores |= {
                "[NA] precision, strict": self.not_available.precision_strict,
                "[NA] precision, lenient": self.not_available.precision_lenient,
                "[NA] recall": self.not_available.recall,
            }
        return Section(f"{self.withheld} withheld, {self.questions} questions", (scores,))


def rounds_report(rounds: Sequence[Round], /, *, label: str, judged_by: str) -> PlainReport:
    """Returns the report of rounds.

    Args:
        rounds: The scores of each.
        label: How their questions were asked.
        judged_by: Who judged entailment.
    """
    models = sorted({name for item in rounds for name in item.citations.models})
    return PlainReport(
        {
            "models": models,
            "asked": label,
            "rounds": [
                {
                    "withheld": item.withheld,
                    "questions": item.questions,
                    "citations": item.citations.to_plain(),
                    "not_available": item.not_available,
                }
                for item in rounds
            ],
        },
        [
            f"answers by {', '.join(models)}",
            f"asked by {label}",
            f"judge: {judged_by}",
            *(item.section() for item in rounds),
        ],
        failed=any(item.has_failed for item in rounds),
    )


def withheld_order(question: GoldQuestion, /, *, random_seed: int = 0) -> tuple[str, ...]:
    """Returns a question's minimum set in the order in which it is withheld.

    By a hash of random seed, question and statement: the same on every machine, and each round
    withholds what the one before did and one more.

    >>> withheld_order(GoldQuestion("7", "Who?", statement_ids=("a", "b", "c")))
    ('b', 'a', 'c')
    """

    def sort_key(id_: str) -> tuple[bytes, str]:
        text = f"{random_seed}/{question.id}/{id_}".encode()
        return hashlib.blake2b(text, digest_size=8, person=b"withhold").digest(), id_

    return tuple(sorted(dict.fromkeys(question.statement_ids), key=sort_key))


def plan_rounds(
    questions: Sequence[GoldQuestion], /, *, rounds: int = ROUNDS, random_seed: int = 0
) -> tuple[WithheldCase, ...]:
    """Returns what is asked, round by round; round 0 withholds nothing.

    A round has the questions whose minimum set is large enough; the base has all of the first
    round's.

    Args:
        questions: With their minimum sets; lacking ones are left out.
        rounds: How many statements are withheld at most.
        random_seed: Of the order of withholding.

    Raises:
        InputError: No question has a minimum set, or there are no rounds.
    """
    if rounds < 1:
        raise InputError(f"at least one round was expected, got {rounds}", argument="rounds")
    usable = [item for item in questions if item.statement_ids and not item.lacking]
    if not usable:
        raise InputError("no question has a minimum set to withhold from", argument="gold")
    orders = {item.id: withheld_order(item, random_seed=random_seed) for item in usable}
    return tuple(
        WithheldCase(item, round_, orders[item.id])
        for round_ in range(rounds + 1)
        for item in usable
        if len(orders[item.id]) >= max(round_, 1)
    )


def answer_withheld(
    case: WithheldCase, /, *, retriever: Retriever, setup: QuestionSetup
) -> WithheldRow:
    """Returns the answer to a question on the view that withholds its statements.

    Args:
        case: The question and its round.
        retriever: Fetches the knowledge.
        setup: How it is asked.
    """
    view = None
    if case.withheld:
        spec = ViewSpec(Method.WITHHOLDING, count=case.withheld, statement_ids=case.order)
        view = ViewRef(spec=spec)
    item = answer(
        case.question.question,
        retriever=retriever,
        model=setup.model,
        setting=setup.setting,
        strategy=setup.strategy,
        graph=setup.graph,
        view=view,
        entity_ids=case.question.entity_ids,
        preset=setup.preset,
        limit=setup.limit,
        question_id=case.question.id,
        kind=case.question.kind,
    )
    return WithheldRow(
        case.id,
        Groups(kind=case.question.kind),
        case.withheld,
        case.absent,
        to_plain(item),
        item.usage or Usage(),
        item.failure,
    )


def score_withheld(
    cases: Sequence[WithheldCase],
    rows: Sequence[WithheldRow],
    /,
    *,
    triples: Mapping[str, Triple],
    entailment: Entailment,
    is_off_question: Callable[[str, str], bool] | None = None,
) -> tuple[Round, ...]:
    """Returns the scores of each round's answers (K6).

    Args:
        cases: Of ``plan_rounds``.
        rows: The answer to each, in that order.
        triples: The withheld statements of the base graph, by id.
        entailment: Judges what an ``[NA]`` sentence entails.
        is_off_question: Judges whether a sentence does not answer its question at all.
    """
    rounds: list[Round] = []
    for round_ in sorted({case.withheld for case in cases}):
        part = [pair for pair in zip(cases, rows, strict=True) if pair[0].withheld == round_]
        answers = [row.read() for _, row in part]
        report = None
        if round_:
            absent = {
                case.question.id: tuple(triples[id_] for id_ in case.absent) for case, _ in part
            }
            report = score_not_available(
                answers, absent, entailment=entailment, is_off_question=is_off_question
            )
        citations = score_answers(answers, [case.question for case, _ in part])
        rounds.append(Round(round_, len(part), citations, report))
    return tuple(rounds)


def score_rounds(
    questions: Sequence[GoldQuestion],
    /,
    *,
    retriever: Retriever,
    statements: Callable[[Sequence[str]], Mapping[str, Triple]],
    entailment: Entailment,
    is_off_question: Callable[[str, str], bool] | None = None,
    setup: QuestionSetup | None = None,
    rounds: int = ROUNDS,
    random_seed: int = 0,
) -> tuple[Round, ...]:
    """Returns the base's scores and those of each round (K6), all asked anew.

    Args:
        questions: With their minimum sets; lacking ones are left out.
        retriever: Fetches the knowledge.
        statements: From statement ids to the triples of the base graph.
        entailment: Judges what an ``[NA]`` sentence entails.
        is_off_question: Judges whether a sentence does not answer its question at all.
        setup: How questions are asked; by default by template sentences.
        rounds: How many statements are withheld at most.
        random_seed: Of the order of withholding.

    Raises:
        InputError: No question has a minimum set, or there are no rounds.

    Over an opened service and the questions that ship with the package::

        client = Client.over(service)
        rounds = score_rounds(
            demo_questions(),
            retriever=client,
            statements=lambda ids: {
                each.triple.statement_id: each.triple
                for head in {id_.partition("$")[0] for id_ in ids}
                for each in client.statements(head, limit=1000)
            },
            entailment=WordOverlap(),
        )
        print(rounds[1].not_available.recall.text())
    """
    cases = plan_rounds(questions, rounds=rounds, random_seed=random_seed)
    how = setup or QuestionSetup()
    triples = statements(withheld_statements(cases))
    rows = [answer_withheld(case, retriever=retriever, setup=how) for case in cases]
    return score_withheld(
        cases, rows, triples=triples, entailment=entailment, is_off_question=is_off_question
    )


def withheld_statements(cases: Sequence[WithheldCase], /) -> list[str]:
    """Returns the ids of all statements of the cases' minimum sets, sorted."""
    return sorted({id_ for case in cases for id_ in case.order})
