"""The RefStore on DynamoDB, composed of the stores of each kind of record."""

from graveler.aws.dynamodb.branches import BranchRecords, branch_key, branch_of, subject_of
from graveler.aws.dynamodb.claims import ClaimRecords
from graveler.aws.dynamodb.commits import CommitRecords
from graveler.aws.dynamodb.hook_runs import HookRunRecords
from graveler.aws.dynamodb.outbox import OutboxRecords
from graveler.aws.dynamodb.places import PlaceRecords
from graveler.aws.dynamodb.pulls import PullRequestRecords
from graveler.aws.dynamodb.recorded_uploads import UploadRecords
from graveler.aws.dynamodb.repositories import RepositoryRecords, repository_key, repository_of
from graveler.aws.dynamodb.tags import TagRecords
from graveler.aws.dynamodb.tasks import TaskRecords
from graveler.model import Branch, Repository


class DynamoRefStore(
    RepositoryRecords,
    BranchRecords,
    TagRecords,
    CommitRecords,
    TaskRecords,
    PlaceRecords,
    PullRequestRecords,
    ClaimRecords,
    OutboxRecords,
    HookRunRecords,
    UploadRecords,
):
    """`graveler.ports.RefStore` over the refs table."""

    __slots__ = ()

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        refs = self.tables.refs
        wanted = [
            (refs, repository_key(repository.name)),
            (refs, branch_key(repository, name)),
        ]
        found, branch = self.tables.get_together(subject_of(repository, name), wanted)
        return (
            None if found is None else repository_of(found),
            None if branch is None else branch_of(branch),
        )
