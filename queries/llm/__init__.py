"""The seam to language models: a chat endpoint, or replies that were recorded.

``OpenAIChat`` speaks to any endpoint of the chat completions protocol through the openai
package, which is imported when the first question is asked. ``RecordedChat`` keeps replies in a
file of JSON lines, keyed by the whole request, and gives them again without any endpoint. An
answer without a model is made by ``queries.generate.verbalise``.

What goes wrong is told apart by who can act: ``SetupError`` (wrong key, unknown model or
address), ``LimitError`` (the run's tokens or the account's credit are spent), and ``ReplyError``
for one request that got no usable reply: it becomes a recorded failure of that case.
"""

from __future__ import annotations

from queries.llm.chat import (
    ChatModel,
    Message,
    Reply,
    ReplyError,
    ReplyFault,
    TokenMeter,
    Usage,
    estimate_tokens,
)
from queries.llm.endpoint import OpenAIChat, RetryPolicy, retry_after_s
from queries.llm.recorded import ChatRequest, RecordedChat, open_recorded

__all__ = [
    "ChatModel",
    "ChatRequest",
    "Message",
    "OpenAIChat",
    "RecordedChat",
    "Reply",
    "ReplyError",
    "ReplyFault",
    "RetryPolicy",
    "TokenMeter",
    "Usage",
    "estimate_tokens",
    "open_recorded",
    "retry_after_s",
]
