"""Answers without a language model: one template sentence a triple, with its citation.

The baseline of every table, and the answer of a machine that has no model. It says what was
retrieved, in order, and nothing else; what it prints is marked ``template text, no language
model``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from graph_service.model.answer import AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.render import cited_triples, is_about, is_stated_by
from graph_service.model.result import (
    Answer,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Triple,
    single_results,
    triples_of,
)
from graph_service.model.values import (
    GREGORIAN,
    EntityValue,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
)
from graph_service.text.fold import relation_words, word_spans
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.months import MONTHS
from graph_service.text.question_form import ASKING_WORDS
from queries.generate.articles import articled
from queries.generate.citations import NOT_AVAILABLE, Sentence, one_line
from queries.generate.common_phrases import common_phrase
from queries.generate.phrases import relation_phrase
from queries.generate.reader import CitationReader, render_citations

VERBALISER = "template text, no language model"
MAX_SENTENCES = 5
LEAST_SHARE = 0.8
"""Triples and trees are spoken down to this share of the best item's score."""
NO_KNOWLEDGE = "Nothing is given that answers this question"
_DAY = 11
_YEAR = re.compile(r"\d{3,4}")
_NUMBER = re.compile(r"[+-]?[\d.,]+%?")


def value_words(triple: Triple, /) -> str:
    """Returns a triple's value as a sentence says it: dates in words, the rest as labelled.

    Dates that are no full Gregorian ones, or before our era, stay as the result labels them.
    """
    value = triple.value
    if isinstance(value, Time) and value.calendar == GREGORIAN and 10 <= value.precision <= 11:
        match = re.fullmatch(r"\+?(\d{4,})-(\d\d)-(\d\d)T.*", value.time)
        if match and 1 <= int(match[2]) <= 12:
            month = MONTHS[int(match[2]) - 1]
            if value.precision == 10 or match[3] == "00":
                return f"{month} {int(match[1])}"
            return f"{int(match[3])} {month} {int(match[1])}"
    return one_line(triple.value_label)


def _before_date(triple: Triple, value: str) -> str:
    """The preposition that a date takes, ``on`` a day and ``in`` a year; empty for another value."""
    if isinstance(triple.value, Time):
        return "on" if triple.value.precision >= _DAY else "in"
    # Tables have years as texts.
    return "in" if isinstance(triple.value, StringValue) and _YEAR.fullmatch(value) else ""


def triple_sentence(triple: Triple, /) -> str:
    """Returns a triple as one sentence, without its citation and full stop."""
    head = one_line(triple.head.label)
    label = relation_words(one_line(triple.relation.label))
    if isinstance(triple.value, SomeValue):
        return f"{head} has a value for “{label}”, but it is not known"
    if isinstance(triple.value, NoValue):
        return f"{head} has no value for “{label}”"
    value = value_words(triple)
    pattern = _pattern(triple, value)
    return _filled(pattern, head, value, is_name=isinstance(triple.value, EntityValue))


def _filled(pattern: str, head: str, value: str, *, is_name: bool) -> str:
    """Returns a pattern with its two names, each with the article that people say it with."""
    # One pass, so that a label that holds "{value}" stays what it is.
    before, first, between, second, after = re.split(r"(\{head\}|\{value\})", pattern)
    names = {"{head}": (head, True), "{value}": (value, is_name)}
    (subject, subject_is_name), (other, other_is_name) = names[first], names[second]
    if subject_is_name:
        with_article = articled(subject, before)
        subject = with_article[0].upper() + with_article[1:] if with_article != subject else subject
    if other_is_name:
        other = articled(other, between)
    if between.startswith("'s ") and subject.endswith("s"):
        between = between.replace("'s ", "' ", 1)
    return f"{before}{subject}{between}{other}{after}"


def _pattern(triple: Triple, value: str) -> str:
    """Returns the pattern of a triple's sentence: how people say it, by the rules, or the plain one."""
    label = triple.relation.label
    dated = _before_date(triple, value)
    common = common_phrase(label, dated=dated)
    # A date is no value of what is said of a place or a person, nor the other way round.
    if common is not None and (dated or "has {value} " in common or not _is_mere(triple, value)):
        return common
    pattern = relation_phrase(label, dated=dated)
    # Of a code or a number a plural is no list: "Saddle's rohs include N".
    if " include {value}" in pattern and _is_mere(triple, value):
        return f"{{head}} — {relation_words(one_line(label))}: {{value}}"
    return pattern


