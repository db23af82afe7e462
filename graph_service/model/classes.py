"""Which relations say that an entity is an instance of a class, and a class a subclass of another."""

from __future__ import annotations

WIKIDATA_INSTANCE_OF = "P31"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
INSTANCE_RELATIONS = frozenset((WIKIDATA_INSTANCE_OF, RDF_TYPE))
SUBCLASS_RELATIONS = frozenset(("P279", "http://www.w3.org/2000/01/rdf-schema#subClassOf"))
