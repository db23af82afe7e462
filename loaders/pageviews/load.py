"""Page views into a graph: from a file or from Wikimedia's API, merged with those it has."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.http.faults import StoppedError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.pageviews import LongTailLevel, draw_order, level_of
from graph_service.model.statement import Entity, EntityKind
from graph_service.store.page_views import (
    PageViewTable,
    make_table,
    merge_page_views,
    read_page_views,
)
from graph_service.store.protocol import Store
from loaders.pageviews.articles import article_of, read_titles, wikidata_ids
from loaders.pageviews.file import ViewRows, read_view_rows
from loaders.pageviews.wikimedia import ViewOptions, Wikimedia
from loaders.progress import Progress
from loaders.rejects import RejectsFile
from loaders.report import EXIT_REJECTS, SHOWN_REJECTS, RunReport
from loaders.source import open_source

_IDS_A_LOOK_UP = 1_000
_ARTICLES_A_SAVE = 2_000
_MOST_HELD = 100_000
NOT_IN_GRAPH = "names that no entity of the graph has"
NO_ARTICLE = "entities without an article in the project"
NO_VIEWS = "articles without a view in these months"
KNOWN = "entities whose views of these months are there"
SUSPICIOUS_ARTICLES = 5

TitleLinker = Callable[[str], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageViewReport(RunReport):
    """What a load of page views did.

    Attributes:
        graph: Name of the graph.
        entities: Entities whose views came, and are stored.
        kept: Entities of the graph that have views now.
        months: The months that came.
        levels: Entities that came by long-tail level; ``""`` for those of none.
        failed: Articles whose views did not come, and why.
        requests, retries, from_cache: Requests to the APIs, how many of them were repeated, and
            answers from disk.
        stopped: Whether the load was stopped before its end.
    """

    graph: str
    entities: int
    kept: int
    months: tuple[str, ...]
    levels: Mapping[str, int]
    failed: Mapping[str, str] = field(default_factory=dict)
    requests: int = 0
    retries: int = 0
    from_cache: int = 0
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether the views of all requested articles came."""
        return not (self.failed or self.stopped)

    @property
    def exit_code(self) -> int:
        """3 when a line was rejected or an article did not come, else 0."""
        return EXIT_REJECTS if self.rejected or self.failed else 0

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        plain = RunReport.to_json(self)
        for name in ("formats", "resumed", "stopped"):
            del plain[name]
        return plain | {"failed": dict(sorted(self.failed.items())), "complete": self.complete}

    def lines(self) -> list[str]:
        """Returns the report as a person reads it."""
        months = f"{self.months[0]} to {self.months[-1]}" if self.months else "no month"
        lines = [
            f"source: {self.source}",
            f"page views: {self.entities:,} entities, {months}, in {self.seconds:.1f} s",
        ]
        if self.requests or self.from_cache:
            lines.append(
                f"requests: {self.requests:,} ({self.retries:,} of them again), "
                f"{self.from_cache:,} answers from disk"
            )
        shown = [
            f"{self.levels[name]:,} {f'level {name}' if name else 'of no level'}"
            for name in (*LongTailLevel, "")
            if self.levels.get(name)
        ]
        if shown:
            lines.append(f"levels: {', '.join(shown)}")
        lines.extend(f"skipped: {n:,} {reason}" for reason, n in sorted(self.skipped.items()))
        failed = sorted(self.failed.items())
        if failed:
            lines.append(f"NOT COMPLETE: {len(failed):,} articles did not come")
            lines.extend(f"  {title}: {why}" for title, why in failed[:SHOWN_REJECTS])
        lines.extend(self.reject_lines())
        if self.stopped:
            lines.append("stopped: what came is kept; the same command goes on from here")
        lines.append(f"graph {self.graph}: {self.kept:,} entities have page views")
        return lines