def _is_mere(triple: Triple, value: str) -> bool:
    """Returns whether a value is a number, a letter, or says yes or no."""
    if isinstance(triple.value, EntityValue):
        return False
    return (
        isinstance(triple.value, Quantity)
        or len(value) <= 1
        or value.lower() in ("yes", "no", "true", "false")
        or bool(_NUMBER.fullmatch(value))
    )


def choose_triples(
    result: RetrievalResult,
    /,
    *,
    limit: int = MAX_SENTENCES,
    least_share: float = LEAST_SHARE,
    min_score: float | None = None,
) -> tuple[Triple, ...]:
    """Returns the triples to speak, in the order to speak them; none where nothing bears on it.

    Of paths the best one, whole and in its order, and others of the same score as far as they
    fit; of triples and subgraphs the items whose score is at least a share of the best one's.

    Args:
        result: What was retrieved.
        limit: Triples at most; the best path is never cut.
        least_share: Least share of the best score, for triples and subgraphs.
        min_score: Items under this score bear on nothing.
    """
    if result.status is not Status.OK:
        return ()
    chosen: dict[str, Triple] = {}
    best: float | None = None
    # A tree comes in no order of score: its best items are spoken first, ties as they came.
    items: list[ScoredTriple | ScoredPath] = list(result.items)
    items.sort(key=lambda item: -item.score)
    for item in items:
        if min_score is not None and item.score < min_score:
            break
        if best is None:
            best = item.score
        if isinstance(item, ScoredTriple):
            if item.score < min(best, best * least_share) or len(chosen) >= limit:
                break
            chosen.setdefault(item.triple.statement_id, item.triple)
            continue
        steps = {step.triple.statement_id: step.triple for step in item.steps}
        fresh = [id_ for id_ in steps if id_ not in chosen]
        if item.score < best or (chosen and len(chosen) + len(fresh) > limit):
            break
        chosen.update((id_, steps[id_]) for id_ in fresh)
    return tuple(chosen.values())


def missing_sentence(result: RetrievalResult, /) -> str:
    """Returns the sentence for a question that nothing retrieved bears on, without its marker.

    What is not sure is not said to be missing; the words that ask for it are named.
    """
    labels = list(dict.fromkeys(one_line(item.entity.label) for item in result.linked))
    if not labels:
        return "No entity of the graph was recognised in this question"
    listed = labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " and " + labels[-1]
    if result.status is not Status.LOW_CONFIDENCE:
        return f"The graph does not say this of {listed}"
    asking = ", ".join(f'"{word}"' for word in _asking_words(result))
    return f"It is not sure that the graph says this of {listed}" + (
        f": {asking}" if asking else ""
    )


def _asking_words(result: RetrievalResult) -> list[str]:
    """Returns the content words of a question that are part of no name that was linked."""
    # Positions are of the whole text, of which this question may be a part.
    names = [
        match.span()
        for each in result.linked
        if each.mention
        for match in re.finditer(re.escape(each.mention), result.question)
    ]
    return [
        result.question[start:end]
        for word, start, end in word_spans(result.question)
        if len(word) > 1
        and word not in EMPTY_IN_ENGLISH
        and word not in ASKING_WORDS
        and not any(start < last and first < end for first, last in names)
    ]


