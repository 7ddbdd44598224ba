"""PostObject: a browser's form with a file, which a signed policy allows.

The key pair is among the form's fields, so the fields are read first, up to 20 KB. The file is read
only after all checks, and checked against the checksums among the fields.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from urllib.parse import parse_qsl, urlencode, urlsplit

from graveler_gateway.lake.port import Description
from graveler_gateway.operations.content import BodyStream, RequestContent
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import DOCUMENT_HEADERS, S3Response, etag_of
from graveler_gateway.operations.table import check_headers
from graveler_gateway.operations.writes import (
    PUT_BYTES_MAX,
    SMALL_BYTES_MAX,
    UNSIGNED,
    described,
    requirement_of,
)
from graveler_gateway.protocol.addressing import BucketAndKey
from graveler_gateway.protocol.bodies import payload
from graveler_gateway.protocol.bodies.algorithms import ALGORITHMS
from graveler_gateway.protocol.bodies.plan import BodyPlan, body_plan
from graveler_gateway.protocol.documents.markup import url_encoded
from graveler_gateway.protocol.documents.results import post_response
from graveler_gateway.protocol.documents.tagging import parse_tagging
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.post_form import PostFormParser
from graveler_gateway.protocol.post_policy import LengthRange, check_policy, form_access_key_id
from graveler_gateway.protocol.signatures.verified import VerifiedSignature
from graveler_gateway.transfer.store import Written

_CONTENT_TYPE = "multipart/form-data"
_CHECKSUMS = frozenset({"content-md5", *ALGORITHMS})


def has_form(head: RequestHead) -> bool:
    """Whether the body is a form."""
    content_type = (head.header("content-type") or "").lower()
    return head.method == "POST" and content_type.startswith(_CONTENT_TYPE)


def is_form(head: RequestHead, target: BucketAndKey) -> bool:
    """Whether the request is a form for a bucket."""
    return has_form(head) and not target.key


class PostForm:
    """A form whose fields are read, and whose file can be read once."""

    def __init__(self, head: RequestHead, body: BodyStream) -> None:
        """Read the fields.

        Raises:
            S3ResponseError: the form is malformed, or has no file or no length.
        """
        # The sender is still unknown, and of a form in chunks nothing has arrived with its head.
        self._length_bytes = _length_of(head)
        self._body = body
        content_type = head.header("content-type") or ""
        self._parser = PostFormParser(content_type)
        self._first = b""
        while self._parser.fields is None:
            self._first = self._parser.feed(self._more())
        self.fields: Mapping[str, str] = self._parser.fields
        self.lengths = LengthRange()

    @property
    def access_key_id(self) -> str | None:
        """The key that signed the policy; None if the form is anonymous."""
        return form_access_key_id(self.fields)

    def check(self, secret: str, now_s: int, bucket: str) -> None:
        """Check the policy's signature, and the form against the policy.

        Raises:
            S3ResponseError: the policy does not allow the form.
        """
        self.lengths = check_policy(self.fields, secret, now_s, bucket)

    @cached_property
    def size_bytes(self) -> int:
        """The size of the file, if the form ends as browsers end it."""
        return self._length_bytes - self._parser.bytes_before_file - self._parser.bytes_after_file

    def pieces(self) -> Iterator[bytes]:
        """Yield the file; the last piece comes after the whole form.

        Raises:
            S3ResponseError: the form is incomplete, or the policy does not allow the file's size.
        """
        held, size_bytes = self._first, len(self._first)
        while data := self._body.read():
            piece = self._parser.feed(data)
            if piece:
                if held:
                    yield held
                held, size_bytes = piece, size_bytes + len(piece)
        self._parser.finish()
        self.lengths.check(size_bytes)
        if held:
            yield held

    def _more(self) -> bytes:
        data = self._body.read()
        if not data:
            raise S3ResponseError(Code.INCOMPLETE_BODY, "The form ends before its file.")
        return data


def _length_of(head: RequestHead) -> int:
    """Return the length of the form.

    Raises:
        S3ResponseError: it is unknown.
    """
    length = head.header("content-length") or ""
    if not (length.isascii() and length.isdigit()):
        raise S3ResponseError(Code.MISSING_CONTENT_LENGTH)
    return int(length[:19])


def post_object(request: S3Request, form: PostForm) -> S3Response:
    """Store the form's file as the object that the field `key` names."""
    key = form.fields.get("key", "")
    if not key:
        message = "Bucket POST must contain a field named 'key'."
        raise S3ResponseError(Code.INVALID_ARGUMENT, message, details={"ArgumentName": "key"})
    request = replace(
        request,
        target=BucketAndKey(request.bucket, key.encode()),
        head=_head_of(request.head, form),
    )
    check_headers(request.head)
    file = RequestContent(_plan(request.head), _File(form))
    writing = request.lake.write(
        request.place, _description(request, form), requirement_of(request)
    )
    content, size_bytes = _content(form, file)
    headers = {"content-length": str(size_bytes)}
    if writing.takes_checksums:
        headers |= file.checksums
    written = request.transfers.write(lambda: writing.request(headers, UNSIGNED), content)
    writing.finish(size_bytes, written.checksum)
    return _answer(request, form, written)


