"""A plan from a YAML file; every error names the file, the line and the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.model.serialise import from_plain
from graph_service.model.view_spec import Method, ViewSpec, parse_method
from graph_service.options import check_bounds
from queries.datasets.records import read_text
from queries.datasets.scored import read_texts_by_id
from queries.datasets.typed import file_of, read_typed
from queries.datasets.yaml_file import Node, read_yaml
from queries.experiment.judging import CHECKS_FACTS
from queries.experiment.plan import (
    Answerer,
    AnswererKind,
    Budget,
    Extractive,
    JudgeKind,
    JudgePlan,
    Plan,
    Price,
    QuestionFile,
    ViewFamily,
)
from queries.experiment.subjects import questions_of
from queries.generate.setting import RECIPES, Generation, Setting
from queries.question_views import Aim
from queries.score.criteria import criteria_names, load_criteria

MAX_RANDOM_SEEDS = 1_000
MAX_RUNS = 100
_FIELDS = (
    "name", "entities", "methods", "levels", "random_seeds", "scope", "views", "strategies",
    "presets", "retrieval", "answers", "extractive", "models", "settings", "generation", "runs", "judges",
    "scores", "statistics", "budget",
)  # fmt: skip
_STATISTICS = ("random_seed", "resamples", "permutations")
_OF_CELLS = ("graph", "view", "entity_ids", "preset", "question_vector", "query")
_OF_FAMILY = ("name", "levels", "counts", "random_seeds", "scope", "each_question")
_OF_GRID = ("method", "level", "count", "random_seed", "scope", "algorithm")


def read_plan(path: str | Path, /, *, scores: Sequence[str] = ()) -> Plan:
    """Reads a plan; files that it names are found from the folder that it is in.

    Args:
        path: The YAML file.
        scores: Names that ``scores`` may have.

    Raises:
        InputError: It cannot be read, or is wrong; names file, line and field.
    """
    file = Path(path)
    return parse_plan(read_text(file), source=file.name, folder=file.parent, scores=scores)


def parse_plan(text: str, /, *, source: str, folder: Path, scores: Sequence[str] = ()) -> Plan:
    """Returns the plan that a text holds; see ``read_plan``."""
    root = read_yaml(text, source, expected="the fields of a plan")
    parts = root.fields(required=("graphs", "questions"), optional=_FIELDS)
    if "statistics" in parts:
        # Of plans from when intervals were drawn: they can still be reported.
        parts["statistics"].fields(required=(), optional=_STATISTICS)
    graphs = _texts(parts["graphs"])
    plan = Plan(
        name=parts["name"].text() if "name" in parts else source.rsplit(".", 1)[0],
        source=source,
        graphs=graphs,
        questions=tuple(_question_file(part, folder, graphs) for part in _list(parts["questions"])),
        given_entities="entities" not in parts
        or parts["entities"].choice(("given", "linked")) == "given",
        views=_views(parts),
        stored_views=_texts(parts["views"]) if "views" in parts else (),
        strategies=_distinct(parts, "strategies", Strategy, (Strategy.PATHS,)),
        presets=_texts(parts["presets"]) if "presets" in parts else ("default",),
        retrieval=_retrieval(parts["retrieval"]) if "retrieval" in parts else RetrieveOptions(),
        answerers=_answerers(parts),
        extractive=_extractive(parts["extractive"]) if "extractive" in parts else Extractive(),
        generation=_generation(parts["generation"]) if "generation" in parts else {},
        judges=_judges(parts["judges"], folder) if "judges" in parts else (),
        scores=_known(parts["scores"], scores) if "scores" in parts else (),
        budget=_budget(parts["budget"]) if "budget" in parts else Budget(),
    )
    models = {answerer.model for answerer in plan.answerers if answerer.model}
    for name in plan.budget.prices:
        if name not in models:
            raise parts["budget"].field("prices").wrong(f"no model of the plan is named {name!r}")
    if "runs" in parts:
        plan = replace(plan, runs=_count_runs(plan, parts["runs"]))
    if any(judge.passages is not None for judge in plan.judges):
        _require_passages(plan, parts["judges"])
    return plan


def _budget(node: Node) -> Budget:
    return read_typed(Budget, node, readers={"prices": _prices})


def _prices(node: Node) -> Mapping[str, Price]:
    """Prices by the name of a model, ``{MODEL: {prompt: X, reply: Y}}``."""
    if not node.is_fields:
        raise node.error("prices by the name of a model")
    names = [str(key.value) for key, _ in node.node.value]
    return {name: read_typed(Price, node.field(name)) for name in names}


def _list(node: Node) -> list[Node]:
    """The parts of a list, or the one thing that stands in its place."""
    parts = node.items() if node.is_list else [node]
    if not parts:
        raise node.error("at least one")
    return parts


def _texts(node: Node) -> tuple[str, ...]:
    texts: dict[str, None] = {}
    for part in _list(node):
        if part.text() in texts:
            raise part.wrong(f"{part.text()!r} stands twice; once is enough")
        texts[part.text()] = None
    return tuple(texts)


def _known(node: Node, names: Sequence[str]) -> tuple[str, ...]:
    for part in _list(node):
        part.choice(names)
    return _texts(node)


def _distinct(
    parts: Mapping[str, Node], name: str, kind: Any, default: tuple[Any, ...]
) -> tuple[Any, ...]:
    if name not in parts:
        return default
    return tuple(kind(word) for word in _known(parts[name], [member.value for member in kind]))


def _question_file(node: Node, folder: Path, graphs: Sequence[str]) -> QuestionFile:
    if not node.is_fields:
        return QuestionFile(node.text(), file_of(node, folder))
    file = read_typed(
        QuestionFile,
        node,
        names={"path": "file", "question_format": "format"},
        readers={"graph": lambda part: part.choice(graphs)},
        folder=folder,
        name="",
    )
    return replace(file, name=node.field("file").text())


def _views(parts: Mapping[str, Node]) -> tuple[ViewFamily, ...]:
    families: dict[str, ViewFamily] = {}
    for node in _list(parts["methods"]) if "methods" in parts else ():
        own = dict(parts)
        options: dict[str, Any] = {}
        name = ""
        named = node
        if node.is_fields:
            known = [each.name for each in fields(ViewSpec) if each.name not in _OF_GRID]
            entry = node.fields(
                required=("method",),
                optional=(*_OF_FAMILY, *known),
            )
            named = entry["method"]
            name = entry["name"].text() if "name" in entry else ""
            if "counts" in entry and "levels" in entry:
                raise entry["counts"].wrong("give levels or counts, not both")
            own |= entry
            if "counts" in entry:
                own.pop("levels", None)
            options = {key: entry[key].plain() for key in known if key in entry}
        family = _family(name, named, own, options, aim=_aim(node, own))
        if family.name in families:
            raise node.wrong(f"{family.name!r} stands twice; give one of both a name: name: TEXT")
        families[family.name] = family
    return tuple(families.values())


def _aim(node: Node, parts: Mapping[str, Node]) -> Aim | None:
    if not node.is_fields or "each_question" not in parts:
        return None
    return Aim(parts["each_question"].choice([member.value for member in Aim]))


def _family(
    name: str,
    node: Node,
    parts: Mapping[str, Node],
    options: Mapping[str, Any],
    *,
    aim: Aim | None,
) -> ViewFamily:
    try:
        method = parse_method(node.text())
    except InputError as error:
        raise node.wrong(error.message) from error
    if method is Method.CUSTOM:
        raise node.wrong("a custom view is stored first; name it under views")
    amounts: list[tuple[Node, dict[str, Any]]] = []
    if "levels" in parts:
        amounts = [(part, {"level": part.share()}) for part in _list(parts["levels"])]
    elif "counts" in parts:
        amounts = [(part, {"count": part.number()}) for part in _list(parts["counts"])]
    else:
        raise node.wrong("its levels are missing; give levels: [0.1, 0.3]")
    seeds = _seeds(parts["random_seeds"]) if "random_seeds" in parts else (0,)
    scope = parts["scope"].plain() if "scope" in parts else None
    specs: list[ViewSpec] = []
    for where, amount in amounts:
        for seed in seeds:
            plain = {**options, **amount, "method": method.value, "random_seed": seed}
            if scope is not None:
                plain["scope"] = scope
            try:
                spec = from_plain(ViewSpec, plain)
                # The view of each question is: before, it lacks what it aims at.
                if aim is None:
                    spec.validate()
            except InputError as error:
                raise where.wrong(error.message) from error
            if spec in specs:
                raise where.wrong("stands twice; once is enough")
            specs.append(spec)
    return ViewFamily(name or method.value, tuple(specs), aim)


def _seeds(node: Node) -> tuple[int, ...]:
    """Random seeds: a list, or one word such as ``0-4``."""
    seeds: list[int] = []
    for part in _list(node):
        first, dash, last = part.text().partition("-")
        bounds = (first, last) if dash else (first, first)
        if not all(end.isascii() and end.isdigit() for end in bounds):
            raise part.error("whole numbers, or a range such as 0-4,")
        low, high = int(bounds[0]), int(bounds[1])
        if low > high:
            raise part.wrong(f"a range begins with the smaller seed; {high}-{low} may be meant")
        if high - low >= MAX_RANDOM_SEEDS:
            raise part.error(f"at most {MAX_RANDOM_SEEDS} random seeds")
        seeds.extend(range(low, high + 1))
    if len(set(seeds)) < len(seeds):
        raise node.wrong("a random seed stands twice; once is enough")
    return tuple(seeds)


def _retrieval(node: Node) -> RetrieveOptions:
    known = [name for name in get_type_hints(RetrieveOptions) if name not in _OF_CELLS]
    parts = node.fields(required=(), optional=known)
    options: dict[str, Any] = {}
    for name, part in parts.items():
        try:
            request = from_plain(RetrieveRequest, {"question": "", name: part.plain()})
            check_bounds(request)
            options[name] = getattr(request, name)
        except InputError as error:
            raise part.wrong(error.message) from error
    made: RetrieveOptions = {**options}  # type: ignore[typeddict-item]
    return made


def _answerers(parts: Mapping[str, Node]) -> tuple[Answerer, ...]:
    rules = (AnswererKind.VERBALISER, AnswererKind.EXTRACTIVE)
    answerers: dict[str, Answerer] = {}
    if "answers" in parts or "models" not in parts:
        words = [rule.value for rule in rules]
        for word in _known(parts["answers"], words) if "answers" in parts else words:
            answerers[word] = Answerer(word, AnswererKind(word))
    if "settings" in parts and "models" not in parts:
        raise parts["settings"].wrong("a setting is how a model is asked; give models: [NAME]")
    for node in _list(parts["models"]) if "models" in parts else ():
        own: Mapping[str, Node] = parts
        named, url = node, ""
        if node.is_fields:
            entry = node.fields(required=("name",), optional=("url", "settings"))
            named, own = entry["name"], {**parts, **entry}
            url = entry["url"].text() if "url" in entry else ""
        settings = _distinct(own, "settings", Setting, (Setting.KALMA_NUMBERED,))
        for setting in settings:
            if not RECIPES[setting].facts or RECIPES[setting].passages:
                where = own.get("settings", node)
                raise where.wrong(
                    f"setting {setting.value} does not answer by a graph alone; the cells without "
                    "knowledge are there in any case"
                )
            name = f"{named.text()}+{setting.value}"
            if name in answerers:
                raise node.wrong(f"{name!r} stands twice; once is enough")
            answerers[name] = Answerer(name, AnswererKind.MODEL, named.text(), url, setting)
    return tuple(answerers.values())


def _judges(node: Node, folder: Path) -> tuple[JudgePlan, ...]:
    judges: dict[JudgeKind, JudgePlan] = {}
    for part in _list(node):
        judge = read_typed(
            JudgePlan,
            part,
            names={"kind": "score"},
            readers={"criteria": partial(_criteria, folder)},
            folder=folder,
        )
        if judge.kind in judges:
            raise part.wrong(f"{judge.kind.value!r} stands twice; a run has one judge of each kind")
        for name in ("criteria", "division", "method"):
            if judge.kind is not JudgeKind.TALEC and part.has(name):
                raise part.field(name).wrong(f"only talec takes {name}")
        if judge.kind not in CHECKS_FACTS and part.has("passages"):
            raise part.field("passages").wrong("only factscore and safe take passages")
        judges[judge.kind] = judge
    return tuple(judges.values())


def _count_runs(plan: Plan, node: Node) -> int:
    """How often each model is asked; more than once only if its replies may differ."""
    runs = node.number()
    if not 1 <= runs <= MAX_RUNS:
        raise node.error(f"a whole number from 1 to {MAX_RUNS}")
    settings = [answerer.setting for answerer in plan.answerers if answerer.setting is not None]
    if runs > 1 and not settings:
        raise node.wrong("only a model is asked several times; give models: [NAME]")
    for setting in settings if runs > 1 else ():
        if plan.generation_of(setting).temperature == 0:
            raise node.wrong(
                f"setting {setting.value} has temperature 0, so that all runs are one; give "
                "generation: {temperature: 0.7}, or leave runs out"
            )
    return runs


def _require_passages(plan: Plan, node: Node) -> None:
    """Refuses passages that can't be read, and those of which none is of a question of the plan."""
    question_ids = [case.id for graph in plan.graphs for case in questions_of(plan, graph)]
    for judge, part in zip(plan.judges, _list(node), strict=True):
        if judge.passages is None:
            continue
        where = part.field("passages")
        try:
            known = read_texts_by_id(judge.passages, "passages")
        except InputError as error:
            raise where.wrong(error.message) from error
        if not any(id_ in known for id_ in question_ids):
            raise where.wrong(
                f"passages by the ids of the questions were expected, such as {question_ids[0]!r}; "
                f"{next(iter(known), 'none')!r} came"
            )


