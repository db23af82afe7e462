"""Making a view as a job with state, progress and cancel (S4)."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import NoReturn

import pytest
from demo_graph import request
from error_texts import check_text, raises

from graph_service import Service, open_service
from graph_service.artifacts import view_records
from graph_service.artifacts.view_jobs import ViewJobs
from graph_service.artifacts.views import ViewStore
from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.request import ViewRef
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store.lease import owner_name

DELETED = ViewSpec(Method.EDGE_DELETION, level=0.2, random_seed=5)
REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.2, random_seed=5)


def settled(service: Service, reference: str) -> StoredView:
    """The view, once its job has ended."""
    until = time.monotonic() + 600
    while time.monotonic() < until:
        view = service.views.get(reference)
        if view.state is not ViewState.RUNNING:
            return view
        time.sleep(0.01)
    raise AssertionError(f"still running: {view}")


class Held:
    """Arrays that a job gets only when the test says so."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.asked, self.go = threading.Event(), threading.Event()

    def __call__(self) -> KnowledgeGraph:
        self.asked.set()
        assert self.go.wait(600)
        return self._service.arrays(self._service.graph())


def begun(
    service: Service, held: Held, spec: ViewSpec = DELETED, name: str | None = None
) -> tuple[ViewJobs, StoredView]:
    jobs = ViewJobs(ViewStore(service.store))
    edges = service.graph().fingerprints.edges
    return jobs, jobs.start("demo", spec, edges=edges, arrays=held, name=name)


def test_a_view_made_in_the_background_is_the_one_made_at_once_s4(own_service: Service) -> None:
    first = own_service.views.create(DELETED, name="thin", note="why", wait=False)
    assert first.state in (ViewState.RUNNING, ViewState.DONE)
    made = settled(own_service, "thin")
    assert (made.state, made.progress, made.note) == (ViewState.DONE, 1.0, "why")
    assert made.deviation is not None
    own_service.views.delete("thin")
    at_once = own_service.views.create(DELETED, name="thin", note="why")
    assert replace(at_once, created_at=made.created_at) == made
    assert own_service.views.create(DELETED, wait=False) == at_once, "done is not made again"


def test_a_view_that_is_being_made_can_be_renamed(own_service: Service) -> None:
    held = Held(own_service)
    jobs, view = begun(own_service, held)
    assert held.asked.wait(600)
    renamed = own_service.views.update(view.id, name="later", note="a note")
    assert (renamed.state, renamed.name) == (ViewState.RUNNING, "later")
    other = own_service.views.create(REPLACED, name="first")
    with raises(InputError):
        own_service.views.update(other.id, name="later")
    held.go.set()
    made = settled(own_service, view.id)
    assert (made.state, made.name, made.note) == (ViewState.DONE, "later", "a note")
    jobs.close()


