"""What a result shows as linked, by the linker alone and by linking and retrieval together."""

from __future__ import annotations

from demo_graph import ARNOLD, MARIA, request

from graph_service import Service
from graph_service.link.starts import start_candidates
from graph_service.retrieve.preset import DEFAULT
from graph_service.service.linking import OpenGraph, QuestionLinker


def test_linking_with_retrieval_shows_what_it_used(demo_service: Service) -> None:
    info = demo_service.graph()
    base = OpenGraph(info, demo_service.arrays(info))
    linker = QuestionLinker(demo_service.store)
    asked = request("What did Schwarzenegger and his wife Maria Shriver found?")
    alone = linker.link(base, asked, DEFAULT)
    candidates = start_candidates(asked.question, base.arrays, languages=asked.languages)
    assert [one.entity.id for one in alone.entities] == [MARIA]

    unused = linker.link_jointly(base, asked, candidates, [])
    assert [one.entity for one in unused.entities] == [one.entity for one in alone.entities]
    assert unused.mentions == alone.mentions
    assert not len(unused.start_entities)

    arnold = base.arrays.find_node(ARNOLD)
    assert arnold is not None
    used = linker.link_jointly(base, asked, candidates, [arnold, arnold])
    assert used.start_entities.tolist() == [arnold]
    first, second = used.entities
    assert (first.entity.id, first.mention) == (ARNOLD, "Schwarzenegger")
    assert second == unused.entities[0]
    assert first.entity.description
    assert len(first.alternatives) <= 5
