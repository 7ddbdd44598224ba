"""What must hold for the values of settings: their forms, their bounds, and which go together."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from infra.settings.places import Place, check_bucket

CREATE = "create"
NONE = "none"

# A selection of the retention times that CloudWatch allows.
LOG_DAYS = (1, 7, 14, 30, 90, 180, 365)

# The dimensions of the functions' metrics; the log has the same numbers in any case.
METRICS = ("none", "service", "operations")

_SCHEDULE = re.compile(r"(rate\(\d+ (minutes?|hours?|days?)\)|cron\(\S+( \S+){5}\))")
_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:\d+)?|\*")
_CERTIFICATE = re.compile(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+")
_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[a-z0-9-]+")
_ZONE = re.compile(r"Z[A-Z0-9]{5,31}")
_TABLE = re.compile(r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table/[A-Za-z0-9_.-]{3,255}")
_FUNCTION = re.compile(r"(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}")
_BUS = re.compile(r"(arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus/)?[A-Za-z0-9_.-]{1,256}")
_NETWORK = re.compile(r"[0-9A-Fa-f.:]+/\d{1,3}")
_SECRETS = re.compile(r"(secrets-manager|parameter-store):[A-Za-z0-9/_.+=@-]+")
_STREAM = re.compile(_TABLE.pattern + r"/stream/[0-9T:.-]+")


# The forms of texts; an empty text is always valid.
_PATTERNS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "alarm_email": (_EMAIL, "set it to an address such as you@example.com"),
    "domain_name": (_DOMAIN, "set it to a domain such as lake.example.com"),
    "iam_login_server_id": (_DOMAIN, "set it to the API's host name, such as lake.example.com"),
    "certificate_arn": (_CERTIFICATE, "set it to the ARN of a certificate of ACM"),
    "hosted_zone_id": (
        _ZONE,
        "set it to the ID of a zone of Route 53, such as Z0123456789ABCDEFGHIJ",
    ),
    "cors_origins": (_ORIGIN, "set origins such as https://app.example.com, or *"),
    "bucket_keys": (_KEY, "set ARNs of KMS keys: arn:aws:kms:region:account:key/id"),
    "gc_schedule": (_SCHEDULE, "set it to `rate(7 days)`, `cron(0 3 ? * SUN *)` or nothing"),
    "dump_schedule": (_SCHEDULE, "set it to `rate(1 day)`, `cron(0 2 * * ? *)` or nothing"),
    "gc_repositories": (_REPOSITORY, "set names of repositories"),
    "restored_refs": (_STREAM, "set it to the ARN of the stream of the restored refs table"),
    "hook_functions": (
        _FUNCTION,
        "set names or ARNs of Lambda functions, without a version",
    ),
    "hook_buses": (_BUS, "set names or ARNs of event buses"),
    "hook_networks": (_NETWORK, "set networks such as 10.0.0.0/8"),
    "hook_secrets": (
        _SECRETS,
        "set secrets-manager:PREFIX, or parameter-store:/PREFIX; the prefix must not be empty",
    ),
    "restored_staging": (_TABLE, "set it to the ARN of the restored staging table"),
}

_BOUNDS: Mapping[str, tuple[int, int]] = {
    "requests_per_s": (1, 10_000),
    "requests_burst": (1, 5_000),
    "archive_days": (1, 3_650),
    # Lambda's minimum for a queue is 2.
    "exports_at_once": (2, 1_000),
    "export_job_objects_min": (1, 10**12),
    # A request answers after 24 seconds at the latest; the rest is for waiting.
    "request_work_s": (1, 20),
    "tasks_at_once": (2, 1_000),
    "slices_at_once": (1, 100),
    "slices_reserved": (1, 10_000),
    "job_workers_max": (2, 299),
}


def problems_of(values: Mapping[str, Any]) -> list[str]:
    """Return the problems of the parsed values; a value is None if it could not be parsed."""
    problems = [
        f"{name} is {value!r}: {expected}"
        for name, (pattern, expected) in _PATTERNS.items()
        for value in _each(values[name])
        if value and not pattern.fullmatch(value)
    ]
    problems += [
        f"{name} is {values[name]}: set it to {low} to {high}"
        for name, (low, high) in _BOUNDS.items()
        if values[name] is not None and not low <= values[name] <= high
    ]
    if values["log_days"] not in (None, *LOG_DAYS):
        problems.append(f"log_days is {values['log_days']}: set it to one of {LOG_DAYS}")
    if values["metrics"] not in (None, *METRICS):
        problems.append(f"metrics is {values['metrics']!r}: set it to one of {METRICS}")
    bucket = values["repository_bucket"]
    if bucket not in (CREATE, NONE):
        try:
            check_bucket(bucket)
        except ValueError as error:
            problems.append(f"repository_bucket: {error}; or `{CREATE}`, or `{NONE}`")
    problems += _overlaps(values)
    if bucket == NONE and values["namespaces"] == ():
        problems.append(
            "namespaces is empty and repository_bucket is `none`, so no repository could be made: "
            "set `-c namespaces=s3://bucket/prefix`"
        )
    if bool(values["domain_name"]) != bool(values["certificate_arn"]):
        problems.append(
            "domain_name and certificate_arn go together: set both, the certificate in the "
            "region of the deployment, or neither"
        )
    if values["hosted_zone_id"] and not values["domain_name"]:
        problems.append("hosted_zone_id is set without a domain_name: set both, or neither")
    if bool(values["restored_refs"]) != bool(values["restored_staging"]):
        problems.append(
            "restored_refs and restored_staging go together, as of one time: set both, or neither"
        )
    problems += _too_few_slices(values)
    problems += _misplaced_dumps(values)
    if values["stage"] == "prod" and not values["alarm_email"]:
        problems.append("alarm_email is missing: prod needs it, `-c alarm_email=you@example.com`")
    if "*" in (values["cors_origins"] or ()) and len(values["cors_origins"]) > 1:
        problems.append("cors_origins is `*` and more: set either")
    return problems


def _overlaps(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of places of exports, which overwrite and delete objects there."""
    namespaces = values["namespaces"] or ()
    if values["repository_bucket"] not in (None, CREATE, NONE):
        namespaces += (Place(values["repository_bucket"]),)
    for export in values["exports"] or ():
        for namespace in namespaces:
            if export.overlaps(namespace):
                yield (
                    f"exports: {export.uri} overlaps with {namespace.uri}, where repositories may "
                    "be: set places that do not overlap and end with /"
                )


