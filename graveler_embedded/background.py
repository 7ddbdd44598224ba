"""The process that calls the background functions, as streams, queues and schedules do on AWS.

Started by the supervisor as `python -m graveler_embedded.background PORT JOURNAL`. It serves the
bus and the queues on the port, and stores their state beside the journal. So it may end at any
moment: the next process repeats unfinished work. It also runs jobs, which end with it, as a run in
Glue may fail.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import boto3

from graveler.aws import wiring
from graveler.model.events import EXPORT_TRIGGERS, SOURCE, TASK_TRIGGERS, detail_type
from graveler_embedded.bus import EventRule, LocalEventBus
from graveler_embedded.config import (
    EVENT_BUS,
    EXPORT_QUEUE,
    EXPORTS_AT_ONCE,
    HOOK_QUEUE,
    HOOKS_AT_ONCE,
    TASK_QUEUE,
    TASKS_AT_ONCE,
)
from graveler_embedded.glue import JOBS_AT_ONCE, LocalGlue
from graveler_embedded.lambda_runtime import TIMEOUT_S, LocalFunction
from graveler_embedded.messaging import AwsServices, server
from graveler_embedded.queue_delivery import VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT, QueueDelivery
from graveler_embedded.queues import Queue, Queues
from graveler_embedded.stream import ShardPositions, StreamDelivery
from graveler_embedded.tcp_ports import HOST
from graveler_functions.cleanup.handler import handler as clean_up
from graveler_functions.events.handler import handler as publish_events
from graveler_functions.export.handler import handler as export
from graveler_functions.hooks.handler import handler as run_hooks
from graveler_functions.tasks.handler import handler as run_tasks

logger = logging.getLogger(__name__)

INTERVAL_S = 30.0
EVENTS_TIMEOUT_S = 60.0

# Branches that are exported, and tasks that run, at the same time. A hook mostly waits.
RECEIVES_MAX = 5

SCHEDULED = (LocalFunction("graveler-cleanup", clean_up, TIMEOUT_S),)
EVENTS = LocalFunction("graveler-events", publish_events, EVENTS_TIMEOUT_S)
EXPORT = LocalFunction("graveler-export", export, TIMEOUT_S)
TASKS = LocalFunction("graveler-tasks", run_tasks, TIMEOUT_S)
HOOKS = LocalFunction("graveler-hooks", run_hooks, TIMEOUT_S)

# The queues of functions, each with the queue of its dead letters.
_SERVED = (EXPORT_QUEUE, TASK_QUEUE, HOOK_QUEUE)
QUEUES = tuple(
    queue
    for name in _SERVED
    for queue in (
        Queue(
            name=name,
            visibility_timeout_s=round(VISIBILITY_TIMEOUTS_PER_FUNCTION_TIMEOUT * TIMEOUT_S),
            receives_max=RECEIVES_MAX,
            dead_letters=f"{name}-dead-letters",
        ),
        Queue(name=f"{name}-dead-letters"),
    )
)

OUTBOX_ITEMS = {
    "eventName": ["INSERT"],
    "dynamodb": {"Keys": {"sort": {"S": [{"prefix": "outbox#"}]}}},
}

# The events after which an export may have work.
CALLS_FOR_EXPORT = EventRule(
    {"source": [SOURCE], "detail-type": [detail_type(kind) for kind in EXPORT_TRIGGERS]},
    EXPORT_QUEUE,
)
# The event of a new task: its first message may be lost.
CALLS_FOR_TASKS = EventRule(
    {"source": [SOURCE], "detail-type": [detail_type(kind) for kind in TASK_TRIGGERS]},
    TASK_QUEUE,
)


def run_scheduled() -> None:
    """Call every scheduled function once. A failure is logged, and the next call tries again."""
    for function in SCHEDULED:
        try:
            function.invoke({"source": "aws.scheduler", "detail-type": "Scheduled Event"})
        except Exception:
            logger.exception("%s failed", function.name)


def _schedule_forever() -> None:
    while True:
        run_scheduled()
        time.sleep(INTERVAL_S)


def stream_delivery(data: Path) -> StreamDelivery:
    """Return the delivery from the refs table's outbox to the function that publishes events."""
    adapters = wiring.adapters()
    tables, settings = adapters.tables, adapters.settings
    table = tables.dynamodb.call("DescribeTable", {"TableName": tables.refs})["Table"]
    client = boto3.client(
        "dynamodbstreams",
        region_name=settings.region,
        endpoint_url=settings.dynamodb_endpoint,
    )
    positions = ShardPositions(data / "stream.json")
    return StreamDelivery(client, table["LatestStreamArn"], positions, EVENTS, OUTBOX_ITEMS)


@contextmanager
def _queues(data: Path) -> Iterator[Queues]:
    """Open the queues. Messages in flight at the start belonged to a dead process."""
    queues = Queues(data / "queues.sqlite", QUEUES)
    # That receive counts: a message that kills the process must not be received for ever.
    for name in _SERVED:
        queues.take_back(name, counts=True)
    try:
        yield queues
    finally:
        for name in _SERVED:
            queues.take_back(name, counts=False)


def main(port: int, journal: Path) -> None:
    """Serve and deliver until a signal arrives or a part ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with _queues(journal.parent) as queues:
        bus = LocalEventBus(EVENT_BUS, [CALLS_FOR_EXPORT, CALLS_FOR_TASKS], queues, journal)
        jobs = LocalGlue(journal.parent / "logs" / "jobs.log")
        http = server(AwsServices(bus, queues, jobs, f"http://{HOST}:{port}"), port)
        # Made here, because several threads would make it at the same time.
        _ = wiring.adapters().engine
        exports = QueueDelivery(queues, EXPORT_QUEUE, EXPORT)
        tasks = QueueDelivery(queues, TASK_QUEUE, TASKS)
        hooks = QueueDelivery(queues, HOOK_QUEUE, HOOKS)
        _run_all(
            http.serve_forever,
            stream_delivery(journal.parent).deliver_forever,
            *[exports.deliver_forever] * EXPORTS_AT_ONCE,
            *[tasks.deliver_forever] * TASKS_AT_ONCE,
            *[hooks.deliver_forever] * HOOKS_AT_ONCE,
            *[jobs.run_forever] * JOBS_AT_ONCE,
            _schedule_forever,
        )


def _run_all(*parts: Callable[[], None]) -> None:
    """Run each part in a thread; return when one ends, which is a failure."""
    threads = [Thread(target=part, daemon=True) for part in parts]
    for thread in threads:
        thread.start()
    while all(thread.is_alive() for thread in threads):
        time.sleep(1)


def _exit_code(port: int, journal: Path) -> int:
    """Run `main`; return 0 after a signal, and 1 after a failure, which the log shows."""
    try:
        main(port, journal)
    except SystemExit:
        return 0
    except Exception:
        logger.exception("the background functions cannot run")
    return 1


if __name__ == "__main__":
    # Exit at once: a usual exit would wait for the threads of running handlers.
    os._exit(_exit_code(int(sys.argv[1]), Path(sys.argv[2])))
