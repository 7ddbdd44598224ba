"""AWS's prices, and sums for a deployment's usage: data only, no measurements.

Prices are those of us-east-1 on 2026-11-20, in USD, without free tier, taxes and discounts. They
change: look at https://aws.amazon.com/pricing/ before you rely on a sum.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from graveler.aws.dynamodb.models import CLEANUP_PARTITIONS

_M = 1e6

# USD for one of each.
PRICES: Mapping[str, float] = {
    "DynamoDB write unit, on demand": 0.625 / _M,
    "DynamoDB read unit, on demand": 0.125 / _M,
    "DynamoDB GB and month": 0.25,
    "DynamoDB point-in-time recovery, GB and month": 0.20,
    "S3 PUT, COPY, POST or LIST": 0.005 / 1000,
    "S3 GET": 0.0004 / 1000,
    "S3 GB and month": 0.023,
    "Lambda call": 0.20 / _M,
    "Lambda GB-second, arm64": 0.0000133334,
    "API Gateway request, HTTP API": 1.00 / _M,
    "API Gateway request, REST API": 3.50 / _M,
    "EventBridge custom event": 1.00 / _M,
    "EventBridge Scheduler call": 1.00 / _M,
    "SQS request": 0.40 / _M,
    "KMS key and month": 1.00,
    "KMS request": 0.03 / 10_000,
    "Secrets Manager secret and month": 0.40,
    "CloudWatch logs, GB taken in": 0.50,
    "CloudWatch logs of infrequent access, GB taken in": 0.25,
    "CloudWatch metric and month": 0.30,
    "CloudWatch alarm on a metric, and month": 0.10,
    "CloudWatch dashboard and month": 3.00,  # an account's first three cost nothing
    "X-Ray trace": 5.00 / _M,
    "Glue DPU-hour": 0.44,
    # For the S3 gateway, and for the comparison with a server.
    "Fargate arm64 processor-hour": 0.03238,
    "Fargate arm64 GB-hour": 0.00356,
    "Load balancer hour": 0.0225 + 0.008,  # with one unit of capacity
    "Network load balancer hour": 0.0225,
    "Network load balancer GB": 0.006,  # as one unit of capacity, whose measure bytes are
    "Public address hour": 0.005,
    "VPC interface endpoint and zone, hour": 0.01,
    "NAT gateway hour": 0.045,
}

MONTH_HOURS = 730
_MONTH_MINUTES = MONTH_HOURS * 60
_MONTH_S = _MONTH_MINUTES * 60

# Assumptions for values that cannot be measured without AWS.
FUNCTION_GB = 1769 / 1024
_HALF_GB = 512 / 1024  # the events function
DYNAMODB_MS = 4.0  # a round trip inside a region
S3_MS = 25.0
SERVING_MS = 1.0  # routing, authentication, JSON: bench/README.md has 0.1 to 0.6 of it
# Bytes of a request's lines: the function's, what makes metrics of it, and that of the access log.
# Real lines of clients with short names are a fifth shorter: tests compare.
LINE_BYTES = 600
DIRECTIVE_BYTES = 300
ACCESS_LINE_BYTES = 450
# X-Ray's usual sampling: the first request of each second, and a share of the others.
TRACED_A_SECOND = 1
TRACED_SHARE = 0.05
# Of the events function: events per call under light load.
EVENTS_CALL_MS = 20.0
# Of a sweep that finds nothing to do: 7 ms for the register here, and the beat.
SWEEP_CPU_MS = 10.0


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one or more operations; processor time is the measuring machine's."""

    round_trips: float = 0  # to DynamoDB, one after the other
    read_units: float = 0
    write_units: float = 0
    s3_writes: float = 0  # whatever S3 charges as PUT
    s3_reads: float = 0
    cpu_ms: float = 0
    events: float = 0
    requests: float = 1  # to the API

    def __add__(self, other: "Usage") -> "Usage":
        sums = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return Usage(**sums)

    def times(self, factor: float) -> "Usage":
        """Return a multiple of this usage."""
        return Usage(**{f.name: getattr(self, f.name) * factor for f in fields(self)})

    def in_background(self) -> "Usage":
        """Return the same usage outside of a request."""
        return replace(self, requests=0)

    def lambda_ms(self, s3_at_once: int = 1) -> float:
        """Return the running time of functions, with so many concurrent requests to S3."""
        to_s3 = (self.s3_writes + self.s3_reads) / s3_at_once
        waits = self.round_trips * DYNAMODB_MS + to_s3 * S3_MS
        return self.cpu_ms + waits + self.requests * SERVING_MS


