"""W3C's RDF 1.1 and 1.2 suites: what our readers make of each test, beside what W3C expects.

The quads that reach the mapper are compared with the expected ones, and every test that must fail
must be a reject. ``differences.toml`` lists the tests that differ, each group with its reason; a
test that differs and is not listed fails the suite, and so does one that is listed and agrees.
"""

from __future__ import annotations

import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox
import pytest

from graph_service.errors import GraphServiceError
from loaders import readers
from loaders.formats import Format
from loaders.options import LoadOptions
from loaders.rdf.mapping import Mapper
from loaders.source import open_source

pytestmark = pytest.mark.data

ARCHIVE = "w3c_rdf_tests.tar.xz"
SUITES = [
    *(f"rdf11/rdf-{name}" for name in ("n-triples", "n-quads", "turtle", "trig", "xml")),
    *(f"rdf12/rdf-{name}/syntax" for name in ("n-triples", "n-quads", "turtle", "trig")),
    *(f"rdf12/rdf-{name}/eval" for name in ("turtle", "trig", "xml")),
]
FORMATS = {
    ".nt": Format.NTRIPLES,
    ".nq": Format.NQUADS,
    ".ttl": Format.TURTLE,
    ".trig": Format.TRIG,
    ".rdf": Format.RDF_XML,
}
EXPECTED_FORMATS = {".nt": ox.RdfFormat.N_TRIPLES, ".nq": ox.RdfFormat.N_QUADS}
ADDRESS = "http://manifest.example/"
TESTS = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    SELECT ?type ?name ?action ?result WHERE {
      ?test a ?type ; mf:name ?name ; mf:action ?action OPTIONAL { ?test mf:result ?result }
    } ORDER BY ?name"""
BASE = """
    PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
    SELECT ?base WHERE { ?manifest mf:assumedTestBase ?base }"""
ACCEPTED, REJECTED, SILENT = "accepted", "rejected", "other triples"


@dataclass(frozen=True)
class Test:
    """A test of a manifest; ``result`` is None where the syntax alone is tested."""

    __test__ = False

    name: str
    must_fail: bool
    action: Path
    base: str
    result: Path | None


@pytest.fixture(scope="session")
def suites(tmp_path_factory: pytest.TempPathFactory, data_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("w3c")
    with tarfile.open(data_dir / ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "rdf"


def bound(solutions: object) -> Iterator[dict[str, str]]:
    assert isinstance(solutions, ox.QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    for solution in solutions:
        yield {name: solution[name].value for name in names if solution[name] is not None}


def entries_of(folder: Path) -> Iterator[Test]:
    store = ox.Store()
    store.load((folder / "manifest.ttl").read_bytes(), format=ox.RdfFormat.TURTLE, base_iri=ADDRESS)
    base = next((row["base"] for row in bound(store.query(BASE))), ADDRESS)
    for row in bound(store.query(TESTS)):
        action = row["action"].removeprefix(ADDRESS)
        result = row.get("result", "").removeprefix(ADDRESS)
        yield Test(
            row["name"],
            "Negative" in row["type"],
            folder / action,
            base + action,
            folder / result if result else None,
        )


def canonical(quads: list[ox.Quad]) -> ox.Dataset:
    dataset = ox.Dataset(quads)
    dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def difference(test: Test, quads: list[ox.Quad]) -> str:
    """Returns how our reading differs from W3C's; "" if it does not."""
    quads.clear()
    options = LoadOptions(base_iri=test.base)
    rejects = 0
    try:
        with open_source(test.action) as source:
            for parsed in readers.read(FORMATS[test.action.suffix], source, options, {}):
                rejects += len(parsed.rejects)
                assert parsed.counts.rejected <= len(parsed.rejects)
    except GraphServiceError:
        rejects += 1
    if test.must_fail:
        return "" if rejects else ACCEPTED
    if rejects:
        return REJECTED
    if test.result is None:
        return ""
    format_ = EXPECTED_FORMATS[test.result.suffix]
    expected = list(ox.parse(test.result.read_bytes(), format=format_))
    return "" if canonical(quads) == canonical(expected) else SILENT


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_differs_only_where_it_is_said(
    suites: Path, suite: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quads: list[ox.Quad] = []
    add = Mapper.add

    def recording(mapper: Mapper, quad: ox.Quad, /) -> None:
        quads.append(quad)
        add(mapper, quad)

    monkeypatch.setattr(Mapper, "add", recording)
    listed = tomllib.loads(Path(__file__).with_name("differences.toml").read_text())
    expected = {
        name: group["outcome"]
        for group in listed["group"]
        for name in group["tests"].get(suite, ())
    }
    outcomes = [(test.name, difference(test, quads)) for test in entries_of(suites / suite)]
    differing = {name: outcome for name, outcome in outcomes if outcome}
    print(f"{suite}: {len(outcomes)} tests, {len(differing)} differ")
    assert len(outcomes) > 5
    assert differing == expected


def test_every_group_of_differences_has_a_reason() -> None:
    listed = tomllib.loads(Path(__file__).with_name("differences.toml").read_text())
    for group in listed["group"]:
        assert len(group["reason"]) > 40
        assert group["outcome"] in (ACCEPTED, REJECTED, SILENT)
        assert set(group["tests"]) <= set(SUITES)
