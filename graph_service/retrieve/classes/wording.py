"""Which words of a question speak of which relations of a class's instances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Float64
from graph_service.retrieve.classes.profile import RelationProfile
from graph_service.retrieve.constraints.coverage import root, sides_of, stems_of
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.verb_labels import says, verb_root, verbs_of
from graph_service.text.fold import words

Cosines = Callable[[Sequence[str], Sequence[str]], Float64]
"""Of some texts with others, float64 [texts, others]."""
LEAST_FIT = 0.3
"""How well a word fits a relation from which on it speaks of it."""
_LEAST_COSINE = 0.45
OWN_WORD = 1.0
"""How well a word of a relation's own label fits it."""
_MEANING, _KNOWN = 0.9, 0.7


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a question, folded, its characters, and whether it is a verb."""

    text: str
    start: int
    end: int
    is_verb: bool = False


class RelationWords:
    """How well each content word of a question fits each relation.

    Attributes:
        fits: float64 [words, relations].

    Args:
        content: The words.
        profiles: The relations.
        cosines: Of texts.
    """

    def __init__(
        self, content: Sequence[Word], profiles: Sequence[RelationProfile], cosines: Cosines, /
    ) -> None:
        self.content = content
        self.profiles = profiles
        self._own = [stems_of(words(profile.label)) for profile in profiles]
        self._column = {profile.id: column for column, profile in enumerate(profiles)}
        self.fits: Float64 = np.zeros((len(content), len(profiles)))
        if content and profiles:
            near = cosines([word.text for word in content], [each.label for each in profiles])
            least = np.full(near.shape, _LEAST_COSINE)
            for row, word in enumerate(content):
                for column, profile in enumerate(profiles):
                    if word.is_verb and verbs_of(profile.label):
                        least[row, column] = CONSTRAINT_RULES.same_verb
            self.fits = np.where(near >= least, np.minimum(near, 0.6), 0.0)
        for row, word in enumerate(content):
            for column, profile in enumerate(profiles):
                fit = word_fit(word.text, profile.label)
                if word.is_verb and says(verb_root(word.text), profile.label):
                    fit = max(fit, _KNOWN)
                self.fits[row, column] = max(self.fits[row, column], fit)

    def speaks_of(
        self, row: int, relation_ids: Iterable[str], /, *, least: float = LEAST_FIT
    ) -> bool:
        """Returns whether a word speaks of any of some relations, so well at least."""
        columns = [self._column[id_] for id_ in relation_ids if id_ in self._column]
        return bool((self.fits[row, columns] >= least).any())

    def local(self, rows: Sequence[int], /) -> dict[str, float]:
        """Returns how well some words together fit each relation by id; those that they do not
        speak of are absent.
        """
        scores: dict[str, float] = {}
        if not len(rows):
            return scores
        roots = {root(self.content[row].text) for row in rows}
        for column, profile in enumerate(self.profiles):
            fits = np.sort(self.fits[list(rows), column])[::-1]
            if fits[0] < LEAST_FIT:
                continue
            own = self._own[column]
            share = len(own & roots) / len(own) if own & roots else 0.5
            total = float(fits[0]) + 0.25 * float(fits[1:].sum())
            scores[profile.id] = round(total * (0.6 + 0.4 * share), 4)
        return scores


def word_root(word: str, /) -> str:
    """Returns the stem of a word of a question, of an adverb that of its adjective.

    >>> word_root("remotely") == word_root("remote")
    True
    """
    return root(word.removesuffix("ly") if len(word) > len("early") else word)


def word_fit(word: str, label: str, /) -> float:
    """Returns how well a word of a question fits a relation by its label; 0 if it says nothing of it.

    >>> word_fit("floors", "floors"), word_fit("people", "population"), word_fit("flats", "floors")
    (1.0, 0.9, 0.0)
    """
    own = stems_of(words(label))
    stem = word_root(word)
    if stem in own:
        return OWN_WORD
    if is_meant(stem, label):
        return _MEANING
    return _KNOWN if any(stem in side.words for side in sides_of(label)) else 0.0
