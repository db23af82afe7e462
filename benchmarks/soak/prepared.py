"""The store that a run asks: made once in a folder, and found there again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.codex import read_labels, read_rows
from benchmarks.soak.beside import Loader, load_table
from benchmarks.soak.traffic import Asked
from benchmarks.soak.versions import Triple

STILL, CHANGING = "codex-m", "codex-s-anew"
VIEWS = ("soak-1", "soak-2")
_DONE = "store.made"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is there to be asked.

    Attributes:
        store: Its address.
        still: The graph that stays.
        changing: The one that is loaded anew.
        loader: Loads its versions.
    """

    store: str
    still: Asked
    changing: Asked
    loader: Loader


def prepare(data: Path, folder: Path, /) -> Prepared:
    """Returns the store of a folder, made where it is not there yet.

    Args:
        data: Folder that holds ``codex/``.
        folder: Of the run.
    """
    store = f"sqlite:///{folder / 'soak.db'}"
    tables = {STILL: data / "codex" / "m-train.tsv", CHANGING: data / "codex" / "s-train.tsv"}
    labels = {name: read_labels(data, table) for name, table in tables.items()}
    rows = {name: read_rows(table) for name, table in tables.items()}
    loader = Loader(store, CHANGING, folder, rows[CHANGING], labels[CHANGING])
    if not (folder / _DONE).exists():
        (folder / "soak.db").unlink(missing_ok=True)
        names = folder / "labels-m.tsv"
        lines = [f"{id_}\t{' '.join(one.split())}\n" for id_, one in sorted(labels[STILL].items())]
        names.write_text("".join(lines), encoding="utf-8")
        load_table(store, STILL, tables[STILL], names)
        loader.load(0)
        (folder / _DONE).touch()
    return Prepared(
        store,
        Asked(STILL, subjects_of(rows[STILL], labels[STILL]), VIEWS),
        Asked(CHANGING, subjects_of(rows[CHANGING], labels[CHANGING]), (), rows[CHANGING]),
        loader,
    )


def subjects_of(triples: Sequence[Triple], labels: Mapping[str, str], /) -> list[Triple]:
    """Returns what questions ask: each entity with each of its relations, once, by label."""
    pairs = sorted({(head, relation) for head, relation, _ in triples})
    return [
        (head, labels.get(head, head), labels.get(relation, relation)) for head, relation in pairs
    ]
