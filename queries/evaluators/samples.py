"""A question with its answer and its contexts, as the frameworks that evaluate take them (B18)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.adapters.asking import (
    DEFAULT_LIMIT,
    Asking,
    RetrievedDocuments,
    open_client,
    options_of_retriever,
    strategy_of,
)
from queries.datasets.answers import read_answers_and_gold
from queries.datasets.gold import NA, GoldQuestion, read_gold_questions
from queries.generate.answer import Answer
from queries.score.case import case_of_answer

if TYPE_CHECKING:
    from graph_service.service import Service


@dataclass(frozen=True, slots=True)
class Contexts:
    """What a retrieval gives a framework.

    Attributes:
        texts: Statements and paths as texts, the best first.
        statement_ids: Of the statements that they are made of, in the same order, each once.
        metadata: ``status`` and ``provenance`` of the result; JSON-ready.
    """

    texts: tuple[str, ...]
    statement_ids: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sample:
    """An answered question with all that a framework may hold it against.

    Attributes:
        id: Of the question.
        response: The answer without citations and markers.
        contexts: The knowledge that it was made from.
        reference: The right answers as one text; None where nobody knows them.
        reference_ids: Statements of the question's minimum set.
    """

    id: str
    question: str
    response: str
    contexts: Contexts
    reference: str | None
    reference_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadSamples:
    """The samples of a file of answers.

    Attributes:
        samples: In file order.
        failures: Why there is no answer, by question id: such a case is no sample, for a
            framework would score its empty text.
    """

    samples: tuple[Sample, ...]
    failures: Mapping[str, str]


def contexts_of(retrieved: RetrievedDocuments, /) -> Contexts:
    """Returns the documents of a retrieval as contexts."""
    provenance = [document.metadata["provenance"] for document in retrieved.documents[:1]]
    return Contexts(
        tuple(document.text for document in retrieved.documents),
        _distinct(
            edge["statement_id"]
            for document in retrieved.documents
            for edge in document.metadata["path"]
        ),
        {"status": retrieved.status.value, **({"provenance": provenance[0]} if provenance else {})},
    )


def sample_of(item: Answer, gold: GoldQuestion | None, /) -> Sample:
    """Returns an answer as a sample.

    Args:
        item: The answer; it did not fail.
        gold: Its question; None where no right answer is known.
    """
    case = case_of_answer(item)
    metadata: dict[str, Any] = {"model": item.model}
    if item.result is not None:
        source = item.result.provenance
        metadata |= {
            "status": item.result.status.value,
            "graph": source.graph,
            "edition": source.edition,
            "view_id": source.view_id,
            "preset": source.preset,
        }
    return Sample(
        id=item.question_id,
        question=item.question,
        response=case.text,
        contexts=Contexts(
            (*case.knowledge, *(passage.text for passage in item.passages)),
            _distinct(triple.statement_id for triple in item.knowledge),
            metadata,
        ),
        reference=_reference(gold),
        reference_ids=gold.statement_ids if gold is not None and not gold.lacking else (),
    )


def _reference(gold: GoldQuestion | None) -> str | None:
    if gold is None or not gold.answers or gold.answers == (NA,):
        return None
    return ", ".join(gold.answers)


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def read_samples(path: str | Path, /, *, gold: str | Path | None = None) -> ReadSamples:
    """Returns the answers of a file as samples.

    Args:
        path: What ``graph-service answer --out`` wrote, or another system's answers.
        gold: A file of gold questions, matched by id; None takes what the answers bring.

    Raises:
        InputError: A line is not as expected; names line and field.
    """
    answers, brought = read_answers_and_gold(path)
    questions: Sequence[GoldQuestion] = brought if gold is None else read_gold_questions(gold)
    by_id = {question.id: question for question in questions}
    return ReadSamples(
        tuple(
            sample_of(item, by_id.get(item.question_id)) for item in answers if item.failure is None
        ),
        {item.question_id: item.failure for item in answers if item.failure is not None},
    )


class ContextRetriever:
    """Retrieves contexts from a graph, behind a server or in this process.

    Args:
        url: A server's address; or ``service``, of this process.
        service: From ``graph_service.open_service``; it stays the caller's.
        api_key: The server's key.
        timeout_s: Time limit of one retrieval over HTTP, in seconds.
        graph: The graph's name; None for the only one.
        view: A perturbed view: its name or id, or ``METHOD:LEVEL:SEED``.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        k: Contexts at most.
        options: Further options of a retrieval, such as ``{"preset": "okgqa"}``.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        service: Service | None = None,
        api_key: str = "",
        timeout_s: float = 60.0,
        graph: str | None = None,
        view: str | None = None,
        strategy: str = "paths",
        k: int = DEFAULT_LIMIT,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._asking = Asking(
            client=open_client(url=url, api_key=api_key, timeout_s=timeout_s, service=service),
            strategy=strategy_of(strategy),
            limit=k,
            options=options_of_retriever(graph, view, options),
        )

    def retrieve(self, question: str, /) -> Contexts:
        """Returns the contexts of a question; none, with the status, where nothing bears on it."""
        return contexts_of(self._asking.ask(question))

    def close(self) -> None:
        """Closes the connections; a service stays open."""
        self._asking.client.close()
