"""Serves one request: verifies its signature, runs its operation, answers errors as S3 does.

Theory of operation. The head is checked first: its signature, then the operation, then the user's
rights and the conditions. Only then is the body read. A client that sent `Expect: 100-continue`
waits for this, so a refused upload costs it no bytes. Checksums are checked while the body streams
to S3.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from graveler.errors import (
    CorruptDataError,
    GoneError,
    GravelerError,
    InvalidInputError,
    NotFoundError,
)
from graveler.http import cross_site
from graveler_gateway.lake.port import ClientKeyPair, Lakes
from graveler_gateway.operations.content import BodyStream, RequestContent
from graveler_gateway.operations.errors import check_endpoint, error_of, missing, without_data
from graveler_gateway.operations.post_object import PostForm, is_form, post_object
from graveler_gateway.operations.request import S3Request
from graveler_gateway.operations.responses import DOCUMENT_HEADERS, S3Response
from graveler_gateway.operations.table import operation_of
from graveler_gateway.protocol.addressing import BucketAndKey, bucket_of_host, target_of
from graveler_gateway.protocol.bodies.payload import UNSIGNED
from graveler_gateway.protocol.bodies.plan import body_plan
from graveler_gateway.protocol.conditions import details_of_refusal
from graveler_gateway.protocol.documents.results import error as error_document
from graveler_gateway.protocol.errors import Code, S3ResponseError
from graveler_gateway.protocol.head import RequestHead
from graveler_gateway.protocol.signatures import keys
from graveler_gateway.protocol.signatures.presented import parse
from graveler_gateway.protocol.signatures.verified import (
    PresentedSignature,
    SignatureKind,
    VerifiedSignature,
)
from graveler_gateway.server.log import AccessLogEntry
from graveler_gateway.server.settings import GatewaySettings
from graveler_gateway.transfer.store import DataMissingError, Transfers

_REQUEST_ID = "x-amz-request-id"

# lakeFS's page reads Parquet and CSV by DuckDB, which signs with this key and an invented secret.
_KEY_OF_THE_PAGE = "use_swagger_credentials"

# Deriving a key takes five hashes, and a client's key changes once a day.
_signing_key = lru_cache(maxsize=10_000)(keys.signing_key)


@dataclass(frozen=True, slots=True)
class Served:
    """A response, and its line in the access log."""

    response: S3Response
    entry: AccessLogEntry


class Application:
    """The gateway without its sockets; shared by threads."""

    def __init__(self, lakes: Lakes, transfers: Transfers, settings: GatewaySettings) -> None:
        self._lakes = lakes
        self._transfers = transfers
        self._settings = settings

    def serve(self, head: RequestHead, body: BodyStream, address: str) -> Served:
        """Return the answer to a request from the network address."""
        entry = _entry_of(head)
        try:
            response = self._answer(head, body, address, entry)
        except S3ResponseError as error:
            response = _refusal(head, entry, error)
        except GravelerError as error:
            if isinstance(error, CorruptDataError):
                entry.failed(error)
            response = _refusal(head, entry, error_of(error))
        except Exception as error:  # noqa: BLE001 - a bug: its traceback is only logged
            entry.failed(error)
            response = _refusal(head, entry, S3ResponseError(Code.INTERNAL_ERROR))
        return _served(response, entry)

    def refuse(self, head: RequestHead, error: S3ResponseError) -> Served:
        """Return the error as the answer to a request that is not served."""
        entry = _entry_of(head)
        return _served(_refusal(head, entry, error), entry)

    def _answer(
        self, head: RequestHead, body: BodyStream, address: str, entry: AccessLogEntry
    ) -> S3Response:
        """Return the operation's answer.

        Raises:
            S3ResponseError, GravelerError: the request is refused, or fails.
        """
        target = target_of(head.raw_path, head.header("host") or "", self._settings.domains)
        entry.repository = target.bucket
        presented = parse(head)
        run: Callable[[S3Request], S3Response]
        if presented is not None:
            user, verified = self._signed(presented, head, address)
            head = (
                head.with_hoisted_headers()
                if presented.kind is SignatureKind.VERSION_4_QUERY
                else head
            )
            check_endpoint(self._lakes.lake(user, address), target)
            operation = operation_of(head, target)
            entry.operation, run = operation.name, operation.run
        elif is_form(head, target):
            form = PostForm(head, body)
            pair = self._key_pair(form.access_key_id)
            form.check(pair.secret_access_key, self._lakes.now_s(), target.bucket)
            user, verified = pair.user, VerifiedSignature(pair.access_key_id, UNSIGNED)
            entry.operation, run = "PostObject", partial(post_object, form=form)
        else:
            raise self._anonymous()
        entry.user = user
        request = self._request(head, target, verified, user, body, address, entry)
        entry.ref = request.key.partition("/")[0] if target.key else ""
        try:
            response = run(request)
        except (NotFoundError, InvalidInputError) as error:
            raise missing(request, error) from error
        except (GoneError, DataMissingError) as error:
            raise without_data(request, error) from error
        # A browser must not store reads: its session may have ended.
        unstored = (
            {"Cache-Control": "no-store"} if verified.access_key_id == _KEY_OF_THE_PAGE else {}
        )
        return replace(response, headers={**response.headers, **unstored})

    def _anonymous(self) -> S3ResponseError:
        """Return the refusal of an unsigned request.

        It names the region, as S3 does: clients ask for a bucket's region without a signature.
        """
        region = {"x-amz-bucket-region": self._settings.operations.region}
        message = "Anonymous access is not allowed: sign the request"
        return S3ResponseError(Code.ACCESS_DENIED, message, headers=region)

    def _signed(
        self, presented: PresentedSignature, head: RequestHead, address: str
    ) -> tuple[str, VerifiedSignature]:
        """Return the user who sent the request, and what its signature proves.

        Raises:
            S3ResponseError: the signature is wrong.
            ForbiddenError: a page of another site uses the session.
        """
        if (user := self._session_user(presented, head, address)) is not None:
            return user, VerifiedSignature(presented.access_key_id, UNSIGNED)
        pair = self._key_pair(presented.access_key_id)
        return pair.user, self._verified(presented, head, pair)

    def _session_user(
        self, presented: PresentedSignature, head: RequestHead, address: str
    ) -> str | None:
        """Return the user of the session of lakeFS's page; None for any other request.

        Only a script of the page can send the header: no link, image or form does.
        """
        is_read = (
            head.method in {"GET", "HEAD"} and presented.kind is SignatureKind.VERSION_4_HEADER
        )
        if not is_read or presented.access_key_id != _KEY_OF_THE_PAGE:
            return None
        cross_site.check_not_cross_site(dict(head.headers))
        return self._lakes.session_user(head.header("cookie") or "", address)

    def _key_pair(self, access_key_id: str | None) -> ClientKeyPair:
        """Return the key pair that signed.

        Raises:
            S3ResponseError: the request is not signed, or the key does not exist.
        """
        if access_key_id is None:
            raise self._anonymous()
        pair = self._lakes.key_pair(access_key_id)
        if pair is None:
            details = {"AWSAccessKeyId": access_key_id}
            raise S3ResponseError(Code.INVALID_ACCESS_KEY_ID, details=details)
        return pair

    def _verified(
        self, presented: PresentedSignature, head: RequestHead, pair: ClientKeyPair
    ) -> VerifiedSignature:
        """Return what the request's signature proves.

        Raises:
            S3ResponseError: the signature is wrong.
        """
        return presented.verify(
            head,
            pair.secret_access_key,
            self._lakes.now_s(),
            bucket_of_host=bucket_of_host(head.header("host") or "", self._settings.domains),
            signing_key=_signing_key,
        )

    def _request(
        self,
        head: RequestHead,
        target: BucketAndKey,
        verified: VerifiedSignature,
        user: str,
        body: BodyStream,
        address: str,
        entry: AccessLogEntry,
    ) -> S3Request:
        is_completion = entry.operation == "CompleteMultipartUpload"
        plan = body_plan(head, verified, has_checksum_of_body=not is_completion)
        entry.bytes_in = plan.decoded_length_bytes or 0
        return S3Request(
            head=head,
            target=target,
            lake=self._lakes.lake(user, address),
            content=RequestContent(plan, body),
            transfers=self._transfers,
            settings=self._settings.operations,
            now_s=self._lakes.now_s(),
            user=user,
            is_signed_by_header=head.header("authorization") is not None,
        )


def _entry_of(head: RequestHead) -> AccessLogEntry:
    return AccessLogEntry(
        request_id=uuid.uuid4().hex[:16].upper(),
        method=head.method,
        user_agent=head.header("user-agent") or "",
    )


def _served(response: S3Response, entry: AccessLogEntry) -> Served:
    headers = {_REQUEST_ID: entry.request_id, "x-amz-id-2": entry.request_id}
    entry.status = response.status
    return Served(replace(response, headers={**response.headers, **headers}), entry)


def _refusal(head: RequestHead, entry: AccessLogEntry, error: S3ResponseError) -> S3Response:
    """Return the answer to a refused request."""
    entry.code, entry.message = error.code.text, error.message
    document = error_document(
        error.code.text,
        error.message,
        resource=head.raw_path,
        request_id=entry.request_id,
        details={**details_of_refusal(head, error), **error.details},
        host_id=entry.request_id,
    )
    headers: Mapping[str, str] = {**DOCUMENT_HEADERS, **error.headers}
    return S3Response(error.code.status, headers, document)
