"""What every home of the gateway promises of its lake (`graveler_gateway.lake.port`)."""

import hashlib
from dataclasses import dataclass, replace

import pytest
from msgspec import structs

from graveler.errors import (
    AuthenticationError,
    BadPartsError,
    DataReplacedError,
    ForbiddenError,
    NotFoundError,
    ObjectMissingError,
    PreconditionFailedError,
    UploadNotFoundError,
)
from graveler.model import NO_REQUIREMENT, Requirement
from graveler.operations import links
from graveler.operations.links import StoredData
from graveler.ports import ExpectedObject, UploadedPart
from graveler.staging.listing import CommonPrefix, PageQuery
from graveler_gateway.lake.port import Description, Lakes, ObjectPlace, UserLake
from graveler_gateway.operations.errors import error_of
from graveler_gateway.protocol.errors import Code
from graveler_gateway.transfer.store import DataChangedError
from tests.support.clients.api import ACCESS_KEY_ID, SECRET
from tests.support.fakes.access import EVERYTHING, USER, denying
from tests.support.worlds.gateway_stack import REPO, UNSIGNED, GatewayStack
from tests.support.worlds.sidecar import is_over_the_api, serve_over_the_api

PLAIN = Description("text/plain", {"owner": "ann"})
A = ObjectPlace(REPO, "main", b"a")


@dataclass(frozen=True)
class Home:
    """A home of the gateway, and the deployment behind it."""

    lakes: Lakes
    stack: GatewayStack

    @property
    def lake(self) -> UserLake:
        """The lake as a new request has it."""
        return self.lakes.lake(USER, "127.0.0.1")

    def store(self, place=A, content=b"content", description=PLAIN, requirement=NO_REQUIREMENT):
        writing = self.lake.write(place, description, requirement)
        return writing.finish(len(content), self.sent(writing, content))

    def sent(self, taker, content):
        headers = {"content-length": str(len(content))}
        return self.stack.transfers.write(
            lambda: taker.request(headers, UNSIGNED), content
        ).checksum

    def content(self, place=A):
        found = self.lake.stat(place)
        if not found.size_bytes:
            return b""
        request_of = self.lake.reading(found)
        with self.stack.transfers.read(request_of, 0, found.size_bytes - 1) as reading:
            return b"".join(reading.pieces())

    def paths(self, query=None, ref="main"):
        page = self.lake.objects(REPO, ref, query or PageQuery(1000))
        return [item.path for item in page.results]


@pytest.fixture(params=["engine", "api"])
def lakes(request, monkeypatch):
    if request.param == "api":
        serve_over_the_api(monkeypatch)
    stack = GatewayStack()
    return Home(stack.lakes, stack)


def etag(content):
    return hashlib.md5(content).hexdigest()


def code_of(error):
    return error_of(error.value).code


# The door


def test_a_key_pair_is_its_users(lakes):
    pair = lakes.lakes.key_pair(ACCESS_KEY_ID)
    assert (pair.access_key_id, pair.secret_access_key, pair.user) == (ACCESS_KEY_ID, SECRET, USER)
    assert SECRET not in repr(pair)
    assert lakes.lakes.key_pair("AKIAOTHER") is None


def test_the_time_is_in_seconds(lakes):
    assert 0 <= lakes.stack.now_s - lakes.lakes.now_s() < 5


# Repositories and branches


def test_repositories_are_listed_in_pages(lakes):
    for name in ("one", "other"):
        lakes.stack.repository(name)
    page = lakes.lake.repositories("", "", 2)
    assert [found.name for found in page.results] == ["one", "other"]
    rest = lakes.lake.repositories("", page.next_after, 2)
    assert ([found.name for found in rest.results], rest.has_more) == ([REPO], False)
    assert [found.name for found in lakes.lake.repositories("o", "one", 9).results] == ["other"]


