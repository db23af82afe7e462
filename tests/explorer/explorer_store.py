"""The store that the explorer is tried on: the demo, labels that try to break out, and many edges."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from graph_service import open_service
from graph_service.client import Client
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store import open_store
from loaders.load import load
from queries.datasets.demo_set import demo_slice

IMAGE = '<img src=x onerror="window.broken=1">'
LABELS = {
    "Q900": "Hub <b>of</b> all",
    "Q901": IMAGE,
    "Q902": "<script>window.broken=1</script>",
    "Q903": "\u202eabc\u05d0\u05d1\u05d2",
    "Q904": "👩‍👩‍👧‍👦🎉",
    "Q905": "x" * 1_000,
    "Q906": " ",
    "Q907": "javascript:alert(1)",
    "Q908": "\"]}'); --",
}
LARGE_EDGES = 6_000
SPOKES = 300


def entity(id_: str, label: str, values: list[str], relation: str = "P1") -> dict[str, object]:
    """Returns an entity as Wikibase writes it."""
    claims = [
        {
            "id": f"{id_}${relation}-{at}",
            "type": "statement",
            "rank": "normal",
            "mainsnak": {
                "snaktype": "value",
                "property": relation,
                "datatype": "wikibase-item",
                "datavalue": {
                    "type": "wikibase-entityid",
                    "value": {"entity-type": "item", "id": value},
                },
            },
        }
        for at, value in enumerate(values)
    ]
    return {
        "type": "item",
        "id": id_,
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {},
        "aliases": {},
        "claims": {relation: claims} if claims else {},
        "sitelinks": {},
    }


def make_store(folder: Path) -> str:
    """Returns the address of a store with graphs ``demo``, ``hostile`` and ``large``."""
    address = f"sqlite:///{folder / 'explorer.db'}"
    hostile = [
        entity("Q900", LABELS["Q900"], [id_ for id_ in LABELS if id_ != "Q900"]),
        *(entity(id_, label, []) for id_, label in LABELS.items() if id_ != "Q900"),
    ]
    spokes = [f"Q{10_000 + at}" for at in range(SPOKES)]
    large = [
        entity("Q9000", "Wheel", spokes),
        *(entity(id_, f"Spoke {at}", []) for at, id_ in enumerate(spokes)),
    ]
    large += [
        entity(
            f"Q{20_000 + at}",
            f"Thing {at}",
            [f"Q{20_000 + (7 * at + k) % 1_000}" for k in range(6)],
        )
        for at in range(LARGE_EDGES // 6)
    ]
    with open_store(address) as store:
        load(demo_slice(), store=store, graph="demo")
        for name, entities in (("hostile", hostile), ("large", large)):
            file = folder / f"{name}.jsonl"
            file.write_text("".join(f"{json.dumps(one)}\n" for one in entities), encoding="utf-8")
            load(file, store=store, graph=name)
    with open_service(address) as service, Client.over(service) as client:
        rewired = ViewSpec(Method.EDGE_REWIRING, level=0.85, random_seed=1)
        client.create_view(rewired, graph="large", name="rewired")
        deleted = ViewSpec(Method.EDGE_DELETION, level=0.3)
        client.create_view(deleted, graph="demo", name="deleted")
    return address


def make_experiments(folder: Path) -> Path:
    """Returns a folder of two experiments, of which one is damaged."""
    # What lies beside this folder is not on the path of these tests.
    spec = spec_from_file_location(
        "experiment_folder", Path(__file__).parents[1] / "experiment_folder.py"
    )
    assert spec
    assert spec.loader
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    made.make_experiment(folder / "small", name="Four methods")
    damaged = made.make_experiment(folder / "damaged", name=IMAGE) / "curves.csv"
    damaged.write_bytes(damaged.read_bytes()[:-9])
    return folder
