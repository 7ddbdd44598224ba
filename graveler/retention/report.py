"""The report of a garbage collection run, for programs and for people."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest

import msgspec

from graveler.times import rfc3339

# The upper bounds of the age classes, in days; the last class has none.
AGE_DAYS = (1, 7, 30, 90, 365)
# The number of folders that a report names; there may be many thousands.
PREFIXES_MAX = 20

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(slots=True)
class Tally:
    """A number of objects and their size."""

    objects: int = 0
    size_bytes: int = 0

    def add(self, objects: int, size_bytes: int) -> None:
        """Add objects and their size."""
        self.objects += objects
        self.size_bytes += size_bytes


@dataclass(slots=True, kw_only=True)
class CollectionReport:
    """One run over one repository, filled in while the run proceeds.

    by_prefix has the folders with most bytes to delete, by_age all objects to delete by age class.
    """

    run_id: str
    mark_id: str
    repository: str
    start_ns: int
    cutoff_ns: int
    tables_cutoff_ns: int = 0
    end_ns: int = 0
    is_dry: bool = False
    is_success: bool = False
    error: str = ""
    first_slice: str = ""
    candidates: int = 0
    staged: int = 0
    active_commits: int = 0
    ranges: int = 0
    live: int = 0
    marked: Tally = field(default_factory=Tally)
    by_age: dict[int, Tally] = field(default_factory=dict)
    by_prefix: dict[str, Tally] = field(default_factory=dict)
    is_swept: bool = False
    deleted: Tally = field(default_factory=Tally)
    came_to_life: int = 0
    failed: int = 0
    failure: str = ""
    uploads_aborted: int = 0
    warnings: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


def largest(tallies: Mapping[str, Tally]) -> dict[str, Tally]:
    """Return the tallies that a report names, the largest first."""
    chosen = nsmallest(
        PREFIXES_MAX, tallies.items(), key=lambda item: (-item[1].size_bytes, item[0])
    )
    return dict(chosen)


def summary(report: CollectionReport) -> bytes:
    """Return the run's summary.json: lakeFS's fields, then our own."""
    written = {
        "run_id": report.run_id,
        "success": report.is_success,
        "first_slice": report.first_slice,
        "start_time": rfc3339(report.start_ns),
        "cutoff_time": rfc3339(report.cutoff_ns),
        "num_deleted_objects": report.deleted.objects,
        "num_deleted_bytes": report.deleted.size_bytes,
        "num_failed_objects": report.failed,
        "end_time": rfc3339(report.end_ns),
        "dry_run": report.is_dry,
        "num_marked_objects": report.marked.objects,
        "num_marked_bytes": report.marked.size_bytes,
        "num_came_to_life": report.came_to_life,
        "num_aborted_uploads": report.uploads_aborted,
        "mark_id": report.mark_id,
        "error": report.error,
        "warnings": report.warnings,
    }
    return msgspec.json.format(msgspec.json.encode(written)) + b"\n"


def event_detail(report: CollectionReport) -> Mapping[str, object]:
    """Return the detail of the event that reports the run's end."""
    return {
        "run_id": report.run_id,
        "success": report.is_success,
        "swept": report.is_swept,
        "deleted_objects": report.deleted.objects,
        "deleted_bytes": report.deleted.size_bytes,
        "failed_objects": report.failed,
        "error": report.error,
    }


def text(report: CollectionReport) -> str:
    """Return the report for people."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CollectionReport) -> Iterator[str]:
    yield f"Garbage collection of {report.repository}, run {report.run_id}"
    for warning in report.warnings:
        yield f"WARNING: {warning}"
    yield ""
    yield f"  started             {rfc3339(report.start_ns)}"
    yield f"  older than          {rfc3339(report.cutoff_ns)}"
    yield f"  result              {_result(report)}"
    yield f"  candidates          {report.candidates:,}"
    yield f"  active commits      {report.active_commits:,}, in {report.ranges:,} ranges"
    yield f"  entries alive       {report.live:,} committed, {report.staged:,} staged"
    yield f"  to be deleted       {_tally(report.marked)}"
    if report.is_swept:
        yield f"  came to life        {report.came_to_life:,}"
        yield f"  deleted             {_tally(report.deleted)}"
        yield f"  uploads given up    {report.uploads_aborted:,}"
    if report.failed:
        yield f"  not deleted         {report.failed:,}, such as {report.failure}"
    if report.by_age:
        yield ""
        yield "  To be deleted, by age"
        for age, tally in sorted(report.by_age.items()):
            yield f"    {age_class(age):20} {_tally(tally)}"
    if report.by_prefix:
        yield ""
        yield "  To be deleted, by folder (the largest)"
        for prefix, tally in report.by_prefix.items():
            yield f"    {prefix:40} {_tally(tally)}"
    if report.seconds:
        yield ""
        yield "  Seconds"
        for step, seconds in report.seconds.items():
            yield f"    {step:20} {seconds:,.1f}"


def _result(report: CollectionReport) -> str:
    if report.error:
        return f"FAILED: {report.error}"
    if not report.is_swept:
        return "marked only: nothing was deleted"
    return "done" if report.is_success else "not all could be deleted"


def age_class(age: int) -> str:
    """Return the name of the age class with that index."""
    if age == 0:
        return f"up to {AGE_DAYS[0]} day"
    if age == len(AGE_DAYS):
        return f"over {AGE_DAYS[-1]} days"
    return f"{AGE_DAYS[age - 1]} to {AGE_DAYS[age]} days"


def _tally(tally: Tally) -> str:
    return f"{tally.objects:,} objects, {size(tally.size_bytes)}"


def size(size_bytes: int) -> str:
    """Return the size in a readable unit, such as `1.5 MiB`."""
    number = float(size_bytes)
    for unit in _UNITS:
        if number < 1024 or unit == _UNITS[-1]:
            break
        number /= 1024
    return f"{number:,.0f} {unit}" if unit == _UNITS[0] else f"{number:,.1f} {unit}"
