"""What a client is told when a store has no answer in time."""

import pytest

from graveler.aws import deadlines
from graveler.errors import ThrottledError, UnknownOutcomeError
from tests.support.clients.api import ApiClient, Reply, event

BRANCH = {"name": "new", "source": "main"}
ADVICE = "it may have taken effect: read before you repeat it"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


def fail(api: ApiClient, monkeypatch: pytest.MonkeyPatch, error: Exception, *, late: bool) -> None:
    """Let requests fail when they read a branch, after a write if it is late."""

    def no_time(*_: object) -> None:
        if late:
            deadlines.write_landed()
        raise error

    for name in ("branch", "repository_and_branch", "create_branch"):
        monkeypatch.setattr(api.engine.refs, name, no_time)


def create_branch(api: ApiClient) -> Reply:
    return api.ask("POST", "/repositories/repo/branches", BRANCH)


def test_who_ran_out_of_time_before_a_change_may_repeat_it(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(api, monkeypatch, ThrottledError("no answer"), late=False)
    reply = create_branch(api)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "1")
    assert reply.json == {"message": "no answer"}


def test_who_ran_out_of_time_amid_a_change_is_told_to_look_first(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(api, monkeypatch, ThrottledError("no answer"), late=True)
    reply = create_branch(api)
    assert (reply.status, "Retry-After" in reply.headers) == (503, False)
    assert reply.json == {"message": "no answer", "details": ADVICE}


def test_who_gets_no_answer_to_a_write_is_told_to_look_first(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(api, monkeypatch, UnknownOutcomeError("no answer"), late=False)
    reply = create_branch(api)
    assert (reply.status, "Retry-After" in reply.headers) == (503, False)
    assert reply.json == {"message": "no answer", "details": ADVICE}


def test_a_read_may_always_be_repeated(api: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    fail(api, monkeypatch, ThrottledError("no answer"), late=True)
    reply = api.ask("GET", "/repositories/repo/branches/main")
    assert (reply.status, reply.headers["Retry-After"]) == (503, "1")


def test_a_request_ends_before_its_function_does(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Context:
        def get_remaining_time_in_millis(self) -> int:
            return 20_000

    left: list[float] = []
    read = api.engine.refs.repository

    def noted(name: str) -> object:
        left.append(deadlines.left_s())
        return read(name)

    monkeypatch.setattr(api.engine.refs, "repository", noted)
    headers = {"authorization": api.authorization}
    api.app(event("GET", "/api/v1/repositories/repo", headers=headers), Context())
    assert left
    assert all(10 < each < 19 for each in left)
    assert deadlines.left_s() > 10**9
