"""Recorded multipart uploads: any process continues, lists, completes or aborts them."""

from collections.abc import Sequence
from typing import Any

import pytest

from graveler.limits import USER_METADATA_BYTES_MAX
from tests.support.clients.api import ApiClient, Reply
from tests.support.fakes.access import EVERYTHING, RestrictedClient, allowing, denying

REPO = "/repositories/repo"
MAIN = f"{REPO}/branches/main"
UPLOADS = f"{MAIN}/uploads"
READ = f"{REPO}/refs/main/objects"
KIND = "X-Graveler-Error"
SOURCE = {"repository": "repo", "ref": "main", "path": "source"}
ARN = "arn:lakefs:fs:::repository/repo"
UNKNOWN = "0" * 20


@pytest.fixture
def api() -> ApiClient:
    api = ApiClient()
    api.repository()
    return api


@pytest.fixture
def upload(api: ApiClient) -> "RecordedUpload":
    return RecordedUpload(api)


class RecordedUpload:
    """An upload to `big`, which the API has begun."""

    def __init__(self, api: ApiClient, path: str = "big", **description: Any) -> None:
        self.api = api
        self.path = path
        begun = api.ask("POST", UPLOADS, description, path=path)
        assert begun.status == 201
        self.row: dict[str, Any] = begun.json
        self.target = f"{UPLOADS}/{self.row['upload_id']}"

    def ask(self, method: str, below: str = "", body: object = None, **parameters: Any) -> Reply:
        return self.api.ask(method, self.target + below, body, path=self.path, **parameters)

    def put(self, number: int, content: bytes) -> str:
        """Put the content of a part at its presigned URL; return its ETag."""
        url = self.ask("PUT", f"/parts/{number}").json["presigned_url"]
        return self.api.world.objects.request_presigned(url, content).decode()

    def complete(self, etags: Sequence[str], **headers: str) -> Reply:
        """Complete it with the parts from number 1 on."""
        parts = [{"part_number": number, "etag": etag} for number, etag in enumerate(etags, 1)]
        body = {"parts": parts}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.ask("PUT", self.target, body, headers=named, path=self.path)


def listed(api: ApiClient, **parameters: Any) -> Reply:
    return api.ask("GET", f"{REPO}/uploads", **parameters)


def error(reply: Reply) -> tuple[int, str]:
    """Return the status and the class of the error."""
    return reply.status, reply.headers[KIND]


# Create, presign and list parts


def test_an_upload_says_where_it_goes_and_when_it_began(api: ApiClient) -> None:
    api.world.clock.step_ns = 0
    row = RecordedUpload(api, "a/b").row
    assert row.pop("upload_id")
    assert row == {
        "path_type": "upload",
        "key": "main/a/b",
        "branch": "main",
        "path": "a/b",
        "creation_date": api.world.clock.peek_ns // 10**9,
    }
    assert api.paths() == []


def test_a_part_gets_an_url_that_ends(api: ApiClient, upload: RecordedUpload) -> None:
    api.world.clock.step_ns = 0
    reply = upload.ask("PUT", "/parts/10000")
    assert set(reply.json) == {"presigned_url", "presigned_url_expiry"}
    assert reply.json["presigned_url_expiry"] == api.world.clock.peek_ns // 10**9 + 15 * 60


def test_parts_are_listed_in_pages(upload: RecordedUpload) -> None:
    etags = {number: upload.put(number, b"x" * number) for number in (1, 3, 10, 2)}
    first = upload.ask("GET", "/parts", amount="3").json
    assert [(row["part_number"], row["etag"], row["size_bytes"]) for row in first["results"]] == [
        (number, etags[number], number) for number in (1, 2, 3)
    ]
    assert (first["pagination"]["has_more"], first["pagination"]["next_offset"]) == (True, "3")
    second = upload.ask("GET", "/parts", after="3").json
    assert [row["part_number"] for row in second["results"]] == [10]
    assert second["pagination"]["has_more"] is False


def test_a_part_that_is_put_again_is_replaced(upload: RecordedUpload) -> None:
    upload.put(1, b"old")
    etag = upload.put(1, b"new")
    (row,) = upload.ask("GET", "/parts").json["results"]
    assert (row["etag"], row["size_bytes"]) == (etag, 3)
    assert upload.complete([etag]).status == 200
    assert upload.api.ask("GET", READ, path="big").content == b"new"


