"""Attacks on the command line: texts of a graph that a terminal would obey, and bad arguments."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import resource
import signal
import subprocess
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from graph_service.cli import main
from graph_service.model.statement import Entity
from tools.attack.target import COMMAND, PATIENCE_S, Target, memory_mb

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07Anna",
    "Bert \u202egnihtemos\u202c",
    "Carl\u2066\u2069 \u200f",
    "Dora\r\nerror: 0 rejected",
    "=HYPERLINK(1)",
    "Emil [NA]",
    "Finn [1]",
    "Gina [Q1, mother: Anna]",
    "<script>alert(1)</script>",
    "\x9b31mHugo",
)
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")
MOST_MEMORY = 4_000_000_000
"""Bytes of addresses that one verb may take."""
_RUNS_ON = {"serve", "mcp", "demo", "model", "bench", "doctor", "completion"}
"""Verbs that serve until they are stopped, load from the network, or take minutes."""


def hostile_entities() -> list[Entity]:
    """Returns the entities of graph ``hostile``: Q1 and so on, and two properties."""
    properties = [
        Entity("P1", labels={"en": "knows"}),
        Entity("P2", labels={"en": "\x1b[31mlikes"}),
    ]
    return [
        *(Entity(f"Q{index}", labels={"en": label}) for index, label in enumerate(HOSTILE, 1)),
        *properties,
    ]


def hostile_statements() -> list[tuple[str, str, str]]:
    """Returns who knows and likes whom in graph ``hostile``."""
    count = len(HOSTILE)
    return [
        (f"Q{index}", relation, f"Q{index % count + 1}")
        for index in range(1, count + 1)
        for relation in ("P1", "P2")
    ]


def _run(target: Target, arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "GRAPH_SERVICE_STORE": target.store}
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment,
        cwd=target.folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def labels_that_a_terminal_obeys(target: Target) -> str:
    """Escape sequences, directions and line ends in labels, over all verbs that print labels."""
    runs = [
        ["search", "Anna", "--graph", "hostile"],
        ["item", "Q1", "--graph", "hostile"],
        ["retrieve", "Whom does Emil know?", "--graph", "hostile"],
        ["retrieve", "Whom does Q1 know?", "--graph", "hostile", "--entity", "Q1"],
        ["answer", "Whom does Bert like?", "--graph", "hostile"],
        ["sample", "--graph", "hostile"],
        ["compare", "Whom does Emil know?", "--graph", "hostile", "--view", "ed:0.3:1"],
        ["search", "\x1b[31mnobody", "--graph", "hostile"],
        ["item", "\x1b[31mQ0", "--graph", "hostile"],
    ]
    for arguments in runs:
        result = _run(target, arguments)
        for stream in (result.stdout, result.stderr):
            text = stream.decode("utf-8", "surrogateescape")
            obeyed = _OBEYED.search(text)
            assert obeyed is None, (arguments, text[max(0, obeyed.start() - 40) :][:80])
        assert b"Traceback" not in result.stderr, result.stderr[-500:]
    return f"{len(runs)} runs print none of them"


def fuzzed_arguments(target: Target) -> str:
    """Verbs with drawn options and values, among them paths that cannot be read or written."""
    verbs = {words: _Verb.of(words) for words in _all_words()}
    values = _values(target.folder)
    exits: dict[int, int] = {}
    before = memory_mb(os.getpid())
    with _restricted(target):
        for _ in range(target.examples * 4):
            words = target.random.choice(sorted(verbs))
            arguments = [*words, *verbs[words].draw(target.random, values)]
            at_begin = _address_space()
            with _limited(resource.RLIMIT_AS, at_begin + MOST_MEMORY):
                code, errors = _main(arguments)
            assert "Traceback" not in errors, (arguments, errors[-600:])
            assert "no memory is left" not in errors, (arguments, at_begin, _address_space())
            assert 0 <= code <= 6, (arguments, code)
            exits[code] = exits.get(code, 0) + 1
    counts = ", ".join(f"{count} x exit {code}" for code, count in sorted(exits.items()))
    return f"{counts}; {before} -> {memory_mb(os.getpid())} MB"


def _main(arguments: list[str]) -> tuple[int, str]:
    """Returns the exit code of one verb, run in this process, and what it prints as an error."""
    errors = io.StringIO()
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")),
        contextlib.redirect_stderr(errors),
    ):
        try:
            return main(arguments), errors.getvalue()
        except SystemExit as end:
            return int(end.code or 0), errors.getvalue()
        except Exception:
            return 1, traceback.format_exc()


def _values(folder: Path) -> dict[str, list[str]]:
    """Returns values by the metavar of the option that takes them; "" for all others."""
    loop, directory = folder / "loop", folder / "directory"
    with contextlib.suppress(FileExistsError):
        loop.symlink_to(loop)
    directory.mkdir(exist_ok=True)
    empty, noise = folder / "empty.jsonl", folder / "noise.bin"
    empty.write_bytes(b"")
    noise.write_bytes(random.Random(1).randbytes(5_000))
    line = folder / "line.jsonl"
    line.write_text('{"id": "1", "question": "Who knows Emil?", "answer": "Finn [1]."}\n')
    table = folder / "table.csv"
    table.write_text("head,relation,tail\na,b,c\n")
    paths = [
        str(loop), str(directory), str(empty), str(noise), str(line), str(table),
        "a" * 5_000, "/proc/self/mem", "/dev/full", "/dev/null/x", str(folder / "new"),
        "\udc80", "a\x00b",
    ]  # fmt: skip
    numbers = ["0", "1", "3", "-1", "10", "1e309", "nan", "0.3", ""]
    names = ["demo", "hostile", "star", "none", "", "\u202e"]
    stores = [f"sqlite:///{directory}", f"sqlite:///{noise}", "bolt://127.0.0.1:1", "x://y"]
    return {
        **dict.fromkeys(("FILE", "FOLDER", "DIR", "PATH"), paths),
        **dict.fromkeys(("N", "X", "K", "S"), numbers),
        "NAME": names,
        "URL": stores,
        "": [*paths, *names, "Q1", "Who knows Emil?", "ed:0.3:1", "{}", "[]", "../..", "2020-01"],
    }


@dataclass(frozen=True, slots=True)
class _Verb:
    """What a verb takes, by its help text.

    Attributes:
        options: Flag and metavar of each option; the metavar is "" where it takes no value.
        positionals: The metavars of what stands without a flag.
    """

    options: tuple[tuple[str, str], ...]
    positionals: tuple[str, ...]

    @classmethod
    def of(cls, words: tuple[str, ...]) -> _Verb:
        text = _help(*words)
        options = re.findall(r"^  (--[a-z-]+)(?: (\S+))?", text, flags=re.MULTILINE)
        usage = text.partition("\n\n")[0].partition("[options]")[2]
        return cls(tuple(options), tuple(usage.replace("[", "").replace("]", "").split()))

    def draw(self, generator: random.Random, values: dict[str, list[str]]) -> list[str]:
        """Returns drawn arguments: those without a flag mostly, and a few options."""
        arguments = [
            _value(generator, metavar, values)
            for metavar in self.positionals
            if metavar != "..." and generator.random() < 0.95
        ]
        for flag, metavar in generator.sample(self.options, min(len(self.options), 2)):
            arguments.append(flag)
            if metavar:
                arguments.append(_value(generator, metavar, values))
        return arguments


def _value(generator: random.Random, metavar: str, values: dict[str, list[str]]) -> str:
    if metavar.startswith("{") and generator.random() < 0.95:
        return generator.choice(metavar.strip("{}").split(","))
    return generator.choice(values.get(metavar, values[""]))


def _all_words() -> list[tuple[str, ...]]:
    """Returns the words that name each verb."""
    verbs: list[tuple[str, ...]] = []
    for verb in _words(_help()):
        if verb in _RUNS_ON:
            continue
        below = _words(_help(verb))
        verbs += [(verb, word) for word in below] or [(verb,)]
    return verbs


def _help(*words: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return output.getvalue()


def _words(text: str) -> list[str]:
    """Returns the verbs, or the words after a verb, that a help text lists."""
    _, _, tail = text.partition("\n    ")
    return re.findall(r"^    ([a-z][a-z-]+)\s", f"\n    {tail}", flags=re.MULTILINE)


@contextlib.contextmanager
def _restricted(target: Target) -> Iterator[None]:
    """Runs in the folder of the attack, on its store.

    No file may grow past 50 MB.
    """
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    environment = {**os.environ, "GRAPH_SERVICE_STORE": _copied(target)}
    try:
        with (
            _limited(resource.RLIMIT_FSIZE, 50_000_000),
            contextlib.chdir(target.folder),
            mock.patch.dict(os.environ, environment),
        ):
            yield
    finally:
        signal.signal(signal.SIGXFSZ, handler)


@contextlib.contextmanager
def _limited(what: int, most: int) -> Iterator[None]:
    """Limits a resource of this process."""
    limits = resource.getrlimit(what)
    resource.setrlimit(what, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, limits)


def _address_space() -> int:
    """Returns the bytes of addresses that this process has taken."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def _copied(target: Target) -> str:
    """Returns the address of a copy of the store, since the drawn verbs delete graphs too."""
    copy = target.folder / "fuzzed.db"
    main(["backup", str(copy), "--store", target.store])
    return f"sqlite:///{copy}"
