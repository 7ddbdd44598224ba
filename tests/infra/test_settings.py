"""A wrong context ends the synth with a message that says what to set."""

import pytest

from graveler_functions.telemetry import Metrics
from infra.settings import InfraSettings, NoStageError, SettingsError
from infra.settings.rules import METRICS
from infra.settings.s3_locations import S3Location
from tests.support.checks.cases import for_each
from tests.support.worlds.shapes import ENDPOINT, WEB_ACL

PROD = {"stage": "prod", "alarm_email": "ops@example.com"}


def settings(**context):
    return InfraSettings.of({"stage": "dev", **context})


def refusal(**context) -> str:
    with pytest.raises(SettingsError) as refused:
        settings(**context)
    return str(refused.value)


def test_a_stage_needs_no_more_than_its_name():
    assert settings().name == "graveler-dev"
    assert not settings().is_production


def test_production_needs_an_address_for_alarms():
    assert settings(**PROD).is_production
    assert "`-c alarm_email=you@example.com`" in refusal(stage="prod")


TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"


def test_production_may_have_a_topic_in_place_of_an_address():
    assert settings(stage="prod", alarm_topic_arn=TOPIC).alarm_topic_arn == TOPIC
    assert "both set" in refusal(**PROD, alarm_topic_arn=TOPIC)
    for wrong in ("alarms", f"{TOPIC}.fifo"):
        assert "ARN of a topic" in refusal(alarm_topic_arn=wrong)


def test_a_budget_has_somebody_to_tell():
    assert "tells nobody" in refusal(monthly_budget_usd=50)
    assert settings(monthly_budget_usd="50", alarm_topic_arn=TOPIC).monthly_budget_usd == 50


@for_each("stage", [None, "", "staging", 1, "DEV"])
def test_a_wrong_stage_is_refused_with_the_right_ones(stage):
    assert "-c stage=dev` or `-c stage=prod`" in refusal(stage=stage)


def test_the_command_line_overrides_the_file():
    stages = {"dev": {"log_days": 30, "requests_per_s": 7}}
    found = settings(stages=stages, log_days="90")
    assert (found.log_days, found.requests_per_s) == (90, 7)


def test_metrics_are_what_the_functions_understand():
    assert set(METRICS) == set(Metrics)
    assert settings().metrics == "service"
    for wrong in ("", "all"):
        assert "metrics is" in refusal(metrics=wrong)


def test_rollouts_are_known_by_name():
    assert settings().rollout == "at-once"
    for each in ("at-once", "canary", "linear"):
        assert settings(rollout=each).rollout == each
    assert "rollout is 'all'" in refusal(rollout="all")


def test_lists_are_written_with_commas_or_as_json():
    by_commas = settings(namespaces="s3://one-bucket/a/, s3://two-bucket")
    assert by_commas.namespaces == (S3Location("one-bucket", "a/"), S3Location("two-bucket", ""))
    stages = {"dev": {"namespaces": ["s3://one-bucket/a/", "s3://two-bucket"]}}
    assert settings(stages=stages).namespaces == by_commas.namespaces


@for_each(
    ("name", "nearest"),
    [
        ("gc_delete", "gc_deletes"),
        ("gc-deletes", "gc_deletes"),
        ("log_day", "log_days"),
        ("alarm_mail", "alarm_email"),
        ("Namespaces", "namespaces"),
    ],
)
def test_a_misspelled_setting_is_refused_with_the_nearest_name(name, nearest):
    assert f"{name} is no setting, on the command line" in refusal(**{name: "false"})
    assert f"did you mean {nearest}?" in refusal(**{name: "false"})
    in_file = refusal(stages={"dev": {name: "false"}})
    assert f"under `stages.dev` in cdk.json: did you mean {nearest}?" in in_file


def test_a_name_that_is_near_to_no_setting_is_refused_with_all_settings():
    message = refusal(xyzzy="1")
    assert "xyzzy is no setting" in message
    assert "there are access_log, alarm_email, alarm_topic_arn," in message


