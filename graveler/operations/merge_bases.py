"""How two refs relate: their merge base, and how far each is ahead of it."""

from msgspec import Struct

from graveler.branches.lookup import in_repository
from graveler.branches.request_time import TimeLimit
from graveler.engine import Engine
from graveler.messages import within
from graveler.model import CommitID
from graveler.open_repository import OpenRepository
from graveler.refs import merge_base
from graveler.refs.resolve import resolve_commit


class Distance(Struct, frozen=True):
    """How many commits only the source has, and how many only the destination.

    is_exact: False if the count ended early, so there may be more.
    """

    ahead: int
    behind: int
    is_exact: bool


class Relation(Struct, frozen=True):
    """The commits of source, destination and merge base; the distance, if it was asked for."""

    source_id: CommitID
    destination_id: CommitID
    base_id: CommitID
    distance: Distance | None = None


def find(
    engine: Engine,
    repository: str,
    source_ref: str,
    destination_ref: str,
    *,
    with_distance: bool = False,
) -> Relation:
    """Return how the two refs relate; of several merge bases, lakeFS's choice.

    Raises:
        InvalidInputError: a name or a ref is malformed, or the two have no common ancestor.
        NotFoundError: the repository does not exist, or a ref names no commit.
    """

    def read(repo: OpenRepository) -> Relation:
        history = repo.history()
        with within(f"get commit by branch {source_ref}"):
            source = resolve_commit(engine.refs, history, source_ref)
        with within(f"get commit by ref {destination_ref}"):
            destination = resolve_commit(engine.refs, history, destination_ref)
        base = merge_base.merge_base(history, source.id, destination.id)
        distance = None
        if with_distance:
            limit = TimeLimit(engine)
            counts = merge_base.ahead_behind(
                history, source.id, destination.id, lambda: limit.is_over
            )
            distance = Distance(*counts)
        return Relation(source.id, destination.id, base.id, distance)

    return in_repository(engine, repository, read)
