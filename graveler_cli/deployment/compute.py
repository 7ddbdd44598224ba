"""Checks of functions, their event source mappings, schedules, rules and jobs."""

from collections.abc import Iterator

from graveler_cli.deployment.account import Account
from graveler_cli.deployment.stacks import Resource
from graveler_cli.findings import Finding, FindingLevel, expect, missing, ok, warn

_ALIAS = "live"
_GLUE_VERSION = "6."

_OFF = "is off, as the settings have it"
_REDEPLOY = "deploy the service stack again: docs/deploy.md"
_RESUME = 'see "Stop and resume" in docs/operations.md'

_ABSENT = ("ResourceNotFoundException", "EntityNotFoundException")


def function(account: Account, resource: Resource) -> Iterator[Finding]:
    """A function is active, may run, and has the alias that its callers use."""
    name = resource.physical_id
    subject = f"function {name}"
    found = account.find("lambda", "get_function", _ABSENT, FunctionName=name)
    if not found:
        yield missing(subject, "does not exist", _REDEPLOY)
        return
    state = found["Configuration"].get("State", "Active")
    yield expect(subject, "is active", f"it is {state}: {_REDEPLOY}", holds=state == "Active")
    reserved = found.get("Concurrency", {}).get("ReservedConcurrentExecutions")
    if reserved == 0:
        yield missing(subject, "is stopped: its reserved concurrency is 0", _RESUME)
    else:
        text = "no reserved concurrency" if reserved is None else f"{reserved} reserved"
        yield ok(subject, f"may run ({text})")
    alias = account.find("lambda", "get_alias", _ABSENT, FunctionName=name, Name=_ALIAS)
    yield expect(subject, f"has the alias {_ALIAS}", _REDEPLOY, holds=bool(alias))


def mapping(account: Account, resource: Resource) -> Iterator[Finding]:
    """A stream or a queue calls its function."""
    found = account.find("lambda", "get_event_source_mapping", _ABSENT, UUID=resource.physical_id)
    subject = f"event source mapping {resource.logical_id}"
    if not found:
        yield missing(subject, "does not exist", _REDEPLOY)
        return
    state = found.get("State", "")
    remedy = f"aws lambda update-event-source-mapping --uuid {resource.physical_id} --enabled"
    if state in {"Enabled", "Enabling", "Updating", "Creating"}:
        yield ok(subject, "is enabled")
    elif resource.is_off:
        yield ok(subject, _OFF)
    else:
        yield missing(subject, f"is {state or 'in an unknown state'}", remedy)
    result = found.get("LastProcessingResult", "")
    if result.startswith("PROBLEM"):
        yield warn(subject, result, "see the function's log: docs/operations.md")


def schedule(account: Account, resource: Resource) -> Iterator[Finding]:
    """A schedule is enabled."""
    name = resource.physical_id
    subject = f"schedule {resource.logical_id}"
    found = account.find("scheduler", "get_schedule", _ABSENT, Name=name)
    if not found:
        yield missing(subject, "does not exist", _REDEPLOY)
        return
    when = found.get("ScheduleExpression", "")
    yield expect(
        subject,
        f"is enabled ({when})",
        f"it is {found.get('State')}: {_REDEPLOY}",
        holds=found.get("State") == "ENABLED",
    )


def rule(account: Account, resource: Resource) -> Iterator[Finding]:
    """A rule of the bus is enabled."""
    bus, _, name = resource.physical_id.rpartition("|")
    subject = f"rule {resource.logical_id}"
    given = {"Name": name, **({"EventBusName": bus} if bus else {})}
    found = account.find("events", "describe_rule", _ABSENT, **given)
    if not found:
        yield missing(subject, "does not exist", _REDEPLOY)
        return
    of_bus = f" --event-bus-name {bus}" if bus else ""
    remedy = f"aws events enable-rule --name {name}{of_bus}"
    is_enabled = found.get("State") == "ENABLED"
    if resource.is_off and not is_enabled:
        yield ok(subject, _OFF)
    else:
        yield expect(subject, "is enabled", remedy, holds=is_enabled)


def job(account: Account, resource: Resource) -> Iterator[Finding]:
    """A Glue job exists, and runs on the version that it is tested with."""
    name = resource.physical_id
    subject = f"job {name}"
    found = account.find("glue", "get_job", _ABSENT, JobName=name)
    if not found:
        yield missing(subject, "does not exist", _REDEPLOY)
        return
    version = str(found["Job"].get("GlueVersion", ""))
    yield expect(
        subject,
        "runs on Glue 6",
        f"it has {version}: {_REDEPLOY}",
        holds=version.startswith(_GLUE_VERSION),
        level=FindingLevel.WARN,
    )
    runs = account.call("glue", "get_job_runs", JobName=name, MaxResults=1).get("JobRuns", [])
    if runs and runs[0].get("JobRunState") in {"FAILED", "ERROR", "TIMEOUT"}:
        reason = str(runs[0].get("ErrorMessage", ""))[:200]
        yield warn(subject, f"the last run failed: {reason}", "see docs/repairs.md")
