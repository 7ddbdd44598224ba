"""The runner of uploads, downloads and deletions of one branch or ref."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from threading import Lock
from typing import TypeVar

from graveler_cli.client import ApiRefusedError, LakeClient, named
from graveler_cli.errors import CommandError
from graveler_cli.schemas import ObjectStats
from graveler_cli.transfers import together
from graveler_cli.transfers.downloads import Downloader
from graveler_cli.transfers.jobs import (
    DownloadJob,
    ImpossibleJob,
    Job,
    TransferOptions,
    TransferTally,
    UploadJob,
)
from graveler_cli.transfers.objects import Address, RefObjects
from graveler_cli.transfers.progress import TransferProgress
from graveler_cli.transfers.requests import RepeatedRequests
from graveler_cli.transfers.uploads import UnlinkedData, Uploader
from graveler_cli.transfers.workers import TaskThreads
from graveler_cli.transport import Block, CommandStoppedError

T = TypeVar("T")

Done = Callable[[Job, ObjectStats], None]

# One page of a listing waits while the next one is fetched.
JOBS_WAITING_MAX = 1000
# Parts of large files that are transferred at the same time.
PARTS_AT_ONCE = 5
# After this number of failures in a row, the rest would fail as well.
_FAILURES_IN_A_ROW_MAX = 25

_DELETED_AT_ONCE = 1000
_INTERRUPTED_WAIT_S = 2.0


class TransferRunner:
    """Moves data between files and the objects of a ref."""

    def __init__(
        self,
        server: LakeClient,
        repository: str,
        ref: str,
        options: TransferOptions,
        *,
        warn: Callable[[str], None],
        shows_progress: bool = False,
    ) -> None:
        """Prepare a runner.

        Args:
            server: the server.
            repository: the repository.
            ref: a branch, for uploads and deletions; any ref for downloads.
            options: how jobs are done.
            warn: prints a line on standard error: one for each job that failed.
            shows_progress: whether a terminal on standard error shows the progress.
        """
        # A connection for each thread of a run, and one for the caller's thread.
        threads = options.parallelism + PARTS_AT_ONCE + 1
        self.requests = RepeatedRequests(server.retries, threads)
        self.objects = RefObjects(server, repository, ref, self.requests)
        self._options = options
        self._warn = warn
        self._shows_progress = shows_progress

    def run(self, jobs: Iterable[Job], done: Done | None = None) -> TransferTally:
        """Run jobs in parallel, in any order; a failed one does not stop the others.

        The jobs are taken from the iterable a few at a time. Each failure is one line by `warn`.

        Args:
            jobs: the jobs, in walk or listing order.
            done: is called after each job that succeeds, by any thread, one call at a time.

        Raises:
            CommandError: the jobs could not be listed, or all of them fail.
        """
        run = _JobRun(self, self._options, self._warn, done)
        if not self._shows_progress:
            return run.do(jobs)
        with run.progress.shown():
            return run.do(jobs)

    def do(self, job: Job) -> ObjectStats:
        """Run one job; return its object.

        Raises:
            CommandError: it failed.
        """
        run = _JobRun(self, self._options, self._warn, None)
        with named(self.objects.uri(job.path)):
            if not self._shows_progress:
                return run.do_one(job)
            with run.progress.shown():
                return run.do_one(job)

    def remove(self, paths: Iterable[str], concurrency: int = PARTS_AT_ONCE) -> TransferTally:
        """Delete objects in batches; an object that does not exist counts as deleted."""
        tally, lock = TransferTally(), Lock()
        workers = TaskThreads(concurrency, 1)

        def delete(batch: list[str]) -> None:
            try:
                failures = self.objects.delete(batch)
            except CommandError as error:
                failures = [("objects", error.format_message()), *[("", "")] * (len(batch) - 1)]
            with lock:
                tally.removed += len(batch) - len(failures)
                tally.failed += len(failures)
                for path, message in failures:
                    if path:
                        self._warn(f"error: rm {path}: {message}")

        pending = iter(paths)
        try:
            workers.each(iter(lambda: list(islice(pending, _DELETED_AT_ONCE)), []), delete)
        except BaseException:
            self.requests.stop()
            raise
        workers.end()
        self.requests.close()
        return tally

    def stat(self, path: str) -> ObjectStats:
        """Return an object, as a download needs it.

        Raises:
            CommandError: there is none, or the server refused it.
        """
        try:
            return self.objects.stat(path, presign=self.presigns_listings)
        except BaseException:
            self.requests.close()  # no download follows, which would close them
            raise

    def listing(self, prefix: str, *, presign: bool = False) -> Iterator[ObjectStats]:
        """Yield all objects below a prefix, by name; with presign, with URLs to their content."""
        return self.objects.listing(prefix, presign=presign)

    def read(
        self,
        path: str,
        stats: ObjectStats,
        first: int,
        length: int,
        write: Callable[[Block], object],
    ) -> None:
        """Pass a range of an object's content to `write`, block by block.

        A body that is cut off is continued where it ended.

        Raises:
            CommandError: the server refused it, or all of it arrived with a wrong checksum.
        """
        parts = TaskThreads(1, 1)
        downloader = Downloader(self.objects, self._options, parts, lambda _: None)
        try:
            with named(self.objects.uri(path)):
                downloader.read(path, stats, first, length, write)
        finally:
            self.requests.close()

    @property
    def presigns_listings(self) -> bool:
        """Whether a listing for downloads should include presigned URLs."""
        return self.objects.presigns(self._options.pre_sign)


class _JobRun:
    """One run of jobs."""

    def __init__(
        self,
        runner: TransferRunner,
        options: TransferOptions,
        warn: Callable[[str], None],
        done: Done | None,
    ) -> None:
        self.progress = TransferProgress()
        self._requests = runner.requests
        self._objects = runner.objects
        self._pre_sign = options.pre_sign
        self._warn = warn
        self._done = done
        self._lock = Lock()
        self._tally = TransferTally()
        self._failures_in_a_row = 0
        self._hopeless: Exception | None = None
        self._files = TaskThreads(options.parallelism, JOBS_WAITING_MAX)
        # Separate threads: large files that wait for parts would block them otherwise.
        self._parts = TaskThreads(min(options.parallelism, PARTS_AT_ONCE), 2 * PARTS_AT_ONCE)
        self._uploader = Uploader(runner.objects, options, self._parts, self.progress.advance)
        self._downloader = Downloader(runner.objects, options, self._parts, self.progress.advance)

    def do(self, jobs: Iterable[Job]) -> TransferTally:
        try:
            for group in together.grouped(jobs, self._expect):
                if self._hopeless:
                    break
                self._start(group)
            self.progress.is_all_known = True
            self._files.end()
            self._parts.end()
            self._requests.close()
        except BaseException:
            # Running jobs may clean up; waiting jobs are dropped.
            self._files.drop()
            self._requests.stop()
            self._files.end(_INTERRUPTED_WAIT_S)
            raise
        if self._hopeless:
            raise self._hopeless
        return self._tally

    def do_one(self, job: Job) -> ObjectStats:
        self._expect(job)
        self.progress.is_all_known = True
        try:
            return self._run(job)
        except BaseException:
            self._requests.stop()
            raise
        finally:
            self._parts.end(_INTERRUPTED_WAIT_S)
            self._requests.close()

    def _start(self, group: Sequence[Job]) -> None:
        """Queue the jobs of a group; those with an address are linked together."""
        found = together.addresses_of(self._objects, group, self._pre_sign)
        size = sum(isinstance(found.get(job.path), Address) for job in group)
        linked = together.LinkedGroup(self._uploader, self._objects, size, self._end_linked)
        for job in group:
            address = found.get(job.path)
            if address is None or not isinstance(job, UploadJob):
                self._files.put(partial(self._run_whole, job))
            elif isinstance(address, Address):
                self._files.put(partial(self._store, job, address, linked))
            else:
                # As of a link: the others may be allowed.
                self._files.put(partial(self._fail, job, CommandError(str(address))))

    def _expect(self, job: Job) -> int:
        """Count a job for the progress; return its bytes."""
        size_bytes = 0
        if isinstance(job, UploadJob):
            with suppress(OSError):  # the upload reports the error
                source = job.source
                size_bytes = len(source) if isinstance(source, bytes) else source.stat().st_size
        elif isinstance(job, DownloadJob):
            size_bytes = job.stats.size_bytes or 0
        if not isinstance(job, ImpossibleJob):
            self.progress.expect(size_bytes)
        return size_bytes

    def _run(self, job: Job) -> ObjectStats:
        with _files_named():
            if isinstance(job, UploadJob):
                return self._uploader.upload(job)
            if isinstance(job, DownloadJob):
                return self._downloader.download(job)
            raise job.error

    def _run_whole(self, job: Job) -> None:
        """Run one of many jobs by itself."""
        stats = None if self._hopeless else self._try(job, lambda: self._run(job))
        if stats is not None:
            self._succeed(job, stats)

    def _store(self, job: UploadJob, address: Address, linked: together.LinkedGroup) -> None:
        """Store the data of one of many jobs; its group links them, unless its URL has expired."""

        def store() -> UnlinkedData | ObjectStats:
            with _files_named():
                return self._uploader.store(job, address) or self._run(job)

        stored = None if self._hopeless else self._try(job, store)
        if isinstance(stored, ObjectStats):
            self._succeed(job, stored)
        elif stored is not None:
            self._failures_in_a_row = 0
        # What is stored is linked, even if the rest is not tried.
        unlinked = stored if isinstance(stored, UnlinkedData) else None
        self._try(job, lambda: linked.add(unlinked))

    def _end_linked(self, job: UploadJob, outcome: ObjectStats | CommandError) -> None:
        if isinstance(outcome, CommandError):
            self._fail(job, outcome)
        else:
            self._succeed(job, outcome)

    def _try(self, job: Job, run: Callable[[], T]) -> T | None:
        """Return the result of one of many jobs; None if it fails: count and report that."""
        try:
            return run()
        except CommandStoppedError:
            pass
        except CommandError as error:
            self._fail(job, error)
        except Exception as error:  # noqa: BLE001 - the thread would end, and the run wait for it
            self._fail(job, CommandError(f"{type(error).__name__}: {error}; please report it"))
        return None

    def _succeed(self, job: Job, stats: ObjectStats) -> None:
        with self._lock:
            self._failures_in_a_row = 0
            self._tally.size_bytes += stats.size_bytes or 0
            if isinstance(job, UploadJob):
                self._tally.uploaded += 1
            else:
                self._tally.downloaded += 1
            if self._done is not None and self._hopeless is None:
                try:
                    self._done(job, stats)
                except Exception as error:  # noqa: BLE001 - raised by the thread of the caller
                    self._hopeless = error
        self.progress.finish_one()

    def _fail(self, job: Job, error: CommandError) -> None:
        kind = "upload" if isinstance(job, UploadJob) else "download"
        line = " ".join(error.format_message().split())
        with self._lock:
            if self._hopeless:
                return
            self._tally.failed += 1
            if isinstance(error, ApiRefusedError) and error.status == 410:
                self._tally.without_data += 1  # the other objects may have their data
            elif isinstance(job, ImpossibleJob):
                self._tally.impossible += 1  # the other names may be possible
            else:
                self._failures_in_a_row += 1
            if isinstance(error, ApiRefusedError) and error.status == 401:
                self._hopeless = error
                return
            self._warn(f"error: {kind} {job.path}: {line}")
            if self._failures_in_a_row >= _FAILURES_IN_A_ROW_MAX:
                self._hopeless = CommandError(
                    f"{_FAILURES_IN_A_ROW_MAX} failures without a success: the rest was not tried"
                )


@contextmanager
def _files_named() -> Iterator[None]:
    """Raise an error of a file as an error of the command, which names it."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        named = f"{error.filename}: {reason}" if error.filename else reason
        raise CommandError(named) from error
