import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler.errors import InvalidInputError
from graveler.http.multipart import FormError, FormParser, PartHead, content_part, is_form
from tests.support.checks.cases import for_each

TYPE = "multipart/form-data; boundary=xyz"


def form(content: bytes, name: bytes = b'"content"', extra: bytes = b"") -> bytes:
    head = b'--xyz\r\nContent-Disposition: form-data; filename="name=x"; name=' + name
    return head + b"\r\n" + extra + b"\r\n" + content + b"\r\n--xyz--\r\n"


@for_each(
    "content",
    [
        b"",
        b"hello",
        b"\r\n",
        b"a\r\n--xy\r\nb",
        b"a\r\n--xyzz\r\n--xyz-\r\nb",
        b"\x00\xff" * 1000,
        b" --xyz",
        b"\r\n\r\n",
    ],
)
def test_the_content_comes_out_as_it_was(content):
    assert content_part(form(content), TYPE).content == content


def test_the_part_s_own_type_is_kept():
    part = content_part(form(b"x", extra=b"content-TYPE: text/csv\r\n"), TYPE)
    assert part.content_type == "text/csv"
    assert content_part(form(b"x"), TYPE).content_type == ""


@for_each(
    "content_type",
    ['multipart/form-data; boundary="xyz"', "Multipart/Form-Data; charset=utf-8; Boundary=xyz"],
)
def test_the_boundary_may_be_quoted_and_stand_anywhere(content_type):
    assert is_form(content_type)
    assert content_part(form(b"x"), content_type).content == b"x"


def part(name: bytes, content: bytes, delimiter: bytes = b"--xyz") -> bytes:
    head = b"\r\nContent-Disposition: form-data; name=" + name + b"\r\nContent-Type: text/" + name
    return delimiter + head + b"\r\n\r\n" + content + b"\r\n"


@for_each(
    "body",
    [
        part(b"content", b"x") + b"--xyz--",
        b"preamble\r\n" + part(b"content", b"x") + b"--xyz--\r\nepilogue",
        part(b"note", b"1") + part(b"content", b"x") + b"--xyz--",
        part(b"note", b"") + part(b"content", b"x") + part(b"more", b"2") + b"--xyz--\r\n",
        part(b"content", b"x") + part(b"content", b"y") + b"--xyz--",
        b"--xyz\r\n\r\nwithout headers\r\n" + part(b"content", b"x") + b"--xyz--",
        part(b"content", b"x", delimiter=b"--xyz \t") + b"--xyz-- ",
    ],
)
def test_the_first_part_named_content_is_found_wherever_it_is(body):
    found = content_part(body, TYPE)
    assert (found.content, found.content_type) == (b"x", "text/content")


def test_a_line_that_only_begins_like_the_boundary_is_content():
    assert content_part(form(b"a\r\n--xyzzy\r\nb"), TYPE).content == b"a\r\n--xyzzy\r\nb"


def test_a_form_with_plain_newlines_is_read():
    body = form(b"a\r\nb").replace(b"\r\n", b"\n")
    assert content_part(body, TYPE).content == b"a\nb"


def test_an_empty_content_may_lack_the_line_that_would_end_it():
    body = b'--xyz\r\nContent-Disposition: form-data; name="content"\r\n\r\n--xyz--'
    assert content_part(body, TYPE).content == b""


@for_each(
    "disposition", [b'filename="a; name=content"; name=note', rb'name="note"; x="\"; name=content"']
)
def test_a_quoted_text_that_looks_like_a_name_is_none(disposition):
    other = b"--xyz\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\nno\r\n"
    assert content_part(other + form(b"x"), TYPE).content == b"x"


def test_a_quoted_boundary_may_hold_what_an_unquoted_one_may_not():
    body = form(b"x").replace(b"--xyz", b"--x;y z")
    assert content_part(body, 'multipart/form-data; boundary="x;y z"').content == b"x"


def test_an_unquoted_name_is_fine():
    assert content_part(form(b"x", name=b"content"), TYPE).content == b"x"


@for_each(
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
        (b"--xyz--\r\n", TYPE, "`content`"),
        # The last part may be whole or not: only the end of the form would show it.
        (form(b"x").removesuffix(b"--\r\n"), TYPE, "cut off"),
        (part(b"content", b"x") + part(b"note", b"1"), TYPE, "cut off"),
    ],
)
def test_a_broken_form_is_refused(body, content_type, named):
    with pytest.raises(InvalidInputError, match=named):
        content_part(body, content_type)


@for_each("more", [b"", b"\r\nContent-Disposition: form-data; name=b\r\n\r\nother"])
def test_a_form_is_whole_or_refused(more):
    """Wherever a connection is cut: an object of half its bytes would replace the old one."""
    body = form(b"x\r\n" * 3)
    whole = body.replace(b"--xyz--", b"--xyz" + more + b"\r\n--xyz--") if more else body
    for length in range(len(whole) - len(b"\r\n")):
        with pytest.raises(InvalidInputError):
            content_part(whole[:length], TYPE)
    for length in range(len(whole) - len(b"\r\n"), len(whole) + 1):
        assert content_part(whole[:length], TYPE).content == b"x\r\n" * 3


@for_each("content_type", ["", "application/json", "multipart/mixed; boundary=xyz"])
def test_other_types_are_no_forms(content_type):
    assert not is_form(content_type)


def parsed(*pieces, is_strict=False):
    parser = FormParser(b"xyz", is_strict=is_strict)
    parts: list[tuple[PartHead, list[bytes]]] = []
    for item in (item for piece in pieces for item in parser.feed(piece)):
        if isinstance(item, PartHead):
            parts.append((item, []))
        else:
            parts[-1][1].append(item)
    parser.finish()
    return [(head, b"".join(content)) for head, content in parts]


FORM = (
    b"preamble\r\n--xyz \r\n\r\nno headers\r\n"
    + part(b"content", b"a\r\n--xyzzy\r\n\n--xyz\r\r\n--xyz-b", delimiter=b"--xyz\t")
    + b"--xyz\r\nX: y\r\n\r\n--xyz--epilogue\r\n--xyz\r\n"
)


@given(st.data(), st.sampled_from([FORM, FORM.replace(b"\r\n", b"\n")]))
def test_a_form_is_the_same_however_it_is_cut(data, body):
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=8).map(sorted))
    pieces = [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]
    found = parsed(*pieces)
    assert found == parsed(body)
    assert len(found) == 3
    for head, content in found:
        assert not content or body[head.content_at :].startswith(content)


@for_each(
    "body",
    [
        b"preamble\r\n" + form(b"x"),
        b"\r\n" + form(b"x"),
        form(b"x").replace(b"\r\n", b"\n"),
        form(b"x").replace(b"--xyz\r\n", b"--xyz \r\n"),
        form(b"a\r\n--xyzzy\r\nb"),
        b'--xyz\r\nContent-Disposition: form-data; name="content"\r\n\r\n--xyz--',
    ],
)
def test_a_strict_parser_refuses_what_no_browser_sends(body):
    assert parsed(body)
    with pytest.raises(FormError):
        parsed(body, is_strict=True)
