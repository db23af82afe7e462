"""What an answer names, as a list: the same of models, of templates and of the rule.

A model is asked for a list in setting ``answer-list``. The rule names the end of the best item. The
verbaliser names the end of each item whose statements it states, best first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from queries.datasets.gold import GoldQuestion
from queries.experiment.cells import Cell
from queries.experiment.extractive import endpoints_of
from queries.experiment.plan import AnswererKind
from queries.generate.answer_list import parse_answer_list
from queries.generate.citations import NOT_AVAILABLE
from queries.generate.record import Answer
from queries.generate.setting import RECIPES
from queries.score.matching import is_name
from queries.score.metric import harmonic


@dataclass(frozen=True, slots=True)
class Name:
    """Something that an answer names.

    Attributes:
        text: As it is written.
        id: Of the entity; empty for a literal, and in the list of a model.
    """

    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """What an answer comes to.

    Attributes:
        names: What it names, best first; None if it is not asked for a list. Empty if a list cannot
            be read.
        is_tagged: Whether the list of a model could be read; None without a model that is asked for
            one.
        is_refusal: Whether it says that it cannot answer, or gives an empty list.
    """

    names: tuple[Name, ...] | None
    is_tagged: bool | None
    is_refusal: bool


def short_answer(item: Answer, cell: Cell, /) -> ShortAnswer:
    """Returns what an answer of a cell names."""
    who = cell.condition.answerer
    refuses = item.not_available or NOT_AVAILABLE in item.text
    if who.kind is AnswererKind.EXTRACTIVE:
        best_first = item.parameters.get("ends") or ()
        best = () if item.not_available else best_first[:1]
        return ShortAnswer(
            tuple(Name(end["label"], end["id"]) for end in best), None, item.not_available
        )
    if who.kind is AnswererKind.VERBALISER:
        return ShortAnswer(_stated(item), None, item.not_available)
    if who.setting is None or not RECIPES[who.setting].lists:
        return ShortAnswer(None, None, refuses)
    listed = parse_answer_list(item.text)
    if listed is None:
        return ShortAnswer((), False, refuses)
    return ShortAnswer(tuple(Name(text) for text in listed), True, not listed)


def _stated(item: Answer) -> tuple[Name, ...]:
    """The ends of those retrieved items whose statements the sentences cite."""
    if item.result is None:
        return ()
    cited = {
        id_
        for sentence in item.sentences
        for citation in sentence.citations
        for id_ in citation.statement_ids
    }
    return tuple(
        Name(end.label, end.id)
        for end in endpoints_of(item.result)
        if all(triple.statement_id in cited for triple in end.triples)
    )


@dataclass(frozen=True, slots=True)
class AnswerMatch:
    """What of a list is right, and which answers it names.

    Attributes:
        right: Of each name in the list, whether it is an answer.
        named: Of each answer, whether the list names it.
    """

    right: tuple[bool, ...]
    named: tuple[bool, ...]

    def scores(self) -> tuple[float, float, float, float, float, float]:
        """Returns Hits@1, Hits@Any, exact match, precision, recall and F1; all 0 of an empty list.

        >>> AnswerMatch((False, True, False), (True, False)).scores()
        (0.0, 1.0, 0.0, 0.3333333333333333, 0.5, 0.4)
        """
        if not self.right:
            return (0.0,) * 6
        precision = sum(self.right) / len(self.right)
        recall = sum(self.named) / len(self.named)
        exact = all(self.right) and all(self.named)
        f1 = harmonic(precision, recall)
        is_any = any(self.right)
        return (float(self.right[0]), float(is_any), float(exact), precision, recall, f1 or 0.0)


def match_answers(names: Sequence[Name], gold: GoldQuestion, /) -> AnswerMatch:
    """Returns which names of a list are answers of a question, by id or by name.

    If the question has as many answer entities as answers in words, these belong together.

    >>> gold = GoldQuestion("1", "Who?", answer_ids=("Q1", "Q2"), answers=("Ada", "Bea"))
    >>> match_answers([Name("Bea"), Name("A. L.", "Q1"), Name("not Ada")], gold)
    AnswerMatch(right=(True, True, False), named=(True, True))
    """
    ids, texts = gold.answer_ids, gold.answers
    if len(ids) == len(texts):
        answers = list(zip(ids, texts, strict=True))
    else:
        answers = [("", text) for text in texts] or [(id_, "") for id_ in ids]
    matches = [
        [
            (bool(name.id) and name.id == id_) or (bool(text) and is_name(name.text, text))
            for id_, text in answers
        ]
        for name in names
    ]
    right = tuple(
        any(row) or bool(name.id and name.id in ids)
        for name, row in zip(names, matches, strict=True)
    )
    return AnswerMatch(right, tuple(any(column) for column in zip(*matches, strict=True)))
