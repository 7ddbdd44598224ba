"""The deployments that tests synthesize, by name: one for each shape that settings give a template."""

# Everything that a deployment may have, and a name of its own where it may have one.
PROD = {
    "alarm_email": "ops@example.com",
    "repository_bucket": "company-graveler",
    "namespaces": "s3://company-lake/lake/,s3://company-raw/r",
    "readable": "s3://company-source/in/",
    "exports": "s3://company-published/exports/",
    "bucket_keys": (
        "arn:aws:kms:eu-west-1:210987654321:key/0a1b2c3d-0000-0000-0000-000000000000,"
        "arn:aws:kms:us-east-1:210987654321:key/mrk-0a1b2c3d000000000000000000000000"
    ),
    "asset_key": "arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000001",
    "domain_name": "lake.example.com",
    "certificate_arn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000000",
    "hosted_zone_id": "Z0123456789ABCDEFGHIJ",
    "cors_origins": "https://app.example.com",
    "bucket_origins": "https://elsewhere.s3.us-west-2.amazonaws.com",
    "gc_repositories": "lake,other",
    "gc_deletes": "false",
    "gc_deletions_max": "0",
    "gc_outputs": "s3://company-reports/gc/",
    "dump_schedule": "rate(1 day)",
    "dump_place": "s3://company-backup/dumps/",
    "hook_functions": "check,arn:aws:lambda:eu-west-1:210987654321:function:theirs",
    "hook_buses": "lake-events",
    "hook_networks": "10.1.0.0/16,fd00::/8",
    "hook_secrets": "secrets-manager:lake/",
    "vended_credentials": "true",
    "metrics": "operations",
    "traces": "true",
    "monthly_budget_usd": "100",
    "vpc_subnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
    "vpc_security_groups": "sg-0123456789abcdef0",
    "provisioned_concurrency": "3",
    "tags": "team=lake,cost centre=42",
    "permissions_boundary": "arn:aws:iam::123456789012:policy/company-boundary",
}

# The S3 gateway, with all that it may have in a VPC of its own.
GATEWAY = {
    "gateway": "public",
    "gateway_domain": "s3.example.com",
    "gateway_certificate_arn": "arn:aws:acm:eu-west-1:123456789012:certificate/0a1b2c3d-0000-0000-0000-000000000001",
    "gateway_clients": "192.0.2.0/24,2001:db8::/32",
    "gateway_cpu": "2048",
    "gateway_tasks_min": "3",
    "gateway_tasks_max": "12",
}

ENDPOINT = "vpce-0123456789abcdef0"
WEB_ACL = (
    "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/lake/0a1b2c3d-0000-0000-0000-000000000000"
)
TOPIC = "arn:aws:sns:eu-west-1:123456789012:alarms"
TABLE = "arn:aws:dynamodb:eu-west-1:123456789012:table"
STREAM = f"{TABLE}/refs-restored/stream/2026-11-20T13:00:00.000"
# A bucket of an earlier deployment.
OLD = "graveler-dev-storage-repositoriescc43a267-abcdefghijkl"
# A gateway in a VPC that exists.
INTERNAL = {
    "gateway": "internal",
    "gateway_vpc": "vpc-0123456789abcdef0",
    "gateway_subnets": "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
}
# The longest name that the settings accept, so that every length is seen.
LONGEST = "a-team-with-the-long-name"
# Their bucket's policy would be larger than S3 allows.
FOLDERS = ",".join(f"s3://company-lake/{'folder-' * 5}{n:03d}/" for n in range(30))
BUCKETS = [
    f"s3://company-lake-number-{number:02d}/repositories/team-{number:02d}/" for number in range(50)
]

_DOMAIN = {name: PROD[name] for name in ("domain_name", "hosted_zone_id")}

# The stage and the settings of each.
SHAPES: dict[str, tuple[str, dict[str, str]]] = {
    "dev": ("dev", {}),
    "prod": ("prod", {**PROD, **GATEWAY}),
    # Without a key, a dashboard and most alarms.
    "economy": ("dev", {"economy": "true"}),
    "kept": ("prod", {"economy": "true", "alarm_email": "ops@example.com"}),
    "economy-gateway": ("dev", {"economy": "true", **GATEWAY}),
    # An API and a gateway that only a VPC reaches.
    "private": ("dev", {"vpc_endpoints": ENDPOINT, **INTERNAL}),
    # A REST API with a web ACL; and no schedule of garbage collection.
    "guarded": (
        "dev",
        {
            "web_acl_arn": WEB_ACL,
            "certificate_arn": PROD["certificate_arn"],
            "gc_schedule": "",
            "access_log": "true",
            "alarms": "all",
            **_DOMAIN,
        },
    ),
    "cloudfront": (
        "dev",
        {
            "cloudfront": "true",
            "certificate_arn": PROD["certificate_arn"].replace("eu-west-1", "us-east-1"),
            **_DOMAIN,
        },
    ),
    # What neither dev nor prod has of settings that concern no other.
    "other": (
        "dev",
        {
            "alarm_topic_arn": TOPIC,
            "bucket_logs": "false",
            "gc_schedule": "rate(1 day)",
            "access_log": "true",
            "log_class": "standard",
            "metrics": "none",
            "alarms": "all",
            "setup_token": "none",
            "monthly_budget_usd": "50",
            "snap_start": "true",
        },
    ),
    # The two steps to another bucket.
    "released": (
        "dev",
        {
            "repository_bucket": "none",
            "namespaces": f"s3://{OLD}/,s3://dotted.bucket/",
            "bucket_origins": "https://far.s3.us-west-2.amazonaws.com",
        },
    ),
    "moved": ("dev", {"repository_bucket": "company-lake", "namespaces": f"s3://{OLD}/"}),
    "restored": (
        "dev",
        {"restored_refs": STREAM, "restored_staging": f"{TABLE}/staging-restored"},
    ),
    "named": ("dev", {"name": LONGEST, "namespaces": FOLDERS}),
    # A namespace in each of fifty buckets.
    "wide": ("prod", {"alarm_email": "ops@example.com", "namespaces": ",".join(BUCKETS)}),
}
