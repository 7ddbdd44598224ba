"""The refs in a dump: listed while users move and rename them, and read again from a stored dump.

Theory of operation. A listing takes a while. A ref may be renamed meanwhile, from a name ahead of
the listing to one behind it. Then it is in no page. A commit may be merged into a branch behind the
listing. Then it is in no page either. But in both cases an event, stored in the same transaction,
names that branch or tag. So the events are read after both listings, and then, one by one, the
branches and tags that they name. These override the listings: another ref may have had the name
before. A name that was deleted by then may have been renamed again, and another ref may have it. So
the events are read again, until none deletes a name that was just read. Then the dump has each
commit to which some ref led at every moment. It has it by a listing if nothing moved the ref since,
else by the ref's name.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from heapq import merge
from itertools import groupby

from graveler.branches.complete_listings import NewEvents, every_branch, every_tag
from graveler.branches.watching import Watching
from graveler.dump.check import CheckedDump, check
from graveler.dump.files import RefsDump, read, write
from graveler.dump.records import BRANCHES, COMMITS, TAGS, DumpKind, NamedCommit
from graveler.errors import CorruptDataError, GoneError
from graveler.layout import committed_uri
from graveler.model import Branch, MetaRangeID, Tag
from graveler.open_repository import OpenRepository


def dump_refs(repo: OpenRepository, watching: Watching) -> tuple[MetaRangeID, MetaRangeID]:
    """Store all branches, hidden ones too, and all tags; return the IDs of the two files."""
    namespace = repo.record.storage_namespace
    events = NewEvents(repo)  # a branch may become a tag, and the other way round

    def listed(kind: DumpKind[NamedCommit], refs: Iterable[Branch | Tag]) -> MetaRangeID:
        return write(repo.engine.committed, namespace, kind, map(_named, watching(refs)))

    branches_id = listed(BRANCHES, every_branch(repo))
    tags_id = listed(TAGS, every_tag(repo))
    changed = _changed(repo, events)

    def with_changed(kind: DumpKind[NamedCommit], file_id: MetaRangeID) -> MetaRangeID:
        more = [ref for (entity, _), ref in changed.items() if entity == kind.entity]
        if not more:
            return file_id
        listed_again = watching(read(repo.engine.committed, namespace, file_id, kind))
        return write(
            repo.engine.committed, namespace, kind, _united(map(_named, more), listed_again)
        )

    return with_changed(BRANCHES, branches_id), with_changed(TAGS, tags_id)


def _changed(repo: OpenRepository, events: NewEvents) -> Mapping[tuple[str, str], Branch | Tag]:
    """Return the branches and tags that new events name, and that exist."""
    readers = {BRANCHES.entity: repo.engine.refs.branch, TAGS.entity: repo.engine.refs.tag}

    def more() -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        changed: set[tuple[str, str]] = set()
        deleted: set[tuple[str, str]] = set()
        for event in events.more():
            named = ((entity, event.detail.get(entity)) for entity in readers)
            refs = {(entity, str(name)) for entity, name in named if name}
            (deleted if event.kind.endswith("_deleted") else changed).update(refs)
        return changed, deleted

    found: dict[tuple[str, str], Branch | Tag] = {}
    changed, _ = more()
    while changed:
        for entity, name in sorted(changed):
            ref = readers[entity](repo.record, name)
            if ref is not None:
                found[entity, name] = ref
        read = changed
        changed, deleted = more()
        if read.isdisjoint(deleted):
            break
    return found


def _named(ref: Branch | Tag) -> NamedCommit:
    return NamedCommit(ref.name, ref.commit_id, isinstance(ref, Branch) and ref.hidden)


def _united(changed: Iterable[NamedCommit], listed: Iterable[NamedCommit]) -> Iterator[NamedCommit]:
    """Yield the changed refs, and the listed ones whose names they do not have, by name."""
    both = merge(sorted(changed, key=_key), listed, key=_key)
    return (next(same) for _, same in groupby(both, key=_key))


def _key(ref: NamedCommit) -> bytes:
    return ref.name.encode()


class DumpContent:
    """The records of a dump; each call reads its file again."""

    def __init__(self, repo: OpenRepository, dumped: RefsDump, watching: Watching) -> None:
        self._watching = watching
        self._repo = repo
        self._dumped = dumped
        reader = partial(read, repo.engine.committed, repo.record.storage_namespace)
        self.commits = partial(reader, dumped.commits_id, COMMITS)
        self.branches = partial(reader, dumped.branches_id, BRANCHES)
        self.tags = partial(reader, dumped.tags_id, TAGS)

    def check(self) -> CheckedDump:
        """Read the whole dump and check it; return the facts that a restore needs.

        Raises:
            InvalidInputError: it is inconsistent.
            CorruptDataError: a file is damaged.
            GoneError: a file does not exist.
        """
        try:
            return check(self._watching(self.commits()), self.branches(), self.tags())
        except CorruptDataError as error:
            dumped = self._dumped
            for file_id in filter(None, (dumped.commits_id, dumped.branches_id, dumped.tags_id)):
                uri = committed_uri(self._repo.record.storage_namespace, file_id)
                if self._repo.engine.objects.head(uri) is None:
                    raise GoneError(f"No data: there is no {uri}") from error
            raise
