import pytest

from graveler.errors import InvalidInputError
from graveler.http.query import Query
from tests.support.checks.cases import for_each


@for_each("text", ["1", "t", "T", "true", "TRUE", "True"])
def test_every_client_spelling_of_true_is_true(text):
    assert Query(f"presign={text}").flag("presign") is True


@for_each("text", ["0", "f", "F", "false", "FALSE", "False"])
def test_every_client_spelling_of_false_is_false(text):
    assert Query(f"presign={text}").flag("presign", default=True) is False


@for_each("text", ["", "yes", "tRUE", "2", "null"])
def test_another_word_is_no_boolean(text):
    with pytest.raises(InvalidInputError, match='"presign"'):
        Query(f"presign={text}").flag("presign")


def test_an_absent_flag_has_its_default():
    assert Query("").flag("presign") is False
    assert Query("other=1").flag("user_metadata", default=True) is True


@for_each(
    ("raw", "amount"),
    [("", 100), ("amount=0", 100), ("amount=-1", 100), ("amount=1", 1), ("amount=1000", 1000)],
)
def test_amount_is_lakefs_s(raw, amount):
    assert Query(raw).amount() == amount


@for_each("value", ["-2", "1001", "1e3", "1_0", " 5", "٣", "", "0x10", "1" * 19, "-", "9" * 5000])
def test_a_bad_amount_is_refused_by_name(value):
    with pytest.raises(InvalidInputError, match='"amount"'):
        Query(f"amount={value}").amount()


def test_an_integer_keeps_to_its_bounds():
    query = Query("parts=10001")
    with pytest.raises(InvalidInputError, match="at most 10000"):
        query.integer("parts", default=0, minimum=0, maximum=10_000)
    with pytest.raises(InvalidInputError, match="at least 0"):
        Query("parts=-1").integer("parts", default=0, minimum=0, maximum=10_000)
    assert Query("").integer("parts", default=7, minimum=0, maximum=10_000) == 7


def test_values_are_decoded_once_and_plus_is_a_space():
    query = Query("path=a%2Fb%2525+c%C3%A9")
    assert query.path() == "a/b%25 cé".encode()


def test_a_repeated_parameter_keeps_its_order_and_counts_once_elsewhere():
    query = Query("objects=b&objects=a")
    assert query.all("objects") == ("b", "a")
    assert query.text("objects") == "b"
    assert query.all("prefixes") == ()


def test_none_of_the_values_of_a_repeated_parameter_is_empty():
    with pytest.raises(InvalidInputError, match="empty value"):
        Query("objects=b&objects=").all("objects")


@for_each("raw", ["", "path=", "other=x"])
def test_a_path_is_required(raw):
    with pytest.raises(InvalidInputError, match='"path"'):
        Query(raw).path()


@for_each("raw", ["path=%FF", "path=%C3%28", "%FF=1", "path=%ED%A0%80"])
def test_text_that_is_not_utf_8_is_refused(raw):
    with pytest.raises(InvalidInputError, match="UTF-8"):
        Query(raw)


@for_each(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01.999Z", 1),
        ("2026-01-31T14:00:00%2B02:00", 1769860800),
        ("2026-01-31T12:00:00.000000%2B0000", 1769860800),  # the Python SDK's
        ("2026-01-31T14:00:00+0200", 1769860800),
        ("", None),
    ],
)
def test_a_moment_is_iso_8601_in_whole_seconds(text, seconds):
    assert Query(f"since={text}").unix_time("since") == seconds
    assert Query("").unix_time("since") is None


def test_another_moment_is_refused_by_name():
    with pytest.raises(InvalidInputError, match='"since"'):
        Query("since=yesterday").unix_time("since")
