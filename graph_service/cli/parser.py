"""The verbs and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graph_service import __version__
from graph_service.cli.arguments import Parser, examples
from graph_service.cli.examples import EXAMPLES

if TYPE_CHECKING:
    from graph_service.cli.options import Subverb, SubverbGroup


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the command line. Names are of modules below ``graph_service.cli``.

    Attributes:
        name: The verb.
        help: What it does.
        options: ``module:Class`` of its options; of a verb with words after it ``module:NAME`` of
            a ``Subverb`` each.
        run: ``module:function`` that it calls; "" for a verb with words after it.
    """

    name: str
    help: str
    options: str
    run: str = ""


VERBS = (
    Verb(
        "load",
        "load a file or folder into a graph",
        "graph.options:LoadVerbOptions",
        "graph.loading:load",
    ),
    Verb(
        "graphs",
        "list graphs, or delete one",
        "graph.options:GraphsOptions",
        "graph.loading:graphs",
    ),
    Verb(
        "export",
        "write a graph or a view to a file",
        "graph.options:ExportOptions",
        "graph.exporting:export",
    ),
    Verb(
        "backup",
        "copy a store's file while it is in use",
        "graph.options:BackupOptions",
        "graph.exporting:backup",
    ),
    Verb(
        "snapshot",
        "move a graph's arrays between machines: push, pull",
        "graph.snapshot_options:SNAPSHOT_VERBS",
    ),
    Verb(
        "verify",
        "check that a store holds what its fingerprints claim",
        "options:GraphOptions",
        "doctor.verifying:verify",
    ),
    Verb("search", "find entities by name", "ask.options:SearchOptions", "ask.reading:search"),
    Verb(
        "item", "show an entity and its statements", "ask.options:ItemOptions", "ask.reading:item"
    ),
    Verb(
        "passages",
        "load, search, list or delete passages of text beside a graph",
        "graph.options:PassagesOptions",
        "graph.passages:passages",
    ),
    Verb(
        "pageviews",
        "load, fetch, show or delete the page views of entities",
        "graph.options:PageviewsOptions",
        "graph.pageviews:pageviews",
    ),
    Verb(
        "sample",
        "draw long-tail entities with their triples",
        "graph.options:SampleOptions",
        "graph.sampling:sample",
    ),
    Verb(
        "retrieve",
        "get triplets, paths or a subgraph",
        "ask.options:RetrieveOptions",
        "ask.retrieving:retrieve",
    ),
    Verb(
        "view",
        "make, list, show, compare or delete views",
        "view.options:ViewOptions",
        "view.views:view",
    ),
    Verb(
        "compare",
        "one question on the base and on views of it, side by side",
        "ask.compare_options:CompareOptions",
        "ask.comparing:compare",
    ),
    Verb(
        "scorer",
        "train, list or delete scorers of triples",
        "view.options:ScorerOptions",
        "view.scorers:scorer",
    ),
    Verb(
        "answer",
        "answer questions with citations",
        "answer.options:AnswerOptions",
        "answer.answering:answer",
    ),
    Verb(
        "prompt",
        "list the prompts, or show one",
        "answer.options:PromptOptions",
        "answer.prompting:prompt",
    ),
    Verb(
        "questions",
        "look into a question file",
        "answer.options:QuestionsOptions",
        "answer.question_files:questions",
    ),
    Verb("score", "score answers", "score.options:SCORES"),
    Verb(
        "experiment",
        "robustness experiments as files: plan, run, report, compare, publish",
        "experiment.options:EXPERIMENTS",
    ),
    Verb(
        "robustness",
        "frozen sets of questions and perturbed views: list, make, run, verify",
        "robustness.options:ROBUSTNESS",
    ),
    Verb(
        "papers",
        "make the tables of the four papers with a model of your own",
        "papers.options:PAPERS",
    ),
    Verb(
        "dataset",
        "make question sets of a graph and a chat model, check them, describe them",
        "dataset.options:DATASETS",
    ),
    Verb("rank", "rank relations by a question; train and measure that", "rank.options:RANK_VERBS"),
    Verb(
        "retriever",
        "train the weights of preset default-6 on your graph",
        "retriever.options:RETRIEVER_VERBS",
    ),
    Verb(
        "cluster",
        "draw views of a whole graph by Spark or Sail",
        "cluster.options:CLUSTER_VERBS",
    ),
    Verb("serve", "serve GraphQL over HTTP", "serve_options:ServeOptions", "serving:serve"),
    Verb(
        "documents",
        "print the GraphQL documents of the Python client or the explorer, for serve --documents",
        "documents_options:DocumentsOptions",
        "documents:documents",
    ),
    Verb("keys", "make, list or revoke API keys", "keys_options:KEY_VERBS"),
    Verb(
        "mcp",
        "serve tools for language models by the Model Context Protocol",
        "mcp_options:McpOptions",
        "mcp_serving:mcp",
    ),
    Verb(
        "doctor", "check the installation", "doctor.options:DoctorOptions", "doctor.doctor:doctor"
    ),
    Verb(
        "bench",
        "measure what retrieval finds for questions with known answers",
        "doctor.options:BenchOptions",
        "doctor.measuring:bench",
    ),
    Verb(
        "demo",
        "the first minute, on a graph that ships with it",
        "demo.options:DemoOptions",
        "demo.running:demo",
    ),
    Verb(
        "model",
        "fetch or check the embedder's weights",
        "doctor.options:ModelOptions",
        "doctor.doctor:model",
    ),
    Verb(
        "completion",
        "print a script that completes verbs and options in your shell",
        "completion:CompletionOptions",
        "completion:completion",
    ),
)


