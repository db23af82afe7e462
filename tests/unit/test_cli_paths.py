"""Every verb that reads or writes a file of the user's ends an error of that file in one line."""

from __future__ import annotations

import argparse
import os
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_error

from graph_service.cli.parser import make_parser

KINDS_A_CASE = 4
CASES = """
load @ --graph h
load a.nt --graph h --rejects-path @
load a.nt --graph h --label-file @
load a.nt --graph h --same-as @
load a.nt --graph h --type-file @
load a.nt --graph h --description-file @
load a.nt --graph h --entities-file @
load a.nt --graph h --drop-relations @
load a.nt --graph h --class http://e/c --subclasses @
load a.nt --graph h --qualifier-file @
load a.nt --graph h --entity-ids @
load a.nt --graph h --relation-ids @
load a.nt --graph h --store sqlite:///@
load bolt://localhost:1 --graph h --mapping @
export @ --graph g
export @ --graph g --format neo4j-csv
export @ --graph g --format parquet
cluster load a.nt --to parquet:out --graph h --rejects-path @
cluster load a.nt --to parquet:out --graph h --label-file @
cluster load a.nt --to parquet:out --graph h --same-as @
cluster load a.nt --to parquet:out --graph h --type-file @
cluster load a.nt --to parquet:out --graph h --description-file @
cluster load a.nt --to parquet:out --graph h --qualifier-file @
cluster load a.nt --to parquet:out --graph h --entity-ids @
cluster load a.nt --to parquet:out --graph h --relation-ids @
cluster view create @ --to view --method edge-deletion --level 0.3
cluster view deviation @ view
cluster view deviation graph.parquet @
cluster view store @ --graph g
cluster experiment run @ --out run
cluster experiment run p.yaml --out @
export x.tsv --graph g --labels @
backup @
backup @ --replace
snapshot push @
snapshot pull @
verify --store sqlite:///@
passages load @
passages load q.jsonl --rejects-path @
pageviews load @
pageviews load q.jsonl --rejects-path @
pageviews load q.jsonl --titles @
sample --out @
sample --drop-relations @
retrieve --questions @
retrieve --questions q.jsonl --out @
retrieve Namea --question-vector @
view create --method custom --changes @
view sweep --methods edge-deletion --levels 0.5 --random-seeds 0 --out @
view sweep --each-question @ --methods path-deletion --levels 0.5 --random-seeds 0
view figure @
answer --questions @ --model echo
answer --questions q.jsonl --model echo --out @
answer Namea --model echo --cache @
answer Namea --model echo --replay @
answer Namea --model echo --passages @
answer Namea --model echo --amr @
prompt show answer --prompt answer=@
questions @
questions q.jsonl --out @
questions q.jsonl --triples @
questions q.jsonl --labels @
questions q.jsonl --specific @
score citations @
score citations answers.jsonl --gold @
score knowledge answers.jsonl --out @
score entailment answers.jsonl --cross-encoder @
score entailment answers.jsonl --calibrate @
score na answers.jsonl --absent @
score geval answers.jsonl --context @ --model echo
score side-by-side @
score talec answers.jsonl --criteria @.yaml --model echo
score lint @.yaml
score export answers.jsonl --out @
score agreement @
score factscore answers.jsonl --passages @ --model echo
experiment plan @
experiment run @ --out run
experiment report --out @
experiment compare --out @ --other @
experiment pack @ --out run --to run.zip --licence x
experiment pack plan.yaml --out @ --to @ --licence x --responsible @
experiment unpack @ --out again
experiment unpack run.zip --out @
robustness make pathquestion/path-1/v1 --data @ --out sets
robustness make pathquestion/path-1/v1 --data . --out @
robustness run pathquestion/path-1/v1 --out @
robustness verify --out @
robustness verify pathquestion/path-1/v1 --out sets --data @
papers kalma --questions @ --out out --model echo
papers kalma --questions q.jsonl --specific @ --out out --model echo
papers kalma --questions q.jsonl --human @ --out out --model echo
papers kalma --questions q.jsonl --out @ --model echo --only table-2
papers okgqa --questions q.jsonl --pages @ --out out --model echo --only table-3
papers okgqa --questions q.jsonl --passages @ --out out --model echo --only table-3
papers ltgen --questions q.jsonl --turns @ --out out --model echo --only table-a6
papers ltgen --questions q.jsonl --references @ --out out --model echo --only table-a6
papers talec --texts @ --criteria @.yaml --out out --model echo --only table-9
dataset kalma build --out @ --model echo
dataset kalma build --out set --pairs @ --model echo
dataset kalma build --out set --corpus @ --model echo
dataset kalma stats --out set --beside @
dataset okgqa build --out set --templates @ --instruction @ --model echo
dataset ltgen build --out set --sample @ --model echo
rank train @ --out ranker.npz
rank train q.jsonl --out @
rank measure q.jsonl --also @ --train @
rank add @ --name x
rank relations Namea --ranker @
retriever train --questions @
retriever train --questions q.jsonl --out @
retriever add @
keys add bob --keys @
keys list --keys @
model check --to @
serve --documents @ --port 0
mcp --operations @
serve --experiments @ --port -1
demo --keep @
bench retrieval --questions @ --graph-file @ --format metaqa --out @
""".strip().splitlines()
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("paths")


