"""A small world, every operation that changes it, and its state as users see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from graveler.branches.views import ObjectStat
from graveler.committed.store import Breaking
from graveler.engine import Engine
from graveler.errors import (
    AlreadyExistsError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
    PreconditionFailedError,
)
from graveler.model import ProtectionRule, Requirement
from graveler.model.pulls import PullRequestStatus, PullRequestUpdate
from graveler.operations import (
    branches,
    commits,
    links,
    merges,
    objects,
    presigned_uploads,
    pulls,
    replays,
    repositories,
    tags,
    writes,
)
from graveler.ports import UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.engines import MemoryWorld, memory_world

REPO = "repo"
NAMESPACE = "s3://bucket/repo"

Operation = Callable[[Engine], object]

ABSENT = Requirement(is_absent=True)
PRESENT = Requirement(is_present=True)

# The errors of a retry whose earlier attempt took effect.
DONE_ALREADY = (AlreadyExistsError, InvalidInputError, NotFoundError, PreconditionFailedError)


def upload(
    engine: Engine, path: bytes, content: bytes = b"new", branch: str = "main", **options: Any
) -> ObjectStat:
    """Upload an object."""
    return writes.upload(
        engine,
        REPO,
        branch,
        path,
        read_content=lambda: (content, "text/plain"),
        metadata={},
        **options,
    )


def commit(engine: Engine, branch: str = "main", message: str = "commit") -> object:
    """Commit the staged changes."""
    return commits.commit(engine, REPO, branch, commits.CommitRequest(message, "somebody"))


def contents(engine: Engine, ref: str) -> Mapping[bytes, str]:
    """Return the checksum of every object at the ref, by path."""
    page = objects.list_objects(engine, REPO, ref, PageQuery(1000))
    return {
        item.path: item.entry.checksum + str(item.entry.metadata)
        for item in page.results
        if not isinstance(item, CommonPrefix)
    }


def outside(engine: Engine) -> object:
    """Return everything that users can see, except IDs and times: equal for equal states."""
    seen: dict[str, object] = {}
    for repository in repositories.list_page(engine, prefix="", after="", amount=10).results:
        seen[repository.name] = (
            repository.storage_namespace,
            repository.protection_rules,
            dict(repositories.metadata(engine, repository.name)),
        )
    for branch in branches.list_page(engine, REPO, prefix="", after="", amount=10).results:
        log = commits.log(engine, REPO, branch.name, commits.LogQuery(100)).results
        seen["branch " + branch.name] = (
            contents(engine, branch.name),
            contents(engine, branch.name + "@"),
            [(commit.message, len(commit.parents)) for commit in log],
        )
    for tag in tags.list_page(engine, REPO, prefix="", after="", amount=10).results:
        seen["tag " + tag.name] = contents(engine, tag.name)
    for pull in pulls.list_page(engine, REPO, "", "", 10).results:
        seen["pull request " + pull.title] = (pull.status, pull.description)
    return seen


def prepared_world() -> MemoryWorld:
    """Return a world: main with staged changes, diverged branches `clean` and `dev`, tags."""
    return _prepared_world().anew()


@cache
def _prepared_world() -> MemoryWorld:
    world = memory_world(Breaking(2))
    engine = world.engine()
    repositories.create(engine, name=REPO, storage_namespace=NAMESPACE)
    for path in (b"a", b"b/1", b"b/2", b"c"):
        upload(engine, path, b"first " + path)
    commit(engine, message="first")
    for name in ("dev", "clean"):
        branches.create(engine, REPO, name=name, source="main")
        upload(engine, name.encode(), b"on " + name.encode(), branch=name)
        upload(engine, b"b/1", b"on both", branch=name)
        commit(engine, name, f"on {name}")
        tags.create(engine, REPO, name=f"on-{name}", ref=name)
    upload(engine, b"d", b"second")
    commit(engine, message="second")
    tags.create(engine, REPO, name="v1", ref="main")
    upload(engine, b"a", b"staged")
    upload(engine, b"e", b"staged")
    writes.delete(engine, REPO, "main", b"b/2")
    pulls.create(engine, REPO, pulls.NewPullRequest("somebody", "dev", "clean", "open"))
    return world


def the_pull_request(engine: Engine) -> str:
    """Return the ID of the world's first pull request, from dev to clean."""
    return pulls.list_page(engine, REPO, "", "", 10).results[-1].id


def _stage(engine: Engine) -> object:
    return links.stage(
        engine,
        REPO,
        "main",
        b"staged",
        links.StoredData(
            physical_address="s3://elsewhere/x", checksum="abc", size_bytes=3, metadata={"k": "v"}
        ),
    )


def _link(engine: Engine) -> object:
    address = links.get_physical_address(engine, REPO, "main", b"linked")
    return links.link(
        engine,
        REPO,
        "main",
        b"linked",
        links.StoredData(physical_address=address, checksum="abc", size_bytes=3),
    )


