"""A delta survives being stored; a damaged or stale one never passes."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from error_texts import raises
from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.errors import (
    GraphServiceError,
    SchemaVersionError,
    StoreCorruptError,
    ViewStaleError,
)
from graph_service.model.graph import Codes, StringTable
from graph_service.model.identity import key64
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.views import codec
from graph_service.views.codec import decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay

ROWS: list[Triple] = [(f"e{i % 23}", f"r{i % 5}", f"e{i * 7 % 29}") for i in range(200)]
ROWS += [("e0", "note", StringValue("a")), ("e1", "note", StringValue("b"))]
BASE = build_graph(ROWS)
GROWN = build_graph(ROWS, extra_entities=[f"x{i}" for i in range(40)])
FIELDS = ("removed", "replaced", "replaced_rel", "replaced_tail") + (
    "added_head",
    "added_rel",
    "added_tail",
)


def same(one: ViewDelta, other: ViewDelta) -> bool:
    return (
        all(
            np.array_equal(getattr(one, name), getattr(other, name))
            and getattr(other, name).dtype == np.int32
            for name in FIELDS
        )
        and np.array_equal(one.heads_of_replaced(BASE.head), other.heads_of_replaced(BASE.head))
        and one.new_nodes == other.new_nodes
        and one.new_relations == other.new_relations
    )


@settings(max_examples=80)
@given(
    method=st.sampled_from(
        [
            method
            for method in Method
            if method not in (Method.WITHHOLDING, Method.CUSTOM, Method.PATH_DELETION)
        ]
    ),
    level=st.floats(0, 1),
    seed=st.integers(0, 2**32),
)
def test_drawn_deltas_come_back(method: Method, level: float, seed: int) -> None:
    """S3: and mean the same once entities without statements have moved all numbers."""
    spec = ViewSpec(method, level=level, random_seed=seed)
    delta, _ = make_delta(BASE, spec)
    data = encode_delta(BASE, delta)
    assert same(decode_delta(BASE, data), delta)
    assert BASE.fingerprints.edges == GROWN.fingerprints.edges
    assert same(decode_delta(GROWN, data), make_delta(GROWN, spec)[0])


def test_a_persons_own_changes_come_back() -> None:
    ids = [BASE.statement_ids[e] for e in range(6)]
    note = next(e for e in range(BASE.edge_count) if BASE.tail[e] >= BASE.entity_count)
    changes = (
        Change(statement_id=ids[0], remove=True),
        Change(statement_id=ids[1], relation="new relation", value=EntityValue("x3")),
        Change(statement_id=ids[2], value=StringValue("text")),
        Change(statement_id=BASE.statement_ids[note], relation="r0"),
        Change(head="x7", relation="r1", value=EntityValue("nobody")),
    )
    delta, _ = make_delta(BASE, ViewSpec(Method.CUSTOM, changes=changes))
    assert same(decode_delta(BASE, encode_delta(BASE, delta)), delta)
    # x3 and x7 are new to one state of the base and known to the other.
    moved, _ = make_delta(GROWN, ViewSpec(Method.CUSTOM, changes=changes))
    assert same(decode_delta(GROWN, encode_delta(BASE, delta)), moved)
    back = decode_delta(BASE, encode_delta(GROWN, moved))
    one, other = (list(lay(BASE, one, view_id="v").statement_ids) for one in (back, delta))
    assert one == other


@settings(max_examples=100)
@given(data=st.data())
def test_damage_is_seen(data: st.DataObject) -> None:
    delta, _ = make_delta(BASE, ViewSpec(Method.EDGE_REWIRING, level=0.3))
    encoded = bytearray(encode_delta(BASE, delta))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(encoded) - 1))
        encoded[place] ^= data.draw(st.integers(1, 255))
    else:
        encoded = encoded[: data.draw(st.integers(0, len(encoded) - 1))]
    with pytest.raises(GraphServiceError):
        decode_delta(BASE, bytes(encoded))


def test_another_base_is_refused_naming_both() -> None:
    other = build_graph(ROWS[1:])
    delta, _ = make_delta(BASE, ViewSpec(Method.EDGE_DELETION, level=0.3))
    with pytest.raises(ViewStaleError) as raised:
        decode_delta(other, encode_delta(BASE, delta))
    assert BASE.fingerprints.edges in str(raised.value)
    assert other.fingerprints.edges in str(raised.value)


def test_sizes() -> None:
    """S4: 4 bytes a changed edge and 1 for deletion, at 30 % of 60,000 edges."""
    graph = build_graph(
        [(f"e{i * 31 % 17_000}", f"r{i % 51}", f"e{i * 17 % 16_993}") for i in range(60_000)]
    )
    for method, most in (
        (Method.EDGE_DELETION, 1.0),
        (Method.RELATION_SWAPPING, 4.0),
        (Method.EDGE_REWIRING, 4.0),
    ):
        delta, _ = make_delta(graph, ViewSpec(method, level=0.3))
        assert len(encode_delta(graph, delta)) <= most * delta.changed_count


def test_a_delta_of_a_newer_version_says_so() -> None:
    """And not that it is damaged, which it is not."""
    delta, _ = make_delta(BASE, ViewSpec(Method.EDGE_DELETION, level=0.3))
    header = bytearray(encode_delta(BASE, delta)[:-4])
    assert decode_delta(BASE, sealed(header)).removed.tolist() == delta.removed.tolist()
    _, version, *_ = codec._HEADER.unpack_from(header)
    place = next(at for at in range(4, 8) if header[at])
    assert version == codec.HEADS_STAY
    header[place] = codec.VERSION + 1
    assert codec._HEADER.unpack_from(header)[1] > codec.VERSION
    with pytest.raises(SchemaVersionError, match=f"up to {codec.VERSION}") as raised:
        decode_delta(BASE, sealed(header))
    assert "Update graph-service" in str(raised.value.hint)


def test_a_fingerprint_that_is_no_text_is_that_of_another_base() -> None:
    delta, _ = make_delta(BASE, ViewSpec(Method.EDGE_DELETION, level=0.3))
    data = bytearray(encode_delta(BASE, delta)[:-4])
    place = data.index(BASE.fingerprints.edges.encode())
    data[place] = 0xFF
    with pytest.raises(ViewStaleError, match="which is now"):
        decode_delta(BASE, sealed(data))


def sealed(body: bytearray) -> bytes:
    """A delta's bytes with the checksum that is theirs."""
    return bytes(body) + struct.pack("<I", zlib.crc32(bytes(body)))


