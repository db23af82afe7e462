"""A paragraph that grows by one cited fact a round, and the two questions that it answers (K9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from queries.builders.asking import (
    load_builder_prompt,
    read_numbers,
    read_question,
    read_sentence,
    request_value,
)
from queries.builders.kalma.pairs import Pool
from queries.builders.kalma.perplexity import Perplexity
from queries.builders.kalma.selection import (
    Candidate,
    best_of,
    fact_sentence,
    part_of_speech,
    selection_scores,
)
from queries.builders.material import GraphMaterial, names_any, numbered_facts
from queries.builders.stages import RefusedError
from queries.generate.reader import CitationReader, parse_answer, render_citations
from queries.generate.setting import Generation
from queries.generate.verbalise import value_words
from queries.llm import ChatModel
from queries.score.case import triple_line

PROMPTS = ("kalma-open", "kalma-annotate", "kalma-extend", "kalma-general", "kalma-specific")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of a paragraph without its full stop, and the statements that it cites."""

    text: str
    statement_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A paragraph under way.

    Attributes:
        candidates: Those of the last round, best first; none before the first.
    """

    id: str
    pool: Pool
    sentences: tuple[CitedSentence, ...]
    candidates: tuple[Candidate, ...] = ()

    @property
    def text(self) -> str:
        """The sentences of the paragraph, joined, without their citations."""
        return " ".join(_ended(sentence.text) for sentence in self.sentences)

    @property
    def minimum(self) -> tuple[str, ...]:
        """Ids of the minimum knowledge set, in the order of the rounds."""
        return tuple(dict.fromkeys(id_ for part in self.sentences for id_ in part.statement_ids))


@dataclass(frozen=True, slots=True)
class Questioned:
    """A paragraph with its questions.

    Attributes:
        general: A short, natural question.
        specific: One that asks for the facts of the paragraph.
        text: The paragraph with its citations, as answers print them.
    """

    id: str
    draft: Draft
    general: str
    specific: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Evolver:
    """Makes the stages of a data set: whom it asks, and what it selects by.

    Attributes:
        share: Weight of specificity in the selection.
    """

    model: ChatModel
    material: GraphMaterial
    perplexity: Perplexity
    generation: Generation
    share: float

    def open(self, pool: Pool) -> Draft:
        """Returns the first sentence: a person's, annotated, or one that states the pair's fact."""
        if pool.sentence:
            return Draft(pool.id, pool, (self._annotated(pool),))
        labels = (pool.head.label, pool.value.label)

        def read(text: str) -> str:
            sentence = read_sentence(text, names=labels)
            if not all(names_any(sentence, [label]) for label in labels):
                raise RefusedError(
                    "fact not stated",
                    f"the sentence has to name {labels[0]} and {labels[1]} as the fact does",
                )
            return sentence

        messages = load_builder_prompt("kalma-open").render(fact=triple_line(pool.pair))
        opening = request_value(self.model, messages, read, generation=self.generation)
        return Draft(pool.id, pool, (CitedSentence(opening, (pool.pair.statement_id,)),))

    def _annotated(self, pool: Pool) -> CitedSentence:
        own = [triple.statement_id for triple in pool.triples].index(pool.pair.statement_id) + 1

        def read(text: str) -> tuple[int, ...]:
            numbers = read_numbers(text, len(pool.triples))
            if own not in numbers:
                raise RefusedError(
                    "pair not stated", f"fact {own}, for which it was chosen, is missing"
                )
            return numbers

        messages = load_builder_prompt("kalma-annotate").render(
            sentence=pool.sentence, facts=numbered_facts(pool.triples)
        )
        numbers = request_value(self.model, messages, read, generation=self.generation)
        ids = tuple(pool.triples[fact - 1].statement_id for fact in sorted(numbers))
        return CitedSentence(pool.sentence.rstrip(".").rstrip(), ids)

    def extend(self, draft: Draft) -> Draft:
        """Returns the paragraph with one sentence more, on the candidate of the best score."""
        candidates = self._candidates(draft)
        chosen = best_of(candidates)
        fact = next(
            triple for triple in draft.pool.triples if triple.statement_id == chosen.statement_id
        )

        def read(text: str) -> str:
            sentence = read_sentence(text, names=(fact.head.label, fact.value_label))
            if not names_any(sentence, [fact.value_label, value_words(fact)]):
                raise RefusedError(
                    "fact not stated",
                    f"the sentence has to name {value_words(fact)} as the fact does",
                )
            if any(sentence.casefold() == part.text.casefold() for part in draft.sentences):
                raise RefusedError("sentence repeated", "the paragraph has this sentence already")
            return sentence

        messages = load_builder_prompt("kalma-extend").render(
            paragraph=draft.text, fact=triple_line(fact)
        )
        continuation = request_value(self.model, messages, read, generation=self.generation)
        ordered = sorted(candidates, key=lambda item: (-round(item.score, 9), item.statement_id))
        return replace(
            draft,
            sentences=(*draft.sentences, CitedSentence(continuation, (chosen.statement_id,))),
            candidates=tuple(ordered),
        )

    def _candidates(self, draft: Draft) -> list[Candidate]:
        cited = set(draft.minimum)
        left = [triple for triple in draft.pool.triples if triple.statement_id not in cited]
        if not left:
            raise RefusedError("no fact left", f"the pool has {len(draft.pool.triples)} facts")
        sentences = [fact_sentence(triple) for triple in left]
        perplexities = self.perplexity.of([f"{draft.text} {sentence}" for sentence in sentences])
        uses = [max(self.material.uses.get(triple.relation.id, 1), 1) for triple in left]
        scores = selection_scores(
            uses, perplexities, statements=self.material.statements, share=self.share
        )
        return [
            Candidate(
                triple.statement_id,
                sentence,
                part_of_speech(triple.relation.label),
                count,
                perp,
                score,
            )
            for triple, sentence, count, perp, score in zip(
                left, sentences, uses, perplexities, scores, strict=True
            )
        ]

    def add_general(self, draft: Draft) -> Questioned:
        """Returns the paragraph with a short question that it answers."""
        return Questioned(draft.id, draft, self._question("kalma-general", draft))

    def add_specific(self, questioned: Questioned) -> Questioned:
        """Returns the paragraph with a question for its facts, beside the short one."""
        question = self._question("kalma-specific", questioned.draft, other=questioned.general)
        return replace(questioned, specific=question)

    def _question(self, prompt: str, draft: Draft, *, other: str = "") -> str:
        labels = (draft.pool.head.label, draft.pool.value.label)

        def read(text: str) -> str:
            question = read_question(text, names=labels)
            if not names_any(question, labels):
                raise RefusedError(
                    "nobody named", f"the question has to name {labels[0]} or {labels[1]}"
                )
            if other and question.casefold() == other.casefold():
                raise RefusedError("question repeated", "the specific question is the general one")
            return question

        messages = load_builder_prompt(prompt).render(paragraph=draft.text)
        return request_value(self.model, messages, read, generation=self.generation)


def cite(questioned: Questioned, /) -> Questioned:
    """Returns the paragraph with its citations printed, which are read back as they were meant.

    Raises:
        RefusedError: A name of a statement, or a bracket of its own, makes a citation read otherwise.
    """
    draft = questioned.draft
    knowledge = draft.pool.triples
    known = {triple.statement_id: triple for triple in knowledge}
    reader = CitationReader(knowledge)
    printed = [
        render_citations([known[id_] for id_ in part.statement_ids], knowledge, reader=reader)
        for part in draft.sentences
    ]
    pairs = zip(draft.sentences, printed, strict=True)
    text = " ".join(f"{part.text} {citation}." for part, citation in pairs)
    read = parse_answer(text, knowledge)
    cited = {
        citation.statement_id
        for sentence in read
        for citation in sentence.citations
        if citation.matched
    }
    if cited != set(draft.minimum) or any(sentence.not_available for sentence in read):
        raise RefusedError("citation unreadable", text)
    return replace(questioned, text=text)


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