def _multipart(engine: Engine) -> object:
    upload = presigned_uploads.create(engine, REPO, "main", b"parts", parts=1)
    address = upload.physical_address
    part = presigned_uploads.copy_part(
        engine,
        REPO,
        "main",
        b"parts",
        upload.upload_id,
        1,
        physical_address=address,
        source_ref="main",
        source_path=b"c",
    )
    return presigned_uploads.complete(
        engine,
        REPO,
        "main",
        b"parts",
        upload.upload_id,
        physical_address=address,
        parts=[UploadedPart(1, part.checksum)],
        metadata={},
    )


def _merge(engine: Engine, **options: Any) -> object:
    request = merges.MergeRequest("somebody", **options)
    return merges.merge(engine, REPO, "dev", "clean", request)


def _rules(engine: Engine) -> None:
    rules = [ProtectionRule("release-*")]
    repositories.set_protection_rules(engine, REPO, rules)


@dataclass(frozen=True)
class Scenario:
    """One operation on the prepared world."""

    name: str
    run: Operation

    def attempt(self, engine: Engine) -> GravelerError | None:
        """Run the operation; return its error, or None."""
        try:
            self.run(engine)
        except GravelerError as error:
            return error
        return None

    @cache  # noqa: B019 - scenarios are few, and live as long as the tests
    def outcomes(self) -> tuple[object, object]:
        """Return what users see before and after the operation."""
        world = prepared_world()
        before = outside(world.engine())
        self.run(world.engine())
        return before, outside(world.engine())

    @property
    def repeats_itself(self) -> bool:
        """Whether a second run takes effect again, because the history does not show the first."""
        return self.name in ("squash", "cherry-pick", "create pull request")

    @property
    def has_steps(self) -> bool:
        """Whether it consists of several operations, which users may see one by one."""
        return self.name == "commit of everything deleted"


_OPERATIONS: Mapping[str, Operation] = {
    "upload": partial(upload, path=b"f"),
    "upload over another": partial(upload, path=b"c"),
    "upload where nothing is": partial(upload, path=b"f", requirement=ABSENT),
    "upload where something was deleted": partial(upload, path=b"b/2", requirement=ABSENT),
    "upload where something is": partial(upload, path=b"c", requirement=PRESENT),
    "stage": _stage,
    "link": _link,
    "multipart upload": _multipart,
    "copy": lambda engine: writes.copy(
        engine, REPO, "main", b"copied", source_ref="v1", source_path=b"c"
    ),
    "shallow copy": lambda engine: writes.copy(
        engine, REPO, "main", b"copied", source_ref="v1", source_path=b"c", shallow=True
    ),
    "set user metadata": lambda engine: writes.set_user_metadata(
        engine, REPO, "main", b"c", {"k": "v"}
    ),
    "delete": lambda engine: writes.delete(engine, REPO, "main", b"c"),
    "delete where something is": lambda engine: writes.delete(
        engine, REPO, "main", b"c", requirement=PRESENT
    ),
    "delete many": lambda engine: writes.delete_many(engine, REPO, "main", [b"c", b"d", b"x"]),
    "commit": commit,
    "commit of everything deleted": lambda engine: (
        writes.delete_many(engine, REPO, "dev", sorted(contents(engine, "dev"))),
        commit(engine, "dev"),
    ),
    "merge": _merge,
    "squash": partial(_merge, squash=True),
    "create pull request": lambda engine: pulls.create(
        engine, REPO, pulls.NewPullRequest("somebody", "dev", "main", "new")
    ),
    "update pull request": lambda engine: pulls.update(
        engine,
        REPO,
        the_pull_request(engine),
        PullRequestUpdate(description="x", status=PullRequestStatus.CLOSED),
        "somebody",
    ),
    "merge pull request": lambda engine: pulls.merge(
        engine, REPO, the_pull_request(engine), merges.MergeRequest("somebody")
    ),
    "merge into what has not moved": lambda engine: merges.merge(
        engine, REPO, "main", "dev", merges.MergeRequest("somebody", strategy="dest-wins")
    ),
    "revert": lambda engine: replays.revert(
        engine, REPO, "dev", replays.RevertRequest("on-dev", "somebody")
    ),
    "cherry-pick": lambda engine: replays.cherry_pick(
        engine, REPO, "clean", replays.CherryPickRequest("v1", "somebody")
    ),
    "reset": lambda engine: branches.reset(engine, REPO, "main", kind="reset"),
    "reset of a prefix": lambda engine: branches.reset(
        engine, REPO, "main", kind="common_prefix", path=b"b/"
    ),
    "reset of an object": lambda engine: branches.reset(
        engine, REPO, "main", kind="object", path=b"a"
    ),
    "hard reset": lambda engine: branches.hard_reset(engine, REPO, "dev", ref="v1"),
    "create branch": lambda engine: branches.create(engine, REPO, name="new", source="main"),
    "delete branch": lambda engine: branches.delete(engine, REPO, "dev"),
    "create tag": lambda engine: tags.create(engine, REPO, name="v2", ref="main"),
    "delete tag": lambda engine: tags.delete(engine, REPO, "v1"),
    "create repository": lambda engine: repositories.create(
        engine, name="other", storage_namespace="s3://bucket/other"
    ),
    "set repository metadata": lambda engine: repositories.set_metadata(engine, REPO, {"k": "v"}),
    "set protection rules": _rules,
}
SCENARIOS = [Scenario(name, run) for name, run in _OPERATIONS.items()]