# Copy parts


@pytest.mark.parametrize(
    ("wanted", "content"),
    [(None, b"0123456789"), ("bytes=2-4", b"234"), ("bytes=-3", b"789"), ("bytes=8-", b"89")],
)
def test_a_part_is_copied_from_an_object(
    api: ApiClient, upload: RecordedUpload, wanted: str | None, content: bytes
) -> None:
    api.upload("source", b"0123456789")
    source = SOURCE if wanted is None else {**SOURCE, "range": wanted}
    copied = upload.ask("PUT", "/parts/1/copy", {"copy_source": source})
    assert (copied.status, copied.content) == (204, b"")
    assert upload.complete([copied.headers["ETag"]]).status == 200
    assert api.ask("GET", READ, path="big").content == content


def test_a_part_is_copied_from_another_repository(api: ApiClient, upload: RecordedUpload) -> None:
    api.repository("other")
    objects = "/repositories/other/branches/main/objects"
    assert api.ask("POST", objects, b"theirs", path="source").status == 201
    source = {**SOURCE, "repository": "other"}
    copied = upload.ask("PUT", "/parts/1/copy", {"copy_source": source})
    assert upload.complete([copied.headers["ETag"]]).status == 200
    assert api.ask("GET", READ, path="big").content == b"theirs"


def test_a_part_is_copied_only_from_the_data_that_the_client_has_seen(
    api: ApiClient, upload: RecordedUpload
) -> None:
    seen = api.upload("source", b"old")["physical_address"]
    body = {"copy_source": SOURCE, "src_physical_address": seen}
    assert upload.ask("PUT", "/parts/1/copy", body).status == 204
    api.upload("source", b"new")
    assert error(upload.ask("PUT", "/parts/2/copy", body)) == (429, "contention")
    assert [row["part_number"] for row in upload.ask("GET", "/parts").json["results"]] == [1]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({**SOURCE, "path": "nothing"}, (404, "not_found")),
        ({**SOURCE, "ref": "nothing"}, (404, "not_found")),
        ({**SOURCE, "repository": "nothing"}, (404, "not_found")),
        ({**SOURCE, "range": "bytes=9-"}, (416, "range_not_satisfiable")),
        ({"repository": "repo", "ref": "main"}, (400, "invalid_input")),
        (None, (400, "invalid_input")),
    ],
)
def test_a_bad_source_of_a_part_copies_nothing(
    api: ApiClient, upload: RecordedUpload, source: object, expected: tuple[int, str]
) -> None:
    api.upload("source", b"x")
    assert error(upload.ask("PUT", "/parts/1/copy", {"copy_source": source})) == expected
    assert upload.ask("GET", "/parts").json["results"] == []


# Complete


def test_parts_become_an_object_with_its_type_and_metadata(api: ApiClient) -> None:
    described: dict[str, Any] = {"content_type": "text/csv", "user_metadata": {"k": "v"}}
    upload = RecordedUpload(api, **described)
    etags = [upload.put(number, content) for number, content in ((1, b"one"), (2, b"two"))]
    done = upload.complete([f'"{etag}"' for etag in etags])
    assert done.status == 200
    assert (done.json["path"], done.json["size_bytes"]) == ("big", 6)
    assert (done.json["content_type"], done.json["metadata"]) == ("text/csv", {"k": "v"})
    assert done.json["checksum"].endswith("-2")
    assert api.ask("GET", f"{READ}/stat", path="big").json == done.json
    assert api.ask("GET", READ, path="big").content == b"onetwo"
    assert listed(api).json["results"] == []


def test_another_process_continues_and_completes_an_upload(api: ApiClient) -> None:
    upload = RecordedUpload(api)
    etags = [upload.put(1, b"one")]
    api._begin()
    etags.append(upload.put(2, b"two"))
    api._begin()
    assert upload.complete(etags).json["size_bytes"] == 6


def test_a_repeated_completion_answers_the_same_and_changes_nothing(
    api: ApiClient, upload: RecordedUpload
) -> None:
    etags = [upload.put(1, b"x")]
    first = upload.complete(etags, if_none_match="*")
    api.upload("big", b"newer")
    # The condition was met once; a client that lost the answer must not learn otherwise.
    again = upload.complete(etags, if_none_match="*")
    assert (again.status, again.json) == (200, first.json)
    assert api.ask("GET", READ, path="big").content == b"newer"


