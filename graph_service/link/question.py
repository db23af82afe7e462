"""A question as the linker reads it: words with their position and their capitals, and all runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph_service.text.fold import fold, index_tokens, word_spans, words
from graph_service.text.function_words import FUNCTION_WORDS

# Bounds on work, far beyond any real question or name.
_MAX_RUNS = 250_000
_MAX_UNSPACED = 24

_SENTENCE_END = re.compile(r"[.!?…。！？:;\n]")
_SIGN = re.compile(r"[^\w\s]")
_NEARNESS = re.compile(r"[\s\-‐‑]*")


_PRONOUNS = frozenset(
    ["he", "her", "him", "it", "me", "she", "they", "un", "us", "we", "who", "you"]
)
"""No pronoun follows an article, nor does an article of French; a short name does."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A word of the question, or one character of a script without spaces.

    Attributes:
        text: Folded.
        start, end: Characters of the question.
        spaced: Whether a space stands before it in the normal form.
        capital: Whether it begins with a capital letter.
        cased: Whether its script has capitals.
        first: Whether it begins a sentence.
        near: Whether only a space or hyphen parts it from the atom before.
        unspaced: Whether it is a character of a script without spaces.
        alone: Whether it is a whole word (a run of one character, if unspaced).
        shouted: Whether all its letters, two or more, are capitals.
        tight: Whether one sign alone, and no space, parts it from the atom before: ``R.U.N.``,
            ``S-12``.
        is_named: Whether it is a function word that the writing makes a name: ``IT``, ``the us``.
    """

    text: str
    start: int
    end: int
    spaced: bool
    capital: bool
    cased: bool
    first: bool
    near: bool
    unspaced: bool
    alone: bool
    shouted: bool = False
    tight: bool = False
    is_named: bool = False


def read_atoms(question: str, /) -> list[Atom]:
    """Returns the words of a question, characters where its script has no spaces."""
    atoms: list[Atom] = []
    end_before = 0
    for _, start, end in word_spans(question):
        raw = question[start:end]
        folded = " ".join(words(raw))
        if not folded:
            continue
        between = question[end_before:start]
        initial = bool(atoms) and len(atoms[-1].text) == 1 and between.startswith(".")
        first = not atoms or (bool(_SENTENCE_END.search(between)) and not initial)
        near = bool(atoms) and bool(_NEARNESS.fullmatch(between.removeprefix(".")))
        unspaced = index_tokens(folded) != [folded] and " " not in folded
        if unspaced:
            for index, character in enumerate(raw):
                atoms.append(
                    Atom(
                        text=fold(character),
                        start=start + index,
                        end=start + index + 1,
                        spaced=index == 0,
                        capital=False,
                        cased=False,
                        first=first and index == 0,
                        near=near or index > 0,
                        unspaced=True,
                        alone=False,
                    )
                )
        else:
            atoms.append(
                Atom(
                    text=folded,
                    start=start,
                    end=end,
                    spaced=True,
                    capital=raw[0].isupper() or raw != raw.lower(),
                    cased=raw.lower() != raw.upper(),
                    first=first,
                    near=near,
                    unspaced=False,
                    alone=True,
                    shouted=len(raw) > 1 and raw.isupper(),
                    tight=bool(atoms) and bool(_SIGN.fullmatch(between)),
                )
            )
        end_before = end
    return _with_named_words(atoms)


def _with_named_words(atoms: list[Atom]) -> list[Atom]:
    """Returns atoms, of which function words are marked that the writing makes names: those all in
    capitals among words that are not (``IT``), and pronouns after an article (``the us``).
    """
    calm = any(atom.cased and not atom.capital for atom in atoms)
    marked = list(atoms)
    for index, atom in enumerate(atoms[1:], start=1):
        if atom.unspaced or len(atom.text) < 2 or atom.text not in FUNCTION_WORDS:
            continue
        after_article = atom.near and atoms[index - 1].text == "the" and atom.text in _PRONOUNS
        if after_article or (calm and atom.shouted and not atom.first):
            marked[index] = replace(atom, is_named=True)
    return marked


def writes_capitals(atoms: Sequence[Atom], /) -> bool:
    """Returns whether capitals tell names in this question: some words inside have them, and
    some have none.
    """
    inside = [atom for atom in atoms if atom.cased and not atom.first and len(atom.text) > 1]
    return any(atom.capital for atom in inside) and any(
        not atom.capital for atom in atoms if atom.cased
    )


def name_words(question: str, /) -> list[tuple[int, int]]:
    """Returns the characters of each word that a capital inside the question tells to be of a name;
    none where capitals tell no names.

    >>> name_words("How many moons does Jupiter have?"), name_words("HOW MANY MOONS?")
    ([(20, 27)], [])
    """
    atoms = read_atoms(question)
    if not writes_capitals(atoms):
        return []
    return [(atom.start, atom.end) for atom in atoms if atom.capital and not atom.first]


def find_runs(atoms: Sequence[Atom], longest: int, /) -> dict[str, list[tuple[int, int]]]:
    """Returns every run of atoms that can be a name, as written in the normal form."""
    runs: dict[str, list[tuple[int, int]]] = {}
    budget = max(3, _MAX_RUNS // max(1, len(atoms)))
    for left in range(len(atoms)):
        name, count, characters = "", 0, 0
        for right in range(left, min(len(atoms), left + budget)):
            atom = atoms[right]
            if right == left or atom.spaced:
                count += 1
                name += atom.text if right == left else " " + atom.text
            else:
                name += atom.text
            characters += atom.unspaced
            if count > longest or characters > _MAX_UNSPACED:
                break
            runs.setdefault(name, []).append((left, right + 1))
    return runs


def join_atoms(atoms: Sequence[Atom], /) -> str:
    """Returns some atoms in the normal form of a name."""
    return "".join(
        (" " if index and atom.spaced else "") + atom.text for index, atom in enumerate(atoms)
    )


def may_be_name(atoms: Sequence[Atom], /) -> bool:
    """Returns whether some atoms in a row can be a name at all; see ``naming``."""
    if any(is_content(atom) for atom in atoms) or are_initials(atoms):
        return True
    # ``Because of You``; and a single character of a script without capitals that stands alone.
    alone = len(atoms) == 1 and atoms[0].alone and not atoms[0].cased
    return (atoms[0].capital and atoms[-1].capital) or alone


def is_content(atom: Atom, /) -> bool:
    """Returns whether an atom can carry a name: no function word, no single letter."""
    if atom.unspaced:
        return True
    return len(atom.text) > 1 and (atom.is_named or atom.text not in FUNCTION_WORDS)


def are_initials(atoms: Sequence[Atom], /) -> bool:
    """Returns whether some atoms are single letters written as one: ``R.U.N.``, ``A-Z``."""
    return (
        len(atoms) > 1
        and all(len(atom.text) == 1 and atom.text.isalpha() for atom in atoms)
        and all(atom.tight for atom in atoms[1:])
    )


def is_letter_code(atoms: Sequence[Atom], /) -> bool:
    """Returns whether some atoms are a letter and digits written as one: ``K-1``."""
    letter, *digits = atoms
    return (
        len(letter.text) == 1
        and letter.text.isalpha()
        and bool(digits)
        and all(atom.tight and atom.text.isdigit() for atom in digits)
    )
