"""The process that calls the background functions, as schedules and queues do on AWS.

Started by the supervisor as `python -m local.background`.
"""

import logging
import time

from functions.cleanup.handler import handler as clean_up
from local.lambda_runtime import Function

logger = logging.getLogger(__name__)

INTERVAL_S = 30.0
# The longest that Lambda lets a function run.
TIMEOUT_S = 15 * 60.0

SCHEDULED = (Function("graveler-cleanup", clean_up, TIMEOUT_S),)


def run_scheduled() -> None:
    """Call every scheduled function once; one that fails is logged and called again next time."""
    for function in SCHEDULED:
        try:
            function.invoke({"source": "aws.scheduler", "detail-type": "Scheduled Event"})
        except Exception:
            logger.exception("%s failed", function.name)


def main() -> None:
    """Call the functions at every interval, forever."""
    while True:
        run_scheduled()
        time.sleep(INTERVAL_S)


if __name__ == "__main__":
    main()