def test_progress_is_told_and_a_running_view_is_not_asked_s4(own_service: Service) -> None:
    held = Held(own_service)
    jobs, view = begun(own_service, held, name="slow")
    assert (view.state, view.progress, view.deviation) == (ViewState.RUNNING, 0.0, None)
    assert held.asked.wait(600)
    assert [one.state for one in own_service.views.list()] == [ViewState.RUNNING]
    with raises(InputError):
        own_service.retrieve(request(view=ViewRef(name="slow")))
    again = jobs.start("demo", DELETED, edges=own_service.graph().fingerprints.edges, arrays=held)
    assert again.id == view.id, "what is under way is not begun twice"
    held.go.set()
    assert settled(own_service, "slow").state is ViewState.DONE
    assert own_service.retrieve(request(view=ViewRef(name="slow"))).provenance.view_id == view.id
    shares: list[float] = []
    own_service.views.create(REPLACED, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_job_is_cancelled_and_can_be_begun_anew_s4(own_service: Service) -> None:
    held = Held(own_service)
    jobs, view = begun(own_service, held, name="slow")
    assert held.asked.wait(600)
    assert jobs.count() == 1
    edges = own_service.graph().fingerprints.edges
    cancelled = jobs.cancel("demo", "slow", edges=edges)
    assert cancelled.state is ViewState.CANCELLED
    held.go.set()
    jobs.close()
    assert jobs.count() == 0
    assert own_service.views.get("slow").state is ViewState.CANCELLED
    with pytest.raises(InputError, match=f"cancelled.*--from-view {view.id}"):
        own_service.retrieve(request(view=ViewRef(name="slow")))
    own_service.views.create(DELETED, wait=False)
    done = settled(own_service, view.id)
    assert (done.state, done.name) == (ViewState.DONE, "slow")
    assert own_service.views.cancel("slow") == done, "what is done stays"


def test_a_job_is_cancelled_from_another_process_s4(own_service: Service) -> None:
    """The store is what they share: the other process has no thread of this job."""
    held = Held(own_service)
    jobs, view = begun(own_service, held)
    assert held.asked.wait(600)
    with open_service(own_service.store.url, settings=own_service.settings) as other:
        assert other.views.cancel(view.id).state is ViewState.CANCELLED
    held.go.set()
    jobs.close()
    assert own_service.views.get(view.id).state is ViewState.CANCELLED


def test_a_view_deleted_while_it_is_made_stays_away_s4(own_service: Service) -> None:
    held = Held(own_service)
    jobs, view = begun(own_service, held)
    assert held.asked.wait(600)
    own_service.views.delete(view.id)
    held.go.set()
    jobs._jobs[f"demo/{view.id}"].thread.join(600)
    assert own_service.views.list() == []


def test_a_failed_job_says_why(own_service: Service) -> None:
    spec = replace(REPLACED, scorer="unheard-of")
    view = own_service.views.create(spec, wait=False)
    failed = settled(own_service, view.id)
    assert failed.state is ViewState.FAILED
    assert "unheard-of" in failed.error
    with raises(InputError):
        own_service.retrieve(request(view=ViewRef(id=view.id)))

    def broken() -> NoReturn:
        raise ValueError("a fault of ours")

    jobs = ViewJobs(ViewStore(own_service.store))
    edges = own_service.graph().fingerprints.edges
    other = jobs.start("demo", DELETED, edges=edges, arrays=broken)
    assert "internal error" in settled(own_service, other.id).error


def test_a_job_whose_process_died_has_failed(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(own_service)
    jobs, view = begun(own_service, held)
    assert held.asked.wait(600)
    monkeypatch.setattr(view_records, "ABANDONED_S", -1.0)
    lost = own_service.views.get(view.id)
    assert lost.state == ViewState.FAILED
    check_text(lost.error)
    monkeypatch.undo()
    held.go.set()
    jobs.close()


def test_a_job_of_a_killed_process_of_this_machine_is_lost_at_once(own_service: Service) -> None:
    """No silence to wait for: the process that began it is known to be gone."""
    held = Held(own_service)
    jobs, view = begun(own_service, held)
    assert held.asked.wait(600)
    key = f"demo/{view.id}"
    record = own_service.store.get_record(view_records.KIND, key)
    assert record is not None
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    fields = {**record.json, "maker": owner_name(ended.pid)}
    own_service.store.save_record(replace(record, json=fields))
    lost = own_service.views.get(view.id)
    assert lost.state == ViewState.FAILED
    check_text(lost.error)
    held.go.set()
    jobs.close()


def test_closing_the_service_ends_its_jobs(own_service: Service) -> None:
    with open_service(own_service.store.url, settings=own_service.settings) as other:
        views = [
            other.views.create(replace(DELETED, random_seed=seed), wait=False) for seed in range(6)
        ]
    assert threading.active_count() < 20
    states = {own_service.views.get(view.id).state for view in views}
    assert ViewState.RUNNING not in states
