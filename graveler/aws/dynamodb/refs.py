"""The RefStore on DynamoDB, put together from the stores of each kind of record."""

from graveler.aws.dynamodb.branches import BranchRecords, branch_key, branch_of
from graveler.aws.dynamodb.claims import ClaimRecords
from graveler.aws.dynamodb.commits import CommitRecords
from graveler.aws.dynamodb.hook_runs import HookRunRecords
from graveler.aws.dynamodb.models import REPOSITORIES
from graveler.aws.dynamodb.pulls import PullRequestRecords
from graveler.aws.dynamodb.repositories import RepositoryRecords, repository_of
from graveler.aws.dynamodb.tables import key
from graveler.aws.dynamodb.tags import TagRecords
from graveler.aws.dynamodb.tasks import TaskRecords
from graveler.aws.dynamodb.uploads import UploadRecords
from graveler.model import Branch, Repository


class DynamoRefStore(
    RepositoryRecords,
    BranchRecords,
    TagRecords,
    CommitRecords,
    TaskRecords,
    PullRequestRecords,
    ClaimRecords,
    HookRunRecords,
    UploadRecords,
):
    """`graveler.ports.RefStore` over the refs table."""

    __slots__ = ()

    def repository_and_branch(
        self, repository: Repository, name: str
    ) -> tuple[Repository | None, Branch | None]:
        keys = [key(REPOSITORIES, repository.name), branch_key(repository, name)]
        found_repository: Repository | None = None
        found_branch: Branch | None = None
        for raw in self.tables.get_batch(self.tables.refs, keys):
            if raw["partition"]["S"] == REPOSITORIES:
                found_repository = repository_of(raw)
            else:
                found_branch = branch_of(raw)
        return found_repository, found_branch
