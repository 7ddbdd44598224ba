"""What was acknowledged is there after the stack was stopped, and after it was killed."""

from itertools import count
from threading import Thread

import lakefs
import pytest

from tests.acceptance.clients import connect, create_repository
from tests.support.servers.stack import Stack

pytestmark = pytest.mark.server

LARGE = bytes(range(256)) * 40_000


@pytest.fixture(scope="module")
def repository(own_stack: Stack) -> lakefs.Repository:
    """A repository with a history, conflicts settled, tags, and changes that are not committed."""
    created = create_repository(connect(own_stack))
    main, dev = created.branch("main"), created.branch("dev")
    for number in range(50):
        main.object(f"folder/{number:02}").upload(f"content {number}", metadata={"n": str(number)})
    main.object("large").upload(LARGE, mode="wb")
    main.object("empty").upload("")
    main.commit("fifty files", metadata={"k": "v"})
    dev.create(main)
    for branch in (main, dev):
        branch.object("folder/00").upload(branch.id)
        branch.object(branch.id).upload(branch.id)
        branch.commit(branch.id)
    created.tag("before").create(main)
    dev.merge_into(main, strategy="source-wins")
    main.object("folder/01").delete()
    main.object("uncommitted").upload("yes")
    dev.object("dev only").upload("uncommitted too")
    return created


def everything(stack: Stack, name: str) -> object:
    """All that a user can see of the repository, with a client that knows nothing yet."""
    repository = lakefs.Repository(name, connect(stack))
    branches, tags = list(repository.branches()), list(repository.tags())
    return (
        repository.properties,
        [(branch.id, branch.head.id, [vars(c) for c in branch.log()]) for branch in branches],
        [(tag.id, tag.get_commit().id) for tag in tags],
        [[(c.path, c.type) for c in branch.uncommitted()] for branch in branches],
        [
            (reference.id, found, reference.object(found.path).reader().read())
            for reference in (*branches, *tags)
            for found in reference.objects()
        ],
    )


@pytest.mark.long
def test_all_is_as_it_was_after_a_stop_and_after_a_kill(own_stack, repository):
    before = everything(own_stack, repository.id)
    own_stack.restart()
    assert everything(own_stack, repository.id) == before
    own_stack.kill()
    own_stack.start()
    assert everything(own_stack, repository.id) == before


def test_no_acknowledged_write_or_commit_is_lost_in_a_kill(own_stack, repository):
    """Four writers, and one that commits, run into a kill; each has noted what it was told."""
    written: list[str] = []
    committed: list[str] = []
    first = repository.branch("main").head.id

    def write(writer: int) -> None:
        client = connect(own_stack)
        for number in count():
            path = f"killed/{writer}/{number:05}"
            lakefs.Branch(repository.id, "main", client).object(path).upload(path, pre_sign=False)
            written.append(path)

    def commit() -> None:
        branch = lakefs.Branch(repository.id, "main", connect(own_stack))
        while True:
            committed.append(branch.commit("while writing", allow_empty=True).id)

    threads = [Thread(target=until_it_fails, args=(write, number)) for number in range(4)]
    threads.append(Thread(target=until_it_fails, args=(commit,)))
    for thread in threads:
        thread.start()
    while len(written) < 200 or len(committed) < 5:
        assert any(thread.is_alive() for thread in threads)
    own_stack.kill()
    for thread in threads:
        thread.join()
    own_stack.start()

    main = lakefs.Branch(repository.id, "main", connect(own_stack))
    kept = {found.path for found in main.objects(prefix="killed/")}
    assert set(written) <= kept
    for path in written[-40:]:
        assert main.object(path).reader("r").read() == path
    log = [found.id for found in main.log(stop_at=first)]
    assert [commit_id for commit_id in reversed(log) if commit_id in committed] == committed
    # What is in doubt is whole: it can be read and committed.
    main.commit("after the kill", allow_empty=True)
    assert {found.path for found in main.objects(prefix="killed/")} == kept


def until_it_fails(act, *arguments: int) -> None:
    """Act until the stack is gone; the clients have many errors for that."""
    try:
        act(*arguments)
    except Exception:  # noqa: BLE001 - whatever the client says, the server is dead
        return
