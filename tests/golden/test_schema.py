"""The printed schema is what other programs rely on: it changes on purpose only (S6)."""

from __future__ import annotations

from pathlib import Path

from graph_service.api.schema import print_schema

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "schema.graphql"


def test_the_committed_schema_is_the_one_served() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == print_schema(), (
        "docs/schema.graphql is not the schema served; if the change is meant: make schema"
    )
