"""The documents that the explorer sends, as trusted documents.

A server that answers listed documents alone takes the file as it is. Its form is that of
graphql-codegen's ``persisted-documents.json``: each document by the SHA-256 of its text.

    python -m graph_service.server.explorer.documents > graph_service/server/explorer/assets/documents.json
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from graphql import parse, print_ast
from graphql.utilities import separate_operations

from graph_service.model.answer import Interpretation, ReadConstraint
from graph_service.model.experiment import Condition, Difference, GraphOfExperiment, Mean
from graph_service.model.graph_info import UnfinishedLoad
from graph_service.model.limits import Cut
from graph_service.model.result import StageTiming
from graph_service.model.selection import fragment

SOURCE = Path(__file__).parent / "documents.graphql"
MODELS = (
    Condition,
    Cut,
    Difference,
    GraphOfExperiment,
    Interpretation,
    Mean,
    ReadConstraint,
    StageTiming,
    UnfinishedLoad,
)
"""What the explorer shows whole: each has a fragment of the name of its type in GraphQL."""


def trusted_documents(source: str, /) -> dict[str, str]:
    """Returns each operation of a document, with its fragments, by the SHA-256 of its text.

    A document may use the fragments of ``MODELS``, which the contract has.
    """
    derived = "\n".join(map(fragment, MODELS))
    operations = separate_operations(parse(source + derived)).values()
    texts = sorted(print_ast(operation) for operation in operations)
    return {hashlib.sha256(text.encode()).hexdigest(): text for text in texts}


def main() -> None:
    """Prints the explorer's documents as JSON."""
    print(json.dumps(trusted_documents(SOURCE.read_text(encoding="utf-8")), indent=1))


if __name__ == "__main__":
    main()
