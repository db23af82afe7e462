"""Attacks by pages of other sites that a user of this machine visits."""

from __future__ import annotations

import httpx
from server_process import server_process

from tools.attack.target import PATIENCE_S, Target, code_of


def rebinding(target: Target) -> str:
    """A page that gives its own name the server's address deletes a graph."""
    headers = {"host": "attacker.example:8000", "origin": "http://attacker.example:8000"}
    document = {"query": 'mutation { deleteGraph(input: {name: "none"}) { name } }'}
    options = ("--host", "0.0.0.0", "--insecure", "--writable")
    with server_process(target.store, *options) as server:
        response = httpx.post(
            f"{server.url}/graphql", json=document, headers=headers, timeout=PATIENCE_S
        )
    assert response.status_code == 421, response.text[:200]
    return f"HTTP {response.status_code} {code_of(response)}"
