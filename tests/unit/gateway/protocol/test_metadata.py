from email.header import decode_header, make_header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.metadata import (
    content_type,
    metadata_headers,
    response_overrides,
    user_metadata,
)
from tests.support.checks.cases import for_each

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


def head(*headers: tuple[str, str]) -> RequestHead:
    return RequestHead("PUT", "/lake/main/a", "", headers)


def read(value: str) -> str:
    return user_metadata(head(("x-amz-meta-a", value)))["a"]


def test_metadata_has_the_names_of_the_api():
    sent = head(
        ("x-amz-meta-colour", "red"),
        ("content-type", "text/plain"),
        ("x-amz-meta-", "nameless"),
        ("x-amz-metadata-directive", "COPY"),
        ("x-amz-meta-list", "1"),
        ("x-amz-meta-list", "2"),
        ("x-amz-meta-empty", ""),
    )
    assert user_metadata(sent) == {"colour": "red", "list": "1,2", "empty": ""}
    assert metadata_headers({"colour": "red"}) == {"x-amz-meta-colour": "red"}


@for_each(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("=?UTF-8?B?w7xiZXI=?=", "über"),
        ("=?utf-8?b?w7xiZXI=?=", "über"),
        ("=?UTF-8?Q?=C3=BCber_all?=", "über all"),
        ("=?iso-8859-1?q?=FCber?=", "über"),
        ("=?UTF-8?B?w7xi?= =?UTF-8?B?ZXI=?=", "über"),
        ("a =?UTF-8?B?w7xiZXI=?= b", "a über b"),
        # Raw UTF-8, in a head of one character for each byte, and raw Latin-1.
        ("Ã¼ber", "über"),
        ("über", "über"),
        # Wrong words stay as they are.
        ("=?UTF-8?B?w7x?=", "=?UTF-8?B?w7x?="),
        ("=?UTF-8?B?/w==?=", "=?UTF-8?B?/w==?="),
        ("=?rot13?B?YQ==?=", "=?rot13?B?YQ==?="),
        ("=?UTF-8?X?YQ==?=", "=?UTF-8?X?YQ==?="),
        ("=?=?=", "=?=?="),
    ],
)
def test_encoded_words_are_decoded(value, text):
    assert read(value) == text


@given(TEXT)
def test_any_text_survives_its_header(text):
    value = metadata_headers({"a": text})["x-amz-meta-a"]
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()
    assert read(value) == text


@given(TEXT.filter(lambda text: not text.isascii()))
def test_email_software_reads_encoded_text(text):
    assert str(make_header(decode_header(metadata_headers({"a": text})["x-amz-meta-a"]))) == text


@for_each("text", ["", "red", "a b", "100 % ~", '"quoted"'])
def test_plain_text_is_sent_as_it_is(text):
    assert metadata_headers({"a": text}) == {"x-amz-meta-a": text}


@for_each("text", [" a", "a ", "a\r\nSet-Cookie: b", "\x00", "ü", "=?UTF-8?B?YQ==?="])
def test_other_text_is_encoded(text):
    assert metadata_headers({"a": text})["x-amz-meta-a"].startswith("=?utf-8?q?")


def test_text_is_encoded_in_the_words_of_lakefs():
    # What lakeFS's gateway answers; its tests and its clients compare the header.
    words = "=?utf-8?q?=D7=95=D7=94=D7=90=D7=A8=D7=A5_=D7=94=D7=99=D7=AA=D7=94_=D7=AA?="
    words += " =?utf-8?q?=D7=94=D7=95_=D7=95=D7=91=D7=94=D7=95?="
    assert metadata_headers({"a": "והארץ היתה תהו ובהו"}) == {"x-amz-meta-a": words}
    assert metadata_headers({"a": "é=?_~"}) == {"x-amz-meta-a": "=?utf-8?q?=C3=A9=3D=3F=5F~?="}


@for_each("name", ["", "a b", "ü", "a:b", "a\r\nb", "a/b", "(a)"])
def test_a_name_that_no_header_can_have_is_counted(name):
    headers = metadata_headers({"good": "1", name: "2"})
    assert headers == {"x-amz-meta-good": "1", "x-amz-missing-meta": "1"}


def test_more_metadata_than_clients_read_is_counted():
    many = metadata_headers({f"name{number}": "1" for number in range(200)})
    assert (len(many), many["x-amz-missing-meta"]) == (65, "136")
    large = metadata_headers({"large": "x" * 10_000, "small": "1"})
    assert large == {"x-amz-meta-small": "1", "x-amz-missing-meta": "1"}


def test_metadata_has_at_most_2_kb_of_names_and_values():
    assert user_metadata(head(("x-amz-meta-name", "x" * 2044))) == {"name": "x" * 2044}
    with pytest.raises(S3ResponseError) as caught:
        user_metadata(head(("x-amz-meta-name", "x" * 2000), ("x-amz-meta-more", "x" * 41)))
    assert caught.value.code is Code.METADATA_TOO_LARGE
    assert caught.value.details == {"Size": "2049", "MaxSizeAllowed": "2048"}


@given(st.text(max_size=1000))
def test_no_value_breaks_an_upload(value):
    assert isinstance(read(value), str)


def test_a_content_type_is_kept():
    assert content_type(head(("content-type", "text/csv"))) == "text/csv"
    assert content_type(head()) == "binary/octet-stream"
    assert content_type(head(("content-type", ""))) == "binary/octet-stream"


def test_a_get_may_replace_headers_of_the_answer():
    parameters = {
        "response-content-type": "text/plain; charset=utf-8",
        "response-content-disposition": 'attachment; filename="é"',
        "response-cache-control": "",
        "response-server": "x",
        "versionId": "null",
    }
    assert response_overrides(parameters) == {
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Disposition": 'attachment; filename="é"',
        "Cache-Control": "",
    }


@for_each("value", ["a\r\nSet-Cookie: b", "a\nb", "a\n", "€", "\x00", "\x85", "\udcff"])
def test_a_value_that_no_header_can_carry_is_refused(value):
    with pytest.raises(S3ResponseError) as caught:
        response_overrides({"response-expires": value})
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert caught.value.details == {"ArgumentName": "response-expires", "ArgumentValue": value}
