"""Presigned URLs of objects, and of the parts of one upload.

boto3 takes 0.2 ms for a URL, our signer a ninth of that. Either signs each URL from scratch, which
is slow for an upload of 10,000 parts. The URLs of one upload differ only in the part number and the
signature. So `part_urls` derives the others from the first one. It hashes the text before the part
number once, and derives the key once.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest, digest
from urllib.parse import parse_qs, quote, urlsplit

from graveler.aws.s3.client import S3
from graveler.aws.s3.signed_requests import S3Requests
from graveler.aws.s3.uris import Location
from graveler.aws.signing import ALGORITHM, SigningCredentials, derived_key

_METHODS = {"get_object": "GET", "put_object": "PUT", "upload_part": "PUT"}
# boto3's names of parameters, and S3's.
_PARAMETERS = {
    "ResponseContentDisposition": "response-content-disposition",
    "ResponseContentEncoding": "response-content-encoding",
    "ResponseContentType": "response-content-type",
    "UploadId": "uploadId",
    "PartNumber": "partNumber",
}

# No value contains `&` or `=`, which are percent-encoded in the query and in the path.
_FIRST = "partNumber=1&"


class S3Presigning:
    """The part of ObjectStore that presigns URLs, which lead to the public endpoint."""

    _s3: S3
    # The credentials that the client signs with, if they are known.
    _credentials: Callable[[], SigningCredentials] | None
    # Signs in place of boto3, if set.
    _signer: S3Requests | None

    def presign_get(self, uri: str, expires_s: int, file_name: str, content_type: str = "") -> str:
        response = {}
        if file_name:
            response["ResponseContentDisposition"] = _attachment(file_name)
            # Clients of the API count the stored bytes. They would decode a coded content.
            response["ResponseContentEncoding"] = "identity"
        if content_type:
            response["ResponseContentType"] = content_type
        return self._presign("get_object", uri, expires_s, response)

    def presign_put(self, uri: str, expires_s: int, headers: Mapping[str, str] = {}) -> str:
        return self._presign("put_object", uri, expires_s, {}, headers)

    def presign_part(self, uri: str, upload_id: str, part_number: int, expires_s: int) -> str:
        part = {"UploadId": upload_id, "PartNumber": part_number}
        return self._presign("upload_part", uri, expires_s, part)

    def presign_parts(self, uri: str, upload_id: str, parts: int, expires_s: int) -> Sequence[str]:
        if parts == 0:
            return ()
        first = self.presign_part(uri, upload_id, 1, expires_s)
        if self._credentials is not None:
            urls = part_urls(first, parts, self._credentials())
            if urls is not None:
                return urls
        # The credentials were renewed just now, or boto3 signs in another way.
        rest = range(2, parts + 1)
        return [first, *(self.presign_part(uri, upload_id, each, expires_s) for each in rest)]

    def _presign(
        self,
        operation: str,
        uri: str,
        expires_s: int,
        parameters: Mapping[str, object],
        headers: Mapping[str, str] = {},
    ) -> str:
        if self._signer is not None:
            named = {_PARAMETERS[name]: str(value) for name, value in parameters.items()}
            return self._signer.presign(_METHODS[operation], uri, expires_s, headers, named)
        assert not headers, "boto3 knows headers by other names: only a signer can sign them"
        location = Location.of(uri)
        return self._s3.client.generate_presigned_url(
            operation,
            Params={**location.parameters, **parameters},
            ExpiresIn=expires_s,
        )


def _attachment(file_name: str) -> str:
    """Return a Content-Disposition (RFC 6266): the exact name, and one for old clients."""
    plain = "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\%' else "_"
        for letter in file_name
    )
    exact = quote(file_name, safe="", errors="replace")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}"


def part_urls(first: str, parts: int, credentials: SigningCredentials) -> Sequence[str] | None:
    """Return the URLs of the parts from 1 to `parts`, given the URL of part 1.

    Returns None if the first URL was not signed like this with these credentials.
    """
    unsigned, _, signature = first.rpartition("&X-Amz-Signature=")
    split = urlsplit(unsigned)
    pairs = sorted(pair.partition("=") for pair in split.query.split("&"))
    query = "&".join("".join(pair) for pair in pairs)
    canonical = f"PUT\n{split.path}\n{query}\nhost:{split.netloc}\n\nhost\nUNSIGNED-PAYLOAD"
    head, _, tail = canonical.partition(_FIRST)
    hashed_head, hashed_tail = sha256(head.encode()), f"&{tail}".encode()

    about = {name: values[0] for name, values in parse_qs(split.query).items()}
    _, _, scope = about.get("X-Amz-Credential", "").partition("/")
    key = derived_key(credentials.secret_key, scope)
    text = f"{ALGORITHM}\n{about.get('X-Amz-Date', '')}\n{scope}\n"

    def signature_of(part_number: int) -> str:
        hashed = hashed_head.copy()
        hashed.update(b"partNumber=%d" % part_number + hashed_tail)
        return digest(key, f"{text}{hashed.hexdigest()}".encode(), sha256).hex()

    if not compare_digest(signature_of(1), signature):
        return None
    before, _, after = unsigned.partition(_FIRST)
    return [
        f"{before}partNumber={number}&{after}&X-Amz-Signature={signature_of(number)}"
        for number in range(1, parts + 1)
    ]
