"""Wikidata as it was and as it is, for loads that read what changed in between."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from sparql_server import SparqlServer, truthy_store
from wikibase_documents import Edge, documents_of


def world_of(edges: Iterable[Edge], *, names: Iterable[str] = ()) -> dict[str, Any]:
    """Documents that hold edges, each as a statement whose id follows from it."""
    documents = documents_of(edges, names=names)
    for id_, document in documents.items():
        for property_, claims in document["claims"].items():
            for claim in claims:
                value = claim["mainsnak"]["datavalue"]["value"]["id"]
                told = f"{id_} {property_} {value} {claim['rank']}"
                claim["id"] = f"{id_}${str(uuid.uuid5(uuid.NAMESPACE_URL, told)).upper()}"
    return documents


def edited(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Documents of a later state, at a new revision where they differ from before."""
    later = copy.deepcopy(dict(after))
    for id_, document in later.items():
        was = before.get(id_)
        if isinstance(document, dict) and isinstance(was, dict):
            same = {**document, "lastrevid": was["lastrevid"]} == was
            document["lastrevid"] = was["lastrevid"] + (not same)
    return later


def turn_to(server: SparqlServer, documents: Mapping[str, Any]) -> None:
    """Makes a server tell another state."""
    server.store, server.documents = truthy_store(documents), dict(documents)
    server.requests.clear()


def documents_asked(server: SparqlServer) -> set[str]:
    """The entities whose whole documents were asked for since."""
    return {
        id_
        for one in server.requests
        if "claims" in one.parameters.get("props", "")
        for id_ in one.query.split("|")
    }
