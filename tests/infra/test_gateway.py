"""The S3 gateway on Fargate: who reaches it, how it is replaced, and what it is told."""

import json
from typing import Any

import pytest

from graveler.aws.settings import DeploymentSettings
from graveler_gateway.server.settings import GatewaySettings, ServerSettings
from tests.support.worlds.shapes import GATEWAY, INTERNAL


@pytest.fixture
def internal(deployment_of):
    """The stage dev, with a gateway in a VPC that exists."""
    return deployment_of("private")


@pytest.fixture
def economical(deployment_of):
    """A deployment without a key, and a gateway of its own VPC."""
    return deployment_of("economy-gateway")


def attributes(properties: dict[str, Any], name: str) -> dict[str, str]:
    return {each["Key"]: each["Value"] for each in properties[f"{name}Attributes"]}


def container(deployment) -> dict[str, Any]:
    (found,) = deployment.one("AWS::ECS::TaskDefinition")["ContainerDefinitions"]
    assert isinstance(found, dict)
    return found


def variables(deployment) -> dict[str, str]:
    return {
        each["Name"]: deployment.flat(each["Value"])
        for each in container(deployment)["Environment"]
    }


def rules(deployment, group: str, direction: str) -> set[tuple[str, int]]:
    """Who may connect where: the other side, and the port."""
    (logical_id,) = (
        each for each in deployment.resources("AWS::EC2::SecurityGroup") if each.startswith(group)
    )
    own = deployment.resources("AWS::EC2::SecurityGroup")[logical_id]
    inline = own.get(f"SecurityGroup{direction}", [])
    apart = [
        each
        for each in deployment.resources(f"AWS::EC2::SecurityGroup{direction}").values()
        if deployment.flat(each["GroupId"]) == f"<{logical_id}.GroupId>"
    ]
    sides = ("CidrIp", "CidrIpv6", "SourceSecurityGroupId", "DestinationSecurityGroupId")
    return {
        (deployment.flat(each[side]).partition("A")[0], each["ToPort"])
        for each in [*inline, *apart]
        for side in sides
        if side in each
    }


def test_there_is_none_unless_the_settings_choose_it(dev):
    assert not (dev.folder / "graveler-dev-gateway.template.json").exists()
    for stack in (dev.storage, dev.service):
        assert "gateway" not in json.dumps(stack).lower().replace("apigateway", "")


def test_only_the_networks_of_the_settings_connect_and_only_to_the_load_balancer(prod):
    clients = {("192.0.2.0/24", 443), ("2001:db8::/32", 443)}
    assert rules(prod, "NetworkBalancer", "Ingress") == clients
    assert rules(prod, "NetworkBalancer", "Egress") == {("<NetworkTasks9BB5996E.GroupId>", 8080)}
    assert {port for _, port in rules(prod, "NetworkTasks", "Ingress")} == {8080}
    (source, _) = rules(prod, "NetworkTasks", "Ingress").pop()
    assert source.startswith("<NetworkBalancer")
    assert rules(prod, "NetworkTasks", "Egress") == {("0.0.0.0/0", 443)}


