"""Uploads of one object: by the API, by a presigned URL, or in parts."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import md5
from itertools import count
from time import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from graveler_cli.client import ApiRefusedError
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers.content import LocalContent
from graveler_cli.transfers.jobs import TransferOptions, UploadJob
from graveler_cli.transfers.journals import PartsJournal, StoredPart, open_upload_journal
from graveler_cli.transfers.objects import Address, OpenUpload, RefObjects
from graveler_cli.transfers.requests import BrokenError
from graveler_cli.transfers.workers import TaskThreads
from graveler_cli.transport import Block, WholeAnswer

if TYPE_CHECKING:
    from hashlib import _Hash as HASH

# One request stores an object up to this size; a presigned URL takes three.
DIRECT_BYTES_MAX = 256 * 1024
# From this size on, a failed part costs less than a failed file.
PARTS_BYTES_MIN = 16 * 1024 * 1024
PART_BYTES = 8 * 1024 * 1024
_PARTS_MAX = 10_000

# S3 checks a URL's age when the request begins.
_EXPIRY_MARGIN_S = 15
_RENEWALS_MAX = 3
_CONFLICTS_MAX = 5

_MD5 = re.compile(r"[0-9a-f]{32}")
_INTERNAL = "::lakefs::"
_HEADER_KEY = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]+")

_BUSY_CODES = (b"<Code>RequestTimeout</Code>", b"<Code>BadDigest</Code>", b"<Code>SlowDown</Code>")

Sent = Callable[[int], None]


@dataclass(frozen=True)
class StoredBytes:
    """Bytes in the object store: the MD5 of the sent bytes, and the store's entity tag."""

    md5: str
    etag: str


@dataclass(frozen=True)
class UnlinkedData:
    """An object's data in the object store, which its path does not name yet."""

    job: UploadJob
    physical_address: str
    md5: str
    size_bytes: int

    @property
    def link(self) -> Mapping[str, object]:
        """The body of a request that links them."""
        return {
            "path": self.job.path,
            "staging": {"physical_address": self.physical_address},
            "checksum": self.md5,
            "size_bytes": self.size_bytes,
            "user_metadata": dict(self.job.metadata),
            "content_type": self.job.content_type,
        }


class _ForgottenError(CommandError):
    """The object store has forgotten the upload: it was aborted, or has expired."""


