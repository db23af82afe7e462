"""dataset live: questions of what changed between two editions of a graph (B17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from graph_service.cli.dataset.options import LiveOptions
from graph_service.cli.dataset.running import graph_of, locked
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output, counted
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.result import EntityRef
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Statement
from graph_service.service import Service
from graph_service.service.embedded_names import relation_label
from graph_service.store.protocol import Store
from graph_service.text.fold import relation_words
from queries.builders.folder import lock_of, take_folder, write_counts
from queries.builders.live import (
    BUILDER,
    QUESTIONS_NAME,
    LiveQuestions,
    LiveSet,
    differing_topics,
)
from queries.builders.material import GraphMaterial
from queries.line_file import write_lines

_MOST_STATEMENTS = 10_000


@dataclass(frozen=True, slots=True)
class StoredEdition:
    """An edition of a graph in a store, as ``queries.builders.live`` reads it."""

    store: Store
    edition: str
    language: str
    material: GraphMaterial

    def scan(self, *, argument: str) -> Iterator[Statement]:
        """Returns all statements in order of their keys.

        Args:
            argument: That an error names.

        Raises:
            InputError: The store has no such edition.
        """
        try:
            chunks = self.store.scan_statements(self.edition)
            first = next(chunks, [])
        except GraphNotFoundError as error:
            raise InputError(
                f"the store has no edition {self.edition!r}",
                argument=argument,
                hint="It has the current edition of a graph and the one before, until the next "
                "load. Load the older source as a graph of its own, and name that edition: "
                "--from OTHER@1.",
            ) from error
        return chain.from_iterable(chain([first], chunks))

    def statements(self, head: str, relation: str | None = None, /) -> Sequence[Statement]:
        """Returns the statements that an entity heads, of one relation or of all, by key."""
        return self.store.statements_of(
            self.edition,
            head,
            relation_ids=() if relation is None else (relation,),
            limit=_MOST_STATEMENTS,
        )

    def entities(self, ids: Sequence[str], /) -> Mapping[str, EntityRef]:
        """Returns entities with their labels by the ids that name them, redirects followed."""
        known = self.store.entities(self.edition, list(ids)).entities if ids else {}
        return {
            id_: EntityRef(
                entity.id, entity.labels.get(self.language) or entity.labels.get("mul") or entity.id
            )
            for id_, entity in known.items()
        }

    def relation_label(self, id_: str, /) -> str:
        """Returns the name of a relation."""
        known = self.store.entities(self.edition, [id_]).entities.get(id_)
        return relation_label(known, (self.language,)) if known else relation_words(id_) or id_

    def namesakes(self, name: str, /) -> Sequence[str]:
        """Returns the ids of the entities of a name."""
        return [entity.id for entity in self.material.namesakes(name)]


def live(options: LiveOptions, output: Output, /) -> int:
    """Makes the questions, and says what became of each topic that differs."""
    with locked(options.out), open_from(options, output) as service:
        topics, made = draw_live(service, options)
    path = options.out / QUESTIONS_NAME
    lines = [to_plain(question) for question in made.questions]
    write_lines(path, [{name: value for name, value in line.items() if value} for line in lines])
    write_counts(options.out, [made.counts])
    kinds = Counter(question.kind for question in made.questions)
    output.show(
        {"topics": topics, "questions": kinds, "file": path, "counts": made.counts},
        f"{counted(topics, 'topic')} differ",
        made.counts.text(),
        f"{counted(len(lines), 'question')} in {path}: "
        + ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
    )
    if not lines:
        output.note("no question was made; the counts say why")
    return 0 if lines else 1


def draw_live(service: Service, options: LiveOptions, /) -> tuple[int, LiveSet]:
    """Returns how many topics differ, and the questions of those that were drawn.

    Locks the folder to the editions and the options.

    Raises:
        InputError: The store has no such edition, or both are the same.
    """
    material, fingerprints = graph_of(
        service, options.graph, options.language, options.drop_relations
    )
    info = service.graph(material.graph)
    ids = [_edition(name, material.graph) for name in (options.from_, options.to or info.edition)]
    if ids[0] == ids[1]:
        raise InputError(f"edition {ids[0]!r} does not differ from itself", argument="from")
    earlier, later = (StoredEdition(service.store, id_, options.language, material) for id_ in ids)
    topics = differing_topics(earlier.scan(argument="from"), later.scan(argument="to"))
    take_folder(
        options.out,
        lock_of(
            BUILDER,
            settings={
                "each": options.each,
                "wordings": options.wordings,
                "random_seed": options.random_seed,
                "language": options.language,
            },
            model="",
            files=[options.drop_relations] if options.drop_relations else [],
            graph={
                **fingerprints,
                "from": ids[0],
                "to": ids[1],
                "published_at": info.published_at,
            },
        ),
    )
    questions = LiveQuestions(
        earlier,
        later,
        material.dropped,
        wordings=options.wordings,
        random_seed=options.random_seed,
    )
    return len(topics), questions.draw(topics, each=options.each)


def _edition(name: str, graph: str) -> str:
    return name if "@" in name else f"{graph}@{name}"
