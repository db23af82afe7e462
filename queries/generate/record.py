"""What an answer keeps, and files of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.passage import Passage
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    Strategy,
    SubgraphResult,
    Triple,
    TripletsResult,
)
from graph_service.model.serialise import from_plain, to_plain
from queries.generate.asking import Exchange
from queries.generate.citations import Sentence
from queries.llm import Message, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its citations and all it was made from.

    Attributes:
        question_id: Id of the question in its data set; empty for one that was typed.
        text: The whole text as printed, citations included: in the paper's form even where the
            model cited by numbers.
        sentences: Its sentences with what each cites; none where the model failed.
        knowledge: The triples that were given, in the order of their numbers.
        result: The retrieval they came from; None where they were given directly.
        model: The model's name, or ``template text, no language model``.
        prompt: Prompt file and version; None without a model.
        prompt_hash: Hash of the prompt as rendered; None without a model.
        parameters: Setting, temperature, random seed and limits of the generation.
        usage: Tokens of all ``exchanges``; None without a model.
        finish_reason: ``stop``, or ``length`` where the reply was cut.
        notes: What a reader of this answer should know.
        failure: Why there is no answer; such a case counts as failed in every score.
        timings_ms: Milliseconds of ``retrieve`` and ``generate``; no part of the answer.
        kind: Type of the question, where its data set says one.
        history: What was said before the question, in a conversation.
        passages: The passages that were given, in order.
        query: The GraphQL document and its variables that fetched the knowledge; None where it
            was not fetched.
        exchanges: Every request and its reply, in order: those of a retrieval that asks a model
            itself (a ranker of relations) first; none without a model.
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
    kind: str = ""
    history: tuple[Message, ...] = ()
    passages: tuple[Passage, ...] = ()
    query: Mapping[str, Any] | None = None
    exchanges: tuple[Exchange, ...] = ()

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
    with Path(path).open("rb") as file:
        return tuple(
            read_answer(line, f"{Path(path).name}, line {index}")
            for index, line in enumerate(file, 1)
            if line.strip()
        )


def read_answer(line: bytes, where: str, /) -> Answer:
    """Returns the answer of a line; raises ``InputError`` that says where it is."""
    try:
        return Answer.from_json(line)
    except InputError as error:
        raise InputError(f"{where}: {error.message}") from error
