"""What a caller asks of a retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.view_spec import ViewSpec
from graph_service.options import check_bounds, option, options_of

MAX_QUESTION_CHARACTERS = 10_000
MAX_LANGUAGES = 50
MAX_RELATIONS = 1000
"""Of a question, or of a page of an item's statements."""


def check_languages(languages: Sequence[str], /) -> None:
    """Raises ``InputError`` where more languages are asked for than labels are looked up in."""
    if len(languages) > MAX_LANGUAGES:
        raise InputError(
            f"at most {MAX_LANGUAGES} languages can be given, got {len(languages)}",
            argument="languages",
        )


@dataclass(frozen=True, slots=True)
class ViewRef:
    """Which view: a stored one by ``id`` or ``name``, or one computed for this query alone.

    Exactly one field is set; no reference at all means the base graph.
    """

    id: str | None = None
    name: str | None = None
    spec: ViewSpec | None = None

    def validate(self) -> None:
        """Raises ``InputError`` unless exactly one field is set."""
        if sum(part is not None for part in (self.id, self.name, self.spec)) != 1:
            raise InputError("a view is given by exactly one of id, name, spec", argument="view")
        if self.spec is not None:
            self.spec.validate()


@dataclass(frozen=True, slots=True)
class RetrieveRequest:
    """One question to one graph; ``docs/reference/options.md`` lists the options.

    What is None comes from the preset. An entity that is given as the question's own always stays,
    whatever ``type_ids`` says, and a literal goes with the entity that it is said of. Ranks are
    preferred and normal where none is given.
    """

    question: str = option(help="the question, in whole words", of_command_line=False)
    strategy: Strategy = option(
        Strategy.TRIPLETS, help="what is retrieved: triplets, paths or a subgraph", of_api=False
    )
    graph: str | None = option(
        None, help="the graph; may be left out if there is one", metavar="NAME"
    )
    view: ViewRef | None = option(
        None, help="a view: its name or id, or a specification, METHOD:LEVEL:SEED", metavar="V"
    )
    entity_ids: tuple[str, ...] = option(
        (), help="the question's entity, instead of linking", most=100, metavar="ID"
    )
    languages: tuple[str, ...] = option(
        ("en",), help="language of labels, best first", most=MAX_LANGUAGES, metavar="CODE"
    )
    preset: str = option("default", help="the preset: default, okgqa or ltgen", metavar="P")
    limit: int | None = option(
        None, help="triplets, paths or statements at most", least=1, preset="limit"
    )
    max_hops: int | None = option(
        None, help="steps from the question's entities at most", least=1, preset="hops"
    )
    max_edges: int | None = option(
        None, help="edges of the region at most", least=1, preset="max_edges"
    )
    min_score: float | None = option(None, help="leave out what scores less")
    min_relevance: float | None = option(
        None,
        help="least relevance of the best relations that are held to bear on the question; under it "
        "the status is low-confidence",
        least=-1,
        most=1,
        preset="min_relevance",
    )
    min_confidence: float | None = option(
        None,
        help="least probability that the first answer is right; under it the status is "
        "low-confidence; 0 goes by min_relevance alone",
        least=0,
        most=1,
        preset="min_confidence",
    )
    coverage: float | None = option(
        None,
        help="also the smallest set of readings whose answers hold the right one in this share of "
        "questions like those that it was calibrated on",
        least=0.5,
        most=0.99,
    )
    token_budget: int | None = option(
        None, help="size of the text at most, in the embedder's tokens", least=1
    )
    relation_ids: tuple[str, ...] = option(
        (), help="statements of this relation only", metavar="ID", most=MAX_RELATIONS
    )
    exclude_relation_ids: tuple[str, ...] = option(
        (), help="no statements of this relation", metavar="ID", most=MAX_RELATIONS
    )
    type_ids: tuple[str, ...] = option(
        (),
        help="instances of this class only, or of its subclasses, beside the question's entities",
        most=100,
        metavar="ID",
    )
    ranks: tuple[Rank, ...] = option((), help="statements of this rank", most=len(Rank))
    top_nodes: int | None = option(
        None, help="how many entities carry a prize", least=0, most=10_000, preset="top_nodes"
    )
    top_edges: int | None = option(
        None,
        help="how many statements carry a prize",
        least=0,
        most=10_000,
        preset="top_edges",
    )
    edge_cost: float | None = option(
        None,
        help="what a statement costs in a path or subgraph, in units of prize",
        least=0,
        most=1e6,
        preset="edge_cost",
    )
    max_path_length: int | None = option(
        None, help="statements of a path at most", least=1, most=8, preset="max_path_length"
    )
    min_link_score: float | None = option(
        None,
        help="preset ltgen: score of an entity that the question names at least",
        least=0,
        most=1,
        preset="min_link_score",
        is_experimental=True,
    )
    max_entities: int | None = option(
        None, help="preset ltgen: entities that the question names at most", least=1, most=100,
        preset="max_entities",
        is_experimental=True,
    )  # fmt: skip
    relations_per_entity: int | None = option(
        None,
        help="preset ltgen: relations kept of each entity; both directions of one are two",
        least=1,
        most=1000,
        preset="relations_per_entity",
        is_experimental=True,
    )
    triples_per_relation: int | None = option(
        None,
        help="preset ltgen: statements kept of each entity and relation",
        least=1,
        most=1000,
        preset="triples_per_relation",
        is_experimental=True,
    )
    draw_seed: int | None = option(
        None,
        help="preset ltgen: random seed by which those are drawn",
        preset="draw_seed",
        is_experimental=True,
    )
    ranker: str | None = option(
        None,
        help="preset ltgen: what ranks relations: embedding, trained, or the name of a trained ranker",
        metavar="R",
        preset="ranker",
        is_experimental=True,
    )
    linking_accuracy: float | None = option(
        None,
        help="share of the question's entities that stay; the others are swapped for irrelevant "
        "ones",
        least=0,
        most=1,
        is_experimental=True,
    )
    linking_seed: int = option(
        0,
        help="random seed by which entities are swapped",
        is_experimental=True,
        needs=("linking_accuracy",),
    )
    question_vector: tuple[float, ...] | None = option(
        None,
        help="the question's vector, in place of the embedder's; names are still found by its text",
        metavar="FILE",
        most=10_000,
    )
    earlier: tuple[str, ...] = option(
        (),
        help="an earlier question of the conversation, the latest last",
        most=100,
        metavar="QUESTION",
    )
    prove: bool = option(False, help="work longer, some two seconds, for a proven subgraph")
    details: bool = option(
        False,
        help="whether triples come with qualifiers and references",
        of_api=False,
        of_command_line=False,
    )

    def validate(self) -> None:
        """Raises ``InputError`` naming the argument at fault; presets check their own bounds."""
        if not self.question.strip():
            raise InputError("the question is empty", argument="question")
        if len(self.question) > MAX_QUESTION_CHARACTERS:
            raise InputError(
                f"a question has at most {MAX_QUESTION_CHARACTERS} characters, "
                f"got {len(self.question)}",
                argument="question",
            )
        try:
            self.question.encode()
        except UnicodeEncodeError as error:
            raise InputError("the question holds a lone surrogate", argument="question") from error
        for question in self.earlier:
            if len(question) > MAX_QUESTION_CHARACTERS:
                raise InputError(
                    f"an earlier question has at most {MAX_QUESTION_CHARACTERS} characters, "
                    f"got {len(question)}",
                    argument="earlier",
                )
        check_bounds(self)
        if self.view is not None:
            self.view.validate()

    def chosen(self) -> dict[str, Any]:
        """Returns the options that are not the defaults, by their names."""
        return {
            each.name: getattr(self, each.name)
            for each in options_of(RetrieveRequest).values()
            if getattr(self, each.name) != each.default
        }

    def of_preset(self) -> dict[str, Any]:
        """Returns what takes the place of the preset's parameters, by their names there."""
        return {
            each.facts.preset: getattr(self, each.name)
            for each in options_of(RetrieveRequest).values()
            if each.facts.preset is not None
        }


class RetrieveOptions(TypedDict, total=False):
    """The options of ``RetrieveRequest`` as a client's keywords, for type checkers.

    ``view`` is a stored view's id or name, a specification, or a reference. A test holds the two
    together.
    """

    graph: str | None
    view: ViewRef | ViewSpec | str | None
    entity_ids: Sequence[str]
    languages: Sequence[str]
    preset: str
    limit: int | None
    max_hops: int | None
    max_edges: int | None
    min_score: float | None
    min_relevance: float | None
    min_confidence: float | None
    coverage: float | None
    token_budget: int | None
    relation_ids: Sequence[str]
    exclude_relation_ids: Sequence[str]
    type_ids: Sequence[str]
    ranks: Sequence[Rank]
    top_nodes: int | None
    top_edges: int | None
    edge_cost: float | None
    max_path_length: int | None
    min_link_score: float | None
    max_entities: int | None
    relations_per_entity: int | None
    triples_per_relation: int | None
    draw_seed: int | None
    ranker: str | None
    linking_accuracy: float | None
    linking_seed: int
    question_vector: Sequence[float] | None
    earlier: Sequence[str]
    prove: bool
    details: bool
