"""Downloads of one object: under a temporary name beside the target, then renamed."""

import os
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from hashlib import md5, sha256
from pathlib import Path
from time import time

from graveler_cli.client import ApiRefusedError, NoDataError
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.content import BLOCK_BYTES
from graveler_cli.transfers.files import JOURNAL_SUFFIX, PARTIAL_SUFFIX
from graveler_cli.transfers.jobs import SYMLINK_TARGET_KEY, DownloadJob, TransferOptions
from graveler_cli.transfers.journals import PartsJournal, StoredPart, boot_id, lock
from graveler_cli.transfers.objects import RefObjects
from graveler_cli.transfers.requests import BrokenError, read_all, read_block
from graveler_cli.transfers.sources import ChangedError, ContentSource, WrongDataError
from graveler_cli.transfers.verification import checksum_of, is_md5
from graveler_cli.transfers.workers import TaskThreads
from graveler_cli.transport import Block, WholeAnswer

_RECEIVED_MAX = 3  # attempts to receive an object with the right checksum
_NAME_BYTES_MAX = 200  # of a file's name, so that a prefix and a suffix fit

# The codes of S3, Google Cloud Storage and Azure for an object that does not exist.
_NO_OBJECT = (b"<Code>NoSuchKey</Code>", b"<Code>BlobNotFound</Code>")

_NO_RANGES = "the object store does not serve ranges: use a larger --part-size"

Received = Callable[[int], None]