def test_a_repository_is_found_or_missing(lakes):
    found = lakes.lake.repository(REPO)
    assert found.name == REPO
    assert found.creation_date > 1_600_000_000
    with pytest.raises(NotFoundError):
        lakes.lake.repository("missing")
    assert (lakes.lake.has_repository(REPO), lakes.lake.has_repository("missing")) == (True, False)
    assert not lakes.lake.has_repository("Not_A-Name")


def test_branches_are_listed_in_pages(lakes):
    for name in ("dev", "dev2"):
        lakes.stack.branch(name)
    page = lakes.lake.branches(REPO, "", "", 2)
    assert page.results == ("dev", "dev2")
    assert lakes.lake.branches(REPO, "", page.next_after, 2).results == ("main",)
    assert lakes.lake.branches(REPO, "dev", "dev", 9).results == ("dev2",)
    assert (lakes.lake.has_branch(REPO, "dev"), lakes.lake.has_branch(REPO, "x")) == (True, False)
    assert not lakes.lake.has_branch(REPO, "no branch")
    with pytest.raises(NotFoundError):
        lakes.lake.branches("missing", "", "", 9)


# Objects


@pytest.mark.parametrize("path", [b"a", "é ü/+%".encode(), b"a/", b"//"])
@pytest.mark.parametrize("content", [b"", b"content"])
def test_what_was_written_is_read(lakes, path, content):
    place = ObjectPlace(REPO, "main", path)
    stored = lakes.store(place, content)
    found = lakes.lake.stat(place)
    assert found == stored
    assert (found.path, found.size_bytes, found.checksum) == (path, len(content), etag(content))
    assert (found.content_type, found.metadata) == ("text/plain", {"owner": "ann"})
    assert lakes.content(place) == content


def test_content_is_no_object_before_it_is_finished(lakes):
    writing = lakes.lake.write(A, PLAIN)
    checksum = lakes.sent(writing, b"content")
    with pytest.raises(NotFoundError):
        lakes.lake.stat(A)
    writing.finish(7, checksum)
    assert lakes.content() == b"content"


def test_a_range_is_read(lakes):
    lakes.store()
    request_of = lakes.lake.reading(lakes.lake.stat(A))
    with lakes.stack.transfers.read(request_of, 2, 4) as reading:
        assert b"".join(reading.pieces()) == b"nte"


def test_a_reader_may_be_sent_to_the_store(lakes):
    lakes.store()
    url = lakes.lake.reading_url(lakes.lake.stat(A), {"x-amz-checksum-mode": "ENABLED"}, 60)
    if is_over_the_api(lakes.lakes):
        assert url is None  # the API presigns no URL that signs headers
        return
    assert "X-Amz-Signature=" in url
    assert "x-amz-checksum-mode" in url


def imported(lakes, content=b"content", **more):
    """An object somewhere else, staged at A with its ETag; returns its URI."""
    uri = "s3://elsewhere/a"
    info = lakes.stack.world.objects.put(uri, content, "text/plain")
    data = StoredData(uri, info.checksum, info.size_bytes, {}, mtime_s=0)
    links.stage(lakes.stack.engine, REPO, "main", b"a", structs.replace(data, **more))
    return uri


def test_replaced_data_are_neither_read_nor_copied(lakes):
    uri = imported(lakes)
    found = lakes.lake.stat(A)
    assert lakes.content() == b"content"
    lakes.stack.world.objects.put(uri, b"CONTENT", "text/plain")
    other = replace(A, path=b"b")
    upload_id = lakes.lake.create_upload(other, PLAIN).id
    for use in (
        lambda: lakes.lake.verified(found),
        lambda: lakes.lake.copy(found, REPO, other, None),
        lambda: lakes.lake.copy_part(other, upload_id, 1, found, (0, 2)),
    ):
        with pytest.raises(DataReplacedError, match=f"{uri} has the ETag .*: import"):
            use()
    with pytest.raises((DataReplacedError, DataChangedError)):
        lakes.content()
    if not is_over_the_api(lakes.lakes):
        with pytest.raises(DataReplacedError):
            lakes.lake.reading_url(found, {}, 60)


