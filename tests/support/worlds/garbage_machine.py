"""A repository in memory with random users, and the data that its rules keep alive."""

from collections.abc import Callable
from contextlib import suppress

from hypothesis import strategies as st

from graveler.addresses import physical_uri
from graveler.branches.heads import seal
from graveler.branches.lookup import current_branch, read_repository
from graveler.committed.store import Breaking
from graveler.entries import value_entry
from graveler.errors import GravelerError, NotFoundError
from graveler.identity import ID_LENGTH
from graveler.limits import PHYSICAL_ADDRESS_LIFE_S
from graveler.model import Branch, Commit, CommitID
from graveler.model.recorded_uploads import Upload
from graveler.operations import (
    branches,
    commits,
    links,
    merges,
    objects,
    recorded_uploads,
    repositories,
    retention,
    writes,
)
from graveler.ports import UploadedPart
from graveler.retention.active import SECONDS_PER_DAY
from graveler.retention.rules import RetentionRules, make_rules
from graveler.staging.listing import CommonPrefix, PageQuery
from tests.support.fakes.engines import memory_world
from tests.support.worlds.addresses import address as own_address
from tests.support.worlds.addresses import partition
from tests.support.worlds.lake import NAMESPACE, REPO

PATHS = st.sampled_from([b"a", b"b/1", b"b/2"])
NAMES = st.sampled_from(["main", "main", "dev", "dev:old"])
DAYS = st.integers(0, 5)

INSIDE = f"{NAMESPACE}/data/inside"
GONE = f"{NAMESPACE}/{partition(10**6)}".rstrip("/")  # a deleted repository was here

# What no collection of REPO may touch: imported objects, those of repositories beside it and of a
# deleted one inside of it, and what others wrote under data/.
IMPORTED = ("s3://elsewhere/imported", f"{NAMESPACE}/imported", f"{NAMESPACE}/data/2019/imported")
FOREIGN = (
    *IMPORTED,
    *(f"{namespace}/{own_address(1)}" for namespace in (f"{NAMESPACE}2", INSIDE, GONE)),
    f"{GONE}/_lakefs/dummy",
    f"{GONE}/{own_address(1).rpartition('/')[2]}",
    f"{NAMESPACE}/data2/x",
    f"{NAMESPACE}/data/2020/part-0.parquet",
)


