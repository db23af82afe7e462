"""A delta survives being stored; a damaged or stale one never passes."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.errors import GraphServiceError, SchemaVersionError, ViewStaleError
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
        and one.new_nodes == other.new_nodes
        and one.new_relations == other.new_relations
    )


@settings(max_examples=80)
@given(
    method=st.sampled_from(
        [method for method in Method if method not in (Method.WITHHOLDING, Method.CUSTOM)]
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
    header[place] += 1
    assert codec._HEADER.unpack_from(header)[1] > version == codec.VERSION
    with pytest.raises(SchemaVersionError, match=f"reads up to {version}") as raised:
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
