"""Signed requests for the bytes of objects, which a plain HTTP client sends.

boto3 takes longer to compose a request than S3 to answer it, and gives no stream of bytes to pass
on. The signatures here equal botocore's.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
"""

import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote, urlsplit

from msgspec import Struct

from graveler.aws.exchanges.connection import Host
from graveler.aws.s3.uris import Location
from graveler.aws.signing import (
    ALGORITHM,
    SigningCredentials,
    authorization,
    derived_key,
    moment_of,
    signature,
)
from graveler.ports import SignedS3Request

UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
_NO_PAYLOAD = sha256(b"").hexdigest()

# A bucket with another name cannot be a label of a host name that S3's certificate covers.
HOST_LABEL = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")

# Clients and proxies set or change these headers on the way.
_UNSIGNED_HEADERS = frozenset({"expect", "transfer-encoding", "user-agent", "x-amzn-trace-id"})

# The number of buckets whose addresses are kept.
_SITES_MAX = 1024
# The number of derived keys: one for each region and day, and for each new secret key.
_KEYS_MAX = 64


class Endpoint(Struct, frozen=True):
    """The hosts of buckets: AWS's of the region, or one server that is compatible with S3.

    url is that of the region's host; region_of returns the region of a bucket, and is None if the
    server has one region only.
    """

    url: str
    region: str
    region_of: Callable[[str], str] | None = None

    def site(self, bucket: str) -> "_Site":
        """Return the bucket's address."""
        if self.region_of is None:
            return _site(self.url, bucket, self.region, in_host=False)
        region = self.region_of(bucket)
        return _site(self.url.replace(self.region, region), bucket, region, in_host=True)


class _Site(Struct, frozen=True):
    """A bucket's address: the paths of its keys begin with prefix."""

    host: Host
    prefix: str
    region: str

    def path_of(self, key: str) -> str:
        """Return the path of a key, percent-encoded."""
        return self.prefix + quote(key, safe="/~", errors="surrogatepass")

    def url_of(self, target: str) -> str:
        """Return the URL of a path and its query."""
        return f"{self.host.scheme}://{self.host.header}{target}"


@lru_cache(_SITES_MAX)
def _site(url: str, bucket: str, region: str, *, in_host: bool) -> _Site:
    """Return the bucket's address: a host of its own if it may have one, or a path.

    As botocore: an IP address has no hosts below it. VPC endpoints and emulators may have one.
    """
    host, path = Host.of(url), urlsplit(url).path.rstrip("/")
    is_address = ":" in host.name or host.name.rpartition(".")[2].isdigit()
    if in_host and HOST_LABEL.fullmatch(bucket) and not is_address:
        return _Site(host._replace(name=f"{bucket}.{host.name}"), f"{path}/", region)
    return _Site(host, f"{path}/{bucket}/", region)


