"""Regions in which nothing is said again in another language (O13), beside brute force."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from counted_deadline import CountedDeadline
from graph_builder import build_graph, node_of
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.errors import DeadlineError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import KnowledgeGraph, LabelColumn, StringTable
from graph_service.model.limits import CutReason
from graph_service.model.values import MonolingualText, StringValue, Value, decode_value
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.retrieve.languages import deduplicate_languages
from graph_service.retrieve.region.cut import extract_region
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay

NAMES = [f"E{number}" for number in range(8)]
TEXTS = [MonolingualText(text, tag) for text in ("a", "b") for tag in ("en", "en-GB", "fr", "mul")]
triples = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.sampled_from(["p", "q"]),
        st.one_of(st.sampled_from(NAMES), st.sampled_from(TEXTS)),
    ),
    min_size=1,
    max_size=40,
)
links = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([*NAMES, "elsewhere", "beyond"])), max_size=6
)


def with_links(graph: KnowledgeGraph, pairs: list[tuple[str, str]]) -> KnowledgeGraph:
    """Returns a graph in which entities are one thing that such links of names lead to."""
    ids = {graph.node_ids[node] for node in range(graph.entity_count)}
    things = same_things(graph, pairs, ids)
    number = {id_: place for place, thing in enumerate(things) for id_ in thing}
    nodes = np.arange(graph.entity_count, dtype=np.int32)
    label = np.array([number[id_] for id_ in graph.node_ids.take(nodes)], dtype=np.int64)
    return replace(graph, equal=EqualEntities.build(nodes, label))


def same_things(
    graph: KnowledgeGraph, pairs: list[tuple[str, str]], among: set[str]
) -> list[set[str]]:
    """The things of a region by brute force: sets of names that are joined through any name."""
    things = [{name} for name in sorted(among)]
    for link in pairs:
        if link[0] != link[1] and link[0] in among:
            touched = [thing for thing in things if thing & set(link)]
            things = [thing for thing in things if not thing & set(link)]
            things.append(set(link).union(*touched))
    return things


@settings(max_examples=150)
@given(triples, links, st.sampled_from([("en",), ("fr", "en"), ("de",), ("de", "fr")]))
def test_everything_is_said_once(
    rows: list[tuple[str, str, str | Value]],
    pairs: list[tuple[str, str]],
    languages: tuple[str, ...],
) -> None:
    """O13: by definition, whatever the graph."""
    assert_all_is_said_once(rows, pairs, languages)


def test_repetitions_of_every_sort_are_said_once() -> None:
    """O13: the same of graphs that repeat much, which few that are drawn at will do."""
    values: list[str | Value] = [*NAMES[:5], *TEXTS]
    repeated = 0
    for seed in range(60):
        draw = random.Random(seed)
        rows: list[tuple[str, str, str | Value]] = [
            (draw.choice(NAMES[:5]), draw.choice("pq"), draw.choice(values)) for _ in range(25)
        ]
        pairs = [(draw.choice(NAMES[:5]), draw.choice([*NAMES[:5], "elsewhere"])) for _ in range(2)]
        languages = draw.choice([("en",), ("fr", "en"), ("de",), ("de", "fr")])
        repeated += assert_all_is_said_once(rows, pairs, languages) > 3
    assert repeated > 40


def assert_all_is_said_once(
    rows: list[tuple[str, str, str | Value]],
    pairs: list[tuple[str, str]],
    languages: tuple[str, ...],
) -> int:
    """Compares what is said with the definition; returns how many repetitions there were."""
    graph = with_links(build_graph(rows), pairs)
    seed = graph.find_node(rows[0][0])
    assert seed is not None
    region = extract_region(graph, [seed], hops=3, max_edges=1000, equal=graph.equal)
    once = deduplicate_languages(region, graph, None, languages)
    names = graph.node_ids.take(region.nodes)
    entities = {
        name for name, literal in zip(names, region.literal.tolist(), strict=True) if not literal
    }
    things = same_things(graph, pairs, entities)
    thing = {name: number for number, some in enumerate(things) for name in some}

    # One node a thing, and the question's entity is the one it was.
    left = once.region
    ids = graph.node_ids.take(left.nodes)
    kept = [
        thing[name] for name, literal in zip(ids, left.literal.tolist(), strict=True) if not literal
    ]
    assert len(set(kept)) == len(kept)
    assert left.nodes[left.start_entities].tolist() == [seed]

    # What stays and what it stands for are all there was, each once.
    edges = left.edges.tolist()
    others = [edge for some in once.stands_for.values() for edge in some]
    assert sorted([*edges, *others]) == sorted(region.edges.tolist())
    assert set(once.stands_for) <= set(edges)
    cuts = [cut for cut in left.cuts if cut.reason is CutReason.DUPLICATE]
    assert [(cut.kept, cut.total) for cut in cuts] == (
        [(len(edges), region.edge_count)] if others else []
    )

    def said(edge: int) -> tuple[int, int, int | str]:
        tail = graph.node_ids[graph.tail[edge]]
        value: int | str = thing[tail] if graph.tail[edge] < graph.entity_count else tail
        return thing[graph.node_ids[graph.head[edge]]], int(graph.rel[edge]), value

    def ends(edge: int) -> tuple[int, int]:
        tail = int(graph.tail[edge])
        return int(graph.head[edge]), tail if tail < graph.entity_count else -1

    texts: dict[tuple[int, int], list[tuple[str, str]]] = {}
    for edge in region.edges.tolist():
        head, rel, value = said(edge)
        if isinstance(value, str):
            text = decode_value(value)
            assert isinstance(text, MonolingualText)
            texts.setdefault((head, rel), []).append((text.language.lower(), text.text))
    shown: dict[tuple[int, int], set[tuple[str, str]]] = {}
    equal: dict[tuple[int, int, int | str], set[tuple[int, int]]] = {}
    for edge in edges:
        head, rel, value = said(edge)
        equal.setdefault((head, rel, value), set()).add(ends(edge))
        if isinstance(value, str):
            text = decode_value(value)
            assert isinstance(text, MonolingualText)
            shown.setdefault((head, rel), set()).add((text.language.lower(), text.text))
    assert all(len(some) == 1 for some in equal.values())
    assert {said(edge)[:2] for edge in others} <= {said(edge)[:2] for edge in edges}
    for group, all_texts in texts.items():
        tags = {tag for tag, _ in all_texts}
        wanted = next(
            (
                found
                for language in (*languages, "mul")
                if (
                    found := {language} & tags
                    or {tag for tag in tags if tag.startswith(f"{language}-")}
                )
            ),
            tags,
        )
        assert {tag for tag, _ in shown[group]} <= wanted
        assert {text for _, text in shown[group]} == {
            text for tag, text in all_texts if tag in wanted
        }
        assert len({text for _, text in shown[group]}) == len(shown[group])
    return len(others)


def test_without_languages_and_links_a_region_is_the_same_object() -> None:
    """O13: nothing is touched, and nothing is spent on it."""
    graph = build_graph(
        [("a", "p", "b"), ("a", "name", MonolingualText("A", "fr")), ("b", "p", "a")]
    )
    region = extract_region(graph, [0], hops=2, max_edges=10)
    once = deduplicate_languages(region, graph, None, ("en",))
    assert once.region is region
    assert once.stands_for == {}


def test_texts_that_a_view_adds_are_said_once_too() -> None:
    """O13: nodes that only the view has are read from it."""
    graph = build_graph([("a", "name", MonolingualText("A", "fr")), ("a", "p", "b")])
    texts = [MonolingualText(text, tag) for text, tag in (("B", "de"), ("C", "en"), ("D", "de"))]
    changes = tuple(Change(None, False, "a", "name", text) for text in texts)
    spec = ViewSpec(Method.CUSTOM, changes=changes)
    overlay = lay(graph, make_delta(graph, spec)[0], view_id="v")
    seed = np.array([graph.find_node("a")], dtype=np.int32)
    region = extract_region(graph, seed, hops=1, max_edges=10, overlay=overlay)

    def shown(*languages: str) -> set[str]:
        once = deduplicate_languages(region, graph, overlay, languages)
        left = once.region
        literal = left.nodes[left.literal]
        base = [node for node in literal.tolist() if node < graph.node_count]
        new = [node - graph.node_count for node in literal.tolist() if node >= graph.node_count]
        told = [*graph.node_ids.take(base), *(overlay.new_nodes[node] for node in new)]
        assert sum(map(len, once.stands_for.values())) == 4 - len(told)
        values = [decode_value(one) for one in told]
        return {one.text for one in values if isinstance(one, MonolingualText)}

    assert shown("en") == {"C"}
    assert shown("de", "en") == {"B", "D"}
    assert shown("fr") == {"A"}


def labelled(graph: KnowledgeGraph, labels: dict[str, list[str]]) -> KnowledgeGraph:
    """The graph with labels of some entities, by language."""
    columns = {}
    for language, names in labels.items():
        index = np.array(sorted(node_of(graph, name) for name in names), dtype=np.int32)
        columns[language] = LabelColumn(index, StringTable.build(["label"] * len(index)))
    return replace(graph, node_labels=columns)


def said(graph: KnowledgeGraph, start: str, *languages: str) -> dict[str, list[str]]:
    """What stays of an entity's region, as words, each with what it stands for."""
    region = extract_region(graph, [node_of(graph, start)], hops=3, max_edges=100)
    once = deduplicate_languages(region, graph, None, languages)

    def words(edge: int) -> str:
        tail = graph.node_ids[int(graph.tail[edge])]
        value = decode_value(tail) if graph.tail[edge] >= graph.entity_count else None
        if isinstance(value, MonolingualText):
            tail = f"{value.text}@{value.language}"
        return f"{graph.node_ids[int(graph.head[edge])]} {tail}"

    stands = {words(kept): sorted(map(words, others)) for kept, others in once.stands_for.items()}
    return {words(edge): stands.get(words(edge), []) for edge in once.region.edges.tolist()}


