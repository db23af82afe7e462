"""One question's answer: knowledge retrieved, words made of it, citations read back.

With a model the knowledge goes into a prompt and the reply is parsed; without one the templates
of ``verbalise`` speak. Either way every citation comes back as a statement id, and the answer
keeps what it was made from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph_service.client import calls
from graph_service.errors import InputError
from graph_service.model.passage import Passage
from graph_service.model.request import RetrieveOptions, ViewRef
from graph_service.model.result import (
    RetrievalResult,
    ScoredPath,
    Strategy,
    Triple,
    TripleChange,
    triples_of,
)
from graph_service.model.view_spec import ChangeKind
from queries.generate.asking import Exchange, collected, usage_of
from queries.generate.citations import one_line
from queries.generate.passages import PassageFinder
from queries.generate.record import Answer, read_answers, write_answers
from queries.generate.setting import (
    RECIPES,
    Generation,
    Join,
    Setting,
    default_generation,
)
from queries.generate.speaking import ModelInput, speak
from queries.generate.verbalise import (
    MAX_SENTENCES,
    VERBALISER,
    known_triples,
    state,
    verbalise,
)
from queries.llm import ChatModel, Message, ReplyError
from queries.retriever import AsksSeveral, Retriever

__all__ = [
    "Answer",
    "Generation",
    "Join",
    "Setting",
    "answer",
    "answer_from",
    "answer_stated",
    "base_statements",
    "changes_of",
    "default_generation",
    "read_answers",
    "write_answers",
]


_OF_PAPERS = frozenset({"okgqa", "ltgen"})


@dataclass(frozen=True, slots=True)
class Request:
    """How knowledge is fetched, and the query that says so.

    Attributes:
        strategy: Which retrieval.
        graph: Name of the graph; may be left out where the store has one.
        view: A view of it; None for the base.
        entity_ids: The question's entities where they are known.
        preset: Of the retrieval.
        limit: Items of the retrieval.
        more: Its other options, where they are not the defaults.
    """

    strategy: Strategy = Strategy.PATHS
    graph: str | None = None
    view: ViewRef | None = None
    entity_ids: tuple[str, ...] = ()
    preset: str = "default"
    limit: int | None = None
    more: RetrieveOptions = field(default_factory=RetrieveOptions)

    def fetch(
        self, question: str, retriever: Retriever, /, *, history: Sequence[Message] = ()
    ) -> RetrievalResult:
        """Returns what the retrieval finds, in a conversation with what was asked before."""
        searched = self._searched(question, history)
        return retriever.retrieve(self.strategy, searched, **self._options(history))

    def query(
        self,
        question: str,
        result: RetrievalResult,
        retriever: Retriever,
        /,
        *,
        history: Sequence[Message] = (),
    ) -> Mapping[str, Any]:
        """Returns the GraphQL document and variables that fetched a result."""
        options = self._options(history)
        if isinstance(retriever, AsksSeveral):
            return retriever.queries_of(result, **options)
        call = calls.retrieve(self.strategy, self._searched(question, history), **options)
        return {"document": call.document, "variables": dict(call.variables)}

    def _searched(self, question: str, history: Sequence[Message]) -> str:
        """Returns the question; under presets of papers the whole conversation (L4)."""
        return search_text(history, question) if self.preset in _OF_PAPERS else question

    def _options(self, history: Sequence[Message]) -> RetrieveOptions:
        questions = [turn.content for turn in history if turn.role == "user"]
        earlier: RetrieveOptions = {"earlier": questions} if questions else {}
        if self.preset in _OF_PAPERS:
            earlier = {}
        return {
            **self.more,
            **earlier,
            "graph": self.graph,
            "view": self.view,
            "entity_ids": self.entity_ids,
            "preset": self.preset,
            "limit": self.limit,
        }


def answer(
    question: str,
    /,
    *,
    retriever: Retriever,
    model: ChatModel | None = None,
    strategy: Strategy = Strategy.PATHS,
    setting: Setting = Setting.KALMA_NUMBERED,
    graph: str | None = None,
    view: ViewRef | None = None,
    entity_ids: tuple[str, ...] = (),
    preset: str = "default",
    limit: int | None = None,
    retrieval: RetrieveOptions | None = None,
    question_id: str = "",
    max_sentences: int = MAX_SENTENCES,
    min_score: float | None = None,
    generation: Generation | None = None,
    passages: PassageFinder | None = None,
    history: Sequence[Message] = (),
    kind: str = "",
) -> Answer:
    """Returns the answer to a question from a graph or a view of it (K1, O8, L7).

    Args:
        question: The question; in a conversation what was said last.
        retriever: Fetches the knowledge, mostly a ``graph_service.client.Client``.
        model: Makes the words; None for template sentences.
        strategy: Which retrieval.
        setting: How the model is asked.
        graph: Name of the graph; may be left out where the store has one.
        view: A view of it; None for the base.
        entity_ids: The question's entities where they are known.
        preset: Of the retrieval.
        limit: Items of the retrieval.
        retrieval: Its other options.
        question_id: Id of the question in its data set.
        max_sentences: Template sentences at most.
        min_score: Items under this score are not spoken by the templates.
        generation: How replies are drawn; by default as the setting does.
        passages: Where passages come from, for settings that take them.
        history: What was said before: its questions give the entity that a pronoun of this one
            stands for. Under presets of papers the whole of it is searched for (L4).
        kind: Type of the question.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
        InputError: The setting takes passages and there are none to look in.
    """
    if model is not None and not RECIPES[setting].facts:
        return answer_from(
            question,
            (),
            model=model,
            setting=setting,
            question_id=question_id,
            generation=generation,
            passages=passages,
            history=history,
            kind=kind,
        )
    request = Request(strategy, graph, view, entity_ids, preset, limit, retrieval or {})
    started = time.perf_counter()
    with collected() as exchanges:
        try:
            result = request.fetch(question, retriever, history=history)
        except ReplyError as error:
            # Only a retrieval that asks a model itself: its failure is one of this case.
            failed = _failed(question, error, model, question_id, history, kind)
            return _after(exchanges, failed)
    timings = {"retrieve": (time.perf_counter() - started) * 1000}
    if model is None:
        item = _verbalised(question, result, question_id, max_sentences, min_score, timings)
        item = replace(
            item,
            kind=kind,
            history=tuple(history),
            query=request.query(question, result, retriever, history=history),
        )
        return _after(exchanges, item)
    item = answer_from(
        question,
        triples_of(result),
        model=model,
        setting=setting,
        result=result,
        question_id=question_id,
        generation=generation,
        passages=passages,
        history=history,
        kind=kind,
        query=request.query(question, result, retriever, history=history),
        timings_ms=timings,
    )
    return _after(exchanges, item)


def _after(earlier: Sequence[Exchange], item: Answer) -> Answer:
    """An answer with what its retrieval asked a model before it."""
    if not earlier:
        return item
    exchanges = (*earlier, *item.exchanges)
    return replace(item, exchanges=exchanges, usage=usage_of(exchanges))


def search_text(history: Sequence[Message], question: str, /) -> str:
    """Returns what is searched for: the question, or the whole of a conversation."""
    return "\n".join([*(one_line(turn.content) for turn in history), question])


def answer_from(
    question: str,
    knowledge: Sequence[Triple],
    /,
    *,
    model: ChatModel,
    setting: Setting = Setting.KALMA_NUMBERED,
    result: RetrievalResult | None = None,
    question_id: str = "",
    generation: Generation | None = None,
    passages: PassageFinder | None = None,
    history: Sequence[Message] = (),
    kind: str = "",
    query: Mapping[str, Any] | None = None,
    timings_ms: Mapping[str, float] | None = None,
) -> Answer:
    """Returns a model's answer from knowledge that is at hand: retrieved, a gold set, or none.

    A request that gets no usable reply gives an answer with ``failure`` set: a recorded failure
    of this case, which no score averages.

    Raises:
        InputError: The setting takes passages and there are none to look in.
    """
    recipe = RECIPES[setting]
    settings = generation or default_generation(setting)
    looked_up: tuple[Passage, ...] = ()
    timings = dict(timings_ms or {})
    if recipe.passages:
        if passages is None:
            raise InputError(
                f"setting {setting.value} takes passages, and there are none",
                argument="passages",
                hint="Give a file of them: --passages FILE.",
            )
        if setting is not Setting.OKGQA_IRCOT and settings.passages:
            started = time.perf_counter()
            looked_up = passages.find(search_text(history, question), k=settings.passages)
            timings["passages"] = (time.perf_counter() - started) * 1000
    started = time.perf_counter()
    facts = tuple(knowledge) if recipe.facts else ()
    worded = speak(
        ModelInput(
            question=one_line(question),
            knowledge=facts,
            result=result,
            passages=looked_up,
            history=tuple(history),
            finder=passages,
        ),
        model=model,
        setting=setting,
        generation=settings,
    )
    timings["generate"] = (time.perf_counter() - started) * 1000
    parameters = settings.to_parameters(setting)
    if recipe.passages and passages is not None:
        parameters["passages_from"] = passages.name
    # The last request is the one whose reply is the answer, but where a sample was chosen.
    chosen = worded.exchanges[worded.chosen]
    return Answer(
        question_id=question_id,
        question=question,
        text=worded.text,
        sentences=worded.sentences,
        knowledge=facts,
        result=result if recipe.facts else None,
        model=chosen.model,
        prompt=chosen.prompt,
        prompt_hash=chosen.prompt_hash,
        parameters=parameters,
        usage=worded.usage,
        finish_reason=chosen.finish_reason,
        notes=worded.notes,
        failure=worded.failure,
        timings_ms=timings,
        kind=kind,
        history=tuple(history),
        passages=worded.passages,
        query=query if recipe.facts else None,
        exchanges=worded.exchanges,
    )


def answer_stated(
    question: str,
    knowledge: Sequence[Triple],
    /,
    *,
    question_id: str = "",
    history: Sequence[Message] = (),
    kind: str = "",
) -> Answer:
    """Returns template sentences that state all the knowledge at hand, such as a gold set.

    What an answer can reach that cites exactly what suffices: the upper end of a table (K4).
    """
    started = time.perf_counter()
    text, sentences = state(knowledge, knowledge)
    return Answer(
        question_id=question_id,
        question=question,
        text=text,
        sentences=sentences,
        knowledge=tuple(knowledge),
        result=None,
        model=VERBALISER,
        timings_ms={"generate": (time.perf_counter() - started) * 1000},
        kind=kind,
        history=tuple(history),
    )


def _failed(
    question: str,
    error: ReplyError,
    model: ChatModel | None,
    question_id: str,
    history: Sequence[Message],
    kind: str,
) -> Answer:
    return Answer(
        question_id=question_id,
        question=question,
        text="",
        sentences=(),
        knowledge=(),
        result=None,
        model=VERBALISER if model is None else model.name,
        failure=f"{error.fault.value}: {error.message}",
        kind=kind,
        history=tuple(history),
    )


def _verbalised(
    question: str,
    result: RetrievalResult,
    question_id: str,
    max_sentences: int,
    min_score: float | None,
    timings_ms: Mapping[str, float],
) -> Answer:
    started = time.perf_counter()
    text, sentences = verbalise(result, limit=max_sentences, min_score=min_score)
    return Answer(
        question_id=question_id,
        question=question,
        text=text,
        sentences=sentences,
        knowledge=known_triples(result),
        result=result,
        model=VERBALISER,
        parameters={"max_sentences": max_sentences, "min_score": min_score},
        timings_ms={**timings_ms, "generate": (time.perf_counter() - started) * 1000},
    )


def changes_of(result: RetrievalResult, /) -> dict[str, TripleChange]:
    """Returns how each triple of a result differs from the base, by statement id.

    On the base graph all are unchanged. For people who study a view; never shown to a model.
    """
    changes: dict[str, TripleChange] = {}
    for item in result.items:
        if isinstance(item, ScoredPath):
            for step in item.steps:
                changes.setdefault(step.triple.statement_id, step.change)
        else:
            changes.setdefault(item.triple.statement_id, item.change)
    return changes


def base_statements(item: Answer, /) -> dict[str, str | None] | None:
    """Returns the base statement of each triple that was given, by statement id.

    An unchanged statement is its own; a changed one has the id of what it was made from, and an
    added one has None. Where the knowledge did not come from a retrieval, nothing is known of
    the base, and the whole is None.
    """
    if item.result is None:
        return None
    bases: dict[str, str | None] = {}
    for id_, change in changes_of(item.result).items():
        if change.kind is ChangeKind.UNCHANGED:
            bases[id_] = id_
        else:
            bases[id_] = change.base.statement_id if change.base is not None else None
    return bases
