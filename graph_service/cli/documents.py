"""The verb ``documents`` of the command line."""

from __future__ import annotations

import sys

import orjson

from graph_service.cli.documents_options import DocumentsOptions
from graph_service.cli.output import Output
from graph_service.client.documents import DOCUMENTS
from graph_service.server.explorer.documents import SOURCE, trusted_documents
from graph_service.server.trusted_documents import manifest_of


def documents(options: DocumentsOptions, output: Output, /) -> int:
    """Prints documents by their ids, as ``serve --documents`` reads them."""
    if options.of == "explorer":
        texts = trusted_documents(SOURCE.read_text(encoding="utf-8"))
    else:
        texts = DOCUMENTS
    listed = orjson.dumps(
        manifest_of(texts.values()), option=0 if output.as_json else orjson.OPT_INDENT_2
    )
    sys.stdout.write(listed.decode() + "\n")
    return 0
