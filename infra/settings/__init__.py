"""The settings of a deployment, from CDK's context: `-c name=value` or cdk.json for the stage."""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from typing import Any

from graveler.export.record import ExportSettings
from infra.settings.parsers import PARSERS
from infra.settings.rules import (
    ALL,
    AT_ONCE,
    CREATE,
    INFREQUENT,
    NONE,
    SECRET,
    STAGES,
    default_name,
    problems_of,
)
from infra.settings.s3_locations import S3Location

# The keys of settings in cdk.json: by stage, and by the name of a deployment, which has precedence.
STAGES_KEY = "stages"
DEPLOYMENTS_KEY = "deployments"
# CDK's commands store the first two keys in a user's files. Other keys of CDK have a colon or begin
# with "@".
_OTHER_KEYS = frozenset(
    {"acknowledged-issue-numbers", "cli-telemetry", STAGES_KEY, DEPLOYMENTS_KEY}
)
# These settings choose the part of cdk.json, so they are not in it.
_CHOICE = frozenset({"stage", "name"})


class SettingsError(ValueError):
    """The context cannot be deployed; the message says what to set."""


class NoStageError(SettingsError):
    """The context names no stage, as for CDK's commands that need no stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraSettings:
    """One deployment.

    stage: dev may be deleted completely; prod keeps its data and needs an address for alarms.
    name: the prefix of names of stacks, roles and other resources; default `graveler-<stage>`.
    repository_bucket: the name of a bucket to create for repositories, `create` to let
        CloudFormation name it, or `none` for no bucket.
    undelete_days: for how long objects that were deleted from that bucket can be brought back; 0
        keeps no old versions.
    bucket_logs: keep S3's access logs of that bucket, for 30 days.
    namespaces: places in existing buckets where repositories may have their storage namespaces.
    readable: places that may also be read: imported and linked objects, S3 Inventory reports.
    exports: places where branches may be exported.
    bucket_keys: ARNs of the KMS keys of those buckets, if they have any.
    alarm_topic_arn: an existing topic that gets the alarms, in place of one with alarm_email.
    monthly_budget_usd: notify the recipient of alarms at 80 % and 100 % of it; 0 makes no budget.
    cloudfront: a distribution in front of the API has the domain, and caches the page's assets.
    bucket_origins: further origins of presigned URLs: buckets of other regions.
    vpc_endpoints: the only VPC endpoints of execute-api through which clients reach the API.
    web_acl_arn: a web ACL of AWS WAF, of the region, in front of the API.
    vpc_subnets, vpc_security_groups: the network of the functions; both or none.
    asset_key: the ARN of the KMS key of CDK's bootstrap bucket, if it has one.
    gateway: `public` or `internal`: deploys the S3 gateway on Fargate, behind a load balancer that
        the internet reaches, or private networks only; `none` deploys none.
    gateway_domain: the host name for its clients; repositories are its subdomains as well.
    gateway_certificate_arn: with it, the load balancer speaks TLS.
    gateway_vpc, gateway_subnets: an existing VPC for the gateway; both or none.
    gateway_clients: networks that may connect to it; () allows all.
    gateway_cpu: CPU units of each task: 1,024 are a processor. A unit has two MB of memory.
    gateway_tasks_min, gateway_tasks_max: the bounds of the number of tasks, which follows the load.
    reserve_concurrency: reserve concurrency for each function; the account's quota must allow it.
    snap_start: new processes of the API resume a snapshot of one that has started.
    api_reserved: requests of the API at the same time, where concurrency is reserved.
    waits_reserved: requests that wait for a task, beside those.
    vended_credentials: give Iceberg's clients temporary credentials of AWS for a table's files.
    iceberg_reserved: requests of Iceberg's catalogue at the same time, beside those.
    provisioned_concurrency: processes of the API that are kept ready; 0 keeps none.
    request_work_s: a request that works for longer leaves its work to a task.
    spread_tokens: spread the changes of busy branches, so that they take more writes.
    tasks_at_once: tasks that run at the same time. slices_at_once: slices of one task.
    hooks_at_once: tasks whose hooks run at the same time, beside those.
    slices_reserved: slices of all tasks, where concurrency is reserved.
    access_log: API Gateway's own log of all requests, also of those that reach no function.
    log_class: `infrequent` for half the price, of logs without metrics, which can then be neither
        tailed nor forwarded; or `standard`.
    metrics: the dimensions of the functions' metrics: `service` for each function, `operations` for
        each operation of the API as well, which costs many times as much, or `none`.
    traces: send X-Ray traces of requests, which cost more than all else that a request needs.
    alarms: `all`; or `symptoms`, without those on causes whose effects another alarm reports.
    setup_token: `secret` keeps the setup token; `none` removes it when it has been used.
    economy: least cost while idle: no key of its own, no dashboard, no traces, few alarms. It
        cannot be changed later.
    rollout: how a new version of the API gets its users: `at-once`, or by CodeDeploy as `canary` or
        `linear`, which rolls back if an alarm fires.
    gc_schedule: when garbage is collected, in UTC and EventBridge Scheduler's syntax; "" is never.
    gc_repositories: collect only in these. gc_deletes: False only reports, and deletes nothing.
    gc_deletions_max: with more objects to delete, a run stops before it deletes any; 0
        sets no limit.
    gc_outputs: places to which runs may write with `--output-uri`, besides the namespaces.
    dump_schedule: when the refs of all repositories are dumped, in the same syntax; "" is never.
    dump_place: the place of copies of the dumps; in a bucket of another region, if possible.
    iam_login_server_id: the API's host name, to let identities of AWS IAM log in; "" refuses them.
    ignore_actions: run no hooks, and read no action files.
    hook_functions: Lambda functions that hooks may invoke, names or ARNs.
    hook_buses: event buses on which hooks may put events, names or ARNs.
    hook_networks: networks that are not public, which webhooks may reach, such as 10.0.0.0/8.
    hook_secrets: where hooks' secrets are: secrets-manager:PREFIX or parameter-store:PREFIX.
    tags: `key=value` of each tag that all resources get.
    permissions_boundary: the ARN of the policy that bounds the permissions of each role.
    restored_refs, restored_staging: the tables to use after a restore, in place of the storage
        stack's: the ARN of the refs table's stream, and the ARN of the staging table.
    """

    stage: str
    name: str = ""
    repository_bucket: str = CREATE
    undelete_days: int = 0
    bucket_logs: bool = True
    namespaces: tuple[S3Location, ...] = ()
    readable: tuple[S3Location, ...] = ()
    exports: tuple[S3Location, ...] = ()
    bucket_keys: tuple[str, ...] = ()
    asset_key: str = ""
    alarm_email: str = ""
    alarm_topic_arn: str = ""
    monthly_budget_usd: int = 0
    domain_name: str = ""
    certificate_arn: str = ""
    hosted_zone_id: str = ""
    cloudfront: bool = False
    vpc_endpoints: tuple[str, ...] = ()
    web_acl_arn: str = ""
    vpc_subnets: tuple[str, ...] = ()
    vpc_security_groups: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ()
    bucket_origins: tuple[str, ...] = ()
    requests_per_s: int = 100
    requests_burst: int = 200
    reserve_concurrency: bool = False
    snap_start: bool = False
    api_reserved: int = 200
    waits_reserved: int = 100
    iceberg_reserved: int = 100
    vended_credentials: bool = False
    provisioned_concurrency: int = 0
    log_days: int = 14
    access_log: bool = True
    log_class: str = INFREQUENT
    metrics: str = "service"
    alarms: str = ALL
    setup_token: str = SECRET
    traces: bool = False
    economy: bool = False
    rollout: str = AT_ONCE
    archive_days: int = 14
    exports_at_once: int = 5
    export_job_objects_min: int = ExportSettings().batch_objects_min
    request_work_s: int = 4
    spread_tokens: bool = False
    tasks_at_once: int = 2
    hooks_at_once: int = 5
    slices_at_once: int = 2
    slices_reserved: int = 240
    job_workers_max: int = 10
    gc_schedule: str = "cron(0 3 ? * SUN *)"
    gc_repositories: tuple[str, ...] = ()
    gc_deletes: bool = True
    gc_deletions_max: int = 1_000_000
    gc_outputs: tuple[S3Location, ...] = ()
    dump_schedule: str = ""
    dump_place: tuple[S3Location, ...] = ()
    iam_login_server_id: str = ""
    gateway: str = NONE
    gateway_domain: str = ""
    gateway_certificate_arn: str = ""
    gateway_vpc: str = ""
    gateway_subnets: tuple[str, ...] = ()
    gateway_clients: tuple[str, ...] = ()
    gateway_cpu: int = 512
    gateway_tasks_min: int = 2
    gateway_tasks_max: int = 8
    ignore_actions: bool = False
    hook_functions: tuple[str, ...] = ()
    hook_buses: tuple[str, ...] = ()
    hook_networks: tuple[str, ...] = ()
    hook_secrets: str = ""
    tags: tuple[str, ...] = ()
    permissions_boundary: str = ""
    restored_refs: str = ""
    restored_staging: str = ""

    @property
    def is_production(self) -> bool:
        """Whether the tables outlive the deployment."""
        return self.stage == "prod"

    @property
    def has_rest_api(self) -> bool:
        """Whether a REST API serves: an HTTP API cannot be private, and has no web ACL."""
        return bool(self.vpc_endpoints or self.web_acl_arn)

    @property
    def has_page(self) -> bool:
        """Whether the web page is served: not if paths begin with the stage of a REST API."""
        return bool(self.domain_name) or not self.has_rest_api

    @property
    def has_gateway(self) -> bool:
        """Whether the S3 gateway is deployed."""
        return self.gateway != NONE

    @property
    def has_hook_queue(self) -> bool:
        """Whether hooks have a queue of their own: polling it costs money."""
        return not self.economy

    @classmethod
    def of(cls, context: Mapping[str, Any]) -> "InfraSettings":
        """Return the settings of a context.

        Raises:
            NoStageError: no stage is named, and nothing else is wrong.
            SettingsError: settings are wrong; the message has a line for each.
        """
        if malformed := list(_malformed_parts(context)):
            raise SettingsError("\n".join(malformed))
        problems = list(_unknown_names(context))
        stage = context.get("stage")
        if stage is None and not problems:
            raise NoStageError(_STAGE_MISSING)
        if stage not in STAGES:
            problems.append(
                _STAGE_MISSING if stage is None else f"stage is {stage!r}: {_SET_STAGE}"
            )
            raise SettingsError("\n".join(problems))
        name = context.get("name") or default_name(stage)
        given = _given(context, STAGES_KEY, stage) | _given(context, DEPLOYMENTS_KEY, name)
        given |= {each: value for each, value in context.items() if value is not None}
        values: dict[str, Any] = {"stage": stage}
        for each in fields(cls):
            value = name if each.name == "name" else given.get(each.name)
            if value is None or each.name == "stage":
                continue
            try:
                values[each.name] = PARSERS[each.type](value)
            except ValueError as error:
                problems.append(f"{each.name}: {error}")
                values[each.name] = None
        problems += problems_of({**_defaults(), **values})
        if problems:
            raise SettingsError("\n".join(problems))
        return cls(**values)


_SET_STAGE = "set it with `-c stage=dev` or `-c stage=prod`"
_STAGE_MISSING = f"stage is missing: {_SET_STAGE}"


def _defaults() -> Mapping[str, Any]:
    return {
        each.name: each.default for each in fields(InfraSettings) if each.default is not MISSING
    }


def _given(context: Mapping[str, Any], part: str, key: object) -> dict[str, Any]:
    """Return the settings of a stage or a deployment in cdk.json."""
    return dict((context.get(part) or {}).get(key, {}))


def _malformed_parts(context: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem for each part of cdk.json that is not made of objects with settings."""
    for part in (STAGES_KEY, DEPLOYMENTS_KEY):
        given = context.get(part) or {}
        if not isinstance(given, Mapping):
            yield f"{part} is {given!r}: it belongs into cdk.json, as an object"
            continue
        for key, settings in sorted(given.items()):
            if not isinstance(settings, Mapping):
                yield f"{part}.{key} in cdk.json is {settings!r}: set it to an object of settings"


def _unknown_names(context: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem for each name that is neither a setting nor a key of CDK."""
    names = {each.name for each in fields(InfraSettings)}
    for name in sorted(context.keys() - names - _OTHER_KEYS):
        if not name.startswith("@") and ":" not in name:
            yield _unknown(name, names, "on the command line or in cdk.json")
    for stage in sorted((context.get(STAGES_KEY) or {}).keys() - {*STAGES}):
        yield f"stages.{stage} in cdk.json is no stage: there are {' and '.join(STAGES)}"
    for part in (STAGES_KEY, DEPLOYMENTS_KEY):
        for key, given in sorted((context.get(part) or {}).items()):
            for name in sorted(given.keys() - (names - _CHOICE)):
                yield _unknown(name, names - _CHOICE, f"under `{part}.{key}` in cdk.json")


def _unknown(name: str, names: set[str], where: str) -> str:
    near = get_close_matches(name.lower().replace("-", "_"), sorted(names), n=1)
    remedy = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(names))}"
    return f"{name} is no setting, {where}: {remedy}"
