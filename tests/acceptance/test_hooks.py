"""Hooks as users meet them: real clients, a real web server, and processes that are killed."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urljoin

import lakefs
import pytest
import requests
from lakefs.exceptions import ServerException

from tests.acceptance.clients import connect, create_repository
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

PATIENCE_S = 300


class Target(ThreadingHTTPServer):
    """A web server on this machine that remembers its events.

    /no refuses, /slow takes a while, and /stuck refuses when the test is over.
    """

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.told: list[dict[str, Any]] = []
        self.is_over = threading.Event()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"


class _Handler(BaseHTTPRequestHandler):
    server: Target

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append(json.loads(body))
        if self.path == "/slow":
            time.sleep(30)
        if self.path == "/stuck":
            self.server.is_over.wait()
        self.send_response(403 if self.path in ("/no", "/stuck") else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def target() -> Iterator[Target]:
    with Target() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.is_over.set()
        server.shutdown()


def install(branch: lakefs.Branch, events: str, url: str) -> None:
    text = f"name: quality\non: {{{events}}}\nhooks: [{{id: check, type: webhook, properties: {{url: '{url}'}}}}]"
    branch.object("_lakefs_actions/quality.yaml").upload(text)


def runs(repository: lakefs.Repository) -> list[Any]:
    found: list[Any] = repository._client.sdk_client.actions_api.list_repository_runs(
        repository.id
    ).results
    return found


def until(found: Any) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not found():
        assert time.monotonic() < deadline_s, "it does not happen"
        time.sleep(0.2)


def test_a_refused_commit_says_why_and_the_next_one_succeeds(repository, main, target):
    install(main, "pre-commit: ", target.url("no"))
    with pytest.raises(ServerException, match="pre-commit hook aborted, run id") as refused:
        main.commit("guarded")
    assert refused.value.status_code == 412
    (run,) = runs(repository)
    assert (run.status, run.event_type) == ("failed", "pre-commit")
    install(main, "pre-commit: ", target.url("yes"))
    commit = main.commit("checked").get_commit()
    assert target.told[-1]["commit_message"] == "checked"
    until(lambda: commit.id in [run.commit_id for run in runs(repository)])


def test_hooks_before_and_after_a_merge_run(repository, main, target):
    main.object("base").upload("1")
    main.commit("base")
    dev = repository.branch("dev").create(main)
    install(dev, "pre-merge: , post-merge: ", target.url("yes"))
    dev.commit("action")
    merged = dev.merge_into(main)
    until(lambda: len(runs(repository)) == 2)
    # Runs of one second come in any order.
    assert {run.event_type for run in runs(repository)} == {"post-merge", "pre-merge"}
    assert {told["commit_id"] for told in target.told} == {merged}
    assert {told["merge_source"] for told in target.told} == {"dev"}


def start_commit(stack: Stack, repository: lakefs.Repository, message: str) -> str:
    """Start a task that commits `main`; return the URL of its status."""
    url = f"{stack.endpoint}/api/v1/repositories/{repository.id}/branches/main/commits/async"
    keys = (stack.access_key_id, stack.secret_access_key)
    started = requests.post(url, json={"message": message}, auth=keys, timeout=300)
    assert started.status_code == 202, started.text
    return f"{url}/{started.json()['id']}/status"


def test_hooks_that_get_no_answer_delay_no_task_of_another_repository(
    stack, repository, main, target
):
    install(main, "pre-commit: ", target.url("stuck"))
    for number in range(12):
        start_commit(stack, repository, f"stuck {number}")
    until(lambda: len(target.told) == 12)
    other = create_repository(connect(stack))
    other.branch("main").object("a").upload("1")
    status = start_commit(stack, other, "quiet")
    keys = (stack.access_key_id, stack.secret_access_key)
    until(lambda: requests.get(status, auth=keys, timeout=300).json()["completed"])


def test_requests_that_wait_for_hooks_leave_others_their_places(stack, repository, main, target):
    install(main, "pre-commit: ", target.url("stuck"))
    keys = (stack.access_key_id, stack.secret_access_key)
    url = f"{stack.endpoint}/api/v1/repositories/{repository.id}/branches/main"
    answered: list[int] = []

    def wait(number: int) -> None:
        request = {"message": f"stuck {number}"}
        while True:
            asked = requests.post(place[number], json=request, auth=keys, allow_redirects=False)
            place[number] = urljoin(place[number], asked.headers.get("Location", ""))
            answered.append(asked.status_code)
            if asked.status_code != 307 or target.is_over.is_set():
                return

    place = [f"{url}/commits"] * 40
    with ThreadPoolExecutor(len(place)) as pool:
        waits = [pool.submit(wait, number) for number in range(len(place))]
        until(lambda: answered.count(307) == len(place))  # all of them wait again
        found = requests.get(
            f"{stack.endpoint}/api/v1/repositories/{repository.id}", auth=keys, timeout=PATIENCE_S
        )
        assert (found.status_code, answered) == (200, [307] * len(place))
        target.is_over.set()
    for each in waits:
        each.result()


@pytest.mark.long  # as long as the longest request
def test_a_hook_that_takes_longer_than_a_request_is_waited_for(repository, main, target):
    install(main, "pre-commit: ", target.url("slow"))
    made = main.commit("patience").get_commit()
    assert main.get_commit().id == made.id
    assert len(target.told) == 1


@pytest.mark.long
def test_hooks_after_a_commit_run_although_the_stack_is_killed(
    tmp_path_factory: pytest.TempPathFactory, target: Target
) -> None:
    stack = Stack(tmp_path_factory.mktemp("hooks"))
    try:
        repository = create_repository(connect(stack))
        main = repository.branch("main")
        install(main, "post-commit: ", target.url("yes"))
        made = main.commit("before the end").get_commit()
        stack.kill()
        stack.start()
        until(lambda: target.told)
        assert target.told[0]["commit_id"] == made.id
        again = lakefs.Repository(repository.id, connect(stack))
        until(lambda: [run.status for run in runs(again)] == ["completed"])
    finally:
        stack.stop()
