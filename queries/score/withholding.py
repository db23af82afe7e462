"""Conscious incompetence by rounds: statements of the minimum set withheld, one more each round (K6).

A withheld set is a view: each question is asked on a view of its own that withholds the first statements of an
order drawn once, so that the rounds are nested and what is absent is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy, Triple
from graph_service.model.view import Method, ViewSpec
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer, answer
from queries.llm import ChatModel
from queries.retriever import Retriever
from queries.score.entailment import Entailment
from queries.score.not_available import NotAvailableReport, score_not_available
from queries.score.run import CitationReport, score_answers

ROUNDS = 3


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

    def lines(self) -> list[str]:
        """Returns the round for people."""
        shown = [f"{self.withheld} withheld, {self.questions} questions"]
        shown.extend(
            f"  citation {name[:-6]:<17}  {self.citations.score(name).text()}"
            for name in ("precision_micro", "recall_micro")
        )
        if self.not_available is not None:
            report = self.not_available
            shown.append(f"  [NA] precision, strict      {report.precision_strict.text()}")
            shown.append(f"  [NA] precision, lenient     {report.precision_lenient.text()}")
            shown.append(f"  [NA] recall                 {report.recall.text()}")
        return shown


def withheld_order(question: GoldQuestion, /, *, random_seed: int = 0) -> tuple[str, ...]:
    """Returns a question's minimum set in the order in which it is withheld.

    By a hash of random seed, question and statement: the same on every machine, and each round
    withholds what the one before did and one more.

    >>> withheld_order(GoldQuestion("7", "Who?", statement_ids=("a", "b", "c")))
    ('b', 'a', 'c')
    """

    def place(id_: str) -> tuple[bytes, str]:
        text = f"{random_seed}/{question.id}/{id_}".encode()
        return hashlib.blake2b(text, digest_size=8, person=b"withhold").digest(), id_

    return tuple(sorted(dict.fromkeys(question.statement_ids), key=place))


def score_rounds(
    questions: Sequence[GoldQuestion],
    /,
    *,
    retriever: Retriever,
    statements: Callable[[Sequence[str]], Mapping[str, Triple]],
    entailment: Entailment,
    beside_question: Callable[[str, str], bool] | None = None,
    model: ChatModel | None = None,
    graph: str | None = None,
    strategy: Strategy = Strategy.TRIPLETS,
    limit: int | None = None,
    rounds: int = ROUNDS,
    random_seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Round, ...]:
    """Returns the base's scores and those of each round (K6).

    A round has the questions whose minimum set is large enough; the base has all of the first round's.
    The gold entities are given, so that a miss is not the linker's.

    Args:
        questions: With their minimum sets; lacking ones are left out.
        retriever: Fetches the knowledge.
        statements: From statement ids to the triples of the base graph.
        entailment: Judges what an ``[NA]`` sentence entails.
        beside_question: Judges whether a sentence does not answer its question at all.
        model: Makes the words; None for template sentences.
        graph: Name of the graph.
        strategy: Which retrieval.
        limit: Items of the retrieval.
        rounds: How many statements are withheld at most.
        random_seed: Of the order of withholding.
        progress: Told (answers done, answers in all) after each.

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
    if rounds < 1:
        raise InputError(f"at least one round was expected, got {rounds}", argument="rounds")
    asked = [item for item in questions if item.statement_ids and not item.lacking]
    if not asked:
        raise InputError("no question has a minimum set to withhold from", argument="gold")
    orders = {item.id: withheld_order(item, random_seed=random_seed) for item in asked}
    plan = [
        (number, [item for item in asked if len(orders[item.id]) >= max(number, 1)])
        for number in range(rounds + 1)
    ]
    triples = statements(sorted({id_ for order in orders.values() for id_ in order}))
    total = sum(len(part) for _, part in plan)
    done = 0
    found: list[Round] = []
    for number, part in plan:
        answers: list[Answer] = []
        for item in part:
            spec = ViewSpec(Method.WITHHOLDING, count=number, statement_ids=orders[item.id])
            answers.append(
                answer(
                    item.question,
                    retriever=retriever,
                    model=model,
                    strategy=strategy,
                    graph=graph,
                    view=ViewRef(spec=spec) if number else None,
                    entity_ids=item.entity_ids,
                    limit=limit,
                    question_id=item.id,
                )
            )
            done += 1
            if progress is not None:
                progress(done, total)
        if not part:
            continue
        absent = {item.id: tuple(triples[id_] for id_ in orders[item.id][:number]) for item in part}
        report = None
        if number:
            report = score_not_available(
                answers, absent, entailment=entailment, beside_question=beside_question
            )
        found.append(Round(number, len(part), score_answers(answers, part), report))
    return tuple(found)
