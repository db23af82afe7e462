"""A setting's requests to a model, and the answer that comes of their replies (K1, O8, L7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph_service.model.passage import Passage
from graph_service.model.render import result_text
from graph_service.model.result import PathsResult, RetrievalResult, Triple
from graph_service.text.sentences import sentence_spans
from queries.generate.asking import Exchange, ReplyOutcome, request_reply, usage_of
from queries.generate.citations import Sentence, one_line
from queries.generate.consistency import most_agreed
from queries.generate.passages import PassageFinder, passages_text
from queries.generate.printed import paper_form
from queries.generate.prompt import (
    dialogue_text,
    flat_knowledge,
    load_prompt,
    numbered_knowledge,
    plain_knowledge,
)
from queries.generate.reader import parse_answer
from queries.generate.setting import RECIPES, Generation, Join, Setting
from queries.generate.spoken import labels_of
from queries.llm import ChatModel, Message, Rendered, Usage
from queries.llm.reply import CUT, UnreadableReplyError, cut_note

_ANSWER = re.compile(r"^[\s*_#]*ANSWER[*_]*\s*:[*_]*\s*", re.MULTILINE)
_DONE = re.compile(r"^[\s*_\"']*DONE\b", re.IGNORECASE)
_NOTHING_YET = "(nothing yet)"
_NO_PASSAGE = "(none)"


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model is shown.

    Attributes:
        result: The retrieval that the knowledge is of; paths are shown as paths.
        finder: Where IRCoT looks passages up.
    """

    question: str
    knowledge: tuple[Triple, ...] = ()
    result: RetrievalResult | None = None
    passages: tuple[Passage, ...] = ()
    history: tuple[Message, ...] = ()
    finder: PassageFinder | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that an answer may speak: of the knowledge, the linked entities and passages."""
        linked = () if self.result is None else self.result.linked
        others = [*(item.entity.label for item in linked), *(item.title for item in self.passages)]
        return tuple(dict.fromkeys((*labels_of(self.knowledge), *map(one_line, others))))


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model said.

    Attributes:
        chosen: Place of the exchange whose reply is the answer.
    """

    text: str
    sentences: tuple[Sentence, ...]
    exchanges: tuple[Exchange, ...]
    chosen: int
    notes: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    failure: str | None = None

    @property
    def usage(self) -> Usage | None:
        """Tokens of all requests of the answer; estimated ones are marked."""
        return usage_of(self.exchanges)


def speak(
    material: ModelInput, /, *, model: ChatModel, setting: Setting, generation: Generation
) -> ModelAnswer:
    """Returns what a model says in a setting.

    Args:
        material: What it is shown.
        model: Whom to ask.
        setting: How it is asked.
        generation: How replies are drawn.

    Raises:
        SetupError: The model's key, address or name is wrong.
        LimitError: The run's tokens are spent.
    """
    if setting is Setting.OKGQA_SC:
        return _consistently(material, model, generation)
    if setting is Setting.OKGQA_IRCOT:
        return _looking_up(material, model, generation)
    reply = request_reply(
        model,
        rendered(material, setting),
        _after_mark if RECIPES[setting].reasons else _filled,
        generation=generation,
        labels=material.labels,
    )
    notes = _notes(reply, generation)
    if reply.value is None:
        return ModelAnswer(
            "", (), reply.exchanges, len(reply.exchanges) - 1, notes, (), reply.failure
        )
    text = reply.value
    if RECIPES[setting].cites:
        sentences = parse_answer(text, material.knowledge, labels=material.labels)
        wrong = sum(not item.statement_ids for part in sentences for item in part.citations)
        if wrong:
            notes = (*notes, f"citations that match nothing given: {wrong}")
        if setting is Setting.KALMA_NUMBERED:
            text = paper_form(text, material.knowledge, labels=material.labels)
    else:
        sentences = _plain_sentences(text, material.labels)
    return ModelAnswer(
        text, sentences, reply.exchanges, len(reply.exchanges) - 1, notes, material.passages
    )


def rendered(material: ModelInput, setting: Setting, /) -> Rendered:
    """Returns the first request of a setting; of IRCoT the last, the others depend on replies."""
    prompt = load_prompt(RECIPES[setting].prompt)
    question = (
        dialogue_text(material.history, material.question)
        if material.history
        else material.question
    )
    if setting is Setting.KALMA:
        return prompt.render(knowledge=flat_knowledge(material.knowledge), question=question)
    if setting is Setting.KALMA_NUMBERED:
        return prompt.render(knowledge=numbered_knowledge(material.knowledge), question=question)
    if setting is Setting.OKGQA_IRCOT:
        return _reader_prompt(question, material.passages, ())
    if RECIPES[setting].prompt == "ltgen":
        return prompt.render(
            passages=passages_text(material.passages),
            facts=plain_knowledge(material.knowledge),
            dialogue=dialogue_text(material.history, material.question),
        )
    facts = plain_knowledge(material.knowledge)
    if isinstance(material.result, PathsResult):
        facts = result_text(material.result)
    return prompt.render(facts=facts, question=question)


