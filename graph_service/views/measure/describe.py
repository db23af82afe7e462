"""What a view changed, one difference at a time and in words (``view diff``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from graph_service.model.graph import RANKS, KnowledgeGraph
from graph_service.model.statement import Rank
from graph_service.model.stored_view import NAMES_CHANGED, Deviation, ViewReport
from graph_service.model.view_delta import ViewDelta

Label = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class End:
    """What a statement says: numbers of the base, or of the delta's new ones.

    Attributes:
        head: None where it is the base statement's.
        rank: None where a view leaves it as it is.
    """

    rel: int
    tail: int
    head: int | None = None
    rank: Rank | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One statement that differs.

    Attributes:
        base_edge: The base's edge, or None if the statement was added.
        head: Node of its head.
        before: What the base says, None if it says nothing.
        after: What the view says, None if it says nothing.
    """

    base_edge: int | None
    head: int
    before: End | None
    after: End | None


def differences(
    graph: KnowledgeGraph, delta: ViewDelta, /, *, start: int = 0, count: int | None = None
) -> Iterator[Difference]:
    """Yields removed, then replaced statements in order of their edge, then added ones.

    Args:
        graph: The base.
        delta: What a view changes.
        start: How many to pass over.
        count: How many to yield at most; all where None.
    """
    end = delta.changed_count if count is None else min(delta.changed_count, start + count)
    removed, changed = len(delta.removed), len(delta.replaced)
    now_ranks = delta.ranks_of_replaced(graph.rank)
    for index in range(start, end):
        if index < removed:
            edge = int(delta.removed[index])
            yield Difference(edge, int(graph.head[edge]), _base(graph, edge), None)
        elif index < removed + changed:
            row = index - removed
            edge = int(delta.replaced[row])
            head = int(graph.head[edge])
            now = head if delta.replaced_head is None else int(delta.replaced_head[row])
            was, is_ = int(graph.rank[edge]), int(now_ranks[row])
            after = End(
                int(delta.replaced_rel[row]),
                int(delta.replaced_tail[row]),
                None if now == head else now,
                None if was == is_ else RANKS[is_],
            )
            before = _base(graph, edge)
            if was != is_:
                before = replace(before, rank=RANKS[was])
            yield Difference(edge, head, before, after)
        else:
            row = index - removed - changed
            after = End(int(delta.added_rel[row]), int(delta.added_tail[row]))
            yield Difference(None, int(delta.added_head[row]), None, after)


def _base(graph: KnowledgeGraph, edge: int) -> End:
    return End(int(graph.rel[edge]), int(graph.tail[edge]))


def describe_change(difference: Difference, /, *, node_label: Label, relation_label: Label) -> str:
    """Returns one difference in words.

    Args:
        difference: What differs.
        node_label: Gives the label of a node, new ones included.
        relation_label: Gives the label of a relation, new ones included.

    >>> label = {0: "Maria Shriver", 1: "Arnold Schwarzenegger", 2: "Ljubljana"}.__getitem__
    >>> relation = {0: "spouse", 1: "mother"}.__getitem__
    >>> rewired = Difference(7, 0, End(0, 1), End(0, 2))
    >>> describe_change(rewired, node_label=label, relation_label=relation)
    'Maria Shriver: spouse -> was Arnold Schwarzenegger, now Ljubljana'
    >>> turned = Difference(7, 0, End(0, 1), End(0, 0, head=1))
    >>> describe_change(turned, node_label=label, relation_label=relation)
    'Maria Shriver: spouse -> Arnold Schwarzenegger, now Arnold Schwarzenegger: spouse -> \
Maria Shriver'
    >>> ranked = Difference(7, 0, End(0, 1, rank=Rank.DEPRECATED), End(0, 1, rank=Rank.NORMAL))
    >>> describe_change(ranked, node_label=label, relation_label=relation)
    'Maria Shriver: spouse -> Arnold Schwarzenegger, was deprecated, now normal'
    """
    head = node_label(difference.head)
    before, after = difference.before, difference.after
    if before is None and after is not None:
        return f"{head}: {relation_label(after.rel)} -> {node_label(after.tail)}, new"
    if before is None:
        raise ValueError("a difference has neither a before nor an after")
    rel, tail = relation_label(before.rel), node_label(before.tail)
    if after is None:
        return f"{head}: {rel} -> {tail}, gone"
    if after.head is not None:
        return (
            f"{head}: {rel} -> {tail}, now {node_label(after.head)}: "
            f"{relation_label(after.rel)} -> {node_label(after.tail)}"
        )
    if after.rank is not None and before.rank is not None:
        return f"{head}: {rel} -> {tail}, was {before.rank.value}, now {after.rank.value}"
    if after.tail == before.tail:
        return f"{head}: was {rel}, now {relation_label(after.rel)} -> {tail}"
    if after.rel == before.rel:
        return f"{head}: {rel} -> was {tail}, now {node_label(after.tail)}"
    return (
        f"{head}: was {rel} -> {tail}, now {relation_label(after.rel)} -> {node_label(after.tail)}"
    )


def describe_names(id_: str, before: str, after: str, /) -> str:
    """Returns in words what an entity with other names is called, by its label.

    >>> describe_names("Q42", "Douglas Adams", "Douglas Adasm")
    'Q42: was Douglas Adams, now Douglas Adasm'
    >>> describe_names("Q42", "Douglas Adams", "Douglas Adams")
    'Q42: Douglas Adams, with other names beside it'
    """
    if before == after:
        return f"{id_}: {after}, with other names beside it"
    return f"{id_}: was {before}, now {after}"


def describe_report(report: ViewReport, /) -> str:
    """Returns what making a view came to, in one line.

    >>> describe_report(ViewReport(10, 0.3, 0.3, {"removed": 3, "added": 0}))
    '3 removed; level asked 0.3, reached 0.3 of 10 edges'
    """
    made = [f"{count} {kind}" for kind, count in report.counts.items() if count]
    parts = [", ".join(made) or "nothing changed"]
    if report.level_reached is not None:
        opening = (
            f"level asked {report.level_asked:.4g}, reached"
            if report.level_asked is not None
            else "level"
        )
        kind = "entities" if NAMES_CHANGED in report.counts else "edges"
        parts.append(f"{opening} {report.level_reached:.4g} of {report.scope_edges} {kind}")
    if report.unavoidable:
        parts.append(f"{report.unavoidable} repeat a triple, as no other choice was left")
    return "; ".join([*parts, *report.notes])


def describe_deviation(deviation: Deviation, /) -> str:
    """Returns how far a view is from its base, in one line.

    >>> describe_deviation(Deviation(0.65, 0.92, 34, 0, "counts", 0.87, 1.0, 0.9, 0.02))
    'deviation: ATS 0.6500 (base 0.9200, scorer counts: accuracy 0.900, calibration error 0.020), \
SC2D 0.8700, SD2 1.0000'
    """
    worth = (
        f": accuracy {deviation.scorer_accuracy:.3f}, calibration error "
        f"{deviation.scorer_calibration_error:.3f}"
        if deviation.scorer_accuracy is not None
        else ""
    )
    left_out = f", {deviation.unscored} edges unscored" if deviation.unscored else ""
    return (
        f"deviation: ATS {deviation.ats:.4f} (base {deviation.ats_base:.4f}, scorer "
        f"{deviation.scorer}{worth}{left_out}), SC2D {deviation.sc2d:.4f}, SD2 {deviation.sd2:.4f}"
    )
