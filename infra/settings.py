"""The settings of a deployment, from CDK's context: `-c name=value` or cdk.json for the stage."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from graveler.export.settings import ExportSettings

STAGES = ("dev", "prod")

CREATE = "create"
NONE = "none"

# A selection of the retention times that CloudWatch allows.
LOG_DAYS = (1, 7, 14, 30, 90, 180, 365)

# The dimensions of the functions' metrics; the log has the same numbers in any case.
METRICS = ("none", "service", "operations")

_BUCKET = re.compile(r"(?!xn--|sthree-|amzn-s3-demo-)[a-z0-9](?:[a-z0-9-]|\.(?!\.)){1,61}[a-z0-9]")
_IP_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_RESERVED_ENDINGS = ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3", "-an")
# Characters that a policy takes literally; "*", "?" and "$" would have another meaning.
_PREFIX = re.compile(r"[A-Za-z0-9!_.'()/=+@:,& -]*")
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


class SettingsError(ValueError):
    """The context cannot be deployed; the message says what to set."""


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket and a prefix of keys in it."""

    bucket: str
    prefix: str = ""

    @classmethod
    def of(cls, uri: str) -> "Place":
        """Return the place of `s3://bucket/prefix`.

        Raises:
            ValueError: the URI has another form, or a policy cannot name it.
        """
        scheme, separator, rest = uri.partition("://")
        bucket, _, prefix = rest.partition("/")
        if (scheme, separator) != ("s3", "://"):
            raise ValueError(f"{uri!r} is not a place in S3: write s3://bucket/prefix")
        check_bucket(bucket)
        if not _PREFIX.fullmatch(prefix):
            raise ValueError(f"{uri!r} has characters that IAM policies cannot name")
        return cls(bucket, prefix)

    @property
    def uri(self) -> str:
        """`s3://bucket/prefix`."""
        return f"s3://{self.bucket}/{self.prefix}"

    def overlaps(self, other: "Place") -> bool:
        """Whether a key can match both; like policies, it compares characters."""
        one, two = self.prefix, other.prefix
        return self.bucket == other.bucket and (one.startswith(two) or two.startswith(one))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One deployment.

    stage: dev may be deleted completely; prod keeps its data and needs an address for alarms.
    repository_bucket: the name of a bucket to create for repositories, `create` to let
        CloudFormation name it, or `none` for no bucket.
    namespaces: places in existing buckets where repositories may have their storage namespaces.
    readable: places that may also be read: imported and linked objects, S3 Inventory reports.
    exports: places where branches may be exported.
    bucket_keys: ARNs of the KMS keys of those buckets, if they have any.
    reserve_concurrency: reserve concurrency for each function; the account's quota must allow it.
    request_work_s: a request that works for longer leaves its work to a task.
    tasks_at_once: tasks that run at the same time. slices_at_once: slices of one task.
    slices_reserved: slices of all tasks, where concurrency is reserved.
    metrics: the dimensions of the functions' metrics: `service` for each function, `operations` for
        each operation of the API as well, which costs many times as much, or `none`.
    gc_schedule: when garbage is collected, in UTC and EventBridge Scheduler's form; "" is never.
    gc_repositories: collect only in these. gc_deletes: False only reports, and deletes nothing.
    gc_outputs: places where runs may write to with `--output-uri`, besides the namespaces.
    iam_login_server_id: the API's host name, to let identities of AWS IAM log in; "" refuses them.
    ignore_actions: let operations succeed that action files guard with hooks; no hook runs.
    ignore_actions: run no hooks, and read no action files.
    hook_functions: Lambda functions that hooks may invoke, names or ARNs.
    hook_buses: event buses on which hooks may put events, names or ARNs.
    hook_networks: networks that are not public, which webhooks may reach, such as 10.0.0.0/8.
    hook_secrets: where hooks' secrets are: secrets-manager:PREFIX or parameter-store:PREFIX.
    restored_refs, restored_staging: the tables to use after a restore, in place of the storage
        stack's: the ARN of the refs table's stream, and the ARN of the staging table.
    """

    stage: str
    repository_bucket: str = CREATE
    namespaces: tuple[Place, ...] = ()
    readable: tuple[Place, ...] = ()
    exports: tuple[Place, ...] = ()
    bucket_keys: tuple[str, ...] = ()
    alarm_email: str = ""
    domain_name: str = ""
    certificate_arn: str = ""
    hosted_zone_id: str = ""
    cors_origins: tuple[str, ...] = ()
    requests_per_s: int = 100
    requests_burst: int = 200
    reserve_concurrency: bool = False
    log_days: int = 14
    metrics: str = "service"
    archive_days: int = 14
    exports_at_once: int = 5
    export_job_objects_min: int = ExportSettings().batch_objects_min
    request_work_s: int = 4
    tasks_at_once: int = 2
    slices_at_once: int = 2
    slices_reserved: int = 80
    job_workers_max: int = 10
    gc_schedule: str = "cron(0 3 ? * SUN *)"
    gc_repositories: tuple[str, ...] = ()
    gc_deletes: bool = True
    gc_outputs: tuple[Place, ...] = ()
    iam_login_server_id: str = ""
    ignore_actions: bool = False
    hook_functions: tuple[str, ...] = ()
    hook_buses: tuple[str, ...] = ()
    hook_networks: tuple[str, ...] = ()
    hook_secrets: str = ""
    restored_refs: str = ""
    restored_staging: str = ""

    @property
    def is_production(self) -> bool:
        """Whether the tables outlive the deployment."""
        return self.stage == "prod"

    @property
    def name(self) -> str:
        """The prefix of the names of stacks, roles and other resources."""
        return f"graveler-{self.stage}"

    @classmethod
    def of(cls, context: Callable[[str], Any]) -> "Settings":
        """Return the settings of a context, a function that returns None for unset names.

        Raises:
            SettingsError: settings are wrong; the message has a line for each.
        """
        stage = context("stage")
        if stage not in STAGES:
            given = "is missing" if stage is None else f"is {stage!r}"
            raise SettingsError(f"stage {given}: set it with `-c stage=dev` or `-c stage=prod`")
        given = (context("stages") or {}).get(stage, {})
        problems = [
            f"{name} is no setting: remove it from `stages.{stage}` in cdk.json; there are "
            f"{', '.join(each.name for each in fields(cls) if each.name != 'stage')}"
            for name in sorted(
                given.keys() - cls.__dataclass_fields__.keys() | {"stage"} & {*given}
            )
        ]
        values: dict[str, Any] = {"stage": stage}
        for each in fields(cls):
            value = context(each.name)
            if value is None:
                value = given.get(each.name)
            if value is None or each.name == "stage":
                continue
            try:
                values[each.name] = _PARSERS[each.type](value)
            except ValueError as error:
                problems.append(f"{each.name}: {error}")
                values[each.name] = None
        problems += _problems({**_defaults(), **values})
        if problems:
            raise SettingsError("\n".join(problems))
        return cls(**values)


def check_bucket(name: str) -> None:
    """Check that S3 accepts the name of a bucket.

    Raises:
        ValueError: S3 does not.
    """
    if (
        not _BUCKET.fullmatch(name)
        or _IP_ADDRESS.fullmatch(name)
        or name.endswith(_RESERVED_ENDINGS)
    ):
        raise ValueError(
            f"{name!r} is not a valid bucket name: 3 to 63 lower-case letters, digits, hyphens and "
            f"dots, a letter or digit at both ends, none that S3 reserves"
        )


def _defaults() -> Mapping[str, Any]:
    return {each.name: each.default for each in fields(Settings) if each.default is not MISSING}


def _problems(values: Mapping[str, Any]) -> list[str]:
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


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a text")  # noqa: TRY004 - one kind of error for all
    return value.strip()


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a list")  # noqa: TRY004 - as above
    return tuple(text for each in value if (text := _text(each)))


def _places(value: object) -> tuple[Place, ...]:
    return tuple(Place.of(uri) for uri in _texts(value))


def _integer(value: object) -> int:
    if isinstance(value, bool) or not re.fullmatch(r"\d+", str(value)):
        raise ValueError(f"{value!r} is not a whole number")
    return int(str(value))


def _switch(value: object) -> bool:
    switches = {"true": True, "false": False}
    if str(value).lower() not in switches:
        raise ValueError(f"{value!r} is neither true nor false")
    return switches[str(value).lower()]


# On the command line every value is a text, and commas separate the items of a list.
_PARSERS: Mapping[Any, Callable[[object], Any]] = {
    str: _text,
    int: _integer,
    bool: _switch,
    tuple[str, ...]: _texts,
    tuple[Place, ...]: _places,
}
