"""Published retrievers that are packages, each run in an environment of its own.

``make retrievers`` makes the environments. A retriever's process gets the question and the
statements around its entities, as all others do, and asks for MiniLM's vectors, which are computed
here. So no package has an embedder of its own, and none is a dependency of ours.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retrievers.methods import Embed
from benchmarks.retrievers.protocol import Question, Retrieved, Surroundings
from graph_service.errors import SetupError

PROGRAMS = Path(__file__).parent / "environments"


@dataclass(frozen=True, slots=True)
class Package:
    """A retriever of a package.

    Attributes:
        name: In tables.
        environment: Folder of its virtual environment below that of all.
        program: Of ``benchmarks/retrievers/environments``.
        arguments: Of the program.
        needs_neo4j: Whether it searches a server of Neo4j.
    """

    name: str
    environment: str
    program: str
    arguments: tuple[str, ...] = ()
    needs_neo4j: bool = False


PACKAGES = (
    Package("neo4j-graphrag: vector", "graphrag", "graphrag.py", ("vector",), needs_neo4j=True),
    Package("neo4j-graphrag: hybrid", "graphrag", "graphrag.py", ("hybrid",), needs_neo4j=True),
    Package("PyTorch Geometric: PCST", "pyg", "pyg.py"),
    Package("LangChain: GraphRetriever", "langchain", "langchain.py"),
    Package("LightRAG: hybrid", "lightrag", "lightrag_hybrid.py"),
)


@dataclass(slots=True)
class Packaged:
    """A retriever of a package, whose process is started at the first question.

    Attributes:
        package: Which one.
        python: Of its environment.
        settings: Environment variables of the process.
    """

    package: Package
    python: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    _embed: Embed | None = None
    _process: subprocess.Popen[str] | None = None

    def open_set(self, embed: Embed, /) -> None:
        """Begins with another set: a process that holds statements of the last one is ended.

        Args:
            embed: Gives unit vectors of texts.
        """
        self._embed = embed
        if self.package.needs_neo4j:
            self.close()

    @property
    def name(self) -> str:
        """In tables."""
        return self.package.name

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements of its process, in their order.

        Raises:
            SetupError: The process ended, or the package failed; says why.
        """
        assert self._embed is not None, "open_set comes first"
        count = len(around.statement_ids)
        row = self._answer(
            {
                "question": question.text,
                "budget": budget,
                "head": around.head.tolist(),
                "relation": around.relation.tolist(),
                "tail": around.tail.tolist(),
                "nodes": around.node_names,
                "relations": around.relations,
                "sentences": [around.sentence(index) for index in range(count)],
                "topics": around.topics.tolist(),
            }
        )
        while "embed" in row:
            vectors = np.ascontiguousarray(self._embed(row["embed"]), dtype=np.float32)
            row = self._answer({"vectors": base64.b64encode(vectors.tobytes()).decode()})
        if "error" in row:
            raise SetupError(f"{self.name} failed: {row['error']}")
        return Retrieved(around.ranked(row["order"], budget))

    def peak_bytes(self) -> int:
        """Returns the most memory that its process has had so far; 0 before the first question."""
        return 0 if self._process is None else peak_bytes(self._process.pid)

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self.python, PROGRAMS / self.package.program, *self.package.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env={**os.environ, **self.settings},
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise SetupError(
                f"the process of {self.name} ended",
                hint="What it printed on stderr says why; make retrievers makes its environment anew.",
            )
        row: dict[str, Any] = json.loads(line)
        return row


@contextmanager
def open_packaged(
    environments: Path, /, *, neo4j: Mapping[str, str]
) -> Iterator[tuple[list[Packaged], list[str]]]:
    """Opens the retrievers whose environment is there; closes their processes at the end.

    Args:
        environments: Folder of the environments.
        neo4j: Address, user and password of a server, as environment variables; {} for none.

    Yields:
        The retrievers, and why each of the others is left out.
    """
    opened: list[Packaged] = []
    left_out: list[str] = []
    for package in PACKAGES:
        python = environments / package.environment / "bin" / "python"
        if not python.exists():
            left_out.append(f"{package.name}: there is no {python}; make retrievers makes it")
        elif package.needs_neo4j and not neo4j:
            left_out.append(
                f"{package.name}: no server is named; --neo4j bolt://HOST:PORT names it"
            )
        else:
            opened.append(Packaged(package, python, neo4j if package.needs_neo4j else {}))
    try:
        yield opened, left_out
    finally:
        for retriever in opened:
            retriever.close()


def peak_bytes(pid: int | str = "self", /) -> int:
    """Returns the most memory that a process has had resident; 0 where the system does not say."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    values: Sequence[str] = [line for line in lines if line.startswith("VmHWM:")]
    return 1024 * int(values[0].split()[1]) if values else 0
