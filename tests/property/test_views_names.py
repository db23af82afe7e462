"""Names with slips, of another entity, or gone: statements stay (B3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from error_texts import raises
from graph_builder import Triple, build_graph, node_of
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, triples

from graph_service.errors import InputError
from graph_service.model.entity_names import entity_names
from graph_service.model.graph import KnowledgeGraph, LabelColumn, StringTable, labels_of
from graph_service.model.statement import Entity
from graph_service.model.stored_view import NAMES_CHANGED
from graph_service.model.view_delta import NameDelta, ViewDelta
from graph_service.model.view_spec import Method, Naming, Scope, ViewSpec
from graph_service.text.fold import normalise_name
from graph_service.views.codec import VERSION, decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.draw import edges_at_level
from graph_service.views.prepared import PreparedBase
from graph_service.views.renaming import rename
from graph_service.views.slips import slip

Called = dict[str, tuple[tuple[str, str, bool], ...]]
TEXTS = st.sampled_from(["Ada Moor", "Bela", "Æther", "1984", "北京", "B 52", "x"])
Entities = dict[str, Entity]


@st.composite
def named(draw: st.DrawFn) -> tuple[list[Triple], Entities]:
    """A multigraph and what its entities are called: some by nothing, some by the same."""
    rows = draw(triples(12))
    ids = sorted({end for h, _, t in rows for end in (h, t) if isinstance(end, str)})
    entities = {}
    for id_ in ids:
        labels = draw(st.dictionaries(st.sampled_from(["en", "de"]), TEXTS, max_size=2))
        aliases = draw(st.lists(TEXTS, max_size=2, unique=True))
        entities[f"Q1{id_[1:]}"] = Entity(
            f"Q1{id_[1:]}", labels=labels, aliases={"en": tuple(aliases)} if aliases else {}
        )
    to_id = {id_: f"Q1{id_[1:]}" for id_ in ids}
    return [
        (to_id[h], r, to_id.get(t, t) if isinstance(t, str) else t) for h, r, t in rows
    ], entities


def drawn(
    rows: Sequence[Triple], entities: Entities, spec: ViewSpec
) -> tuple[KnowledgeGraph, ViewDelta, float | None, int]:
    graph = base_of(rows, entities)
    prepared = PreparedBase(graph, entities=lambda ids: {id_: entities[id_] for id_ in ids})
    delta, report = make_delta(graph, spec, prepared=prepared)
    assert report.counts[NAMES_CHANGED] == delta.renamed_count
    return graph, delta, report.level_reached, report.scope_edges


def base_of(rows: Sequence[Triple], entities: Entities) -> KnowledgeGraph:
    """The graph of some rows with all names: those of nothing, renamed to what they are called."""
    plain = build_graph(rows)
    nodes = np.arange(plain.entity_count, dtype=np.int32)
    names = [sorted(entity_names(entities[plain.node_ids[int(node)]])) for node in nodes]
    graph = rename(plain, NameDelta.of(nodes, names))
    # As a file of arrays has them: labels in all languages are parts of one table.
    ends = np.cumsum([0, *(len(one.texts.data) for one in graph.node_labels.values())])
    data = np.concatenate(
        [np.zeros(0, dtype=np.uint8), *(one.texts.data for one in graph.node_labels.values())]
    )
    columns = {
        language: LabelColumn(one.index, StringTable(data, one.texts.offsets + start))
        for (language, one), start in zip(graph.node_labels.items(), ends, strict=False)
    }
    return replace(graph, node_labels=columns)


def called(graph: KnowledgeGraph, delta: ViewDelta) -> Called:
    if delta.names is None:
        return {}
    ids = graph.node_ids.take(delta.names.nodes)
    return {id_: tuple(delta.names.names_of(place)) for place, id_ in enumerate(ids)}


@settings(max_examples=40)
@given(
    given_=named(),
    naming=st.sampled_from(Naming),
    seed=SEEDS,
    low=LEVELS,
    high=LEVELS,
    data=st.data(),
)
def test_levels_nest_whatever_the_order_of_loading_b3(
    given_: tuple[list[Triple], Entities],
    naming: Naming,
    seed: int,
    low: float,
    high: float,
    data: st.DataObject,
) -> None:
    rows, entities = given_
    low, high = sorted((low, high))
    found = []
    for level in (low, high):
        spec = ViewSpec(Method.NAMES, level=level, random_seed=seed, naming=naming)
        graph, delta, reached, scope = drawn(rows, entities, spec)
        made = called(graph, delta)
        assert not delta.changed_count
        assert len(made) <= edges_at_level(level, scope)
        assert reached == (len(made) / scope if scope else None)
        data_ = encode_delta(graph, delta)
        assert (data_[4] == VERSION) is bool(made)
        assert called(graph, decode_delta(graph, data_)) == made
        found.append(made)
    assert found[0].items() <= found[1].items()
    shuffled = data.draw(st.permutations(rows))
    graph, delta, _, _ = drawn(shuffled, entities, spec)
    assert called(graph, delta) == found[1]


@settings(max_examples=40)
@given(given_=named(), naming=st.sampled_from(Naming), seed=SEEDS, level=LEVELS)
def test_each_kind_keeps_its_word_b3(
    given_: tuple[list[Triple], Entities], naming: Naming, seed: int, level: float
) -> None:
    rows, entities = given_
    spec = ViewSpec(Method.NAMES, level=level, random_seed=seed, naming=naming)
    graph, delta, _, _ = drawn(rows, entities, spec)
    made = called(graph, delta)
    was = {
        id_: sorted(
            [(language, text, False) for language, text in one.labels.items()]
            + [(language, text, True) for language, some in one.aliases.items() for text in some]
        )
        for id_, one in entities.items()
    }
    for id_, names in made.items():
        if naming is Naming.GONE:
            assert not names
            assert was[id_]
        elif naming is Naming.SLIPS:
            assert [(one[0], one[2]) for one in names] == [(one[0], one[2]) for one in was[id_]]
            for (_, now, _), (_, before, _) in zip(names, was[id_], strict=True):
                letters = any(letter.isalpha() for letter in before)
                assert (now != before) >= (letters and len(before) > 1)
                assert abs(len(now) - len(before)) <= 1
        else:
            owners = [other for other, some in was.items() if some == list(names)]
            partner = next(other for other in owners if list(made.get(other, ())) == was[id_])
            if naming is Naming.NAMESAKES:
                both = [{normalise_name(t) for _, t, _ in was[one]} for one in (id_, partner)]
                assert both[0] & both[1]


@settings(max_examples=40)
@given(given_=named(), naming=st.sampled_from(Naming), seed=SEEDS)
def test_a_renamed_graph_is_what_a_graph_of_these_names_is_b3(
    given_: tuple[list[Triple], Entities], naming: Naming, seed: int
) -> None:
    rows, entities = given_
    spec = ViewSpec(Method.NAMES, level=0.5, random_seed=seed, naming=naming)
    graph, delta, _, _ = drawn(rows, entities, spec)
    if delta.names is None:
        return
    renamed = rename(graph, delta.names)
    now = dict(entities)
    for id_, names in called(graph, delta).items():
        aliases = tuple(text for _, text, is_alias in names if is_alias)
        now[id_] = Entity(
            id_,
            labels={language: text for language, text, is_alias in names if not is_alias},
            aliases={"en": aliases} if aliases else {},
        )
    expected = base_of(rows, now)
    nodes = np.arange(graph.entity_count, dtype=np.int32)
    for languages in (("en",), ("de",)):
        assert labels_of(renamed.node_labels, nodes, languages) == labels_of(
            expected.node_labels, nodes, languages
        )
    for column in ("name_keys", "nodes", "is_alias"):
        assert np.array_equal(getattr(renamed.names, column), getattr(expected.names, column))
    assert renamed.fingerprints.edges == graph.fingerprints.edges
    assert renamed.fingerprints.content != graph.fingerprints.content
    assert renamed.head is graph.head


def test_an_entity_is_called_by_its_id_if_nothing_else_is_left_b3() -> None:
    graph = build_graph([("dbr:Rome", "in", "http://x.org/Italy")], labels={"dbr:Rome": "Roma"})
    italy = node_of(graph, "http://x.org/Italy")
    gone = ViewSpec(Method.NAMES, level=1.0, naming=Naming.GONE)
    delta, report = make_delta(graph, gone)
    assert report.scope_edges == 1
    assert called(graph, delta) == {"dbr:Rome": (("und", "dbr:Rome", False),)}
    names = rename(graph, delta.names).names if delta.names is not None else graph.names
    assert not len(names.find("roma")[0])
    assert names.find("dbr rome")[0].tolist() == [node_of(graph, "dbr:Rome")]
    assert italy not in names.nodes


def test_scope_names_entities_and_a_question_has_none_yet_b3() -> None:
    labels = {"Q1": "Ada", "Q2": "Bela", "Q3": "Cara", "Q4": "Drum"}
    graph = build_graph([("Q1", "p", "Q2"), ("Q3", "q", "Q4")], labels=labels)
    scope = Scope(relation_ids=("q",))
    delta, report = make_delta(graph, ViewSpec(Method.NAMES, level=1.0, scope=scope))
    assert sorted(called(graph, delta)) == ["Q3", "Q4"]
    assert report.scope_edges == 2
    scope = Scope(around_entity_ids=("Q1", "Q4"), hops=0)
    delta, report = make_delta(graph, ViewSpec(Method.NAMES, level=1.0, scope=scope))
    assert sorted(called(graph, delta)) == ["Q1", "Q4"]
    for refused in (Scope(of_question=True), Scope(around_entity_ids=("Q1",), pruned=True)):
        with raises(InputError):
            ViewSpec(Method.NAMES, level=1.0, scope=refused).validate()
    again = ViewSpec.from_json(ViewSpec(Method.NAMES, level=1.0, naming=Naming.GONE).to_json())
    assert again.naming is Naming.GONE
    with pytest.raises(InputError, match="takes no naming"):
        ViewSpec(Method.STALE, level=1.0, naming=Naming.GONE).validate()


@given(name=st.text(max_size=12), number=st.integers(0, 2**64 - 1))
def test_a_slip_is_one_letter_and_makes_another_name(name: str, number: int) -> None:
    found = slip(name, number)
    if found is None:
        return
    assert normalise_name(found) not in ("", normalise_name(name))
    assert abs(len(found) - len(name)) <= 1
    # Equal but for at most two places beside each other.
    start = next(
        (at for at, (a, b) in enumerate(zip(name, found, strict=False)) if a != b),
        min(len(name), len(found)),
    )
    assert name[start + 2 :] in found[start:] or len(name) - start <= 2


@pytest.mark.parametrize("naming", [Naming.SLIPS, Naming.SWAPPED, Naming.GONE])
def test_stored_names_stay_as_drawn_in_another_numbering_and_under_new_labels_b3(
    naming: Naming,
) -> None:
    rows: list[Triple] = [(f"Q{n}", "p", f"Q{n % 7 + 30}") for n in range(1, 30)]
    labels = {f"Q{n}": f"Ada Moor {'abcdefgh'[n % 8]}" for n in range(1, 37)}
    graph = build_graph(rows, labels=labels)
    delta, _ = make_delta(graph, ViewSpec(Method.NAMES, level=0.4, naming=naming))
    made = called(graph, delta)
    assert made
    others = [f"Q9{n}" for n in range(40)]
    grown = build_graph(
        rows, labels={id_: f"{text} Hill" for id_, text in labels.items()}, extra_entities=others
    )
    assert not np.array_equal(grown.head[:], graph.head[:])
    back = decode_delta(grown, encode_delta(graph, delta))
    assert called(grown, back) == made
    assert back.names is not None
    assert np.all(np.diff(back.names.nodes) > 0)
    renamed = rename(grown, back.names)
    shown = labels_of(renamed.node_labels, np.arange(grown.entity_count, dtype=np.int32), ("en",))
    ids = grown.node_ids.take(np.arange(grown.entity_count))
    for id_, label in zip(ids, shown, strict=True):
        if id_ in made:
            assert label == (made[id_][0][1] if made[id_] else None)
        elif id_ in labels:
            assert label == f"{labels[id_]} Hill"
