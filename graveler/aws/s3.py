"""S3's REST protocol: signed, retried, and its refusals as exceptions.

On AWS a bucket has a host of its own, and a bucket of another region answers with the name of that
region, which is remembered. An endpoint that is set (the embedded stack) has buckets in the path.

Attempts end as in `dynamodb`. Requests may be repeated: they read, or store the same again, or the
caller recognizes by S3Error.may_have_landed that it lost against itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

from graveler.aws.errors import THROTTLING_CODES
from graveler.aws.http_client import Answer, HttpClient, NoAnswerError, NotSentError
from graveler.aws.retries import Retries
from graveler.aws.signing import Credentials, Signer, query_of
from graveler.errors import InvalidInputError, ThrottledError, UnknownOutcomeError

_REGIONS_LEARNED_MAX = 1_000

# Worth another attempt besides throttling: another writer of the same key is not done yet.
_CONFLICT_CODES = frozenset({"ConditionalRequestConflict", "OperationAborted"})

_REFUSED_BUCKET = {
    "NoSuchBucket": "does not exist",
    "AccessDenied": "refuses us: the role needs access to it",
    "AllAccessDisabled": "refuses us: all access is disabled",
    "InvalidBucketName": "is no name of a bucket",
}


class S3Error(Exception):
    """S3 refused a request."""

    def __init__(self, status: int, code: str, message: str, answer: Answer) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.answer = answer
        # An earlier attempt of this request got no answer, and may be why this one was refused.
        self.may_have_landed = False


@dataclass(frozen=True, slots=True)
class Location:
    """A bucket and a key in it."""

    bucket: str
    key: str

    @classmethod
    def of(cls, uri: str) -> "Location":
        """The location of `s3://bucket/key`.

        Raises:
            InvalidInputError: the URI is none of S3.
        """
        scheme, _, rest = uri.partition("://")
        bucket, _, key = rest.partition("/")
        if scheme != "s3" or not bucket or not key:
            raise InvalidInputError(f"{uri!r} is not the URI of an object in S3: s3://bucket/key")
        return cls(bucket, key)

    @property
    def copy_source(self) -> str:
        return f"/{self.bucket}/{quote(self.key, safe='-_.~/')}"


@dataclass(frozen=True, slots=True)
class S3Request:
    """One request; header names in lower case, query parameters as they are meant."""

    method: str
    location: Location
    parameters: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class S3:
    """S3, or what speaks like it at an endpoint; shared by all threads."""

    def __init__(
        self,
        region: str,
        credentials: Callable[[], Credentials],
        endpoint: str | None = None,
        retries: Retries | None = None,
        observe: Callable[[str], None] | None = None,
    ) -> None:
        self._region = region
        self._credentials = credentials
        self._endpoint = endpoint
        self._retries = retries or Retries()
        self._observe = observe
        self._clients: dict[str, HttpClient] = {}
        self._signers: dict[str, Signer] = {}
        self._region_of_bucket: dict[str, str] = {}

    def request(self, request: S3Request) -> Answer:
        """The successful answer.

        Raises:
            S3Error: S3 refuses, and will go on refusing.
            InvalidInputError: the bucket does not exist or refuses us.
            ThrottledError: not done in the time there was; nothing happened.
            UnknownOutcomeError: a write that may have happened.
        """
        may_have_landed = False
        problem = ""
        if self._observe is not None:
            self._observe(f"S3 {request.method}")
        for _ in self._retries.attempts():
            try:
                answer = self._attempt(request)
            except NotSentError as error:
                problem = str(error)
                continue
            except NoAnswerError as error:
                problem, may_have_landed = str(error), True
                continue
            refusal = _refusal(request, answer)
            if refusal is None:
                return answer
            if self._learned_region(request.location.bucket, answer):
                continue
            problem = f"{request.method}: {refusal}"
            if refusal.code in THROTTLING_CODES or refusal.code in _CONFLICT_CODES:
                continue
            if refusal.status >= 500 or refusal.status == 200:
                may_have_landed = True
                continue
            if refusal.code in _REFUSED_BUCKET:
                reason = _REFUSED_BUCKET[refusal.code]
                raise InvalidInputError(f"bucket {request.location.bucket} {reason}") from refusal
            refusal.may_have_landed = may_have_landed
            raise refusal
        if may_have_landed and request.method not in ("GET", "HEAD"):
            raise UnknownOutcomeError(f"S3 did not confirm a write: {problem}")
        raise ThrottledError(f"S3 cannot serve the request now, try again later: {problem}")

    def presigned_url(
        self,
        method: str,
        location: Location,
        expires_s: int,
        parameters: Mapping[str, str] | None = None,
    ) -> str:
        """A URL that does one request for whoever holds it."""
        region = self._region_of_bucket.get(location.bucket, self._region)
        endpoint, path = self._address(location, region)
        scheme, _, host = endpoint.partition("://")
        signer = self._signer(region)
        query = signer.presigned_query(method, host, path, parameters or {}, expires_s)
        return f"{scheme}://{host}{path}?{query}"

    def _attempt(self, request: S3Request) -> Answer:
        region = self._region_of_bucket.get(request.location.bucket, self._region)
        endpoint, path = self._address(request.location, region)
        client = self._clients.get(endpoint)
        if client is None:
            client = self._clients.setdefault(endpoint, HttpClient(endpoint))
        body_sha256 = sha256(request.body).hexdigest()
        query = query_of(request.parameters)
        signed = self._signer(region).signed(
            request.method,
            client.host,
            path,
            query,
            {**request.headers, "x-amz-content-sha256": body_sha256},
            body_sha256,
        )
        target = f"{path}?{query}" if query else path
        return client.begin(request.method, target, signed, request.body).finish()

    def _address(self, location: Location, region: str) -> tuple[str, str]:
        """The endpoint and the path of an object."""
        path = "/" + quote(location.key, safe="-_.~/")
        if self._endpoint is not None:
            return self._endpoint, f"/{location.bucket}{path}"
        host = f"s3.{region}.amazonaws.com"
        if "." in location.bucket:  # the certificate's wildcard covers one label
            return f"https://{host}", f"/{location.bucket}{path}"
        return f"https://{location.bucket}.{host}", path

    def _signer(self, region: str) -> Signer:
        signer = self._signers.get(region)
        if signer is None:
            signer = self._signers.setdefault(region, Signer("s3", region, self._credentials))
        return signer

    def _learned_region(self, bucket: str, answer: Answer) -> bool:
        region = answer.headers.get("x-amz-bucket-region")
        if self._endpoint is not None or region is None:
            return False
        if region == self._region_of_bucket.get(bucket, self._region):
            return False
        if len(self._region_of_bucket) >= _REGIONS_LEARNED_MAX:
            self._region_of_bucket.clear()
        self._region_of_bucket[bucket] = region
        return True


def xml_text(body: bytes, name: str) -> str:
    """The text of the first element of that name, whatever its namespace; "" if there is none."""
    # S3 itself wrote this document: it is no more hostile than the objects are.
    for element in ET.fromstring(body).iter():  # noqa: S314
        if element.tag.rpartition("}")[2] == name:
            return element.text or ""
    return ""


def _refusal(request: S3Request, answer: Answer) -> S3Error | None:
    """The error that the answer is, if it is one."""
    if answer.status < 300:
        # Work that takes long answers 200 at once, and tells in the body how it ended.
        takes_long = request.method == "POST" or "x-amz-copy-source" in request.headers
        if not (takes_long and b"<Error>" in answer.body[:200]):
            return None
    code, message = str(answer.status), ""
    if answer.body:
        try:
            code = xml_text(answer.body, "Code") or code
            message = xml_text(answer.body, "Message")
        except ET.ParseError:
            message = unquote(answer.body[:200].decode("utf-8", "replace"))
    elif answer.status == 403:  # of HEAD, which has no body to say so
        code = "AccessDenied"
    return S3Error(answer.status, code, message, answer)
