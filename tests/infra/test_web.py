"""The function of the web page: no layer, no permissions, and a policy with the buckets."""

import os
import subprocess
import sys
import zipfile
from urllib.parse import urlsplit

import boto3
import pytest

from graveler.aws.connect import s3_config
from graveler_functions.web.app import build_app
from graveler_functions.web.handler import PAGE
from infra.packages import function_code
from tests.support.worlds.page import show


def function_of(deployment):
    found = deployment.resources("AWS::Lambda::Function").values()
    return next(each for each in found if each["FunctionName"] == f"{deployment.name}-web")


def origins_of(deployment):
    variables = function_of(deployment)["Environment"]["Variables"]
    return deployment.flat(variables["GRAVELER_BUCKET_ORIGINS"]).split()


def sources_of(deployment):
    """Where the page may connect to, by the policy that a browser gets."""
    # CloudFormation knows the name of a bucket as it deploys.
    origins = [each.replace("<", "").replace(">", "") for each in origins_of(deployment)]
    policy = show(build_app(PAGE, origins), "/").headers["content-security-policy"]
    (sources,) = (each for each in policy.split("; ") if each.startswith("connect-src "))
    return sources.split()[1:]


def presigned(bucket, region="eu-west-1"):
    """A URL as the deployed API signs it."""
    s3 = boto3.client(
        "s3",
        region_name=region,
        aws_access_key_id="AKIA",
        aws_secret_access_key="secret",
        config=s3_config(None),
    )
    return s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "a/b"})


def is_allowed(url, sources):
    """Whether a policy with these sources lets a page read the URL (CSP, section 6.7.2.8)."""
    return any(
        url.startswith(source) if source.endswith("/") else _origin(url) == source
        for source in sources
    )


def _origin(url):
    split = urlsplit(url)
    return f"{split.scheme}://{split.netloc}"


def test_the_page_may_go_where_presigned_urls_lead(dev, prod, deployment_of):
    (made,) = dev.resources("AWS::S3::Bucket").keys() & {"RepositoriesCC43A267"}
    assert is_allowed(presigned(made.lower()), [each.lower() for each in sources_of(dev)])
    for bucket in ("company-graveler", "company-lake", "company-raw", "company-source"):
        assert is_allowed(presigned(bucket), sources_of(prod)), bucket
    for bucket in ("company-reports", "company-published", "company-backup", "anybodys"):
        assert not is_allowed(presigned(bucket), sources_of(prod)), bucket
    # A certificate of S3 covers no host with the dots of a bucket: its URLs have the name in paths.
    other = deployment_of("released")
    assert is_allowed(presigned("dotted.bucket"), sources_of(other))
    assert is_allowed(presigned("far", "us-west-2"), sources_of(other))
    assert not is_allowed(presigned("other.bucket"), sources_of(other))


def test_the_function_may_only_log_and_connects_to_nothing(deployment):
    function = function_of(deployment)
    actions = [each["Action"] for each in deployment.statements("web")]
    assert actions == [["logs:CreateLogStream", "logs:PutLogEvents"]]
    assert "Layers" not in function
    assert "VpcConfig" not in function
    assert "TracingConfig" not in function
    assert function["Architectures"] == ["arm64"]
    assert function["LoggingConfig"]["LogFormat"] == "JSON"
    assert function["Environment"]["Variables"].keys() == {"GRAVELER_BUCKET_ORIGINS"}


@pytest.mark.packages
def test_the_archive_serves_the_page_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("infra.packages.layers.OUTPUT", tmp_path)
    with zipfile.ZipFile(function_code("web")) as archive:
        archive.extractall(tmp_path / "task")
    program = (
        "from graveler_functions.web.handler import handler; "
        "event = {'rawPath': '/', 'requestContext': {'http': {'method': 'GET'}}}; "
        "print(handler(event, None)['statusCode'])"
    )
    command = [sys.executable, "-S", "-c", program]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path / "task")}
    said = subprocess.check_output(command, cwd=tmp_path, env=environment, text=True)
    assert said == "200\n"


@pytest.fixture(scope="module")
def behind_cloudfront(deployment_of):
    return deployment_of("cloudfront")


def test_cloudfront_keeps_assets_and_passes_all_else_through(behind_cloudfront):
    found = behind_cloudfront.one("AWS::CloudFront::Distribution")["DistributionConfig"]
    (origin,) = found["Origins"]
    assert origin["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    host = behind_cloudfront.flat(origin["DomainName"])
    assert host.endswith(".execute-api.eu-west-1.amazonaws.com")
    # AWS's names of managed policies: https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
    default = found["DefaultCacheBehavior"]
    assert default["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"  # CachingDisabled
    assert default["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"
    assert "DELETE" in default["AllowedMethods"]
    (assets,) = found["CacheBehaviors"]
    assert assets["PathPattern"] == "/assets/*"
    assert assets["CachePolicyId"] == "658327ea-f89d-4fab-a63d-7e88639e58f6"  # CachingOptimized
    for each in (default, assets):
        assert each["ViewerProtocolPolicy"] == "redirect-to-https"
        assert "FunctionAssociations" not in each
    # The API's own answers to errors: a page in place of a 404 would mislead clients.
    assert "CustomErrorResponses" not in found


def test_the_domain_is_cloudfronts_and_the_api_keeps_its_own_address(behind_cloudfront):
    found = behind_cloudfront.one("AWS::CloudFront::Distribution")["DistributionConfig"]
    assert found["Aliases"] == ["lake.example.com"]
    assert found["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert not behind_cloudfront.resources("AWS::ApiGatewayV2::DomainName")
    assert behind_cloudfront.one("AWS::ApiGatewayV2::Api")["DisableExecuteApiEndpoint"] is False
    record = behind_cloudfront.one("AWS::Route53::RecordSet")
    assert record["Name"] == "lake.example.com."
    assert ".DomainName>" in behind_cloudfront.flat(record["AliasTarget"]["DNSName"])
