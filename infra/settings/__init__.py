"""The settings of a deployment, from CDK's context: `-c name=value` or cdk.json for the stage."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from graveler.export.settings import ExportSettings
from infra.settings.forms import PARSERS
from infra.settings.places import Place
from infra.settings.rules import CREATE, problems_of

STAGES = ("dev", "prod")


class SettingsError(ValueError):
    """The context cannot be deployed; the message says what to set."""


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
    dump_schedule: when the refs of all repositories are dumped, in the same form; "" is never.
    dump_place: where the dumps are copied to; in a bucket of another region, if possible.
    iam_login_server_id: the API's host name, to let identities of AWS IAM log in; "" refuses them.
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
    dump_schedule: str = ""
    dump_place: tuple[Place, ...] = ()
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
                values[each.name] = PARSERS[each.type](value)
            except ValueError as error:
                problems.append(f"{each.name}: {error}")
                values[each.name] = None
        problems += problems_of({**_defaults(), **values})
        if problems:
            raise SettingsError("\n".join(problems))
        return cls(**values)


def _defaults() -> Mapping[str, Any]:
    return {each.name: each.default for each in fields(Settings) if each.default is not MISSING}