def _misplaced_dumps(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the schedule and the place of dumps."""
    places = values["dump_place"]
    if places is None:
        return
    if bool(values["dump_schedule"]) != bool(places):
        yield "dump_schedule and dump_place go together: set both, or neither"
    if len(places) > 1:
        yield f"dump_place has {len(places)} places: set one"
    others = (values["namespaces"] or ()) + (values["exports"] or ())
    if values["repository_bucket"] not in (None, CREATE, NONE):
        others += (Place(values["repository_bucket"]),)
    for place in places:
        if not place.prefix.endswith("/") and place.prefix:
            yield f"dump_place: {place.uri} is not a folder: end it with /"
        for other in others:
            if place.overlaps(other):
                yield (
                    f"dump_place: {place.uri} overlaps with {other.uri}, of repositories or "
                    "exports: set another place, if possible in a bucket of another region"
                )


def _too_few_slices(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problem that tasks would invoke more slices than the reservation lets run."""
    reserved, tasks, slices = (
        values[name] for name in ("slices_reserved", "tasks_at_once", "slices_at_once")
    )
    if values["reserve_concurrency"] and None not in (reserved, tasks, slices):
        needed = tasks * slices
        if reserved < needed:
            yield (
                f"slices_reserved is {reserved}, but {tasks} tasks apply {needed} slices at once: "
                f"set it to {needed} or more, or lower tasks_at_once or slices_at_once"
            )


def _each(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else () if value is None else (str(value),)
