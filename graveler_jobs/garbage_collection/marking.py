"""Marking: find the objects to delete, and store them for a sweep, at once or days later.

A mark is a folder. `marked/` has the candidates that nothing keeps alive, `ranges/` the ranges that
were read, and `commits.csv` the active commits. `mark.json` is written last, when the mark is
complete.
"""

from collections.abc import Callable, Sequence

import msgspec
from pyspark import Accumulator
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody names them

from graveler.errors import CorruptDataError, GoneError, NotFoundError
from graveler.layout import TABLES_FOLDER
from graveler.model import Repository, RepositoryUID
from graveler.open_repository import OpenRepository
from graveler.operations.collection_reads import (
    Scan,
    active_metaranges,
    begin_scan,
    claimed_addresses,
    staged_in_time,
    staging_tokens,
    territory,
    upload_addresses,
)
from graveler.retention.active import SECONDS_PER_DAY
from graveler.retention.candidates import Territory
from graveler.retention.files import decode_commits, encode_commits, looks_folder
from graveler.retention.report import AGE_DAYS, CollectionReport, Tally, largest
from graveler.times import NS_PER_S
from graveler_jobs import parquet_files
from graveler_jobs.garbage_collection import inventory, listing, live, table_files
from graveler_jobs.garbage_collection.options import CollectionOptions
from graveler_jobs.session import JobDeployment

Observe = Callable[[str], None]


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `mark.json`."""

    mark_id: str
    repository: str
    repository_uid: RepositoryUID
    namespace: str
    cutoff_ns: int
    # 0 in marks of older versions, which have no files of tables.
    tables_cutoff_ns: int = 0
    objects: int
    size_bytes: int


class MarkFolder:
    """The URIs of a mark's parts."""

    def __init__(self, uri: str) -> None:
        self.marked_uri = f"{uri}marked/"
        self.ranges_uri = f"{uri}ranges/"
        self.commits_uri = f"{uri}commits.csv"
        self.mark_uri = f"{uri}mark.json"
        self.looks_uri = looks_folder(uri)


def read_mark(deployment: JobDeployment, folder: MarkFolder, repository: Repository) -> Mark:
    """Return the mark in the folder.

    Raises:
        NotFoundError: there is none, its run did not finish, or it is of another repository.
        CorruptDataError: it is damaged.
    """
    try:
        mark = msgspec.json.decode(deployment.engine.objects.get(folder.mark_uri), type=Mark)
    except GoneError as error:
        raise NotFoundError(f"not found: no finished mark has {folder.mark_uri}") from error
    except msgspec.DecodeError as error:
        raise CorruptDataError(f"{folder.mark_uri} is no mark: {error}") from error
    if (mark.repository_uid, mark.namespace) != (repository.uid, repository.storage_namespace):
        raise NotFoundError(f"{folder.mark_uri} is the mark of another repository")
    return mark


