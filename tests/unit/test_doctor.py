"""What ``doctor`` and ``model`` say of sound and of broken installations, and what mends them."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_texts import check_error, check_line, check_text, raises
from hypothesis import given
from hypothesis import strategies as st
from made_encoders import ENCODERS, make_encoder

import graph_service
from graph_service.cli import main
from graph_service.doctor import checks as doctor
from graph_service.doctor.checks import Check, State
from graph_service.embed import weights
from graph_service.embed.minilm import MiniLM
from graph_service.embed.vector_file import VectorFile
from graph_service.embed.weights import ModelFile
from graph_service.errors import InputError, ModelFileError
from graph_service.model.statement import make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.tree.solver import SolverReport, Tree
from graph_service.settings import SETTINGS, Settings, read_settings
from graph_service.store import open_store
from graph_service.store.protocol import Batch

ROOT = Path(graph_service.__file__).resolve().parent.parent
FOREIGN = "# another package that is called queries\n"


def only(checks: Sequence[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


def installed(folder: Path, lines: Sequence[str], files: Sequence[str] = ()) -> PathDistribution:
    """A distribution of ours as an installer leaves it: requirements, and hashes of files."""
    info = folder / "graph_service-1.2.dist-info"
    info.mkdir(parents=True)
    head = ["Metadata-Version: 2.1", "Name: graph-service", "Version: 1.2"]
    (info / "METADATA").write_text(
        "\n".join([*head, *(f"Requires-Dist: {line}" for line in lines)]) + "\n"
    )
    rows = []
    for file in files:
        digest = hashlib.sha256((folder / file).read_bytes()).digest()
        rows.append(f"{file},sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()},9")
    (info / "RECORD").write_text("\n".join([*rows, "graph_service-1.2.dist-info/RECORD,,"]) + "\n")
    return PathDistribution(info)


# What is installed


def test_this_python_is_new_enough_and_an_older_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert doctor.check_python().state is State.OK
    monkeypatch.setattr(doctor, "MIN_PYTHON", (99, 1))
    check = doctor.check_python()
    assert check.state is State.FAIL
    assert "99.1 or newer" in check.detail


def test_requirements_missing_too_old_and_right(tmp_path: Path) -> None:
    numpy = importlib.metadata.version("numpy")
    right = installed(tmp_path / "right", ["numpy>=1.26", "orjson >= 1 ; python_version > '3'"])
    (check,) = doctor.check_packages(right)
    assert check.state is State.OK
    assert check.detail.startswith(f"graph-service 1.2; numpy {numpy}, orjson ")
    wrong = installed(tmp_path / "wrong", ["numpy>=99.5", "no-such-package-of-ours>=1", "orjson"])
    (check,) = doctor.check_packages(wrong)
    assert check.state is State.FAIL
    assert "numpy 99.5" in check.detail
    assert f"got {numpy}" in check.detail
    assert "no-such-package-of-ours" in check.detail
    assert check.fix.startswith("pip install")


def test_an_extra_that_is_absent_is_no_fault_and_one_too_old_is_one_to_look_at(
    tmp_path: Path,
) -> None:
    found = doctor.check_packages(
        installed(
            tmp_path,
            [
                "orjson",
                "no-such-package-of-ours>=1; extra == 'absent'",
                "numpy>=99; extra == 'old'",
                'numpy[all]>=1.0; extra == "there"',
                "numpy>=1.0; extra == 'of-others'",
                "no-such-package-of-ours-2>=1; extra == 'of-others'",
            ],
        )
    )
    assert [(check.name, check.state) for check in found] == [
        ("packages", State.OK),
        ("extra absent", State.ABSENT),
        ("extra of-others", State.ABSENT),
        ("extra old", State.WARN),
        ("extra there", State.OK),
    ]
    assert only(found, "extra absent").fix == 'pip install "graph-service[absent]"'
    assert only(found, "extra old").fix == 'pip install "graph-service[old]"'


def test_running_from_the_source_alone_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    (check,) = doctor.check_packages()
    assert check.state is State.WARN
    assert doctor.check_ours("loaders").state is not State.FAIL


@pytest.mark.parametrize(
    ("version", "least", "enough"),
    [
        ("2.10", "2.9", True),
        ("2.9", "2.10", False),
        ("1.26.0rc1", "1.26", True),
        ("2", "2.0", False),
    ],
)
def test_versions_compare_by_numbers(version: str, least: str, enough: bool) -> None:
    # "2" before "2.0" errs on the safe side; no package that we need numbers itself so.
    assert (doctor._numbers(version) >= doctor._numbers(least)) is enough


# Are loaders and queries ours: other packages have these names too


@pytest.mark.parametrize("name", doctor.OUR_PACKAGES)
def test_our_packages_are_ours(name: str) -> None:
    check = doctor.check_ours(name)
    assert check.state is not State.FAIL, check.detail
    assert str(ROOT / name) in check.detail


@pytest.fixture
def forget_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process: nothing of queries has been imported."""
    for name in list(sys.modules):
        if name.partition(".")[0] == "queries":
            monkeypatch.delitem(sys.modules, name)


