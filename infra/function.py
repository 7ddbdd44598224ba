"""A Lambda function with its code, log and role, and the alias that callers use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aws_cdk import Aws, Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import packages
from infra.role import make_role
from infra.settings import InfraSettings
from infra.settings.rules import INFREQUENT

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
    # Whether it continues by messages to its own queue. Lambda would take this for an endless loop,
    # and stop it after sixteen calls.
    calls_itself: bool = False
    # A new process resumes a snapshot of one that has started.
    snap_start: bool = False
    # How many processes are kept ready.
    provisioned: int = 0
    # It calls nothing: it needs no layer, no network and no traces, and may only log.
    is_alone: bool = False
    # Its lines have a metric that an alarm reads, also with `metrics=none`.
    has_watched_metric: bool = False


class Function(Construct):
    """A function of the folder `graveler_functions/<name>`, called by its alias.

    of: the function whose code, role and log it has.
    """

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        shape: Shape,
        layer: lambda_.ILayerVersion | None,
        statements: Iterable[iam.PolicyStatement],
        environment: Mapping[str, str],
        key: kms.IKey | None = None,
        of: "Function | None" = None,
    ) -> None:
        super().__init__(scope, f"{shape.name.capitalize()}Function")
        self.shape = shape
        folder = of.shape.name if of else shape.name
        self.alias_name = ALIAS
        self.log: logs.LogGroup = of.log if of else self._make_log(settings)
        self.role: iam.Role = of.role if of else self._make_role(settings, shape, statements)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=f"{settings.name}-{shape.name}",
            description=f"Graveler: graveler_functions/{folder}",
            code=lambda_.Code.from_asset(packages.function_code(folder)),
            handler=f"graveler_functions.{folder}.handler.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=[] if layer is None else [layer],
            memory_size=shape.memory_mb,
            timeout=shape.timeout,
            environment=environment
            if shape.is_alone
            else {**environment, "GRAVELER_METRICS": settings.metrics},
            environment_encryption=key,
            reserved_concurrent_executions=shape.reserved if settings.reserve_concurrency else None,
            # CDK would grant more, such as all uses of the key.
            role=self.role.without_policy_updates(),
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if shape.snap_start else None,
            recursive_loop=lambda_.RecursiveLoop.ALLOW if shape.calls_itself else None,
            log_group=self.log,
            logging_format=lambda_.LoggingFormat.JSON,
            # Without Lambda's two lines of each call that succeeds: ours has more.
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            tracing=lambda_.Tracing.ACTIVE
            if _is_traced(settings, shape)
            else lambda_.Tracing.DISABLED,
            # The alias can go back to old versions.
            current_version_options=lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN),
        )
        if _is_in_network(settings, shape):
            made = self.function.node.default_child
            assert isinstance(made, lambda_.CfnFunction)
            made.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
                subnet_ids=list(settings.vpc_subnets),
                security_group_ids=list(settings.vpc_security_groups),
            )
        self.alias = lambda_.Alias(
            self,
            "Alias",
            alias_name=ALIAS,
            version=self.function.current_version,
            provisioned_concurrent_executions=shape.provisioned or None,
        )

    def _make_log(self, settings: InfraSettings) -> logs.LogGroup:
        # CloudWatch takes no metrics from lines of the cheaper class.
        has_metrics = settings.metrics != "none" and not self.shape.is_alone
        is_plain = not (has_metrics or self.shape.has_watched_metric)
        return log_group(self, "Log", settings, is_plain=is_plain)

    def _make_role(
        self, settings: InfraSettings, shape: Shape, statements: Iterable[iam.PolicyStatement]
    ) -> iam.Role:
        return make_role(
            self,
            "Role",
            # A fixed name, because owners of other accounts' buckets must name it.
            name=f"{settings.name}-{shape.name}-{Stack.of(self).region}",
            description=f"What the function {shape.name} may do",
            principal=iam.ServicePrincipal("lambda.amazonaws.com"),
            statements=[
                *statements,
                *self._telemetry(is_traced=_is_traced(settings, shape)),
                *(_network() if _is_in_network(settings, shape) else ()),
            ],
        )

    def _telemetry(self, *, is_traced: bool) -> Iterable[iam.PolicyStatement]:
        yield iam.PolicyStatement(
            sid="Log",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[self.log.log_group_arn],
        )
        if not is_traced:
            return
        # X-Ray has no resources.
        yield iam.PolicyStatement(
            sid="Trace",
            actions=["xray:PutTelemetryRecords", "xray:PutTraceSegments"],
            resources=["*"],
        )


def _is_traced(settings: InfraSettings, shape: Shape) -> bool:
    return settings.traces and not shape.is_alone


def _is_in_network(settings: InfraSettings, shape: Shape) -> bool:
    return bool(settings.vpc_subnets) and not shape.is_alone


def _network() -> Iterable[iam.PolicyStatement]:
    """Yield the permissions with which Lambda connects the function to a VPC."""
    yield iam.PolicyStatement(
        sid="NetworkInterfaces",
        actions=[
            "ec2:AssignPrivateIpAddresses",
            "ec2:CreateNetworkInterface",
            "ec2:DeleteNetworkInterface",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeSubnets",
            "ec2:UnassignPrivateIpAddresses",
        ],
        resources=["*"],  # Lambda acts before the interfaces have names
    )


def incarnation() -> str:
    """Return the part of the stack's ARN that differs from earlier stacks of the same name.

    Production keeps its logs. With fixed names, they would prevent a new stack of the same name.
    """
    return Fn.select(2, Fn.split("/", Aws.STACK_ID))


def log_group(
    scope: Construct,
    construct_id: str,
    settings: InfraSettings,
    name: str | None = None,
    key: kms.IKey | None = None,
    *,
    is_plain: bool = False,
) -> logs.LogGroup:
    """Make a log group with the settings' retention.

    is_plain: its lines are only queried, so that it may be of the class Infrequent Access.
    """
    is_infrequent = is_plain and settings.log_class == INFREQUENT
    return logs.LogGroup(
        scope,
        # The class of a group is for ever, so a group of the other class is another group.
        f"Infrequent{construct_id}" if is_infrequent else construct_id,
        log_group_name=name,
        log_group_class=logs.LogGroupClass.INFREQUENT_ACCESS if is_infrequent else None,
        encryption_key=key,
        retention=_RETENTION[settings.log_days],
        # Logs of a first deployment that failed go with its stack.
        removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        if settings.is_production
        else RemovalPolicy.DESTROY,
    )