EMPTY = (0, b"")
NODES = BASE.entity_count
"""Each of which has a statement."""


def written(
    *sections: tuple[int, bytes],
    counts: tuple[int, int, int] = (0, 0, 0),
    rest: bytes = b"",
) -> bytes:
    """A delta of the base as bytes: each section's kind or width and data, then the names."""
    header = codec._HEADER.pack(
        codec.MAGIC, codec.HEADS_STAY, BASE.edge_count, BASE.fingerprints.edges.encode(), *counts
    )
    parts = [codec._SECTION.pack(kind, len(data)) + data for kind, data in sections]
    return sealed(bytearray(header + b"".join(parts) + rest))


def replaced_tail(code: int, rest: bytes = b"") -> bytes:
    """The first edge's value replaced by that of a code."""
    data = code.to_bytes(2, "little")
    sections = (EMPTY, (0, b"\0"), EMPTY, (2, data), EMPTY, EMPTY, EMPTY)
    return written(*sections, counts=(0, 1, 0), rest=rest)


def test_codes_are_those_of_what_has_a_statement_and_then_of_the_names() -> None:
    edge = BASE.topology.key_order[0]
    assert decode_delta(BASE, replaced_tail(0)).replaced_tail.tolist() == [BASE.tail[edge]]
    known = decode_delta(BASE, replaced_tail(NODES))
    assert known.replaced_tail.tolist() == [BASE.entity_count - 1]
    named = decode_delta(BASE, replaced_tail(NODES + 1, b'[["[\\"e\\",\\"new\\"]"],[]]'))
    assert named.replaced_tail.tolist() == [BASE.node_count]
    assert named.new_nodes == ('["e","new"]',)


@pytest.mark.parametrize(
    "data",
    [
        written(),
        written(*[EMPTY] * 6),
        written(rest=codec._SECTION.pack(0, 1)),
        written((0, b"\x80"), counts=(1, 0, 0)),
        written((0, b"\x80" * 5 + b"\1"), counts=(1, 0, 0)),
        written((0, b"\x80" * 4 + b"\1"), counts=(1, 0, 0)),
        written((7, b""), counts=(0, 0, 0)),
        written((1, b"\xff"), counts=(8, 0, 0)),
        written((0, b"\0"), counts=(2, 0, 0)),
        written((0, b"\0\0"), counts=(1, 0, 0)),
        written((0, b"\xca\1"), counts=(1, 0, 0)),
        written(EMPTY, (0, b"\0"), (9, bytes(9)), counts=(0, 1, 0)),
        written(EMPTY, (0, b"\0"), (2, b"\0"), counts=(0, 1, 0)),
        replaced_tail(NODES + 1),
        written(EMPTY, EMPTY, EMPTY, EMPTY, (1, b"\0"), (1, b"\1"), (1, b"\1"), counts=(0, 0, 1)),
        replaced_tail(0, b"["),
        replaced_tail(0, b"[[]]"),
        replaced_tail(0, b'[["x"],[]]'),
    ],
)
def test_what_no_version_wrote_is_told_part_by_part(data: bytes) -> None:
    """Whole by its checksum, as bytes are that another program wrote."""
    with raises(StoreCorruptError):
        decode_delta(BASE, data)


def test_relations_without_a_statement_are_written_by_name() -> None:
    """As are those that the graph does not have: their number is of one state of the base."""
    ids = [*list(BASE.relation_ids), "lone"]
    grown = replace(
        BASE,
        relation_ids=StringTable.build(sorted(ids, key=key64)),
        relation_keys=np.array(sorted(map(key64, ids)), dtype=np.int64),
        topology=replace(
            BASE.topology,
            rel=Codes(
                np.array(
                    [sorted(ids, key=key64).index(BASE.relation_ids[r]) for r in BASE.rel[:]],
                    dtype=np.int32,
                )
            ),
        ),
    )
    changes = tuple(
        Change(statement_id=BASE.statement_ids[edge], relation=name)
        for edge, name in enumerate(("lone", "lone", "r0", "unheard"))
        if BASE.relation_ids[int(BASE.rel[edge])] != name
    )
    here, _ = make_delta(BASE, ViewSpec(Method.CUSTOM, changes=changes))
    there, _ = make_delta(grown, ViewSpec(Method.CUSTOM, changes=changes))
    assert same(decode_delta(grown, encode_delta(grown, there)), there)
    assert same(decode_delta(grown, encode_delta(BASE, here)), there)
    ids_of = [
        list(lay(grown, one, view_id="v").statement_ids)
        for one in (there, decode_delta(grown, encode_delta(BASE, here)))
    ]
    assert ids_of[0] == ids_of[1]
