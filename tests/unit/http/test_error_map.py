import pytest

from graveler import errors
from graveler.http.errors import STATUSES, headers_of, status_of
from tests.support.checks.cases import for_each


def leaves(kind: type[errors.GravelerError]) -> list[type[errors.GravelerError]]:
    children = kind.__subclasses__()
    return [leaf for child in children for leaf in leaves(child)] if children else [kind]


def classes() -> list[type[errors.GravelerError]]:
    found = [errors.GravelerError]
    for kind in found:
        found += kind.__subclasses__()
    return [kind for kind in found if kind.__module__ == errors.__name__]


def test_every_error_class_has_a_code_of_its_own():
    codes = [vars(kind).get("code") for kind in classes()]
    assert None not in codes
    assert len(codes) == len(set(codes))


def test_codes_of_errors_never_change():
    """Queries of logs and alarms name them: add codes here, and change none."""
    assert {kind.code for kind in classes()} == {
        "access_denied",
        "already_exists",
        "authentication",
        "bad_parts",
        "bucket_refused",
        "conflict",
        "contention",
        "corrupt_data",
        "data_replaced",
        "forbidden",
        "gone",
        "graveler",
        "hook_failed",
        "object_missing",
        "invalid_input",
        "merge_conflict",
        "no_changes",
        "no_rules",
        "no_table",
        "not_empty",
        "not_found",
        "precondition_failed",
        "range_not_satisfiable",
        "stale_task",
        "stale_version",
        "still_running",
        "throttled",
        "too_many_attempts",
        "too_many_waits",
        "too_large",
        "unknown_outcome",
        "unsupported",
        "upload_not_found",
    }


@for_each("kind", leaves(errors.GravelerError))
def test_every_error_has_a_status_of_its_own_or_of_its_parent(kind):
    assert any(ancestor in STATUSES for ancestor in kind.__mro__)
    assert 400 <= status_of(kind("m")) < 600


@for_each(
    ("error", "status"),
    [
        (errors.InvalidInputError("m"), 400),
        (errors.AuthenticationError("m"), 401),
        (errors.ForbiddenError("m"), 403),
        (errors.NotFoundError("m"), 404),
        (errors.MergeConflictError("m"), 409),
        (errors.StaleVersionError("m"), 429),
        (errors.ThrottledError("m"), 503),
        (errors.UnknownOutcomeError("m"), 503),
    ],
)
def test_clients_get_the_statuses_that_they_handle(error, status):
    assert status_of(error) == status


def test_a_busy_store_says_when_to_retry():
    assert headers_of(errors.ThrottledError("m"))["Retry-After"] == "1"
    assert headers_of(errors.ContentionError("m"))["Retry-After"] == "1"
    assert "Retry-After" not in headers_of(errors.NotFoundError("m"))


def test_an_answer_names_the_class_of_its_error():
    assert headers_of(errors.NotFoundError("m")) == {"X-Graveler-Error": "not_found"}
    assert headers_of(errors.BadPartsError("m", reason="EntityTooSmall")) == {
        "X-Graveler-Error": "bad_parts/EntityTooSmall"
    }


def test_a_range_outside_the_object_reports_its_size():
    assert headers_of(errors.RangeNotSatisfiableError("m", 0))["Content-Range"] == "bytes */0"
    assert "Content-Range" not in headers_of(errors.RangeNotSatisfiableError("m"))


def test_an_answer_that_there_are_no_rules_has_their_etag():
    assert headers_of(errors.NoRulesError("m", checksum="abc"))["ETag"] == '"abc"'
    assert "ETag" not in headers_of(errors.error_of_code("no_rules", "not found"))


def test_an_error_class_without_a_status_is_noticed():
    class Stranger(errors.GravelerError):
        pass

    try:
        with pytest.raises(AssertionError, match="Stranger"):
            status_of(Stranger("m"))
    finally:
        del Stranger
