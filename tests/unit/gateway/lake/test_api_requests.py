"""Requests to the API: what is repeated, what is not, and which error the caller gets."""

import json

import pytest

from graveler import errors
from graveler.http.errors import KIND_HEADER
from graveler.http.write_conditions import requirement_of
from graveler.model import Requirement
from graveler_gateway.lake.api.requests import Requests, conditions_of
from graveler_gateway.lake.api.transport import ApiNoResponseError, ApiResponse, ApiUnreachableError
from tests.support.checks.cases import for_each

DONE = ApiResponse(200, {}, b'{"a": 1}')
BROKEN = ApiNoResponseError("reset")
UNREACHABLE = ApiUnreachableError("refused")


class Scripted:
    """A transport with given answers; remembers the targets of requests."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.targets = []

    def send(self, _method, target, *_):
        self.targets.append(target)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def refusal(status, kind="", *, retry_after="", message="m", details=""):
    headers = {KIND_HEADER.lower(): kind} if kind else {}
    waiting = {"retry-after": retry_after} if retry_after else {}
    body = json.dumps({"message": message, "details": details}).encode()
    return ApiResponse(status, {**headers, **waiting}, body)


def asked(method, *answers):
    """Send a request with these answers; return its reply, the pauses and the tries."""
    pauses, transport = [], Scripted(*answers)
    requests = Requests(transport, pauses.append)
    try:
        return requests.send(method, ("user",)), pauses, len(transport.targets)
    except errors.GravelerError as error:
        return error, pauses, len(transport.targets)


@for_each("method", ["GET", "PUT"])
@for_each(
    "busy",
    [
        refusal(503, "throttled", retry_after="1"),
        refusal(429, "contention", retry_after="1"),
        refusal(429),  # API Gateway's own
        UNREACHABLE,
    ],
)
def test_a_request_that_did_nothing_is_repeated(method, busy):
    outcome, pauses, tries = asked(method, busy, busy, DONE)
    assert (outcome, len(pauses), tries) == (DONE, 2, 3)


def test_the_servers_pause_is_kept():
    assert asked("PUT", refusal(503, retry_after="3"), DONE)[1] == [3]


@for_each("failure", [refusal(502), refusal(503), refusal(504), BROKEN])
def test_a_read_is_repeated_after_any_failure_and_a_change_is_not(failure):
    assert asked("GET", failure, DONE)[0] == DONE
    outcome, _, tries = asked("PUT", failure, DONE)
    assert (type(outcome), tries) == (errors.UnknownOutcomeError, 1)


def test_a_change_that_may_be_made_is_not_repeated():
    outcome, _, tries = asked("PUT", refusal(503, "unknown_outcome"), DONE)
    assert (type(outcome), tries) == (errors.UnknownOutcomeError, 1)


def test_a_long_pause_is_left_to_the_client():
    outcome, _, tries = asked("GET", refusal(429, "too_many_attempts", retry_after="900"), DONE)
    assert (type(outcome), tries) == (errors.TooManyAttemptsError, 1)


def test_tries_end():
    outcome, pauses, tries = asked("GET", *[refusal(503, "throttled", retry_after="1")] * 9)
    assert (type(outcome), len(pauses), tries) == (errors.ThrottledError, 3, 4)
    assert type(asked("PUT", *[UNREACHABLE] * 9)[0]) is errors.ThrottledError


@for_each(
    ("status", "kind"),
    [
        (400, errors.InvalidInputError),
        (401, errors.AccessDeniedError),
        (403, errors.ForbiddenError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (410, errors.GoneError),
        (412, errors.PreconditionFailedError),
        (413, errors.TooLargeError),
        (501, errors.UnsupportedError),
    ],
)
def test_a_status_alone_says_the_kind_of_error(status, kind):
    assert type(asked("PUT", refusal(status))[0]) is kind


@for_each(
    ("status", "code", "kind"),
    [
        (404, "upload_not_found", errors.UploadNotFoundError),
        (412, "object_missing", errors.ObjectMissingError),
        (401, "authentication", errors.AuthenticationError),
        (500, "corrupt_data", errors.CorruptDataError),
        (404, "of_a_newer_version", errors.NotFoundError),
    ],
)
def test_the_named_class_is_more_exact_than_the_status(status, code, kind):
    assert type(asked("PUT", refusal(status, code))[0]) is kind


def test_an_error_keeps_its_message_details_and_reason():
    outcome, _, _ = asked("PUT", refusal(404, "not_found", message="branch", details="'dev'"))
    assert str(outcome) == "branch: 'dev'"
    outcome, _, _ = asked("PUT", refusal(400, "bad_parts/EntityTooSmall"))
    assert (type(outcome), outcome.reason) == (errors.BadPartsError, "EntityTooSmall")


@for_each("content", [b"", b"<html>", b"\xff", b'{"other": 1}'])
def test_an_answer_of_something_else_is_an_error_with_its_status(content):
    outcome, _, _ = asked("GET", ApiResponse(404, {}, content))
    assert (type(outcome), str(outcome)) == (errors.NotFoundError, "the API answered 404")


def test_an_answer_that_is_no_document_of_the_api_is_reported():
    requests = Requests(Scripted(ApiResponse(200, {}, b"<html>")))
    with pytest.raises(errors.ThrottledError, match="does not answer like the API"):
        requests.ask(dict, "GET", ("user",))


def test_names_are_encoded_as_the_api_decodes_them():
    transport = Scripted(DONE)
    query = {"path": "a b/ü&x", "prefix": ""}
    Requests(transport).send("GET", ("refs/é", "a%41/é", "stat"), query)
    assert transport.targets == [
        "/refs%2F%C3%A9/a%252541%252F%25C3%25A9/stat?path=a+b%2F%C3%BC%26x"
    ]


@for_each("name", ["", ".", ".."])
def test_a_name_that_changes_the_path_is_not_sent(name):
    transport = Scripted(DONE)
    with pytest.raises(errors.InvalidInputError):
        Requests(transport).send("DELETE", ("repositories", "repo", "branches", name))
    assert transport.targets == []


@for_each(
    "requirement",
    [
        Requirement(),
        Requirement(is_absent=True),
        Requirement(is_present=True),
        Requirement(checksums=frozenset({"a"})),
        Requirement(checksums=frozenset({"a", "b-2"})),
        Requirement(checksums=frozenset()),
    ],
)
def test_conditions_come_back_from_their_headers(requirement):
    assert requirement_of(conditions_of(requirement)) == requirement


def test_a_tag_that_no_object_can_have_fails_the_condition():
    never = Requirement(checksums=frozenset({'a"b', "é", ""}))
    assert requirement_of(conditions_of(never)) == Requirement(checksums=frozenset())
