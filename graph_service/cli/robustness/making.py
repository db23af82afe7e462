"""robustness list, make and verify."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from graph_service.cli.output import Output
from graph_service.cli.robustness.options import ListOptions, MakeOptions, VerifyOptions
from graph_service.cli.robustness.set_graph import open_set_graph
from graph_service.errors import InputError
from queries.lock import one_writer
from queries.robustness.building import LOCK_NAME, Folder, SetBuilder, set_differences
from queries.robustness.material import file_differences
from queries.robustness.recipe import Frozen, find_sets


def list_sets(options: ListOptions, output: Output, /) -> int:
    """Prints the frozen sets with their sizes and licences."""
    recipes = find_sets(options.sets)
    output.object({"sets": recipes})
    rows = [["set", "questions", "views", "may ship", "licence of statements", "of questions"]]
    for recipe in recipes:
        assert recipe.frozen is not None
        rows.append(
            [
                recipe.name,
                str(len(recipe.frozen.question_ids)),
                str(len(recipe.frozen.views)),
                "yes" if recipe.licence.may_ship else "no",
                recipe.licence.statements,
                recipe.licence.questions,
            ]
        )
    output.table(rows)
    return 0


def make(options: MakeOptions, output: Output, /) -> int:
    """Builds sets from the user's download."""
    made = []
    for folder, frozen in make_sets(options.sets, options.data, options.out, output.note):
        name = folder.recipe.name
        made.append({"set": name, "folder": str(folder.path), "edges": frozen.edges})
        output.line(
            f"{name}: {len(frozen.question_ids)} questions, {len(frozen.views)} views, as frozen; "
            f"{folder.path}"
        )
    output.object({"made": made})
    return 0


def make_sets(
    names: tuple[str, ...], data: Path, out: Path, say: Callable[[str], None], /
) -> Iterator[tuple[Folder, Frozen]]:
    """Builds sets from the user's download, and yields each with what it is.

    Args:
        names: Of sets or sources; all sets without a name.
        data: The folder of downloads.
        out: The folder of the sets.
        say: Told how far it is.

    Raises:
        InputError: The download is missing, or is not what a set was frozen of.
    """
    recipes = find_sets(names)
    if not data.is_dir():
        raise InputError(f"there is no folder {data}", argument="data")
    builder = SetBuilder(data, out, say)
    for recipe in recipes:
        folder = Folder(out, recipe)
        folder.path.mkdir(parents=True, exist_ok=True)
        with one_writer(folder.path / LOCK_NAME), open_set_graph(folder) as graph:
            frozen = builder.make(recipe, graph)
        yield folder, frozen


def verify(options: VerifyOptions, output: Output, /) -> int:
    """Says what differs between sets that were made and what was frozen; 1 where anything does."""
    differences: dict[str, list[str]] = {}
    recipes = [
        recipe
        for recipe in find_sets(options.sets)
        if options.sets or Folder(options.out, recipe).path.is_dir()
    ]
    if not recipes:
        raise InputError(f"there is no frozen set in {options.out}", argument="out")
    for recipe in recipes:
        folder = Folder(options.out, recipe)
        lines = file_differences(recipe, options.data) if options.data is not None else []
        if folder.store_file.is_file():
            with open_set_graph(folder) as graph:
                lines += set_differences(folder, graph, say=output.note)
        else:
            lines.append(f"there is no graph {folder.store_file}")
        differences[recipe.name] = lines
        output.line(f"{recipe.name}: {'as frozen' if not lines else 'differs'}")
        for line in lines:
            output.line(f"  {line}")
    output.object({"differences": differences})
    return 1 if any(differences.values()) else 0
