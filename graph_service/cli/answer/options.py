"""The options of answer, prompt and questions, and those that every verb takes that asks a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from graph_service.cli.ask.options import QuestionFileOptions, QuestionOptions
from graph_service.cli.options import (
    EmbedderOptions,
    GraphOptions,
    StoreOptions,
    VerbOptions,
    request,
)
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.options import option, options_of

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
    "answer-list",
)
"""Names of ``queries.generate.setting.Setting``; a test holds the two together."""

OF_RETRIEVAL = tuple(name for name in options_of(RetrieveRequest) if name != "question_vector")
"""Options of a retrieval that are the same for every question of a file."""


@dataclass(frozen=True, kw_only=True)
class ChatModelOptions:
    """Which chat model is asked."""

    GROUP: ClassVar[str] = "model"

    model: str | None = option(None, help="the chat model", metavar="NAME")
    model_url: str | None = option(None, help="an OpenAI-compatible endpoint", metavar="URL")


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """What the model's endpoint allows, and what a run may take of it."""

    GROUP: ClassVar[str] = "model"

    requests_a_minute: int | None = option(None, help="requests at most", least=1)
    tokens_a_minute: int | None = option(None, help="tokens at most", least=1)
    timeout: float = option(60.0, help="of one try, in seconds", least=0, metavar="S")
    call_limit: float | None = option(
        None, help="of a request with all its tries, in seconds", least=0, metavar="S"
    )
    token_limit: int | None = option(None, help="stop the run before it takes more", least=1)
    token_field: Literal["max_tokens", "max_completion_tokens"] = option(
        "max_tokens", help="how the endpoint names the limit of a reply"
    )


@dataclass(frozen=True, kw_only=True)
class ReplyCacheOptions:
    """Where a model's replies are kept, or taken from."""

    GROUP: ClassVar[str] = "model"

    cache: str | None = option(
        None, help="keep replies here; default: beside --out, if there is one", metavar="FILE"
    )
    replay: str | None = option(
        None, help="take the replies kept here, with no endpoint", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class OwnPromptOptions:
    """Which prompts of one's own are put in use."""

    GROUP: ClassVar[str] = "model"

    prompts: tuple[str, ...] = option(
        (),
        help="a prompt of your own in the place of the one of this name (graph-service prompt list)",
        metavar="NAME=FILE",
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run over many cases goes, and where its lines are kept."""

    GROUP: ClassVar[str] = "run"

    out: str | None = option(
        None,
        help="write the cases as JSON lines; goes on by id, nothing is asked twice",
        metavar="FILE",
    )
    retry_failed: bool = option(False, help="do again what failed before", needs=("out",))
    concurrency: int = option(1, help="cases at once", least=1)


@dataclass(frozen=True, kw_only=True)
class FileEntityOptions:
    """Whether the entities of a question are those of its file."""

    GROUP: ClassVar[str] = "knowledge"

    given_entities: bool = option(
        False,
        help="take the entities that the file names instead of linking",
        needs=("questions",),
    )


@dataclass(frozen=True, kw_only=True)
class KnowledgeOptions(FileEntityOptions):
    """Where the knowledge of a prompt comes from."""

    GROUP: ClassVar[str] = "knowledge"

    knowledge: str = option(
        "retrieved",
        help="from a retrieval, from the question file's gold sets, or none",
        choices=("retrieved", "gold", "none"),
    )
    right_share: float = option(
        1.0, help="with gold: share of the entities that keep their own facts", least=0, most=1
    )
    swap_seed: int = option(0, help="random seed of that draw", metavar="S")
    passages: str | None = option(
        None,
        help="JSON lines of id, title and text; or graph: those of the graph",
        metavar="FILE",
    )
    passage_count: int | None = option(None, help="passages of a prompt", needs=("passages",))


@dataclass(frozen=True, kw_only=True)
class ReplyOptions:
    """How replies are drawn; the setting's where None."""

    GROUP: ClassVar[str] = "replies"

    temperature: str | None = option(
        None,
        help="a number, or none to leave it to the endpoint; default: the setting's",
        metavar="X",
    )
    max_tokens: int | None = option(None, help="of a reply at most")
    random_seed: int | None = option(None, help="passed on to the model", metavar="S")
    samples: int | None = option(None, help="of self-consistency (5)")
    join: str | None = option(
        None, help="how samples become one answer", choices=("overlap", "model")
    )
    steps: int | None = option(None, help="look-ups of IRCoT at most (4)")


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(
    GraphOptions,
    EmbedderOptions,
    RunOptions,
    OwnPromptOptions,
    ReplyCacheOptions,
    EndpointOptions,
    ChatModelOptions,
    ReplyOptions,
    KnowledgeOptions,
    QuestionOptions,
):
    """What ``answer`` takes.

    Attributes:
        request: How knowledge is fetched; of a question file each question has its own.
    """

    server: str | None = option(
        None, help="ask a graph-service that is served, instead of opening a store", metavar="URL"
    )
    setting: str = option("kalma-numbered", help="how the model is asked", choices=SETTINGS)
    model: str | None = option(
        None, help="the chat model; without one, template text", metavar="NAME"
    )
    estimate: bool = option(False, help="say what the run may take, and stop")
    strategy: Strategy = option(
        Strategy.PATHS, help="what is retrieved: triplets, paths or a subgraph"
    )
    ranker: str | None = option(
        None,
        help="preset ltgen: what ranks relations: embedding, trained, trained:NAME as rank list shows "
        "it, model, or a file that rank train wrote (embedding)",
        metavar="R",
    )
    amr: str | None = option(
        None,
        help="AMR parses in Penman notation, by `# ::id` of the question, for a ranker's file that "
        "was trained with some",
        metavar="FILE",
    )
    request: RetrieveRequest = request(RetrieveRequest, only=OF_RETRIEVAL, question="")


@dataclass(frozen=True, kw_only=True)
class PromptOptions(VerbOptions, OwnPromptOptions):
    """The options of ``prompt`` on the command line."""

    action: str = option(help="what to do", choices=("list", "show"), is_word=True)
    name: str | None = option(None, help="the prompt to show", metavar="NAME", is_word=True)


@dataclass(frozen=True, kw_only=True)
class QuestionsOptions(StoreOptions, QuestionFileOptions):
    """The options of ``questions`` on the command line."""

    file: str = option(
        help="a question file, one's own or as published", metavar="FILE", is_word=True
    )
    specific: str | None = option(
        None,
        help="the same questions worded specifically, as BioKaLMA has them: both wordings are "
        "taken, by kind",
        metavar="FILE",
    )
    out: str | None = option(None, help="write them as JSON lines", metavar="FILE")
    triples: str | None = option(
        None,
        help="write the facts that the file gives, as a table for load --columns head,relation,tail",
        metavar="FILE",
    )
    labels: str | None = option(
        None, help="and the names of their entities, as a table of labels for load", metavar="FILE"
    )
    known_to: str | None = option(
        None, help="only questions whose entities are all in this graph", metavar="GRAPH"
    )
    base_iri: str = option(
        "",
        help="with --known-to: cut this off entities' ids where the graph has bare names",
        metavar="IRI",
    )