def test_data_that_changed_while_they_were_read_do_not_continue_the_answer(lakes):
    uri = imported(lakes, b"x" * 10)
    lakes.stack.s3.change = lambda answer: answer[:-4] if b" 206 " in answer[:20] else answer
    with lakes.stack.transfers.read(lakes.lake.reading(lakes.lake.stat(A)), 0, 9) as reading:
        pieces = reading.pieces()
        lakes.stack.world.objects.put(uri, b"y" * 10, "text/plain")
        with pytest.raises((DataReplacedError, DataChangedError)):
            list(pieces)


def test_staged_data_whose_checksum_never_was_the_etag_are_read_and_copied(lakes):
    imported(lakes, checksum="0" * 32, mtime_s=None)
    found = lakes.lake.verified(lakes.lake.stat(A))
    request_of = lakes.lake.reading(found)
    with lakes.stack.transfers.read(request_of, 0, 6) as reading:
        assert b"".join(reading.pieces()) == b"content"
    lakes.lake.copy(lakes.lake.stat(A), REPO, replace(A, path=b"b"), None)
    assert lakes.content(replace(A, path=b"b")) == b"content"


@pytest.mark.parametrize(
    "place",
    [
        ObjectPlace("missing", "main", b"a"),
        ObjectPlace(REPO, "missing", b"a"),
        ObjectPlace(REPO, "main", b"missing"),
        ObjectPlace(REPO, "main~9", b"a"),
    ],
)
def test_what_is_missing_is_not_found(lakes, place):
    lakes.store()
    with pytest.raises(NotFoundError):
        lakes.lake.stat(place)


@pytest.mark.parametrize(
    "place",
    [
        ObjectPlace("missing", "main", b"a"),
        ObjectPlace(REPO, "missing", b"a"),
        ObjectPlace(REPO, "v1", b"a"),
    ],
)
def test_only_branches_are_written(lakes, place):
    lakes.stack.tag("v1", lakes.stack.commit())
    with pytest.raises(NotFoundError):
        lakes.lake.write(place, PLAIN)
    with pytest.raises(NotFoundError):
        lakes.lake.create_upload(place, PLAIN)
    with pytest.raises(NotFoundError):
        lakes.lake.delete(place)
    with pytest.raises(NotFoundError):
        lakes.lake.delete_many(place.repository, place.ref, [place.path])


def test_objects_are_listed_in_pages_and_folded(lakes):
    for path in (b"a", b"d/1", b"d/2", b"e"):
        lakes.store(replace(A, path=path))
    assert lakes.paths() == [b"a", b"d/1", b"d/2", b"e"]
    page = lakes.lake.objects(REPO, "main", PageQuery(2, delimiter=b"/"))
    first, second = page.results
    seen = lakes.lake.stat(A)
    assert first in {"whole": seen, "bare": structs.replace(seen, metadata={})}.values()
    assert second == CommonPrefix(b"d/")
    rest = lakes.lake.objects(REPO, "main", PageQuery(2, after=page.next_after, delimiter=b"/"))
    assert ([item.path for item in rest.results], rest.next_after) == ([b"e"], b"")
    assert lakes.paths(PageQuery(9, prefix=b"d/", after=b"d/1")) == [b"d/2"]
    assert lakes.paths(PageQuery(9), "main@") == []
    for repository, ref in (("missing", "main"), (REPO, "missing")):
        with pytest.raises(NotFoundError):
            lakes.lake.objects(repository, ref, PageQuery(1))


REQUIREMENTS = [
    (Requirement(is_absent=True), False),
    (Requirement(is_present=True), True),
    (Requirement(checksums=frozenset({etag(b"content")})), True),
    (Requirement(checksums=frozenset({"other"})), False),
]