class Uploader:
    """Uploads the objects of a branch."""

    def __init__(
        self, objects: RefObjects, options: TransferOptions, parts: TaskThreads, sent: Sent
    ) -> None:
        """Prepare uploads.

        Args:
            objects: the branch's objects.
            options: how jobs are done.
            parts: the threads that send parts.
            sent: is called with the number of bytes that were sent.
        """
        self._objects = objects
        self._requests = objects.requests
        self._options = options
        self._parts = parts
        self._sent = sent
        # Whether requests carry a checksum, because the store's entity tags are not checksums.
        self._sends_checksums = False

    def upload(self, job: UploadJob) -> ObjectStats:
        """Store an object; return it.

        Raises:
            CommandError: the file cannot be read or changed, or the server refused the upload.
        """
        try:
            "".join((job.path, *job.metadata.values())).encode()
        except UnicodeEncodeError as error:
            raise CommandError("its name or metadata are not UTF-8: rename the file") from error
        with LocalContent(job.source) as content:
            if not self._is_presigned(job, content.size_bytes):
                return self._direct(job, content)
            in_parts = content.size_bytes >= PARTS_BYTES_MIN and not isinstance(job.source, bytes)
            if in_parts and self._objects.storage.pre_sign_multipart_upload:
                return self._in_parts(job, content)
            return self._presigned(job, content)

    def _is_presigned(self, job: UploadJob, size_bytes: int) -> bool:
        pre_sign = self._options.pre_sign
        if pre_sign is None and size_bytes <= DIRECT_BYTES_MAX and _fits_headers(job.metadata):
            return False
        return self._objects.presigns(pre_sign)

    def _direct(self, job: UploadJob, content: LocalContent) -> ObjectStats:
        """Store by one request of the API."""
        headers = {"Content-Type": job.content_type, **_headers(job.metadata)}
        if content.size_bytes <= DIRECT_BYTES_MAX:
            whole = content.whole()
            expected = md5(whole, usedforsecurity=False).hexdigest()
            stats = self._objects.store(job.path, headers, whole)
            self._sent(len(whole))
        else:
            headers["Content-Length"] = str(content.size_bytes)
            blocks = partial(self._blocks, content, 0, content.size_bytes)
            stats = self._objects.store(job.path, headers, blocks)
            expected = content.md5(0, content.size_bytes).hex()
            content.check()
        if _MD5.fullmatch(stats.checksum) and stats.checksum != expected:
            raise CommandError(
                f"the server stored other bytes (checksum {stats.checksum}, not {expected}): "
                "upload it again"
            )
        return stats

    def _presigned(self, job: UploadJob, content: LocalContent) -> ObjectStats:
        """Store by a presigned URL: ask for an address, send the data, link them."""
        for attempt in count(1):
            address = self._objects.address(job.path)
            if address.presigned_url is None:
                raise CommandError("the server has no presigned URL: use --pre-sign=false")
            # A new URL comes with a new address, so an expired one needs both.
            stored = self._unlinked(job, content, address)
            if stored is None and attempt < _RENEWALS_MAX:
                continue
            if stored is None:
                raise CommandError("presigned URLs expire at once: check this machine's clock")
            try:
                return self._objects.link(job.path, stored.link)
            except ApiRefusedError as error:
                if error.status == 409 and attempt < _CONFLICTS_MAX:
                    continue
                return self.confirmed(job.path, address.physical_address, error)
        raise AssertionError("the loop returns or raises")

    def store(self, job: UploadJob, address: Address) -> UnlinkedData | None:
        """Store an object's data at its address; return None if the address's URL has expired.

        Raises:
            CommandError: the file cannot be read or changed, or the store refused the data.
        """
        with LocalContent(job.source) as content:
            return self._unlinked(job, content, address)

    def _unlinked(
        self, job: UploadJob, content: LocalContent, address: Address
    ) -> UnlinkedData | None:
        url, size_bytes = address.presigned_url or "", content.size_bytes
        stored = self._put(url, job, content, 0, size_bytes)
        if stored is None:
            return None
        content.check()
        return UnlinkedData(job, address.physical_address, stored.md5, size_bytes)

    def _in_parts(self, job: UploadJob, content: LocalContent) -> ObjectStats:
        """Store in parts; a journal records the stored ones for the next run."""
        source = str(job.source)
        journal = open_upload_journal(*self._objects.journal_names, job.path, source)
        part_bytes = part_size(content.size_bytes)
        numbers = range(1, -(-content.size_bytes // part_bytes) + 1)
        about = {
            **content.identity,
            "part_bytes": str(part_bytes),
            "content_type": job.content_type,
        }
        try:
            if journal.parts and journal.continues(about):
                upload = OpenUpload(journal.about["upload_id"], journal.about["physical_address"])
                try:
                    return self._stored_parts(job, content, journal, upload, numbers, part_bytes)
                except _ForgottenError:
                    pass
                except ApiRefusedError as error:
                    if error.status not in {400, 404, 410}:
                        raise
                    # The upload was aborted, or has expired.
            upload = self._objects.begin_parts(job.path, len(numbers))
            address = {"upload_id": upload.upload_id, "physical_address": upload.physical_address}
            journal.begin({**about, **address})
            return self._stored_parts(job, content, journal, upload, numbers, part_bytes)
        except BaseException:
            journal.close()
            raise

    def _stored_parts(
        self,
        job: UploadJob,
        content: LocalContent,
        journal: PartsJournal,
        upload: OpenUpload,
        numbers: Iterable[int],
        part_bytes: int,
    ) -> ObjectStats:
        urls = dict(enumerate(upload.presigned_urls or [], 1))

        def send(number: int) -> None:
            first = (number - 1) * part_bytes
            size_bytes = min(part_bytes, content.size_bytes - first)
            for _ in range(_RENEWALS_MAX):
                url = urls.pop(number, "")
                if not url or has_expired(url):
                    url = self._objects.part_url(job.path, upload, number)
                stored = self._put(url, job, content, first, size_bytes)
                if stored is not None:
                    journal.add(StoredPart(number, stored.etag))
                    return
            raise CommandError("presigned URLs expire at once: check this machine's clock")

        stored = set(journal.parts)
        for number in stored:
            self._sent(min(part_bytes, content.size_bytes - (number - 1) * part_bytes))
        self._parts.each((each for each in numbers if each not in stored), send)
        content.check()
        body = {
            "physical_address": upload.physical_address,
            "parts": [{"part_number": each, "etag": journal.parts[each]} for each in numbers],
            "user_metadata": dict(job.metadata),
            "content_type": job.content_type,
        }
        try:
            stats = self._objects.complete(job.path, upload, body)
        except ApiRefusedError as error:
            stats = self.confirmed(job.path, upload.physical_address, error)
        journal.delete()
        return stats

    def confirmed(self, path: str, address: str, error: CommandError) -> ObjectStats:
        """Return the object if an earlier attempt stored it, and its answer was lost."""
        try:
            found = self._objects.stat(path, presign=False)
        except CommandError:
            raise error from None
        if found.physical_address != address:
            raise error
        return found

    def _put(
        self, url: str, job: UploadJob, content: LocalContent, first: int, size_bytes: int
    ) -> StoredBytes | None:
        """Send a range to a presigned URL; return None if the URL has expired.

        The checksum is computed while the bytes are sent, and compared with the entity tag of the
        answer. If the tag is not a checksum, the bytes are sent again with Content-MD5. Later
        requests send Content-MD5 at once, which takes a pass over the bytes first.
        """
        headers = {"Content-Length": str(size_bytes), "Content-Type": job.content_type}
        if ".blob.core." in urlsplit(url).netloc:
            headers["x-ms-blob-type"] = "BlockBlob"

        def attempt() -> StoredBytes | None:
            digests: list[HASH] = []  # the last one belongs to the answered body
            if self._sends_checksums:
                checksum = b64encode(content.md5(first, size_bytes)).decode()
                headers["Content-MD5"] = checksum
            body = partial(self._hashed, content, first, size_bytes, digests)
            reply = self._requests.once("PUT", url, headers, body)
            if reply.status == 403 and (has_expired(url) or b"expired" in reply.content):
                return None
            if reply.status >= 300:
                raise _refusal(url, reply, content)
            if _has_checksum(reply):
                if reply.etag != digests[-1].hexdigest():
                    raise BrokenError("the object store has stored other bytes")
            elif "Content-MD5" not in headers:
                self._sends_checksums = True
                return attempt()
            return StoredBytes(digests[-1].hexdigest(), reply.etag)

        if has_expired(url):
            return None
        stored = self._requests.repeat(attempt)
        if stored is not None:
            self._sent(size_bytes)
        return stored

    def _hashed(
        self, content: LocalContent, first: int, size_bytes: int, digests: "list[HASH]"
    ) -> Iterable[Block]:
        """Yield a range, and append its checksum: one for each time that it is sent."""
        digest = md5(usedforsecurity=False)
        digests.append(digest)
        for block in self._blocks(content, first, size_bytes):
            digest.update(block)
            yield block

    def _blocks(self, content: LocalContent, first: int, size_bytes: int) -> Iterable[Block]:
        for block in content.blocks(first, size_bytes):
            self._requests.check()
            yield block


def part_size(size_bytes: int) -> int:
    """Return the part size for a file: whole MiB, and at most as many parts as S3 allows."""
    mebibyte = 1024 * 1024
    needed = -(-size_bytes // _PARTS_MAX)
    return max(PART_BYTES, -(-needed // mebibyte) * mebibyte)


def has_expired(url: str) -> bool:
    """Whether a presigned URL has expired, or is about to; False if it names no expiry."""
    query = parse_qs(urlsplit(url).query)
    try:
        began = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        life_s = int(query["X-Amz-Expires"][0])
    except (KeyError, ValueError):
        return False
    return time() + _EXPIRY_MARGIN_S > began.timestamp() + life_s


def _has_checksum(reply: WholeAnswer) -> bool:
    """Whether the entity tag is the MD5 of the stored bytes."""
    if reply.headers.get("x-amz-server-side-encryption", "").startswith("aws:kms"):
        return False  # the tag of an encrypted object is not a checksum
    return bool(_MD5.fullmatch(reply.etag))


def _refusal(url: str, reply: WholeAnswer, content: LocalContent) -> CommandError | BrokenError:
    """Return the error of a refused PUT.

    Raises:
        CommandError: the file has changed meanwhile.
    """
    if reply.status == 400 and any(each in reply.content for each in _BUSY_CODES):
        content.check()
        return BrokenError(_refused(url, reply))
    if reply.status == 404 and b"<Code>NoSuchUpload</Code>" in reply.content:
        return _ForgottenError(_refused(url, reply))
    return CommandError(_refused(url, reply))


def _refused(url: str, reply: WholeAnswer) -> str:
    text = reply.content.decode(errors="replace")
    found = re.search(r"<Message>(.*?)</Message>", text, re.DOTALL)
    line = " ".join((found[1] if found else text).split())[:200]
    return f"{urlsplit(url).netloc} answered {reply.status}: {line}".rstrip(": ")


def _fits_headers(metadata: Mapping[str, str]) -> bool:
    """Whether metadata survive as headers, whose names become lower case."""
    return all(
        _HEADER_KEY.fullmatch(key.removeprefix(_INTERNAL))
        and value.isascii()
        and value.isprintable()
        and value == value.strip()
        for key, value in metadata.items()
    )


def _headers(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return metadata as headers of the API.

    Raises:
        CommandError: a value cannot be a header.
    """
    headers = {}
    for key, value in metadata.items():
        if not _fits_headers({key.lower(): value}):
            raise CommandError(f"metadata {key!r} do not fit into a header: write them in ASCII")
        internal = key.lower().startswith(_INTERNAL)
        prefix = "x-lakefs-internal-" if internal else "x-lakefs-meta-"
        headers[prefix + key.lower().removeprefix(_INTERNAL)] = value
    return headers