def test_a_misspelled_stage_is_refused_with_its_name():
    with pytest.raises(SettingsError) as refused:
        InfraSettings.of({"stgae": "dev"})
    assert "did you mean stage?" in str(refused.value)
    assert not isinstance(refused.value, NoStageError)
    assert "stages.test in cdk.json is no stage" in refusal(stages={"test": {}})


@for_each(
    ("context", "told"),
    [
        ({"stages": "prod"}, "stages is 'prod': it belongs into cdk.json, as an object"),
        ({"deployments": {"lake": None}}, "deployments.lake in cdk.json is None: set it to"),
        ({"deployments": {"lake": ["log_days"]}}, "deployments.lake in cdk.json is ['log_days']"),
    ],
)
def test_a_part_of_the_file_that_is_no_object_is_refused(context, told):
    assert told in refusal(**context)


@for_each("name", ["lake", "graveler-prod-team-a", "a", "x1-2", "a" * 25])
def test_a_deployment_may_have_a_name_of_its_own(name):
    assert settings(name=name).name == name


@for_each(
    "name",
    [
        "Lake",
        "1lake",
        "lake-",
        "lake--a",
        "lake_a",
        "-lake",
        "a" * 26,
        "lake-storage",
        "graveler-dev-gateway",
        "läke",
    ],
)
def test_a_name_that_some_resource_could_not_have_is_refused(name):
    assert f"name is {name!r}: set at most 25 lower-case letters" in refusal(name=name)


def test_a_deployment_does_not_take_the_name_of_the_other_stage():
    assert "name is 'graveler-prod', which is another stage's" in refusal(name="graveler-prod")
    assert settings(name="graveler-dev") == settings()


def test_each_deployment_may_have_settings_of_its_own_in_the_file():
    given = {
        "stages": {"dev": {"log_days": 30, "requests_per_s": 7, "archive_days": 3}},
        "deployments": {"team-a": {"log_days": 90, "archive_days": 5}, "team-b": {"log_days": 1}},
    }
    found = settings(**given, name="team-a", archive_days="9")
    assert (found.log_days, found.requests_per_s, found.archive_days) == (90, 7, 9)
    assert settings(**given).log_days == 30
    assert "under `deployments.team-a` in cdk.json: did you mean log_days?" in refusal(
        deployments={"team-a": {"log_day": 1}}
    )
    assert "name is no setting, under `stages.dev`" in refusal(stages={"dev": {"name": "team-a"}})


def test_settings_of_the_other_stage_are_checked_as_well():
    assert "under `stages.prod`" in refusal(stages={"dev": {}, "prod": {"log_day": 1}})


def test_what_cdk_itself_puts_into_the_context_is_no_setting():
    of_cdk = {
        "@aws-cdk/core:checkSecretUsage": True,
        "@aws-cdk/core:bootstrapQualifier": "team",
        "aws:cdk:enable-path-metadata": True,
        "aws:cdk:bundling-stacks": [],
        "vpc-provider:account=123456789012:filter.isDefault=true:region=eu-west-1": {},
        "availability-zones:account=123456789012:region=eu-west-1": [],
        "acknowledged-issue-numbers": [19836],
        "cli-telemetry": False,
    }
    assert settings(**of_cdk) == settings()


def test_a_context_without_a_stage_is_told_apart_for_commands_that_need_none():
    with pytest.raises(NoStageError):
        InfraSettings.of({"stages": {"dev": {}}, "aws:cdk:version-reporting": False})


@for_each(
    "name",
    [
        "ab",
        "Company-Lake",
        "company_lake",
        "-company",
        "company-",
        "company..lake",
        "192.168.1.4",
        "xn--company",
        "company-s3alias",
        "company--ol-s3",
        "a" * 64,
        "company lake",
        "",
    ],
)
def test_a_bucket_name_that_s3_would_not_take_is_refused(name):
    if name:  # no name is no setting
        assert "repository_bucket" in refusal(repository_bucket=name)
        assert "`create`" in refusal(repository_bucket=name)
    assert "is not a valid bucket name" in refusal(exports=f"s3://{name}/exports/")


