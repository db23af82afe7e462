"""Trained scorers in a store: stored with what they are worth, used by views (O10, O11, S4)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_line, raises

from graph_service import Service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.views.scorer import training as scorer_training
from graph_service.views.scorer.factorisation import Objective, Training

REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.3, random_seed=4)
DELETED = ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=4)
QUICK = (
    Training(dimension=16, epochs=4),
    Training(dimension=16, epochs=4, objective=Objective.BINARY),
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer_training, "training_for", lambda entities: QUICK)


def test_ats_is_taken_by_the_trained_scorer_once_there_is_one_o11(own_service: Service) -> None:
    counted = own_service.views.create(DELETED, name="thin")
    assert counted.deviation is not None
    assert counted.deviation.scorer == "counts"
    assert counted.deviation.scorer_accuracy is not None
    assert 0.5 < counted.deviation.scorer_accuracy <= 1.0
    stored = own_service.scorers.train(text=False)
    assert own_service.scorers.list() == [stored]
    assert (stored.described, stored.embedder, stored.stale) == (0, "", False)
    view = own_service.views.measured("thin")
    assert view.deviation is not None
    assert view.deviation.scorer == stored.name == f"trained:{stored.fingerprint}"
    assert view.deviation.scorer_accuracy == stored.quality.accuracy
    assert view.deviation.scorer_calibration_error == stored.quality.calibration_error
    assert view.deviation.sc2d == counted.deviation.sc2d
    assert own_service.views.create(DELETED) == view, "the same view, measured by it"
    assert own_service.scorers.delete("trained") == stored.name
    again = own_service.views.measured("thin").deviation
    assert again == counted.deviation


def test_replacement_names_the_scorer_that_drew_it_o10(own_service: Service) -> None:
    with raises(InputError):
        own_service.views.create(replace(REPLACED, scorer="trained"))
    counted = own_service.views.create(REPLACED)
    stored = own_service.scorers.train(text=False)
    drawn = own_service.views.create(replace(REPLACED, scorer="trained"), name="by-model")
    assert drawn.spec.scorer == stored.name
    assert drawn.id != counted.id
    assert drawn.deviation is not None
    assert own_service.views.create(drawn.spec).id == drawn.id
    changes, total = own_service.views.diff(ViewRef(name="by-model"))
    inline, count = own_service.views.diff(ViewRef(spec=replace(REPLACED, scorer="trained")))
    assert (changes, total) == (inline, count)
    # What the scorer finds least likely lowers its own mean more than what counts find so.
    judged = own_service.views.measured(counted.id).deviation
    assert judged is not None
    assert drawn.deviation.ats < judged.ats < judged.ats_base
    job = own_service.views.create(replace(REPLACED, scorer="trained", level=0.1), wait=False)
    assert job.spec.scorer == stored.name


def test_a_client_names_the_scorer_of_a_replacement_o10(own_service: Service) -> None:
    """S4: the specification that a program sends is the one that the service gets."""
    stored = own_service.scorers.train(text=False)
    with Client.over(own_service) as client:
        drawn = client.create_view(replace(REPLACED, scorer="trained"), graph="demo")
        assert drawn.spec.scorer == stored.name
        assert drawn.id == own_service.views.create(replace(REPLACED, scorer=stored.name)).id
        assert client.create_view(REPLACED, graph="demo").spec.scorer == "counts"
        with pytest.raises(InputError, match="no scorer 'trained:none'"):
            client.create_view(replace(REPLACED, scorer="trained:none"), graph="demo")


def test_texts_are_used_where_entities_have_them(own_service: Service) -> None:
    told: list[tuple[str, float]] = []
    stored = own_service.scorers.train(progress=lambda stage, share: told.append((stage, share)))
    graph, scorer = own_service.scorers.open(stored.name)
    assert stored.described == graph.entity_count
    assert stored.embedder
    assert {stage for stage, _ in told} == {"embedding texts", "training"}
    assert told[-1] == ("training", 1.0)
    assert scorer.name == stored.name


def test_a_scorer_of_other_edges_is_refused(own_service: Service) -> None:
    stored = own_service.scorers.train(text=False)
    store = own_service._view_store.scorers
    listed = store.list("demo", edges="0" * 32)
    assert [one.stale for one in listed] == [True]
    assert store.newest("demo", edges="0" * 32) is None
    graph, _ = own_service.scorers.open(stored.name)
    changed = replace(graph, fingerprints=replace(graph.fingerprints, edges="0" * 32))
    with raises(InputError):
        store.open(changed, stored.name, index=own_service._view_store.prepared(graph).index)


def test_scorers_on_the_command_line(demo_cli: Cli, tmp_path: Path) -> None:
    check_line(demo_cli("scorer", "list")[1], "graph-service scorer train")
    code, said, _ = demo_cli("scorer", "train", "--no-text")
    assert code == 0
    name = said.split()[1]
    assert name.startswith("trained:")
    assert "calibration error" in said
    code, said, _ = demo_cli("scorer", "list", "--json")
    assert [f"trained:{one['fingerprint']}" for one in json.loads(said)["scorers"]] == [name]
    code, said, _ = demo_cli(
        "view", "create", "--method", "rr", "--level", "0.2", "--scorer", "trained"
    )
    assert code == 0
    assert f'"scorer":"{name}"' in said
    assert f"scorer {name}: accuracy" in said
    out = str(tmp_path / "sweep.jsonl")
    demo_cli("view", "sweep", "--methods", "rr", "--levels", "0.1,0.2", "--random-seeds", "0",
        "--scorer", "trained", "--out", out)  # fmt: skip
    assert {json.loads(line)["scorer"] for line in Path(out).read_text().splitlines()} == {name}
    assert demo_cli("scorer", "delete")[0] == 2
    assert demo_cli("scorer", "list", "more")[0] == 2
    assert demo_cli("scorer", "train", "--random-seed", "-1")[0] == 2
    assert demo_cli("scorer", "delete", name)[1] == f"deleted scorer {name}\n"
    code, _, said = demo_cli("view", "sweep", "--methods", "rr", "--levels", "0.1", "--out", out)
    assert code == 2
    check_line(said, name)
    assert demo_cli("scorer", "delete", name)[0] == 2
