"""A server under mixed traffic at twice its capacity, for long: what it refuses, holds and mixes.

    python -m benchmarks.soak run --data ../shared/data --keep /tmp/soak
    python -m benchmarks.soak report --keep /tmp/soak

``run`` loads two graphs into a store of its own (once: the folder is kept), serves it by
``graph-service serve``, measures its capacity, and sends twice as much while a graph is loaded anew
again and again and views are made. Every request and every look at the processes is a line of
``run.jsonl``, so ``report`` says what a run came to that was interrupted, too. The exit code is 1
where anything failed that ``benchmarks.soak.verdict`` looks at.
"""