def test_a_completed_upload_is_closed_for_everything_else(upload: RecordedUpload) -> None:
    etags = [upload.put(1, b"1"), upload.put(2, b"2")]
    assert upload.complete(etags).status == 200
    body = {"copy_source": {**SOURCE, "path": "big"}}
    for reply in (
        upload.complete(etags[:1]),
        upload.ask("PUT", "/parts/3"),
        upload.ask("PUT", "/parts/3/copy", body),
        upload.ask("GET", "/parts"),
        upload.ask("DELETE"),
    ):
        assert error(reply) == (404, "upload_not_found")
    assert upload.api.ask("GET", READ, path="big").content == b"12"


@pytest.mark.parametrize(
    ("stored", "headers", "expected"),
    [
        (None, {"if_none_match": "*"}, None),
        (b"old", {"if_none_match": "*"}, (412, "precondition_failed")),
        (None, {"if_match": "*"}, (412, "object_missing")),
        (b"old", {"if_match": "*"}, None),
        (b"old", {"if_match": '"wrong"'}, (412, "precondition_failed")),
        (b"old", {"if_match": '"wrong", "{etag}"'}, None),
        (b"old", {"if_match": 'W/"{etag}"'}, (412, "precondition_failed")),
        (None, {"if_none_match": '"wrong"'}, (501, "unsupported")),
        (None, {"if_match": "wrong"}, (400, "invalid_input")),
    ],
)
def test_a_condition_decides_and_an_upload_that_it_refuses_stays_open(
    api: ApiClient,
    upload: RecordedUpload,
    stored: bytes | None,
    headers: dict[str, str],
    expected: tuple[int, str] | None,
) -> None:
    etag = api.upload("big", stored)["checksum"] if stored else ""
    wanted = {name: text.format(etag=etag) for name, text in headers.items()}
    etags = [upload.put(1, b"new")]
    reply = upload.complete(etags, **wanted)
    if expected:
        assert error(reply) == expected
        assert api.paths() == (["big"] if stored else [])
        reply = upload.complete(etags)
    assert reply.status == 200
    assert api.ask("GET", READ, path="big").content == b"new"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([{"part_number": 1, "etag": "wrong"}], (400, "bad_parts/InvalidPart")),
        ([], (400, "invalid_input")),
        (None, (400, "invalid_input")),
        ([{"part_number": 1}], (400, "invalid_input")),
        ([{"part_number": "1", "etag": "1"}], (400, "invalid_input")),
    ],
)
def test_wrong_parts_complete_nothing_and_say_what_is_wrong(
    api: ApiClient, upload: RecordedUpload, parts: Any, expected: tuple[int, str]
) -> None:
    etags = [upload.put(1, b"x")]
    assert error(upload.ask("PUT", body={"parts": parts})) == expected
    assert api.paths() == []
    assert upload.complete(etags).status == 200


def test_parts_out_of_order_complete_nothing(api: ApiClient, upload: RecordedUpload) -> None:
    parts = [{"part_number": number, "etag": upload.put(number, b"x")} for number in (2, 1)]
    refused = upload.ask("PUT", body={"parts": parts})
    assert error(refused) == (400, "bad_parts/InvalidPartOrder")
    assert api.paths() == []


# Abort


def test_an_aborted_upload_is_gone(api: ApiClient, upload: RecordedUpload) -> None:
    etags = [upload.put(1, b"x")]
    aborted = upload.ask("DELETE")
    assert (aborted.status, aborted.content) == (204, b"")
    for reply in (
        upload.ask("DELETE"),
        upload.ask("GET", "/parts"),
        upload.ask("PUT", "/parts/1"),
        upload.complete(etags),
    ):
        assert error(reply) == (404, "upload_not_found")
    assert (api.paths(), listed(api).json["results"]) == ([], [])


# Wrong input


