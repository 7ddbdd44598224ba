"""A Lambda function with its code, log, role, and the alias by which it is called."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.packages import function_code
from infra.role import make_role
from infra.settings import Settings

ARCHITECTURE = lambda_.Architecture.ARM_64  # a fifth cheaper than x86_64, and all wheels exist
RUNTIME = lambda_.Runtime.PYTHON_3_13

ALIAS = "live"

_RETENTION = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A function's configuration in Lambda."""

    name: str
    memory_mb: int
    timeout: Duration
    # The maximum of concurrent invocations, if the account's quota allows to reserve it.
    reserved: int | None = None
    # Whether it continues by messages to its own queue. Lambda would stop this as an endless loop
    # after sixteen calls.
    calls_itself: bool = False


class Function(Construct):
    """A function of the folder `functions/<name>`, called by its alias."""

    def __init__(
        self,
        scope: Construct,
        settings: Settings,
        shape: Shape,
        layer: lambda_.ILayerVersion,
        statements: Iterable[iam.PolicyStatement],
        environment: Mapping[str, str],
        environment_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, f"{shape.name.capitalize()}Function")
        self.shape = shape
        self.log = log_group(self, "Log", settings)
        self.role = make_role(
            self,
            "Role",
            # A fixed name, because owners of other accounts' buckets must name it.
            name=f"{settings.name}-{shape.name}-{Stack.of(self).region}",
            description=f"What the function {shape.name} may do",
            principal=iam.ServicePrincipal("lambda.amazonaws.com"),
            statements=[*statements, *self._telemetry()],
        )
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=f"{settings.name}-{shape.name}",
            description=f"Graveler: functions/{shape.name}",
            code=lambda_.Code.from_asset(function_code(shape.name)),
            handler=f"functions.{shape.name}.handler.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=[layer],
            memory_size=shape.memory_mb,
            timeout=shape.timeout,
            environment={**environment, "GRAVELER_METRICS": settings.metrics},
            environment_encryption=environment_key,
            reserved_concurrent_executions=shape.reserved if settings.reserve_concurrency else None,
            # CDK would grant more, such as all uses of the environment's key.
            role=self.role.without_policy_updates(),
            recursive_loop=lambda_.RecursiveLoop.ALLOW if shape.calls_itself else None,
            log_group=self.log,
            logging_format=lambda_.LoggingFormat.JSON,
            tracing=lambda_.Tracing.ACTIVE,
            # The alias can go back to old versions.
            current_version_options=lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN),
        )
        self.alias = lambda_.Alias(
            self, "Alias", alias_name=ALIAS, version=self.function.current_version
        )

    def _telemetry(self) -> Iterable[iam.PolicyStatement]:
        yield iam.PolicyStatement(
            sid="Log",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[self.log.log_group_arn],
        )
        # X-Ray has no resources.
        yield iam.PolicyStatement(
            sid="Trace",
            actions=["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
            resources=["*"],
        )


def log_group(
    scope: Construct,
    construct_id: str,
    settings: Settings,
    name: str | None = None,
    key: kms.IKey | None = None,
) -> logs.LogGroup:
    """Make a log group with the settings' retention."""
    return logs.LogGroup(
        scope,
        construct_id,
        log_group_name=name,
        encryption_key=key,
        retention=_RETENTION[settings.log_days],
        # Logs of a first deployment that failed go with its stack.
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        if settings.is_production
        else RemovalPolicy.DESTROY,
    )
