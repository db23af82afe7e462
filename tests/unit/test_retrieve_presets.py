"""The presets are what docs/reference/retrieval.md says, and every parameter's bounds hold to the last."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.link import LINKING_RULES
from graph_service.model.result import Strategy
from graph_service.retrieve.preset import (
    BOUNDS,
    LEARNED,
    LTGEN,
    OKGQA,
    PRESETS,
    AnyPreset,
    LearnedPreset,
    Preset,
    PrizePreset,
    RankedPreset,
    RelationPreset,
    resolve_preset,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "retrieval.md"
FAMILIES: tuple[AnyPreset, ...] = (OKGQA, LEARNED, LTGEN)


def stated() -> dict[str, dict[str, str]]:
    """What the page's tables of parameters say, by preset and parameter."""
    found: dict[str, dict[str, str]] = {preset.name: {} for preset in FAMILIES}
    columns: list[str] = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("|") else []
        if cells[:1] == ["parameter"]:
            columns = cells[1:]
        elif not cells:
            columns = []
        elif columns and (name := re.fullmatch(r"`(\w+)`", cells[0])):
            for column, cell in zip(columns, cells[1:], strict=True):
                if column in found:
                    assert name[1] not in found[column], f"{name[1]} stands there twice"
                    found[column][name[1]] = cell
    return found