EDITIONS = build_graph(
    [
        ("S", "knows", "A-en"),
        ("S", "knows", "A-fr"),
        ("A-en", "in", "B-en"),
        ("A-fr", "in", "B-fr"),
        ("A-fr", "in", "C"),
    ]
)
SAME = [("A-fr", "A-en"), ("B-en", "B-fr")]


@pytest.mark.parametrize(
    ("languages", "stays", "goes"),
    [(("fr", "en"), "fr", "en"), (("en", "fr"), "en", "fr"), (("de", "fr"), "fr", "en")],
)
def test_a_statement_of_two_editions_stays_in_the_language_asked_for(
    languages: tuple[str, ...], stays: str, goes: str
) -> None:
    labels = {"en": ["A-en", "B-en", "C"], "fr": ["A-fr", "B-fr"]}
    graph = labelled(with_links(EDITIONS, SAME), labels)
    assert said(graph, "S", *languages) == {
        f"S A-{stays}": [f"S A-{goes}"],
        f"A-{stays} B-{stays}": [f"A-{goes} B-{goes}"],
        "A-fr C": [],
    }


def test_a_label_says_which_statement_stays_whatever_else_has_one() -> None:
    """Entities before and after in number, with a label and without."""
    others = [(f"x{place}", "near", "S") for place in range(40)]
    graph = with_links(build_graph([("S", "knows", "A-en"), ("S", "knows", "A-fr"), *others]), SAME)
    for language, other in (("fr", "en"), ("en", "fr")):
        for beside in ([], ["S"], [f"x{place}" for place in range(40)]):
            named = labelled(graph, {language: [f"A-{language}", *beside], "nl": ["S"]})
            left = said(named, "S", language)
            assert left[f"S A-{language}"] == [f"S A-{other}"]
            assert len(left) == 41


