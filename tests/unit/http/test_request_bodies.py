import pytest

from graveler.errors import InvalidInputError
from graveler.http import requests
from graveler.http.requests import decode
from tests.support.checks.cases import for_each


@for_each(
    ("body", "shape", "named"),
    [
        (b"", requests.Login, "missing: send JSON"),
        (b"nope", requests.Merge, "malformed"),
        (b'{"message":"a"} x', requests.CommitCreation, "trailing"),
        (b"[]", requests.Merge, "Expected `object`"),
        (b"{}", requests.CommitCreation, "`message`"),
        (b'{"message":3}', requests.CommitCreation, r"\$.message"),
        (b'{"message":null}', requests.CommitCreation, r"\$.message"),
        (b'{"message":"\xff"}', requests.CommitCreation, "utf-8"),
        (b'{"message":"\\ud800"}', requests.CommitCreation, "request body"),
        (b'{"message":"a","date":"1"}', requests.CommitCreation, r"\$.date"),
        (b'{"message":"a","date":-1}', requests.CommitCreation, r"\$.date"),
        (b'{"message":"a","date":1e300}', requests.CommitCreation, r"\$.date"),
        (b'{"message":"a","metadata":{"k":1}}', requests.CommitCreation, r"\$.metadata"),
        (b'{"message":"a","allow_empty":"true"}', requests.CommitCreation, r"\$.allow_empty"),
        (b'{"paths":["a",1]}', requests.PathList, r"\$.paths\[1\]"),
        (b'{"staging":{},"checksum":"","size_bytes":1}', requests.StagingMetadata, r"\$.staging"),
        (b'{"type":"all"}', requests.ResetCreation, r"\$.type"),
        (b'{"pattern":""}', requests.ProtectionRuleBody, r"\$.pattern"),
        (b'{"username":""}', requests.Setup, r"\$.username"),
        (b'{"events":[{"class":"a","name":"b","count":-1}]}', requests.StatsEvents, "count"),
        (b'{"ref":"main"}', requests.RevertCreation, "parent_number"),
        (
            b'{"physical_address":"a","parts":[{"part_number":0,"etag":""}]}',
            requests.UploadCompletion,
            "part_number",
        ),
        (
            b'{"physical_address":"a","checksum":"b","size_bytes":9223372036854775808}',
            requests.ObjectStageCreation,
            "size_bytes",
        ),
        (b'{"x":' + b"[" * 200_000, requests.Login, "request body"),
    ],
)
def test_a_bad_body_is_refused_by_the_name_of_the_field(body, shape, named):
    with pytest.raises(InvalidInputError, match=named):
        decode(body, shape)


def test_unknown_fields_are_ignored():
    assert decode(b'{"message":"m","new_in_2030":{}}', requests.Merge).message == "m"


def test_optional_fields_have_lakefs_s_defaults():
    created = decode(b'{"name":"r","storage_namespace":"s3://b"}', requests.RepositoryCreation)
    assert created.default_branch == "main"
    assert not created.read_only
    assert decode(b'{"ref":"x"}', requests.CherryPickCreation).parent_number is None
