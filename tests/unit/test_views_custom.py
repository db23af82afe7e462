"""A person's own changes, the overlay and the words for them (S3, S4)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import raises
from graph_builder import Triple, build_graph

from graph_service.errors import InputError
from graph_service.model.overlay import ViewStatementIds
from graph_service.model.stored_view import ViewReport
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import CHANGE_KINDS, Change, ChangeKind, Method, Scope, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.measure.describe import describe_change, differences
from graph_service.views.methods.changes_file import parse_changes, read_changes
from graph_service.views.overlay import lay

ROWS: list[Triple] = [
    ("maria", "spouse", "arnold"),
    ("arnold", "spouse", "maria"),
    ("arnold", "height", StringValue("188")),
    ("eunice", "child", "maria"),
]
IDS = ["S1", "S2", "S3", "S4"]
GRAPH = build_graph(ROWS, statement_ids=IDS)


def custom(*changes: Change) -> tuple[ViewDelta, ViewReport]:
    return make_delta(GRAPH, ViewSpec(Method.CUSTOM, changes=changes))


def words(delta: ViewDelta) -> list[str]:
    def node(number: int) -> str:
        if number < GRAPH.node_count:
            return GRAPH.node_ids[number]
        return delta.new_nodes[number - GRAPH.node_count]

    def relation(number: int) -> str:
        if number < GRAPH.relation_count:
            return GRAPH.relation_ids[number]
        return delta.new_relations[number - GRAPH.relation_count]

    return [
        describe_change(item, node_label=node, relation_label=relation)
        for item in differences(GRAPH, delta)
    ]


def test_all_kinds_of_change_in_words() -> None:
    delta, report = custom(
        Change(statement_id="S1", value=EntityValue("ljubljana")),
        Change(statement_id="S2", remove=True),
        Change(statement_id="S3", relation="weight"),
        Change(head="eunice", relation="child", value=EntityValue("arnold")),
    )
    assert sorted(words(delta)) == sorted(
        [
            'maria: spouse -> was arnold, now ["e","ljubljana"]',
            "arnold: spouse -> maria, gone",
            'arnold: was height, now weight -> ["s","188"]',
            "eunice: child -> arnold, new",
        ]
    )
    assert report.counts == {
        "removed": 1,
        "relation-changed": 1,
        "value-changed": 1,
        "added": 1,
    }
    overlay = lay(GRAPH, delta, view_id="v")
    assert sorted(overlay.keys.tolist()) == overlay.keys.tolist()
    kinds = {}
    for extra, id_ in enumerate(overlay.statement_ids):
        base_edge = int(overlay.base_edge[extra])
        kinds[CHANGE_KINDS[int(overlay.kinds[extra])]] = base_edge if base_edge >= 0 else None
        assert id_.startswith("view:")
        assert isinstance(overlay.statement_ids, ViewStatementIds)
        assert overlay.statement_ids.find(id_) == extra
    assert kinds == {
        ChangeKind.VALUE_CHANGED: GRAPH.find_edge("S1"),
        ChangeKind.RELATION_CHANGED: GRAPH.find_edge("S3"),
        ChangeKind.ADDED: None,
    }
    assert len(overlay.gone) == 3


def test_one_change_has_one_id_in_every_view() -> None:
    """K4: an id is made of base statement and new content, not of the view."""
    change = Change(statement_id="S1", value=EntityValue("eunice"))
    alone, _ = custom(change)
    among, _ = custom(Change(statement_id="S2", remove=True), change)
    other, _ = custom(Change(statement_id="S1", value=EntityValue("maria")))
    ids = [
        lay(GRAPH, delta, view_id=v).statement_ids[0]
        for v, delta in zip("abc", (alone, among, other), strict=True)
    ]
    assert ids[0] == ids[1] != ids[2]


@pytest.mark.parametrize(
    "change",
    [
        Change(statement_id="S9", remove=True),
        Change(statement_id="S1"),
        Change(statement_id="S1", head="eunice", remove=True),
        Change(statement_id="S1", remove=True, relation="r"),
        Change(statement_id="S1", value=EntityValue("arnold")),
        Change(head="maria", relation="spouse"),
        Change(remove=True),
    ],
)
def test_errors_name_the_change(change: Change) -> None:
    with raises(InputError) as raised:
        custom(Change(statement_id="S4", remove=True), change)
    assert "change 2" in str(raised.value)


def test_the_same_twice_is_an_error() -> None:
    twice = Change(head="maria", relation="r", value=EntityValue("x"))
    with raises(InputError):
        custom(twice, twice)
    with raises(InputError):
        custom(Change(statement_id="S1", remove=True), Change(statement_id="S1", relation="r"))


@pytest.mark.parametrize(
    "spec",
    [
        ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(statement_ids=("S9",))),
        ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(relation_ids=("r9",))),
        ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(around_entity_ids=("nobody",))),
        ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(of_question=True)),
        ViewSpec(Method.WITHHOLDING, statement_ids=("S9",)),
        ViewSpec(Method.WITHHOLDING, statement_ids=("S1",), scope=Scope(relation_ids=("spouse",))),
        ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, scorer="trained"),
        ViewSpec(Method.EDGE_DELETION, level=0.5, algorithm=99),
    ],
)
def test_what_the_graph_lacks_is_said(spec: ViewSpec) -> None:
    with pytest.raises(InputError):
        make_delta(GRAPH, spec)


def test_changes_file(tmp_path: Path) -> None:
    path = tmp_path / "changes.jsonl"
    path.write_text(
        '# mine\n{"statementId": "S1", "value": "Q1"}\n\n'
        '{"head": "a", "relation": "b", "text": "c"}\n{"statement_id": "S2", "remove": true}\n'
    )
    assert read_changes(path) == (
        Change(statement_id="S1", value=EntityValue("Q1")),
        Change(head="a", relation="b", value=StringValue("c")),
        Change(statement_id="S2", remove=True),
    )
    table = 'statementId\tremove\tvalue\nS1\tyes\t\nS2\t\t["s","x"]\n'
    assert parse_changes(table.splitlines()) == (
        Change(statement_id="S1", remove=True),
        Change(statement_id="S2", value=StringValue("x")),
    )
    with pytest.raises(InputError, match="cannot read"):
        read_changes(tmp_path / "none")


@pytest.mark.parametrize(
    "text",
    [
        '{"statementId": "S1", "value": 3}',
        '{"statementId": "S1", "remove": true}\n{"a": 1}',
        '{"head": "a", "value": "b"}',
        '{"head": "a", "relation": "b"}',
        '{"statementId": "S1", "remove": "yes"}',
        "{",
        "head\tcolour\n",
        "head\trelation\tvalue\na\tb",
        "statementId\tremove\nS1\tmaybe",
        '{"statementId": "S1", "statement_id": "S2"}',
        '{"statementId": "S1", "remove": true}\nS2',
        'statementId\tvalue\nS1\t["s",',
        '{"head": "a", "relation": 3}',
        '{"statementId": ["S1"]}',
        '{"statementId": "S1", "value": "Q1", "text": "b"}',
        '{"statementId": "S1", "value": ["x", "y"]}',
        "",
    ],
)
def test_a_wrong_line_is_named(text: str) -> None:
    with raises(InputError):
        parse_changes(text.splitlines())
