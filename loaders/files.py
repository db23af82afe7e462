"""The files of a source, and what each is."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.store.parquet import MANIFEST
from loaders.formats import (
    Format,
    is_named_as_data,
    is_system_file,
    may_be_prose,
    recognise_source,
)
from loaders.graph_parquet import graph_parts
from loaders.options import LoadOptions
from loaders.packing import refuse_archive
from loaders.remote import check as check_remote
from loaders.remote import is_remote_source
from loaders.source import STANDARD_INPUT, ByteSource, unreadable_source


class UnreadableFileError(InputError):
    """A file of a folder is named as data and is in no format that is known here."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, standard input or an endpoint.

    Attributes:
        path: As it is opened.
        format: As it was named; None to recognise it.
        size: Bytes on disk, 0 for a pipe.
        identity: What tells it from another file of its name, for the store to compare a
            resumed load with.
        endpoint: Whether it is asked over the network: an endpoint or a Neo4j.
        optional: Whether it is passed over where its format is not known: in a folder.
        selected: Whether filters are for it; not for an extra file of names.
    """

    path: str
    format: Format | None
    size: int
    identity: list[Any]
    endpoint: bool = False
    optional: bool = False
    selected: bool = True

    def format_of(self, source: ByteSource, /) -> Format | None:
        """Returns the format of the opened file; None where it is passed over.

        Raises:
            UnreadableFileError: It is one of several, its name says that it is data, and it is
                in no format that is known here.
            InputError: It is the only file, and in no format that is known here.
        """
        if self.optional and is_system_file(self.path):
            return None
        try:
            if self.format in (Format.ROWS, Format.GRAPH_PARQUET):
                return self.format
            if self.format is not None:
                refuse_archive(source.head, source.name)
                return self.format
            format_ = recognise_source(source)
        except InputError as error:
            # In a folder, a README is no reason to stop; a single file is.
            if not self.optional:
                raise
            if is_named_as_data(self.path):
                raise UnreadableFileError(error.message) from error
            return None
        return None if self.optional and may_be_prose(source, format_) else format_


def source_files(source: str | Path, options: LoadOptions, /) -> list[SourceFile]:
    """Returns the files of a source in the order they are read.

    Raises:
        InputError: There is none, or one can't be read.
    """
    named = _format_named(options.format)
    if is_remote_source(str(source)):
        check_remote(str(source), options)
        files = [SourceFile(str(source), None, 0, [str(source), 0, 0], endpoint=True)]
    elif options.neo4j is not None:
        raise InputError(
            f"{source} is read from disk, and a mapping is for a graph in a Neo4j; expected its "
            "address, such as bolt://localhost:7687",
            argument="source",
        )
    elif options.endpoint is not None:
        raise InputError(
            f"{source} is read from disk, and hops, limits and addresses are for endpoints; "
            "expected a source such as wikidata:Q42 or dbpedia:Rome",
            argument="source",
        )
    elif str(source) == STANDARD_INPUT:
        files = [SourceFile(STANDARD_INPUT, named, 0, [STANDARD_INPUT, 0, 0])]
    elif (parts := graph_parts(Path(source))) is not None:
        files = [_file(path, Format.GRAPH_PARQUET) for path in parts]
        if not files:
            raise InputError(f"{source} is a graph without a row", argument="source")
        files[0].identity.extend(_file(Path(source) / MANIFEST, None).identity)
    else:
        paths = source_paths(Path(source))
        planned = set() if options.tables is None else {t.path for t in options.tables.tables}
        files = [
            _file(path, Format.ROWS, optional=False)
            if str(path) in planned
            else _file(path, named, optional=len(paths) > 1)
            for path in paths
        ]
    for extra_files, form in (
        (options.label_files, Format.LABELS),
        (options.type_files, Format.TYPES),
        (options.description_files, Format.DESCRIPTIONS),
        (options.same_as, Format.SAME_AS),
    ):
        files.extend(replace(_file(path, form), selected=False) for path in extra_files)
    for extra in (options.qualifier_file, options.entity_ids, options.relation_ids):
        if extra is not None:
            # Read with the tables; what they hold decides the result, so they are identified.
            files[0].identity.extend(_file(extra, None).identity)
    return files


def source_paths(path: Path, /) -> list[Path]:
    """Returns the files of a folder, sorted by name; else the path itself.

    Raises:
        InputError: The folder is empty or can't be read.
    """
    try:
        if not path.is_dir():
            return [path]
        paths = sorted(
            (file for file in path.rglob("*") if file.is_file()),
            key=lambda file: file.relative_to(path).as_posix().encode("utf-8", "surrogateescape"),
        )
    except OSError as error:
        raise unreadable_source(path, error) from error
    if not paths:
        raise InputError(f"the folder {path} holds no files", argument="source")
    return paths


def file_status(path: Path, /) -> os.stat_result:
    """Returns size and times of a file; raises ``InputError`` if it can't be read."""
    try:
        return path.stat()
    except OSError as error:
        raise unreadable_source(path, error) from error


def _file(path: Path, format_: Format | None, *, optional: bool = False) -> SourceFile:
    status = file_status(path)
    try:
        path.name.encode()
    except UnicodeEncodeError as error:
        # A load is stored with the names of its files.
        raise InputError(
            f"the name of the file {str(path)!r} is not UTF-8; rename it", argument="source"
        ) from error
    identity = [path.name, status.st_size, status.st_mtime_ns]
    return SourceFile(str(path), format_, status.st_size, identity, optional=optional)


def _format_named(name: str | None) -> Format | None:
    if name is None:
        return None
    try:
        return Format(name)
    except ValueError as error:
        raise InputError(
            f"{name!r} is no format; known are {', '.join(Format)}", argument="format"
        ) from error
