"""The presets are what docs/retrieval.md says, and every parameter's bounds hold to the last."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from graph_service.errors import InputError
from graph_service.retrieve.preset import PRESETS, Preset, RelationRules, resolve_preset

PAGE = Path(__file__).resolve().parents[2] / "docs" / "retrieval.md"
IDLE: dict[str, dict[str, object]] = {
    "okgqa-2": {
        **dict.fromkeys(
            ("hop_cost", "inverse_cost", "unsupported_step_cost", "unsupported_step_margin"), 0.0
        ),
        **{
            "extra_hop_cost": 0.0,
            "collapse_round_trips": False,
            "kind_similarity": None,
            "shared_bonus": 0.0,
        },
        **{"min_relevance": -1.0, "work_budget": 20_000},
    },
    **dict.fromkeys(("default-1", "default-3", "default-4"), {"taken_paths": 0}),
}
"""What stands in a result's provenance and plays no part: a dash on the page."""
# The same in all presets.
UNSAID = {"name", "damping", "tolerance", "max_iterations", "relations"}


def stated() -> dict[str, dict[str, str]]:
    """The page's table: what it says of each parameter, by preset."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("| parameter | okgqa-2"))
    presets = [cell.strip() for cell in lines[begin].split("|")[2:-1]]
    found: dict[str, dict[str, str]] = {name: {} for name in presets}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        first, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        names = re.findall(r"`(\w+)`", first)
        for preset, cell in zip(presets, cells, strict=True):
            values = re.split(r", (?!\d{3}\b)", cell)
            values = ["-"] * len(names) if cell == "-" else values[: len(names)]
            for name, value in zip(names, values, strict=True):
                found[preset][name] = value
    return found


def said(value: Any) -> Any:
    if isinstance(value, str):
        words: dict[str, Any] = {"none": None, "no": False, "yes": True}
        plain = value.replace(",", "")
        if re.fullmatch(r"[-+.e\d]+", plain):
            return float(plain)
        return words.get(value, value)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("name", ["okgqa-2", "default-1", "default-3", "default-4"])
def test_each_parameter_is_what_the_page_says(name: str) -> None:
    table = stated()[name]
    names = {field.name for field in fields(Preset)} - UNSAID
    assert names == table.keys()
    for parameter, text in table.items():
        value = getattr(PRESETS[name], parameter)
        if text != "-":
            assert said(value) == said(text), parameter
        else:
            assert value == IDLE[name][parameter], parameter
    preset = PRESETS[name]
    assert (preset.damping, preset.tolerance, preset.max_iterations) == (0.85, 1e-6, 100)
    assert preset.relations is None


def test_versions_without_a_number_are_the_newest() -> None:
    assert PRESETS["default"] is PRESETS["default-4"]
    assert PRESETS["okgqa"] is PRESETS["okgqa-2"]
    assert PRESETS["ltgen"] is PRESETS["ltgen-1"]
    assert {name for name, preset in PRESETS.items() if preset.name == name} == {
        *("default-1", "default-3", "default-4", "okgqa-2", "ltgen-1"),
    }


def test_ltgen_is_okgqa_with_relations_in_one_step() -> None:
    ltgen = PRESETS["ltgen"]
    assert (ltgen.scoring, ltgen.hops, ltgen.min_mass, ltgen.limit) == ("relations", 1, 0.0, 1000)
    assert ltgen.relations == RelationRules(0.35, 5, 5, 10, 0, "embedding")


# The least and the most of each parameter, and one beyond each.
BOUNDS: list[tuple[str, str, Any, Any, Any, Any]] = [
    ("default", "hops", 1, 4, 0, 5),
    ("default", "hub_degree", 1, 2**31 - 1, 0, 2**31),
    ("default", "max_edges", 1, 1_000_000, 0, 1_000_001),
    ("default", "max_iterations", 1, 10_000, 0, 10_001),
    ("default", "max_nodes", 1, 1_000_000, 0, 1_000_001),
    ("okgqa", "top_nodes", 0, 10_000, -1, 10_001),
    ("okgqa", "top_edges", 0, 10_000, -1, 10_001),
    ("default", "max_path_length", 1, 8, 0, 9),
    ("default", "limit", 1, 1000, 0, 1001),
    ("default", "taken_paths", 1, 1000, 0, 1001),
    ("default", "max_embedded", 1, 100_000, 0, 100_001),
    ("default", "work_budget", 1, 100_000_000, 0, 100_000_001),
    ("ltgen", "max_entities", 1, 100, 0, 101),
    ("ltgen", "relations_per_entity", 1, 1000, 0, 1001),
    ("ltgen", "triples_per_relation", 1, 1000, 0, 1001),
    ("ltgen", "random_seed", -(2**63), 2**63 - 1, -(2**63) - 1, 2**63),
    ("default", "hub_damping", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "damping", 0.0, 0.999, -1e-9, 0.9991),
    ("default", "tolerance", 1e-15, 1.0, 9e-16, 1.000001),
    ("default", "min_mass", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "edge_cost", 0.0, 1e6, -1e-9, 1e6 + 1),
    ("default", "hop_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "inverse_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "unsupported_step_cost", 0.0, 100.0, -1e-9, 100.0001),
    ("default", "unsupported_step_margin", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "extra_hop_cost", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "kind_similarity", 0.0, 2.0, -1e-9, 2.000001),
    ("default", "shared_bonus", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "min_relevance", -1.0, 1.0, -1.000001, 1.000001),
    ("ltgen", "min_link_score", 0.0, 1.0, -1e-9, 1.000001),
    ("default", "walk", "along", "both", "ALONG", "up"),
    ("default", "scoring", "prizes", "sequences", "relations", ""),
    ("default", "nearest", False, True, 0, "yes"),
    ("default", "collapse_round_trips", False, True, 1, "no"),
    ("ltgen", "ranker", "r", "a name", "", 3),
]


def test_every_parameter_has_bounds() -> None:
    names = {field.name for of in (Preset, RelationRules) for field in fields(of)}
    assert {row[1] for row in BOUNDS} == names - {"name", "relations"}


@pytest.mark.parametrize(("preset", "name", "least", "most", "below", "beyond"), BOUNDS)
def test_bounds_hold_to_the_last(
    preset: str, name: str, least: Any, most: Any, below: Any, beyond: Any
) -> None:
    for value in (least, most):
        if (name, value) == ("hops", 4) and preset == "ltgen":
            continue
        resolved = resolve_preset(preset, **{name: value})
        holder = resolved.relations if hasattr(RelationRules(), name) else resolved
        assert getattr(holder, name) == value
        assert resolve_preset(preset, **{name: None}) == resolve_preset(preset)
    for value in (below, beyond):
        with pytest.raises(InputError) as caught:
            resolve_preset(preset, **{name: value})
        assert caught.value.argument == name
        assert str(caught.value).startswith(f"{name} must be ")
        assert repr(value) in str(caught.value)


def test_what_a_preset_cannot_do_is_refused() -> None:
    for preset, parameters, argument in (
        ("default", {"top_edges": 0}, "top_edges"),
        ("okgqa", {"top_edges": 0, "top_nodes": 0}, "top_nodes"),
        ("default", {"ranker": "r", "max_entities": 2}, "max_entities"),
        ("ltgen", {"hops": 2}, "hops"),
        ("ltgen", {"scoring": "prizes"}, "scoring"),
        ("default", {"unheard": 1}, "unheard"),
        ("best", {}, "preset"),
    ):
        with pytest.raises(InputError) as caught:
            resolve_preset(preset, **parameters)
        assert caught.value.argument == argument
    assert resolve_preset("okgqa", top_edges=0).top_edges == 0
    assert resolve_preset("okgqa", top_nodes=0).top_nodes == 0
    assert resolve_preset("ltgen", hops=1) == resolve_preset("ltgen")
    assert resolve_preset(" Default ").name == "default-4"
    with pytest.raises(InputError, match="expected one of default, default-1, default-3"):
        resolve_preset("best")
    with pytest.raises(InputError) as caught:
        resolve_preset("default", unheard=1)
    for name in {row[1] for row in BOUNDS}:
        assert name in str(caught.value)
