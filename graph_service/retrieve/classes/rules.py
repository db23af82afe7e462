"""The numbers of questions about a class."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ClassRules:
    """The numbers of it.

    Attributes:
        mentions: Classes that a question names at most, the first ones.
        later_mention: Off the score of queries about each class named later.
        unread: Off the score for each content word that nothing takes up.
        gap: By how much the best fits better than a query of another answer, to be sure.
        near: Other queries that are answered, the next ones.
        sure, doubtful: Confidence in an answer that is sure, and in one that is not.
        demonym: Off the score of an entity that is named by what people and things of it are called.
        bridged: Instances, and entities between, at most, where a further entity is looked for.
        implied: Classes that *who* may mean, the largest ones.
        no_people: Off the score of a class that is less like people than like things, where *who* has
            the most of something, and another class is of people.
        implied_relations: Relations of their instances, after which no further class is read.
        labels: Of things that are looked at, to tell whether they may be people.
        well_known: Statements from which on a name is surely meant as one.
        implied_statements: Of a graph at most in which *who* is read as people of a class.
    """

    mentions: int = 2
    later_mention: float = 0.4
    unread: float = 0.6
    gap: float = 0.25
    near: int = 6
    sure: float = 0.9
    doubtful: float = 0.3
    demonym: float = 0.1
    bridged: int = 2_000
    implied: int = 24
    no_people: float = 0.3
    implied_relations: int = 60
    labels: int = 50
    well_known: int = 10
    implied_statements: int = 2_000_000

    def parameters(self) -> dict[str, float]:
        """Returns the numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


CLASS_RULES = ClassRules()
