"""A question as read against one graph: its words, its capitals, and every run of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.link.lexicon import Lexicon, lexicon_of
from graph_service.link.quantities import quantities
from graph_service.link.question import Atom, find_runs, is_content, read_atoms, writes_capitals
from graph_service.link.rules import LINKING_RULES, LinkingRules
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.overlay import Overlay
from graph_service.text.function_words import FUNCTION_WORDS


@dataclass(frozen=True, slots=True, eq=False)
class QuestionContext:
    """A question and what all steps of linking it look at.

    Attributes:
        question: As written.
        graph: Whose names are looked up.
        languages: Of the names shown, best first.
        overlay: The view whose edges decide between entities of one name.
        lexicon: Of the graph.
        atoms: The question's words, in order.
        writes_capitals: Whether capitals tell names in it.
        runs: Every run of atoms that can be a name, by its normal form: ``(left, right)``.
        rules: The numbers that decide.
        amounts: Places of the atoms that are numbers of an amount (``over 100``).
    """

    question: str
    graph: KnowledgeGraph
    languages: tuple[str, ...]
    overlay: Overlay | None
    lexicon: Lexicon
    atoms: tuple[Atom, ...]
    writes_capitals: bool
    runs: Mapping[str, Sequence[tuple[int, int]]]
    rules: LinkingRules
    amounts: frozenset[int]

    def begins_run(self, _left: int, right: int, /) -> bool:
        """Returns whether a capitalised word follows at once: a first name, not the whole name."""
        if right >= len(self.atoms):
            return False
        after = self.atoms[right]
        return (
            after.near and after.capital and not after.unspaced and after.text not in FUNCTION_WORDS
        )

    def may_be_last_name(self, left: int, right: int, /) -> bool:
        """Returns whether one word has a capitalised one before it: perhaps a last name alone."""
        if right - left != 1 or left == 0 or not self.writes_capitals:
            return False
        before, here = self.atoms[left - 1], self.atoms[left]
        return (
            here.near
            and here.capital
            and not here.unspaced
            and before.capital
            and not before.first
            and is_content(before)
        )


def read(
    question: str,
    graph: KnowledgeGraph,
    /,
    *,
    languages: Sequence[str] = (),
    overlay: Overlay | None = None,
    rules: LinkingRules = LINKING_RULES,
) -> QuestionContext:
    """Returns a question as read against a graph."""
    atoms = tuple(read_atoms(question))
    lexicon = lexicon_of(graph)
    return QuestionContext(
        question=question,
        graph=graph,
        languages=tuple(languages),
        overlay=overlay,
        lexicon=lexicon,
        atoms=atoms,
        writes_capitals=writes_capitals(atoms),
        runs=find_runs(atoms, graph.names.longest),
        rules=rules,
        amounts=quantities(question, atoms, lexicon.relation_words),
    )
