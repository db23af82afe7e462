"""Passages in Neo4j: a node each, found by a full-text index over our own tokens."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import neo4j
import orjson

from graph_service import __version__
from graph_service.errors import GraphNotFoundError
from graph_service.model.limits import Deadline
from graph_service.model.passage import Passage
from graph_service.store.decoding import decodes, decoding
from graph_service.store.names import now_text, unknown_graph
from graph_service.store.neo4j.driver import Connection, in_chunks, one_row, rows_of
from graph_service.store.neo4j.editions import published_names
from graph_service.store.neo4j.schema import PASSAGE_INDEX, hex_key, key_of_hex
from graph_service.store.passage_sets import (
    HeldSet,
    require_free,
    set_of_row,
    taken_over,
    totals_of,
)
from graph_service.store.passages import (
    PassageAddress,
    PassageMatch,
    PassageSet,
    WordMatches,
    check_passages,
    find_matches,
    passage_collision,
    passage_words,
)

_SCAN_ROWS = 2_000
_DROPPED_ROWS = 5_000
# Locked before its token is looked at: whoever takes the load over meanwhile comes before or after.
_HELD = """MATCH (s:PassageSet {number: $number}) SET s.touched = timestamp()
    WITH s WHERE s.token = $token"""
# Marked before any of its passages is deleted: what was read until now is whole.
_STAYS = "MATCH (s:PassageSet {number: $number}) WHERE s.state <> 'dropping' RETURN 1"
_SET_COLUMNS = """s.number, s.graph, s.source, s.state = 'published', s.passages, s.words, s.linked,
    s.fingerprint, s.options, s.report, s.owner, s.started_at, s.published_at"""
_PASSAGE_COLUMNS = "p.set, p.key, p.id, p.title, p.source, p.text, p.entity"


class Neo4jPassages:
    """The passages of one database; see ``Passages``."""

    def __init__(self, connection: Connection, /) -> None:
        self._connection = connection

    def begin(
        self,
        graph: str,
        /,
        *,
        source: str,
        options: Mapping[str, Any],
        owner: str,
        lease_s: float = 60.0,
    ) -> Neo4jPassageSession:
        """Begins a set, or goes on with one; see ``Passages.begin``."""
        token = secrets.token_hex(16)
        encoded = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS).decode()

        def take(tx: neo4j.Transaction) -> tuple[int, str | None]:
            # One at a time: the counter's lock is taken before anything is looked at.
            rows_of(
                tx, "MATCH (m:GraphServiceMeta {id: 'schema'}) SET m.named_at = timestamp()", {}
            )
            known = published_names(tx)
            if graph not in known:
                raise unknown_graph(graph, known)
            row = one_row(
                tx,
                """MATCH (s:PassageSet {state: 'loading', graph: $graph, source: $source})
                SET s.touched = timestamp() WITH s WHERE s.state = 'loading'
                RETURN s.number, s.options, s.owner, s.lease_until - timestamp(), s.checkpoint,
                    s.token""",
                {"graph": graph, "source": source},
            )
            if row is not None and row[5] != token:
                require_free(row[2], source, row[3] / 1000, owner)
                if row[1] != encoded:
                    rows_of(
                        tx,
                        """MATCH (s:PassageSet {number: $number})
                        SET s.state = 'dropping', s.token = null""",
                        {"number": row[0]},
                    )
                    row = None
            if row is None:
                (number,) = rows_of(
                    tx,
                    """MATCH (m:GraphServiceMeta {id: 'schema'})
                    SET m.passage_sets = coalesce(m.passage_sets, 0) + 1 RETURN m.passage_sets""",
                    {},
                )[0]
                rows_of(
                    tx,
                    "CREATE (s:PassageSet) SET s = $fields",
                    {
                        "fields": {
                            "number": number,
                            "graph": graph,
                            "source": source,
                            "state": "loading",
                            "options": encoded,
                            "started_at": now_text(),
                            "published_at": "",
                            "passages": 0,
                            "words": 0,
                            "linked": 0,
                            "fingerprint": "",
                            "report": "{}",
                            "tool_version": __version__,
                        }
                    },
                )
                checkpoint = None
            else:
                number, checkpoint = row[0], row[4]
            rows_of(
                tx,
                """MATCH (s:PassageSet {number: $number}) SET s.owner = $owner, s.token = $token,
                s.lease_until = timestamp() + $lease_ms""",
                {
                    "number": number,
                    "owner": owner,
                    "token": token,
                    "lease_ms": int(lease_s * 1000),
                },
            )
            return number, checkpoint

        number, checkpoint = self._connection.transaction(take, what="beginning a load of passages")
        self.drop_marked()
        return Neo4jPassageSession(
            self._connection,
            self,
            number,
            token,
            lease_s,
            checkpoint,
        )

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns the sets; see ``Passages.sets``."""

        def read(tx: neo4j.Transaction) -> list[PassageSet]:
            rows = rows_of(
                tx,
                f"""MATCH (s:PassageSet) WHERE s.state <> 'dropping'
                AND ($graph IS NULL OR s.graph = $graph) RETURN {_SET_COLUMNS} ORDER BY s.number""",
                {"graph": graph},
            )
            return [set_of_row(row) for row in rows]

        return self._connection.transaction(read, access="READ", what="listing passages")

    def scan(self, number: int, /) -> Iterator[list[Passage]]:
        """Yields the passages of a set; see ``Passages.scan``."""
        after = f"{number}:"
        while True:
            passages = self._read(
                f"""MATCH (p:Passage) WHERE p.key > $after AND p.key < $end
                WITH p ORDER BY p.key LIMIT $limit RETURN {_PASSAGE_COLUMNS}""",
                {"after": after, "end": f"{number};", "limit": _SCAN_ROWS},
                required_set=number,
            )
            if passages:
                yield list(passages.values())
            if len(passages) < _SCAN_ROWS:
                return
            after = _node_key(number, max(address.key for address in passages))

    def match(
        self, sets: Sequence[PassageSet], terms: Sequence[str], /, *, deadline: Deadline
    ) -> WordMatches:
        """Returns the passages that hold words of a query; see ``Passages.match``."""
        scope = " ".join(f'"{_set_token(passage_set.number)}"' for passage_set in sets)

        def read(tx: neo4j.Transaction) -> WordMatches:
            def count(term: str) -> int:
                row = one_row(
                    tx,
                    f"""CALL db.index.fulltext.queryNodes('{PASSAGE_INDEX}', $query) YIELD node
                    RETURN count(node)""",
                    {"query": f'+({scope}) +"{term}"'},
                )
                return int(row[0]) if row else 0

            def find(chosen: Sequence[str], limit: int) -> list[PassageMatch]:
                # Quoted, and of letters, digits and marks alone: nothing of Lucene's syntax.
                quoted = " ".join(f'"{term}"' for term in chosen)
                rows = rows_of(
                    tx,
                    f"""CALL db.index.fulltext.queryNodes('{PASSAGE_INDEX}', $query) YIELD node
                    WITH node AS p ORDER BY right(p.key, 16), p.set LIMIT $limit
                    RETURN p.set, p.key, p._search""",
                    {"query": f"+({scope}) +({quoted})", "limit": limit},
                )
                with decoding("a passage"):
                    return [
                        PassageMatch(
                            PassageAddress(set_id, key_of_hex(key)), words.partition(" ")[2]
                        )
                        for set_id, key, words in rows
                    ]

            return find_matches(sets, terms, count=count, find=find)

        return self._connection.transaction(
            read, access="READ", deadline=deadline, what="searching passages"
        )

    def read(self, addresses: Sequence[PassageAddress], /) -> dict[PassageAddress, Passage]:
        """Returns passages by their address; see ``Passages.read``."""
        return self._read(
            f"UNWIND $keys AS key MATCH (p:Passage {{key: key}}) RETURN {_PASSAGE_COLUMNS}",
            {"keys": [_node_key(address.number, address.key) for address in addresses]},
        )

    def _read(
        self, query: str, parameters: Mapping[str, Any], *, required_set: int | None = None
    ) -> dict[PassageAddress, Passage]:
        """Returns the passages of ``_PASSAGE_COLUMNS``, in their order.

        Args:
            query: Returns ``_PASSAGE_COLUMNS``.
            parameters: Of the query.
            required_set: A set that must not be deleted meanwhile.
        """

        def read(tx: neo4j.Transaction) -> dict[PassageAddress, Passage]:
            passages = dict(_passage_of_row(row) for row in rows_of(tx, query, parameters))
            if required_set is not None and not rows_of(tx, _STAYS, {"number": required_set}):
                raise GraphNotFoundError(
                    "these passages of the graph are no longer stored",
                    hint="Ask for them again: others may have taken their place.",
                )
            return passages

        # A whole set takes as long as it takes.
        deadline = Deadline.none() if required_set is not None else None
        return self._connection.transaction(
            read, access="READ", deadline=deadline, what="reading passages"
        )

    def delete(self, graph: str, /, *, source: str | None = None) -> int:
        """Deletes the sets of a graph, or of one source of it; see ``Passages.delete``."""
        gone = 0

        def mark(tx: neo4j.Transaction) -> None:
            nonlocal gone
            rows = rows_of(
                tx,
                """MATCH (s:PassageSet {graph: $graph}) WHERE s.state <> 'dropping'
                AND ($source IS NULL OR s.source = $source) SET s.touched = timestamp()
                RETURN s.passages, s.owner, s.source,
                    CASE WHEN s.token IS NULL THEN 0 ELSE s.lease_until - timestamp() END""",
                {"graph": graph, "source": source},
            )
            for _, owner, held, left in rows:
                require_free(owner, held, left / 1000, "")
            mark_passages(tx, graph, source)
            # A second run, after a lost reply, finds nothing: the first one's answer counts.
            gone = sum(row[0] or 0 for row in rows) or gone

        self._connection.transaction(mark, what="deleting passages")
        self.drop_marked()
        return gone

    def drop_marked(self) -> None:
        """Deletes the sets marked for it, in portions."""
        rows = self._connection.read(
            "MATCH (s:PassageSet {state: 'dropping'}) RETURN s.number ORDER BY s.number",
            what="deleting passages",
        )
        # Another process deletes them too: the number of one that is gone meanwhile is null.
        for set_id in [set_id for (set_id,) in rows if set_id is not None]:
            while self._connection.write(
                """MATCH (p:Passage) WHERE p.key >= $start AND p.key < $end
                WITH p LIMIT $limit DELETE p RETURN count(*)""",
                start=f"{set_id}:",
                end=f"{set_id};",
                limit=_DROPPED_ROWS,
                what="deleting passages",
            )[0][0]:
                pass
            self._connection.write(
                "MATCH (s:PassageSet {number: $number, state: 'dropping'}) DELETE s",
                number=set_id,
                what="deleting passages",
            )


