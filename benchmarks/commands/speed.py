"""``python -m benchmarks speed``: each figure beside a reference taken in the same run."""

from __future__ import annotations

from benchmarks.commands.options import SpeedOptions
from benchmarks.commands.tables import load_table
from graph_service.cli.output import Output
from graph_service.errors import InputError


def speed(options: SpeedOptions, output: Output, /) -> int:
    """Measures speed, each figure beside a reference taken in the same run."""
    import orjson

    from benchmarks.figures import notes, table_rows
    from benchmarks.speed import measure_speed
    from graph_service.model.serialise import to_plain
    from graph_service.settings import read_settings

    out = options.out
    if not options.data:
        raise InputError("speed needs --data FOLDER, the folder that holds codex/", argument="data")
    report = measure_speed(
        options.data,
        load=load_table,
        settings=read_settings(),
        neo4j=options.neo4j,
        only=options.only,
        progress=lambda name: output.note(f"measuring {name}"),
    )
    plain = to_plain(report)
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    machine = report.machine
    versions = ", ".join(
        f"{name} {version}" for name, version in machine.versions.items() if version
    )
    output.line(f"{machine.cores} cores, {machine.processor}, {machine.system}")
    output.line(f"Python {machine.python}, {versions}")
    output.line()
    output.table(table_rows(report.figures))
    output.line()
    for line in notes(report.figures):
        output.line(line)
    if out is not None:
        output.line(f"written to {out}")
    return 0
