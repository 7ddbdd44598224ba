"""The permissions of each role. Nothing else grants any.

A role names its tables, its prefixes of buckets and its keys. It also names its partitions of a
table, if it does not need all. Under a namespace, `data/` holds users' content, `_iceberg/` the
files of tables, and `_lakefs/` our files. tests/infra compares the roles with the recorded requests
of functions and jobs.
"""

from dataclasses import dataclass

from aws_cdk import aws_iam as iam

from graveler.aws.dynamodb.models import (
    ACCOUNTS,
    CLEANUPS,
    ENDING,
    EXPORTS,
    HEARTBEATS,
    LOGIN_FAILURES,
    REPOSITORIES,
)
from infra.role_statements import RoleStatements, statement

_CLEANUPS = f"{CLEANUPS}*"
_OF_REPOSITORIES = (REPOSITORIES, "repository#*")

_GET = ("dynamodb:BatchGetItem", "dynamodb:GetItem")
_READ_ITEMS = (*_GET, "dynamodb:Query")
_PUT_ITEMS = ("dynamodb:BatchWriteItem", "dynamodb:PutItem")
# For the refs table, which changes by transactions.
_UPDATE_ITEMS = (*_PUT_ITEMS, "dynamodb:ConditionCheckItem", "dynamodb:UpdateItem")
_CHANGE_ITEMS = (*_UPDATE_ITEMS, "dynamodb:DeleteItem")
# With these, Lambda receives the messages of a function's queue.
_RECEIVE = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
# A multipart upload needs PutObject, and AbortMultipartUpload if it fails.
_PUT = ("s3:AbortMultipartUpload", "s3:PutObject")
_LIST_PARTS = "s3:ListMultipartUploadParts"


@dataclass(frozen=True)
class RolePermissions(RoleStatements):
    """The statements of each role of one deployment."""

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
            statement("StartTasks", ("sqs:SendMessage",), [tasks_arn]),
            # It only starts runs: it stops none, and reads no arguments of other users' runs.
            statement("StartCollections", ("glue:StartJobRun",), [collection_job_arn]),
            *self._hooks(),
            *self._bucket_keys(),
        ]

    def iceberg(self, tasks_arn: str) -> list[iam.PolicyStatement]:
        """Return the iceberg function's: tables of branches, which it stages and never deletes.

        It commits nothing, and changes no account. Log-ins that fail are counted. Tasks make the
        tables that describe large commits.
        """
        return [
            self._refs(_READ_ITEMS, _OF_REPOSITORIES, "ReadRepositories"),
            self._refs(("dynamodb:PutItem", "dynamodb:UpdateItem"), ("repository#*",)),
            self._refs(_GET, (ACCOUNTS, LOGIN_FAILURES), "ReadUsers"),
            self._refs(("dynamodb:UpdateItem",), (LOGIN_FAILURES,), "CountFailures"),
            self._staging((*_READ_ITEMS, "dynamodb:PutItem")),
            *self._tables_key(),
            *self._read_installation(),
            self._objects("ReadObjects", ("s3:GetObject",), self.namespaces),
            self._buckets("FindObjects", ("s3:ListBucket",), self.namespaces),
            self._in_namespaces("WriteData", ("s3:PutObject",), "data/*", "_iceberg/*"),
            statement("StartTasks", ("sqs:SendMessage",), [tasks_arn]),
            *self._bucket_keys(),
            *self._vend_credentials(),
        ]

    def table_files(self) -> list[iam.PolicyStatement]:
        """Return those of credentials that the iceberg function gives: files of tables, no delete.

        A policy of their session leaves one table, and of a reader only GetObject.
        """
        actions = (*_PUT, _LIST_PARTS, "s3:GetObject")
        return [self._in_namespaces("TableFiles", actions, "_iceberg/*"), *self._bucket_keys()]

    def tasks(
        self, queue_arn: str, hook_queue_arn: str, slices_arn: str
    ) -> list[iam.PolicyStatement]:
        """Return the tasks function's: large changes. It changes no object of users."""
        return [
            *self._read_lakes(self.settings.dump_place),  # restores read there
            *self._change_branches(queue_arn, slices_arn),
            statement("LeaveToHooks", ("sqs:SendMessage",), [hook_queue_arn]),
            self._in_namespaces("DescribeObjects", ("s3:PutObject",), "_iceberg/system/*"),
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
            statement("Receive", _RECEIVE, [queue_arn]),
            statement("ComeBackLater", ("sqs:SendMessage",), [queue_arn]),
            statement("ApplySlices", ("lambda:InvokeFunction",), [slices_arn]),
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
            statement(
                "ReadStream",
                ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"),
                [stream],
            ),
            # Lambda requires this action, which has no resources.
            statement("ListStreams", ("dynamodb:ListStreams",), ["*"]),
            *self._tables_key(("kms:Decrypt", "kms:DescribeKey")),
            statement("Publish", ("events:PutEvents",), [bus_arn]),
            statement("ReportFailures", ("sqs:SendMessage",), [failures_arn]),
        ]

    def export(self, queue_arn: str, job_arn: str) -> list[iam.PolicyStatement]:
        """Return the export function's: run small exports, and start the job for large ones."""
        return [
            *self.export_job(queue_arn),
            statement("Receive", _RECEIVE, [queue_arn]),
            # For the record of a deleted branch.
            self._refs(("dynamodb:DeleteItem",), (EXPORTS, "repository#*"), "ForgetExports"),
            *self._read_installation(),
            statement("StartJob", ("glue:StartJobRun",), [job_arn]),
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
            statement("ComeBackLater", ("sqs:SendMessage",), [queue_arn]),
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
        """Return the garbage collection's: delete data and files of tables; write reports."""
        list_all = ("s3:ListBucket", "s3:ListBucketMultipartUploads")
        delete = ("s3:AbortMultipartUpload", "s3:DeleteObject")
        items = ("dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
        statements = [
            self._refs(items, _OF_REPOSITORIES),
            self._refs(("dynamodb:PutItem",), (HEARTBEATS,), "NoteCollections"),
            self._staging(("dynamodb:Query",)),
            *self._tables_key(),
            self._buckets("ListLakes", list_all, self.namespaces),
            self._in_namespaces("ReadMetadata", ("s3:GetObject",), "_lakefs/*", "_iceberg/*"),
            self._in_namespaces("WriteReports", ("s3:PutObject",), "_lakefs/retention/*"),
            self._in_namespaces("DeleteGarbage", delete, "data/*", "_iceberg/*"),
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
            self._refs(_READ_ITEMS, _OF_REPOSITORIES, "ReadRepositories"),
            self._refs((*replace, "dynamodb:UpdateItem"), ("repository#*",)),
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
