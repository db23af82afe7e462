"""Options of answer, prompt and questions."""

from __future__ import annotations

import argparse

SETTINGS = (
    "kalma",
    "kalma-numbered",
    "okgqa-zero",
    "okgqa-4shot",
    "okgqa-cot",
    "okgqa-sc",
    "okgqa-ircot",
    "ltgen-none",
    "ltgen-passages",
    "ltgen-triples",
    "ltgen-both",
)
"""Names of ``queries.generate.setting.Setting``; a test holds the two together."""

FORMATS = ("lines", "biokalma", "okgqa", "rubq")
"""Names of ``queries.datasets.cases.QuestionFormat``; a test holds the two together."""


def add_answer_options(verb: argparse.ArgumentParser, /) -> None:
    """Adds what answer takes beside the options of a retrieval."""
    verb.set_defaults(strategy="paths")
    verb.add_argument("--setting", choices=SETTINGS, default="kalma-numbered", metavar="S",
                      help="how the model is asked: " + ", ".join(SETTINGS))  # fmt: skip
    verb.add_argument("--model", metavar="NAME", help="chat model; without one, template text")
    verb.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible endpoint")
    verb.add_argument("--out", metavar="FILE", help="write answers as JSON lines; resumes by id")
    verb.add_argument("--server", metavar="URL", help="ask a graph-service that is served, "
                      "instead of opening a store")  # fmt: skip
    add_own_prompts(verb)
    known = verb.add_argument_group("knowledge")
    known.add_argument("--knowledge", choices=["retrieved", "gold", "none"], default="retrieved",
                       help="from a retrieval, from the question file's gold sets, or none")  # fmt: skip
    known.add_argument("--given-entities", action="store_true",
                       help="take the entities that the file names instead of linking")  # fmt: skip
    known.add_argument("--right-share", type=float, default=1.0, metavar="X",
                       help="with gold: share of the entities that keep their own facts")  # fmt: skip
    known.add_argument("--swap-seed", type=int, default=0, metavar="S", help="of that draw")
    known.add_argument("--passages", metavar="FILE",
                       help="JSON lines of id, title and text; or graph: those of the graph")  # fmt: skip
    known.add_argument("--passage-count", type=int, metavar="N", help="passages of a prompt")
    files = verb.add_argument_group("question file")
    add_question_file_options(files)
    drawn = verb.add_argument_group("replies")
    drawn.add_argument("--temperature", metavar="X", help="a number, or none to leave it to the "
                       "endpoint; default: the setting's")  # fmt: skip
    drawn.add_argument("--max-tokens", type=int, metavar="N", help="of a reply at most")
    drawn.add_argument("--random-seed", type=int, metavar="S", help="passed on to the endpoint")
    drawn.add_argument("--samples", type=int, metavar="N", help="of self-consistency (5)")
    drawn.add_argument("--join", choices=["overlap", "model"], help="how samples become one answer")
    drawn.add_argument("--steps", type=int, metavar="N", help="look-ups of IRCoT at most (4)")
    run = verb.add_argument_group("run")
    run.add_argument("--cache", metavar="FILE", help="keep replies here; default: beside --out")
    run.add_argument("--replay", metavar="FILE", help="answer from kept replies, with no endpoint")
    run.add_argument("--concurrency", type=int, default=1, metavar="N", help="requests at once (1)")
    add_limits(run)
    run.add_argument("--retry-failed", action="store_true", help="ask again what failed before")
    run.add_argument("--estimate", action="store_true", help="say what the run may take, and stop")


def add_question_file_options(
    group: argparse._ActionsContainer, /, *, language: str = "--language"
) -> None:
    """Adds how a question file is read; ``language`` is the option's name."""
    group.add_argument("--question-format", choices=FORMATS, help="when it is not recognised")
    group.add_argument(language, default="en", metavar="CODE", help="of RuBQ's: en or ru")
    group.add_argument("--first", type=int, metavar="N", help="only the first N questions")


def add_limits(group: argparse._ActionsContainer, /) -> None:
    """Adds what an endpoint allows, and what a run may take."""
    group.add_argument("--requests-a-minute", type=int, metavar="N", help="requests at most")
    group.add_argument("--tokens-a-minute", type=int, metavar="N", help="tokens at most")
    group.add_argument("--timeout", type=float, default=60.0, metavar="S", help="of one try (60)")
    group.add_argument("--call-limit", type=float, metavar="S",
                       help="of a request with all its tries")  # fmt: skip
    group.add_argument("--token-limit", type=int, metavar="N",
                       help="stop the run before it takes more")  # fmt: skip
    group.add_argument("--token-field", choices=["max_tokens", "max_completion_tokens"],
                       default="max_tokens", help="how the endpoint names the limit of a reply")  # fmt: skip


def add_own_prompts(verb: argparse.ArgumentParser, /) -> None:
    """Adds the option that puts one's own prompts in use."""
    verb.add_argument("--prompt", dest="prompt_files", action="append", default=[],
                      metavar="NAME=FILE", help="a prompt of your own in the place of the one of "
                      "this name (graph-service prompt list); may be repeated")  # fmt: skip


def add_prompt_options(verb: argparse.ArgumentParser, /) -> None:
    """Adds what prompt takes."""
    verb.add_argument("action", choices=["list", "show"])
    verb.add_argument("name", nargs="?", help="the prompt to show")
    add_own_prompts(verb)


def add_question_options(verb: argparse.ArgumentParser, /) -> None:
    """Adds what questions takes."""
    verb.add_argument("file", help="a question file, one's own or as published")
    add_question_file_options(verb)
    verb.add_argument("--specific", metavar="FILE", help="the same questions worded specifically, as "
                      "BioKaLMA has them: both wordings are taken, by kind")  # fmt: skip
    verb.add_argument("--out", metavar="FILE", help="write them as JSON lines")
    verb.add_argument("--triples", metavar="FILE", help="write the facts that the file gives, as a "
                      "table for load --columns head,relation,tail")  # fmt: skip
    verb.add_argument("--labels", metavar="FILE", help="and the names of their entities, for "
                      "load --labels")  # fmt: skip
    verb.add_argument("--known-to", metavar="GRAPH", help="only questions whose entities are all in "
                      "this graph")  # fmt: skip
    verb.add_argument("--base-iri", metavar="IRI", help="with --known-to: cut this off entities' ids "
                      "where the graph has bare names")  # fmt: skip
