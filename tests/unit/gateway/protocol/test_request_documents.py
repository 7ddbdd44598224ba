"""Documents from clients are read as they are meant, or refused as malformed."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graveler_gateway.protocol.documents import deletions, multipart_uploads, tagging
from graveler_gateway.protocol.errors import Code, S3ResponseError
from tests.support.checks.cases import for_each

PARSERS = {
    "Delete": deletions.parse_delete,
    "CompleteMultipartUpload": multipart_uploads.parse_completion,
    "Tagging": tagging.parse_tagging,
}
VALID = {
    "Delete": "<Object><Key>a</Key></Object>",
    "CompleteMultipartUpload": "<Part><PartNumber>1</PartNumber><ETag>e</ETag></Part>",
    "Tagging": "<TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet>",
}


def deletion(inner: str) -> deletions.DeleteRequest:
    return deletions.parse_delete(f"<Delete>{inner}</Delete>".encode())


def completion(inner: str) -> list[multipart_uploads.CompletedPart]:
    body = f"<CompleteMultipartUpload>{inner}</CompleteMultipartUpload>"
    return multipart_uploads.parse_completion(body.encode())


def tags(inner: str) -> dict[str, str]:
    return tagging.parse_tagging(f"<Tagging><TagSet>{inner}</TagSet></Tagging>".encode())


def part(number: object, etag: str = "e") -> str:
    return f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>"


def tag(key: str, value: str = "v") -> str:
    return f"<Tag><Key>{key}</Key><Value>{value}</Value></Tag>"


def code_of(call, *arguments) -> Code:
    with pytest.raises(S3ResponseError) as caught:
        call(*arguments)
    return caught.value.code


def refusal_of(call, *arguments) -> int | None:
    try:
        call(*arguments)
    except S3ResponseError as error:
        return error.code.status
    return None


LAUGHS = (
    '<!DOCTYPE Delete [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {name} "{("&" + chr(ord(name) - 1) + ";") * 10}">' for name in "bcdefghij")
    + "]>"
)


@for_each("name", PARSERS)
@for_each(
    "wrong",
    [
        b"",
        b" ",
        b"no markup",
        b"<",
        b"<{name}",
        b"<{name}>",
        b"<{name}/>",
        b"<{name}>{valid}",
        b"<{name}>{valid}</{name}><{name}/>",
        b"<{name}>{valid}</Other>",
        b"<Other>{valid}</Other>",
        b"<{name}>{valid}&unknown;</{name}>",
        b"<{name}>{valid}\xff</{name}>",
        b"<{name}>{valid}\x00</{name}>",
        b"<{name}>{valid}&#0;</{name}>",
        b"<{name}>{valid}<p:unbound/></{name}>",
        b"<!DOCTYPE {name}><{name}>{valid}</{name}>",
        b'<!DOCTYPE {name} SYSTEM "file:///etc/passwd"><{name}>{valid}</{name}>',
        b'<!DOCTYPE {name} [<!ENTITY a SYSTEM "file:///etc/passwd">]><{name}>{valid}&a;</{name}>',
        LAUGHS.encode() + b"<{name}>{valid}&j;</{name}>",
        b"<{name}>{valid}" + b"<a>" * 20 + b"</a>" * 20 + b"</{name}>",
        b"<{name}>{valid}" + b"<a>" * 100_000,
    ],
    ids=lambda wrong: repr(wrong[:40]),
)
def test_a_wrong_document_is_malformed(name, wrong):
    body = wrong.replace(b"{name}", name.encode()).replace(b"{valid}", VALID[name].encode())
    assert code_of(PARSERS[name], body) is Code.MALFORMED_XML


@for_each("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_another_encoding_hides_no_document_type(encoding):
    body = "<!DOCTYPE Delete><Delete><Object><Key>a</Key></Object></Delete>".encode(encoding)
    assert code_of(deletions.parse_delete, body) is Code.MALFORMED_XML


@pytest.mark.parametrize("name", PARSERS)
@given(data=st.data())
def test_a_damaged_document_is_read_or_malformed(name, data):
    body = bytearray(f"<{name}>{VALID[name]}</{name}>".encode())
    at = data.draw(st.integers(0, len(body) - 1))
    body[at : at + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=5))
    assert refusal_of(PARSERS[name], bytes(body)) in (None, 400, 501)


@for_each(
    "root",
    [
        "<Delete>",
        '<?xml version="1.0" encoding="UTF-8"?>\n<Delete>',
        '<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
        '<Delete xmlns="urn:another" a="b">',
        '\N{ZERO WIDTH NO-BREAK SPACE}<?xml version="1.0"?><Delete>',
    ],
)
def test_namespaces_and_declarations_make_no_difference(root):
    body = f"{root}<Object><Key>a</Key></Object></Delete>"
    assert deletions.parse_delete(body.encode()).objects == (deletions.DeletedObject("a"),)


def test_prefixes_of_namespaces_make_no_difference():
    body = b'<s:Delete xmlns:s="urn:s3"><s:Object><s:Key>a</s:Key></s:Object></s:Delete>'
    assert deletions.parse_delete(body).objects == (deletions.DeletedObject("a"),)


def test_a_deletion_is_read_in_any_order_and_ignores_the_unknown():
    request = deletion(
        "<Object><VersionId>null</VersionId><Future>1</Future><Key> a/ü&amp;&#13;</Key></Object>"
        "<Quiet>true</Quiet>"
        "<Object><Key>main/</Key><ETag>&quot;e&quot;</ETag></Object><Future/>"
    )
    assert request == deletions.DeleteRequest(
        (
            deletions.DeletedObject(" a/ü&\r", None, "null"),
            deletions.DeletedObject("main/", "e", None),
        ),
        quiet=True,
    )


@for_each(
    ("element", "quiet"),
    [
        ("", False),
        ("<Quiet>false</Quiet>", False),
        ("<Quiet/>", False),
        ("<Quiet>TRUE</Quiet>", True),
    ],
)
def test_a_deletion_is_quiet_only_if_it_says_so(element, quiet):
    assert deletion(f"{element}<Object><Key>a</Key></Object>").quiet is quiet


@for_each(
    "inner",
    [
        "<Object/>",
        "<Object><Key/></Object>",
        "<Object><Key>a</Key><Key>b</Key></Object>",
        "<Object><Key>a</Key></Object>" * 1001,
    ],
)
def test_a_deletion_has_1_to_1000_keys(inner):
    assert code_of(deletion, inner) is Code.MALFORMED_XML


def test_a_deletion_of_1000_objects_is_read():
    assert len(deletion("<Object><Key>a</Key></Object>" * 1000).objects) == 1000


@for_each("name", ["LastModifiedTime", "Size"])
def test_a_condition_that_nobody_checks_deletes_nothing(name):
    inner = f"<Object><Key>a</Key><{name}>1</{name}></Object>"
    assert code_of(deletion, inner) is Code.NOT_IMPLEMENTED


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1), min_size=1
    )
)
def test_any_key_can_be_deleted(keys):
    keys = [key.replace("\ufffe", "x").replace("\uffff", "x") for key in keys]
    request = deletion("".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys))
    assert [found.key for found in request.objects] == keys


def test_a_completion_is_read_with_or_without_quotes_and_with_checksums():
    found = completion(
        "<Part><ETag>&quot;e1&quot;</ETag><ChecksumCRC32>AA==</ChecksumCRC32>"
        "<PartNumber> 1 </PartNumber></Part>" + part(10_000, "e2")
    )
    assert found == [
        multipart_uploads.CompletedPart(1, "e1", {"ChecksumCRC32": "AA=="}),
        multipart_uploads.CompletedPart(10_000, "e2"),
    ]


@for_each(
    ("inner", "code"),
    [
        ("", Code.MALFORMED_XML),
        ("<Part/>", Code.MALFORMED_XML),
        ("<Part><PartNumber>1</PartNumber></Part>", Code.MALFORMED_XML),
        ("<Part><ETag>e</ETag></Part>", Code.MALFORMED_XML),
        (part("one"), Code.MALFORMED_XML),
        (part("-1"), Code.MALFORMED_XML),
        (part("1.0"), Code.MALFORMED_XML),
        (part("٣"), Code.MALFORMED_XML),
        (part("9" * 10_000), Code.MALFORMED_XML),
        (part(0), Code.INVALID_ARGUMENT),
        (part(10_001), Code.INVALID_PART),
        (part(2) + part(1), Code.INVALID_PART_ORDER),
        (part(1) + part(1), Code.INVALID_PART_ORDER),
        ("".join(map(part, range(1, 10_002))), Code.MALFORMED_XML),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_completion_is_refused(inner, code):
    assert code_of(completion, inner) is code


@given(st.dictionaries(
    st.text("abcü &<>", min_size=1, max_size=128), st.text("abcü &<>", max_size=256), max_size=10
))  # fmt: skip
def test_tags_survive_the_document(given_tags):
    assert tagging.parse_tagging(tagging.tagging(given_tags)) == given_tags


@for_each(
    ("inner", "code"),
    [
        (tag("k") + tag("k"), Code.INVALID_TAG),
        (tag(""), Code.INVALID_TAG),
        (tag("k" * 129), Code.INVALID_TAG),
        (tag("k", "v" * 257), Code.INVALID_TAG),
        ("".join(tag(f"k{number}") for number in range(11)), Code.INVALID_TAG),
        ("<Tag><Key>k</Key></Tag>", Code.MALFORMED_XML),
        ("<Tag><Value>v</Value></Tag>", Code.MALFORMED_XML),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_tags_are_refused(inner, code):
    assert code_of(tags, inner) is code


def test_a_tagging_needs_one_set():
    assert code_of(tagging.parse_tagging, b"<Tagging/>") is Code.MALFORMED_XML
    twice = b"<Tagging><TagSet/><TagSet/></Tagging>"
    assert code_of(tagging.parse_tagging, twice) is Code.MALFORMED_XML
    assert tags("") == {}


def test_a_document_of_very_many_elements_is_refused():
    with pytest.raises(S3ResponseError) as caught:
        deletion("<Object><Key>a</Key></Object>" + "<a/>" * 200_000)
    assert caught.value.code is Code.MALFORMED_XML