@pytest.mark.parametrize(
    ("method", "below", "body"),
    [
        ("PUT", "/parts/1", None),
        ("PUT", "/parts/1/copy", {"copy_source": SOURCE}),
        ("GET", "/parts", None),
        ("PUT", "", {"parts": [{"part_number": 1, "etag": "e"}]}),
        ("DELETE", "", None),
    ],
)
class TestEveryOperationOnAnUpload:
    @pytest.mark.parametrize("upload_id", [UNKNOWN, "x", "9m4e2mr0ui3e8a215n4", "a%2525b"])
    def test_needs_one_that_exists(
        self, api: ApiClient, method: str, below: str, body: object, upload_id: str
    ) -> None:
        api.upload("source")
        reply = api.ask(method, f"{UPLOADS}/{upload_id}{below}", body, path="big")
        assert error(reply) == (404, "upload_not_found")

    def test_needs_the_path_and_the_branch_of_the_upload(
        self, api: ApiClient, upload: RecordedUpload, method: str, below: str, body: object
    ) -> None:
        api.upload("source")
        api.branch("dev")
        api.repository("other")
        for target, path in (
            (upload.target, "bi"),
            (upload.target.replace("/main/", "/dev/"), "big"),
            (upload.target.replace("/repo/", "/other/"), "big"),
        ):
            assert error(api.ask(method, target + below, body, path=path)) == (
                404,
                "upload_not_found",
            )

    def test_needs_a_path(
        self, api: ApiClient, upload: RecordedUpload, method: str, below: str, body: object
    ) -> None:
        reply = api.ask(method, upload.target + below, body)
        assert error(reply) == (400, "invalid_input")
        assert '"path"' in reply.message

    def test_needs_a_repository(
        self, api: ApiClient, upload: RecordedUpload, method: str, below: str, body: object
    ) -> None:
        target = upload.target.replace("/repo/", "/nothing/")
        assert error(api.ask(method, target + below, body, path="big")) == (404, "not_found")


@pytest.mark.parametrize("number", ["0", "-1", "10001", "x", "1.5", "٣"])
@pytest.mark.parametrize("copy", ["", "/copy"])
def test_a_bad_part_number_is_refused(upload: RecordedUpload, number: str, copy: str) -> None:
    reply = upload.ask("PUT", f"/parts/{number}{copy}", {"copy_source": SOURCE})
    assert error(reply) == (400, "invalid_input")
    assert "partNumber" in reply.message


@pytest.mark.parametrize("after", ["x", "-1", "1.5", "٣", "123456"])
def test_parts_follow_a_number(upload: RecordedUpload, after: str) -> None:
    assert error(upload.ask("GET", "/parts", after=after)) == (400, "invalid_input")


@pytest.mark.parametrize(
    ("target", "path", "body", "expected"),
    [
        (UPLOADS, "", {}, (400, "invalid_input")),
        (UPLOADS, "p" * 1025, {}, (400, "invalid_input")),
        (UPLOADS, "a", {"user_metadata": {"k": 1}}, (400, "invalid_input")),
        (
            UPLOADS,
            "a",
            {"user_metadata": {"k": "v" * USER_METADATA_BYTES_MAX}},
            (400, "invalid_input"),
        ),
        (UPLOADS, "a", b"{", (400, "invalid_input")),
        (UPLOADS.replace("main", "none"), "a", {}, (404, "not_found")),
        (UPLOADS.replace("/repo/", "/none/"), "a", {}, (404, "not_found")),
    ],
)
def test_a_bad_wish_begins_no_upload(
    api: ApiClient, target: str, path: str, body: object, expected: tuple[int, str]
) -> None:
    assert error(api.ask("POST", target, body, path=path)) == expected
    assert listed(api).json["results"] == []


def test_a_protected_branch_takes_no_upload(api: ApiClient) -> None:
    upload = RecordedUpload(api)
    etags = [upload.put(1, b"x")]
    rules = [{"pattern": "main"}]
    assert api.ask("PUT", f"{REPO}/settings/branch_protection", rules).status == 204
    assert error(api.ask("POST", UPLOADS, {}, path="a")) == (403, "forbidden")
    assert error(upload.complete(etags)) == (403, "forbidden")
    assert upload.ask("DELETE").status == 204


# List uploads


def keys(reply: Reply) -> list[str]:
    return [row["key"] for row in reply.json["results"]]