def test_its_own_network_has_no_nat_gateway_and_reaches_the_stores_by_gateway_endpoints(prod):
    assert not prod.resources("AWS::EC2::NatGateway")
    endpoints = prod.resources("AWS::EC2::VPCEndpoint").values()
    assert {each["VpcEndpointType"] for each in endpoints} == {"Gateway"}
    services = {prod.flat(each["ServiceName"]).rpartition(".")[2] for each in endpoints}
    assert services == {"s3", "dynamodb"}
    assert len(prod.resources("AWS::EC2::Subnet")) == 2
    network = prod.one("AWS::ECS::Service")["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert network["AssignPublicIp"] == "ENABLED"


def test_an_internal_gateway_makes_no_network_and_has_no_public_address(internal):
    for kind in ("VPC", "Subnet", "InternetGateway", "VPCEndpoint"):
        assert not internal.resources(f"AWS::EC2::{kind}")
    subnets = INTERNAL["gateway_subnets"].split(",")
    balancer = internal.one("AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert (balancer["Scheme"], balancer["Subnets"]) == ("internal", subnets)
    network = internal.one("AWS::ECS::Service")["NetworkConfiguration"]["AwsvpcConfiguration"]
    assert (network["AssignPublicIp"], network["Subnets"]) == ("DISABLED", subnets)
    for each in internal.resources("AWS::EC2::SecurityGroup").values():
        assert each["VpcId"] == INTERNAL["gateway_vpc"]


def test_the_load_balancer_speaks_tls_if_it_has_a_certificate(prod, internal):
    listener = prod.one("AWS::ElasticLoadBalancingV2::Listener")
    assert (listener["Protocol"], listener["Port"]) == ("TLS", 443)
    assert listener["Certificates"] == [{"CertificateArn": GATEWAY["gateway_certificate_arn"]}]
    assert "TLS13-1-2" in listener["SslPolicy"]
    plain = internal.one("AWS::ElasticLoadBalancingV2::Listener")
    assert (plain["Protocol"], plain["Port"]) == ("TCP", 80)


def test_the_load_balancer_passes_on_bytes_and_addresses_of_clients_within_a_zone(prod):
    balancer = prod.one("AWS::ElasticLoadBalancingV2::LoadBalancer")
    assert balancer["Type"] == "network"
    assert attributes(balancer, "LoadBalancer")["load_balancing.cross_zone.enabled"] == "false"
    targets = prod.one("AWS::ElasticLoadBalancingV2::TargetGroup")
    assert attributes(targets, "TargetGroup")["preserve_client_ip.enabled"] == "true"
    assert (targets["HealthCheckProtocol"], targets["HealthCheckPath"]) == ("HTTP", "/_health")
    assert targets["TargetType"] == "ip"


def test_a_new_version_runs_before_the_old_one_ends_and_goes_back_if_it_does_not_start(prod):
    service = prod.one("AWS::ECS::Service")
    rollout = service["DeploymentConfiguration"]
    assert rollout["DeploymentCircuitBreaker"] == {"Enable": True, "Rollback": True}
    assert (rollout["MinimumHealthyPercent"], rollout["MaximumPercent"]) == (100, 200)
    # A deployment does not end tasks that the load has asked for.
    assert "DesiredCount" not in service


def test_the_service_is_made_after_the_listener_that_sends_to_it(prod):
    (service,) = (
        each for each in prod.gateway["Resources"].values() if each["Type"] == "AWS::ECS::Service"
    )
    (listener,) = prod.resources("AWS::ElasticLoadBalancingV2::Listener")
    assert listener in service["DependsOn"]


def test_requests_under_way_finish_before_a_task_is_killed(prod):
    stop_s = ServerSettings.from_environment(variables(prod)).stop_s
    assert stop_s < container(prod)["StopTimeout"] <= 120  # Fargate's limit
    targets = prod.one("AWS::ElasticLoadBalancingV2::TargetGroup")
    delay = attributes(targets, "TargetGroup")["deregistration_delay.timeout_seconds"]
    assert int(delay) >= 60


def test_the_load_decides_how_many_tasks_run(prod):
    bounds = prod.one("AWS::ApplicationAutoScaling::ScalableTarget")
    assert (bounds["MinCapacity"], bounds["MaxCapacity"]) == (3, 12)
    policy = prod.one("AWS::ApplicationAutoScaling::ScalingPolicy")
    target = policy["TargetTrackingScalingPolicyConfiguration"]
    assert target["TargetValue"] == 60
    metric = target["PredefinedMetricSpecification"]["PredefinedMetricType"]
    assert metric == "ECSServiceAverageCPUUtilization"


def test_a_task_has_the_size_of_the_settings_and_a_process_for_each_processor(prod, internal):
    for deployment, cpu, workers in ((prod, 2048, 2), (internal, 512, 1)):
        task = deployment.one("AWS::ECS::TaskDefinition")
        assert (task["Cpu"], task["Memory"]) == (str(cpu), str(2 * cpu))
        assert task["RuntimePlatform"]["CpuArchitecture"] == "ARM64"
        assert ServerSettings.from_environment(variables(deployment)).workers == workers


def test_the_program_accepts_its_variables(prod):
    told = variables(prod)
    assert GatewaySettings.from_environment(told).domains == ("s3.example.com",)
    server = ServerSettings.from_environment(told)
    assert server.port == container(prod)["PortMappings"][0]["ContainerPort"] == 8080
    stores = DeploymentSettings.from_environment(told)
    assert stores.refs_table == "<Refs48288B5D>"
    assert stores.kms_key_id == "<Key961B73FD>"
    known = {name for name in told if name.startswith("GRAVELER_")}
    assert known == {
        "GRAVELER_GATEWAY_DOMAINS",
        "GRAVELER_GATEWAY_PORT",
        "GRAVELER_GATEWAY_STOP_S",
        "GRAVELER_GATEWAY_WORKERS",
        "GRAVELER_KMS_KEY_ID",
        "GRAVELER_REFS_TABLE",
        "GRAVELER_STAGING_TABLE",
    }


def test_no_secret_is_in_the_template(prod, economical):
    for each in (prod, economical):
        assert "Secrets" not in container(each)
    secret = economical.flat(variables(economical)["GRAVELER_CIPHER_SECRET_ARN"])
    assert secret.startswith("<Secret")
    (read,) = (each for each in economical.statements("gateway") if each["Sid"] == "Secrets")
    assert read["Action"] == ["secretsmanager:GetSecretValue"]
    assert "resolve:secretsmanager" not in json.dumps(economical.gateway)


def test_the_log_is_encrypted_with_the_key_and_kept_as_the_others(prod):
    (log,) = (
        each["Properties"]
        for each in prod.gateway["Resources"].values()
        if each["Type"] == "AWS::Logs::LogGroup"
    )
    assert prod.flat(log["KmsKeyId"]) == "<Key961B73FD.Arn>"
    assert log["RetentionInDays"] == 90
    options = container(prod)["LogConfiguration"]["Options"]
    assert prod.flat(options["awslogs-group"]) == "<TaskLog2A1470CD>"
    assert options["mode"] == "non-blocking"


def test_lines_of_failures_raise_an_alarm_of_this_deployment_alone(prod):
    found = prod.one("AWS::Logs::MetricFilter")
    assert found["FilterPattern"] == '{ $.level = "ERROR" }'
    (metric,) = found["MetricTransformations"]
    assert (metric["MetricNamespace"], metric["MetricName"]) == (
        "Graveler",
        "graveler-prod-gateway-errors",
    )
    (alarm,) = (
        each
        for each in prod.resources("AWS::CloudWatch::Alarm").values()
        if each["AlarmName"] == "graveler-prod-gateway-errors"
    )
    assert (alarm["Namespace"], alarm["MetricName"]) == ("Graveler", metric["MetricName"])


def test_the_domain_and_the_repositories_below_it_lead_to_the_load_balancer(prod):
    names = {
        each["Name"]
        for each in prod.resources("AWS::Route53::RecordSet").values()
        if "Balancer" in json.dumps(each["AliasTarget"])
    }
    assert names == {"s3.example.com.", "*.s3.example.com."}


def test_the_image_is_built_for_arm_from_the_folder_of_this_checkout(prod):
    assets = json.loads((prod.folder / "graveler-prod-gateway.assets.json").read_text())
    (image,) = assets["dockerImages"].values()
    assert image["source"]["platform"] == "linux/arm64"
    folder = prod.folder / image["source"]["directory"]
    names = {path.name for path in folder.iterdir()}
    assert names == {"Dockerfile", "LICENSE", "requirements.txt", "graveler", "graveler_gateway"}


def test_a_folder_without_cdk_refuses_the_gateway(synths, tmp_path):
    done = synths.run(tmp_path, "dev", INTERNAL, program="infra.dist")
    assert done.returncode == 1
    assert "a folder without CDK cannot hold its image" in done.stderr
    assert "Traceback" not in done.stderr
