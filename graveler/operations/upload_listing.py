"""Pages of a repository's open multipart uploads, by key and age."""

from dataclasses import dataclass

from graveler.branches.lookup import read_repository
from graveler.engine import Engine
from graveler.model.recorded_uploads import Upload
from graveler.staging.listing import CommonPrefix, PageQuery, prefix_end


@dataclass(frozen=True, slots=True)
class UploadPage:
    """Open uploads and common prefixes by key.

    next_after is the last key or common prefix, next_id the last upload's ID. next_after is b"" if
    there are no more.
    """

    results: list[Upload | CommonPrefix]
    next_after: bytes = b""
    next_id: str = ""


def list_uploads(
    engine: Engine, repository: str, query: PageQuery, *, after_id: str = ""
) -> UploadPage:
    """Return a page of the open uploads; a key is a branch, a slash and a path.

    With after_id, the page also has the uploads of the key `query.after` that have a greater ID.

    Raises:
        InvalidInputError: the repository's name is malformed.
        NotFoundError: the repository does not exist.
    """
    found = read_repository(engine, repository)
    results: list[Upload | CommonPrefix] = []
    last = (b"", "")
    start: bytes | None = max(query.prefix, query.after) if after_id else query.start
    while start is not None and (query.end is None or start < query.end):
        resume: bytes | None = None
        for upload in engine.refs.uploads(found, start, query.end):
            is_passed = after_id != "" and upload.place <= (query.after, after_id)
            if upload.completed is not None or is_passed:
                continue
            if len(results) == query.amount:
                return UploadPage(results, *last)
            folded = query.folded(upload.key)
            if folded is not None:
                results.append(CommonPrefix(folded))
                last, resume = (folded, ""), prefix_end(folded)
                break
            results.append(upload)
            last = upload.place
        start = resume
    return UploadPage(results)