@pytest.fixture
def four(api: ApiClient) -> list[str]:
    """Uploads of two branches in the order of their pages, two of them to one key."""
    api.branch("dev")
    ids = []
    for path in ("a/1", "b", "b"):
        ids.append(RecordedUpload(api, path).row["upload_id"])
        api.world.clock.tick(1)
    dev = api.ask("POST", UPLOADS.replace("main", "dev"), {}, path="a/1").json
    return [dev["upload_id"], *ids]


def test_open_uploads_are_listed_by_key_and_age(api: ApiClient, four: list[str]) -> None:
    reply = listed(api)
    assert keys(reply) == ["dev/a/1", "main/a/1", "main/b", "main/b"]
    assert [row["upload_id"] for row in reply.json["results"]] == four
    assert reply.json["pagination"]["has_more"] is False


@pytest.mark.parametrize("amount", [1, 2, 3])
def test_pages_with_both_markers_join_to_the_whole_list(
    api: ApiClient, four: list[str], amount: int
) -> None:
    found: list[str] = []
    marker = {}
    for _ in four:
        page = listed(api, amount=amount, **marker).json
        found += [row["upload_id"] for row in page["results"]]
        if not page["pagination"]["has_more"]:
            break
        assert page["pagination"]["next_offset"] == page["results"][-1]["key"]
        marker = {"after": page["results"][-1]["key"], "after_id": found[-1]}
    assert found == four


def test_a_marker_without_an_id_passes_the_whole_key(api: ApiClient, four: list[str]) -> None:
    assert keys(listed(api, after="main/a/1")) == ["main/b", "main/b"]
    assert keys(listed(api, after="main/b")) == []
    rest = listed(api, after="main/b", after_id=four[2]).json["results"]
    assert [row["upload_id"] for row in rest] == four[3:]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"prefix": "main/"}, ["main/a/1", "main/b", "main/b"]),
        ({"prefix": "main/", "delimiter": "/"}, ["main/a/", "main/b", "main/b"]),
        ({"delimiter": "/"}, ["dev/", "main/"]),
        ({"delimiter": "/", "after": "dev/"}, ["main/"]),
        ({"prefix": "none"}, []),
    ],
)
@pytest.mark.usefixtures("four")
def test_a_prefix_selects_and_a_delimiter_folds(
    api: ApiClient, parameters: dict[str, str], expected: list[str]
) -> None:
    reply = listed(api, **parameters)
    assert keys(reply) == expected
    folded = [row for row in reply.json["results"] if row["path_type"] == "common_prefix"]
    assert all(set(row) == {"path_type", "key"} for row in folded)


def test_uploads_of_a_repository_that_does_not_exist_are_not_listed(api: ApiClient) -> None:
    assert error(api.ask("GET", "/repositories/none/uploads")) == (404, "not_found")


# Rights


def test_a_source_of_a_part_must_be_readable(api: ApiClient, upload: RecordedUpload) -> None:
    api.upload("source", b"secret")
    bob = RestrictedClient(api)
    bob.may(*EVERYTHING, denying(("fs:ReadObject", f"{ARN}/object/source")))
    target = f"{upload.target}/parts/1/copy"
    refused = bob.ask("PUT", target, {"copy_source": SOURCE}, path="big")
    assert error(refused) == (401, "access_denied")
    assert upload.ask("GET", "/parts").json["results"] == []


def test_the_path_in_the_query_gives_no_right_on_an_upload_of_another_path(
    api: ApiClient, upload: RecordedUpload
) -> None:
    bob = RestrictedClient(api)
    bob.may(allowing(("fs:WriteObject", f"{ARN}/object/mine/*")))
    for method, below in (("PUT", "/parts/1"), ("GET", "/parts"), ("DELETE", "")):
        target = upload.target + below
        assert error(bob.ask(method, target, path="mine/x")) == (404, "upload_not_found")
        assert error(bob.ask(method, target, path="big")) == (401, "access_denied")
    assert keys(listed(api)) == ["main/big"]


def test_who_may_write_needs_another_right_to_list_uploads(api: ApiClient) -> None:
    bob = RestrictedClient(api)
    bob.may(allowing(("fs:WriteObject", f"{ARN}/object/*")))
    assert error(listed(bob)) == (401, "access_denied")
    bob.may(allowing(("fs:ListObjects", ARN)))
    assert listed(bob).status == 200