def make_parser(words: Sequence[str] | None = None, /) -> argparse.ArgumentParser:
    """Returns the parser of the command line.

    Args:
        words: What is going to be parsed, so that the options of no other verb are imported; None
            for those of all verbs.
    """
    parser = Parser(
        prog="graph-service",
        description="A knowledge-graph service for language models.",
        epilog="Begin with: graph-service demo\nEach verb says more: graph-service VERB --help",
    )
    parser.add_argument("--version", action="version", version=f"graph-service {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for each in VERBS:
        verb = verbs.add_parser(
            each.name,
            help=each.help,
            description=each.help,
            epilog=examples(EXAMPLES.get(each.name, ())),
        )
        if words is None or each.name in words[:1]:
            _add_options(verb, each)
    return parser


def _add_options(verb: argparse.ArgumentParser, each: Verb) -> None:
    from graph_service.cli.options import add_options

    options = _find(each.options)
    if each.run:
        verb.set_defaults(run=_imported_when_called(each.run), options=options)
        add_options(verb, options)
    else:
        _add_words(verb, options)


def _add_words(verb: argparse.ArgumentParser, subverbs: Sequence[Subverb | SubverbGroup]) -> None:
    from graph_service.cli.options import Subverb, add_options

    words = verb.add_subparsers(title="verbs", metavar="WHAT", required=True)
    for subverb in subverbs:
        shown = subverb.examples if isinstance(subverb, Subverb) else ()
        word = words.add_parser(
            subverb.name, help=subverb.help, description=subverb.help, epilog=examples(shown)
        )
        if isinstance(subverb, Subverb):
            word.set_defaults(run=_imported_when_called(subverb.run), options=subverb.options)
            add_options(word, subverb.options)
        else:
            _add_words(word, subverb.words)


def _imported_when_called(name: str) -> Callable[..., int]:
    def run(*arguments: Any) -> int:
        code: int = _find(name)(*arguments)
        return code

    return run


def _find(name: str) -> Any:
    module, attribute = name.split(":")
    return getattr(import_module(f"graph_service.cli.{module}"), attribute)
