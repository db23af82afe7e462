"""The ids of records in Neo4j: stores that were written before have them."""

from __future__ import annotations

import hashlib

from graph_service.store.neo4j.records import record_id


def test_a_record_has_the_id_that_it_was_written_under() -> None:
    # Worked out beside the code: the length of the kind parts it from the key.
    digest = hashlib.blake2b(b"4:viewdemo@1/v", digest_size=16).hexdigest()
    assert record_id("view", "demo@1/v") == digest
    assert len(digest) == 32
    assert record_id("vie", "wdemo@1/v") != digest
