"""Names of relations and kinds, embedded before a question needs them.

A first question on a graph needs the names of all relations around its entity, up to two thousand
tokens. They are the same for every question, so a server embeds them when it has nothing else to
do. Texts that depend on the question's region stay in the question's path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity
from graph_service.retrieve.context import Encode
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.known_relations import common_names
from graph_service.retrieve.learned.relation_names import NameRelations
from graph_service.text.fold import relation_words

MAX_RELATIONS = 10_000
"""Relations of a graph whose names are embedded, the first by key: of MiniLM about three minutes of
a core. What questions need beside them they embed themselves."""
_TEXTS_A_BATCH = 32
_RELATIONS_A_BATCH = 8
"""With five names each about as many texts: the time of one batch is what a question may wait."""


@dataclass(frozen=True, slots=True)
class EmbeddedNames:
    """How many relations of a graph have vectors of all their names.

    Attributes:
        edition: Of the graph.
        done: Of its relations.
        total: How many are to be embedded.
    """

    edition: str
    done: int
    total: int


def embed_names(
    info: GraphInfo,
    relations: Sequence[Entity],
    /,
    *,
    languages: Sequence[str],
    encode: Encode,
    name_relations: NameRelations | None,
) -> Iterator[EmbeddedNames]:
    """Embeds the names of some relations, batch by batch; yields before the first and after each.

    Args:
        info: Of the graph.
        relations: Of the graph.
        languages: Of labels, best first.
        encode: Texts to unit vectors.
        name_relations: Gives relations all their names; None where labels alone are compared.
    """
    total = len(relations)
    yield EmbeddedNames(info.edition, 0, total)
    texts = (*KINDS, *(common_names() if name_relations is not None else ()))
    for start in range(0, len(texts), _TEXTS_A_BATCH):
        encode(texts[start : start + _TEXTS_A_BATCH])
        yield EmbeddedNames(info.edition, 0, total)
    for start in range(0, total, _RELATIONS_A_BATCH):
        batch = relations[start : start + _RELATIONS_A_BATCH]
        labels = [relation_label(relation, languages) for relation in batch]
        if name_relations is None:
            encode(labels)
        else:
            name_relations([relation.id for relation in batch], labels, encode)
        yield EmbeddedNames(info.edition, start + len(batch), total)


def relation_label(relation: Entity, languages: Sequence[str], /) -> str:
    """Returns the words of a relation, as retrieval has them (``Labels.relations``)."""
    order = (*languages, "mul", "en", *sorted(relation.labels))
    label = next((relation.labels[tag] for tag in order if relation.labels.get(tag)), "")
    return relation_words(label or relation.id) or relation.id
