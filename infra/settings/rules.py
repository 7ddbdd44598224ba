"""The rules of settings' values: forms, bounds, and combinations."""

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_network
from typing import Any

from infra.schedules import is_schedule
from infra.settings.s3_locations import S3Location, check_bucket

STAGES = ("dev", "prod")

CREATE = "create"
NONE = "none"

# A selection of CloudWatch's retention times.
LOG_DAYS = (1, 7, 14, 30, 90, 180, 365)

# The class of CloudWatch's log groups whose lines have no metrics.
INFREQUENT = "infrequent"
LOG_CLASSES = (INFREQUENT, "standard")

# Alarms on causes as well, or on symptoms alone.
ALL = "all"
SYMPTOMS = "symptoms"
ALARMS = (ALL, SYMPTOMS)

# What holds the setup token.
SECRET = "secret"  # noqa: S105 - Secrets Manager holds it
SETUP_TOKENS = (SECRET, NONE)

# The dimensions of the functions' metrics; the log has the same numbers in any case.
METRICS = ("none", "service", "operations")

# The kinds of rollout; infra/rollout.py has CodeDeploy's names.
AT_ONCE = "at-once"
ROLLOUTS = (AT_ONCE, "canary", "linear")

# The clients of the S3 gateway's load balancer.
PUBLIC = "public"
INTERNAL = "internal"
GATEWAYS = (NONE, PUBLIC, INTERNAL)

# Fargate's CPU units that allow two MB of memory each, as of November 2026, from "Task CPU and
# memory" in the guide of ECS.
GATEWAY_CPUS = (256, 512, 1024, 2048, 4096)

