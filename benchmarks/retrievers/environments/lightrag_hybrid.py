"""LightRAG's hybrid retrieval over the statements as a graph of its own (``insert_custom_kg``).

LightRAG has a model draw keywords from the question. Here the question itself is both its low-level
and its high-level keyword, so no model is asked; what keywords a model would choose is not shown.
LightRAG holds one edge for two entities: all statements between them are its description, and come
together.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Sequence
from typing import Any

from lightrag import LightRAG, QueryParam
from lightrag.kg.shared_storage import finalize_share_data, initialize_share_data
from lightrag.utils import EmbeddingFunc, Tokenizer, normalize_entity_name
from worker import Embed, Request, serve


class Characters:
    """Counts characters as tokens: the tokenizer that comes with it is fetched at first use."""

    def encode(self, content: str) -> list[int]:
        """Returns a number for each character."""
        return [ord(sign) for sign in content]

    def decode(self, tokens: list[int]) -> str:
        """Returns the text again."""
        return "".join(map(chr, tokens))


async def no_model(*_: Any, **__: Any) -> str:
    """Fails: no model is to be asked."""
    raise RuntimeError("LightRAG asked for a model")


def rank(request: Request, embed: Embed) -> Sequence[int]:
    """Returns the statements of the relations that it retrieves, in its order."""
    return asyncio.run(retrieved(request, embed))


async def retrieved(request: Request, embed: Embed) -> list[int]:
    """Makes the graph, asks it, and returns the statements."""
    # It strips what it takes for no part of a name, and refuses a name of which nothing is left.
    names = [
        normalize_entity_name(name) or normalize_entity_name(f"entity {name}")
        for name in request.nodes
    ]
    between: dict[tuple[str, str], list[int]] = {}
    for index, (head, tail) in enumerate(zip(request.head, request.tail, strict=True)):
        first, second = sorted((names[head], names[tail]))
        if first != second:
            between.setdefault((first, second), []).append(index)
    if not between:
        return []

    async def vectors(texts: list[str]) -> Any:
        return embed(texts)

    with tempfile.TemporaryDirectory() as folder:
        rag = LightRAG(
            working_dir=folder,
            llm_model_func=no_model,
            embedding_func=EmbeddingFunc(embedding_dim=384, max_token_size=8192, func=vectors),
            tokenizer=Tokenizer("characters", Characters()),
            enable_llm_cache=False,
            embedding_func_max_async=1,
        )
        initialize_share_data()
        await rag.initialize_storages()
        source = {"source_id": "statements"}
        await rag.ainsert_custom_kg(
            {
                "chunks": [],
                "entities": [
                    {"entity_name": name, "entity_type": "thing", "description": name, **source}
                    for name in dict.fromkeys(names)
                ],
                "relationships": [
                    {
                        "src_id": first,
                        "tgt_id": second,
                        "description": ". ".join(request.sentences[index] for index in rows),
                        "keywords": ", ".join(
                            request.relations[request.relation[index]] for index in rows
                        ),
                        **source,
                    }
                    for (first, second), rows in between.items()
                ],
            }
        )
        result = await rag.aquery_data(
            request.question,
            QueryParam(
                mode="hybrid",
                hl_keywords=[request.question],
                ll_keywords=[request.question],
                max_relation_tokens=1_000_000,
                max_entity_tokens=1_000_000,
                max_total_tokens=3_000_000,
                enable_rerank=False,
            ),
        )
        await rag.finalize_storages()
    finalize_share_data()
    order = []
    for relation in (result.get("data") or {}).get("relationships") or []:
        first, second = sorted((relation["src_id"], relation["tgt_id"]))
        order += between.get((first, second), [])
    return order


logging.disable(logging.WARNING)
serve(rank)
