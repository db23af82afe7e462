"""The options of the verb ``compare``."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.answer.options import ChatModelOptions
from graph_service.cli.options import EmbedderOptions, GraphOptions, request
from graph_service.model.request import RetrieveRequest
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class CompareOptions(GraphOptions, EmbedderOptions, ChatModelOptions):
    """The options of ``compare`` on the command line."""

    question: str = option(help="one question, in quotes", metavar="QUESTION", is_word=True)
    views: tuple[str, ...] = option(
        help="views beside the base: a name or id, or METHOD:LEVEL:SEED",
        metavar="VIEW",
        is_word=True,
    )
    request: RetrieveRequest = request(
        RetrieveRequest, only=("strategy", "preset", "entity_ids", "limit"), question=""
    )
