"""Questions of two steps whose relations their words say badly: the steps are walked all the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import retrieve

from graph_service import Service, open_service
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions

PLAYERS = {
    "Mat Bolt": ("Forward", "Ajax Town", "Norway"),
    "Rik Rode": ("Forward", "Porto City", "Chile"),
    "Al Aqui": ("Midfielder", "Ajax Town", "Chile"),
    "Ed Arev": ("Forward", "Leeds Rovers", "Peru"),
}
CLUBS = {"Ajax Town": "Ghana", "Porto City": "Japan", "Leeds Rovers": "Chile"}
_RELATIONS = ("plays_position", "plays_in_club", "plays_for_country")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("players")
    triples = [
        (name, relation, value)
        for name, values in PLAYERS.items()
        for relation, value in zip(_RELATIONS, values, strict=True)
    ]
    triples += [(club, "is_in_country", country) for club, country in CLUBS.items()]
    file = folder / "players.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in triples), encoding="utf-8")
    settings = Settings(vectors=str(folder / "vectors.db"), graph="players", read_timeout_s=300.0)
    options = LoadOptions(format="tsv", columns=("head", "relation", "tail"), header=False)
    with open_store(f"sqlite:///{folder / 'graph.db'}") as store:
        load(file, store=store, graph="players", options=options)
        with open_service(store, settings=settings) as opened:
            yield opened


@pytest.mark.parametrize(
    ("question", "relations"),
    [
        # No player who has the same position is where the team is based.
        (
            "Where is the team that Mat Bolt turns out for based?",
            ["plays_in_club", "is_in_country"],
        ),
        # The cross-encoder knows no such question, and still tells which line fits it better.
        ("Who are Mat Bolt's team mates at club level?", ["plays_in_club", "plays_in_club"]),
    ],
)
def test_the_first_path_has_all_steps(
    service: Service, question: str, relations: list[str]
) -> None:
    steps = retrieve(service, question).items[0].steps
    assert [step.triple.relation.id for step in steps] == relations
