"""What happens while a collection runs on real Spark, each thing between two of its steps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from graveler.branches.claims import claim
from graveler.branches.lookup import read_repository
from graveler.errors import ContentionError, GravelerError
from graveler.model.recorded_uploads import Upload
from graveler.operations import branches, links, merges, recorded_uploads, replays, writes
from graveler.ports import UploadedPart
from tests.support.servers.spark import spark_session
from tests.support.worlds.collected import DAY_S, WARNINGS, Collected, world
from tests.support.worlds.server_world import ServerWorld

pytestmark = [pytest.mark.server, *WARNINGS]

__all__ = ["spark_session", "world"]

# Branches whose first object was deleted by a commit that has expired since.
EXPIRED = ("branched", "reverted", "longer", "reset", "forgotten")


@dataclass
class Raced:
    """A run beside which something happens at every step; the URIs that each race is about."""

    lake: Collected
    uris: dict[str, str] = field(default_factory=dict)
    refused: list[GravelerError] = field(default_factory=list)
    begun: dict[str, tuple[Upload, list[UploadedPart]]] = field(default_factory=dict)

    def prepare(self) -> None:
        lake = self.lake
        lake.set_rules(1)
        for name in (*EXPIRED, "moved", "early", "merged", "described"):
            branches.create(lake.engine, lake.name, name=name, source="main")
            self.uris[name] = lake.upload(name, branch=name)
        for name in EXPIRED:
            lake.commit(10 * DAY_S, name)
            lake.delete(name, name)
            lake.commit(5 * DAY_S, name)
            lake.upload(f"{name} later", branch=name)
            lake.commit(4 * DAY_S, name)
        lake.commit(10 * DAY_S, "described")
        self.uris["claimed"] = lake.upload("claimed")
        lake.delete("claimed")
        for name in ("joined", "in parts"):
            self.begin(name)
        joined, parts = self.begun["joined"]
        # As if the completion had stopped before its transaction.
        lake.objects.complete_upload(self.uris["joined"], joined.store_id, parts)
        lake.grow_old()
        address = links.get_physical_address(lake.engine, lake.name, "main", b"linked")
        lake.objects.put(address, b"linked", "a/b")
        self.uris["linked"] = address

    def begin(self, name: str) -> None:
        lake = self.lake
        upload = recorded_uploads.create(lake.engine, lake.name, "main", name.encode(), metadata={})
        self.uris[name] = f"{lake.namespace}/{upload.address}"
        checksum = lake.objects.upload_part(self.uris[name], upload.store_id, 1, b"content")
        self.begun[name] = (upload, [UploadedPart(1, checksum)])

    def complete(self, name: str) -> None:
        upload, parts = self.begun[name]
        recorded_uploads.complete(
            self.lake.engine, self.lake.name, "main", upload.path, upload.id, parts
        )

    @property
    def races(self) -> dict[str, tuple[Callable[[], object], ...]]:
        """What happens after which step."""
        return {
            "leased": (self.second_run, lambda: self.lake.commit(branch="early")),
            "listed": (self.upload_and_commit,),
            "staged": (
                lambda: self.lake.commit(branch="moved"),
                self.merge_and_forget,
                self.claim,
            ),
            "commits": (self.describe,),
            "marked": (self.branch_out, self.revert, self.retain_longer, self.reset),
            "looked": (self.link, self.upload_again, lambda: self.complete("joined")),
        }

    def second_run(self) -> None:
        try:
            self.lake.collect()
        except GravelerError as error:
            self.refused.append(error)

    def upload_and_commit(self) -> None:
        self.uris["uploaded"] = self.lake.upload("uploaded")
        self.lake.commit()

    def upload_again(self) -> None:
        self.uris["uploaded late"] = self.lake.upload("uploaded")

    def merge_and_forget(self) -> None:
        """Staged long ago, and in the head of another branch now."""
        lake = self.lake
        lake.commit(branch="merged")
        merges.merge(lake.engine, lake.name, "merged", "main", merges.MergeRequest("somebody"))
        branches.delete(lake.engine, lake.name, "merged")

    def claim(self) -> None:
        """Nothing that a collection reads names the data, as in the middle of a shallow copy."""
        lake = self.lake
        repository = read_repository(lake.engine, lake.name)
        address = self.uris["claimed"].removeprefix(f"{repository.record.storage_namespace}/")
        claim(repository, [address])

    def describe(self) -> None:
        metadata = {"key": "value"}
        writes.set_user_metadata(
            self.lake.engine, self.lake.name, "described", b"described", metadata
        )

    def branch_out(self) -> None:
        branches.create(self.lake.engine, self.lake.name, name="back", source="branched~2")

    def revert(self) -> None:
        request = replays.RevertRequest("reverted~1", "somebody")
        replays.revert(self.lake.engine, self.lake.name, "reverted", request)

    def retain_longer(self) -> None:
        self.lake.set_rules(1, longer=30)

    def reset(self) -> None:
        branches.hard_reset(self.lake.engine, self.lake.name, "reset", ref="reset~2")

    def link(self) -> None:
        links.link(
            self.lake.engine,
            self.lake.name,
            "main",
            b"linked",
            links.StoredData(physical_address=self.uris["linked"], checksum="any", size_bytes=6),
        )

    def observe(self, step: str) -> None:
        for race in self.races.get(step, ()):
            race()


@pytest.fixture(scope="module")
def raced(spark_session: SparkSession, world: ServerWorld, s3_folder: Path) -> Raced:
    made = Raced(Collected(spark_session, world, s3_folder))
    made.prepare()
    report = made.lake.collect(made.observe)
    assert report.is_success
    return made


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("uploaded", id="uploaded and committed during the listing"),
        pytest.param("uploaded late", id="uploaded after the last look"),
        pytest.param("early", id="staged long ago and committed before staging is looked at"),
        pytest.param("moved", id="staged long ago and committed after staging is looked at"),
        pytest.param("merged", id="committed, merged, and its branch deleted, all of it then"),
        pytest.param("claimed", id="claimed by a shallow copy after staging is looked at"),
        pytest.param("described", id="given other metadata after commits are looked at"),
        pytest.param("branched", id="in a branch created at an old commit"),
        pytest.param("reverted", id="brought back by a revert"),
        pytest.param("reset", id="brought back by a hard reset"),
        pytest.param("longer", id="retained for longer by other rules"),
        pytest.param("joined", id="completed after the last look, days after its upload began"),
        pytest.param("linked", id="linked by an address that was handed out before"),
    ],
)
def test_objects_revived_meanwhile_stay(raced: Raced, name: str) -> None:
    assert raced.lake.is_there(raced.uris[name])


def test_an_upload_that_began_days_ago_can_still_be_completed(raced: Raced) -> None:
    raced.complete("in parts")
    assert raced.lake.objects.get(raced.uris["in parts"]) == b"content"


def test_untouched_garbage_is_deleted(raced: Raced) -> None:
    assert not raced.lake.is_there(raced.uris["forgotten"])


def test_a_second_run_at_the_same_time_is_refused(raced: Raced) -> None:
    (refusal,) = raced.refused
    assert isinstance(refusal, ContentionError)
    assert raced.lake.name in refusal.message
