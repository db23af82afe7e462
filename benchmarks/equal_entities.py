"""Members of ``python -m benchmarks speed`` about several sources: what their links cost a question."""

from __future__ import annotations

import lzma
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from benchmarks.codex import Codex, read_ids, read_rows
from benchmarks.figures import Detail, Measured, spread, timed
from graph_service.errors import SetupError
from graph_service.model.identity import key64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, ScoredPath, Strategy
from graph_service.model.statement import Entity
from graph_service.store.protocol import Batch

BOUND = 1.1
"""The median with links over the median without them is to be at most this."""
_SECOND = "http://second.example/"
_DBP15K = "dbp15k_fr_en"
_QUESTIONS = 40
_MOST_QUESTIONS = 160
"""Of DBP15K: by chance, the medians of 40 of its questions give ratios from .84 to 1.32."""
_ROUNDS, _FEW_ROUNDS = 7, 3

Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question about one entity, which is given; ``merged_id`` is its id where equals have one."""

    text: str
    entity_id: str
    merged_id: str


@dataclass(frozen=True, slots=True)
class _Sources:
    """Two sources in one graph, without links, with them, and with one id for each entity.

    Attributes:
        graphs: Their names, in this order.
        groups: Pairs of ids that the links join.
        questions: About entities that both sources have, or that lead to such.
    """

    graphs: tuple[str, str, str]
    groups: int
    questions: Sequence[_Question]


def codex_links(size: str, codex: Codex, /) -> Measured:
    """Asks CoDEx as two sources that a hash makes: nearly each entity is in both, by own ids."""
    return _measure(
        codex.once(f"two sources {size}", lambda: _codex_sources(size, codex)), codex, _ROUNDS
    )


def dbpedia_links(codex: Codex, /) -> Measured:
    """Asks French and English DBpedia (DBP15K) with its links questions that cross from one to the other.

    Its relations have numbers alone, so they get the names of CoDEx's.
    """
    return _measure(codex.once("dbp15k", lambda: _dbpedia_sources(codex)), codex, _FEW_ROUNDS)


def _measure(sources: _Sources, codex: Codex, rounds: int) -> Measured:
    """Asks with links; beside the same graph without them.

    The figure is processor time: each question is asked on the graphs in turn, and the least of the
    rounds counts, since a busy machine adds to most. The details compare with one id for each too.
    """
    without_name, linked_name, merged_name = sources.graphs
    cases = [
        RetrieveRequest(
            question.text,
            Strategy.PATHS,
            graph=graph,
            entity_ids=(question.merged_id if graph == merged_name else question.entity_id,),
        )
        for question in sources.questions
        for _ in range(rounds)
        for graph in sources.graphs
    ]
    results: list[RetrievalResult] = []
    times = timed(
        lambda request: results.append(codex.service.retrieve(request)),
        cases,
        clock=time.process_time,
    )
    # The first round makes vectors and opens graphs.
    shape = (len(sources.questions), rounds, len(sources.graphs))
    without, linked, merged = np.maximum(np.reshape(times, shape)[:, 1:].min(axis=1), 1e-3).T
    ratio = float(np.median(linked) / np.median(without))
    crossing = sum(
        _has_both(result) for result in results if result.provenance.graph == linked_name
    )
    details: dict[str, Detail] = {
        "questions": len(sources.questions),
        "groups": sources.groups,
        "bound": BOUND,
        "within_bound": "yes" if ratio <= BOUND else "no",
        "ratio_of_pairs": float(np.median(linked / without)),
        "one_id_each_ms": float(np.median(merged)),
        "ratio_to_one_id_each": float(np.median(linked) / np.median(merged)),
        "pairs_to_one_id_each": float(np.median(linked / merged)),
        "with_statements_of_both": crossing // rounds,
    }
    return Measured(linked.tolist(), without.tolist(), None, details)


def _has_both(result: RetrievalResult) -> bool:
    """Returns whether one path of a result has statements of both sources."""
    return any(
        len({_source(step.triple.head.id) for step in item.steps}) == 2
        for item in result.items
        if isinstance(item, ScoredPath)
    )


def _source(id_: str) -> str:
    """Returns what tells the source of an id: what stands before DBpedia's names, or the address."""
    return id_.partition("/resource/")[0] if "/resource/" in id_ else id_.partition("//")[1]


