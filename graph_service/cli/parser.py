"""The verbs and their options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from graph_service import __version__
from graph_service.cli.answer.options import AnswerOptions, PromptOptions, QuestionsOptions
from graph_service.cli.arguments import Parser, examples
from graph_service.cli.ask.options import RetrieveOptions
from graph_service.cli.doctor.measuring import add_bench
from graph_service.cli.examples import EXAMPLES
from graph_service.cli.graph.endpoint_options import add_endpoint_options
from graph_service.cli.graph.export_options import add_backup, add_export
from graph_service.cli.graph.load_options import add_filter_options, add_reading_options
from graph_service.cli.graph.longtail_options import add_pageviews, add_passages, add_sample
from graph_service.cli.options import Subverb, add_options
from graph_service.cli.rank.options import RANK_VERBS
from graph_service.cli.score.options import SCORES
from graph_service.cli.view.scorer_options import add_scorer
from graph_service.cli.view.view_options import add_compare, add_view_options


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

    _add_load(add("load", "graph.loading:load", "load a file or folder into a graph", store))
    graphs = add("graphs", "graph.loading:graphs", "list graphs, or delete one", store)
    graphs.add_argument("action", nargs="?", choices=["list", "delete"], default="list",
                        help="what to do (list)")  # fmt: skip
    graphs.add_argument("name", nargs="?", metavar="NAME", help="the graph to delete, with its "
                        "views, passages and page views")  # fmt: skip
    graphs.add_argument("--yes", action="store_true", help="delete without asking")
    add_export(add("export", "graph.exporting:export", "write a graph or a view to a file", graph))
    add_backup(
        add("backup", "graph.exporting:backup", "copy a store's file while it is in use", store)
    )
    add(
        "verify",
        "doctor.verifying:verify",
        "check that a store holds what its fingerprints claim",
        graph,
    )
    search = add("search", "ask.reading:search", "find entities by name", graph)
    search.add_argument("query", metavar="NAME", help="a name, or words of one")
    search.add_argument("--language", action="append", default=[], metavar="CODE",
                        help="only names in this language; may be repeated")  # fmt: skip
    search.add_argument("--limit", type=int, default=10, metavar="N", help="entities at most (10)")
    item = add("item", "ask.reading:item", "show an entity and its statements", graph)
    item.add_argument("id", metavar="ID", help="Q42, an IRI, or a short form such as dbr:Rome")
    item.add_argument("--view", metavar="V", help="a view: its name or id, or METHOD:LEVEL:SEED")
    item.add_argument("--relation", metavar="ID", help="only this relation")
    _add_label_language(item)
    item.add_argument("--limit", type=int, default=100, metavar="N",
                      help="statements at most (100)")  # fmt: skip
    add_passages(add("passages", "graph.passages:passages", "load, search, list or delete passages of "
                     "text beside a graph", graph))  # fmt: skip
    add_pageviews(add("pageviews", "graph.pageviews:pageviews", "load, fetch, show or delete the page "
                      "views of entities", graph))  # fmt: skip
    add_sample(
        add("sample", "graph.sampling:sample", "draw long-tail entities with their triples", graph)
    )
    add(
        "retrieve",
        "ask.retrieving:retrieve",
        "get triplets, paths or a subgraph",
        RetrieveOptions,
    )
    view = add("view", "view.views:view", "make, list, show, compare or delete views", graph)
    add_view_options(view)
    add_compare(add("compare", "ask.comparing:compare", "one question on the base and on views of it, "
                    "side by side", graph))  # fmt: skip
    add_scorer(
        add("scorer", "view.scorers:scorer", "train, list or delete scorers of triples", graph)
    )
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
    serve = add("serve", "serving:serve", "serve GraphQL over HTTP", graph)
    _add_serve(serve)
    doctor = add("doctor", "doctor.checking:doctor", "check the installation", graph)
    doctor.add_argument("--settings", action="store_true", help="list all settings")
    add_bench(
        add("bench", "doctor.measuring:bench", "measure speed, or the quality of retrieval", common)
    )
    demo = add("demo", "demo:demo", "the whole line on the slice that ships with it", common)
    demo.add_argument("--keep", metavar="FILE", help="keep the demo's store in this file")
    demo.add_argument("--random-seeds", type=int, default=10, metavar="N",
                      help="how many random seeds (10)")  # fmt: skip
    demo.add_argument("--model", metavar="NAME", help="answer by this chat model")
    demo.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible endpoint")
    model = add("model", "doctor.checking:model", "fetch or check the embedder's weights", common)
    model.add_argument("action", choices=["fetch", "check"], help="fetch them from the network "
                       "once, or check those that are there")  # fmt: skip
    model.add_argument("--to", metavar="FOLDER", help="where to put them")
    model.add_argument("--from", dest="base_url", metavar="URL", help="fetch from a mirror")
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


def _add_label_language(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--language", action="append", default=[], metavar="CODE",
                      help="language of labels (en); may be repeated, best first")  # fmt: skip


def _add_load(load: argparse.ArgumentParser) -> None:
    load.add_argument("source", metavar="SOURCE", help="a file (.gz .bz2 .xz too), a folder, - for stdin, or from "
                      "an endpoint wikidata:Q42 or dbpedia:Rome")  # fmt: skip
    load.add_argument("--graph", required=True, metavar="NAME", help="name of the graph")
    load.add_argument(
        "--replace", action="store_true", help="replace the graph, at once at the end"
    )
    add_reading_options(load)
    add_filter_options(load)
    add_endpoint_options(load)


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--host", default="127.0.0.1", metavar="ADDRESS",
                       help="the address to listen on (127.0.0.1)")  # fmt: skip
    serve.add_argument("--port", type=int, default=8000, metavar="N",
                       help="the port; 0 for any that is free (8000)")  # fmt: skip
    serve.add_argument("--writable", action="store_true", help="allow mutations")
    serve.add_argument("--insecure", action="store_true",
                       help="serve other machines without an API key")  # fmt: skip
    serve.add_argument("--allow-host", action="append", default=[], metavar="NAME",
                       help="answer under this name too, * for any; may be "
                       "repeated")  # fmt: skip
    serve.add_argument("--allow-origin", action="append", default=[], metavar="ORIGIN",
                       help="let pages of this origin call; may be repeated")  # fmt: skip
    serve.add_argument("--trust-snapshots", action="store_true", help="open snapshots without "
                       "checking their content (GRAPH_SERVICE_TRUST_SNAPSHOTS)")  # fmt: skip
    serve.add_argument("--no-graphiql", action="store_true", help="no page at GET /graphql")
    serve.add_argument("--threads", type=int, metavar="N", help="queries that run at once "
                       "(GRAPH_SERVICE_THREADS, then 8)")  # fmt: skip
