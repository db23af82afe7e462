"""One table of options: its three spellings, its bounds, and who is made of it."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from error_texts import check_error, check_line, raises
from strawberry.types.base import get_object_definition

from graph_service.api.inputs import RetrieveInput
from graph_service.api.schema import schema
from graph_service.cli import main
from graph_service.cli.answer.options import AnswerOptions
from graph_service.cli.arguments import Parser
from graph_service.cli.ask.options import RetrieveOptions as RetrieveVerb
from graph_service.cli.dataset.options import DATASETS
from graph_service.cli.demo.options import DemoOptions
from graph_service.cli.examples import EXAMPLES
from graph_service.cli.experiment.options import RunOptions as RunVerb
from graph_service.cli.graph.load_request import load_request
from graph_service.cli.graph.options import LoadVerbOptions
from graph_service.cli.graph.snapshot_options import SNAPSHOT_VERBS
from graph_service.cli.mcp_options import McpOptions
from graph_service.cli.options import SubverbGroup, VerbOptions, add_options, read_options
from graph_service.cli.parser import make_parser
from graph_service.cli.rank.options import RANK_VERBS
from graph_service.cli.rank.relation_ranking import other_options, step_limits
from graph_service.cli.retriever.options import RETRIEVER_VERBS
from graph_service.cli.score.options import SCORES, SafeOptions
from graph_service.cli.tables import options_page
from graph_service.client.calls import spec_input
from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.options import options_of
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "options.md"


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
    inner = set(re.findall(r"^  (\w+):", _block(str(schema), "input ExperimentalInput"), re.M))
    assert (of_schema - {"experimental"}) | {f"experimental.{name}" for name in inner} == {
        each.graphql_path for each in options.values() if each.facts.of_api
    }
    assert get_type_hints(RetrieveOptions).keys() == options.keys() - {"question", "strategy"}
    verb = make_parser()._subparsers._group_actions[0].choices["retrieve"]  # type: ignore[union-attr,index]
    flags = {flag for action in verb._actions for flag in action.option_strings}
    assert flags >= {each.flag for each in options.values() if each.facts.of_command_line}


@pytest.mark.parametrize(
    ("request_type", "name"), [(ViewSpec, "ViewSpecInput"), (Scope, "ScopeInput")]
)
def test_a_view_is_spelt_alike_by_schema_client_and_command_line(
    request_type: type, name: str
) -> None:
    options = options_of(request_type)
    known = {each.graphql for each in options.values()}
    assert set(re.findall(r"^  ([a-z]\w*):", _block(str(schema), f"input {name}"), re.M)) == known
    # A value that is no default is sent, and an earlier server need not know the option else.
    other: dict[str, Any] = dict.fromkeys(options, "another")
    scope = Scope(**other) if request_type is Scope else Scope()
    spec = ViewSpec(**other) if request_type is ViewSpec else ViewSpec(Method.CUSTOM, scope=scope)
    sent = spec_input(spec) if request_type is ViewSpec else spec_input(spec)["scope"]
    assert sent.keys() == known
    plain = ViewSpec(Method.EDGE_DELETION, level=0.1)
    assert spec_input(plain) == {"method": "EDGE_DELETION", "level": 0.1}
    verb = make_parser()._subparsers._group_actions[0].choices["view"]  # type: ignore[union-attr,index]
    flags = {flag for action in verb._actions for flag in action.option_strings}
    assert flags >= {each.flag for each in options.values() if each.facts.of_command_line}


def test_the_identity_of_a_view_does_not_follow_the_names_of_its_options() -> None:
    """Ids of stored views are made of this text."""
    scope = Scope(relation_ids=("P1",), around_entity_ids=("Q1",), hops=3)
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=7, scope=scope)
    assert spec.to_json() == (
        '{"algorithm":1,"level":0.5,"method":"relation-replacement","randomSeed":7,'
        '"sampling":"exact","scope":{"aroundIds":["Q1"],"hops":3,"relationIds":["P1"]},'
        '"scorer":"counts"}'
    )
    assert ViewSpec.from_json(spec.to_json()) == spec


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


def test_the_options_of_verbs_come_from_their_dataclasses() -> None:
    parsers = dict(_verb_parsers())
    assert len(parsers) == 25 + 15 + 6 + 4 + 4 + 3 + 10 + 2 + 4 + 6 + 2 + 5
    for name, parser in parsers.items():
        bare = Parser()
        add_options(bare, parser.get_default("options"))
        assert _spelt(parser) == _spelt(bare), name


@pytest.mark.parametrize(
    "line",
    [
        line
        for lines in (
            *EXAMPLES.values(),
            *(each.examples for each in (*SCORES, *RANK_VERBS, *RETRIEVER_VERBS, *SNAPSHOT_VERBS)),
            *(
                each.examples
                for builder in DATASETS
                for each in (builder.words if isinstance(builder, SubverbGroup) else [builder])
            ),
        )
        for line in lines
    ],
)
def test_each_example_makes_the_dataclass_of_its_verb(line: str, tmp_path: Path) -> None:
    found = make_parser().parse_args(shlex.split(line))
    if getattr(found, "question_vector", None) is not None:
        found.question_vector = str(tmp_path / "vector.json")
        Path(found.question_vector).write_text("[0.5]")
    assert isinstance(read_options(found.options, found), VerbOptions)


def _spelt(parser: argparse.ArgumentParser) -> set[str]:
    return {word for each in parser._actions for word in each.option_strings or [each.dest]}


def test_a_load_takes_from_the_command_line_what_its_dataclasses_have(tmp_path: Path) -> None:
    found = make_parser().parse_args(
        [
            "load",
            "x.tsv",
            "--graph",
            "g",
            "--columns",
            "head,-,tail",
            "--label-file",
            "a",
            "--label-file",
            "b",
            "--entity",
            "Q1",
            "--around-entity",
            "Q2",
            "--hops",
            "3",
            "--rejects-path",
            "r",
            "--language",
            "EN",
            "--interval-s",
            ".5",
        ]
    )
    options = read_options(LoadVerbOptions, found)
    assert options.reading.columns == ("head", "-", "tail")
    assert options.reading.label_files == (Path("a"), Path("b"))
    source, reading = load_request(options)
    assert (source, reading.languages) == ("x.tsv", ("en",))
    assert reading.rejects_path == Path("r")
    assert reading.filters == Filters(entities=("Q1",), around_entities=("Q2",), hops=3)
    # The load says that a file has no address.
    assert reading.endpoint == EndpointOptions(interval_s=0.5)
    # What stores have recorded of loads keeps its names.
    assert reading.filters.to_json() == {"entities": ["Q1"], "around": ["Q2"], "hops": 3}
    assert "only around: Q2" in reading.filters.lines()


def test_a_walk_takes_its_hops_from_the_same_options() -> None:
    found = make_parser().parse_args(
        ["load", "wikidata:Q42", "--graph", "g", "--hops", "2", "--no-cache"]
    )
    _, reading = load_request(read_options(LoadVerbOptions, found))
    assert reading.endpoint == EndpointOptions(hops=2)
    assert reading.filters == Filters()


def test_what_is_out_of_bounds_is_refused_before_a_verb_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", "--threads", "0"]) == 2
    check_error(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("words", "flag", "other"),
    [
        (("demo", "--port", "9000"), "--port", "--serve"),
        (("demo", "--random-seeds", "3", "--serve"), "--random-seeds", "--sweep"),
        (("mcp", "--allow-host", "a.example"), "--allow-host", "--http"),
        (("mcp", "--session-idle", "3"), "--session-idle", "--http"),
        (("retrieve", "Q?", "--first", "3"), "--first", "--questions"),
        (("retrieve", "Q?", "--linking-seed", "3"), "--linking-seed", "--linking-accuracy"),
        (("answer", "Q?", "--retry-failed"), "--retry-failed", "--out"),
    ],
)
def test_an_option_without_the_one_that_it_needs_is_refused(
    words: tuple[str, ...], flag: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    check_line(capsys.readouterr().err, flag, other)


def test_an_option_has_its_effect_where_its_default_is_set_or_nothing_of_the_verb_is_needed() -> (
    None
):
    def read(*words: str) -> Any:
        parsed = make_parser().parse_args(words)
        return read_options(parsed.options, parsed)

    assert read("demo", "--port", "9000", "--serve").port == 9000
    assert read("demo", "--port", "8000").port == 8000
    assert read("retrieve", "--questions", "q.jsonl", "--first", "3").first == 3
    # The file of questions is a word here, without which nothing is read.
    assert read("questions", "q.jsonl", "--first", "3").first == 3


def test_every_option_that_is_needed_is_one_of_the_request_or_of_a_verb() -> None:
    """A name that no verb has would ask nothing."""
    classes = [DemoOptions, McpOptions, RetrieveVerb, AnswerOptions, RunVerb]
    for cls in classes:
        known = {*options_of(cls), *options_of(RetrieveRequest)}
        for each in options_of(cls).values():
            assert known.issuperset(each.facts.needs), each.name


def test_the_page_of_options_is_up_to_date() -> None:
    """Written anew by ``make schema``."""
    assert PAGE.read_text(encoding="utf-8") == options_page()


def _verb_parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parsers of all verbs, or of the last words after them."""

    def walk(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, Any]]:
        for word, verb in _words(parser).items():
            if _words(verb):
                yield from walk(verb, f"{name}{word} ")
            else:
                yield f"{name}{word}", verb

    yield from walk(make_parser(), "")


def _words(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: verb
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, verb in action.choices.items()
    }


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
    with raises(InputError):
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
    assert step_limits(asked).explicit() == {"relations_per_entity": 2}


def _block(text: str, start: str) -> str:
    return text[text.index(start) : text.index("}", text.index(start))]
