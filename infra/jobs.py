"""The Glue jobs, and the schedule of garbage collection."""

import json
from collections.abc import Iterable, Mapping

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from graveler.retention.runs import series_of
from infra import packages
from infra.alarms import is_made
from infra.events import Events, ScheduledCall, dead_letters
from infra.function import incarnation, log_group
from infra.role import make_role
from infra.role_permissions import RolePermissions
from infra.schedules import longest_gap_s
from infra.settings import InfraSettings
from infra.storage import StorageStack

# Spark 4.1.1 and Python 3.13, as of November 2026, from "AWS Glue versions" in Glue's guide. The
# jobs are tested with these, and the packages that tests/infra/glue-6.0.txt lists.
_GLUE_VERSION = "6.0"
# The smallest type: 4 CPUs and 16 GB. Glue scales their number with the work.
_WORKER = "G.1X"

_GC_MINUTES_MAX = 12 * 60
# For Glue's start of a run, and for repeated calls of the schedule.
_COLLECTION_START_S = 60 * 60
# After that time, a branch has had many new commits. The next run continues where this one ended.
_EXPORT_MINUTES_MAX = 12 * 60

GARBAGE_COLLECTION = "garbage_collection"
EXPORT = "export"

_FAILED_STATES = ["ERROR", "FAILED", "TIMEOUT"]


