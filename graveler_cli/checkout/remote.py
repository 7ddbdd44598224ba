"""The objects of a ref as files of a folder: listings and differences, by relative path."""

import os
from collections.abc import Callable, Iterator, Mapping

import msgspec

from graveler_cli.checkout.differences import Change, ChangeType
from graveler_cli.checkout.walk import TrackingRules
from graveler_cli.client import ApiRefusedError, LakeClient
from graveler_cli.errors import CommandError
from graveler_cli.schemas import Commit, ObjectStats, Ref
from graveler_cli.transfers.files import Shadows
from graveler_cli.uris import PathUri

_REF = "/repositories/{repository}/refs/{ref}"
_DIFF = "/repositories/{repository}/refs/{left}/diff/{right}"
_COMMIT = "/repositories/{repository}/commits/{ref}"
_BRANCH = "/repositories/{repository}/branches/{branch}"

# Sorts after all names in use.
_LAST = "\U0010ffff"


class _Right(msgspec.Struct, frozen=True):
    """The newer object of a difference."""

    checksum: str = ""
    mtime: int = 0
    content_type: str | None = None
    metadata: dict[str, str] | None = None


class _Diff(msgspec.Struct, frozen=True):
    type: ChangeType
    path: str
    path_type: str
    size_bytes: int | None = None
    right: _Right | None = None


class Remote:
    """A server's refs, without the objects whose names cannot be those of files."""

    def __init__(
        self, server: LakeClient, rules: TrackingRules, warn: Callable[[str], None]
    ) -> None:
        self.server = server
        self.rules = rules
        self._warn = warn
        self._skipped: set[str] = set()  # names of objects; they are few

    def refuse_skipped(self) -> None:
        """Raise a CommandError if objects were left out because of their names."""
        if self._skipped:
            raise CommandError(
                f"{len(self._skipped)} objects were left out, as warned above: "
                "rename them on the server; everything else is done"
            )

    def head(self, uri: PathUri) -> str:
        """Return the ID of the commit that a ref is at.

        Raises:
            CommandError: the server refused, or cannot be reached. So do the other methods.
        """
        names = {"repository": uri.repository, "ref": uri.ref}
        return self.server.ask("GET", _COMMIT, names, Commit).id

    def branch_head(self, uri: PathUri) -> str:
        """Return the ID of the commit that a branch is at."""
        return self.server.ask("GET", _BRANCH, _branch(uri), Ref).commit_id

    def commit(self, uri: PathUri, message: str, metadata: Mapping[str, str]) -> Commit:
        """Commit a branch."""
        body = {"message": message, "metadata": metadata}
        return self.server.ask("POST", f"{_BRANCH}/commits", _branch(uri), Commit, body)

    def is_object(self, uri: PathUri) -> bool:
        """Return whether a path is that of an object."""
        names = {"repository": uri.repository, "ref": uri.ref}
        try:
            query = {"path": uri.path}
            self.server.ask("GET", f"{_REF}/objects/stat", names, ObjectStats, query=query)
        except ApiRefusedError as error:
            if error.status == 404:
                return False
            raise
        return True

    def has_uncommitted(self, uri: PathUri) -> bool:
        """Return whether a branch has uncommitted changes below a path."""
        return bool(self._uncommitted(uri, {"prefix": uri.path}))

    def has_uncommitted_outside(self, uri: PathUri) -> bool:
        """Return whether a branch has uncommitted changes, but not below a path."""
        if not uri.path:
            return False
        found = self._uncommitted(uri, {})
        if found and found[0].path.startswith(uri.path):
            found = self._uncommitted(uri, {"after": uri.path + _LAST})
        return bool(found)

    def _uncommitted(self, uri: PathUri, query: Mapping[str, object]) -> list[_Diff]:
        asked = {"amount": 1, **query}
        return self.server.page(f"{_BRANCH}/diff", _branch(uri), _Diff, asked).results

    def listing(self, uri: PathUri) -> Iterator[ObjectStats]:
        """Yield the objects below a path, by relative path."""
        names = {"repository": uri.repository, "ref": uri.ref}
        query = {"prefix": uri.path, "user_metadata": True}
        shadows = Shadows()
        for stats in self.server.each(f"{_REF}/objects/ls", names, ObjectStats, query):
            path = self._relative(stats.path, uri)
            if path is None:
                continue
            if shadows.hide(path):
                self._leave_out(stats.path, "another object is a file where its folder would be")
                continue
            yield msgspec.structs.replace(stats, path=path)

    def changes(self, base: PathUri, to: PathUri) -> Iterator[Change]:
        """Yield the changes below a path from one ref to another, by relative path."""
        if base.ref == to.ref:
            return
        names = {"repository": base.repository, "left": base.ref, "right": to.ref}
        # The common ancestor does not matter: a branch may have been moved back.
        query = {"prefix": base.path, "type": "two_dot", "include_right_stats": True}
        for found in self.server.each(_DIFF, names, _Diff, query):
            path = self._relative(found.path, base)
            if path is None:
                continue
            stats = None
            if found.type != "removed":
                stats = self._stats(found, path, to)
            yield Change("remote", found.type, path, stats)

    def _stats(self, found: _Diff, path: str, to: PathUri) -> ObjectStats:
        """Return the newer object of a difference; ask for it if the server's diff lacks it."""
        if found.right is None:
            names = {"repository": to.repository, "ref": to.ref}
            query = {"path": found.path, "user_metadata": True}
            stats = self.server.ask("GET", f"{_REF}/objects/stat", names, ObjectStats, query=query)
            return msgspec.structs.replace(stats, path=path)
        right = found.right
        return ObjectStats(
            path,
            found.path_type,
            checksum=right.checksum,
            mtime=right.mtime,
            size_bytes=found.size_bytes,
            metadata=right.metadata,
            content_type=right.content_type,
        )

    def _relative(self, path: str, uri: PathUri) -> str | None:
        """Return the path of the object's file; None if it has none."""
        relative = path.removeprefix(uri.path)
        if not relative or not self.rules.include(relative):
            return None
        if not _can_be_file(relative):
            self._leave_out(path, "a file cannot have this name")
            return None
        return relative

    def _leave_out(self, path: str, reason: str) -> None:
        if path not in self._skipped:
            self._skipped.add(path)
            self._warn(f"warning: object {path!r} is left out: {reason}")


def _can_be_file(path: str) -> bool:
    """Return whether a relative path stays in its folder, and names one file."""
    parts = path.removesuffix("/").split("/")
    if "\0" in path or not {"", ".", ".."}.isdisjoint(parts):
        return False
    return os.name != "nt" or not ("\\" in path or ":" in path)


def _branch(uri: PathUri) -> dict[str, str]:
    return {"repository": uri.repository, "branch": uri.ref}
