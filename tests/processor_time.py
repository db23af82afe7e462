"""The processor time of operations, in tests of their costs."""

from __future__ import annotations


class Processor:
    """Seconds of the processor that operations have used; they pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds
