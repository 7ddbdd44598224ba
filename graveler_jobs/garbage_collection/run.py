"""Runs of garbage collection: find unneeded objects, check again, delete them.

Theory of operation
-------------------
An object may be deleted if its name has the engine's form (`addresses.is_own_address`) and it is
older than the minimum age. No recorded upload, no staged entry and no active commit may name it.
Files of Iceberg tables may be deleted likewise; live metadata files name them (`table_files`).
Users upload, link, commit and revert objects meanwhile. The order of the reads makes the result
correct:

1. *Candidates first*: the objects in `data/` that are older than the cutoff. Names of another form,
   and folders that hold `_lakefs/`, belong to other writers. A later object is no candidate. It
   cannot be taken for an old one: an issued address may be linked for a day, and the minimum age is
   longer.
2. *Uploads and staged entries next*: first the records of multipart uploads, then the entries of
   every token of every branch. A multipart object is as old as the start of its upload, so it may
   be a candidate at once. Its address moves from the record to an entry in one transaction.
3. *Commits next*: heads are listed after the staged entries. Then open tasks and the events since
   the scan began are read, and rules and commits last. See "What a scan sees".
   *Claims at the end* (`retention.claims`).
4. *The candidates without these addresses* are marked and stored (`marking`).
5. *A second look before deleting*, and before each further round of a long sweep. A revert, a
   branch at an old commit, or longer retention may have revived old content. Addresses that are
   alive now stay. A look reads only ranges that the mark did not read. So a mark may be swept days
   later.
6. *Deleting*: a thousand objects at a time. Missing objects are harmless, so after a crash another
   sweep of the mark, or another run, deletes the rest.
7. *A look expires.* Before each request, an executor checks the object store's time and the run's
   lease (`sweeping`). A look older than `look_s` deletes nothing more: the rest of the round gets
   another look. A look's age counts from before its first read. Only the store's clock counts,
   because the clocks of driver and executors may differ.

What a scan sees
----------------
Mark and look use the same scan (`operations.collection_reads.Scan`). A scan reads records one after
the other, and names move meanwhile. Still, it sees every old address that has a name at each moment
of the scan. Consider the moment when all heads are listed and no event has been read again. One of
these names the address then:

- *A staged entry from before the scan.* Entries do not change their branch, so a listed token had
  it. That token keeps its entries for hours after its branch moved them to another one. A scan of
  staged entries that takes longer fails.
- *A later staged entry.* A change of metadata, or a reset of an object, takes the address from its
  own branch. Its transaction fails if the branch changed. The scan sees the earlier name there. A
  shallow copy, a move of a prefix and staging by hand claim the address first. Claims are read
  after this moment. A completed multipart upload had a record, which was read.
- *A head.* The listing saw it, or the branch got it since the scan began. In the second case, the
  same transaction stored an event with the new head and the old one. An event is new if the scan
  did not find it when it began. So no chain of renames, merges and resets hides a head. A hard
  reset in progress may show its head before its event, so heads that were listed with tokens count.

A name that is given after this moment needs no claim and no event, because the address has another
name at the moment. A move of a name removes the old name last, and reads a claimed source again
after the claim.

- *Commits of open tasks* count as heads: a task works with commits that it has read. A request in
  progress works with heads, or with heads that were replaced meanwhile.
- *Other repositories of the namespace* count like the collected one. If one appears during a scan,
  the run fails: nothing of it was read, and a restore gives it heads without events.

ADR 34 lists all ways in which an address gets a name.

Content that comes to life between the start of a look and its last deletion may be lost, as in
lakeFS. The documentation warns users who revert to, or branch from, an expired commit.

Every failure ends the run before it deletes: a missing or damaged file, unreadable rules, a denied
permission, lost executors. An object that is not proved garbage stays. A lease allows one run at a
time for a repository; two would be safe, but duplicate the work.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain

import msgspec
from pyspark.sql import DataFrame, SparkSession

from graveler.addresses import newest_first
from graveler.branches.complete_listings import every_repository
from graveler.engine import Engine
from graveler.errors import (
    ContentionError,
    GravelerError,
    NotFoundError,
    PreconditionFailedError,
)
from graveler.model import Repository
from graveler.open_repository import OpenRepository
from graveler.operations.collection_reads import holds_metadata, neighbours, upload_addresses
from graveler.operations.retention import changeable_repository
from graveler.retention.candidates import Territory, partition_of
from graveler.retention.files import looks_folder, run_folder
from graveler.retention.liveness import FRUITLESS_LOOKS_MAX, begin_look
from graveler.retention.report import CollectionReport, event_detail, summary, text
from graveler.retention.runs import BEGINNING_FILE, SUMMARY_FILE, TEXT_FILE, Beginning, series_of
from graveler.times import NS_PER_S, rfc3339
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection import listing
from graveler_jobs.garbage_collection.lease import CollectionLease, held
from graveler_jobs.garbage_collection.marking import Mark, MarkFolder, Marking, Observe, read_mark
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.garbage_collection.sweeping import LEASE_IS_LOST, Round, sweep
from graveler_jobs.session import JobDeployment, executors_errors, join_by_sorting

EVENT = "garbage_collection_finished"


def _ignore(_step: str) -> None:
    """Ignore the step."""


def run(
    spark: SparkSession,
    deployment: JobDeployment,
    options: CollectionOptions,
    observe: Observe = _ignore,
) -> list[CollectionReport]:
    """Collect the garbage of one repository, or of every one that is not read-only.

    observe is called after each step: leased, listed, staged, commits, ranges, marked, looked and
    swept (for each round), finished.

    If every repository succeeds, the time is recorded. A deployment raises an alarm if that time is
    too long ago.

    Raises:
        GravelerError: the first failure of a run; the other repositories are collected anyway.
    """
    names = [options.repository]
    if not options.repository:
        names = [each.name for each in every_repository(deployment.engine) if not each.read_only]
    reports: list[CollectionReport] = []
    failures: list[GravelerError] = []
    for name in names:
        try:
            reports.append(collect(spark, deployment, options, name, observe))
        except GravelerError as error:
            failures.append(error)
    if failures:
        raise failures[0]
    # A sweep of an earlier run's mark finds no garbage itself, so it is no collection.
    if options.do_mark and all(each.is_success for each in reports):
        series = series_of(options.repository, deletes=options.do_sweep)
        deployment.jobs.note_collection(series, deployment.engine.clock.now_ns())
    return reports


def collect(
    spark: SparkSession,
    deployment: JobDeployment,
    options: CollectionOptions,
    name: str,
    observe: Observe = _ignore,
) -> CollectionReport:
    """Collect the garbage of the repository.

    Raises:
        ContentionError: another run collects it.
        PreconditionFailedError: the run has begun already, or more would be deleted than the
            options allow.
        GravelerError: the run failed; unless it had begun to sweep, nothing was deleted.
    """
    engine = deployment.engine
    repo = changeable_repository(engine, name)
    run_id = options.run_id or newest_first(engine.names.new_uid())
    start_ns = engine.clock.now_ns()
    report = CollectionReport(
        run_id=run_id,
        mark_id=options.mark_id or run_id,
        repository=name,
        start_ns=start_ns,
        cutoff_ns=_cutoff_ns(options, options.age_s, start_ns),
        tables_cutoff_ns=_cutoff_ns(options, options.tables_age_s, start_ns),
        is_dry=not options.do_sweep,
        warnings=options.warnings,
    )
    steps = _Timed(report, observe)
    folder_uri = _folder_uri(options, repo.record, run_id)
    if options.run_id:
        _begin(engine, report, folder_uri)
    with held(deployment, repo.record, run_id) as lease:
        steps.done("leased")
        if not options.run_id:
            _begin(engine, report, folder_uri)
        join_by_sorting(spark)
        this = _CollectionRun(spark, deployment, repo, options, report, lease, steps.done)
        try:
            with executors_errors():
                this.do()
            report.is_success = report.failed == 0
        except BaseException as error:
            report.error = str(error) or type(error).__name__
            with suppress(GravelerError):
                this.publish()
            raise
        this.publish()
        steps.done("finished")
    return report


def _begin(engine: Engine, report: CollectionReport, folder_uri: str) -> None:
    """Store that the run begins.

    A lost answer may have started two jobs for one requested run. The lease belongs to the run, so
    it would let both work. This file comes before the lease, and only one job can create it.

    Raises:
        PreconditionFailedError: another job carries out the run.
    """
    beginning = msgspec.json.encode(Beginning(report.is_dry, rfc3339(report.start_ns)))
    uri = f"{folder_uri}{BEGINNING_FILE}"
    try:
        engine.objects.put(uri, beginning, "application/json", if_absent=True)
    except PreconditionFailedError as error:
        raise PreconditionFailedError(
            f"run {report.run_id} has begun already: another job carries it out"
        ) from error


def _folder_uri(options: CollectionOptions, repository: Repository, run_id: str) -> str:
    base_uri = options.output_uri.rstrip("/")
    if base_uri:
        return f"{base_uri}/{run_id}/"
    return f"{repository.storage_namespace}/{run_folder(run_id)}"


def _cutoff_ns(options: CollectionOptions, age_s: int, now_ns: int) -> int:
    """Return the time before which an object must have been stored to be deleted."""
    by_age_ns = now_ns - age_s * NS_PER_S
    return by_age_ns if options.cutoff_s is None else min(by_age_ns, options.cutoff_s * NS_PER_S)


class _Timed:
    """Reports each step and its duration."""

    def __init__(self, report: CollectionReport, observe: Observe) -> None:
        self._report = report
        self._observe = observe
        self._since_s = time.monotonic()

    def done(self, step: str) -> None:
        """Report that the step is done."""
        seconds = self._report.seconds
        seconds[step] = seconds.get(step, 0.0) + time.monotonic() - self._since_s
        self._observe(step)
        self._since_s = time.monotonic()


class _CollectionRun:
    """One run over one repository, whose lease it holds."""

    def __init__(
        self,
        spark: SparkSession,
        deployment: JobDeployment,
        repo: OpenRepository,
        options: CollectionOptions,
        report: CollectionReport,
        lease: CollectionLease,
        observe: Observe,
    ) -> None:
        self._spark = spark
        self._deployment = deployment
        self._repo = repo
        self._options = options
        self._report = report
        self._lease = lease
        self._observe = observe
        self._looks = 0
        self._folder_uri = _folder_uri(options, repo.record, report.run_id)
        self._mark_folder = MarkFolder(_folder_uri(options, repo.record, report.mark_id))
        self._marking = Marking(spark, deployment, repo, self._mark_folder, report, self._step)

    def _step(self, step: str) -> None:
        self._observe(step)
        self._lease.check()

    def do(self) -> None:
        """Mark, or read an earlier mark; then sweep."""
        if self._options.do_mark:
            mark = self._marking.mark(self._options)
        else:
            mark = read_mark(self._deployment, self._mark_folder, self._repo.record)
            self._report.cutoff_ns = mark.cutoff_ns
            self._report.tables_cutoff_ns = mark.tables_cutoff_ns
            self._report.marked.add(mark.objects, mark.size_bytes)
        maximum = self._options.maximum_deletions
        if maximum is not None and mark.objects > maximum:
            raise PreconditionFailedError(
                f"{mark.objects} objects would be deleted, and maximum_deletions is {maximum}: "
                f"nothing was deleted; {self._mark_folder.mark_uri} says what it would be"
            )
        if self._options.do_sweep:
            self._sweep(mark)

    def _sweep(self, mark: Mark) -> None:
        report = self._report
        uris = parquet_files.uris(self._deployment.engine.objects, self._mark_folder.marked_uri)
        for round_uris in _rounds(uris, self._options.objects_per_round):
            self._sweep_round(round_uris)
        report.is_swept = True
        report.came_to_life = mark.objects - report.deleted.objects - report.failed
        self._abort_uploads(self._marking.territory())

    def _sweep_round(self, round_uris: Sequence[str]) -> None:
        """Delete the objects in these parts of the mark, with as many looks as that takes.

        Raises:
            ContentionError: another run has taken over.
            PreconditionFailedError: several looks expired before any deletion.
        """
        report = self._report
        names: list[str] = []
        fruitless = 0
        while fruitless < FRUITLESS_LOOKS_MAX:
            this, doomed = self._look(round_uris, names)
            self._step("looked")
            report.is_swept = True
            swept = sweep(doomed, this, self._deployment.settings)
            report.deleted.add(swept.deleted.objects, swept.deleted.size_bytes)
            self._marking.count_read()
            self._step("swept")
            if swept.stopped == LEASE_IS_LOST:
                raise ContentionError(f"{LEASE_IS_LOST} {self._repo.record.name!r}")
            if not swept.left:
                report.failed += swept.failed
                report.failure = report.failure or swept.failure
                return
            names.append(this.name)
            fruitless = 0 if swept.deleted.objects else fruitless + 1
        raise PreconditionFailedError(
            f"a look takes longer than the {self._options.look_s} s for which it may be used, so "
            f"nothing was deleted by the last {fruitless}: raise look_s, or use more workers"
        )

    def _look(self, round_uris: Sequence[str], names: Sequence[str]) -> tuple[Round, DataFrame]:
        """Look at the addresses that are alive now; return the objects of the parts to delete.

        The objects that the rounds of these names have deleted are left out.
        """
        objects, settings = self._deployment.engine.objects, self._deployment.settings
        self._looks += 1
        folder_uri = looks_folder(self._folder_uri)
        look = begin_look(objects, folder_uri, self._looks, self._options.look_s)
        this = Round(
            repository=self._repo.record,
            holder=self._report.run_id,
            look=look,
            territory=self._marking.territory(),
            folder_uri=self._folder_uri,
            deletes_per_s=self._options.deletes_per_s,
        )
        marked = parquet_files.read(self._spark, round_uris, listing.CANDIDATE, settings)
        doomed = marked.join(self._marking.come_to_life(), "address", "left_anti")
        if names:
            prefixes = tuple(f"{self._folder_uri}deleted/{name}-" for name in names)
            found = parquet_files.uris(objects, f"{self._folder_uri}deleted/")
            gone = [uri for uri in found if uri.startswith(prefixes)]
            if gone:
                deleted = parquet_files.read(self._spark, gone, listing.CANDIDATE, settings)
                doomed = doomed.join(deleted.select("address"), "address", "left_anti")
        return this, doomed

    def _abort_uploads(self, territory: Territory) -> None:
        """Abort the unfinished uploads that can no longer be completed: their parts cost money."""
        engine = self._deployment.engine
        objects = engine.objects
        # An upload that is old enough to be aborted got its record long ago, or never gets one.
        recorded = set(upload_addresses(neighbours(self._repo).sharers))
        for upload in chain.from_iterable(map(objects.list_uploads, territory.uris)):
            address = upload.uri.removeprefix(f"{territory.namespace}/")
            is_old = territory.is_old(address, upload.initiated_ns) and address not in recorded
            folder_uri = f"{territory.namespace}/{partition_of(address)}"
            if is_old and territory.holds(address) and not holds_metadata(objects, folder_uri):
                with suppress(NotFoundError):
                    objects.abort_upload(upload.uri, upload.upload_id)
                    self._report.uploads_aborted += 1

    def publish(self) -> None:
        """Write the reports and put the event in the outbox."""
        engine, report = self._deployment.engine, self._report
        report.end_ns = engine.clock.now_ns()
        for name, content, content_type in (
            (SUMMARY_FILE, summary(report), "application/json"),
            (TEXT_FILE, text(report).encode(), "text/plain; charset=utf-8"),
        ):
            engine.objects.put(f"{self._folder_uri}{name}", content, content_type)
        event = self._repo.event(EVENT, **event_detail(report))
        self._deployment.jobs.put_event(self._repo.record, event)


def _rounds(uris: Sequence[str], round_objects: int) -> list[list[str]]:
    """Return the parts of a mark, grouped into rounds."""
    at_once = max(1, round_objects // parquet_files.ROWS_PER_PART)
    return [list(uris[start : start + at_once]) for start in range(0, len(uris), at_once)]
