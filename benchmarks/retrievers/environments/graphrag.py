"""neo4j-graphrag's ``VectorRetriever`` and ``HybridRetriever`` over statements in a real Neo4j.

Each distinct statement is a node with its text and MiniLM's vector, in a vector and a full-text
index. The retriever searches all statements that it was shown so far; of what it finds, the
statements around the question's entities count.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from uuid import uuid4

from neo4j import GraphDatabase
from neo4j_graphrag.indexes import (
    create_fulltext_index,
    create_vector_index,
    drop_index_if_exists,
)
from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever
from worker import Embed, Request, serve

MOST = 5000
"""Statements that a search returns at most."""
_ADD = "UNWIND $rows AS row CREATE (n:{label} {{text: row.text, vector: row.vector}})"
_REMOVE = "MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS"
_ESCAPED = '+-&|!(){}[]^"~*?:\\/'


def main(kind: str) -> None:
    """Answers by the retriever of a kind, ``vector`` or ``hybrid``."""
    label = f"Statement_{uuid4().hex[:8]}"
    vectors, words = f"vectors_{label}", f"words_{label}"
    user, password = os.environ.get("NEO4J_USERNAME"), os.environ.get("NEO4J_PASSWORD")
    auth = (user, password or "") if user else None
    with GraphDatabase.driver(os.environ["NEO4J_URI"], auth=auth) as driver:
        create_vector_index(
            driver, vectors, label, "vector", dimensions=384, similarity_fn="cosine"
        )
        create_fulltext_index(driver, words, label, ["text"])
        driver.execute_query("CALL db.awaitIndexes(120)")
        if kind == "vector":
            retriever = VectorRetriever(driver, vectors, return_properties=["text"])
        else:
            retriever = HybridRetriever(driver, vectors, words, return_properties=["text"])
        known: set[str] = set()

        def rank(request: Request, embed: Embed) -> Sequence[int]:
            new = [text for text in dict.fromkeys(request.sentences) if text not in known]
            if new:
                rows = [
                    {"text": text, "vector": vector.tolist()}
                    for text, vector in zip(new, embed(new), strict=True)
                ]
                driver.execute_query(_ADD.format(label=label), rows=rows)
                driver.execute_query(
                    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()"
                )
                known.update(new)
            [vector] = embed([request.question])
            top = min(MOST, len(known))
            if kind == "vector":
                result = retriever.get_search_results(query_vector=vector.tolist(), top_k=top)
            else:
                # Lucene reads its own signs in a query.
                text = "".join(" " if sign in _ESCAPED else sign for sign in request.question)
                result = retriever.get_search_results(
                    query_text=text, query_vector=vector.tolist(), top_k=top
                )
            numbers: dict[str, list[int]] = {}
            for index, text in enumerate(request.sentences):
                numbers.setdefault(text, []).append(index)
            return [
                index
                for record in result.records
                for index in numbers.get(record["node"]["text"], ())
            ]

        try:
            serve(rank)
        finally:
            drop_index_if_exists(driver, vectors)
            drop_index_if_exists(driver, words)
            with driver.session() as session:
                session.run(_REMOVE.format(label=label)).consume()


main(sys.argv[1])
