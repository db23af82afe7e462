"""A bar on stderr for long work that counts what is done."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


class Bar:
    """Made when it is first shown; a context manager.

    Args:
        shown: Whether it is shown where stderr is a terminal.
        unit: ``B`` for bytes; "" for mere numbers.
    """

    def __init__(self, *, shown: bool, unit: str = "") -> None:
        self._shown = shown and sys.stderr.isatty()
        self._unit = unit
        self._bar: Any = None

    def show(self, done: int, total: int, text: str = "", /) -> None:
        """Shows how much is done; ``total`` is 0 where that is not known."""
        if not self._shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total or None,
                unit=self._unit,
                unit_scale=bool(self._unit),
                file=sys.stderr,
                dynamic_ncols=True,
            )
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Ends the bar."""
        if self._bar is not None:
            self._bar.close()
