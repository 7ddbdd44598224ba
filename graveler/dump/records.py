"""The records of a refs dump, in lakeFS's format: commits, branches and tags.

A record's key is the name; for a commit, its ID. Its identity is the commit's ID. Its data is one
of lakeFS's messages CommitData, BranchData and TagData (`graveler/proto/stored.proto`). A branch is
its name and head: a dump has no staged changes.
"""

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError
from msgspec import Struct
from msgspec.structs import replace

from graveler.committed.headers import ENTITY
from graveler.entries import join_value, split_value
from graveler.errors import CorruptDataError, InvalidInputError
from graveler.identity import make_commit
from graveler.model import Commit, CommitID, MetaRangeID, Record
from graveler.names import is_branch_name, is_tag_name
from graveler.proto import stored_pb2 as messages

T = TypeVar("T")

# The package of lakeFS's messages; ours are equal, in another package.
_PACKAGE = "io.treeverse.lakefs.graveler"


class NamedCommit(NamedTuple):
    """A branch or a tag in a dump."""

    name: str
    commit_id: CommitID
    hidden: bool = False


class DumpKind(Struct, Generic[T], frozen=True, dict=True):
    """One of the three kinds of things in a dump."""

    entity: str
    message_name: str
    encode: Callable[[T], Record]
    # From the key and the message's bytes.
    decode: Callable[[str, bytes], T]

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The properties of files of this kind, exactly as lakeFS writes them."""
        described = messages.DESCRIPTOR.message_types_by_name[self.message_name]
        schema = json.dumps(_schema(described), separators=(",", ":"))
        return {
            ENTITY: self.entity,
            "schema_definition": schema,
            "schema_name": f"{_PACKAGE}.{self.message_name}",
        }

    def of_record(self, key: bytes, value: bytes) -> T:
        """Return the thing that a record holds.

        Raises:
            CorruptDataError: the bytes are no message of this kind.
            InvalidInputError: the thing is impossible, such as a commit under another's ID.
        """
        try:
            return self.decode(key.decode(), split_value(value)[1])
        except (DecodeError, UnicodeDecodeError) as error:
            raise CorruptDataError(f"record {key!r} is not a {self.entity}: {error}") from error


def _encode_commit(commit: Commit) -> Record:
    message = messages.CommitData(
        id=commit.id,
        committer=commit.committer,
        message=commit.message,
        meta_range_id=commit.metarange_id,
        metadata=commit.metadata,
        parents=commit.parents,
        version=commit.version,
        generation=commit.generation,
    )
    message.creation_date.seconds = commit.creation_date
    name = commit.id.encode()
    return name, join_value(name, message.SerializeToString(deterministic=True))


def _decode_commit(key: str, data: bytes) -> Commit:
    message = messages.CommitData.FromString(data)
    if message.generation < 1:
        raise InvalidInputError(
            f"commit {key} has generation {message.generation}: it must be at least 1"
        )
    commit = make_commit(
        committer=message.committer,
        message=message.message,
        metarange_id=MetaRangeID(message.meta_range_id),
        creation_date=message.creation_date.seconds,
        parents=tuple(map(CommitID, message.parents)),
        metadata=dict(message.metadata),
        generation=message.generation,
    )
    if not key == message.id == commit.id:
        raise InvalidInputError(
            f"record {key!r} holds commit {message.id!r}, but the ID of its fields is {commit.id}"
        )
    if message.version == commit.version:  # as mostly; a copy takes long
        return commit
    return replace(commit, version=message.version)


def _encode_branch(branch: NamedCommit) -> Record:
    message = messages.BranchData(id=branch.name, commit_id=branch.commit_id, hidden=branch.hidden)
    return branch.name.encode(), _value(branch, message.SerializeToString())


def _decode_branch(key: str, data: bytes) -> NamedCommit:
    message = messages.BranchData.FromString(data)
    branch = NamedCommit(key, CommitID(message.commit_id), message.hidden)
    return _checked(key, message.id, branch, is_branch_name)


def _encode_tag(tag: NamedCommit) -> Record:
    message = messages.TagData(id=tag.name, commit_id=tag.commit_id)
    return tag.name.encode(), _value(tag, message.SerializeToString())


def _decode_tag(key: str, data: bytes) -> NamedCommit:
    message = messages.TagData.FromString(data)
    return _checked(key, message.id, NamedCommit(key, CommitID(message.commit_id)), is_tag_name)


def _value(named: NamedCommit, data: bytes) -> bytes:
    return join_value(named.commit_id.encode(), data)


def _checked(
    key: str, name: str, named: NamedCommit, is_name: Callable[[str], bool]
) -> NamedCommit:
    if name != key or not is_name(key):
        raise InvalidInputError(f"record {key!r} holds {name!r}: both must be one valid name")
    return named


COMMITS: DumpKind[Commit] = DumpKind("commit", "CommitData", _encode_commit, _decode_commit)
BRANCHES: DumpKind[NamedCommit] = DumpKind("branch", "BranchData", _encode_branch, _decode_branch)
TAGS: DumpKind[NamedCommit] = DumpKind("tag", "TagData", _encode_tag, _decode_tag)


_TYPES = {
    FieldDescriptor.TYPE_BOOL: "TYPE_BOOL",
    FieldDescriptor.TYPE_INT32: "TYPE_INT32",
    FieldDescriptor.TYPE_MESSAGE: "TYPE_MESSAGE",
    FieldDescriptor.TYPE_STRING: "TYPE_STRING",
}


def _schema(message: Descriptor) -> dict[str, Any]:
    """Return the message's description in the JSON form of protobuf's DescriptorProto."""
    schema: dict[str, Any] = {"name": message.name, "field": list(map(_field, message.fields))}
    nested: Iterable[Descriptor] = message.nested_types
    entries = [_schema(each) | {"options": {"mapEntry": True}} for each in nested]
    return schema | ({"nestedType": entries} if entries else {})


def _field(field: FieldDescriptor) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": field.name,
        "number": field.number,
        "label": "LABEL_REPEATED" if field.is_repeated else "LABEL_OPTIONAL",
        "type": _TYPES[field.type],
    }
    if field.message_type is not None:
        full_name = "." + field.message_type.full_name
        described["typeName"] = full_name.replace(".graveler.", f".{_PACKAGE}.")
    return described | {"jsonName": field.camelcase_name}
