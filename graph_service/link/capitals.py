"""Runs of capitalised words, and the names among them that the graph does not have.

Where a question tells names by their capitals, ``Jason Donovan`` is one name. If the graph has a
Jason and no Donovan, Jason is not meant: a part of a longer name that nothing explains is no
mention. (In German every noun has a capital, and none of this holds.) What explains a word before or after a name is that it is a name itself, a common noun
or a title (``President Obama``), or that every sentence begins with a capital.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph_service.link.function_words import (
    CONJUNCTIONS,
    GERMAN_WORDS,
    NAME_PARTICLES,
    TITLES,
)
from graph_service.link.question import is_content
from graph_service.link.question_context import QuestionContext
from graph_service.link.spans import Span
from graph_service.text.function_words import FUNCTION_WORDS

_HYPHENS = "-‐‑"


def close_runs(reading: QuestionContext, /) -> list[tuple[int, int]]:
    """Returns the longest runs of capitalised words next to each other, as ``(left, right)``.

    Particles of names (``von``, ``al``, ``Louis the Stammerer``) and what a hyphen ties on
    (``Kim Jong-il``) belong to them.
    """
    return _runs(reading, NAME_PARTICLES)


def possible_names(reading: QuestionContext, /) -> list[tuple[int, int]]:
    """Returns the runs that may be a name as a whole: with function words inside, without
    conjunctions, without function words; and each of them less the titles before it.
    """
    runs = [
        *_runs(reading, FUNCTION_WORDS | NAME_PARTICLES),
        *_runs(reading, (FUNCTION_WORDS | NAME_PARTICLES) - CONJUNCTIONS),
        *close_runs(reading),
    ]
    for left, right in list(runs):
        start = left
        while start < right - 1 and _says_who(reading, start):
            start += 1
        runs.append((start, right))
    return list(dict.fromkeys(runs))


def _says_who(reading: QuestionContext, index: int) -> bool:
    text = reading.atoms[index].text
    return text in TITLES or text in FUNCTION_WORDS or reading.lexicon.is_plain(text)


def without_parts(reading: QuestionContext, spans: Sequence[Span], /) -> list[Span]:
    """Returns spans without those that are one word of a longer name which the graph lacks.

    A span of several words stays, at ``part_weight``: ``Julius Caesar`` in ``Lucius Julius
    Caesar``.
    """
    remaining = list(spans)
    for run in close_runs(reading) if _tells_names(reading) else ():
        unknown = _unknown(reading, remaining, run)
        words = [index for index in range(*run) if reading.atoms[index].capital]
        for span in [span for span in remaining if run[0] <= span.left < run[1]]:
            before = [index for index in words if index < span.left][-1:]
            after = [index for index in words if index >= span.right][:1]
            # ``King`` before a name says who its bearer is; after it, it is a part (Luther King).
            titled = after and reading.atoms[after[0]].text in TITLES
            if not (titled or unknown.intersection(before + after)):
                continue
            remaining.remove(span)
            if span.right - span.left > 1:
                remaining.append(replace(span, weight=min(span.weight, reading.rules.part_weight)))
    return remaining


def names_unknown(reading: QuestionContext, spans: Sequence[Span], /) -> bool:
    """Returns whether the question has a name that no span covers.

    One word that only describes a noun (``Austrian film director``) is none.
    """
    if not _tells_names(reading):
        return False
    for run in close_runs(reading):
        unknown = _unknown(reading, spans, run)
        if unknown and not (unknown == {run[1] - 1} and _describes(reading, spans, run[1])):
            return True
    return False


def _describes(reading: QuestionContext, spans: Sequence[Span], position: int) -> bool:
    """Returns whether a noun stands at a position or some words after it, in one phrase."""
    lefts = {span.left for span in spans}
    end = position + reading.rules.described_words
    for index, atom in enumerate(reading.atoms[position:end], start=position):
        if not atom.near or atom.capital or not is_content(atom):
            return False
        if index in lefts or reading.lexicon.is_plain(atom.text):
            return True
    return False


def _tells_names(reading: QuestionContext) -> bool:
    """Returns whether a capital inside a sentence says that a word is part of a name."""
    return reading.writes_capitals and not any(
        atom.text in GERMAN_WORDS and (atom.first or not atom.capital) for atom in reading.atoms
    )


def _unknown(reading: QuestionContext, spans: Sequence[Span], run: tuple[int, int]) -> set[int]:
    """Returns the indices of a run's atoms that nothing explains."""
    covered = {index for span in spans for index in range(span.left, span.right)}
    unknown = set()
    for index in range(*run):
        atom = reading.atoms[index]
        explained = (
            index in covered
            or atom.first
            or not atom.capital
            or not is_content(atom)
            or atom.text in TITLES
            or reading.lexicon.is_plain(atom.text)
        )
        if not explained:
            unknown.add(index)
    return unknown


def _runs(reading: QuestionContext, inside: frozenset[str]) -> list[tuple[int, int]]:
    atoms = reading.atoms
    runs: list[tuple[int, int]] = []
    left = 0
    while left < len(atoms):
        atom = atoms[left]
        if not (atom.capital and is_content(atom)):
            left += 1
            continue
        right = last = left + 1
        while right < len(atoms):
            after = atoms[right]
            if not after.near or after.unspaced:
                break
            tied = right == last and reading.question[after.start - 1] in _HYPHENS
            if after.capital or tied:
                last = right + 1
            elif after.text not in inside:
                break
            right += 1
        if not (atom.first and last - left == 1 and reading.lexicon.is_plain(atom.text)):
            runs.append((left, last))
        left = last
    return runs
