"""The S3 gateway as a service on Fargate, behind a network load balancer.

It holds no state: the stack can be deleted and created again without loss.
"""

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as balancing
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as route53_targets
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.alarms import BELOW, Alarms
from infra.gateway.network import TASK_PORT, Network
from infra.gateway.task import GatewayTask
from infra.metrics import PERIOD
from infra.role_permissions import RolePermissions
from infra.settings import InfraSettings
from infra.storage import StorageStack

# The target of scaling. An upload that saturates one task leaves room on the others.
_CPU_TARGET_PERCENT = 60
# At the maximum number of tasks, the average can rise above the target, and stay there.
_CPU_BUSY_PERCENT = 85
_SCALE_OUT_PAUSE = Duration.minutes(1)
_SCALE_IN_PAUSE = Duration.minutes(5)

# How long a task may finish its requests, without new ones, before ECS stops it (`task.py`).
_DRAINING = Duration.minutes(2)
_START_MAX = Duration.minutes(1)


class GatewayStack(Stack):
    """The load balancer, the tasks, and their alarms."""

    def __init__(
        self,
        scope: Construct,
        settings: InfraSettings,
        storage: StorageStack,
        topic: sns.ITopic,
    ) -> None:
        super().__init__(
            scope, f"{settings.name}-gateway", description="Graveler: the S3 gateway on Fargate"
        )
        self._settings = settings
        self._network = Network(self, settings)
        self._task = GatewayTask(self, settings, storage, RolePermissions(self, storage, settings))
        self._service = self._make_service()
        self._balancer, self._targets = self._balance()
        self._scale()
        self._watch(Alarms(self, settings, topic))
        self._add_outputs()

    def _make_service(self) -> ecs.FargateService:
        name = f"{self._settings.name}-gateway"
        cluster = ecs.Cluster(self, "Cluster", cluster_name=name, vpc=self._network.vpc)
        service = ecs.FargateService(
            self,
            "Service",
            service_name=name,
            cluster=cluster,
            task_definition=self._task.definition,
            assign_public_ip=self._network.is_public,
            vpc_subnets=self._network.subnets,
            security_groups=[self._network.task_group],
            # A new version runs before an old task ends; one that does not start is rolled back.
            min_healthy_percent=100,
            max_healthy_percent=200,
            circuit_breaker=ecs.DeploymentCircuitBreaker(enable=True, rollback=True),
            health_check_grace_period=_START_MAX,
            # The load balancer sends no traffic across zones, so each zone needs a task.
            availability_zone_rebalancing=ecs.AvailabilityZoneRebalancing.ENABLED,
            propagate_tags=ecs.PropagatedTagSource.SERVICE,
        )
        made = service.node.default_child
        assert isinstance(made, ecs.CfnService)
        # A deployment does not change the number of tasks, which follows the load.
        made.add_property_deletion_override("DesiredCount")
        return service

    def _balance(self) -> tuple[balancing.NetworkLoadBalancer, balancing.NetworkTargetGroup]:
        network, settings = self._network, self._settings
        balancer = balancing.NetworkLoadBalancer(
            self,
            "Balancer",
            load_balancer_name=f"{settings.name}-s3",
            vpc=network.vpc,
            vpc_subnets=network.subnets,
            internet_facing=network.is_public,
            security_groups=[network.balancer_group],
            # Traffic across zones costs 0.01 USD a GB in each direction (November 2026).
            cross_zone_enabled=False,
        )
        targets = balancing.NetworkTargetGroup(
            self,
            "Targets",
            vpc=network.vpc,
            port=TASK_PORT,
            protocol=balancing.Protocol.TCP,
            target_type=balancing.TargetType.IP,
            targets=[self._service],
            # Users' policies may name the networks of their clients.
            preserve_client_ip=True,
            deregistration_delay=_DRAINING,
            health_check=balancing.HealthCheck(
                protocol=balancing.Protocol.HTTP,
                path="/_health",
                interval=Duration.seconds(10),
                timeout=Duration.seconds(5),
                healthy_threshold_count=2,
                unhealthy_threshold_count=3,
            ),
        )
        certificate = settings.gateway_certificate_arn
        balancer.add_listener(
            "Listener",
            port=network.port,
            protocol=balancing.Protocol.TLS if certificate else balancing.Protocol.TCP,
            certificates=[balancing.ListenerCertificate.from_arn(certificate)]
            if certificate
            else None,
            ssl_policy=balancing.SslPolicy.RECOMMENDED_TLS if certificate else None,
            default_target_groups=[targets],
        )
        return balancer, targets

    def _scale(self) -> None:
        tasks = self._service.auto_scale_task_count(
            min_capacity=self._settings.gateway_tasks_min,
            max_capacity=self._settings.gateway_tasks_max,
        )
        tasks.scale_on_cpu_utilization(
            "Cpu",
            target_utilization_percent=_CPU_TARGET_PERCENT,
            scale_out_cooldown=_SCALE_OUT_PAUSE,
            scale_in_cooldown=_SCALE_IN_PAUSE,
        )

    def _watch(self, alarms: Alarms) -> None:
        failures = logs.MetricFilter(
            self,
            "Failures",
            log_group=self._task.log,
            filter_pattern=self._task.errors,
            metric_namespace="Graveler",
            # The log does not name the deployment, so the metric does.
            metric_name=f"{self._settings.name}-gateway-errors",
        )
        alarms.add(
            "gateway-errors",
            "Requests to the S3 gateway fail by our fault",
            failures.metric(period=PERIOD, statistic="Sum"),
            threshold=5,
        )
        metrics = self._targets.metrics
        alarms.add(
            "gateway-down",
            "No task of the S3 gateway answers",
            metrics.healthy_host_count(period=PERIOD, statistic="Maximum"),
            threshold=1,
            comparison=BELOW,
            is_silence_fault=True,
        )
        alarms.add(
            "gateway-unhealthy",
            "A task of the S3 gateway does not answer",
            metrics.un_healthy_host_count(period=PERIOD, statistic="Maximum"),
            threshold=1,
            periods=3,
        )
        alarms.add(
            "gateway-busy",
            "All tasks that the S3 gateway may have are busy",
            self._service.metric_cpu_utilization(period=PERIOD, statistic="Average"),
            threshold=_CPU_BUSY_PERCENT,
            periods=3,
        )

    def _add_outputs(self) -> None:
        settings, target = self._settings, self._balancer.load_balancer_dns_name
        scheme = "https" if settings.gateway_certificate_arn else "http"
        CfnOutput(self, "GatewayEndpoint", value=f"{scheme}://{settings.gateway_domain or target}")
        CfnOutput(self, "GatewayLog", value=self._task.log.log_group_name)
        if not settings.gateway_domain:
            return
        if not settings.hosted_zone_id:
            CfnOutput(
                self,
                "GatewayTarget",
                value=target,
                description=f"The target of a CNAME record of {settings.gateway_domain}",
            )
            return
        self._add_addresses()

    def _add_addresses(self) -> None:
        """Make the DNS records of the domain, and of the repositories below it."""
        domain = self._settings.gateway_domain
        zone = route53.HostedZone.from_hosted_zone_attributes(
            self,
            "Zone",
            hosted_zone_id=self._settings.hosted_zone_id,
            zone_name=domain.partition(".")[2],
        )
        target = route53.RecordTarget.from_alias(route53_targets.LoadBalancerTarget(self._balancer))
        for construct_id, host in (("Address", domain), ("Hosts", f"*.{domain}")):
            route53.ARecord(self, construct_id, zone=zone, record_name=f"{host}.", target=target)
