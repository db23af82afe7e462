"""What the readers of a question about a class share: the question, and the graph in its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from graph_service.model.graph import Int64
from graph_service.query.enumeration import NamedThing
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.meanings import ClassMeaning
from graph_service.retrieve.classes.wording import Cosines
from graph_service.retrieve.labels import Labels


@dataclass(frozen=True, slots=True, eq=False)
class GraphReading:
    """A question, and what its readers know of the graph.

    Attributes:
        question: As asked.
        walker: Of the graph or view.
        labels: Of its nodes.
        relation_labels: Of its relations by id.
        cosines: Of texts.
        joined: Returns the entities that the question joins to the instances of a class.
        are_rows: Returns whether some nodes have codes for names, as rows of events have.
    """

    question: str
    walker: Walker
    labels: Labels
    relation_labels: Mapping[str, str]
    cosines: Cosines
    joined: Callable[[ClassMeaning, Int64], list[NamedThing]]
    are_rows: Callable[[Int64], bool]
