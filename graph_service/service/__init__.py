"""Store, embedder, linker and views to results: the way in for Python without GraphQL.

``open_service`` gives a ``Service``; the GraphQL API is a thin layer over the same object.
"""

from graph_service.service.many import Outcome
from graph_service.service.opening import open_configured_store, open_service
from graph_service.service.service import Service
from graph_service.service.shown import Comparison, ShownStatement, ViewChange

__all__ = [
    "Comparison",
    "Outcome",
    "Service",
    "ShownStatement",
    "ViewChange",
    "open_configured_store",
    "open_service",
]
