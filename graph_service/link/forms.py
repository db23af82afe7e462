"""Other forms of what a question says under which a name may be listed: base form, article."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph_service.link.inflection import base_forms, singular
from graph_service.link.lexicon import Lexicon
from graph_service.link.question import Atom, is_content, join_atoms
from graph_service.link.spelled import other_spellings

ARTICLE = "the "
# A bound on work, far beyond any real question.
_MAX_FORMS = 5_000


@dataclass(frozen=True, slots=True)
class Form:
    """A name that atoms ``left`` to ``right`` (exclusive) may be a form of.

    Attributes:
        plural: Whether as its plural, so that it must be a common noun.
    """

    left: int
    right: int
    name: str
    plural: bool = False


def other_forms(
    atoms: Sequence[Atom], lexicon: Lexicon, /, *, capitals: bool, max_words: int
) -> list[Form]:
    """Returns the other forms of runs of a few words, in order of the question.

    Args:
        atoms: The question's words.
        lexicon: Of the graph.
        capitals: Whether capitals tell names in it.
        max_words: Most words of a run.
    """
    forms: list[Form] = []
    for left in range(len(atoms)):
        for right in range(left + 1, min(len(atoms), left + max_words) + 1):
            if len(forms) >= _MAX_FORMS:
                return forms
            if right - left > 1 and not (atoms[right - 1].near and atoms[right - 1].spaced):
                break
            run = atoms[left:right]
            if all(is_content(end) or len(end.text) == 1 for end in (run[0], run[-1])):
                spellings = other_spellings(run, capitals=capitals)
                forms.extend(Form(left, right, name) for name in spellings)
            if is_content(run[0]) and is_content(run[-1]):
                forms.extend(_forms_of(atoms, lexicon, capitals, left, right))
    return forms


def _forms_of(
    question: Sequence[Atom], lexicon: Lexicon, capitals: bool, left: int, right: int
) -> Iterator[Form]:
    atoms = question[left:right]
    first, last = atoms[0], atoms[-1]
    if first.unspaced or last.unspaced:
        return
    several = right - left > 1
    # Where capitals tell names, a name of several words begins with one.
    may_be_name = first.capital or not (capitals and several)
    if not may_be_name and not last.text.isascii():
        return
    if not last.text.isascii() or not first.text.isascii():
        for name in base_forms([atom.text for atom in atoms]):
            yield Form(left, right, name)
        return
    if may_be_name and (several or (first.capital and not first.first)):
        yield Form(left, right, ARTICLE + join_atoms(atoms))
    if several and (name := _with_singular_head(atoms)):
        yield Form(left, right, name)
    base = singular(last.text)
    # ``artists`` only asks, as ``artist`` does, and ``plays`` is a verb.
    if base is None or (not several and lexicon.is_plain(base)):
        return
    name = " ".join([*(atom.text for atom in atoms[:-1]), base])
    after = question[right] if right < len(question) else None
    # ``obamas wife``
    if after is not None and after.near and may_be_name and lexicon.is_plain(after.text):
        yield Form(left, right, name)
    elif not last.capital:
        yield Form(left, right, name, plural=True)


def _with_singular_head(atoms: Sequence[Atom]) -> str:
    """Returns a name whose first noun is a plural that ``of`` follows, in the singular: of
    *rural communes of Morocco* ``rural commune of Morocco``; empty where there is none.
    """
    texts = [atom.text for atom in atoms]
    at = texts.index("of") - 1 if "of" in texts[1:] else -1
    base = singular(texts[at]) if at >= 0 and not atoms[at].capital else None
    return " ".join([*texts[:at], base, *texts[at + 1 :]]) if base else ""
