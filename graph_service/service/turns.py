"""Texts with several questions, and questions that go on with earlier ones of a conversation.

A text is divided into its questions (``text.questions``). What a question does not name is taken of
the question before: the entity that a pronoun stands for (*when did he die*), or that is left out
(*and the director?*). Each question is then retrieved for as one that stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from graph_service.model.answer import AnswerKind
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    EntityRef,
    PathsResult,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Strategy,
    Triple,
)
from graph_service.model.values import EntityValue
from graph_service.retrieve.constraints.reading_dates import read_dates
from graph_service.retrieve.derived.kin import sex_of_kin
from graph_service.text.fold import word_spans
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.joined_nouns import joined_names, may_join_names
from graph_service.text.nouns import singular
from graph_service.text.questions import (
    Piece,
    Pronoun,
    TextQuestions,
    Wording,
    asks_which,
    asks_who,
    goes_on,
    pronouns,
    read_questions,
    wordings_of_each,
)

MAX_EARLIER = 5
"""Earlier questions, and sentences beside a question, that are looked at for an entity."""
_ASKING = frozenset({"who", "whom", "what", "is", "was", "are", "were"})
MAX_ANTECEDENTS = 3
"""Entities that a pronoun is tried with."""
_MOST_ANSWERS = 5
_EITHER = 0.5
"""Confidence that a pronoun stands for the one of two that was named."""
_SEXES = {
    "he": "male", "him": "male", "his": "male", "she": "female", "her": "female", "hers": "female",
}  # fmt: skip
_OTHERS = frozenset({"another", "else", "other", "others"})
_PREPOSITION = re.compile(r"^(?:in|on|during|of|by|since|before|after|until|from)\s+(?:the\s+)?")
_CONTINUING = frozenset({"about", "and", "but", "how", "or", "then", "what"})

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Antecedent:
    """What a pronoun may stand for, or what a question leaves out.

    Attributes:
        ids: The entity; several for *they*.
        words: What it was called.
        confidence: How probably it is right; 1 unless it is the answer of a question before.
    """

    ids: tuple[str, ...]
    words: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that was retrieved for.

    Attributes:
        wording: As it was retrieved for.
        result: Of it alone: its mentions are characters of the wording.
    """

    wording: Wording
    result: RetrievalResult


