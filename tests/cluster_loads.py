"""Loads of a cluster beside one machine's load of the same source, for tests."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graph_service import open_service
from graph_service.cluster.load_tasks import Engine, KeyRanges, errors_of
from graph_service.export import export, exported_graph
from graph_service.model.graph_info import GraphInfo
from graph_service.settings import Settings
from graph_service.store.parquet import ENTITIES, STATEMENTS, schemas
from loaders.cluster import LoadSizes, cluster_load, read_target
from loaders.load import load
from loaders.options import LoadOptions
from loaders.report import LoadReport

SMALL = LoadSizes(chunk_bytes=1, range_rows=500)
"""Each block is a chunk, and five hundred rows are a range."""


@dataclass
class LocalEngine:
    """Runs tasks one after another in this process: what an engine does, without one.

    Attributes:
        tasks: How many it has run.
    """

    tasks: int = 0

    def run_tasks(self, indices: Sequence[int], work: Callable[[int], None], /) -> None:
        for index in reversed(indices):
            self._run(work, index)

    def run_ranges(self, ranges: KeyRanges, work: Callable[[int, Any], None], /) -> None:
        rows = pa.concat_tables(map(_rows, ranges.folders))
        keys = rows["key"].to_numpy()
        bits = ranges.bits
        indices = (keys >> (64 - bits)) + (1 << (bits - 1)) if bits else np.zeros_like(keys)
        for index in sorted(set(indices.tolist()) - set(ranges.done)):
            some = rows.filter(indices == index)
            # An engine gives them in any order.
            order = np.random.default_rng(1).permutation(some.num_rows)
            self._run(partial(_swapped, work, some.take(order)), index)

    def repeated_documents(self, folder: Path, /) -> Any:
        rows = _rows(folder)
        rows = rows.filter(
            pa.array([is_merged is False for is_merged in rows["is_merged"].to_pylist()])
        )
        keys, counts = np.unique(rows["key"].to_numpy(), return_counts=True)
        return rows.filter(np.isin(rows["key"].to_numpy(), keys[counts > 1]))

    def _run(self, work: Callable[[int], None], index: int) -> None:
        from graph_service.cluster import load_tasks

        self.tasks += 1
        load_tasks.raise_first(
            [(error,) for error in errors_of(work, [index])["error"].to_pylist()]
        )


def _swapped(work: Callable[[int, Any], None], rows: Any, index: int) -> None:
    work(index, rows)


def _rows(folder: Path) -> Any:
    return pa.concat_tables([pq.read_table(path) for path in sorted(folder.iterdir())])


def check_load(
    source: Path,
    engine: Engine,
    folder: Path,
    /,
    *,
    options: LoadOptions | None = None,
    sizes: LoadSizes = SMALL,
) -> LoadReport:
    """Loads a source both ways, and compares reports, rejects and every row; returns the report."""
    options = replace(options or LoadOptions(), workers=0)
    cluster_rejects, rejects = folder / "cluster.jsonl", folder / "rejects.jsonl"

    @contextmanager
    def opened() -> Iterator[Engine]:
        yield engine

    out = folder / "cluster.parquet"
    came = cluster_load(
        str(source),
        read_target(f"parquet:{out}"),
        graph="made",
        options=replace(options, rejects_path=cluster_rejects),
        open_engine=opened,
        sizes=sizes,
    )
    with open_service(f"sqlite:///{folder / 'made.db'}", settings=Settings()) as service:
        expected = load(
            source,
            store=service.store,
            graph="made",
            options=replace(options, rejects_path=rejects),
        )
        export(exported_graph(service, graph="made"), str(folder / "made.parquet"))
    assert same_reports(came, expected)
    assert reject_lines(cluster_rejects) == reject_lines(rejects)
    for table in (STATEMENTS, ENTITIES):
        rows, expected_rows = rows_of(out, table), rows_of(folder / "made.parquet", table)
        assert rows.schema == expected_rows.schema
        assert rows.to_pylist() == expected_rows.to_pylist()
    return came


def same_reports(came: LoadReport, expected: LoadReport, /) -> bool:
    """Returns whether two reports say the same; fails with the difference."""
    fields, expected_fields = came.to_json(), expected.to_json()
    for each, report in ((fields, came), (expected_fields, expected)):
        assert isinstance(report.graph, GraphInfo)
        # What took how long, where rejects lie, and what only a store counts.
        for name in ("seconds", "rejects_path", "equal", "resumed"):
            each.pop(name)
        # Compared as files.
        each["rejects"] = len(each["rejects"])
        del each["graph"]["published_at"]
    assert fields == expected_fields
    return True


def rows_of(folder: Path, table: str, /) -> Any:
    """Returns the rows of a table of a graph in Parquet, by key."""
    empty = schemas()[table].empty_table()
    return pa.concat_tables([empty, *map(pq.read_table, sorted((folder / table).iterdir()))])


def reject_lines(path: Path, /) -> list[bytes]:
    """Returns the lines of a file of rejects, if there is one; conflicts by their place alone.

    On one machine those of one batch come in an order of the store's.
    """
    lines = path.read_bytes().splitlines() if path.exists() else []
    read = [line for line in lines if b" that one is kept" not in line]
    return read + sorted(set(lines) - set(read))


def write_triples(path: Path, /, *, lines: int = 6_000) -> None:
    """Writes N-Triples of several blocks: names, links, blank nodes, repeats, lines that are none."""
    chance = random.Random(3)
    made = ["\ufeff# a remark"]
    name = "<http://www.w3.org/2000/01/rdf-schema#{}>"
    same_as = "<http://www.w3.org/2002/07/owl#sameAs>"
    redirects = "<http://dbpedia.org/ontology/wikiPageRedirects>"
    for index in range(lines):
        head = f"<http://example.org/thing/number/{chance.randrange(400)}>"
        other = f"<http://example.org/thing/number/{chance.randrange(400)}>"
        made.append(
            chance.choice(
                (
                    f"{head} <http://example.org/relation/{chance.randrange(5)}> {other} .",
                    f"{head} <http://example.org/relation/{chance.randrange(5)}> {other} .",
                    f'{head} <http://example.org/length> "{index % 50}"^^<http://www.w3.org/2001/XMLSchema#integer> .',
                    f'{head} <http://example.org/motto> "a text {index % 90}"@{chance.choice(("en", "de"))} .',
                    f'{head} {name.format("label")} "name {index % 700}"@{chance.choice(("en", "de", "fr"))} .',
                    f'{head} {name.format("comment")} "what it is {index % 300}"@en .',
                    f"_:node{chance.randrange(60)} <http://example.org/about> {head} .",
                    f"{head} <http://example.org/made> _:node{chance.randrange(60)} .",
                    f"{head} {same_as} <http://other.org/{chance.randrange(200)}> .",
                    f"<http://example.org/old/{index % 20}> {redirects} {head} .",
                    f'<http://example.org/relation/1> {name.format("label")} "relation {index % 4}"@en .',
                    chance.choice(
                        ("<http://bad", "", "# no triple", f"{head} <http://example.org/p> .")
                    ),
                )
            )
            + chance.choice(("", "", "\r"))
        )
    path.write_text("\n".join(made), encoding="utf-8")


def document(id_: str, claims: Sequence[tuple[str, str, str]], /, **fields: Any) -> dict[str, Any]:
    """Returns a Wikibase document: claims are the statement's number, its property, its value."""
    return {
        "type": "item",
        "id": id_,
        "labels": {"en": {"language": "en", "value": fields.pop("label", f"name of {id_}")}},
        "claims": {
            property_: [
                {
                    "mainsnak": _snak(property_, value),
                    "type": "statement",
                    "rank": "normal",
                    "id": f"{id_}$00000000-0000-4000-8000-{number:0>12}",
                    "qualifiers": {"P9": [_snak("P9", "Q9")]},
                    "qualifiers-order": ["P9"],
                }
                for number, of_claim, value in claims
                if of_claim == property_
            ]
            for property_ in dict.fromkeys(of_claim for _, of_claim, _ in claims)
        },
        **fields,
    }


