"""Groups of equal entities, and regions through them, beside brute force."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
from graph_builder import build_graph, node_of
from hypothesis import example, given
from hypothesis import strategies as st

from graph_service.model.equal_entities import (
    MOST_MEMBERS,
    EqualEntities,
    NotMerged,
    merge_entities,
    source_of_id,
)
from graph_service.model.graph_arrays import Int64
from graph_service.model.identity import content_statement_id
from graph_service.retrieve.region.cut import extract_region

NUMBERS = st.integers(0, 120)
LINKS = st.lists(st.tuples(NUMBERS, NUMBERS), max_size=70)


def groups_by_brute_force(links: list[tuple[int, int]]) -> list[set[int]]:
    groups: list[set[int]] = []
    for link in links:
        touched = [group for group in groups if group & {*link}]
        groups = [group for group in groups if group not in touched]
        groups.append({*link}.union(*touched))
    return [group for group in groups if len(group) > 1]


@given(LINKS, st.integers(2, 60))
@example([(number, number + 1) for number in range(MOST_MEMBERS - 1)], 1)
@example([(number, number + 1) for number in range(MOST_MEMBERS)], 1)
def test_groups_are_what_links_join(links: list[tuple[int, int]], sources: int) -> None:
    """Every group is merged, or too large, or has two ids of one source; ids of none never do."""

    def source(entity: int) -> str:
        # Of 120 entities every third has no source.
        return "" if entity % 3 == 0 or sources == 1 else f"s{entity % sources}"

    def sources_of(entities: Int64) -> list[str]:
        return [source(entity) for entity in entities.tolist()]

    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    merged = merge_entities(ends[:, 0], ends[:, 1], sources_of)
    expected: dict[frozenset[int], NotMerged | None] = {}
    for group in groups_by_brute_force(links):
        named = [source(entity) for entity in group if source(entity)]
        reason = NotMerged.ONE_SOURCE if len(named) > len({*named}) else None
        expected[frozenset(group)] = NotMerged.TOO_MANY if len(group) > MOST_MEMBERS else reason
    equal = merged.equal
    assert {frozenset(equal.of_group(number)) for number in range(equal.group_count)} == {
        group for group, reason in expected.items() if reason is None
    }
    assert {frozenset(group.members): group.reason for group in merged.unmerged} == {
        group: reason for group, reason in expected.items() if reason is not None
    }
    assert equal.members.tolist() == sorted(equal.members.tolist())
    entities = np.arange(121)
    things = {entity: {entity} for entity in range(121)}
    for members_of, reason in expected.items():
        if reason is None:
            things.update(dict.fromkeys(members_of, {*members_of}))
    members, owner = equal.gather(entities)
    for entity in range(121):
        assert {*members[owner == entity].tolist()} == things[entity]
    assert equal.things(entities).tolist() == [min(things[entity]) for entity in range(121)]
    some = entities[::7]
    joined = {entity for entity in some.tolist() if len(things[entity]) > 1}
    for table in (0, 1 << 18):
        # Of many groups none is looked up in a table of all.
        with patch("graph_service.model.equal_entities._TABLE", table):
            others = sorted(equal.others(some).tolist())
        assert others == sorted(set().union(*(things[e] for e in joined)))
    as_nodes = EqualEntities.build(equal.members.astype(np.int32), equal.group.astype(np.int64))
    assert as_nodes.groups_of(entities).tolist() == equal.groups_of(entities).tolist()
    # Among a part of the entities the groups are those of the part.
    part = entities[entities % 2 == 0]
    among = equal.among(part)
    assert {
        frozenset(part[among.of_group(number)].tolist()) for number in range(among.group_count)
    } == {
        frozenset(rest)
        for thing in map(frozenset, things.values())
        if len(rest := {entity for entity in thing if entity % 2 == 0}) > 1
    }


def test_the_source_of_an_id() -> None:
    for id_, source in (
        ("Q42", "www.wikidata.org"),
        ("http://DBpedia.org/resource/Rome?x", "dbpedia.org"),
        ("https://d-nb.info/gnd/1", "d-nb.info"),
        ("dbr:Rome", "dbr"),
        ("urn:isbn:1", "urn"),
        ("Rome", ""),
        ("Alien: Covenant", ""),
        ("Star Wars:IV", ""),
        ("", ""),
    ):
        assert source_of_id(id_) == source, id_


NAMES = [f"{source}:{number}" for number in range(6) for source in "abc"]
TRIPLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from("pqr"), st.sampled_from(NAMES)),
    min_size=1,
    max_size=40,
    unique=True,
)


@given(
    TRIPLES,
    st.lists(st.integers(0, 5), min_size=len(NAMES), max_size=len(NAMES)),
    st.integers(0, 3),
    st.sampled_from([None, 1, 3, 6]),
    st.sampled_from([3, 10, 1000]),
)
def test_a_region_is_that_of_the_graph_with_merged_ids(
    triples: list[tuple[str, str, str]],
    thing_of: list[int],
    hops: int,
    hub_degree: int | None,
    max_edges: int,
) -> None:
    """Whatever the things are: the same statements, steps, degrees and cuts."""
    thing = dict(zip(NAMES, thing_of, strict=True))
    ids = [content_statement_id(head, rel, tail) for head, rel, tail in triples]
    linked = build_graph(triples, statement_ids=ids)
    nodes = np.arange(linked.entity_count, dtype=np.int32)
    names = linked.node_ids.take(nodes)
    label = np.array([thing[name] for name in names], dtype=np.int64)
    linked = replace(linked, equal=EqualEntities.build(nodes, label))
    merged = build_graph(
        [(f"t{thing[head]}", rel, f"t{thing[tail]}") for head, rel, tail in triples],
        statement_ids=ids,
    )
    start = triples[0][0]
    limits = {"hops": max(hops, 1), "max_edges": max_edges, "hub_degree": hub_degree}
    one = extract_region(linked, [node_of(linked, start)], equal=linked.equal, **limits)  # type: ignore[arg-type]
    two = extract_region(merged, [node_of(merged, f"t{thing[start]}")], **limits)  # type: ignore[arg-type]
    assert one.edge_keys.tolist() == two.edge_keys.tolist()
    assert one.cuts == two.cuts
    hops_of: dict[str, int] = {}
    degrees: dict[str, int] = {}
    for node, hop, degree in zip(
        one.nodes.tolist(), one.hops.tolist(), one.degrees.tolist(), strict=True
    ):
        name = f"t{thing[linked.node_ids[node]]}"
        assert hops_of.setdefault(name, hop) == hop
        degrees[name] = degrees.get(name, 0) + degree
    merged_names = merged.node_ids.take(two.nodes)
    assert hops_of == dict(zip(merged_names, two.hops.tolist(), strict=True))
    assert degrees == dict(zip(merged_names, two.degrees.tolist(), strict=True))
