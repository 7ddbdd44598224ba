"""Checks of tables, buckets and keys."""

from collections.abc import Iterator

from graveler_cli.deployment.account import Account
from graveler_cli.deployment.stacks import Resource
from graveler_cli.findings import Finding, FindingLevel, expect, missing, ok, warn

_RESTORE = 'docs/backup.md, "Point-in-time recovery", step 3, has the command'
_REDEPLOY = "deploy the storage stack again: docs/deploy.md"

_NO_BUCKET = ("NoSuchBucket", "404")


def table_in_service(
    account: Account, name: str, *, is_refs: bool, is_production: bool
) -> Iterator[Finding]:
    """A table is active, recoverable and protected; the refs table has a stream and expiry."""
    subject = f"table {name}"
    found = account.find(
        "dynamodb", "describe_table", ("ResourceNotFoundException",), TableName=name
    )
    if not found:
        yield missing(subject, "does not exist", "restore it: docs/backup.md")
        return
    table = found["Table"]
    status = table.get("TableStatus")
    yield expect(subject, "is active", f"it is {status}", holds=status in {"ACTIVE", "UPDATING"})
    backups = account.call("dynamodb", "describe_continuous_backups", TableName=name)
    recovery = backups["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
    yield expect(
        subject,
        "has point-in-time recovery",
        _RESTORE,
        holds=recovery.get("PointInTimeRecoveryStatus") == "ENABLED",
    )
    if is_production:
        protected = bool(table.get("DeletionProtectionEnabled"))
        yield expect(subject, "is protected from deletion", _RESTORE, holds=protected)
    if is_refs:
        yield from _feeds(account, name, table, subject)


def _feeds(
    account: Account, name: str, table: dict[str, object], subject: str
) -> Iterator[Finding]:
    stream = table.get("StreamSpecification")
    enabled = isinstance(stream, dict) and stream.get("StreamEnabled") is True
    yield expect(subject, "has a stream, which publishes events", _RESTORE, holds=enabled)
    expiry = account.call("dynamodb", "describe_time_to_live", TableName=name)
    status = expiry["TimeToLiveDescription"].get("TimeToLiveStatus")
    yield expect(subject, "has a time to live", _RESTORE, holds=status in {"ENABLED", "ENABLING"})


def bucket(account: Account, resource: Resource) -> Iterator[Finding]:
    """A bucket is private, and expires old data."""
    name = resource.physical_id
    subject = f"bucket {name}"
    absent = ("NoSuchPublicAccessBlockConfiguration",)
    block = account.find("s3", "get_public_access_block", (*absent, *_NO_BUCKET), Bucket=name)
    settings = block.get("PublicAccessBlockConfiguration", {})
    parts = ("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets")
    private = all(settings.get(part) for part in parts)
    yield expect(subject, "blocks public access", _REDEPLOY, holds=private)
    found = account.find(
        "s3", "get_bucket_lifecycle_configuration", ("NoSuchLifecycleConfiguration",), Bucket=name
    )
    rules = [rule for rule in found.get("Rules", []) if rule.get("Status") == "Enabled"]
    aborts = any("AbortIncompleteMultipartUpload" in rule for rule in rules)
    yield expect(
        subject, "aborts unfinished uploads", _REDEPLOY, holds=aborts, level=FindingLevel.WARN
    )
    versioning = account.call("s3", "get_bucket_versioning", Bucket=name).get("Status", "")
    forgets = any("NoncurrentVersionExpiration" in rule for rule in rules)
    if versioning == "Enabled" and not forgets:
        yield warn(
            subject,
            "keeps old versions for ever, and they cost",
            "add a lifecycle rule that expires noncurrent versions: docs/backup.md",
        )
    else:
        text = "keeps old versions for a time" if versioning == "Enabled" else "has no versions"
        yield ok(subject, text)
    cors = account.find("s3", "get_bucket_cors", ("NoSuchCORSConfiguration",), Bucket=name)
    text = "lets browsers load objects" if cors.get("CORSRules") else "has no CORS rule"
    yield ok(subject, text)


def key(account: Account, resource: Resource) -> Iterator[Finding]:
    """A key can be used."""
    subject = f"key {resource.physical_id}"
    found = account.find("kms", "describe_key", ("NotFoundException",), KeyId=resource.physical_id)
    state = found.get("KeyMetadata", {}).get("KeyState", "gone")
    remedy = (
        f"at once: aws kms cancel-key-deletion --key-id {resource.physical_id}, then enable-key"
        if state == "PendingDeletion"
        else f"aws kms enable-key --key-id {resource.physical_id}"
    )
    if state == "Enabled":
        yield ok(subject, "is enabled")
    else:
        yield missing(subject, f"is {state}: nothing of the tables can be read", remedy)