class Downloader:
    """Downloads the objects of a ref."""

    def __init__(
        self, objects: RefObjects, options: TransferOptions, parts: TaskThreads, received: Received
    ) -> None:
        """Prepare downloads.

        Args:
            objects: the ref's objects.
            options: how jobs are done.
            parts: the threads that receive parts.
            received: is called with the number of bytes that arrived.
        """
        self._objects = objects
        self._requests = objects.requests
        self._options = options
        self._parts = parts
        self._received = received

    def download(self, job: DownloadJob) -> ObjectStats:
        """Store an object as a file; return the object.

        Raises:
            CommandError: the server refused it, or the file cannot be written.
        """
        stats = job.stats
        if job.folder is not None:
            job.folder.make_for(job.target)
        if job.target.is_dir() and not job.target.is_symlink():
            raise CommandError(f"{job.target} is a folder: move it away")
        if job.links.are_stored and (link := (stats.metadata or {}).get(SYMLINK_TARGET_KEY)):
            if not job.links.are_skipped:
                _link(job, link)
            return stats
        source = self._source(job.path, stats)
        try:
            if (stats.size_bytes or 0) >= 2 * self._options.part_bytes:
                self._in_parts(job, stats, source)
            else:
                self._whole(job, stats, source)
        except WrongDataError as error:
            raise self._reason(error, source) from None
        return stats

    def _reason(self, error: CommandError, source: ContentSource) -> CommandError:
        """Return the server's refusal if the data were replaced: listings do not show that."""
        try:
            if source.renew is not None:
                source.renew()
        except ApiRefusedError as refusal:
            return refusal if refusal.status == 410 else error
        except CommandError:
            pass
        return error

    def read(
        self,
        path: str,
        stats: ObjectStats,
        first: int,
        length: int,
        write: Callable[[Block], object],
    ) -> None:
        """Pass a range of the content to `write`, block by block; raises as `download`."""
        source = self._source(path, stats)
        size_bytes = stats.size_bytes or 0
        is_whole = length == size_bytes
        digest = md5(usedforsecurity=False).digest()
        if length:
            whole_bytes = None if is_whole else size_bytes
            put = lambda block, _: write(block)  # noqa: E731
            digest = self._fetch(source, put, first, length, whole_bytes, is_repeatable=False)
        if is_whole and is_md5(stats.checksum):
            is_through_api = source.renew is None
            if not self._is_right(stats, source, digest.hex(), is_same_again=is_through_api):
                raise _wrong(stats)

    def _source(self, path: str, stats: ObjectStats) -> ContentSource:
        if "://" in stats.physical_address and stats.physical_address.startswith("http"):

            def renew() -> str:
                return self._objects.stat(path, presign=True).physical_address

            return ContentSource(stats.physical_address, {}, renew, stats.physical_address_expiry)
        presign = self._objects.presigns(self._options.pre_sign)
        return ContentSource(
            self._objects.content_url(path, presign=presign), self._objects.headers, None
        )

    def _whole(self, job: DownloadJob, stats: ObjectStats, source: ContentSource) -> None:
        """Receive by one request; partial data are deleted, because a later run cannot use them."""
        temporary = _temporary(job.target, PARTIAL_SUFFIX)
        descriptor = _locked(temporary)
        try:
            os.ftruncate(descriptor, 0)
            self._receive_whole(stats, source, descriptor)
            _finish(job, temporary, descriptor)
            _temporary(job.target, JOURNAL_SUFFIX).unlink(
                missing_ok=True
            )  # left by a larger version
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        finally:
            os.close(descriptor)

    def _receive_whole(self, stats: ObjectStats, source: ContentSource, descriptor: int) -> None:
        size_bytes = stats.size_bytes or 0
        if not size_bytes:
            return
        write = partial(_write, descriptor)
        verifies = self._options.verifies
        is_of_whole = verifies and is_md5(stats.checksum)
        before = ""
        for _ in range(_RECEIVED_MAX):
            digest = self._fetch(source, write, 0, size_bytes, None, has_digest=is_of_whole)
            found = digest.hex()
            of_parts = checksum_of(descriptor, stats, size_bytes) if verifies else None
            if of_parts and not is_of_whole:
                of_parts.add(1)
                found = of_parts.hexdigest()
            if self._is_right(stats, source, found, is_same_again=found == before):
                return
            before = found
        raise _wrong(stats)

    def _in_parts(self, job: DownloadJob, stats: ObjectStats, source: ContentSource) -> None:
        """Receive in parts; a journal records the stored ones for the next run."""
        part_bytes = self._options.part_bytes
        journal = PartsJournal(_temporary(job.target, JOURNAL_SUFFIX))
        temporary = _temporary(job.target, PARTIAL_SUFFIX)
        about = {
            "path": job.path,
            "checksum": stats.checksum,
            "size_bytes": str(stats.size_bytes),
            "mtime": str(stats.mtime),
            "part_bytes": str(part_bytes),
            "boot": boot_id(),
        }
        is_over = False
        descriptor = -1
        try:
            descriptor = lock(temporary)
            is_longer = os.fstat(descriptor).st_size == stats.size_bytes
            if not (journal.continues(about) and journal.parts and is_longer):
                journal.begin(about)
                os.ftruncate(descriptor, 0)
                os.ftruncate(descriptor, stats.size_bytes or 0)
            is_resumed = bool(journal.parts)
            try:
                found = self._received_parts(stats, source, descriptor, journal, part_bytes)
                is_right = self._is_right(stats, source, found, is_same_again=False)
            except ChangedError:
                if not is_resumed:
                    raise
                found, is_right = "", False
            if not is_right:
                # Start again: parts of an older run may be damaged.
                journal.begin(about)
                again = self._received_parts(stats, source, descriptor, journal, part_bytes)
                if not self._is_right(stats, source, again, is_same_again=again == found):
                    raise _wrong(stats)
            _finish(job, temporary, descriptor)
            is_over = True
        except NoDataError:
            temporary.unlink()
            is_over = True
            raise
        finally:
            if descriptor >= 0:
                os.close(descriptor)
            if is_over:
                journal.delete()
            else:
                journal.close()

    def _received_parts(
        self,
        stats: ObjectStats,
        source: ContentSource,
        descriptor: int,
        journal: PartsJournal,
        part_bytes: int,
    ) -> str:
        """Receive the parts that the journal lacks; return the checksum, or "" for none."""
        size_bytes = stats.size_bytes or 0
        numbers = range(1, -(-size_bytes // part_bytes) + 1)
        verifies = self._options.verifies
        checksum = checksum_of(descriptor, stats, part_bytes) if verifies else None
        stored = set(journal.parts)
        source.etag = next(iter(journal.parts.values()), "")
        write = partial(_write, descriptor)
        for number in sorted(stored):
            self._received(min(part_bytes, size_bytes - (number - 1) * part_bytes))
            if checksum:
                checksum.add(number)

        def receive(number: int) -> None:
            first = (number - 1) * part_bytes
            length = min(part_bytes, size_bytes - first)
            self._fetch(source, write, first, length, size_bytes, has_digest=False)
            journal.add(StoredPart(number, source.etag))
            if checksum:
                checksum.add(number)

        self._parts.each((each for each in numbers if each not in stored), receive)
        return checksum.hexdigest() if checksum else ""

    def _is_right(
        self, stats: ObjectStats, source: ContentSource, found: str, *, is_same_again: bool
    ) -> bool:
        """Return whether a checksum is the object's, or cannot be compared with it.

        The part size behind a checksum of parts is unknown. From the API alone, it is also unknown
        whether a checksum in MD5's form is an MD5. In both cases, bytes that arrive twice alike are
        right.
        """
        if not found or found == stats.checksum:
            return True
        if source.is_encrypted or (is_md5(stats.checksum) and source.may_be_other(stats)):
            return True
        is_guess = source.renew is None or not is_md5(stats.checksum)
        return is_guess and is_same_again

    def _fetch(
        self,
        source: ContentSource,
        write: Callable[[Block, int], object],
        first: int,
        length: int,
        whole_bytes: int | None,
        *,
        has_digest: bool = True,
        is_repeatable: bool = True,
    ) -> bytes:
        """Pass a range to `write`, with the offset of each block; return its checksum.

        A body that is cut off is continued where it ended.
        """
        digest = md5(usedforsecurity=False)
        done = 0

        def attempt() -> None:
            nonlocal digest, done
            url = source.fresh_url()
            headers = dict(source.headers)
            is_range = whole_bytes is not None or done > 0
            if is_range:
                headers["Range"] = f"bytes={first + done}-{first + length - 1}"
                if source.etag:
                    headers["If-Match"] = f'"{source.etag}"'
            # Closed in any case: an unread rest would be taken for the next answer.
            with closing(self._requests.open("GET", url, headers)) as answer:
                if answer.status not in {200, 206}:
                    reply = read_all(answer)
                    if reply.status == 403 and source.replace(url):
                        raise BrokenError("the presigned URL has expired")
                    raise self._refused(source, reply)
                if is_range and answer.status == 200 and (first or length != whole_bytes):
                    if whole_bytes is not None or not is_repeatable:
                        raise CommandError(_NO_RANGES)
                    digest, done = md5(usedforsecurity=False), 0
                source.note(answer, is_range=is_range)
                while done < length:
                    self._requests.check()
                    block = read_block(answer, min(BLOCK_BYTES, length - done))
                    if not block:
                        raise BrokenError("the object was cut off")
                    write(block, first + done)
                    if has_digest:
                        digest.update(block)
                    done += len(block)
                    self._received(len(block))
                if read_block(answer, 1):
                    raise WrongDataError("the object is longer than the server says")

        self._requests.repeat(attempt)
        return digest.digest() if has_digest else b""

    def _refused(self, source: ContentSource, reply: WholeAnswer) -> CommandError:
        if source.renew is None and reply.status != 412 and reply.content[:1] == b"{":
            return self._objects.refusal(reply)
        if reply.status == 412:
            return ChangedError()
        if reply.status == 404 and any(code in reply.content for code in _NO_OBJECT):
            return NoDataError()
        line = " ".join(reply.content.decode(errors="replace").split())[:200]
        return WrongDataError(f"the object store answered {reply.status}: {line}".rstrip(": "))


def _temporary(target: Path, suffix: str) -> Path:
    """Return the temporary name of a file, which is the same in the next run."""
    name = target.name
    if len(os.fsencode(name)) > _NAME_BYTES_MAX:
        name = sha256(os.fsencode(name)).hexdigest()
    return target.with_name(f".{name}{suffix}")


def _write(descriptor: int, block: Block, first: int) -> None:
    left = memoryview(block)
    while left:  # an almost full disk stores a part of it
        written = os.pwrite(descriptor, left, first)
        left, first = left[written:], first + written


def _locked(temporary: Path) -> int:
    try:
        return lock(temporary)
    except FileNotFoundError:
        temporary.parent.mkdir(parents=True, exist_ok=True)
        return lock(temporary)


def _link(job: DownloadJob, link: str) -> None:
    temporary = _temporary(job.target, PARTIAL_SUFFIX)
    temporary.parent.mkdir(parents=True, exist_ok=True)
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(link)
    temporary.replace(job.target)


def _finish(job: DownloadJob, temporary: Path, descriptor: int) -> None:
    # A network file system may report a failed write only when the file is closed.
    os.close(os.dup(descriptor))
    if job.mtime_s is not None:
        os.utime(temporary, (time(), job.mtime_s))
    temporary.replace(job.target)


def _wrong(stats: ObjectStats) -> CommandError:
    return WrongDataError(f"the bytes that arrived do not have the checksum {stats.checksum}")