@for_each("name", ["abc", "company-lake", "company.lake.1", "a" * 63, "1-2"])
def test_a_bucket_name_that_s3_accepts_is_accepted(name):
    assert settings(repository_bucket=name).repository_bucket == name


@for_each("uri", ["company-lake", "gs://company-lake/", "s3:/company-lake", "s3://"])
def test_a_place_that_is_not_in_s3_is_refused(uri):
    assert "namespaces: " in refusal(namespaces=uri)


@for_each("prefix", ["*", "lake/?", "${aws:username}/", "läke/"])
def test_a_prefix_that_a_policy_would_understand_otherwise_is_refused(prefix):
    assert "IAM policies cannot name" in refusal(namespaces=f"s3://company-lake/{prefix}")


@for_each(
    ("context", "told"),
    [
        ({"log_days": 15}, "log_days is 15: set it to one of"),
        ({"requests_per_s": 0}, "requests_per_s is 0: set it to 1 to"),
        ({"requests_per_s": "many"}, "requests_per_s: 'many' is not a whole number"),
        ({"requests_per_s": True}, "requests_per_s: True is not a whole number"),
        ({"exports_at_once": 1}, "exports_at_once is 1: set it to 2 to"),
        (
            {"provisioned_concurrency": 201},
            "provisioned_concurrency is 201, but only 200 requests run at once: lower it, or raise",
        ),
        ({"api_reserved": 0}, "api_reserved is 0: set it to 1 to"),
        ({"hooks_at_once": 1}, "hooks_at_once is 1: set it to 2 to"),
        ({"asset_key": "alias/mine"}, "asset_key is 'alias/mine': set it to the ARN of a KMS key"),
        ({"snap_start": "on"}, "snap_start: 'on' is neither true nor false"),
        (
            {"snap_start": True, "provisioned_concurrency": 1},
            "snap_start and provisioned_concurrency exclude each other",
        ),
        ({"economy": True, "traces": True}, "traces is set, but economy has none"),
        ({"tasks_at_once": 1}, "tasks_at_once is 1: set it to 2 to"),
        ({"slices_at_once": 0}, "slices_at_once is 0: set it to 1 to"),
        ({"request_work_s": 25}, "request_work_s is 25: set it to 1 to 20"),
        ({"gc_deletes": "maybe"}, "gc_deletes: 'maybe' is neither true nor false"),
        ({"dump_schedule": "daily", "dump_place": "s3://backup/"}, "dump_schedule is 'daily': set"),
        ({"dump_schedule": "rate(1 day)"}, "dump_schedule and dump_place go together"),
        ({"dump_place": "s3://backup/"}, "dump_schedule and dump_place go together"),
        ({"dump_schedule": "rate(1 day)", "dump_place": "s3://backup/x"}, "end it with /"),
        (
            {"dump_schedule": "rate(1 day)", "dump_place": "s3://one-bucket/,s3://two-bucket/"},
            "set one",
        ),
        (
            {
                "dump_schedule": "rate(1 day)",
                "dump_place": "s3://my-lake/x/",
                "namespaces": "s3://my-lake/",
            },
            "dump_place: s3://my-lake/x/ overlaps with s3://my-lake/",
        ),
        ({"gc_schedule": "rate(0 days)"}, "gc_schedule is 'rate(0 days)': set it to"),
        ({"dump_schedule": "cron(0 3 * * SUN *)", "dump_place": "s3://backup/"}, "cron(0 2 * * ?"),
        ({"hook_networks": "10.0.0.1/8"}, "hook_networks is '10.0.0.1/8': set networks such as"),
        ({"hook_networks": "10.0.0.0/33"}, "hook_networks is '10.0.0.0/33': set networks such"),
        ({"hook_networks": "999.0.0.0/8"}, "hook_networks is '999.0.0.0/8': set networks such"),
        ({"gc_schedule": "daily"}, "gc_schedule is 'daily': set it to `rate(7 days)`"),
        ({"gc_repositories": "UPPER"}, "gc_repositories is 'UPPER'"),
        ({"alarm_email": "nobody"}, "alarm_email is 'nobody'"),
        ({"cors_origins": "app.example.com"}, "cors_origins is 'app.example.com'"),
        ({"cors_origins": "*,https://app.example.com"}, "cors_origins is `*` and more"),
        ({"bucket_origins": "https://*.amazonaws.com"}, "bucket_origins is 'https://*.amazonaws"),
        ({"bucket_origins": "http://lake.example.com"}, "bucket_origins is 'http://lake"),
        ({"bucket_keys": "alias/company"}, "bucket_keys is 'alias/company'"),
        ({"domain_name": "lake.example.com"}, "domain_name and certificate_arn go together"),
        ({"hosted_zone_id": "Z0123456789ABC"}, "hosted_zone_id is set without a domain_name"),
        ({"repository_bucket": "none"}, "set `-c namespaces=s3://bucket/prefix`"),
        ({"namespaces": 5}, "namespaces: 5 is not a list"),
        ({"tags": "team"}, "tags is 'team': set tags such as team=lake"),
        ({"tags": "aws:team=lake"}, "tags is 'aws:team=lake'"),
        ({"tags": "graveler:name=lake"}, "tags is 'graveler:name=lake'"),
        ({"tags": "team=lake,team=sea"}, "tags has 'team' twice"),
        ({"permissions_boundary": "company"}, "set it to the ARN of a policy of IAM"),
        ({"undelete_days": -1}, "undelete_days: -1 is not a whole number"),
        ({"gc_deletions_max": "all"}, "gc_deletions_max: 'all' is not a whole number"),
        ({"stages": {"dev": {"stage": "dev"}}}, "stage is no setting"),
    ],
)
def test_a_wrong_value_is_refused_with_a_right_one(context, told):
    assert told in refusal(**context)