def load_page_views(
    path: str | Path,
    /,
    *,
    store: Store,
    graph: str,
    linker: TitleLinker,
    strict: bool = False,
    rejects_path: Path | None = None,
) -> PageViewReport:
    """Loads a table of entity or title, month and views; all of it is kept at once, or nothing.

    The months of the table are known for all its entities: one without a line for a month had no
    view then. Several titles of one entity count together.

    Args:
        path: A file, or ``-``.
        store: Where to.
        graph: A published graph.
        linker: Gives the entity that a title names.
        strict: Whether the first bad line ends the load.
        rejects_path: Where bad lines go; None for ``rejects.jsonl``.

    Raises:
        InputError: There are no views in it, or a line is bad and ``strict``.
    """
    started = time.monotonic()
    info = store.graph(graph)
    with open_source(path) as source:
        rows = read_view_rows(source)
    with closing(RejectsFile(rejects_path, committed={})) as rejects:
        if rows.rejects:
            rejects.add(rows.rejects)
            if strict:
                raise rejects.strict_error(rows.rejects[0], nothing="kept", mend="table")
    entities = _entities_of(rows.names, store, info, linker)
    views, skipped = _by_entity(rows, entities)
    if not views:
        raise InputError(
            f"{path} holds no page views of entities of graph {graph!r}: {len(rows.names)} names, "
            f"{len(rows.rejects)} bad lines; expected entity or title, month and views with tabs "
            "between",
            argument="source",
        )
    table = make_table(views, months=rows.months, source=str(path))
    stored = len(merge_page_views(store, graph, table).keys)
    return PageViewReport(
        source=str(path),
        graph=graph,
        entities=len(views),
        kept=stored,
        months=rows.months,
        levels=_levels(table),
        skipped=skipped,
        rejected=len(rows.rejects),
        rejects=tuple(rows.rejects[:SHOWN_REJECTS]),
        rejects_path=str(rejects.path) if rows.rejects else None,
        seconds=time.monotonic() - started,
    )


def _entities_of(
    names: Sequence[str], store: Store, info: GraphInfo, linker: TitleLinker
) -> dict[str, str]:
    """Returns the entity of each name that is an id or a title."""
    ids: dict[str, str] = {}
    for start in range(0, len(names), _IDS_A_LOOK_UP):
        lookup = store.entities(info.edition, names[start : start + _IDS_A_LOOK_UP])
        ids.update({name: entity.id for name, entity in lookup.entities.items()})
    for name in names:
        if name not in ids:
            entity = linker(name.replace("_", " "))
            if entity is not None:
                ids[name] = entity
    return ids


def _by_entity(
    rows: ViewRows, entities: Mapping[str, str]
) -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """Returns the views of each entity by month, and what was skipped, by reason."""
    views: dict[str, Counter[str]] = {}
    for index, name in enumerate(rows.names):
        if name in entities:
            counts = views.setdefault(entities[name], Counter())
            counts.update(dict(zip(rows.months, rows.views[index].tolist(), strict=True)))
    missing = len(rows.names) - len(entities)
    return (
        {entity: dict(counts) for entity, counts in views.items()},
        {NOT_IN_GRAPH: missing} if missing else {},
    )