@pytest.mark.usefixtures("forget_queries")
def test_another_package_found_first_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "__init__.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(str(tmp_path))
    check = doctor.check_ours("queries")
    assert check.state is State.FAIL
    assert str(tmp_path / "queries") in check.detail
    check_text(check.fix, "uninstall", "queries")


@pytest.mark.usefixtures("forget_queries")
def test_a_package_written_over_ours_is_known_by_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both installed into one folder: the files of each are there, and __init__.py is theirs."""
    files = ["queries/__init__.py", *(f"queries/{file}" for file in doctor.OUR_PACKAGES["queries"])]
    for file in files:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(f"# ours: {file}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    ours = installed(tmp_path, [], files)
    assert doctor.check_ours("queries", root=tmp_path, distribution=ours).state is State.OK
    (tmp_path / "queries" / "__init__.py").write_text(FOREIGN)
    check = doctor.check_ours("queries", root=tmp_path, distribution=ours)
    assert check.state is State.FAIL
    assert "queries/__init__.py" in check.detail
    (tmp_path / files[-1]).unlink()
    check = doctor.check_ours("queries", root=tmp_path, distribution=ours)
    assert check.state is State.FAIL
    assert "is not ours" in check.detail


def test_a_second_distribution_of_the_name_is_one_to_look_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        importlib.metadata,
        "packages_distributions",
        lambda: {"loaders": ["graph-service", "other-loaders"]},
    )
    check = doctor.check_ours("loaders")
    assert check.state is State.WARN
    check_text(check.fix, "uninstall", "other-loaders")


def test_a_package_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    check = doctor.check_ours("loaders")
    assert check.state is State.FAIL
    assert "missing" in check.detail


# Settings


def test_settings_that_cannot_be_read_are_a_fault_with_its_mend() -> None:
    settings, check = doctor.check_settings(
        lambda: read_settings({"GRAPH_SERVICE_THREADS": "many"})
    )
    assert settings == Settings()
    assert check.state is State.FAIL
    assert "GRAPH_SERVICE_THREADS" in check.detail
    assert check.fix == "unset GRAPH_SERVICE_THREADS"


def test_all_settings_are_listed_with_their_values() -> None:
    rows = doctor.listed_settings({"GRAPH_SERVICE_MAX_HOPS": "3", "GRAPH_SERVICE_CACHE_GB": "0.5"})
    assert [row.name for row in rows] == [row.name for row in SETTINGS]
    values = {row.variable: (row.value, row.given) for row in rows}
    assert values["GRAPH_SERVICE_MAX_HOPS"] == ("3", True)
    assert values["GRAPH_SERVICE_CACHE_GB"] == ("0.5", True)
    assert values["GRAPH_SERVICE_EMBEDDER"] == ("minilm", False)
    with raises(InputError):
        doctor.listed_settings({"GRAPH_SERVICE_THREADS": "many"})


_secret = st.text(st.characters(categories=["L", "N"]), min_size=8, max_size=30)


@given(secret=_secret, variable=st.sampled_from([
    "GRAPH_SERVICE_API_KEY", "OPENAI_API_KEY", "NEO4J_PASSWORD"]))  # fmt: skip
def test_a_secret_is_never_listed(secret: str, variable: str) -> None:
    rows = doctor.listed_settings({variable: secret})
    shown = {row.variable: row.value for row in rows}
    assert shown[variable] == "***"
    assert all(secret not in row.value for row in rows)


@given(
    secret=st.text(st.characters(categories=["L", "N", "P"]), min_size=8, max_size=30),
    name=st.sampled_from(["store", "neo4j_uri", "model_url"]),
)
def test_a_password_in_an_address_is_never_shown(secret: str, name: str) -> None:
    shown = doctor.masked(name, f"neo4j+s://me:{secret}@db.example:7687/x")
    assert shown == "neo4j+s://***@db.example:7687/x"
    assert doctor.masked(name, "sqlite:///a@b.db") == "sqlite:///a@b.db"


# What works


def test_this_sqlite_has_the_index_that_search_needs() -> None:
    check = doctor.check_search_index()
    assert check.state is State.OK
    assert "FTS5" in check.detail


def test_solvers_pass_their_known_case_here() -> None:
    check = doctor.check_solver()
    assert check.state is State.OK, check.detail


def test_a_wrong_pcst_fast_is_said_with_the_command_and_ours_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As pcst_fast's wheel is under numpy 2."""
    reason = "pcst_fast fails its known case; ours serves. Mend it with: pip install x"
    monkeypatch.setattr(
        "graph_service.retrieve.tree.solver.solver_report",
        lambda: SolverReport("own", reason, False),
    )
    check = doctor.check_solver()
    assert check.state is State.WARN
    check_text(check.detail, "pcst_fast")
    assert "--no-binary pcst-fast" in check.fix


