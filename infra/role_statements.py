"""The parts of which the roles' permissions are made: statements, each of one resource or kind."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from graveler.actions.secrets import SECRET_PREFIX
from graveler.aws.dynamodb.models import ACCOUNTS, COMMITS_BY_GENERATION
from graveler.aws.hook_targets import PARAMETER_STORE, SECRETS_MANAGER
from infra.settings import InfraSettings
from infra.settings.s3_locations import S3Location
from infra.storage import StorageStack

_READ_SECRET = ("secretsmanager:GetSecretValue",)
# CDK grants these to writers of a table that our key encrypts; AWS documents no smaller set.
_USE_TABLES_KEY = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)


@dataclass(frozen=True)
class RoleStatements:
    """The statements that roles of one deployment share; the roles are in the stack."""

    stack: Stack
    storage: StorageStack
    settings: InfraSettings

    @property
    def namespaces(self) -> tuple[S3Location, ...]:
        """The places where repositories may have their storage namespaces."""
        made = self.storage.repositories_name
        own = (S3Location(made),) if made else ()
        return own + self.settings.namespaces

    @property
    def files_role_name(self) -> str:
        """The name of the role whose credentials clients of Iceberg's catalogue get."""
        return f"{self.settings.name}-table-files-{self.stack.region}"

    @property
    def files_role_arn(self) -> str:
        """The ARN of that role, before it exists."""
        return f"arn:{self.stack.partition}:iam::{self.stack.account}:role/{self.files_role_name}"

    def _vend_credentials(self) -> list[iam.PolicyStatement]:
        if not self.settings.vended_credentials:
            return []
        return [statement("VendCredentials", ("sts:AssumeRole",), [self.files_role_arn])]

    def _refs(
        self, actions: Iterable[str], partitions: Sequence[str] = (), sid: str = "Refs"
    ) -> iam.PolicyStatement:
        """Allow actions on the refs table, only in the partitions if any are given."""
        conditions: dict[str, Any] = {}
        if partitions:
            leading = {"dynamodb:LeadingKeys": list(partitions)}
            conditions = {"ForAllValues:StringLike": leading}
        return statement(sid, actions, [self.storage.refs.table_arn], conditions)

    def _index(self) -> iam.PolicyStatement:
        index = f"{self.storage.refs.table_arn}/index/{COMMITS_BY_GENERATION}"
        return statement("Commits", ("dynamodb:Query",), [index])

    def _staging(self, actions: Iterable[str]) -> iam.PolicyStatement:
        return statement("Staging", actions, [self.storage.staging.table_arn])

    def _tables_key(self, actions: Iterable[str] = _USE_TABLES_KEY) -> list[iam.PolicyStatement]:
        """Allow the key, if there is one, only as DynamoDB uses it for the caller."""
        service = f"dynamodb.{self.stack.region}.{self.stack.url_suffix}"
        via = {"StringEquals": {"kms:ViaService": service}}
        key = self.storage.key
        return [statement("TablesKey", actions, [key.key_arn], via)] if key else []

    def _secrets(
        self, actions: Iterable[str], context: dict[str, str] | None = None
    ) -> list[iam.PolicyStatement]:
        """Allow the key of users' secrets, or reading the secret that is in its place."""
        if key := self.storage.key:
            conditions = {"StringEquals": context} if context else {}
            return [statement("Secrets", actions, [key.key_arn], conditions)]
        secret = self.storage.cipher_secret
        return [statement("Secrets", _READ_SECRET, [secret.secret_arn])] if secret else []

    def _read_installation(self) -> list[iam.PolicyStatement]:
        """Allow building an engine, which has the signing key; only the api function uses it."""
        return [
            self._refs(("dynamodb:GetItem",), (ACCOUNTS,), "ReadInstallation"),
            *self._secrets(("kms:Decrypt",), {"kms:EncryptionContext:purpose": "signing-key"}),
        ]

    def _hooks(self) -> list[iam.PolicyStatement]:
        """Allow the targets and secrets of hooks that the settings name."""
        settings, statements = self.settings, []
        if settings.hook_functions:
            functions = [
                self._named("lambda", "function:", each) for each in settings.hook_functions
            ]
            statements.append(statement("CallHooks", ("lambda:InvokeFunction",), functions))
        if settings.hook_buses:
            buses = [self._named("events", "event-bus/", each) for each in settings.hook_buses]
            statements.append(statement("PutHookEvents", ("events:PutEvents",), buses))
        kind, _, prefix = settings.hook_secrets.partition(":")
        # Hooks may name only secrets with this prefix.
        names = f"{prefix}{SECRET_PREFIX}*"
        if kind == SECRETS_MANAGER:
            found = [self._named("secretsmanager", "secret:", names)]
            statements.append(statement("ReadHookSecrets", _READ_SECRET, found))
        elif kind == PARAMETER_STORE:
            found = [self._named("ssm", "parameter/", names.removeprefix("/"))]
            statements.append(statement("ReadHookSecrets", ("ssm:GetParameter",), found))
        return statements

    def _named(self, service: str, kind: str, name: str) -> str:
        """Return the ARN of a resource in the deployment's account and region, or the given ARN."""
        if name.startswith("arn:"):
            return name
        stack = self.stack
        return f"arn:{stack.partition}:{service}:{stack.region}:{stack.account}:{kind}{name}"

    def _read_lakes(self, more: Iterable[S3Location] = ()) -> list[iam.PolicyStatement]:
        """Allow reading all objects that repositories may refer to, and those in more places.

        Without the permission to list its bucket, S3 reports a missing object as forbidden. The
        permission must not depend on a prefix, because a read of an object has none.
        """
        places = self.namespaces + self.settings.readable + tuple(more)
        return [
            self._objects("ReadObjects", ("s3:GetObject",), places),
            self._buckets("FindObjects", ("s3:ListBucket",), places),
        ]

    def _keep_dumps(self) -> list[iam.PolicyStatement]:
        """Allow storing copies of dumps. No role may delete them."""
        places = self.settings.dump_place
        return [self._objects("KeepDumps", ("s3:PutObject",), places)] if places else []

    def _objects(
        self, sid: str, actions: Iterable[str], places: Iterable[S3Location]
    ) -> iam.PolicyStatement:
        return statement(sid, actions, [self._arn(f"{p.bucket}/{p.prefix}*") for p in places])

    def _in_namespaces(self, sid: str, actions: Iterable[str], *keys: str) -> iam.PolicyStatement:
        """Allow actions on keys relative to the namespaces. A place may have many namespaces."""
        arns = []
        for place, key in product(self.namespaces, keys):
            arns.append(self._arn(f"{place.bucket}/{place.prefix}*/{key}"))
            if not place.prefix or place.prefix.endswith("/"):
                arns.append(self._arn(f"{place.bucket}/{place.prefix}{key}"))
        return statement(sid, actions, arns)

    def _arn(self, resource: str) -> str:
        return f"arn:{self.stack.partition}:s3:::{resource}"

    def _buckets(
        self, sid: str, actions: Iterable[str], places: Iterable[S3Location]
    ) -> iam.PolicyStatement:
        buckets = dict.fromkeys(place.bucket for place in places)  # without duplicates, in order
        return statement(sid, actions, [self._arn(bucket) for bucket in buckets])

    def _bucket_keys(self) -> list[iam.PolicyStatement]:
        """Allow the keys of users' own buckets, only as S3 uses them for the caller.

        S3 uses a key in the key's own region, which may be another than the deployment's.
        """
        if not (keys := self.settings.bucket_keys):
            return []
        regions = dict.fromkeys(key.split(":")[3] for key in keys)  # without duplicates, in order
        services = [f"s3.{region}.{self.stack.url_suffix}" for region in regions]
        return [
            statement(
                "BucketKeys",
                ("kms:Decrypt", "kms:GenerateDataKey"),
                list(keys),
                {"StringEquals": {"kms:ViaService": services}},
            )
        ]

    def _setup_token(self) -> list[iam.PolicyStatement]:
        kept = self.storage.setup_token
        return [statement("ReadSetupToken", _READ_SECRET, [kept.secret_arn])] if kept else []


def statement(
    sid: str,
    actions: Iterable[str],
    resources: list[str],
    conditions: dict[str, Any] | None = None,
) -> iam.PolicyStatement:
    """Return a statement that allows the actions."""
    return iam.PolicyStatement(
        sid=sid, actions=sorted(actions), resources=resources, conditions=conditions or None
    )
