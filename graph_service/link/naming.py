"""Whether words that are a name in the graph are meant as one in a question."""

from __future__ import annotations

import numpy as np

from graph_service.link.lexicon import degrees_of
from graph_service.link.question import is_content, join_atoms
from graph_service.link.question_context import QuestionContext
from graph_service.link.spans import Certainty
from graph_service.model.graph import Int32, labels_of
from graph_service.text.function_words import FUNCTION_WORDS


class NameClassifier:
    """Whether words that are a name in the graph are meant as one in this question."""

    def __init__(self, reading: QuestionContext) -> None:
        self._reading = reading
        self._proper: dict[str, bool] = {}

    def certainty(self, left: int, right: int, nodes: Int32, entities: bool, /) -> Certainty:
        """Returns how sure it is that atoms ``left`` to ``right`` are meant as a name.

        Args:
            left: Place among the atoms.
            right: Place behind the last.
            nodes: What has that name.
            entities: Whether any of those is an entity, and not only a property.
        """
        reading = self._reading
        atoms = reading.atoms[left:right]
        content = [atom for atom in atoms if is_content(atom)]
        if not content:
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
            alone = len(atoms) == 1 and atoms[0].alone and not atoms[0].cased
            return (
                Certainty.COMMON if alone and atoms[0].text not in FUNCTION_WORDS else Certainty.NO
            )
        if not entities:
            return Certainty.PLAIN
        if all(atom.text.isdigit() for atom in atoms):
            return Certainty.COMMON
        name = join_atoms(atoms)
        plain = name in reading.lexicon.relation_names or all(
            reading.lexicon.is_plain(atom.text) for atom in content
        )
        noun = Certainty.PLAIN if plain else Certainty.COMMON
        if not any(atom.cased for atom in content):
            if name in FUNCTION_WORDS or len(name) < 2:
                return Certainty.NO
            return Certainty.PLAIN if plain else Certainty.SPOKEN
        if reading.writes_capitals:
            if any(atom.capital and not atom.first for atom in content):
                begun = len(atoms) == 1 and reading.begins_run(left, right)
                # ``Republic`` of a Roman Republic that the graph lacks.
                ended = reading.ends_run(left, right) and not self._is_proper(name, nodes)
                return noun if begun or ended else Certainty.WRITTEN
            if content[0].capital:
                # The first word of a sentence: the graph says whether it is a proper name.
                if len(atoms) == 1 and (reading.begins_run(left, right) or plain):
                    return noun
                proper = self._is_proper(name, nodes)
                return Certainty.WRITTEN if proper else noun
            several = len(content) > 1
            proper = several and self._is_proper(name, nodes)
            return Certainty.SPOKEN if proper else noun
        if plain:
            return noun
        proper = self._is_proper(name, nodes)
        return Certainty.SPOKEN if proper else noun

    def _is_proper(self, name: str, nodes: Int32) -> bool:
        """Returns whether the graph writes a name with a capital, or with none in any script.

        English goes first, for German writes all nouns so.
        """
        known = self._proper.get(name)
        if known is None:
            known = self._proper[name] = self._find_proper(nodes)
        return known

    def _find_proper(self, nodes: Int32) -> bool:
        graph = self._reading.graph
        most = self._reading.rules.proper_entities
        best = np.argsort(-degrees_of(graph, nodes), kind="stable")[:most]
        languages = ("en", "mul", *self._reading.languages)
        shown = labels_of(graph.node_labels, nodes[best], languages)
        for label in shown:
            if label is None:
                return True
            if label != label.lower() or label.upper() == label:
                return True
        return False
