"""How far a load is: told a few times a second to whoever asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from loaders.files import SourceFile
from loaders.items import Parsed
from loaders.options import Progress
from loaders.tally import Tally

PROGRESS_INTERVAL_S = 0.1


class ProgressTeller:
    """Tells the state of one run of a load.

    Args:
        tell: Is told; None for nobody.
        files: What is read, in order.
        tally: What is counted.
    """

    def __init__(
        self,
        tell: Callable[[Progress], None] | None,
        files: Sequence[SourceFile],
        tally: Tally,
        /,
    ) -> None:
        self._tell = tell
        self._files = files
        self._tally = tally
        self._began = time.monotonic()
        self._told_at = 0.0
        self._bytes_before = 0
        self._bytes_total = 0 if any(not file.size for file in files) else _bytes_of(files)

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return time.monotonic() - self._began

    def pass_over(self, file: SourceFile, /) -> None:
        """Counts a file as read."""
        self._bytes_before += file.size

    def show(self, name: str, bytes_read: int, format_: str, parsed: Parsed, /) -> None:
        """Tells where a file is, unless that was told just now."""
        if self._tell is None:
            return
        now = time.monotonic()
        if now - self._told_at < PROGRESS_INTERVAL_S:
            return
        self._told_at = now
        tally = self._tally
        self._tell(
            Progress(
                file=name,
                format=format_,
                bytes_read=self._bytes_before + bytes_read,
                bytes_total=self._bytes_total,
                line=parsed.line,
                note=parsed.note,
                statements=tally.statements,
                entities=tally.entities,
                rejected=tally.rejected,
                seconds=now - self._began,
            )
        )

    def show_first_pass(
        self, name: str, consumed_bytes: int, file: SourceFile, format_: str, line: int, /
    ) -> None:
        """Tells where the first of two passes is, which begins at the first file."""
        before = _bytes_of(self._files[: self._files.index(file)])
        self.show(name, before + consumed_bytes, format_, Parsed(line=line, note="first pass"))


def _bytes_of(files: Sequence[SourceFile]) -> int:
    return sum(file.size for file in files)