# A role's name has at most 64 characters: this one, the longest role's, and the longest region's.
NAME_LENGTH_MAX = 64 - len("-garbage-collection-job-") - len("us-isof-south-1")
# A deployment has the stacks `name`, `name-storage` and `name-gateway`. A name with such an ending
# could be that of another deployment's stack, and replace it.
_NAME = re.compile(rf"(?=.{{1,{NAME_LENGTH_MAX}}}$)[a-z](-?[a-z0-9])*(?<!-storage)(?<!-gateway)")
_REPOSITORY = re.compile(r"[a-z0-9][a-z0-9-]{2,62}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:\d+)?|\*")
_BUCKET_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:\d+)?(/[a-z0-9.-]+/)?")
_CERTIFICATE = re.compile(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+")
_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[a-z0-9-]+")
_ZONE = re.compile(r"Z[A-Z0-9]{5,31}")
_TABLE = re.compile(r"arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:\d{12}:table/[A-Za-z0-9_.-]{3,255}")
_FUNCTION = re.compile(r"(arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:)?[A-Za-z0-9_-]{1,64}")
_BUS = re.compile(r"(arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus/)?[A-Za-z0-9_.-]{1,256}")
_TOPIC = re.compile(r"arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}")
_VPC_ENDPOINT = re.compile(r"vpce-[0-9a-f]{8,17}")
_VPC = re.compile(r"vpc-[0-9a-f]{8,17}")
_SUBNET = re.compile(r"subnet-[0-9a-f]{8,17}")
_SECURITY_GROUP = re.compile(r"sg-[0-9a-f]{8,17}")
_WEB_ACL = re.compile(
    r"arn:aws[a-z-]*:wafv2:[a-z0-9-]+:\d{12}:regional/webacl/[A-Za-z0-9_-]{1,128}/[0-9a-f-]{36}"
)
_SECRETS = re.compile(r"(secrets-manager|parameter-store):[A-Za-z0-9/_.+=@-]+")
# Characters that all services accept in tags; AWS keeps "aws:" for itself, and we "graveler:".
_TAG = re.compile(r"(?!aws:|graveler:)[\w .:/+@-]{1,128}=[\w .:/=+@-]{0,256}")
_POLICY = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/[A-Za-z0-9+=,.@_/-]{1,128}")
_STREAM = re.compile(_TABLE.pattern + r"/stream/[0-9T:.-]+")


def is_network(text: str) -> bool:
    """Whether the functions can use the network. On `10.0.0.1/8`, a host, they would fail."""
    try:
        ip_network(text)
    except ValueError:
        return False
    return "/" in text


# The forms of texts; an empty text is always valid.
_PATTERNS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "name": (
        _NAME,
        (
            f"set at most {NAME_LENGTH_MAX} lower-case letters, digits and single hyphens: "
            "a letter first, and neither -storage nor -gateway at the end, as another deployment's "
            "stacks have"
        ),
    ),
    "alarm_email": (_EMAIL, "set it to an address such as you@example.com"),
    "alarm_topic_arn": (_TOPIC, "set it to the ARN of a topic of SNS, not a FIFO one"),
    "domain_name": (_DOMAIN, "set it to a domain such as lake.example.com"),
    "iam_login_server_id": (_DOMAIN, "set it to the API's host name, such as lake.example.com"),
    "certificate_arn": (_CERTIFICATE, "set it to the ARN of a certificate of ACM"),
    "hosted_zone_id": (
        _ZONE,
        "set it to the ID of a zone of Route 53, such as Z0123456789ABCDEFGHIJ",
    ),
    "vpc_endpoints": (_VPC_ENDPOINT, "set IDs of VPC endpoints, such as vpce-0123456789abcdef0"),
    "web_acl_arn": (_WEB_ACL, "set it to the ARN of a regional web ACL of AWS WAF"),
    "vpc_subnets": (_SUBNET, "set IDs of subnets, such as subnet-0123456789abcdef0"),
    "vpc_security_groups": (
        _SECURITY_GROUP,
        "set IDs of security groups, such as sg-0123456789abcdef0",
    ),
    "gateway_domain": (_DOMAIN, "set it to a domain such as s3.lake.example.com"),
    "gateway_certificate_arn": (_CERTIFICATE, "set it to the ARN of a certificate of ACM"),
    "gateway_vpc": (_VPC, "set it to the ID of a VPC, such as vpc-0123456789abcdef0"),
    "gateway_subnets": (_SUBNET, "set IDs of subnets, such as subnet-0123456789abcdef0"),
    "cors_origins": (_ORIGIN, "set origins such as https://app.example.com, or *"),
    "bucket_origins": (
        _BUCKET_ORIGIN,
        "set origins such as https://lake.s3.eu-central-1.amazonaws.com, without * or a path",
    ),
    "bucket_keys": (_KEY, "set ARNs of KMS keys: arn:aws:kms:region:account:key/id"),
    "asset_key": (_KEY, "set it to the ARN of a KMS key: arn:aws:kms:region:account:key/id"),
    "gc_repositories": (_REPOSITORY, "set names of repositories"),
    "restored_refs": (_STREAM, "set it to the ARN of the stream of the restored refs table"),
    "hook_functions": (
        _FUNCTION,
        "set names or ARNs of Lambda functions, without a version",
    ),
    "hook_buses": (_BUS, "set names or ARNs of event buses"),
    "hook_secrets": (
        _SECRETS,
        "set secrets-manager:PREFIX, or parameter-store:/PREFIX; the prefix must not be empty",
    ),
    "tags": (
        _TAG,
        (
            "set tags such as team=lake: letters, digits, spaces and . : / + - @ _; no key may "
            "begin with aws: or graveler:"
        ),
    ),
    "permissions_boundary": (_POLICY, "set it to the ARN of a policy of IAM"),
    "restored_staging": (_TABLE, "set it to the ARN of the restored staging table"),
}

# The forms of texts that need more than a pattern; an empty text is always valid.
_CHECKS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "gc_schedule": (is_schedule, "set it to `rate(7 days)`, `cron(0 3 ? * SUN *)` or nothing"),
    "dump_schedule": (is_schedule, "set it to `rate(1 day)`, `cron(0 2 * * ? *)` or nothing"),
    "hook_networks": (is_network, "set networks such as 10.0.0.0/8"),
    "gateway_clients": (is_network, "set networks such as 10.0.0.0/8"),
}

_CHOICES: Mapping[str, tuple[object, ...]] = {
    "log_days": LOG_DAYS,
    "metrics": METRICS,
    "log_class": LOG_CLASSES,
    "alarms": ALARMS,
    "setup_token": SETUP_TOKENS,
    "rollout": ROLLOUTS,
    "gateway": GATEWAYS,
    "gateway_cpu": GATEWAY_CPUS,
}

