"""The network of the S3 gateway: a VPC of its own, or subnets of the settings.

The own VPC has no NAT gateway. Tasks reach S3 and DynamoDB by gateway endpoints, which are free.
They reach other services by public addresses of their own, which docs/cost.md compares with
interface endpoints. Only the load balancer may connect to a task.
"""

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from infra.settings import InfraSettings
from infra.settings.rules import PUBLIC

# The port on which the program listens.
TASK_PORT = 8080

_ZONES = 2
# Enough for each zone's 59 tasks and load balancer.
_NETWORK = "10.71.0.0/25"
_SUBNET_BITS = 26

_HTTPS = ec2.Port.tcp(443)
_ANYWHERE = ("0.0.0.0/0", "::/0")


class Network(Construct):
    """The subnets of the load balancer and the tasks, and the rules of their connections."""

    def __init__(self, scope: Construct, settings: InfraSettings) -> None:
        super().__init__(scope, "Network")
        self.is_public = settings.gateway == PUBLIC
        self.is_encrypted = bool(settings.gateway_certificate_arn)
        self.port = 443 if self.is_encrypted else 80
        self.vpc = self._find_vpc(settings) if settings.gateway_vpc else self._make_vpc(settings)
        self.subnets = ec2.SubnetSelection(
            subnets=self.vpc.public_subnets if self.is_public else self.vpc.private_subnets
        )
        self.balancer_group = self._make_group("Balancer", "The load balancer of the S3 gateway")
        self.task_group = self._make_group("Tasks", "The tasks of the S3 gateway")
        self._connect(settings)

    def _make_vpc(self, settings: InfraSettings) -> ec2.IVpc:
        vpc = ec2.Vpc(
            self,
            "Vpc",
            vpc_name=f"{settings.name}-gateway",
            ip_addresses=ec2.IpAddresses.cidr(_NETWORK),
            max_azs=_ZONES,
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=_SUBNET_BITS,
                    # The service requests addresses for its tasks.
                    map_public_ip_on_launch=False,
                )
            ],
        )
        vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
        vpc.add_gateway_endpoint("DynamoDB", service=ec2.GatewayVpcEndpointAwsService.DYNAMODB)
        return vpc

    def _find_vpc(self, settings: InfraSettings) -> ec2.IVpc:
        """Return the VPC of the settings. The zones are placeholders, and not used."""
        subnets = list(settings.gateway_subnets)
        zones = [f"{Stack.of(self).region}-{number}" for number in range(len(subnets))]
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=settings.gateway_vpc,
            availability_zones=zones,
            public_subnet_ids=subnets if self.is_public else None,
            private_subnet_ids=None if self.is_public else subnets,
        )

    def _make_group(self, construct_id: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self,
            construct_id,
            vpc=self.vpc,
            description=description,
            allow_all_outbound=False,
        )

    def _connect(self, settings: InfraSettings) -> None:
        """Allow connections of clients to the load balancer, of it to tasks, of tasks to AWS."""
        for network in settings.gateway_clients or _ANYWHERE:
            peer = ec2.Peer.ipv6(network) if ":" in network else ec2.Peer.ipv4(network)
            self.balancer_group.add_ingress_rule(peer, ec2.Port.tcp(self.port), "Clients of S3")
        # One rule for each end. CDK's `connections` would write the same as separate resources.
        task_port = ec2.Port.tcp(TASK_PORT)
        self.balancer_group.add_egress_rule(self.task_group, task_port, "Requests and health")
        self.task_group.add_ingress_rule(self.balancer_group, task_port, "Requests and health")
        self.task_group.add_egress_rule(ec2.Peer.any_ipv4(), _HTTPS, "Services of AWS")
