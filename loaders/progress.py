"""A progress bar on stderr for a load."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from loaders.options import Progress


class ProgressBar:
    """Shows ``Progress`` as a bar of bytes read, with counts; a context manager.

    Args:
        shown: Whether to show it; None for only where stderr is a terminal.
    """

    def __init__(self, *, shown: bool | None = None) -> None:
        self._shown = sys.stderr.isatty() if shown is None else shown
        self._bar: Any = None

    def __call__(self, progress: Progress, /) -> None:
        """Shows where the load stands."""
        if not self._shown:
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=progress.bytes_total or None,
                unit="B",
                unit_scale=True,
                unit_divisor=1024,
                file=sys.stderr,
                dynamic_ncols=True,
            )
        rate = progress.statements / progress.seconds if progress.seconds > 0 else 0.0
        self._bar.set_description_str(progress.format, refresh=False)
        self._bar.set_postfix_str(
            f"{progress.statements:,} statements, {rate:,.0f}/s"
            + (f", {progress.rejected:,} rejected" if progress.rejected else "")
            + (f"; {progress.note}" if progress.note else ""),
            refresh=False,
        )
        self._bar.update(progress.bytes_read - self._bar.n)

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
        """Closes the bar."""
        if self._bar is not None:
            self._bar.close()
