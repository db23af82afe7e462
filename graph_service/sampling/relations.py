"""The list of relations that a sample leaves out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import Iri, StringValue, stored_value

DEFAULT_RELATIONS = Path(__file__).with_name("non_informative.txt")
_DATATYPE = "datatype:"


@dataclass(frozen=True, slots=True)
class NonInformative:
    """What is left out.

    Attributes:
        ids: Relation ids.
        prefixes: Beginnings of relation ids.
        datatypes: Wikibase data types of values, such as ``external-id``.
    """

    ids: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    datatypes: frozenset[str] = frozenset()

    def drops(self, relation: str, /) -> bool:
        """Returns whether all statements of a relation go."""
        return relation in self.ids or relation.startswith(self.prefixes)

    def drops_value(self, encoded: str, /) -> bool:
        """Returns whether a literal goes because of its data type."""
        value = stored_value(encoded)
        if isinstance(value, Iri):
            return "url" in self.datatypes
        return isinstance(value, StringValue) and value.datatype in self.datatypes


def read_relations(path: Path | str = DEFAULT_RELATIONS, /) -> NonInformative:
    """Returns the list of a file; lines that begin with ``#`` say nothing.

    Raises:
        InputError: The file can't be read, or a line is more than one word.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the list of relations {path} can't be read ({error})", argument="drop_relations"
        ) from error
    ids: set[str] = set()
    prefixes: set[str] = set()
    datatypes: set[str] = set()
    for at_line, line in enumerate(lines, 1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if len(word.split()) > 1:
            raise InputError(
                f"{path}, line {at_line}: expected one relation, got {word[:80]!r}",
                argument="drop_relations",
            )
        if word.startswith(_DATATYPE):
            datatypes.add(word[len(_DATATYPE) :])
        elif word.endswith("*"):
            prefixes.add(word[:-1])
        else:
            ids.add(normalise_entity_id(word))
    return NonInformative(frozenset(ids), tuple(sorted(prefixes)), frozenset(datatypes))
