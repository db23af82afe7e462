"""Retrieval through the service, on the base and on views (rows S2, S3, S8, O3 to O7)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from demo_graph import (
    ARNOLD,
    AURELIA,
    EUNICE,
    MARIA,
    MOTHER,
    QUESTION,
    SPOUSE,
    request,
    scored_paths,
    scored_triples,
)
from error_texts import raises

from graph_service import Service, open_service
from graph_service.errors import DeadlineError, GraphNotFoundError, InputError, ViewNotFoundError
from graph_service.link import LINKING_RULES, link
from graph_service.model.limits import CutReason
from graph_service.model.render import path_line
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import (
    PathsResult,
    ScoredPath,
    ScoredTriple,
    Status,
    Step,
    Strategy,
    SubgraphResult,
    TripletsResult,
    triples_of,
)
from graph_service.model.statement import Rank
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import ChangeKind, Method, Scope, ViewSpec
from graph_service.retrieve.preset import LEARNED
from graph_service.settings import Settings
from loaders.load import load
from queries.datasets.demo_set import demo_slice

ALL = tuple(Strategy)
REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)


def ends(item: Step | ScoredTriple) -> set[str]:
    value = item.triple.value
    return {
        item.triple.head.id,
        value.id if isinstance(value, EntityValue) else item.triple.statement_id,
    }


def is_connected(items: Sequence[ScoredTriple | Step]) -> bool:
    groups: list[set[str]] = []
    for item in items:
        touching = [group for group in groups if group & ends(item)]
        groups = [group for group in groups if not group & ends(item)]
        groups.append(ends(item).union(*touching))
    return len(groups) <= 1


def test_the_three_strategies_find_the_two_hops_s2(demo_service: Service) -> None:
    kinds = {
        Strategy.TRIPLETS: TripletsResult,
        Strategy.PATHS: PathsResult,
        Strategy.SUBGRAPH: SubgraphResult,
    }
    for strategy, kind in kinds.items():
        result = demo_service.retrieve(request(strategy=strategy, limit=5))
        assert type(result) is kind
        assert result.status is Status.OK
        # A tree leaves out what costs more than it bears on the question.
        assert len(result.items) == (2 if kind is SubgraphResult else 5)
        found = {
            (one.head.id, one.relation.id, getattr(one.value, "id", None))
            for one in triples_of(result)
        }
        assert {(MARIA, SPOUSE, ARNOLD), (ARNOLD, MOTHER, AURELIA)} <= found
        (linked,) = result.linked
        assert linked.entity.id == MARIA
        assert QUESTION[linked.start : linked.end] == linked.mention == "Maria Shriver"
        assert linked.entity.description == "First Lady of California from 2003 to 2011"
    assert isinstance(result, SubgraphResult)
    assert is_connected(result.items)
    assert result.objective is not None


def test_the_best_path_reads_as_the_question_asks_o6(demo_service: Service) -> None:
    result = demo_service.retrieve(request(strategy=Strategy.PATHS))
    best = result.items[0]
    assert isinstance(best, ScoredPath)
    assert path_line(best.steps) == (
        "Maria Shriver -[spouse]-> Arnold Schwarzenegger -[mother]-> Aurelia Schwarzenegger"
    )
    scores = [item.score for item in result.items]
    assert scores == sorted(scores, reverse=True)


def test_provenance_says_where_a_result_came_from_s8(demo_service: Service) -> None:
    info = demo_service.graph()
    result = demo_service.retrieve(
        request(view=ViewRef(spec=REPLACED), limit=3, ranks=(Rank.NORMAL,))
    )
    source = result.provenance
    assert (source.graph, source.edition, source.fingerprints) == (
        "demo",
        info.edition,
        info.fingerprints,
    )
    assert source.view_id == REPLACED.identity(info.fingerprints.edges)
    assert source.view_spec == REPLACED.to_json()
    assert source.strategy is Strategy.TRIPLETS
    assert source.preset == "default-6"
    assert source.parameters["limit"] == 3
    # Every number of the preset, and every one of the linker's.
    assert replace(LEARNED, limit=3).parameters().items() <= source.parameters.items()
    assert source.parameters["linking"] == LINKING_RULES.parameters()
    assert source.parameters["ranks"] == ["normal"]
    assert source.embedder.startswith("all-MiniLM-L6-v2")
    assert {"open", "link", "view", "region", "pagerank", "shape", "total"} <= set(
        result.timings_ms
    )
    assert result.tokens.count > 0
    assert result.region is not None
    assert result.region.before.edges >= result.region.after.edges > 0


@pytest.mark.parametrize("strategy", ALL)
def test_base_stored_and_inline_views_s3(own_service: Service, strategy: Strategy) -> None:
    stored = own_service.views.create(REPLACED, name="half")
    # Statements of other relations: default-6 passes over them, since nothing asks for them.
    base = own_service.retrieve(request(strategy=strategy, preset="okgqa", limit=60))
    by_name, by_id, inline = [
        own_service.retrieve(request(strategy=strategy, view=ref, preset="okgqa", limit=60))
        for ref in (ViewRef(name="half"), ViewRef(id=stored.id), ViewRef(spec=REPLACED))
    ]
    assert by_name == by_id == inline
    assert inline.id == by_name.id != base.id
    assert base.provenance.view_id is None
    changed = [
        one
        for item in inline.items
        for one in (item.steps if isinstance(item, ScoredPath) else (item,))
        if one.change.kind is not ChangeKind.UNCHANGED
    ]
    assert changed, "half of the edges are changed: the result must show some"
    for one in changed:
        assert one.triple.statement_id.startswith("view:")
        before = one.change.base
        assert before is not None
        assert before.statement_id.startswith("Q")
        assert (before.head, before.value) == (one.triple.head, one.triple.value)
        assert before.relation != one.triple.relation


def test_a_view_at_level_0_finds_what_the_base_finds_s3(demo_service: Service) -> None:
    same = replace(REPLACED, level=0.0)
    for strategy in ALL:
        base = demo_service.retrieve(request(strategy=strategy))
        on_view = demo_service.retrieve(request(strategy=strategy, view=ViewRef(spec=same)))
        assert on_view.items == base.items


def test_withheld_statements_are_not_found_k6(demo_service: Service) -> None:
    base = demo_service.retrieve(request(strategy=Strategy.PATHS))
    spouse = scored_paths(base)[0].steps[0].triple.statement_id
    spec = ViewSpec(Method.WITHHOLDING, statement_ids=(spouse,))
    result = demo_service.retrieve(request(strategy=Strategy.PATHS, view=ViewRef(spec=spec)))
    assert spouse not in {one.statement_id for one in triples_of(result)}


def test_a_view_of_the_questions_own_region(demo_service: Service) -> None:
    spec = ViewSpec(Method.EDGE_DELETION, level=1.0, scope=Scope(hops=1, of_question=True))
    result = demo_service.retrieve(request(view=ViewRef(spec=spec)))
    # All entity-valued edges of Maria Shriver are gone: only literals of hers are left.
    assert all(
        not isinstance(one.value, EntityValue) and one.head.id == MARIA
        for one in triples_of(result)
    )
    nobody = demo_service.retrieve(
        request("Is anything known of zorblax?", view=ViewRef(spec=spec))
    )
    assert nobody.status is Status.NO_ENTITY_LINKED
    with pytest.raises(InputError, match="needs a question"):
        demo_service.neighbourhood(MARIA, view=ViewRef(spec=spec))
    with pytest.raises(InputError, match="inline"):
        demo_service.views.create(spec)


def test_compare_links_once_and_says_what_differs_s3(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    from graph_service.service import linking

    calls: list[str] = []

    def counted(question: str, *rest: Any, **options: Any) -> Any:
        calls.append(question)
        return link(question, *rest, **options)

    monkeypatch.setattr(linking, "link", counted)
    views = [ViewRef(spec=replace(REPLACED, random_seed=seed)) for seed in (1, 3)]
    asked = request(strategy=Strategy.PATHS, preset="okgqa")
    base, *others = demo_service.compare(asked, views)
    assert calls == [QUESTION]
    assert (base.view_id, base.lost, base.gained, base.changed) == (None, (), (), ())
    assert base.result == demo_service.retrieve(asked)
    base_ids = {one.statement_id for one in triples_of(base.result)}
    for view, other in zip(views, others, strict=True):
        assert other.result == demo_service.retrieve(replace(asked, view=view))
        ids = {one.statement_id for one in triples_of(other.result)}
        assert set(other.lost) == base_ids - ids
        assert set(other.gained) == ids - base_ids
        assert set(other.changed) == {id_ for id_ in ids if id_.startswith("view:")}
    assert any(other.changed for other in others)


def test_entities_given_are_not_linked(demo_service: Service) -> None:
    result = demo_service.retrieve(
        request("Who is the mother?", Strategy.PATHS, entity_ids=(ARNOLD, "wd:Q2685"))
    )
    (linked,) = result.linked
    assert (linked.entity.id, linked.mention, linked.start) == (ARNOLD, "", -1)
    assert result.items
    assert all(ARNOLD in ends(path.steps[0]) for path in scored_paths(result))


@pytest.mark.parametrize(
    ("question", "meant", "other"),
    [
        ("In which state is Cambridge, the headquarters of Harvard University?", "Q49111", "Q350"),
        (
            "Who is the mother of Patrick Kennedy, the brother of Kara Kennedy?",
            "Q948920",
            "Q3290402",
        ),
        ("Which Douglas Adams worked for the BBC?", "Q42", "Q28421831"),
    ],
)
def test_namesakes_are_told_apart_by_their_neighbours_k2(
    demo_service: Service, question: str, meant: str, other: str
) -> None:
    linked = next(
        item for item in demo_service.retrieve(request(question)).linked if item.alternatives
    )
    assert linked.entity.id == meant
    alternative = next(ref for ref in linked.alternatives if ref.id == other)
    # A person can see which was taken: both are described.
    assert linked.entity.description
    assert alternative.description not in (None, linked.entity.description)
    assert 0.5 < linked.score <= 1.0


def test_finding_nothing_is_data(demo_service: Service) -> None:
    nobody = demo_service.retrieve(request("What is the capital of Zorblaxia?"))
    assert (nobody.status, nobody.items, nobody.region) == (Status.NO_ENTITY_LINKED, (), None)
    nothing = demo_service.retrieve(request(relation_ids=("P999",)))
    assert (nothing.status, nothing.items) == (Status.NOTHING_RELEVANT, ())


def test_relation_filters(demo_service: Service) -> None:
    only = demo_service.retrieve(request(relation_ids=(MOTHER, "wd:P22")))
    assert {one.relation.id for one in triples_of(only)} <= {MOTHER, "P22"}
    assert only.items
    without = demo_service.retrieve(request(exclude_relation_ids=(SPOUSE,)))
    assert SPOUSE not in {one.relation.id for one in triples_of(without)}


@pytest.mark.parametrize(
    ("fields", "argument"),
    [
        ({"question": " \n"}, "question"),
        ({"question": "x" * 100_000}, "question"),
        ({"question": "bad \ud800"}, "question"),
        ({"graph": "nope"}, "graph"),
        ({"view": ViewRef(id="nope")}, "view"),
        ({"view": ViewRef(name="nope")}, "view"),
        ({"view": ViewRef()}, "view"),
        ({"view": ViewRef(id="a", name="b")}, "view"),
        ({"view": ViewRef(spec=ViewSpec(Method.EDGE_DELETION))}, "level"),
        ({"view": ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=1.5))}, "level"),
        ({"entity_ids": ("Q999999",)}, "entity_ids"),
        ({"entity_ids": tuple(f"Q{i}" for i in range(101))}, "entity_ids"),
        ({"preset": "best"}, "preset"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"max_hops": 0}, "max_hops"),
        ({"max_hops": 5}, "max_hops"),
        ({"max_edges": 0}, "max_edges"),
        ({"edge_cost": -0.5}, "edge_cost"),
        ({"edge_cost": float("nan")}, "edge_cost"),
        ({"top_edges": -1, "preset": "okgqa"}, "top_edges"),
        ({"top_nodes": 0, "top_edges": 0, "preset": "okgqa"}, "top_nodes"),
        ({"top_nodes": -1, "preset": "okgqa"}, "top_nodes"),
        ({"top_nodes": 3}, "top_nodes"),
        ({"edge_cost": 0.5, "preset": "ltgen"}, "edge_cost"),
        ({"max_path_length": 9}, "max_path_length"),
        ({"token_budget": 0}, "token_budget"),
        ({"min_score": float("nan")}, "min_score"),
    ],
)
def test_every_limit_names_its_argument(
    demo_service: Service, fields: dict[str, Any], argument: str
) -> None:
    with raises(InputError) as caught:
        demo_service.retrieve(request(**fields))
    assert caught.value.argument == argument


def test_errors_are_of_their_own_classes(demo_service: Service) -> None:
    with pytest.raises(GraphNotFoundError):
        demo_service.retrieve(request(graph="nope"))
    with pytest.raises(ViewNotFoundError):
        demo_service.retrieve(request(view=ViewRef(name="nope")))
    with pytest.raises(InputError, match="1 to 10 views"):
        demo_service.compare(request(), [])
    with pytest.raises(InputError, match="1 to 10 views"):
        demo_service.compare(request(), [ViewRef(spec=REPLACED)] * 11)
    with raises(InputError):
        demo_service.compare(request(view=ViewRef(spec=REPLACED)), [ViewRef(spec=REPLACED)])


def test_a_read_that_takes_too_long_is_given_up(demo_service: Service) -> None:
    settings = replace(demo_service.settings, read_timeout_s=1e-9)
    hurried = Service(demo_service.store, vectors=demo_service.vectors, settings=settings)
    with pytest.raises(DeadlineError):
        hurried.retrieve(request(preset="okgqa"))


def test_the_least_relevance_decides_whether_a_result_is_confident(demo_service: Service) -> None:
    usual = demo_service.retrieve(request())
    assert usual.status is Status.OK
    assert usual.relevance is not None
    strict = demo_service.retrieve(request(min_relevance=min(usual.relevance + 0.01, 1.0)))
    assert strict.status is Status.LOW_CONFIDENCE
    assert strict.provenance.parameters["min_relevance"] > usual.relevance
    with pytest.raises(InputError, match="no min_relevance"):
        demo_service.retrieve(request(preset="okgqa", min_relevance=0.5))


@pytest.mark.parametrize("strategy", ALL)
def test_a_token_budget_keeps_whole_items(demo_service: Service, strategy: Strategy) -> None:
    whole = demo_service.retrieve(request(strategy=strategy, limit=8))
    count = demo_service.vectors.embedder.count_tokens
    for budget in (1, 30, 60, whole.tokens.count - 1, whole.tokens.count):
        cut = demo_service.retrieve(request(strategy=strategy, limit=8, token_budget=budget))
        assert cut.tokens.count <= budget
        assert set(cut.items) <= set(whole.items)
        assert cut.status is Status.OK, "that nothing fits does not mean that nothing was found"
        if strategy is Strategy.SUBGRAPH:
            assert is_connected(scored_triples(cut))
            assert not cut.items or whole.items[0] in cut.items
        else:
            assert cut.items == whole.items[: len(cut.items)], "best first, without holes"
        cuts = [item for item in cut.truncated if item.reason is CutReason.TOKEN_BUDGET]
        if budget < whole.tokens.count:
            (told,) = cuts
            assert (told.kept, told.total) == (len(cut.items), len(whole.items))
        else:
            assert not cuts
            assert cut.items == whole.items
    assert count("a b") == 2


def test_details_add_qualifiers_and_change_nothing_else(kinds_service: Service) -> None:
    asked = RetrieveRequest(
        "Where was Douglas Adams educated?", Strategy.TRIPLETS, limit=50, preset="okgqa"
    )
    plain = kinds_service.retrieve(asked)
    full = kinds_service.retrieve(replace(asked, details=True))
    assert full.id == plain.id
    assert [item.score for item in full.items] == [item.score for item in plain.items]
    by_relation = {item.triple.relation.id: item.triple for item in scored_triples(full)}
    stored = kinds_service.store.statements(
        plain.provenance.edition, [one.statement_id for one in triples_of(plain)]
    )
    assert by_relation["P69"].qualifiers
    for one in triples_of(full):
        assert one.qualifiers == stored[one.statement_id].qualifiers
        assert one.references == stored[one.statement_id].references
    assert all(not one.qualifiers for one in triples_of(plain))


def test_details_of_a_changed_statement_are_those_of_its_base(kinds_service: Service) -> None:
    arrays = kinds_service.arrays(kinds_service.graph())
    education = next(
        id_
        for id_, statement in kinds_service.store.statements(
            kinds_service.graph().edition, list(arrays.statement_ids)
        ).items()
        if statement.relation == "P69"
    )
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=1.0, scope=Scope(statement_ids=(education,)))
    result = kinds_service.retrieve(
        RetrieveRequest(
            "What of Douglas Adams?",
            Strategy.TRIPLETS,
            view=ViewRef(spec=spec),
            preset="okgqa",
            limit=50,
            details=True,
        )
    )
    (changed,) = [item for item in scored_triples(result) if item.change.base is not None]
    assert changed.change.base is not None
    assert changed.change.base.statement_id == education
    assert [snak.relation for snak in changed.triple.qualifiers] == ["P580", "P812"]


def test_the_result_id_is_of_the_content(
    demo_service: Service, own_service: Service, tmp_path: Path
) -> None:
    """Another edition, another vector file, other timings: the same id."""
    load(demo_slice(), store=own_service.store, graph="demo", replace=True)
    again = open_service(own_service.store, settings=Settings(vectors=str(tmp_path / "fresh.db")))
    asked = request(strategy=Strategy.SUBGRAPH)
    first, second = demo_service.retrieve(asked), again.retrieve(asked)
    again.vectors.close()
    assert first.provenance.edition != second.provenance.edition
    assert first.timings_ms != second.timings_ms
    assert first.id == second.id
    assert first.items == second.items
    assert demo_service.retrieve(replace(asked, limit=3)).id != first.id
    assert demo_service.retrieve(replace(asked, languages=("de", "en"))).id != first.id


CODE = """
import sys
from graph_service import open_service
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
question, url = sys.argv[1:]
spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)
with open_service(url) as service:
    for view in (None, ViewRef(spec=spec)):
        for strategy in Strategy:
            print(service.retrieve(RetrieveRequest(question, strategy, view=view)).id)
