"""Resources of access control: their ARNs, and the patterns with which policies name them.

An ARN is `arn:lakefs:<service>:<region>:<account>:<resource>`. Region and account are empty in the
ARNs that operations need. In a policy, only the resource may have wildcards.
"""

from collections.abc import Callable, Sequence

import msgspec

from graveler.access.wildcards import Matches, Pattern, has_wildcard

# All resources; it is also what listings of users, groups and policies need.
ALL = "*"

# What the name of the user who asks replaces in a policy's resource.
USER_VARIABLE = "${user}"

_PREFIX = ("arn", "lakefs")
_FIELDS = 6

_FS = "arn:lakefs:fs:::"
_AUTH = "arn:lakefs:auth:::"
_CATALOG = "arn:lakefs:catalog:::"

_REPOSITORY = "{repository}"

_list_decoder = msgspec.json.Decoder(list[str])


def repository_arn(repository: str) -> str:
    return f"{_FS}repository/{repository}"


def branch_arn(repository: str, branch: str) -> str:
    return f"{_FS}repository/{repository}/branch/{branch}"


def tag_arn(repository: str, tag: str) -> str:
    return f"{_FS}repository/{repository}/tag/{tag}"


def object_arn(repository: str, path: str) -> str:
    return f"{_FS}repository/{repository}/object/{path}"


def namespace_arn(uri: str) -> str:
    """Return the ARN of a place in the object store, such as `s3://bucket/prefix`."""
    return f"{_FS}namespace/{uri}"


def catalog_namespace_arn(repository: str, namespace: Sequence[str]) -> str:
    """Return the ARN of a namespace of Iceberg tables; () is the root. It names no ref."""
    return f"{_CATALOG}namespace/{'/'.join((repository, *namespace))}"


def catalog_table_arn(repository: str, namespace: Sequence[str], table: str) -> str:
    """Return the ARN of an Iceberg table, at every ref."""
    return f"{_CATALOG}table/{'/'.join((repository, *namespace, table))}"


def user_arn(user: str) -> str:
    return f"{_AUTH}user/{user}"


def group_arn(group: str) -> str:
    return f"{_AUTH}group/{group}"


def policy_arn(policy: str) -> str:
    return f"{_AUTH}policy/{policy}"


def external_principal_arn(principal: str) -> str:
    return f"{_AUTH}externalPrincipal/{principal}"


class Below(msgspec.Struct, frozen=True):
    """All resources whose ARNs have this beginning, which includes some of the resource."""

    beginning: str

    def __str__(self) -> str:
        return f"{self.beginning}*"


class Arn(msgspec.Struct, frozen=True):
    """The fields of an ARN that decide; the region does not."""

    service: str
    account: str
    resource: str


def parsed(arn: str) -> Arn | None:
    """Return the ARN's fields; None if the text is no ARN of lakeFS, as `*` is not."""
    fields = arn.split(":", _FIELDS - 1)
    if len(fields) < _FIELDS or tuple(fields[:2]) != _PREFIX:
        return None
    _, _, service, _, account, resource = fields
    return Arn(service, account, resource) if service and resource else None


def listed(resource: str) -> list[str] | None:
    """Return the resources that a statement names; None if it is a list that is not JSON.

    A statement has one resource, or several as a JSON list in the same text.
    """
    if not (resource.startswith("[") and resource.endswith("]")):
        return [resource]
    try:
        return _list_decoder.decode(resource)
    except msgspec.DecodeError:
        return None


# Whether a policy's resource covers a needed one; None is the need for `*`.
Covers = Callable[[Arn | None], bool]


class Coverage(msgspec.Struct, frozen=True):
    """What a policy's resource covers.

    one: whether it covers a resource.
    all_below: whether it covers every resource that begins as this one.
    some_below: whether it covers a resource that begins as this one.
    """

    one: Covers
    all_below: Covers
    some_below: Covers


def _everything(_: Arn | None) -> bool:
    return True


EVERYTHING = Coverage(_everything, _everything, _everything)


def covering(resource: str, user: str) -> Coverage | None:
    """Return what a policy's resource covers.

    The user's name replaces `${user}`, and matches only itself.

    Returns:
        None if the resource is neither `*` nor an ARN.
    """
    if resource == ALL:
        return EVERYTHING
    arn = parsed(resource)
    if arn is None:
        return None
    pattern = Pattern(arn.resource, {USER_VARIABLE: user})
    return Coverage(
        _within(arn, pattern.matches),
        _within(arn, pattern.matches_all_below),
        _within(arn, pattern.matches_some_below),
    )


def can_match(resource: str, form: str) -> bool:
    """Return whether a policy's resource can match a resource of the form.

    Braces in the form mark names to fill in, as in `arn:lakefs:fs:::repository/{repository}`. Only
    names behind that of the repository may have slashes. A resource with wildcards may count as
    matching by mistake.
    """
    if ALL in {resource, form}:
        return resource == ALL
    pattern, filled = parsed(resource.replace(USER_VARIABLE, "user")), parsed(form)
    if pattern is None or filled is None or pattern.service != filled.service:
        return False
    kind, _, rest = pattern.resource.partition("/")
    name = rest.partition("/")[0]
    if has_wildcard(kind) or "?" in name:  # it may match a slash
        return True
    filled_in = filled.resource.replace(_REPOSITORY, name.replace("*", ""))
    beginning, has_name, _ = filled_in.partition("{")
    matched = Pattern(pattern.resource)
    return matched.matches_some_below(beginning) if has_name else matched.matches(beginning)


def _within(pattern: Arn, matches: Matches) -> Covers:
    """Return whether a resource matches, and is of the same service and account."""
    service, account = pattern.service, pattern.account

    def covers(arn: Arn | None) -> bool:
        return (
            arn is not None
            and arn.service == service
            and arn.account == account
            and matches(arn.resource)
        )

    return covers
