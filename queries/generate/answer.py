"""One question's answer: knowledge retrieved, words made of it, citations read back.

With a model the knowledge goes into a prompt and the reply is parsed; without one the templates
of ``verbalise`` speak. Either way every citation comes back as a statement id, and the answer
keeps what it was made from.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.plain import from_plain, to_plain
from graph_service.model.request import ViewRef
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    ScoredPath,
    Strategy,
    SubgraphResult,
    Triple,
    TripleChange,
    TripletsResult,
    triples_of,
)
from graph_service.model.view import ChangeKind
from queries.generate.citations import Sentence, one_line
from queries.generate.prompt import (
    flat_knowledge,
    load_prompt,
    messages_hash,
    numbered_knowledge,
)
from queries.generate.reader import parse_answer
from queries.generate.verbalise import MAX_SENTENCES, VERBALISER, verbalise
from queries.llm import ChatModel, ReplyError, Usage
from queries.retriever import Retriever

# Models that think aloud put it before the answer; what is cited there is no part of it.
_THOUGHTS = re.compile(r"^\s*<think>.*?</think>\s*", re.DOTALL)


class Setting(StrEnum):
    """How a model is asked; each is a prompt file of that name.

    ``KALMA`` cites in that paper's printed form; ``KALMA_NUMBERED`` by numbers that stand for
    the triples, which models cite more reliably.
    """

    KALMA = "kalma"
    KALMA_NUMBERED = "kalma-numbered"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its citations and all it was made from.

    Attributes:
        question_id: Id of the question in its data set; empty for one that was typed.
        text: The whole text as printed, citations included.
        sentences: Its sentences with what each cites; none where the model failed.
        knowledge: The triples that were given, in the order of their numbers.
        result: The retrieval they came from; None where they were given directly.
        model: The model's name, or ``template text, no language model``.
        prompt: Prompt file and version; None without a model.
        prompt_hash: Hash of the prompt as rendered; None without a model.
        parameters: Temperature, random seed and limits of the generation.
        usage: Tokens; None without a model.
        finish_reason: ``stop``, or ``length`` where the reply was cut.
        notes: What a reader of this answer should know.
        failure: Why there is no answer; such a case counts as failed in every score.
        timings_ms: Milliseconds of ``retrieve`` and ``generate``; no part of the answer.
    """

    question_id: str
    question: str
    text: str
    sentences: tuple[Sentence, ...]
    knowledge: tuple[Triple, ...]
    result: RetrievalResult | None
    model: str
    prompt: str | None = None
    prompt_hash: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    finish_reason: str | None = None
    notes: tuple[str, ...] = ()
    failure: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def not_available(self) -> bool:
        """Whether any sentence is marked ``[NA]``."""
        return any(sentence.not_available for sentence in self.sentences)

    def to_json(self) -> str:
        """Returns the answer as one line of JSON."""
        return orjson.dumps(to_plain(self)).decode()

    @classmethod
    def from_json(cls, encoded: str | bytes, /) -> Answer:
        """Returns the answer of ``to_json``; raises ``InputError`` for anything else."""
        try:
            data = orjson.loads(encoded)
        except orjson.JSONDecodeError as error:
            raise InputError(f"an answer is a line of JSON: {error}") from error
        if not isinstance(data, dict):
            raise InputError(f"an answer is a JSON object, got {type(data).__name__}")
        # The three results share their fields: only the strategy tells them apart.
        raw = data.get("result")
        result = None if raw is None else _result_of(raw)
        return replace(from_plain(cls, {**data, "result": None}), result=result)


_RESULTS: Mapping[str, type[TripletsResult] | type[PathsResult] | type[SubgraphResult]] = {
    Strategy.TRIPLETS.value: TripletsResult,
    Strategy.PATHS.value: PathsResult,
    Strategy.SUBGRAPH.value: SubgraphResult,
}


