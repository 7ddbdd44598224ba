"""User metadata under S3's names, and under the names that entries have for them (ADR 31).

lakeFS's gateway stores `x-amz-meta-colour` as `X-Amz-Meta-colour`, and shows its clients no other
names. Older versions of this gateway stored `colour`, and so does the API.
"""

from collections.abc import Mapping

_PREFIX = "X-Amz-Meta-"


def stored_metadata(of_s3: Mapping[str, str]) -> dict[str, str]:
    """Return the metadata of a client of S3 as entries store them; names are in lower case."""
    return {_PREFIX + name: text for name, text in of_s3.items()}


def s3_metadata(stored: Mapping[str, str]) -> dict[str, str]:
    """Return an entry's metadata under S3's names, in lower case and without the prefix.

    If several stored names give one of S3's, the first of these wins: the one that lakeFS's gateway
    shows; one with the prefix in another case; the last in order.
    """

    def rank(name: str) -> tuple[bool, bool, str]:
        return name.startswith(_PREFIX), _has_prefix(name), name

    return {
        (name[len(_PREFIX) :] if _has_prefix(name) else name).lower(): stored[name]
        for name in sorted(stored, key=rank)
    }


def _has_prefix(name: str) -> bool:
    """Whether the name has the prefix in any case: clients of the API write it as a header."""
    return name[: len(_PREFIX)].lower() == _PREFIX.lower()