class S3Requests:
    """Makes signed requests for objects; shared by threads."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Callable[[], SigningCredentials],
        public: Endpoint | None = None,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """Sign for the endpoint; presigned URLs have the public endpoint, if there is one."""
        self._endpoint = endpoint
        self._public = public or endpoint
        self._credentials = credentials
        self._now_s = now_s
        self._key = lru_cache(_KEYS_MAX)(derived_key)

    @property
    def region(self) -> str:
        """The region of the endpoint."""
        return self._endpoint.region

    def sign_get(self, uri: str, headers: Mapping[str, str]) -> SignedS3Request:
        """Return a request that reads the object.

        Header names of all requests are in lower case, and values are ASCII.
        """
        return self.sign_read("GET", uri, headers)

    def sign_read(self, method: str, uri: str, headers: Mapping[str, str]) -> SignedS3Request:
        """Return a request that reads the object, or its description: GET or HEAD."""
        return self._signed(method, uri, {}, headers, _NO_PAYLOAD)

    def sign_put(self, uri: str, headers: Mapping[str, str], payload_hash: str) -> SignedS3Request:
        """Return a request that stores an object.

        payload_hash is the body's SHA-256 in hex, or UNSIGNED_PAYLOAD.
        """
        return self._signed("PUT", uri, {}, headers, payload_hash)

    def sign_part(
        self,
        uri: str,
        store_upload_id: str,
        part_number: int,
        headers: Mapping[str, str],
        payload_hash: str,
    ) -> SignedS3Request:
        """Return a request that stores a part of an upload; payload_hash as in `sign_put`."""
        parameters = {"partNumber": str(part_number), "uploadId": store_upload_id}
        return self._signed("PUT", uri, parameters, headers, payload_hash)

    def _signed(
        self,
        method: str,
        uri: str,
        parameters: Mapping[str, str],
        headers: Mapping[str, str],
        payload_hash: str,
    ) -> SignedS3Request:
        location = Location.of(uri)
        site = self._endpoint.site(location.bucket)
        path = site.path_of(location.key)
        credentials, moment = self._credentials(), self._moment()
        sent = {
            **headers,
            "host": site.host.header,
            "x-amz-content-sha256": payload_hash,
            "x-amz-date": moment,
        }
        if credentials.token:
            sent["x-amz-security-token"] = credentials.token
        covered = {name: sent[name] for name in sent if name not in _UNSIGNED_HEADERS}
        query = _query(parameters)
        canonical = _canonical(method, path, query, covered, payload_hash)
        scope = _scope(moment, site.region)
        made = signature(self._key(credentials.secret_key, scope), moment, scope, canonical)
        sent["authorization"] = authorization(credentials.access_key, scope, _names(covered), made)
        return SignedS3Request(
            method,
            *site.host,
            f"{path}?{query}" if query else path,
            sent,
        )

    def presign_read(
        self,
        uri: str,
        expires_s: int,
        headers_signed: Mapping[str, str],
        response_parameters: Mapping[str, str],
    ) -> str:
        """Return a URL that reads the object; its client must send the signed headers.

        response_parameters are S3's, such as `response-content-type`.
        """
        return self.presign("GET", uri, expires_s, headers_signed, response_parameters)

    def presign(
        self,
        method: str,
        uri: str,
        expires_s: int,
        headers_signed: Mapping[str, str],
        more_parameters: Mapping[str, str],
    ) -> str:
        """Return the URL of a request; its client must send the signed headers."""
        location = Location.of(uri)
        site = self._public.site(location.bucket)
        path = site.path_of(location.key)
        credentials, moment = self._credentials(), self._moment()
        scope = _scope(moment, site.region)
        covered = {**headers_signed, "host": site.host.header}
        parameters = {
            **more_parameters,
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{credentials.access_key}/{scope}",
            "X-Amz-Date": moment,
            "X-Amz-Expires": str(expires_s),
            "X-Amz-SignedHeaders": _names(covered),
        }
        if credentials.token:
            parameters["X-Amz-Security-Token"] = credentials.token
        query = _query(parameters)
        # S3 uses the hash that the client sends, if any.
        payload_hash = covered.get("x-amz-content-sha256", UNSIGNED_PAYLOAD)
        canonical = _canonical(method, path, query, covered, payload_hash)
        made = signature(self._key(credentials.secret_key, scope), moment, scope, canonical)
        return site.url_of(f"{path}?{query}&X-Amz-Signature={made}")

    def _moment(self) -> str:
        return moment_of(int(self._now_s()))


def _scope(moment: str, region: str) -> str:
    return f"{moment[:8]}/{region}/s3/aws4_request"


def _query(parameters: Mapping[str, str]) -> str:
    pairs = sorted(
        (quote(name, safe="~"), quote(parameters[name], safe="~")) for name in parameters
    )
    return "&".join(f"{name}={value}" for name, value in pairs)


def _names(headers: Mapping[str, str]) -> str:
    return ";".join(sorted(headers))


def _canonical(
    method: str, path: str, query: str, headers: Mapping[str, str], payload_hash: str
) -> str:
    lines = "".join(f"{name}:{' '.join(headers[name].split())}\n" for name in sorted(headers))
    return f"{method}\n{path}\n{query}\n{lines}\n{_names(headers)}\n{payload_hash}"
