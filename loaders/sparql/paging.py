"""All triples of a pattern, page by page, and whether they really are all.

Pages follow one order over all variables and overlap, so that a shift between two requests
shows. Whatever took more than one page, is large, or ended at a round number of rows is compared with the endpoint's own count; where rows are missing the pages are asked for again,
and rows of all attempts are put together (each is true) until the count is reached.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from loaders.sparql.arrived import ArrivedRows
from loaders.sparql.endpoint import Endpoint, QueryFailedError
from loaders.sparql.terms import Row

OVERLAP_ROWS = 5
ATTEMPTS = 3
# A first page of this many rows may have been cut, whatever the number; small caps are round ones.
COUNTED_ROWS = 250
# So may any page of so many. All pages together are compared with a count in any case.
CUT_ROWS = 1_000
CAP_STEP = 100


@dataclass(frozen=True, slots=True)
class Collected:
    """The distinct triples of a pattern, sorted.

    Attributes:
        problem: Why they are not all; "" where they are, or as many as were wanted.
    """

    rows: tuple[Row, ...]
    problem: str = ""


class TooManyRowsError(QueryFailedError):
    """A pattern has more rows than are held."""


class Pager:
    """Reads patterns over ``?s ?p ?o`` from one endpoint.

    Args:
        endpoint: Where from.
        page_rows: Rows a page; lowered when the endpoint turns out to send fewer.
        max_rows: Rows of one pattern that are held at most.
        nested_order: Whether the order goes into a subquery: Virtuoso refuses to sort more than
            10,000 rows where the limit stands beside the order.
        arrived: Counts the rows of answers.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        /,
        *,
        page_rows: int,
        max_rows: int,
        nested_order: bool,
        arrived: ArrivedRows,
    ) -> None:
        self._endpoint = endpoint
        self._page_rows = page_rows
        self._max_rows = max_rows
        self._nested_order = nested_order
        self._arrived = arrived

    def collect(
        self,
        pattern: str,
        /,
        *,
        fits: Callable[[Row], bool] | None = None,
        enough: int | None = None,
    ) -> Collected:
        """Returns all triples of a pattern (a group's inside).

        Args:
            pattern: Binds ``?s ?p ?o``.
            fits: Whether a triple can be of this pattern.
            enough: Triples after which no more are asked for; None for all.

        Raises:
            QueryFailedError: A page failed; its ``rows`` are what came so far. Or there are
                more rows than are held.
        """
        rows: set[Row] = set()
        problem = ""
        for attempt in range(ATTEMPTS):
            try:
                sure = self._read_pages(pattern, rows, fits, enough, fresh=attempt > 0)
                if sure or (enough is not None and len(rows) >= enough):
                    return Collected(tuple(sorted(rows)))
                count = self.count(pattern, fresh=attempt > 0)
            except TooManyRowsError:
                raise
            except QueryFailedError as error:
                self._arrived.arrive(error.rows)
                raise QueryFailedError(
                    error.reason, tuple(sorted(rows.union(error.rows)))
                ) from error
            if len(rows) >= count:
                return Collected(tuple(sorted(rows)))
            problem = f"{len(rows):,} of {count:,} rows came, in {attempt + 1} attempts"
        return Collected(tuple(sorted(rows)), problem)

    def count(self, pattern: str, /, *, fresh: bool = False) -> int:
        """Returns how many distinct triples a pattern has."""
        answer = self._endpoint.select(
            "SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s ?p ?o WHERE { "
            f"{pattern} }} }} }}",
            fresh=fresh,
        )
        try:
            [binding] = answer.bindings
            return int(binding["n"].value)
        except (KeyError, ValueError) as error:
            raise QueryFailedError("a count that is no number") from error

    def looks_capped(self, rows: int, max_rows: int | None, /) -> bool:
        """Returns whether an answer of so many rows may have been cut by the endpoint."""
        return rows > 0 and (
            rows >= CUT_ROWS or rows % CAP_STEP == 0 or (max_rows is not None and rows >= max_rows)
        )

    def _read_pages(
        self,
        pattern: str,
        collected: set[Row],
        fits: Callable[[Row], bool] | None,
        enough: int | None,
        *,
        fresh: bool,
    ) -> bool:
        """Adds the rows of all pages; returns whether one page held them all for certain."""
        limit = self._page_rows
        offset = 0
        last: tuple[Row, ...] = ()
        while True:
            start = max(0, offset - OVERLAP_ROWS)
            query = self._page(pattern, limit, start)
            answer = self._endpoint.select(query, fresh=fresh, fits=fits)
            rows = answer.rows()
            self._arrived.arrive(rows)
            collected.update(rows)
            if enough is not None and len(collected) >= enough:
                return False
            if len(collected) > self._max_rows:
                # None of them are kept: what else has as many would fill the memory too.
                self._arrived.leave_out(collected)
                raise TooManyRowsError(
                    f"more than {self._max_rows:,} rows, the most that are held of one pattern "
                    "(--max-rows)"
                )
            capped = self.looks_capped(len(rows), answer.max_rows) or (
                offset == 0 and len(rows) >= COUNTED_ROWS
            )
            if (
                offset == 0
                and len(rows) < limit
                and (not capped or self.count(pattern, fresh=fresh) <= len(set(rows)))
            ):
                return True
            shifted = rows[: offset - start] != last[len(last) - (offset - start) :]
            if len(rows) <= offset - start or shifted or (len(rows) < limit and not capped):
                return False
            if len(rows) < limit:
                # It sends no more at a time: go on in steps of that size.
                limit = len(rows)
            offset, last = start + len(rows), rows

    def _page(self, pattern: str, limit: int, offset: int) -> str:
        bounds = f"LIMIT {limit}" + (f" OFFSET {offset}" if offset else "")
        if self._nested_order:
            return (
                "SELECT ?s ?p ?o WHERE { { SELECT DISTINCT ?s ?p ?o WHERE { "
                f"{pattern} }} ORDER BY ?s ?p ?o }} }} {bounds}"
            )
        return f"SELECT DISTINCT ?s ?p ?o WHERE {{ {pattern} }} ORDER BY ?s ?p ?o {bounds}"