def _codex_sources(size: str, codex: Codex) -> _Sources:
    data = codex.graph(size)
    rows = [
        row if key64("\t".join(row)) & 1 else (_SECOND + row[0], row[1], _SECOND + row[2])
        for row in read_rows(codex.triples(size))
    ]
    path = _write(codex.folder / f"sources-{size}.tsv", rows)
    ids = read_ids(path)
    pairs = [(id_, _SECOND + id_) for id_ in sorted(ids) if _SECOND + id_ in ids]
    graphs = (f"apart-{size}", f"linked-{size}")
    _load(codex, path, codex.labels(size, ("", _SECOND)), graphs, pairs)
    both = {id_ for id_, _ in pairs}
    questions = [
        _Question(question.text, question.entity_id, question.entity_id)
        for question in data.questions
        if question.entity_id in both
    ]
    return _Sources((*graphs, data.name), len(pairs), spread(questions, _QUESTIONS))


def _dbpedia_sources(codex: Codex) -> _Sources:
    folder = codex.path(_DBP15K)
    if not (folder / "ref_ent_ids").is_file():
        raise SetupError(
            f"expected DBP15K in {folder}, which has no file ref_ent_ids",
            hint="Name the folder that holds dbp15k_fr_en/: --data FOLDER",
        )
    ids = {number: iri for side in (1, 2) for number, iri in _cells(folder / f"ent_ids_{side}.xz")}
    linked = [line.split() for line in (folder / "ref_ent_ids").read_text().splitlines()]
    english = {ids[second]: ids[first] for first, second in linked}
    sides = [
        [
            (ids[head], f"rel:{relation}", ids[tail])
            for head, relation, tail in _cells(folder / f"triples_{side}.xz")
        ]
        for side in (1, 2)
    ]
    rows = [row for side in sides for row in side]
    names = _relation_names(codex, sorted({relation for _, relation, _ in rows}))
    labels = _write(codex.folder / "dbp15k-labels.tsv", names.items())
    graphs = ("dbp15k-apart", "dbp15k-linked")
    path = _write(codex.folder / "dbp15k.tsv", rows)
    _load(codex, path, labels, graphs, list(english.items()))
    one_id = [(english.get(h, h), r, english.get(t, t)) for h, r, t in rows]
    codex.load(
        _write(codex.folder / "dbp15k-merged.tsv", one_id),
        codex.service.store,
        "dbp15k-merged",
        labels,
    )
    questions = [
        _Question(f"What is the {names[second]} of the {names[first]} of it?", id_, english.get(id_, id_))
        for id_, first, second in _crossing(sides[1], sides[0], english)
    ]  # fmt: skip
    return _Sources((*graphs, "dbp15k-merged"), len(english), questions[:_MOST_QUESTIONS])


def _crossing(
    english: Sequence[Row], french: Sequence[Row], equal: dict[str, str]
) -> list[tuple[str, str, str]]:
    """Returns an entity with a relation to one whose equal has the second, for each entity once."""
    of_french: dict[str, str] = {}
    for head, relation, _ in french:
        of_french.setdefault(head, relation)
    chains: dict[str, tuple[str, str]] = {}
    degrees: defaultdict[str, int] = defaultdict(int)
    for head, relation, tail in english:
        degrees[tail] += 1
        second = of_french.get(equal.get(tail, ""))
        if second is not None and degrees[tail] < 100:
            chains.setdefault(head, (relation, second))
    return [(head, *chains[head]) for head in sorted(chains, key=key64)]


def _relation_names(codex: Codex, relations: Sequence[str]) -> dict[str, str]:
    """Returns a name of each relation: those of CoDEx's, with a number where they come again."""
    entries = orjson.loads(codex.path("codex", "relations-en.json").read_bytes())
    names = sorted({entry["label"] for entry in entries.values()})
    return {
        relation: names[index % len(names)] + (f" {index // len(names) + 1}" if index >= len(names) else "")
        for index, relation in enumerate(relations)
    }  # fmt: skip


def _load(
    codex: Codex, path: Path, labels: Path, graphs: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> None:
    """Loads a table twice, and links ids of the second graph."""
    store = codex.service.store
    for graph in graphs:
        codex.load(path, store, graph, labels)
    entities = tuple(Entity(id_, same_as=(other,)) for id_, other in pairs)
    with store.begin_load(graphs[1], owner="benchmark", source="links") as session:
        session.write(Batch(entities=entities, terms_only=True))
        session.finish()
        session.publish()


def _cells(path: Path) -> Iterable[list[str]]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


def _write(path: Path, rows: Iterable[Sequence[str]]) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path
