"""A scoring that is killed (SIGKILL) in the middle of a case goes on and asks nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

from openai_stand_in import Scripted, completion, stand_in

from queries.score.criteria import load_criteria


def test_killed_in_the_middle_of_a_case_and_gone_on_with(tmp_path: Path) -> None:
    cases = tmp_path / "texts.jsonl"
    cases.write_text(
        "\n".join(
            json.dumps({"id": str(i), "question": "Who?", "text": f"Ada {i}."}) for i in range(4)
        )
    )
    labels = len(load_criteria().labels)
    killed = threading.Event()
    asked = count()

    def reply(_: dict[str, Any]) -> Scripted:
        # The request in the middle of the second case is under way until the process is killed.
        if next(asked) == labels + labels // 2:
            killed.wait(600)
        return Scripted(
            200, completion("[[B]]", usage={"prompt_tokens": 1, "completion_tokens": 1})
        )

    with stand_in(reply) as server:
        command = [
            sys.executable, "-m", "graph_service.cli", "score", "talec", str(cases), "--method",
            "zero-shot", "--out", str(tmp_path / "run.jsonl"), "--model", "judge", "--model-url",
            server.url,
        ]  # fmt: skip
        environment = {**os.environ, "OPENAI_API_KEY": "k"}
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        waited = time.monotonic() + 600
        # One case is written, and the second is half judged.
        while len(server.requests) <= labels + labels // 2:
            assert time.monotonic() < waited
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
        process.wait()
        killed.set()
        written = (tmp_path / "run.jsonl").read_bytes()
        before = len(server.requests)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        after = len(server.requests)
    assert written.count(b"\n") == 1
    assert (tmp_path / "run.jsonl").read_bytes().startswith(written)
    assert "1 case was scored in" in done.stderr
    assert "score (0 to 2)" in done.stdout
    assert len((tmp_path / "run.jsonl").read_bytes().splitlines()) == 4
    # 4 texts and 6 labels are 24 requests; the one under way when it was killed may come again.
    different = {json.dumps(request, sort_keys=True) for request in server.requests}
    assert len(different) == 4 * labels
    assert after - len(different) <= 1
    assert before < after
