"""DBpedia's dumps: ontology, objects, literals, names, redirects, links (S1, O13)."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from graph_service.cli import main
from graph_service.model.statement import EntityKind
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions

DBO, DBR = "http://dbpedia.org/ontology/", "http://dbpedia.org/resource/"
RDFS, OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

ONTOLOGY = f"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="{RDFS}" xmlns:owl="{OWL}">
  <owl:Class rdf:about="{DBO}Writer">
    <rdfs:label xml:lang="en">writer</rdfs:label><rdfs:label xml:lang="fr">écrivain</rdfs:label>
    <rdfs:subClassOf rdf:resource="{DBO}Person"/>
  </owl:Class>
  <owl:ObjectProperty rdf:about="{DBO}birthPlace">
    <rdfs:label xml:lang="en">birth place</rdfs:label>
    <rdfs:domain rdf:resource="{DBO}Person"/><rdfs:range rdf:resource="{DBO}Place"/>
  </owl:ObjectProperty>
</rdf:RDF>
"""
DUMPS = {
    "mappingbased-objects_lang=en.ttl": f"<{DBR}Douglas_Adams> <{DBO}birthPlace> <{DBR}Cambridge> .\n"
    f"<{DBR}Douglas_Adams> <{DBO}notableWork> <{DBR}H2G2> .\n",
    "mappingbased-literals_lang=en.ttl": f'<{DBR}Douglas_Adams> <{DBO}birthDate> "1952-03-11"^^<{XSD}date> .\n'
    f'<{DBR}Douglas_Adams> <{DBO}height> "1.96"^^<{XSD}double> .\n'
    f'<{DBR}Douglas_Adams> <{DBO}salary> "100.0"^^<http://dbpedia.org/datatype/poundSterling> .\n'
    f'<{DBR}Douglas_Adams> <http://xmlns.com/foaf/0.1/nick> "Bop"@en .\n',
    "instance-types_lang=en.ttl": f"<{DBR}Douglas_Adams> <{TYPE}> <{DBO}Writer> .\n",
    "labels_lang=en.ttl": f'<{DBR}Douglas_Adams> <{RDFS}label> "Douglas Adams"@en .\n'
    f'<{DBR}Cambridge> <{RDFS}label> "Cambridge"@en .\n',
    "labels_lang=fr.ttl": f'<{DBR}Douglas_Adams> <{RDFS}label> "Douglas Adams"@fr .\n',
    "short-abstracts_lang=en.ttl": f'<{DBR}Douglas_Adams> <{RDFS}comment> "An English writer."@en .\n',
    "redirects_lang=en.ttl": f"<{DBR}H2G2> <{DBO}wikiPageRedirects> <{DBR}The_Guide> .\n"
    f"<{DBR}Douglas_Noel_Adams> <{DBO}wikiPageRedirects> <{DBR}Douglas_Adams> .\n",
    "disambiguations_lang=en.ttl": f"<{DBR}Adams> <{DBO}wikiPageDisambiguates> <{DBR}Douglas_Adams> .\n",
    "interlanguage-links_lang=en.ttl": f"<{DBR}Douglas_Adams> <{OWL}sameAs> "
    "<http://fr.dbpedia.org/resource/Douglas_Adams> .\n",
    "wikidata-sameas.ttl": f"<{DBR}Douglas_Adams> <{OWL}sameAs> <http://www.wikidata.org/entity/Q42> .\n",
}


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for name, text in DUMPS.items():
        (folder / f"{name}.bz2").write_bytes(bz2.compress(text.encode()))
    (folder / "ontology.owl").write_text(ONTOLOGY)
    return folder


def loaded(store: Store, source: Path, **options: Any) -> dict[tuple[str, str], set[Value]]:
    rejects = source.parent / "rejects"
    report = load(
        source,
        store=store,
        graph="g",
        replace=True,
        options=LoadOptions(rejects_path=rejects, **options),
    )
    assert report.rejected == 0
    assert report.graph is not None
    found: dict[tuple[str, str], set[Value]] = {}
    for chunk in store.scan_statements(report.graph.edition):
        for one in chunk:
            found.setdefault((one.head, one.relation), set()).add(one.value)
    return found


