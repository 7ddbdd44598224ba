"""The branches and tags of a dump: whatever existed meanwhile, under one of its names at least.

Theory of operation. A listing takes a while. What is renamed meanwhile, from a name that the
listing has not reached to one that it has passed, is in no page. But then the new name was created
since the listing began, and an event says so, stored in the same transaction. So the events are
read after both listings, and the names that they create are read one by one. They count more than
the listings: another ref may have had the name before. A name that was deleted by then may have
been renamed again, and another ref may have it. So the events are read again, until none deletes a
name that was just read. Then each ref that exists without a break is there: by a listing if its
name is as old, else by its name.
"""

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import groupby

from graveler.dump.files import read, write
from graveler.dump.records import BRANCHES, TAGS, Kind, NamedCommit
from graveler.model import Branch, MetaRangeID, Repository, Tag
from graveler.operations.engine import Engine
from graveler.operations.protocol.pages import NewEvents, every_branch, every_tag
from graveler.operations.protocol.watching import Watching


def dump_refs(
    engine: Engine, repository: Repository, watching: Watching
) -> tuple[MetaRangeID, MetaRangeID]:
    """Store all branches, hidden ones too, and all tags; return the IDs of the two files."""
    namespace = repository.storage_namespace
    events = NewEvents(engine, repository)  # a branch may become a tag, and the other way round

    def listed(kind: Kind[NamedCommit], refs: Iterable[Branch | Tag]) -> MetaRangeID:
        return write(engine.committed, namespace, kind, map(_named, watching(refs)))

    branches_id = listed(BRANCHES, every_branch(engine, repository))
    tags_id = listed(TAGS, every_tag(engine, repository))
    created = _created(engine, repository, events)

    def with_created(kind: Kind[NamedCommit], file_id: MetaRangeID) -> MetaRangeID:
        more = [ref for (entity, _), ref in created.items() if entity == kind.entity]
        if not more:
            return file_id
        listed_again = watching(read(engine.committed, namespace, file_id, kind))
        return write(engine.committed, namespace, kind, _united(map(_named, more), listed_again))

    return with_created(BRANCHES, branches_id), with_created(TAGS, tags_id)


def _created(
    engine: Engine, repository: Repository, events: NewEvents
) -> Mapping[tuple[str, str], Branch | Tag]:
    """Return the branches and tags that new events create, and that exist."""
    readers = {BRANCHES.entity: engine.refs.branch, TAGS.entity: engine.refs.tag}

    def more() -> dict[str, set[tuple[str, str]]]:
        names: dict[str, set[tuple[str, str]]] = {"created": set(), "deleted": set()}
        for event in events.more():
            entity, _, change = event.kind.partition("_")
            if entity in readers and change in names:
                names[change].add((entity, str(event.detail[entity])))
        return names

    found: dict[tuple[str, str], Branch | Tag] = {}
    now = more()
    while created := now["created"]:
        for entity, name in sorted(created):
            ref = readers[entity](repository, name)
            if ref is not None:
                found[entity, name] = ref
        now = more()
        if created.isdisjoint(now["deleted"]):
            break
    return found


def _named(ref: Branch | Tag) -> NamedCommit:
    return NamedCommit(ref.name, ref.commit_id, isinstance(ref, Branch) and ref.hidden)


def _united(created: Iterable[NamedCommit], listed: Iterable[NamedCommit]) -> Iterator[NamedCommit]:
    """Yield the created refs, and the listed ones whose names they do not have, by name."""
    both = merge(sorted(created, key=_key), listed, key=_key)
    return (next(same) for _, same in groupby(both, key=_key))


def _key(ref: NamedCommit) -> bytes:
    return ref.name.encode()
