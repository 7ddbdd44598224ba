"""One task of the S3 gateway: its image, environment, log and roles."""

from collections.abc import Iterable, Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import packages
from infra.function import incarnation, log_group
from infra.gateway.network import TASK_PORT
from infra.role import make_role
from infra.role_permissions import RolePermissions
from infra.settings import InfraSettings
from infra.storage import StorageStack

# A task that ends lets its requests finish. The first is Fargate's maximum.
_STOP = Duration.seconds(120)
_FINISH = Duration.seconds(110)
# The connections of clients, those to S3, and cached files.
_OPEN_FILES_MAX = 65_535


class GatewayTask(Construct):
    """The definition of the service's tasks."""

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        storage: StorageStack,
        permissions: RolePermissions,
    ) -> None:
        super().__init__(scope, "Task")
        self._settings = settings
        self._storage = storage
        name = f"{settings.name}-gateway"
        self.log = log_group(self, "Log", settings, f"/{name}/{incarnation()}", storage.key)
        self._image = ecr_assets.DockerImageAsset(
            self,
            "Image",
            directory=packages.gateway_folder(),
            platform=ecr_assets.Platform.LINUX_ARM64,
        )
        self.definition = ecs.FargateTaskDefinition(
            self,
            "Definition",
            family=name,
            cpu=settings.gateway_cpu,
            memory_limit_mib=2 * settings.gateway_cpu,
            runtime_platform=ecs.RuntimePlatform(
                cpu_architecture=ecs.CpuArchitecture.ARM64,
                operating_system_family=ecs.OperatingSystemFamily.LINUX,
            ),
            # CDK would grant more than these statements.
            task_role=self._make_role("Role", "", "may do", permissions.gateway()),
            execution_role=self._make_role(
                "StartRole", "-start", "needs before it runs", self._starting()
            ),
        )
        container = self.definition.add_container(
            "Gateway",
            container_name="gateway",
            image=ecs.ContainerImage.from_docker_image_asset(self._image),
            environment=dict(self._environment()),
            logging=ecs.LogDrivers.aws_logs(
                log_group=self.log,
                stream_prefix="task",
                # A log that does not answer must not delay requests.
                mode=ecs.AwsLogDriverMode.NON_BLOCKING,
            ),
            port_mappings=[ecs.PortMapping(container_port=TASK_PORT)],
            stop_timeout=_STOP,
        )
        container.add_ulimits(
            ecs.Ulimit(
                name=ecs.UlimitName.NOFILE, soft_limit=_OPEN_FILES_MAX, hard_limit=_OPEN_FILES_MAX
            )
        )

    def _make_role(
        self, construct_id: str, suffix: str, what: str, statements: Iterable[iam.PolicyStatement]
    ) -> iam.IRole:
        stack = Stack.of(self)
        role = make_role(
            self,
            construct_id,
            # A fixed name, because owners of other accounts' buckets must name it.
            name=f"{self._settings.name}-gateway{suffix}-{stack.region}",
            description=f"What a task of the S3 gateway {what}",
            principal=iam.ServicePrincipal(
                "ecs-tasks.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": stack.account}},
            ),
            statements=statements,
        )
        return role.without_policy_updates()

    def _starting(self) -> Iterable[iam.PolicyStatement]:
        """Yield Fargate's own permissions for a task: to load the image, and to write the log."""
        yield iam.PolicyStatement(
            sid="AskRegistry", actions=["ecr:GetAuthorizationToken"], resources=["*"]
        )
        yield iam.PolicyStatement(
            sid="LoadImage",
            actions=[
                "ecr:BatchCheckLayerAvailability",
                "ecr:BatchGetImage",
                "ecr:GetDownloadUrlForLayer",
            ],
            resources=[self._image.repository.repository_arn],
        )
        yield iam.PolicyStatement(
            sid="Log",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[self.log.log_group_arn],
        )

    def _environment(self) -> Mapping[str, str]:
        settings, storage = self._settings, self._storage
        return {
            "AWS_REGION": Stack.of(self).region,
            **storage.table_variables,
            **storage.cipher_variables,
            "GRAVELER_GATEWAY_DOMAINS": settings.gateway_domain,
            "GRAVELER_GATEWAY_PORT": str(TASK_PORT),
            "GRAVELER_GATEWAY_STOP_S": str(_FINISH.to_seconds()),
            # A process uses one processor.
            "GRAVELER_GATEWAY_WORKERS": str(max(1, settings.gateway_cpu // 1024)),
        }

    @property
    def errors(self) -> logs.JsonPattern:
        """The lines of the log that report failures of our own."""
        return logs.FilterPattern.string_value("$.level", "=", "ERROR")