class Neo4jPassageSession(HeldSet):
    """One load of passages; ``Neo4jPassages.begin`` makes it. See ``PassageSession``."""

    def __init__(
        self,
        connection: Connection,
        passages: Neo4jPassages,
        number: int,
        token: str,
        lease_s: float,
        checkpoint: str | None,
    ) -> None:
        super().__init__(number, checkpoint)
        self._connection = connection
        self._passages = passages
        self._token = token
        self._lease_ms = int(lease_s * 1000)

    def write(self, passages: Sequence[Passage], /, *, checkpoint: Mapping[str, Any]) -> None:
        """Writes passages in one transaction; see ``PassageSession.write``."""
        rows = []
        for key, item in check_passages(passages).items():
            words = passage_words(item)
            rows.append(
                {
                    "key": _node_key(self._number, key),
                    "set": self._number,
                    "id": item.id,
                    "title": item.title,
                    "source": item.source,
                    "text": item.text,
                    "entity": item.entity,
                    "_search": " ".join([_set_token(self._number), *words]),
                    "length": len(words),
                }
            )
        encoded = orjson.dumps(dict(checkpoint)).decode()

        def put(tx: neo4j.Transaction) -> None:
            self._renew(tx)
            clash = one_row(
                tx,
                """UNWIND $rows AS row MATCH (p:Passage {key: row.key}) WHERE p.id <> row.id
                RETURN p.id, row.id LIMIT 1""",
                {"rows": [{"key": row["key"], "id": row["id"]} for row in rows]},
            )
            if clash is not None:
                raise passage_collision(clash[0], clash[1])
            for portion in in_chunks(rows, 1_000):
                rows_of(
                    tx,
                    """UNWIND $rows AS row MERGE (p:Passage {key: row.key})
                    ON CREATE SET p = row""",
                    {"rows": list(portion)},
                )
            rows_of(
                tx,
                "MATCH (s:PassageSet {number: $number}) SET s.checkpoint = $checkpoint",
                {"number": self._number, "checkpoint": encoded},
            )

        self._connection.transaction(put, what="writing passages")
        self._checkpoint = orjson.loads(encoded)

    def publish(self, *, report: Mapping[str, Any] | None = None) -> PassageSet:
        """Makes the set visible; see ``PassageSession.publish``."""
        totals = totals_of(self._passages.scan(self._number))
        (words,) = self._connection.read(
            """MATCH (p:Passage) WHERE p.key > $start AND p.key < $end
            RETURN coalesce(sum(p.length), 0)""",
            start=f"{self._number}:",
            end=f"{self._number};",
            what="counting passages",
        )[0]

        def flip(tx: neo4j.Transaction) -> PassageSet:
            row = one_row(
                tx,
                f"MATCH (s:PassageSet {{number: $number}}) RETURN {_SET_COLUMNS}",
                {"number": self._number},
            )
            if row is not None and row[3]:
                # A second run, after a lost reply.
                return set_of_row(row)
            self._renew(tx)
            rows_of(
                tx,
                """MATCH (s:PassageSet {number: $number})
                MATCH (o:PassageSet {graph: s.graph, source: s.source, state: 'published'})
                SET o.state = 'dropping'""",
                {"number": self._number},
            )
            rows = rows_of(
                tx,
                f"""MATCH (s:PassageSet {{number: $number}}) SET s += $fields
                RETURN {_SET_COLUMNS}""",
                {
                    "number": self._number,
                    "fields": {
                        "state": "published",
                        "published_at": now_text(),
                        "token": None,
                        "checkpoint": None,
                        "passages": totals.passages,
                        "words": words,
                        "linked": totals.linked,
                        "fingerprint": totals.fingerprint,
                        "report": orjson.dumps(dict(report or {})).decode(),
                    },
                },
            )
            return set_of_row(rows[0])

        published = self._connection.transaction(flip, what="publishing passages")
        self._ended = True
        self._passages.drop_marked()
        return published

    def abort(self) -> None:
        """Marks the unfinished set as deleted, then deletes it in portions."""

        def mark(tx: neo4j.Transaction) -> None:
            # The token stays, so that a second run, after a lost reply, finds its own.
            rows = rows_of(
                tx,
                f"{_HELD} SET s.state = 'dropping' RETURN s.number",
                {"number": self._number, "token": self._token},
            )
            if not rows:
                raise taken_over()

        self._connection.transaction(mark, what="throwing passages away")
        self._ended = True
        self._passages.drop_marked()

    def _give_back(self) -> None:
        self._connection.write(
            f"{_HELD} SET s.token = null, s.lease_until = 0",
            number=self._number,
            token=self._token,
            what="giving a lease back",
        )

    def _renew(self, tx: neo4j.Transaction) -> None:
        self._require_open()
        rows = rows_of(
            tx,
            f"""{_HELD} AND s.state = 'loading'
            SET s.lease_until = timestamp() + $lease_ms RETURN s.number""",
            {"number": self._number, "token": self._token, "lease_ms": self._lease_ms},
        )
        if not rows:
            raise taken_over()


def mark_passages(tx: neo4j.Transaction, graph: str, source: str | None = None, /) -> None:
    """Marks the sets of a graph, or of one source, to be dropped."""
    rows_of(
        tx,
        """MATCH (s:PassageSet {graph: $graph}) WHERE $source IS NULL OR s.source = $source
        SET s.state = 'dropping', s.token = null""",
        {"graph": graph, "source": source},
    )


@decodes("a passage")
def _passage_of_row(row: list[Any]) -> tuple[PassageAddress, Passage]:
    """Returns the passage of ``_PASSAGE_COLUMNS`` and its place."""
    number, key, id_, title, source, text, entity = row
    if None in (number, id_, title, source, text):
        raise ValueError("it lacks a value")
    return PassageAddress(number, key_of_hex(key)), Passage(id_, title, source, text, entity)


def _node_key(number: int, key: int) -> str:
    return f"{number}:{hex_key(key)}"


def _set_token(number: int) -> str:
    """The token that confines a search to a set; no word holds an @."""
    return f"@{number}"