@pytest.mark.parametrize(("requirement", "holds"), REQUIREMENTS)
@pytest.mark.parametrize("act", ["write", "copy", "delete", "complete"])
def test_a_requirement_decides(lakes, act, requirement, holds):
    if act == "delete" and requirement.is_absent:
        pytest.skip("nobody deletes what must be absent")
    lakes.store()
    lakes.store(replace(A, path=b"source"), b"new")

    def run():
        if act == "write":
            lakes.store(A, b"new", requirement=requirement)
        elif act == "copy":
            source = lakes.lake.stat(replace(A, path=b"source"))
            lakes.lake.copy(source, REPO, A, None, requirement)
        elif act == "delete":
            lakes.lake.delete(A, requirement)
        else:
            upload_id, parts = begun(lakes)
            lakes.lake.complete_upload(A, upload_id, parts, requirement)

    if not holds:
        with pytest.raises(PreconditionFailedError):
            run()
        assert lakes.content() == b"content"
    else:
        run()
        assert (b"a" in lakes.paths()) == (act != "delete")
        assert act == "delete" or lakes.content() == b"new"


def test_a_requirement_of_a_missing_object_says_so(lakes):
    for requirement in (Requirement(is_present=True), Requirement(checksums=frozenset({"x"}))):
        with pytest.raises(ObjectMissingError) as error:
            lakes.lake.write(A, PLAIN, requirement)
        assert code_of(error) is Code.NO_SUCH_KEY
        with pytest.raises(ObjectMissingError):
            lakes.lake.delete(A, requirement)


def test_a_requirement_is_checked_again_at_the_end(lakes):
    writing = lakes.lake.write(A, PLAIN, Requirement(is_absent=True))
    checksum = lakes.sent(writing, b"late")
    lakes.store(A, b"first")
    with pytest.raises(PreconditionFailedError):
        writing.finish(4, checksum)
    assert lakes.content() == b"first"


@pytest.mark.parametrize("description", [None, Description("text/csv", {"new": "yes"})])
@pytest.mark.parametrize("is_other", [True, False])
def test_a_copy_has_the_content_and_a_description(lakes, description, is_other):
    lakes.stack.repository("other")
    lakes.store()
    target = ObjectPlace("other" if is_other else REPO, "main", b"b")
    copied = lakes.lake.copy(lakes.lake.stat(A), REPO, target, description)
    assert copied == lakes.lake.stat(target)
    expected = description or PLAIN
    assert (copied.content_type, copied.metadata) == (expected.content_type, expected.metadata)
    assert copied.checksum == etag(b"content")
    assert lakes.content(target) == b"content"
    assert copied.physical_address != lakes.lake.stat(A).physical_address


def test_metadata_are_replaced(lakes):
    stored = lakes.store()
    lakes.lake.describe(A, lambda _: {"new": "yes"})
    found = lakes.lake.stat(A)
    assert (found.metadata, found.checksum) == ({"new": "yes"}, stored.checksum)
    with pytest.raises(NotFoundError):
        lakes.lake.describe(replace(A, path=b"missing"), dict)


def test_deletions_take_missing_objects(lakes):
    lakes.store()
    lakes.store(replace(A, path=b"b"))
    lakes.lake.delete(A)
    lakes.lake.delete(A)
    assert lakes.paths() == [b"b"]
    assert list(lakes.lake.delete_many(REPO, "main", [b"a", b"b", b""])) == []
    assert lakes.paths() == []


def test_a_protected_branch_refuses(lakes):
    lakes.store()
    upload_id, parts = begun(lakes)
    lakes.stack.protect("main")
    for act in (
        lambda: lakes.lake.write(A, PLAIN),
        lambda: lakes.lake.copy(lakes.lake.stat(A), REPO, A, PLAIN),
        lambda: lakes.lake.describe(A, dict),
        lambda: lakes.lake.delete(A),
        lambda: lakes.lake.create_upload(A, PLAIN),
        lambda: lakes.lake.complete_upload(A, upload_id, parts),
    ):
        with pytest.raises(ForbiddenError):
            act()
    (failure,) = lakes.lake.delete_many(REPO, "main", [b"a"])
    assert failure[0] == b"a"
    assert isinstance(failure[1], ForbiddenError)
    assert lakes.content() == b"content"


# Uploads