def _result_of(data: Any) -> RetrievalResult:
    try:
        kind = _RESULTS[data["provenance"]["strategy"]]
    except (KeyError, TypeError) as error:
        raise InputError("result.provenance.strategy: missing or unknown") from error
    return from_plain(kind, data)


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
    question_id: str = "",
    max_sentences: int = MAX_SENTENCES,
    min_score: float | None = None,
    temperature: float | None = 0.0,
    max_tokens: int = 1024,
    random_seed: int | None = None,
) -> Answer:
    """Returns the answer to a question from a graph or a view of it (K1).

    Args:
        question: The question.
        retriever: Fetches the knowledge, mostly a ``graph_service.client.Client``.
        model: Makes the words; None for template sentences.
        strategy: Which retrieval.
        setting: How the model is asked.
        graph: Name of the graph; may be left out where the store has one.
        view: A view of it; None for the base.
        entity_ids: The question's entities where they are known.
        preset: Of the retrieval.
        limit: Items of the retrieval.
        question_id: Id of the question in its data set.
        max_sentences: Template sentences at most.
        min_score: Items under this score are not spoken by the templates.
        temperature: Of the model.
        max_tokens: Tokens of the reply at most.
        random_seed: Passed on to the model.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
    """
    started = time.perf_counter()
    result = retriever.retrieve(
        strategy,
        question,
        graph=graph,
        view=view,
        entity_ids=entity_ids,
        preset=preset,
        limit=limit,
    )
    fetched = (time.perf_counter() - started) * 1000
    if model is None:
        return _verbalised(
            question, result, question_id, max_sentences, min_score, {"retrieve": fetched}
        )
    return answer_from(
        question,
        triples_of(result),
        model=model,
        setting=setting,
        result=result,
        question_id=question_id,
        temperature=temperature,
        max_tokens=max_tokens,
        random_seed=random_seed,
        timings_ms={"retrieve": fetched},
    )


def answer_from(
    question: str,
    knowledge: Sequence[Triple],
    /,
    *,
    model: ChatModel,
    setting: Setting = Setting.KALMA_NUMBERED,
    result: RetrievalResult | None = None,
    question_id: str = "",
    temperature: float | None = 0.0,
    max_tokens: int = 1024,
    random_seed: int | None = None,
    timings_ms: Mapping[str, float] | None = None,
) -> Answer:
    """Returns a model's answer from knowledge that is at hand: retrieved, or a gold set.

    A request that gets no usable reply gives an answer with ``failure`` set: a recorded failure
    of this case, which no score averages.
    """
    started = time.perf_counter()
    given = tuple(knowledge)
    prompt = load_prompt(setting.value)
    shown = (
        numbered_knowledge(given) if setting is Setting.KALMA_NUMBERED else flat_knowledge(given)
    )
    messages = prompt.render(knowledge=shown, question=one_line(question))
    text, sentences, notes = "", (), []  # type: str, tuple[Sentence, ...], list[str]
    usage: Usage | None = None
    finish: str | None = None
    failure: str | None = None
    name = model.name
    try:
        reply = model.complete(
            messages, temperature=temperature, max_tokens=max_tokens, random_seed=random_seed
        )
    except ReplyError as error:
        failure = f"{error.fault.value}: {error.message}"
    else:
        usage, finish, name = reply.usage, reply.finish_reason, reply.model
        text = _THOUGHTS.sub("", reply.text)
        if text != reply.text:
            notes.append("thoughts before the answer were left out")
        sentences = parse_answer(text, given)
        if finish == "length":
            notes.append(f"the reply was cut at {max_tokens} tokens")
        wrong = sum(not item.matched for part in sentences for item in part.citations)
        if wrong:
            notes.append(f"citations that match nothing given: {wrong}")
    return Answer(
        question_id=question_id,
        question=question,
        text=text,
        sentences=sentences,
        knowledge=given,
        result=result,
        model=name,
        prompt=prompt.label,
        prompt_hash=messages_hash(messages),
        parameters={
            "setting": setting.value,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "random_seed": random_seed,
        },
        usage=usage,
        finish_reason=finish,
        notes=tuple(notes),
        failure=failure,
        timings_ms={
            **(timings_ms or {}),
            "generate": (time.perf_counter() - started) * 1000,
        },
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
        knowledge=triples_of(result),
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


def write_answers(path: str | Path, answers: Iterable[Answer], /) -> int:
    """Writes answers as JSON lines, in the order given, and returns how many."""
    count = 0
    with Path(path).open("w", encoding="utf-8") as file:
        for item in answers:
            file.write(item.to_json() + "\n")
            count += 1
    return count


def read_answers(path: str | Path, /) -> tuple[Answer, ...]:
    """Returns the answers of a file of JSON lines; raises ``InputError`` naming the line."""
    found: list[Answer] = []
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                found.append(Answer.from_json(line))
            except InputError as error:
                raise InputError(f"{Path(path).name}, line {number}: {error.message}") from error
    return tuple(found)


def resume_answers(path: str | Path, /) -> tuple[Answer, ...]:
    """Returns the answers that a run had written before it ended; none where there is no file.

    A last line that was cut by the end of the run is cut off, so that more can be appended.

    Raises:
        InputError: Another line is no answer; names it.
    """
    file = Path(path)
    if not file.exists():
        return ()
    data = file.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with file.open("r+b") as opened:
            opened.truncate(whole)
    return read_answers(file)
