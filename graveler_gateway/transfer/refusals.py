"""Maps S3's refusals of the gateway's own requests to errors for its client."""

import re
from collections.abc import Mapping

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.transfer.store_exchange import StoreResponse

_CODE = re.compile(rb"<Code>\s*([A-Za-z0-9.]+)\s*</Code>")
_MESSAGE = re.compile(rb"<Message>([^<]{1,300})</Message>")
# Refusals of a header of the client: a key, an unreadable time, a checksum of another algorithm
# than the upload's.
_OF_HEADERS = re.compile(r"KMS\..*|Invalid(Argument|EncryptionAlgorithmError|Request)")

# S3 checks the client's content and wishes, so the client gets these refusals.
_OF_CONTENT: Mapping[str, Code] = {
    code.text: code
    for code in (
        Code.BAD_DIGEST,
        Code.CONTENT_SHA256_MISMATCH,
        Code.ENTITY_TOO_LARGE,
        Code.ENTITY_TOO_SMALL,
        Code.INCOMPLETE_BODY,
        Code.INVALID_DIGEST,
        Code.NO_SUCH_KEY,
        Code.NO_SUCH_UPLOAD,
        Code.REQUEST_TIMEOUT,
    )
}
_OF_LOAD = frozenset({"SlowDown", "ServiceUnavailable", "Throttling", "RequestLimitExceeded"})
_OF_THE_BUCKET = frozenset({"AccessDenied", "AllAccessDisabled", "NoSuchBucket"})


def refusal_of(answer: StoreResponse) -> S3ResponseError:
    """Return the error for the client, given S3's answer to a request with the client's content."""
    document = answer.document()
    found = _CODE.search(document)
    code = found[1].decode() if found else ""
    if code in _OF_CONTENT:
        return S3ResponseError(_OF_CONTENT[code])
    if answer.status in {429, 503} or code in _OF_LOAD:
        return S3ResponseError(Code.SLOW_DOWN)
    if code in _OF_THE_BUCKET or answer.status in {401, 403}:
        # The operator needs this message; the client cannot do anything.
        return S3ResponseError(
            Code.ACCESS_DENIED,
            "The repository's storage namespace refuses the gateway: its role needs access to the "
            "bucket, and to the KMS key that is asked for",
        )
    message = _MESSAGE.search(document)
    shown = message[1].decode("utf-8", "replace") if message else f"status {answer.status}"
    if answer.status == 501:
        return S3ResponseError(
            Code.NOT_IMPLEMENTED, f"The repository's store does not serve it: {shown}"
        )
    if answer.status >= 500:
        return S3ResponseError(Code.SERVICE_UNAVAILABLE)
    if answer.status != 400 or not _OF_HEADERS.fullmatch(code):
        chosen = Code.INTERNAL_ERROR
    else:
        chosen = Code.INVALID_REQUEST if code == "InvalidRequest" else Code.INVALID_ARGUMENT
    return S3ResponseError(chosen, f"S3 refused the gateway's request: {code} {shown}")


def is_passing(answer: StoreResponse) -> bool:
    """Whether the same request may succeed soon."""
    return answer.status in {429, 500, 502, 503, 504}
