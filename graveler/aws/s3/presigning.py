"""Presigned URLs of the parts of one upload: boto3 signs the first, the others follow it.

The URLs differ in the part number and the signature only. boto3 builds each one from the beginning,
which takes seconds for an upload of 10,000 parts. Here, whatever precedes the part number is hashed
once, and the signing key is derived once.

https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
"""

from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest, digest
from urllib.parse import parse_qs, urlsplit

from graveler.aws.signing import ALGORITHM, Credentials, derived_key

# A value never contains `&` or `=`: those are percent-encoded, in the query and in the path.
_FIRST = "partNumber=1&"


def part_urls(first: str, parts: int, credentials: Credentials) -> Sequence[str] | None:
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
