"""A graph that a caller may not see does not exist for them, whatever they ask, on both stores.

Each field of the schema that can name a graph is asked for a hidden graph, and for one that was
never there under a name of the same length. The answers are the same but for the name.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_text, raises
from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_required_argument,
    is_required_input_field,
)
from graphs import load_graph
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.api.global_ids import decoded_parts, encoded_parts
from graph_service.api.schema import execute, schema
from graph_service.errors import GraphServiceError
from graph_service.export.materialise import materialise
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.passage import make_passage
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.scoped_store import scoped_store
from graph_service.settings import Settings
from graph_service.store.passages import PassageAddress
from graph_service.store.protocol import Batch, Record, Store

VIEW_NAME = "their-view"
PASSAGE = "Ada wrote the notes."
SPEC = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1)
ROWS = [(f"Q{n}", "P1", f"Q{n + 1}") for n in range(1, 9)] + [("Q1", "P2", f"Q{n}") for n in (3, 5)]
NAMES = [
    *(Entity(f"Q{n}", labels={"en": name}) for n, name in enumerate(("Ada", "Bob", "Cleo"), 1)),
    Entity("P1", EntityKind.PROPERTY, labels={"en": "knows"}),
]


@dataclass(frozen=True)
class Tenants:
    """A store with graphs of two callers.

    Attributes:
        whole: The operator's service.
        mine: That of a caller who sees ``my`` alone.
        my, their, no: Names: a graph that is seen, a hidden one, and one that was never there.
        loading: A hidden graph whose first load is not done.
        view_id: Of the stored view of the hidden graph.
    """

    whole: Service
    mine: Service
    my: str
    their: str
    no: str
    loading: str
    view_id: str

    def swapped(self, text: str) -> str:
        """A text with the name that was never there in place of the hidden one."""
        return text.replace(self.their, self.no)

    def swapped_id(self, text: str) -> str:
        """A global id or a cursor with the name swapped inside."""
        return encoded_parts([self.swapped(part) for part in decoded_parts(text)])


@pytest.fixture
def tenants(store: Store, graph_names: Callable[[], str], tmp_path: Path) -> Iterator[Tenants]:
    my, their, no, loading = (graph_names() for _ in range(4))
    for name in (my, their):
        load_graph(store, name, ROWS, NAMES, source=f"file of {name}")
        with store.passages.begin(name, source=name, options={}, owner="t") as passages:
            passages.write([make_passage(PASSAGE, title="Notes")], checkpoint={})
            passages.publish()
    with store.begin_load(loading, owner="t", source="s") as session:
        session.write(Batch(entities=NAMES))
    settings = Settings(vectors=str(tmp_path / "vectors.db"), graph=their)
    whole = open_service(store, settings=settings, embedder=Letters())
    view = whole.views.create(SPEC, graph=their, name=VIEW_NAME)
    yield Tenants(whole, whole.scoped_to({my}), my, their, no, loading, view.id)
    whole.vectors.close()


def asked(service: Service, document: str, variables: dict[str, Any] | None = None) -> Any:
    """The response without what differs in each."""
    answer = execute(service, document, variables, writable=True)
    for error in answer.get("errors", ()):
        del error["extensions"]["requestId"]
    return answer


def codes(answer: Any) -> set[str]:
    return {error["extensions"]["code"] for error in answer.get("errors", ())}


# What fills an argument by its name. An argument that a field needs, and that is not here, fails
# the test: say here what it is, and whether it can name a graph.
VALUES: dict[str, Any] = {
    "itemId": "Q1",
    "itemIds": ["Q1"],
    "query": "Ada",
    "question": "Who knows Ada?",
    "reference": VIEW_NAME,
    "strategy": "PATHS",
    "views": [{"name": VIEW_NAME}],
    "view": None,
    "spec": {"method": "EDGE_DELETION", "level": 0.5, "randomSeed": 1},
}
NAMING = {"graph", "name", "id", "ids"}
"""Arguments that can name a graph."""


def value_of(name: str, type_: GraphQLInputType, graph: str, ids: list[str]) -> Any:
    """What an argument is given so that it names a graph where it can."""
    bare = type_.of_type if is_non_null_type(type_) else type_
    if name in ("graph", "name"):
        return graph
    if name == "id":
        return ids[0]
    if name == "ids":
        return ids
    if name in VALUES:
        return VALUES[name]
    if is_list_type(bare):
        return [value_of(name, bare.of_type, graph, ids)]
    named = get_named_type(bare)
    assert isinstance(named, GraphQLInputObjectType), f"say in VALUES what {name!r} is"
    return {
        key: value_of(key, field.type, graph, ids)
        for key, field in named.fields.items()
        if is_required_input_field(field) or key in ("graph", "reference")
    }


def names_a_graph(type_: GraphQLInputType) -> bool:
    named = get_named_type(type_)
    return isinstance(named, GraphQLInputObjectType) and any(
        key in NAMING or names_a_graph(field.type)
        for key, field in named.fields.items()
        if key != "literal" and get_named_type(field.type) is not named
    )


def fields_that_name_graphs() -> list[tuple[str, str, GraphQLField]]:
    """All fields of the roots by which a graph can be named: kind of operation, name, field."""
    roots = (("query", schema._schema.query_type), ("mutation", schema._schema.mutation_type))
    return [
        (kind, name, field)
        for kind, root in roots
        if root is not None
        for name, field in root.fields.items()
        # Its name is an experiment's; `test_experiments_shown.py` has who sees it.
        if name != "experiment"
        and any(key in NAMING or names_a_graph(one.type) for key, one in field.args.items())
    ]


def selection(type_: Any, depth: int = 3) -> str:
    """All fields of a type that need no argument, some levels deep; "" for a leaf."""
    named = get_named_type(type_)
    if is_leaf_type(named):
        return ""
    parts = ["__typename"]
    if isinstance(named, GraphQLObjectType | GraphQLInterfaceType) and depth:
        for name, field in named.fields.items():
            if any(is_required_argument(one) for one in field.args.values()):
                continue
            inner = selection(field.type, depth - 1)
            if is_leaf_type(get_named_type(field.type)) or inner != " { __typename }":
                parts.append(name + inner)
    return f" {{ {' '.join(parts)} }}"


def document_of(kind: str, name: str, field: GraphQLField, given: dict[str, Any]) -> str:
    variables = ", ".join(f"${key}: {field.args[key].type}" for key in given)
    arguments = ", ".join(f"{key}: ${key}" for key in given)
    depth = 1 if isinstance(get_named_type(field.type), GraphQLInterfaceType) else 2
    return f"{kind}({variables}) {{ {name}({arguments}){selection(field.type, depth)} }}"


def ids_of(tenants: Tenants) -> list[str]:
    """Global ids of every kind that ``node`` reads, of the hidden graph."""
    found = asked(
        tenants.whole,
        """query($g: String!, $v: String!) { graph(name: $g) { id } view(reference: $v, graph: $g) { id }
        item(itemId: "Q1", graph: $g) { id statements(view: {name: $v}) {
          nodes { id property { id } } } } }""",
        {"g": tenants.their, "v": VIEW_NAME},
    )["data"]
    first = found["item"]["statements"]["nodes"][0]
    of_view = encoded_parts([*decoded_parts(first["id"]), tenants.view_id])
    return [
        found["graph"]["id"],
        found["view"]["id"],
        found["item"]["id"],
        first["id"],
        first["property"]["id"],
        of_view,
    ]


def test_every_field_answers_as_for_a_graph_that_was_never_there(tenants: Tenants) -> None:
    found = fields_that_name_graphs()
    # The roots that name none: they list, or read by ids below.
    assert {name for _, name, _ in found} == (
        schema._schema.query_type.fields.keys() | schema._schema.mutation_type.fields.keys()  # type: ignore[union-attr]
    ) - {"graphs", "experiment", "experiments"}
    ids = ids_of(tenants)
    for kind, name, field in found:
        for one in ids if "id" in field.args else ids[:1]:
            asked_for = [one] if "id" in field.args else ids
            swapped_ids = [tenants.swapped_id(each) for each in asked_for]

            def given(
                graph: str, with_ids: list[str], field: GraphQLField = field
            ) -> dict[str, Any]:
                return {
                    key: value_of(key, argument.type, graph, with_ids)
                    for key, argument in field.args.items()
                    if is_required_argument(argument) or key in NAMING
                }

            document = document_of(kind, name, field, given(tenants.their, asked_for))
            hidden = asked(tenants.mine, document, given(tenants.their, asked_for))
            never = asked(tenants.mine, document, given(tenants.no, swapped_ids))
            told = json.dumps(hidden)
            assert tenants.swapped(told) == json.dumps(never), (name, told)
            # The question was a good one: the operator gets no such error.
            told_of = "GRAPH_NOT_FOUND" in told or name == "nodes"
            assert told_of, (name, told)
            if kind == "query":
                seen = asked(tenants.whole, document, given(tenants.their, asked_for))
                assert "GRAPH_NOT_FOUND" not in json.dumps(seen), (name, seen)
                assert any(seen["data"].values()), (name, seen)
    # Nothing of it was changed.
    assert tenants.whole.views.get(VIEW_NAME, graph=tenants.their).id == tenants.view_id
    assert tenants.whole.passages.sets(graph=tenants.their)


LISTS = """{ graphs { totalCount nodes { name edition source options { text }
    unfinishedLoad { owner } } } graph { name } views { totalCount nodes { name graph } }
  passageSets { source } item(itemId: "Q1") { id } searchItems(query: "Ada") { nodes { id } }
  passages(query: "notes") { graph searched items { passage { text } } }
  triplets(input: {question: "Who knows Ada?"}) { provenance { graph } }
  neighbourhood(itemId: "Q1") { provenance { graph } } }"""


def test_what_is_listed_counted_and_chosen_is_what_is_seen(tenants: Tenants) -> None:
    # The operator's default is the hidden graph.
    assert tenants.whole.graph().name == tenants.their
    answer = asked(tenants.mine, LISTS)
    assert "errors" not in answer
    data = answer["data"]
    assert data["graphs"]["totalCount"] == 1
    assert data["graph"]["name"] == tenants.my
    assert data["views"] == {"totalCount": 0, "nodes": []}
    assert [one["source"] for one in data["passageSets"]] == [tenants.my]
    assert data["passages"]["searched"] == len(data["passages"]["items"]) == 1
    assert data["triplets"]["provenance"]["graph"] == tenants.my
    for name in (tenants.their, tenants.loading, VIEW_NAME, tenants.view_id):
        assert name not in json.dumps(answer)
    # Of several, the error names those that are seen.
    settings = replace(tenants.whole.settings, graph="")
    both = open_service(tenants.whole.store, settings=settings).scoped_to(
        {tenants.my, tenants.their, tenants.no}
    )
    (error,) = asked(both, "{ graph { name } }")["errors"]
    check_text(error["message"], "2 graphs")
    nobody = tenants.whole.scoped_to(())
    assert asked(nobody, "{ graphs { totalCount } }")["data"]["graphs"]["totalCount"] == 0
    (error,) = asked(nobody, "{ graph { name } }")["errors"]
    check_text(error["message"])


def test_a_view_of_a_hidden_graph_is_none_of_the_seen_one(tenants: Tenants) -> None:
    """Both graphs hold the same statements, so that the same spec gives one id in both."""
    for by in ({"name": VIEW_NAME}, {"id": tenants.view_id}):
        (reference,) = by.values()
        never = reference[:-1] + "x"
        for document in (
            "query($r: String!, $g: String!) { view(reference: $r, graph: $g) { name } }",
            "query($v: ViewRefInput!, $g: String!) "
            '{ paths(input: {question: "Ada", graph: $g, view: $v}) { text } }',
            "query($v: ViewRefInput!, $g: String!) "
            '{ item(itemId: "Q1", graph: $g) { statements(view: $v) { totalCount } } }',
            "mutation($r: String!, $g: String!) "
            "{ deleteView(input: {reference: $r, graph: $g}) { viewId } }",
        ):
            asked_for = {"r": reference, "v": by, "g": tenants.my}
            other = {"r": never, "v": dict.fromkeys(by, never), "g": tenants.my}
            hidden = json.dumps(asked(tenants.mine, document, asked_for))
            assert hidden.replace(reference, never) == json.dumps(
                asked(tenants.mine, document, other)
            )
    made = tenants.mine.views.create(SPEC, graph=tenants.my)
    assert (made.id, made.name, made.graph) == (tenants.view_id, None, tenants.my)


def test_a_cursor_of_a_hidden_graph_says_nothing_of_it(tenants: Tenants) -> None:
    document = """query($g: String!, $a: String) { searchItems(query: "Ada", graph: $g, first: 1, after: $a) {
        pageInfo { endCursor } } }"""
    page = asked(tenants.whole, document, {"g": tenants.their})["data"]["searchItems"]
    cursor = page["pageInfo"]["endCursor"]
    hidden = asked(tenants.mine, document, {"g": tenants.my, "a": cursor})
    never = asked(tenants.mine, document, {"g": tenants.my, "a": tenants.swapped_id(cursor)})
    assert tenants.swapped(json.dumps(hidden)) == json.dumps(never)
    assert codes(hidden) == {"EDITION_GONE"}


def test_a_graph_whose_first_load_is_under_way_is_hidden_too(tenants: Tenants) -> None:
    document = "mutation($n: String!) { deleteGraph(input: {name: $n}) { name } }"
    hidden = json.dumps(asked(tenants.mine, document, {"n": tenants.loading}))
    never = json.dumps(asked(tenants.mine, document, {"n": tenants.no}))
    assert hidden.replace(tenants.loading, tenants.no) == never
    assert tenants.whole.store.unfinished_loads()


def test_a_view_written_out_does_not_name_its_hidden_base(
    tenants: Tenants, graph_names: Callable[[], str]
) -> None:
    written = graph_names()
    materialise(tenants.whole, ViewRef(name=VIEW_NAME), graph=tenants.their, name=written)
    mine = tenants.whole.scoped_to({written})
    answer = json.dumps(
        [
            asked(mine, "{ graphs { nodes { source options { name text } report { text } } } }"),
            asked(
                mine,
                """mutation($g: String!) { createView(input: {graph: $g,
                spec: {method: EDGE_DELETION, level: 0.5}}) { view { viewId } } }""",
                {"g": written},
            ),
        ]
    )
    assert "view written out" in answer
    assert tenants.their not in answer
    # Who sees the base is told of it.
    both = tenants.whole.scoped_to({written, tenants.their})
    assert tenants.their in json.dumps(asked(both, "{ graphs { nodes { options { text } } } }"))


def test_a_caller_may_do_what_they_may_in_their_own_graph(tenants: Tenants) -> None:
    whole, mine, my = tenants.whole, tenants.mine, tenants.my
    view = mine.views.create(SPEC, graph=my, name="mine", wait=False)
    whole.views.jobs._jobs[f"{my}/{view.id}"].thread.join(600)
    assert mine.views.get("mine", graph=my).state == "done"
    assert mine.arrays(mine.graph(my)) is whole.arrays(whole.graph(my))
    assert whole.scoped_to([my]) is mine
    assert mine.views.delete("mine", graph=my) == view.id
    assert mine.passages.delete(graph=my) == 1
    mine.delete_graph(my)
    assert my not in {info.name for info in whole.graphs()}
    with raises(GraphServiceError):
        mine.graph(my)


def store_calls(name: str, info: GraphInfo, number: int) -> dict[str, Callable[[Store], object]]:
    """A call of each method of a store that can reach a graph."""
    edition = f"{name}@{info.edition.rpartition('@')[2]}"
    info = replace(info, name=name, edition=edition)
    record = Record("view", f"{name}/x", name, {})

    def loaded(store: Store) -> object:
        with store.begin_load(name, owner="t", source="s") as session:
            return session.edition

    return {
        "graphs": lambda store: store.graphs(),
        "graph": lambda store: store.graph(name),
        "unfinished_loads": lambda store: store.unfinished_loads(),
        "snapshot": lambda store: store.snapshot(info),
        "mend_snapshot": lambda store: store.mend_snapshot(info),
        "verify_snapshot": lambda store: store.verify_snapshot(info),
        "inspect": lambda store: list(store.inspect(info)),
        "scan_entities": lambda store: list(store.scan_entities(edition)),
        "scan_edges": lambda store: list(store.scan_edges(edition)),
        "scan_statements": lambda store: list(store.scan_statements(edition)),
        "entities": lambda store: store.entities(edition, ["Q1"]),
        "statements": lambda store: store.statements(edition, ["Q1"]),
        "statements_of": lambda store: store.statements_of(edition, "Q1"),
        "relation_counts": lambda store: store.relation_counts(edition, "Q1"),
        "overview": lambda store: store.overview(edition),
        "neighbourhood": lambda store: store.neighbourhood(edition, ["Q1"]),
        "relations": lambda store: store.relations(edition),
        "equal_pairs": lambda store: store.equal_pairs(edition),
        "relations_of": lambda store: store.relations_of(edition, ["Q1"]),
        "search": lambda store: store.search(edition, "Ada"),
        "save_record": lambda store: store.save_record(record),
        "replace_record": lambda store: store.replace_record(record, name="n"),
        "list_records": lambda store: store.list_records("view"),
        "begin_load": loaded,
        "delete_graph": lambda store: store.delete_graph(name),
        "inspect_all": lambda store: list(store.inspect_all()),
        "passages.begin": lambda store: store.passages.begin(
            name, source="s", options={}, owner="t"
        ),
        "passages.sets": lambda store: [store.passages.sets(graph=name), store.passages.sets()],
        "passages.scan": lambda store: list(store.passages.scan(number)),
        "passages.read": lambda store: list(store.passages.read([PassageAddress(number, 1)])),
        "passages.delete": lambda store: store.passages.delete(name),
    }


def test_the_store_itself_hides_what_is_not_seen(tenants: Tenants) -> None:
    """Each method, so that no way round the service leads to a hidden graph either."""
    store = tenants.whole.store
    info = store.graph(tenants.their)
    (theirs,) = store.passages.sets(graph=tenants.their)
    calls = store_calls(tenants.their, info, theirs.number)
    known = {name for name, _ in inspect.getmembers(Store, inspect.isfunction) if name[0] != "_"}
    # Those of one record follow; the others reach no graph.
    assert known - {"get_record", "delete_record", "at_once", "within", "ping", "close"} == {
        name for name in calls if "." not in name
    }
    scoped = scoped_store(store, {tenants.my})

    def outcome(call: Callable[[Store], object]) -> str:
        try:
            return repr(call(scoped))
        except GraphServiceError as error:
            return f"{error.code}: {error}"

    never = store_calls(tenants.no, info, theirs.number + 1000)
    for name, call in calls.items():
        told = outcome(call)
        assert tenants.swapped(told) == outcome(never[name]), name
        assert tenants.their not in told or "NOT_FOUND" in told, (name, told)
        assert "Q1" not in told.replace(tenants.their, ""), (name, told)
        assert tenants.loading not in told, (name, told)
    matches = scoped.passages.match([theirs], ["ada"], deadline=Deadline.none())
    assert (matches.passages, matches.matches) == (0, ())
    key = f"{tenants.their}/{tenants.view_id}"
    assert scoped.get_record("view", key) is None
    assert not scoped.delete_record("view", key)
    with pytest.raises(GraphServiceError, match="no graph"):
        # A record of a hidden graph is not taken over by one of a graph that is seen.
        scoped.save_record(Record("view", key, tenants.my, {}))
    with pytest.raises(GraphServiceError, match="no graph"):
        scoped.replace_record(Record("view", key, tenants.my, {}))
    assert store.get_record("view", key) is not None
    # One that belongs to no graph is read by all, and written by none.
    store.save_record(Record("ranker", tenants.no, "", {"a": 1}))
    try:
        assert scoped.get_record("ranker", tenants.no) is not None
        assert [one.key for one in scoped.list_records("ranker")] == [tenants.no]
        assert not scoped.delete_record("ranker", tenants.no)
    finally:
        store.delete_record("ranker", tenants.no)


def test_closing_the_part_leaves_the_store_open(tenants: Tenants) -> None:
    with scoped_store(tenants.whole.store, ()) as part:
        assert part.url == tenants.whole.store.url
    part.ping()
