"""Whether words that are a name in the graph are meant as one in a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.link.question import are_initials, is_content, is_letter_code, join_atoms
from graph_service.link.question_context import QuestionContext
from graph_service.link.spans import Certainty
from graph_service.model.graph import Bool, Int32, labels_of
from graph_service.text.function_words import FUNCTION_WORDS
from graph_service.text.relation_phrases import asking_words


class NameClassifier:
    """Whether words that are a name in the graph are meant as one in this question."""

    def __init__(self, reading: QuestionContext) -> None:
        self._reading = reading

    def certainty(
        self, left: int, right: int, nodes: Int32, is_alias: Bool, entities: bool, /
    ) -> Certainty:
        """Returns how sure it is that atoms ``left`` to ``right`` are meant as a name.

        Args:
            left: Place among the atoms.
            right: Place behind the last.
            nodes: What has that name.
            is_alias: For each of these whether no label is that name.
            entities: Whether any of those is an entity, and not only a property.
        """
        reading = self._reading
        atoms = reading.atoms[left:right]
        content = [atom for atom in atoms if is_content(atom)]
        if not content:
            return self._certainty_without_content(left, right)
        if not entities:
            return Certainty.PLAIN
        if all(atom.text.isdigit() for atom in atoms):
            amount = reading.amounts.issuperset(range(left, right))
            return Certainty.NO if amount else Certainty.COMMON
        name = join_atoms(atoms)
        plain = reading.lexicon.is_plain_name(name, (atom.text for atom in content))
        noun = Certainty.PLAIN if plain else Certainty.COMMON
        if not any(atom.cased for atom in content):
            if name in FUNCTION_WORDS or len(name) < 2:
                return Certainty.NO
            return Certainty.PLAIN if plain else Certainty.PROPER
        if reading.writes_capitals:
            if any(atom.capital and not atom.first for atom in content):
                begun = len(atoms) == 1 and reading.begins_run(left, right)
                # ``Republic`` of a Roman Republic that the graph lacks.
                ended = reading.may_be_last_name(left, right) and not self._is_proper(nodes)
                return noun if begun or ended else Certainty.WRITTEN
            if content[0].capital:
                # The first word of a sentence: the graph says whether it is a proper name.
                if len(atoms) == 1 and (reading.begins_run(left, right) or plain):
                    return noun
                return Certainty.WRITTEN if self._is_proper(nodes) else noun
            several = len(content) > 1
            return Certainty.PROPER if several and self._is_proper(nodes) else noun
        if plain:
            return noun
        if len(atoms) == 1 and not atoms[0].capital and name in asking_words():
            # Neither an airport that is called KIND nor a label WIN makes a name of such a word.
            proper = self._is_proper(nodes[~is_alias], shouted=False)
        else:
            proper = self._is_proper(nodes)
        return Certainty.PROPER if proper else noun

    def _certainty_without_content(self, left: int, right: int) -> Certainty:
        """Returns how sure it is that function words, letters or digits are meant as a name."""
        reading = self._reading
        atoms = reading.atoms[left:right]
        # ``It`` and ``Because of You`` are names where the first and last word have a capital
        # that no sentence asks for; a single character of a script without spaces only where
        # it stands alone.
        written = (
            atoms[0].capital
            and atoms[-1].capital
            and any(atom.capital and not atom.first and atom.text != "i" for atom in atoms)
        )
        if written and reading.writes_capitals:
            return Certainty.WRITTEN
        if is_letter_code(atoms):
            return Certainty.WRITTEN if atoms[0].capital else Certainty.COMMON
        if are_initials(atoms):
            # Of ``U.N.O.`` the first two are no name.
            if any(
                are_initials(reading.atoms[first:last])
                for first, last in _longer(left, right, len(reading.atoms))
            ):
                return Certainty.NO
            shown = all(atom.capital for atom in atoms)
            return Certainty.WRITTEN if shown else Certainty.COMMON
        alone = len(atoms) == 1 and atoms[0].alone and not atoms[0].cased
        return Certainty.COMMON if alone and atoms[0].text not in FUNCTION_WORDS else Certainty.NO

    def _is_proper(self, nodes: Int32, *, shouted: bool = True) -> bool:
        """Returns whether the graph writes any of some entities with a capital, or in a script
        that has none.

        English goes first, for German writes all nouns so. A label all in capitals counts only
        if ``shouted``.
        """
        graph = self._reading.graph
        most = self._reading.rules.proper_entities
        share = self._reading.rules.proper_share
        degrees = graph.degrees_of(nodes)
        best = np.argsort(-degrees, kind="stable")[:most]
        # A band that is called Baseball makes no name of the game.
        best = best[(1 + degrees[best]) >= share * (1 + degrees[best[:1]])]
        languages = ("en", "mul", *self._reading.languages)
        shown = labels_of(graph.node_labels, nodes[best], languages)
        for label in shown:
            if label is None or (shouted if label.upper() == label else label != label.lower()):
                return True
        return False


def _longer(left: int, right: int, count: int) -> Sequence[tuple[int, int]]:
    """Returns the runs among some atoms that are longer than one by an atom before or behind it."""
    runs = ((left - 1, right), (left, right + 1))
    return [(first, last) for first, last in runs if first >= 0 and last <= count]
