"""The permissions of each role. Nothing else grants any.

A role names its tables, its prefixes of buckets and its keys. It also names its partitions of a
table, if it does not need all. Under a namespace, `data/` holds users' content, and `_lakefs/` our
files. tests/infra compares the roles with the recorded requests of functions and jobs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from graveler.actions.secrets import SECRET_PREFIX
from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CLEANUPS,
    COMMITS_BY_GENERATION,
    ENDING,
    EXPORTS,
    HEARTBEATS,
    REPOSITORIES,
)
from graveler.aws.hook_targets import PARAMETER_STORE, SECRETS_MANAGER
from infra.settings import InfraSettings
from infra.settings.s3_locations import S3Location
from infra.storage import StorageStack

_READ_SECRET = ("secretsmanager:GetSecretValue",)
_CLEANUPS = f"{CLEANUPS}*"
_OF_REPOSITORIES = (REPOSITORIES, "repository#*")

_GET = ("dynamodb:BatchGetItem", "dynamodb:GetItem")
_READ_ITEMS = (*_GET, "dynamodb:Query")
_PUT_ITEMS = ("dynamodb:BatchWriteItem", "dynamodb:PutItem")
# For the refs table, which changes by transactions.
_UPDATE_ITEMS = (*_PUT_ITEMS, "dynamodb:ConditionCheckItem", "dynamodb:UpdateItem")
_CHANGE_ITEMS = (*_UPDATE_ITEMS, "dynamodb:DeleteItem")
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
# With these, Lambda receives the messages of a function's queue.
_RECEIVE = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
# A multipart upload needs PutObject, and AbortMultipartUpload if it fails.
_PUT = ("s3:AbortMultipartUpload", "s3:PutObject")
_LIST_PARTS = "s3:ListMultipartUploadParts"


@dataclass(frozen=True)
class RolePermissions:
    """The statements of one deployment's roles, which are in the stack."""

    stack: Stack
    storage: StorageStack
    settings: InfraSettings

    @property
    def namespaces(self) -> tuple[S3Location, ...]:
        """The places where repositories may have their storage namespaces."""
        made = self.storage.repositories_name
        own = (S3Location(made),) if made else ()
        return own + self.settings.namespaces

    # Roles

    def api(self, tasks_arn: str, collection_job_arn: str) -> list[iam.PolicyStatement]:
        """Return the api function's: all actions of users. It only deletes its own mark."""
        return [
            self._refs((*_READ_ITEMS, *_CHANGE_ITEMS)),
            self._index(),
            self._staging((*_READ_ITEMS, *_PUT_ITEMS, "dynamodb:ConditionCheckItem")),
            *self._tables_key(),
            *self._secrets(("kms:Decrypt", "kms:Encrypt")),
            *self._setup_token(),
            *self._read_lakes(self.settings.dump_place),  # restores read there
            *self._find_exports(),
            self._objects("PutObjects", (*_PUT, _LIST_PARTS), self.namespaces),
            self._in_namespaces("DeleteMarks", ("s3:DeleteObject",), "_lakefs/dummy"),
            _statement("StartTasks", ("sqs:SendMessage",), [tasks_arn]),
            # It only starts runs: it stops none, and reads no arguments of other users' runs.
            _statement("StartCollections", ("glue:StartJobRun",), [collection_job_arn]),
            *self._hooks(),
            *self._bucket_keys(),
        ]

    def _setup_token(self) -> list[iam.PolicyStatement]:
        kept = self.storage.setup_token
        return [_statement("ReadSetupToken", _READ_SECRET, [kept.secret_arn])] if kept else []

    def tasks(
        self, queue_arn: str, hook_queue_arn: str, slices_arn: str
    ) -> list[iam.PolicyStatement]:
        """Return the tasks function's: large changes. It changes no object of users."""
        return [
            *self._read_lakes(self.settings.dump_place),  # restores read there
            *self._change_branches(queue_arn, slices_arn),
            _statement("LeaveToHooks", ("sqs:SendMessage",), [hook_queue_arn]),
            *self._keep_dumps(),
            *([] if self.settings.has_hook_queue else self._hooks()),
        ]

    def hooks(self, queue_arn: str, slices_arn: str) -> list[iam.PolicyStatement]:
        """Return the hooks function's: changes with hooks."""
        return [
            *self._read_lakes(),
            *self._change_branches(queue_arn, slices_arn),
            *self._hooks(),
        ]

    def _change_branches(self, queue_arn: str, slices_arn: str) -> list[iam.PolicyStatement]:
        """Allow the changes of tasks, whose messages come from the queue."""
        return [
            self._refs((*_READ_ITEMS, *_UPDATE_ITEMS), (_CLEANUPS, *_OF_REPOSITORIES)),
            self._index(),
            # It stages copies and moves of prefixes, and seals restored entries.
            self._staging((*_READ_ITEMS, *_PUT_ITEMS)),
            self._refs(("dynamodb:DeleteItem",), (_CLEANUPS,), "TakeOffers"),
            *self._tables_key(),
            *self._read_installation(),
            self._in_namespaces("WriteMetadata", ("s3:PutObject",), "_lakefs/*"),
            self._in_namespaces("DeleteResults", ("s3:DeleteObject",), "_lakefs/tasks/*"),
            _statement("Receive", _RECEIVE, [queue_arn]),
            _statement("ComeBackLater", ("sqs:SendMessage",), [queue_arn]),
            _statement("ApplySlices", ("lambda:InvokeFunction",), [slices_arn]),
            *self._bucket_keys(),
        ]

    def slices(self) -> list[iam.PolicyStatement]:
        """Return the slices function's: read staged changes, store ranges. It moves no branch."""
        return [
            self._refs(("dynamodb:GetItem",), _OF_REPOSITORIES),
            self._staging(("dynamodb:Query",)),
            *self._tables_key(),
            *self._read_installation(),
            self._in_namespaces("ReadMetadata", ("s3:GetObject",), "_lakefs/*"),
            self._buckets("FindObjects", ("s3:ListBucket",), self.namespaces),
            self._in_namespaces("WriteMetadata", ("s3:PutObject",), "_lakefs/*"),
            *self._bucket_keys(),
        ]

    def cleanup(self) -> list[iam.PolicyStatement]:
        """Return the cleanup function's: drop tokens and repositories, and write heartbeats."""
        drop = ("dynamodb:BatchWriteItem", "dynamodb:Query")
        return [
            self._refs(
                (*drop, "dynamodb:DeleteItem"), (_CLEANUPS, ENDING, EXPORTS, "repository#*")
            ),
            self._refs(("dynamodb:UpdateItem",), (_CLEANUPS,), "EndOffers"),
            self._refs(("dynamodb:PutItem", "dynamodb:Query"), (HEARTBEATS,), "ShowLife"),
            self._staging(drop),
            *self._tables_key(),
        ]

    def events(self, bus_arn: str, failures_arn: str) -> list[iam.PolicyStatement]:
        """Return the events function's: read the stream, publish, and report failed records."""
        stream = self.storage.refs.table_stream_arn or ""
        return [
            _statement(
                "ReadStream",
                ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"),
                [stream],
            ),
            # Lambda requires this action, which has no resources.
            _statement("ListStreams", ("dynamodb:ListStreams",), ["*"]),
            *self._tables_key(("kms:Decrypt", "kms:DescribeKey")),
            _statement("Publish", ("events:PutEvents",), [bus_arn]),
            _statement("ReportFailures", ("sqs:SendMessage",), [failures_arn]),
        ]

    def export(self, queue_arn: str, job_arn: str) -> list[iam.PolicyStatement]:
        """Return the export function's: run small exports, and start the job for large ones."""
        return [
            *self.export_job(queue_arn),
            _statement("Receive", _RECEIVE, [queue_arn]),
            # For the record of a deleted branch.
            self._refs(("dynamodb:DeleteItem",), (EXPORTS, "repository#*"), "ForgetExports"),
            *self._read_installation(),
            _statement("StartJob", ("glue:StartJobRun",), [job_arn]),
        ]

    def export_job(self, queue_arn: str) -> list[iam.PolicyStatement]:
        """Return the export job's: copy a branch to its destination, and update its record."""
        pieces = ("s3:DeleteObject", "s3:PutObject")
        statements = [
            self._refs((*_GET, "dynamodb:PutItem"), _OF_REPOSITORIES),
            self._refs(("dynamodb:Query",), (EXPORTS, REPOSITORIES), "FindOtherWriters"),
            *self._tables_key(),
            *self._read_lakes(),
            self._in_namespaces("WritePieces", pieces, "_lakefs/exports/*"),
            _statement("ComeBackLater", ("sqs:SendMessage",), [queue_arn]),
            *self._bucket_keys(),
        ]
        if self.settings.exports:
            export = (*_PUT, "s3:DeleteObject", "s3:GetObject")
            statements.append(self._objects("WriteExports", export, self.settings.exports))
        return [*statements, *self._find_exports()]

    def _find_exports(self) -> list[iam.PolicyStatement]:
        """Allow listing the places of exports."""
        places = self.settings.exports
        return [self._buckets("FindExports", ("s3:ListBucket",), places)] if places else []

    def garbage_collection(self) -> list[iam.PolicyStatement]:
        """Return the garbage collection's: delete objects, only under `data/`; write reports."""
        list_all = ("s3:ListBucket", "s3:ListBucketMultipartUploads")
        delete = ("s3:AbortMultipartUpload", "s3:DeleteObject")
        items = ("dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
        statements = [
            self._refs(items, _OF_REPOSITORIES),
            self._refs(("dynamodb:PutItem",), (HEARTBEATS,), "NoteCollections"),
            self._staging(("dynamodb:Query",)),
            *self._tables_key(),
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

    def gateway(self) -> list[iam.PolicyStatement]:
        """Return the S3 gateway's: objects of branches. It changes no account, and commits nothing.

        It deletes no object: one that no branch names is garbage. Parts of an upload need
        PutObject.
        """
        replace = ("dynamodb:DeleteItem", "dynamodb:PutItem")
        write = (*_PUT, _LIST_PARTS)
        return [
            self._refs((*_READ_ITEMS, *replace, "dynamodb:UpdateItem"), ("repository#*",)),
            self._refs(_READ_ITEMS, (REPOSITORIES,), "FindRepositories"),
            self._refs(_GET, (ACCOUNTS,), "ReadUsers"),
            # A writer completes the seal of a dead commit, and may have to compact tokens for it.
            self._staging((*_READ_ITEMS, *_PUT_ITEMS, "dynamodb:ConditionCheckItem")),
            self._refs(("dynamodb:GetItem", *replace), (_CLEANUPS,), "MakeRoom"),
            *self._tables_key(),
            *self._secrets(("kms:Decrypt",)),
            *self._read_lakes(),
            self._in_namespaces("WriteData", write, "data/*"),
            *self._bucket_keys(),
        ]

    # Parts of roles

    def _refs(
        self, actions: Iterable[str], partitions: Sequence[str] = (), sid: str = "Refs"
    ) -> iam.PolicyStatement:
        """Allow actions on the refs table, only in the partitions if any are given."""
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

    def _tables_key(self, actions: Iterable[str] = _USE_TABLES_KEY) -> list[iam.PolicyStatement]:
        """Allow the key, if there is one, only as DynamoDB uses it for the caller."""
        service = f"dynamodb.{self.stack.region}.{self.stack.url_suffix}"
        via = {"StringEquals": {"kms:ViaService": service}}
        key = self.storage.key
        return [_statement("TablesKey", actions, [key.key_arn], via)] if key else []

    def _secrets(
        self, actions: Iterable[str], context: dict[str, str] | None = None
    ) -> list[iam.PolicyStatement]:
        """Allow the key of users' secrets, or reading the secret that is in its place."""
        if key := self.storage.key:
            conditions = {"StringEquals": context} if context else {}
            return [_statement("Secrets", actions, [key.key_arn], conditions)]
        secret = self.storage.cipher_secret
        return [_statement("Secrets", _READ_SECRET, [secret.secret_arn])] if secret else []

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
            statements.append(_statement("CallHooks", ("lambda:InvokeFunction",), functions))
        if settings.hook_buses:
            buses = [self._named("events", "event-bus/", each) for each in settings.hook_buses]
            statements.append(_statement("PutHookEvents", ("events:PutEvents",), buses))
        kind, _, prefix = settings.hook_secrets.partition(":")
        # Hooks may name only secrets with this prefix.
        names = f"{prefix}{SECRET_PREFIX}*"
        if kind == SECRETS_MANAGER:
            found = [self._named("secretsmanager", "secret:", names)]
            statements.append(_statement("ReadHookSecrets", _READ_SECRET, found))
        elif kind == PARAMETER_STORE:
            found = [self._named("ssm", "parameter/", names.removeprefix("/"))]
            statements.append(_statement("ReadHookSecrets", ("ssm:GetParameter",), found))
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
        return _statement(sid, actions, [self._arn(f"{p.bucket}/{p.prefix}*") for p in places])

    def _in_namespaces(self, sid: str, actions: Iterable[str], keys: str) -> iam.PolicyStatement:
        """Allow actions on keys relative to the namespaces. A place may have many namespaces."""
        arns = []
        for place in self.namespaces:
            arns.append(self._arn(f"{place.bucket}/{place.prefix}*/{keys}"))
            if not place.prefix or place.prefix.endswith("/"):
                arns.append(self._arn(f"{place.bucket}/{place.prefix}{keys}"))
        return _statement(sid, actions, arns)

    def _arn(self, resource: str) -> str:
        return f"arn:{self.stack.partition}:s3:::{resource}"

    def _buckets(
        self, sid: str, actions: Iterable[str], places: Iterable[S3Location]
    ) -> iam.PolicyStatement:
        buckets = dict.fromkeys(place.bucket for place in places)  # without duplicates, in order
        return _statement(sid, actions, [self._arn(bucket) for bucket in buckets])

    def _bucket_keys(self) -> list[iam.PolicyStatement]:
        """Allow the keys of users' own buckets, only as S3 uses them for the caller.

        S3 uses a key in the key's own region, which may be another than the deployment's.
        """
        if not (keys := self.settings.bucket_keys):
            return []
        regions = dict.fromkeys(key.split(":")[3] for key in keys)  # without duplicates, in order
        services = [f"s3.{region}.{self.stack.url_suffix}" for region in regions]
        return [
            _statement(
                "BucketKeys",
                ("kms:Decrypt", "kms:GenerateDataKey"),
                list(keys),
                {"StringEquals": {"kms:ViaService": services}},
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