def begun(lakes, content=b"new", place=A):
    """An upload to the place with one part, and its parts."""
    upload_id = lakes.lake.create_upload(place, Description("text/csv", {"by": "parts"})).id
    checksum = lakes.sent(lakes.lake.part(place, upload_id, 2), content)
    return upload_id, [UploadedPart(2, checksum)]


def open_uploads(lakes, query=None, after_id=""):
    page = lakes.lake.uploads(REPO, query or PageQuery(1000), after_id)
    return [upload.id for upload in page.results]


def test_parts_become_the_object_once(lakes):
    upload_id, parts = begun(lakes)
    made = lakes.lake.complete_upload(A, upload_id, parts)
    assert made == lakes.lake.stat(A)
    assert (made.content_type, made.metadata) == ("text/csv", {"by": "parts"})
    assert (made.size_bytes, made.checksum.endswith("-1")) == (3, True)
    assert lakes.content() == b"new"
    lakes.store(A, b"later")
    assert lakes.lake.complete_upload(A, upload_id, parts) == made
    assert (lakes.content(), open_uploads(lakes)) == (b"later", [])
    with pytest.raises(UploadNotFoundError):
        lakes.lake.complete_upload(A, upload_id, [UploadedPart(1, "0" * 32)])


def test_parts_are_listed(lakes):
    upload_id, _ = begun(lakes)
    lakes.sent(lakes.lake.part(A, upload_id, 1), b"first")
    parts, has_more = lakes.lake.parts(A, upload_id, 0, 1)
    assert [(part.number, part.size_bytes, part.checksum) for part in parts] == [
        (1, 5, etag(b"first"))
    ]
    assert has_more
    parts, has_more = lakes.lake.parts(A, upload_id, 1, 9)
    assert ([part.number for part in parts], has_more) == ([2], False)


def test_a_part_is_copied(lakes):
    lakes.store(replace(A, path=b"source"), b"content")
    source = lakes.lake.stat(replace(A, path=b"source"))
    upload_id = lakes.lake.create_upload(A, PLAIN).id
    parts = [
        UploadedPart(
            number, lakes.lake.copy_part(A, upload_id, number, source, byte_range).checksum
        )
        for number, byte_range in ((1, (3, 6)), (2, None))
    ]
    lakes.lake.complete_upload(A, upload_id, parts)
    assert lakes.content() == b"tentcontent"


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([UploadedPart(1, "0" * 32)], Code.INVALID_PART),
        ([UploadedPart(2, etag(b"other"))], Code.INVALID_PART),
    ],
)
def test_wrong_parts_are_refused(lakes, parts, code):
    upload_id, right = begun(lakes)
    with pytest.raises(BadPartsError) as error:
        lakes.lake.complete_upload(A, upload_id, parts)
    assert code_of(error) is code
    assert lakes.lake.complete_upload(A, upload_id, right).size_bytes == 3


def test_an_object_of_another_size_than_expected_is_refused(lakes):
    upload_id, parts = begun(lakes)
    with pytest.raises(BadPartsError) as error:
        lakes.lake.complete_upload(A, upload_id, parts, expected=ExpectedObject(99))
    assert code_of(error) is Code.INVALID_REQUEST
    made = lakes.lake.complete_upload(A, upload_id, parts, expected=ExpectedObject(3))
    assert made.size_bytes == 3


@pytest.mark.parametrize("end", ["abort", "complete", "nonsense", "other place"])
def test_an_ended_upload_is_not_found(lakes, end):
    upload_id, parts = begun(lakes)
    place = A
    if end == "abort":
        lakes.lake.abort_upload(A, upload_id)
    elif end == "complete":
        lakes.lake.complete_upload(A, upload_id, parts)
        parts = [UploadedPart(3, "0" * 32)]
    elif end == "nonsense":
        upload_id = "nonsense"
    else:
        place = replace(A, path=b"b")
    source = lakes.store(replace(A, path=b"source"))
    for act in (
        lambda: lakes.lake.part(place, upload_id, 1),
        lambda: lakes.lake.copy_part(place, upload_id, 1, source, None),
        lambda: lakes.lake.parts(place, upload_id, 0, 9),
        lambda: lakes.lake.complete_upload(place, upload_id, parts),
        lambda: lakes.lake.abort_upload(place, upload_id),
    ):
        with pytest.raises(UploadNotFoundError):
            act()