class Jobs(Construct):
    """Both jobs; `arguments` are the deployment's settings as options of a job."""

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        storage: StorageStack,
        events_: Events,
        permissions: RolePermissions,
    ) -> None:
        super().__init__(scope, "Jobs")
        self._settings = settings
        self._storage = storage
        self._code = assets.Asset(self, "Code", path=packages.jobs_code())
        self._security = self._make_security()
        self.failed = dead_letters(self, "Failed")
        arguments = {
            "--region": Stack.of(self).region,
            "--refs_table": storage.refs.table_name,
            "--staging_table": storage.staging.table_name,
        }
        self.garbage_collection = self._make_job(
            GARBAGE_COLLECTION,
            permissions.garbage_collection(),
            arguments | _of_collections(settings),
            minutes_max=_GC_MINUTES_MAX,
            # A lease allows one run for each repository; runs over others are concurrent.
            runs_max=max(2, len(settings.gc_repositories)),
        )
        queue = events_.export_queue
        self.export = self._make_job(
            EXPORT,
            permissions.export_job(queue.queue_arn),
            arguments
            | {
                "--export_queue_url": queue.queue_url,
                "--export_prefixes": export_prefixes(settings),
            },
            minutes_max=_EXPORT_MINUTES_MAX,
            runs_max=settings.exports_at_once,
        )
        self._report_failures(events_.undelivered)
        if settings.gc_schedule:
            self._schedule(settings, events_)

    def _make_security(self) -> glue.CfnSecurityConfiguration:
        """Return the encryption of Glue's own logs and bookmarks; buckets encrypt our objects."""
        key = self._storage.key
        logs: dict[str, str] = {"cloudWatchEncryptionMode": "DISABLED"}
        bookmarks: dict[str, str] = {"jobBookmarksEncryptionMode": "DISABLED"}
        if key:
            logs = {"cloudWatchEncryptionMode": "SSE-KMS", "kmsKeyArn": key.key_arn}
            bookmarks = {"jobBookmarksEncryptionMode": "CSE-KMS", "kmsKeyArn": key.key_arn}
        return glue.CfnSecurityConfiguration(
            self,
            "Security",
            name=self._settings.name,
            encryption_configuration={
                "s3Encryptions": [{"s3EncryptionMode": "SSE-S3"}],
                "cloudWatchEncryption": logs,
                "jobBookmarksEncryption": bookmarks,
            },
        )

    def _make_job(
        self,
        name: str,
        statements: Iterable[iam.PolicyStatement],
        arguments: Mapping[str, str],
        *,
        minutes_max: int,
        runs_max: int,
    ) -> glue.CfnJob:
        words = name.split("_")
        construct_id = "".join(word.capitalize() for word in words)
        in_glue = job_name(self._settings, name)
        script = assets.Asset(self, f"{construct_id}Script", path=packages.job_script(name))
        temporary = f"{self._storage.artefacts_name}/{name}"
        role_name = f"{in_glue}-job-{Stack.of(self).region}"
        log_prefix = f"/{in_glue}/{incarnation()}"
        self._logs(construct_id, log_prefix, role_name)
        role = make_role(
            self,
            f"{construct_id}Role",
            name=role_name,
            description=f"What the job {name} may do",
            principal=iam.ServicePrincipal("glue.amazonaws.com"),
            statements=[*statements, *self._runtime(script, in_glue, temporary)],
        )
        return glue.CfnJob(
            self,
            construct_id,
            name=in_glue,
            description=f"Graveler: graveler_jobs/{name}",
            role=role.role_arn,
            glue_version=_GLUE_VERSION,
            worker_type=_WORKER,
            number_of_workers=self._settings.job_workers_max,
            timeout=minutes_max,
            # A failed run leaves its lease and its record, by which the next run continues.
            max_retries=0,
            execution_property={"maxConcurrentRuns": runs_max},
            security_configuration=self._security.ref,
            command={
                "name": "glueetl",
                "pythonVersion": "3",
                "scriptLocation": script.s3_object_url,
            },
            default_arguments={
                "--extra-py-files": self._code.s3_object_url,
                "--enable-auto-scaling": "true",
                "--enable-metrics": "true",
                "--job-bookmark-option": "job-bookmark-disable",
                "--custom-logGroup-prefix": log_prefix,
                "--TempDir": f"s3://{temporary}/",
                **arguments,
            },
        )

    def _logs(self, construct_id: str, prefix: str, role_name: str) -> None:
        """Make the logs, which Glue would otherwise make itself and keep for ever."""
        folder = f"{prefix}/{self._settings.name}-role/{role_name}"
        for stream in ("error", "output"):
            log_group(
                self,
                f"{construct_id}{stream.capitalize()}Log",
                self._settings,
                f"{folder}/{stream}",
                self._storage.key,
            )

    def _runtime(
        self, script: assets.Asset, in_glue: str, temporary: str
    ) -> Iterable[iam.PolicyStatement]:
        """Yield Glue's own permissions for a job: load code, write logs, metrics, scratch files."""
        stack = Stack.of(self)
        loaded = (script, self._code)
        yield iam.PolicyStatement(
            sid="LoadCode",
            actions=["s3:GetObject"],
            resources=[each.bucket.arn_for_objects(each.s3_object_key) for each in loaded],
        )
        if self._settings.asset_key:
            service = f"s3.{stack.region}.{stack.url_suffix}"
            yield iam.PolicyStatement(
                sid="DecryptCode",
                actions=["kms:Decrypt"],
                resources=[self._settings.asset_key],
                conditions={"StringEquals": {"kms:ViaService": service}},
            )
        yield iam.PolicyStatement(
            sid="Scratch",
            actions=["s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            resources=[f"arn:{stack.partition}:s3:::{temporary}/*"],
        )
        yield iam.PolicyStatement(
            sid="GlueLog",
            actions=[
                "logs:AssociateKmsKey",
                "logs:CreateLogGroup",
                "logs:CreateLogStream",
                "logs:PutLogEvents",
            ],
            resources=[stack.format_arn(service="logs", resource=f"log-group:/{in_glue}/*")],
        )
        # Metrics have no resources, only a namespace.
        yield iam.PolicyStatement(
            sid="Measure",
            actions=["cloudwatch:PutMetricData"],
            resources=["*"],
            conditions={"StringEquals": {"cloudwatch:namespace": "Glue"}},
        )
        yield iam.PolicyStatement(
            sid="ReadSecurity",
            actions=["glue:GetSecurityConfiguration"],
            resources=["*"],  # it names no resource
        )

    def _report_failures(self, undelivered: sqs.Queue) -> None:
        """Send Glue's events of failed runs to the queue, which has an alarm."""
        names = [self.garbage_collection.name, self.export.name]
        rule = events.Rule(
            self,
            "JobFailed",
            event_pattern=events.EventPattern(
                source=["aws.glue"],
                detail_type=["Glue Job State Change"],
                detail={"jobName": names, "state": _FAILED_STATES},
            ),
        )
        rule.add_target(targets.SqsQueue(self.failed, dead_letter_queue=undelivered))

    def _schedule(self, settings: InfraSettings, events_: Events) -> None:
        """Make a schedule for each named repository, or one for all repositories."""
        job = self.garbage_collection
        for repository in settings.gc_repositories or ("",):
            call: dict[str, object] = {"JobName": job.name}
            if repository:
                call["Arguments"] = {"--repository": repository}
            ScheduledCall(
                self,
                f"Collect{repository or 'All'}",
                description=f"Garbage collection of {repository or 'every repository'}",
                expression=settings.gc_schedule,
                target=f"arn:{Stack.of(self).partition}:scheduler:::aws-sdk:glue:startJobRun",
                action="glue:StartJobRun",
                resource=job_arn(self, job.name or ""),
                call=json.dumps(call),
                failures=events_.undelivered,
            )


def _of_collections(settings: InfraSettings) -> dict[str, str]:
    """Return the default arguments of a collection."""
    arguments = {"--do_sweep": str(settings.gc_deletes).lower()}
    if settings.gc_deletions_max:
        arguments["--maximum_deletions"] = str(settings.gc_deletions_max)
    return arguments


def job_arn(scope: Construct, name: str) -> str:
    """Return the ARN of a Glue job."""
    return Stack.of(scope).format_arn(service="glue", resource="job", resource_name=name)


def job_name(settings: InfraSettings, name: str) -> str:
    """Return a job's name in Glue, which functions need before the job exists."""
    return f"{settings.name}-{name.replace('_', '-')}"


def export_prefixes(settings: InfraSettings) -> str:
    """Return where branches may be exported, in the form of graveler.aws.settings."""
    return ",".join(place.uri for place in settings.exports)


def watched_collections(settings: InfraSettings) -> list[str]:
    """Return the series of scheduled collections, whose age has an alarm.

    The age is a metric that costs money, so there is none without the alarm.
    """
    if not (settings.gc_schedule and is_made("collections-late", settings)):
        return []
    return [
        series_of(repository, deletes=settings.gc_deletes)
        for repository in settings.gc_repositories or ("",)
    ]


def collection_age_max_s(settings: InfraSettings) -> int:
    """Return the age of the last successful collection at which the alarm fires."""
    # The last run may have been the shortest possible, and the next one may be the longest.
    return longest_gap_s(settings.gc_schedule) + _GC_MINUTES_MAX * 60 + _COLLECTION_START_S
