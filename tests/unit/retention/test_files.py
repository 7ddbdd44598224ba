"""The files of a collection, and what keeps an address alive."""

from graveler.model import AddressType, CommitID, Entry, MetaRangeID
from graveler.retention import files
from graveler.retention.liveness import address_in_namespace
from tests.support.checks.cases import for_each


def test_files_have_lakefss_names() -> None:
    assert files.RULES_FILE == "_lakefs/retention/gc/rules/config.json"
    assert files.commits_file("r") == "_lakefs/retention/gc/commits/run_id=r/commits.csv"
    assert files.uncommitted_folder("r") == "_lakefs/retention/gc/uncommitted/r/uncommitted/"


def test_the_list_of_commits_is_lakefss_csv() -> None:
    ids = {"b" * 64: "2" * 64, "a" * 64: "", "c": "1"}
    active = {CommitID(commit): MetaRangeID(metarange) for commit, metarange in ids.items()}
    assert files.encode_commits(active) == (
        b"commit_id,expired,metarange_id\n"
        + b"a" * 64
        + b",false,\n"
        + b"b" * 64
        + b",false,"
        + b"2" * 64
        + b"\nc,false,1\n"
    )


@for_each(
    ("address", "kind", "expected"),
    [
        ("data/p/x", AddressType.RELATIVE, "data/p/x"),
        ("s3://bucket/lake/data/p/x", AddressType.FULL, "data/p/x"),
        ("s3://bucket/lake2/data/p/x", AddressType.FULL, None),
        ("s3://bucket2/lake/data/p/x", AddressType.FULL, None),
        ("s3://bucket/lake", AddressType.FULL, None),
        ("s3://bucket/lake/x", AddressType.BY_PREFIX_DEPRECATED, "x"),
        ("data/p/x", AddressType.BY_PREFIX_DEPRECATED, "data/p/x"),
        ("s3://other/x", AddressType.BY_PREFIX_DEPRECATED, None),
    ],
)
def test_an_entry_keeps_what_lies_in_its_own_namespace(
    address: str, kind: AddressType, expected: str | None
) -> None:
    entry = Entry(address, kind, 1, "c", 0)
    assert address_in_namespace("s3://bucket/lake", entry) == expected
