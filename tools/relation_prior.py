"""Trains the prior of relations that ships, from published questions of open licences.

    make train-prior DATA=../shared/data

Learned from are the sets of ``question_relations`` whose licence is open, the questions of
``wikidata_questions`` that the networks were trained on too, and our own wordings of common
relations. Questions on which figures are given are left out, and what is nearly one of them.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.families import WIKIDATA_FAMILIES, choose, read_family
from benchmarks.family_scorers import MOST_OF_A_SET
from graph_service.retrieve.learned.relation_prior import encode_relation_prior
from graph_service.text.fold import words
from graph_service.text.relation_phrases import read_phrases
from queries.datasets.wikidata_questions import FOLDER, read_labels
from queries.training.relation_prior import PriorOptions, QuestionSteps, train_prior

OPEN_SETS = {
    "wdsq": "wikidata",
    "fbsq": "freebase",
    "freebase/simplequestions/val": "freebase",
    "dbpedia/simplequestions/test": "dbpedia",
    "dbpedia/simplequestions/val": "dbpedia",
    "wikidata/lcquad2/test": "wikidata",
}
"""Sets of an open licence, and whose relations each asks for."""
NEAR_COPY = 0.8
"""Share of the words that two questions have in common from which on one is a copy of the other."""
_COMMON_WORD = 60
_STEP = re.compile(r" (->|<-) ")
_SAID_OF = ("ann lee", "norland")
_NAMES_SAID = 4


def read_relation_questions(
    path: Path, /, *, without: Iterable[str] = ()
) -> Iterator[QuestionSteps]:
    """Yields the questions of open sets in ``question_relations``.

    Args:
        path: ``questions.jsonl.xz``.
        without: Families that are left out.
    """
    left_out = frozenset(without)
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["set"] in OPEN_SETS and row["fam"] not in left_out:
                name, steps = parse_candidate(row["c"][0][0])
                yield QuestionSteps(row["q"], OPEN_SETS[row["set"]], name, steps)


def parse_candidate(text: str, /) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """Returns the start of a candidate as the file writes it, and its steps.

    >>> parse_candidate("Bisaurin -> mountain range <- highest point = ? (1)")
    ('Bisaurin', (('mountain range', False), ('highest point', True)))
    """
    parts = _STEP.split(text.rpartition(" = ")[0])
    steps = zip(parts[2::2], parts[1::2], strict=True)
    start = "" if parts[0] == "it" else parts[0]
    return start, tuple((label, arrow == "<-") for label, arrow in steps)


def read_people(
    data: Path, /, *, without: Iterable[str] = ()
) -> tuple[list[QuestionSteps], list[str]]:
    """Returns the Wikidata questions that may be trained on, and the texts of all others."""
    labels = read_labels(data / FOLDER, "en")
    found: list[QuestionSteps] = []
    held: list[str] = []
    for family in WIKIDATA_FAMILIES:
        for questions in read_family(family, data):
            trained = {
                each.id
                for each in choose(questions.questions, sample=MOST_OF_A_SET, random_seed=0)
                if not each.in_sample
            }
            for question in questions.questions:
                if question.id not in trained:
                    held.append(question.text)
                elif family not in frozenset(without):
                    for chain in question.chains:
                        steps = tuple((labels.get(rel, ""), back) for rel, back in chain.steps)
                        if all(label for label, _ in steps):
                            name = labels.get(chain.start, "")
                            found.append(QuestionSteps(question.text, "wikidata", name, steps))
    return found, held


def wordings() -> Iterator[QuestionSteps]:
    """Yields our own wordings of common relations, asked of made-up names."""
    for names, phrases in read_phrases():
        for backward, texts in (
            (False, (*phrases.forward, *phrases.noun)),
            (True, (*phrases.backward, *phrases.noun_backward)),
        ):
            step = ((names[0], backward),)
            for text in texts:
                for name in _SAID_OF:
                    yield QuestionSteps(text.replace("{x}", name), "wikidata", name, step)
        for noun in names[:_NAMES_SAID]:
            if noun.endswith(" of") or noun.startswith("is "):
                continue
            several = noun if noun.endswith("s") else f"{noun}s"
            for text in (
                f"what is the {noun} of {_SAID_OF[0]}?",
                f"how many {several} does {_SAID_OF[0]} have?",
                f"who is {_SAID_OF[0]}'s {noun}?",
            ):
                yield QuestionSteps(text, "wikidata", _SAID_OF[0], ((names[0], False),))


def without_copies(
    questions: Iterable[QuestionSteps], held: Sequence[str], /
) -> Iterator[QuestionSteps]:
    """Yields the questions that are no near copy of one that is held out."""
    sets = [frozenset(words(text)) for text in held]
    holding: dict[str, list[int]] = defaultdict(list)
    for number, said in enumerate(sets):
        for word in said:
            holding[word].append(number)
    for question in questions:
        own = frozenset(words(question.text))
        near = Counter(
            number
            for word in own
            if len(holding.get(word, ())) < _COMMON_WORD
            for number in holding.get(word, ())
        )
        if not any(
            len(own & sets[number]) >= NEAR_COPY * max(len(own), len(sets[number]))
            for number in near
        ):
            yield question


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains and writes the prior; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "data", type=Path, help="folder with question_relations, wikidata_questions"
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--without", action="append", default=[], help="a family to leave out")
    chosen = parser.parse_args(arguments)
    people, held = read_people(chosen.data, without=chosen.without)
    path = chosen.data / "question_relations/questions.jsonl.xz"
    published = read_relation_questions(path, without=chosen.without)
    questions = [*without_copies((*published, *people), held), *wordings()]
    options = PriorOptions()
    notes = {
        "sets": sorted(OPEN_SETS),
        "without": sorted(chosen.without),
        "command": "make train-prior",
    }
    prior = train_prior(questions, options=options, notes=notes)
    chosen.out.write_bytes(encode_relation_prior(prior))
    print(f"{len(questions):,} questions, {len(prior.run_keys):,} runs, data {prior.data[:8]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
