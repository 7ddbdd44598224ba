"""The options of a garbage collection run."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, fields

from graveler.errors import InvalidInputError
from graveler.limits import DELETE_OBJECTS_MAX
from graveler.retention.candidates import MINIMUM_AGE_S, TABLES_MINIMUM_AGE_S
from graveler.retention.liveness import LOOK_S
from graveler.times import unix_s
from graveler_jobs.arguments import settings_in

# The values that may come without a name, in this order: `job.py example-repo us-east-1`.
_UNNAMED = ("repository", "region")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionOptions:
    """The options of a run.

    repository: its name; "" collects every repository that is not read-only.
    run_id: the ID of a run that was asked for; "" gives the run a new one.
    do_mark, do_sweep: find the objects to delete; delete them. mark_id: sweep that run's mark.
    minimum_age_s: younger objects stay.
    tables_minimum_age_s: younger files of Iceberg tables stay.
    debug_minimum_age_s: the same for both, and may be unsafely short. It is for tests without
        uploads, links or new names meanwhile: only addresses that are a day old are claimed.
    maximum_deletions: with more objects to delete, the run stops before it deletes anything.
    cutoff_s: a further limit: delete only objects older than that time, in Unix seconds.
    output_uri: a folder for the output of runs; "" is lakeFS's folder in the namespace.
    inventory_uri: the manifest.json of an S3 Inventory report to use instead of listing.
    deletes_per_s: the maximum of objects that all executors delete a second; 0 sets no limit.
    round_objects: how many objects are deleted between two looks.
    look_s: the maximum age of a look; remaining objects get another look.
    """

    repository: str = ""
    run_id: str = ""
    do_mark: bool = True
    do_sweep: bool = True
    mark_id: str = ""
    minimum_age_s: int = MINIMUM_AGE_S
    tables_minimum_age_s: int = TABLES_MINIMUM_AGE_S
    debug_minimum_age_s: int | None = None
    maximum_deletions: int | None = None
    cutoff_s: int | None = None
    output_uri: str = ""
    inventory_uri: str = ""
    deletes_per_s: int = 0
    round_objects: int = 1_000_000
    look_s: int = LOOK_S

    def __post_init__(self) -> None:
        """Check the options, also together.

        Raises:
            InvalidInputError: the message names the option.
        """
        if not self.do_mark and not self.do_sweep:
            raise InvalidInputError("neither do_mark nor do_sweep: there is nothing to do")
        if self.do_mark == bool(self.mark_id):
            raise InvalidInputError("mark_id names the run to sweep: give it without do_mark only")
        for name in ("minimum_age_s", "tables_minimum_age_s"):
            if getattr(self, name) < MINIMUM_AGE_S:
                raise InvalidInputError(
                    f"{name} is {getattr(self, name)}: at less than {MINIMUM_AGE_S} an object may "
                    "be deleted that is about to be linked, or committed to a table"
                )
        needs_repository = {
            "run_id": self.run_id,
            "mark_id": self.mark_id,
            "inventory_uri": self.inventory_uri,
        }
        for name, value in needs_repository.items():
            if value and not self.repository:
                raise InvalidInputError(f"{name} belongs to one repository: give `repository`")
        for name in ("debug_minimum_age_s", "maximum_deletions", "cutoff_s", "deletes_per_s"):
            if (getattr(self, name) or 0) < 0:
                raise InvalidInputError(f"{name} is negative")
        for name in ("round_objects", "look_s"):
            if getattr(self, name) < 1:
                raise InvalidInputError(f"{name} must be at least 1")

    @property
    def age_s(self) -> int:
        """The age from which objects may be deleted."""
        if self.debug_minimum_age_s is not None:
            return self.debug_minimum_age_s
        return self.minimum_age_s

    @property
    def tables_age_s(self) -> int:
        """The age from which files of tables may be deleted."""
        return self.tables_minimum_age_s if self.debug_minimum_age_s is None else self.age_s

    @property
    def objects_per_round(self) -> int:
        """How many objects share a look: at deletes_per_s, they take half of its maximum age."""
        if not self.deletes_per_s:
            return self.round_objects
        in_time = max(DELETE_OBJECTS_MAX, self.deletes_per_s * self.look_s // 2)
        return min(self.round_objects, in_time)

    @property
    def warnings(self) -> list[str]:
        """The warnings about the options, for the report."""
        if self.age_s >= MINIMUM_AGE_S:
            return []
        warning = (
            f"debug_minimum_age_s is {self.age_s}, less than {MINIMUM_AGE_S}: objects that were "
            f"being uploaded, linked or given another name may have been deleted"
        )
        return [warning]


def parse(words: Sequence[str]) -> tuple[CollectionOptions, dict[str, str]]:
    """Return the options among a job's arguments, and the other arguments by name.

    Each argument is a name and a value, `--dry-run true`; a switch needs no value. Repository and
    region need no name. Arguments that Glue adds are ignored.

    Raises:
        InvalidInputError: an argument is unknown to us and to Glue, contradicts another, or its
            value is invalid.
    """
    parser = argparse.ArgumentParser(
        prog="garbage_collection", allow_abbrev=False, exit_on_error=False, add_help=False
    )
    for field in fields(CollectionOptions):
        if field.name in _UNNAMED:
            continue
        names = {f"--{field.name}", f"--{field.name.replace('_', '-')}"}
        if field.type is bool:
            parser.add_argument(*names, nargs="?", const=True, default=field.default, type=_switch)
        elif field.name == "cutoff_s":
            parser.add_argument("--cutoff", dest=field.name, type=_unix_seconds)
        else:
            kind = str if field.type is str else int
            parser.add_argument(*names, default=field.default, type=kind)
    parser.add_argument("--dry_run", "--dry-run", nargs="?", const=True, type=_switch)
    try:
        known, rest = parser.parse_known_args(list(words))
    except argparse.ArgumentError as error:
        raise InvalidInputError(str(error)) from error
    given, others = vars(known), settings_in(rest, _UNNAMED)
    if given.pop("dry_run"):
        given["do_sweep"] = False
    return CollectionOptions(repository=others.pop("repository", ""), **given), others


def _switch(text: str) -> bool:
    switches = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in switches:
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return switches[text.lower()]


def _unix_seconds(text: str) -> int:
    """Return an ISO 8601 time as Unix seconds; without an offset it is UTC."""
    moment_s = unix_s(text)
    if moment_s is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2022-03-31T12:00")
    return moment_s
