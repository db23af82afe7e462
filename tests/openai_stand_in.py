"""A local server that speaks the protocol of chat completions and embeddings, with faults by script.

Each request takes the next reply of the script; past its end the last one repeats. A reply may be
a function of the request. It speaks HTTP from a thread of its own, so that the real client code
runs against it. As a program (``python tests/openai_stand_in.py --port 8001``) it answers every
chat by rule until it is interrupted, and every embedding by hash:

- facts that are numbered are cited, the first two; blocks of facts by their first line;
- a prompt that wants its reasoning first gets one sentence of it, then the answer;
- a rating is the middle of its scale, with log-probabilities half of it and half the number above,
  a verdict the last that the prompt names, a sentence one fact;
- numbered relations are ranked as they are listed;
- what data sets are built with gets sentences, questions and turns that say the facts they show;
- a JSON form is answered by the smallest JSON of that form.

Faults by rule: ``--faults 7`` gives every seventh request, in turn, 429 with Retry-After, 500, an
empty choice, wrong JSON, a stream that is cut, and a reply that the content filter withheld.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Scripted:
    """One reply: its status, headers and body, and what goes wrong on the way.

    Attributes:
        body: JSON-ready data, or raw bytes sent as they are.
        silent: Whether nothing is sent, and the connection stays until the client closes it.
        cut: Bytes of the body after which the connection is closed; None sends all of it.
        drop: Whether the connection is closed without any reply.
        drip_s: Seconds between single bytes of the body; 0 sends it at once.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    cut: int | None = None
    drop: bool = False
    drip_s: float = 0.0


Rule = Callable[[dict[str, Any]], Scripted]


def completion(
    text: str | None,
    *,
    finish: str = "stop",
    usage: Mapping[str, int] | None = None,
    model: str = "stand-in-1",
    refusal: str | None = None,
    logprobs: Sequence[tuple[str, float, Sequence[tuple[str, float]]]] | None = None,
) -> dict[str, Any]:
    """A chat completion as an endpoint sends it."""
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
    }
    if logprobs is not None:
        body["choices"][0]["logprobs"] = {
            "content": [
                {
                    "token": token,
                    "logprob": chance,
                    "bytes": None,
                    "top_logprobs": [
                        {"token": other, "logprob": its, "bytes": None} for other, its in top
                    ],
                }
                for token, chance, top in logprobs
            ]
        }
    if usage is not None:
        body["usage"] = {
            **usage,
            "total_tokens": usage["prompt_tokens"] + usage["completion_tokens"],
        }
    return body


def ok(text: str, **options: Any) -> Scripted:
    options.setdefault("usage", {"prompt_tokens": 10, "completion_tokens": 5})
    return Scripted(200, completion(text, **options), {"x-request-id": "req-1"})


def error(
    status: int,
    message: str = "something went wrong",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Scripted:
    body = {"error": {"message": message, "type": "test", "param": None, "code": code}}
    return Scripted(status, body, headers or {})


def vector_of(text: str, dimension: int = 8) -> list[float]:
    """A vector of a text's words by hash: texts that share words are near each other."""
    summed = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()):
        drawn = hashlib.blake2b(word.encode(), digest_size=dimension).digest()
        summed = [have + (byte - 127.5) / 127.5 for have, byte in zip(summed, drawn, strict=True)]
    return summed if any(summed) else [1.0] + [0.0] * (dimension - 1)


def embeddings(body: dict[str, Any]) -> Scripted:
    """The vectors of a request, as an endpoint sends them."""
    data = [
        {"object": "embedding", "index": i, "embedding": vector_of(text)}
        for i, text in enumerate(body["input"])
    ]
    usage = {"prompt_tokens": len(data), "total_tokens": len(data)}
    return Scripted(200, {"object": "list", "data": data, "model": body["model"], "usage": usage})


def echoed(body: dict[str, Any]) -> Scripted:
    """A prompt's tokens with log-probabilities by hash, as an endpoint with ``echo`` sends them."""
    tokens = re.findall(r"\s*\S+", body["prompt"])
    chances = [
        -1 - hashlib.blake2b(token.encode(), digest_size=1).digest()[0] / 128 for token in tokens
    ]
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 0}
    choice = {
        "index": 0,
        "text": body["prompt"],
        "finish_reason": "length",
        "logprobs": {"tokens": tokens, "token_logprobs": [None, *chances[1:]]},
    }
    return Scripted(200, {"model": body["model"], "choices": [choice], "usage": usage})


