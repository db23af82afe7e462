"""bench scorer: the published files as they lie, each figure beside counts (O10, O11)."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from graph_service.settings import SETTINGS, Settings
from graph_service.views.scorer import training as scorer_training
from graph_service.views.scorer.factorisation import Objective, Training

Bench = Callable[..., tuple[int, str, str]]

QUICK = (
    Training(dimension=8, epochs=6),
    Training(dimension=8, epochs=6, objective=Objective.BINARY),
)


@pytest.fixture
def bench(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    demo_settings: Settings,
    tmp_path: Path,
) -> Bench:
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
    monkeypatch.setattr(scorer_training, "training_for", lambda entities: QUICK)
    monkeypatch.setattr("benchmarks.scorer.TIMED", 1_000)
    monkeypatch.setattr("graph_service.cli.view.scorers.NOTED_EVERY_S", 0.0)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(("scorer", *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def published(folder: Path) -> Path:
    """A graph of two lands in CoDEx's files, and one of animals in Li's, tails before heads."""
    codex, conceptnet = folder / "codex", folder / "conceptnet_li2016"
    codex.mkdir()
    conceptnet.mkdir()
    train = [f"Q{n}\tP27\tQ{1000 + n % 2}\n" for n in range(60)]
    train += [f"Q{n}\tP1412\tQ{2000 + n % 2}\n" for n in range(10, 60)]
    (codex / "s-train.tsv").write_text("".join(train))
    right = [f"Q{n}\tP1412\tQ{2000 + n % 2}\n" for n in range(10)]
    wrong = [f"Q{n}\tP1412\tQ{2001 - n % 2}\n" for n in range(10)]
    (codex / "s-valid.tsv").write_text("".join(right))
    (codex / "s-valid-negatives.tsv").write_text("".join(wrong))
    rows = [f"IsA\tanimal {n}\tanimal\n" for n in range(40)]
    rows += [f"CapableOf\tanimal {n}\twalk\n" for n in range(40)]
    with lzma.open(conceptnet / "malaviya_train_old.txt.xz", "wt") as file:
        file.writelines(rows)
    judged = "IsA\tanimal\tstrange animal\t1\nIsA\tstrange animal\tanimal\t0\n"
    for name in ("dev1.txt", "dev2.txt"):
        (conceptnet / name).write_text(judged)
    return folder


def stages_of(name: str, stages: list[str]) -> list[str]:
    return [f"{name}: {stage}" for stage in stages]


def test_the_published_files_are_read_and_every_figure_stands_beside_counts(
    bench: Bench, tmp_path: Path
) -> None:
    out = tmp_path / "figures.json"
    code, said, noted = bench("--data", str(published(tmp_path)), "--out", str(out), "--json")
    assert code == 0
    stages = ["loading: 0%", "training: 100%", "measuring: 0%"]
    assert [line for line in noted.splitlines() if line in stages_of("codex", stages)] == (
        stages_of("codex", stages)
    )
    assert "conceptnet_li2016: training: 50%" in noted
    found = json.loads(out.read_text())
    assert found == json.loads(said)
    assert found["codex"]["graph"] == "codex-s"
    # The strange animal is in no training triple: its words alone say what it is.
    assert found["conceptnet"]["described"] == 43
    figures = {row["name"]: row for row in found["figures"]}
    hard = figures["codex-s: hard negatives, accuracy"]
    assert 0.0 <= hard["trained"] <= 1.0
    over = figures["codex-s: the same, over counts"]["trained"]
    assert over == pytest.approx(hard["trained"] - hard["counts"])
    assert figures["conceptnet: dev2, accuracy"]["trained"] in (0.5, 1.0)
    assert figures["codex-s: million triples scored a second"]["bar"] == 1.0


def test_data_that_is_not_there_is_said(bench: Bench, tmp_path: Path) -> None:
    assert "--data FOLDER" in bench()[2]
    code, _, said = bench("--data", str(tmp_path))
    assert code == 2
    assert "expected codex/ or conceptnet_li2016/" in said


def test_figures_of_a_set_are_printed_before_the_next_set_is_read(
    bench: Bench, tmp_path: Path
) -> None:
    damaged = published(tmp_path) / "conceptnet_li2016" / "malaviya_train_old.txt.xz"
    damaged.write_bytes(b"no xz")
    code, printed, _ = bench("--data", str(tmp_path))
    assert code == 2
    assert "codex-s: hard negatives, accuracy" in printed