def test_a_wrong_solver_of_ours_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.zeros(3, dtype=np.int64)
    monkeypatch.setattr(
        "graph_service.retrieve.tree.solver.solve",
        lambda *_, **__: Tree(first, first, 0.0, True, "own"),
    )
    assert doctor.check_solver().state is State.FAIL


def test_every_extra_says_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(doctor.EXTRAS) == set(project["optional-dependencies"])


def test_what_is_absent_is_listed_by_what_it_is_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = doctor.Check("extra excel", State.ABSENT, "load Excel files", "pip install x")
    there = doctor.Check("python", State.OK, "3.12")
    monkeypatch.setattr(doctor, "check_installation", lambda settings: [absent, there])
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "load Excel files  -> pip install x\n" in shown
    assert shown.endswith("2 checks, all well\n")
    assert "extra excel" not in shown


def test_model_is_verified_and_embeds_as_recorded() -> None:
    checks = doctor.check_model(Settings())
    assert [(check.name, check.state) for check in checks] == [
        ("model", State.OK),
        ("embedding", State.OK),
    ]


def test_missing_weights_come_with_the_command_that_fetches_them(tmp_path: Path) -> None:
    (check,) = doctor.check_model(Settings(model_dir=str(tmp_path)))
    assert check.state is State.FAIL
    assert str(tmp_path) in check.detail
    assert "graph-service model fetch" in check.fix


class _OffByLittle:
    """MiniLM with one number of one vector changed."""

    def __init__(self, factor: float) -> None:
        self._minilm = MiniLM.open()
        self._factor = factor
        self.name = self._minilm.name
        self.dimension = self._minilm.dimension

    def encode(self, texts: Sequence[str], /) -> np.ndarray[Any, np.dtype[np.float32]]:
        vectors = self._minilm.encode(texts)
        vectors[0, 0] += np.float32(self._factor)
        return vectors

    def count_tokens(self, text: str, /) -> int:
        return self._minilm.count_tokens(text)


@pytest.mark.parametrize(
    ("factor", "state"), [(0.0, State.OK), (0.1, State.FAIL), (float("nan"), State.FAIL)]
)
def test_a_wrong_embedding_is_a_fault(factor: float, state: State) -> None:
    assert doctor.check_embedding(_OffByLittle(factor)).state is state


def test_another_embedder_needs_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    (check,) = doctor.check_model(Settings(embedder="some/model"))
    assert check.state is State.FAIL
    assert check.fix == 'pip install "graph-service[sentence-transformers]"'


def test_a_folder_needs_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    folder = make_encoder(tmp_path / "mine", ENCODERS["bert"])
    (check,) = doctor.check_model(Settings(embedder=str(folder)))
    assert check.state is State.OK
    assert check.detail.startswith("mine@")
    (folder / "tokenizer.json").unlink()
    (check,) = doctor.check_model(Settings(embedder=str(folder)))
    assert (check.state, "lacks tokenizer.json" in check.detail) == (State.FAIL, True)


