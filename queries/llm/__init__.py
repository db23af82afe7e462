"""The seam to language models: a chat endpoint, or replies that were kept.

``OpenAIChat`` speaks to any endpoint of the chat completions protocol through the openai
package, which is imported when the first question is asked. ``CachedChat`` keeps replies in a
SQLite file, keyed by the whole request, and replays them without any endpoint. An answer without a
model is made by ``queries.generate.verbalise``.

What goes wrong is told apart by who can act: ``SetupError`` (wrong key, unknown model or
address), ``LimitError`` (the run's tokens or the account's credit are spent), and ``ReplyError``
for one request that got no usable reply: it becomes a recorded failure of that case.
"""

from __future__ import annotations

from graph_service.http.retry import RetryPolicy, retry_after_s
from queries.llm.cache import CachedChat, ReplyCache, open_cache
from queries.llm.chat import (
    ChatModel,
    ChatOptions,
    JsonForm,
    Message,
    Rendered,
    Reply,
    ReplyError,
    ReplyFault,
    TokenChance,
    TokenChoice,
    TokenMeter,
    Usage,
    estimate_tokens,
    label_of,
    set_aside,
)
from queries.llm.echo import EchoedPrompt
from queries.llm.endpoint import OpenAIChat
from queries.llm.pace import Pace
from queries.llm.request import ChatRequest

__all__ = [
    "CachedChat",
    "ChatModel",
    "ChatOptions",
    "ChatRequest",
    "EchoedPrompt",
    "JsonForm",
    "Message",
    "OpenAIChat",
    "Pace",
    "Rendered",
    "Reply",
    "ReplyCache",
    "ReplyError",
    "ReplyFault",
    "RetryPolicy",
    "TokenChance",
    "TokenChoice",
    "TokenMeter",
    "Usage",
    "estimate_tokens",
    "label_of",
    "open_cache",
    "retry_after_s",
    "set_aside",
]
