"""Scored cases in a file of JSON lines: written one by one, and gone on with after a crash.

Each line holds what the scores rest on (``basis``) beside the case's row, so that rows of another
judge or prompt are never mixed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Generic, TypeVar

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from queries.score.report import Row

RowType = TypeVar("RowType", bound=Row)
Case = TypeVar("Case")


class RowFile(Generic[RowType]):
    """Rows of one scoring; where there is no path they are kept in memory alone.

    Args:
        path: The file; made on the first row.
        kind: The rows' type.
        basis: What the scores rest on.

    Raises:
        InputError: The file holds something else, or rows that rest on something else.
    """

    def __init__(self, path: Path | None, kind: type[RowType], basis: str, /) -> None:
        self._path = path
        self._kind = kind
        self._basis = basis
        self.rows: dict[str, RowType] = {}
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), 1):
            if not line.strip():
                continue
            where = f"{path.name}, line {number}"
            try:
                found = orjson.loads(line)
                basis = found["basis"]
                row = from_plain(self._kind, found["row"])
            except (orjson.JSONDecodeError, KeyError, TypeError, InputError) as error:
                raise InputError(
                    f'{where}: a scored case {{"basis", "row"}} was expected; '
                    f"{line[:80].decode(errors='replace')!r} came",
                    argument="out",
                    hint="Write to another file.",
                ) from error
            if basis != self._basis:
                raise InputError(
                    f"{where}: this case was scored by {basis!r}, and this run scores by "
                    f"{self._basis!r}",
                    argument="out",
                    hint="Write to another file.",
                )
            self.rows[row.id] = row
        if whole < len(data):
            # The end of a run that was killed while it wrote: that case is scored again.
            with path.open("r+b") as opened:
                opened.truncate(whole)

    def add(self, row: RowType, /) -> None:
        """Keeps a row, on the disk before it returns.

        Raises:
            InputError: The file cannot be written.
        """
        self.rows[row.id] = row
        if self._path is None:
            return
        line = orjson.dumps({"basis": self._basis, "row": to_plain(row)}) + b"\n"
        try:
            with self._path.open("ab") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(
                f"can't write {self._path}: {error.strerror}", argument="out"
            ) from error


def score_cases(
    cases: Sequence[Case],
    score: Callable[[Case], RowType],
    file: RowFile[RowType],
    /,
    *,
    id_of: Callable[[Case], str],
    again: Callable[[RowType], bool] = lambda _: False,
    concurrency: int = 1,
    progress: Callable[[int, int, RowType], None] | None = None,
) -> tuple[RowType, ...]:
    """Returns one row a case in the cases' order; those that the file has are not scored again.

    Args:
        cases: With ids of their own.
        score: From a case to its row; called in ``concurrency`` threads.
        file: Where rows are kept.
        id_of: A case's id.
        again: Whether a row that the file has is to be scored again, such as a failed one.
        concurrency: Cases at once.
        progress: Told (cases done, cases in all, the row) after each.
    """
    ids = [id_of(case) for case in cases]
    left = [
        case
        for case, id_ in zip(cases, ids, strict=True)
        if id_ not in file.rows or again(file.rows[id_])
    ]
    done = len(cases) - len(left)
    for row in _scored(left, score, concurrency):
        file.add(row)
        done += 1
        if progress is not None:
            progress(done, len(cases), row)
    return tuple(file.rows[id_] for id_ in ids)


def _scored(
    cases: Sequence[Case], score: Callable[[Case], RowType], concurrency: int
) -> Iterator[RowType]:
    if concurrency <= 1:
        yield from map(score, cases)
        return
    with ThreadPoolExecutor(concurrency) as pool:
        try:
            yield from pool.map(score, cases)
        except BaseException:
            # What waits in line is not asked: the run ends with what is under way.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