# Bounds of AWS are as of November 2026, from each service's "Quotas" page.
_BOUNDS: Mapping[str, tuple[int, int]] = {
    "requests_per_s": (1, 10_000),
    "requests_burst": (1, 5_000),
    "api_reserved": (1, 10_000),
    "waits_reserved": (1, 10_000),
    "iceberg_reserved": (1, 10_000),
    "provisioned_concurrency": (0, 10_000),
    "undelete_days": (0, 3_650),
    "gc_deletions_max": (0, 10**12),
    "archive_days": (1, 3_650),
    "monthly_budget_usd": (0, 1_000_000),
    # Lambda's minimum for a queue is 2.
    "exports_at_once": (2, 1_000),
    "export_job_objects_min": (1, 10**12),
    # A request answers after 24 seconds at the latest; the rest is for waiting.
    "request_work_s": (1, 20),
    "tasks_at_once": (2, 1_000),
    "hooks_at_once": (2, 1_000),
    "slices_at_once": (1, 100),
    "slices_reserved": (1, 10_000),
    "job_workers_max": (2, 299),
    # One in each of two zones.
    "gateway_tasks_min": (2, 100),
    "gateway_tasks_max": (2, 100),
}


def default_name(stage: str) -> str:
    """Return the name of a stage's deployment that has no name of its own."""
    return f"graveler-{stage}"


def problems_of(values: Mapping[str, Any]) -> list[str]:
    """Return the problems of the parsed values; a value is None if it could not be parsed."""
    problems = [
        f"{name} is {value!r}: {expected}"
        for name, (pattern, expected) in _PATTERNS.items()
        for value in _each(values[name])
        if value and not pattern.fullmatch(value)
    ]
    problems += [
        f"{name} is {value!r}: {expected}"
        for name, (is_valid, expected) in _CHECKS.items()
        for value in _each(values[name])
        if value and not is_valid(value)
    ]
    problems += [
        f"{name} is {values[name]}: set it to {low} to {high}"
        for name, (low, high) in _BOUNDS.items()
        if values[name] is not None and not low <= values[name] <= high
    ]
    problems += [
        f"{name} is {values[name]!r}: set it to one of {choices}"
        for name, choices in _CHOICES.items()
        if values[name] not in (None, *choices)
    ]
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
            "region of the deployment (with cloudfront in us-east-1), or neither"
        )
    if values["hosted_zone_id"] and not (values["domain_name"] or values["gateway_domain"]):
        problems.append("hosted_zone_id is set without a domain_name: set both, or neither")
    if bool(values["restored_refs"]) != bool(values["restored_staging"]):
        problems.append(
            "restored_refs and restored_staging go together, as of one time: set both, or neither"
        )
    if values["snap_start"] and values["provisioned_concurrency"]:
        problems.append(
            "snap_start and provisioned_concurrency exclude each other in Lambda: set snap_start "
            "to false, or provisioned_concurrency to 0"
        )
    problems += _too_few_slices(values)
    if values["economy"] and values["traces"]:
        problems.append("traces is set, but economy has none: leave one of them out")
    kept_ready, reserved = values["provisioned_concurrency"], values["api_reserved"]
    if None not in (kept_ready, reserved) and kept_ready > reserved:
        problems.append(
            f"provisioned_concurrency is {kept_ready}, but only {reserved} requests run at once: "
            "lower it, or raise api_reserved"
        )
    problems += _recipients(values)
    problems += _network(values)
    problems += _gateway(values)
    problems += _names(values)
    problems += _misplaced_dumps(values)
    if "*" in (values["cors_origins"] or ()) and len(values["cors_origins"]) > 1:
        problems.append("cors_origins is `*` and more: set either")
    return problems


