"""Made questions with constraints, counts, superlatives and yes or no; answers by brute force.

The films are MetaQA's, the children those of the demo's people. ``benchmarks.wordings`` has the
twenty wordings. A person is asked about only where the constraint leaves some of the films or
children out, and where nothing is in doubt: each film that counts has one year.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.families import FamilyQuestion, GoldChain
from benchmarks.step_tables import Table, drawn, table_of
from benchmarks.wordings import CONSTRAINTS
from graph_service.model.identity import key64
from graph_service.quality.question_sets import Step

OF_A_WORDING = 20
_FEWEST, _MOST = 2, 40
_ACTED: Step = ("starred_actors", True)
_DIRECTED: Step = ("directed_by", True)
_WROTE: Step = ("written_by", True)
_CHILD: tuple[Step, ...] = (("P40", False), ("P22", True), ("P25", True))
_BORN, _JOB, _GENDER, _SIBLING = "P569", "P106", "P21", ("P3373", False)
_SONS = {"Q6581097": "sons", "Q6581072": "daughters"}


@dataclass(frozen=True, slots=True)
class _Asked:
    """What one question asks.

    Attributes:
        topics: Ids of its entities.
        words: What the wording's places are filled with.
        answers: Ids; of a count those that are counted.
        told: A number, ``yes`` or ``no``.
    """

    topics: tuple[str, ...]
    words: Mapping[str, str]
    answers: frozenset[str]
    told: str = ""


def _questions(
    wording: str, kind: str, steps_of: Sequence[Sequence[Step]], asked: Iterable[_Asked]
) -> Iterator[FamilyQuestion]:
    """Yields a wording's questions; ``steps_of`` are the right steps from each topic in turn."""
    for one in islice(asked, OF_A_WORDING):
        text = CONSTRAINTS[wording].format(**one.words)
        id_ = f"constraints:{wording}:{'|'.join((*one.topics, *one.words.values()))}"
        yield FamilyQuestion(
            id=id_,
            family="constraints",
            set="constraints",
            text=text,
            topics=one.topics,
            shape=kind,
            chains=tuple(
                GoldChain(topic, (step,))
                for topic, steps in zip(one.topics, steps_of, strict=False)
                for step in steps
            ),
            answers=one.answers,
            group=id_,
            template=wording,
            is_constrained=True,
            told=one.told,
        )


def _one_of(items: Iterable[str], seed: str) -> str:
    return drawn(items, seed=seed)[0]


# Films


class _Films:
    """MetaQA's graph as these questions need it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._years = table.get(("release_year", False), {})

    def people(self, step: Step, wording: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yields people with their films, where each film has one year."""
        of = self.table.get(step, {})
        for person in drawn(of, seed=wording):
            films = tuple(of[person])
            if _FEWEST <= len(films) <= _MOST and all(len(self.years(f)) == 1 for f in films):
                yield person, films

    def years(self, film: str) -> Sequence[str]:
        return self._years.get(film, ())

    def year(self, film: str) -> int:
        return int(self.years(film)[0])

    def of(self, film: str, relation: str) -> Sequence[str]:
        return self.table.get((relation, False), {}).get(film, ())


def film_questions(table: Table, /) -> Iterator[FamilyQuestion]:
    """Yields the questions about films."""
    films = _Films(table)
    for wording, (kind, step, ask) in _FILM_KINDS.items():
        yield from _questions(wording, kind, ((step,),), ask(films, step, wording))
    for wording, step in (("film-both", _ACTED), ("film-with", _DIRECTED)):
        asked = _with_another(films, step, wording, "starred_actors")
        yield from _questions(wording, "second entity", ((step,), (_ACTED,)), asked)


def _left_some_out(answers: frozenset[str], of: Sequence[str]) -> bool:
    return 0 < len(answers) < len(of)


