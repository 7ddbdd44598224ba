"""Who may do what: the statements of each role, and nothing else grants anything.

A role names its tables, the partitions in them where it has no business in others, its prefixes of
buckets and its keys. Objects: what lies under a namespace's `data/` is users' content, what lies
under `_lakefs/` is ours. tests/infra holds this against what the code does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CLEANUPS,
    COMMITS_BY_GENERATION,
    ENDING,
    EXPORTS,
    REPOSITORIES,
)
from infra.settings import Place, Settings
from infra.storage import Storage

_OF_REPOSITORIES = (REPOSITORIES, "repository#*")

_GET = ("dynamodb:BatchGetItem", "dynamodb:GetItem")
_READ_ITEMS = (*_GET, "dynamodb:Query")
_PUT_ITEMS = ("dynamodb:BatchWriteItem", "dynamodb:PutItem")
# Of the refs table, where changes are transactions.
_CHANGE_ITEMS = (
    *_PUT_ITEMS,
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:UpdateItem",
)
# What CDK grants to whoever writes to a table with a key of ours; AWS documents no smaller set.
_USE_TABLES_KEY = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
# An upload in parts is made of puts; what is left of a failed one is aborted.
_PUT = ("s3:AbortMultipartUpload", "s3:PutObject")


@dataclass(frozen=True)
class Access:
    """The statements for the roles of one deployment, in the stack of the roles."""

    stack: Stack
    storage: Storage
    settings: Settings

    @property
    def namespaces(self) -> tuple[Place, ...]:
        """Where repositories may be."""
        made = self.storage.repositories_name
        own = (Place(made),) if made else ()
        return own + self.settings.namespaces

    # Roles

    def api(self) -> list[iam.PolicyStatement]:
        """Everything that users do; of objects it deletes none, only its mark of a namespace."""
        return [
            self._refs((*_READ_ITEMS, *_CHANGE_ITEMS)),
            self._index(),
            self._staging((*_READ_ITEMS, *_PUT_ITEMS, "dynamodb:ConditionCheckItem")),
            self._tables_key(),
            self._secrets(("kms:Decrypt", "kms:Encrypt")),
            *self._read_lakes(),
            self._objects("PutObjects", _PUT, self.namespaces),
            self._in_namespaces("DeleteMarks", ("s3:DeleteObject",), "_lakefs/dummy"),
            *self._bucket_keys(),
        ]

    def cleanup(self) -> list[iam.PolicyStatement]:
        """Reads what is due, drops it."""
        drop = ("dynamodb:BatchWriteItem", "dynamodb:Query")
        return [
            self._refs((*drop, "dynamodb:DeleteItem"), (CLEANUPS, ENDING, EXPORTS, "repository#*")),
            self._staging(drop),
            self._tables_key(),
        ]

    def events(self, bus_arn: str, failures_arn: str) -> list[iam.PolicyStatement]:
        """Reads the stream, publishes, and reports what it could not read."""
        stream = self.storage.refs.table_stream_arn or ""
        return [
            _statement(
                "ReadStream",
                ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"),
                [stream],
            ),
            # Lambda asks for it; it names no resource.
            _statement("ListStreams", ("dynamodb:ListStreams",), ["*"]),
            self._tables_key(("kms:Decrypt", "kms:DescribeKey")),
            _statement("Publish", ("events:PutEvents",), [bus_arn]),
            _statement("ReportFailures", ("sqs:SendMessage",), [failures_arn]),
        ]

    def export(self, queue_arn: str, job_arn: str) -> list[iam.PolicyStatement]:
        """Looks after exports, small ones by itself."""
        receive = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
        return [
            *self.export_job(queue_arn),
            _statement("Receive", receive, [queue_arn]),
            # The record of a branch that is gone.
            self._refs(("dynamodb:DeleteItem",), (EXPORTS, "repository#*"), "ForgetExports"),
            # To build the engine takes the signing key, which it has no use for.
            self._refs(("dynamodb:GetItem",), (ACCOUNTS,), "ReadInstallation"),
            self._secrets(("kms:Decrypt",), {"kms:EncryptionContext:purpose": "signing-key"}),
            _statement("StartJob", ("glue:StartJobRun",), [job_arn]),
        ]

    def export_job(self, queue_arn: str) -> list[iam.PolicyStatement]:
        """Copies what a branch holds to a destination, and keeps the record of it."""
        pieces = ("s3:DeleteObject", "s3:PutObject")
        statements = [
            self._refs((*_GET, "dynamodb:PutItem"), _OF_REPOSITORIES),
            self._refs(("dynamodb:Query",), (EXPORTS, REPOSITORIES), "FindOtherWriters"),
            self._tables_key(),
            *self._read_lakes(),
            self._in_namespaces("WritePieces", pieces, "_lakefs/exports/*"),
            _statement("ComeBackLater", ("sqs:SendMessage",), [queue_arn]),
            *self._bucket_keys(),
        ]
        if self.settings.exports:
            export = (*_PUT, "s3:DeleteObject", "s3:GetObject")
            statements.append(self._objects("WriteExports", export, self.settings.exports))
            statements.append(
                self._buckets("FindExports", ("s3:ListBucket",), self.settings.exports)
            )
        return statements

    def garbage_collection(self) -> list[iam.PolicyStatement]:
        """Deletes objects, under `data/` alone; of its own files it keeps all."""
        list_all = ("s3:ListBucket", "s3:ListBucketMultipartUploads")
        delete = ("s3:AbortMultipartUpload", "s3:DeleteObject")
        items = ("dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
        statements = [
            self._refs(items, _OF_REPOSITORIES),
            self._staging(("dynamodb:Query",)),
            self._tables_key(),
            self._buckets("ListLakes", list_all, self.namespaces),
            self._in_namespaces("ReadMetadata", ("s3:GetObject",), "_lakefs/*"),
            self._in_namespaces("WriteReports", ("s3:PutObject",), "_lakefs/retention/*"),
            self._in_namespaces("DeleteGarbage", delete, "data/*"),
            *self._bucket_keys(),
        ]
        if self.settings.readable:
            statements.append(
                self._objects("ReadInventory", ("s3:GetObject",), self.settings.readable)
            )
        if outputs := self.settings.gc_outputs:
            report = ("s3:GetObject", "s3:PutObject")
            statements.append(self._objects("WriteReportsElsewhere", report, outputs))
            statements.append(self._buckets("FindReports", ("s3:ListBucket",), outputs))
        return statements

    # What roles are made of

    def _refs(
        self, actions: Iterable[str], partitions: Sequence[str] = (), sid: str = "Refs"
    ) -> iam.PolicyStatement:
        """Items of the refs table, of those partitions only if any are named."""
        conditions: dict[str, Any] = {}
        if partitions:
            leading = {"dynamodb:LeadingKeys": list(partitions)}
            conditions = {"ForAllValues:StringLike": leading}
        return _statement(sid, actions, [self.storage.refs.table_arn], conditions)

    def _index(self) -> iam.PolicyStatement:
        index = f"{self.storage.refs.table_arn}/index/{COMMITS_BY_GENERATION}"
        return _statement("Commits", ("dynamodb:Query",), [index])

    def _staging(self, actions: Iterable[str]) -> iam.PolicyStatement:
        return _statement("Staging", actions, [self.storage.staging.table_arn])

    def _tables_key(self, actions: Iterable[str] = _USE_TABLES_KEY) -> iam.PolicyStatement:
        """The key as DynamoDB uses it for the caller, and for nothing else."""
        service = f"dynamodb.{self.stack.region}.{self.stack.url_suffix}"
        via = {"StringEquals": {"kms:ViaService": service}}
        return _statement("TablesKey", actions, [self.storage.key.key_arn], via)

    def _secrets(
        self, actions: Iterable[str], context: dict[str, str] | None = None
    ) -> iam.PolicyStatement:
        conditions = {"StringEquals": context} if context else {}
        return _statement("Secrets", actions, [self.storage.key.key_arn], conditions)

    def _read_lakes(self) -> list[iam.PolicyStatement]:
        """All that repositories may refer to.

        Without the permission to list its bucket, S3 calls an object that is missing forbidden.
        A condition on the prefix would take it away again: reading an object has none.
        """
        places = self.namespaces + self.settings.readable
        return [
            self._objects("ReadObjects", ("s3:GetObject",), places),
            self._buckets("FindObjects", ("s3:ListBucket",), places),
        ]

    def _objects(
        self, sid: str, actions: Iterable[str], places: Iterable[Place]
    ) -> iam.PolicyStatement:
        return _statement(sid, actions, [self._arn(f"{p.bucket}/{p.prefix}*") for p in places])

    def _in_namespaces(self, sid: str, actions: Iterable[str], keys: str) -> iam.PolicyStatement:
        """Keys relative to the namespaces, of which there may be any number in each place."""
        arns = []
        for place in self.namespaces:
            arns.append(self._arn(f"{place.bucket}/{place.prefix}*/{keys}"))
            if not place.prefix or place.prefix.endswith("/"):
                arns.append(self._arn(f"{place.bucket}/{place.prefix}{keys}"))
        return _statement(sid, actions, arns)

    def _arn(self, resource: str) -> str:
        return f"arn:{self.stack.partition}:s3:::{resource}"

    def _buckets(
        self, sid: str, actions: Iterable[str], places: Iterable[Place]
    ) -> iam.PolicyStatement:
        buckets = dict.fromkeys(place.bucket for place in places)  # each once, in their order
        return _statement(sid, actions, [self._arn(bucket) for bucket in buckets])

    def _bucket_keys(self) -> list[iam.PolicyStatement]:
        """The keys of buckets that are not ours, as S3 uses them for the caller."""
        if not self.settings.bucket_keys:
            return []
        service = f"s3.{self.stack.region}.{self.stack.url_suffix}"
        return [
            _statement(
                "BucketKeys",
                ("kms:Decrypt", "kms:GenerateDataKey"),
                list(self.settings.bucket_keys),
                {"StringEquals": {"kms:ViaService": service}},
            )
        ]


def _statement(
    sid: str,
    actions: Iterable[str],
    resources: list[str],
    conditions: dict[str, Any] | None = None,
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, actions=sorted(actions), resources=resources, conditions=conditions or None
    )
