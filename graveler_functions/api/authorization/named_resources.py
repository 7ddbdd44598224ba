"""Where requests name the resources of access control: in the path, the query or the body.

The names are read with the methods that routes use, so the check and the route see the same. A
schema of a rare request is imported when such a request comes: a start does not wait for it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from graveler import globs
from graveler.access import resources as arns
from graveler.access.resources import Below
from graveler.errors import InvalidInputError
from graveler.http.schemas.branches import BranchCreation
from graveler.http.schemas.objects import ObjectCopyCreation, PathList
from graveler.http.schemas.recorded_uploads import RecordedPartCopy
from graveler.http.schemas.repositories import RepositoryCreation
from graveler.http.schemas.staging import PathDataList
from graveler.http.schemas.tags import TagCreation
from graveler.http.schemas.uploads import UploadPartCopy
from graveler.limits import DELETE_OBJECTS_MAX, LINKS_MAX
from graveler.messages import Refusal
from graveler.names import normalized_storage_namespace
from graveler_functions.api.request import Request

if TYPE_CHECKING:
    from graveler.imports.request import ImportRequest


class NamedResources(Struct, frozen=True):
    """The resources that a request names in one place.

    Attributes:
        forms: their ARNs; braces mark the names that the request fills in.
        of: returns the ARNs that a request names.
    """

    forms: tuple[str, ...]
    of: Callable[[Request], Iterable[str | Below]]


def _one(form: str | Below, resource: Callable[[Request], str | Below]) -> NamedResources:
    return NamedResources((str(form),), lambda request: (resource(request),))


def _objects_below(repository: str, prefix: str) -> Below:
    return Below(arns.object_arn(repository, prefix))


EVERYTHING = _one(arns.ALL, lambda _: arns.ALL)

# In the path and the query

REPOSITORY = _one(
    arns.repository_arn("{repository}"), lambda request: arns.repository_arn(request.repository)
)
BRANCH = _one(
    arns.branch_arn("{repository}", "{branch}"),
    lambda request: arns.branch_arn(request.repository, request.branch),
)
DESTINATION_BRANCH = _one(
    arns.branch_arn("{repository}", "{destination branch}"),
    lambda request: arns.branch_arn(request.repository, request.name("destination_branch")),
)
# lakeFS checks the ref expression of a log as if it named a branch.
REF = _one(
    arns.branch_arn("{repository}", "{ref}"),
    lambda request: arns.branch_arn(request.repository, request.name("ref")),
)
TAG = _one(
    arns.tag_arn("{repository}", "{tag}"),
    lambda request: arns.tag_arn(request.repository, request.name("tag")),
)
OBJECT = _one(
    arns.object_arn("{repository}", "{path}"),
    lambda request: arns.object_arn(request.repository, request.query.path().decode()),
)
# lakeFS checks the branch of a symlink manifest as if it were a path.
OBJECT_OF_BRANCH = _one(
    arns.object_arn("{repository}", "{branch}"),
    lambda request: arns.object_arn(request.repository, request.branch),
)
DESTINATION_OBJECT = _one(
    arns.object_arn("{repository}", "{destination path}"),
    lambda request: arns.object_arn(request.repository, request.query.path("dest_path").decode()),
)
DESTINATION_PREFIX = _one(
    _objects_below("{repository}", "{destination prefix}"),
    lambda request: _objects_below(request.repository, request.query.given_text("dest_prefix")),
)
# All that the glob can match begins with its prefix.
GLOB = _one(
    _objects_below("{repository}", "{prefix of the glob}"),
    lambda request: _objects_below(
        request.repository, globs.prefix_of(request.query.required_text("glob"))
    ),
)
USER = _one(arns.user_arn("{user}"), lambda request: arns.user_arn(request.name("user_id")))
GROUP = _one(arns.group_arn("{group}"), lambda request: arns.group_arn(request.name("group_id")))
POLICY = _one(
    arns.policy_arn("{policy}"), lambda request: arns.policy_arn(request.name("policy_id"))
)
# lakeFS's ACL server keeps the ACL of a group in a policy of this name.
POLICY_OF_ACL = _one(
    arns.policy_arn("ACL(_-_){group}"),
    lambda request: arns.policy_arn(f"ACL(_-_){request.name('group_id')}"),
)
PRINCIPAL = _one(
    arns.external_principal_arn("{principal}"),
    lambda request: arns.external_principal_arn(request.query.required_text("principalId")),
)

# In the body


def _new_repository(request: Request) -> str:
    return arns.repository_arn(request.decode(RepositoryCreation).name)


def _new_branch(request: Request) -> str:
    return arns.branch_arn(request.repository, request.decode(BranchCreation).name)


def _new_tag(request: Request) -> str:
    return arns.tag_arn(request.repository, request.decode(TagCreation).id)


def _new_user(request: Request) -> str:
    from graveler.http.schemas.users import UserCreation  # noqa: PLC0415 - rare

    return arns.user_arn(request.decode(UserCreation).id)


def _new_group(request: Request) -> str:
    from graveler.http.schemas.groups import GroupCreation  # noqa: PLC0415 - rare

    return arns.group_arn(request.decode(GroupCreation).id)


def _new_policy(request: Request) -> str:
    from graveler.http.schemas.policies import PolicyBody  # noqa: PLC0415 - rare

    return arns.policy_arn(request.decode(PolicyBody).id)


NEW_REPOSITORY = _one(arns.repository_arn("{repository}"), _new_repository)
NEW_BRANCH = _one(arns.branch_arn("{repository}", "{branch}"), _new_branch)
NEW_TAG = _one(arns.tag_arn("{repository}", "{tag}"), _new_tag)
NEW_USER = _one(arns.user_arn("{user}"), _new_user)
NEW_GROUP = _one(arns.group_arn("{group}"), _new_group)
NEW_POLICY = _one(arns.policy_arn("{policy}"), _new_policy)


def _namespace(uri: str) -> str:
    """Return the ARN of the URI as it will be stored: `s3://b/x/` must not pass for another."""
    try:
        return arns.namespace_arn(normalized_storage_namespace(uri))
    except InvalidInputError:
        return arns.namespace_arn(uri)  # the route refuses it


NAMESPACE = _one(
    arns.namespace_arn("{storage namespace}"),
    lambda request: _namespace(request.decode(RepositoryCreation).storage_namespace),
)


def _export_paths(request: Request) -> Iterator[Below]:
    from graveler.http.schemas.exports import ConfigurationBody  # noqa: PLC0415 - rare

    body = request.decode(ConfigurationBody)
    for uri in filter(None, (body.export_path, body.export_status_path)):
        yield Below(f"{_namespace(uri)}/")


EXPORT_PATHS = NamedResources(
    tuple(
        str(Below(arns.namespace_arn(f"{{{name}}}/"))) for name in ("export path", "status path")
    ),
    _export_paths,
)


def _source_of_copy(request: Request) -> str:
    body = request.decode(ObjectCopyCreation)
    return arns.object_arn(body.src_repository or request.repository, body.src_path)


SOURCE_OBJECT = _one(arns.object_arn("{source repository}", "{source path}"), _source_of_copy)


def _source_prefix(request: Request) -> Below:
    from graveler.http.schemas.prefixes import PrefixMove  # noqa: PLC0415 - rare

    return _objects_below(request.repository, request.decode(PrefixMove).src_prefix)


def _prefix(request: Request) -> Below:
    from graveler.http.schemas.prefixes import PrefixDeletion  # noqa: PLC0415 - rare

    return _objects_below(request.repository, request.decode(PrefixDeletion).prefix)


PREFIX = _one(_objects_below("{repository}", "{prefix}"), _prefix)
SOURCE_PREFIX = _one(_objects_below("{repository}", "{source prefix}"), _source_prefix)


def _source_of_part(shape: type[UploadPartCopy | RecordedPartCopy]) -> NamedResources:
    def resource(request: Request) -> str:
        source = request.decode(shape).copy_source
        return arns.object_arn(source.repository, source.path)

    return _one(arns.object_arn("{source repository}", "{source path}"), resource)


SOURCE_OF_PART = _source_of_part(UploadPartCopy)
SOURCE_OF_RECORDED_PART = _source_of_part(RecordedPartCopy)


def _each_object(paths_of: Callable[[Request], list[str]], most: int) -> NamedResources:
    def arns_of(request: Request) -> list[str]:
        paths = paths_of(request)
        if len(paths) > most:
            raise Refusal.TOO_MANY_PATHS.error(f"not {len(paths)}", most=most)
        # Without a path, the right to something in the repository is needed nevertheless.
        return [arns.object_arn(request.repository, path) for path in paths or [""]]

    return NamedResources((arns.object_arn("{repository}", "{each path}"),), arns_of)


def _paths(request: Request) -> list[str]:
    return request.decode(PathList).paths


DELETED_OBJECTS = _each_object(_paths, DELETE_OBJECTS_MAX)
ADDRESSED_OBJECTS = _each_object(_paths, LINKS_MAX)
LINKED_OBJECTS = _each_object(
    lambda request: [each.path for each in request.decode(PathDataList).objects], LINKS_MAX
)


def _import_of(request: Request) -> "ImportRequest":
    from graveler.http.schemas.imports import ImportCreation, request_of  # noqa: PLC0415 - rare

    return request_of(request.decode(ImportCreation), request.user)


def _import_sources(request: Request) -> Iterator[str | Below]:
    from graveler.imports.request import SourceType  # noqa: PLC0415 - rare

    for source in _import_of(request).sources:
        arn = arns.namespace_arn(source.uri)
        yield Below(arn) if source.type is SourceType.PREFIX else arn
        if source.type is SourceType.INVENTORY:
            # An inventory lists objects of any bucket, so all of them are needed.
            yield Below(arns.namespace_arn("s3://"))


def _import_destinations(request: Request) -> Iterator[str | Below]:
    for source in _import_of(request).sources:
        arn = arns.object_arn(request.repository, source.path_prefix.decode())
        # An import replaces everything below a destination that is a prefix.
        yield arn if source.is_object else Below(arn)


IMPORT_SOURCES = NamedResources(
    (
        arns.namespace_arn("{each source object}"),
        str(Below(arns.namespace_arn("{each source prefix}"))),
    ),
    _import_sources,
)
IMPORT_DESTINATIONS = NamedResources(
    (
        arns.object_arn("{repository}", "{each destination path}"),
        str(_objects_below("{repository}", "{each destination prefix}")),
    ),
    _import_destinations,
)
