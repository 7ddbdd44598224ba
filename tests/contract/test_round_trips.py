"""How often each operation goes to DynamoDB: time and money go where requests go.

docs/formats/dynamodb.md has the same table.
"""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from graveler.aws.dynamodb.commits import commit_item
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.model import Branch, CommitID, Event, Repository, StagingToken, Tag
from graveler.ports import StagedChange
from tests.contract.conftest import (
    COMMIT_ID,
    DynamoDBStores,
    new_commit,
    new_event,
    new_repository,
    new_token,
    strong,
)

EXPORT = BranchExport("main", ExportConfiguration("s3://out/latest"))

Operation = Callable[[DynamoDBStores, Repository, Branch], object]


def move(event: Event | None) -> Operation:
    def operation(stores: DynamoDBStores, repository: Repository, main: Branch) -> None:
        commit = new_commit(2)
        stores.refs.move_branch(
            repository,
            main,
            commit=commit,
            commit_id=commit.id,
            applied_tokens=main.sealed_tokens,
            new_staging_token=None,
            event=event,
            drop_after_ns=5,
        )

    return operation


def _tokens(amount: int) -> list[StagingToken]:
    return [new_token() for _ in range(amount)]


def _compact(stores: DynamoDBStores, repository: Repository, branch: Branch) -> None:
    token = new_token()
    offer = stores.refs.offer_token(token, 5)
    stores.refs.replace_sealed(
        repository,
        branch,
        replaced=branch.sealed_tokens,
        token=token,
        offer=offer,
        drop_after_ns=5,
    )


OPERATIONS: dict[str, tuple[Operation, list[str]]] = {
    "repository": (lambda s, r, _: s.refs.repository(r.name), ["GetItem"]),
    "repositories": (lambda s, _r, _b: s.refs.repositories("none", "", 100), ["Query"]),
    "update_repository": (
        lambda s, r, _: s.refs.update_repository(r, replace(r, read_only=True)),
        ["GetItem", "PutItem"],
    ),
    "delete_repository": (
        lambda s, r, _: s.refs.delete_repository(r, new_event()),
        ["TransactWriteItems", "Query", "TransactWriteItems", "Query", "DeleteItem"],
    ),
    "repository_metadata": (lambda s, r, _: s.refs.repository_metadata(r), ["GetItem"]),
    "update_repository_metadata": (
        lambda s, r, _: s.refs.update_repository_metadata(r, {"a": "b"}, []),
        ["GetItem", "TransactWriteItems"],
    ),
    "delete_branch_export": (
        lambda s, r, _: s.exports.delete_branch_export(r, replace(EXPORT, version=1)),
        ["TransactWriteItems", "GetItem"],
    ),
    "branch_export": (lambda s, r, _: s.exports.branch_export(r, "main"), ["GetItem"]),
    "replace_branch_export": (
        lambda s, r, _: s.exports.replace_branch_export(r, None, EXPORT),
        ["PutItem"],
    ),
    "replace_branch_export, with an event": (
        lambda s, r, _: s.exports.replace_branch_export(r, None, EXPORT, new_event()),
        ["TransactWriteItems"],
    ),
    "branch": (lambda s, r, _: s.refs.branch(r, "main"), ["GetItem"]),
    "repository_and_branch": (
        lambda s, r, _: s.refs.repository_and_branch(r, "main"),
        ["BatchGetItem"],
    ),
    "branches": (
        lambda s, r, _: s.refs.branches(r, "", "", 100, show_hidden=False),
        ["Query"],
    ),
    "create_branch": (
        lambda s, r, _: s.refs.create_branch(r, Branch("b", COMMIT_ID, new_token()), new_event()),
        ["TransactWriteItems"],
    ),
    "seal_token": (lambda s, r, b: s.refs.seal_token(r, b, new_token()), ["UpdateItem"]),
    "move_branch": (move(new_event()), ["TransactWriteItems"]),
    "move_branch without an event": (move(None), ["TransactWriteItems"]),
    "delete_branch": (
        lambda s, r, b: s.exports.delete_branch(r, b, new_event(), 5),
        ["TransactWriteItems"],
    ),
    "tag": (lambda s, r, _: s.refs.tag(r, "v1"), ["GetItem"]),
    "tags": (lambda s, r, _: s.refs.tags(r, "", "", 100), ["Query"]),
    "create_tag": (
        lambda s, r, _: s.refs.create_tag(r, Tag("v1", COMMIT_ID), new_event()),
        ["TransactWriteItems"],
    ),
    "commits, one": (lambda s, r, b: s.refs.commits(r, [b.commit_id]), ["GetItem"]),
    "commits, a hundred": (
        lambda s, r, _: s.refs.commits(r, [CommitID(f"{n:064x}") for n in range(100)]),
        ["BatchGetItem"],
    ),
    "commit_ids_with_prefix": (lambda s, r, _: s.refs.commit_ids_with_prefix(r, "a"), ["Query"]),
    "commits_below": (lambda s, r, _: s.refs.commits_below(r, 1_000, 1_000), ["Query"]),
    "staging get": (lambda s, _, b: s.staging.get(b.staging_token, b"a"), ["GetItem"]),
    "staging newest, of one token": (
        lambda s, _, b: s.staging.newest([b.staging_token], b"a"),
        ["GetItem"],
    ),
    "staging newest, of a hundred": (
        lambda s, _, b: s.staging.newest([b.staging_token, *_tokens(99)], b"a"),
        ["BatchGetItem"],
    ),
    "staging newest, of more": (
        lambda s, _, b: s.staging.newest([b.staging_token, *_tokens(101)], b"a"),
        ["BatchGetItem", "BatchGetItem"],
    ),
    "staging fill": (
        lambda s, _r, _b: s.staging.fill(new_token(), [(b"%d" % n, b"") for n in range(25)]),
        ["BatchWriteItem"],
    ),
    "offer_token": (lambda s, _r, _b: s.refs.offer_token(new_token(), 5), ["TransactWriteItems"]),
    "replace_sealed": (
        lambda s, r, b: _compact(s, r, s.refs.seal_token(r, b, new_token())),
        ["UpdateItem", "TransactWriteItems", "TransactWriteItems"],
    ),
    "staging get_with_branch": (
        lambda s, r, b: s.staging.get_with_branch(r, "main", b.staging_token, b"a"),
        ["BatchGetItem"],
    ),
    "staging get_with_repository": (
        lambda s, r, b: s.staging.get_with_repository(r, "main", b.staging_token, b"a"),
        ["BatchGetItem"],
    ),
    "staging stage": (
        lambda s, _, b: s.staging.stage(b.staging_token, [(b"a", b"v")]),
        ["TransactWriteItems"],
    ),
    "staging stage_if": (
        lambda s, r, b: s.staging.stage_if(r, b, [StagedChange(b"a", b"v", None)]),
        ["TransactWriteItems"],
    ),
    "staging restore": (
        lambda s, r, b: s.staging.restore(r, b, [(b"%d" % n, b"") for n in range(99)]),
        ["TransactWriteItems"],
    ),
    "restored_paths": (lambda s, _, b: list(s.staging.restored_paths(b.staging_token)), ["Query"]),
    "staging close": (lambda s, _, b: s.staging.close(b.staging_token), ["BatchWriteItem"]),
    "bump_version": (lambda s, r, b: s.refs.bump_version(r, b.name, new_token()), ["UpdateItem"]),
    "count_edit": (lambda s, r, b: s.refs.count_edit(r, b.name, new_token()), ["UpdateItem"]),
    "staging scan": (lambda s, _, b: list(s.staging.scan(b.staging_token, b"", None)), ["Query"]),
    "staging scan_paths": (
        lambda s, _, b: list(s.staging.scan_paths(b.staging_token, b"", None)),
        ["Query"],
    ),
    "staging scan of nothing": (
        lambda s, _r, _b: list(s.staging.scan(new_token(), b"b", b"a")),
        [],
    ),
    "staging scan_pages": (
        lambda s, _, b: list(s.staging.scan_pages(b.staging_token, b"", None, 10)),
        ["Query"],
    ),
    "staging scan_pages_with_branch": (
        lambda s, r, b: s.staging.scan_pages_with_branch(r, "main", b.staging_token, b"", None, 10),
        ["GetItem+Query"],
    ),
    "staging drop": (
        lambda s, _, b: s.staging.drop(b.staging_token),
        ["Query", "BatchWriteItem"],
    ),
}