@for_each(
    ("exports", "namespaces"),
    [
        ("s3://lake/exports/", "s3://lake"),
        ("s3://lake", "s3://lake/repositories/"),
        ("s3://lake/a/", "s3://other/,s3://lake/a/b/"),
        # A policy names a prefix, and this one begins like that.
        ("s3://lake/a-exports/", "s3://lake/a"),
    ],
)
def test_exports_and_repositories_have_places_apart(exports, namespaces):
    told = refusal(exports=exports, namespaces=namespaces)
    assert f"exports: {exports} overlaps with s3://lake" in told.replace(
        "s3://lake/ ", "s3://lake "
    )
    assert "do not overlap" in refusal(exports=exports, repository_bucket="lake")


def test_tasks_do_not_invoke_more_slices_than_the_reservation_lets_run():
    wanted = {
        "tasks_at_once": 8,
        "hooks_at_once": 2,
        "slices_at_once": 9,
        "slices_reserved": 80,
    }
    told = refusal(**wanted, reserve_concurrency=True)
    assert "slices_reserved is 80, but 10 tasks apply 90 slices at once: set it to 90" in told
    assert settings(**wanted).slices_reserved == 80  # nothing is reserved


def test_one_bucket_may_have_both():
    apart = settings(exports="s3://lake/exports/", namespaces="s3://lake/repositories/,s3://other")
    assert [each.uri for each in apart.exports] == ["s3://lake/exports/"]


def test_all_problems_are_reported_at_once():
    assert len(refusal(log_days=15, exports_at_once=1, alarm_email="x").splitlines()) == 3


def test_restored_tables_are_named_both_by_their_arns():
    table = "arn:aws:dynamodb:eu-west-1:123456789012:table/restored"
    stream = f"{table}/stream/2026-11-20T13:00:00.000"
    assert settings(restored_refs=stream, restored_staging=table).restored_refs == stream
    assert "go together" in refusal(restored_refs=stream)
    assert "ARN of the stream" in refusal(restored_refs=table, restored_staging=table)
    assert "ARN of the restored staging table" in refusal(
        restored_refs=stream, restored_staging="restored"
    )


SUBNET, GROUP = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"


