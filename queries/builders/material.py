"""What builders take of a graph: statements that inform, found by name or drawn, and their print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.client import Client
from graph_service.model.result import EntityRef, Triple
from graph_service.model.values import EntityValue, Iri, NoValue, SomeValue, StringValue
from graph_service.sampling import NonInformative
from graph_service.text.fold import fold
from queries.generate.citations import one_line
from queries.score.case import triple_line
from queries.score.matching import names

MOST_STATEMENTS = 1000
"""Of one entity; more are not asked for."""
_MOST_NAMESAKES = 100


@dataclass(frozen=True, slots=True)
class GraphMaterial:
    """A graph that builders read, and how often it uses its relations.

    Attributes:
        client: Reaches it.
        graph: Its name.
        language: Of labels.
        statements: Of the whole graph.
        uses: Statements by relation id.
        dropped: Relations and data types that inform nobody.
    """

    client: Client
    graph: str
    language: str
    statements: int
    uses: Mapping[str, int]
    dropped: NonInformative

    def namesakes(self, name: str, /) -> tuple[EntityRef, ...]:
        """Returns the entities whose label or alias is a name, letter case and accents aside."""
        folded = fold(name)
        hits = self.client.search(
            name, graph=self.graph, languages=(self.language,), limit=_MOST_NAMESAKES
        )
        entities = {hit.item.id: hit.item for hit in hits if fold(hit.matched) == folded}
        return tuple(entities[id_] for id_ in sorted(entities))

    def statements_of(self, id_: str, /, *, relation_id: str | None = None) -> tuple[Triple, ...]:
        """Returns the statements that an entity heads, of one relation or of all, by their ids."""
        statements = self.client.statements(
            id_,
            graph=self.graph,
            relation_id=relation_id,
            languages=(self.language,),
            limit=MOST_STATEMENTS,
        )
        return tuple(
            sorted((item.triple for item in statements), key=lambda triple: triple.statement_id)
        )

    def informs(self, triple: Triple, /) -> bool:
        """Returns whether a statement tells a reader something: a value with a name, no external id."""
        value = triple.value
        if self.dropped.drops(triple.relation.id) or isinstance(value, SomeValue | NoValue):
            return False
        if isinstance(value, EntityValue):
            return bool(one_line(triple.value_label)) and triple.value_label != value.id
        if isinstance(value, Iri):
            return "url" not in self.dropped.datatypes
        if isinstance(value, StringValue) and value.datatype in self.dropped.datatypes:
            return False
        return bool(one_line(triple.value_label))


def numbered_facts(triples: Sequence[Triple], /) -> str:
    """Returns statements one a line, numbered from 1."""
    return "\n".join(f"{index}. {triple_line(triple)}" for index, triple in enumerate(triples, 1))


def names_any(text: str, labels: Sequence[str], /) -> bool:
    """Returns whether a text names one of some labels, as knowledge scores tell it."""
    return any(names(text, label) for label in labels)
