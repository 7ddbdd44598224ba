"""The half of the StagingStore that reads."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from graveler.aws.dynamodb.branches import branch_key, branch_of, subject_of
from graveler.aws.dynamodb.client import DynamoDBCall, binary
from graveler.aws.dynamodb.repositories import repository_key, repository_of
from graveler.aws.dynamodb.staged_items import (
    key_in,
    partition_of_path,
    partitions_of,
    staged_key,
    staged_of,
)
from graveler.aws.dynamodb.staged_pages import (
    CHANGES,
    FIRST_PAGE_ITEMS,
    PATHS,
    RESTORED_PATHS,
    StagedPage,
    first_page,
    pages,
)
from graveler.aws.dynamodb.staged_scans import scan
from graveler.aws.dynamodb.tables import Raw, Request, Tables
from graveler.model import Branch, Repository, StagingToken
from graveler.ports import ChangesPage, Staged
from graveler.threads import ContextThreads


class StagedReads:
    """Reads of staged changes, over the staging table."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._dynamodb = tables.dynamodb

    def get(self, token: StagingToken, path: bytes) -> Staged | None:
        raw = self._item_of(token, path)
        return None if raw is None else staged_of(raw)

    def newest(self, tokens: Sequence[StagingToken], path: bytes) -> Staged | None:
        keys = [staged_key(token, path) for token in tokens]
        found = {raw["token"]["S"]: raw for raw in self._items(keys)}
        partitions = [partition_of_path(token, path) for token in tokens]
        return next((staged_of(found[each]) for each in partitions if each in found), None)

    def newest_each(
        self, tokens: Sequence[StagingToken], paths: Sequence[bytes]
    ) -> Mapping[bytes, Staged]:
        newest_last = list(reversed(tokens))
        pairs = [(path, partition_of_path(token, path)) for path in paths for token in newest_last]
        keys = [key_in(partition, path) for path, partition in pairs]
        found = {
            (binary(raw["path"]), raw["token"]["S"]): staged_of(raw) for raw in self._items(keys)
        }
        return {pair[0]: found[pair] for pair in pairs if pair in found}

    def _items(self, keys: Sequence[Request]) -> Sequence[Raw]:
        if len(keys) == 1:
            raw = self._tables.item(self._tables.staging, keys[0])
            return [] if raw is None else [raw]
        return self._tables.get_batch(self._tables.staging, keys)

    def _item_of(self, token: StagingToken, path: bytes) -> Raw | None:
        return self._tables.item(self._tables.staging, staged_key(token, path))

    def get_with_branch(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Branch | None, Staged | None]:
        wanted = [
            (self._tables.refs, branch_key(repository, branch)),
            (self._tables.staging, staged_key(token, path)),
        ]
        found, staged = self._tables.get_together(subject_of(repository, branch), wanted)
        return (
            None if found is None else branch_of(found),
            None if staged is None else staged_of(staged),
        )

    def get_with_repository(
        self, repository: Repository, branch: str, token: StagingToken, path: bytes
    ) -> tuple[Repository | None, Branch | None, Staged | None]:
        refs = self._tables.refs
        wanted = [(refs, repository_key(repository.name)), (refs, branch_key(repository, branch))]
        wanted.append((self._tables.staging, staged_key(token, path)))
        current, found, staged = self._tables.get_together(subject_of(repository, branch), wanted)
        return (
            None if current is None else repository_of(current),
            None if found is None else branch_of(found),
            None if staged is None else staged_of(staged),
        )

    def restored_paths(self, token: StagingToken) -> Iterator[bytes]:
        for page in scan(self._tables, token, b"", None, RESTORED_PATHS):
            yield from (item.path.B for item in page.Items)

    def scan(
        self, token: StagingToken, start: bytes, end: bytes | None
    ) -> Iterator[tuple[bytes, bytes | None]]:
        for page in self.scan_pages(token, start, end, FIRST_PAGE_ITEMS):
            yield from page.changes

    def scan_paths(self, token: StagingToken, start: bytes, end: bytes | None) -> Iterator[bytes]:
        for page in scan(self._tables, token, start, end, PATHS):
            yield from (item.path.B for item in page.Items)

    def scan_pages(
        self, token: StagingToken, start: bytes, end: bytes | None, amount: int
    ) -> Iterator[ChangesPage]:
        for page in scan(self._tables, token, start, end, CHANGES, amount):
            yield page.changes

    def scan_pages_with_branch(
        self,
        repository: Repository,
        branch: str,
        token: StagingToken,
        start: bytes,
        end: bytes | None,
        amount: int,
    ) -> tuple[Branch | None, Iterator[ChangesPage]]:
        refs, key = self._tables.refs, branch_key(repository, branch)
        found: Iterator[StagedPage] = iter(())
        if end is not None and start >= end:
            raw = self._tables.item(refs, key)
        elif len(partitions_of(token)) == 1:
            read = {"TableName": refs, "Key": key, "ConsistentRead": True}
            call = first_page(self._tables, token, start, end, amount)
            answer, first = self._dynamodb.call_together(DynamoDBCall("GetItem", read), call)
            raw = answer.get("Item")
            found = pages(self._tables, token, start, end, CHANGES, amount, first)
        else:
            following = scan(self._tables, token, start, end, CHANGES, amount)
            with ContextThreads(1) as pool:
                begun = pool.submit(self._tables.item, refs, key)
                found = chain(list(islice(following, 1)), following)
            raw = begun.result()
        return (None if raw is None else branch_of(raw)), (page.changes for page in found)