def _names(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the deployment's name and its tags."""
    names_of_others = {default_name(stage) for stage in STAGES if stage != values["stage"]}
    if values["name"] in names_of_others:
        yield f"name is {values['name']!r}, which is another stage's: set another"
    keys = [tag.partition("=")[0] for tag in values["tags"] or ()]
    for key in sorted({key for key in keys if keys.count(key) > 1}):
        yield f"tags has {key!r} twice"


def _overlaps(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of places of exports, which overwrite and delete objects there."""
    namespaces = values["namespaces"] or ()
    if values["repository_bucket"] not in (None, CREATE, NONE):
        namespaces += (S3Location(values["repository_bucket"]),)
    for export in values["exports"] or ():
        for namespace in namespaces:
            if export.overlaps(namespace):
                yield (
                    f"exports: {export.uri} overlaps with {namespace.uri}, where repositories may "
                    "be: set places that do not overlap and end with /"
                )


def _recipients(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the recipients of alarms and of messages about costs."""
    email, topic = values["alarm_email"], values["alarm_topic_arn"]
    if email and topic:
        yield "alarm_email and alarm_topic_arn are both set: subscribe the address to the topic"
    if values["stage"] == "prod" and not (email or topic):
        yield (
            "alarm_email is missing: prod needs it, `-c alarm_email=you@example.com`, or an "
            "alarm_topic_arn"
        )
    if values["monthly_budget_usd"] and not (email or topic):
        yield "monthly_budget_usd tells nobody: set alarm_email or alarm_topic_arn, too"


def _network(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the API's endpoints, and of the functions' network."""
    if bool(values["vpc_subnets"]) != bool(values["vpc_security_groups"]):
        yield "vpc_subnets and vpc_security_groups go together: set both, or neither"
    if values["vpc_endpoints"] and values["domain_name"]:
        yield "domain_name is for an API that the internet reaches: remove it, or vpc_endpoints"
    if values["cors_origins"] and (values["vpc_endpoints"] or values["web_acl_arn"]):
        yield (
            "cors_origins needs the HTTP API, which is never private and takes no web ACL: remove "
            "it, or vpc_endpoints and web_acl_arn"
        )
    if values["cloudfront"] and (values["vpc_endpoints"] or values["web_acl_arn"]):
        yield "cloudfront needs the HTTP API: remove it, or vpc_endpoints and web_acl_arn"
    if values["cloudfront"] and ":us-east-1:" not in (values["certificate_arn"] or ":us-east-1:"):
        yield "certificate_arn is in another region: CloudFront takes one of us-east-1 only"


def _gateway(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of the S3 gateway."""
    if bool(values["gateway_vpc"]) != bool(values["gateway_subnets"]):
        yield "gateway_vpc and gateway_subnets go together: set both, or neither"
    if values["gateway_subnets"] and len(values["gateway_subnets"]) < 2:
        yield "gateway_subnets has one subnet: set one in each of two zones or more"
    if values["gateway"] == INTERNAL and not values["gateway_vpc"]:
        yield "gateway is `internal`: set gateway_vpc and gateway_subnets, where its clients are"
    if values["gateway"] == PUBLIC and not values["gateway_certificate_arn"]:
        yield (
            "gateway is `public`, and content would cross the internet unencrypted: set "
            "gateway_domain and gateway_certificate_arn"
        )
    if values["gateway_certificate_arn"] and not values["gateway_domain"]:
        yield "gateway_certificate_arn is set without its gateway_domain: set both"
    if values["gateway_domain"] and values["gateway_domain"] == values["domain_name"]:
        yield "gateway_domain is the domain_name of the API: set another"
    least, most = values["gateway_tasks_min"], values["gateway_tasks_max"]
    if None not in (least, most) and most < least:
        yield f"gateway_tasks_max is {most}, less than gateway_tasks_min: set it to {least} or more"


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
        others += (S3Location(values["repository_bucket"]),)
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
    """Yield the problem that tasks would invoke more slices than are reserved."""
    reserved, tasks, hooks, slices = (
        values[name]
        for name in ("slices_reserved", "tasks_at_once", "hooks_at_once", "slices_at_once")
    )
    if values["reserve_concurrency"] and None not in (reserved, tasks, hooks, slices):
        at_once = tasks if values["economy"] else tasks + hooks  # economy runs hooks in tasks
        needed = at_once * slices
        if reserved < needed:
            yield (
                f"slices_reserved is {reserved}, but {at_once} tasks apply {needed} slices at "
                f"once: set it to {needed} or more, or lower tasks_at_once, hooks_at_once or "
                "slices_at_once"
            )


def _each(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else () if value is None else (str(value),)
