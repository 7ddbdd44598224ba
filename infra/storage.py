"""The stack of tables, buckets and the key. It outlives deployments: no logical ID may change."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from graveler.aws.dynamodb.models import COMMITS_BY_GENERATION
from infra import origins
from infra.settings import InfraSettings
from infra.settings.rules import CREATE, NONE, SECRET

# An unfinished upload of a week ago was abandoned. Its parts cost as much as objects.
_UPLOAD_LIFE = Duration.days(7)
# Long enough to examine a failed job.
_ARTEFACT_LIFE = Duration.days(30)

# The methods of presigned URLs that browsers use.
_CORS_METHODS = [s3.HttpMethods.GET, s3.HttpMethods.HEAD, s3.HttpMethods.PUT]
# The headers that pages read: a part's ETag to complete its upload, and the range of an answer.
_CORS_EXPOSED = ["Content-Length", "Content-Range", "ETag"]

# The properties of every bucket.
_PRIVATE_BUCKET: Mapping[str, Any] = {
    "encryption": s3.BucketEncryption.S3_MANAGED,
    "block_public_access": s3.BlockPublicAccess.BLOCK_ALL,
    "object_ownership": s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    "enforce_ssl": True,
    "minimum_tls_version": 1.2,
    # If a first deployment fails, the next one can reuse the bucket's name.
    "removal_policy": RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
}


class StorageStack(Stack):
    """The stateful part of a deployment."""

    def __init__(self, scope: Construct, settings: InfraSettings) -> None:
        name = f"{settings.name}-storage"
        super().__init__(
            scope,
            name,
            description="Graveler: tables, buckets and the key",
            termination_protection=settings.is_production,
        )
        self._settings = settings
        # Tables may be deleted with a test deployment. Buckets always stay.
        self._removal = RemovalPolicy.RETAIN if settings.is_production else RemovalPolicy.DESTROY
        self.key = None if settings.economy else self._make_key()
        self.made_refs = self._make_refs()
        self.made_staging = self._make_staging()
        self.refs, self.staging = self._tables_in_service()
        self.artefacts = self._make_artefacts()
        # Exported names, for other stacks.
        self.artefacts_name = self.export_value(self.artefacts.bucket_name)
        repositories = self._make_repositories()
        self.repositories_name = (
            None if repositories is None else self.export_value(repositories.bucket_name)
        )
        self.setup_token = (
            self._make_secret(
                "SetupToken", "creates the first administrator, once", RemovalPolicy.DESTROY
            )
            if settings.setup_token == SECRET
            else None
        )
        # While the service stack encrypts with this secret, CloudFormation refuses to remove its
        # export, and so to add a key. A new key could not decrypt users' secrets.
        self.cipher_secret = (
            None
            if self.key
            else self._make_secret(
                "Secret", "encrypts users' secrets, so never change it", self._removal
            )
        )
        self._add_outputs(repositories)

    @property
    def table_variables(self) -> dict[str, str]:
        """The variables that name the tables in service, for functions, jobs and tasks."""
        return {
            "GRAVELER_REFS_TABLE": self.refs.table_name,
            "GRAVELER_STAGING_TABLE": self.staging.table_name,
        }

    @property
    def cipher_variables(self) -> dict[str, str]:
        """The variables that name the key, or else the secret, that encrypts users' secrets."""
        if self.cipher_secret:
            return {"GRAVELER_CIPHER_SECRET_ARN": self.cipher_secret.secret_arn}
        assert self.key is not None
        return {"GRAVELER_KMS_KEY_ID": self.key.key_id}

    def _make_key(self) -> kms.Key:
        """Make the only key. Its policies limit the users, and the service of each use."""
        key = kms.Key(
            self,
            "Key",
            description=f"{self._settings.name}: tables, secrets, alarms, logs of jobs",
            enable_key_rotation=True,
            removal_policy=self._removal,
            pending_window=Duration.days(30),
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsReachTheirTopic",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey*"],
                resources=["*"],  # in a key's policy: this key
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            )
        )
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="LogsOfJobs",
                principals=[iam.ServicePrincipal(f"logs.{self.region}.amazonaws.com")],
                actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={
                    "ArnLike": {
                        "kms:EncryptionContext:aws:logs:arn": self.format_arn(
                            service="logs",
                            resource=f"log-group:/{self._settings.name}-*",
                        )
                    }
                },
            )
        )
        return key

    def _make_refs(self) -> dynamodb.Table:
        table = self._make_table(
            "Refs",
            _text("partition"),
            _text("sort"),
            stream=dynamodb.StreamViewType.NEW_IMAGE,
            expires_at="expires_at",
        )
        table.add_global_secondary_index(
            index_name=COMMITS_BY_GENERATION,
            partition_key=_text("partition"),
            sort_key=dynamodb.Attribute(name="generation", type=dynamodb.AttributeType.NUMBER),
        )
        return table

    def _make_staging(self) -> dynamodb.Table:
        path = dynamodb.Attribute(name="path", type=dynamodb.AttributeType.BINARY)
        return self._make_table("Staging", _text("token"), path)

    def _make_table(
        self,
        construct_id: str,
        partition_key: dynamodb.Attribute,
        sort_key: dynamodb.Attribute,
        *,
        stream: dynamodb.StreamViewType | None = None,
        expires_at: str | None = None,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            construct_id,
            partition_key=partition_key,
            sort_key=sort_key,
            stream=stream,
            time_to_live_attribute=expires_at,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED
            if self.key
            else dynamodb.TableEncryption.DEFAULT,
            encryption_key=self.key,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=self._settings.is_production,
            removal_policy=self._removal,
        )

    def _tables_in_service(self) -> tuple[dynamodb.ITable, dynamodb.ITable]:
        """Return the tables of this stack; or, after a restore, the restored ones."""
        made = self.made_refs, self.made_staging
        for table in made:
            # Other stacks switch to restored tables, and back, after this stack is deployed. Until
            # then they use these exports, so the exports must stay.
            self.export_value(table.table_arn)
            self.export_value(table.table_name)
        self.export_value(self.made_refs.table_stream_arn)
        stream_arn = self._settings.restored_refs
        if not stream_arn:
            return made
        refs = dynamodb.Table.from_table_attributes(
            self,
            "RestoredRefs",
            table_arn=stream_arn.partition("/stream/")[0],
            table_stream_arn=stream_arn,
            encryption_key=self.key,
        )
        staging = dynamodb.Table.from_table_attributes(
            self,
            "RestoredStaging",
            table_arn=self._settings.restored_staging,
            encryption_key=self.key,
        )
        return refs, staging

    def _make_artefacts(self) -> s3.Bucket:
        """Make the bucket of reports that jobs write, and of the repository bucket's access logs.

        S3 delivers access logs only to a bucket that S3's own keys encrypt.
        """
        bucket = s3.Bucket(
            self,
            "Artefacts",
            **_PRIVATE_BUCKET,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="forget",
                    expiration=_ARTEFACT_LIFE,
                    abort_incomplete_multipart_upload_after=_UPLOAD_LIFE,
                )
            ],
        )
        return _keep_policy(bucket)

    def _make_repositories(self) -> s3.Bucket | None:
        """Make the bucket for repositories, unless the settings say `none`.

        No object is overwritten, so versions serve only to undo a deletion. The lifecycle deletes
        them after `undelete_days`. Without versioning, the rule stays for earlier versions. S3's
        own keys encrypt the bucket: an ETag is then the MD5 that clients compare.
        """
        wanted = self._settings.repository_bucket
        if wanted == NONE:
            return None
        bucket = s3.Bucket(
            self,
            "Repositories",
            bucket_name=None if wanted == CREATE else wanted,
            versioned=self._settings.undelete_days > 0,
            **_PRIVATE_BUCKET,
            server_access_logs_bucket=self.artefacts if self._settings.bucket_logs else None,
            server_access_logs_prefix="access-logs/" if self._settings.bucket_logs else None,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="abort-unfinished-uploads",
                    abort_incomplete_multipart_upload_after=_UPLOAD_LIFE,
                ),
                s3.LifecycleRule(
                    id="forget-deleted-objects",
                    noncurrent_version_expiration=Duration.days(
                        max(self._settings.undelete_days, 1)
                    ),
                    expired_object_delete_marker=True,
                ),
            ],
        )
        pages = (*origins.of_page(self, self._settings), *self._settings.cors_origins)
        if pages:
            bucket.add_cors_rule(
                allowed_methods=_CORS_METHODS,
                allowed_origins=list(dict.fromkeys(pages)),
                allowed_headers=["*"],
                exposed_headers=_CORS_EXPOSED,
                max_age=3600,
            )
        return _keep_policy(bucket)

    def _make_secret(
        self, construct_id: str, purpose: str, removal: RemovalPolicy
    ) -> secretsmanager.Secret:
        return secretsmanager.Secret(
            self,
            construct_id,
            description=f"{self._settings.name}: {purpose}",
            encryption_key=self.key,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=40
            ),
            removal_policy=removal,
        )

    def _add_outputs(self, repositories: s3.Bucket | None) -> None:
        CfnOutput(
            self,
            "Stage",
            value=self._settings.stage,
            description="The stage, for `graveler doctor --deployment`",
        )
        if repositories is not None:
            CfnOutput(
                self,
                "RepositoryBucket",
                value=repositories.bucket_name,
                description="Where storage namespaces may be: s3://BUCKET/NAME",
            )
        for name, table in (("Refs", self.refs), ("Staging", self.staging)):
            CfnOutput(
                self,
                f"{name}Table",
                value=table.table_name,
                description="The table in service: docs/backup.md",
            )
        if self.key:
            CfnOutput(
                self,
                "KeyArn",
                value=self.key.key_arn,
                description="The key that tables, secrets and logs of jobs are encrypted with",
            )
        if self.cipher_secret:
            CfnOutput(
                self,
                "CipherSecret",
                value=self.cipher_secret.secret_arn,
                description="The secret that users' secrets are encrypted under: never change it",
            )
        if self.setup_token:
            CfnOutput(
                self,
                "SetupTokenSecret",
                value=self.setup_token.secret_arn,
                description="Its reader may create the first administrator, once",
            )


def _keep_policy(bucket: s3.Bucket) -> s3.Bucket:
    """Retain the bucket's policy, which refuses plain HTTP, with the bucket."""
    assert bucket.policy is not None
    bucket.policy.apply_removal_policy(_PRIVATE_BUCKET["removal_policy"])
    return bucket


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