def test_vector_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "vectors.db"
    check = doctor.check_vector_file(Settings(vectors=str(path)))
    assert check.state is State.OK
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    check = doctor.check_vector_file(Settings(vectors=str(tmp_path / "file" / "vectors.db")))
    assert check.state is State.WARN
    assert "GRAPH_SERVICE_VECTORS" in check.fix


def test_vector_file_is_counted_and_a_damaged_one_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    with VectorFile(path) as file:
        file.add([b"k" * 16], np.ones((1, 4), dtype=np.float32))
    check = doctor.check_vector_file(Settings(vectors=str(path)))
    assert (check.state, check.detail) == (State.OK, f"{path}, 1 vectors")
    vector = np.ones(4, dtype="<f4").tobytes()
    path.write_bytes(path.read_bytes().replace(vector, b"\x01" + vector[1:]))
    check = doctor.check_vector_file(Settings(vectors=str(path)))
    assert check.state is State.WARN
    assert check.fix
    path.write_bytes(b"no database at all " * 100)
    check = doctor.check_vector_file(Settings(vectors=str(path)))
    assert check.state is State.FAIL
    assert check.fix


# The store


def _load(url: str, name: str, *, publish: bool = True) -> None:
    with open_store(url) as store:
        session = store.begin_load(name, owner="somewhere:1", source="facts.tsv", lease_s=3600.0)
        session.write(Batch(statements=(make_statement("Q1", "P1", EntityValue("Q2")),)))
        if publish:
            session.finish()
            session.publish()
        else:
            # As if its process had ended.
            session._connection.close()  # type: ignore[attr-defined]


def test_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    (check,) = doctor.check_store(Settings(store=f"sqlite:///{tmp_path / 'graph.db'}"))
    assert check.state is State.WARN
    check_text(check.fix, "--graph")
    assert list(tmp_path.iterdir()) == []
    (check,) = doctor.check_store(Settings(store=f"sqlite:///{tmp_path / 'deep' / 'graph.db'}"))
    assert check.state is State.FAIL
    assert check.fix == f"mkdir -p {tmp_path / 'deep'}"


def test_store_answers_with_its_graphs(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    with open_store(url):
        pass
    checks = doctor.check_store(Settings(store=url))
    assert only(checks, "store").state is State.OK
    assert only(checks, "graphs").state is State.WARN
    _load(url, "demo")
    checks = doctor.check_store(Settings(store=url, graph="demo"))
    assert {check.state for check in checks} == {State.OK}
    assert only(checks, "graphs").detail.startswith("demo (")
    assert "1 statements" in only(checks, "graphs").detail
    graphs = only(doctor.check_store(Settings(store=url, graph="other")), "graphs")
    assert graphs.state is State.FAIL
    assert "'other'" in graphs.detail
    assert "demo" in graphs.detail


def test_a_load_under_way_and_one_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    _load(url, "demo", publish=False)
    check = only(doctor.check_store(Settings(store=url)), "loads")
    assert check.state is State.OK
    check_line(check.detail, "somewhere:1")

    class _Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2999, 1, 1, tzinfo=tz)

    monkeypatch.setattr(doctor, "datetime", _Later)
    check = only(doctor.check_store(Settings(store=url)), "loads")
    assert check.state is State.WARN
    check_text(check.fix, "facts.tsv", "--graph")


@pytest.mark.parametrize(
    ("url", "word"),
    [("sqlite:///", "expected sqlite:///FILE"), ("http://host", "expected sqlite:///FILE")],
)
def test_an_address_that_is_none_is_a_fault(url: str, word: str) -> None:
    (check,) = doctor.check_store(Settings(store=url))
    assert check.state is State.FAIL
    assert word in check.detail


def test_a_server_that_is_away_is_a_fault_and_no_password_is_shown() -> None:
    """Port 9 takes no connection; a password in the address stays out of what is printed."""
    url = "bolt://neo4j:correct-horse@127.0.0.1:9"
    (check,) = doctor.check_store(Settings(store=url, neo4j_password="correct-horse"))
    assert check.state is State.FAIL
    assert "127.0.0.1:9" in check.detail
    assert "correct-horse" not in check.detail + check.fix


