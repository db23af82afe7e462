"""Options that have no effect on a source: an error, so that nobody believes they had one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graph_service.errors import InputError
from loaders.files import SourceFile
from loaders.formats import Format
from loaders.options import LoadOptions
from loaders.source import STANDARD_INPUT, open_source

_STATEMENT_TABLES = frozenset({Format.CSV, Format.TSV})
_TABLES = _STATEMENT_TABLES | {Format.ROWS, Format.KGTK}
_NAMES = frozenset({Format.LABELS, Format.DESCRIPTIONS, Format.TYPES, Format.SAME_AS})
_OTHERS = frozenset(Format) - _TABLES - _NAMES
_FORMATS: Mapping[str, frozenset[Format]] = {
    "redirects": _OTHERS,
    "mix_truthy": _OTHERS,
    "columns": _STATEMENT_TABLES,
    "edge_relation": _STATEMENT_TABLES,
    "literal_relations": _STATEMENT_TABLES,
    "entity_ids": _STATEMENT_TABLES,
    "relation_ids": _STATEMENT_TABLES,
    "qualifier_file": _STATEMENT_TABLES | {Format.KGTK},
    "encoding": _STATEMENT_TABLES | _NAMES | {Format.ROWS},
}
"""The formats on which options have an effect."""
_WORDS: Mapping[frozenset[Format], str] = {
    _OTHERS: "RDF and Wikibase",
    _STATEMENT_TABLES: "tables with a statement in each row",
}


def check_effects(files: Sequence[SourceFile], options: LoadOptions, /) -> None:
    """Raises ``InputError`` naming the first option that has no effect on any of the files.

    Standard input is read once, so its format is not known yet: nothing is said of it.
    """
    unset = LoadOptions()
    names = [name for name in _FORMATS if getattr(options, name) != getattr(unset, name)]
    if not names or any(file.path == STANDARD_INPUT and file.format is None for file in files):
        return
    formats = frozenset(_formats(files, options))
    for name in names:
        if formats and formats.isdisjoint(_FORMATS[name]):
            flag = name.replace("_", "-")
            words = _WORDS.get(_FORMATS[name], "tables")
            raise InputError(
                f"--{flag} has no effect on {files[0].path}, whose format is "
                f"{', '.join(sorted(formats - _NAMES or formats))}; it is for {words}",
                argument=name,
            )


def _formats(files: Sequence[SourceFile], options: LoadOptions) -> Iterator[Format]:
    for file in files:
        if file.endpoint:
            continue
        try:
            with open_source(file.path, limits=options.limits) as source:
                format_ = file.format_of(source)
        except InputError:
            # Told when the file is read.
            continue
        if format_ is not None:
            yield format_
