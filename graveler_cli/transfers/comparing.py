"""Folders and listings side by side, in the same order and one name at a time."""

from collections.abc import Iterable, Iterator

from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.content import LocalContent
from graveler_cli.transfers.files import LocalFile
from graveler_cli.transfers.jobs import CLIENT_MTIME_KEY, SYMLINK_TARGET_KEY
from graveler_cli.transfers.uploads import part_size
from graveler_cli.transfers.verification import checksum_of_parts, is_md5, uploaded_part_sizes

# The server's clock, which dates objects, and this machine's may differ by this much.
_CLOCKS_DIFFER_S = 2

Pair = tuple[str, LocalFile | None, ObjectStats | None]


def side_by_side(
    files: Iterable[LocalFile], objects: Iterable[ObjectStats], prefix: str
) -> Iterator[Pair]:
    """Yield each name with the file and the object that have it; either may be None.

    Args:
        files: files in the order of `walk`.
        objects: objects below the prefix, in the order of a listing.
        prefix: the beginning of the objects' names, which names of files lack.
    """
    left, right = iter(files), iter(objects)
    file, found = next(left, None), next(right, None)
    while file is not None or found is not None:
        name = "" if found is None else found.path.removeprefix(prefix)
        if found is None or (file is not None and file.key < name.encode()):
            assert file is not None
            yield file.name, file, None
            file = next(left, None)
        elif file is None or name.encode() < file.key:
            yield name, None, found
            found = next(right, None)
        else:
            yield name, file, found
            file, found = next(left, None), next(right, None)


def modified_s(found: ObjectStats) -> int:
    """Return the modification time of the file that was uploaded, in Unix seconds."""
    text = (found.metadata or {}).get(CLIENT_MTIME_KEY, "")
    return int(text) if text.isdecimal() else found.mtime


def has_changed(file: LocalFile, found: ObjectStats) -> bool:
    """Whether a file differs from the object as lakectl sees it: by size, time and target."""
    if file.is_link:
        return (found.metadata or {}).get(SYMLINK_TARGET_KEY) != str(file.path.readlink())
    if file.state.st_size != found.size_bytes:
        return True
    if int(file.state.st_mtime) != modified_s(found):
        return True
    try:
        return may_be_newer(file.state.st_mtime_ns, found) and has_other_content(file, found)
    except CommandError:
        return True  # the upload reports why it cannot be read


def may_be_newer(mtime_ns: int, found: ObjectStats) -> bool:
    """Whether a file of the same size and second as the object may be a later version.

    It may if the object was stored before that second was over. Downloads set whole seconds.
    """
    is_of_a_file = CLIENT_MTIME_KEY in (found.metadata or {})
    is_fresh = found.mtime <= mtime_ns // 10**9 + _CLOCKS_DIFFER_S
    return is_of_a_file and is_fresh and mtime_ns % 10**9 > 0


def has_other_content(file: LocalFile, found: ObjectStats) -> bool:
    """Whether a file differs from the object by size or checksum.

    A checksum of parts can be compared only if a usual part size gives that number of parts.
    Otherwise the times decide: after a transfer, they are equal.

    Raises:
        CommandError: the file cannot be read.
    """
    size_bytes = file.state.st_size
    if size_bytes != found.size_bytes:
        return True
    with LocalContent(file.path) as content:
        if is_md5(found.checksum):
            return content.md5(0, size_bytes).hex() != found.checksum
        is_known = False
        for part_bytes in {*uploaded_part_sizes(found), part_size(size_bytes)}:
            starts = range(0, size_bytes, part_bytes)
            if not found.checksum.endswith(f"-{len(starts)}"):
                continue
            parts = (content.md5(each, min(part_bytes, size_bytes - each)) for each in starts)
            if checksum_of_parts(parts) == found.checksum:
                return False
            is_known = True
    return is_known or int(file.state.st_mtime) != modified_s(found)