class Users:
    """Random actions of users on REPO; an action that fails changes nothing."""

    def __init__(self) -> None:
        self.world = memory_world(Breaking(2), step_ns=0)
        self.world.sealed_tokens_max = 2  # so that there are compactions
        self.engine = self.world.engine()
        for name, namespace in ((REPO, NAMESPACE), ("near", f"{NAMESPACE}2")):
            repositories.create(self.engine, name=name, storage_namespace=namespace)
        repositories.create(self.engine, name="inside", storage_namespace=INSIDE, read_only=True)
        for uri in FOREIGN:
            self.engine.objects.put(uri, uri.encode(), "a/b")
        self.handed_out: list[tuple[bytes, str, int]] = []
        self.begun: list[tuple[Upload, list[UploadedPart]]] = []
        self.contents: dict[str, set[str]] = {}  # of commits, which never change
        self.uploaded: set[str] = set()
        self.gone: set[str] = set()
        self.count = 0
        self.actions: list[Callable[[st.DataObject], None]] = [
            *(self.upload, self.upload, self.commit, self.commit, self.import_object),
            *(self.delete, self.set_metadata, self.seal_only, self.merge, self.reset),
            *(self.copy_shallow, self.copy_old),
            *(self.delete_branch, self.create_branch, self.go_back, self.go_back),
            *(self.hand_out, self.put_where_told, self.put_where_told, self.link, self.link),
            *(self.begin, self.join_parts, self.complete, self.complete, self.abort),
            self.set_rules,
        ]
        # Those that bring no content to life but what a branch has. With few of them, a name of an
        # address often moves from where a look comes later to where it has been.
        self.movers: list[Callable[[st.DataObject], None]] = [
            *(self.move, self.move, self.copy_shallow, self.delete, self.upload),
            *(self.commit, self.seal_only, self.reset, self.delete_branch, self.complete),
        ]

    def act(self, data: st.DataObject) -> None:
        """Do one action of a user.

        It may revive collected data: by a branch at an old commit, or by other rules. Data that are
        already gone stay gone, which is no violation.
        """
        live = self.live_uris()
        action = data.draw(st.sampled_from(self.actions), label="action")
        with suppress(GravelerError):
            action(data)
        if action not in (self.link, self.complete):  # they must find what was uploaded
            self.gone |= {uri for uri in self.live_uris() - live if not self.is_there(uri)}

    def content(self) -> bytes:
        self.count += 1
        return b"%d" % self.count

    def upload(self, data: st.DataObject) -> None:
        writes.upload(
            self.engine,
            REPO,
            data.draw(NAMES),
            data.draw(PATHS),
            read_content=lambda: (self.content(), "a/b"),
            metadata={},
        )

    def import_object(self, data: st.DataObject) -> None:
        links.stage(
            self.engine,
            REPO,
            data.draw(NAMES),
            data.draw(PATHS),
            links.StoredData(
                physical_address=data.draw(st.sampled_from(IMPORTED)), checksum="any", size_bytes=1
            ),
        )

    def delete(self, data: st.DataObject) -> None:
        writes.delete(self.engine, REPO, data.draw(NAMES), data.draw(PATHS))

    def copy_shallow(self, data: st.DataObject) -> None:
        self._copy(data.draw(NAMES), data)

    def copy_old(self, data: st.DataObject) -> None:
        """Bring back an object of an old commit."""
        self._copy(data.draw(st.sampled_from(sorted(self.commits()))), data)

    def move(self, data: st.DataObject) -> None:
        ref = data.draw(NAMES)
        path = self._copy(ref, data)
        writes.delete(self.engine, REPO, ref, path)

    def _copy(self, ref: str, data: st.DataObject) -> bytes:
        path = data.draw(PATHS)
        writes.copy(
            self.engine,
            REPO,
            data.draw(NAMES),
            data.draw(PATHS),
            source_ref=ref,
            source_path=path,
            shallow=True,
        )
        return path

    def shift(self, data: st.DataObject) -> None:
        """Do one action during a look."""
        with suppress(GravelerError):
            data.draw(st.sampled_from(self.movers), label="during a look")(data)

    def set_metadata(self, data: st.DataObject) -> None:
        metadata = {"count": self.content().decode()}
        writes.set_user_metadata(self.engine, REPO, data.draw(NAMES), data.draw(PATHS), metadata)

    def hand_out(self, data: st.DataObject) -> None:
        path = data.draw(PATHS)
        address = links.get_physical_address(self.engine, REPO, "main", path)
        self.handed_out.append((path, address, self.engine.now_s()))
        if data.draw(st.booleans()):
            self.put_where_told(data)

    def put_where_told(self, data: st.DataObject) -> None:
        if self.handed_out:
            _, address, since_s = data.draw(st.sampled_from(self.handed_out[-2:]))
            if self.engine.now_s() - since_s <= PHYSICAL_ADDRESS_LIFE_S:
                self.engine.objects.put(address, self.content(), "a/b")
                self.uploaded.add(address)

    def link(self, data: st.DataObject) -> None:
        if not self.handed_out:
            return
        path, address, _ = data.draw(st.sampled_from(self.handed_out[-2:]))
        if address not in self.uploaded:
            return  # whoever links what is not there gets what is not there
        links.link(
            self.engine,
            REPO,
            "main",
            path,
            links.StoredData(physical_address=address, checksum="any", size_bytes=1),
        )

    def begin(self, data: st.DataObject) -> None:
        upload = recorded_uploads.create(
            self.engine, REPO, data.draw(NAMES), data.draw(PATHS), metadata={}
        )
        uri, objects = f"{NAMESPACE}/{upload.address}", self.engine.objects
        checksum = objects.upload_part(uri, upload.store_id, 1, self.content())
        self.begun.append((upload, [UploadedPart(1, checksum)]))

    def _some_upload(self, data: st.DataObject) -> tuple[Upload, list[UploadedPart]]:
        if not self.begun:
            raise NotFoundError("no upload was begun")
        return data.draw(st.sampled_from(self.begun[-3:]))

    def join_parts(self, data: st.DataObject) -> None:
        """Do the first step of a completion, which has crashed."""
        upload, parts = self._some_upload(data)
        self.engine.objects.complete_upload(f"{NAMESPACE}/{upload.address}", upload.store_id, parts)

    def complete(self, data: st.DataObject) -> None:
        upload, parts = self._some_upload(data)
        recorded_uploads.complete(self.engine, REPO, upload.branch, upload.path, upload.id, parts)

    def abort(self, data: st.DataObject) -> None:
        upload, _ = self._some_upload(data)
        recorded_uploads.abort(self.engine, REPO, upload.branch, upload.path, upload.id)

    def commit(self, data: st.DataObject) -> None:
        request = commits.CommitRequest(self.content().decode(), "somebody")
        commits.commit(self.engine, REPO, data.draw(NAMES), request)

    def seal_only(self, data: st.DataObject) -> None:
        """Seal a branch, as a crashed commit does."""
        repository, branch = current_branch(self.engine, REPO, data.draw(NAMES))
        seal(repository, branch)

    def merge(self, data: st.DataObject) -> None:
        request = merges.MergeRequest("somebody", strategy="source-wins")
        merges.merge(self.engine, REPO, data.draw(NAMES), data.draw(NAMES), request)

    def reset(self, data: st.DataObject) -> None:
        branches.reset(self.engine, REPO, data.draw(NAMES), kind="reset")

    def delete_branch(self, data: st.DataObject) -> None:
        branches.delete(self.engine, REPO, data.draw(NAMES))

    def create_branch(self, data: st.DataObject) -> None:
        branches.create(self.engine, REPO, name=data.draw(NAMES), source=data.draw(NAMES))

    def go_back(self, data: st.DataObject) -> None:
        """Bring back what an old commit has."""
        ref, name = data.draw(st.sampled_from(sorted(self.commits()))), data.draw(NAMES)
        if data.draw(st.booleans()):
            branches.create(self.engine, REPO, name=name, source=ref)
        else:
            branches.hard_reset(self.engine, REPO, name, ref=ref)

    def set_rules(self, data: st.DataObject) -> None:
        rules = make_rules(data.draw(DAYS), [(name, data.draw(DAYS)) for name in ("main", "dev")])
        retention.set_rules(self.engine, REPO, rules)

    # What is alive

    def is_there(self, uri: str) -> bool:
        return self.engine.objects.head(uri) is not None

    def commits(self) -> dict[CommitID, Commit]:
        repository = read_repository(self.engine, REPO)
        return {commit.id: commit for commit in self.engine.refs.every_commit(repository.record)}

    def branches(self) -> tuple[Branch, ...]:
        return branches.list_page(self.engine, REPO, prefix="", after="", amount=1000).results

    def rules(self) -> RetentionRules | None:
        try:
            return retention.get_rules(self.engine, REPO)[0]
        except NotFoundError:
            return None

    def uris_at(self, ref: str) -> set[str]:
        if ref in self.contents:
            return self.contents[ref]
        page = objects.list_objects(self.engine, REPO, ref, PageQuery(1000))
        found = {i.physical_address for i in page.results if not isinstance(i, CommonPrefix)}
        if len(ref) == ID_LENGTH:
            self.contents[ref] = found
        return found

    def active_commits(self) -> set[CommitID]:
        """Return the heads, and commits that were a branch's head within the time of its rule.

        The default rule covers commits that deleted branches and resets left behind.
        """
        found, rules = self.commits(), self.rules()
        if rules is None:
            return set(found)
        heads = {branch.commit_id for branch in self.branches()}
        children = {parent for commit in found.values() for parent in commit.parents[:1]}
        tips = [(each.commit_id, rules.days_of(each.name)) for each in self.branches()]
        tips += [(name, rules.default_days) for name in found.keys() - heads - children]
        active = set(heads)
        for tip, days in tips:
            commit = found[tip]
            while self.engine.now_s() - commit.creation_date < days * SECONDS_PER_DAY:
                active.add(commit.id)
                if not commit.parents:
                    break
                commit = found[commit.parents[0]]
                active.add(commit.id)
        return active

    def live_uris(self) -> set[str]:
        """Return the data of every object of every active commit and every branch."""
        refs = {*self.active_commits(), *(branch.name for branch in self.branches())}
        return {uri for ref in refs for uri in self.uris_at(ref)}

    def lost_uris(self) -> set[str]:
        """Return live data that are missing, except those that were gone before a revival."""
        return {uri for uri in self.live_uris() - self.gone if not self.is_there(uri)}

    def claimed_uris(self) -> set[str]:
        """Return the claimed data; the memory store's claims do not end."""
        repository = read_repository(self.engine, REPO)
        return {
            f"{NAMESPACE}/{each}" for each in self.engine.refs.claimed_addresses(repository.record)
        }

    def recorded_uris(self) -> set[str]:
        """Return the data of recorded uploads; the memory store's records do not expire."""
        repository = read_repository(self.engine, REPO)
        uploads = self.engine.refs.uploads(repository.record, b"", None)
        return {f"{NAMESPACE}/{upload.address}" for upload in uploads}

    def covered_uris(self) -> set[str]:
        """Return the data of objects in sealed tokens: a commit may still use one of them."""
        values = (
            value
            for branch in self.branches()
            for token in branch.sealed_tokens
            for _, value in self.engine.staging.scan(token, b"", None)
            if value is not None
        )
        return {physical_uri(NAMESPACE, value_entry(value)) for value in values}