def test_a_store_that_can_only_be_read_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graph.db"
    open_store(f"sqlite:///{path}").close()
    # What a process without rights sees; root may write anywhere.
    monkeypatch.setattr("os.access", lambda *_: False)
    check, *_ = doctor.check_store(Settings(store=f"sqlite:///{path}"))
    assert check.state is State.OK
    check_line(check.detail, "only be read")


def test_a_damaged_store_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(b"no database at all " * 1000)
    (check,) = doctor.check_store(Settings(store=f"sqlite:///{path}"))
    assert check.state is State.FAIL
    assert str(path) in check.detail


# The command line


@pytest.fixture
def sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a graph, and no settings but where vectors go."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    _load(url, "demo")
    return url


def test_doctor_finds_nothing_wrong_and_ends_with_0(
    sound: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--store", sound, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["ok"] is True
    assert {check["state"] for check in printed["checks"]} <= {"ok", "absent", "warn"}
    names = [check["name"] for check in printed["checks"]]
    for name in ("python", "packages", "loaders", "queries", "solver", "model", "embedding",
                 "vector file", "sqlite", "store", "graphs", "settings"):  # fmt: skip
        assert names.count(name) == 1, name
    assert main(["doctor", "--store", sound]) == 0
    assert "ok    store" in capsys.readouterr().out


def test_doctor_ends_with_4_and_the_command_that_mends(
    sound: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["doctor", "--store", sound, "--graph", "other", "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["ok"] is False
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_GB", "plenty")
    assert main(["doctor", "--store", sound]) == 4
    shown = capsys.readouterr().out
    assert "fail  settings" in shown
    assert "-> unset GRAPH_SERVICE_CACHE_GB" in shown
    assert "1 failed" in shown


def test_doctor_lists_settings(
    sound: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "correct horse")
    assert main(["doctor", "--settings", "--json"]) == 0
    text = capsys.readouterr().out
    rows: list[Mapping[str, Any]] = json.loads(text)["settings"]
    assert [row["variable"] for row in rows] == [row.variable for row in SETTINGS]
    assert main(["doctor", "--settings"]) == 0
    text += capsys.readouterr().out
    assert "correct horse" not in text
    assert "request may ask" in text


# model fetch, model check


def test_model_check_says_where_the_verified_files_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["model", "check", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["folder"] == str(weights.find_model().path)
    assert [file["sha256"] for file in printed["files"]] == [
        weights.TOKENIZER.sha256,
        weights.WEIGHTS.sha256,
    ]
    assert main(["model", "check", "--to", str(tmp_path)]) == 4
    assert "graph-service model fetch" in capsys.readouterr().err
    assert main(["model", "check", "--base-url", "http://127.0.0.1:1/"]) == 2


def test_model_fetch_passes_its_options_on_and_shows_progress(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Path | None, str]] = []

    def fetch(
        *, target: Path | None, base_url: str, progress: Callable[[str, int, int], None]
    ) -> Path:
        asked.append((target, base_url))
        for received in (1_000_000, 2_000_000):
            progress("model.safetensors", received, 2_000_000)
        return target or tmp_path

    monkeypatch.setattr(weights, "fetch_model", fetch)
    monkeypatch.setattr(weights, "FILES", (ModelFile("model.safetensors", 2_000_000, "ab" * 32),))
    assert (
        main(["model", "fetch", "--to", str(tmp_path), "--base-url", "http://mirror.test/m"]) == 0
    )
    shown = capsys.readouterr()
    assert shown.err == "fetching model.safetensors, 2.0 MB\n"
    assert f"export GRAPH_SERVICE_MODEL_DIR={tmp_path}" in shown.out
    assert main(["model", "fetch", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["folder"] == str(tmp_path)
    assert asked == [(tmp_path, "http://mirror.test/m"), (None, weights.BASE_URL)]


def test_a_fetch_that_fails_ends_with_4(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(**_: object) -> Path:
        raise ModelFileError("it could not be fetched", hint="Run it again.")

    monkeypatch.setattr(weights, "fetch_model", fetch)
    assert main(["model", "fetch"]) == 4
    check_error(capsys.readouterr().err)
