"""Operations of the GraphQL schema in one process, and what they give."""

from __future__ import annotations

from typing import Any

from demo_graph import MARIA

from graph_service import Service
from graph_service.api.schema import execute

MANY_LANGUAGES = '["en"' + ', "de"' * 50 + "]"
TYPENAME = "{ __typename }"


def run(
    service: Service, document: str, variables: dict[str, Any] | None = None, **options: Any
) -> Any:
    """Returns the data of an operation that must not fail."""
    response = execute(service, document, variables, **options)
    assert "errors" not in response, response["errors"]
    return response["data"]


def fail(
    service: Service, document: str, variables: dict[str, Any] | None = None, **options: Any
) -> Any:
    """Returns the first error of an operation that must fail."""
    errors = execute(service, document, variables, **options).get("errors")
    assert errors, "expected an error"
    assert all(error["extensions"]["requestId"] for error in errors)
    return errors[0]


def custom(change: dict[str, Any], /) -> dict[str, Any]:
    """A view of one change, which adds a statement but for what is changed in it."""
    added = {"subjectId": MARIA, "propertyId": "P26", "value": {"itemId": "Q42"}}
    return {"method": "CUSTOM", "changes": [{**added, **change}]}


def around(ids: list[str], /) -> dict[str, Any]:
    """A view without a tenth of the statements around some items."""
    return {"method": "EDGE_DELETION", "level": 0.1, "scope": {"aroundItemIds": ids}}


def ask(strategy: str, fields: str, /) -> str:
    """A document that asks for some fields of a strategy."""
    return f"query($input: RetrieveInput!) {{ r: {strategy}(input: $input) {{ {fields} }} }}"
