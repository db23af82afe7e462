"""What one operation of several reads has seen, so that its parts fit together."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.store.protocol import Store
from graph_service.store.reads import Reads
from graph_service.store.recall import is_recalled


@dataclass(slots=True)
class ReadSession:
    """The graphs that an operation has met, each in the edition it was first met in.

    Attributes:
        deadline: Of the whole operation.
        reads: What it has read that may change.
        is_from_memory: Whether a result of it is from memory, because the store does not answer.
    """

    store: Store
    deadline: Deadline
    reads: Reads
    is_from_memory: bool = False
    _met: dict[str, GraphInfo] = field(default_factory=dict)
    _names: list[str] | None = None

    def graph(self, name: str, /) -> GraphInfo:
        """Returns a graph as it was when the operation first asked."""
        self.deadline.check("reading the graph")
        if name in self._met:
            return self._met[name]
        info = self.store.graph(name)
        if not is_recalled():
            self._met[name] = info
        return info

    def graphs(self) -> list[GraphInfo]:
        """Returns all graphs as they were when the operation first asked."""
        self.deadline.check("listing graphs")
        if self._names is None:
            listed = self.store.graphs()
            if is_recalled():
                return listed
            self._names = [info.name for info in listed]
            self._met = {info.name: info for info in listed} | self._met
        return [self._met[name] for name in self._names]

    @property
    def has_met_graphs(self) -> bool:
        """Whether any graph was found: one of them may have been dropped since."""
        return bool(self._met)


class ReadingOfThread(threading.local):
    """The reading under way in a thread, if there is one."""

    current: ReadSession | None = None