class _File:
    """A form's file as it arrives."""

    def __init__(self, form: PostForm) -> None:
        self._pieces = form.pieces()

    def read(self) -> bytes:
        return next(self._pieces, b"")


def _plan(fields: RequestHead) -> BodyPlan:
    """Return the plan of the file: its size from the form, its checksums from the fields.

    Raises:
        S3ResponseError: a checksum is malformed, or there is more than one.
    """
    given = [each for each in fields.headers if each[0] in _CHECKSUMS]
    head = RequestHead(fields.method, fields.raw_path, "", tuple(given))
    return replace(
        body_plan(head, VerifiedSignature("", payload.UNSIGNED)), decoded_length_bytes=None
    )


def _content(form: PostForm, file: RequestContent) -> tuple[bytes | Iterable[bytes], int]:
    """Return the file and its size; only a small file may have fields behind it."""
    if form.size_bytes > PUT_BYTES_MAX:
        raise S3ResponseError(Code.ENTITY_TOO_LARGE)
    pieces = file.pieces(checks_digests=True)
    if form.size_bytes > SMALL_BYTES_MAX:
        form.lengths.check(form.size_bytes)
        return pieces, form.size_bytes
    whole = b"".join(pieces)
    return whole, len(whole)


def _head_of(head: RequestHead, form: PostForm) -> RequestHead:
    """Return a head with the fields as headers, as a PUT of the same object would have them."""
    return RequestHead("POST", head.raw_path, "", tuple(form.fields.items()))


def _description(request: S3Request, form: PostForm) -> Description:
    tags = parse_tagging(form.fields["tagging"].encode()) if form.fields.get("tagging") else {}
    return described(request.head, tags)


def _answer(request: S3Request, form: PostForm, written: Written) -> S3Response:
    location, checksum = url_encoded(f"/{request.bucket}/{request.key}"), written.checksum
    headers = {"ETag": etag_of(checksum), "Location": location, **written.headers}
    redirect = form.fields.get("success_action_redirect") or form.fields.get("redirect", "")
    if urlsplit(redirect).scheme in {"http", "https"} and redirect.isprintable():
        split = urlsplit(redirect)
        reported = {"bucket": request.bucket, "key": request.key, "etag": etag_of(checksum)}
        query = urlencode([*parse_qsl(split.query, keep_blank_values=True), *reported.items()])
        return S3Response(303, {**headers, "Location": split._replace(query=query).geturl()})
    status = form.fields.get("success_action_status")
    if status == "201":
        document = post_response(location, request.bucket, request.key, checksum)
        return S3Response(201, {**headers, **DOCUMENT_HEADERS}, document)
    return S3Response(200 if status == "200" else 204, headers)