def _criteria(folder: Path, node: Node) -> str:
    """The name of criteria of ours, or a file beside the plan."""
    name = node.text()
    source = name if name in criteria_names() else str(file_of(node, folder))
    try:
        load_criteria(source)
    except InputError as error:
        raise node.wrong(error.message) from error
    return source


def _extractive(node: Node) -> Extractive:
    parts = node.fields(required=(), optional=("min_score", "calibrate"))
    if len(parts) > 1:
        raise node.wrong("give min_score or calibrate, not both")
    if "calibrate" not in parts:
        return read_typed(Extractive, node, only=("min_score",))
    return read_typed(
        Extractive,
        parts["calibrate"],
        names={"calibration_share": "share"},
        only=("calibration_share", "random_seed"),
        readers={"calibration_share": _calibration_share},
        required=("share",),
    )


def _calibration_share(node: Node) -> float:
    share = node.share()
    if not 0 < share < 1:
        raise node.error("a number between 0 and 1")
    return share


def _generation(node: Node) -> Mapping[str, Any]:
    names = ("temperature", "max_tokens", "random_seed", "samples", "steps")
    parts = node.fields(required=(), optional=names)
    values: dict[str, Any] = {
        name: part.decimal() if name == "temperature" else part.number()
        for name, part in parts.items()
    }
    try:
        Generation(**values)
    except InputError as error:
        where = parts.get(error.argument or "", node)
        raise where.wrong(error.message) from error
    return values
