"""Other names of relations: what Wikidata calls *also known as*, read once for each graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.model.graph_info import GraphInfo
from graph_service.retrieve.learned.relation_names import RelationAliases
from graph_service.store.protocol import Store
from graph_service.text.fold import relation_words

_MOST = 20
"""Names kept of one relation in one language, the first by the alphabet."""
_LEAST_LETTERS = 3
_Names = Mapping[str, Mapping[str, tuple[str, ...]]]


class RelationAliasReader:
    """Reads the other names of relations. Thread-safe.

    Args:
        store: Where they are.
        memory: What is kept counts there.
    """

    def __init__(self, store: Store, /, *, memory: ByteBudget) -> None:
        self._store = store
        self._known: ByteCache[tuple[str, str], _Names] = ByteCache(memory, "relation names")

    def of(self, info: GraphInfo, languages: Sequence[str], /) -> RelationAliases:
        """Returns what gives the other names of a graph's relations in some languages."""
        key = (info.edition, info.fingerprints.content)
        names = self._known.get(key)
        if names is None:
            names = {
                relation.id: {
                    language: tuple(
                        relation_words(alias) for alias in aliases if len(alias) >= _LEAST_LETTERS
                    )[:_MOST]
                    for language, aliases in relation.aliases.items()
                }
                for relation in self._store.relations(info.edition)
                if relation.aliases
            }
            names = self._known.put(key, names, held_bytes(names))
        return partial(_aliases, names, tuple(dict.fromkeys((*languages, "mul"))))


def _aliases(
    names: _Names, languages: Sequence[str], ids: Sequence[str], /
) -> list[tuple[str, ...]]:
    return [
        tuple(alias for language in languages for alias in names.get(id_, {}).get(language, ()))
        for id_ in ids
    ]