def test_a_network_is_whole():
    whole = settings(vpc_subnets=SUBNET, vpc_security_groups=GROUP)
    assert not whole.has_rest_api
    assert "go together" in refusal(vpc_subnets=SUBNET)
    assert "go together" in refusal(vpc_security_groups=GROUP)
    assert "set IDs of subnets" in refusal(vpc_subnets="10.0.0.0/8", vpc_security_groups=GROUP)
    assert "set IDs of security groups" in refusal(vpc_subnets=SUBNET, vpc_security_groups="all")


def test_an_api_is_private_or_has_a_domain():
    assert settings(vpc_endpoints=ENDPOINT).has_rest_api
    assert "set IDs of VPC endpoints" in refusal(vpc_endpoints="execute-api")
    domain = {"domain_name": "lake.example.com", "certificate_arn": CERTIFICATE}
    assert "remove it, or vpc_endpoints" in refusal(vpc_endpoints=ENDPOINT, **domain)
    assert settings(web_acl_arn=WEB_ACL, **domain).has_rest_api


VPC = {"gateway_vpc": "vpc-0123456789abcdef0", "gateway_subnets": f"{SUBNET},{SUBNET[:-1]}1"}
DOMAIN = {"gateway_domain": "s3.example.com"}


def test_no_gateway_is_deployed_unless_it_is_chosen():
    assert not settings().has_gateway
    assert settings(gateway="internal", **VPC).has_gateway
    assert "gateway is 'yes': set it to one of" in refusal(gateway="yes")


def test_a_public_gateway_speaks_tls():
    assert "would cross the internet unencrypted" in refusal(gateway="public")
    tls = {**DOMAIN, "gateway_certificate_arn": CERTIFICATE}
    assert settings(gateway="public", **tls).gateway_certificate_arn == CERTIFICATE
    assert "without its gateway_domain" in refusal(gateway_certificate_arn=CERTIFICATE)
    api = {"domain_name": "s3.example.com", "certificate_arn": CERTIFICATE}
    assert "gateway_domain is the domain_name of the API" in refusal(**DOMAIN, **api)


def test_an_internal_gateway_is_in_a_vpc_with_clients():
    assert "where its clients are" in refusal(gateway="internal")
    assert "go together" in refusal(gateway_vpc=VPC["gateway_vpc"])
    one = {**VPC, "gateway_subnets": SUBNET}
    assert "gateway_subnets has one subnet" in refusal(gateway="internal", **one)
    assert "ID of a VPC" in refusal(**{**VPC, "gateway_vpc": "10.0.0.0/8"})


def test_a_gateway_survives_the_loss_of_a_zone():
    assert "gateway_tasks_min is 1: set it to 2 to" in refusal(gateway_tasks_min=1)
    told = refusal(gateway_tasks_min=9)
    assert "gateway_tasks_max is 8, less than gateway_tasks_min: set it to 9 or more" in told
    assert "gateway_cpu is 768: set it to one of" in refusal(gateway_cpu=768)


def test_the_zone_of_the_domains_serves_either_of_them():
    zone = {"hosted_zone_id": "Z0123456789ABC"}
    assert settings(**zone, **DOMAIN).hosted_zone_id
    assert "gateway_clients is '10.0.0.1/8'" in refusal(gateway_clients="10.0.0.1/8")


def test_a_web_acl_is_regional():
    assert settings(web_acl_arn=WEB_ACL).has_rest_api
    of_cloudfront = WEB_ACL.replace("regional", "global")
    assert "regional web ACL" in refusal(web_acl_arn=of_cloudfront)
    assert "needs the HTTP API" in refusal(web_acl_arn=WEB_ACL, cors_origins="*")


CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d"


def test_cloudfront_takes_a_certificate_of_its_own_region_and_the_http_api():
    domain = {"domain_name": "lake.example.com", "certificate_arn": CERTIFICATE}
    assert "CloudFront takes one of us-east-1 only" in refusal(cloudfront=True, **domain)
    domain["certificate_arn"] = CERTIFICATE.replace(":eu-west-1:", ":us-east-1:")
    assert settings(cloudfront=True, **domain).cloudfront
    assert "cloudfront needs the HTTP API" in refusal(cloudfront=True, web_acl_arn=WEB_ACL)
    assert settings(cloudfront=True).has_page
