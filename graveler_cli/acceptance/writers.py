"""The step on concurrency: writers of one branch at the same time."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from graveler_cli.acceptance.api import CheckedAnswer, CheckFailedError, expect_equal
from graveler_cli.acceptance.world import AcceptanceWorld

T = TypeVar("T")

_WRITERS = 2
_ROUNDS = 4

# The API asks clients to try again when many update one branch.
_AGAIN = (429, 503)
_TRIES_MAX = 20


def concurrent_writers(world: AcceptanceWorld) -> None:
    """Two writers upload and commit to one branch; no object and no commit is lost."""
    branch = world.create_branch("shared")
    base = world.head("shared")
    outcomes = _at_once(_WRITERS, lambda number: _write(world, branch, number))
    made = [commit for commits in outcomes for commit in commits]
    head = _commit_rest(world, branch)
    listing = f"{world.path}/refs/{head}/objects/ls"
    found = world.api.send("GET", listing, amount="1000").expect(200)
    expected = sorted(f"{w}/{r}" for w in range(_WRITERS) for r in range(_ROUNDS))
    paths = [path for path in found.each("path") if str(path)[0].isdigit()]
    expect_equal("the objects of both writers", paths, expected)
    for path in expected:
        world.expect_content("shared", path, path.encode())
    log = world.api.send("GET", f"{world.path}/refs/shared/commits", amount="100").expect(200)
    ids = log.each("id")
    lost = [commit for commit in made if commit not in ids]
    expect_equal("the commits that the log misses", lost, [])
    expect_equal("whether the log leads to the start", base in ids, True)  # noqa: FBT003

    target = f"{branch}/objects"
    kind = {"Content-Type": "application/octet-stream", "If-None-Match": "*"}

    def claim(number: int) -> int:
        content = str(number).encode()
        return _again(
            lambda: world.api.send("POST", target, content=content, headers=kind, path="once")
        ).status

    statuses = sorted(_at_once(_WRITERS, claim))
    expect_equal("two creations of one object at once", statuses, [201, 412])


def _write(world: AcceptanceWorld, branch: str, writer: int) -> list[str]:
    """Upload and commit in turns; return the commits that this writer made."""
    kind = {"Content-Type": "application/octet-stream"}
    made = []
    for number in range(_ROUNDS):
        path = f"{writer}/{number}"
        content = path.encode()

        def upload(path: str = path, content: bytes = content) -> CheckedAnswer:
            url = f"{branch}/objects"
            return world.api.send("POST", url, content=content, headers=kind, path=path)

        _again(upload).expect(201)

        def commit_now(path: str = path) -> CheckedAnswer:
            body = {"message": f"{path} by writer {writer}"}
            return world.api.send("POST", f"{branch}/commits", body)

        # 400: the other writer's commit included this object.
        commit = _again(commit_now)
        if commit.expect(201, 400).status == 201:
            made.append(commit.text("id"))
    return made


def _commit_rest(world: AcceptanceWorld, branch: str) -> str:
    """Commit what is still staged, if anything is; return the head."""
    world.api.send("POST", f"{branch}/commits", {"message": "rest"}).expect(201, 400)
    staged = world.api.send("GET", f"{branch}/diff").expect(200).each("path")
    expect_equal("what is staged after the commits", staged, [])
    return world.head("shared")


def _again(send: Callable[[], CheckedAnswer]) -> CheckedAnswer:
    """Return the first answer that does not ask to try again.

    Raises:
        CheckFailedError: every answer asks for it.
    """
    for _ in range(_TRIES_MAX):
        answer = send()
        if answer.status not in _AGAIN:
            return answer
        time.sleep(0.25)
    raise CheckFailedError(f"{answer.request} answered {answer.status} for {_TRIES_MAX} times")


def _at_once(writers: int, work: Callable[[int], T]) -> list[T]:
    with ThreadPoolExecutor(writers) as pool:
        return list(pool.map(work, range(writers)))
