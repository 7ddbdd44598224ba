"""The arguments of an export job."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

from graveler.export.slices import SLICE_OBJECTS_MIN
from graveler_jobs.arguments import settings_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The run to carry out: the run of run_id, else the one without a runner, else a new one."""

    repository: str
    branch: str
    run_id: str = ""
    # About the number of possibly changed objects in one worker's slice.
    slice_objects: int = SLICE_OBJECTS_MIN


def parse(words: Sequence[str]) -> tuple[ExportOptions, dict[str, str]]:
    """Return the options among a job's arguments, and the deployment's settings by name.

    Every argument is a name and a value: `--branch main`.

    Raises:
        InvalidInputError: an argument is neither an option nor a setting.
    """
    parser = ArgumentParser(prog="export", allow_abbrev=False)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--branch", required=True)
    parser.add_argument("--run-id", "--run_id", default="", help="ID of a run that waits for a job")
    parser.add_argument(
        "--slice-objects",
        "--slice_objects",
        "--stretch-objects",  # its former name
        "--stretch_objects",
        type=int,
        default=SLICE_OBJECTS_MIN,
        help="objects that a worker carries out at a time (default: %(default)s)",
    )
    known, rest = parser.parse_known_args(list(words))
    return ExportOptions(**vars(known)), settings_in(rest)
