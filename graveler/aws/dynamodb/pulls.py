"""Pull requests in DynamoDB."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from graveler.aws.dynamodb.models import (
    PULL,
    PULL_COMMENT,
    PullRequestCommentItem,
    PullRequestItem,
    partition_of,
)
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, Request, Tables, key
from graveler.errors import AlreadyExistsError, StaleVersionError
from graveler.model import Event, Page, Repository
from graveler.model.pulls import PullRequest, PullRequestComment


def _item(repository: Repository, pull: PullRequest) -> PullRequestItem:
    return PullRequestItem(
        partition_of(repository),
        PULL + pull.id,
        pull=msgspec.json.encode(pull).decode(),
        version=pull.version,
    )


def _pull_of(raw: Raw) -> PullRequest:
    # Making a decoder in advance would slow every start, and few processes need it.
    pull = msgspec.json.decode(raw["pull"]["S"], type=PullRequest)
    return replace(pull, version=int(raw["version"]["N"]))


def _comment_of(raw: Raw) -> PullRequestComment:
    return msgspec.json.decode(raw["comment"]["S"], type=PullRequestComment)


def pull_replacement(
    tables: Tables, repository: Repository, old: PullRequest, new: PullRequest
) -> Request:
    """Return the parameters of a Put that replaces the pull request if it is unchanged."""
    item = _item(repository, replace(new, version=old.version + 1))
    return tables.put(item, PullRequestItem.version == old.version)


class PullRequestRecords(RefsRecords):
    """`graveler.ports.PullRequestStore` over the refs table."""

    __slots__ = ()

    def pull_request(self, repository: Repository, pull_id: str) -> PullRequest | None:
        raw = self.tables.get(partition_of(repository), PULL + pull_id)
        return None if raw is None else _pull_of(raw)

    def pull_requests(
        self,
        repository: Repository,
        prefix: str,
        after: str,
        amount: int,
        is_wanted: Callable[[PullRequest], bool],
    ) -> Page[PullRequest]:
        def shown(raw: Raw) -> PullRequest | None:
            pull = _pull_of(raw)
            return pull if is_wanted(pull) else None

        return self._page(partition_of(repository), PULL, prefix, after, amount, shown)

    def create_pull_request(self, repository: Repository, pull: PullRequest, event: Event) -> None:
        put = self.tables.put(_item(repository, pull), PullRequestItem.sort.does_not_exist())
        if not self._transact([{"Put": put}], outbox_item(repository, event)):
            raise AlreadyExistsError(f"a pull request {pull.id} already exists")

    def replace_pull_request(
        self, repository: Repository, old: PullRequest, new: PullRequest, event: Event
    ) -> PullRequest:
        put = pull_replacement(self.tables, repository, old, new)
        if not self._transact([{"Put": put}], outbox_item(repository, event)):
            raise StaleVersionError(f"pull request {old.id} changed since it was read")
        return replace(new, version=old.version + 1)

    def create_comment(
        self, repository: Repository, pull_id: str, comment: PullRequestComment, event: Event
    ) -> None:
        item = PullRequestCommentItem(
            partition_of(repository),
            f"{PULL_COMMENT}{pull_id}#{comment.id}",
            comment=msgspec.json.encode(comment).decode(),
        )
        put = self.tables.put(item, PullRequestCommentItem.sort.does_not_exist())
        if not self._transact([{"Put": put}], outbox_item(repository, event)):
            raise AlreadyExistsError(f"a comment {comment.id} already exists")

    def comment(
        self, repository: Repository, pull_id: str, comment_id: str
    ) -> PullRequestComment | None:
        raw = self.tables.get(partition_of(repository), f"{PULL_COMMENT}{pull_id}#{comment_id}")
        return None if raw is None else _comment_of(raw)

    def comments(
        self, repository: Repository, pull_id: str, after: str, amount: int
    ) -> Page[PullRequestComment]:
        kind = f"{PULL_COMMENT}{pull_id}#"
        return self._page(partition_of(repository), kind, "", after, amount, _comment_of)

    def delete_comment(self, repository: Repository, pull_id: str, comment_id: str) -> None:
        item_key = key(partition_of(repository), f"{PULL_COMMENT}{pull_id}#{comment_id}")
        self.tables.dynamodb.call("DeleteItem", self.tables.delete(item_key))