def _consistently(material: ModelInput, model: ChatModel, generation: Generation) -> ModelAnswer:
    messages = rendered(material, Setting.OKGQA_SC)
    exchanges: list[Exchange] = []
    answers: list[str] = []
    indices: list[int] = []
    failures: list[str] = []
    notes: dict[str, None] = {}
    for i in range(generation.samples):
        sampling_settings = replace(generation, random_seed=(generation.random_seed or 0) + i)
        reply = request_reply(
            model, messages, _after_mark, generation=sampling_settings, labels=material.labels
        )
        exchanges += reply.exchanges
        notes.update(dict.fromkeys(_notes(reply, sampling_settings)))
        if reply.value is None:
            failures.append(str(reply.failure))
        else:
            answers.append(reply.value)
            indices.append(len(exchanges) - 1)
    if failures:
        notes[f"samples that failed: {len(failures)}"] = None
    if not answers:
        return ModelAnswer(
            "", (), tuple(exchanges), len(exchanges) - 1, tuple(notes), (), failures[0]
        )
    if generation.join is Join.MODEL and len(answers) > 1:
        shown = "\n\n".join(f"Answer {i}:\n{text}" for i, text in enumerate(answers, 1))
        join = load_prompt("okgqa-join").render(question=material.question, answers=shown)
        reply = request_reply(
            model,
            join,
            _filled,
            generation=replace(generation, temperature=0.0),
            labels=material.labels,
        )
        exchanges += reply.exchanges
        text, chosen = reply.value or "", len(exchanges) - 1
        notes.update(dict.fromkeys(_notes(reply, generation)))
        return ModelAnswer(
            text,
            _plain_sentences(text, material.labels),
            tuple(exchanges),
            chosen,
            tuple(notes),
            (),
            reply.failure,
        )
    best = most_agreed(answers)
    return ModelAnswer(
        answers[best],
        _plain_sentences(answers[best], material.labels),
        tuple(exchanges),
        indices[best],
        tuple(notes),
    )


def _looking_up(material: ModelInput, model: ChatModel, generation: Generation) -> ModelAnswer:
    """IRCoT: each sentence of the reasoning is what passages are looked up for next."""
    assert material.finder is not None
    query = (
        dialogue_text(material.history, material.question)
        if material.history
        else material.question
    )
    passages_by_id = {
        passage.id: passage for passage in material.finder.find(query, k=generation.passages)
    }
    reasoning: list[str] = []
    exchanges: list[Exchange] = []
    notes: dict[str, None] = {}
    for _ in range(generation.steps):
        step = load_prompt("okgqa-ircot-step").render(
            passages=passages_text(tuple(passages_by_id.values())) or _NO_PASSAGE,
            question=query,
            reasoning=" ".join(reasoning) or _NOTHING_YET,
        )
        reply = request_reply(model, step, _first_sentence, generation=generation)
        exchanges += reply.exchanges
        notes.update(dict.fromkeys(_notes(reply, generation)))
        if reply.value is None:
            return ModelAnswer(
                "",
                (),
                tuple(exchanges),
                len(exchanges) - 1,
                tuple(notes),
                tuple(passages_by_id.values()),
                reply.failure,
            )
        if _DONE.match(reply.value) or reply.value in reasoning:
            break
        reasoning.append(reply.value)
        for passage in material.finder.find(reply.value, k=generation.passages):
            passages_by_id.setdefault(passage.id, passage)
    passages = tuple(passages_by_id.values())
    final = request_reply(
        model, _reader_prompt(query, passages, reasoning), _filled, generation=generation
    )
    exchanges += final.exchanges
    notes.update(dict.fromkeys(_notes(final, generation)))
    text = final.value or ""
    return ModelAnswer(
        text,
        _plain_sentences(text, material.labels),
        tuple(exchanges),
        len(exchanges) - 1,
        tuple(notes),
        passages,
        final.failure,
    )


def _reader_prompt(
    question: str, passages: tuple[Passage, ...], reasoning: Sequence[str]
) -> Rendered:
    return load_prompt("okgqa-ircot").render(
        passages=passages_text(passages) or _NO_PASSAGE,
        question=question,
        reasoning=" ".join(reasoning) or _NOTHING_YET,
    )


def _notes(reply: ReplyOutcome[str], generation: Generation) -> tuple[str, ...]:
    notes = []
    if reply.thoughts:
        notes.append("thoughts before the answer were left out")
    if len(reply.exchanges) > 1 and reply.exchanges[0].text:
        notes.append("asked again, because the first reply could not be read")
    if reply.exchanges[-1].finish_reason == CUT:
        notes.append(cut_note(generation.max_tokens))
    return tuple(notes)


def _filled(text: str) -> str:
    if not text.strip():
        raise UnreadableReplyError("it has to hold an answer, and is empty")
    return text


def _after_mark(text: str) -> str:
    matches = list(_ANSWER.finditer(text))
    if not matches:
        raise UnreadableReplyError("the answer has to begin on a line of its own with ANSWER:")
    after = text[matches[-1].end() :].strip()
    if not after:
        raise UnreadableReplyError("an answer has to follow after ANSWER:")
    return after


def _first_sentence(text: str) -> str:
    spans = sentence_spans(text)
    if not spans:
        raise UnreadableReplyError("it has to be one sentence, and is empty")
    start, end = spans[0]
    return one_line(text[start:end])


def _plain_sentences(text: str, labels: Sequence[str]) -> tuple[Sentence, ...]:
    spans = sentence_spans(text, names=labels)
    return tuple(Sentence(one_line(text[start:end])) for start, end in spans)
