"""The actions that CloudFormation needs for each resource type in the templates.

As of November 2026, with the names of AWS's "Service Authorization Reference". Not tried on AWS.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actions:
    """Actions of a service on resources; `@` is the deployment's name.

    A resource is the part of an ARN after the account; `arn:…` is a whole ARN, `*` is any.
    """

    service: str
    names: str
    resources: str = "*"
    condition: str = ""


_TAGS = "ListTagsForResource TagResource UntagResource"
_APIS = "arn:{partition}:apigateway:{region}::/*"
_DISTRIBUTIONS = "arn:{partition}:cloudfront::{account}:distribution/*"
_API = Actions("apigateway", "DELETE GET PATCH POST PUT", _APIS)
# API Gateway delivers access logs by a log delivery, and has a service-linked role for domains.
_API_LOG = Actions(
    "logs",
    "CreateLogDelivery DeleteLogDelivery DescribeLogGroups DescribeResourcePolicies GetLogDelivery "
    "ListLogDeliveries PutResourcePolicy UpdateLogDelivery",
)
_API_ROLE = Actions(
    "iam",
    "CreateServiceLinkedRole",
    "arn:{partition}:iam::{account}:role/aws-service-role/ops.apigateway.amazonaws.com/*",
)
_FUNCTION = Actions(
    "lambda",
    "AddPermission CreateAlias CreateFunction DeleteAlias DeleteFunction DeleteFunctionConcurrency "
    "GetAlias GetFunction GetFunctionCodeSigningConfig GetFunctionConfiguration "
    "GetFunctionRecursionConfig GetPolicy GetProvisionedConcurrencyConfig "
    "GetRuntimeManagementConfig ListTags ListVersionsByFunction PublishVersion "
    "PutFunctionConcurrency PutFunctionRecursionConfig RemovePermission TagResource UntagResource "
    "UpdateAlias UpdateFunctionCode UpdateFunctionConfiguration",
    "function:@-*",
)
_BUCKET = Actions(
    "s3",
    "CreateBucket DeleteBucket DeleteBucketPolicy GetBucketAcl GetBucketCORS GetBucketLogging "
    "GetBucketOwnershipControls GetBucketPolicy GetBucketPublicAccessBlock GetBucketTagging "
    "GetBucketVersioning GetEncryptionConfiguration GetLifecycleConfiguration ListBucket "
    "PutBucketCORS PutBucketLogging PutBucketOwnershipControls PutBucketPolicy "
    "PutBucketPublicAccessBlock PutBucketTagging PutBucketVersioning PutEncryptionConfiguration "
    "PutLifecycleConfiguration",
    "{buckets}",
)
_TOPIC = Actions(
    "sns",
    "CreateTopic DeleteTopic GetSubscriptionAttributes GetTopicAttributes ListSubscriptionsByTopic "
    "SetSubscriptionAttributes SetTopicAttributes Subscribe Unsubscribe " + _TAGS,
    "@-*",
)
_QUEUE = Actions(
    "sqs",
    "CreateQueue DeleteQueue GetQueueAttributes GetQueueUrl ListQueueTags SetQueueAttributes "
    "TagQueue UntagQueue",
    "@-*",
)
ROLE = Actions(
    "iam",
    "AttachRolePolicy CreateRole DeleteRole DeleteRolePolicy DetachRolePolicy GetRole "
    "GetRolePolicy ListAttachedRolePolicies ListRolePolicies PutRolePermissionsBoundary "
    "PutRolePolicy TagRole UntagRole UpdateAssumeRolePolicy UpdateRole UpdateRoleDescription",
    "arn:{partition}:iam::{account}:role/@-*",
)
_PASS_ROLE = Actions("iam", "PassRole", "arn:{partition}:iam::{account}:role/@-*", "passed")


def _service_role(service: str) -> Actions:
    """Return the action that creates a service-linked role, once in an account."""
    role = f"arn:{{partition}}:iam::{{account}}:role/aws-service-role/{service}.amazonaws.com/*"
    return Actions("iam", "CreateServiceLinkedRole", role)


# Of the S3 gateway. Resources in a VPC have no names, so tags identify ours. An action that creates
# one also needs the VPC, and no condition holds for both.
_NETWORK = (
    Actions(
        "ec2",
        "CreateInternetGateway CreateRouteTable CreateSecurityGroup CreateSubnet "
        "CreateTags CreateVpc CreateVpcEndpoint DescribeAccountAttributes "
        "DescribeAvailabilityZones DescribeInternetGateways DescribePrefixLists "
        "DescribeRouteTables DescribeSecurityGroupRules DescribeSecurityGroups DescribeSubnets "
        "DescribeTags DescribeVpcAttribute DescribeVpcEndpoints DescribeVpcs",
    ),
    Actions(
        "ec2",
        "AssociateRouteTable AttachInternetGateway AuthorizeSecurityGroupEgress "
        "AuthorizeSecurityGroupIngress CreateRoute DeleteInternetGateway DeleteRoute "
        "DeleteRouteTable DeleteSecurityGroup DeleteSubnet DeleteTags DeleteVpc "
        "DeleteVpcEndpoints DetachInternetGateway DisassociateRouteTable ModifySubnetAttribute "
        "ModifyVpcAttribute ModifyVpcEndpoint ReplaceRoute RevokeSecurityGroupEgress "
        "RevokeSecurityGroupIngress UpdateSecurityGroupRuleDescriptionsEgress "
        "UpdateSecurityGroupRuleDescriptionsIngress",
        "*",
        "ours",
    ),
)
_BALANCER = (
    Actions(
        "elasticloadbalancing",
        "AddListenerCertificates AddTags CreateListener CreateLoadBalancer DeleteListener "
        "DeleteLoadBalancer ModifyListener ModifyListenerAttributes ModifyLoadBalancerAttributes "
        "RemoveListenerCertificates RemoveTags SetSecurityGroups SetSubnets",
        "loadbalancer/net/@-s3/* listener/net/@-s3/*",
    ),
    # CloudFormation chooses the names of target groups.
    Actions("elasticloadbalancing", "CreateTargetGroup", "*", "tagged"),
    Actions(
        "elasticloadbalancing",
        "AddTags DeleteTargetGroup ModifyTargetGroup ModifyTargetGroupAttributes RemoveTags",
        "targetgroup/*",
        "ours",
    ),
    Actions(
        "elasticloadbalancing",
        "DescribeListenerAttributes DescribeListenerCertificates DescribeListeners "
        "DescribeLoadBalancerAttributes DescribeLoadBalancers DescribeTags "
        "DescribeTargetGroupAttributes DescribeTargetGroups DescribeTargetHealth",
    ),
    _service_role("elasticloadbalancing"),
)
_TASKS = (
    Actions(
        "ecs",
        "CreateCluster CreateService DeleteCluster DeleteService DescribeClusters "
        f"DescribeServices RegisterTaskDefinition UpdateCluster UpdateService {_TAGS}",
        "cluster/@-gateway service/@-gateway/@-gateway task-definition/@-gateway:*",
    ),
    Actions("ecs", "DeregisterTaskDefinition DescribeTaskDefinition"),
    _service_role("ecs"),
    _PASS_ROLE,
)
_SCALING = (
    Actions(
        "application-autoscaling",
        "DeleteScalingPolicy DeregisterScalableTarget PutScalingPolicy RegisterScalableTarget "
        + _TAGS,
        "scalable-target/*",
    ),
    Actions("application-autoscaling", "DescribeScalableTargets DescribeScalingPolicies"),
    _service_role("ecs.application-autoscaling"),
)

ACTIONS_BY_TYPE: Mapping[str, Sequence[Actions]] = {
    "ApplicationAutoScaling::ScalableTarget": _SCALING,
    "ApplicationAutoScaling::ScalingPolicy": _SCALING,
    "EC2::InternetGateway": _NETWORK,
    "EC2::Route": _NETWORK,
    "EC2::RouteTable": _NETWORK,
    "EC2::SecurityGroup": _NETWORK,
    "EC2::SecurityGroupEgress": _NETWORK,
    "EC2::SecurityGroupIngress": _NETWORK,
    "EC2::Subnet": _NETWORK,
    "EC2::SubnetRouteTableAssociation": _NETWORK,
    "EC2::VPC": _NETWORK,
    "EC2::VPCEndpoint": _NETWORK,
    "EC2::VPCGatewayAttachment": _NETWORK,
    "ECS::Cluster": _TASKS,
    "ECS::Service": _TASKS,
    "ECS::TaskDefinition": _TASKS,
    "ElasticLoadBalancingV2::Listener": _BALANCER,
    "ElasticLoadBalancingV2::LoadBalancer": _BALANCER,
    "ElasticLoadBalancingV2::TargetGroup": _BALANCER,
    "ApiGateway::BasePathMapping": (_API,),
    "ApiGateway::Deployment": (_API,),
    "ApiGateway::DomainName": (_API, _API_ROLE),
    "ApiGateway::Method": (_API,),
    "ApiGateway::Resource": (_API,),
    "ApiGateway::RestApi": (_API, Actions("apigateway", "UpdateRestApiPolicy", _APIS)),
    "ApiGateway::Stage": (_API, _API_LOG),
    "ApiGatewayV2::Api": (_API,),
    "ApiGatewayV2::ApiMapping": (_API,),
    "ApiGatewayV2::DomainName": (_API, _API_ROLE),
    "ApiGatewayV2::Integration": (_API,),
    "ApiGatewayV2::Route": (_API,),
    "ApiGatewayV2::Stage": (_API, _API_LOG),
    "Budgets::Budget": (
        Actions(
            "budgets",
            f"ModifyBudget ViewBudget {_TAGS}",
            "arn:{partition}:budgets::{account}:budget/@",
        ),
    ),
    "CloudFront::Distribution": (
        # AWS chooses the IDs of distributions, so tags identify ours.
        Actions(
            "cloudfront",
            f"CreateDistribution GetDistribution GetDistributionConfig {_TAGS}",
            _DISTRIBUTIONS,
        ),
        Actions("cloudfront", "DeleteDistribution UpdateDistribution", _DISTRIBUTIONS, "ours"),
    ),
    "CloudWatch::Alarm": (
        Actions("cloudwatch", f"DeleteAlarms PutMetricAlarm {_TAGS}", "alarm:@-*"),
        Actions("cloudwatch", "DescribeAlarms"),
    ),
    "CloudWatch::Dashboard": (
        Actions(
            "cloudwatch",
            f"DeleteDashboards GetDashboard PutDashboard {_TAGS}",
            "arn:{partition}:cloudwatch::{account}:dashboard/@",
        ),
    ),
    "CodeDeploy::Application": (
        Actions(
            "codedeploy",
            "CreateApplication DeleteApplication GetApplication ListTagsForResource TagResource "
            "UntagResource UpdateApplication",
            "application:@",
        ),
    ),
    "CodeDeploy::DeploymentGroup": (
        # CloudFormation also starts the deployments that move the alias, and waits for them.
        Actions(
            "codedeploy",
            "CreateDeployment CreateDeploymentGroup DeleteDeploymentGroup GetDeployment "
            "GetDeploymentGroup ListTagsForResource RegisterApplicationRevision StopDeployment "
            "TagResource UntagResource UpdateDeploymentGroup",
            "application:@ deploymentgroup:@/*",
        ),
        Actions("codedeploy", "GetDeploymentConfig"),
        _PASS_ROLE,
    ),
    "DynamoDB::Table": (
        Actions(
            "dynamodb",
            "CreateTable DeleteTable DescribeContinuousBackups DescribeContributorInsights "
            "DescribeKinesisStreamingDestination DescribeTable DescribeTimeToLive "
            "GetResourcePolicy ListTagsOfResource TagResource UntagResource "
            "UpdateContinuousBackups UpdateTable UpdateTimeToLive",
            "table/@-storage-*",
        ),
    ),
    # CloudFormation chooses its name, and may shorten it.
    "Events::Archive": (
        Actions("events", "CreateArchive DeleteArchive DescribeArchive UpdateArchive", "archive/*"),
    ),
    "Events::EventBus": (
        Actions(
            "events",
            f"CreateArchive CreateEventBus DeleteEventBus DescribeEventBus UpdateEventBus {_TAGS}",
            "event-bus/@",
        ),
    ),
    "Events::Rule": (
        Actions(
            "events",
            "DeleteRule DescribeRule DisableRule EnableRule ListTargetsByRule PutRule PutTargets "
            "RemoveTargets " + _TAGS,
            "rule/@-* rule/@/*",
        ),
    ),
    "Glue::Job": (
        Actions(
            "glue",
            "CreateJob DeleteJob GetJob GetTags TagResource UntagResource UpdateJob",
            "job/@-*",
        ),
        _PASS_ROLE,
    ),
    "Glue::SecurityConfiguration": (
        Actions(
            "glue",
            "CreateSecurityConfiguration DeleteSecurityConfiguration GetSecurityConfiguration",
        ),
    ),
    "IAM::ManagedPolicy": (
        Actions(
            "iam",
            "CreatePolicy CreatePolicyVersion DeletePolicy DeletePolicyVersion GetPolicy "
            "GetPolicyVersion ListEntitiesForPolicy ListPolicyVersions TagPolicy UntagPolicy",
            "arn:{partition}:iam::{account}:policy/@-*",
        ),
    ),
    "IAM::Role": (ROLE, _PASS_ROLE),
    "KMS::Key": (
        Actions("kms", "CreateKey TagResource", "*", "tagged"),
        Actions(
            "kms",
            # The last six are for the tables and the secrets.
            "DescribeKey DisableKey EnableKey EnableKeyRotation GetKeyPolicy GetKeyRotationStatus "
            "ListResourceTags PutKeyPolicy ScheduleKeyDeletion UntagResource UpdateKeyDescription "
            "CreateGrant Decrypt Encrypt GenerateDataKey ReEncryptFrom ReEncryptTo",
            "key/*",
            "ours",
        ),
    ),
    "Lambda::Alias": (_FUNCTION,),
    "Lambda::EventSourceMapping": (
        Actions(
            "lambda",
            "CreateEventSourceMapping DeleteEventSourceMapping GetEventSourceMapping ListTags "
            "TagResource UntagResource UpdateEventSourceMapping",
            "event-source-mapping:*",
        ),
        Actions("lambda", "CreateEventSourceMapping ListEventSourceMappings"),
    ),
    "Lambda::Function": (
        _FUNCTION,
        _PASS_ROLE,
        # Of functions in a VPC.
        Actions("ec2", "DescribeSecurityGroups DescribeSubnets DescribeVpcs"),
    ),
    "Lambda::LayerVersion": (
        # CloudFormation chooses its name.
        Actions("lambda", "DeleteLayerVersion GetLayerVersion PublishLayerVersion", "layer:*"),
    ),
    "Lambda::Permission": (_FUNCTION,),
    "Lambda::Version": (_FUNCTION,),
    "Logs::LogGroup": (
        Actions(
            "logs",
            "AssociateKmsKey CreateLogGroup DeleteLogGroup DeleteRetentionPolicy "
            f"DisassociateKmsKey PutRetentionPolicy {_TAGS}",
            "log-group:@-* log-group:/@-*",
        ),
        Actions("logs", "DescribeLogGroups"),
    ),
    "Logs::MetricFilter": (
        Actions(
            "logs", "DeleteMetricFilter DescribeMetricFilters PutMetricFilter", "log-group:/@-*"
        ),
    ),
    "Route53::RecordSet": (
        Actions(
            "route53",
            "ChangeResourceRecordSets GetHostedZone ListResourceRecordSets",
            "arn:{partition}:route53:::hostedzone/{zone}",
        ),
        Actions("route53", "GetChange", "arn:{partition}:route53:::change/*"),
    ),
    "S3::Bucket": (_BUCKET,),
    "S3::BucketPolicy": (_BUCKET,),
    "SNS::Subscription": (_TOPIC,),
    "SNS::Topic": (_TOPIC,),
    "SNS::TopicPolicy": (_TOPIC,),
    "SQS::Queue": (_QUEUE,),
    "SQS::QueuePolicy": (_QUEUE,),
    "Scheduler::Schedule": (
        Actions(
            "scheduler",
            "CreateSchedule DeleteSchedule GetSchedule UpdateSchedule",
            "schedule/default/@-*",
        ),
        _PASS_ROLE,
    ),
    "SecretsManager::Secret": (
        Actions(
            "secretsmanager",
            "CreateSecret DeleteSecret DescribeSecret GetResourcePolicy GetSecretValue "
            "PutSecretValue TagResource UntagResource UpdateSecret",
            "{secrets}",
        ),
        Actions("secretsmanager", "GetRandomPassword"),
    ),
    "WAFv2::WebACLAssociation": (
        Actions(
            "wafv2",
            "AssociateWebACL DisassociateWebACL GetWebACL GetWebACLForResource",
            f"regional/webacl/* {_APIS}",
        ),
        Actions("apigateway", "SetWebACL", _APIS),
    ),
}