def test_a_folder_of_dumps(tmp_store: Store, dumps: Path) -> None:
    found = loaded(tmp_store, dumps)
    adams = DBR + "Douglas_Adams"
    assert found[adams, DBO + "birthPlace"] == {EntityValue(DBR + "Cambridge")}
    assert found[adams, DBO + "birthDate"] == {Time("1952-03-11T00:00:00Z", 11)}
    assert found[adams, DBO + "height"] == {Quantity("1.96")}
    assert found[adams, DBO + "salary"] == {
        StringValue("100.0", "http://dbpedia.org/datatype/poundSterling")
    }
    assert found[adams, "http://xmlns.com/foaf/0.1/nick"] == {MonolingualText("Bop", "en")}
    assert found[adams, TYPE] == {EntityValue(DBO + "Writer")}
    assert found[DBR + "Adams", DBO + "wikiPageDisambiguates"] == {EntityValue(adams)}
    assert found[DBO + "Writer", RDFS + "subClassOf"] == {EntityValue(DBO + "Person")}
    assert found[DBO + "birthPlace", RDFS + "domain"] == {EntityValue(DBO + "Person")}
    assert found[DBO + "birthPlace", RDFS + "range"] == {EntityValue(DBO + "Place")}
    # Links and names are no statements.
    assert not any(relation.endswith(("sameAs", "label", "Redirects")) for _, relation in found)
    asked = ["Q42", "http://fr.dbpedia.org/resource/Douglas_Adams", DBR + "Douglas_Noel_Adams"]
    entities = tmp_store.entities("g@1", [*asked, DBO + "birthPlace", DBO + "Writer"]).entities
    assert {entities[id_].id for id_ in asked} == {adams}
    assert entities[adams if adams in entities else "Q42"].labels == {
        "en": "Douglas Adams",
        "fr": "Douglas Adams",
    }
    assert entities["Q42"].descriptions == {"en": "An English writer."}
    assert entities[DBO + "birthPlace"].kind is EntityKind.PROPERTY
    assert entities[DBO + "birthPlace"].labels == {"en": "birth place"}
    assert entities[DBO + "Writer"].labels == {"en": "writer", "fr": "écrivain"}


def test_redirects_resolved_or_kept_as_names(tmp_store: Store, dumps: Path) -> None:
    adams, work = DBR + "Douglas_Adams", (DBR + "Douglas_Adams", DBO + "notableWork")
    assert loaded(tmp_store, dumps, redirects="alias")[work] == {EntityValue(DBR + "H2G2")}
    named = tmp_store.entities("g@1", [adams]).entities[adams]
    assert named.aliases == {"en": ("Douglas Noel Adams",)}
    assert loaded(tmp_store, dumps, redirects="resolve")[work] == {EntityValue(DBR + "The_Guide")}


def test_languages_of_a_load(tmp_store: Store, dumps: Path) -> None:
    loaded(tmp_store, dumps, languages=("fr",))
    writer = tmp_store.entities("g@1", [DBO + "Writer"]).entities[DBO + "Writer"]
    assert writer.labels == {"fr": "écrivain"}


def test_item_by_its_wikidata_id_on_the_command_line(
    tmp_path: Path, dumps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = f"sqlite:///{tmp_path / 'g.db'}"
    assert main(["load", str(dumps), "--graph", "dbpedia", "--store", store, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["item", "Q42", "--graph", "dbpedia", "--store", store, "--json"]) == 0
    assert DBR + "Douglas_Adams" in json.dumps(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("suffix", ["nt", "ttl"])
def test_the_ontology_is_one_in_every_notation(
    tmp_store: Store, tmp_path: Path, suffix: str
) -> None:
    import rdflib

    (tmp_path / "ontology.owl").write_text(ONTOLOGY)
    by_xml = loaded(tmp_store, tmp_path / "ontology.owl")
    other = tmp_path / f"ontology.{suffix}"
    graph = rdflib.Graph().parse(tmp_path / "ontology.owl", format="xml")
    graph.serialize(other, format={"nt": "nt", "ttl": "turtle"}[suffix], encoding="utf-8")
    assert loaded(tmp_store, other) == by_xml


@pytest.mark.data
def test_the_real_ontology_and_real_quads(tmp_store: Store, data_dir: Path) -> None:
    folder = data_dir / "dbpedia_extraction"
    report = load(folder / "dbpedia.owl.xz", store=tmp_store, graph="owl")
    assert report.formats == {"rdf-xml": 1}
    found = {
        (one.relation.rpartition("#")[2], one.head)
        for chunk in tmp_store.scan_statements("owl@1")
        for one in chunk
    }
    for relation, least in (("domain", 2000), ("range", 2000), ("subClassOf", 700)):
        assert sum(name == relation for name, _ in found) > least
    place = tmp_store.entities("owl@1", [DBO + "birthPlace"]).entities[DBO + "birthPlace"]
    assert (place.kind, place.labels["en"]) == (EntityKind.PROPERTY, "birth place")
    quads = load(folder / "extract_Bruges-gold.tql", store=tmp_store, graph="quads")
    assert quads.formats == {"nquads": 1}
    assert quads.graph is not None
    edition = quads.graph.edition
    contexts = {one.context for chunk in tmp_store.scan_statements(edition) for one in chunk}
    assert None not in contexts
    assert all("fr.wikipedia.org" in str(context) for context in contexts)
