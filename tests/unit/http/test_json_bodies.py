import pytest

from graveler.errors import InvalidInputError
from graveler.http.json_bodies import decode
from graveler.http.schemas.accounts import Login, Setup
from graveler.http.schemas.branches import CherryPickCreation, ResetCreation, RevertCreation
from graveler.http.schemas.commits import CommitCreation
from graveler.http.schemas.configuration import StatsEvents
from graveler.http.schemas.objects import ObjectStageCreation, PathList
from graveler.http.schemas.protection import ProtectionRuleBody
from graveler.http.schemas.refs import Merge
from graveler.http.schemas.repositories import RepositoryCreation
from graveler.http.schemas.staging import StagingMetadata
from graveler.http.schemas.uploads import UploadCompletion
from tests.support.checks.cases import for_each


@for_each(
    ("body", "shape", "named"),
    [
        (b"", Login, "missing: send JSON"),
        (b"nope", Merge, "malformed"),
        (b'{"message":"a"} x', CommitCreation, "trailing"),
        (b"[]", Merge, "Expected `object`"),
        (b"{}", CommitCreation, "`message`"),
        (b'{"message":3}', CommitCreation, r"\$.message"),
        (b'{"message":null}', CommitCreation, r"\$.message"),
        (b'{"message":"\xff"}', CommitCreation, "utf-8"),
        (b'{"message":"\\ud800"}', CommitCreation, "request body"),
        (b'{"message":"a","date":"1"}', CommitCreation, r"\$.date"),
        (b'{"message":"a","date":-1}', CommitCreation, r"\$.date"),
        (b'{"message":"a","date":1e300}', CommitCreation, r"\$.date"),
        (b'{"message":"a","metadata":{"k":1}}', CommitCreation, r"\$.metadata"),
        (b'{"message":"a","allow_empty":"true"}', CommitCreation, r"\$.allow_empty"),
        (b'{"paths":["a",1]}', PathList, r"\$.paths\[1\]"),
        (b'{"staging":{},"checksum":"","size_bytes":1}', StagingMetadata, r"\$.staging"),
        (b'{"type":"all"}', ResetCreation, r"\$.type"),
        (b'{"pattern":""}', ProtectionRuleBody, r"\$.pattern"),
        (b'{"username":""}', Setup, r"\$.username"),
        (b'{"events":[{"class":"a","name":"b","count":-1}]}', StatsEvents, "count"),
        (b'{"ref":"main"}', RevertCreation, "parent_number"),
        (
            b'{"physical_address":"a","parts":[{"part_number":0,"etag":""}]}',
            UploadCompletion,
            "part_number",
        ),
        (
            b'{"physical_address":"a","checksum":"b","size_bytes":9223372036854775808}',
            ObjectStageCreation,
            "size_bytes",
        ),
        (b'{"x":' + b"[" * 200_000, Login, "request body"),
    ],
)
def test_a_bad_body_is_refused_by_the_name_of_the_field(body, shape, named):
    with pytest.raises(InvalidInputError, match=named):
        decode(body, shape)


def test_unknown_fields_are_ignored():
    assert decode(b'{"message":"m","new_in_2030":{}}', Merge).message == "m"


def test_optional_fields_have_lakefs_s_defaults():
    created = decode(b'{"name":"r","storage_namespace":"s3://b"}', RepositoryCreation)
    assert created.default_branch == "main"
    assert not created.read_only
    assert decode(b'{"ref":"x"}', CherryPickCreation).parent_number is None
