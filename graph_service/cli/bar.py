"""A bar on stderr for long work that counts what is done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from loaders.progress import Progress


class Bar:
    """Made when it is first shown; a context manager.

    Args:
        shown: Whether it is shown where stderr is a terminal.
        unit: ``B`` for bytes; "" for mere numbers.
        divisor: How many of the unit make a thousand of it: 1,024 of bytes shown as KiB.
    """

    def __init__(self, *, shown: bool, unit: str = "", divisor: int = 1000) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._unit = unit
        self._divisor = divisor
        self._bar: Any = None

    def show(self, done: int, total: int, text: str = "", /, *, title: str = "") -> None:
        """Shows how much is done; ``total`` is 0 where that is not known."""
        if not self._shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=total or None,
                unit=self._unit,
                unit_scale=bool(self._unit),
                unit_divisor=self._divisor,
                file=sys.stderr,
                dynamic_ncols=True,
            )
        if title:
            self._bar.set_description_str(title, refresh=False)
        self._bar.set_postfix_str(text, refresh=False)
        self._bar.update(done - self._bar.n)

    def show_load(self, progress: Progress, /) -> None:
        """Shows where a load stands."""
        statements = progress.counts["statements"]
        rate = statements / progress.seconds if progress.seconds > 0 else 0.0
        self.show(
            progress.done,
            progress.total,
            f"{statements:,} statements, {rate:,.0f}/s"
            + (f", {progress.rejected:,} rejected" if progress.rejected else "")
            + (f"; {progress.note}" if progress.note else ""),
            title=progress.format,
        )

    def __enter__(self) -> Self:
        """Returns the bar, which is taken off the screen at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Takes the bar off the terminal."""
        if self._bar is not None:
            self._bar.close()
