"""Presigned uploads: an address is good for its own path, and a completion writes as others do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from graveler.engine import Engine
from graveler.errors import ForbiddenError, InvalidInputError, PreconditionFailedError
from graveler.model import NO_REQUIREMENT, ProtectionRule, Requirement
from graveler.operations import presigned_uploads, repositories
from graveler.ports import UploadedPart
from tests.support.checks.cases import for_each
from tests.support.fakes.engines import MemoryWorld
from tests.support.faults.counting import engine_around
from tests.support.worlds.lake import NAMESPACE, REPO, content, new_lake, paths, upload

PATH = b"a/b"


@dataclass
class Begun:
    """An upload of one part."""

    id: str
    address: str
    parts: list[UploadedPart]

    def complete(self, engine: Engine, requirement: Requirement = NO_REQUIREMENT) -> None:
        presigned_uploads.complete(
            engine,
            REPO,
            "main",
            PATH,
            self.id,
            physical_address=self.address,
            parts=self.parts,
            metadata={},
            requirement=requirement,
        )


def begin(engine: Engine) -> Begun:
    made = presigned_uploads.create(engine, REPO, "main", PATH)
    checksum = engine.objects.upload_part(made.physical_address, made.upload_id, 1, b"parts")
    return Begun(made.upload_id, made.physical_address, [UploadedPart(1, checksum)])


@pytest.fixture
def begun(engine: Engine) -> Begun:
    return begin(engine)


# What a client may do with an address of an upload: a call, and its arguments behind the upload's.
USES: dict[str, tuple[Callable[..., object], Sequence[object], Mapping[str, object]]] = {
    "presign": (presigned_uploads.presign_part, (1,), {}),
    "copy": (presigned_uploads.copy_part, (1,), {"source_ref": "main", "source_path": b"other"}),
    "complete": (presigned_uploads.complete, (), {"parts": [], "metadata": {}}),
    "abort": (presigned_uploads.abort, (), {}),
}


@for_each(
    ("use", "address"),
    [(use, address) for use in USES for address in ("of another path", "of no one", "elsewhere")],
)
def test_an_address_that_was_not_issued_for_the_path_is_refused(use: str, address: str) -> None:
    engine = new_lake().engine()
    begun = begin(engine)
    other = upload(engine, b"other", b"data")
    to, path = begun.address, PATH
    if address == "of another path":
        path = b"another"
    elif address == "of no one":
        to = other.physical_address
    else:
        to = "s3://elsewhere/key"
    call, arguments, options = USES[use]
    with pytest.raises(InvalidInputError):
        call(engine, REPO, "main", path, begun.id, *arguments, **options, physical_address=to)
    left = engine.objects.list_uploads(NAMESPACE)
    assert [each.upload_id for each in left] == [begun.id]
    assert paths(engine, "main") == [b"other"]
    assert content(engine, "main", b"other") == b"data"


def test_a_completion_that_requires_a_free_path_overwrites_nothing(
    world: MemoryWorld, engine: Engine, begun: Begun
) -> None:
    """Another client writes while the store joins the parts."""

    def around(name: str, call: Callable[[], Any]) -> Any:
        if name == "objects.complete_upload":
            upload(world.engine(), PATH, b"other")
        return call()

    with pytest.raises(PreconditionFailedError):
        begun.complete(engine_around(world.engine(), around), Requirement(is_absent=True))
    assert content(engine, "main", PATH) == b"other"


def test_a_branch_that_is_protected_meanwhile_takes_no_completion(
    engine: Engine, begun: Begun
) -> None:
    repositories.set_protection_rules(engine, REPO, [ProtectionRule("main")])
    with pytest.raises(ForbiddenError, match="cannot write to protected branch"):
        begun.complete(engine)
    with pytest.raises(ForbiddenError):
        presigned_uploads.create(engine, REPO, "main", b"more")
    assert paths(engine, "main") == []


def test_a_read_only_repository_takes_no_upload(world: MemoryWorld) -> None:
    stored = world.refs.repository(REPO)
    assert stored is not None
    world.refs.update_repository(stored, replace(stored, read_only=True))
    with pytest.raises(ForbiddenError, match="read-only repository"):
        presigned_uploads.create(world.engine(), REPO, "main", PATH)
