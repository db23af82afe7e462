"""``docs/reference/options.md``: every option of a request in its three spellings.

python -m graph_service.cli.tables > docs/reference/options.md
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from graph_service.cli.answer.options import AnswerOptions, OwnPromptOptions, RunOptions
from graph_service.cli.answer.options import EndpointOptions as ModelEndpointOptions
from graph_service.cli.dataset.options import DATASETS, BuildOptions, FolderOptions
from graph_service.cli.experiment.options import EXPERIMENTS, PlanOptions
from graph_service.cli.mcp_options import McpOptions
from graph_service.cli.options import GraphOptions, Subverb
from graph_service.cli.score.options import SCORES, JudgeModelOptions
from graph_service.cli.serve_options import ServeOptions
from graph_service.model.request import RetrieveRequest
from graph_service.model.view_spec import Scope, ViewSpec
from graph_service.options import rows_of
from loaders.options import LoadOptions
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters

_HEAD = """# Options

Every option of a request has one name, spelt as Python, the command line and GraphQL spell names.
GraphQL's words are Wikidata's: an entity is an item there, a relation a property. A list is given
on the command line once for each of its values, but where it stands without a flag. One whose flag
keeps the plural takes them in one word, with commas: `--levels 0.1,0.3`. This page is made of the
code by `make schema`.
"""
WIDTH = 100
"""Characters in a line of prose."""
_COLUMNS = ("Python", "command line", "GraphQL", "type", "bounds", "default", "what it does")


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the page.

    Attributes:
        options: The dataclass that it lists.
        level: Of its heading.
        without: Dataclasses whose options stand elsewhere on the page.
        of_api: Whether GraphQL has it.
    """

    title: str
    text: str
    options: type
    level: int = 2
    without: tuple[type, ...] = ()
    of_api: bool = False


def _sections() -> Iterator[_Section]:
    yield _Section(
        "A retrieval",
        "`retrieve`, GraphQL's `RetrieveInput`, `Client.retrieve`. An option that is not given stays as "
        "the preset has it ([retrieval](retrieval.md)), and the result records what was taken.",
        RetrieveRequest,
        of_api=True,
    )
    yield _Section(
        "A view",
        "`view create`, GraphQL's `ViewSpecInput`, `ViewSpec` ([views](../how-to/perturb-a-graph.md)). A view's identity is "
        "made of these and of the base's fingerprint.",
        ViewSpec,
        of_api=True,
    )
    yield _Section(
        "What a view may change",
        "`view create`, GraphQL's `ScopeInput`, `Scope`.",
        Scope,
        of_api=True,
    )
    yield _Section(
        "A load",
        "`load`, `LoadOptions` ([loading](loading.md)). A load that is resumed must have the same "
        "options, but for those that change no statement.",
        LoadOptions,
    )
    yield _Section("Which part of a source is loaded", "`load`, `Filters`.", Filters)
    yield _Section(
        "A load from an endpoint", "`load wikidata:Q42`, `EndpointOptions`.", EndpointOptions
    )
    yield _Section(
        "A server",
        "`serve` ([serving](api.md#serving)). Settings of the environment limit it too "
        "(`graph-service doctor --settings`).",
        ServeOptions,
    )
    yield _Section(
        "An MCP server",
        "`mcp` ([MCP](../how-to/mcp.md)). Those of sessions and of pages are for `--http` alone.",
        McpOptions,
    )
    yield _Section(
        "An answer",
        "`answer` ([answers](answers.md)). It takes the options of a retrieval too, but the question's "
        "vector.",
        AnswerOptions,
    )
    yield _Section(
        "A score",
        "`score` ([scores](scores.md)) has a word for each family of scores. Every verb takes `--json`; "
        "those that read a graph take these.",
        GraphOptions,
    )
    yield _Section(
        "Scores by a chat model", "Beside their own, they take these.", JudgeModelOptions, level=3
    )
    yield _Section(
        "Scores of many cases, one by one",
        "Beside their own, they take these.",
        RunOptions,
        level=3,
    )
    shared = {
        GraphOptions: "a graph is read",
        JudgeModelOptions: "a chat model judges",
        RunOptions: "cases are kept one by one",
    }
    for each in SCORES:
        has = [text for cls, text in shared.items() if issubclass(each.options, cls)]
        text = each.help[0].upper() + each.help[1:] + "."
        text += f" Here {' and '.join(has)}." if has else ""
        yield _Section(f"score {each.name}", text, each.options, level=3, without=tuple(shared))
    yield _Section(
        "An experiment",
        "`experiment plan` ([experiments](../how-to/run-an-experiment.md)); the plan itself holds what is asked.",
        PlanOptions,
    )
    for each in EXPERIMENTS[1:]:
        text = each.help[0].upper() + each.help[1:] + "."
        if issubclass(each.options, PlanOptions):
            text += " Beside those of `experiment plan`, and of models as `answer` has them:"
        yield _Section(
            f"experiment {each.name}",
            text,
            each.options,
            level=3,
            without=(PlanOptions, ModelEndpointOptions, OwnPromptOptions),
        )
    yield _Section(
        "A data set",
        "`dataset` ([data sets](../how-to/make-a-data-set.md)) has a word for each builder. Every `build` takes these, "
        "and those of models as `answer` has them.",
        BuildOptions,
        without=(ModelEndpointOptions, OwnPromptOptions),
    )
    for builder in DATASETS:
        if isinstance(builder, Subverb):
            yield _Section(
                f"dataset {builder.name}",
                f"Makes {builder.help}, without a model.",
                builder.options,
                level=3,
            )
            continue
        for word in builder.words:
            if word.options is not FolderOptions:
                text = f"{word.help[0].upper()}{word.help[1:]}. Beside those above:"
                yield _Section(
                    f"dataset {builder.name} {word.name}",
                    text,
                    word.options,
                    level=3,
                    without=(BuildOptions,),
                )


def options_page() -> str:
    """Returns the page, as Markdown."""
    lines = [_HEAD]
    for section in _sections():
        columns = [name for name in _COLUMNS if section.of_api or name != "GraphQL"]
        lines += [f"{'#' * section.level} {section.title}", "", _wrapped(section.text), ""]
        lines += [_row(columns), _row(["---"] * len(columns))]
        # One that differs, such as by its default, stands here too.
        elsewhere = {row for cls in section.without for row in rows_of(cls)}
        for row in rows_of(section.options):
            if row not in elsewhere:
                name, flag, graphql, *rest = row
                spelt = [name, flag, graphql] if section.of_api else [name, flag]
                lines.append(_row([*map(_code, spelt), *rest]))
        lines.append("")
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _code(text: str) -> str:
    return text if text == "-" else f"`{text}`"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(options_page(), end="")
