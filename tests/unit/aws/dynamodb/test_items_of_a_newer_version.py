"""While two versions serve at the same time, each reads the other's items."""

import json

import msgspec
import pytest

from graveler.aws.dynamodb.branches import branch_item, branch_of
from graveler.aws.dynamodb.outbox import event_of, outbox_item
from graveler.aws.dynamodb.repositories import _repository_item, repository_of
from graveler.export.record import BranchExport, ExportConfiguration
from graveler.model import (
    Branch,
    Commit,
    CommitID,
    Event,
    MetaRangeID,
    Repository,
    RepositoryUID,
    StagingToken,
)

UID = RepositoryUID("d8qj3tkbtms0fh2ok8ng")
HEAD = CommitID("c" * 64)
NEW, SEALED, OLD = map(StagingToken, ("token", "b", "a"))
LAKE = Repository("lake", UID, "s3://bucket/lake", "main", 1_700_000_000)
MAIN = Branch(name="main", commit_id=HEAD, staging_token=NEW, sealed_tokens=(SEALED, OLD))
EVENT = Event("id", "tag_created", "lake", 1_700_000_000_000_000_000, {"tag": "v1"})

OF_ITEMS = [
    (branch_item(LAKE, MAIN), branch_of, MAIN),
    (_repository_item(LAKE), repository_of, LAKE),
    (outbox_item(LAKE, EVENT), event_of, EVENT),
]


@pytest.mark.parametrize(("item", "read", "expected"), OF_ITEMS, ids=["branch", "repo", "event"])
def test_attributes_that_an_item_did_not_have_are_passed_over(item, read, expected):
    raw = {
        **item.serialize(),
        "of_a_later_version": {"S": "text"},
        "and_another": {"M": {"nested": {"L": [{"BOOL": True}]}}},
    }
    assert read(raw) == expected


@pytest.mark.parametrize(
    "record",
    [
        EVENT,
        BranchExport("main", ExportConfiguration("s3://bucket/path")),
        Commit(HEAD, "somebody", "why", MetaRangeID("m" * 64), 1_700_000_000, ()),
    ],
    ids=lambda record: type(record).__name__,
)
def test_fields_that_a_stored_record_did_not_have_are_passed_over(record):
    document = json.loads(msgspec.json.encode(record)) | {"of_a_later_version": [1, {"a": 2}]}
    assert msgspec.json.decode(json.dumps(document), type=type(record)) == record