@pytest.fixture
def stores(dynamodb_stores: DynamoDBStores) -> DynamoDBStores:
    strong(dynamodb_stores)
    return dynamodb_stores


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_makes_the_requests_it_needs(
    stores: DynamoDBStores, repository: Repository, name: str
) -> None:
    operation, expected = OPERATIONS[name]
    main = stores.refs.branch(repository, "main")
    assert main is not None
    stores.round_trips.clear()
    operation(stores, repository, main)
    assert stores.round_trips == expected


def test_a_full_page_and_whether_there_is_more_are_one_request(
    stores: DynamoDBStores, repository: Repository
) -> None:
    stores.refs.create_branch(repository, Branch("second", COMMIT_ID, new_token()), new_event())
    stores.round_trips.clear()
    assert stores.refs.branches(repository, "", "", 1, show_hidden=False).has_more
    assert not stores.refs.branches(repository, "", "", 2, show_hidden=False).has_more
    assert stores.round_trips == ["Query", "Query"]


def test_a_log_of_a_thousand_commits_is_one_page(stores: DynamoDBStores) -> None:
    """Commits of usual size: what one page of 1 MB holds."""
    tables = stores.tables
    repository = new_repository()
    writes = [
        {"PutRequest": {"Item": commit_item(repository, new_commit(n)).serialize()}}
        for n in range(1, 1_001)
    ]
    tables.write_batch(tables.refs, writes)
    stores.round_trips.clear()
    assert len(stores.refs.commits_below(repository, 1_000, 1_000)) == 1_000
    assert stores.round_trips == ["Query"]
