"""One table of settings: each is an environment variable, and most a command-line option too.

``read_settings`` is the only place that reads the environment for them; the documentation is
made from the same table (``graph-service doctor --settings``).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from graph_service.private_files import DEFAULT, VARIABLE, parse_mode


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Attributes:
        name: Field of ``Settings``.
        variable: Environment variable.
        default: As text; empty for none.
        help: What it does, with its unit.
    """

    name: str
    variable: str
    default: str
    help: str


SETTINGS: tuple[Setting, ...] = (
    Setting("store", "GRAPH_SERVICE_STORE", "", "Address of the store: sqlite:///file, bolt://, neo4j://."),
    Setting("graph", "GRAPH_SERVICE_GRAPH", "", "Graph to use where none is named."),
    Setting("embedder", "GRAPH_SERVICE_EMBEDDER", "minilm", "Embedder: minilm, multilingual, a model's folder, a name that model fetch knows, openai:MODEL for an endpoint, or the name of a sentence-transformers model."),
    Setting("embedder_url", "GRAPH_SERVICE_EMBEDDER_URL", "", "Base address of an OpenAI-compatible endpoint of embeddings."),
    Setting("model_dir", "GRAPH_SERVICE_MODEL_DIR", "", "Folder with MiniLM's model.safetensors and tokenizer.json."),
    Setting("vectors", "GRAPH_SERVICE_VECTORS", "", "File that keeps text vectors; in the user's cache folder by default."),
    Setting("cache_dir", "GRAPH_SERVICE_CACHE_DIR", "", "Folder for vectors, and for snapshots of graphs kept on a server."),
    Setting("file_mode", VARIABLE, DEFAULT, "Mode of new files of stores, vectors and caches, such as 660 for a group that shares them; folders get 700 or 770 with it."),
    Setting("cache_gb", "GRAPH_SERVICE_CACHE_GB", "4", "Size limit of the snapshot cache in GiB."),
    Setting("trust_snapshots", "GRAPH_SERVICE_TRUST_SNAPSHOTS", "no", "Whether snapshots are opened without checking their content: yes or no."),
    Setting("memory_gb", "GRAPH_SERVICE_MEMORY_GB", "1", "Memory in GiB that all caches share: documents, views and what is prepared for them, vectors of texts and passages, rankers, tables of page views."),
    Setting("snapshot_edges", "GRAPH_SERVICE_SNAPSHOT_EDGES", "50000000", "Statements up to which retrieval runs on a graph's snapshot; above, each region is read from the store."),
    Setting("contact", "GRAPH_SERVICE_CONTACT", "", "Mail address or URL that SPARQL endpoints are told in the user agent."),
    Setting("read_timeout_s", "GRAPH_SERVICE_READ_TIMEOUT_S", "30", "Time limit of one read in seconds."),
    Setting("max_hops", "GRAPH_SERVICE_MAX_HOPS", "4", "Most hops that a request may ask for."),
    Setting("max_items", "GRAPH_SERVICE_MAX_ITEMS", "1000", "Most items that a request may ask for."),
    Setting("max_questions", "GRAPH_SERVICE_MAX_QUESTIONS", "100", "Most questions of one call that takes many."),
    Setting("api_key", "GRAPH_SERVICE_API_KEY", "", "Key that HTTP clients must send as a bearer token."),
    Setting("keys", "GRAPH_SERVICE_KEYS", "", "File of API keys, each with its scope, graphs and limits; graph-service keys changes it."),
    Setting("head_timeout_s", "GRAPH_SERVICE_HEAD_TIMEOUT_S", "10", "Seconds within which the head of an HTTP request must come."),
    Setting("body_timeout_s", "GRAPH_SERVICE_BODY_TIMEOUT_S", "10", "Seconds within which the body of an HTTP request must come."),
    Setting("write_timeout_s", "GRAPH_SERVICE_WRITE_TIMEOUT_S", "30", "Seconds within which a client must take 64 KiB of an answer, or the rest of it."),
    Setting("keep_alive_s", "GRAPH_SERVICE_KEEP_ALIVE_S", "130", "Seconds that a connection is kept between two requests; more than a proxy before the server keeps it."),
    Setting("max_connections", "GRAPH_SERVICE_MAX_CONNECTIONS", "1000", "Most connections to the server."),
    Setting("max_connections_per_address", "GRAPH_SERVICE_MAX_CONNECTIONS_PER_ADDRESS", "200", "Most connections to the server of one address; behind a proxy all come from one."),
    Setting("shutdown_timeout_s", "GRAPH_SERVICE_SHUTDOWN_TIMEOUT_S", "35", "Seconds from SIGTERM until the server has ended, answered or not."),
    Setting("worker_timeout_s", "GRAPH_SERVICE_WORKER_TIMEOUT_S", "30", "Seconds after which serve --workers replaces a process that makes no progress; time without a processor does not count."),
    Setting("threads", "GRAPH_SERVICE_THREADS", "4", "Retrievals that a server runs at once; more make look-ups wait, and processes (serve --workers) use more cores."),
    Setting("model_url", "GRAPH_SERVICE_MODEL_URL", "", "Base address of an OpenAI-compatible endpoint."),
    Setting("model_name", "GRAPH_SERVICE_MODEL", "", "Name of the chat model."),
    Setting("model_key", "OPENAI_API_KEY", "", "Key of the chat and embedding endpoints."),
    Setting("neo4j_uri", "NEO4J_URI", "", "Address of Neo4j, where GRAPH_SERVICE_STORE is not set."),
    Setting("neo4j_username", "NEO4J_USERNAME", "neo4j", "Neo4j user."),
    Setting("neo4j_password", "NEO4J_PASSWORD", "", "Neo4j password."),
    Setting("neo4j_database", "NEO4J_DATABASE", "neo4j", "Neo4j database."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings as read; see ``SETTINGS`` for what each means."""

    store: str = ""
    graph: str = ""
    embedder: str = "minilm"
    embedder_url: str = ""
    model_dir: str = ""
    vectors: str = ""
    cache_dir: str = ""
    file_mode: str = DEFAULT
    cache_gb: float = 4.0
    trust_snapshots: bool = False
    memory_gb: float = 1.0
    snapshot_edges: int = 50_000_000
    contact: str = ""
    read_timeout_s: float = 30.0
    max_hops: int = 4
    max_items: int = 1000
    max_questions: int = 100
    api_key: str = ""
    keys: str = ""
    head_timeout_s: float = 10.0
    body_timeout_s: float = 10.0
    write_timeout_s: float = 30.0
    keep_alive_s: float = 130.0
    max_connections: int = 1000
    max_connections_per_address: int = 200
    shutdown_timeout_s: float = 35.0
    worker_timeout_s: float = 30.0
    threads: int = 4
    model_url: str = ""
    model_name: str = ""
    model_key: str = ""
    neo4j_uri: str = ""
    neo4j_username: str = "neo4j"
    neo4j_password: str = ""
    neo4j_database: str = "neo4j"

    @property
    def store_url(self) -> str:
        """The store to open: ``store``, else ``neo4j_uri``, else ``sqlite:///graph.db``."""
        return self.store or self.neo4j_uri or "sqlite:///graph.db"

    @property
    def key_file(self) -> Path | None:
        """The file of API keys; None for none."""
        return Path(self.keys) if self.keys else None

    @property
    def memory_bytes(self) -> int:
        """What all caches may hold in memory together."""
        return int(self.memory_gb * 2**30)

    @property
    def vector_file(self) -> Path:
        """The file of text vectors."""
        if self.vectors:
            return Path(self.vectors)
        return self.cache_path / "vectors.db"

    @property
    def cache_path(self) -> Path:
        """The folder for vectors and snapshots."""
        if self.cache_dir:
            return Path(self.cache_dir)
        import platformdirs

        return Path(platformdirs.user_cache_dir("graph-service", appauthor=False))


def read_settings(environment: Mapping[str, str] | None = None, /) -> Settings:
    """Returns the settings of an environment.

    Raises:
        InputError: A number is none, or is not more than 0, or a choice is neither yes nor no;
            names the variable.
    """
    env = os.environ if environment is None else environment
    values: dict[str, str | int | float] = {}
    for row in SETTINGS:
        text = env.get(row.variable, "") or row.default
        kind = Settings.__annotations__[row.name]
        if kind == "bool":
            values[row.name] = _yes_or_no(row.variable, text)
            continue
        try:
            values[row.name] = {"str": str, "int": int, "float": float}[kind](text)
        except ValueError:
            raise InputError(
                f"{row.variable} must be a number, got {text!r}", argument=row.variable
            ) from None
        value = values[row.name]
        if not isinstance(value, str) and not 0 < value < math.inf:
            raise InputError(
                f"{row.variable} must be a number above 0, got {text!r}", argument=row.variable
            )
    parse_mode(str(values["file_mode"]))
    return Settings(**values)  # type: ignore[arg-type]


def _yes_or_no(variable: str, text: str) -> bool:
    if text.lower() not in ("yes", "no"):
        raise InputError(f"{variable} must be yes or no, got {text!r}", argument=variable)
    return text.lower() == "yes"