"""


def test_the_result_id_is_the_same_in_any_process(
    demo_service: Service, demo_settings: Settings
) -> None:
    expected = [
        demo_service.retrieve(request(strategy=strategy, view=view)).id
        for view in (None, ViewRef(spec=REPLACED))
        for strategy in ALL
    ]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "77",
        "OMP_NUM_THREADS": "1",
        "GRAPH_SERVICE_VECTORS": demo_settings.vectors,
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE, QUESTION, demo_service.store.url],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert done.stdout.split() == expected


def test_eight_threads_give_what_one_gives(demo_file: Path, demo_settings: Settings) -> None:
    asked = [
        request(question, strategy=strategy, view=view)
        for question in (QUESTION, "Where was Rory Kennedy born?")
        for strategy in ALL
        for view in (None, ViewRef(spec=REPLACED))
    ]
    with open_service(f"sqlite:///{demo_file}", settings=demo_settings) as service:
        one = [service.retrieve(item) for item in asked]
    with (
        open_service(f"sqlite:///{demo_file}", settings=demo_settings) as service,
        ThreadPoolExecutor(8) as pool,
    ):
        many = list(pool.map(service.retrieve, asked * 4))
    assert many == one * 4


def test_a_neighbourhood_is_nearest_first(demo_service: Service) -> None:
    one = demo_service.neighbourhood(MARIA, limit=1000)
    assert all(MARIA in ends(item) for item in one.items)
    own = {item.edge.triple.statement_id for item in demo_service.statements.of(MARIA)}
    assert own <= {item.triple.statement_id for item in one.items}
    two = demo_service.neighbourhood("wd:" + MARIA, hops=2, limit=1000)
    near = [MARIA in ends(item) for item in two.items]
    assert near == sorted(near, reverse=True)
    assert set(one.items) < set(two.items)
    cut = demo_service.neighbourhood(MARIA, hops=2, limit=10)
    assert len(cut.items) == 10
    (told,) = cut.truncated
    assert (told.kept, told.limit) == (10, 10)
    gone = ViewSpec(Method.EDGE_DELETION, level=1.0)
    left = demo_service.neighbourhood(MARIA, view=ViewRef(spec=gone))
    assert all(not isinstance(item.triple.value, EntityValue) for item in left.items)
    assert left.provenance.view_id is not None
    assert EUNICE not in str(left.items)


@pytest.mark.parametrize(
    ("id_", "options", "argument"),
    [
        (MARIA, {"hops": 0}, "hops"),
        (MARIA, {"hops": 5}, "hops"),
        (MARIA, {"limit": 0}, "limit"),
        (MARIA, {"limit": 1001}, "limit"),
        ("Q999999", {}, "entity_id"),
    ],
)
def test_a_neighbourhood_has_limits(
    demo_service: Service, id_: str, options: dict[str, Any], argument: str
) -> None:
    with pytest.raises(InputError) as caught:
        demo_service.neighbourhood(id_, **options)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("where was arnold palmer born?", Status.NO_ENTITY_LINKED),
        ("who was born in boston lincolnshire?", Status.LOW_CONFIDENCE),
        ("who was born in boston massachusetts?", Status.OK),
        ("who was born in boston?", Status.OK),
    ],
)
def test_what_may_be_another_of_that_name_is_no_sure_answer(
    demo_service: Service, question: str, status: Status
) -> None:
    asked = RetrieveRequest(question, Strategy.PATHS, graph=request().graph, preset="default")
    assert demo_service.retrieve(asked).status is status
