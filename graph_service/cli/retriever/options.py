"""The options of retriever: one dataclass for each of its verbs."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.answer.options import ChatModelOptions, EndpointOptions
from graph_service.cli.ask.options import QUESTION_FORMATS
from graph_service.cli.options import EmbedderOptions, GraphOptions, StoreOptions, Subverb
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class TrainOptions(GraphOptions, EmbedderOptions, ChatModelOptions, EndpointOptions):
    """The options of ``retriever train`` on the command line."""

    questions: str | None = option(
        None,
        help="your own questions with relations, gold statements or answers; without them the graph's "
        "walks alone are learned",
        metavar="FILE",
    )
    question_format: str | None = option(
        None, help="format of the file, if it is not recognised", choices=QUESTION_FORMATS
    )
    question_language: str = option("en", help="of RuBQ's: en or ru", metavar="CODE")
    walks: int = option(600, help="questions made of the graph's walks", least=1, metavar="N")
    kept_aside: float = option(
        0.3,
        help="share of the questions that are not trained on, and decide whether the weights "
        "are used, from 0.05 to 0.9",
        metavar="S",
    )
    paraphrases: int = option(
        0, help="wordings that the chat model makes of each question learned", least=0, metavar="N"
    )
    random_seed: int = option(0, help="of all draws", metavar="S", least=0)
    out: str | None = option(None, help="write the weights to this file too (.npz)", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class AddOptions(GraphOptions):
    """The options of ``retriever add`` on the command line."""

    file: str = option(help="a file that retriever train --out wrote", metavar="FILE", is_word=True)


@dataclass(frozen=True, kw_only=True)
class ListOptions(StoreOptions):
    """The options of ``retriever list`` on the command line."""


@dataclass(frozen=True, kw_only=True)
class DeleteOptions(GraphOptions):
    """The options of ``retriever delete`` on the command line."""


RETRIEVER_VERBS = (
    Subverb(
        "train",
        "retriever.training:train",
        "train the weights of preset default-6 on a graph",
        TrainOptions,
        (
            "retriever train --graph demo",
            "retriever train --graph demo --questions mine.jsonl",
            "retriever train --graph demo --paraphrases 3 --model qwen3 "
            "--model-url http://127.0.0.1:11434/v1",
        ),
    ),
    Subverb(
        "add",
        "retriever.training:add",
        "put the weights of a file into the store, for a graph",
        AddOptions,
        ("retriever add demo.npz --graph demo",),
    ),
    # ``list`` is a name of Python's own.
    Subverb(
        "list",
        "retriever.training:list_",
        "list the graphs that have trained weights, with their figures",
        ListOptions,
        ("retriever list",),
    ),
    Subverb(
        "delete",
        "retriever.training:delete",
        "delete the trained weights of a graph",
        DeleteOptions,
        ("retriever delete --graph demo",),
    ),
)
"""The words of ``retriever``."""
