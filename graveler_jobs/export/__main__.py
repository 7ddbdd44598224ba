"""`python -m graveler_jobs.export`: run the job on a local Spark.

    python -m graveler_jobs.export --repository lake --branch main

The environment has the settings of the deployment (`graveler.aws.settings`).
`python -m graveler_embedded.job export` runs the job against the stack of `make serve`.
"""

import os
import sys

from graveler_jobs.export.job import main
from graveler_jobs.session import local_spark

if __name__ == "__main__":
    cores = os.cpu_count() or 1
    sys.exit(main(sys.argv[1:], os.environ, lambda: local_spark("export", cores)))
