"""Tables of equal entities: ``load --same-as``, and what a load reports of them (B15)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_counts, check_text

from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions

A, B = "http://a.org/", "http://b.org/"


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        ([f"{A}1\tQ1", f"<{B}2>\t Q2 "], [{f"{A}1", "Q1"}, {f"{B}2", "Q2"}]),
        (["id,other", f'"{A}1",Q1'], [{f"{A}1", "Q1"}]),
        # More than two in a row, and two that a third joins, which the graph lacks.
        ([f"{A}1\t\t{B}2\tQ1"], [{f"{A}1", f"{B}2", "Q1"}]),
        ([f"absent\t{A}1", f"absent\t{B}2"], [{f"{A}1", f"{B}2"}]),
        ([f"{A}1\tabsent", f"{A}1\t{A}1"], []),
    ],
)
def test_rows_join_entities(
    tmp_store: Store, tmp_path: Path, rows: list[str], groups: list[set[str]]
) -> None:
    table = write(tmp_path / "same.tsv", rows)
    triples = write(tmp_path / "t.tsv", [f"{id_}\tp\tO" for id_ in (f"{A}1", f"{B}2", "Q1", "Q2")])
    report = load(triples, store=tmp_store, graph="g", options=LoadOptions(same_as=(table,)))
    assert report.rejected == 0
    assert report.graph is not None
    graph = tmp_store.snapshot(report.graph)
    equal = graph.equal
    found = [{*graph.node_ids.take(equal.of_group(group))} for group in range(equal.group_count)]
    assert sorted(found, key=sorted) == sorted(groups, key=sorted)
    assert report.equal.entities == sum(map(len, groups))
    assert report.equal.groups == len(groups)
    # An id that the graph lacks is no entity of it.
    assert graph.find_node("absent") is None
    assert report.graph.counts.entities == 5


def test_a_row_of_one_id_is_rejected(tmp_store: Store, tmp_path: Path) -> None:
    table = write(tmp_path / "same.tsv", [f"{A}1\tQ1", f"{A}1"])
    triples = write(tmp_path / "t.tsv", [f"{A}1\tp\tQ1"])
    options = LoadOptions(same_as=(table,), rejects_path=tmp_path / "rejects.jsonl")
    report = load(triples, store=tmp_store, graph="g", options=options)
    assert [reject.line for reject in report.rejects] == [2]
    check_text([reject.reason for reject in report.rejects], "got 1")
    assert (report.equal.entities, report.equal.groups) == (2, 1)


def test_a_load_reports_groups_that_are_not_merged(tmp_store: Store, tmp_path: Path) -> None:
    """Links of an earlier load and of this one add up."""
    triples = write(tmp_path / "t.tsv", [f"{id_}\tp\tQ1" for id_ in (f"{A}1", f"{A}2", f"{B}3")])
    first = write(tmp_path / "first.tsv", [f"{A}1\tQ1"])
    report = load(triples, store=tmp_store, graph="g", options=LoadOptions(same_as=(first,)))
    check_text(report.lines()[-3], "entities: 2", "question: 1")
    more = write(tmp_path / "u.tsv", [f"Q7\tp\t{B}3"])
    second = write(tmp_path / "second.tsv", [f"Q1\t{A}2", f"Q7\t{B}3"])
    report = load(more, store=tmp_store, graph="g", options=LoadOptions(same_as=(second,)))
    check_text(report.lines()[-4:-2], "entities: 2", "question: 1", "NOT MERGED", "Q1")
    check_counts(report.to_json()["equal"]["unmerged"], 1)
