"""One table of options: its three spellings, its bounds, and who is made of it."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from strawberry.types.base import get_object_definition

from graph_service.api.inputs import RetrieveInput
from graph_service.api.schema import schema
from graph_service.cli.answer.options import AnswerOptions
from graph_service.cli.options import read_options
from graph_service.cli.parser import make_parser
from graph_service.cli.rank.relation_ranking import other_options, step_limits
from graph_service.cli.score.options import SafeOptions
from graph_service.cli.tables import options_page
from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
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


def _verb_parsers(*names: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parsers of some verbs, or of the words after them."""
    verbs = _words(make_parser())
    for name in names:
        words = _words(verbs[name])
        if not words:
            yield name, verbs[name]
        for word, parser in words.items():
            yield f"{name} {word}", parser


def _words(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: verb
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, verb in action.choices.items()
    }


def test_all_that_a_verb_takes_is_a_field_of_its_dataclass() -> None:
    """And a field's value reaches the verb: what is parsed makes the dataclass."""
    names = ("retrieve", "answer", "prompt", "questions", "score", "rank")
    parsers = dict(_verb_parsers(*names))
    assert len(parsers) == 4 + 15 + 6
    for name, parser in parsers.items():
        cls = parser.get_default("options")
        assert dataclasses.is_dataclass(cls), name
        known = {*options_of(cls)}
        for field in dataclasses.fields(cls):
            if "request" in field.metadata:
                known |= {*options_of(field.metadata["request"][0])}
        taken = {action.dest for action in parser._actions} - {"help"}
        assert taken <= known, name
        assert {*options_of(cls)} <= taken, name


def test_lists_numbers_and_words_of_a_verb_are_read_into_its_dataclass() -> None:
    def read(*arguments: str) -> Any:
        found = make_parser().parse_args(arguments)
        return read_options(found.options, found)

    score = read("score", "safe", "a.jsonl", "b.jsonl", "--k", "3", "--timeout", "2.5")
    assert isinstance(score, SafeOptions)
    assert (score.files, score.k, score.timeout) == (("a.jsonl", "b.jsonl"), 3, 2.5)
    assert read("score", "geval", "a", "--quality", "x", "--quality", "y").qualities == ("x", "y")
    measured = read("rank", "measure", "a", "--k", "2", "--k", "7")
    assert (measured.k, read("rank", "measure", "a").k) == ((2, 7), (1, 5))
    for wrong in (("score", "safe", "a", "--texts", "0"), ("answer", "Who?", "--right-share", "2")):
        with pytest.raises(InputError, match="must be a"):
            read(*wrong)
    with pytest.raises(InputError, match="--k must be a whole number, got 'x'"):
        read("rank", "measure", "a", "--k", "x")


def test_an_answer_takes_every_option_of_a_retrieval_that_is_no_questions_own() -> None:
    found = make_parser().parse_args(
        ["answer", "Who?", "--type", "Q5", "--rank", "preferred", "--linking-accuracy", "0.5",
         "--relation", "P26", "--language", "de", "--relations-per-entity", "2", "--entity", "Q1"]
    )  # fmt: skip
    asked = read_options(AnswerOptions, found).request
    assert (asked.strategy, asked.entity_ids) == (Strategy.PATHS, ("Q1",))
    assert other_options(asked) == {
        "type_ids": ("Q5",),
        "ranks": (Rank.PREFERRED,),
        "linking_accuracy": 0.5,
        "relation_ids": ("P26",),
        "languages": ("de",),
    }
    assert step_limits(asked).given() == {"relations_per_entity": 2}


def _block(text: str, start: str) -> str:
    return text[text.index(start) : text.index("}", text.index(start))]
