"""view create, list, show, diff, update, cancel, delete, materialise.

``view sweep`` and ``view figure`` are in ``sweeping``.
"""

from __future__ import annotations

import time

from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.readers import view_ref
from graph_service.cli.view.options import ViewOptions
from graph_service.cli.view.sweeping import draw, read_spec, sweep
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service import Service
from graph_service.views.measure.describe import describe_deviation, describe_report
from graph_service.views.methods.changes_file import read_changes

SILENT_S = 1.0


def view(options: ViewOptions, output: Output, /) -> int:
    """Makes, lists, shows, compares, renames or deletes views."""
    actions = {
        "create": _create,
        "list": _list,
        "show": _show,
        "diff": _diff,
        "update": _update,
        "cancel": _cancel,
        "delete": _delete,
        "sweep": sweep,
        "materialise": _materialise,
    }
    if options.action == "figure":
        draw(options, output)
        return 0
    with open_from(options, output) as service:
        actions[options.action](service, options, output)
    return 0


def _create(service: Service, options: ViewOptions, output: Output) -> None:
    if options.view:
        raise InputError(
            f"a view is made of a base graph, not of a view ({options.view!r})",
            argument="view",
            hint="For a name: --name NAME. For the same specification on the graph as it is now: "
            "--from-view VIEW.",
        )
    began = time.monotonic()

    def say(share: float) -> None:
        if time.monotonic() - began > SILENT_S:
            output.note(f"{share:.0%} done")

    _check_name(options)
    name, note = options.name, options.note
    if options.from_view:
        source = service.views.get(options.from_view, graph=options.graph)
        if source.stale:
            # What made the base change made nobody forget what the view was called.
            name, note = name or source.name, note or source.note
    stored = service.views.create(
        _spec(service, options), graph=options.graph, name=name, note=note, progress=say
    )
    output.object({"view": stored})
    _print_view(stored, output)
    if stored.reused:
        output.line(
            "  this view was there already and keeps its name and note; to change them: "
            f"graph-service view update {stored.id} --name NAME --note TEXT"
        )


def _update(service: Service, options: ViewOptions, output: Output) -> None:
    _check_name(options)
    stored = service.views.update(
        _named(options), graph=options.graph, name=options.name, note=options.note or None
    )
    output.object({"view": stored})
    _print_view(stored, output)


def _check_name(options: ViewOptions) -> None:
    if options.name and _stored_name(options.name) is None:
        raise InputError(
            f"a view named {options.name!r} could not be told from a specification given inline",
            argument="name",
            hint="Choose a name without colons.",
        )


def _stored_name(text: str) -> str | None:
    """Returns the name that a reader's ``--view`` would look up; None where it would not."""
    try:
        reference = view_ref(text)
    except InputError:
        return None
    return reference.id if reference is not None else None


def _spec(service: Service, options: ViewOptions) -> ViewSpec:
    is_sampled = options.spec.method is not Method.CUSTOM
    if is_sampled + (options.changes is not None) + (options.from_view is not None) != 1:
        raise InputError(
            "give one of --method, --changes FILE or --from-view VIEW", argument="method"
        )
    if options.from_view is not None:
        return service.views.get(options.from_view, graph=options.graph).spec
    if options.changes is not None:
        return ViewSpec(method=Method.CUSTOM, changes=read_changes(options.changes))
    return read_spec(options)


def _list(service: Service, options: ViewOptions, output: Output) -> None:
    views = service.views.list(graph=options.graph)
    output.listing(
        {"views": views},
        ["id", "name", "method", "level", "seed", "ats", "sc2d", "sd2", "made", ""],
        [_row(stored) for stored in views],
        empty="no views; make one: graph-service view create --method rr --level 0.3",
    )


def _row(stored: StoredView) -> list[str]:
    level = stored.report.level_reached
    return [
        stored.id,
        stored.name or "",
        stored.spec.method.value,
        f"{level:.3f}" if level is not None else "",
        str(stored.spec.random_seed),
        *_three(stored),
        stored.created_at,
        "stale" if stored.stale else _state(stored),
    ]


def _named(options: ViewOptions) -> str:
    if not options.view:
        raise InputError("name a view", argument="view")
    return options.view


def _show(service: Service, options: ViewOptions, output: Output) -> None:
    stored = service.views.measured(_named(options), graph=options.graph)
    output.object({"view": stored})
    _print_view(stored, output)


def _cancel(service: Service, options: ViewOptions, output: Output) -> None:
    stored = service.views.cancel(_named(options), graph=options.graph)
    output.show({"view": stored}, f"view {stored.id} is {stored.state.value}")


def _three(stored: StoredView) -> list[str]:
    deviation = stored.deviation
    return (
        [f"{x:.3f}" for x in (deviation.ats, deviation.sc2d, deviation.sd2)]
        if deviation
        else ["", "", ""]
    )


def _state(stored: StoredView) -> str:
    if stored.state is ViewState.DONE:
        return ""
    if stored.state is ViewState.RUNNING:
        return f"{stored.state.value} {stored.progress:.0%}"
    return stored.state.value


def _diff(service: Service, options: ViewOptions, output: Output) -> None:
    reference = view_ref(_named(options))
    assert isinstance(reference, ViewRef)
    if not 1 <= options.limit <= service.settings.max_items:
        raise InputError(
            f"--limit must be 1 to {service.settings.max_items}, got {options.limit}",
            argument="limit",
        )
    changes, total = service.views.diff(reference, graph=options.graph, first=options.limit)
    output.show({"changes": changes, "total": total}, *(change.words for change in changes))
    if total > len(changes):
        output.line(f"... and {total - len(changes)} more; --limit shows more")


def _delete(service: Service, options: ViewOptions, output: Output) -> None:
    id_ = service.views.delete(_named(options), graph=options.graph)
    output.show({"deleted": id_}, f"deleted view {id_}")


def _materialise(service: Service, options: ViewOptions, output: Output) -> None:
    from graph_service.export.materialise import materialise

    reference = view_ref(_named(options))
    assert isinstance(reference, ViewRef)
    noted = time.monotonic()

    def say(written: int, total: int) -> None:
        nonlocal noted
        if time.monotonic() - noted > SILENT_S:
            noted = time.monotonic()
            output.note(f"{written:,} of {total:,} statements written")

    info = materialise(service, reference, graph=options.graph, name=options.to, progress=say)
    output.show(
        {"graph": info},
        f"graph {info.name}: {info.counts.statements:,} statements, {info.source}",
        f"remove it with: graph-service graphs delete {info.name}",
    )


def _print_view(stored: StoredView, output: Output) -> None:
    output.line(f"view {stored.id}" + (f"  {stored.name}" if stored.name else ""))
    output.line(f"  graph {stored.graph}, edges {stored.edges[:16]}{' (stale)' * stored.stale}")
    output.line(f"  spec {stored.spec.to_json()}")
    if stored.state is not ViewState.DONE:
        output.line(f"  {_state(stored)}{': ' * bool(stored.error)}{stored.error}")
    else:
        output.line(f"  {describe_report(stored.report)}")
    if stored.deviation:
        output.line(f"  {describe_deviation(stored.deviation)}")
    if stored.note:
        output.line(f"  note: {stored.note}")
