"""Progress of long work on stderr."""

from __future__ import annotations

import sys
import time
from typing import Protocol

LINE_EVERY_S = 10.0


class Progress(Protocol):
    """How far a piece of work is."""

    @property
    def done(self) -> int:
        """How many items are done."""

    @property
    def total(self) -> int:
        """What there is to do."""

    def text(self) -> str:
        """Returns it for people, in one line."""


class ProgressPrinter:
    """Tells the progress on stderr: in place on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = time.monotonic()
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Tells how far it is, where it is time to."""
        last = progress.done == progress.total
        if self._is_terminal:
            text = progress.text()
            # A shorter line would leave the end of the longer one before it.
            self._width = max(self._width, len(text))
            print(f"\r{text:<{self._width}}", end="\n" if last else "", file=sys.stderr, flush=True)
        elif last or time.monotonic() - self._last >= LINE_EVERY_S:
            self._last = time.monotonic()
            print(progress.text(), file=sys.stderr, flush=True)