def fetch_page_views(
    *,
    store: Store,
    graph: str,
    options: ViewOptions,
    entity_ids: Sequence[str] = (),
    count: int | None = None,
    random_seed: int = 0,
    titles: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> PageViewReport:
    """Asks Wikimedia for the page views of a graph's items, and keeps what comes as it comes.

    Entities whose months are all known are not asked for again. Broken off at any time, the same
    call goes on with what is missing.

    Args:
        store: Where to.
        graph: A published graph.
        options: What to ask for, and how.
        entity_ids: These alone; empty for all items of the graph.
        count: So many of them, drawn by a keyed hash of random seed and id; None for all.
        random_seed: Of the draw.
        titles: A table of entity and title; entities that it lacks are looked up.
        progress: Called with each article.
        stop: When set, the work ends soon.

    Raises:
        InputError: An option is wrong, an entity is not in the graph, or no article has a view.
        EndpointError: An API refuses, is away or asks to come back much later; what came is kept.
    """
    started = time.monotonic()
    wikimedia = Wikimedia(options, stop=stop)
    info = store.graph(graph)
    entities = _chosen(store, info, entity_ids, count, random_seed)
    skipped: Counter[str] = Counter()
    table = read_page_views(store, graph)
    known = table.known([entity.id for entity in entities], options.months)
    if known:
        skipped[KNOWN] = len(known)
    missing = [entity for entity in entities if entity.id not in known]
    run = _Fetch(store, graph, wikimedia, skipped, progress)
    try:
        run.fetch(missing, read_titles(titles) if titles else {})
    except StoppedError:
        run.stopped = True
    finally:
        run.save()
    traffic = wikimedia.traffic()
    return PageViewReport(
        source=run.source,
        graph=graph,
        entities=run.entities,
        kept=len(read_page_views(store, graph).keys),
        months=options.months,
        levels=dict(run.levels),
        skipped=dict(skipped),
        rejected=0,
        rejects=(),
        rejects_path=None,
        failed=dict(run.failed),
        requests=traffic.requests,
        retries=traffic.retries,
        from_cache=traffic.from_cache,
        seconds=time.monotonic() - started,
        stopped=run.stopped,
    )


class _Fetch:
    """What a fetch counts, and the views that came and are not saved yet."""

    def __init__(
        self,
        store: Store,
        graph: str,
        wikimedia: Wikimedia,
        skipped: Counter[str],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        options = wikimedia.options
        self.source = f"{options.project} {options.access} {options.agent}"
        self.entities = 0
        self.levels: Counter[str] = Counter()
        self.failed: dict[str, str] = {}
        self.stopped = False
        self._store, self._graph = store, graph
        self._wikimedia = wikimedia
        self._skipped = skipped
        self._progress = progress
        self._views: dict[str, Mapping[str, int]] = {}

    def fetch(self, entities: Sequence[Entity], titles: Mapping[str, str]) -> None:
        began = time.monotonic()
        articles = self._articles(entities, titles)
        without = len(entities) - sum(len(ids) for ids in articles.values())
        if without:
            self._skipped[NO_ARTICLE] = without
        done = empty = 0
        for article in self._wikimedia.views(sorted(articles)):
            done += 1
            if article.failed:
                self.failed[article.title] = article.failed
            else:
                empty += not article.views
                self._views.update(dict.fromkeys(articles[article.title], article.views))
            if self._progress is not None:
                self._progress(Progress(done, len(articles), time.monotonic() - began))
            if len(self._views) >= _ARTICLES_A_SAVE:
                self.save()
        if empty:
            self._skipped[NO_VIEWS] = empty
        if empty == done >= SUSPICIOUS_ARTICLES:
            self._views = {}
            raise InputError(
                f"none of {done} articles has a view in {self._wikimedia.options.project}: the "
                "project or the months may be wrong; nothing was kept",
                argument="project",
            )

    def save(self) -> None:
        """Saves what came since the last time."""
        if not self._views:
            return
        months = self._wikimedia.options.months
        table = make_table(self._views, months=months, source=self.source)
        self.entities += len(self._views)
        self.levels.update(_levels(table))
        self._views = {}
        merge_page_views(self._store, self._graph, table)

    def _articles(
        self, entities: Sequence[Entity], titles: Mapping[str, str]
    ) -> dict[str, list[str]]:
        """Returns the ids of the entities that each article is about, by the article's title."""
        language = self._wikimedia.options.language
        title_of: dict[str, str] = {}
        unknown: list[Entity] = []
        for entity in entities:
            title = titles.get(entity.id) or article_of(entity, language)
            if title is None:
                unknown.append(entity)
            else:
                title_of[entity.id] = title
        ids = wikidata_ids(unknown)
        if ids:
            known = self._wikimedia.articles(sorted(set(ids.values())))
            title_of.update({id_: known[other] for id_, other in ids.items() if other in known})
        articles: dict[str, list[str]] = {}
        for id_ in sorted(title_of):
            articles.setdefault(title_of[id_], []).append(id_)
        return articles


def _chosen(
    store: Store, info: GraphInfo, ids: Sequence[str], count: int | None, random_seed: int
) -> list[Entity]:
    if count is not None and count < 1:
        raise InputError(f"count must be at least 1, got {count}", argument="count")
    entities: dict[str, Entity] = {}
    if ids:
        lookup = store.entities(info.edition, ids)
        if lookup.missing:
            raise InputError(
                f"the graph has no entity {', '.join(lookup.missing[:5])}", argument="entity"
            )
        entities = {entity.id: entity for entity in lookup.entities.values()}
        return _sample(entities, count, random_seed)
    for chunk in store.scan_entities(info.edition):
        entities.update({entity.id: entity for entity in chunk if _is_item(entity)})
        if count is not None and len(entities) > _MOST_HELD + count:
            # The first of a part are among the first of the whole, if they are drawn at all.
            sample = _sample(entities, count, random_seed)
            entities = {entity.id: entity for entity in sample}
    return _sample(entities, count, random_seed)


def _sample(entities: Mapping[str, Entity], count: int | None, random_seed: int) -> list[Entity]:
    """Returns the first entities in the order of a keyed draw, sorted by id."""
    order = draw_order(entities, random_seed=random_seed)
    return [entities[id_] for id_ in sorted(order[:count])]


def _is_item(entity: Entity) -> bool:
    return entity.kind is EntityKind.ITEM and entity.redirect is None


def _levels(table: PageViewTable) -> Counter[str]:
    counts: Counter[str] = Counter()
    for mean in table.means().tolist():
        level = level_of(mean)
        counts["" if level is None else level.value] += 1
    return counts
