"""The verbs and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from graph_service import __version__
from graph_service.cli.answer.options import AnswerOptions, PromptOptions, QuestionsOptions
from graph_service.cli.arguments import Parser, examples
from graph_service.cli.ask.compare_options import CompareOptions
from graph_service.cli.ask.options import ItemOptions, RetrieveOptions, SearchOptions
from graph_service.cli.completion_options import CompletionOptions
from graph_service.cli.demo_options import DemoOptions
from graph_service.cli.doctor.options import BenchOptions, DoctorOptions, ModelOptions
from graph_service.cli.examples import EXAMPLES
from graph_service.cli.graph.options import (
    BackupOptions,
    ExportOptions,
    GraphsOptions,
    LoadVerbOptions,
    PageviewsOptions,
    PassagesOptions,
    PrintDropped,
    SampleOptions,
)
from graph_service.cli.options import GraphOptions, Subverb, add_options
from graph_service.cli.rank.options import RANK_VERBS
from graph_service.cli.score.options import SCORES
from graph_service.cli.serve_options import ServeOptions
from graph_service.cli.view.options import ScorerOptions, ViewOptions


def _verb(name: str) -> Callable[..., int]:
    """Returns a function that imports its module only when it is called."""
    module_name, function_name = name.split(":")

    def run(*arguments: Any) -> int:
        function = getattr(import_module(f"graph_service.cli.{module_name}"), function_name)
        code: int = function(*arguments)
        return code

    return run


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = Parser(
        prog="graph-service",
        description="A knowledge-graph service for language models.",
        epilog="Begin with: graph-service demo\nEach verb says more: graph-service VERB --help",
    )
    parser.add_argument("--version", action="version", version=f"graph-service {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")

    common = Parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    store = Parser(add_help=False, parents=[common])
    store.add_argument(
        "--store", metavar="URL", help="sqlite:///file, bolt://host or neo4j://host; default: "
        "GRAPH_SERVICE_STORE, then NEO4J_URI, then sqlite:///graph.db"
    )  # fmt: skip
    graph = Parser(add_help=False, parents=[store])
    graph.add_argument("--graph", metavar="NAME", help="the graph; may be left out if there is one")

    def add(name: str, run: str, text: str, parent: Parser | type) -> Any:
        verb = verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=examples(EXAMPLES.get(name, ())),
            parents=[parent] if isinstance(parent, Parser) else [],
        )
        verb.set_defaults(run=_verb(run))
        if isinstance(parent, type):
            add_options(verb, parent)
            verb.set_defaults(options=parent)
        return verb

    load = add("load", "graph.loading:load", "load a file or folder into a graph", LoadVerbOptions)
    load.add_argument("--print-dropped", action=PrintDropped)
    add("graphs", "graph.loading:graphs", "list graphs, or delete one", GraphsOptions)
    add("export", "graph.exporting:export", "write a graph or a view to a file", ExportOptions)
    add(
        "backup",
        "graph.exporting:backup",
        "copy a store's file while it is in use",
        BackupOptions,
    )
    add(
        "verify",
        "doctor.verifying:verify",
        "check that a store holds what its fingerprints claim",
        GraphOptions,
    )
    add("search", "ask.reading:search", "find entities by name", SearchOptions)
    add("item", "ask.reading:item", "show an entity and its statements", ItemOptions)
    add(
        "passages",
        "graph.passages:passages",
        "load, search, list or delete passages of text beside a graph",
        PassagesOptions,
    )
    add(
        "pageviews",
        "graph.pageviews:pageviews",
        "load, fetch, show or delete the page views of entities",
        PageviewsOptions,
    )
    add(
        "sample",
        "graph.sampling:sample",
        "draw long-tail entities with their triples",
        SampleOptions,
    )
    add(
        "retrieve",
        "ask.retrieving:retrieve",
        "get triplets, paths or a subgraph",
        RetrieveOptions,
    )
    add("view", "view.views:view", "make, list, show, compare or delete views", ViewOptions)
    add(
        "compare",
        "ask.comparing:compare",
        "one question on the base and on views of it, side by side",
        CompareOptions,
    )
    add("scorer", "view.scorers:scorer", "train, list or delete scorers of triples", ScorerOptions)
    add("answer", "answer.answering:answer", "answer questions with citations", AnswerOptions)
    add("prompt", "answer.prompting:prompt", "list the prompts, or show one", PromptOptions)
    add(
        "questions",
        "answer.question_files:questions",
        "look into a question file",
        QuestionsOptions,
    )
    _add_subverbs(verbs, "score", "score answers", "scores", SCORES)
    _add_subverbs(
        verbs, "rank", "rank relations by a question; train and measure that", "verbs", RANK_VERBS
    )
    add("serve", "serving:serve", "serve GraphQL over HTTP", ServeOptions)
    add("doctor", "doctor.doctor:doctor", "check the installation", DoctorOptions)
    add(
        "bench",
        "doctor.measuring:bench",
        "measure speed, or the quality of retrieval",
        BenchOptions,
    )
    add("demo", "demo:demo", "the whole line on the slice that ships with it", DemoOptions)
    add(
        "model",
        "doctor.doctor:model",
        "fetch or check the embedder's weights",
        ModelOptions,
    )
    add(
        "completion",
        "completion:completion",
        "print a script that completes verbs and options in your shell",
        CompletionOptions,
    )
    return parser


def _add_subverbs(
    verbs: Any, name: str, text: str, title: str, subverbs: Iterable[Subverb]
) -> None:
    """Adds a verb that is nothing without one of the words after it."""
    verb = verbs.add_parser(
        name, help=text, description=text, epilog=examples(EXAMPLES.get(name, ()))
    )
    words = verb.add_subparsers(title=title, metavar="WHAT", required=True)
    for each in subverbs:
        word = words.add_parser(
            each.name, help=each.help, description=each.help, epilog=examples(each.examples)
        )
        word.set_defaults(run=_verb(each.run), options=each.options)
        add_options(word, each.options)
