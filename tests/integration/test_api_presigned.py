"""Presigned URLs of the objects that match a glob."""

from typing import Any

import pytest

from tests.support.clients.api import ApiClient

PATHS = ("a.csv", "t/1.csv", "t/2.csv", "t/2.txt", "t/deep/3.csv", "t/deep/er/4.csv", "u/5.csv")
PRESIGNED = "/repositories/repo/refs/{ref}/objects/presigned"


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    for path in PATHS:
        api.upload(path, path.encode())
    api.commit()
    return api


def ask(api: ApiClient, glob: str, ref: str = "main", **more: Any) -> Any:
    reply = api.ask("GET", PRESIGNED.format(ref=ref), glob=glob, **more)
    assert reply.status == 200, reply.message
    return reply.json


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*", ["a.csv"]),
        ("t/*.csv", ["t/1.csv", "t/2.csv"]),
        ("t/?.txt", ["t/2.txt"]),
        ("t/[!2].*", ["t/1.csv"]),
        ("t/**.csv", ["t/1.csv", "t/2.csv", "t/deep/3.csv", "t/deep/er/4.csv"]),
        ("**/[34].csv", ["t/deep/3.csv", "t/deep/er/4.csv"]),
        ("**/*a*", ["a.csv"]),
        ("t/**/[13].csv", ["t/1.csv", "t/deep/3.csv"]),
        ("{t,u}/*5.csv", ["u/5.csv"]),
        ("**", list(PATHS)),
        ("t/1.csv", ["t/1.csv"]),
        (r"t/\*.csv", []),
        ("none/*", []),
    ],
)
def test_a_glob_finds_the_paths_that_shells_find(
    api: ApiClient, glob: str, expected: list[str]
) -> None:
    assert [row["path"] for row in ask(api, glob)["results"]] == expected


def test_pages_are_of_one_commit_whatever_is_committed_meanwhile(api: ApiClient) -> None:
    first = ask(api, "t/**", amount=2)
    commit_id = first["commit_id"]
    assert commit_id == api.ask("GET", "/repositories/repo/commits/main").json["id"]
    api.upload("t/1z.csv", b"new")
    api.upload("t/deep/3.csv", b"new")
    api.commit()
    found, page = first["results"], first
    while page["pagination"]["has_more"]:
        after = page["pagination"]["next_offset"]
        page = ask(api, "t/**", commit_id, amount=2, after=after)
        found += page["results"]
    assert [row["path"] for row in found] == [path for path in PATHS if path.startswith("t/")]
    stat = f"/repositories/repo/refs/{commit_id}/objects/stat"
    for row in found:
        one = api.ask("GET", stat, path=row["path"], presign="true").json
        assert (row["size_bytes"], row["checksum"]) == (one["size_bytes"], one["checksum"])
        assert row["url"].partition("?")[0] == one["physical_address"].partition("?")[0]
        assert 0 < row["expiry"] <= one["physical_address_expiry"]


@pytest.mark.parametrize("glob", ["", "a[", "[]]x[", "x" * 2049])
def test_a_bad_glob_is_refused(api: ApiClient, glob: str) -> None:
    reply = api.ask("GET", PRESIGNED.format(ref="main"), glob=glob)
    assert (reply.status, "glob" in reply.message) == (400, True)
