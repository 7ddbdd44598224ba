"""Finds the signature of a request: in its Authorization header or in its query."""

from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import version2, version4
from graveler_gateway.protocol.signatures.verified import PresentedSignature

# One of these names is enough: an incomplete signature is an error, not an anonymous request.
_VERSION_4_NAMES = frozenset({"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature"})
_VERSION_2_NAMES = frozenset({"AWSAccessKeyId", "Signature"})
_ONE_MECHANISM = (
    "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query "
    "string parameter or the Authorization header should be specified"
)


def parse(head: RequestHead) -> PresentedSignature | None:
    """Return the signature that the head carries; None if the request is anonymous.

    Raises:
        S3ResponseError: The signature is malformed, of an unknown kind, or not the only one.
    """
    authorization = head.header("authorization")
    in_version4_query = not _VERSION_4_NAMES.isdisjoint(head.parameters)
    in_version2_query = not _VERSION_2_NAMES.isdisjoint(head.parameters)
    if (authorization is not None) + in_version4_query + in_version2_query > 1:
        raise S3ResponseError(Code.INVALID_ARGUMENT, _ONE_MECHANISM)
    if in_version4_query:
        return version4.parse_query(head)
    if in_version2_query:
        return version2.parse_query(head)
    if authorization is None:
        return None
    scheme = authorization.split(" ", 1)[0]
    if scheme == version4.ALGORITHM:
        return version4.parse_header(head, authorization)
    if scheme == version2.SCHEME:
        return version2.parse_header(authorization)
    if scheme == "AWS4-ECDSA-P256-SHA256":
        raise S3ResponseError(
            Code.NOT_IMPLEMENTED, "ECDSA signatures are not implemented: use AWS4-HMAC-SHA256"
        )
    raise S3ResponseError(
        Code.INVALID_ARGUMENT,
        "Unsupported Authorization Type",
        details={"ArgumentName": "Authorization", "ArgumentValue": scheme},
    )