@pytest.fixture(scope="module")
def paths(folder: Path) -> Iterator[dict[str, str]]:
    """What no file can be read from or written to, by why."""
    loop = folder / "loop"
    loop.symlink_to(loop)
    (folder / "folder" / "inner").mkdir(parents=True)
    (folder / "plain").write_text("x")
    (folder / "bytes").write_bytes(bytes(range(256)) * 50)
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        # The address of a socket has a hundred characters at most.
        os.chdir(folder)
        listening.bind("socket")
        os.chdir(here)
        yield {
            "loop": str(loop),
            "below a loop": str(loop / "x.npz"),
            "long name": "n" * 300 + ".npz",
            "long path": "/".join(["d" * 200] * 30),
            "memory of a process": "/proc/self/mem",
            "folder": str(folder / "folder"),
            "missing": str(folder / "no" / "such" / "file"),
            "below a file": str(folder / "plain" / "below"),
            "read-only": "/proc/x.jsonl",
            "not UTF-8": "\udcff.x",
            "NUL": "a\0b",
            "empty": "",
            "binary": str(folder / "bytes"),
            "socket": str(folder / "socket"),
            "endless": "/dev/zero",
        }


@pytest.fixture
def filled(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", f"sqlite:///{tmp_path}/graph.db")
    names = "".join(f'<http://e/{one}> {LABEL} "Name{one}"@en .\n' for one in "abc")
    (tmp_path / "a.nt").write_text(f"<http://e/a> <http://e/b> <http://e/c> .\n{names}")
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "What is Namea?"}\n')
    (tmp_path / "answers.jsonl").write_text(
        '{"id": "1", "question": "What is Namea?", "text": "Namea. [1]", "answers": ["x"]}\n'
    )
    assert cli("load", "a.nt", "--graph", "g").code == 0
    return cli


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("case", CASES)
def test_an_error_of_a_file_is_one_line(filled: Cli, paths: dict[str, str], case: str) -> None:
    kinds = list(paths)
    first = zlib.crc32(case.encode())
    for step in range(KINDS_A_CASE):
        kind = kinds[(first + step * 5) % len(kinds)]
        code, _, err = filled(*(word.replace("@", paths[kind]) for word in case.split()))
        errors = [line for line in err.splitlines() if line.startswith("error")]
        assert "Traceback" not in err, kind
        assert code in (0, 1, 2, 3, 4, 5), kind
        assert len(errors) == 1 or code in (0, 1, 3), (kind, err)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_device_that_never_ends_is_not_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it takes all the memory of the machine: no verb may begin."""

    def fail(*_: object) -> None:
        raise AssertionError("a verb has begun")

    monkeypatch.setattr("graph_service.cli.options.read_options", fail)
    printed: set[str] = set()
    for case in CASES:
        words = case.replace("@.yaml", "@").replace("@", "/dev/full").split()
        code, _, err = cli(*words)
        assert code == 2, case
        printed.add(err)
    (refusal,) = printed
    check_error(refusal)


def test_devices_that_end_are_read(filled: Cli) -> None:
    check_error(filled("answer", "--questions", "/dev/null", "--model", "echo").err)


@pytest.mark.parametrize("case", CASES)
def test_no_output_takes_the_place_of_what_is_no_file(filled: Cli, case: str) -> None:
    """A socket stands for all that is no file: as root, a command once replaced ``/dev/null``."""
    with socket.socket(socket.AF_UNIX) as listening:
        # Where the command runs; a whole address has a hundred characters at most.
        listening.bind("socket")
        filled(*(word.replace("@", "socket") for word in case.split()))
        assert Path("socket").is_socket()


def test_every_option_that_names_a_file_has_a_case() -> None:
    words = {word for case in CASES for word in case.split() if word.startswith("--")}
    flags = {
        action.option_strings[0]
        for action in _actions(make_parser())
        if action.option_strings and action.metavar in ("FILE", "DIR")
    }
    assert flags <= words


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for word in action.choices.values():
                yield from _actions(word)


@pytest.mark.parametrize(
    "error",
    [
        OSError(30, "Read-only file system", "/mnt/x"),
        OSError(5, "Input/output error"),
        OSError(28, "No space left on device"),
        MemoryError(),
    ],
)
def test_an_error_that_no_reader_maps_is_one_of_the_setup(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> int:
        raise error

    monkeypatch.setattr("graph_service.cli.doctor.doctor.doctor", fail)
    code, _, err = cli("doctor")
    assert code == 4
    assert len(err.splitlines()) == 1


def test_a_name_that_is_not_utf8_stands_in_the_json_of_its_error(cli: Cli) -> None:
    run = cli("score", "compare", "\udc80", "\udc80", "--json")
    assert run.code == 2
    assert run.json["error"]["code"] == "BAD_INPUT"
