"""Checks of the account, which also work before the first deployment."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graveler_cli.deployment.account import Account, CannotLookError
from graveler_cli.deployment.stacks import Resource
from graveler_cli.findings import Finding, expect, missing, ok, unknown, warn

# The version that CDK's templates require, and the parameter with the default bootstrap's version.
_BOOTSTRAP_MIN = 6
BOOTSTRAP_DEFAULT = "/cdk-bootstrap/hnb659fds/version"

# Lambda keeps this much for functions without a reservation.
_UNRESERVED_MIN = 100
# docs/deploy.md: `reserve_concurrency` with the default of `slices_reserved`.
_PROD_CONCURRENCY = 741
_DEV_CONCURRENCY = 50

_QUOTAS_PAGE = "https://console.aws.amazon.com/servicequotas/home"


@dataclass(frozen=True)
class Quota:
    """A quota by its name in Service Quotas, with the minimum that a stage needs."""

    service: str
    name: str
    minimum: int


# By Service Quotas' names. Lambda's concurrency is read from Lambda, which knows a new account's.
_QUOTAS = (
    Quota("apigateway", "Throttle rate", 1_000),
    Quota("dynamodb", "Table-level read throughput limit", 12_000),
    Quota("dynamodb", "Table-level write throughput limit", 4_000),
    Quota("glue", "Max task DPUs per account", 22),
    Quota("kms", "Cryptographic operations (symmetric) request rate", 1_000),
)


def bootstrap(account: Account, parameter: str) -> Iterator[Finding]:
    """CDK's bootstrap stack exists, in a version that the templates accept.

    Args:
        account: the account.
        parameter: the parameter of SSM with its version: `/cdk-bootstrap/QUALIFIER/version`.
    """
    subject = f"CDK bootstrap of {account.id} in {account.region}"
    remedy = f"npx cdk bootstrap aws://{account.id}/{account.region}"
    if parameter != BOOTSTRAP_DEFAULT:
        remedy += f" --qualifier {parameter.split('/')[2]}"
    found = account.find("ssm", "get_parameter", ("ParameterNotFound",), Name=parameter)
    if not found:
        yield missing(subject, "has not been made", remedy)
        return
    version = int(found["Parameter"]["Value"])
    yield expect(
        subject,
        f"has version {_BOOTSTRAP_MIN} or newer",
        f"it has {version}: {remedy}",
        holds=version >= _BOOTSTRAP_MIN,
    )


def concurrency(account: Account, *, is_production: bool) -> Iterator[Finding]:
    """Lambda's concurrency suffices for reserved and for unreserved functions."""
    subject = "Lambda's concurrent executions"
    limits = account.call("lambda", "get_account_settings")["AccountLimit"]
    total = int(limits["ConcurrentExecutions"])
    free = int(limits["UnreservedConcurrentExecutions"])
    needed = _PROD_CONCURRENCY if is_production else _DEV_CONCURRENCY
    remedy = f"ask for {max(needed, 1000)} at {_QUOTAS_PAGE}, or set reserve_concurrency to false"
    if total < needed:
        yield warn(subject, f"the account has {total}, a stage like this needs {needed}", remedy)
    elif free < _UNRESERVED_MIN:
        yield warn(subject, f"only {free} of {total} are not reserved", remedy)
    else:
        yield ok(subject, f"{free} of {total} are not reserved")


def quotas(account: Account) -> Iterator[Finding]:
    """The account's other quotas suffice for the largest settings by default."""
    for service in dict.fromkeys(each.service for each in _QUOTAS):
        wanted = [each for each in _QUOTAS if each.service == service]
        try:
            rows = account.pages(
                "service-quotas", "list_service_quotas", "Quotas", ServiceCode=service
            )
        except CannotLookError as error:
            yield unknown(f"quotas of {service}", error.reason, error.remedy)
            continue
        values = {row["QuotaName"]: row["Value"] for row in rows}
        yield from (_judge(each, values.get(each.name)) for each in wanted)


def _judge(quota: Quota, value: float | None) -> Finding:
    subject = f"quota {quota.service}: {quota.name}"
    if value is None:
        return ok(subject, "is not listed, so AWS's default applies")
    if value < quota.minimum:
        remedy = f"ask for {quota.minimum} at {_QUOTAS_PAGE}"
        return warn(subject, f"is {value:.0f}, less than {quota.minimum}", remedy)
    return ok(subject, f"is {value:.0f}")


def permissions(
    account: Account, role: Resource, tables: Sequence[str], bucket: str
) -> Iterator[Finding]:
    """A role may do its work, also under a boundary or an organization's policy."""
    subject = f"role {role.physical_id}"
    partition = "aws-cn" if account.region.startswith("cn-") else "aws"
    arn = f"arn:{partition}:iam::{account.id}:role/{role.physical_id}"
    wanted: list[tuple[str, str]] = [
        (action, f"arn:{partition}:dynamodb:{account.region}:{account.id}:table/{table}")
        for table in tables
        for action in ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem")
    ]
    if bucket:
        wanted.append(("s3:GetObject", f"arn:{partition}:s3:::{bucket}/lake/data/object"))
        wanted.append(("s3:PutObject", f"arn:{partition}:s3:::{bucket}/lake/data/object"))
        wanted.append(("s3:ListBucket", f"arn:{partition}:s3:::{bucket}"))
    denied = []
    for action, resource in wanted:
        found = account.call(
            "iam",
            "simulate_principal_policy",
            PolicySourceArn=arn,
            ActionNames=[action],
            ResourceArns=[resource],
        )
        if any(row["EvalDecision"] != "allowed" for row in found.get("EvaluationResults", [])):
            denied.append(f"{action} on {resource.rpartition(':')[2]}")
    if denied:
        yield missing(
            subject,
            f"may not do {', '.join(denied)}",
            "look for a permissions boundary, or a policy of the organization",
        )
    else:
        yield ok(subject, "may use the tables and the bucket")
