"""A question answered by inspect_ai's model from a graph, as ``graph-service answer`` does it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

from graph_service.adapters import framework
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.serialise import from_plain, to_plain
from queries.datasets.case import Case
from queries.generate.answer import Answer, Setting, answer
from queries.generate.reader import parse_answer
from queries.llm import JsonForm, Message, Reply, Usage
from queries.score.case import TextCase
from queries.score.criteria import CITED_ANSWERS, load_criteria
from queries.score.judge import Judge
from queries.score.talec import Division, Method, Talec, judge_text

with framework("inspect", module=__name__):
    import anyio.from_thread
    import anyio.to_thread
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        Model,
        ModelOutput,
        get_model,
    )
    from inspect_ai.solver import Generate, Solver, TaskState, solver

ADDRESS = "http://127.0.0.1:8000"
ANSWER = "graph_service_answer"
"""Name of the answer in a sample's store: what ``answer --out`` writes of it."""

VERDICT = "graph_service_verdict"
"""Name of the verdict in a sample's store: a row that ``score talec --out`` writes."""

_TURNS = {
    "assistant": ChatMessageAssistant,
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
}


def connect(url: str, /) -> Client:
    """Returns a client of a server, with the key of ``GRAPH_SERVICE_API_KEY``."""
    return Client.connect(url, api_key=os.environ.get("GRAPH_SERVICE_API_KEY", ""))


class InspectChat:
    """A model of inspect_ai as a chat model of ours, called from a worker thread of its loop."""

    def __init__(self, model: Model, /) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's name, as inspect_ai writes it."""
        return str(self._model)

    def complete(
        self,
        messages: Sequence[Message],
        /,
        *,
        temperature: float | None = 0.0,
        max_tokens: int = 1024,
        random_seed: int | None = None,
        stop: Sequence[str] = (),
        top_logprobs: int | None = None,
        form: JsonForm | None = None,
    ) -> Reply:
        """Returns the reply; an error of the model is inspect_ai's, which records it.

        Raises:
            InputError: Log-probabilities or a form are required, which no answer needs.
        """
        if top_logprobs is not None or form is not None:
            raise InputError(
                "a model of inspect_ai gives texts here, no log-probabilities or forms"
            )
        config = GenerateConfig(
            temperature=temperature,
            max_tokens=max_tokens,
            seed=random_seed,
            stop_seqs=list(stop) or None,
        )
        turns = [_TURNS[message.role](content=message.content) for message in messages]
        output: ModelOutput = anyio.from_thread.run(
            partial(self._model.generate, turns, config=config)
        )
        spent = output.usage
        usage = Usage() if spent is None else Usage(spent.input_tokens, spent.output_tokens)
        cut = output.stop_reason == "max_tokens"
        return Reply(output.completion, self.name, "length" if cut else "stop", usage)


@solver
def graph_answer(
    url: str = ADDRESS,
    graph: str | None = None,
    setting: str = Setting.KALMA_NUMBERED.value,
    strategy: str = Strategy.PATHS.value,
    preset: str = "default",
    limit: int | None = None,
) -> Solver:
    """Answers with knowledge of a graph, in a setting of ``graph-service answer``.

    Args:
        url: The server's address.
        graph: The graph's name; None for the only one.
        setting: How the model is asked.
        strategy: ``paths``, ``triplets`` or ``subgraph``.
        preset: Of the retrieval.
        limit: Items of the retrieval.
    """
    how = Setting(setting)
    retrieval = Strategy(strategy)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        chat = InspectChat(get_model())
        case: Case = from_plain(Case, state.metadata["case"])
        view: Any = state.metadata["view"]

        def work() -> Answer:
            with connect(url) as client:
                return answer(
                    case.question,
                    retriever=client,
                    model=chat,
                    setting=how,
                    strategy=retrieval,
                    graph=graph,
                    view=None if view is None else from_plain(ViewRef, view),
                    entity_ids=case.entity_ids,
                    preset=preset,
                    limit=limit,
                    question_id=case.id,
                    kind=case.kind,
                    history=case.history,
                )

        item = await anyio.to_thread.run_sync(work)
        state.store.set(ANSWER, item.to_json())
        state.output = ModelOutput.from_content(chat.name, item.text)
        return state

    return solve


@solver
def talec_verdict(
    criteria: str = CITED_ANSWERS, by: str = "label", method: str = "joint"
) -> Solver:
    """Judges a text by criteria, as ``graph-service score talec`` does.

    Args:
        criteria: A file of criteria, or a name of those that ship.
        by: What one judgement covers: ``label``, ``labels`` or ``score``.
        method: ``zero-shot``, ``few-shot`` or ``joint``.
    """
    division, way = Division(by), Method(method)
    rules = load_criteria(criteria)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        chat = InspectChat(get_model())
        case: TextCase = from_plain(TextCase, state.metadata["case"])
        judging = Talec(Judge(chat), rules, division, way)
        row = await anyio.to_thread.run_sync(lambda: judge_text(case, by=judging))
        state.store.set(VERDICT, to_plain(row))
        state.output = ModelOutput.from_content(chat.name, str(row.score))
        return state

    return solve


def answer_of(state: TaskState, /) -> Answer:
    """Returns a sample's answer; of another solver its text, made from knowledge nobody knows."""
    line = state.store.get(ANSWER)
    if line is not None:
        return Answer.from_json(line)
    text = state.output.completion
    return Answer(
        question_id=str(state.sample_id),
        question=state.input_text,
        text=text,
        sentences=parse_answer(text, ()),
        knowledge=(),
        result=None,
        model=str(state.model),
    )
