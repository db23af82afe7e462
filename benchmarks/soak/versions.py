"""A graph that is loaded anew under way, whose content says which load it came from.

Every label of version 7 ends with ``v7``, and a tenth of the triples is left out, another tenth in
each version. So a label or a statement of an answer tells which versions it can be of, whatever the
answer says of its edition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

Triple = tuple[str, str, str]
PARTS = 10
_MARK = re.compile(r" v(\d+)$")


@dataclass(frozen=True, slots=True)
class Files:
    """One version as files to load."""

    triples: Path
    labels: Path


def is_left_out(triple: Triple, version: int, /) -> bool:
    """Returns whether a version lacks a triple."""
    return crc32("\t".join(triple).encode()) % PARTS == version % PARTS


def marked(label: str, version: int, /) -> str:
    """Returns a label as a version has it, in one line.

    >>> marked("Douglas Adams", 7)
    'Douglas Adams v7'
    """
    return f"{' '.join(label.split())} v{version}"


def version_of(label: str, /) -> int | None:
    """Returns the version that a label is of; None where it says none.

    >>> version_of("Douglas Adams v7"), version_of("Q42")
    (7, None)
    """
    found = _MARK.search(label)
    return int(found[1]) if found else None


def write_version(
    folder: Path, triples: Sequence[Triple], labels: Mapping[str, str], version: int, /
) -> Files:
    """Writes the files of a version.

    Args:
        folder: Where; files of an earlier version there are written over.
        triples: Of all versions.
        labels: By id; an id that has none is its own.
        version: Which.
    """
    files = Files(folder / "triples.tsv", folder / "labels.tsv")
    ids = sorted({id_ for triple in triples for id_ in triple})
    with files.triples.open("w", encoding="utf-8") as file:
        file.writelines(
            "\t".join(triple) + "\n" for triple in triples if not is_left_out(triple, version)
        )
    with files.labels.open("w", encoding="utf-8") as file:
        file.writelines(f"{id_}\t{marked(labels.get(id_, id_), version)}\n" for id_ in ids)
    return files
