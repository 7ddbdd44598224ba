"""The uncommitted changes of a branch: diffs of two refs, merges and the log do not have them."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graveler_cli.errors import CommandError
from graveler_cli.schemas import Diff

if TYPE_CHECKING:
    from graveler_cli.client import LakeClient
    from graveler_cli.uris import RefUri

_DIFF = "/repositories/{repository}/branches/{branch}/diff"

# dev~1, dev^2 and dev@ name commits.
_OF_COMMITS = re.compile(r"[~^@]")
_NOT_FOUND = 404


def changes(
    server: "LakeClient", ref: "RefUri", prefix: str = "", delimiter: str = ""
) -> Iterator[Diff]:
    """Yield the uncommitted changes of a ref, by path; only branches have some.

    Raises:
        CommandError: the server refused, or could not be reached.
    """
    from graveler_cli.client import ApiRefusedError  # noqa: PLC0415 - late, like the server

    if _OF_COMMITS.search(ref.ref):
        return
    query = {"prefix": prefix, "delimiter": delimiter or None}
    try:
        yield from server.each(_DIFF, _names(ref), Diff, query)
    except ApiRefusedError as error:
        if error.status != _NOT_FOUND:
            raise


def hint(server: "LakeClient", ref: "RefUri", prefix: str = "") -> str:
    """Return why a ref has nothing to show or to merge; "" if nothing is uncommitted.

    It is asked for after a result, which stands even if this request fails.
    """
    if _OF_COMMITS.search(ref.ref):
        return ""
    try:
        found = server.page(_DIFF, _names(ref), Diff, {"prefix": prefix, "amount": 1000})
    except CommandError:
        return ""  # mostly a tag or a commit
    count = len(found.results)
    if not count:
        return ""
    amount = f"more than {count}" if found.pagination.has_more else str(count)
    noun, them = ("change", "it") if amount == "1" else ("changes", "them")
    where = f" with the prefix {prefix!r}" if prefix else ""
    return f"{ref.ref} has {amount} uncommitted {noun}{where}: commit {them} first"


def _names(ref: "RefUri") -> dict[str, str]:
    return {"repository": ref.repository, "branch": ref.ref}
