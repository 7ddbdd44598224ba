"""An open repository: its record, with the engine that reads and writes it."""

from msgspec import Struct

from graveler.committed.metarange import MetaRange
from graveler.engine import Engine
from graveler.model import Branch, CommitID, Event, MetaRangeID, Repository
from graveler.refs.history import History


class OpenRepository(Struct, frozen=True):
    """A repository as an operation found it, and the engine for all that is done in it."""

    engine: Engine
    record: Repository

    def history(self) -> History:
        """Return the repository's commits."""
        return History(self.engine.refs, self.record, self.engine.commits)

    def metarange(self, metarange_id: MetaRangeID) -> MetaRange:
        """Return the metarange of that ID; reading it raises if it does not exist."""
        return MetaRange(self.engine.committed, self.record.storage_namespace, metarange_id)

    def content(self, commit_id: CommitID) -> MetaRange:
        """Return the content of a commit that a ref or another commit names.

        Raises:
            CorruptDataError: the commit does not exist.
        """
        return self.metarange(self.history().commit(commit_id).metarange_id)

    def event(self, kind: str, **detail: object) -> Event:
        """Return a new event of that kind, dated now."""
        return Event(
            id=self.engine.names.new_uid(),
            kind=kind,
            repository=self.record.name,
            time_ns=self.engine.clock.now_ns(),
            detail=detail,
        )

    def new_branch(self, name: str, commit_id: CommitID, *, hidden: bool = False) -> Branch:
        """Return a new branch with an identity and a staging token that no other branch has."""
        return Branch(
            name=name,
            commit_id=commit_id,
            staging_token=self.engine.names.new_staging_token(self.record, name),
            hidden=hidden,
            uid=self.engine.names.new_uid(),
        )

    def remember(self, branch: Branch) -> None:
        """Cache the branch as a guess for the next reader."""
        self.engine.branches.put((self.record.uid, branch.name), branch)