class StandIn:
    """What the server was told, and what it was asked.

    Attributes:
        script: Replies to come; each request takes one, the last one repeats.
        requests: Bodies of what was asked, in order; ``paths`` and ``headers`` go with them.
        answered: Bodies of what was answered in full.
    """

    def __init__(self, url: str, script: Sequence[Scripted | Rule]) -> None:
        self.url = url
        self.script = list(script)
        self.paths: list[str] = []
        self.answered: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()

    def next(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Scripted:
        with self.lock:
            self.paths.append(path)
            self.requests.append(body)
            self.headers.append(headers)
            reply = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return reply if isinstance(reply, Scripted) else reply(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stand_in: StandIn

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up on a slow reply closes its end: that is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the test's output clean."""

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        raw = self.rfile.read(length)
        if self.path not in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings"):
            self._send(error(404, f"no such path {self.path}"))
            return
        sent = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw)
        self._send(self.server.stand_in.next(self.path, body, sent))
        with self.server.stand_in.lock:
            self.server.stand_in.answered.append(body)

    def _send(self, reply: Scripted) -> None:
        if reply.silent:
            with contextlib.suppress(OSError):
                self.connection.recv(1)
        if reply.drop or reply.silent:
            self.close_connection = True
            return
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        headers = {"content-type": "application/json", **reply.headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        whole = raw if reply.cut is None else raw[: reply.cut]
        if reply.drip_s:
            for i in range(len(whole)):
                self.wfile.write(whole[i : i + 1])
                self.wfile.flush()
                time.sleep(reply.drip_s)
        else:
            self.wfile.write(whole)
            self.wfile.flush()
        if reply.cut is not None:
            self.close_connection = True


@contextlib.contextmanager
def stand_in(*script: Scripted | Rule, port: int = 0) -> Iterator[StandIn]:
    """Runs the server on a port of this machine, by default a free one, until the block ends."""
    server = _Server(("127.0.0.1", port), _Handler)
    server.stand_in = StandIn(f"http://127.0.0.1:{server.server_address[1]}/v1", script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.stand_in
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class HeldOnce:
    """A rule that leaves one request without a reply until it is let go, so that whoever sent it can
    be killed under way, however long that takes.

    Args:
        rule: Says what is replied.
        index: Of the request, from 0.
    """

    def __init__(self, rule: Rule, /, *, index: int) -> None:
        self._rule = rule
        self._turns = itertools.count()
        self._index = index
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, body: dict[str, Any], /) -> Scripted:
        if next(self._turns) == self._index:
            self.begun.set()
            self.go.wait(600)
        return self._rule(body)


def _smallest(form: Mapping[str, Any]) -> Any:
    if "enum" in form:
        return form["enum"][0]
    kind = form.get("type")
    if kind == "object":
        return {name: _smallest(part) for name, part in form.get("properties", {}).items()}
    return {"array": [], "string": "", "integer": 0, "number": 0.0, "boolean": False}.get(str(kind))


def _open_question(asked: str, facts: list[tuple[str, str, str]]) -> str:
    """A question that holds each placeholder: entities of the first fact, and the word itself."""
    listed = dict(re.findall(r"^(Linked|Free) placeholders: (.+)$", asked, re.MULTILINE))
    linked, free = ([x for x in listed[name].split(", ") if x != "none"] for name in listed)
    head, _, value = facts[0]
    placed = {**dict(zip(linked, (head, value), strict=False)), **{name: name for name in free}}
    question = f"What joins {' and '.join(placed.values())}?"
    said = {"question": question, "placeholders": placed, "naturalness": "high"}
    return json.dumps({**said, "difficulty": "easy"})


def _of_builders(asked: str) -> str | None:
    """What is said to a prompt that data sets are built with; None to any other."""
    facts = re.findall(r"^(?:\d+\. |Fact: )(.+?) \| (.+?) \| (.+)$", asked, re.MULTILINE)
    last = asked.rstrip().splitlines()[-1]
    if last in ("First sentence:", "Next sentence:"):
        head, relation, value = facts[0]
        return f"{head} has {value} as its {relation}."
    if last == "Numbers:":
        sentence = asked.splitlines()[0]
        stated = [str(i) for i, (_, _, value) in enumerate(facts, 1) if value in sentence]
        return ", ".join(stated) or "none"
    told = re.search(r"^Text: (.+?) has ", asked, re.MULTILINE)
    if asked.startswith("Sub-type: "):
        return _open_question(asked, facts)
    if last == "New instruction:":
        return "A good question is short, and asks for reasons."
    if last == "Short question:":
        return f"What is known of {told[1] if told else 'all this'}?"
    if last == "Detailed question:":
        return f"What exactly is told of {told[1] if told else 'all this'}, fact by fact?"
    entity = re.search(r"^Entity: (.+)$", asked, re.MULTILINE)
    relation_ = re.search(r"^Relation: (.+)$", asked, re.MULTILINE)
    if entity and relation_ and facts:
        numbers = ", ".join(str(i) for i in range(1, len(facts) + 1))
        return f"Question: What is the {relation_[1]} of {entity[1]}?\nFacts: {numbers}"
    if entity and facts:
        return "\n".join(
            f"User: What is the {relation} of {entity[1] if i == 1 else 'it'}?\n"
            f"Agent: The {relation} of {head} is {value}.\nFacts: {i}"
            for i, (head, relation, value) in enumerate(facts[:3], 1)
        )
    return None


def by_rule(body: dict[str, Any]) -> Scripted:
    """Answers any request, always in the same words; see the module's docstring."""
    if "input" in body:
        return embeddings(body)
    if "prompt" in body:
        return echoed(body)
    asked = body["messages"][-1]["content"]
    whole = "\n".join(part["content"] for part in body["messages"])
    rating = re.search(r"^Rating for .+ \((\d+) to (\d+)\):$", asked, re.MULTILINE)
    sentence = re.search(r"^Sentence: (.+)\Z", asked, re.MULTILINE)
    verdicts = re.findall(r"\[\[(\w+)\]\]", whole)
    numbered = re.findall(r"^\[(\d+)\] (.+?) \(.+?\) \| (.+?) \| (.+)$", asked, re.MULTILINE)
    block = re.search(r"^(\S+) (.+)\n  (.+?): (.+)$", asked, re.MULTILINE)
    built = _of_builders(asked)
    if built is not None:
        text = built
    elif "</answers>" in whole:
        # What the first fact leads to, or by a random seed another: the end of a path, or a value.
        facts = re.findall(r"^.+ (?:\| .+ \||-\[.+\]->|<-\[.+\]-) (.+)$", asked, re.MULTILINE)
        first = (body.get("seed") or 0) % max(1, len(facts))
        text = "\n".join(["<answers>", *facts[first : first + 1], "</answers>"])
    elif body.get("response_format", {}).get("type") == "json_schema":
        text = json.dumps(_smallest(body["response_format"]["json_schema"]["schema"]))
    elif rating:
        text = str((int(rating[1]) + int(rating[2])) // 2)
    elif verdicts:
        text = f"The rule says so. [[{verdicts[-1]}]]"
    elif sentence:
        text = f"- {sentence[1]}"
    elif re.search(r"^Relations:\n1\. ", asked, re.MULTILINE):
        text = "1\n2"
    elif numbered:
        text = " ".join(f"{head}: {name} {value} [{i}]." for i, head, name, value in numbered[:2])
    elif block:
        id_, head, name, value = block.groups()
        text = f"{head}: {name} {value} [{id_}, {name}: {value}]."
    else:
        text = (
            f"I know {len(asked.split())} words of this question. Of the rest I know nothing [NA]."
        )
    if "ANSWER:" in whole:
        text = f"The question asks for one thing.\nANSWER: {text}"
    count = len(whole) // 4
    usage = {"prompt_tokens": count, "completion_tokens": len(text) // 4}
    chances = None
    if body.get("logprobs") and rating:
        half = math.log(0.5)
        chances = [(text, half, [(text, half), (str(int(text) + 1), half)])]
    reply = completion(text, usage=usage, logprobs=chances)
    return Scripted(200, reply, {"x-request-id": "req-rule"})


def with_faults(every: int) -> Rule:
    """Returns ``by_rule`` with every so many requests a fault, in turn."""
    faults = (
        error(429, "slow down", headers={"retry-after": "0"}),
        error(500, "on fire"),
        Scripted(200, {"choices": []}),
        Scripted(200, b"{ no JSON"),
        Scripted(200, completion("cut off in the middle"), cut=40),
        Scripted(200, completion(None, finish="content_filter")),
    )
    count = 0
    lock = threading.Lock()

    def rule(body: dict[str, Any]) -> Scripted:
        nonlocal count
        with lock:
            count += 1
            now = count
        if now % every == 0:
            return faults[(now // every - 1) % len(faults)]
        return by_rule(body)

    return rule


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--faults", type=int, metavar="N", help="a fault every N requests")
    parser.add_argument("--delay", type=float, default=0.0, metavar="S", help="before a reply")
    options = parser.parse_args()
    answer = with_faults(options.faults) if options.faults else by_rule

    def rule(body: dict[str, Any]) -> Scripted:
        time.sleep(options.delay)
        return answer(body)

    with stand_in(rule, port=options.port) as server:
        print(f"listening on {server.url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print(f"asked {len(server.requests)} times", flush=True)


if __name__ == "__main__":
    _main()