def cost(usage: Usage, s3_at_once: int = 1) -> dict[str, float]:
    """Return USD by service."""
    gb_s = FUNCTION_GB * usage.lambda_ms(s3_at_once) / 1000
    calls = usage.requests
    # The events function publishes an event, and the archive stores it.
    publishing = PRICES["Lambda call"] + _HALF_GB * EVENTS_CALL_MS / 1000 * PRICES[_GB_S]
    parts = {
        "API Gateway": calls * PRICES["API Gateway request, HTTP API"],
        "Lambda": calls * PRICES["Lambda call"] + gb_s * PRICES[_GB_S],
        "DynamoDB": usage.read_units * PRICES["DynamoDB read unit, on demand"]
        + usage.write_units * PRICES["DynamoDB write unit, on demand"],
        "S3": usage.s3_writes * PRICES["S3 PUT, COPY, POST or LIST"]
        + usage.s3_reads * PRICES["S3 GET"],
        "events": usage.events * (PRICES["EventBridge custom event"] + publishing),
        "logs": calls * logs_of_request(),
    }
    return {name: dollars for name, dollars in parts.items() if dollars}


_GB_S = "Lambda GB-second, arm64"
_STANDARD = PRICES["CloudWatch logs, GB taken in"] / 1e9
_INFREQUENT = PRICES["CloudWatch logs of infrequent access, GB taken in"] / 1e9


def logs_of_request(
    *, has_metrics: bool = False, has_access_log: bool = False, is_standard: bool = False
) -> float:
    """Return USD of the lines of one request: as in dev, unless more is given.

    is_standard: all logs are of the standard class; else those without metrics are not.
    """
    plain = _STANDARD if is_standard else _INFREQUENT
    lines = (LINE_BYTES + DIRECTIVE_BYTES) * _STANDARD if has_metrics else LINE_BYTES * plain
    return lines + (ACCESS_LINE_BYTES * plain if has_access_log else 0)


def total(usage: Usage, s3_at_once: int = 1) -> float:
    """Return USD for the whole usage."""
    return sum(cost(usage, s3_at_once).values())


def traces(requests: float) -> float:
    """Return how many requests of a month the setting traces, if they are spread evenly over it.

    So all are, until there is more than one a second.
    """
    first = min(requests, TRACED_A_SECOND * _MONTH_S)
    return first + TRACED_SHARE * (requests - first)


@dataclass(frozen=True, slots=True)
class Idle:
    """What a deployment has that costs money without requests; tests count it in the templates.

    alarms: metrics that alarms watch; metrics: our own that are always reported; queues: those
    that Lambda polls; sweep_minutes: between two calls of the cleanup.
    """

    keys: int
    secrets: int
    alarms: int
    metrics: int
    queues: int
    is_traced: bool
    sweep_minutes: int = 5


# The stage dev as cdk.json has it, and the same with `economy`; and the stage prod.
IDLE = Idle(keys=1, secrets=1, alarms=16, metrics=0, queues=2, is_traced=False)
ECONOMY = Idle(keys=0, secrets=2, alarms=3, metrics=0, queues=1, is_traced=False, sweep_minutes=10)
PROD = Idle(keys=1, secrets=1, alarms=41, metrics=1, queues=2, is_traced=False)

