"""Tags in DynamoDB."""

from collections.abc import Sequence

from graveler.aws.dynamodb.models import BRANCH, TAG, TagItem, partition_of
from graveler.aws.dynamodb.outbox import outbox_item
from graveler.aws.dynamodb.records import RefsRecords
from graveler.aws.dynamodb.tables import Raw, key
from graveler.aws.dynamodb.tasks import task_creation
from graveler.errors import AlreadyExistsError, StaleVersionError
from graveler.model import CommitID, Event, Page, Repository, Tag
from graveler.model.tasks import TaskStart


def _tag_of(raw: Raw) -> Tag:
    item = TagItem.from_raw_data(dict(raw))
    return Tag(item.sort.removeprefix(TAG), CommitID(item.commit_id))


def _tag_item(repository: Repository, tag: Tag) -> TagItem:
    return TagItem(partition_of(repository), TAG + tag.name, commit_id=tag.commit_id)


class TagRecords(RefsRecords):
    """The part of RefStore that stores tags."""

    __slots__ = ()

    def tag(self, repository: Repository, name: str) -> Tag | None:
        raw = self.tables.get(partition_of(repository), TAG + name)
        return None if raw is None else _tag_of(raw)

    def tags(self, repository: Repository, prefix: str, after: str, amount: int) -> Page[Tag]:
        return self._page(partition_of(repository), TAG, prefix, after, amount, _tag_of)

    def restore_tags(self, repository: Repository, tags: Sequence[Tag]) -> None:
        self._restore_absent(repository, [_tag_item(repository, tag) for tag in tags])

    def create_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        put = self.tables.put(_tag_item(repository, tag), TagItem.sort.does_not_exist())
        no_branch = self.tables.absent(key(partition_of(repository), BRANCH + tag.name))
        writes = [{"Put": put}, {"ConditionCheck": no_branch}]
        writes += task_creation(self.tables, repository, starts)
        if not self._transact(writes, outbox_item(repository, event)):
            raise AlreadyExistsError(f"a tag or branch {tag.name!r} already exists")

    def delete_tag(
        self, repository: Repository, tag: Tag, event: Event, starts: TaskStart | None = None
    ) -> None:
        tag_key = key(partition_of(repository), TAG + tag.name)
        delete = self.tables.delete(tag_key, TagItem.commit_id == tag.commit_id)
        writes = [{"Delete": delete}, *task_creation(self.tables, repository, starts)]
        if not self._transact(writes, outbox_item(repository, event)):
            raise StaleVersionError(f"tag {tag.name} changed since it was read")
