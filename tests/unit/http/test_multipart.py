import pytest

from graveler.errors import InvalidInputError
from graveler.http.multipart import content_part, is_form

TYPE = "multipart/form-data; boundary=xyz"


def form(content: bytes, name: bytes = b'"content"', extra: bytes = b"") -> bytes:
    head = b'--xyz\r\nContent-Disposition: form-data; filename="name=x"; name=' + name
    return head + b"\r\n" + extra + b"\r\n" + content + b"\r\n--xyz--\r\n"


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\r\n", b"a\r\n--xy\r\nb", b"\x00\xff" * 1000, b" --xyz", b"\r\n\r\n"],
)
def test_the_content_comes_out_as_it_was(content):
    assert content_part(form(content), TYPE).content == content


def test_the_part_s_own_type_is_kept():
    part = content_part(form(b"x", extra=b"content-TYPE: text/csv\r\n"), TYPE)
    assert part.content_type == "text/csv"
    assert content_part(form(b"x"), TYPE).content_type == ""


@pytest.mark.parametrize(
    "content_type",
    ['multipart/form-data; boundary="xyz"', "Multipart/Form-Data; charset=utf-8; Boundary=xyz"],
)
def test_the_boundary_may_be_quoted_and_stand_anywhere(content_type):
    assert is_form(content_type)
    assert content_part(form(b"x"), content_type).content == b"x"


def test_text_before_the_first_part_and_more_parts_are_ignored():
    body = b"preamble\r\n" + form(b"x").removesuffix(b"--\r\n") + b"\r\n\r\nother\r\n--xyz--\r\n"
    assert content_part(body, TYPE).content == b"x"


def test_an_unquoted_name_is_fine():
    assert content_part(form(b"x", name=b"content"), TYPE).content == b"x"


@pytest.mark.parametrize(
    ("body", "content_type", "named"),
    [
        (form(b"x"), "multipart/form-data", "boundary"),
        (form(b"x"), "multipart/form-data; boundary=abc", "boundary"),
        (b"", TYPE, "boundary"),
        (form(b"x", name=b'"file"'), TYPE, "`content`"),
        (b"--xyz\r\n\r\nx\r\n--xyz--", TYPE, "`content`"),
        (form(b"x")[:60], TYPE, "cut off"),
        (form(b"x" * 100)[:120], TYPE, "cut off"),
        (b"--xyz", TYPE, "cut off"),
        (b"--xyz--\r\n", TYPE, "cut off"),
    ],
)
def test_a_broken_form_is_refused(body, content_type, named):
    with pytest.raises(InvalidInputError, match=named):
        content_part(body, content_type)


@pytest.mark.parametrize("content_type", ["", "application/json", "multipart/mixed; boundary=xyz"])
def test_other_types_are_no_forms(content_type):
    assert not is_form(content_type)
