"""One table of options: its three spellings, its bounds, and who is made of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_type_hints

import pytest
from strawberry.types.base import get_object_definition

from graph_service.api.inputs import RetrieveInput
from graph_service.api.schema import schema
from graph_service.cli.parser import make_parser
from graph_service.cli.tables import options_page
from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.options import options_of

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def test_each_option_has_one_name_in_three_spellings() -> None:
    spelt = {name: (each.flag, each.graphql) for name, each in options_of(RetrieveRequest).items()}
    assert spelt["relations_per_entity"] == ("--relations-per-entity", "propertiesPerItem")
    assert spelt["triples_per_relation"] == ("--triples-per-relation", "statementsPerProperty")
    assert spelt["exclude_relation_ids"] == ("--exclude-relation", "excludePropertyIds")
    assert spelt["languages"] == ("--language", "languageCodes")
    assert spelt["max_entities"] == ("--max-entities", "maxItems")


def test_the_schema_the_client_and_the_command_line_have_the_same_options() -> None:
    options = options_of(RetrieveRequest)
    definition = get_object_definition(RetrieveInput, strict=True)
    assert {field.python_name for field in definition.fields}
    of_schema = set(re.findall(r"^  (\w+):", _block(str(schema), "input RetrieveInput"), re.M))
    assert of_schema == {each.graphql for each in options.values() if each.facts.of_api}
    assert get_type_hints(RetrieveOptions).keys() == options.keys() - {"question", "strategy"}
    verb = make_parser()._subparsers._group_actions[0].choices["retrieve"]  # type: ignore[union-attr,index]
    flags = {flag for action in verb._actions for flag in action.option_strings}
    assert flags >= {each.flag for each in options.values() if each.facts.of_command_line}


def test_bounds_are_told_by_name() -> None:
    for given, words in (
        ({"max_path_length": 9}, "max_path_length must be a whole number from 1 to 8, got 9"),
        ({"linking_accuracy": 1.5}, "linking_accuracy must be a number from 0 to 1, got 1.5"),
        ({"token_budget": 0}, "token_budget must be a whole number at least 1, got 0"),
        ({"min_score": float("nan")}, "min_score must be a finite number, got nan"),
        ({"entity_ids": ("Q1",) * 101}, "entity_ids takes at most 100 values, got 101"),
    ):
        with pytest.raises(InputError, match=re.escape(words)) as raised:
            RetrieveRequest("a question", Strategy.PATHS, **given).validate()
        assert raised.value.argument == next(iter(given))


def test_the_page_of_options_is_up_to_date() -> None:
    """Written anew by ``make schema``."""
    assert PAGE.read_text(encoding="utf-8") == options_page()


def _block(text: str, start: str) -> str:
    return text[text.index(start) : text.index("}", text.index(start))]
