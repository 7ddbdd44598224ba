"""`python -m graveler_jobs.garbage_collection`: run the job on a local Spark.

    python -m graveler_jobs.garbage_collection --repository lake --dry-run

The environment has the settings of the deployment (`graveler.aws.settings`).
"""

import os
import sys

from graveler_jobs.garbage_collection.job import main
from graveler_jobs.session import local_spark

if __name__ == "__main__":
    cores = os.cpu_count() or 1
    sys.exit(main(sys.argv[1:], os.environ, lambda: local_spark("garbage-collection", cores)))
