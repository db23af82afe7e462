"""The numbers that decide which entities a question names, in one frozen value.

They stand in the provenance of every result. Numbers that stand elsewhere only bound work, far
beyond any real question or name, and say so where they stand: runs and forms looked up, homonyms
and neighbours compared, respelt runs, labels in the index of spellings. The lists of words and
endings (``function_words``, ``inflection``) are grammar, not numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class LinkingRules:
    """How sure a mention is, which entity it means, and what may be a slip of the pen.

    Attributes:
        written, spoken, common, plain: Confidence in a mention by how sure it is that its words
            are meant as a name (``Certainty``).
        form_weight: Factor of the confidence in a name that is listed in another form.
        slip_weight: Factor for each letter by which the spelling differs.
        part_weight: Factor for what may be a part of a longer name.
        match_factor: By how much an entity is less likely for each neighbour fewer whose value
            stands in the question.
        shorter_factor: Factor of an entity whose values that stand in the question are shorter.
        as_written_factor: Factor of an entity whose label is written just as in the question.
        label_factor: Factor of an entity that has the name as a label, not as an alias only.
        degree_power: Of an entity's share of statements, which these factors are weighed against:
            by a half, a label outweighs four times as many statements.
        slip_letters, two_slips_letters: Letters from which on a name may have one slip, and two;
            a word may have two from as many on.
        rare: A word that no more labels have says on its own whom a name means.
        window_words, window_letters: Most words and least letters of a misspelt name in a question
            without capitals.
        form_words: Most words of a run that is tried in other forms.
        described_words: Most words from an adjective with a capital to the noun that it describes.
        proper_entities: Entities of a name whose labels tell whether it is a proper name, those of
            the highest degree.
        proper_share: An entity of a smaller share of the statements of the highest degree tells
            nothing of that.
        max_alternatives: How many runners-up a mention keeps.
        version: Of the rules themselves, which are no numbers: 2 since names are tried in other
            spellings and amounts are no names.
    """

    written: float = 1.0
    spoken: float = 0.9
    common: float = 0.5
    plain: float = 0.25
    form_weight: float = 0.9
    slip_weight: float = 0.8
    part_weight: float = 0.5
    match_factor: float = 4.0
    shorter_factor: float = 0.5
    as_written_factor: float = 2.5
    label_factor: float = 2.0
    degree_power: float = 0.5
    slip_letters: int = 5
    two_slips_letters: int = 9
    rare: int = 10
    window_words: int = 4
    window_letters: int = 9
    form_words: int = 4
    described_words: int = 3
    proper_entities: int = 5
    proper_share: float = 0.3
    max_alternatives: int = 5
    version: int = 2

    def parameters(self) -> dict[str, float]:
        """Returns the numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


LINKING_RULES = LinkingRules()
