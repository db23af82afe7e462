"""Store, embedder, linker and views to results: the way in for Python without GraphQL.

``open_service`` gives a ``Service``; the GraphQL API is a thin layer over the same object.
"""

from graph_service.service.batch import Outcome
from graph_service.service.comparison import Comparison, ShownStatement, ViewChange
from graph_service.service.opening import open_configured_store, open_service
from graph_service.service.service import Service

__all__ = [
    "Comparison",
    "Outcome",
    "Service",
    "ShownStatement",
    "ViewChange",
    "open_configured_store",
    "open_service",
]