class TurnReader:
    """Retrieves for each question of a text.

    Args:
        retrieve: Retrieves for a question that stands alone.
        find_names: Returns the characters of a question that are surely names of the graph.
    """

    def __init__(
        self,
        retrieve: Callable[[RetrieveRequest], RetrievalResult],
        find_names: Callable[[RetrieveRequest], Spans],
        /,
    ) -> None:
        self._retrieve = retrieve
        self._find_names = find_names

    def read(self, request: RetrieveRequest, text: TextQuestions, /) -> list[Turn]:
        """Returns the questions of a text with their results, in order."""
        return self._read(request, text, {})

    def _read(
        self, request: RetrieveRequest, text: TextQuestions, known: dict[int, list[Turn]]
    ) -> list[Turn]:
        """Returns the turns of a text.

        Args:
            request: Whose question the text is.
            text: Its questions.
            known: The turns of each earlier question that was read, by its index: each is read
                once, though all that come after it may go on with it.
        """
        questions = self._outside_names(request, text.questions)
        questions = self._of_each_name(request, questions)
        count = len(questions)
        single = replace(request, earlier=(), details=False)
        if count > 1:
            limit, budget = request.limit, request.token_budget
            single = replace(
                single,
                limit=limit and max(limit // count, 1),
                token_budget=budget and max(budget // count, 1),
            )
        turns: list[Turn] = []
        for wording in questions:
            before = self._before(request, turns, text.context, known)
            turns.append(self._turn(replace(single, question=wording.text), wording, before))
        return turns

    def _outside_names(
        self, request: RetrieveRequest, questions: Sequence[Wording]
    ) -> Sequence[Wording]:
        """Returns the questions, or their text as one where a name of the graph crosses them."""
        if len(questions) == 1:
            return questions
        names = self._find_names(replace(request, earlier=()))
        pieces = [piece for wording in questions for piece in wording.pieces]
        edges = [edge for piece in pieces for edge in (piece.start, piece.end)]
        if any(start < edge < end for edge in edges for start, end in names):
            return read_undivided(request.question).questions
        return questions

    def _of_each_name(
        self, request: RetrieveRequest, questions: Sequence[Wording]
    ) -> Sequence[Wording]:
        """Returns the questions, or one for each of the names of which the only one asks the same."""
        if len(questions) > 1 or request.entity_ids or not may_join_names(request.question):
            return questions
        if questions[0].text != request.question:
            return questions
        names = self._find_names(replace(request, earlier=()))
        each = joined_names(request.question, names)
        return questions if each is None else [*wordings_of_each(request.question, each)]

    def _before(
        self,
        request: RetrieveRequest,
        turns: Sequence[Turn],
        context: Sequence[str],
        known: dict[int, list[Turn]],
    ) -> Iterator[Turn]:
        """Yields what was asked and said before, the latest first."""
        yield from reversed(turns)
        alone = replace(request, earlier=(), details=False, strategy=Strategy.PATHS)
        for sentence in context[::-1][:MAX_EARLIER]:
            sentence_alone = read_undivided(sentence).questions[0]
            yield Turn(sentence_alone, self._retrieve(replace(alone, question=sentence)))
        for index in range(len(request.earlier) - 1, len(request.earlier) - 1 - MAX_EARLIER, -1):
            if index < 0:
                return
            question, earlier = request.earlier[index], request.earlier[:index]
            if not question.strip():
                continue
            if index not in known:
                follow_up = replace(alone, question=question, earlier=earlier)
                known[index] = self._read(follow_up, read_questions(question), known)
            yield from reversed(known[index])

    def _turn(self, request: RetrieveRequest, wording: Wording, before: Iterator[Turn]) -> Turn:
        if request.entity_ids:
            return Turn(wording, self._retrieve(request))
        first = next(before, None)
        if first is None:
            return Turn(wording, self._retrieve(request))
        earlier = _chained(first, before)
        names = self._find_names(request) or _written_name(wording.text)
        pronoun = next(
            (
                each
                for each in pronouns(wording.text)
                if not any(end <= each.start for _, end in names)
            ),
            None,
        )
        if pronoun is not None:
            return self._resolved(request, wording, pronoun, earlier)
        moved = _moved_on(wording, names, first) if goes_on(wording.text) else []
        if moved:
            return self._likeliest(request, moved)
        if names:
            return Turn(wording, self._retrieve(request))
        alone = Turn(wording, self._retrieve(request))
        if alone.result.status is Status.OK and not goes_on(wording.text):
            return alone
        with_entity = self._resolved(request, wording, None, earlier)
        is_alone = not goes_on(wording.text) and _merit(alone) >= _merit(with_entity)
        return alone if is_alone else with_entity

    def _likeliest(self, request: RetrieveRequest, moved: Sequence[Wording]) -> Turn:
        """Returns the best of some readings of a question, doubted where two have other answers."""
        turns = [
            Turn(each, self._retrieve(replace(request, question=each.text)))
            for each in moved[:MAX_ANTECEDENTS]
        ]
        best = max(turns, key=_merit)
        answers = {
            each.result.answer and each.result.answer.values
            for each in turns
            if each.result.status is Status.OK
        }
        return replace(best, result=_doubted(best.result, _EITHER)) if len(answers) > 1 else best

    def _resolved(
        self,
        request: RetrieveRequest,
        wording: Wording,
        pronoun: Pronoun | None,
        earlier: Iterable[Turn],
    ) -> Turn:
        """Returns a question with the entity that it takes from an earlier turn, if there is one."""
        antecedents: Sequence[Antecedent] = ()
        known: set[str] = set()
        for turn in earlier:
            antecedents = self._antecedents(turn, request, pronoun)
            known |= {linked.entity.id for linked in turn.result.linked}
            if antecedents or _names_what_is_unknown(turn):
                break
        if not antecedents:
            return Turn(wording, self._retrieve(request))
        best = max(
            (self._with(request, wording, pronoun, each) for each in antecedents), key=_merit
        )
        if not asks_for_others(wording.text):
            return best
        return replace(best, result=_with_others(best.result, known))

    def _with(
        self,
        request: RetrieveRequest,
        wording: Wording,
        pronoun: Pronoun | None,
        antecedent: Antecedent,
    ) -> Turn:
        if pronoun is None or len(antecedent.ids) > 1:
            of_entity = replace(request, entity_ids=antecedent.ids)
            return Turn(wording, _doubted(self._retrieve(of_entity), antecedent.confidence))
        words = antecedent.words + ("'s" if pronoun.is_possessive else "")
        named = wording.replaced(pronoun.start, pronoun.end, words)
        of_name = replace(request, question=named.text)
        result = self._retrieve(of_name)
        if antecedent.ids[0] not in {linked.entity.id for linked in result.linked}:
            result = self._retrieve(replace(of_name, entity_ids=antecedent.ids))
        return Turn(named, _doubted(result, antecedent.confidence))

    def _antecedents(
        self, turn: Turn, request: RetrieveRequest, pronoun: Pronoun | None
    ) -> list[Antecedent]:
        """Returns what an entity that is left out may be, of an earlier turn, best first.

        What the turn asked for, or what it named: *who* asks for a person, and *which* for what
        either may be.
        """
        named = [
            Antecedent((linked.entity.id,), linked.mention or linked.entity.label)
            for linked in turn.result.linked
        ]
        text = turn.wording.text
        is_person = asks_who(text)
        if pronoun is None or (is_person and pronoun.word in {"it", "its"}):
            return named[:1]
        if not (is_person or asks_which(text)) or _only_names(turn):
            return named[:MAX_ANTECEDENTS]
        result = turn.result
        if not isinstance(result, PathsResult):
            for_paths = replace(request, question=text, strategy=Strategy.PATHS)
            result = self._retrieve(for_paths)
        if asks_for_another_sex(text, pronoun.word):
            return (
                named if len(named) == 1 else [replace(each, confidence=_EITHER) for each in named]
            )
        answers = answer_entities(result)
        sure = result.confidence if result.confidence is not None else 1.0
        if pronoun.is_plural and len(answers) > 1:
            ids = tuple(each.id for each in answers[:_MOST_ANSWERS])
            return [Antecedent(ids, "", sure)]
        # One of several is not told by a pronoun.
        sure = sure if len(answers) == 1 else min(sure, _EITHER)
        meant = [Antecedent((each.id,), each.label, sure) for each in answers[:1]]
        if is_person:
            # Without a sure answer, who was named may be meant, or who was asked for.
            return meant or [replace(each, confidence=_EITHER) for each in named[:1]]
        return [*meant, *named][:MAX_ANTECEDENTS]


def _with_others(result: RetrievalResult, known: Set[str]) -> RetrievalResult:
    """Returns a result without those of its answers that were spoken of before; doubted where nothing
    else is left, or where it computed more than a list of entities.
    """
    mentioned = [each for each in answer_entities(result) if each.id in known]
    if not mentioned:
        return result
    ids = {each.id for each in mentioned}
    answer = result.answer
    others = [each for each in answer.entities if each.id not in ids] if answer else []
    if answer is None or answer.kind is not AnswerKind.ENTITIES or not others:
        return _doubted(result, 0.0)
    basis = tuple(row for row in answer.basis if ids.isdisjoint(_entity_ids(row.triple)))
    fields: dict[str, Any] = {
        "items": tuple(item for item in result.items if ids.isdisjoint(_last_entity_ids(item))),
        "answer": replace(
            answer,
            value="; ".join(each.label for each in others),
            entities=tuple(others),
            basis=basis,
            statements=answer.statements - (len(answer.basis) - len(basis)),
        ),
    }
    if result.interpretation is not None:
        text = f"{result.interpretation.text}, but for {', '.join(e.label for e in mentioned)}"
        fields["interpretation"] = replace(result.interpretation, text=text)
    return replace(result, **fields)


def _last_entity_ids(item: ScoredPath | ScoredTriple) -> tuple[str, ...]:
    """Returns the ids of what the last statement of an item joins."""
    return _entity_ids(item.steps[-1].triple if isinstance(item, ScoredPath) else item.triple)


def _entity_ids(triple: Triple) -> tuple[str, ...]:
    value = triple.value
    return (triple.head.id, value.id) if isinstance(value, EntityValue) else (triple.head.id,)


def asks_for_another_sex(text: str, pronoun: str, /) -> bool:
    """Returns whether a question asks for kin of another sex than a pronoun stands for.

    >>> asks_for_another_sex("Who is Ann's husband?", "she")
    True
    >>> asks_for_another_sex("Who is Ann's husband?", "he")
    False
    """
    sexes = {sex_of_kin(singular(word)) for word, _, _ in word_spans(text)} - {""}
    return len(sexes) == 1 and _SEXES.get(pronoun, *sexes) not in sexes


def asks_for_others(text: str, /) -> bool:
    """Returns whether a question asks for others than those that were spoken of.

    >>> asks_for_others("Which other films did she make?"), asks_for_others("What did she make?")
    (True, False)
    """
    return not _OTHERS.isdisjoint(word for word, _, _ in word_spans(text))


def _chained(first: Turn, rest: Iterator[Turn]) -> Iterator[Turn]:
    yield first
    yield from rest


def _only_names(turn: Turn) -> bool:
    """Returns whether a question asks about what it names and for nothing else: *Who is Ann Lee?*"""
    text = turn.wording.text.casefold()
    for linked in turn.result.linked:
        text = text.replace((linked.mention or linked.entity.label).casefold(), " ")
    return all(word in EMPTY_IN_ENGLISH or word in _ASKING for word, _, _ in word_spans(text))


def _merit(turn: Turn) -> tuple[bool, float]:
    return turn.result.status is Status.OK, turn.result.confidence or 0.0


def _doubted(result: RetrievalResult, confidence: float) -> RetrievalResult:
    """Returns a result that is right only if the answer before it is, which is so probable."""
    if confidence >= 1.0 or result.confidence is None:
        return result
    probability = round(result.confidence * confidence, 4)
    least = float(result.provenance.parameters.get("min_confidence") or 0.0)
    status = result.status
    if status is Status.OK and probability < least:
        status = Status.LOW_CONFIDENCE
    return replace(result, confidence=probability, status=status)


def _names_what_is_unknown(turn: Turn) -> bool:
    """Returns whether a question names by words with capitals what the graph lacks: a pronoun after it
    stands for nothing that was named before.
    """
    text = turn.wording.text
    return turn.result.status is Status.NO_ENTITY_LINKED and any(
        text[start].isupper() and word not in EMPTY_IN_ENGLISH
        for word, start, _ in word_spans(text)[1:]
    )


def _written_name(text: str) -> Spans:
    """Returns the characters of words with capitals that a question goes on with and that are all it
    says: *what about Ted?* They may be a part of a name.

    >>> _written_name("And Ted?"), _written_name("And the director?")
    ([(4, 7)], [])
    """
    if not goes_on(text) or read_dates(text):
        return []
    content = [
        (start, end)
        for word, start, end in word_spans(text)
        if word not in EMPTY_IN_ENGLISH and word not in _CONTINUING
    ]
    if not content or not all(text[start].isupper() for start, _ in content):
        return []
    return [(content[0][0], content[-1][1])]


def _moved_on(wording: Wording, names: Spans, before: Turn) -> list[Wording]:
    """Returns the question before, asked of what this one names and asks nothing of, in each way
    that it may be meant; or of the date of this one.

    *Who directed Uncle?*, *And Night River?*; *Who managed Leeds in 1992?*, *And in 1993?*
    """
    text = wording.text
    dates = [] if names else [(each.start, each.end) for each in read_dates(text)]
    spans = [*names, *dates]
    left = [
        word
        for word, start, end in word_spans(text)
        if not any(a <= start and end <= b for a, b in spans)
    ]
    if not spans or any(word not in EMPTY_IN_ENGLISH and word not in _CONTINUING for word in left):
        return []
    (start, end), *_ = spans
    if names:
        parts = [(each.start, each.end) for each in before.result.linked if each.start >= 0]
    else:
        start, parts = _moved_dates(text, (start, end), before.wording.text)
    return [_with_part(before.wording, part, text[start:end], (start, end)) for part in parts]


def _moved_dates(
    text: str, date: tuple[int, int], before: str
) -> tuple[int, list[tuple[int, int]]]:
    """Returns where a date begins, and the only date of the question before: with their
    prepositions if the new one has one that is not *in*.
    """
    others = [(each.start, each.end) for each in read_dates(before)]
    if len(others) != 1:
        return date[0], []
    (other,) = others
    new, of_other = (
        (end - len(_PREPOSITION.sub("", of[start:end], count=1)), end)
        for of, (start, end) in ((text, date), (before, other))
    )
    is_same = text[date[0] : new[0]].strip() in {"", "in"}
    return (new[0], [of_other]) if is_same else (date[0], [other])


def _with_part(before: Wording, part: tuple[int, int], text: str, at: tuple[int, int]) -> Wording:
    """Returns a question with a text of a later one in the place of a part."""
    return Wording(
        tuple(
            replace(piece, start=at[0], end=at[1])
            if piece.text == text
            else replace(piece, start=-1, end=-1)
            for piece in Wording(before.pieces).replaced(*part, text).pieces
        )
    )


def read_undivided(text: str, /) -> TextQuestions:
    """Returns a text as one question."""
    return TextQuestions((Wording((Piece(text, 0, len(text)),)),))


def answer_entities(result: RetrievalResult, /) -> list[EntityRef]:
    """Returns the entities that a result answers with; none where it is not sure, or has values."""
    if result.status is not Status.OK:
        return []
    if result.answer is not None:
        return list(result.answer.entities)
    entities: dict[str, EntityRef] = {}
    for item in result.items:
        if not isinstance(item, ScoredPath) or item.score < result.items[0].score:
            break
        step = item.steps[-1]
        value = step.triple.value
        if step.reversed:
            entities[step.triple.head.id] = step.triple.head
        elif isinstance(value, EntityValue):
            entities[value.id] = EntityRef(value.id, step.triple.value_label)
    return list(entities.values())


def as_one(request: RetrieveRequest, /) -> RetrieveRequest:
    """Returns a request whose question is the whole of a conversation."""
    return replace(request, question="\n".join((*request.earlier, request.question)), earlier=())


def is_plain(request: RetrieveRequest, text: TextQuestions, /) -> bool:
    """Returns whether a request asks one question, in all of its text, that stands alone."""
    return (
        not request.earlier
        and len(text.questions) == 1
        and text.questions[0].text == request.question
        and not may_join_names(request.question)
    )
