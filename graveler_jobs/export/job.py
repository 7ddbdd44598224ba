"""The script of the Glue job.

    --repository NAME --branch NAME [--run-id ID] --refs-table NAME --staging-table NAME …

The export function starts it with the ID of a run. The settings of the deployment, named as in
`graveler.aws.settings`, are arguments of the job or environment variables.
"""

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import SparkSession

from graveler.errors import ConflictError, GravelerError
from graveler.export.record import ExportState
from graveler_jobs.export.options import parse
from graveler_jobs.export.run import run
from graveler_jobs.job_process import show, start
from graveler_jobs.session import deployment, job_settings


def main(
    words: Sequence[str], environment: Mapping[str, str], session: Callable[[], SparkSession]
) -> int:
    """Carry out the run; return exit code 0 if it succeeded or no longer needs this job."""
    try:
        options, settings = parse(words)
        stores = deployment(job_settings(settings, environment))
        status = run(session(), stores, options)
    except ConflictError as error:
        # Another runner has the run of this job, which is no failure.
        show(str(error))
        return 0 if options.run_id else 1
    except (GravelerError, ValueError) as error:
        show(f"error: {error}")
        return 1
    show(
        f"{status.export_id}: {status.state or 'given up'}, "
        f"{status.done} of {status.total} objects done, {status.failed} failed"
    )
    for problem in filter(None, (status.error_message, *status.first_errors)):
        show(f"  {problem}")
    return 0 if status.state is ExportState.SUCCEEDED else 1


if __name__ == "__main__":
    start(main)
