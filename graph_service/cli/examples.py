"""Example commands that end each verb's ``--help``; tests parse every one."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "load": (
        "load rome.nt --graph rome",
        "load latest-all.json.bz2 --graph writers --having P106=Q36180 --language en",
        "load triples.tsv --graph mine --columns head,relation,tail",
        "load wikidata:Q42 --hops 2 --graph adams --contact you@example.org",
    ),
    "graphs": ("graphs", "graphs delete rome --yes"),
    "export": (
        "export demo.jsonl.gz --graph demo",
        "export r30.nt --graph demo --view rr:0.3:1",
    ),
    "backup": ("backup copy.db --store sqlite:///graph.db",),
    "snapshot": (
        "snapshot push /mnt/shared/snapshots --graph demo",
        "snapshot pull s3://bucket/snapshots --graph demo",
    ),
    "cluster": (
        "cluster view create demo.parquet --method edge-deletion --level 0.3 --to ed30",
        "cluster view store ed30 --graph demo --name ed30",
    ),
    "verify": ("verify --store sqlite:///graph.db", "verify --graph demo --json"),
    "search": ('search "Douglas Adams" --graph demo',),
    "item": ("item Q42", "item dbr:Rome --view rr:0.3:1 --limit 20"),
    "passages": (
        "passages load texts/ --graph demo",
        'passages search "Who founded Rome?" --limit 5',
    ),
    "pageviews": (
        "pageviews fetch --graph demo --contact you@example.org",
        "pageviews load views.tsv --graph demo",
    ),
    "sample": ("sample --graph demo --per-level 500 --random-seed 7 --out sample.jsonl",),
    "retrieve": (
        'retrieve "Which currency is used in Rome?" --strategy paths --limit 3',
        'retrieve "Which currency is used in Rome?" --view rr:0.3:1 --explain',
        "retrieve --questions questions.jsonl --strategy subgraph --out results.jsonl",
    ),
    "view": (
        "view create --method rr --level 0.3 --random-seed 1 --name r30",
        "view list",
        "view diff r30",
        "view update r30 --name noisy",
        "view sweep --methods rr,ed --levels 0.1,0.3 --random-seeds 0-2 --out sweep.jsonl",
        "view figure sweep.jsonl --out sweep.svg",
    ),
    "compare": ('compare "Which currency is used in Rome?" rs:0.3:1 rr:0.3:1 er:0.3:1 ed:0.3:1',),
    "scorer": ("scorer train --graph demo", "scorer list", "scorer delete trained"),
    "answer": (
        'answer "Which currency is used in Rome?"',
        "answer --questions questions.jsonl --model NAME --model-url URL --out answers.jsonl",
    ),
    "prompt": ("prompt list", "prompt show kalma"),
    "questions": ("questions questions.jsonl --first 5",),
    "experiment": (
        "experiment plan PLAN.yaml",
        "experiment run PLAN.yaml --out DIR --workers 2",
        "experiment report PLAN.yaml --out DIR",
        "experiment pack PLAN.yaml --out DIR --to run.zip --licence URL",
    ),
    "robustness": (
        "robustness list",
        "robustness make pathquestion/path-1/v1 --data FOLDER --out DIR",
        "robustness run pathquestion/path-1/v1 --out DIR",
        "robustness verify --out DIR",
    ),
    "dataset": (
        "dataset kalma build --graph demo --relation P26 --corpus texts.txt --model NAME "
        "--model-url URL --out DIR",
        "dataset okgqa build --graph demo --model NAME --model-url URL --out DIR",
        "dataset ltgen build --sample sample.jsonl --model NAME --model-url URL --out DIR",
        "dataset kalma check --out DIR",
        "dataset live --graph demo --from 1 --to 2 --out DIR",
    ),
    "papers": (
        "papers kalma --graph demo --model NAME --model-url URL --out DIR",
        "papers talec --texts texts.jsonl --criteria own.yaml --model NAME --out DIR",
    ),
    "rank": (
        "rank train train.txt --label-file labels.tsv --out ranker.npz",
        "rank measure valid.txt --ranker ranker.npz --label-file labels.tsv --also train.txt",
        'rank relations "Who directed it?" --entity Q42 --ranker ranker.npz',
    ),
    "retriever": (
        "retriever train --graph demo --questions mine.jsonl",
        "retriever list",
    ),
    "score": (
        "score citations answers.jsonl --gold questions.jsonl",
        "score withheld --graph demo --templates",
    ),
    "serve": (
        "serve --store sqlite:///graph.db",
        "serve --host 0.0.0.0 --port 8080 --threads 16",
        "serve --host 0.0.0.0 --keys keys.json",
        "serve --documents page.json --documents client.json",
    ),
    "documents": ("documents", "documents explorer"),
    "keys": ("keys add alice --graph films", "keys list", "keys revoke alice"),
    "mcp": (
        "mcp --store sqlite:///graph.db --graph demo",
        "mcp --server http://127.0.0.1:8000 --http 127.0.0.1:8001",
    ),
    "doctor": ("doctor", "doctor --settings"),
    "bench": ("bench quality --format metaqa --graph-file kb.txt --questions qa_dev.txt",),
    "demo": ("demo", "demo --serve", "demo --sweep", "demo --keep demo.db"),
    "model": ("model fetch", "model fetch e5-small", "model check"),
    "completion": ("completion bash", "completion zsh"),
}