def _snak(property_: str, value: str) -> dict[str, Any]:
    if not value.startswith("Q"):
        return {
            "snaktype": "value",
            "property": property_,
            "datatype": "string",
            "datavalue": {"type": "string", "value": value},
        }
    return {
        "snaktype": "value",
        "property": property_,
        "datatype": "wikibase-item",
        "datavalue": {
            "type": "wikibase-entityid",
            "value": {"entity-type": "item", "numeric-id": int(value[1:]), "id": value},
        },
    }


def write_documents(path: Path, documents: Sequence[Any], /, *, packed: str = "") -> None:
    """Writes documents as a dump: an array with an entity a line; text is written as it is."""
    lines = [each if isinstance(each, str) else json.dumps(each) for each in documents]
    data = ("[\n" + ",\n".join(lines) + "\n]\n").encode()
    pack: dict[str, Callable[[bytes], bytes]] = {"bz2": bz2.compress, "gz": gzip.compress}
    path.write_bytes(pack[packed](data) if packed else data)


def write_rows(path: Path, /, *, rows: int = 5_000) -> None:
    """Writes a table of several blocks: a header, repeats, rows that are too short."""
    chance = random.Random(4)
    lines = ["head\trelation\ttail\tid\trank"]
    for index in range(rows):
        head, tail = chance.randrange(1, 300), chance.randrange(1, 300)
        id_ = f"Q{head}$00000000-0000-4000-8000-{chance.randrange(20):012}"
        rank = chance.choice(("normal", "preferred", "", "high" if index % 400 == 3 else ""))
        lines.append(
            f"Q{head}\tP{chance.randrange(1, 6)}\tQ{tail}\t{id_ if index % 3 else ''}\t{rank}"
            if index % 500
            else f"Q{head}\tP1"
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
