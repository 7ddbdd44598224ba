"""A dump's records are lakeFS's, byte for byte, and what cannot be is refused."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from graveler.dump.records import BRANCHES, COMMITS, TAGS, NamedCommit
from graveler.entries import join_value, split_value
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.identity import make_commit
from graveler.model import CommitID, MetaRangeID
from graveler.proto import stored_pb2 as messages
from tests.support.checks.cases import for_each

VECTORS = json.loads(
    (Path(__file__).parents[2] / "golden" / "vectors" / "refs_dump.json").read_text()
)
KINDS = [COMMITS, BRANCHES, TAGS]
HEAD = CommitID("ab" * 32)
COMMIT = make_commit(
    committer="somebody",
    message="why",
    metarange_id=MetaRangeID("ab" * 32),
    creation_date=1_700_000_000,
    metadata={"k": "v", "a": ""},
    parents=[CommitID("cd" * 32)],
    generation=7,
)


@for_each("kind", KINDS, ids=lambda kind: kind.entity)
def test_records_are_read_and_written_as_lakefs_writes_them(kind):
    records = VECTORS[kind.entity]["records"]
    assert records
    for record in records:
        key = record["key"].encode()
        value = join_value(record["identity_utf8"].encode(), bytes.fromhex(record["data_pb_hex"]))
        assert kind.encode(kind.of_record(key, value)) == (key, value)


@for_each("kind", KINDS, ids=lambda kind: kind.entity)
def test_files_say_of_themselves_what_lakefs_says(kind):
    expected = dict(VECTORS[kind.entity]["metadata"])
    ours = dict(kind.metadata)
    schema = json.loads(ours.pop("schema_definition"))
    assert schema == json.loads(expected.pop("schema_definition"))
    assert ours == expected


@for_each(
    ("kind", "thing"),
    [
        (COMMITS, COMMIT),
        (COMMITS, replace(COMMIT, version=0)),
        (BRANCHES, NamedCommit("main", HEAD)),
        (BRANCHES, NamedCommit("_hidden", HEAD, hidden=True)),
        (TAGS, NamedCommit("v1.0~$é", HEAD)),
    ],
)
def test_what_was_encoded_comes_back(kind, thing):
    assert kind.of_record(*kind.encode(thing)) == thing


def commit_record(**changes):
    key, value = COMMITS.encode(COMMIT)
    message = messages.CommitData.FromString(split_value(value)[1])
    for field, changed in changes.items():
        setattr(message, field, changed)
    return key, join_value(key, message.SerializeToString())


@for_each(
    "changes",
    [
        {"message": "another"},
        {"committer": "nobody"},
        {"meta_range_id": "12" * 32},
        {"id": "12" * 32},
        {"generation": 0},
        {"generation": -1},
    ],
    ids=str,
)
def test_a_commit_that_is_not_what_its_id_says_is_refused(changes):
    COMMITS.of_record(*commit_record())
    with pytest.raises(InvalidInputError, match=COMMIT.id):
        COMMITS.of_record(*commit_record(**changes))


def test_a_commit_under_another_ones_key_is_refused():
    with pytest.raises(InvalidInputError, match="12" * 32):
        COMMITS.of_record(b"12" * 32, commit_record()[1])


@for_each(
    ("kind", "name"),
    [(BRANCHES, "not/valid"), (BRANCHES, ""), (TAGS, "@"), (TAGS, "a..b"), (TAGS, "x" * 1001)],
)
def test_names_that_nothing_can_have_are_refused(kind, name):
    with pytest.raises(InvalidInputError):
        kind.of_record(*kind.encode(NamedCommit(name, COMMIT.id)))


@for_each("kind", [BRANCHES, TAGS], ids=lambda kind: kind.entity)
def test_a_name_under_another_key_is_refused(kind):
    _, value = kind.encode(NamedCommit("one", COMMIT.id))
    with pytest.raises(InvalidInputError, match="one"):
        kind.of_record(b"other", value)


@for_each("kind", KINDS, ids=lambda kind: kind.entity)
@for_each(
    ("key", "value"),
    [(b"main", b"\x40"), (b"main", join_value(b"", b"\xff\xff")), (b"\xff", join_value(b"", b""))],
)
def test_bytes_that_are_no_message_are_damage(kind, key, value):
    with pytest.raises(CorruptDataError):
        kind.of_record(key, value)
