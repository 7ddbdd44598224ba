"""Reads beside the read of a branch, with the cached repository and branch.

Theory of operation. An operation on a branch first reads its repository and branch together. Its
other reads need the repository's uid and the staging token, so they would have to follow. But a
process has mostly seen both, and they rarely change. So it makes these reads at the same time, with
the repository and the branch that it saw last. If one of them has changed, it reads again.

A read under a staging token may come before or after that of the branch. If the branch still has
its earlier token, version and edits, only plain writes came in between. They depend on nothing, so
both reads hold at the moment of the read under the token.
"""

from collections.abc import Callable
from typing import TypeVar

from graveler.engine import Engine
from graveler.model import Branch, StagingToken
from graveler.open_repository import OpenRepository

T = TypeVar("T")


class Prefetch:
    """Begins reads for an operation on a branch, before the branch is read."""

    def __init__(self, engine: Engine, repository: str, branch: str) -> None:
        """Use the cached repository and branch, if this process has seen them."""
        self.engine = engine
        held = engine.repositories.get(repository)
        self._repo = None if held is None else OpenRepository(engine, held[0])
        self._branch = None if held is None else engine.branches.get((held[0].uid, branch))

    def of_repository(self, read: Callable[[OpenRepository], T]) -> Callable[[OpenRepository], T]:
        """Begin to read something of the repository; return the function that returns it.

        That function takes the current repository. It may be called once.
        """
        known = self._repo
        if known is None:
            return read
        ahead = self.engine.ahead(lambda: read(known))
        return lambda repo: ahead() if repo.record == known.record else read(repo)

    def of_branch(self, read: Callable[[StagingToken], T]) -> Callable[[Branch], T]:
        """Begin to read something under the staging token; return the function that returns it.

        That function takes the current branch, and reads again in each call but the first.
        """
        seen = self._branch
        if seen is None:
            return lambda branch: read(branch.staging_token)
        waiting = [self.engine.ahead(lambda: read(seen.staging_token))]

        def result(branch: Branch) -> T:
            if waiting:
                ahead = waiting.pop()
                if _has_only_plain_writes_since(seen, branch):
                    return ahead()
            return read(branch.staging_token)

        return result


def _has_only_plain_writes_since(seen: Branch, branch: Branch) -> bool:
    return (branch.staging_token, branch.version, branch.edits) == (
        seen.staging_token,
        seen.version,
        seen.edits,
    )