def _ended(sentence: str) -> str:
    """A sentence with its full stop, which a name such as ``Sr.`` has brought already."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def verbalise(
    result: RetrievalResult,
    /,
    *,
    limit: int = MAX_SENTENCES,
    min_score: float | None = None,
) -> tuple[str, tuple[Sentence, ...]]:
    """Returns an answer's text and its sentences, made of templates alone (K1).

    What retrieval computed is stated as it is, with its first citations, unless the sentences of
    the best items say it. Of a text that asks several questions each is answered in turn.

    Args:
        result: What was retrieved.
        limit: Sentences at most, but for one path of more steps.
        min_score: As in ``choose_triples``.
    """
    texts: list[str] = []
    sentences: list[Sentence] = []
    knowledge = known_triples(result)
    for single in single_results(result):
        text, of_single = _verbalised(
            single,
            knowledge,
            choose_triples(single, limit=limit, min_score=min_score),
            limit,
        )
        texts.append(text)
        sentences += of_single
    return " ".join(texts), tuple(sentences)


def _verbalised(
    result: RetrievalResult, knowledge: Sequence[Triple], chosen: Sequence[Triple], limit: int
) -> tuple[str, tuple[Sentence, ...]]:
    """Returns the text and the sentences of a result of one question."""
    if not chosen:
        sentence = missing_sentence(result)
        return f"{sentence} {NOT_AVAILABLE}.", (Sentence(_ended(sentence), (), True),)
    if result.answer is None:
        return state(chosen, knowledge)
    if is_stated_by(result.answer, chosen) and not _says_class_alone(result.answer, chosen):
        topics = {item.entity.id for item in result.linked}
        return _state_all(result.answer, chosen, knowledge, topics, limit)
    words = one_line(result.answer.text)
    if result.answer.kind is AnswerKind.YES_NO:
        words = words.capitalize()
    cited = cited_triples(result.answer)
    text, stated = _cited(words, cited, knowledge, CitationReader(knowledge))
    return text, (stated,)


def _says_class_alone(answer: Answer, triples: Sequence[Triple]) -> bool:
    """Returns whether statements say of what an answer names nothing but its class: who lacks a
    manager is not told by that.
    """
    heads = {triple.head.id for triple in triples}
    return all(triple.relation.id in INSTANCE_RELATIONS for triple in triples) and any(
        value in heads for _, value in answer.named
    )


def _state_all(
    answer: Answer,
    chosen: Sequence[Triple],
    knowledge: Sequence[Triple],
    topics: Collection[str],
    limit: int,
) -> tuple[str, tuple[Sentence, ...]]:
    """Returns the sentences of an answer that statements say, with those that join what it names to
    what the question names, and one more sentence for what the others do not name.
    """
    unsaid = [
        value for _, value in answer.named if not any(is_about(triple, value) for triple in chosen)
    ]
    further = [
        triple
        for triple in cited_triples(answer)
        if triple not in chosen and any(is_about(triple, each) for each in (*unsaid, *topics))
    ]
    stated = [*chosen, *further[: max(0, limit - len(chosen))]]
    text, sentences = state(stated, knowledge)
    unnamed = {
        label: [triple for triple in further if is_about(triple, value)]
        for label, value in answer.named
        if not any(is_about(triple, value) for triple in stated)
    }
    if not unnamed:
        return text, sentences
    triples = [triple for own in unnamed.values() for triple in own]
    count = len(answer.values) - len(answer.named) + len(unnamed)
    words = one_line(f"And {count} more: {', '.join(unnamed)}")
    more, sentence = _cited(words, triples, knowledge, CitationReader(knowledge))
    return f"{text} {more}", (*sentences, sentence)


def known_triples(result: RetrievalResult, /) -> tuple[Triple, ...]:
    """Returns the triples of a result, and those that a computed answer is cited with."""
    answers = [single.answer for single in single_results(result)]
    cited = [triple for answer in answers if answer for triple in cited_triples(answer)]
    known = {triple.statement_id: triple for triple in (*triples_of(result), *cited)}
    return tuple(known.values())


def state(
    triples: Sequence[Triple], knowledge: Sequence[Triple], /
) -> tuple[str, tuple[Sentence, ...]]:
    """Returns the text and the sentences that state some triples, each with its citation (K1).

    Args:
        triples: What is stated, in order.
        knowledge: All that was given, which citations are told apart in.
    """
    if not triples:
        return f"{NO_KNOWLEDGE} {NOT_AVAILABLE}.", (Sentence(_ended(NO_KNOWLEDGE), (), True),)
    reader = CitationReader(knowledge)
    stated = [_cited(triple_sentence(triple), [triple], knowledge, reader) for triple in triples]
    return " ".join(text for text, _ in stated), tuple(sentence for _, sentence in stated)


def _cited(
    words: str, triples: Sequence[Triple], knowledge: Sequence[Triple], reader: CitationReader
) -> tuple[str, Sentence]:
    """Returns a sentence as it is printed, with the citations of some triples, and as it is read."""
    printed = " ".join(render_citations([triple], knowledge) for triple in triples)
    citations = tuple(
        citation for bracket in reader.brackets(printed) for citation in bracket.citations
    )
    text = f"{words} {printed}." if printed else _ended(words)
    return text, Sentence(_ended(words), citations)