def _by_year(is_meant: Callable[[int, int], bool]) -> Callable[..., Iterator[_Asked]]:
    def ask(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
        for person, own in films.people(step, wording):
            year = films.year(_one_of(own, f"{wording}\t{person}"))
            answers = frozenset(film for film in own if is_meant(films.year(film), year))
            if _left_some_out(answers, own):
                yield _Asked((person,), {"person": person, "year": str(year)}, answers)

    return ask


def _by_value(relation: str, word: str) -> Callable[..., Iterator[_Asked]]:
    def ask(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
        for person, own in films.people(step, wording):
            values = {value for film in own for value in films.of(film, relation)}
            if not values:
                continue
            value = _one_of(values, f"{wording}\t{person}")
            answers = frozenset(film for film in own if value in films.of(film, relation))
            if _left_some_out(answers, own):
                said = value if relation == "in_language" else value.lower()
                yield _Asked((person,), {"person": person, word: said}, answers)

    return ask


def _between(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
    for person, own in films.people(step, wording):
        first = films.year(_one_of(own, f"{wording}\t{person}"))
        last = first + 2 + key64(f"{wording}\t{person}\tspan") % 6
        answers = frozenset(film for film in own if first <= films.year(film) <= last)
        if _left_some_out(answers, own):
            words = {"person": person, "first": str(first), "last": str(last)}
            yield _Asked((person,), words, answers)


def _decade(digits: int) -> Callable[..., Iterator[_Asked]]:
    def ask(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
        for person, own in films.people(step, wording):
            decade = films.year(_one_of(own, f"{wording}\t{person}")) // 10 * 10
            if digits == 2 and not 1930 <= decade <= 1990:
                continue
            answers = frozenset(film for film in own if films.year(film) // 10 * 10 == decade)
            if _left_some_out(answers, own):
                words = {"person": person, "decade": str(decade)[-digits:]}
                yield _Asked((person,), words, answers)

    return ask


def _with_another(films: _Films, step: Step, wording: str, relation: str) -> Iterator[_Asked]:
    for person, own in films.people(step, wording):
        others = {other for film in own for other in films.of(film, relation)} - {person}
        if not others:
            continue
        other = _one_of(others, f"{wording}\t{person}")
        answers = frozenset(film for film in own if other in films.of(film, relation))
        if _left_some_out(answers, own):
            yield _Asked((person, other), {"person": person, "other": other}, answers)


def _counted(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
    for person, own in films.people(step, wording):
        if len(own) > _FEWEST:
            yield _Asked((person,), {"person": person}, frozenset(own), str(len(own)))


def _latest(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
    for person, own in films.people(step, wording):
        last = max(map(films.year, own))
        answers = frozenset(film for film in own if films.year(film) == last)
        if len(answers) == 1:
            yield _Asked((person,), {"person": person}, answers)


def _did(films: _Films, step: Step, wording: str) -> Iterator[_Asked]:
    everyone = drawn(films.table.get(("directed_by", False), {}), seed=wording)
    for number, (person, own) in enumerate(films.people(step, wording)):
        others = islice((film for film in everyone[number:] if film not in own), 1)
        film = _one_of(own, f"{wording}\t{person}") if number % 2 else next(others, "")
        if film:
            told = "yes" if number % 2 else "no"
            words = {"person": person, "film": film}
            yield _Asked((person, film), words, frozenset(), told)


_Asking = Callable[[_Films, Step, str], Iterator[_Asked]]
_FILM_KINDS: Mapping[str, tuple[str, Step, _Asking]] = {
    "film-year": ("value", _ACTED, _by_year(lambda year, meant: year == meant)),
    "film-genre": ("value", _DIRECTED, _by_value("has_genre", "genre")),
    "film-language": ("value", _ACTED, _by_value("in_language", "language")),
    "film-after": ("range", _DIRECTED, _by_year(lambda year, meant: year > meant)),
    "film-before": ("range", _ACTED, _by_year(lambda year, meant: year < meant)),
    "film-between": ("range", _ACTED, _between),
    "film-decade": ("range", _WROTE, _decade(4)),
    "film-nineties": ("range", _DIRECTED, _decade(2)),
    "film-count": ("count", _DIRECTED, _counted),
    "film-latest": ("superlative", _ACTED, _latest),
    "film-did": ("yes or no", _DIRECTED, _did),
}


# Children


class _People:
    """The demo's graph as these questions need it."""

    def __init__(self, path: Path) -> None:
        self.labels: dict[str, str] = {}
        triples: list[tuple[str, str, str]] = []
        for line in path.read_text(encoding="utf-8").splitlines():
            document = json.loads(line)
            id_ = document["id"]
            label = document.get("labels", {}).get("en")
            if label:
                self.labels[id_] = label["value"]
            for relation, claims in document.get("claims", {}).items():
                triples.extend(
                    (id_, relation, value)
                    for claim in claims
                    if claim["rank"] != "deprecated" and (value := _value(claim["mainsnak"]))
                )
        self.table = table_of(triples)
        of = (self.table.get(step, {}) for step in _CHILD)
        self.parents = sorted({parent for by_parent in of for parent in by_parent})

    def follow(self, id_: str, *steps: Step) -> frozenset[str]:
        """Returns the labelled entities that any of some steps leads to."""
        ends = (end for step in steps for end in self.table.get(step, {}).get(id_, ()))
        return frozenset(end for end in ends if end in self.labels)

    def values(self, id_: str, relation: str) -> Sequence[str]:
        return self.table.get((relation, False), {}).get(id_, ())

    def families(self, wording: str) -> Iterator[tuple[str, frozenset[str]]]:
        """Yields labelled parents of two children or more, with them."""
        for parent in drawn(self.parents, seed=wording):
            children = self.follow(parent, *_CHILD)
            if parent in self.labels and len(children) > 1:
                yield parent, children

    def name(self, id_: str) -> dict[str, str]:
        return {"person": self.labels[id_]}


def _value(snak: Mapping[str, object]) -> str:
    data = snak.get("datavalue")
    if not isinstance(data, dict):
        return ""
    value = data["value"]
    if data["type"] == "wikibase-entityid":
        return str(value["id"])
    return str(value["time"]).lstrip("+")[:10] if data["type"] == "time" else ""


def child_questions(path: Path, /) -> Iterator[FamilyQuestion]:
    """Yields the questions about the children of the demo's people.

    Args:
        path: The demo's graph, as lines of Wikibase JSON.
    """
    people = _People(path)
    for wording, (kind, ask) in _CHILD_KINDS.items():
        steps = (_SIBLING,) if wording == "sibling-count" else _CHILD
        both = (steps, steps) if wording == "child-both" else (steps,)
        yield from _questions(wording, kind, both, ask(people, wording))


def _children_by(
    relation: str, word: str, say: Callable[[_People, str], str]
) -> Callable[[_People, str], Iterator[_Asked]]:
    def ask(people: _People, wording: str) -> Iterator[_Asked]:
        for parent, children in people.families(wording):
            said = {
                text: None
                for child in sorted(children)
                for value in people.values(child, relation)
                if (text := say(people, value))
            }
            for text in drawn(said, seed=f"{wording}\t{parent}")[:4]:
                answers = frozenset(
                    child
                    for child in children
                    if any(say(people, v) == text for v in people.values(child, relation))
                )
                if _left_some_out(answers, tuple(children)):
                    yield _Asked((parent,), {**people.name(parent), word: text}, answers)

    return ask


def _job(people: _People, value: str) -> str:
    label = people.labels.get(value, "")
    return label and f"{'an' if label[0] in 'aeiou' else 'a'} {label}"


def _together(people: _People, wording: str) -> Iterator[_Asked]:
    for parent, children in people.families(wording):
        for other in drawn(people.parents, seed=parent):
            shared = children & people.follow(other, *_CHILD)
            if shared and other > parent and other in people.labels:
                words = {**people.name(parent), "other": people.labels[other]}
                yield _Asked((parent, other), words, shared)


def _oldest(people: _People, wording: str) -> Iterator[_Asked]:
    for parent, children in people.families(wording):
        born = sorted((people.values(child, _BORN)[0], child) for child in children
                      if people.values(child, _BORN))  # fmt: skip
        if len(born) > 1 and born[0][0] < born[1][0]:
            yield _Asked((parent,), people.name(parent), frozenset({born[0][1]}))


def _siblings(people: _People, wording: str) -> Iterator[_Asked]:
    for person in drawn(people.table.get(_SIBLING, {}), seed=wording):
        own = people.follow(person, _SIBLING)
        if person in people.labels and own == people.follow(person, _SIBLING, ("P3373", True)):
            yield _Asked((person,), people.name(person), own, str(len(own)))


def _is_child(people: _People, wording: str) -> Iterator[_Asked]:
    families = list(people.families(wording))
    everybody = {child for _, children in families for child in children}
    for number, (parent, children) in enumerate(families):
        others = children if number % 2 else everybody - children - {parent}
        if not others:
            continue
        other = _one_of(others, f"{wording}\t{parent}")
        words = {**people.name(parent), "other": people.labels[other]}
        told = "yes" if number % 2 else "no"
        yield _Asked((parent, other), words, frozenset(), told)


_CHILD_KINDS: Mapping[str, tuple[str, Callable[[_People, str], Iterator[_Asked]]]] = {
    "child-job": ("type", _children_by(_JOB, "job", _job)),
    "child-year": ("value", _children_by(_BORN, "year", lambda _, value: value[:4])),
    "child-gender": ("type", _children_by(_GENDER, "children", lambda _, v: _SONS.get(v, ""))),
    "child-both": ("second entity", _together),
    "child-oldest": ("superlative", _oldest),
    "sibling-count": ("count", _siblings),
    "child-is": ("yes or no", _is_child),
}
