"""What is done before a source is loaded: filters are made ready, by reading it once if need be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.classes import SUBCLASS_RELATIONS
from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import EntityValue
from loaders.files import SourceFile, UnreadableFileError
from loaders.formats import Format, recognise_source
from loaders.options import LoadOptions
from loaders.readers import DOCUMENT_FORMATS, read
from loaders.source import STANDARD_INPUT, ByteSource, open_source
from loaders.subset.filters import DocumentFilter, EntityConditions
from loaders.subset.selection import Selection
from loaders.subset.survey import Survey, conditions_of, without_survey
from loaders.tables.rows import ColumnsError
from loaders.truthy import begins_full

Show = Callable[[ByteSource, SourceFile, Format, int], None]
"""Called with an open file, what it is, its format and the line reached."""


def check_filters(files: Sequence[SourceFile], options: LoadOptions, /) -> None:
    """Raises ``InputError`` for filters that a source can't be read under."""
    filters = options.filters
    if files[0].endpoint and not (filters.is_empty and options.redirects == "follow"):
        raise InputError(
            "filters and the choice of redirects are for files; an endpoint is asked for what "
            "lies around an entity",
            argument="source",
            hint="For instance load wikidata:Q42 --hops 2.",
        )
    if files[0].path == STANDARD_INPUT and _always_twice(options):
        raise _read_once()


def _read_once() -> InputError:
    return InputError(
        "this load reads its source twice, and standard input can be read once; two passes are "
        "needed for --around-entity, --value-names, --redirects resolve, and for entities chosen "
        "in RDF or a table",
        argument="source",
        hint="Write it to a file and load that.",
    )


def _always_twice(options: LoadOptions) -> bool:
    filters = options.filters
    return bool(filters.around_entities) or filters.value_names or options.redirects == "resolve"


def select(
    files: Sequence[SourceFile],
    options: LoadOptions,
    /,
    *,
    show: Show,
    stop: threading.Event | None = None,
    hold_truthy: bool = False,
) -> Selection | None:
    """Returns what of a source is loaded; None where that is everything, or ``stop`` was set.

    Raises:
        BothFormsError: The source has truthy and full statements of Wikidata's, and it was read
            without ``hold_truthy``.
        InputError: A filter doesn't fit the source, or a file that it names can't be read.
    """
    filters = options.filters
    conditions = conditions_of(filters, lambda: _subclass_pairs(filters.subclasses))
    always = _always_twice(options)
    documents = DocumentFilter(conditions) if filters.chooses_entities else None
    survey = Survey(filters, conditions, resolve_redirects=options.redirects == "resolve")
    if hold_truthy:
        survey.hold_truthy()
    surveyed = False
    with closing(survey):
        if always or filters.chooses_entities:
            for file in files:
                surveyed |= _survey(
                    file, survey, documents, conditions, options, always, show, stop
                )
                if stop is not None and stop.is_set():
                    return None
        return survey.selection() if surveyed else without_survey(filters, conditions)


def _survey(
    file: SourceFile,
    survey: Survey,
    documents: DocumentFilter | None,
    conditions: EntityConditions,
    options: LoadOptions,
    always: bool,
    show: Show,
    stop: threading.Event | None,
) -> bool:
    """Reads one file for the survey; returns whether that was needed."""
    if not file.selected or file.format is Format.LABELS:
        return False
    if file.path == STANDARD_INPUT and file.format not in DOCUMENT_FORMATS:
        # Its format is known once it is read; the load itself refuses what takes two passes.
        return False
    with open_source(file.path, limits=options.limits) as source:
        try:
            format_ = file.format_of(source)
        except UnreadableFileError:
            # The load itself rejects it.
            return False
        if format_ is None or format_ is Format.LABELS:
            return False
        of_documents = format_ in DOCUMENT_FORMATS
        check_format(format_, source.name, conditions)
        if of_documents and not always:
            return False
        if begins_full(format_, source):
            survey.hold_truthy()
        try:
            for parsed in read(
                format_,
                source,
                options,
                {},
                documents=documents,
                hold_truthy=survey.holds_truthy,
            ):
                survey.add(parsed, chosen=of_documents and documents is not None)
                show(source, file, format_, parsed.line)
                if stop is not None and stop.is_set():
                    break
        except ColumnsError:
            # The load itself rejects it.
            if not file.optional:
                raise
    return True


def check_format(format_: Format, name: str, conditions: EntityConditions, /) -> None:
    """Raises ``InputError`` where a format does not have what the conditions are about."""
    if conditions.sitelinks and format_ not in DOCUMENT_FORMATS and format_ is not Format.LABELS:
        raise InputError(
            f"{name} is {format_}, and only Wikibase JSON says which sites an entity has a page on",
            argument="sitelinks",
        )


def check_single_pass(file: SourceFile, format_: Format, options: LoadOptions, /) -> None:
    """Raises ``InputError`` for standard input that would have to be read twice."""
    if (
        file.path == STANDARD_INPUT
        and options.filters.chooses_entities
        and format_ not in DOCUMENT_FORMATS
    ):
        raise _read_once()


def _subclass_pairs(path: Path | None) -> Iterator[tuple[str, str]]:
    """Yields class and superclass from a table of two columns or any graph."""
    if path is None:
        return
    with open_source(path) as source:
        format_ = recognise_source(source)
        for parsed in read(format_, source, LoadOptions(), {}):
            for statement in parsed.statements:
                if statement.relation in SUBCLASS_RELATIONS and isinstance(
                    statement.value, EntityValue
                ):
                    yield statement.head, statement.value.id
            if format_ is Format.LABELS:
                for entity in parsed.entities:
                    # In a table of two columns the superclasses are where names would be.
                    for names in (entity.labels.values(), *entity.aliases.values()):
                        for name in names:
                            yield entity.id, normalise_entity_id(name)
