"""The lakefs:// URIs of the command line.

A path is taken literally: it is not percent-decoded, and `?` and `#` have no special meaning.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from graveler_cli.errors import UsageError

SCHEME = "lakefs://"

# A repository's name has no @, so REPO@BRANCH is not ambiguous. A ref may have it: main@ is the
# last commit of main.
_REPOSITORY = re.compile(rf"{SCHEME}(?P<repository>[^/@]+)/?")
_BRANCH = re.compile(rf"{SCHEME}(?P<repository>[^/@]+)[/@](?P<branch>[^/]+)/?")
_REF = re.compile(rf"{SCHEME}(?P<repository>[^/@]+)/(?P<ref>[^/]+)/?")
_PATH = re.compile(rf"{SCHEME}(?P<repository>[^/@]+)/(?P<ref>[^/]+)/(?P<path>.*)", re.DOTALL)
_OBJECT = re.compile(rf"{SCHEME}(?P<repository>[^/@]+)/(?P<ref>[^/]+)/(?P<path>.+)", re.DOTALL)

# In the path of a URL, these would lead to another operation.
_DOTS = {".", ".."}

# The server checks the rest. These checks fail before a command prints anything.
_REPOSITORY_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_BRANCH_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_:-]*(?<!:)")


class _Uri:
    """A URI of one form, whose groups are the fields."""

    __slots__ = ()

    form: ClassVar[re.Pattern[str]]
    kind: ClassVar[str]
    example: ClassVar[str]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the URI in the text.

        Raises:
            UsageError: the text is not a URI of this form.
        """
        return cls(**_parts(text, cls.form, cls.kind, cls.example))


@dataclass(frozen=True, slots=True)
class RepositoryUri(_Uri):
    """A repository: lakefs://REPO."""

    form = _REPOSITORY
    kind = "a repository"
    example = "lakefs://REPO"

    repository: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.repository}"


@dataclass(frozen=True, slots=True)
class BranchUri(_Uri):
    """A branch: lakefs://REPO/BRANCH, or lakefs://REPO@BRANCH, the older form."""

    form = _BRANCH
    kind = "a branch"
    example = "lakefs://REPO/BRANCH"

    repository: str
    branch: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.repository}/{self.branch}"


@dataclass(frozen=True, slots=True)
class RefUri(_Uri):
    """A branch, a tag or a commit, ref expressions like dev~3 included: lakefs://REPO/REF."""

    form = _REF
    kind = "a ref"
    example = "lakefs://REPO/REF"

    repository: str
    ref: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.repository}/{self.ref}"


@dataclass(frozen=True, slots=True)
class PathUri(_Uri):
    """An object, a folder or all of a ref: lakefs://REPO/REF/ or lakefs://REPO/REF/PATH."""

    form = _PATH
    kind = "a path"
    example = "lakefs://REPO/REF/PATH"

    repository: str
    ref: str
    path: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.repository}/{self.ref}/{self.path}"


class ObjectUri(PathUri):
    """An object at any ref, ref expressions like dev~3 included: lakefs://REPO/REF/PATH."""

    __slots__ = ()

    form = _OBJECT
    kind = "an object"


def _parts(text: str, form: re.Pattern[str], kind: str, example: str) -> dict[str, str]:
    found = form.fullmatch(text)
    if found is None or _DOTS & set(found.groups()[:2]):
        raise UsageError(f"{text!r} does not name {kind}: write {example}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{text!r} is not UTF-8") from error
    parts = found.groupdict("")
    if not _REPOSITORY_NAME.fullmatch(parts["repository"]):
        raise UsageError(
            f"{text!r} does not name {kind}: a repository's name takes lower-case letters, digits "
            "and hyphens"
        )
    if not _BRANCH_NAME.fullmatch(parts.get("branch", "_")):
        raise UsageError(
            f"{text!r} does not name {kind}: a branch's name takes letters, digits, underscores, "
            "hyphens, and colons inside"
        )
    return parts
