import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.post_form import PostFormParser
from tests.support.checks.cases import for_each

CONTENT_TYPE = "multipart/form-data; boundary=9431149156168"
FIELDS = {"key": "user/${filename}", "acl": "public-read", "x-amz-meta-a": "é\r\n--9431"}


def part(name, value, more=""):
    return (
        f'--9431149156168\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode()
        + value
    )


def form(content, fields=None, filename="photo.jpg", end=b"\r\n--9431149156168--\r\n"):
    fields = FIELDS if fields is None else fields
    parts = [part(name, value.encode()) for name, value in fields.items()]
    parts.append(part("file", content, f'; filename="{filename}"\r\nContent-Type: image/jpeg'))
    return b"\r\n".join(parts) + end


def parse(*pieces, content_type=CONTENT_TYPE):
    parser = PostFormParser(content_type)
    content = b"".join([parser.feed(piece) for piece in pieces])
    parser.finish()
    return content, parser.fields


def refusal(*pieces, **kwargs):
    with pytest.raises(S3ResponseError) as caught:
        parse(*pieces, **kwargs)
    return caught.value.code


def cuts(data, body):
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=8).map(sorted))
    return [body[a:b] for a, b in zip([0, *places], [*places, len(body)], strict=True)]


ANY_CONTENTS = st.lists(
    st.binary(max_size=9)
    | st.sampled_from([b"\r", b"\r\n", b"\r\n--", b"\r\n--943114915616", b"--"])
).map(b"".join)
# A browser chooses a boundary that the file does not contain.
CONTENTS = ANY_CONTENTS.filter(lambda content: b"\r\n--9431149156168" not in content)


@given(st.data(), CONTENTS)
def test_a_form_is_the_same_however_it_is_cut(data, content):
    found, fields = parse(*cuts(data, form(content)))
    assert found == content
    assert fields == FIELDS | {"key": "user/photo.jpg"}


@given(st.data(), CONTENTS)
def test_a_form_that_is_cut_off_is_refused(data, content):
    body = form(content, end=b"\r\n--9431149156168--")
    kept = data.draw(st.integers(0, len(body) - 1))
    assert refusal(*cuts(data, body[:kept])) is Code.INCOMPLETE_BODY


@given(st.lists(st.binary() | st.just(form(b"abc"))))
def test_random_bytes_raise_nothing_but_errors_of_s3(pieces):
    try:
        content, _ = parse(*pieces)
    except S3ResponseError:
        return
    assert pieces[0].startswith(b"--9431149156168") or content


@given(st.text(max_size=40) | st.text(max_size=9).map("multipart/form-data; boundary=".__add__))
def test_any_content_type_is_read_or_refused(content_type):
    refusal = None
    try:
        PostFormParser(content_type)
    except S3ResponseError as error:
        refusal = error.code
    assert refusal in {None, Code.MALFORMED_POST}


def test_fields_are_there_once_the_file_begins():
    parser = PostFormParser(CONTENT_TYPE)
    body = form(b"abc")
    begin = body.index(b"abc")
    assert parser.feed(body[: begin - 1]) == b""
    assert parser.fields is None
    parser.feed(body[begin - 1 : begin])
    fields = parser.fields
    assert fields is not None
    assert fields["acl"] == "public-read"


@for_each(
    ("filename", "key"),
    [
        ("photo.jpg", "user/photo.jpg"),
        ("C:\\pictures\\photo.jpg", "user/photo.jpg"),
        ("/pictures/photo.jpg", "user/photo.jpg"),
        ('a\\"b', 'user/a"b'),
        ("", "user/"),
    ],
)
def test_the_key_takes_the_last_segment_of_the_filename(filename, key):
    assert parse(form(b"abc", filename=filename))[1]["key"] == key


def test_names_of_fields_have_no_case():
    assert parse(form(b"abc", {"Content-Type": "a/b"}))[1] == {"content-type": "a/b"}


def test_fields_after_the_file_are_ignored():
    more = b"\r\n" + part("submit", b"Upload") + b"\r\n--9431149156168--\r\n"
    content, fields = parse(form(b"abc", end=more))
    assert (content, "submit" in fields) == (b"abc", False)


@for_each(
    "content_type",
    [
        'Multipart/Form-Data; charset=utf-8; boundary="9431149156168"',
        "multipart/form-data;boundary=9431149156168; charset=utf-8",
    ],
)
def test_the_boundary_may_be_quoted_and_stand_anywhere(content_type):
    assert parse(form(b"abc"), content_type=content_type)[0] == b"abc"


@for_each(
    "content_type",
    [
        "",
        "multipart/form-data",
        "multipart/mixed; boundary=a",
        "multipart/form-data; boundary=" + "a" * 71,
    ],
)
def test_another_content_type_is_refused(content_type):
    assert refusal(form(b"abc"), content_type=content_type) is Code.MALFORMED_POST


def test_a_form_needs_a_file():
    body = part("key", b"k") + b"\r\n--9431149156168--\r\n"
    assert refusal(body) is Code.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "body",
    [
        b"preamble\r\n" + form(b"abc"),
        form(b"abc").replace(b'name="file"', b"name"),
        b"--9431149156168\r\n\r\nvalue" + form(b"abc"),
        part("a", b"1") + b"\r\n" + part("A", b"2") + b"\r\n" + form(b"abc"),
        part("a", b"\xff") + b"\r\n" + form(b"abc"),
        form(b"abc\r\n--9431149156168x"),
    ],
    ids=["preamble", "no name", "no headers", "twice", "not UTF-8", "boundary in the file"],
)
def test_a_malformed_form_is_refused(body):
    assert refusal(body) is Code.MALFORMED_POST


@for_each("step", [100, 1 << 20])
@pytest.mark.parametrize(
    "body",
    [
        part("a", b"b" * 30_000) + b"\r\n" + form(b"abc"),
        form(b"abc", {f"f{number}": "v" * 900 for number in range(30)}),
        form(b"abc", {f"f{number}": "" for number in range(101)}),
        b"--9431149156168\r\n" + b"a" * 30_000,
        form(b"abc") + b"a" * 30_000,
    ],
    ids=["long field", "many bytes", "many fields", "long header", "long end"],
)
def test_too_many_fields_are_refused(body, step):
    assert (
        refusal(*(body[at : at + step] for at in range(0, len(body), step))) is Code.MALFORMED_POST
    )


def test_content_is_handed_on_without_a_copy():
    parser = PostFormParser(CONTENT_TYPE)
    parser.feed(form(b"", end=b""))
    data = b"a" * (1 << 20)
    assert parser.feed(data) is data
