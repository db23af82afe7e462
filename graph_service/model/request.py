"""What a caller asks of a retrieval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.view_spec import ViewSpec

MAX_QUESTION_CHARACTERS = 10_000
MAX_ENTITY_IDS = 100
MAX_TYPE_IDS = 100
MAX_LANGUAGES = 50


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
    """One question to one graph. What is None comes from the preset.

    Attributes:
        graph: Name of the graph; may be left out where the store has one.
        entity_ids: The question's entities, where the caller knows them; nothing is linked then.
        languages: Languages of labels, best first.
        limit: How many items.
        max_hops: Steps from the question's entities.
        max_edges: Edges of the region at most.
        min_score: Items under this score are left out.
        token_budget: Size of the result's text at most, in the embedder's tokens.
        relation_ids, exclude_relation_ids: Only these relations; never these.
        type_ids: Only instances of these classes, or of their subclasses, beside the question's own
            entities; a literal goes with the entity that it is said of.
        ranks: Ranks of statements that are edges; preferred and normal where empty.
        top_nodes, top_edges, edge_cost, max_path_length: Prizes, as in the preset.
        min_link_score, max_entities, relations_per_entity, triples_per_relation, random_seed,
            ranker: How relations are ranked, as in preset ``ltgen`` (L4).
        question_vector: Stands for the question's text wherever that is compared with texts of the
            graph: as many numbers as the embedder's vectors have. Names are still found by the text.
        linking_accuracy: Share of the pairs of question and entity that stay, 0 to 1; the others are
            swapped for irrelevant entities (K7). None swaps nothing.
        linking_seed: Random seed of that.
        prove: Whether to work longer, some two seconds, for a proven subgraph.
        details: Whether triples come with qualifiers and references.
    """

    question: str
    strategy: Strategy
    graph: str | None = None
    view: ViewRef | None = None
    entity_ids: tuple[str, ...] = ()
    languages: tuple[str, ...] = ("en",)
    preset: str = "default"
    limit: int | None = None
    max_hops: int | None = None
    max_edges: int | None = None
    min_score: float | None = None
    token_budget: int | None = None
    relation_ids: tuple[str, ...] = ()
    exclude_relation_ids: tuple[str, ...] = ()
    type_ids: tuple[str, ...] = ()
    ranks: tuple[Rank, ...] = ()
    top_nodes: int | None = None
    top_edges: int | None = None
    edge_cost: float | None = None
    max_path_length: int | None = None
    min_link_score: float | None = None
    max_entities: int | None = None
    relations_per_entity: int | None = None
    triples_per_relation: int | None = None
    random_seed: int | None = None
    ranker: str | None = None
    question_vector: tuple[float, ...] | None = None
    linking_accuracy: float | None = None
    linking_seed: int = 0
    prove: bool = False
    details: bool = False

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
        if len(self.entity_ids) > MAX_ENTITY_IDS:
            raise InputError(
                f"at most {MAX_ENTITY_IDS} entities can be given, got {len(self.entity_ids)}",
                argument="entity_ids",
            )
        if len(self.type_ids) > MAX_TYPE_IDS:
            raise InputError(
                f"at most {MAX_TYPE_IDS} types can be given, got {len(self.type_ids)}",
                argument="type_ids",
            )
        check_languages(self.languages)
        if self.min_score is not None and not math.isfinite(self.min_score):
            raise InputError(
                f"min_score must be a finite number, got {self.min_score}", argument="min_score"
            )
        if self.linking_accuracy is not None and not 0.0 <= self.linking_accuracy <= 1.0:
            raise InputError(
                f"linking_accuracy is a share, 0 to 1, got {self.linking_accuracy}",
                argument="linking_accuracy",
            )
        if self.token_budget is not None and self.token_budget < 1:
            raise InputError("the token budget must be at least 1", argument="token_budget")
        if self.view is not None:
            self.view.validate()
