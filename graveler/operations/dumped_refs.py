"""The branches and tags of a dump: whatever existed meanwhile, under one of its names at least.

Theory of operation. A listing takes a while. What is renamed meanwhile, from a name that the
listing has not reached to one that it has passed, is in no page. But then the new name was created
since the listing began, and an event says so, stored in the same transaction. So the events are
read after the listing, and the names that they create are read one by one. A name that was deleted
by then may have been renamed again, and another ref may have it. So the events are read again,
until none deletes a name that was just read. Then each ref that exists without a break is there: by
the listing if its name is as old, else by its name.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import groupby
from typing import TypeVar

from graveler.dump.files import read, write
from graveler.dump.records import BRANCHES, TAGS, Kind, NamedCommit
from graveler.model import Branch, MetaRangeID, Repository, Tag
from graveler.operations.engine import Engine
from graveler.operations.protocol.pages import Changes, every_branch, every_tag
from graveler.operations.protocol.watching import Watching

T = TypeVar("T", Branch, Tag)


def dump_refs(
    engine: Engine, repository: Repository, watching: Watching
) -> tuple[MetaRangeID, MetaRangeID]:
    """Store all branches, hidden ones too, and all tags; return the IDs of the two files."""
    namespace = repository.storage_namespace

    def stored(
        kind: Kind[NamedCommit],
        listed: Iterable[T],
        read_one: Callable[[Repository, str], T | None],
    ) -> MetaRangeID:
        changes = Changes(engine, repository)
        file_id = write(engine.committed, namespace, kind, map(_named, watching(listed)))
        created = _created(repository, changes, kind.entity, read_one)
        if not created:
            return file_id
        listed_again = watching(read(engine.committed, namespace, file_id, kind))
        both = _united(listed_again, map(_named, created))
        return write(engine.committed, namespace, kind, both)

    return (
        stored(BRANCHES, every_branch(engine, repository), engine.refs.branch),
        stored(TAGS, every_tag(engine, repository), engine.refs.tag),
    )


def _created(
    repository: Repository,
    changes: Changes,
    kind: str,
    read_one: Callable[[Repository, str], T | None],
) -> list[T]:
    """Return the branches or tags that were created since the changes began, and exist."""

    def more() -> dict[str, set[str]]:
        names: dict[str, set[str]] = {"created": set(), "deleted": set()}
        for event in changes.more():
            about, _, what = event.kind.rpartition("_")
            if about == kind and what in names:
                names[what].add(str(event.detail[kind]))
        return names

    found: dict[str, T] = {}
    now = more()
    while created := now["created"]:
        for name in sorted(created):
            one = read_one(repository, name)
            if one is not None:
                found[name] = one
        now = more()
        if created.isdisjoint(now["deleted"]):
            break
    return list(found.values())


def _named(ref: Branch | Tag) -> NamedCommit:
    return NamedCommit(ref.name, ref.commit_id, isinstance(ref, Branch) and ref.hidden)


def _united(listed: Iterable[NamedCommit], more: Iterable[NamedCommit]) -> Iterator[NamedCommit]:
    """Yield the refs of more, and the listed ones with other names, by name.

    A name of both may have been given to another ref since it was listed, and that one is in more.
    """
    both = merge(sorted(more, key=_key), listed, key=_key)
    return (next(same) for _, same in groupby(both, key=_key))


def _key(ref: NamedCommit) -> bytes:
    return ref.name.encode()
