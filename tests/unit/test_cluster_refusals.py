"""What a cluster does not draw is refused before an engine is asked (O10, B19)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_error, raises

from graph_service.cli import main
from graph_service.cluster.graph import require_manifest
from graph_service.cluster.paths import shared_path
from graph_service.cluster.session import open_session
from graph_service.cluster.views import METHODS, require_supported
from graph_service.errors import InputError
from graph_service.model.view_spec import Method, Replacement, Sampling, Scope, ViewSpec
from loaders.cluster import read_target


@pytest.mark.parametrize("method", sorted(set(Method) - set(METHODS)))
def test_methods_are_refused_by_name(method: Method) -> None:
    with raises(InputError):
        require_supported(ViewSpec(method, level=0.3))


@pytest.mark.parametrize("method", METHODS)
def test_scopes_of_regions_are_refused(method: Method) -> None:
    require_supported(ViewSpec(method, level=0.3, scope=Scope(relation_ids=("P1",))))
    for scope in (
        Scope(around_entity_ids=("Q1",)),
        Scope(statement_ids=("s",)),
        Scope(of_question=True),
    ):
        with raises(InputError):
            require_supported(ViewSpec(method, level=0.3, scope=scope))


@pytest.mark.parametrize(
    "change",
    [
        {"scorer": "trained"},
        {"replacement": Replacement.PLAUSIBLE},
        {"sampling": Sampling.OKGQA},
        {"nth": 2},
    ],
)
def test_replacement_by_other_rules_is_refused(change: dict[str, Any]) -> None:
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.3)
    require_supported(spec)
    with raises(InputError):
        require_supported(replace(spec, **change))


def test_chains_of_a_question_are_refused() -> None:
    spec = ViewSpec(Method.INSERTION, count=1, entity_ids=("Q1",), answer_ids=("Q2",))
    with raises(InputError):
        require_supported(spec)


def test_an_address_that_is_no_engine_is_refused() -> None:
    with (
        raises(InputError),
        open_session("http://localhost"),
    ):
        pytest.fail("it is no engine")


@pytest.mark.parametrize("name", ["x[1]", "x*", "x?", "{x,y}", "x\\y"])
def test_a_path_that_an_engine_reads_as_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    """Sail finds no file at ``x[1]``, and at ``x*`` those of ``x2`` too."""
    with raises(InputError):
        shared_path(Path("/graphs") / name, argument="source")
    with pytest.raises(InputError, match="as a pattern"):
        read_target(f"parquet:{tmp_path / name}")
    with pytest.raises(InputError, match="as a pattern"):
        require_manifest(tmp_path / name)


def test_other_paths_are_taken_from_the_root() -> None:
    path = Path("graphs of 2026") / "50%.parquet"
    assert shared_path(path, argument="to") == Path.cwd() / path


def test_the_command_line_refuses_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["cluster", "view", "create", str(tmp_path), "--to", str(tmp_path / "view")]
    assert main([*words, "--method", "rs", "--level", "0.3"]) == 2
    check_error(capsys.readouterr().err)
    assert main([*words, "--method", "ed", "--level", "0.3"]) == 2
    check_error(capsys.readouterr().err)
    written = ["cluster", "view", "create", str(tmp_path), "--method", "ed", "--level", "0.3"]
    assert main([*written, "--to", "/views/x[1]"]) == 2
    check_error(capsys.readouterr().err)
    deviation = ["cluster", "view", "deviation", str(tmp_path), str(tmp_path / "view")]
    assert main([*deviation, "--scorer", "trained"]) == 2
    check_error(capsys.readouterr().err)
    assert main(deviation) == 2
    check_error(capsys.readouterr().err)
    assert main(["cluster", "view", "store", str(tmp_path), "--graph", "demo"]) == 2
    check_error(capsys.readouterr().err)
