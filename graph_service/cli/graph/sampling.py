"""sample: long-tail entities with their triples, as JSON lines."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import orjson

from graph_service.cli.graph.options import SampleOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output, print_json
from graph_service.errors import InputError
from graph_service.model.pageviews import LongTailLevel
from graph_service.model.serialise import to_plain
from graph_service.output_file import require_file_or_none
from graph_service.sampling import DEFAULT_RELATIONS, SampleSpec, read_relations
from graph_service.service.longtail import Sample


def sample(options: SampleOptions, output: Output, /) -> int:
    """Draws long-tail entities with their triples."""
    path = options.drop_relations or DEFAULT_RELATIONS
    dropped = read_relations(path)
    if options.print_dropped:
        text = path.read_text(encoding="utf-8-sig")
        output.object({"list": text})
        output.lines(text.rstrip("\n"))
        return 0
    spec = SampleSpec(
        levels=tuple(LongTailLevel(level) for level in options.levels) or tuple(LongTailLevel),
        per_level=options.per_level,
        random_seed=options.random_seed,
        min_triples=options.min_triples,
        max_triples=options.max_triples,
        non_informative=dropped,
    )
    with open_from(options, output) as service:
        sample = service.long_tail.sample(spec, graph=options.graph, languages=options.languages)
    if options.out:
        _write(options.out, sample)
        output.object(
            {"out": str(options.out), "entities": len(sample.items), "counts": sample.counts}
        )
    elif output.as_json:
        output.object({"items": sample.items, "counts": sample.counts})
    else:
        for line in _lines(sample):
            print_json(line)
    for level, counts in sample.counts.items():
        output.note(
            f"level {level.value}: {counts.drawn} drawn of {counts.entities} entities; "
            f"{counts.tried} tried, {counts.too_few} had fewer than {spec.min_triples} triples, "
            f"{counts.too_many} more than {spec.max_triples}"
        )
    return 0


def _lines(sample: Sample) -> list[bytes]:
    return [orjson.dumps(to_plain(item)) for item in sample.items]


def _write(path: Path, sample: Sample) -> None:
    """Writes all lines at once, so that nobody reads half a sample."""
    require_file_or_none(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(line + b"\n" for line in _lines(sample))
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", argument="out") from error