def test_texts_of_editions_are_said_once() -> None:
    """A text that is equal in both stands for the other, and the chosen language for both."""
    graph = with_links(
        build_graph(
            [
                ("S", "knows", "A-en"),
                ("S", "knows", "A-fr"),
                ("A-en", "name", MonolingualText("x", "en")),
                ("A-fr", "name", MonolingualText("x", "en")),
                ("A-fr", "name", MonolingualText("y", "fr")),
                ("A-en", "motto", MonolingualText("z", "de")),
                ("A-en", "year", StringValue("1900")),
                ("A-fr", "year", StringValue("1900")),
            ]
        ),
        SAME,
    )
    graph = labelled(graph, {"en": ["A-en"], "fr": ["A-fr"]})
    year = '["s","1900"]'
    assert said(graph, "S", "fr") == {
        "S A-fr": ["S A-en"],
        "A-fr y@fr": ["A-en x@en", "A-fr x@en"],
        "A-en z@de": [],
        f"A-fr {year}": [f"A-en {year}"],
    }
    assert said(graph, "S", "en") == {
        "S A-en": ["S A-fr"],
        "A-en x@en": ["A-fr x@en", "A-fr y@fr"],
        "A-en z@de": [],
        f"A-en {year}": [f"A-fr {year}"],
    }


def test_a_text_as_spoken_in_two_places_is_said_once() -> None:
    graph = build_graph(
        [
            ("S", "name", MonolingualText("lift", "en-gb")),
            ("S", "name", MonolingualText("lift", "en-us")),
            ("S", "name", MonolingualText("elevator", "en-us")),
            ("S", "name", MonolingualText("ascenseur", "fr")),
            ("S", "name", MonolingualText("Aufzug", "enm")),
        ]
    )
    left = said(graph, "S", "EN", "fr")
    lift, other = sorted(("S lift@en-gb", "S lift@en-us"), key=lambda one: one not in left)
    assert set(left) == {lift, "S elevator@en-us"}
    assert sum(map(len, left.values())) == 3
    assert other in left[lift]
    assert set(said(graph, "S", "enm", "en")) == {"S Aufzug@enm"}
    assert len(said(graph, "S", "nl")) == 4


def test_looking_for_what_is_said_twice_ends_at_its_deadline() -> None:
    """At whichever look it comes: at texts and at statements alike."""
    count = 200
    rows: list[tuple[str, str, str | Value]] = []
    for place in range(count):
        rows += [("S", "knows", f"a{place}"), ("S", "knows", f"b{place}")]
        rows += [(f"a{place}", "name", MonolingualText("x", tag)) for tag in ("en", "fr")]
    graph = with_links(build_graph(rows), [(f"a{i}", f"b{i}") for i in range(count)])
    region = extract_region(graph, [node_of(graph, "S")], hops=2, max_edges=10_000)

    def work(deadline: CountedDeadline) -> None:
        deduplicate_languages(region, graph, None, ("en",), deadline=deadline)

    whole = CountedDeadline()
    with whole.watched():
        work(whole)
    # Statements and groups that are equal, texts and groups of texts: 800, 600, 400 and 200.
    assert whole.looks >= 10 * count
    assert whole.most < 20 * count
    for late in (1, 3 * count, 6 * count, 8 * count, whole.looks):
        deadline = CountedDeadline(late)
        with pytest.raises(DeadlineError, match="several languages"):
            work(deadline)
        assert deadline.looks == late