def test_uploads_are_listed_by_key_and_id(lakes):
    lakes.stack.branch("dev")
    first, second = sorted(begun(lakes)[0] for _ in range(2))
    other, _ = begun(lakes, place=ObjectPlace(REPO, "dev", b"x/y"))
    assert open_uploads(lakes) == [other, first, second]
    page = lakes.lake.uploads(REPO, PageQuery(9), "")
    assert [(each.ref, each.path) for each in page.results] == [
        ("dev", b"x/y"),
        *[("main", b"a")] * 2,
    ]
    assert open_uploads(lakes, PageQuery(9, after=b"main/a"), first) == [second]
    assert open_uploads(lakes, PageQuery(9, after=b"main/a")) == []
    folded = lakes.lake.uploads(REPO, PageQuery(9, delimiter=b"/"), "")
    assert folded.results == [CommonPrefix(b"dev/"), CommonPrefix(b"main/")]
    with pytest.raises(NotFoundError):
        lakes.lake.uploads("missing", PageQuery(9), "")


# Rights


def test_each_use_needs_its_permission(lakes):
    source = lakes.store()
    upload_id, parts = begun(lakes)
    uses = {
        "fs:ReadRepository": [lambda: lakes.lake.repository(REPO)],
        "fs:ListObjects": [
            lambda: lakes.lake.objects(REPO, "main", PageQuery(1)),
            lambda: lakes.lake.uploads(REPO, PageQuery(1), ""),
        ],
        "fs:ReadObject": [
            lambda: lakes.lake.stat(A),
            lambda: lakes.lake.copy(source, REPO, A, None),
        ],
        "fs:WriteObject": [
            lambda: lakes.lake.check_write(A),
            lambda: lakes.lake.write(A, PLAIN),
            lambda: lakes.lake.copy(source, REPO, A, None),
            lambda: lakes.lake.describe(A, dict),
            lambda: lakes.lake.create_upload(A, PLAIN),
            lambda: lakes.lake.part(A, upload_id, 1),
            lambda: lakes.lake.copy_part(A, upload_id, 1, source, None),
            lambda: lakes.lake.parts(A, upload_id, 0, 1),
            lambda: lakes.lake.complete_upload(A, upload_id, parts),
            lambda: lakes.lake.abort_upload(A, upload_id),
        ],
        "fs:DeleteObject": [
            lambda: lakes.lake.delete(A),
            lambda: lakes.lake.delete_many(REPO, "main", [b"a"]),
        ],
    }
    if is_over_the_api(lakes.lakes):  # it has no check of creations, and lakeFS's of branches
        uses["fs:ListBranches"] = [lambda: lakes.lake.branches(REPO, "", "", 1)]
    else:
        uses["fs:CreateRepository"] = [lambda: lakes.lake.check_creation("new")]
        uses["fs:ListObjects"].append(lambda: lakes.lake.branches(REPO, "", "", 1))
    for action, some in uses.items():
        lakes.stack.may(*EVERYTHING, denying((action, "*")))
        for use in some:
            with pytest.raises((AuthenticationError, ForbiddenError)):
                use()
    lakes.stack.may(*EVERYTHING)
    assert lakes.content() == b"content"


def test_a_deletion_of_many_reports_those_that_the_user_may_not_delete(lakes):
    lakes.store()
    lakes.store(replace(A, path=b"b"))
    resource = f"arn:lakefs:fs:::repository/{REPO}/object/a"
    lakes.stack.may(*EVERYTHING, denying(("fs:DeleteObject", resource)))
    (failure,) = lakes.lake.delete_many(REPO, "main", [b"a", b"b"])
    assert (failure[0], error_of(failure[1]).code) == (b"a", Code.ACCESS_DENIED)
    assert lakes.paths() == [b"a"]
