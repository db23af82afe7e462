"""Scored cases in a file of JSON lines: written one by one, and gone on with after a crash.

Each line holds what the scores rest on (``basis``) beside the case's row, so that rows of another
judge or prompt are never mixed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain
from queries.line_file import LineFile
from queries.run import Progress, run_items
from queries.score.report import Row

RowType = TypeVar("RowType", bound=Row)
Case = TypeVar("Case")


class RowFile(Generic[RowType]):
    """Rows of one scoring; where there is no path they are held in memory alone.

    Args:
        path: The file; made on the first row.
        kind: The rows' type.
        basis: What the scores rest on.

    Raises:
        InputError: The file holds something else, or rows that rest on something else.
    """

    def __init__(self, path: Path | None, kind: type[RowType], basis: str, /) -> None:
        self._file = None if path is None else LineFile(path)
        self._kind = kind
        self._basis = basis
        self.rows: dict[str, RowType] = {}
        if self._file is not None:
            self._file.resume(self._is_row)

    def _is_row(self, line: bytes, where: str) -> bool:
        if not line.strip():
            return True
        try:
            fields = orjson.loads(line)
            basis = fields["basis"]
            row = from_plain(self._kind, fields["row"])
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
        return True

    def add(self, row: RowType, /) -> None:
        """Adds a row, on the disk before it returns.

        Raises:
            InputError: The file cannot be written.
        """
        self.rows[row.id] = row
        if self._file is not None:
            self._file.append({"basis": self._basis, "row": row})


def score_cases(
    cases: Sequence[Case],
    score: Callable[[Case], RowType],
    file: RowFile[RowType],
    /,
    *,
    id_of: Callable[[Case], str],
    again: Callable[[RowType], bool] = lambda _: False,
    concurrency: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[RowType, ...]:
    """Returns one row a case in the cases' order; those that the file has are not scored again.

    Args:
        cases: With ids of their own.
        score: From a case to its row; called in ``concurrency`` threads.
        file: Where rows are written.
        id_of: A case's id.
        again: Whether a row that the file has is to be scored again, such as a failed one.
        concurrency: Cases at once.
        progress: Called after each case.
    """
    ids = [id_of(case) for case in cases]
    left = [
        case
        for case, id_ in zip(cases, ids, strict=True)
        if id_ not in file.rows or again(file.rows[id_])
    ]
    for _, state in run_items(
        left,
        score,
        file.add,
        start=Progress(len(cases) - len(left), len(cases), unit="cases"),
        workers=concurrency,
        has_failed=lambda row: row.failure is not None,
        usage_of=lambda row: getattr(row, "usage", None),
    ):
        if progress is not None:
            progress(state)
    return tuple(file.rows[id_] for id_ in ids)
