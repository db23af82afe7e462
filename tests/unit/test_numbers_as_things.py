"""Things whose names are numbers, as the years of a graph that has no values (B13)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import retrieve

from graph_service import Service, open_service
from graph_service.model.result import Status
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

TRIPLES = """Iron Tide	directed_by	Ann Lowe
Iron Tide	release_year	1987
Iron Tide	starred_actors	Ben Ash
Pale Moon	directed_by	Ann Lowe
Pale Moon	release_year	1990
Pale Moon	starred_actors	Cat Orr
Old Ferry	directed_by	Dov Hale
Old Ferry	release_year	1990
Old Ferry	starred_actors	Ben Ash
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("films")
    source = folder / "films.tsv"
    source.write_text(TRIPLES)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(source, store=store, graph="films")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="films"
        )
        with open_service(store, settings=settings) as service:
            yield service


@pytest.mark.parametrize(
    ("question", "year"),
    [
        ("when was Iron Tide released", "1987"),
        ("what was the release year of Pale Moon", "1990"),
        ("when was the film Old Ferry released", "1990"),
    ],
)
def test_years_that_are_things_are_no_rows(service: Service, question: str, year: str) -> None:
    result = retrieve(service, question)

    assert result.status is Status.OK
    assert result.items[0].steps[-1].triple.value_label == year