def stated_rules() -> dict[str, str]:
    """What the page's table of the linker's numbers says."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = lines[lines.index("| number | value | what it is |") + 2 :]
    rows = rows[: rows.index("")]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    return {name.strip("`"): value for name, value, _ in cells}


def read(text: str) -> Any:
    plain = text.replace(",", "")
    if re.fullmatch(r"[-+.e\d]+", plain):
        return float(plain)
    return None if text == "none" else text


@pytest.mark.parametrize("preset", FAMILIES, ids=lambda preset: preset.name)
def test_each_parameter_is_what_the_page_says(preset: AnyPreset) -> None:
    table = stated()[preset.name]
    assert {name: read(text) for name, text in table.items()} == preset.parameters()


def test_the_linkers_numbers_are_what_the_page_says() -> None:
    assert {name: read(text) for name, text in stated_rules().items()} == (
        LINKING_RULES.parameters()
    )


def test_versions_without_a_number_are_the_newest() -> None:
    assert PRESETS == {
        "default": LEARNED,
        "default-6": LEARNED,
        "okgqa": OKGQA,
        "okgqa-2": OKGQA,
        "ltgen": LTGEN,
        "ltgen-1": LTGEN,
    }
    assert {name for name, preset in PRESETS.items() if preset.name == name} == {
        preset.name for preset in FAMILIES
    }


@pytest.mark.parametrize("name", ["default-4", " Default-5"])
def test_a_preset_that_is_gone_says_what_to_write(name: str) -> None:
    with raises(InputError) as caught:
        resolve_preset(name, limit=3)
    assert caught.value.argument == "preset"
    assert "similarity alone" in (caught.value.hint or "")


def test_a_family_has_only_what_its_rules_use() -> None:
    """No parameter is shared but those of ``Preset`` and ``RankedPreset``."""
    own = {family: {field.name for field in fields(family)} for family in BOUNDS}
    shared = {field.name for field in fields(Preset)}
    ranked = {field.name for field in fields(RankedPreset)}
    assert own[PrizePreset] & own[LearnedPreset] == ranked
    assert own[PrizePreset] & own[RelationPreset] == shared
    assert own[LearnedPreset] & own[RelationPreset] == shared


# The least and the most of each parameter, and one beyond each.
BOUND_ROWS: list[tuple[str, str, Any, Any, Any, Any]] = [
    ("default", "max_mentions", 1, 1000, 0, 1001),
    ("default", "hops", 1, 4, 0, 5),
    ("okgqa", "hops", 1, 4, 0, 5),
    ("default", "hub_degree", 1, 2**31 - 1, 0, 2**31),
    ("default", "max_edges", 1, 1_000_000, 0, 1_000_001),
    ("default", "max_wedges", 1, 2**31 - 1, 0, 2**31),
    ("default", "max_embedded", 1, 100_000, 0, 100_001),
    ("default", "limit", 1, 1000, 0, 1001),
    ("default", "damping", 0.0, 0.999, -1e-9, 0.9991),
    ("default", "tolerance", 1e-15, 1.0, 9e-16, 1.000001),
    ("default", "max_iterations", 1, 10_000, 0, 10_001),
    ("default", "max_path_length", 1, 8, 0, 9),
    ("default", "edge_cost", 0.0, 1e6, -1e-9, 1e6 + 1),
    ("okgqa", "min_mass", 0.0, 1.0, -1e-9, 1.000001),
    ("okgqa", "top_nodes", 0, 10_000, -1, 10_001),
    ("okgqa", "top_edges", 0, 10_000, -1, 10_001),
    ("okgqa", "taken_paths", 1, 1000, 0, 1001),
    ("default", "hub_damping", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "max_nodes", 1, 1_000_000, 0, 1_000_001),
    ("default", "hop_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "inverse_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "unsupported_step_cost", 0.0, 100.0, -1e-9, 100.0001),
    ("default", "unsupported_step_margin", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "extra_hop_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "min_relevance", -1.0, 1.0, -1.000001, 1.000001),
    ("default", "kind_similarity", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "synonym_similarity", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "kind_heads", 1, 10_000, 0, 10_001),
    ("default", "kind_letters", 1, 100, 0, 101),
    ("default", "work_budget", 1, 100_000_000, 0, 100_000_001),
    ("default", "max_refined", 1, 10_000, 0, 10_001),
    ("default", "walks_per_item", 1, 10_000, 0, 10_001),
    ("default", "min_walks", 1, 10_000, 0, 10_001),
    ("default", "max_tied", 1, 10_000, 0, 10_001),
    ("ltgen", "min_link_score", 0.0, 1.0, -1e-9, 1.000001),
    ("ltgen", "max_entities", 1, 100, 0, 101),
    ("ltgen", "relations_per_entity", 1, 1000, 0, 1001),
    ("ltgen", "triples_per_relation", 1, 1000, 0, 1001),
    ("ltgen", "draw_seed", -(2**63), 2**63 - 1, -(2**63) - 1, 2**63),
    ("ltgen", "ranker", "r", "a name", "", 3),
    ("default", "candidates_per_length", 1, 10_000, 0, 10_001),
    ("default", "unlinked_doubt", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "rank_doubt", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "score_scale", 0.01, 1000.0, 0.009, 1000.1),
    ("default", "least_score", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "strict", 0, 1, -1, 2),
    ("default", "prior_weight", 0.0, 100.0, -1e-9, 100.0001),
    ("default", "read_weight", 0.0, 100.0, -1e-9, 100.0001),
    ("default", "read_floor", -100.0, 100.0, -100.0001, 100.0001),
    ("default", "read_gap", 0.0, 1000.0, -1e-9, 1000.1),
    ("default", "max_read", 1, 1000, 0, 1001),
    ("default", "min_confidence", 0.0, 1.0, -1e-9, 1.000001),
]


def test_every_parameter_has_bounds() -> None:
    for family, bounds in BOUNDS.items():
        assert bounds.keys() == {field.name for field in fields(family)} - {"name"}
        assert bounds.keys() <= {row[1] for row in BOUND_ROWS}


@pytest.mark.parametrize(("preset", "name", "least", "most", "below", "beyond"), BOUND_ROWS)
def test_bounds_hold_to_the_last(
    preset: str, name: str, least: Any, most: Any, below: Any, beyond: Any
) -> None:
    for value in (least, most):
        assert getattr(resolve_preset(preset, **{name: value}), name) == value
        assert resolve_preset(preset, **{name: None}) == resolve_preset(preset)
    for value in (below, beyond):
        with pytest.raises(InputError) as caught:
            resolve_preset(preset, **{name: value})
        assert caught.value.argument == name
        assert str(caught.value).startswith(f"{name} must be ")
        assert repr(value) in str(caught.value)


@pytest.mark.parametrize("preset", FAMILIES, ids=lambda preset: preset.name)
def test_a_parameter_of_another_family_is_refused_by_name(preset: AnyPreset) -> None:
    for _, name, value, *_ in BOUND_ROWS:
        if hasattr(preset, name):
            continue
        with raises(InputError) as caught:
            resolve_preset(preset.name, **{name: value})
        assert caught.value.argument == name
        owners = [one.name for one in FAMILIES if hasattr(one, name)]
        assert all(owner in str(caught.value) for owner in owners)


def test_what_a_preset_cannot_do_is_refused() -> None:
    for preset, parameters, argument in (
        ("okgqa", {"top_edges": -1}, "top_edges"),
        ("default", {"limit": True}, "limit"),
        ("default", {"edge_cost": float("nan")}, "edge_cost"),
        ("okgqa", {"top_edges": 0, "top_nodes": 0}, "top_nodes"),
        ("ltgen", {"hops": 2}, "hops"),
        ("default", {"unheard": 1}, "unheard"),
        ("default", {"name": "mine"}, "name"),
        ("best", {}, "preset"),
    ):
        with pytest.raises(InputError) as caught:
            resolve_preset(preset, **parameters)
        assert caught.value.argument == argument
    for one in Strategy:
        LEARNED.require(one)
        OKGQA.require(one)
    with pytest.raises(InputError, match="no subgraph"):
        LTGEN.require(Strategy.SUBGRAPH)
    assert resolve_preset("okgqa", top_edges=0).top_edges == 0  # type: ignore[union-attr]
    assert resolve_preset("okgqa", top_nodes=0).top_nodes == 0  # type: ignore[union-attr]
    assert resolve_preset("ltgen", hops=1) == resolve_preset("ltgen")
    assert resolve_preset(" Default ").name == "default-6"
    with raises(InputError):
        resolve_preset("best")
    with pytest.raises(InputError) as caught:
        resolve_preset("default", unheard=1)
    for row in BOUND_ROWS:
        assert row[1] in str(caught.value)