class Marking:
    """One run's marking: finds the objects to delete, and later those that came to life."""

    def __init__(
        self,
        spark: SparkSession,
        deployment: JobDeployment,
        repo: OpenRepository,
        folder: MarkFolder,
        report: CollectionReport,
        observe: Observe,
    ) -> None:
        self.spark = spark
        self.deployment = deployment
        self.repo = repo
        self.folder = folder
        self.report = report
        self.observe = observe
        self.ranges_read = spark.sparkContext.accumulator(0)
        self.records_read = spark.sparkContext.accumulator(0)

    def mark(self, options: CollectionOptions) -> Mark:
        """Find and store the objects to delete."""
        report = self.report
        candidates = self._candidates(options)
        report.candidates = candidates.count()
        self.observe("listed")
        scan = begin_scan(self.repo)
        staged = self._staged(scan)
        report.staged = staged.count()
        self.observe("staged")
        active = active_metaranges(scan)
        report.active_commits = len(active)
        self.repo.engine.objects.put(self.folder.commits_uri, encode_commits(active), "text/csv")
        claimed = self._claimed(scan)
        self.observe("commits")
        settings, namespace = self.deployment.settings, self.repo.record.storage_namespace
        found = live.ranges(self.spark, active.values(), namespace, settings)
        parquet_files.write(found, self.folder.ranges_uri, settings)
        self.observe("ranges")
        ranges = self._read(self.folder.ranges_uri, live.RANGE)
        alive = self._alive(ranges, staged.union(claimed))
        marked = candidates.join(alive, "address", "left_anti")
        rows_per_part = min(parquet_files.ROWS_PER_PART, options.objects_per_round)
        parquet_files.write(marked, self.folder.marked_uri, settings, rows_per_part)
        self.count_read()
        self._describe()
        mark = self._mark()
        self.repo.engine.objects.put(
            self.folder.mark_uri, msgspec.json.encode(mark), "application/json"
        )
        self.observe("marked")
        return mark

    def _candidates(self, options: CollectionOptions) -> DataFrame:
        """Return the candidates as they are listed now, for the whole run."""
        settings = self.deployment.settings
        own = self.territory()
        if options.inventory_uri:
            report = inventory.read_manifest(
                self.repo.engine.objects, options.inventory_uri, own.namespace
            )
            frame = inventory.inventoried(self.spark, report, own, settings)
        else:
            frame, self.report.first_slice = listing.listed(
                self.spark, self.repo.engine.objects, own, settings
            )
        # If executors are lost, the run fails instead of listing again later.
        if tables := self._table_folders():
            frame = frame.union(listing.listed_in(self.spark, tables, own, settings))
        return frame.localCheckpoint()

    def _table_folders(self) -> list[str]:
        namespace = self.repo.record.storage_namespace
        return listing.folders(self.repo.engine.objects, namespace, TABLES_FOLDER)

    def territory(self) -> Territory:
        """Return the territory in which the run may delete."""
        found = territory(self.repo, self.report.cutoff_ns, self.report.tables_cutoff_ns)
        for folder in found.foreign:
            warning = f"{folder} is, or was, another repository's namespace: it is left alone"
            if warning not in self.report.warnings:
                self.report.warnings.append(warning)
        return found

    def _staged(self, scan: Scan) -> DataFrame:
        """Return the addresses that recorded uploads and staged entries keep alive now."""
        uploads = self._frame(upload_addresses(scan.sharers))
        namespace = self.repo.record.storage_namespace
        with staged_in_time(self.repo.engine.objects, self.folder.looks_uri):
            tokens = staging_tokens(scan)
            found = live.staged(self.spark, tokens, namespace, self.deployment.settings)
            found = found.union(uploads)
            # A later scan could miss entries, because their tokens may be dropped by then.
            return found.localCheckpoint()

    def _claimed(self, scan: Scan) -> DataFrame:
        """Return the addresses that are claimed; read after commits and rules."""
        return self._frame(claimed_addresses(scan.sharers))

    def _frame(self, addresses: Sequence[str]) -> DataFrame:
        return self.spark.createDataFrame([(each,) for each in addresses], live.ADDRESS)

    def _alive(self, ranges: DataFrame, named: DataFrame) -> DataFrame:
        """Return the named addresses, and those that the ranges and all tables keep alive."""
        committed = self._committed(ranges, self.ranges_read, self.records_read)
        alive = named.union(committed)
        return alive.union(self._of_tables(ranges, named)) if self._table_folders() else alive

    def _of_tables(self, ranges: DataFrame, named: DataFrame) -> DataFrame:
        """Return the addresses that tables keep alive, of the ranges and of named metadata files.

        The few ranges that hold tables are read twice: all addresses are too many to keep.
        """
        again = self.spark.sparkContext.accumulator(0)
        committed = self._committed(table_files.ranges_with_tables(ranges), again, again)
        namespace, settings = self.repo.record.storage_namespace, self.deployment.settings
        return table_files.alive(named.union(committed), namespace, settings)

    def _committed(
        self, ranges: DataFrame, ranges_read: Accumulator[int], records_read: Accumulator[int]
    ) -> DataFrame:
        namespace, settings = self.repo.record.storage_namespace, self.deployment.settings
        return live.committed(ranges, namespace, settings, ranges_read, records_read)

    def count_read(self) -> None:
        """Update the report's numbers of ranges and entries read."""
        self.report.ranges = self.ranges_read.value
        self.report.live = self.records_read.value

    def come_to_life(self) -> DataFrame:
        """Return the addresses that may have come to life since the mark.

        These are the staged and the claimed addresses, and the ranges of active commits that the
        mark did not read.
        """
        settings = self.deployment.settings
        namespace = self.repo.record.storage_namespace
        scan = begin_scan(self.repo)
        staged = self._staged(scan)
        active = active_metaranges(scan)
        named = staged.union(self._claimed(scan))
        try:
            known = decode_commits(self.repo.engine.objects.get(self.folder.commits_uri))
        except (GoneError, KeyError, UnicodeDecodeError) as error:
            raise CorruptDataError(f"{self.folder.commits_uri} cannot be read") from error
        metaranges = set(active.values()) - set(known.values())
        found = live.ranges(self.spark, metaranges, namespace, settings)
        unread = found.join(self._read(self.folder.ranges_uri, live.RANGE), "id", "left_anti")
        return self._alive(unread.localCheckpoint(), named).localCheckpoint()

    def _read(self, folder_uri: str, schema: str) -> DataFrame:
        uris = parquet_files.uris(self.repo.engine.objects, folder_uri)
        return parquet_files.read(self.spark, uris, schema, self.deployment.settings)

    def _describe(self) -> None:
        """Add the numbers of objects to delete to the report."""
        report = self.report
        marked = self._read(self.folder.marked_uri, listing.CANDIDATE)
        age_s = F.lit(report.start_ns // NS_PER_S) - F.col("modified_s")
        steps = [F.when(age_s >= days * SECONDS_PER_DAY, 1).otherwise(0) for days in AGE_DAYS]
        age = sum(steps, start=F.lit(0)).alias("age")
        folder = F.substring_index("address", "/", 2).alias("folder")
        totals = (F.count("*"), F.sum("size_bytes"))
        by_folder: dict[str, Tally] = {}
        for name, number, objects, size_bytes in (
            marked.groupBy(folder, age).agg(*totals).toLocalIterator()
        ):
            report.marked.add(objects, size_bytes)
            report.by_age.setdefault(number, Tally()).add(objects, size_bytes)
            by_folder.setdefault(name, Tally()).add(objects, size_bytes)
        report.by_prefix = largest(by_folder)

    def _mark(self) -> Mark:
        return Mark(
            mark_id=self.report.mark_id,
            repository=self.repo.record.name,
            repository_uid=self.repo.record.uid,
            namespace=self.repo.record.storage_namespace,
            cutoff_ns=self.report.cutoff_ns,
            tables_cutoff_ns=self.report.tables_cutoff_ns,
            objects=self.report.marked.objects,
            size_bytes=self.report.marked.size_bytes,
        )