# An idle sweep reads all partitions of its register at once: a consistent read that finds nothing
# takes a unit [K] (DynamoDB Local counts none). It writes its beat, which calls the events
# function, and reads when garbage was collected.
_SWEEP = Usage(
    round_trips=3,
    read_units=len(CLEANUP_PARTITIONS) + 1,
    write_units=1,
    cpu_ms=SWEEP_CPU_MS,
    requests=0,
)
# The tables' key is asked for by both functions: DynamoDB remembers the answer for five minutes.
_KEY_REQUESTS_OF_SWEEP = 2
# Lambda polls a queue with five requests at a time, each twenty seconds long.
_POLLS = 5 * 3 * _MONTH_MINUTES
_SWEEP_LOG_BYTES = 1_000  # of both functions


def idle_month(idle: Idle) -> dict[str, float]:
    """Return USD of a month without requests, by purpose."""
    sweeps = _MONTH_MINUTES / idle.sweep_minutes
    sweep = (
        sum(cost(_SWEEP).values())
        + PRICES["EventBridge Scheduler call"]
        + 2 * PRICES["Lambda call"]
        + _HALF_GB * EVENTS_CALL_MS / 1000 * PRICES[_GB_S]
        + _SWEEP_LOG_BYTES * (_STANDARD if idle.metrics else _INFREQUENT)
        + idle.keys * _KEY_REQUESTS_OF_SWEEP * PRICES["KMS request"]
    )
    parts = {
        "key": idle.keys * PRICES["KMS key and month"],
        "secrets": idle.secrets * PRICES["Secrets Manager secret and month"],
        "alarms": idle.alarms * PRICES["CloudWatch alarm on a metric, and month"],
        "metrics": idle.metrics * PRICES["CloudWatch metric and month"],
        "cleanup": sweeps * sweep,
        "its traces": 2 * sweeps * PRICES["X-Ray trace"] if idle.is_traced else 0,
        "looking into the queues": idle.queues * _POLLS * PRICES["SQS request"],
    }
    return {name: dollars for name, dollars in parts.items() if dollars}


def glue_run(workers: float, minutes: float) -> float:
    """Return USD of a job's run; Glue bills at least a minute, and each worker is one DPU."""
    return workers * max(minutes, 1) / 60 * PRICES["Glue DPU-hour"]


# Alarms of the S3 gateway, and the zones of a VPC of its own.
GATEWAY_ALARMS = 4
_GATEWAY_ZONES = 2


def gateway_month(tasks: int = 2, processors: float = 0.5, *, is_public: bool) -> dict[str, float]:
    """Return USD of an idle month of the S3 gateway on Fargate, by purpose.

    A task has 2 GB for each processor. A public one has an address, and its load balancer has one
    in each zone.
    """
    task = PRICES["Fargate arm64 processor-hour"] + 2 * PRICES["Fargate arm64 GB-hour"]
    addresses = tasks + _GATEWAY_ZONES if is_public else 0
    return {
        "tasks": MONTH_HOURS * tasks * processors * task,
        "load balancer": MONTH_HOURS * PRICES["Network load balancer hour"],
        "addresses": MONTH_HOURS * addresses * PRICES["Public address hour"],
        "alarms": GATEWAY_ALARMS * PRICES["CloudWatch alarm on a metric, and month"],
    }


def ways_out_month(tasks: int = 2, endpoints: int = 4) -> dict[str, float]:
    """Return USD of a month of the ways by which the gateway's tasks may reach AWS's services."""
    hours = MONTH_HOURS * _GATEWAY_ZONES
    return {
        "addresses": MONTH_HOURS * tasks * PRICES["Public address hour"],
        "endpoints": hours * endpoints * PRICES["VPC interface endpoint and zone, hour"],
        "NAT gateways": hours * PRICES["NAT gateway hour"],
    }


def server_month() -> float:
    """Return USD of an idle month of the smallest server that survives the loss of a zone.

    Two Fargate tasks of one processor and 2 GB behind a load balancer, each with a public address
    in each zone; stores as with us.
    """
    task = PRICES["Fargate arm64 processor-hour"] + 2 * PRICES["Fargate arm64 GB-hour"]
    addresses = 2 * _GATEWAY_ZONES * PRICES["Public address hour"]
    return MONTH_HOURS * (2 * task + PRICES["Load balancer hour"] + addresses)
